"""Read frontmatter, or the lines of one key, with libyaml: nodes with their positions and values.

Scalars are read as text, without libyaml's types.  Characters that libyaml rejects are replaced, and restored later.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import Problem, Span
from crucible.documents.markdown.yaml_scalars import Value, read_scalar

if TYPE_CHECKING:
    import yaml


_LINE_END = late_pattern(r"\r\n?|\n")
# Tabs, lone CR, other control characters, YAML 1.1 line endings, and characters that YAML rejects.
ODD = late_pattern(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)")


class Reading:
    """The values, key positions and problems of a block while it is read."""

    __slots__ = ("keys", "locked", "problems", "repeats", "values")

    def __init__(self, locked: str = "") -> None:
        self.values: dict[str, Value] = {}
        self.keys: dict[str, Span] = {}
        self.problems: list[Problem] = []
        self.repeats: list[tuple[str, Span]] = []
        self.locked = locked

    def add(self, key: str, value: Value, span: Span, line: int) -> None:
        """Add an entry.  The last of several equal keys is used."""
        if key in self.values:
            self.problems.append(Problem("duplicate-key", line, f"{key!r} is repeated here; the last one wins"))
            if key in self.keys:
                self.repeats.append((key, self.keys[key]))
        self.values[key] = value
        self.keys[key] = span


# The blank keeps these distinct from any tag in a note.
_IS_PLAIN, _IS_TEXT = " plain", " text"
_CORE_TAGS = frozenset(
    (_IS_PLAIN, *(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")))
)  # fmt: skip
# Obsidian allows a tab before a comment or the line ending, libyaml does not.
_TAB_INDENT = late_pattern(r"^\t[ \t]*(?=[\r\n#])", re.MULTILINE)
DEPTH = 100
_SPARE_NODES = 10_000
READ_ERRORS = (ValueError, RecursionError)


class BrokenYaml(ValueError):
    """A libyaml error: the reason, and the line in the block, from 0."""

    def __init__(self, error: yaml.YAMLError) -> None:
        super().__init__(str(error))
        mark = getattr(error, "problem_mark", None)
        self.reason: str = getattr(error, "problem", None) or "not readable"
        self.line: int = mark.line if mark else 0


@cache
def _loader() -> type[yaml.SafeLoader]:
    # Imported late: slow to load, and not needed for a tidy block.
    import yaml  # noqa: PLC0415

    # PyYAML may have been built without libyaml.
    base: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(base):  # type: ignore[misc, valid-type]
        """Keep scalars as text, and tag those that were plain."""

        def resolve(self, kind: type[yaml.Node], value: Any, implicit: Any) -> str:  # noqa: ARG002
            if kind is yaml.ScalarNode:
                return _IS_PLAIN if implicit[0] else _IS_TEXT
            return "tag:yaml.org,2002:map" if kind is yaml.MappingNode else "tag:yaml.org,2002:seq"

        def descend_resolver(self, current_node: Any, current_index: Any) -> None: ...

        def ascend_resolver(self) -> None: ...

    return Loader


def is_map(node: yaml.Node | None) -> TypeGuard[yaml.MappingNode]:
    """True if a node is a map.  Checks the node's kind, since importing its class is slow."""
    return getattr(node, "id", "") == "mapping"


def is_list(node: yaml.Node | None) -> TypeGuard[yaml.SequenceNode]:
    """True if a node is a list."""
    return getattr(node, "id", "") == "sequence"


def _is_scalar(node: yaml.Node) -> TypeGuard[yaml.ScalarNode]:
    return getattr(node, "id", "") == "scalar"


class TooLarge(ValueError):
    """The block is nested too deeply, or its aliases expand to too many nodes."""

    def __init__(self, line: int) -> None:
        super().__init__("nested too deeply, or aliases expand to too much")
        self.line = line


class _Handler:
    """A python-frontmatter handler for one block with known bounds.  The result is in `reading`."""

    def __init__(self, block: str, start: int) -> None:
        self.block = block
        self.start = start
        self.reading = Reading()

    def split(self, text: str) -> tuple[str, str]:  # noqa: ARG002
        return self.block, ""

    def load(self, fm: str) -> dict[str, Any]:
        compose_into(self.reading, fm, self.start, 2)
        return self.reading.values


def read_composed(block: str, start: int) -> Reading:
    """Read the block that starts at offset `start`.  Raises one of `READ_ERRORS` if it is broken."""
    import frontmatter  # noqa: PLC0415  slow to load, and not needed for a tidy block

    handler = _Handler(block, start)
    frontmatter.parse("---", handler=cast("Any", handler))
    return handler.reading


class Composed(NamedTuple):
    """A block's nodes, its line offsets, and a map to restore the characters that YAML rejects."""

    root: yaml.Node | None
    text: str
    starts: list[int]
    back: dict[int, str]

    def restore(self, text: str) -> str:
        """The text of a node as written in the note."""
        return text.translate(self.back) if self.back else text

    def offset(self, mark: yaml.Mark) -> int:
        """The offset of a libyaml mark in the block's text."""
        return self.starts[mark.line] + mark.column

    def entry_end(self, key: yaml.Node, value: yaml.Node, limit: int) -> int:
        """The line after an entry's last line.

        Comments and blank lines up to line `limit` do not belong to any entry.
        """
        last = max(key.start_mark.line + 1, end_line(value) if _follows(key, value) else 0)
        line = limit
        while line > last and is_blank_or_comment(self.line(line - 1)):
            line -= 1
        while line > key.start_mark.line + 1 and not self.line(line - 1).strip():
            line -= 1
        return line

    def line(self, number: int) -> str:
        """A line (counted from 0) with its line ending."""
        return self.text[self.starts[number] : self.starts[number + 1]]


def compose(text: str) -> Composed:
    """Parse a block or one entry.  Raises one of `READ_ERRORS` if it is not YAML."""
    back: dict[int, str] = {}
    clean = text
    if ODD.search(text):
        # Obsidian's YAML accepts any character.  PyYAML rejects these, or treats them as line endings.
        odd = sorted(set(ODD.findall(text)) - {"\t", "\r"})
        free = (code for code in range(0xF0000, 0xFFFFE) if chr(code) not in text)
        back = dict(zip(free, odd, strict=False))
        clean = text.translate({ord(char): code for code, char in back.items()})
        clean = _TAB_INDENT.sub(lambda found: " " * len(found.group()), clean)
    starts = [0, *(m.end() for m in _LINE_END.finditer(text)), len(text)]
    return Composed(_node(clean), clean, starts, back)


def _node(text: str) -> yaml.Node | None:
    import yaml  # noqa: PLC0415  slow, and a tidy block is read without it

    try:
        if _may_nest_deeply(text):
            _check_depth(text)
        node: yaml.Node | None = _loader()(text).get_single_node()
    except yaml.YAMLError as error:
        raise BrokenYaml(error) from error
    return node


def _may_nest_deeply(text: str) -> bool:
    return sum(map(text.count, ("[", "{", "- ", "? ", "-\t", "?\t"))) > 2 * DEPTH or " " * (2 * DEPTH) in text


def _check_depth(text: str) -> None:
    """Check the depth with libyaml's events, since its composer recurses in C and would crash the process."""
    import yaml  # noqa: PLC0415  slow, and a tidy block is read without it

    depth = 0
    for event in yaml.parse(text, Loader=_loader()):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEPTH:
                raise TooLarge(event.start_mark.line if event.start_mark else 0)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def compose_into(reading: Reading, text: str, start: int, first_line: int) -> None:
    """Read a block that starts at offset `start`, on line `first_line` (from 1)."""
    composed = compose(text)
    root = composed.root
    if root is None:
        return
    if not is_map(root):
        reading.locked = "the frontmatter is not a map of keys"
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
        except TooLarge as error:
            reading.problems.append(Problem("yaml-too-large", first_line + line, str(error)))


class _Converter:
    """Convert nodes to values within a budget: without aliases, a text cannot have more nodes than characters."""

    def __init__(self, composed: Composed, problems: list[Problem], first_line: int, budget: int) -> None:
        self.composed = composed
        self.problems = problems
        self.first_line = first_line
        self.budget = budget

    def read(self, node: yaml.Node, depth: int) -> Value:
        self.budget -= 1
        if self.budget < 0 or depth > DEPTH:
            raise TooLarge(node.start_mark.line)
        if is_list(node):
            return [self.read(item, depth + 1) for item in node.value]
        if is_map(node):
            return self._map(node, depth + 1)
        text = self.composed.restore(node.value)
        return read_scalar(text) if node.tag in _CORE_TAGS else text

    def name(self, node: yaml.Node) -> str:
        """The text of a key as written.  A key that is a list or map is converted to text."""
        if _is_scalar(node):
            return self.composed.restore(node.value)
        return str(self.read(node, 1))

    def _map(self, node: yaml.MappingNode, depth: int) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for key, value in node.value:
            name = self.name(key)
            if name in values:
                line = self.first_line + key.start_mark.line
                self.problems.append(Problem("duplicate-key", line, f"{name!r} is repeated here; the last one wins"))
            values[name] = self.read(value, depth)
        return values


def _follows(earlier: yaml.Node, later: yaml.Node) -> bool:
    """True unless `later` is an alias, whose node precedes `earlier`."""
    one, two = earlier.start_mark, later.start_mark
    return (one.line, one.column) <= (two.line, two.column)


def end_line(node: yaml.Node) -> int:
    """The line after a node's last line.  For a block collection, libyaml's own end mark is after the comments."""
    while (is_list(node) or is_map(node)) and not node.flow_style and node.value:
        last = node.value[-1]
        child = last[1] if isinstance(last, tuple) else last
        if not _follows(node, child):
            return node.start_mark.line + 1
        node = child
    mark = node.end_mark
    return mark.line + (1 if mark.column or not _is_block_scalar(node) else 0)


def _is_block_scalar(node: yaml.Node) -> bool:
    return _is_scalar(node) and node.style in ("|", ">")


def is_blank_or_comment(line: str) -> bool:
    """True if a line is blank or has only a comment."""
    text = line.strip()
    return not text or text.startswith("#")
