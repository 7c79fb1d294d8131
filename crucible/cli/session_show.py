"""`cru session show`: show sessions as text, Markdown or JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.rule import Rule
from rich.text import Text

from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, flag, format_option, is_data, user_zone
from crucible.cli.output import clean_line, say_error, say_problems, write, write_data, write_document
from crucible.cli.session_view import console_for, draw, expand
from crucible.cli.vault_access import find_note, load_note, open_vault
from crucible.commands.check.check_vault import link_table
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.source import Source
from crucible.documents.session.findings import Finding, findings_of
from crucible.documents.session.findings_block import render_grounds
from crucible.documents.session.session import Grounds, Phase
from crucible.documents.session.session_json import export_phase, export_session
from crucible.vault.notes.session_notes import find_phase
from crucible.vault.notes.vault import Note, Vault


class _Shown(NamedTuple):
    """A note, and the phase to show (None for all)."""

    note: Note
    phase: Phase | None


@click.command
@click.argument(
    "sessions", cls=PickedId, kind="session", unless=["bookmarks"], metavar="[ID]...", type=SESSION, nargs=-1
)
@click.option("--phase", "wanted", metavar="N", help="Only this phase: 2, or 2.1 for a sub-phase.")
@flag("--findings", "Only the findings: decisions, corrections, failures, outcomes, open ends, reports.")
@flag("--bookmarks", "Only the bookmarks, newest first; ID can be a bookmark's id.")
@format_option("markdown", "mermaid", help_="Output format. markdown is the note itself, mermaid a timeline.")
@click.pass_obj
def show(
    door: Door, /, sessions: tuple[str, ...], wanted: str | None, format_: str, *, findings: bool, bookmarks: bool
) -> int:
    """Show sessions as text, Markdown or JSON.

    \b
    - ID is a session's id, a unique prefix of it, or a path.
    - Problems in a note are reported on stderr; the exit code stays 0.
    - Several sessions are shown in the given order. In Markdown, each note
      follows a line "==> PATH (N bytes) <==". JSON is a list.
    - Unknown IDs are reported, and the others are shown.

    \b
      cru session show 2026-11-21-add-rate-limiter
      cru session show 2026-11-21-add --phase 2.1
      cru session show 2026-11-21-add --format json
      cru session show 2026-11-21-add --findings
      cru session show 2026-11-21-add --bookmarks
      cru session list --since 7d --format paths -0 | xargs -0r cru session show
    """
    vault = open_vault(door)
    if bookmarks:
        return _show_bookmarks(vault, sessions, wanted, format_, findings=findings)
    if findings and format_ in ("markdown", "mermaid"):
        raise click.UsageError(f"--findings does not support {format_}; use text or json")
    write_all = partial(_write_data, format_, findings=findings) if is_data(format_) else _WRITERS[format_, findings]
    if len(sessions) == 1:
        write_all(door, vault, [_shown(load_note(vault, sessions[0]), wanted)], several=False)
        return 0
    wrong: list[CrucibleError] = []
    write_all(door, vault, _each(vault, sessions, wanted, wrong.append), several=True)
    # A usage error counts only if there was no other error.
    return min((error.exit_code for error in wrong), default=0)


def _show_bookmarks(vault: Vault, sessions: Sequence[str], wanted: str | None, format_: str, *, findings: bool) -> int:
    from crucible.cli.session_bookmarks import show_bookmarks  # noqa: PLC0415  most calls show notes

    if wanted or findings or format_ in ("markdown", "mermaid"):
        raise click.UsageError("--bookmarks cannot be used with --phase, --findings, or --format markdown or mermaid")
    return show_bookmarks(vault, sessions, format_)


def _each(
    vault: Vault, refs: Sequence[str], wanted: str | None, failed: Callable[[CrucibleError], None]
) -> Iterator[_Shown]:
    """Load each session once, and report those that cannot be loaded."""
    seen: set[Path] = set()
    for ref in refs:
        try:
            path = find_note(vault, ref)
            if path not in seen:
                seen.add(path)
                shown = _shown(vault.read(path), wanted)
                shown.note.session  # noqa: B018  raises `NoteUnreadable` before anything is written
                yield shown
        except CrucibleError as error:
            say_error(f"{error}" + (f" ({error.hint})" if error.hint else ""))
            failed(error)


def _shown(note: Note, wanted: str | None) -> _Shown:
    return _Shown(note, None if wanted is None else find_phase(note, wanted, note.name))


def _say_problems(vault: Vault, note: Note) -> None:
    say_problems(vault.relative(note.path), note.session.problems)


# --- notes -----------------------------------------------------------------------------------------------------------


def _write_terminal(door: Door, vault: Vault, each: Iterable[_Shown], *, several: bool) -> None:
    console, links = console_for(door), link_table(vault)
    for number, (note, phase) in enumerate(each):
        if several:
            title = Text(clean_line(vault.relative(note.path)), style="bold")
            console.print(*[""] * bool(number), Rule(title, characters="━", align="left"), sep="\n")
        view, problems = expand(vault, links, note)
        for part in draw(view, phase):
            console.print(part, crop=False)
        for found in problems:
            say_problems(vault.relative(found.path), [found.problem])


def _write_markdown(door: Door, vault: Vault, each: Iterable[_Shown], *, several: bool) -> None:
    """Write the notes byte for byte."""
    for note, phase in each:
        source = note.source
        shown = source if phase is None else Source(source.slice(source.span_of(phase.lines)))
        text = shown.to_bytes()
        if several:
            write(f"==> {vault.relative(note.path)} ({len(text)} bytes) <==")
        # Always add a newline after a note's bytes, so that readers who count bytes find the next note.
        write_document(text, door, end=several)
        _say_problems(vault, note)


def _write_mermaid(door: Door, _: Vault, each: Iterable[_Shown], *, several: bool) -> None:
    """Write a timeline of each session, in the user's time zone; fenced if there are several."""
    from crucible.documents.workflow.graph_diagrams import render_timeline  # noqa: PLC0415  most calls show notes

    for note, phase in each:
        session = replace(note.session, phases=(phase,)) if phase else note.session
        drawn = render_timeline(session, user_zone())
        write_document(f"```mermaid\n{drawn}```\n" if several else drawn, door)


def _write_data(format_: str, _: Door, vault: Vault, each: Iterable[_Shown], *, several: bool, findings: bool) -> None:
    del several
    found = list(each)
    write_data({"sessions": [_findings_json(*one) if findings else _note_json(*one) for one in found]}, format_)
    for note, _phase in found:
        _say_problems(vault, note)


def _note_json(note: Note, phase: Phase | None) -> dict[str, Any]:
    return {"id": note.name, "phases": [export_phase(phase)]} if phase else export_session(note.session)


def _findings_json(note: Note, phase: Phase | None) -> dict[str, Any]:
    return {"id": note.name, "findings": [_exported(each) for each in _findings(note, phase)]}


# --- findings --------------------------------------------------------------------------------------------------------

_LABELS = {
    "cause": "cause",
    "resolution": "fix",
    "details": "details",
    "alternatives": "alternatives",
    "by": "by",
    "evidence": "evidence",
}


def _write_findings(_: Door, vault: Vault, each: Iterable[_Shown], *, several: bool) -> None:
    """Write the kind and summary of each finding, with its details indented below."""
    for number, (note, phase) in enumerate(each):
        if several:
            write("\n" * bool(number) + f"==> {vault.relative(note.path)} <==")
        found = _findings(note, phase)
        if not found:
            write("no findings")
        for at, finding in enumerate(found):
            if at:
                write()
            write(f"{finding.kind.replace('_', ' ')}: {finding.summary}")
            for line in _details(finding):
                write(f"    {line}")
        _say_problems(vault, note)


def _findings(note: Note, phase: Phase | None) -> list[Finding]:
    found = findings_of(note.session)
    return [each for each in found if phase is None or f"{each.phase}.".startswith(f"{phase.id}.")]


def _exported(finding: Finding) -> dict[str, Any]:
    names = ("details", "alternatives", "by", "cause", "resolution", "evidence", "phase")
    values = {name: value for name in names if (value := getattr(finding, name))}
    if finding.points:
        values["points"] = "\n".join(f"- {point}" for point in finding.points)
    head = {"id": finding.id, "kind": finding.kind, "summary": finding.summary}
    return {**head, **values, "source": finding.source, "confidence": finding.confidence, "rows": list(finding.rows)}


def _details(finding: Finding) -> Iterator[str]:
    yield from (f"{label}: {value}" for name, label in _LABELS.items() if (value := getattr(finding, name)))
    yield from (f"- {point}" for point in finding.points)
    yield f"source: {render_grounds(Grounds(finding.source, finding.confidence, finding.rows))}"
    yield f"id: {finding.id}"


_WRITERS: Mapping[tuple[str, bool], Callable[..., None]] = {
    ("text", False): _write_terminal,
    ("markdown", False): _write_markdown,
    ("mermaid", False): _write_mermaid,
    ("text", True): _write_findings,
}
"""Writers by format and by `--findings`."""
