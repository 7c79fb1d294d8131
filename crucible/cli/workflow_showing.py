"""`cru workflow show`: a workflow for a reader, as its exact Markdown, or as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import click
from rich.console import ConsoleRenderable, Group
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from crucible.cli.door import Door
from crucible.cli.options import format_option
from crucible.cli.output import clean, clean_line, write_document, write_json
from crucible.cli.terminal import console_for
from crucible.cli.workflow_opening import Known, Shelf, known, say_diagnostics
from crucible.cli.workflow_ref import WORKFLOW
from crucible.cli.workflow_tables import STATUS_STYLES
from crucible.documents.workflow.datum import render_datum
from crucible.documents.workflow.flows import render_flow
from crucible.documents.workflow.run_query import runs_of
from crucible.documents.workflow.workflow import Grade, Marker, Step, key_of
from crucible.documents.workflow.workflow_json import export_workflow
from crucible.vault.index.time_filters import utc

_GRADES = {Grade.CRITICAL: ("critical", "bold red"), Grade.OPTIONAL: ("optional", "yellow")}


@click.command("show")
@click.argument("workflow", metavar="FILE", type=WORKFLOW)
@format_option("terminal", "markdown", "json")
@click.pass_context
def show_workflow(ctx: click.Context, /, workflow: str, *, format_: str) -> None:
    """Show a workflow: rendered for a terminal, as its exact Markdown, or as JSON.

    Of each step its agent and channel, what flows through it, what stands below it, and how it went: how often, and the last
    figures. What is wrong is named on stderr and the exit code stays 0: the note belongs to its human.

    FILE is a workflow's name, a path, or a beginning of a name that only one workflow has. A path needs no vault.

    \b
      cru workflow show release-checklist
      cru workflow show docs/pipeline.md --format json
    """
    door = ctx.ensure_object(Door)
    note = Shelf(door).load(workflow)
    of = known(note)
    if format_ == "markdown":
        write_document(note.source.to_bytes(), door)
    elif format_ == "json":
        write_json({**export_workflow(note.workflow, of.graph, of.diagnostics), "path": note.shown})
    else:
        console_for(door).print(Group(*_drawn(of)))
    say_diagnostics(of)


def _drawn(of: Known) -> Iterator[ConsoleRenderable]:
    workflow = of.note.workflow
    yield _header(of)
    if workflow.preamble:
        yield Markdown(clean(workflow.preamble))
    figures = _figures(of)
    depths: list[int] = []
    for at, step in enumerate(of.graph.steps):
        above = of.graph.parents[at]
        depths.append(depths[above] + 1 if above >= 0 else 0)
        yield Text()
        yield Padding(Group(*_step(step, figures[at])), (0, 0, 0, 2 * depths[at]))


def _header(of: Known) -> ConsoleRenderable:
    workflow, rows = of.note.workflow, Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    runs = runs_of(workflow)
    last = f"{runs[0].status} {utc(runs[0].started) if runs[0].started else ''}".rstrip() if runs else ""
    facts = {
        "file": of.note.shown,
        "sessions": ", ".join(workflow.sessions),
        "inputs": ", ".join(render_datum(datum) for datum in of.graph.inputs),
        "runs": f"{len(runs)}, the last {last}" if runs else "none yet",
    }
    for key, value in facts.items():
        if value:
            rows.add_row(key, _plain(value))
    return Panel(rows, title=_plain(workflow.title or of.note.name, "bold"), border_style="bright_black")


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
            yield _plain(line, "green")
    if rows:
        yield _told(rows)
    if step.prose:
        yield Markdown(clean(step.prose))


def _told(rows: Sequence[Marker]) -> Text:
    """How often it was done, how that ended, and the figures of the last time."""
    last = rows[-1]
    counts = Counter(row.status for row in rows)
    shown = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    figures = [
        f"{last.values[key]:,}{unit}"
        for key, unit in (("duration_ms", " ms"), ("tokens_used", " tokens"))
        if isinstance(last.values.get(key), int | float)
    ]
    line = _plain(f"{shown}; last: ", "dim")
    line.append(clean_line(last.status), STATUS_STYLES.get(last.status, ""))
    line.append("".join(f", {one}" for one in figures), "dim")
    return line


def _figures(of: Known) -> list[list[Marker]]:
    """Of each step its rows in the order of the note, wherever their blocks stand."""
    places = {step.key: at for at, step in reversed([*enumerate(of.graph.steps)])}
    found: list[list[Marker]] = [[] for _ in of.graph.steps]
    for step in of.graph.steps:
        for marker in step.markers:
            at = places.get(key_of(marker.phase))
            if at is not None:
                found[at].append(marker)
    return found


def _plain(text: str, style: str = "") -> Text:
    """One line of somebody's text."""
    return Text(clean_line(text), style=style)
