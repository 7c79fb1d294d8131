"""Conditions such as `tokens_used > 5000` on a column of a table: text in, a check of a row out.

A cell without a value (null, or an empty text) fits `= null` and nothing else, `!=` and `!~` included, as in SQL.
Text compares without regard to case.  For a list `=` means that it has the item and `~` that an item contains the
text.  A day is all of it: `started <= 2026-11-21` counts it to its end.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from crucible.core.errors import UsageError
from crucible.vault.index.query import Check, check_column
from crucible.vault.index.schema import LISTS, NUMBERS, TIMES, Row, cell_of_path, split_list
from crucible.vault.index.time_filters import parse_when, utc

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

# Compiled when a condition is there: most lists have none.
_CONDITION = r"\s*(\w+)\s*(==|!=|<=|>=|!~|=|<|>|~)(.*)"
_NUMBER = r"[+-]?[0-9]{1,18}(_[0-9]{1,18}){0,6}(\.[0-9]{1,18})?"

_ONE_EACH = "each condition has a --where of its own; a value with one of = < > ~ stands in quotes"


def parse_condition(text: str, now: datetime, table: str = "sessions") -> Check:
    """The check that `COLUMN OPERATOR VALUE` asks for; the value may stand in quotes, and must when it holds `=<>~`.

    Raises `UsageError` for what is no condition, an unknown column, and a value that does not fit its column.
    """
    column, sign, value = _parts(text, table)
    if value is None:
        return _null_check(column, sign, text)
    if column in NUMBERS:
        return _number_check(column, sign, value)
    if column in LISTS:
        return _list_check(column, sign, value)
    if column in TIMES and "~" not in sign:
        return _time_check(column, sign, value, now)
    return _text_check(column, sign, cell_of_path(value) if column == "path" else value)


def named_column(text: str, table: str = "sessions") -> str:
    """The column that a condition is about."""
    return _parts(text, table)[0]


def _parts(text: str, table: str) -> tuple[str, str, str | None]:
    """Column, operator, value; the value None for a bare `null`."""
    found = re.fullmatch(_CONDITION, text, re.DOTALL)
    if not found:
        raise UsageError(f"{text!r} is no condition", "write COLUMN OPERATOR VALUE, with one of = != < <= > >= ~ !~")
    column, sign = check_column(found[1], table), "=" if found[2] == "==" else found[2]
    return column, sign, _value(found[3].strip(), text)


def _value(given: str, text: str) -> str | None:
    if given[:1] in ("'", '"'):
        if len(given) < 2 or given[-1] != given[0] or given[0] in given[1:-1]:
            raise UsageError(f"{text!r}: one pair of quotes around the value is wanted", _ONE_EACH)
        return given[1:-1]
    if not given:
        raise UsageError(f"{text!r}: no value", "write null for an unknown one")
    if re.search("[=<>~]", given):
        raise UsageError(f"{text!r}: one condition too many, or a value that needs quotes", _ONE_EACH)
    return None if given.lower() == "null" else given


def _null_check(column: str, sign: str, text: str) -> Check:
    if sign == "=":
        return lambda row: row[column] in (None, "")
    if sign == "!=":
        return lambda row: row[column] not in (None, "")
    raise UsageError(f"{text!r}: null goes with = and != only", "quotes make a text of it")


def _number_check(column: str, sign: str, value: str) -> Check:
    if "~" in sign:
        raise UsageError(f"{column} is a number: {sign} is for texts", "compare it with = != < <= > >=")
    if not re.fullmatch(_NUMBER, value):
        raise UsageError(f"{column}: {value!r} is no number", "write it like 5000, 5_000 or 0.5")
    wanted = float(value) if "." in value else int(value)
    test = _COMPARE[sign]
    return lambda row: isinstance(cell := row[column], int) and test(cell, wanted)


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
    wanted = value.lower()
    if sign not in ("=", "!=", "~", "!~"):
        raise UsageError(f"{column} holds several items: {sign} has no order there", "use = != ~ or !~")
    has, whole = not sign.startswith("!"), "=" in sign

    def check(row: Row) -> bool:
        items = split_list(str(row[column] or "").lower())
        return bool(items) and has is (wanted in items if whole else any(wanted in item for item in items))

    return check


def _text_check(column: str, sign: str, value: str) -> Check:
    wanted = value.lower()
    if not wanted and sign in ("=", "!="):
        return _null_check(column, sign, "")
    if "~" in sign:
        has = sign == "~"
        return lambda row: (cell := row[column]) not in (None, "") and (wanted in str(cell).lower()) is has
    test = _COMPARE[sign]
    return lambda row: (cell := row[column]) not in (None, "") and test(str(cell).lower(), wanted)
