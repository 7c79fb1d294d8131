"""Select and sort the sessions for a query, without access to the disk or the clock."""

from __future__ import annotations

import operator
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from crucible.core.errors import AmbiguousSession, SessionNotFound, UsageError, no_match
from crucible.core.named_tuples import NamedTuple
from crucible.vault.index.schema import (
    LISTS,
    NUMBERS,
    TABLES,
    TIMES,
    UNDATED,
    Row,
    View,
    cell_of_path,
    shard_of,
    split_list,
)
from crucible.vault.index.time_filters import parse_when, utc

COLUMNS = (
    "id",
    "title",
    "project",
    "status",
    "started",
    "ended",
    "duration_s",
    "participants",
    "channel",
    "model",
    "tokens",
    "tokens_cached",
    "phases",
    "tool_calls",
    "failures",
    "decisions",
    "errors",
    "users",
    "parent",
    "path",
    "problems",
)
"""Columns of `session list` as JSON and TOON, in this order.  The table's other columns are for filters."""

COST, UNPRICED = "cost_usd_micros", "unpriced_models"


class Columns(NamedTuple):
    """The columns that conditions and orders may name, and the table that they belong to."""

    table: str
    names: Sequence[str]


SESSIONS = Columns("sessions", TABLES["sessions"])
PRICED = Columns("sessions", (*TABLES["sessions"], "cost", COST, UNPRICED))
"""The sessions with the columns that `vault.index.costs` adds.  `cost` is `cost_usd_micros` in dollars."""

STATUSES = ("active", "paused", "completed", "failed")
"""The values of `session.Status`, which is slow to import."""

Check = Callable[[Row], bool]


class SessionQuery(NamedTuple):
    """What to list.  None does not filter.

    `agent` matches with or without a version, `channel` matches the channel of the session or of any phase, and `model`
    matches a full id or words in it (`opus`, `claude-opus-4`), for the session or a subagent.  `since` and `until`
    apply to the start and are inclusive.  `archived` includes archived sessions.  Every check in `where` must pass, too.  `sort` is a
    column, descending with a leading `-`; unknown values always come last.  Without `sort`, the newest come first.
    """

    status: str | None = None
    agent: str | None = None
    channel: str | None = None
    persona: str | None = None
    model: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    project: str | None = None
    children: bool = False
    archived: bool = False
    limit: int | None = None
    where: tuple[Check, ...] = ()
    sort: str | None = None


def select(view: View, query: SessionQuery) -> list[Row]:
    """Return the matching rows of `sessions`; sessions with the same start are ordered by id."""
    return _in_order(matching(view, query), SESSIONS, query)


def matching(view: View, query: SessionQuery) -> Iterator[Row]:
    """Yield the matching rows, newest first; reads only as many as are consumed."""
    return filter(matcher(query), view.rows("sessions", _shards_of(view, query), _needles_of(query)))


def select_rows(view: View, table: str, query: SessionQuery, session: Row | None = None) -> list[Row]:
    """Return rows of any table for the notes of `session`, a row of `sessions`, or from `since` to `until`.

    `where`, `sort` and `limit` apply to the table's own columns.  Other fields of the query are ignored.
    """
    if session is not None:
        shards: Sequence[str] = [shard_of(str(session["started"] or ""))]
        checks = [lambda row: row["path"] == session["path"], *query.where]
    else:
        shards, checks = _shards_of(view, query), [*query.where]
    if query.since or query.until:
        spanned = SessionQuery(since=query.since, until=query.until, children=True, archived=True)
        paths = {row["path"] for row in matching(view, spanned)}
        checks.append(lambda row: row["path"] in paths)
    rows = view.rows(table, shards)
    columns = Columns(table, TABLES[table])
    return _in_order(filter(lambda row: all(check(row) for check in checks), rows), columns, query)


def find_row(view: View, ref: str) -> Row:
    """Return the session with the id `ref`, or the only one whose id starts with `ref`.

    Raises `SessionNotFound`, or `AmbiguousSession` with the candidates.
    """
    name = ref.removesuffix(".md")
    needles = [name] if _plain(name) else []
    found = [row for row in view.rows("sessions", None, needles) if str(row["id"]).startswith(name)]
    exact = [row for row in found if row["id"] == name]
    # A subagent's id starts with its parent's, so an ambiguous prefix means the session that is not a subagent.
    fitting = exact or (found if len(found) == 1 else [row for row in found if not row["parent"]] or found)
    if not name or not fitting:
        ids = (str(row["id"]) for row in view.rows("sessions"))
        raise SessionNotFound(*no_match("session", ref, "cru session list --children", ids))
    if len(fitting) > 1:
        raise AmbiguousSession(ref, sorted(str(row["path" if exact else "id"]) for row in fitting))
    return fitting[0]


def unreadable_rows(view: View) -> list[Row]:
    """Return the notes that could not be read.  No filter applies to them, so commands that filter report them."""
    # Unreadable notes have no start.
    shards = [shard for shard in view.shards if shard == UNDATED]
    return [row for row in view.rows("sessions", shards) if row["unreadable"] is not None]


def check_column(name: str, columns: Columns = SESSIONS) -> str:
    """Return the name of the column, given in any case; otherwise `UsageError` with similar names and a list of all."""
    if name.lower() in columns.names:
        return name.lower()
    import difflib  # noqa: PLC0415  only needed for a mistake

    near = difflib.get_close_matches(name.lower(), columns.names)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    raise UsageError(f"{columns.table}: no column {name!r}{meant}", f"available columns: {', '.join(columns.names)}")


def _in_order(rows: Iterable[Row], columns: Columns, query: SessionQuery) -> list[Row]:
    """Sort and limit rows.  Without `sort`, at most `limit` rows are read."""
    return list(
        islice(
            _sorted(rows, columns, query.sort) if query.sort else rows,
            None if query.limit is None else min(query.limit, sys.maxsize),
        )
    )


def _sorted(rows: Iterable[Row], columns: Columns, sort: str) -> list[Row]:
    column = sort.removeprefix("-")
    column = column if column == COST else check_column(column, columns)
    known: list[Row] = []
    unknown: list[Row] = []
    for row in rows:
        (unknown if row[column] in (None, "") else known).append(row)
    return sorted(known, key=lambda row: _order(row[column]), reverse=sort.startswith("-")) + unknown


def _order(value: str | int | None) -> tuple[int, int | str]:
    """Return a sort key that puts numbers before text, in case a column has both."""
    return (0, value) if isinstance(value, int) else (1, str(value).lower())


def _shards_of(view: View, query: SessionQuery) -> Sequence[str]:
    """Return the shards that may contain a match."""
    if query.since is None and query.until is None:
        return view.shards
    first = shard_of(utc(query.since)) if query.since else ""
    last = shard_of(utc(query.until)) if query.until else "9999-12"
    return [shard for shard in view.shards if shard != UNDATED and first <= shard <= last]


def _needles_of(query: SessionQuery) -> list[str]:
    """Return strings that every matching line contains, the rarest first.

    Strings that TOON might quote are left out.
    """
    # The table has these in lower case; other statuses, and projects, are stored as written.
    status = query.status.lower() if query.status and query.status.lower() in STATUSES else ""
    needles = [
        status,
        query.agent and _bare(query.agent, "@"),
        query.channel and _bare(query.channel, "#"),
        query.model and query.model.lower(),
    ]
    if status == "completed":
        needles.append(needles.pop(0))
    return [text for text in needles if text and _plain(text)]


def _plain(text: str) -> bool:
    return text != "" and not text.strip(_PLAIN)


_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@-"


def matcher(query: SessionQuery) -> Check:
    """Return a check for matching rows.  Subagents' notes match only with `children`."""
    checks: list[Check] = list(query.where)
    if not query.children:
        checks.append(lambda row: row["parent"] is None)
    if not query.archived:
        checks.append(lambda row: row["archived"] is None)
    for name in ("status", "project"):
        _add_equal(checks, name, getattr(query, name))
    if query.agent is not None:
        agent = _bare(query.agent, "@")
        checks.append(lambda row: _has_agent(str(row["agents"] or ""), agent))
    if query.channel is not None:
        channel = _bare(query.channel, "#")
        checks.append(lambda row: channel in split_list(str(row["channels"] or "")))
    if query.persona is not None:
        persona = query.persona.lower()
        checks.append(lambda row: persona in split_list(str(row["persona"] or "")))
    if query.model is not None:
        model = f"-{query.model.lower()}-"
        checks.append(lambda row: any(model in f"-{m}-" for m in split_list(str(row["models"] or ""))))
    if query.since is not None:
        since = utc(query.since)
        checks.append(lambda row: str(row["started"] or "") >= since)
    if query.until is not None:
        until = utc(query.until)
        checks.append(lambda row: "" < str(row["started"] or "") <= until)
    if not checks:
        return lambda _: True
    return checks[0] if len(checks) == 1 else lambda row: all(check(row) for check in checks)


def archived_rows(view: View) -> list[Row]:
    """Return the archived sessions, subagents' too."""
    return [row for row in view.rows("sessions", needles=['"true"']) if row["archived"]]


def _add_equal(checks: list[Check], column: str, expected: str | None) -> None:
    if expected is not None:
        lowered = expected.lower()
        checks.append(lambda row: str(row[column] or "").lower() == lowered)


def _has_agent(agents: str, expected: str) -> bool:
    return any(expected in (agent, agent.partition("@")[0]) for agent in split_list(agents))


def _bare(name: str, mark: str) -> str:
    return name.lstrip(mark).lower()


_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# Not compiled here: most queries have no condition.
_CONDITION = r"\s*(\w+)\s*(==|!=|<=|>=|!~|=|<|>|~)(.*)"
_NUMBER = r"[+-]?[0-9]{1,18}(_[0-9]{1,18}){0,6}(\.[0-9]{1,18})?"

_ONE_EACH = "give each condition its own --where; quote a value that contains = < > or ~"


def parse_condition(text: str, now: datetime, columns: Columns = SESSIONS) -> Check:
    """Parse `COLUMN OPERATOR VALUE` into a check of a row.  A value that contains any of `=<>~` must be quoted.

    Raises `UsageError` for invalid conditions, unknown columns, and values that do not fit the column.

    A cell without a value (null or "") matches only `= null`, as in SQL.  Text is compared case-insensitively.  For a
    list, `=` means that the list contains the item, and `~` that an item contains the text.  Dates cover the entire
    day: `started <= 2026-11-21` includes the last second of that day.
    """
    column, sign, value = _parts(text, columns)
    if value is None:
        return _null_check(column, sign, text)
    if column in NUMBERS:
        return _number_check(column, sign, value)
    if column in LISTS:
        return _list_check(column, sign, value)
    if column in TIMES and "~" not in sign:
        return _time_check(column, sign, value, now)
    return _text_check(column, sign, cell_of_path(value) if column == "path" else value)


def named_column(text: str, columns: Columns = SESSIONS) -> str:
    """Return the column that a condition refers to."""
    return _parts(text, columns)[0]


def _parts(text: str, columns: Columns) -> tuple[str, str, str | None]:
    """Return column, operator and value; the value is None for a bare `null`."""
    found = re.fullmatch(_CONDITION, text, re.DOTALL)
    if not found:
        raise UsageError(
            f"{text!r} is not a condition", "write COLUMN OPERATOR VALUE; operators are = != < <= > >= ~ !~"
        )
    column, sign = check_column(found[1], columns), "=" if found[2] == "==" else found[2]
    return column, sign, _value(found[3].strip(), text)


def _value(given: str, text: str) -> str | None:
    if given[:1] in ("'", '"'):
        if len(given) < 2 or given[-1] != given[0] or given[0] in given[1:-1]:
            raise UsageError(f"{text!r}: put one pair of quotes around the value", _ONE_EACH)
        return given[1:-1]
    if not given:
        raise UsageError(f"{text!r}: no value", "write null for an unknown value")
    if re.search("[=<>~]", given):
        raise UsageError(f"{text!r}: more than one condition, or a value that needs quotes", _ONE_EACH)
    return None if given.lower() == "null" else given


def _null_check(column: str, sign: str, text: str) -> Check:
    if sign == "=":
        return lambda row: row[column] in (None, "")
    if sign == "!=":
        return lambda row: row[column] not in (None, "")
    raise UsageError(f"{text!r}: null can only be compared with = or !=", 'quote it to compare with the text "null"')


def _number_check(column: str, sign: str, value: str) -> Check:
    if "~" in sign:
        raise UsageError(f"{column} is a number: {sign} only works on text", "use = != < <= > or >=")
    if not re.fullmatch(_NUMBER, value):
        raise UsageError(f"{column}: {value!r} is not a number", "write a number such as 5000, 5_000 or 0.5")
    expected = float(value) if "." in value else int(value)
    if column == "cost":
        column, expected = COST, expected * 1_000_000
    test = _COMPARE[sign]
    return lambda row: isinstance(cell := row[column], int | float) and test(cell, expected)


def _time_check(column: str, sign: str, value: str, now: datetime) -> Check:
    try:
        first, last = (utc(parse_when(value, now, end=end)) for end in (False, True))
    except UsageError as error:
        raise UsageError(f"{column}: {error}", error.hint) from None
    if sign in ("=", "!="):
        inside = sign == "="
        return lambda row: bool(cell := row[column]) and (first <= str(cell) <= last) is inside
    test, edge = _COMPARE[sign], last if sign in ("<=", ">") else first
    return lambda row: bool(cell := row[column]) and test(str(cell), edge)


def _list_check(column: str, sign: str, value: str) -> Check:
    expected = value.lower()
    if sign not in ("=", "!=", "~", "!~"):
        raise UsageError(f"{column} holds several items: {sign} needs a single value", "use = != ~ or !~")
    has, is_exact = not sign.startswith("!"), "=" in sign

    def check(row: Row) -> bool:
        items = split_list(str(row[column] or "").lower())
        return bool(items) and has is (expected in items if is_exact else any(expected in item for item in items))

    return check


def _text_check(column: str, sign: str, value: str) -> Check:
    expected = value.lower()
    if not expected and sign in ("=", "!="):
        return _null_check(column, sign, "")
    if "~" in sign:
        has = sign == "~"
        return lambda row: (cell := row[column]) not in (None, "") and (expected in str(cell).lower()) is has
    test = _COMPARE[sign]
    return lambda row: (cell := row[column]) not in (None, "") and test(str(cell).lower(), expected)
