"""Render text, lists and turns as Markdown blocks that users may edit, and parse them without loss.

Text is prose if it parses back unchanged, else a `text` fence; a list is a Markdown list or a `json` fence; turns are a
`json` fence. Untrusted text never becomes a heading.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crucible.commands.learn.case import CaseCall, CaseTurn, Role
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import harmless_json
from crucible.documents.markdown.containment import contain, fenced, normal, uncontain
from crucible.documents.markdown.fences import contain_code, fenced_lines, uncontain_code

_FENCE = late_pattern(r" {0,3}(`{3,}|~{3,})([^`]*)")
_HEADING = late_pattern(r"##[ \t](.*)")
_ODD = late_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Characters that editors do not show or do not preserve."""


class NotePart(NamedTuple):
    """The lines below a heading. `title` is "" before the first heading; `line` is the number of `lines[0]`, from 1."""

    title: str
    lines: list[str]
    line: int


NO_PART = NotePart("", [], 1)


def parts_of(lines: Sequence[str], line: int = 1) -> list[NotePart]:
    """Split lines at level-2 headings outside fences; `line` is the number of the first line."""
    parts, code = [NotePart("", [], line)], fenced_lines(lines)
    for at, text in enumerate(lines):
        heading = None if at in code else _HEADING.fullmatch(text)
        if heading:
            parts.append(NotePart(heading[1].strip(" \t#"), [], line + at + 1))
        else:
            parts[-1].lines.append(text)
    return parts


# --- a text ----------------------------------------------------------------------------------------------------------


def render_text(text: str) -> str:
    """Render text as prose if it parses back unchanged, else as a fence; "" for ""."""
    if not text.strip() or normal(text) != text:
        return render_exact(text)
    shown = contain(text)
    lines = shown.split("\n")
    is_closed = len(parts_of([*lines, "## End"])) == 2
    is_same = is_closed and not _ODD.search(shown) and read_text(lines) == text
    return shown if is_same else render_exact(text)


def render_exact(text: str) -> str:
    """Render text unchanged in a fence; "" for ""."""
    if not text:
        return ""
    return _json(text) if _ODD.search(text) else fenced(contain_code(text), "text")


def read_text(lines: Sequence[str]) -> str:
    """Parse the text in a block, which the user may have edited."""
    block = "\n".join(lines).strip("\n")
    info, inner = _fenced(block)
    if info == "text":
        return uncontain_code(inner)
    value = _value(block)
    return value if isinstance(value, str) else uncontain(block)


def _fenced(block: str) -> tuple[str, str]:
    """Return the info string and text of a block that consists of one fence; two empty strings for any other block."""
    first, *inner = block.strip().split("\n")
    fence = _FENCE.fullmatch(first)
    if fence is None or not inner or inner.pop().strip() != fence[1]:
        return "", ""
    return fence[2].strip(), "\n".join(inner)


def _json(value: object) -> str:
    shown = harmless_json(json.dumps(value, ensure_ascii=False, indent=2))
    return fenced(_ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", shown), "json")


def _value(block: str) -> object:
    """Return the value of a `json` fence; None for any other block."""
    info, inner = _fenced(block)
    try:
        return json.loads(inner) if info == "json" else None
    except (ValueError, RecursionError):
        return None


# --- lists -----------------------------------------------------------------------------------------------------------


def render_items(texts: Sequence[str]) -> str:
    """Render strings as a list; "" for none."""
    lines = [f"- {render_text(text)}" for text in texts]
    is_plain = all(text[:1].isalnum() for text in texts) and read_items(lines) == tuple(texts)
    return "\n".join(lines) if is_plain else _json(list(texts))


def read_items(lines: Sequence[str]) -> tuple[str, ...]:
    """Parse the strings in a list, one per line."""
    value = _value("\n".join(lines))
    if isinstance(value, list):
        return tuple(map(str, value))
    return tuple(uncontain(line.removeprefix("- ")) for line in lines if line.strip())


# --- turns -----------------------------------------------------------------------------------------------------------


def render_turns(turns: Sequence[CaseTurn]) -> str:
    """Render turns as a JSON list of objects. Multi-line text becomes a list of lines."""
    return _json([_row(turn) for turn in turns]) if turns else ""


def _row(turn: CaseTurn) -> Mapping[str, object]:
    row = {
        "role": turn.role.value,
        "answers": turn.answers,
        "failed": turn.failed,
        "text": turn.text.split("\n") if "\n" in turn.text else turn.text,
        "calls": [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in turn.calls],
    }
    return {name: value for name, value in row.items() if value}


def read_turns(lines: Sequence[str]) -> tuple[CaseTurn, ...]:
    """Parse the turns in a block. Raises `UsageError` for anything else."""
    block = "\n".join(lines)
    if not block.strip():
        return ()
    try:
        rows: Any = _value(block)
        return tuple(map(_turn, rows))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        hint = 'write each turn as {"role": "assistant", "text": "I run it."}'
        raise UsageError("no `json` fence with a list of turns", hint) from error


def _turn(row: Mapping[str, Any]) -> CaseTurn:
    text = row.get("text", "")
    calls = tuple(map(_call, row.get("calls", ())))
    return CaseTurn(
        Role(row["role"]),
        "\n".join(text) if isinstance(text, list) else str(text),
        calls,
        str(row.get("answers", "")),
        failed=row.get("failed") is True,
    )


def _call(row: Mapping[str, Any]) -> CaseCall:
    return CaseCall(str(row.get("id", "")), str(row["name"]), dict(row.get("arguments", {})))
