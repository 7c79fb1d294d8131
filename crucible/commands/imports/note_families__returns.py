"""What a parent's transcript says about its subagents: the task and the result of each.

Decides which subagent a result belongs to, and where it belongs among the events of the subagent's own transcript.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from crucible.clients.events import (
    CallEnd,
    Event,
    Prompted,
    SubagentReturned,
    SubagentStarted,
)
from crucible.clients.session_files import SubagentFile
from crucible.documents.session.sync_mark import HEARD

__all__ = ["Returns"]


class Returns:
    """The results of one native session, each assigned to its subagent by `at.agent`."""

    def __init__(self, files: Sequence[SubagentFile]) -> None:
        self._agents = {file.call: file.agent for file in files if file.call}
        self._asked: dict[str, SubagentStarted] = {}
        self._results: defaultdict[str, list[SubagentReturned]] = defaultdict(list)
        self._unnamed: dict[str, SubagentReturned] = {}

    def ask(self, event: SubagentStarted) -> None:
        """Record a task, or the subagent's id once it is known."""
        first = self._asked.setdefault(event.call, event)
        if event.agent and not first.agent:
            self._asked[event.call] = replace(first, agent=event.agent)

    def take(self, event: SubagentReturned) -> SubagentReturned | None:
        """Assign a result to its subagent; None while the subagent is unknown."""
        asked = self._asked.get(event.call)
        agent = event.agent or self._agents.get(event.call, "") or (asked.agent if asked else "")
        if not agent:
            self._unnamed[event.call] = event
            return None
        told = _addressed(event, agent)
        if told not in self._results[agent]:  # a parent's transcript may be read twice
            self._results[agent].append(told)
        return told

    def name(self, call: str, agent: str) -> SubagentReturned | None:
        """The result of a call whose subagent is known from elsewhere; None if there is no result yet."""
        event = self._unnamed.pop(call, None)
        return _addressed(event, agent) if event else None

    def asked(self, told: SubagentReturned) -> SubagentStarted | None:
        """The task of a subagent whose report alone is left; None if the result is not a report."""
        is_report = told.end is CallEnd.OK and told.text.strip()
        return self._asked.get(told.call) if is_report else None

    def within(self, agent: str, events: Iterable[Event], mark: str) -> Iterator[Event]:
        """Merge a subagent's results into its events: each before the next task that it was given, or else at the end.

        `mark` is the note's `synced_to`: a result that is already in the note keeps its place, so that the rows after it are new.
        """
        waiting = list(self._results.get(agent, ()))
        own, heard, _ = mark.partition(HEARD)
        line, row = 1, ""
        for event in events:
            is_later = isinstance(event, Prompted) and event.at.agent == agent
            is_known = bool(heard) and row.startswith(own) and not event.at.row.startswith(own or "-")
            while waiting and (is_known or (is_later and _is_before(waiting[0], event))):
                yield _at_line(waiting.pop(0), line)
                is_known = False
            yield event
            line, row = event.at.line, event.at.row
        yield from (_at_line(told, line) for told in waiting)


def _is_before(told: SubagentReturned, event: Event) -> bool:
    return told.at.time is not None and event.at.time is not None and told.at.time < event.at.time


def _addressed(event: SubagentReturned, agent: str) -> SubagentReturned:
    return replace(event, at=replace(event.at, agent=agent), agent=agent)


def _at_line(told: SubagentReturned, line: int) -> SubagentReturned:
    """Place a result after a line of the subagent's own file."""
    return replace(told, at=replace(told.at, line=line))
