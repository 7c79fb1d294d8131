"""Read and write the data flow in a step's text: find the lines that are flows, and read the list below `creates:`."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.workflow.datum import Line, ReadDatum, read_datum, render_datum
from crucible.documents.workflow.flow_line import Names, has_arrow, read_flow_line, render_flow_line
from crucible.documents.workflow.workflow import Datum, Diagnostic, Flow, Place, Severity


class FlowReading(NamedTuple):
    """The flows of some lines.  `taken` has the numbers of the lines that are only flows."""

    flows: tuple[Flow, ...]
    diagnostics: tuple[Diagnostic, ...]
    taken: frozenset[int]


_NO_NAMES = Names()
_ITEM = late_pattern(r"([ \t]*)(?:[-+*]|[0-9]{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")
_UNDERLINE = late_pattern(r" {0,3}(?:=+|-+)[ \t]*$")
_DESCRIPTION = late_pattern(r"[ \t]*$|([ \t]*:[ \t]|[ \t]+[(–—-])")


def read_flows(lines: Sequence[tuple[int, str]], names: Names = _NO_NAMES, hidden: Container[int] = ()) -> FlowReading:
    """Read the flows of a text block, given as consecutive line numbers (from 1) and lines.

    Lines in `hidden` are skipped.
    """
    reader = _Reader(lines, names, hidden)
    for at in range(len(lines)):
        reader.read(at)
    return FlowReading(tuple(reader.flows), tuple(reader.diagnostics), frozenset(reader.taken))


class _Reader:
    def __init__(self, lines: Sequence[tuple[int, str]], names: Names, hidden: Container[int]) -> None:
        self._lines, self._names, self._hidden = lines, names, hidden
        texts = [line for _, line in lines]
        self._tables, self._underlined = _table_lines(texts), _underlined_lines(texts)
        self._listed: set[int] = set()
        self.flows: list[Flow] = []
        self.diagnostics: list[Diagnostic] = []
        self.taken: set[int] = set()

    def read(self, at: int) -> None:
        """Read the line at this index."""
        number, line = self._lines[at]
        if not has_arrow(line) or number in self._hidden or number in self._listed or at in self._tables:
            return
        start, indent = _text_start(line)
        place = Place(number, start + 1)
        found = read_flow_line(line[start:], place, self._names)
        if at in self._underlined:
            if found.flows:
                self._warn("unread-flow", place, "this is a heading, not a data flow: put a blank line below it")
        elif found.opens:
            self._read_list(at, indent, found.flows, place)
        elif found.flows:
            self.flows += found.flows
            if not found.noted:
                self.taken.add(number)
        elif found.unread:
            message = (
                "a name is one word or in backticks, a target is the name of a step, and each flow has its own line"
            )
            self._warn("unread-flow", place, f"this looks like data flow but is read as prose: {message}")

    def _warn(self, code: str, place: Place, message: str) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, place, message))

    def _read_list(self, at: int, indent: int, flows: tuple[Flow, ...], place: Place) -> None:
        """Read the items at one depth below a `creates:` line; deeper lines belong to them."""
        outputs: list[Datum] = []
        level = -1
        for index in range(at + 1, len(self._lines)):
            number, line = self._lines[index]
            if not line.strip(" \t"):
                continue
            item = _ITEM.match(line)
            width = _width(item[1]) if item else -1
            if number in self._hidden or number in self._listed:
                break
            if item is None and (level < 0 or line[0] not in " \t"):
                break
            if item and (width <= indent or width < level or self._is_flow(number, line, item.end())):
                break
            self._listed.add(number)
            if item and width == (level := width if level < 0 else level):
                self._read_item(number, line, item.end(), outputs)
        if not outputs:
            self._warn("missing-outputs", place, "no list of outputs below this line")
            return
        self.taken.add(self._lines[at][0])
        self.flows += [*flows[:-1], replace(flows[-1], stages=(*flows[-1].stages, tuple(outputs)))]

    def _is_flow(self, number: int, line: str, start: int) -> bool:
        return has_arrow(line) and bool(read_flow_line(line[start:], Place(number, 1), self._names).flows)

    def _read_item(self, number: int, line: str, start: int, outputs: list[Datum]) -> None:
        """Read a datum, optionally followed by prose after a colon, a dash or in parentheses."""
        place = Place(number, start + 1)
        end = len(line.rstrip(" \t"))
        text = line[start : end - 1 if line[end - 1] in ".;," else end]
        read = _leading_datum(Line(text, place))
        rest = _DESCRIPTION.match(text, read.end) if read else None
        if read is None or rest is None:
            message = "this output is ignored: a name must be one word or in backticks"
            self._warn("unread-output", place, message)
            return
        outputs.append(read.datum)
        if not rest[1]:
            self.taken.add(number)


def _leading_datum(line: Line) -> ReadDatum | None:
    """Read `name`, `name::Type`, or `name: description`."""
    read = read_datum(line, 0, len(line.text))
    colon = line.text.find(": ") if read is None else -1
    return read_datum(line, 0, colon) if colon > 0 else read


def _text_start(line: str) -> tuple[int, int]:
    """The offset of a line's text after a list marker, and the marker's indent (-1 if there is no marker)."""
    item = _ITEM.match(line)
    if item:
        return item.end(), _width(item[1])
    return len(line) - len(line.lstrip(" \t")), -1


def _width(indent: str) -> int:
    return len(indent.expandtabs(4))


def _table_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines from a table's delimiter row to the next blank line; the header row is never a flow."""
    found: set[int] = set()
    inside = False
    for at, line in enumerate(lines):
        text = line.strip(" \t")
        inside = bool(text) and (inside or ("|" in text and "-" in text and not text.strip("|:- \t")))
        if inside:
            found.add(at)
    return found


def _underlined_lines(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines of headings underlined with `===` or `---`."""
    found: set[int] = set()
    inside = False
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        inside = bool(line.strip(" \t")) and (inside or _UNDERLINE.match(line) is not None)
        if inside:
            found.add(at)
        inside = inside and _ITEM.match(line) is None
    return found


_IN_A_LINE = 3
"""Maximum outputs to write on one line; more are written as a list."""


def render_flow(flow: Flow, steps: Container[str] = ()) -> list[str]:
    """Render the lines of a flow; many outputs become a list below `creates:`.

    `steps` has the keys of the note's steps: outputs named like a step are written so that they are not read as
    targets.
    """
    many = len(flow.stages) > 1 and len(flow.stages[-1]) > _IN_A_LINE
    if not many or flow.condition is not None or flow.target:
        return [render_flow_line(flow, steps)]
    front = " → ".join(", ".join(map(render_datum, stage)) for stage in flow.stages[:-1])
    return [f"{front} → creates:", *(f"- {render_datum(datum)}" for datum in flow.stages[-1])]
