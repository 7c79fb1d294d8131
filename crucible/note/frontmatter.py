"""The properties at the top of a note: find the block, read its values, change one key's own lines.

Bounds are ours: line 1 is `---`, the block ends at the next line that is `---`, blanks may follow both (Obsidian
knows no TOML block).  Values are read through python-frontmatter with a handler of our own over libyaml's
compose; what is tidy is read by hand, which gives the same at half the cost.  Nothing here raises on what a human wrote.

Where YAML leaves a choice: of a repeated key the last one counts, as PyYAML has it, and a problem names each
repetition; merge keys (`<<`) are ordinary keys and unknown tags are dropped, as Obsidian has it; keys are the text
that stands there.  In broken YAML each key that reads on its own is recovered.  Scalars are `note.scalars`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import frontmatter
import yaml
from frontmatter.default_handlers import BaseHandler

from crucible.errors import EditRefused
from crucible.note.scalars import (
    EXACT,
    Value,
    read_list,
    read_scalar,
    render_entry,
    render_items,
    same_value,
    well_formed,
    write_scalar,
)
from crucible.note.source import Edit, Lines, Problem, Source, Span, apply_edits

try:
    from yaml import CSafeLoader as _BaseLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _BaseLoader  # type: ignore[assignment]

__all__ = ["Frontmatter", "append_item", "find_frontmatter", "remove_key", "render_frontmatter", "set_key"]


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What stands at the top of a note; all empty when `present` is false.

    `span` and `lines` include both fences.  `keys` holds all lines of each entry, comments around it not; a key that
    is in `values` and not in `keys` was recovered in part.  `repeats` are the earlier entries of repeated keys.
    `locked` says why no key can be added, or is empty.
    """

    present: bool
    span: Span
    lines: Lines
    values: dict[str, Value]
    keys: dict[str, Span]
    problems: tuple[Problem, ...] = ()
    repeats: tuple[tuple[str, Span], ...] = ()
    locked: str = ""


@dataclass(slots=True)
class _Reading:
    """A block while it is read."""

    values: dict[str, Value] = field(default_factory=dict)
    keys: dict[str, Span] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    repeats: list[tuple[str, Span]] = field(default_factory=list)
    locked: str = ""

    def add(self, key: str, value: Value, span: Span, line: int) -> None:
        if key in self.values:
            self.problems.append(
                Problem("duplicate-key", line, f"{key!r} stands here again; the last one counts")
            )
            if key in self.keys:
                self.repeats.append((key, self.keys[key]))
        self.values[key] = value
        self.keys[key] = span


_OPENER = re.compile(r"---[ \t]*(?=[\r\n])")
_CLOSER = re.compile(r"(?:\r\n?|\n)---[ \t]*(?:\r\n?|\n|\Z)")
_LINE_END = re.compile(r"\r\n?|\n")


def find_frontmatter(source: Source) -> Frontmatter:
    """The block at the top of the note, its values, and what is wrong with it."""
    text = source.text
    opener = _OPENER.match(text)
    if opener is None:
        return _absent("")
    closer = _CLOSER.search(text, opener.end())
    if closer is None:
        return _absent("the frontmatter opened here is never closed with ---")
    start, end = _after_line_end(text, opener.end()), _after_line_end(text, closer.start())
    reading = _read_tidy(text, start, end)
    if reading is None:
        reading = _read_untidy(text, start, end)
    if not reading.values and not reading.problems:
        reading.problems.append(Problem("empty-frontmatter", 1, "the frontmatter holds no keys"))
    lines = Lines(0, 1 + _count_lines(text, end))
    return Frontmatter(
        True, Span(0, closer.end()), lines, reading.values, reading.keys,
        tuple(reading.problems), tuple(reading.repeats), reading.locked,
    )  # fmt: skip


def _absent(unclosed: str) -> Frontmatter:
    problems = (Problem("unclosed-frontmatter", 1, unclosed),) if unclosed else ()
    return Frontmatter(False, Span(0, 0), Lines(0, 0), {}, {}, problems, (), unclosed)


def _after_line_end(text: str, at: int) -> int:
    return at + (2 if text.startswith("\r\n", at) else 1)


def _count_lines(text: str, end: int) -> int:
    if text.find("\r", 0, end) < 0:
        return text.count("\n", 0, end)
    return sum(1 for _ in _LINE_END.finditer(text, 0, end))


# --- tidy blocks, by hand -----------------------------------------------------------------------------------------

# Tabs, lone CR, other controls, what YAML 1.1 takes for a line end, and what it does not take at all.
_ODD = re.compile(
    r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)
_TIDY = re.compile(
    r"(?P<indent> *)(?P<dash>- +)?(?:(?P<key>[A-Za-z_][\w-]{0,99}):(?=[ \r\n]))? *"
    r"""(?:"(?P<double>[^"\\\r\n]*)" *|'(?P<single>[^'\r\n]*)' *|(?P<plain>[\w/][^\r\n]*)|(?P<empty>\[\]) *"""
    r"|(?P<comment>#[^\r\n]*)|)\r?\n"
)


def _read_tidy(text: str, start: int, end: int) -> _Reading | None:
    """Keys with one-line scalars, and lists of such scalars or of flat maps; None for anything else.

    Offsets are the text's; every line up to `end` must have its line end.
    """
    if _ODD.search(text, start, end):
        return None
    tidy = _Tidy()
    at = start
    while at < end:
        line = _TIDY.match(text, at, end)
        if line is None or not tidy.take(line):
            return None
        at = line.end()
    return tidy.reading


class _Tidy:
    """The state between two lines of a tidy block."""

    __slots__ = ("indent", "item", "item_indent", "items", "key", "reading")

    def __init__(self) -> None:
        self.reading = _Reading()
        self.key = ""
        self.items: list[Value] | None = None
        """The list under `key`; None when `key` has a value on its own line."""
        self.indent = -1
        self.item: dict[str, Value] | None = None
        self.item_indent = -1

    def take(self, line: re.Match[str]) -> bool:
        """Whether the line was understood."""
        indent, dash, key, double, single, plain, empty, comment = line.groups()
        value: Value = None
        if plain is not None:
            text = plain.rstrip(" ")
            if text[-1] == ":" or ": " in text or " #" in text:
                return False
            value = read_scalar(text)
        elif double is not None:
            value = double
        elif single is not None:
            value = single
        elif empty is not None:
            value = []
        else:
            return self._take_bare(line, key, opens=not indent and dash is None and comment is None)
        if dash is not None:
            done = self._take_item(len(indent), len(dash), key, value)
        elif key is None:
            return False
        elif not indent:
            return self._open(key, value, None, line)
        else:
            done = self._take_field(len(indent), key, value)
        if done:
            self.reading.keys[self.key] = Span(self.reading.keys[self.key].start, line.end())
        return done

    def _take_bare(self, line: re.Match[str], key: str | None, *, opens: bool) -> bool:
        """A line without a value: a key that opens a list or is null, a comment, or blank."""
        if key is None:
            return line["dash"] is None
        return opens and self._open(key, None, [], line)

    def _open(self, key: str, value: Value, items: list[Value] | None, line: re.Match[str]) -> bool:
        if key in self.reading.values:
            return False
        self.reading.values[key] = value
        self.reading.keys[key] = Span(*line.span())
        self.key, self.items, self.indent, self.item = key, items, -1, None
        return True

    def _take_item(self, indent: int, dash: int, key: str | None, value: Value) -> bool:
        if self.items is None or (self.items and indent != self.indent):
            return False
        if not self.items:
            self.reading.values[self.key] = self.items
            self.indent = indent
        self.item = None if key is None else {key: value}
        self.item_indent = indent + dash
        self.items.append(value if self.item is None else self.item)
        return True

    def _take_field(self, indent: int, key: str, value: Value) -> bool:
        if self.item is None or indent != self.item_indent or key in self.item:
            return False
        self.item[key] = value
        return True


# --- everything else, by libyaml ----------------------------------------------------------------------------------

# No tag that a note can name holds a blank.
_IS_PLAIN, _IS_TEXT = " plain", " text"
_CORE_TAGS = frozenset(
    (_IS_PLAIN, *(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")))
)  # fmt: skip
# Before nothing or a comment Obsidian allows it, libyaml does not.
_TAB_INDENT = re.compile(r"^\t[ \t]*(?=[\r\n#])", re.MULTILINE)
_DEPTH = 100
_SPARE_NODES = 10_000
_RECOVERED = 200
_READ_ERRORS = (yaml.YAMLError, ValueError, RecursionError)


class _Loader(_BaseLoader):
    """Leaves scalars as text and says which were plain."""

    def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
        if kind is yaml.ScalarNode:
            return _IS_PLAIN if implicit[0] else _IS_TEXT
        return "tag:yaml.org,2002:map" if kind is yaml.MappingNode else "tag:yaml.org,2002:seq"

    def descend_resolver(self, current_node: Any, current_index: Any) -> None: ...

    def ascend_resolver(self) -> None: ...


class _TooLarge(yaml.YAMLError):
    """Nested too deeply, or aliases that unfold to too much."""

    def __init__(self, line: int) -> None:
        super().__init__("nested too deeply, or aliases unfold to too much")
        self.line = line


class _Handler(BaseHandler):
    """python-frontmatter's reader for one block; its bounds are known, its values and places stay in `reading`."""

    FM_BOUNDARY = _OPENER

    def __init__(self, block: str, start: int) -> None:
        super().__init__()
        self.block = block
        self.start = start
        self.reading = _Reading()

    def split(self, text: str) -> tuple[str, str]:  # noqa: ARG002
        return self.block, ""

    def load(self, fm: str) -> dict[str, Any]:
        _compose_into(self.reading, fm, self.start, 2)
        return self.reading.values


def _read_untidy(text: str, start: int, end: int) -> _Reading:
    handler = _Handler(text[start:end], start)
    try:
        frontmatter.parse("---", handler=handler)
    except _READ_ERRORS as error:
        return _recover(text, start, end, error)
    return handler.reading


@dataclass(slots=True)
class _Composed:
    """A block's nodes, its lines, and how to get characters back that YAML does not take."""

    root: yaml.Node | None
    text: str
    starts: list[int]
    back: dict[int, str]

    def restore(self, text: str) -> str:
        return text.translate(self.back) if self.back else text

    def offset(self, mark: yaml.Mark) -> int:
        return self.starts[mark.line] + mark.column

    def entry_end(self, key: yaml.Node, value: yaml.Node, limit: int) -> int:
        """The line after the entry's last; comments and blank lines up to line `limit` belong to nobody."""
        last = max(key.start_mark.line + 1, _end_line(value) if _follows(key, value) else 0)
        line = limit
        while line > last and _is_bare(self.line(line - 1)):
            line -= 1
        while line > key.start_mark.line + 1 and not self.line(line - 1).strip():
            line -= 1
        return line

    def line(self, number: int) -> str:
        return self.text[self.starts[number] : self.starts[number + 1]]


def _compose(text: str) -> _Composed:
    back: dict[int, str] = {}
    clean = text
    if _ODD.search(text):
        # Obsidian's YAML takes any character; PyYAML does not, or breaks the line there.
        odd = sorted(set(_ODD.findall(text)) - {"\t", "\r"})
        free = (code for code in range(0xF0000, 0xFFFFE) if chr(code) not in text)
        back = dict(zip(free, odd, strict=False))
        clean = text.translate({ord(char): code for code, char in back.items()})
        clean = _TAB_INDENT.sub(lambda found: " " * len(found.group()), clean)
    if _may_nest_deeply(clean):
        _check_depth(clean)
    starts = [0, *(m.end() for m in _LINE_END.finditer(text)), len(text)]
    return _Composed(_Loader(clean).get_single_node(), clean, starts, back)


def _may_nest_deeply(text: str) -> bool:
    return (
        sum(map(text.count, ("[", "{", "- ", "? ", "-\t", "?\t"))) > 2 * _DEPTH or " " * (2 * _DEPTH) in text
    )


def _check_depth(text: str) -> None:
    """Libyaml's composer recurses in C and would crash the process; its events do not."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > _DEPTH:
                raise _TooLarge(event.start_mark.line if event.start_mark else 0)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _compose_into(reading: _Reading, text: str, start: int, first_line: int) -> None:
    """Read a block that starts at offset `start` and, counted from 1, at `first_line`."""
    composed = _compose(text)
    root = composed.root
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        reading.locked = "the frontmatter is no map of keys"
        reading.problems.append(Problem("broken-yaml", first_line + root.start_mark.line, reading.locked))
        return
    if root.flow_style:
        reading.locked = "the frontmatter is one flow map"
    converter = _Converter(composed, reading.problems, first_line, len(text) + _SPARE_NODES)
    limits = [key.start_mark.line for key, _ in root.value[1:]] + [len(composed.starts) - 2]
    for (key, value), limit in zip(root.value, limits, strict=True):
        line = key.start_mark.line
        end = composed.entry_end(key, value, max(limit, line + 1))
        span = Span(start + composed.starts[line], start + composed.starts[end])
        try:
            reading.add(converter.name(key), converter.read(value, 1), span, first_line + line)
        except _TooLarge as error:
            reading.problems.append(Problem("yaml-too-large", first_line + line, str(error)))


@dataclass(slots=True)
class _Converter:
    """Nodes to values, with a budget: without aliases no text holds more nodes than characters."""

    composed: _Composed
    problems: list[Problem]
    first_line: int
    budget: int

    def read(self, node: yaml.Node, depth: int) -> Value:
        self.budget -= 1
        if self.budget < 0 or depth > _DEPTH:
            raise _TooLarge(node.start_mark.line)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self._map(node, depth + 1)
        text = self.composed.restore(node.value)
        return read_scalar(text) if node.tag in _CORE_TAGS else text

    def name(self, node: yaml.Node) -> str:
        """A key's text as it stands there; a list or map as a key is written out."""
        if isinstance(node, yaml.ScalarNode):
            return self.composed.restore(node.value)
        return str(self.read(node, 1))

    def _map(self, node: yaml.MappingNode, depth: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for key, value in node.value:
            name = self.name(key)
            if name in values:
                line = self.first_line + key.start_mark.line
                self.problems.append(
                    Problem("duplicate-key", line, f"{name!r} stands here again; the last one counts")
                )
            values[name] = self.read(value, depth)
        return values


def _follows(earlier: yaml.Node, later: yaml.Node) -> bool:
    """An alias stands for a node that is somewhere above."""
    one, two = earlier.start_mark, later.start_mark
    return (one.line, one.column) <= (two.line, two.column)


def _end_line(node: yaml.Node) -> int:
    """The line after the node's last; libyaml's own mark of a block collection lies behind comments."""
    while isinstance(node, (yaml.SequenceNode, yaml.MappingNode)) and not node.flow_style and node.value:
        last = node.value[-1]
        child = last[1] if isinstance(last, tuple) else last
        if not _follows(node, child):
            return node.start_mark.line + 1
        node = child
    mark = node.end_mark
    return mark.line + (1 if mark.column or not _is_block_scalar(node) else 0)


def _is_block_scalar(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")


def _is_bare(line: str) -> bool:
    text = line.strip()
    return not text or text.startswith("#")


# --- broken blocks, key by key ------------------------------------------------------------------------------------

_KEY_LINE = re.compile(r"[^\s#\"'\[\]{},&*!|>%@`?:-][^:\r\n]*:(?=[ \t\r\n])")
_BELONGS = re.compile(r"[ \t\r\n#]|-[ \t\r\n]")


def _recover(text: str, start: int, end: int, error: Exception) -> _Reading:
    """What still reads: each key with the indented lines and list items below it, on its own."""
    reading = _Reading(locked="the frontmatter's YAML is broken")
    reading.problems.append(_problem_of(error))
    allowance = _RECOVERED
    for first, after, line in _chunks(text, start, end):
        part = _read_tidy(text, first, after)
        if part is None and allowance:
            allowance -= 1
            part = _read_alone(text[first:after], first, line)
        if part is not None:
            reading.problems += part.problems
            for key, value in part.values.items():
                reading.add(key, value, part.keys[key], line)
        else:
            head = _read_tidy(text, first, _LINE_END.search(text, first, after).end())  # type: ignore[union-attr]
            for key, value in head.values.items() if head else ():
                if value is not None:
                    reading.values.setdefault(key, value)
    return reading


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, _TooLarge):
        return Problem("yaml-too-large", 2 + error.line, str(error))
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or "not readable"
    return Problem("broken-yaml", 2 + (mark.line if mark else 0), f"broken YAML: {reason}")


def _chunks(text: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """Start, end and line, counted from 1, of every key with the lines that belong to it."""
    chunks: list[tuple[int, int, int]] = []
    at, inside = start, False
    for number, ending in enumerate(_LINE_END.finditer(text, start, end), 2):
        if _KEY_LINE.match(text, at):
            chunks.append((at, ending.end(), number))
            inside = True
        elif inside and _BELONGS.match(text, at):
            if not _is_bare(text[at : ending.start()]):
                chunks[-1] = (chunks[-1][0], ending.end(), chunks[-1][2])
        else:
            inside = False
        at = ending.end()
    return chunks


def _read_alone(text: str, start: int, line: int) -> _Reading | None:
    reading = _Reading()
    try:
        _compose_into(reading, text, start, line)
    except _READ_ERRORS:
        return None
    return reading if len(reading.keys) == 1 else None


# --- edits --------------------------------------------------------------------------------------------------------

_COLON = re.compile(r"[ \t]*:")
_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")
_DASH = re.compile(r" *-[ \t]+")


def set_key(source: Source, fm: Frontmatter, key: str, value: Value) -> list[Edit]:
    """Edits that give `key` the value, by its own lines only; none when it has it.

    Comments beside the value and between the items of a list stay.  Raises `EditRefused` when the key's lines cannot
    be told, or the value would not read back.
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
    raise EditRefused(f"line {_line(source, fm, key)}: {key!r} would not read back as it is set")


def remove_key(source: Source, fm: Frontmatter, key: str) -> list[Edit]:
    """Edits that take out every entry of `key` whole; none when it is absent."""
    if key not in fm.keys:
        _refuse_if(fm.locked if fm.present else "", 1)
        return []
    _refuse_if("" if fm.locked.endswith("broken") else fm.locked, _line(source, fm, key))
    spans = [fm.keys[key], *(span for name, span in fm.repeats if name == key)]
    edits = [Edit(span, "") for span in spans]
    if _reads_back(source, fm, edits, {k: v for k, v in fm.values.items() if k != key}):
        return edits
    raise EditRefused(
        f"line {_line(source, fm, key)}: {key!r} cannot be taken out without changing other keys"
    )


def append_item(source: Source, fm: Frontmatter, key: str, value: Value) -> list[Edit]:
    """Edits that add an item to a list; a missing key becomes a list, a single value its first item."""
    old = fm.values.get(key)
    if isinstance(old, list):
        items = old
    elif key in {"tags", "aliases"}:
        items = cast("list[Value]", read_list(old))
    else:
        items = [] if old is None else [old]
    return set_key(source, fm, key, [*items, value])


def render_frontmatter(values: Mapping[str, Value]) -> str:
    """A whole block with both fences, its lines ended by LF."""
    lines = [line for key, value in values.items() for line in render_entry(key, _writable(value))]
    return "\n".join(("---", *lines, "---", ""))


def _refuse_if(reason: str, line: int) -> None:
    if reason:
        raise EditRefused(f"line {line}: {reason}", "mend it in an editor first")


def _line(source: Source, fm: Frontmatter, key: str) -> int:
    return 1 + (source.line_of(fm.keys[key].start) if key in fm.keys else fm.lines.end - 1)


def _writable(value: Value, depth: int = 0) -> Value:
    """The value as it can be read back."""
    if depth > _DEPTH // 2:
        raise EditRefused("a value nested too deeply for frontmatter")
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_writable(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {well_formed(key): _writable(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, int) and abs(value) > EXACT:
        raise EditRefused("an integer beyond 2**53 is not read back exactly", "write it as text")
    return value


def _reads_back(source: Source, fm: Frontmatter, edits: list[Edit], expected: dict[str, Value]) -> bool:
    after = find_frontmatter(apply_edits(source, edits))
    known = {"empty-frontmatter", *(problem.code for problem in fm.problems)}
    return same_value(after.values, expected) and known.issuperset(problem.code for problem in after.problems)


def _insertion(source: Source, fm: Frontmatter, key: str, value: Value) -> Edit:
    closer = source.starts[fm.lines.end - 1]
    first = min(fm.keys.values(), default=Span(closer, closer)).start
    indent = re.compile(r" *").match(source.text, first).group()  # type: ignore[union-attr]
    return Edit(
        Span(closer, closer), "".join(f"{line}{source.newline}" for line in render_entry(key, value, indent))
    )


def _ways(source: Source, fm: Frontmatter, key: str, value: Value) -> list[list[Edit]]:
    """Edits to try, from the one that keeps most to the entry replaced whole."""
    span = fm.keys[key]
    text = source.slice(span)
    ending = _LINE_END.search(text)
    newline = ending.group() if ending else source.newline
    indent = text[: len(text) - len(text.lstrip(" "))]
    first, *rest = render_entry(key, value, indent)
    whole = [Edit(span, "".join(f"{line}{newline}" for line in (first, *rest)))]
    try:
        composed = _compose(text)
    except _READ_ERRORS:
        return [whole]
    root = composed.root
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return [whole]
    node, node_value = root.value[0]
    entry = _Entry(composed, text, node, node_value, span.start, newline)
    ways = [entry.set_value(first.removeprefix(f"{indent}{write_scalar(key)}:"), rest), whole]
    old = fm.values.get(key)
    if isinstance(old, list) and isinstance(value, list):
        ways.insert(0, entry.set_items(old, value))
    return [way for way in ways if way]


@dataclass(slots=True)
class _Entry:
    """One key's lines, composed on their own; `start` is their place in the note."""

    composed: _Composed
    text: str
    key: yaml.Node
    value: yaml.Node
    start: int
    newline: str

    def set_value(self, inline: str, rest: list[str]) -> list[Edit]:
        """Put what is rendered behind the key's colon; the key and the comment beside the value stay."""
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
        """Take out and put in whole items of a block list; comments between them stay."""
        places = self._item_lines()
        if len(places) != len(old) or not old or not new:
            return []
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        indent = self.composed.line(places[0].first).partition("-")[0]
        added = "".join(f"{line}{self.newline}" for line in render_items(new[head : len(new) - tail], indent))
        removed = places[head : len(old) - tail]
        starts = self.composed.starts
        if not removed:
            at = starts[places[head - 1].end] if head else starts[places[0].first]
            return [self._edit(at, at, added)]
        texts = (added, *[""] * (len(removed) - 1))
        return [self._edit(starts[p.first], starts[p.end], t) for p, t in zip(removed, texts, strict=True)]

    def _item_lines(self) -> list[Lines]:
        """The lines of each item; none when an item does not begin beside its dash, on a line of its own."""
        if not isinstance(self.value, yaml.SequenceNode) or self.value.flow_style:
            return []
        places: list[Lines] = []
        for item in self.value.value:
            first, end = item.start_mark.line, max(_end_line(item), item.start_mark.line + 1)
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
    """How many items both begin with."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if not same_value(a, b)), min(len(one), len(other)))
