"""Conditions on a column: the meaning of each operator for each kind of column, and what is refused."""

from __future__ import annotations

import operator
import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import UsageError
from crucible.vault.index.query import Columns, named_column, parse_condition
from crucible.vault.index.schema import TABLES, Row, join_list
from crucible.vault.index.time_filters import utc
from tests.cases import for_each

NOW = datetime(2026, 11, 21, 22, 30, 15, tzinfo=timezone(timedelta(hours=1)))

ROW: Row = {
    **dict.fromkeys(TABLES["sessions"]),
    "id": "2026-11-21-Limiter",
    "title": "Don't = panic",
    "status": "completed",
    "started": "2026-11-21T20:26:47Z",
    "tokens": 5000,
    "users": 0,
    "participants": 'claude-code@2.1.197, "Ada, Countess"',
    "path": "sessions/a\ufffdFFb.md",
    "project": "",
}


def holds(text: str, row: Row = ROW) -> bool:
    return parse_condition(text, NOW)(row)


@for_each(
    "text",
    [
        "tokens = 5000",
        "tokens==5_000",
        "Tokens >= 5000",
        "tokens > 4999.5",
        "tokens < '6000'",
        "tokens != -5000",
        "users = 0",
        "users < +1",
        "status = Completed",
        'status != "failed"',
        "status ~ PLET",
        "status !~ fail",
        "id > 2026-11",
        'title = "Don\'t = panic"',
        "title ~ '='",
        "title ~ don't",
        "participants = 'ada, countess'",
        "participants != countess",
        "participants ~ countess",
        "participants !~ gemini",
        "started > 7d",
        "started <= 2026-11-21",
        "started >= 2026-11-21",
        "started = 2026-11-21",
        "started = 2026-11-21T20:26:47Z",
        "started = 2026-11-21T21:26:47",
        "started != 2026-11-20",
        "started < now",
        "started ~ 2026-11",
        "tokens_cached = null",
        "tokens != NULL",
        "project = null",
        "project = ''",
        "status != 'null'",
        "path = sessions/a\udcffb.md",
    ],
)
def test_a_condition_that_holds(text: str) -> None:
    assert holds(text)


@for_each(
    "text",
    [
        "tokens != 5000",
        "tokens > 5000",
        "tokens = 50",
        "status = complete",
        "status ~ failed",
        "participants = countess",
        "participants = claude-code",
        "participants !~ claude",
        "started > 2026-11-21",
        "started < 2026-11-21",
        "started != 2026-11-21",
        "started = yesterday",
        "started > 1h",
        "status = null",
        "status = 'null'",
        "project != ''",
        "status = ''",
        "tokens = null",
    ],
)
def test_a_condition_that_does_not_hold(text: str) -> None:
    assert not holds(text)


@for_each("column", ["tokens_cached", "ended", "branch", "agents", "project"])
@for_each("sign", ["=", "!=", "<", "<=", ">", ">=", "~", "!~"])
def test_what_is_unknown_fits_only_null(column: str, sign: str) -> None:
    value = {"tokens_cached": "5", "ended": "2026-11-21"}.get(column, "x")
    if (column, sign) not in {
        *((c, s) for c in ("tokens_cached",) for s in ("~", "!~")),
        *(("agents", s) for s in ("<", "<=", ">", ">=")),
    }:
        assert not holds(f"{column} {sign} {value}")
    assert holds(f"{column} = null")
    assert not holds(f"{column} != null")


@for_each(
    ("text", "said"),
    [
        ("", "is not a condition"),
        ("tokens", "is not a condition"),
        ("tokens 5", "is not a condition"),
        ("= 5", "is not a condition"),
        ("tokens >", "no value"),
        ("tokens > many", "tokens: 'many' is not a number"),
        ("tokens > ٥", "is not a number"),
        ("tokens > 5__0", "is not a number"),
        ("tokens > " + "9" * 5000, "is not a number"),
        ("tokens ~ 5", "tokens is a number"),
        ("started > soon", "started: 'soon' is not a time"),
        ("participants < a", "needs a single value"),
        ("tokens < null", "null can only be compared with = or !="),
        ("status = failed and tokens > 5", "more than one condition"),
        ("tokens => 5", "more than one condition"),
        ("status = 'failed' or status = 'paused'", "one pair of quotes"),
        ("status = 'failed", "one pair of quotes"),
        ("status = '", "one pair of quotes"),
        ("__import__('os') = 1", "is not a condition"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_reason(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_condition(text, NOW)


def test_an_unknown_column_is_answered_with_the_near_ones_and_all_of_the_table() -> None:
    with pytest.raises(UsageError, match="no column 'token_used'; did you mean tokens or") as caught:
        parse_condition("token_used > 5", NOW)
    assert all(column in caught.value.hint for column in TABLES["sessions"])
    with pytest.raises(UsageError, match="links: no column 'status'") as caught:
        parse_condition("status = failed", NOW, Columns("links", TABLES["links"]))
    assert "target" in caught.value.hint


def test_the_column_of_a_condition_is_named_as_the_table_has_it() -> None:
    assert named_column("Tokens > 5") == "tokens"
    assert named_column("kind = error", Columns("callouts", TABLES["callouts"])) == "kind"


SIGNS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@given(st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17), st.sampled_from([*SIGNS]))
def test_numbers_compare_as_numbers(cell: int, value: int, sign: str) -> None:
    assert holds(f"tokens {sign} {value:_}", {**ROW, "tokens": cell}) is SIGNS[sign](cell, value)


@given(st.text(min_size=1), st.text(min_size=1).filter(lambda v: '"' not in v), st.sampled_from([*SIGNS]))
def test_quoted_text_is_compared_literally_but_for_case(cell: str, value: str, sign: str) -> None:
    found = holds(f'title{sign}"{value}"', {**ROW, "title": cell})
    assert found is SIGNS[sign](cell.lower(), value.lower())
    assert holds(f'title = "{value}"', {**ROW, "title": value})


MOMENTS = st.integers(-(10**10), 10**11).map(
    lambda seconds: datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=seconds)
)


@given(MOMENTS, MOMENTS, st.sampled_from([*SIGNS]))
def test_times_compare_as_the_moments_do(cell: datetime, value: datetime, sign: str) -> None:
    found = holds(f"ended {sign} {value.isoformat()}", {**ROW, "ended": utc(cell)})
    assert found is SIGNS[sign](cell, value)


@given(MOMENTS, st.dates(date(1970, 1, 2), date(2037, 1, 1)))
def test_a_day_divides_all_time_in_three(cell: datetime, day: date) -> None:
    row: Row = {**ROW, "ended": utc(cell)}
    where = [holds(f"ended {sign} {day}", row) for sign in ("<", "=", ">")]
    assert sum(where) == 1
    assert holds(f"ended <= {day}", row) is (where[0] or where[1])
    assert holds(f"ended >= {day}", row) is (where[1] or where[2])
    assert holds(f"ended != {day}", row) is not where[1]


ITEMS = st.lists(st.text("ab, \"'\n", min_size=1, max_size=4), max_size=3)


@given(ITEMS, st.text("ab, '\n", min_size=1, max_size=4))
def test_a_list_has_an_item_or_an_item_contains_a_text(items: list[str], value: str) -> None:
    row: Row = {**ROW, "tags": join_list(items) or None}
    assert holds(f'tags = "{value}"', row) is (value in items)
    assert holds(f'tags ~ "{value}"', row) is any(value in item for item in items)
    assert holds(f'tags != "{value}"', row) is (bool(items) and value not in items)


@given(st.sampled_from(TABLES["sessions"]), st.sampled_from([*SIGNS, "~", "!~"]), st.text())
def test_any_value_is_a_check_or_refused(column: str, sign: str, value: str) -> None:
    try:
        check = parse_condition(f"{column} {sign} {value}", NOW)
    except UsageError:
        return
    assert check(ROW) in {True, False}


@given(st.text())
def test_any_text_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition(f"\0{text}", NOW)
    assert caught.value.hint
