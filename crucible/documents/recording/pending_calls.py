"""Match calls with their results and subagents while recording; render diffs and outputs as `details` requires."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from difflib import unified_diff
from enum import StrEnum
from typing import TypeAlias

from crucible.clients.events import CallEnd, SubagentReturned, SubagentStarted, ToolReturned, ToolUsed
from crucible.documents.markdown.containment import normal
from crucible.documents.recording.call_lines import asks_user, call_line, one_line, shorten_paths
from crucible.documents.recording.command_output import printed
from crucible.documents.recording.entry_texts import OUTCOMES
from crucible.documents.recording.result_lines import result_line
from crucible.documents.recording.session_draft import Call, Delegation, OpenPhase
from crucible.documents.session.session import Callout, Outcome
from crucible.documents.session.status_rules import Turn, closing_question

TOOL = "tool"
"""The callout kind for a tool call; the title is the call."""


class Details(StrEnum):
    """The details of calls to show below their lines."""

    NONE = "none"
    DIFFS = "diffs"
    ALL = "all"


_LIMIT = 4000
"""Maximum code points of a diff or an output in a note.  The middle of a longer one is omitted."""
_COMPARED = 2000
"""Maximum lines of text to compare line by line."""
_PAIRS = (("old_string", "new_string"), ("oldString", "newString"))
_PATCHES = ("patchText", "patch", "input")
_CONTENTS = ("content", "file_text")
_PATHS = ("file_path", "filePath", "path")


def detail_of(
    details: Details, call: str, arguments: Mapping[str, object], text: str, outcome: Outcome
) -> Callout | None:
    """The callout for the call with the line `call` and the result `text`; None if there is nothing to show."""
    diff = "\n".join(changed_lines(arguments)) if outcome is Outcome.OK else ""
    if diff:
        return Callout(TOOL, call, _fence("diff", diff), fold="-")
    output = normal(printed(text).text) if details is Details.ALL and outcome is not Outcome.REJECTED else ""
    return Callout(TOOL, call, _fence("text", output), fold="-") if output.strip() else None


def changed_lines(arguments: Mapping[str, object]) -> Iterator[str]:
    """Yield the lines that a call changed, based on its arguments: pairs of strings, a patch, or a full file."""
    edits = arguments.get("edits")
    for one in (arguments, *(edits if isinstance(edits, list) else ())):
        for pair in _PAIRS if isinstance(one, Mapping) else ():
            old, new = one.get(pair[0]), one.get(pair[1])
            if isinstance(old, str) and isinstance(new, str):
                yield from _changed(old, new)
    for key in _PATCHES:
        patch = arguments.get(key)
        if isinstance(patch, str) and patch.lstrip().startswith("*** Begin Patch"):
            yield from patch.strip("\n").split("\n")[1:-1]
    if any(isinstance(arguments.get(key), str) for key in _PATHS):
        written = next((arguments[key] for key in _CONTENTS if isinstance(arguments.get(key), str)), "")
        yield from (f"+{line}" for line in _lines(str(written)))


def _changed(old: str, new: str) -> Sequence[str]:
    before, after = _lines(old), _lines(new)
    if max(len(before), len(after)) > _COMPARED:
        return [*(f"-{line}" for line in before), *(f"+{line}" for line in after)]
    return list(unified_diff(before, after, n=2, lineterm=""))[2:]


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n") if text else []


def _fence(language: str, text: str) -> str:
    """Put text into a fence longer than any fence in the text."""
    text = normal(text)
    if len(text) > _LIMIT:
        left_out = len(text) - _LIMIT
        text = f"{text[: _LIMIT // 2]}\n… {left_out} characters …\n{text[-_LIMIT // 2 :]}"
    marks = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    return normal(f"{marks}{language}\n{text}\n{marks}")


OpenPlace: TypeAlias = Callable[[], OpenPhase]
"""Returns the phase or sub-phase for the next entry."""


class PendingCalls:
    """The calls of a recording, by id.

    `delegations` has all delegated work in order, `folder` is the agent's working directory, `last_words` the agent's
    last text, and `details` selects what to show of calls.
    """

    def __init__(self, folder: str = "", details: Details = Details.NONE) -> None:
        self.folder = folder
        self.last_words = ""
        self.details = details
        self.delegations: list[Delegation] = []
        self._calls: dict[str, Call] = {}
        self._delegated: dict[str, Delegation] = {}
        self._arguments: dict[str, Mapping[str, object]] = {}
        self.closed: set[str] = set()
        """The ids of calls in phases that are closed, whose entries are not kept."""
        self.closed_work: list[tuple[Delegation, Delegation]] = []
        """The delegated work of these phases, each with a copy as it was when they were closed."""

    def without(self, phases: Iterable[OpenPhase]) -> PendingCalls:
        """Return the calls without the results of those in `phases`, which are closed."""
        entries = [entry for phase in phases for part in (phase, *phase.parts) for entry in part.entries]
        gone = {id(call) for entry in entries if isinstance(entry, list) for call in entry if isinstance(call, Call)}
        work = {id(entry) for entry in entries if isinstance(entry, Delegation)}
        new = copy(self)
        new.closed = {
            *self.closed,
            *(key for key, call in self._calls.items() if id(call) in gone),
            *(key for key, one in self._delegated.items() if id(one) in work),
        }
        new._calls = {  # noqa: SLF001
            key: call for key, call in self._calls.items() if id(call) not in gone or call.outcome is Outcome.PENDING
        }
        new.closed_work = [*self.closed_work, *((one, one.copy()) for one in self.delegations if id(one) in work)]
        return new

    @property
    def waiting(self) -> str:
        """The line of the last call without a result; "" if all calls have results."""
        waiting = [call.call for call in self._calls.values() if call.outcome is Outcome.PENDING]
        return waiting[-1] if waiting else ""

    def question(self, turn: Turn) -> str:
        """The agent's unanswered question, from a call, a plan, or the agent's last text; "" if there is none."""
        if turn is Turn.ANSWERED:
            return closing_question(self.last_words)
        tool, _, words = self.waiting.partition(" ")
        return words if turn is Turn.OPEN and asks_user(tool) else ""

    def line(self, call: str) -> str:
        """The line of a call, "" if the call is unknown."""
        known, handed = self._calls.get(call), self._delegated.get(call)
        return known.call if known else handed.title or handed.task if handed else ""

    def delegation(self, call: str, agent: str) -> Delegation | None:
        """The work delegated by a call, or to the subagent with the id `agent`."""
        named = (d for d in self.delegations if agent and d.agent == agent)
        return self._delegated.get(call) or next(named, None)

    def use(self, event: ToolUsed, place: OpenPlace) -> None:
        """Record a call, unless it is already recorded as delegated work."""
        if event.call in self._delegated:
            return
        call = Call(call_line(event.name, event.arguments, self.folder))
        self._calls[event.call] = call
        if self.details is not Details.NONE:
            self._arguments[event.call] = event.arguments
        place().add_call(call)

    def answer(self, event: ToolReturned, place: OpenPlace) -> None:
        """Record a call's result, which may end delegated work."""
        delegation = self._delegated.get(event.call)
        if delegation:
            delegation.answer(shorten_paths(event.text, self.folder), OUTCOMES[event.end])
            return
        call = self._calls.get(event.call)
        if call is None:
            # The transcript has lost the call but still has its result.
            call = self._calls[event.call] = Call("result")
            place().add_call(call)
        call.outcome = OUTCOMES[event.end]
        if event.end is CallEnd.REJECTED:
            call.result = one_line(event.feedback, 100)
        else:
            line = result_line(call.call, event.text, call.outcome, event.details)
            call.result = shorten_paths(line, self.folder)
        if self.details is not Details.NONE:
            arguments = self._arguments.pop(event.call, {})
            shown = detail_of(self.details, call.call, arguments, event.text, call.outcome)
            if shown:
                place().add(shown)

    def hand_out(self, event: SubagentStarted, place: OpenPlace) -> None:
        """Record the start of a subagent, or its id once that is known."""
        found = self.delegation(event.call, event.agent) or self._delegate(event.call, place)
        found.update(event.agent, event.kind, event.title, event.task)

    def take_back(self, event: SubagentReturned, place: OpenPlace) -> None:
        """Record a subagent's report."""
        found = self.delegation(event.call, event.agent) or self._delegate(event.call, place)
        found.update(event.agent, "", "", "")
        found.answer(shorten_paths(event.text, self.folder), OUTCOMES[event.end])

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
