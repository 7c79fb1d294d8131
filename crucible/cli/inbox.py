"""`cru inbox list` and `answer`: questions and approvals waiting for the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

import click

from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import TEXT, Door, flag, format_option, limit_option, only_option, user_zone
from crucible.cli.output import PROBLEMS_FOUND, say, warn, write, write_marked
from crucible.cli.table_output import write_rows
from crucible.cli.vault_access import folders_of, open_vault
from crucible.core.errors import CrucibleError, SessionNotFound, UnknownId, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.core.text import counted
from crucible.core.zones import in_zone
from crucible.documents.session.waiting import ITEM_NAME
from crucible.memory.history.history_update import refresh_history
from crucible.memory.pending_questions import (
    AnswerVerdict,
    GivenAnswer,
    PendingItem,
    PendingKind,
    notes_with_items,
    read_items,
    without_repeats,
)
from crucible.memory.pending_questions import answer as write_answer
from crucible.vault.index.schema import cell_of_path
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.vault import Vault

_RECENT = timedelta(days=30)
"""How long items stay listed after their session has ended."""

_COLUMNS = (
    "id",
    "type",
    "project",
    "at",
    "title",
    "text",
    "answered",
    "verdict",
    "answer",
    "session",
    "phase",
    "line",
    "path",
)


@click.command("list")
@click.argument("name", metavar="[ID]", default="")
@flag("--all", "Include answered items and those of old sessions.", "everything")
@click.option("--project", metavar="NAME", default="", help="Only items of this project's sessions.")
@only_option("--type", "kinds", PendingKind)
@limit_option("Only the newest N items.", least=0)
@format_option()
@click.pass_obj
def list_inbox(
    door: Door,
    /,
    name: str,
    *,
    everything: bool,
    project: str,
    kinds: tuple[str, ...],
    limit: int | None,
    format_: str,
) -> int:
    """List questions and errors that wait for you, newest session first.

    \b
    - Shows unanswered decision_needed, approval_required and task_complete
      callouts, and errors without a resolution.
    - Repeated questions are listed once. Items of sessions that ended more
      than 30 days ago need --all.
    - With ID, shows only that item, even if it is answered.
    - "cru inbox" alone does the same.

    Exit code: 3 if items may be missing.

    \b
      cru inbox
      cru inbox 3f9a1c
      cru inbox --project shop --type decision_needed
      cru inbox --all --format json
    """
    everything = everything or bool(name)
    index = open_index(door)
    chosen_kinds = frozenset(map(PendingKind, kinds or PendingKind))
    found, now = query_index(index, lambda view: [*notes_with_items(view, project, chosen_kinds, answered=everything)])
    since = (datetime.now(UTC) - _RECENT).isoformat()
    shown = [place for place in found if everything or not place.ended or place.ended >= since]
    wrong: list[CrucibleError] = []
    items = (
        item
        for item in read_items(Vault(Path(index.root), index.settings), shown, wrong.append)
        if item.kind in chosen_kinds and (everything or not item.answered) and _is_named(item, name)
    )
    chosen = list(islice(items if everything else without_repeats(items), limit))
    if name and not chosen:
        raise _unknown(name)
    _write_items(chosen, format_, door, everything=everything)
    if len(shown) < len(found):
        say(f'{len(found) - len(shown)} more in old sessions; run "cru inbox --all"')
    warn(*wrong)
    return PROBLEMS_FOUND if wrong or now.unwalked else 0


def _unknown(name: str) -> UnknownId:
    return UnknownId(f'nothing in the inbox matches "{name}"', 'Run "cru inbox --all" to see ids.')


def _is_named(item: PendingItem, name: str) -> bool:
    """True if the name is the end or the beginning of the item's id."""
    return not name or item.id.endswith(f".{name}") or item.id.startswith(name)


def _write_items(items: Sequence[PendingItem], format_: str, door: Door, *, everything: bool) -> None:
    if format_ != "text":
        write_rows([_export(item) for item in items], _COLUMNS, format_, "inbox", door)
    elif items:
        zone = user_zone()
        for item in items:
            _write_item(item, zone, door)
    else:
        say("the inbox is empty" if everything else "no open questions")


_HUES = {
    PendingKind.ERROR: "red",
    PendingKind.DECISION: "yellow",
    PendingKind.APPROVAL: "yellow",
    PendingKind.DONE: "green",
}


def _write_item(item: PendingItem, zone: tzinfo, door: Door) -> None:
    """Write the item's full id, and its entire text below."""
    at = f"{in_zone(item.at, zone):%Y-%m-%d %H:%M}" if item.at else ""
    write(f"{item.id}  ", end=False)
    more = "".join(f"  {text}" for text in (item.project, at) if text)
    write_marked(item.kind.value, "" if item.answered else _HUES[item.kind], more, door)
    for line in _lines(item):
        write(f"    {line}")
    if item.answered:
        write(f"    → {item.verdict}{': ' if item.answer else ''}{' '.join(item.answer.split())}")


def _lines(item: PendingItem) -> list[str]:
    """Return the item's title and text; a one-line text shares the title's line."""
    title = " ".join(item.title.split())
    lines = [line.rstrip() for line in item.text.split("\n") if line.strip()]
    if title and len(lines) == 1:
        return [f"{title}{' ' if title[-1] in '?!.:' else ': '}{lines[0].strip()}"]
    return [*filter(None, (title,)), *lines]


def _export(item: PendingItem) -> dict[str, Any]:
    return {
        **{name: value for name, value in item._asdict().items() if name != "kind"},
        "type": item.kind.value,
        "at": utc(item.at) if item.at else None,
        "phase": item.phase or None,
        "project": item.project or None,
        "path": cell_of_path(item.path),
        "answer": item.answer or None,
        "verdict": item.verdict or None,
    }


_NAME = re.compile(ITEM_NAME)


@click.command
@click.argument("item", metavar="ID")
@click.argument("text", metavar="[TEXT]", type=TEXT, default="")
@click.option("--approve", "verdict", flag_value="approved", help="Approve an approval_required.")
@click.option("--reject", "verdict", flag_value="rejected", help="Reject an approval_required.")
@click.option("--ack", "verdict", flag_value="seen", help="Acknowledge a task_complete, or an error that needs no fix.")
@click.pass_obj
def answer(door: Door, /, item: str, text: str, verdict: str | None) -> None:
    """Write an answer into the session's note, after the question. For an error, it is the resolution.

    \b
    - ID is an id from "cru inbox", its last six digits, or the id of a
      session with one pending item.
    - TEXT can be - for stdin.
    - The client sees the answer with its next briefing or resume. The
      session's history shows it at once.

    \b
      cru inbox answer 3f9a1c "Use UTC."
      cru inbox answer 2026-11-21-add.77ab02 --approve
      cru inbox answer 2026-11-21-add --reject "not before the backup"
    """
    if not item.strip():
        raise UsageError("no item given", 'run "cru inbox" to see ids')
    vault = open_vault(door)
    redact = redact_of(vault.settings.secrets)
    item = _full_id(door, vault, item) if _NAME.fullmatch(item) else item
    done = write_answer(vault, item, text, verdict=AnswerVerdict(verdict or "answered"), redact=redact)
    _say_done(done)
    _update_history(vault, done, redact)


def _full_id(door: Door, vault: Vault, name: str) -> str:
    """Return the full id of the pending item with this name; otherwise the name, which may be a session's id."""
    found, _ = query_index(open_index(door), lambda view: [*notes_with_items(view)])
    items = read_items(vault, found, lambda _: None)
    ids = [one.id for one in items if not one.answered and one.id.endswith(f".{name}")]
    if len(ids) > 1:
        raise UsageError(f"{name} matches several items: {', '.join(ids[:3])}", "give the full id of one")
    if not ids:
        try:
            vault.find(name)
        except SessionNotFound:
            raise _unknown(name) from None
    return ids[0] if ids else name


def _say_done(done: GivenAnswer) -> None:
    write(done.item.id)
    count = sum(done.redactions.values())
    if count:
        warn(f"{counted(count, 'secret')} redacted in the answer")


def _update_history(vault: Vault, done: GivenAnswer, redact: Redact) -> None:
    """Update the session's history if it has one; errors are only reported, since the answer is already written."""
    try:
        _, roots = folders_of(vault.root, done.item.project)
        path, now = vault.root / done.item.path, datetime.now(UTC)
        refresh_history(vault, path, now=now, redact=redact, roots=roots)
    except CrucibleError as error:
        _say_history_stale(done, f"{error}{f' ({error.hint})' if error.hint else ''}")
    except Exception as error:  # noqa: BLE001  an error in an old note must not make the answer look failed
        _say_history_stale(done, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _say_history_stale(done: GivenAnswer, why: str) -> None:
    warn(f"{done.item.session}: answered, but its history could not be updated: {why}")
