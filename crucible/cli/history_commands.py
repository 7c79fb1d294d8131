"""`cru history list`, `show`, `search` and `prune`: the summary notes of sessions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import (
    Door,
    flag,
    format_option,
    is_data,
    limit_option,
    since_option,
    until_option,
    yes_option,
)
from crucible.cli.output import PROBLEMS_FOUND, say, say_problems, warn, write, write_data, write_document
from crucible.cli.table_output import write_rows
from crucible.cli.vault_access import find_note, folders_of, open_vault
from crucible.core.errors import AmbiguousSession, CrucibleError, SessionNotFound, UsageError, no_match
from crucible.core.secrets.redaction import redact_of
from crucible.core.text import counted, short_duration
from crucible.memory.history.history import HEADINGS, PROPERTIES, Capture, Captures, HistoryEntry, HistoryLine, lines_of
from crucible.memory.history.history_folder import (
    HistoryFilter,
    HistoryNote,
    list_entries,
    load_entries,
    search_entries,
    too_many,
)
from crucible.memory.history.history_folder import prune as prune_notes
from crucible.memory.history.history_notes import render_history, without_marks
from crucible.memory.history.history_update import compose_from_note, refresh_history
from crucible.vault.index.later_sessions import work_in
from crucible.vault.index.schema import cell_of_path
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_TABLE = ("started", "id", "agent", "duration", "done", "decided", "open", "captures", "title")
_MORE = (
    *("started", "ended", "id", "title", "project", "agent", "duration_s", "tokens", "author"),
    *("done", "decided", "open", "next", "captures", "files", "path"),
)
_LIMIT = limit_option()


# --- list and search -------------------------------------------------------------------------------------------------


@click.command("list")
@since_option("Only histories of sessions started since: 2026-11-01, 30d.")
@until_option("Only histories of sessions started until this time.")
@click.option("--agent", metavar="AGENT", default="", help="Only sessions of this agent: name or name@version.")
@click.option("--captures/--no-captures", default=None, help="Only with captures, or only without.")
@click.option("--project", metavar="NAME", default="", help="Only sessions of this project.")
@_LIMIT
@format_option()
@click.pass_obj
def list_history(door: Door, /, *, format_: str, **wishes: Any) -> int:
    """List histories of sessions, newest first.

    \b
    - The columns "done", "decided", "open" and "captures" are counts; "cru
      history show" shows the items.

    Exit code: 3 if a note in the folder is not a history.

    \b
      cru history list --since 30d
      cru history list --agent claude-code --captures --format json
    """
    vault = open_vault(door)
    notes, complete = _load_all(vault)
    _write_entries(vault, list_entries(notes, HistoryFilter(**wishes)), format_, door)
    return 0 if complete else PROBLEMS_FOUND


@click.command
@click.argument("words", nargs=-1, required=True)
@_LIMIT
@format_option()
@click.pass_obj
def search(door: Door, /, words: Sequence[str], limit: int | None, format_: str) -> int:
    """Find histories that contain all words, newest first. Case is ignored.

    \b
    - Searches items and reasons, titles, projects, agents, files and
      captures.
    - To search everything by similarity, use "cru recall".

    \b
      cru history search token bucket
      cru history search limiter.py --format json
    """
    vault = open_vault(door)
    notes, complete = _load_all(vault)
    _write_entries(vault, search_entries(notes, " ".join(words))[:limit], format_, door)
    return 0 if complete else PROBLEMS_FOUND


def _load_all(vault: Vault) -> tuple[list[HistoryNote], bool]:
    """Load every note in the folder; the second value is False if one is unreadable or not a history."""
    wrong: list[CrucibleError] = []
    notes = list(load_entries(vault, wrong.append))
    warn(*wrong)
    for one in notes:
        if one.entry is None:
            say_problems(vault.relative(one.note.path), one.problems)
    return notes, not wrong and all(one.entry for one in notes)


def _write_entries(vault: Vault, found: Sequence[HistoryNote], format_: str, door: Door) -> None:
    rows = [_row(vault, one, one.entry) for one in found if one.entry]
    if format_ == "text":
        rows = [{**row, "duration": row["duration_s"] and short_duration(row["duration_s"])} for row in rows]
    columns = _TABLE if format_ == "text" else _MORE
    write_rows(rows, columns, format_, "histories", door, texts=("title", "agent"), names=("id",))
    if not rows and format_ == "text":
        say('No matching history. "cru session end ID" writes one.')


def _row(vault: Vault, one: HistoryNote, entry: HistoryEntry) -> dict[str, Any]:
    return {
        "started": utc(entry.started) if entry.started else None,
        "ended": utc(entry.ended) if entry.ended else None,
        "id": entry.session_id,
        "title": entry.title or entry.session_id,
        "project": entry.project or None,
        "agent": entry.agent or None,
        "duration_s": None if entry.duration_minutes is None else entry.duration_minutes * 60,
        "tokens": entry.tokens,
        "author": entry.author or None,
        "done": len(entry.done),
        "decided": len(entry.decisions),
        "open": len(entry.questions),
        "next": len(entry.further),
        "captures": sum(map(len, entry.captures)),
        "files": len(entry.files_modified),
        "path": cell_of_path(vault.relative(one.note.path)),
    }


# --- show ------------------------------------------------------------------------------------------------------------


@click.command("show")
@click.argument("session", cls=PickedId, kind="history", metavar="[ID]", type=SESSION)
@with_option
@format_option()
@click.pass_obj
def show_history(door: Door, /, session: str, named: str | None, format_: str) -> None:
    """Show a session's history: its note, or its facts as JSON.

    \b
    - If there is no history note, for example after an import, the history
      is composed from the session's note. Nothing is written.
    - --with first asks an agent what mattered. Its findings go into the
      session's note, and an existing history is updated.
    - Problems in the note are reported on stderr.

    \b
      cru history show 2026-11-21-add-rate-limiter
      cru history show 2026-11-21-add --with claude
    """
    vault = open_vault(door)
    if named is not None:
        path = find_note(vault, session)
        ask_first(vault, [path], named)
        refresh_history(vault, path, now=datetime.now(UTC), redact=redact_of(vault.settings.secrets))
    one = _find_entry(vault, session)
    if one is None:
        _show_composed(vault, session, format_, door)
        return
    if is_data(format_):
        if one.entry is None:
            raise CrucibleError(f"{vault.relative(one.note.path)}: not a history", "its `type` must be `history`")
        write_data({"histories": [_export(one.entry)]}, format_)
    else:
        write_document(without_marks(one.note.data.decode("utf-8", "surrogateescape")), door)
    say_problems(vault.relative(one.note.path), one.problems)


def _find_entry(vault: Vault, ref: str) -> HistoryNote | None:
    """Find an entry by session id or path, note path, or unique id prefix; None if there is none."""
    name_wanted = note_name(Path(ref).name)
    notes = list(load_entries(vault))

    def names(one: HistoryNote) -> tuple[str, ...]:
        return (one.note.name, one.entry.session_id) if one.entry else (one.note.name,)

    found = [one for one in notes if name_wanted in names(one)] or [
        one for one in notes if name_wanted and any(name.startswith(name_wanted) for name in names(one))
    ]
    if len(found) > 1:
        raise AmbiguousSession(ref, [names(one)[-1] for one in found])
    return found[0] if found else None


def _show_composed(vault: Vault, ref: str, format_: str, door: Door) -> None:
    try:
        note = vault.read(find_note(vault, ref))
    except SessionNotFound as error:
        raise SessionNotFound(*no_match("history or session", ref, "cru history list")) from error
    session = note.session
    _, roots = folders_of(vault.root, session.project or "")
    began = utc(session.started) if session.started else session.id[:10]
    work, _ = query_index(open_index(door), lambda view: work_in(view, began))
    following = work.after(session.project or "", began)
    redact = redact_of(vault.settings.secrets)
    entry = compose_from_note(vault, note, redact=redact, roots=roots, following=following)
    if is_data(format_):
        write_data({"histories": [_export(entry)]}, format_)
    else:
        text = render_history(entry, place=vault.relative(note.path))
        write_document(without_marks(text), door)
    say(f'composed from the session; save it with "cru session end {entry.session_id}"')


def _export(entry: HistoryEntry) -> dict[str, Any]:
    def lines(told: Sequence[HistoryLine]) -> list[dict[str, Any]]:
        return [
            {
                "text": one.text,
                "why": one.why or None,
                "points": [*one.points],
                "finding": one.finding or None,
            }
            for one in told
        ]

    return {
        **{name: _fact(getattr(entry, name)) for name in PROPERTIES},
        **{_key(heading): lines(lines_of(entry, part)) for part, heading in HEADINGS.items()},
    }


def _fact(value: object) -> object:
    """Convert a property for JSON; unknown values become null."""
    match value:
        case datetime():
            return utc(value)
        case Captures():
            return {name: [_fact(one) for one in group] for name, group in value._asdict().items()}
        case Capture():
            return {"type": value.type, "id": value.id or None, "summary": value.summary}
        case tuple():
            return [*value]
    return None if value == "" else value


def _key(heading: str) -> str:
    return heading.lower().replace(" ", "_")


# --- prune -----------------------------------------------------------------------------------------------------------


@click.command
@yes_option()
@flag("--dry-run", "List what would be removed, and remove nothing.")
@click.option(
    "--max-entries",
    type=click.IntRange(min=1),
    metavar="N",
    help="Keep the newest N histories.",
)
@click.option(
    "--older-than",
    type=click.IntRange(min=1),
    metavar="DAYS",
    help="Remove histories older than this.",
)
@click.pass_obj
def prune(door: Door, /, *, yes: bool, dry_run: bool, max_entries: int | None, older_than: int | None) -> int:
    """Remove histories that are too old, or exceed the maximum number.

    \b
    - The limits are options, or [history.retention] in the settings.
    - Notes to remove are listed, and you are asked. Without a terminal,
      --yes is required.
    - Notes committed to git and not changed since are deleted. Others go
      to the system's trash, or stay if there is none.
    - Sessions are never removed.

    \b
      cru history prune --dry-run
      cru history prune --max-entries 50 --yes
    """
    vault = open_vault(door)
    notes, _ = _load_all(vault)
    limits = vault.settings.history
    if max_entries is None and older_than is None:
        max_entries, older_than = limits.max_entries, limits.max_age_days
    beyond = too_many(notes, datetime.now(UTC), max_entries or 0, older_than or 0)
    for one in beyond:
        write(vault.relative(one.note.path))
    if not beyond:
        say("no history exceeds the limits")
    elif dry_run:
        say(f"{counted(len(beyond), 'history', 'histories')} would be removed")
    elif _is_confirmed(len(beyond), yes=yes):
        return _put_away(vault, beyond)
    else:
        say("nothing was removed")
    return 0


def _is_confirmed(count: int, *, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("no terminal to ask for confirmation", "add --yes to remove them, or --dry-run to list them")
    return click.confirm(f"Remove {counted(count, 'history', 'histories')}?", err=True)


def _put_away(vault: Vault, beyond: Sequence[HistoryNote]) -> int:
    """Prune the histories; returns the exit code, which is 3 if one could not be removed."""
    where: list[str] = []
    wrong: list[CrucibleError] = []
    prune_notes(vault, beyond, lambda _, told: where.append(told), wrong.append)
    for error in wrong:
        warn(f"{error}{f' ({error.hint})' if error.hint else ''}")
    told = ", ".join(f"{where.count(one)} {one}" for one in dict.fromkeys(where))
    say(f"removed {counted(len(where), 'history', 'histories')}{f': {told}' if told else ''}")
    left = len(beyond) - len(where) - len(wrong)
    if left:
        say(f"{counted(left, 'history', 'histories')} changed in the meantime, kept")
    return PROBLEMS_FOUND if wrong else 0
