"""Build the lines of a review's record from a session's events, for any client.

They contain the user's messages and decisions, the agent's prose except short announcements, failed commands with their
fixes, commits, edited files, subagents' reports, and the final state.  Other calls and outputs are omitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from crucible.analysis.findings.observed_calls import (
    ObservedCall,
    base_name,
    checks_in,
    is_red,
    keys_of,
    read_call,
    red_in,
    red_lines,
)
from crucible.analysis.findings.outcomes import commits_in, requests_in
from crucible.analysis.review.review_record import (
    SAID,
    RecordLine,
    Tag,
    body_of,
    change,
    described,
    gist,
    outline,
    tidy,
)
from crucible.clients.events import (
    CallEnd,
    Compacted,
    ContextSeen,
    Event,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    ToolReturned,
    ToolUsed,
)
from crucible.core.patterns import ANSI
from crucible.documents.session.findings import cut_at_sentence, is_introduction

_LONG = 60
"""Maximum code points in an announcement, which carries little information."""
_SHORT = 160
"""Maximum code points in a prompt that counts as a reply to the text before it."""


@dataclass(frozen=True, slots=True)
class ReviewEvent:
    """An event with the id of its row, and the id of its phase in the note."""

    event: Event
    row: str
    phase: str = ""


def lines_of(events: Iterable[ReviewEvent]) -> list[RecordLine]:
    """Return the lines in the order of the events, without subagents' events."""
    reader = _Reader()
    for placed in events:
        if not placed.event.at.agent:
            reader.add(placed)
    return reader.ended()


_PROMPT = (1200, 1000, 700, 500, 350, 200)
_WORDS = (1200, 800, 500, 300, 160)
_PLAN_SIZES = (2400, 1500, 900, 500, 250)
_CLOSING = (2600, 1800, 1200, 800, 500, 300, 160)
_ANALYSIS = (2000, 1400, 900, 550, 320, 180)
_LAST = (2600, 2000, 1400, 1000, 700, 450)
_TEXT = (700, 450, 280, 150, 80, 0)
_AFTER_FAIL = (800, 500, 320, 200, 100, 0)
_THOUGHT = (600, 380, 240, 140, 0)
_RED = (560, 400, 260, 160)
_RED_AGAIN = (420, 260, 160, 0)
_REPORT = (1400, 900, 550, 300, 140, 0)


@dataclass(slots=True)
class _Red:
    """A command that failed and has not passed since."""

    runs: int = 0
    is_fixed: bool = False
    """True once files have changed since the failure."""
    files: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Turn:
    """The current turn so far: the agent's texts, and the rows of edits by file."""

    texts: list[RecordLine] = field(default_factory=list)
    edited: dict[str, list[str]] = field(default_factory=dict)


class _Reader:
    """Collects the lines of one session."""

    def __init__(self) -> None:
        self.lines: list[RecordLine] = []
        self._turn, self._number = _Turn(), 0
        self._row = self._phase = ""
        self._roots: tuple[str, ...] = ()
        self._calls: dict[str, tuple[ToolUsed, ObservedCall]] = {}
        self._titles: dict[str, str] = {}
        self._red: dict[str, _Red] = {}
        self._runs, self._reds = Counter[str](), Counter[str]()
        self._after_red = False
        self._thought: tuple[str, str] | None = None
        self._prompts: dict[str, int] = {}
        """The turn of each long prompt, by the end of its text, to mark repetitions."""
        self._uncommitted: dict[str, str] = {}
        self._tasks: dict[str, tuple[str, str]] = {}
        self._plan_is_open = False
        self._closing: list[RecordLine] = []
        self._last = ("", "nothing")

    def add(self, placed: ReviewEvent) -> None:  # noqa: C901, PLR0912 -- one case per event
        """Read the next event."""
        self._row, self._phase = placed.row, placed.phase
        match placed.event:
            case ContextSeen(cwd=str(cwd)) if cwd and cwd not in self._roots:
                self._roots = (*self._roots, cwd)[-20:]
            case Prompted() as event:
                self._prompted(event)
            case Replied() as event:
                self._replied(event.text)
            case Reasoned(text=text):
                self._thought = (text, placed.row)
            case ToolUsed() as event:
                self._used(event)
            case ToolReturned() as event:
                self._returned(event)
            case QuestionsAnswered() as event:
                self._answered(event)
            case PlanSettled() as event:
                self._settled(event)
            case SubagentStarted(call=call, title=title, task=task):
                self._titles[call] = title or cut_at_sentence(task, 80)
            case SubagentReturned() as event:
                self._reported(event)
            case Interrupted():
                self._add(Tag.INTERRUPTED, "by the user", 88, (40,))
            case Rewound(text=text):
                self._add(Tag.REWOUND, f"the user took back {text or 'the last prompt'}", 70, (80,))
            case Compacted():
                self._add(Tag.COMPACTED, "context compacted", 45, (40, 0))
            case TasksListed(tasks=tasks):
                self._tasks = {task.id: (task.content, task.status) for task in tasks[:200]}
            case TaskChanged() as event:
                content, status = self._tasks.get(event.id, ("", "pending"))
                self._tasks[event.id] = (event.content or content, event.status or status)

    def _add(self, tag: Tag, text: str, worth: int, caps: Sequence[int], *rows: str) -> RecordLine:
        """Add a line for the row of the current event and for `rows`."""
        return self._line(tag, text, worth, caps, (self._row, *rows))

    def _line(self, tag: Tag, text: str, worth: int, caps: Sequence[int], rows: Iterable[str]) -> RecordLine:
        shown = ANSI.sub("", text)
        for root in self._roots:
            shown = shown.replace(f"{root}/", "")
        line = RecordLine(
            tag,
            shown,
            tuple(dict.fromkeys(filter(None, rows))),
            worth,
            caps,
            self._number,
            self._phase,
        )
        self.lines.append(line)
        return line

    # --- the user ---

    def _prompted(self, event: Prompted) -> None:
        text = event.text.strip() or ("(a picture)" if event.images else "")
        match event.kind:
            case PromptKind.STEERING:
                self._add(Tag.STEERING, tidy(text, 8), 94, _WORDS)
            case PromptKind.COMMAND:
                self._add(Tag.COMMAND, text, 55, (300, 120, 0))
            case PromptKind.SHELL:
                self._add(Tag.SHELL, text, 45, (160, 0))
            case PromptKind.TYPED | PromptKind.PLAN if text:
                self._begin()
                is_plan = event.kind is PromptKind.PLAN
                first = self._prompts.setdefault(text[-200:], self._number) if len(text) > _LONG else self._number
                mark = "" if first == self._number else f"(says again what turn {first} said) "
                line = self._add(Tag.PROMPT, mark + tidy(text, 8), 95, (300, 160) if is_plan else _PROMPT)
                line.settles = self._number > 1
                if is_plan:
                    self._add(Tag.PLAN, outline(text), 86, _PLAN_SIZES)
                if len(text) <= _SHORT and self._closing:
                    self._closing[-1].worth = max(self._closing[-1].worth, 84)
        self._last = (self._row, "a prompt without an answer")

    def _begin(self) -> None:
        """End the current turn and begin the next one."""
        self._end_turn()
        self._number += 1
        self._turn, self._after_red, self._thought = _Turn(), False, None

    def _answered(self, event: QuestionsAnswered) -> None:
        for choice in event.choices:
            if choice.answer:
                options = "; ".join(label for label, _ in choice.options)
                text = f"{cut_at_sentence(choice.question, 300)} (options: {options}) -> ANSWER: {cut_at_sentence(choice.answer, 400)}"
                self._add(Tag.ANSWER, text, 97, (900, 600, 400))

    def _settled(self, event: PlanSettled) -> None:
        self._plan_is_open = event.approved is False
        tags = {True: Tag.APPROVED, False: Tag.PROPOSED, None: Tag.LEFT}
        plan = outline(event.text)
        if event.approved is None:
            plan = f"not answered, often because the user continued in a new session; the plan: {plan}"
        self._add(tags[event.approved], plan, 88, _PLAN_SIZES)

    # --- the agent's texts ---

    def _replied(self, reply: str) -> None:
        text = tidy(reply, 3)
        if not text:
            return
        if self._after_red:
            line = self._add(Tag.AFTER_FAIL, text, 70, _AFTER_FAIL)
        else:
            is_first, is_lead = not self._turn.texts, is_introduction(text) and len(text) < 2 * _LONG
            caps = _TEXT if len(text) > _LONG and not is_lead else (0,)
            line = self._add(Tag.TEXT, text, 58 if is_first else 34, caps)
        self._after_red, self._thought = False, None
        self._turn.texts.append(line)
        self._last = (self._row, "the agent's text")

    def _end_turn(self) -> None:
        """Mark the turn's last text as closing text, and the longest too if the last is short.

        Add the edited files.
        """
        turn = self._turn
        if turn.texts:
            last = turn.texts[-1]
            longest = max(turn.texts, key=lambda line: len(line.text))
            last.tag, last.worth = Tag.CLOSING, 82 if turn.edited else 66
            last.caps = _CLOSING if turn.edited else _ANALYSIS
            if len(last.text) < 250 and longest is not last and len(longest.text) > 300:
                longest.tag, longest.worth, longest.caps = Tag.CLOSING, max(longest.worth, 70), _TEXT[:4]
            self._closing.append(last)
        if turn.edited:
            files = (path + (f" x{len(rows)}" if len(rows) > 1 else "") for path, rows in turn.edited.items())
            rows = (row for edits in turn.edited.values() for row in edits)
            line = self._line(Tag.EDITED, ", ".join(files), 60, (500, 300, 160), rows)
            line.edits = turn.edited

    # --- the agent's calls ---

    def _used(self, event: ToolUsed) -> None:
        call = read_call(self._row, event.name, event.arguments, self._roots)
        self._calls[event.call] = (event, call)
        if self._after_red and self._thought:  # only the reasoning names the cause
            text, row = self._thought
            self._add(Tag.AFTER_FAIL, tidy(text, 3), 62, _THOUGHT, row)
            self._after_red = False
        if call.files and not call.is_shell and self._turn.texts:
            before = self._turn.texts[-1]
            if before.tag is Tag.TEXT and len(before.text) > _LONG:  # the approach
                before.worth = max(before.worth, 56)
        self._last = (self._row, f"a call of {event.name} without a result")

    def _returned(self, event: ToolReturned) -> None:
        used, call = self._calls.pop(event.call, (None, None))
        if used is None or call is None:
            return
        self._last = (self._row, f"the result of {used.name}")
        if event.end is CallEnd.REJECTED:
            words = f"{SAID}{event.feedback.strip()}" if event.feedback.strip() else "without words"
            self._add(Tag.REFUSED, f"{described(used, call, self._roots)} -- {words}", 97, _WORDS, call.row)
        elif event.end in (CallEnd.OK, CallEnd.FAILED):
            if call.is_shell:
                self._ran(call, event)
            if call.files and event.end is CallEnd.OK:
                self._edited(used, call)

    def _edited(self, used: ToolUsed, call: ObservedCall) -> None:
        for path in call.files:
            name = next((path.removeprefix(f"{root}/") for root in self._roots if path.startswith(f"{root}/")), path)
            self._turn.edited.setdefault(name, []).append(self._row)
            self._uncommitted[name] = self._row
            for red in self._red.values():
                red.files[base_name(path)] = None
        due = [red for red in self._red.values() if not red.is_fixed]
        for red in due:
            red.is_fixed = True
        if due:
            edit = f"{', '.join(map(base_name, call.files[:3]))}: {change(used)}"
            self._add(Tag.FIX, edit, 52, (420, 220, 120, 0), call.row)

    def _ran(self, call: ObservedCall, event: ToolReturned) -> None:
        for key in keys_of(call):
            self._runs[key] += 1
        if event.end is CallEnd.FAILED or (is_red(event.text) and checks_in(call)):
            self._failed(call, event)
            return
        for key in keys_of(call):
            red = self._red.pop(key, None)
            if red and red.files:
                self._add(Tag.PASSES, f"{key}, after edits to {', '.join(red.files)}", 61, (200, 100), call.row)
        for place, name, subject in commits_in(event.text) if "git " in call.script else ():
            self._add(
                Tag.COMMIT,
                f"{name[:9]} on {place}: {subject}{body_of(call.script)}",
                87,
                (700, 300, 140),
                call.row,
            )
            self._uncommitted = {}
        for address in requests_in(call.script, event.text):
            self._add(Tag.REQUEST, address, 85, (160,), call.row)

    def _failed(self, call: ObservedCall, event: ToolReturned) -> None:
        key = red_in(call, event.text)[0] or call.script.partition("\n")[0][:60]
        red = self._red.setdefault(key, _Red())
        red.runs += 1
        red.is_fixed = False
        self._reds[key] += 1
        more = f" (#{red.runs} of this command)" if red.runs > 1 else ""
        text = f"`{cut_at_sentence(call.script, 170)}` -> {' / '.join(red_lines(event.text, 3))}{more}"
        self._add(Tag.FAIL, text, 74 if red.runs == 1 else 62, _RED if red.runs == 1 else _RED_AGAIN, call.row)
        self._after_red, self._thought = True, None

    def _reported(self, event: SubagentReturned) -> None:
        if event.text.strip():
            title = self._titles.get(event.call, "")
            self._add(Tag.SUBAGENT, f"{title}: {gist(event.text)}", 58, _REPORT)
        self._last = (self._row, "a subagent's report")

    # --- the final state ---

    def ended(self) -> list[RecordLine]:
        """Return all lines.  The last one is the final state."""
        last = self._last
        self._end_turn()
        if self._closing:
            closing = self._closing[-1]
            closing.worth, closing.caps = 93, _LAST
        rows = (last[0], *(self._closing[-1].rows if self._closing else ()), *self._uncommitted.values())
        if self.lines:
            self._line(Tag.END, "; ".join(self._state(last[1])), 99, (1000, 700, 500), rows)
        return self.lines

    def _state(self, last: str) -> Iterable[str]:
        yield f"the session ends with {last}"
        if self._uncommitted:
            yield f"edited and not seen committed: {cut_at_sentence(', '.join(self._uncommitted), 300)}"
        if self._plan_is_open:
            yield "the last plan was not settled"
        open_tasks = [content for content, status in self._tasks.values() if content and status not in _DONE]
        if open_tasks:
            yield f"tasks not done: {cut_at_sentence('; '.join(open_tasks), 300)}"
        often = [
            f"`{key}` {count}x" + (f" ({self._reds[key]} red)" if self._reds[key] else "")
            for key, count in self._runs.most_common(8)
            if count > 1
        ]
        if often:
            yield f"commands run: {', '.join(often)}"


_DONE = frozenset({"completed", "deleted", "cancelled", "done"})
