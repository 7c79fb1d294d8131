"""Find workflows by name or path, and check them; a path needs no vault."""

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
"""Problems that a command lists unless it is `validate`."""


@dataclass(frozen=True, slots=True)
class CheckedWorkflow:
    """A workflow's note, its graph, and its diagnostics sorted by place."""

    note: WorkflowNote
    graph: Graph
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class UnreadableWorkflow:
    """A note that cannot be read; `shown` is its path for messages."""

    path: Path
    shown: str
    error: CrucibleError


class WorkflowFinder:
    """Finds workflows in the vault, or by path if there is none."""

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
        """Load a workflow; raises `VaultNotFound` for a name without a vault."""
        try:
            return read_workflow_note(self.vault, find_workflow(self.vault, ref, here()))
        except CrucibleError:
            if self._none is not None and "/" not in ref and not ref.lower().endswith(".md"):
                raise self._none from None
            raise

    def paths(self) -> tuple[Vault, list[Path], bool]:
        """The vault, its workflows sorted, and False if a folder could not be read; raises `VaultNotFound`."""
        if self.vault is None:
            raise self._none or VaultNotFound("no vault")
        missed: list[CrucibleError] = []
        paths = workflow_paths(self.vault, missed.append)
        warn(*missed)
        return self.vault, paths, not missed

    def every(self) -> tuple[list[WorkflowNote | UnreadableWorkflow], bool]:
        """All workflows of the vault, and False if a folder could not be read."""
        vault, paths, complete = self.paths()
        return [_read(vault, path) for path in paths], complete


def _read(vault: Vault, path: Path) -> WorkflowNote | UnreadableWorkflow:
    try:
        return read_workflow_note(vault, path)
    except CrucibleError as error:
        return UnreadableWorkflow(path, vault.relative(path), error)


def checked(note: WorkflowNote) -> CheckedWorkflow:
    """Build the graph and run the checks."""
    graph = build_graph(note.workflow)
    return CheckedWorkflow(note, graph, check_workflow(note.workflow, graph))


def say_diagnostics(of: CheckedWorkflow) -> None:
    """Report diagnostics on stderr, for a command that continues."""
    for one in of.diagnostics[:_SHOWN]:
        place = f"{of.note.shown}:{one.place.line}:{one.place.column}"
        say(f"{place}: {one.severity}: {one.code}: {one.message}", style="yellow")
    more = len(of.diagnostics) - _SHOWN
    if more > 0:
        say(f"     … and {more:,} more; `cru workflow validate` names all", style="yellow")
