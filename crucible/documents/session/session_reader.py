"""Read a note's text as a `Session`: phases, entries, tasks, summary, and problems with their lines.

Never raises or loses text: lines that cannot be parsed are prose, and are reported if they look like a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import uncontain
from crucible.documents.markdown.containment_inline import FIELDS
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.line_scan import SEPARATOR, Block, Kind, read_callout, scan_lines
from crucible.documents.markdown.outline import find_blocks, parse_blocks, text_problems
from crucible.documents.markdown.source import NOWHERE, Lines, Problem, Source
from crucible.documents.session.findings_block import FINDINGS, read_findings
from crucible.documents.session.note_entries import CALLOUT_KINDS, read_calls, read_entry, read_heading, read_title
from crucible.documents.session.note_section import Section
from crucible.documents.session.properties import FieldReader, add_bookkeeping, parse_time, read_fields
from crucible.documents.session.session import (
    NOTHING_ABOVE,
    Above,
    AgentRef,
    Entry,
    FindingItem,
    Prose,
    Session,
    Task,
    ToolCalls,
)
from crucible.documents.session.task_block import read_tasks
from crucible.documents.session.task_list import begins_list, is_tasks_heading, read_task_list


class Body:
    """Read the blocks of a note in one pass.

    Consecutive blocks without a special meaning form one prose entry; `run` is its first line, or -1.
    """

    def __init__(self, lines: Sequence[str], form: int, flat: bool = False) -> None:
        self.lines = lines
        self.form = form  # the `format` of the note
        self.flat = flat  # no sections or tasks: the body of an inline subagent
        self.above = 0  # the number of phases that the note has above these lines
        self.problems: list[Problem] = []
        self.title = ""
        self.title_lines = self.tasks_lines = self.findings_lines = self.summary_lines = NOWHERE
        self.bookkeeping_lines = NOWHERE
        self.tasks: tuple[Task, ...] = ()
        self.findings: tuple[FindingItem, ...] = ()
        self.summary: str | None = None
        self.preamble = self.section = Section("", -1)
        self.preamble_end = len(lines)
        self.phases: list[Section] = []
        self.run = self.run_end = -1
        self.rule: Block | None = None
        self.tasks_heading: Block | None = None
        self.summary_from = -1

    def read(self, blocks: Sequence[Block]) -> None:
        """Process all blocks; the result is in the attributes."""
        after_tools: Block | None = None
        for block in blocks:
            kind = block.kind
            if not (kind is Kind.TEXT and begins_list(self.lines[block.first])):
                self._end_tasks_heading()
            if self.rule and kind is not Kind.COMMENT and not (kind is Kind.HEADING and self._is_section(block)):
                self._extend_run(self.rule.first, self.rule.end)
                self.rule = None
            if after_tools and kind is not Kind.LIST:
                self._extend_run(after_tools.first, after_tools.end)
            if kind is Kind.TOOLS:
                after_tools = block
                continue
            self._read_block(block, after_tools)
            after_tools = None
        if after_tools:
            self._extend_run(after_tools.first, after_tools.end)
        self._end_tasks_heading()
        is_last = blocks and blocks[-1].first == self.bookkeeping_lines.first
        self._end_section(self.bookkeeping_lines.first if is_last else len(self.lines))

    def _read_block(self, block: Block, tools: Block | None) -> None:
        kind = block.kind
        if kind is Kind.HEADING and self._is_section(block):
            self._open_section(block)
            return
        if kind is Kind.COMMENT and not self.flat:
            self._read_comment(block)
            return
        if self.summary_from >= 0:
            self._extend_run(block.first, block.end)
        elif kind is Kind.TEXT:
            self._read_text(block)
        elif kind is Kind.QUOTE:
            self._read_quote(block)
        elif kind is Kind.LIST and tools:
            self._read_tool_list(tools, block)
        elif kind is Kind.RULE:
            self.rule = block  # ignored if a section follows, else prose
        elif kind is Kind.FENCE and self._may_hold_tasks() and block.text.partition(" ")[0] == "tasks":
            self._read_tasks(block)
        elif kind is Kind.HEADING and self._may_hold_tasks() and is_tasks_heading(block.level, block.text):
            self.tasks_heading = block
        else:
            self._extend_run(block.first, block.end)
        self.section.fresh = False

    def _read_comment(self, block: Block) -> None:
        """Remember the bookkeeping, which is no text of the note even if a user wrote below it."""
        if self.bookkeeping_lines is not NOWHERE:
            message = "a second comment of Crucible; only the last one counts"
            self.problems.append(Problem("second-bookkeeping", block.first + 1, message))
        self._flush()
        self.bookkeeping_lines = Lines(block.first, block.end)

    def _may_hold_tasks(self) -> bool:
        return self.section is self.preamble and not self.flat

    # sections

    def _is_section(self, block: Block) -> bool:
        """True if a heading opens a section here; otherwise it is text."""
        if self.flat:
            return False
        if block.level == 2:
            return True
        if block.level == 3:
            return bool(self.phases) and self.summary_from < 0
        in_preamble = self.section is self.preamble and self.summary_from < 0
        return block.level == 1 and self.title_lines is NOWHERE and in_preamble

    def _open_section(self, block: Block) -> None:
        if block.level == 1:
            self._flush()
            self.title = read_title(block.text, self.form)
            self.title_lines = Lines(block.first, block.end)
            return
        self._end_section(block.first)
        name, agent, channel = read_heading(block.text, self.form)
        if block.level == 3:
            parent = self.phases[-1]
            section = Section(f"{parent.id}.{len(parent.subs) + 1}", block.first)
            parent.subs.append(section)
        else:
            if self._is_summary(name, agent, channel, block):
                self.summary_from = block.first
                self.summary_lines = Lines(block.first, block.end)
                return
            section = Section(f"phase-{self.above + len(self.phases) + 1}", block.first)
            self.phases.append(section)
        section.name, section.agent, section.channel = name or "Untitled", agent, channel
        self.section = section

    def _is_summary(self, name: str, agent: AgentRef | None, channel: str | None, block: Block) -> bool:
        """True for `## Summary` without markers or fields; with them, it is a phase."""
        if name.casefold() != "summary" or agent or channel:
            return False
        below = next((line for line in self.lines[block.end :] if line.strip(" \t")), "")
        if FIELD.match(below):
            return False
        if self.summary is not None:
            self.problems.append(Problem("second-summary", block.first + 1, "a second summary; read as a phase"))
            return False
        return True

    def _end_section(self, line: int) -> None:
        """Close the open section or summary; the next one begins on `line`."""
        self._flush()
        self.rule = None
        if self.summary_from >= 0:
            self._end_summary(line)
            return
        if self.section is self.preamble:
            self.preamble_end = line
            return
        self.section.end = line
        if self.phases:
            self.phases[-1].end = line

    def _end_summary(self, line: int) -> None:
        ours = range(*self.bookkeeping_lines)
        text = "\n".join(self.lines[at] for at in range(self.summary_lines.end, line) if at not in ours).strip("\n")
        self.summary = uncontain(_without_rule(text), form=self.form)
        self.summary_lines = Lines(self.summary_from, line)
        self.summary_from = -1

    # prose

    def _extend_run(self, first: int, end: int) -> None:
        if self.run < 0:
            self.run = first
        self.run_end = end
        self.section.fresh = False

    def _flush(self) -> None:
        """Add the pending prose as an entry."""
        if self.run < 0:
            return
        first, end = self.run, self.run_end
        self.run = -1
        if self.summary_from >= 0:
            return
        self._close_entry(end)
        if self.lines[first] == SEPARATOR and self.section.entries:
            first += 1
        while first < end and not self.lines[first].strip(" \t"):
            first += 1
        text = "\n".join(self.lines[first:end]).strip("\n")
        if text:
            self.section.entries.append(Prose(uncontain(text, form=self.form), Lines(first, end)))

    def _close_entry(self, end: int) -> None:
        self.section.body_end = end

    def _read_text(self, block: Block) -> None:
        first = block.first
        if self.tasks_heading:
            first = self._read_task_list(self.tasks_heading, block)
        elif self.section.fresh and self.section is not self.preamble:
            first = self._read_phase_fields(block)
        if first < block.end:
            self._extend_run(first, block.end)

    def _read_phase_fields(self, block: Block) -> int:
        """Read the fields (`key:: value`) at the start; return the first line that is not a field."""
        fields = self.section.fields
        at = block.first
        while at < block.end and (found := FIELD.match(self.lines[at])) and found[1] not in fields:
            fields[found[1]] = self._field_value(found[1], found[2].strip(" \t"), at)
            at += 1
        self._close_entry(max(at, self.section.body_end))
        return at

    def _field_value(self, key: str, text: str, at: int) -> datetime | int | None:
        if key == "tokens":
            if text.isascii() and text.isdigit() and len(text) < 19:
                return int(text)
            self.problems.append(Problem("bad-field", at + 1, f"tokens:: {text[:60]!r} is not a whole number"))
            return None
        time = parse_time(text)
        if time is None:
            self.problems.append(Problem("bad-field", at + 1, f"{key}:: {text[:60]!r} is not a time"))
        return time

    # entries

    def _read_quote(self, block: Block) -> None:
        raw = read_callout(self.lines[block.first : block.end])
        if raw and raw.kind == FINDINGS and self._holds_findings(block):
            self._flush()
            self.findings_lines = Lines(block.first, block.end)
            self.findings = read_findings(raw, block.first, self.form)
            return
        entry = None
        if raw and raw.kind in CALLOUT_KINDS:
            entry = read_entry(raw, Lines(block.first, block.end), self.form, _read_entries)
        if entry is None:
            self._extend_run(block.first, block.end)
            return
        self._flush()
        self.section.entries.append(entry)
        self._close_entry(block.end)

    def _holds_findings(self, block: Block) -> bool:
        if self.section is not self.preamble or self.flat:
            return False
        if self.findings_lines is NOWHERE:
            return True
        self.problems.append(Problem("second-findings", block.first + 1, "a second findings block; kept as text"))
        return False

    def _read_tool_list(self, tools: Block, block: Block) -> None:
        calls, taken = read_calls(self.lines[block.first : block.end], block.first, self.form)
        end = block.first + taken
        if end < block.end and _CODE_ITEM.match(self.lines[end]):
            message = "no arrow follows the call; this item and those below are kept as text"
            self.problems.append(Problem("broken-call", end + 1, message))
        if not calls:
            self._extend_run(tools.first, block.end)
            return
        self._flush()
        self.section.entries.append(ToolCalls(tuple(calls), Lines(tools.first, end)))
        self._close_entry(end)
        if end < block.end:
            self._extend_run(end, block.end)

    # tasks

    def _end_tasks_heading(self) -> None:
        """Take the heading of a task list as text if no list follows it."""
        if self.tasks_heading:
            self._extend_run(self.tasks_heading.first, self.tasks_heading.end)
            self.tasks_heading = None

    def _is_second_list(self, block: Block) -> bool:
        if self.tasks_lines is NOWHERE:
            self._flush()
            return False
        self.problems.append(Problem("second-tasks", block.first + 1, "a second task list; kept as text"))
        self._extend_run(block.first, block.end)
        return True

    def _read_task_list(self, heading: Block, block: Block) -> int:
        """Read the list below its heading; returns the first line that is not part of it."""
        self.tasks_heading = None
        if self._is_second_list(heading):
            return block.first
        found = read_task_list(self.lines, block.first, block.end, self.form)
        self.tasks_lines = Lines(heading.first, found.end)
        self.tasks = tuple(item.task for item in found.items)
        self.problems.extend(found.problems)
        return found.end

    def _read_tasks(self, block: Block) -> None:
        if self._is_second_list(block):
            return
        self.tasks_lines = Lines(block.first, block.end)
        end = block.end - 1 if block.closed else block.end
        self.tasks, problems = read_tasks("\n".join(self.lines[block.first + 1 : end]), block.first + 1)
        self.problems.extend(problems)


FIELD = late_pattern(rf"({'|'.join(FIELDS)})::(.*)$", re.DOTALL)
"""An inline field of a phase: its key and its value."""

_CODE_ITEM = late_pattern(r"[-*+][ \t]+`")
_RULE_BELOW = late_pattern(r"\n[ \t]*\n(?:-{3,})[ \t\n]*$")


def _without_rule(text: str) -> str:
    return _RULE_BELOW.sub("", text)


def _read_entries(lines: Sequence[str], form: int) -> tuple[Entry, ...]:
    """Read the entries of an inline subagent: a phase's body without headings.  Positions are dropped."""
    blocks = scan_lines(lines)
    body = Body(lines, form, flat=True)
    body.read(parse_blocks(lines) if blocks is None else blocks)
    return tuple(_placeless(entry) for entry in body.preamble.entries)


def _placeless(entry: Entry) -> Entry:
    if isinstance(entry, ToolCalls):
        return ToolCalls(tuple(replace(call, lines=NOWHERE) for call in entry.calls))
    return replace(entry, lines=NOWHERE)


def read_session(source: Source, name: str, form: int | None = None, above: Above = NOTHING_ABOVE) -> Session:
    """Read a session note.  `name` is the file's name without `.md`.

    `form` is the note's `format`; pass it if `source` is a part of the note without the frontmatter.  `above` says what
    the first phases held, if `source` lacks them.
    """
    found = find_frontmatter(source)
    reader = FieldReader(source, found)
    fields = read_fields(reader, name, found.present)
    outline = find_blocks(source, found.lines.end)
    fields["format"] = form or fields["format"]
    body = Body(source.lines, fields["format"])
    body.above = above.phases
    body.read(outline.blocks)
    problems = [*reader.problems, *outline.problems, *body.problems, *text_problems(source)]
    if body.bookkeeping_lines is not NOWHERE:
        problems += add_bookkeeping(fields, source, body.bookkeeping_lines)
    return Session(
        **fields,
        title=body.title,
        preamble=tuple(body.preamble.entries),
        tasks=body.tasks,
        findings=body.findings,
        phases=tuple(section.phase() for section in body.phases),
        summary=body.summary,
        above=above,
        problems=tuple(sorted(problems, key=_by_line)),
        title_lines=body.title_lines,
        preamble_lines=Lines(found.lines.end, body.preamble_end),
        tasks_lines=body.tasks_lines,
        findings_lines=body.findings_lines,
        summary_lines=body.summary_lines,
        bookkeeping_lines=body.bookkeeping_lines,
    )


def _by_line(problem: Problem) -> int:
    return problem.line
