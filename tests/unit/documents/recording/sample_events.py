"""Sample events, written by hand or drawn by hypothesis, and the sessions that they are folded into."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Choice,
    Compacted,
    ContextSeen,
    ContinuedIn,
    Event,
    Faulted,
    Injected,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    Resumed,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
    UsageCounted,
)
from crucible.documents.recording.session_draft import Draft, SessionContext, session_of
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.findings import FindingDetector
from crucible.documents.session.session import Decision, Failure, FindingItem, Grounds, Session
from samples.hostile_texts import hostile_line, hostile_text

BEGIN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)
LATER = datetime(2026, 2, 1, tzinfo=UTC)
_lines = itertools.count(1)


def at(seconds: float = 0, line: int = 0, row: str | None = None) -> At:
    """A place; every call is a row of its own, in order."""
    number = line or next(_lines)
    return At(number, f"{number:08x}-row" if row is None else row, BEGIN + timedelta(seconds=seconds))


def record(*events: Event, agent: str = "", **options: str) -> Draft:
    recorder = Recorder("claude-code", agent=agent, **options)  # type: ignore[arg-type]
    for event in events:
        recorder.add(event)
    return recorder.draft()


def setting(**options: object) -> SessionContext:
    return SessionContext(**{"id": "s", "source": "claude-code:native", "now": LATER, **options})  # type: ignore[arg-type]


def session(*events: Event, **options: object) -> Session:
    return session_of(record(*events), setting(**options))


_tasks = st.sampled_from(["1", "2", "3"])
_calls = st.sampled_from(["c1", "c2", "c3", "c4"])
_tools = st.sampled_from(["Bash", "Edit", "Other"])
_states = st.sampled_from(["pending", "in_progress", "completed", "cancelled"])


def _any_event() -> st.SearchStrategy[Event]:
    text, line = hostile_text(), hostile_line()
    ends = st.sampled_from(CallEnd)
    label = hostile_line()
    choice = st.builds(
        Choice,
        text,
        st.just("") | text,
        st.lists(st.tuples(label, label), max_size=2).map(tuple),
        st.just(()),
    )
    state = st.builds(TaskState, _tasks, line, _states, st.sampled_from(["", "high"]))
    here = st.just(At(1))
    return st.one_of(
        st.builds(Prompted, here, text, st.sampled_from(list(PromptKind)[:5]), st.integers(0, 2)),
        st.builds(Replied, here, text, st.just(""), st.sampled_from(["", "m-1", "m-2"])),
        st.builds(ToolUsed, here, _calls, _tools, st.fixed_dictionaries({"command": line})),
        st.builds(ToolReturned, here, _calls, text, ends, st.just("") | text),
        st.builds(QuestionsAnswered, here, _calls, st.lists(choice, max_size=2).map(tuple)),
        st.builds(PlanSettled, here, _calls, text, st.sampled_from([True, False, None])),
        st.builds(SubagentStarted, here, st.sampled_from(["a1", "a2"]), line, text, line),
        st.builds(SubagentReturned, here, st.sampled_from(["a1", "a2"]), st.just(""), text, ends),
        st.builds(TasksListed, here, st.lists(state, max_size=3, unique_by=lambda s: s.id).map(tuple)),
        st.builds(
            TaskChanged,
            here,
            _tasks,
            st.none() | line,
            st.none() | _states | st.sampled_from(["deleted", "cancelled"]),
        ),
        st.builds(
            UsageCounted,
            here,
            st.sampled_from(["u1", "u2", "u3"]),
            st.sampled_from(["m", "m-2"]) | line,
            *[st.integers(1, 99)] * 5,
        ),
        st.builds(Answered, here),
        st.builds(Interrupted, here, st.booleans()),
        st.builds(Compacted, here, line, st.none() | st.integers(0, 9999), text),
        st.builds(Rewound, here, st.none() | st.integers(0, 3), line),
        st.builds(Faulted, here, text),
        st.builds(Reasoned, here, text),
        st.builds(Injected, here, text),
        st.builds(ContextSeen, here, st.just("s"), line, line, st.sampled_from(["1", "2"])),
        st.builds(ContinuedIn, here, line),
        st.builds(Resumed, here, st.just("s"), st.just("") | line, st.integers(0, 9)),
    )


_EVENT = _any_event()


@st.composite
def event_lists(draw: st.DrawFn, least: int = 1, most: int = 14) -> Sequence[Event]:
    """Events that make no sense together, each in a row of its own."""
    count = draw(st.integers(least, most))
    found: list[Event] = []
    for line in range(1, count + 1):
        place = At(line, f"{line:08x}", BEGIN + timedelta(seconds=7 * line))
        found.append(replace(draw(_EVENT), at=place))
    return found


def fold(events: Iterable[Event], synced: str = "", *, judge: FindingDetector | None = None) -> Recorder:
    recorder = Recorder("claude-code", synced=synced, judge=judge)
    for event in events:
        recorder.add(event)
    return recorder


class Scribe:
    """A judge that is easily moved: items come, change and go with nearly every event, and it tells callouts of its own."""

    def __init__(self) -> None:
        self._last: FindingItem | None = None
        self._asked: list[FindingItem] = []

    def add(self, event: Event) -> Sequence[Decision | Failure]:
        told = Grounds("reply", 0.5, (event.at.row[:8],))
        match event:
            case Prompted():
                self._asked.append(FindingItem("correction", event.text, "asked", told))
                return [Decision(event.text, by="user", grounds=told)]
            case Replied():
                row = self._last.grounds.rows if self._last and self._last.grounds else told.rows
                self._last = FindingItem("outcome", event.text, None, Grounds("closing text", 0.9, row))
            case Rewound() | Interrupted():
                self._asked, self._last = self._asked[1:], None
            case Injected() | ToolReturned(end=CallEnd.FAILED):
                return [Failure("It failed", event.text, "of itself", told)]
            case _:
                pass
        return []

    def noted(self) -> tuple[FindingItem, ...]:
        return (*self._asked, *([self._last] if self._last else ()))
