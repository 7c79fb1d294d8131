"""`cru inbox answer`: an answer, written where the question stands, and told in the session's history."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click

from crucible.cli.door import Door
from crucible.cli.indexed import asked, open_index
from crucible.cli.log_options import SAID
from crucible.cli.opening import open_vault
from crucible.cli.output import say, write
from crucible.cli.project_folders import folders_of
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.waiting import ITEM_NAME
from crucible.memory.history.history_update import refresh_history
from crucible.memory.inbox.answers import Answered, Verdict
from crucible.memory.inbox.answers import answer as write_answer
from crucible.memory.inbox.pending import places, read_items
from crucible.vault.notes.vault import Vault

_NAME = re.compile(ITEM_NAME)


@click.command
@click.argument("item", metavar="ID")
@click.argument("text", metavar="[TEXT]", type=SAID, default="")
@click.option("--approve", "verdict", flag_value="approved", help="Yes, to an approval_required.")
@click.option("--reject", "verdict", flag_value="rejected", help="No, to an approval_required.")
@click.option("--ack", "verdict", flag_value="seen", help="Seen: a task_complete, or an error that may stay.")
@click.pass_context
def answer(ctx: click.Context, /, item: str, text: str, verdict: str | None) -> None:
    """Write an answer into the session's note, directly behind the question; an error gets it as its resolution.

    ID is as `cru inbox` shows it, its last six digits, those behind a beginning of the session's id, or a session's id
    where only one thing waits in it. TEXT may be - for stdin. A session's client learns of the answer with its next
    briefing or resume, not before; its history, where it has one, tells of it at once.

    \b
      cru inbox answer 3f9a1c "Use UTC."
      cru inbox answer 2026-11-21-add.77ab02 --approve
      cru inbox answer 2026-11-21-add --reject "not before the backup"
    """
    door = ctx.ensure_object(Door)
    if not item.strip():
        raise UsageError("no item was named", "`cru inbox` shows what waits")
    vault = open_vault(door)
    redact = redact_of(vault.settings.secrets)
    item = _whole_id(door, vault, item) if _NAME.fullmatch(item) else item
    done = write_answer(vault, item, text, verdict=Verdict(verdict or "answered"), redact=redact)
    _say_done(done)
    _tell_history(vault, done, redact)


def _whole_id(door: Door, vault: Vault, name: str) -> str:
    """The item of this name in whatever session it waits; the name itself where none does, which may be a session's."""
    found, _ = asked(open_index(door), lambda view: [*places(view)])
    items = read_items(vault, found, lambda _: None)
    ids = [one.id for one in items if not one.answered and one.id.endswith(f".{name}")]
    if len(ids) > 1:
        raise UsageError(f"{name}: which? {', '.join(ids[:3])}", "name one by its whole id")
    return ids[0] if ids else name


def _say_done(done: Answered) -> None:
    write(done.item.id)
    count = sum(done.redactions.values())
    if count:
        say(f"cru: {count} secret{'' if count == 1 else 's'} taken out of the answer", style="yellow")


def _tell_history(vault: Vault, done: Answered, redact: Redact) -> None:
    """Bring the session's history up to date, where it has one, without a model; the answer is given, whatever comes of this."""
    try:
        _, roots = folders_of(done.item.project)
        path, now = vault.root / done.item.path, datetime.now(UTC)
        refresh_history(vault, path, now=now, redact=redact, roots=roots)
    except CrucibleError as error:
        _say_untold(done, f"{error}{f' ({error.hint})' if error.hint else ''}")
    except Exception as error:  # noqa: BLE001  what a note of years ago makes us stumble over must not look like a failed answer
        _say_untold(done, f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")


def _say_untold(done: Answered, why: str) -> None:
    say(f"cru: {done.item.session}: answered, but its history does not tell of it yet: {why}", style="yellow")
