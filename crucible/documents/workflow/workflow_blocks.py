r"""Find the blocks of a workflow note, and read and write the headings of its steps.

A missing closing fence of a marker block is restored, since it would hide all later steps.  A backslash in a heading
escapes a last word that looks like a marker (`Ship it \!`) and a name that would be prose (`\Summary`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, normal_line, slug, uncontain_line
from crucible.documents.markdown.containment_inline import TAG
from crucible.documents.markdown.hidden_ranges import scan
from crucible.documents.markdown.line_scan import Block, Kind, without_blanks
from crucible.documents.markdown.outline import find_blocks
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.marker_blocks import is_marker_fence, may_belong
from crucible.documents.workflow.workflow import Diagnostic, Grade, Place, Severity


class _Missing(NamedTuple):
    """A missing closing fence that belongs before line `at`."""

    at: int
    fence: str


class WorkflowBlocks:
    """The blocks of a note from line `first` on, with positions in the note, and their problems.  Never raises."""

    def __init__(self, source: Source, first: int) -> None:
        self._first, self._repaired = first, source
        outline = find_blocks(source, first)
        missing = list(_missing_closers(source.lines, outline.blocks))
        self._added = [one.at + before for before, one in enumerate(missing)]
        if missing:
            self._repaired = Source("\n".join(_with_closers(source.lines, missing)))
            outline = find_blocks(self._repaired, first)
        self.blocks = [self._in_note(block, source.lines) for block in outline.blocks]
        self.diagnostics = [
            *(_complaint(source.lines, one) for one in missing),
            *(Diagnostic(one.code, Severity.WARNING, self._place(one), one.message) for one in outline.problems),
        ]

    def hides(self, lines: Sequence[str]) -> bool:
        """True if these lines may hide something.  Paired single backticks never hide text on other lines."""
        return self._far or any(
            any(mark in line for mark in _HIDING) or ("`" in line and line.count("`") % 2 == 1) for line in lines
        )

    @cached_property
    def _far(self) -> bool:
        return "%%" in self._repaired.text or "$$" in self._repaired.text

    @cached_property
    def hidden(self) -> frozenset[int]:
        """The numbers, from 1, of lines hidden by code blocks, comments, HTML, math or multi-line code spans."""
        source, found = self._repaired, set[int]()
        for one in scan(source.text, source.starts[self._first]).hidden:
            first = source.line_of(one.span.start)
            last = source.line_of(max(one.span.start, one.span.end - 1))
            if one.kind != "code" or first != last:
                found.update(self._line(at) + 1 for at in range(first, last + 1))
        return frozenset(found)

    def _line(self, at: int) -> int:
        """The line in the note for a line of the repaired text."""
        return at - bisect_left(self._added, at)

    def _place(self, problem: Problem) -> Place:
        """The place of a problem: the mark that opens a comment, or the start of the line."""
        at = problem.line - 1
        line = self._repaired.lines[at] if at < len(self._repaired.lines) else ""
        mark = line.rfind("%%") if problem.code == "unclosed-comment" else -1
        return Place(self._line(at) + 1, (mark if mark >= 0 else len(line) - len(line.lstrip(" \t"))) + 1)

    def _in_note(self, block: Block, lines: Sequence[str]) -> Block:
        if not self._added:
            return block
        first, end = self._line(block.first), self._line(block.end)
        if end - first == block.end - block.first:
            return replace(block, first=first, end=end)
        return replace(block, first=first, end=without_blanks(lines, first, end), closed=False)


_HIDING = ("<", "``", "\\`", "~~~", "    ", "\t")
_FENCE = late_pattern(r" {0,3}(`{3,}|~{3,})[ \t]*(.*)$")
_BELOW_A_REMARK = late_pattern(r"[ \t]+[^ \t]|# |(?:`{3,}|~{3,})[ \t]*$")
_HEADING = late_pattern(r"#{1,6}(?:[ \t]|$)")


def _missing_closers(lines: Sequence[str], blocks: Sequence[Block]) -> Iterator[_Missing]:
    """Yield the missing closing fences, from the first marker block that extends too far."""
    broken = (
        block.first
        for block in blocks
        if block.kind is Kind.FENCE and is_marker_fence(block.text) and _takes_too_much(lines, block)
    )
    at = next(broken, len(lines))
    while at < len(lines):
        opener = _opener(lines[at])
        at += 1
        if opener is None:
            continue
        fence, info = opener
        end = _fence_end(lines, at, fence, marked=is_marker_fence(info))
        if is_marker_fence(info) and not (end < len(lines) and _closes(lines[end], fence)):
            at = _rows_end(lines, at, end)
            yield _Missing(at, fence)
        else:
            at = end + 1


def _takes_too_much(lines: Sequence[str], block: Block) -> bool:
    return not block.closed or any(_cannot_belong(lines, at) for at in range(block.first + 1, block.end - 1))


def _cannot_belong(lines: Sequence[str], at: int) -> bool:
    """True if a line cannot be in a marker block; `# text` directly above a row or the end of the block is a remark."""
    line = lines[at]
    if _HEADING.match(line):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        return line[1:2] == "#" or not _BELOW_A_REMARK.match(below)
    return line[:1] in {"`", "~"} and _opener(line) is not None


def _opener(line: str) -> tuple[str, str] | None:
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):
        return None
    return found[1], found[2]


def _closes(line: str, fence: str) -> bool:
    found = _FENCE.match(line)
    return found is not None and found[1].startswith(fence) and not found[2].strip(" \t")


def _fence_end(lines: Sequence[str], at: int, fence: str, *, marked: bool) -> int:
    """The line that closes the fence or, if `marked`, cannot be in a marker block; the number of lines if none."""
    while at < len(lines) and not _closes(lines[at], fence) and not (marked and _cannot_belong(lines, at)):
        at += 1
    return at


def _rows_end(lines: Sequence[str], at: int, end: int) -> int:
    """The line after the last possible row.  The header may be any text."""
    last = at
    for line_at in range(at, end):
        line = lines[line_at]
        if line_at > at and not may_belong(line):
            break
        if line.strip(" \t"):
            last = line_at + 1
    return last


def _with_closers(lines: Sequence[str], missing: Sequence[_Missing]) -> list[str]:
    parts: list[str] = []
    at = 0
    for one in missing:
        parts += [*lines[at : one.at], one.fence]
        at = one.at
    return [*parts, *lines[at:]]


def _complaint(lines: Sequence[str], one: _Missing) -> Diagnostic:
    """The diagnostic for a missing fence, at the place where the fence belongs."""
    inside = one.at < len(lines)
    place = Place(one.at + 1, 1) if inside else Place(len(lines), len(lines[-1]) + 1)
    message = f"broken marker block: the closing {one.fence} is missing"
    return Diagnostic("unclosed-block", Severity.ERROR, place, message)


class StepHeading(NamedTuple):
    """A parsed heading.

    `marked` is true if it has an agent, a channel, `!` or `?`; `prosaic` if its name makes the section prose.
    `left_over` is a second marker of the same kind, which became part of the name; "" if there is none.
    """

    name: str
    agent: AgentRef | None = None
    channel: str | None = None
    grade: Grade = Grade.PLAIN
    marked: bool = False
    prosaic: bool = False
    left_over: str = ""


_AGENT = late_pattern(r"@([\w.:/+-]+)(?:@([\w.:/+-]+))?$")
_CHANNEL = late_pattern(r"#(?!\d+$)([\w.:/+-]+)$")
_GRADES = {"!": Grade.CRITICAL, "?": Grade.OPTIONAL}
_MARKS = {grade: mark for mark, grade in _GRADES.items()}
_ACTING = (late_pattern(r"\\*(?:[@#]|[!?]$)"), late_pattern(rf"\\*(?:@|#(?!{TAG})|[!?]$)"))
_BLANKS = " \t"


def read_step_heading(text: str, form: int = FORMAT) -> StepHeading:
    """Parse a heading without its hashes: a name, then at most one `@agent[@version]`, `#channel`, and `!` or `?`."""
    agent: AgentRef | None = None
    channel: str | None = None
    grade = Grade.PLAIN
    left_over = ""
    rest = text.strip(_BLANKS)
    while rest:
        word = _last_word(rest)
        if (found := _AGENT.match(word)) and agent is None:
            agent = AgentRef(found[1], found[2])
        elif (channel_found := _CHANNEL.match(word)) and channel is None:
            channel = channel_found[1]
        elif word in _GRADES and grade is Grade.PLAIN:
            grade = _GRADES[word]
        else:
            left_over = word if found or channel_found or word in _GRADES else ""
            break
        rest = rest[: len(rest) - len(word)].rstrip(_BLANKS)
    marked = bool(agent or channel or grade is not Grade.PLAIN)
    return StepHeading(_read_name(rest, form), agent, channel, grade, marked, _is_prosaic(rest), left_over)


def _last_word(text: str) -> str:
    """The text after the last blank."""
    at = max(text.rfind(" "), text.rfind("\t"))
    return text[at + 1 :]


def is_prose_heading(heading: StepHeading) -> bool:
    """True if the heading and everything below it is prose: `Summary`, `Notes`, `Workflow …`, without any marker."""
    return heading.prosaic and not heading.marked


def _is_prosaic(text: str) -> bool:
    folded = text.casefold()
    return folded in {"summary", "notes", "workflow"} or folded.startswith(("workflow ", "workflow\t"))


def _read_name(text: str, form: int) -> str:
    word = _last_word(text)
    if word[:1] == "\\" and _ACTING[form - 1].match(word):
        text = f"{text[: len(text) - len(word)]}{word[1:]}"
    if text[:1] == "\\" and _is_prosaic(text.lstrip("\\")):
        text = text[1:]
    return uncontain_line(text, form=form)


def render_step_heading(
    level: int,
    name: str,
    agent: AgentRef | None = None,
    channel: str | None = None,
    grade: Grade = Grade.PLAIN,
) -> str:
    """Render `## Name @agent@version #channel !`; an empty name becomes `Untitled`."""
    text = contain_line(normal_line(name)) or "Untitled"
    if _is_prosaic(text.lstrip("\\")):
        text = f"\\{text}"
    word = _last_word(text)
    if _ACTING[FORMAT - 1].match(word):
        text = f"{text[: len(text) - len(word)]}\\{word}"
    parts = ["#" * level, text]
    if agent and (agent_name := slug(agent.name, "agent")):
        version = slug(agent.version, "version") if agent.version else ""
        parts.append(f"@{agent_name}@{version}" if version else f"@{agent_name}")
    if channel and (channel_name := slug(channel, "channel")):
        parts.append(f"#{channel_name}")
    if grade is not Grade.PLAIN:
        parts.append(_MARKS[grade])
    return " ".join(parts)
