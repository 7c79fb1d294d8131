"""What spans the events of a session: turns that are not finished, and subagents' tasks and results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from crucible.clients.events import (
    Answered,
    CallEnd,
    ContinuedIn,
    Event,
    Faulted,
    Interrupted,
    Prompted,
    Replied,
    Resumed,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    ToolUsed,
)
from crucible.clients.log_files import SubagentFile
from crucible.documents.session.import_properties import PARENT_ROW

_BEGINS = Prompted | Resumed | Replied | ToolUsed
_ENDS = Answered | Interrupted | Faulted | Rewound | ContinuedIn


class WholeTurns:
    """Drops the events of an unfinished last turn. After all events are read, `cut` is True if any were dropped.

    The events of one row stay together: the next import begins after the last row in the note.
    """

    def __init__(self) -> None:
        self.cut = False
        self.held: list[Event] = []

    def until_last_end(self, events: Iterable[Event], held: Iterable[Event] = ()) -> Iterator[Event]:
        """Yield the events up to the end of the last finished turn; each turn is held in memory until its end.

        `held` are the events of the turn in which they begin.
        """
        self.held = held = list(held)
        is_open = any(isinstance(event, _BEGINS) for event in held)
        for event in events:
            if not is_open and held and held[-1].at.row != event.at.row:
                yield from held
                held.clear()
            held.append(event)
            is_open = not _is_end(event) and (is_open or isinstance(event, _BEGINS))
            if not is_open and held[0].at.row != event.at.row:
                begin = next(at for at, one in enumerate(held) if one.at.row == event.at.row)
                yield from held[:begin]
                del held[:begin]
        self.cut = is_open
        if not is_open:
            yield from held
            held.clear()


def _is_end(event: Event) -> bool:
    """True if the trunk's own turn ends here; old versions of Claude Code log subagents' rows within the turn."""
    return not event.at.agent and (isinstance(event, _ENDS) or (isinstance(event, Replied) and event.final))


class SubagentResults:
    """Subagents' tasks and results in one native session's logs. Sets each result's `at.agent` to its subagent's id."""

    def __init__(self, files: Sequence[SubagentFile]) -> None:
        self._agents = {file.call: file.agent for file in files if file.call}
        self._tasks: dict[str, SubagentStarted] = {}
        self._results: defaultdict[str, list[SubagentReturned]] = defaultdict(list)
        self._unnamed: dict[str, SubagentReturned] = {}

    def with_files(self, files: Sequence[SubagentFile]) -> SubagentResults:
        """Take these files for those of the session."""
        self._agents = {file.call: file.agent for file in files if file.call}
        return self

    def events(self) -> Iterator[Event]:
        """Yield all tasks and results."""
        yield from self._tasks.values()
        yield from chain.from_iterable(self._results.values())
        yield from self._unnamed.values()

    def add_task(self, event: SubagentStarted) -> None:
        """Add a task, or add the subagent's id to a known task."""
        first = self._tasks.setdefault(event.call, event)
        if event.agent and not first.agent:
            self._tasks[event.call] = replace(first, agent=event.agent)

    def add_result(self, event: SubagentReturned) -> SubagentReturned | None:
        """Add a result and assign it to its subagent; None while the subagent is unknown."""
        task = self._tasks.get(event.call)
        agent = event.agent or self._agents.get(event.call, "") or (task.agent if task else "")
        if not agent:
            self._unnamed[event.call] = event
            return None
        result = _assigned(event, agent)
        if result not in self._results[agent]:  # a parent's transcript may be read twice
            self._results[agent].append(result)
        return result

    def assign(self, call: str, agent: str) -> SubagentReturned | None:
        """Assign a call to a subagent; returns the call's result, None if there is none."""
        event = self._unnamed.pop(call, None)
        return _assigned(event, agent) if event else None

    def task_of(self, result: SubagentReturned) -> SubagentStarted | None:
        """Return the task of a subagent that left a report but no log; None if the result is not a report."""
        is_report = result.end is CallEnd.OK and result.text.strip()
        return self._tasks.get(result.call) if is_report else None

    def merge(self, agent: str, events: Iterable[Event], mark: str) -> Iterator[Event]:
        """Merge a subagent's results into its events: each before the subagent's next task, or at the end.

        `mark` is the note's `synced_to`. A result already in the note keeps its place, so that the rows after it count
        as new.
        """
        pending = list(self._results.get(agent, ()))
        own, heard, _ = mark.partition(PARENT_ROW)
        line, row = 1, ""
        for event in events:
            is_later = isinstance(event, Prompted) and event.at.agent == agent
            is_known = bool(heard) and row.startswith(own) and not event.at.row.startswith(own or "-")
            while pending and (is_known or (is_later and _is_before(pending[0], event))):
                yield _at_line(pending.pop(0), line)
                is_known = False
            yield event
            line, row = event.at.line, event.at.row
        yield from (_at_line(result, line) for result in pending)


def _is_before(result: SubagentReturned, event: Event) -> bool:
    return result.at.time is not None and event.at.time is not None and result.at.time < event.at.time


def _assigned(event: SubagentReturned, agent: str) -> SubagentReturned:
    return replace(event, at=replace(event.at, agent=agent), agent=agent)


def _at_line(result: SubagentReturned, line: int) -> SubagentReturned:
    """Return the result, placed after a line of the subagent's own file."""
    return replace(result, at=replace(result.at, line=line))
