"""Find the properties at the top of a note, and edit one key at a time.  Reading never raises.

The block starts with `---` on line 1 and ends at the next such line.  As in Obsidian, the last of several equal keys is
used, merge keys (`<<`) are ordinary keys, and unknown tags are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from crucible.core.errors import EditRefused
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter_values import read_properties
from crucible.documents.markdown.source import Edit, Lines, Problem, Source, Span, apply_edits
from crucible.documents.markdown.yaml_nodes import DEPTH, READ_ERRORS, Composed, compose, end_line, is_list, is_map
from crucible.documents.markdown.yaml_scalars import (
    EXACT,
    Value,
    render_entry,
    render_items,
    same_value,
    well_formed,
    write_scalar,
)

if TYPE_CHECKING:
    import yaml


class Frontmatter(NamedTuple):
    """The properties at the top of a note; all fields are empty if `present` is false.

    `span` and `lines` include both `---`.  `keys` has the lines of each entry, without the comments around it; a key
    that is in `values` but not in `keys` was only partly recovered.  `repeats` has the earlier entries of repeated
    keys. `locked` is the reason why keys cannot be added, or "".
    """

    present: bool
    span: Span
    lines: Lines
    values: dict[str, Value]
    keys: dict[str, Span]
    problems: tuple[Problem, ...] = ()
    repeats: tuple[tuple[str, Span], ...] = ()
    locked: str = ""


_OPENER = late_pattern(r"---[ \t]*(?=[\r\n])")
_CLOSER = late_pattern(r"(?:\r\n?|\n)---[ \t]*(?:\r\n?|\n|\Z)")
_LINE_END = late_pattern(r"\r\n?|\n")


def find_frontmatter(source: Source) -> Frontmatter:
    """Read the properties at the top of a note, and their problems."""
    text = source.text
    opener = _OPENER.match(text)
    if opener is None:
        return _absent("")
    closer = _CLOSER.search(text, opener.end())
    if closer is None:
        return _absent("the frontmatter opened here is never closed with ---")
    start, end = _after_line_end(text, opener.end()), _after_line_end(text, closer.start())
    reading = read_properties(text, start, end)
    if not reading.values and not reading.problems:
        reading.problems.append(Problem("empty-frontmatter", 1, "the frontmatter has no keys"))
    lines = Lines(0, 1 + _count_lines(text, end))
    return Frontmatter(
        True, Span(0, closer.end()), lines, reading.values, reading.keys,
        tuple(reading.problems), tuple(reading.repeats), reading.locked,
    )  # fmt: skip


def find_frontmatter_span(source: Source) -> Span:
    """The span of the properties including both `---`, without reading values; empty if there are none."""
    opener = _OPENER.match(source.text)
    closer = _CLOSER.search(source.text, opener.end()) if opener else None
    return Span(0, closer.end()) if closer else Span(0, 0)


def _absent(unclosed: str) -> Frontmatter:
    problems = (Problem("unclosed-frontmatter", 1, unclosed),) if unclosed else ()
    return Frontmatter(False, Span(0, 0), Lines(0, 0), {}, {}, problems, (), unclosed)


def _after_line_end(text: str, at: int) -> int:
    return at + (2 if text.startswith("\r\n", at) else 1)


def _count_lines(text: str, end: int) -> int:
    if text.find("\r", 0, end) < 0:
        return text.count("\n", 0, end)
    return sum(1 for _ in _LINE_END.finditer(text, 0, end))


# --- edits --------------------------------------------------------------------------------------------------------

_COLON = late_pattern(r"[ \t]*:")
_COMMENT = late_pattern(r"[ \t]+#[^\r\n]*")
_DASH = late_pattern(r" *-[ \t]+")


def set_key(source: Source, fm: Frontmatter, key: str, value: Value) -> list[Edit]:
    """Return the edits that set `key`, only in its own lines; none if it already has the value.

    Comments next to the value and between the items of a list are kept.  Raises `EditRefused` if the key's lines are
    unknown, or if the value would not read back equal.
    """
    value = _writable(value)
    if key in fm.values and same_value(fm.values[key], value):
        return []
    if not fm.present:
        _refuse_if(fm.locked, 1)
        return [Edit(Span(0, 0), render_frontmatter({key: value}).replace("\n", source.newline))]
    if key in fm.keys:
        _refuse_if("" if fm.locked.endswith("broken") else fm.locked, _line(source, fm, key))
        ways = _ways(source, fm, key, value)
    else:
        _refuse_if(fm.locked, 1)
        ways = [[_insertion(source, fm, key, value)]]
    expected = {**fm.values, key: value}
    for edits in ways:
        if _reads_back(source, fm, edits, expected):
            return edits
    raise EditRefused(f"line {_line(source, fm, key)}: {key!r} would not read back as set")


def remove_key(source: Source, fm: Frontmatter, key: str) -> list[Edit]:
    """Return the edits that remove every entry of `key`; none if it is absent."""
    if key not in fm.keys:
        _refuse_if(fm.locked if fm.present else "", 1)
        return []
    _refuse_if("" if fm.locked.endswith("broken") else fm.locked, _line(source, fm, key))
    spans = [fm.keys[key], *(span for name, span in fm.repeats if name == key)]
    edits = [Edit(span, "") for span in spans]
    if _reads_back(source, fm, edits, {k: v for k, v in fm.values.items() if k != key}):
        return edits
    raise EditRefused(f"line {_line(source, fm, key)}: {key!r} cannot be removed without changing other keys")


def render_frontmatter(values: Mapping[str, Value]) -> str:
    """Render a block with both `---` and LF line endings."""
    lines = [line for key, value in values.items() for line in render_entry(key, _writable(value))]
    return "\n".join(("---", *lines, "---", ""))


def _refuse_if(reason: str, line: int) -> None:
    if reason:
        raise EditRefused(f"line {line}: {reason}", "fix it in an editor first")


def _line(source: Source, fm: Frontmatter, key: str) -> int:
    return 1 + (source.line_of(fm.keys[key].start) if key in fm.keys else fm.lines.end - 1)


def _writable(value: Value, depth: int = 0) -> Value:
    """Convert a value to a form that reads back equal; raises `EditRefused` if there is none."""
    if depth > DEPTH // 2:
        raise EditRefused("a value is nested too deeply for frontmatter")
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_writable(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _writable(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, int) and abs(value) > EXACT:
        raise EditRefused("an integer beyond 2**53 does not read back exactly", "write it as text")
    return value


def _reads_back(source: Source, fm: Frontmatter, edits: list[Edit], expected: dict[str, Value]) -> bool:
    after = find_frontmatter(apply_edits(source, edits))
    known = {"empty-frontmatter", *(problem.code for problem in fm.problems)}
    return same_value(after.values, expected) and known.issuperset(problem.code for problem in after.problems)


def _insertion(source: Source, fm: Frontmatter, key: str, value: Value) -> Edit:
    closer = source.starts[fm.lines.end - 1]
    first = min(fm.keys.values(), default=Span(closer, closer)).start
    indent = re.compile(r" *").match(source.text, first).group()  # type: ignore[union-attr]
    return Edit(Span(closer, closer), "".join(f"{line}{source.newline}" for line in render_entry(key, value, indent)))


def _ways(source: Source, fm: Frontmatter, key: str, value: Value) -> list[list[Edit]]:
    """Return alternative edits, from the smallest change to the replacement of the full entry."""
    span = fm.keys[key]
    text = source.slice(span)
    ending = _LINE_END.search(text)
    newline = ending.group() if ending else source.newline
    indent = text[: len(text) - len(text.lstrip(" "))]
    first, *rest = render_entry(key, value, indent)
    replacement = [Edit(span, "".join(f"{line}{newline}" for line in (first, *rest)))]
    try:
        composed = compose(text)
    except READ_ERRORS:
        return [replacement]
    root = composed.root
    if not is_map(root) or len(root.value) != 1:
        return [replacement]
    node, node_value = root.value[0]
    entry = _Entry(composed, text, node, node_value, span.start, newline)
    ways = [entry.set_value(first.removeprefix(f"{indent}{write_scalar(key)}:"), rest), replacement]
    old = fm.values.get(key)
    if isinstance(old, list) and isinstance(value, list):
        ways.insert(0, entry.set_items(old, value))
    return [way for way in ways if way]


class _Entry(NamedTuple):
    """The lines of one key, parsed separately; `start` is their offset in the note."""

    composed: Composed
    text: str
    key: yaml.Node
    value: yaml.Node
    start: int
    newline: str

    def set_value(self, inline: str, rest: list[str]) -> list[Edit]:
        """Replace the text after the key's colon, keeping the key and the comment next to the value."""
        colon = _COLON.match(self.text, self.composed.offset(self.key.end_mark))
        if colon is None:
            return []
        start, end = self.composed.offset(self.value.start_mark), self.composed.offset(self.value.end_mark)
        line_end = _LINE_END.search(self.text, colon.end())
        one_line = line_end is not None and end <= line_end.start()
        if one_line and not rest and start < end:
            return [self._edit(start, end, inline[1:])]
        if one_line and not rest:
            return [self._edit(colon.end(), colon.end(), inline)]
        comment = _COMMENT.match(self.text, max(end, colon.end()) if one_line else colon.end())
        after = line_end.start() if one_line and line_end else len(self.text.rstrip("\r\n"))
        lines = (inline + (comment.group() if comment else ""), *rest)
        return [self._edit(colon.end(), after, self.newline.join(lines))]

    def set_items(self, old: list[Value], new: list[Value]) -> list[Edit]:
        """Remove and insert items of a block list, keeping comments between them."""
        places = self._item_lines()
        if len(places) != len(old) or not old or not new:
            return []
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        indent = self.composed.line(places[0].first).partition("-")[0]
        added = "".join(f"{line}{self.newline}" for line in render_items(new[head : len(new) - tail], indent))
        removed = places[head : len(old) - tail]
        starts = self.composed.starts
        if not removed and head:
            # Insert after the last word, not before the next key, since the same change may insert a new key there.
            at = len(self.text[: starts[places[head - 1].end]].rstrip("\r\n"))
            return [self._edit(at, at, self.newline + added.removesuffix(self.newline))]
        if not removed:
            return [self._edit(starts[places[0].first], starts[places[0].first], added)]
        texts = (added, *[""] * (len(removed) - 1))
        return [self._edit(starts[p.first], starts[p.end], t) for p, t in zip(removed, texts, strict=True)]

    def _item_lines(self) -> list[Lines]:
        """The lines of each item; empty unless every item begins next to its dash on a line of its own."""
        if not is_list(self.value) or self.value.flow_style:
            return []
        places: list[Lines] = []
        for item in self.value.value:
            first, end = item.start_mark.line, max(end_line(item), item.start_mark.line + 1)
            dash = _DASH.match(self.composed.line(first))
            if dash is None or dash.end() != item.start_mark.column or (places and first < places[-1].end):
                return []
            while end > first + 1 and not self.composed.line(end - 1).strip():
                end -= 1
            places.append(Lines(first, end))
        return places

    def _edit(self, start: int, end: int, text: str) -> Edit:
        return Edit(Span(self.start + start, self.start + end), text)


def _common(one: list[Value], other: list[Value]) -> int:
    """The number of equal items at the start of both lists."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if not same_value(a, b)), min(len(one), len(other)))
