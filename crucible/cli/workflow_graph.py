"""`cru workflow graph`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.given import GivenPath
from crucible.cli.output import clean, clean_line, room_of, say, write_json
from crucible.cli.surroundings import from_here
from crucible.cli.workflow_opening import Known, Shelf, known, say_diagnostics
from crucible.cli.workflow_ref import WORKFLOW
from crucible.core.errors import NoteExists
from crucible.core.files import create_exclusive, holds, write_atomic
from crucible.documents.workflow.drawing import render_dot, render_mermaid
from crucible.documents.workflow.graph_listing import render_lines
from crucible.documents.workflow.workflow_json import export_workflow, step_ids

_FORMATS = ("text", "mermaid", "dot", "json")
_WIDE = 100
"""Columns of a drawing that no terminal asked for."""

_JOINED = ("edges", "bundles", "order", "waves", "cycles", "inputs", "outputs")

_BY_ENDING = {".dot": "dot", ".gv": "dot", ".json": "json", ".txt": "text"}
"""What a file's name asks for; any other for Mermaid."""


@click.command
@click.argument("workflow", metavar="FILE", type=WORKFLOW)
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    help="How to write it; by default text on a terminal, in a pipe Mermaid, in a file as its name ends.",
)
@click.option("-o", "--output", type=GivenPath(path_type=Path), metavar="PATH", help="Write it to this new file.")
@click.option("--force", is_flag=True, help="With --output: replace a file that is there.")
@click.pass_context
def graph(ctx: click.Context, /, workflow: str, format_: str | None, output: Path | None, *, force: bool) -> None:
    """Draw which step waits for which: for a terminal, as Mermaid, as DOT, or as JSON.

    An edge stands for data that one step makes and the other takes, or for `proceed to`; a dashed one has a condition. Steps that
    wait for nothing of each other stand side by side. What is wrong with the workflow is named on stderr; it is drawn all the same.

    FILE is a workflow's name, a path, or a beginning of a name that only one workflow has. A path needs no vault.

    \b
      cru workflow graph release-checklist
      cru workflow graph release-checklist --format dot | dot -Tsvg > graph.svg
      cru workflow graph docs/pipeline.md -o pipeline.mmd
    """
    door = ctx.ensure_object(Door)
    of = known(Shelf(door).load(workflow))
    format_ = format_ or _wanted(door, output)
    text = _drawn(of, format_, None if output else room_of(door))
    if output is None and format_ == "json":
        write_json(_plain(of))
    elif output is None:
        click.echo(text)
    else:
        _save(Path(from_here(os.fspath(output))), f"{text}\n".encode(errors="replace"), force=force)
    say_diagnostics(of)


def _wanted(door: Door, output: Path | None) -> str:
    if output is not None:
        return _BY_ENDING.get(output.suffix.lower(), "mermaid")
    return "text" if door.terminal else "mermaid"


def _drawn(of: Known, format_: str, room: int | None) -> str:
    """Without a line end, and nothing in it that a terminal would obey."""
    if format_ == "json":
        return json.dumps(_plain(of), ensure_ascii=False, indent=2)
    if format_ == "text":
        return "\n".join(map(clean_line, render_lines(of.graph, room or _WIDE)))
    return clean((render_dot if format_ == "dot" else render_mermaid)(of.graph)).rstrip("\n")


def _plain(of: Known) -> dict[str, Any]:
    """What `cru workflow show` tells of how the steps are joined, and the steps flat, in the order of the note."""
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
    whole = export_workflow(of.note.workflow, of.graph, ())
    return {"name": whole["name"], "title": whole["title"], "nodes": nodes} | {key: whole[key] for key in _JOINED}


def _save(path: Path, data: bytes, *, force: bool) -> None:
    real = Path(os.path.realpath(path))
    if real.is_file() and holds(real, data):
        say(f"{path}: is so already")
        return
    if force and real.exists():
        write_atomic(real, data)
    elif os.path.lexists(path):
        raise NoteExists(f"{path}: exists already", "--force replaces it, or name another file")
    else:
        create_exclusive(real, data)
    say(f"{path}: written")
