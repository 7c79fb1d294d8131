"""Filter and count rows of execution markers, and group them into runs of a workflow.

Only `phase` and `status` are required; columns and text compare case-insensitively.  A row's tokens exclude the steps
below it, its duration includes them (see `Run.duration_ms`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.session.properties import parse_time
from crucible.documents.workflow.workflow import Cell, Marker, RunStatus, Step, Workflow, cell_text, key_of

TIME_COLUMNS = ("started", "timestamp", "time", "date")
"""Columns that may contain a row's time; the first one that parses is used."""
RUN_COLUMNS = ("session", "run")
"""Columns that may identify a row's run."""
_LARGEST = 2**63
"""Upper bound for numbers.

Larger ones are ignored: a note may contain infinity, or numbers with thousands of digits.
"""


@dataclass(frozen=True, slots=True)
class MarkerRow:
    """A row and its location: `workflow` is the note's name, `step` the name of the matching step ("" if none).

    `at` is the row's position in the note, from 0.  `time` is in UTC, None if unknown.  `above` has the names of the
    steps above `step`.
    """

    workflow: str
    step: str
    marker: Marker
    at: int = 0
    time: datetime | None = None
    columns: Mapping[str, Cell] = field(default_factory=dict, compare=False)
    above: frozenset[str] = field(default=frozenset(), compare=False)

    def cell(self, column: str) -> Cell:
        """The value of a column, or of `workflow` or `step`; None if absent."""
        key = column.casefold()
        return self.columns.get(key, {"workflow": self.workflow, "step": self.step}.get(key))

    def text(self, column: str) -> str:
        """The value as text, "" if absent."""
        return cell_text(self.cell(column))

    def number(self, column: str) -> float | None:
        """The value if it is a number that can be added up, else None."""
        found = self.cell(column)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            return None
        return found if abs(found) < _LARGEST else None

    @property
    def status(self) -> str:
        """The status in lower case: one of `RunStatus`, or any other text."""
        return self.marker.status.lower()

    @property
    def failed(self) -> bool:
        """True if the row failed or timed out."""
        return self.status in (RunStatus.FAILED, RunStatus.TIMEOUT)


def rows_of(workflow: Workflow) -> list[MarkerRow]:
    """All marker rows of a note, in order.  A row belongs to the step that it names, wherever the row is."""
    names: dict[str, str] = {}
    above: dict[str, frozenset[str]] = {}
    for step, over in _with_ancestors(workflow.steps, frozenset()):
        names.setdefault(step.key, step.name)
        above.setdefault(step.name, over)
    rows: list[MarkerRow] = []
    for step in workflow.walk():
        for marker in step.markers:
            key = key_of(marker.phase)
            name = step.name if step.key == key else names.get(key, "")
            columns = {column.casefold(): value for column, value in marker.values.items()}
            over = above.get(name, frozenset())
            rows.append(MarkerRow(workflow.name, name, marker, len(rows), time_of(columns), columns, over))
    return rows


def _with_ancestors(steps: Sequence[Step], above: frozenset[str]) -> Iterator[tuple[Step, frozenset[str]]]:
    for step in steps:
        yield step, above
        yield from _with_ancestors(step.children, above | {step.name})


def time_of(columns: Mapping[str, Cell]) -> datetime | None:
    """Parse the first valid time in `TIME_COLUMNS`: ISO 8601, or seconds or milliseconds since 1970."""
    times = (_parse_cell(columns.get(name)) for name in TIME_COLUMNS)
    return next((time for time in times if time), None)


def _parse_cell(cell: Cell) -> datetime | None:
    if isinstance(cell, str):
        return parse_time(cell.strip(" "))
    if isinstance(cell, bool) or cell is None:
        return None
    if 10**7 <= cell < 10**8 and cell == int(cell):
        return parse_time(str(int(cell)))  # 20251205
    if 10**9 <= cell < 10**11:
        return datetime.fromtimestamp(cell, UTC)
    return datetime.fromtimestamp(cell / 1000, UTC) if 10**11 <= cell < 10**14 else None


# --- conditions ------------------------------------------------------------------------------------------------------

RowCheck = Callable[[MarkerRow], bool]

_CONDITION = late_pattern(r"\s*([^\s=!<>~]+)\s*(==|!=|<=|>=|!~|=|<|>|~)\s*(.*?)\s*\Z")
_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def parse_where(text: str) -> RowCheck:
    """Parse `COLUMN OPERATOR VALUE`, for any column; the value may be quoted.

    Values compare as numbers or times if both sides are, else as text; `~` means "contains".  A row without a value
    matches only `= null`.  Raises `UsageError` for an invalid condition.
    """
    found = _CONDITION.match(text)
    if not found or not found[3]:
        raise UsageError(
            f"{text!r} is not a condition", "write COLUMN OPERATOR VALUE; operators are = != < <= > >= ~ !~"
        )
    column, sign, value = found.groups()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return _value_check(column, sign, value[1:-1])
    return _null_check(column, sign, text) if value == "null" else _value_check(column, sign, value)


def _null_check(column: str, sign: str, text: str) -> RowCheck:
    if sign not in ("=", "==", "!="):
        raise UsageError(f"{text!r}: null can only be compared with = or !=", "write = null or != null")
    return lambda row: _COMPARE[sign](row.text(column), "")


def _value_check(column: str, sign: str, value: str) -> RowCheck:
    folded, number, time = value.casefold(), _number(value), parse_time(value)

    def check(row: MarkerRow) -> bool:
        text = row.text(column)
        if not text:
            return False
        if sign in ("~", "!~"):
            return (folded in text.casefold()) == (sign == "~")
        own, own_time = row.number(column), parse_time(text) if time else None
        if number is not None and own is not None:
            return _COMPARE[sign](own, number)
        return _COMPARE[sign](own_time, time) if own_time else _COMPARE[sign](text.casefold(), folded)

    return check


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class MarkerQuery(NamedTuple):
    """Filters for rows; None disables a filter.

    `agent` matches with or without the version.  `since` and `until` are inclusive, and exclude rows without a time.
    """

    agent: str | None = None
    channel: str | None = None
    status: str | None = None
    workflow: str | None = None
    phase: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    where: tuple[RowCheck, ...] = ()


def select_rows(rows: Iterable[MarkerRow], query: MarkerQuery) -> list[MarkerRow]:
    """Return the matching rows, in order."""
    return [row for row in rows if _matches(row, query)]


def _matches(row: MarkerRow, query: MarkerQuery) -> bool:
    agent = row.text("agent").lstrip("@").casefold()
    return (
        (query.agent is None or query.agent.lstrip("@").casefold() in (agent, agent.partition("@")[0]))
        and (query.channel is None or _channel(row) == query.channel.lstrip("#").casefold())
        and (query.status is None or row.status == query.status.lower())
        and (query.workflow is None or row.workflow.casefold() == query.workflow.casefold())
        and (query.phase is None or key_of(row.marker.phase) == key_of(query.phase))
        and (query.since is None or (row.time is not None and row.time >= query.since))
        and (query.until is None or (row.time is not None and row.time <= query.until))
        and all(check(row) for check in query.where)
    )


def _channel(row: MarkerRow) -> str:
    return row.text("channel").lstrip("#").casefold()


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MarkerFigures:
    """Counts and sums over some rows.  `name` is the group's name, None for rows without one.

    `count` includes other statuses.  `failure_rate` (0 to 1, four decimals) is the share of failed and timed-out rows
    among rows that were not skipped.  Durations are in milliseconds and cover the rows that have one.  `tokens_used` is
    None if no row has any.
    """

    name: str | None
    count: int
    success: int
    failed: int
    skipped: int
    timeout: int
    failure_rate: float | None
    duration_min_ms: float | None
    duration_avg_ms: float | None
    duration_max_ms: float | None
    tokens_used: int | None


class MarkerStats(NamedTuple):
    """The groups, sorted by size (largest first) and name; `total` covers all rows."""

    by: str | None
    groups: tuple[MarkerFigures, ...]
    total: MarkerFigures


def aggregate(rows: Iterable[MarkerRow], by: str | None = None) -> MarkerStats:
    """Group rows by the values of a column and add up each group.

    `by` may also be `agent` (without the version), `phase` (as steps match) or `workflow`.
    """
    every = list(rows)
    groups: dict[str | None, list[MarkerRow]] = {}
    names: dict[str | None, str | None] = {}
    for row in every if by is not None else ():
        name = _group(row, by or "")
        key = None if name is None else (key_of(name) or name) if by == "phase" else name.casefold()
        groups.setdefault(key, []).append(row)
        names.setdefault(key, name)
    figures = [_figures(names[key], found) for key, found in groups.items()]
    figures.sort(key=lambda one: (-one.count, one.name is None, one.name or ""))
    return MarkerStats(by, tuple(figures), _figures(None, every))


def _group(row: MarkerRow, by: str) -> str | None:
    if by == "agent":
        return row.text("agent").lstrip("@").partition("@")[0] or None
    if by == "channel":
        return row.text("channel").lstrip("#") or None
    if by == "phase":
        return row.step or row.marker.phase or None
    return (row.workflow if by == "workflow" else row.text(by)) or None


def _figures(name: str | None, rows: Sequence[MarkerRow]) -> MarkerFigures:
    success, failed, skipped, timeout = (
        sum(row.status == status for row in rows)
        for status in (RunStatus.SUCCESS, RunStatus.FAILED, RunStatus.SKIPPED, RunStatus.TIMEOUT)
    )
    ran = len(rows) - skipped
    times = [time for row in rows if (time := row.number("duration_ms")) is not None]
    tokens = [used for row in rows if (used := row.number("tokens_used")) is not None]
    return MarkerFigures(
        name,
        len(rows),
        success,
        failed,
        skipped,
        timeout,
        round((failed + timeout) / ran, 4) if ran else None,
        min(times, default=None),
        round(sum(times) / len(times), 1) if times else None,
        max(times, default=None),
        int(sum(tokens)) if tokens else None,
    )


# --- runs ------------------------------------------------------------------------------------------------------------

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a workflow; `name` is its session or run, None for a row that names neither.

    `rows` are ordered by time if every row has one, else as in the note.
    """

    workflow: str
    name: str | None
    rows: tuple[MarkerRow, ...]

    @property
    def started(self) -> datetime | None:
        """The earliest time in the run's rows."""
        return min((row.time for row in self.rows if row.time), default=None)

    @property
    def status(self) -> str:
        """`failed` if there are `failures`, else `success` if any row succeeded, else the last row's status."""
        if self.failures:
            return RunStatus.FAILED
        found = [row.status for row in self.rows]
        return RunStatus.SUCCESS if RunStatus.SUCCESS in found else found[-1]

    @property
    def failures(self) -> tuple[MarkerRow, ...]:
        """The rows that failed or timed out and whose step did not succeed later in the run."""
        good: set[str] = set()
        found: list[MarkerRow] = []
        for row in reversed(self.rows):
            key = key_of(row.marker.phase) or row.marker.phase
            if row.status == RunStatus.SUCCESS:
                good.add(key)
            elif row.failed and key not in good:
                found.append(row)
        return tuple(reversed(found))

    @property
    def figures(self) -> MarkerFigures:
        """The figures of the run's rows."""
        return _figures(self.name, self.rows)

    @property
    def duration_ms(self) -> float | None:
        """The sum of the rows' durations, without rows below a step that was still running; None if unknown."""
        known = [(row, time) for row in self.rows if (time := row.number("duration_ms")) is not None]
        spans: dict[str, list[tuple[datetime | None, float]]] = {}
        for row, time in known:
            spans.setdefault(row.step, []).append((row.time, time))
        parts = [
            time
            for row, time in known
            if not any(_holds(span, row.time) for name in row.above for span in spans.get(name, ()))
        ]
        return sum(parts) if parts else None


def _holds(span: tuple[datetime | None, float], time: datetime | None) -> bool:
    """True if the step was still running at `time`, to the second.  Unknown times count as true."""
    began, took = span
    if began is None or time is None or time <= began:
        return True
    return (time - began).total_seconds() < took / 1000 - 1


def runs_of(workflow: Workflow) -> list[Run]:
    """The runs of a workflow, newest first.  Runs without a time come last, in reverse note order."""
    groups: dict[tuple[str | None, int], list[MarkerRow]] = {}
    for row in rows_of(workflow):
        name = next((text for column in RUN_COLUMNS if (text := row.text(column))), None)
        groups.setdefault((name, row.at if name is None else 0), []).append(row)
    runs = [Run(workflow.name, name, _in_order(rows)) for (name, _), rows in groups.items()]
    runs.sort(key=lambda run: (run.started or _NEVER, min(row.at for row in run.rows)), reverse=True)
    return runs


def _in_order(rows: list[MarkerRow]) -> tuple[MarkerRow, ...]:
    if any(row.time is None for row in rows):
        return tuple(rows)
    return tuple(sorted(rows, key=lambda row: (row.time or _NEVER, row.at)))
