"""Questions about execution markers: which rows are wanted, what they come to, and what the runs of a workflow were.

Owns what the rows of a step and of the steps below it come to.  A row's tokens are those of its step's own agent, as in a session's
note (`tokens_used`: subagents not included), so all rows are added, and none counts twice.  Its time runs from the step's beginning to
its end and holds whatever was done below it meanwhile, so of a run's time a row is left out whose step stands below one that knows its
own, unless that was over before.  What `codify` and `workflow run` write keeps to this; the latter carries out a step before those
below it.

Pure: no disk and no clock.  Which notes are workflows is the vault's; how a `session-toon` block is written is `markers`'.

A text compares without regard to case.  What a row is, is `rows`'; a condition on a column is `conditions`'; all are offered here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.session.properties import parse_time
from crucible.documents.workflow.run_rows import MarkerRow, rows_of
from crucible.documents.workflow.workflow import RunStatus, Workflow, key_of

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
    """The check that `COLUMN OPERATOR VALUE` asks for, of any column; the value may stand in quotes.

    Numbers compare as numbers and times as times when both sides are one, else texts.  `~` is "contains".  A row without a
    value fits `= null` and nothing else.  Raises `UsageError` for what is no condition.
    """
    found = _CONDITION.match(text)
    if not found or not found[3]:
        raise UsageError(f"{text!r} is no condition", "write COLUMN OPERATOR VALUE, with one of = != < <= > >= ~ !~")
    column, sign, value = found.groups()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    elif value == "null":
        return _null_check(column, sign, text)
    return _value_check(column, sign, value)


def _null_check(column: str, sign: str, text: str) -> RowCheck:
    if sign in ("=", "=="):
        return lambda row: row.text(column) == ""
    if sign == "!=":
        return lambda row: row.text(column) != ""
    raise UsageError(f"{text!r}: null is only equal or not", "write = null or != null")


def _value_check(column: str, sign: str, value: str) -> RowCheck:
    wanted, number, time = value.casefold(), _number(value), parse_time(value)

    def check(row: MarkerRow) -> bool:
        text = row.text(column)
        if not text:
            return False
        if sign in ("~", "!~"):
            return (wanted in text.casefold()) == (sign == "~")
        own, own_time = row.number(column), None if time is None else parse_time(text)
        if number is not None and own is not None:
            return _COMPARE[sign](own, number)
        if time is not None and own_time is not None:
            return _COMPARE[sign](own_time, time)
        return _COMPARE[sign](text.casefold(), wanted)

    return check


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


RUN_COLUMNS = ("session", "run")
"""Where a row may say of which run it is."""

# --- which rows ------------------------------------------------------------------------------------------------------


class MarkerQuery(NamedTuple):
    """What is wanted; None does not narrow.

    `agent` fits with or without its version.  `since` and `until` are about a row's time and include it; a row without one fits
    neither.  `where` are further checks, all of which must hold.
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
    """The rows that fit, in the order they came in."""
    checks = _checks(query)
    return [row for row in rows if all(check(row) for check in checks)]


def _checks(query: MarkerQuery) -> list[RowCheck]:
    checks: list[RowCheck] = list(query.where)
    if query.agent is not None:
        agent = query.agent.lstrip("@").casefold()
        checks.append(lambda row: agent in _agent_names(row))
    if query.channel is not None:
        channel = query.channel.lstrip("#").casefold()
        checks.append(lambda row: row.text("channel").lstrip("#").casefold() == channel)
    if query.status is not None:
        status = query.status.lower()
        checks.append(lambda row: row.status == status)
    if query.workflow is not None:
        workflow = query.workflow.casefold()
        checks.append(lambda row: row.workflow.casefold() == workflow)
    if query.phase is not None:
        phase = key_of(query.phase)
        checks.append(lambda row: key_of(row.marker.phase) == phase)
    if query.since is not None:
        since = query.since
        checks.append(lambda row: row.time is not None and row.time >= since)
    if query.until is not None:
        until = query.until
        checks.append(lambda row: row.time is not None and row.time <= until)
    return checks


def _agent_names(row: MarkerRow) -> tuple[str, str]:
    agent = row.text("agent").lstrip("@").casefold()
    return agent, agent.partition("@")[0]


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MarkerFigures:
    """What some rows come to.  `name` is the group's; None of rows that have none.

    `count` holds rows of other statuses too.  `failure_rate`, from 0 to 1 with four decimals, is what failed or ran out of time of
    all that was not skipped.  Durations are in milliseconds, the average with one decimal, over the rows that have one, each by itself;
    None where there is none.  `tokens_used` is the sum; None where no row knows.
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
    """The groups, largest first and then by name; `total` is over all rows."""

    by: str | None
    groups: tuple[MarkerFigures, ...]
    total: MarkerFigures


def aggregate(rows: Iterable[MarkerRow], by: str | None = None) -> MarkerStats:
    """Figures by the value of a column, of which `agent` (without its version), `phase` (as steps match) and `workflow` are some."""
    every = list(rows)
    groups: dict[str | None, list[MarkerRow]] = {}
    names: dict[str | None, str | None] = {}
    if by is not None:
        for row in every:
            name = _group(row, by)
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
    counts = {status: sum(row.status == status for row in rows) for status in RunStatus}
    ran, bad = len(rows) - counts[RunStatus.SKIPPED], counts[RunStatus.FAILED] + counts[RunStatus.TIMEOUT]
    times = [time for row in rows if (time := row.number("duration_ms")) is not None]
    tokens = [used for row in rows if (used := row.number("tokens_used")) is not None]
    return MarkerFigures(
        name,
        len(rows),
        counts[RunStatus.SUCCESS],
        counts[RunStatus.FAILED],
        counts[RunStatus.SKIPPED],
        counts[RunStatus.TIMEOUT],
        round(bad / ran, 4) if ran else None,
        min(times, default=None),
        round(sum(times) / len(times), 1) if times else None,
        max(times, default=None),
        int(sum(tokens)) if tokens else None,
    )


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a workflow: `name` what its rows say in `session` or `run`, None for a row that stands alone.

    `rows` are in the order of the run: by time where every row has one, else as they stand in the note.
    """

    workflow: str
    name: str | None
    rows: tuple[MarkerRow, ...]

    @property
    def started(self) -> datetime | None:
        """The first time that a row says."""
        return min((row.time for row in self.rows if row.time), default=None)

    @property
    def status(self) -> str:
        """`failed` when a row failed or ran out of time and its step did not succeed later; else `success` when any row did.

        Otherwise what all rows agree on (`skipped`), or the last row's.
        """
        if self.failures:
            return RunStatus.FAILED
        found = [row.status for row in self.rows]
        return RunStatus.SUCCESS if RunStatus.SUCCESS in found else found[-1]

    @property
    def failures(self) -> tuple[MarkerRow, ...]:
        """The rows that failed, or ran out of time, and were not made good later in the run."""
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
        """What its rows come to."""
        return _figures(self.name, self.rows)

    @property
    def duration_ms(self) -> float | None:
        """The steps' time added up, what was done below a step while it went on not again; None where no row knows."""
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
    """Whether something was begun while a step went on, as far as whole seconds tell."""
    began, took = span
    if began is None or time is None or time <= began:
        return True
    return (time - began).total_seconds() < took / 1000 - 1


def runs_of(workflow: Workflow) -> list[Run]:
    """The runs of a workflow, newest first: by time, those without one last, the later in the note the newer."""
    groups: dict[tuple[str | None, int], list[MarkerRow]] = {}
    for row in rows_of(workflow):
        name = next((text for column in RUN_COLUMNS if (text := row.text(column))), None)
        groups.setdefault((name, row.at if name is None else 0), []).append(row)
    runs = [Run(workflow.name, name, _in_order(rows)) for (name, _), rows in groups.items()]
    runs.sort(key=_age, reverse=True)
    return runs


def _in_order(rows: list[MarkerRow]) -> tuple[MarkerRow, ...]:
    if any(row.time is None for row in rows):
        return tuple(rows)
    return tuple(sorted(rows, key=lambda row: (row.time or _NEVER, row.at)))


_NEVER = datetime.min.replace(tzinfo=UTC)


def _age(run: Run) -> tuple[datetime, int]:
    return run.started or _NEVER, min(row.at for row in run.rows)
