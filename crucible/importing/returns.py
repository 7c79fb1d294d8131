"""What a parent's log tells of its subagents: what each was asked for, and the result that the parent has.

Owns whose a result is, and where in the subagent's own log it stands.  What becomes of it in a note is `recording`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from crucible.session.syncing import HEARD
from crucible.transcript.events import (
    CallEnd,
    Event,
    Prompted,
    SubagentReturned,
    SubagentStarted,
)
from crucible.transcript.files import SubagentFile

__all__ = ["Returns"]


class Returns:
    """The results of one native session, each addressed to its subagent: `at.agent` is whose log it belongs to."""

    def __init__(self, files: Sequence[SubagentFile]) -> None:
        self._agents = {file.call: file.agent for file in files if file.call}
        self._asked: dict[str, SubagentStarted] = {}
        self._results: defaultdict[str, list[SubagentReturned]] = defaultdict(list)
        self._unnamed: dict[str, SubagentReturned] = {}

    def ask(self, event: SubagentStarted) -> None:
        """Work was handed out, or its subagent became known."""
        first = self._asked.setdefault(event.call, event)
        if event.agent and not first.agent:
            self._asked[event.call] = replace(first, agent=event.agent)

    def take(self, event: SubagentReturned) -> SubagentReturned | None:
        """The result as its subagent's; None while nobody knows whose it is."""
        asked = self._asked.get(event.call)
        agent = event.agent or self._agents.get(event.call, "") or (asked.agent if asked else "")
        if not agent:
            self._unnamed[event.call] = event
            return None
        told = _addressed(event, agent)
        if told not in self._results[agent]:  # a trunk may be read twice
            self._results[agent].append(told)
        return told

    def name(self, call: str, agent: str) -> SubagentReturned | None:
        """The result of a call whose subagent was found out otherwise, None where there is none yet."""
        event = self._unnamed.pop(call, None)
        return _addressed(event, agent) if event else None

    def asked(self, told: SubagentReturned) -> SubagentStarted | None:
        """What a subagent was asked for of which nothing but its report is left; None where that is no report."""
        is_report = told.end is CallEnd.OK and told.text.strip()
        return self._asked.get(told.call) if is_report else None

    def within(self, agent: str, events: Iterable[Event], mark: str) -> Iterator[Event]:
        """The events of a subagent's log with its results: one before whatever it was asked later, else at the end.

        `mark` is the note's: what it holds already stands where it stood then, so that rows behind it are new.
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
    """Behind a line of the subagent's own file."""
    return replace(told, at=replace(told.at, line=line))
