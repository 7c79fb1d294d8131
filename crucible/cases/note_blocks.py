r"""A text and turns as Markdown of a note that a person edits, and back to the letter.

Owns the two ways in which a text stands in a note: as prose, contained, where it reads back as it was; else in a fence that nothing in it
closes, `text` as it is, `text escaped` with what no editor shows as `\u001b`.  A call is JSON in a fence `json call`.  Foreign text
never makes a heading: those are ours, and outside of fences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crucible.cases.model import Call, Role, Turn
from crucible.note.code_spans import harmless_json
from crucible.note.contain import FORMAT, contain, contain_code, normal, uncontain, uncontain_code
from crucible.note.fencing import fenced
from crucible.patterns import late_pattern

__all__ = [
    "Part",
    "parts_of",
    "read_items",
    "read_text",
    "read_turns",
    "render_exact",
    "render_items",
    "render_text",
    "render_turns",
]

_OPENER = late_pattern(r" {0,3}(?:(`{3,})([^`]*)|(~{3,})(.*))")
_HEADING = late_pattern(r"(#{2,3})[ \t](.*)")
_ODD = late_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
_ESCAPED = late_pattern(r"\\(\\|u[0-9a-f]{4})")
_JSON_ODD = late_pattern("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]")
_PLAIN_ID = late_pattern(r"[A-Za-z0-9_.-]{1,200}")
_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9 _.-]")
_TURN = late_pattern(r'(Assistant|User|System|Tool)(?: answers ("[^"]*"|\S+))?( failed)?', re.IGNORECASE)
_TEXT, _TEXT_ESCAPED, _CALL = "text", "text escaped", "json call"


class Part(NamedTuple):
    """What stands under a heading: `title` is "" before the first one, `line` is that of `lines[0]`, from 1."""

    title: str
    lines: list[str]
    line: int


class _Fence(NamedTuple):
    """A whole fence: its lines from the opener up to, not including, `end`."""

    info: str
    first: int
    end: int


# --- lines -----------------------------------------------------------------------------------------------------------


def parts_of(lines: Sequence[str], level: int, line: int = 1) -> list[Part]:
    """The lines parted at the headings of a level (2 or 3) that stand outside of fences; `line` is the number of the first."""
    found: list[Part] = []
    title, first = "", 0
    for at, heading in _headings(lines, level):
        found.append(Part(title, [*lines[first:at]], line + first))
        title, first = heading, at + 1
    return [*found, Part(title, [*lines[first:]], line + first)]


def _headings(lines: Sequence[str], level: int) -> Iterator[tuple[int, str]]:
    """The place and the text of each heading outside of fences."""
    marked = [at for at, line in enumerate(lines) if line[:2] == "##"]
    fences = _fences(lines) if marked else iter(())
    fence = next(fences, None)
    for at in marked:
        while fence and at >= fence.end:
            fence = next(fences, None)
        heading = None if fence and at >= fence.first else _HEADING.fullmatch(lines[at])
        if heading and len(heading[1]) == level:
            yield at, heading[2].strip(" \t#")


def _fences(lines: Sequence[str]) -> Iterator[_Fence]:
    """Every fence, in order; one that is not closed goes to the end."""
    marked = [at for at, line in enumerate(lines) if "```" in line or "~~~" in line]
    end = 0
    for nth, at in enumerate(marked):
        opener = _OPENER.fullmatch(lines[at]) if at >= end else None
        if opener:
            end = _end_of(lines, marked, nth, opener[1] or opener[3])
            yield _Fence((opener[2] if opener[1] else opener[4]).strip(), at, end)


def _end_of(lines: Sequence[str], marked: Sequence[int], nth: int, marks: str) -> int:
    """Behind the line that closes the fence which the `nth` of the marked lines opens."""
    for place in range(nth + 1, len(marked)):
        at = marked[place]
        text = lines[at].strip(" \t")
        if len(text) >= len(marks) and not text.strip(marks[0]) and not lines[at].startswith("    "):
            return at + 1
    return len(lines) + 1


# --- a text ----------------------------------------------------------------------------------------------------------


def render_text(text: str) -> str:
    """The text as a block of Markdown; "" for ""."""
    if not text:
        return ""
    if normal(text) == text and text.strip():
        shown = contain(text)
        lines = shown.split("\n")
        fences = [*_fences(lines)]
        alone = len(parts_of(lines, 2)) == len(parts_of(lines, 3)) == 1
        ours = any(_is_ours(fence.info) or fence.end > len(lines) for fence in fences)
        if alone and not ours and not _ODD.search(shown) and read_text(lines) == text:
            return shown
    return render_exact(text)


def render_exact(text: str) -> str:
    """The text in a fence, as it is."""
    if not _ODD.search(text):
        return fenced(contain_code(text), _TEXT)
    escaped = _ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\\", "\\\\"))
    return fenced(contain_code(escaped), _TEXT_ESCAPED)


def read_text(lines: Sequence[str], form: int = FORMAT) -> str:
    """The text of a block, as a human may have changed it, of a note of that `format`."""
    lines = _without_blanks(lines)
    fences = [*_fences(lines)]
    if len(fences) == 1 and fences[0].first == 0 and fences[0].end == len(lines):
        inner = uncontain_code("\n".join(lines[1:-1]), form)
        if fences[0].info == _TEXT:
            return inner
        if fences[0].info == _TEXT_ESCAPED:
            return _ESCAPED.sub(lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), inner)
    return uncontain("\n".join(lines), form=form)


def _is_ours(info: str) -> bool:
    return info.partition(" ")[0] in {"text", "json"}


def _without_blanks(lines: Sequence[str]) -> Sequence[str]:
    first, end = 0, len(lines)
    while first < end and not lines[first].strip(" \t"):
        first += 1
    while end > first and not lines[end - 1].strip(" \t"):
        end -= 1
    return lines[first:end]


# --- several texts ---------------------------------------------------------------------------------------------------


def render_items(word: str, texts: Iterable[str]) -> str:
    """Each text under a heading `### Word N`."""
    return _joined(f"### {word} {number}\n\n{render_text(text)}" for number, text in enumerate(texts, 1))


def read_items(lines: Sequence[str], form: int = FORMAT) -> tuple[str, ...]:
    """The text under each heading; of what has no headings, each item of its list, or all of it."""
    first, *parts = parts_of(lines, 3)
    if parts:
        return tuple(read_text(part.lines, form) for part in parts)
    told = [*_without_blanks(first.lines)]
    listed = [line[2:].strip() for line in told if line.startswith(("- ", "* "))]
    if told and len(listed) == len(told):
        return tuple(uncontain(one, form=form) for one in listed)
    return (read_text(told, form),) if told else ()


def _joined(blocks: Iterable[str]) -> str:
    return "\n\n".join(block.strip("\n") for block in blocks)


# --- turns -----------------------------------------------------------------------------------------------------------


def render_turns(turns: Iterable[Turn]) -> str:
    """Each turn under a heading that says who speaks: its text, then its calls."""
    return _joined(map(_render_turn, turns))


def _render_turn(turn: Turn) -> str:
    head = turn.role.value.capitalize()
    if turn.answers:
        head += f" answers {_shown_id(turn.answers)}"
    if turn.failed:
        head += " failed"
    # What a tool answered is never prose.
    text = render_exact(turn.text) if turn.text and turn.role is Role.TOOL else render_text(turn.text)
    return "\n\n".join(part for part in (f"### {head}", text, *map(_render_call, turn.calls)) if part)


def _render_call(call: Call) -> str:
    told = {"id": call.id, "name": call.name, "arguments": dict(call.arguments)}
    shown = harmless_json(json.dumps(told, ensure_ascii=False, indent=2))
    return fenced(_JSON_ODD.sub(lambda found: f"\\u{ord(found[0]):04x}", shown), _CALL)


def _shown_id(text: str) -> str:
    """As a word, else as JSON in which no character does anything."""
    if _PLAIN_ID.fullmatch(text):
        return text
    return '"' + _NOT_PLAIN.sub(lambda found: _escaped(found[0]), text) + '"'


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def read_turns(
    lines: Sequence[str], line: int, problems: list[tuple[int, str]], form: int = FORMAT
) -> tuple[Turn, ...]:
    """The turns under their headings; what is not understood is told with its line, from `line` on, and left out."""
    turns: list[Turn] = []
    head: re.Match[str] | None = None
    for part in _turn_parts(lines, line):
        head = _TURN.fullmatch(part.title)
        if head is None:
            if _without_blanks(part.lines):
                problems.append(
                    (part.line, "words before the first turn, which begins with such as `### Assistant`")
                )
            continue
        turns.append(_read_turn(head, part, problems, form))
    return tuple(turns)


def _turn_parts(lines: Sequence[str], line: int) -> list[Part]:
    """A heading that names nobody who speaks is one of a turn's own words."""
    found: list[Part] = []
    for part in parts_of(lines, 3, line):
        if part.title and found and found[-1].title and not _TURN.fullmatch(part.title):
            found[-1].lines.extend([f"### {part.title}", *part.lines])
        else:
            found.append(part)
    return found


def _read_turn(head: re.Match[str], part: Part, problems: list[tuple[int, str]], form: int) -> Turn:
    calls: list[Call] = []
    text: list[str] = []
    at = 0
    for fence in _fences(part.lines):
        if fence.info != _CALL:
            continue
        text += part.lines[at : fence.first]
        at = fence.end
        call = _read_call("\n".join(part.lines[fence.first + 1 : fence.end - 1]))
        if call:
            calls.append(call)
        else:
            problems.append((part.line + fence.first, "a call that is no JSON of a name and arguments"))
    text += part.lines[at:]
    return Turn(
        Role(head[1].lower()),
        read_text(text, form),
        tuple(calls),
        _read_id(head[2] or ""),
        failed=bool(head[3]),
    )


def _read_call(text: str) -> Call | None:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, Mapping) or not isinstance(told.get("name"), str):
        return None
    arguments, id_ = told.get("arguments", {}), told.get("id", "")
    if not isinstance(arguments, dict) or not isinstance(id_, str):
        return None
    return Call(id_, told["name"], arguments)


def _read_id(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')
