"""`cru session brief`: update and show a session's brief."""

from __future__ import annotations

import click

from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, flag, format_option, is_data
from crucible.cli.output import say, say_error, write_data, write_text
from crucible.cli.vault_access import load_note, open_vault
from crucible.core.errors import UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.memory.summary.brief import BriefUpdate, count_covered, due_phase, find_brief
from crucible.memory.summary.brief_updates import renew_brief, update_brief
from crucible.vault.notes.vault import Note


@click.command
@click.argument("session", cls=PickedId, kind="session", metavar="[ID]", type=SESSION, envvar="CRU_SESSION")
@flag("--print", "Show the current brief; change nothing.", "only_print")
@with_option
@format_option()
@click.pass_obj
def brief(
    door: Door,
    /,
    session: str,
    only_print: bool,
    named: str | None,
    format_: str,
) -> int:
    """Update and show a session's brief: a summary of its finished phases in at most 300 words.

    \b
    - The brief is a callout under the note's title. You can edit it there.
    - It is made from the note's findings and unanswered questions. Covered
      phases are not read again, except after --with if nobody edited the
      brief.
    - Without ID, uses the session in CRU_SESSION.

    \b
      cru session brief 2026-11-21-add-rate-limiter
      cru session brief 2026-11-21-add --with claude
      cru session brief 2026-11-21-add --print --format json
    """
    if only_print and named is not None:
        raise UsageError("--print and --with cannot be used together", "remove one of them")
    vault = open_vault(door)
    note = load_note(vault, session)
    redact = redact_of(vault.settings.secrets)
    if only_print:
        update = BriefUpdate(find_brief(note.session))
    elif named is not None:
        ask_first(vault, [note.path], named)
        update = renew_brief(vault, note.path, note.session, redact=redact)
        note = vault.read(note.path)
    else:
        update = update_brief(vault, note.path, redact=redact)
    _show(note, update, format_)
    if not update.problem:
        return 0
    say_error(update.problem)
    return 1


def _show(note: Note, update: BriefUpdate, format_: str) -> None:
    found = update.brief
    if is_data(format_):
        write_data(
            {
                "session": note.name,
                "brief": found.text if found else None,
                "covers": found.covers or None if found else None,
                "phases_covered": count_covered(note.session, found.covers) if found else 0,
                "phases": len(note.session.phases),
                "changed": update.changed,
            },
            format_,
        )
    elif found:
        write_text(found.text)
    elif not update.problem:
        waits = due_phase(note.session, "")
        how = "run it without --print to write one" if waits else "no phase is finished yet"
        say(f"{note.name}: no brief: {how}")
