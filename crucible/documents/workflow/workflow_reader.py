"""Read a note as a workflow: title, steps, flows, markers, and problems with their places.

Never raises or loses a line: lines that cannot be parsed are prose, and are reported if they look like a mistake.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial

from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.line_scan import Block, Kind
from crucible.documents.markdown.source import Lines, Problem, Source
from crucible.documents.markdown.wikilinks import parse_linktext
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.note_entries import read_title
from crucible.documents.workflow.flow_line import Names, has_arrow
from crucible.documents.workflow.flows import FlowReading, read_flows
from crucible.documents.workflow.marker_blocks import is_marker_fence, read_marker_block
from crucible.documents.workflow.workflow import (
    UNPLACED,
    Diagnostic,
    Flow,
    Marker,
    Place,
    Severity,
    Step,
    Workflow,
    key_of,
)
from crucible.documents.workflow.workflow_blocks import StepHeading, WorkflowBlocks, is_prose_heading, read_step_heading

WORKFLOW = "workflow"


def kind_of(value: Value) -> str:
    """The casefolded property `type`.

    Of several values, `workflow` if present, else the first; "" if there is none.
    """
    values = value if isinstance(value, list) else [value]
    kinds = [kind for each in values if isinstance(each, str) and (kind := each.strip().casefold())]
    return WORKFLOW if WORKFLOW in kinds else next(iter(kinds), "")


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection for a block or a decorated function."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@gc_paused()
def read_workflow(source: Source, name: str, form: int | None = None) -> Workflow:
    """Read the workflow `name`.  `form` is the note's `format`, for a source without frontmatter.  Never raises."""
    found = find_frontmatter(source)
    outline = WorkflowBlocks(source, found.lines.end)
    body = _Body(source.lines, outline, found.lines.end, form or format_of(found.values))
    body.read()
    problems = map(_as_diagnostic, found.problems)
    return Workflow(
        title=body.title,
        sessions=_sessions(found),
        preamble="\n".join(body.preamble),
        steps=body.steps(),
        name=name,
        marked=kind_of(found.values.get("type")) == WORKFLOW,
        properties=found.values,
        diagnostics=tuple(sorted((*problems, *outline.diagnostics, *body.diagnostics), key=_by_place)),
        title_place=body.title_place,
    )


def _by_place(diagnostic: Diagnostic) -> Place:
    return diagnostic.place


def _as_diagnostic(problem: Problem) -> Diagnostic:
    return Diagnostic(problem.code, Severity.WARNING, Place(problem.line, 1), problem.message)


def _sessions(found: Frontmatter) -> tuple[str, ...]:
    """The ids of the linked sessions: wikilink targets without folders."""
    value: Value = found.values.get("sessions")
    items = value if isinstance(value, list) else [value]
    return tuple(_session_id(item) for item in items if isinstance(item, str) and item.strip())


def _session_id(text: str) -> str:
    text = text.strip()
    if text.startswith("[[") and text.endswith("]]"):
        return parse_linktext(text[2:-2]).target.rpartition("/")[2]
    return text


@dataclass(slots=True)
class _Section:
    """A heading and the blocks up to the next one."""

    first: int
    end: int
    level: int
    place: Place
    heading: StepHeading
    blocks: list[Block]
    flows: list[Flow] = field(default_factory=list)
    markers: list[Marker] = field(default_factory=list)
    prose: str = ""
    children: list[_Section] = field(default_factory=list)


class _Body:
    """Sort blocks into title, preamble, steps and prose."""

    def __init__(self, lines: Sequence[str], outline: WorkflowBlocks, first: int, form: int) -> None:
        self._lines, self._outline, self._first, self._form = lines, outline, first, form
        self._sections: list[_Section] = []
        self._loose: list[Block] = []
        self.title = ""
        self.title_place = UNPLACED
        self.preamble: list[str] = []
        self.diagnostics: list[Diagnostic] = []

    def read(self) -> None:
        """Read all blocks of the note."""
        blocks = self._outline.blocks
        heads = [at for at, block in enumerate(blocks) if block.kind is Kind.HEADING]
        lead = heads[0] if heads else len(blocks)
        self._add_preamble(self._first, self._first_line(lead), blocks[:lead])
        prose_level = 0
        for head, end in zip(heads, [*heads[1:], len(blocks)], strict=False):
            own = blocks[head + 1 : end]
            if prose_level and blocks[head].level > prose_level:
                self._keep_loose(own)
            elif blocks[head].level == 1 and self.title_place == UNPLACED:
                prose_level = 0
                self._read_title(blocks[head], self._first_line(end), own)
            else:
                prose_level = self._open(blocks[head], self._first_line(end), own)
        self._read_sections()

    def _first_line(self, at: int) -> int:
        blocks = self._outline.blocks
        return blocks[at].first if at < len(blocks) else len(self._lines)

    def _keep_loose(self, blocks: Sequence[Block]) -> None:
        """Keep marker blocks outside steps: their rows name their steps."""
        self._loose += filter(_holds_markers, blocks)

    def _add_preamble(self, first: int, end: int, blocks: Sequence[Block]) -> None:
        self._keep_loose(blocks)
        taken = {at for block in filter(_holds_markers, blocks) for at in range(block.first, block.end)}
        text = _without(self._lines, first, end, taken)
        if text:
            self.preamble += ["", text] if self.preamble else [text]

    def _read_title(self, block: Block, end: int, own: Sequence[Block]) -> None:
        self.title = read_title(block.text, self._form)
        self.title_place = _text_place(self._lines[block.first], block)
        self._add_preamble(block.first + 1, end, own)

    def _open(self, block: Block, end: int, own: list[Block]) -> int:
        """Add a step.  For a prose heading, return its level; everything below this level is prose."""
        heading = read_step_heading(block.text, self._form)
        if is_prose_heading(heading):
            self._keep_loose(own)
            return block.level
        place = _text_place(self._lines[block.first], block)
        self._sections.append(_Section(block.first, end, block.level, place, heading, own))
        if not heading.name:
            self._warn("unnamed-step", place, "this heading does not name the step")
        if heading.left_over:
            message = f"{heading.left_over!r} belongs to the name: the heading has a marker of its kind already"
            self._warn("repeated-marker", place, message)
        return 0

    def _warn(self, code: str, place: Place, message: str) -> None:
        self.diagnostics.append(Diagnostic(code, Severity.WARNING, place, message))

    def _read_sections(self) -> None:
        keys = {key: section for section in reversed(self._sections) if (key := key_of(section.heading.name))}
        names = Names(keys, taken=_Taken(partial(self._taken, Names(keys))))
        for section in self._sections:
            taken: set[int] = set()
            for block in section.blocks:
                if block.kind is Kind.TEXT:
                    self._read_text(section, block, names, taken)
                elif _holds_markers(block) or self._is_dashes(block):
                    taken.update(range(block.first, block.end))
                if _holds_markers(block):
                    section.markers += self._read_markers(block)
            section.prose = _without(self._lines, section.first + 1, section.end, taken)
        for marker in (marker for block in self._loose for marker in self._read_markers(block)):
            if named := keys.get(key_of(marker.phase)):
                named.markers.append(marker)
            else:
                self._warn("marker-without-step", marker.place, f"no step is named {marker.phase!r}")

    def _read_text(self, section: _Section, block: Block, names: Names, taken: set[int]) -> None:
        found = self._flows(block, names._replace(own=key_of(section.heading.name)))
        section.flows += found.flows
        self.diagnostics += found.diagnostics
        taken.update(number - 1 for number in found.taken)

    def _flows(self, block: Block, names: Names) -> FlowReading:
        lines = self._lines[block.first : block.end]
        if not any(map(has_arrow, lines)):
            return _NO_FLOWS
        hidden = self._outline.hidden if self._outline.hides(lines) else ()
        return read_flows(list(enumerate(lines, block.first + 1)), names, hidden)

    def _taken(self, names: Names) -> Iterator[str]:
        """Yield the casefolded names of data that steps take."""
        for section in self._sections:
            texts = (block for block in section.blocks if block.kind is Kind.TEXT)
            flows = tuple(flow for block in texts for flow in self._flows(block, names).flows)
            yield from (datum.name.casefold() for datum in Step("", flows=flows).inputs())

    def _read_markers(self, block: Block) -> tuple[Marker, ...]:
        end = block.end - 1 if block.closed else block.end
        found = read_marker_block(self._lines[block.first + 1 : end], block.first + 2)
        self.diagnostics += found.diagnostics
        return found.markers

    def _is_dashes(self, block: Block) -> bool:
        return block.kind is Kind.RULE and self._lines[block.first].lstrip(" ").startswith("-")

    def steps(self) -> tuple[Step, ...]:
        """The top steps, each with the steps below it."""
        top: list[_Section] = []
        path: list[_Section] = []
        for section in self._sections:
            while path and path[-1].level >= section.level:
                path.pop()
            (path[-1].children if path else top).append(section)
            path.append(section)
        return tuple(self._step(section, f"step-{number}") for number, section in enumerate(top, 1))

    def _step(self, section: _Section, name: str) -> Step:
        heading = section.heading
        return Step(
            heading.name,
            heading.agent,
            heading.channel,
            heading.grade,
            section.prose,
            tuple(section.flows),
            tuple(section.markers),
            tuple(self._step(child, f"{name}.{number}") for number, child in enumerate(section.children, 1)),
            name,
            section.place,
            Lines(section.first, section.end),
            self._body_end(section),
        )

    def _body_end(self, section: _Section) -> int:
        return max((block.end for block in section.blocks if not self._is_dashes(block)), default=section.first + 1)


class _Taken(Container[str]):
    """Names that are searched only on demand, since few notes have an output named like a step."""

    def __init__(self, find: Callable[[], Iterator[str]]) -> None:
        self._find = find

    def __contains__(self, name: object) -> bool:
        return name in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._find())


_NO_FLOWS = FlowReading((), (), frozenset())


def _holds_markers(block: Block) -> bool:
    return block.kind is Kind.FENCE and is_marker_fence(block.text)


def _text_place(line: str, block: Block) -> Place:
    """The place where a heading's text begins, or would begin if it had any."""
    indent = len(line) - len(line.lstrip(" "))
    rest = line[indent + block.level :]
    blanks = len(rest) - len(rest.lstrip(" \t"))
    return Place(block.first + 1, indent + block.level + (blanks if block.text else 0) + 1)


def _without(lines: Sequence[str], first: int, end: int, taken: set[int]) -> str:
    """The lines that are not in `taken`, without outer blank lines; one blank line replaces a gap."""
    kept: list[str] = []
    gap = False
    for at in range(first, end):
        line = lines[at]
        if at in taken:
            gap = True
        elif line.strip(" \t"):
            kept.append(line)
            gap = False
        elif kept and not (gap and not kept[-1].strip(" \t")):
            kept.append(line)
    while kept and not kept[-1].strip(" \t"):
        kept.pop()
    return "\n".join(kept)
