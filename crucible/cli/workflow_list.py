"""`cru workflow list` and `check`; also finds and checks workflows for the other commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from crucible.cli.id_arguments import WORKFLOW
from crucible.cli.options import NULL_OPTION, Door, check_null, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, clean_line, in_color, say, say_error, warn
from crucible.cli.table_output import write_paths, write_rows
from crucible.cli.vault_access import here, open_vault
from crucible.core.errors import CrucibleError, VaultNotFound
from crucible.core.text import counted
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.marker_rows import runs_of
from crucible.documents.workflow.workflow import Diagnostic, Severity
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.vault.index.schema import cell_of_path
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import WorkflowNote, find_workflow, read_workflow_note, workflow_paths

_SHOWN = 10
"""Maximum problems that commands other than `check` list."""


@dataclass(frozen=True, slots=True)
class CheckedWorkflow:
    """A workflow's note, its graph, and its diagnostics in note order."""

    note: WorkflowNote
    graph: Graph
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class UnreadableWorkflow:
    """A note that cannot be read; `shown` is its path as shown in messages."""

    path: Path
    shown: str
    error: CrucibleError


class WorkflowFinder:
    """Finds workflows in the vault, or by path without a vault."""

    def __init__(self, door: Door) -> None:
        self.vault: Vault | None = None
        self._none: VaultNotFound | None = None
        try:
            self.vault = open_vault(door, looks=False)
        except VaultNotFound as error:
            if door.vault is not None:
                raise
            self._none = error

    def load(self, ref: str) -> WorkflowNote:
        """Load a workflow; raises `VaultNotFound` if there is no vault and `ref` is a name, not a path."""
        try:
            return read_workflow_note(self.vault, find_workflow(self.vault, ref, here()))
        except CrucibleError:
            if self._none is not None and "/" not in ref and not ref.lower().endswith(".md"):
                raise self._none from None
            raise

    def paths(self) -> tuple[Vault, list[Path], bool]:
        """Return the vault, its sorted workflows, and False if a folder could not be read; raises `VaultNotFound`."""
        if self.vault is None:
            raise self._none or VaultNotFound("no vault")
        missed: list[CrucibleError] = []
        paths = workflow_paths(self.vault, missed.append)
        warn(*missed)
        return self.vault, paths, not missed

    def every(self) -> tuple[list[WorkflowNote | UnreadableWorkflow], bool]:
        """Return all workflows in the vault, and False if a folder could not be read."""
        vault, paths, complete = self.paths()
        return [_read(vault, path) for path in paths], complete


def _read(vault: Vault, path: Path) -> WorkflowNote | UnreadableWorkflow:
    try:
        return read_workflow_note(vault, path)
    except CrucibleError as error:
        return UnreadableWorkflow(path, vault.relative(path), error)


def checked(note: WorkflowNote) -> CheckedWorkflow:
    """Build a workflow's graph and check it."""
    graph = build_graph(note.workflow)
    return CheckedWorkflow(note, graph, check_workflow(note.workflow, graph))


def say_diagnostics(of: CheckedWorkflow) -> None:
    """Report diagnostics on stderr, for commands that continue despite them."""
    for one in of.diagnostics[:_SHOWN]:
        place = f"{of.note.shown}:{one.place.line}:{one.place.column}"
        say(f"{place}: {one.severity}: {one.code}: {one.message}", style="yellow")
    more = len(of.diagnostics) - _SHOWN
    if more > 0:
        say(f'     … and {more:,} more; see "cru workflow check"', style="yellow")


_TABLE = ("name", "title", "steps", "runs", "last_run", "last_status", "problems")
_COLUMNS = (*_TABLE, "errors", "sessions", "path")
_PROBLEM = ("path", "line", "column", "severity", "code", "message")
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


@click.command("list")
@format_option("paths")
@NULL_OPTION
@click.pass_obj
def list_workflows(door: Door, /, *, format_: str, null: bool) -> int:
    """List workflows by name, with their steps, number of runs and last result.

    \b
    - A workflow is a note with "type: workflow", or a note without a type
      in workflows/.
    - "problems" is the number of problems that "cru workflow check" finds.
      Unreadable notes are listed with a problem.

    Exit code: 3 if workflows may be missing because a folder could not be read.

    \b
      cru workflow list
      cru workflow list --format json
      cru workflow list --format paths -0 | xargs -0r git add --
    """
    check_null(format_, null=null)
    shelf = WorkflowFinder(door)
    if format_ == "paths":
        vault, paths, complete = shelf.paths()
        rows: list[dict[str, Any]] = [{"path": cell_of_path(vault.relative(path))} for path in paths]
        complete &= write_paths(str(vault.root), ".", rows, null=null, terminal=door.terminal)
    else:
        notes, complete = shelf.every()
        rows = sorted(map(_row, notes), key=lambda row: (row["name"].casefold(), row["path"]))
        columns = _TABLE if format_ == "text" else _COLUMNS
        write_rows(rows, columns, format_, "workflows", door, texts=("title",), names=("name",))
        if format_ == "text" and not rows:
            say('No workflows yet. Run "cru session codify ID" to create one.')
    return 0 if complete else PROBLEMS_FOUND


@click.command
@click.argument("workflows", metavar="[FILE]...", type=WORKFLOW, nargs=-1)
@format_option()
@click.pass_obj
def check(door: Door, workflows: tuple[str, ...], *, format_: str) -> int:
    """Check workflows for errors and warnings.

    \b
    - Errors: cycles, missing steps, conflicting types, broken run markers.
      Warnings, such as an output made by two steps, do not change the
      exit code.
    - FILE is a workflow's name, a unique prefix of it, or a path. Without
      FILE, checks all workflows. A path needs no vault.
    - Each line is "path:line:column: severity: code: message".

    Exit code: 3 if there is an error.

    \b
      cru workflow check
      cru workflow check release-checklist
      cru workflow check docs/pipeline.md --format json
    """
    shelf, wrong, complete = WorkflowFinder(door), list[CrucibleError](), True
    if workflows:
        notes: Sequence[WorkflowNote | UnreadableWorkflow] = [*_named(shelf, workflows, wrong)]
    else:
        notes, complete = shelf.every()
    found = [problem for note in notes for problem in _problems(note)]
    if is_data(format_):
        write_rows(found, _PROBLEM, format_, "problems", door)
    else:
        _write_lines(found, color=in_color(door))
    errors = sum(one["severity"] == Severity.ERROR for one in found)
    if notes or not wrong:
        _say_summary(errors, len(found) - errors, len(notes))
    if wrong:
        # A usage error counts only if there was no other error.
        return min(error.exit_code for error in wrong)
    return PROBLEMS_FOUND if errors or not complete else 0


def _named(shelf: WorkflowFinder, refs: Iterable[str], wrong: list[CrucibleError]) -> Iterable[WorkflowNote]:
    """Load each workflow once, and report those that cannot be loaded."""
    seen = set()
    for ref in refs:
        try:
            note = shelf.load(ref)
        except CrucibleError as error:
            say_error(f"{error}" + (f" ({error.hint})" if error.hint else ""))
            wrong.append(error)
            continue
        real = os.path.realpath(note.path)
        if real not in seen:
            seen.add(real)
            yield note


def _row(one: WorkflowNote | UnreadableWorkflow) -> dict[str, Any]:
    if isinstance(one, UnreadableWorkflow):
        say(f"{one.shown}:1: unreadable-note: {one.error}", style="yellow")
        name = os.path.basename(one.shown).removesuffix(".md")
        return {"name": name, "problems": 1, "errors": 1, "sessions": [], "path": one.shown}
    runs, of = runs_of(one.workflow), checked(one)
    last = runs[0] if runs else None
    return {
        "name": one.name,
        "title": one.workflow.title or None,
        "steps": len(of.graph.steps),
        "runs": len(runs),
        "last_run": utc(last.started) if last and last.started else None,
        "last_status": last.status if last else None,
        "problems": len(of.diagnostics),
        "errors": sum(problem.severity is Severity.ERROR for problem in of.diagnostics),
        "sessions": list(one.workflow.sessions),
        "path": one.shown,
    }


def _problems(one: WorkflowNote | UnreadableWorkflow) -> list[dict[str, Any]]:
    if isinstance(one, UnreadableWorkflow):
        cells = (one.shown, 1, 1, Severity.ERROR.value, "unreadable-note", str(one.error))
        return [dict(zip(_PROBLEM, cells, strict=True))]
    return [
        dict(zip(_PROBLEM, (one.shown, *of.place, of.severity.value, of.code, of.message), strict=True))
        for of in checked(one).diagnostics
    ]


def _write_lines(problems: Iterable[Mapping[str, Any]], *, color: bool) -> None:
    for one in problems:
        place = clean_line(f"{one['path']}:{one['line']}:{one['column']}")
        severity = str(one["severity"])
        shown = click.style(severity, fg=_STYLES[Severity(severity)]) if color else severity
        click.echo(f"{place}: {shown}: {one['code']}: {clean_line(one['message'])}")


def _say_summary(errors: int, warnings: int, notes: int) -> None:
    if not notes:
        say("no workflows")
        return
    counts = [counted(errors, "error", zero="no"), counted(warnings, "warning", zero="no")]
    say(f"{', '.join(counts if errors or warnings else ['no problems'])} in {counted(notes, 'workflow')}")
