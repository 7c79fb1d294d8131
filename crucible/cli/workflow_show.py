"""`cru workflow show` and `cru workflow graph`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import ConsoleRenderable, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from crucible.cli.environment import absolute_path
from crucible.cli.id_arguments import WORKFLOW, PickedId
from crucible.cli.options import Door, GivenPath, flag, format_option, is_data
from crucible.cli.output import clean, clean_line, data_text, room_of, say, write_data, write_document
from crucible.cli.session_view import console_for
from crucible.cli.table_output import STATUS_STYLES
from crucible.cli.terminal_markdown import markdown
from crucible.cli.workflow_list import CheckedWorkflow, WorkflowFinder, checked, say_diagnostics
from crucible.core.errors import NoteExists
from crucible.core.files import create_exclusive, holds, write_atomic
from crucible.documents.workflow.datum import render_datum
from crucible.documents.workflow.flows import render_flow
from crucible.documents.workflow.graph_diagrams import render_dot, render_mermaid
from crucible.documents.workflow.graph_listing import render_lines
from crucible.documents.workflow.marker_rows import runs_of
from crucible.documents.workflow.workflow import Grade, Marker, Step, key_of
from crucible.documents.workflow.workflow_json import export_workflow, step_ids
from crucible.vault.index.time_filters import utc

_GRADES = {Grade.CRITICAL: ("critical", "bold red"), Grade.OPTIONAL: ("optional", "yellow")}


@click.command("show")
@click.argument("workflow", cls=PickedId, kind="workflow", metavar="[FILE]", type=WORKFLOW)
@format_option("markdown")
@click.pass_obj
def show_workflow(door: Door, /, workflow: str, *, format_: str) -> None:
    """Show a workflow as text, Markdown or JSON.

    \b
    - Shows each step's agent, channel, data flow, sub-steps and runs.
    - Problems are reported on stderr; the exit code stays 0.
    - FILE is a workflow's name, a unique prefix of it, or a path. A path
      needs no vault.

    \b
      cru workflow show release-checklist
      cru workflow show docs/pipeline.md --format json
    """
    note = WorkflowFinder(door).load(workflow)
    of = checked(note)
    if format_ == "markdown":
        write_document(note.source.to_bytes(), door)
    elif is_data(format_):
        exported = {**export_workflow(note.workflow, of.graph, of.diagnostics), "path": note.shown}
        write_data({"workflows": [exported]}, format_)
    else:
        console_for(door).print(Group(*_drawn(of)))
    say_diagnostics(of)


def _drawn(of: CheckedWorkflow) -> Iterator[ConsoleRenderable]:
    workflow = of.note.workflow
    yield _header(of)
    if workflow.preamble:
        yield markdown(workflow.preamble)
    figures = _markers(of)
    depths: list[int] = []
    for at, step in enumerate(of.graph.steps):
        above = of.graph.parents[at]
        depths.append(depths[above] + 1 if above >= 0 else 0)
        yield Text()
        yield Padding(Group(*_step(step, figures[at])), (0, 0, 0, 2 * depths[at]))


def _header(of: CheckedWorkflow) -> ConsoleRenderable:
    workflow, rows = of.note.workflow, Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    runs = runs_of(workflow)
    last = f"{runs[0].status} {utc(runs[0].started) if runs[0].started else ''}".rstrip() if runs else ""
    facts = {
        "file": of.note.shown,
        "sessions": ", ".join(workflow.sessions),
        "inputs": ", ".join(render_datum(datum) for datum in of.graph.inputs),
        "runs": f"{len(runs)}, last: {last}" if runs else "none yet",
    }
    for key, value in facts.items():
        if value:
            rows.add_row(key, _line(value))
    return Panel(rows, title=_line(workflow.title or of.note.name, "bold"), border_style="bright_black")


def _step(step: Step, rows: Sequence[Marker]) -> Iterator[ConsoleRenderable]:
    head = Text(style="bold")
    head.append(clean_line(f"{step.id.removeprefix('step-')} {step.name}"))
    if step.agent:
        head.append(clean_line(f" @{step.agent}"), "cyan")
    if step.channel:
        head.append(clean_line(f" #{step.channel}"), "blue")
    if step.grade in _GRADES:
        word, style = _GRADES[step.grade]
        head.append(f" {word}", style)
    yield head
    for flow in step.flows:
        for line in render_flow(flow):
            yield _line(line, "green")
    if rows:
        yield _last_run(rows)
    if step.prose:
        yield markdown(step.prose)


def _last_run(rows: Sequence[Marker]) -> Text:
    """Return a step's counts by status, and its latest figures."""
    last = rows[-1]
    counts = Counter(row.status for row in rows)
    shown = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    figures = [
        f"{last.values[key]:,}{unit}"
        for key, unit in (("duration_ms", " ms"), ("tokens_used", " tokens"))
        if isinstance(last.values.get(key), int | float)
    ]
    line = _line(f"{shown}; last: ", "dim")
    line.append(clean_line(last.status), STATUS_STYLES.get(last.status, ""))
    line.append("".join(f", {one}" for one in figures), "dim")
    return line


def _markers(of: CheckedWorkflow) -> list[list[Marker]]:
    """Return the marker rows of each step, in the order of the note."""
    places = {step.key: at for at, step in reversed([*enumerate(of.graph.steps)])}
    found: list[list[Marker]] = [[] for _ in of.graph.steps]
    for step in of.graph.steps:
        for marker in step.markers:
            at = places.get(key_of(marker.phase))
            if at is not None:
                found[at].append(marker)
    return found


def _line(text: str, style: str = "") -> Text:
    """Return untrusted text on one line."""
    return Text(clean_line(text), style=style)


_WIDE = 100
"""The width of a drawing if stdout is not a terminal."""

_JOINED = ("edges", "bundles", "order", "waves", "cycles", "inputs", "outputs")

_BY_ENDING = {".dot": "dot", ".gv": "dot", ".json": "json", ".toon": "toon", ".txt": "text"}
"""Formats by file extension; any other extension means Mermaid."""


@click.command
@click.argument("workflow", cls=PickedId, kind="workflow", metavar="[FILE]", type=WORKFLOW)
@format_option("mermaid", "dot", default=None, help_="Output format; by default text on a terminal, Mermaid in a pipe.")
@click.option("-o", "--output", type=GivenPath(path_type=Path), metavar="PATH", help="Write to this new file.")
@flag("--force", "With --output: replace an existing file.")
@click.pass_obj
def graph(door: Door, /, workflow: str, format_: str | None, output: Path | None, *, force: bool) -> None:
    """Draw a workflow's steps and their dependencies.

    \b
    - An edge is data that one step makes and another takes, or a "proceed
      to". Dashed edges have a condition. Independent steps are side by
      side.
    - Problems are reported on stderr; the graph is drawn anyway.
    - FILE is a workflow's name, a unique prefix of it, or a path. A path
      needs no vault.

    \b
      cru workflow graph release-checklist
      cru workflow graph release-checklist --format dot | dot -Tsvg > graph.svg
      cru workflow graph docs/pipeline.md -o pipeline.mmd
    """
    of = checked(WorkflowFinder(door).load(workflow))
    format_ = format_ or _default_format(door, output)
    text = _graph_text(of, format_, None if output else room_of(door))
    if output is None and is_data(format_):
        write_data(_export_graph(of), format_)
    elif output is None:
        click.echo(text)
    else:
        _save(Path(absolute_path(os.fspath(output))), f"{text}\n".encode(errors="replace"), force=force)
    say_diagnostics(of)


def _default_format(door: Door, output: Path | None) -> str:
    if output is not None:
        return _BY_ENDING.get(output.suffix.lower(), "mermaid")
    return "text" if door.terminal else "mermaid"


def _graph_text(of: CheckedWorkflow, format_: str, room: int | None) -> str:
    """Return the drawing, without a final newline and without control characters."""
    if is_data(format_):
        return data_text(_export_graph(of), format_)
    if format_ == "text":
        return "\n".join(map(clean_line, render_lines(of.graph, room or _WIDE)))
    return clean((render_dot if format_ == "dot" else render_mermaid)(of.graph)).rstrip("\n")


def _export_graph(of: CheckedWorkflow) -> dict[str, Any]:
    """Export the graph for JSON, with its steps as a flat list in the order of the note."""
    ids = step_ids(of.graph)
    nodes = [
        {
            "id": ids[at],
            "name": step.name,
            "agent": str(step.agent) if step.agent else None,
            "channel": step.channel,
            "grade": step.grade.value,
            "parent": ids[above] if above >= 0 else None,
        }
        for at, (step, above) in enumerate(zip(of.graph.steps, of.graph.parents, strict=True))
    ]
    exported = export_workflow(of.note.workflow, of.graph, ())
    return {"name": exported["name"], "title": exported["title"], "nodes": nodes} | {
        key: exported[key] for key in _JOINED
    }


def _save(path: Path, data: bytes, *, force: bool) -> None:
    real = Path(os.path.realpath(path))
    if real.is_file() and holds(real, data):
        say(f"{path}: unchanged")
        return
    if force and real.exists():
        write_atomic(real, data)
    elif os.path.lexists(path):
        raise NoteExists(f"{path}: already exists", "replace it with --force, or choose another file")
    else:
        create_exclusive(real, data)
    say(f"{path}: written")
