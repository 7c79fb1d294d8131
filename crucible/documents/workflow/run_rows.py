"""Marker rows one by one: which step each belongs to, when it was, and its values by the names of their columns.

Rows come from hands and programs of every kind, so only `phase` and `status` are certain.  A column is found whatever the case of
its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crucible.documents.session.properties import parse_time
from crucible.documents.workflow.workflow import Cell, Marker, RunStatus, Step, Workflow, key_of

TIME_COLUMNS = ("started", "timestamp", "time", "date")
"""Where a row may say when it was; the first that reads as a time counts."""

_LARGEST = 2**63
"""A note may hold numbers of any length, and infinite ones."""


@dataclass(frozen=True, slots=True)
class MarkerRow:
    """One row with where it stands: `workflow` the note's name, `step` the name of the step that it matches, "" for none.

    `at` counts the rows of the note from 0.  `time` is aware, UTC; None where no column says one.  `above` are the names of the
    steps that `step` stands below.
    """

    workflow: str
    step: str
    marker: Marker
    at: int = 0
    time: datetime | None = None
    columns: Mapping[str, Cell] = field(default_factory=dict, compare=False)
    above: frozenset[str] = field(default=frozenset(), compare=False)

    def cell(self, column: str) -> Cell:
        """The value of a column, of `workflow` and `step` too unless the row has such columns; None where there is none."""
        key = column.casefold()
        if key in self.columns:
            return self.columns[key]
        return {"workflow": self.workflow, "step": self.step}.get(key)

    def text(self, column: str) -> str:
        """The value as it would be written, "" for none."""
        found = self.cell(column)
        if found is None:
            return ""
        return str(found).lower() if isinstance(found, bool) else str(found)

    def number(self, column: str) -> float | None:
        """The value where it is a number that figures can be made of."""
        found = self.cell(column)
        if isinstance(found, (int, float)) and not isinstance(found, bool) and abs(found) < _LARGEST:
            return found
        return None

    @property
    def status(self) -> str:
        """In lower case: one of `RunStatus`, or whatever else stands there."""
        return self.marker.status.lower()

    @property
    def failed(self) -> bool:
        """Whether it failed or ran out of time."""
        return self.status in (RunStatus.FAILED, RunStatus.TIMEOUT)


def rows_of(workflow: Workflow) -> list[MarkerRow]:
    """Every marker row of a note, in its order.  A row of another step than the one it stands in belongs to that other one."""
    names: dict[str, str] = {}
    above: dict[str, frozenset[str]] = {}
    for step, over in _below(workflow.steps, frozenset()):
        names.setdefault(step.key, step.name)
        above.setdefault(step.name, over)
    found = ((step, marker) for step in workflow.walk() for marker in step.markers)
    told = ((_matched(step, marker, names), marker) for step, marker in found)
    return [_row(workflow, name, marker, at, above.get(name)) for at, (name, marker) in enumerate(told)]


def _below(steps: Sequence[Step], above: frozenset[str]) -> Iterator[tuple[Step, frozenset[str]]]:
    """Every step with the names of those that it stands below."""
    for step in steps:
        yield step, above
        yield from _below(step.children, above | {step.name})


def _matched(step: Step, marker: Marker, names: Mapping[str, str]) -> str:
    key = key_of(marker.phase)
    return step.name if step.key == key else names.get(key, "")


def _row(workflow: Workflow, step: str, marker: Marker, at: int, above: frozenset[str] | None) -> MarkerRow:
    columns = {name.casefold(): value for name, value in marker.values.items()}
    return MarkerRow(workflow.name, step, marker, at, time_of(columns), columns, above or frozenset())


def time_of(columns: Mapping[str, Cell]) -> datetime | None:
    """When a row was, by the first of `TIME_COLUMNS` that reads as a time: ISO 8601, or seconds or milliseconds since 1970."""
    times = (_read_time(columns.get(name)) for name in TIME_COLUMNS)
    return next((time for time in times if time), None)


def _read_time(cell: Cell) -> datetime | None:
    if isinstance(cell, str):
        return parse_time(cell.strip(" "))
    if isinstance(cell, bool) or cell is None:
        return None
    if 10**7 <= cell < 10**8 and cell == int(cell):
        return parse_time(str(int(cell)))  # 20251205
    if 10**9 <= cell < 10**11:
        return datetime.fromtimestamp(cell, UTC)
    return datetime.fromtimestamp(cell / 1000, UTC) if 10**11 <= cell < 10**14 else None
