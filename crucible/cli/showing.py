"""`cru session show`."""

from __future__ import annotations

import click

from crucible.checking.checking import link_table
from crucible.cli.arguments import SESSION, format_option
from crucible.cli.door import Door
from crucible.cli.embeds import expand
from crucible.cli.opening import load_note, open_vault
from crucible.cli.output import say_problems, write_json
from crucible.cli.terminal import console_for, draw, draw_phase
from crucible.errors import UsageError
from crucible.note.source import Source
from crucible.session.export import export_phase, export_session
from crucible.session.model import Phase
from crucible.vault.store import Note, Vault

__all__ = ["show"]


@click.command
@click.argument("session", metavar="ID", type=SESSION)
@click.option("--phase", "wanted", metavar="N", help="Only this phase: 2, or 2.1 for a sub-phase.")
@format_option("terminal", "markdown", "json")
@click.pass_obj
def show(door: Door, session: str, wanted: str | None, format_: str) -> None:
    """Show one session: rendered for a terminal, as its exact Markdown, or as JSON.

    ID is a session's id, a path, or a beginning of an id that only one session has. What is untidy in the note is
    named on stderr and the exit code stays 0: the note belongs to its human.

    \b
      cru session show 2026-11-21-add-rate-limiter
      cru session show 2026-11-21-add --phase 2.1
      cru session show 2026-11-21-add --format json
    """
    vault = open_vault(door)
    note = load_note(vault, session)
    phase = None if wanted is None else _phase(note, wanted)
    if format_ == "terminal":
        _show_terminal(door, vault, note, phase)
        return
    if format_ == "json":
        write_json(export_phase(phase) if phase else export_session(note.session))
    else:
        click.echo(_markdown(note, phase), nl=False)
    say_problems(vault.relative(note.path), note.session.problems)


def _show_terminal(door: Door, vault: Vault, note: Note, phase: Phase | None) -> None:
    view, findings = expand(vault, link_table(vault), note)
    console_for(door).print(draw_phase(view, phase) if phase else draw(view))
    for finding in findings:
        say_problems(vault.relative(finding.path), [finding.problem])


def _phase(note: Note, wanted: str) -> Phase:
    phases = list(note.session.all_phases())
    number = wanted.removeprefix("phase-")
    for phase in phases:
        if phase.id == f"phase-{number}":
            return phase
    numbers = ", ".join(p.id.removeprefix("phase-") for p in phases) or "none"
    raise UsageError(f"{note.name} has no phase {wanted!r}", f"its phases: {numbers}")


def _markdown(note: Note, phase: Phase | None) -> bytes:
    """The note's own bytes."""
    source = note.source
    return (
        source.to_bytes() if phase is None else Source(source.slice(source.span_of(phase.lines))).to_bytes()
    )
