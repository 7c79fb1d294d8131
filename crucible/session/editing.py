"""Intentions to Edits: each touches the lines it is about and no other.

Every function takes the exact source and the session read from it, and gives a list of Edits for `apply_edits`.  New
lines get the note's own line end.  An edit that could not show when read back (below a human's unclosed fence) is
refused, with the line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime

from crucible.errors import EditRefused
from crucible.note.frontmatter import find_frontmatter, remove_key, set_key
from crucible.note.outline import SEPARATOR
from crucible.note.source import NOWHERE, Edit, Source, Span
from crucible.session.fields import format_time
from crucible.session.markup import render_call, render_entry, render_phase, separates
from crucible.session.model import Entry, Phase, Session, Task, ToolCall, ToolCalls, Value
from crucible.session.tasks import render_task, render_tasks

__all__ = [
    "add_entry",
    "add_phase",
    "add_subphase",
    "find_phase",
    "set_call",
    "set_field",
    "set_phase_field",
    "set_tasks",
]

_OPEN_ENDS = frozenset({"unclosed-fence", "unclosed-html", "too-large"})


def find_phase(session: Session, phase_id: str) -> Phase:
    """The phase or sub-phase of that id; raises `EditRefused` when there is none."""
    for phase in session.all_phases():
        if phase.id == phase_id:
            return phase
    raise EditRefused(f"{session.id} has no {phase_id}", f"it has {len(session.phases)} phases")


# `session` is not needed here; every edit begins with the same two arguments.
def set_field(source: Source, session: Session, key: str, value: Value) -> list[Edit]:  # noqa: ARG001
    """Set one frontmatter key; None removes it.  An equal value is no edit."""
    found = find_frontmatter(source)
    return remove_key(source, found, key) if value is None else set_key(source, found, key, value)


# --- where new lines go ----------------------------------------------------------------------------------------------


def _insert(source: Source, session: Session, line: int, lines: Sequence[str]) -> list[Edit]:
    """New lines before `line`, parted by blank lines from what stands above and below."""
    if not lines:
        return []
    at = source.starts[min(line, len(source.starts) - 1)]
    if at >= len(source.text):
        _refuse_open_end(session)
    newline = source.newline
    above = source.text[:at]
    lead = "" if not above or _ends_blank(above) else newline if above[-1] in "\r\n" else newline * 2
    follows = line < len(source.lines) and source.lines[line].strip(" \t")
    text = lead + newline.join(lines) + newline + (newline if follows else "")
    return [Edit(Span(at, at), text)]


_BLANK_END = re.compile(r"(?:\A|\r(?!\n)|\n)[ \t]*(?:\r\n|\r|\n)\Z")


def _ends_blank(text: str) -> bool:
    """Whether the last line of the text, which ends in a line end, is blank."""
    return bool(_BLANK_END.search(text, max(0, len(text) - 200)))


def _refuse_open_end(session: Session) -> None:
    for problem in session.problems:
        if problem.code in _OPEN_ENDS:
            raise EditRefused(
                f"{session.id}:{problem.line}: {problem.message}; what is added below it would not show",
                "close it in the note and try again",
            )


# --- phases and entries ----------------------------------------------------------------------------------------------


def add_phase(source: Source, session: Session, phase: Phase) -> list[Edit]:
    """A new last phase, before `## Summary` when there is one."""
    lines = render_phase(phase)
    if session.summary_lines is not NOWHERE and session.summary_lines.first >= _last_line(session):
        return _insert(source, session, session.summary_lines.first, [*lines, "", "---"])
    if session.phases and not _ends_in_rule(source):
        lines = ["---", "", *lines]
    return _insert(source, session, len(source.lines), lines)


def _last_line(session: Session) -> int:
    return session.phases[-1].lines.first if session.phases else 0


def _ends_in_rule(source: Source) -> bool:
    last = next((line for line in reversed(source.lines) if line.strip(" \t")), "")
    return last.rstrip(" \t") == "---"


def add_subphase(source: Source, session: Session, phase_id: str, sub: Phase) -> list[Edit]:
    """A new last sub-phase of a phase."""
    phase = find_phase(session, phase_id)
    last = phase.subphases[-1] if phase.subphases else phase
    return _insert(source, session, last.body_end, render_phase(sub, 3))


def add_entry(source: Source, session: Session, entry: Entry, phase_id: str) -> list[Edit]:
    """A new last entry of a phase or sub-phase; a call after calls joins their list."""
    phase = find_phase(session, phase_id)
    before = phase.entries[-1] if phase.entries else None
    lines = render_entry(entry)
    if isinstance(before, ToolCalls):
        if isinstance(entry, ToolCalls):
            return _join_calls(source, session, before, entry)
        if separates(lines):
            lines = [SEPARATOR, "", *lines]
    return _insert(source, session, phase.body_end, lines)


def _join_calls(source: Source, session: Session, before: ToolCalls, entry: ToolCalls) -> list[Edit]:
    at = source.starts[min(before.lines.end, len(source.starts) - 1)]
    if at >= len(source.text):
        _refuse_open_end(session)
    newline = source.newline
    lead = "" if source.text[at - 1] in "\r\n" else newline
    text = lead + newline.join(render_call(call) for call in entry.calls) + newline
    return [Edit(Span(at, at), text)] if entry.calls else []


def set_call(source: Source, session: Session, call: ToolCall, new: ToolCall) -> list[Edit]:  # noqa: ARG001
    """Write a call anew, when its result is known."""
    if call.lines is NOWHERE:
        raise EditRefused(f"{call.call!r} stands in no note")
    return _replace_line(source, call.lines.first, call.lines.end, render_call(new))


def _replace_line(source: Source, first: int, end: int, text: str) -> list[Edit]:
    """Other text for lines `first` to `end`, the last line end kept."""
    start, last = source.starts[first], source.starts[end - 1]
    span = Span(start, last + len(source.lines[end - 1]))
    return [] if source.slice(span) == text else [Edit(span, text)]


# --- a phase's fields ------------------------------------------------------------------------------------------------

_FIELD = re.compile(r"(started|ended|tokens)::")
_ORDER = ("started", "ended", "tokens")


def set_phase_field(
    source: Source, session: Session, phase_id: str, key: str, value: datetime | int
) -> list[Edit]:
    """Set `started`, `ended` (aware times) or `tokens` (a count) under a phase's heading."""
    text = f"{key}:: {value if isinstance(value, int) else format_time(value)}"
    phase = find_phase(session, phase_id)
    fields = _field_lines(source, phase)
    if key in fields:
        return _replace_line(source, fields[key], fields[key] + 1, text)
    earlier = [line for name, line in fields.items() if _ORDER.index(name) < _ORDER.index(key)]
    if not fields:
        return _insert(source, session, phase.lines.first + 1, [text])
    return _insert_line(source, max(earlier) + 1 if earlier else min(fields.values()), text)


def _insert_line(source: Source, line: int, text: str) -> list[Edit]:
    at = source.starts[min(line, len(source.starts) - 1)]
    newline = source.newline
    if source.text[at - 1] in "\r\n":
        return [Edit(Span(at, at), text + newline)]
    return [Edit(Span(at, at), newline + text)]


def _field_lines(source: Source, phase: Phase) -> dict[str, int]:
    """The line of each field that stands under the heading."""
    found: dict[str, int] = {}
    at = phase.lines.first + 1
    while at < phase.lines.end and not source.lines[at].strip(" \t"):
        at += 1
    while at < phase.lines.end and (key := _FIELD.match(source.lines[at])) and key[1] not in found:
        found[key[1]] = at
        at += 1
    return found


# --- tasks -----------------------------------------------------------------------------------------------------------


def set_tasks(source: Source, session: Session, tasks: Sequence[Task]) -> list[Edit]:
    """Make the tasks block hold `tasks`; a task that did not change keeps its line."""
    if tuple(tasks) == session.tasks:
        return []
    block = session.tasks_lines
    if block is NOWHERE:
        return _insert(source, session, _preamble_end(source, session), render_tasks(tasks))
    if any(p.code == "unclosed-fence" and p.line == block.first + 1 for p in session.problems):
        _refuse_open_end(session)
    if any(problem.code == "broken-tasks" for problem in session.problems):
        raise EditRefused(
            f"{session.id}:{block.first + 1}: the tasks block is broken", "mend its JSON and try again"
        )
    own = _task_lines(source, session)
    if not own or len(tasks) < len(own) or any(t.id != o for t, o in zip(tasks, own, strict=False)):
        return _rewrite_tasks(source, session, tasks)
    return _change_tasks(source, session, tasks, list(own.values()))


def _preamble_end(source: Source, session: Session) -> int:
    """The line after the last line of the preamble that is not blank."""
    at = session.preamble_lines.end
    while at > session.preamble_lines.first and not source.lines[at - 1].strip(" \t"):
        at -= 1
    return at


def _task_lines(source: Source, session: Session) -> dict[str, int] | None:
    """The line of each task when the block holds one a line, as we write it; else None."""
    block = session.tasks_lines
    found: dict[str, int] = {}
    for line in range(block.first + 1, block.end - 1):
        text = source.lines[line].strip(" \t").removesuffix(",")
        if text in ("", "[", "]"):
            continue
        try:
            item = json.loads(text)
        except ValueError:
            return None
        if not isinstance(item, dict) or "id" not in item:
            return None
        found[str(item["id"])] = line
    return found if len(found) == len(session.tasks) else None


def _change_tasks(
    source: Source, session: Session, tasks: Sequence[Task], lines: Sequence[int]
) -> list[Edit]:
    edits: list[Edit] = []
    added = tasks[len(lines) :]
    newline = source.newline
    for at, line in enumerate(lines):
        text = f"  {render_task(tasks[at])}" if tasks[at] != session.tasks[at] else source.lines[line]
        bare = text.rstrip(" \t").removesuffix(",")
        comma = at + 1 < len(tasks)
        if at + 1 == len(lines) and added:
            more = [f"  {render_task(task)}" for task in added]
            text = newline.join([f"{bare},", *[f"{item}," for item in more[:-1]], more[-1]])
        elif tasks[at] != session.tasks[at]:
            text = f"{bare}," if comma else bare
        edits += _replace_line(source, line, line + 1, text)
    return edits


def _rewrite_tasks(source: Source, session: Session, tasks: Sequence[Task]) -> list[Edit]:
    """The block's lines between its fences anew."""
    block = session.tasks_lines
    inner = render_tasks(tasks)[1:-1]
    span = Span(source.starts[block.first + 1], source.starts[block.end - 1])
    return [Edit(span, source.newline.join(inner) + source.newline)]
