"""Read and write frontmatter values: YAML 1.2 core types, quoting, and our block style.

Reading follows npm `yaml` 2.7, which Obsidian uses, including its rounding of numbers beyond 2**53.  Writing is
stricter: text that YAML 1.1 or 1.2 could read as another type is quoted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TypeAlias

from crucible.core.patterns import late_pattern

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
"""A frontmatter value, typed by the YAML 1.2 core schema.  Dates and times are strings."""

EXACT = 2**53
"""The largest integer that JavaScript, YAML and Python all represent exactly."""

_WORDS: dict[str, bool | None] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NUMBER_STARTS = frozenset("0123456789+-.")
_INT = late_pattern(r"[-+]?[0-9]+")
_OCTAL_OR_HEX = late_pattern(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = late_pattern(
    r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)"
    r"|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

_NOT_PLAIN = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff"
_PLAIN = late_pattern(rf"[\w/][^{_NOT_PLAIN}]*")
_ESCAPED = late_pattern(rf'["\\{_NOT_PLAIN}]')
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
_SURROGATE = late_pattern(r"[\ud800-\udfff]")
# Words that YAML 1.1 or 1.2 reads as another type, apart from numbers and dates.
_TYPED_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_TYPED_SHAPE = late_pattern(
    r"[0-9][0-9_]*(?:\.[0-9_.]*)?(?:[eE][-+]?[0-9]*)?"
    r"|0[xob][0-9a-fA-F_]*"
    r"|[0-9][0-9_]*(?::[0-9_]+)+(?:\.[0-9_]*)?"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ].*)?"
)


def read_scalar(text: str) -> str | int | float | bool | None:
    """Read a plain (unquoted) scalar: null, a boolean, a number, or else text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INT.fullmatch(text):
        # Up to 15 digits are exact, and `int()` refuses thousands of digits.
        return int(text) if len(text) <= 15 else _whole(float(text))
    if _FLOAT.fullmatch(text):
        return float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
    if _OCTAL_OR_HEX.fullmatch(text):
        return _exact(int(text, 0))
    return text


def write_scalar(value: str | float | bool | None) -> str:
    """Render a value on one line, in double quotes if it could be read as another type.

    Lone surrogates become U+FFFD.
    """
    if isinstance(value, str):
        text = well_formed(value)
        return text if _is_safely_plain(text) else _quote(text)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _write_float(value)


def read_list(value: Value) -> list[str]:
    """Tags or aliases as users write them: a list, one string, a comma-separated string, or nothing."""
    if value is None or isinstance(value, dict):
        return []
    if isinstance(value, list):
        return [_as_text(item) for item in value if item is not None and not isinstance(item, (list, dict))]
    return [part.strip() for part in _as_text(value).split(",") if part.strip()]


def same_value(one: Value, other: Value) -> bool:
    """Compare values, distinguishing `1`, `1.0` and `true`.  NaN equals NaN, and invalid UTF-8 equals U+FFFD."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or well_formed(one) == well_formed(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_value, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_value(one[k], other[k]) for k in one)
    return type(one) is type(other) and (one == other or (_is_nan(one) and _is_nan(other)))


def render_entry(key: str, value: Value, indent: str = "") -> list[str]:
    """Render the lines of one key, without line endings.  Block lists and maps are indented by two spaces."""
    head = f"{indent}{write_scalar(key)}:"
    if isinstance(value, (list, dict)) and value:
        return [head, *_render_block(value, indent + "  ")]
    return [f"{head} {_render_inline(value)}"]


def render_items(items: list[Value], indent: str) -> list[str]:
    """Render the lines of a block list's items, each dash after `indent`."""
    lines: list[str] = []
    for item in items:
        if isinstance(item, (list, dict)) and item:
            first, *rest = _render_block(item, indent + "  ")
            lines += [f"{indent}- {first[len(indent) + 2 :]}", *rest]
        else:
            lines.append(f"{indent}- {_render_inline(item)}")
    return lines


def well_formed(text: str) -> str:
    """Replace lone surrogates, which represent invalid UTF-8, with U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _render_block(value: list[Value] | Mapping[str, Value], indent: str) -> list[str]:
    if isinstance(value, list):
        return render_items(value, indent)
    return [line for key, inner in value.items() for line in render_entry(key, inner, indent)]


def _render_inline(value: Value) -> str:
    if isinstance(value, list):
        return "[]"
    return "{}" if isinstance(value, dict) else write_scalar(value)


def _whole(number: float) -> int | float:
    return int(number) if abs(number) <= EXACT else number


def _exact(number: int) -> int | float:
    if number <= EXACT:
        return number
    try:
        return _whole(float(number))
    except OverflowError:
        return math.inf


def _is_safely_plain(text: str) -> bool:
    return bool(
        _PLAIN.fullmatch(text)
        and text[-1] != ":"
        and text == text.strip()
        and ": " not in text
        and " #" not in text
        and "[[" not in text
        and "<%" not in text
        and not _TYPED_SHAPE.fullmatch(text)
        and text.lower() not in _TYPED_WORDS
    )


def _quote(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, text)}"'.replace("<%", "<\\x25")  # Templater would also run it here


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    return _ESCAPES.get(char) or (f"\\x{ord(char):02x}" if char < "\xa0" else f"\\u{ord(char):04x}")


def _write_float(number: float) -> str:
    if not math.isfinite(number):
        return ".nan" if math.isnan(number) else ".inf" if number > 0 else "-.inf"
    text = repr(number)
    # YAML 1.1 reads 1e+22 as text, since it requires a point before the exponent.
    return text if "." in text else text.replace("e", ".0e")


def _as_text(value: str | float | bool) -> str:
    return value if isinstance(value, str) else write_scalar(value)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)
