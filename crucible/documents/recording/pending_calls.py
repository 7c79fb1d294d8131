"""Calls and delegated work while they are recorded: what waits for a result, and which result is whose.

Owns how a call, its result and a subagent find each other.  Where an entry goes is `recording`'s, which hands in a way to
open the place: a place that is asked for may begin a phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crucible.clients.events import CallEnd, SubagentReturned, SubagentStarted, ToolReturned, ToolUsed
from crucible.documents.recording.call_details import Details, detail_of
from crucible.documents.recording.call_lines import asks, call_line, one_line
from crucible.documents.recording.entry_texts import OUTCOMES
from crucible.documents.recording.path_display import relative
from crucible.documents.recording.result_lines import result_line
from crucible.documents.recording.session_draft import Call, Delegation, Stretch
from crucible.documents.session.session import Outcome
from crucible.documents.session.status_rules import Turn, question_in

OpenPlace: TypeAlias = Callable[[], Stretch]
"""Gives the phase or sub-phase in which the next entry goes."""


class Calling:
    """`delegations` is all work that was handed out, in its order, `folder` where the agent stands, `last_words` its last text.

    `details` says what is shown of calls.
    """

    def __init__(self, folder: str = "", details: Details = Details.NONE) -> None:
        self.folder = folder
        self.last_words = ""
        self.details = details
        self.delegations: list[Delegation] = []
        self._calls: dict[str, Call] = {}
        self._delegated: dict[str, Delegation] = {}
        self._arguments: dict[str, Mapping[str, object]] = {}

    @property
    def waiting(self) -> str:
        """The line of the last call without a result, "" when all have one."""
        waiting = [call.call for call in self._calls.values() if call.outcome is Outcome.PENDING]
        return waiting[-1] if waiting else ""

    def question(self, turn: Turn) -> str:
        """The agent's question that waits for the user: from a call, a plan, or its last text; "" for none."""
        if turn is Turn.ANSWERED:
            return question_in(self.last_words)
        tool, _, words = self.waiting.partition(" ")
        return words if turn is Turn.OPEN and asks(tool) else ""

    def line(self, call: str) -> str:
        """The line of a call, "" if the call is unknown."""
        known, handed = self._calls.get(call), self._delegated.get(call)
        return known.call if known else handed.title or handed.task if handed else ""

    def delegation(self, call: str, agent: str) -> Delegation | None:
        """The work handed out by a call, or to a subagent of that id."""
        named = (d for d in self.delegations if agent and d.agent == agent)
        return self._delegated.get(call) or next(named, None)

    def use(self, event: ToolUsed, place: OpenPlace) -> None:
        """A call; one that hands work out is told as that work alone."""
        if event.call in self._delegated:
            return
        call = Call(call_line(event.name, event.arguments, self.folder))
        self._calls[event.call] = call
        if self.details is not Details.NONE:
            self._arguments[event.call] = event.arguments
        place().add_call(call)

    def answer(self, event: ToolReturned, place: OpenPlace) -> None:
        """A call's result, or the end of delegated work that was told like one."""
        delegation = self._delegated.get(event.call)
        if delegation:
            delegation.answer(relative(event.text, self.folder), OUTCOMES[event.end])
            return
        call = self._calls.get(event.call)
        if call is None:
            # The call was cut away, its result was not: told by what is left of it.
            call = self._calls[event.call] = Call("result")
            place().add_call(call)
        call.outcome = OUTCOMES[event.end]
        if event.end is CallEnd.REJECTED:
            call.result = one_line(event.feedback, 100)
        else:
            line = result_line(call.call, event.text, call.outcome, event.details)
            call.result = relative(line, self.folder)
        if self.details is not Details.NONE:
            arguments = self._arguments.pop(event.call, {})
            shown = detail_of(self.details, call.call, arguments, event.text, call.outcome)
            if shown:
                place().add(shown)

    def hand_out(self, event: SubagentStarted, place: OpenPlace) -> None:
        """A subagent was given work, or its id became known."""
        found = self.delegation(event.call, event.agent) or self._delegate(event.call, place)
        found.learn(event.agent, event.kind, event.title, event.task)

    def take_back(self, event: SubagentReturned, place: OpenPlace) -> None:
        """A subagent's work came back."""
        found = self.delegation(event.call, event.agent) or self._delegate(event.call, place)
        found.learn(event.agent, "", "", "")
        found.answer(relative(event.text, self.folder), OUTCOMES[event.end])

    def _delegate(self, call: str, place: OpenPlace) -> Delegation:
        found = Delegation(call)
        self.delegations.append(found)
        if call:
            self._delegated[call] = found
        stretch = place()
        known = self._calls.pop(call, None)
        if known:
            stretch.drop_call(known)
        stretch.entries.append(found)
        return found
