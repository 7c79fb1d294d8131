"""From what a user calls a workflow to its note, its graph and what is wrong with it; in a vault, or for a file without one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from crucible.cli.options import Door
from crucible.cli.output import say, warn
from crucible.cli.vault_access import here, open_vault
from crucible.core.errors import CrucibleError, VaultNotFound
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.workflow import Diagnostic
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import WorkflowNote, find_workflow, read_workflow_note, workflow_paths

_SHOWN = 10
"""Problems that a command names which was not asked for them."""


@dataclass(frozen=True, slots=True)
class CheckedWorkflow:
    """A workflow's note, its graph, and everything that is wrong with it, sorted by place."""

    note: WorkflowNote
    graph: Graph
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class UnreadableWorkflow:
    """A note that cannot be read; `shown` is its path as a reader is told it."""

    path: Path
    shown: str
    error: CrucibleError


class WorkflowFinder:
    """Where workflows are found: the vault, or only what has a path when there is none.

    No session is looked after, as nothing here asks how one stands.
    """

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
        """Find and read; `VaultNotFound` for a name that only a vault could know."""
        try:
            return read_workflow_note(self.vault, find_workflow(self.vault, ref, here()))
        except CrucibleError:
            if self._none is not None and "/" not in ref and not ref.lower().endswith(".md"):
                raise self._none from None
            raise

    def paths(self) -> tuple[Vault, list[Path], bool]:
        """The vault, all its workflows, sorted, and whether every folder could be walked; `VaultNotFound` without a vault."""
        if self.vault is None:
            raise self._none or VaultNotFound("no vault")
        missed: list[CrucibleError] = []
        paths = workflow_paths(self.vault, missed.append)
        warn(*missed)
        return self.vault, paths, not missed

    def every(self) -> tuple[list[WorkflowNote | UnreadableWorkflow], bool]:
        """The same, read."""
        vault, paths, complete = self.paths()
        return [_read(vault, path) for path in paths], complete


def _read(vault: Vault, path: Path) -> WorkflowNote | UnreadableWorkflow:
    try:
        return read_workflow_note(vault, path)
    except CrucibleError as error:
        return UnreadableWorkflow(path, vault.relative(path), error)


def checked(note: WorkflowNote) -> CheckedWorkflow:
    """Its graph, and what is wrong."""
    graph = build_graph(note.workflow)
    return CheckedWorkflow(note, graph, check_workflow(note.workflow, graph))


def say_diagnostics(of: CheckedWorkflow) -> None:
    """What is wrong, on stderr: for a command that shows it all the same."""
    for one in of.diagnostics[:_SHOWN]:
        place = f"{of.note.shown}:{one.place.line}:{one.place.column}"
        say(f"{place}: {one.severity}: {one.code}: {one.message}", style="yellow")
    more = len(of.diagnostics) - _SHOWN
    if more > 0:
        say(f"     … and {more:,} more; `cru workflow validate` names all", style="yellow")
