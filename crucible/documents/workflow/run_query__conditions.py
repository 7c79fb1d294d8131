"""Conditions such as `amount_usd > 80` on a column of marker rows: text in, a check of a row out.

Owns the operators and what they mean; nothing is evaluated as a program.  Any column may be named, for rows have columns of
their own: it is the value, not the column, that is a number, a time or a text.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.session.properties import parse_time
from crucible.documents.workflow.run_rows import MarkerRow

__all__ = ["RowCheck", "parse_where"]

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
