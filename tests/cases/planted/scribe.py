"""The events of one native session as they come, and the session that an importer makes of them.

Owns time, ids of calls, and the way from events to a `Session` and to records of the flight recorder.  What is said
and done is `story`'s.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

import orjson

from crucible.flight.reading import Record
from crucible.flight.recorder import _body
from crucible.session.calls import call_line
from crucible.session.drafts import Draft
from crucible.session.model import Callout, Decision, Entry, Failure, Intervention
from crucible.session.recording import Recorder
from crucible.session.results import result_line
from crucible.session.wording import OUTCOMES
from crucible.transcript.events import (
    Answered,
    At,
    CallEnd,
    ContextSeen,
    Event,
    Faulted,
    Interrupted,
    Prompted,
    PromptKind,
    Replied,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
    UsageCounted,
)
from tests.cases.planted.clients import Client

__all__ = ["Kept", "Made", "Scribe", "Step", "Told", "as_record"]


@dataclass(frozen=True)
class Told:
    """What the agent itself logged by `cru log`: a callout, and its record."""

    at: At
    entry: Entry
    kind: str
    values: Mapping[str, object]


Step = Event | Told


class Kept(NamedTuple):
    """A step as the flight recorder keeps it: its phase and the client's own session."""

    step: Step
    phase: str
    source: str


@dataclass(frozen=True)
class Made:
    """A call that was made: where it stands among the steps, its line and its result's as the note tells them."""

    step: int
    line: str
    result: str
    text: str


class Scribe:
    """`agent` is a subagent's id, "" for the trunk."""

    def __init__(
        self,
        rng: random.Random,
        client: Client,
        started: datetime,
        project: str,
        agent: str = "",
        kind: str = "",
    ) -> None:
        self.rng = rng
        self.client = client
        self.agent = agent
        self.kind = kind
        self.cwd = f"/home/dev/{project}"
        self.now = started
        self.steps: list[Step] = []
        self.native = f"{rng.getrandbits(64):016x}"
        self.model = rng.choice(client.models)
        self.version = rng.choice(client.versions)
        self.steps.append(ContextSeen(self.at(), self.native, self.cwd, "main", self.version, "cli"))

    def at(self, seconds: float = 0.0) -> At:
        """The next moment."""
        self.now += timedelta(seconds=seconds or self.rng.uniform(0.4, 20.0))
        line = len(self.steps) + 1
        return At(line, f"row{line}", self.now, self.agent)

    @property
    def last(self) -> int:
        """The step that was added last."""
        return len(self.steps) - 1

    # what happens

    def add(self, event: Step) -> int:
        """Any step."""
        self.steps.append(event)
        return self.last

    def prompt(self, text: str, kind: PromptKind = PromptKind.TYPED) -> int:
        """A human's, or a parent's, words."""
        return self.add(Prompted(self.at(self.rng.uniform(5, 400)), text, kind))

    def say(self, text: str) -> int:
        """The agent's words."""
        at = self.at()
        message = f"msg_{len(self.steps):06d}"
        self.steps.append(Replied(at, text, message, self.model))
        said = self.last
        fresh, cached = self.rng.randrange(80, 2400), self.rng.randrange(0, 30000)
        self.steps.append(UsageCounted(at, message, self.model, fresh, cached, self.rng.randrange(20, 400)))
        return said

    def answered(self) -> None:
        """The turn is over."""
        self.add(Answered(self.at()))

    def interrupted(self, in_tool: bool) -> None:
        """The user pressed escape."""
        self.add(Interrupted(self.at(), in_tool))

    def faulted(self, text: str) -> int:
        """The client's own error."""
        return self.add(Faulted(self.at(), text))

    def told(self, entry: Entry) -> int:
        """A callout of the agent's own."""
        kind, values = _record_of(entry)
        return self.add(Told(self.at(), entry, kind, values))

    def tasks(self, states: list[TaskState]) -> None:
        """The task list."""
        self.add(TasksListed(self.at(), tuple(states)))

    def used(self, name: str, arguments: Mapping[str, object]) -> tuple[int, str, str]:
        """A call without its result: its step, its id and its line."""
        call = f"call_{len(self.steps):06d}"
        step = self.add(ToolUsed(self.at(), call, name, arguments, "", self.model))
        return step, call, call_line(name, arguments, self.cwd)

    def returned(
        self,
        used: tuple[int, str, str],
        text: str,
        end: CallEnd = CallEnd.OK,
        details: Mapping[str, object] | None = None,
        feedback: str = "",
    ) -> Made:
        """The result of a call."""
        step, call, line = used
        self.add(ToolReturned(self.at(), call, text, end, feedback, details))
        result = "" if end is CallEnd.REJECTED else result_line(line, text, OUTCOMES[end], details)
        return Made(step, line, result, text)

    def use(
        self,
        name: str,
        arguments: Mapping[str, object],
        text: str,
        end: CallEnd = CallEnd.OK,
        details: Mapping[str, object] | None = None,
    ) -> Made:
        """A call and its result."""
        return self.returned(self.used(name, arguments), text, end, details)

    # the usual calls

    def shell_use(self, command: str) -> tuple[int, str, str]:
        """A shell command that goes on."""
        name, key = self.client.shell
        more = {"description": command.split(" ", maxsplit=1)[0]} if self.client.described else {}
        return self.used(name, {key: command, **more})

    def shell_end(self, used: tuple[int, str, str], out: str, code: int = 0) -> Made:
        """What it came to."""
        end = CallEnd.FAILED if code else CallEnd.OK
        text = f"Exit code {code}\n{out}" if code and self.client.says_exit else out
        return self.returned(used, text, end, {"lines": out.count("\n") + 1 if out else 0, "exit_code": code})

    def shell(self, command: str, out: str, code: int = 0) -> Made:
        """A shell command and what came of it."""
        return self.shell_end(self.shell_use(command), out, code)

    def read(self, path: str, text: str) -> Made:
        """A file was looked at."""
        if self.client.reader is None:
            return self.shell(f"sed -n '1,200p' {path}", text)
        name, key = self.client.reader
        return self.use(name, {key: f"{self.cwd}/{path}"}, text, details={"lines": text.count("\n") + 1})

    def write(self, path: str, text: str) -> Made:
        """A file was made."""
        lines = text.count("\n") + 1
        if self.client.writer is None:
            patch = "\n".join(
                [
                    "*** Begin Patch",
                    f"*** Add File: {path}",
                    *(f"+{t}" for t in text.split("\n")),
                    "*** End Patch",
                ]
            )
            facts = {"kind": "create", "added": lines, "removed": 0}
            return self.use(
                "apply_patch",
                {"input": patch},
                "Success. Updated the following files:\nA " + path,
                details=facts,
            )
        name, key = self.client.writer
        said = f"File created successfully at: {path}"
        return self.use(
            name,
            {key: f"{self.cwd}/{path}", "content": text},
            said,
            details={"kind": "create", "lines": lines},
        )

    def edit(self, path: str, old: str, new: str, fails: bool = False) -> Made:
        """A file was changed, or would have been."""
        end = CallEnd.FAILED if fails else CallEnd.OK
        said = (
            self.client.no_match.format(old=old, path=path) if fails else f"The file {path} has been updated."
        )
        facts = (
            None
            if fails
            else {"kind": "update", "added": new.count("\n") + 1, "removed": old.count("\n") + 1}
        )
        if self.client.editor is None:
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
            return self.use("apply_patch", {"input": patch}, said, end, facts)
        name, key, before, after = self.client.editor
        return self.use(name, {key: f"{self.cwd}/{path}", before: old, after: new}, said, end, facts)

    def hand_out(self, title: str, task: str, kind: str, agent: str) -> tuple[int, str]:
        """A subagent was given work: the step and the call."""
        call = f"call_{len(self.steps):06d}"
        arguments = {"description": title, "prompt": task, "subagent_type": kind}
        self.add(ToolUsed(self.at(), call, self.client.delegator, arguments, "", self.model))
        at = self.steps[-1].at
        return self.add(SubagentStarted(at, call, kind, task, title, agent)), call

    def take_back(self, call: str, agent: str, text: str, end: CallEnd = CallEnd.OK) -> None:
        """Its work came back."""
        self.add(
            SubagentReturned(
                self.at(self.rng.uniform(3, 300)), call, agent, text, end, self.rng.randrange(200, 9000)
            )
        )

    # what it comes to

    def fold(self, title: str = "Work") -> tuple[Draft, list[str]]:
        """The draft of the note, and the phase of each step."""
        recorder = Recorder(self.client.name, agent=self.agent, kind=self.kind, work_name=title)
        places = []
        for step in self.steps:
            if isinstance(step, Told):
                recorder._work(step.at)
                recorder._stretch(step.at).add(step.entry)
            else:
                recorder.add(step)
            places.append(recorder.place)
        return recorder.draft(), places

    @property
    def source(self) -> str:
        """As a note's `sources` name it."""
        return f"{self.client.name}:{self.native}"

    def kept(self, places: list[str]) -> tuple[Kept, ...]:
        """All steps with their phases."""
        return tuple(Kept(step, place, self.source) for step, place in zip(self.steps, places, strict=True))


def _record_of(entry: Entry) -> tuple[str, dict[str, object]]:
    match entry:
        case Decision():
            return "decision", {"content": entry.text, "rationale": entry.rationale}
        case Failure():
            return "error", {"content": entry.text, "resolution": entry.resolution}
        case Intervention():
            return "user", {"content": entry.words, "note": entry.note}
        case Callout():
            return entry.kind, {"content": entry.text}
    raise TypeError(type(entry).__name__)


_OWN = ("type", "source", "line", "row", "agent")


def as_record(seq: int, kept: Kept) -> Record:
    """What `crucible.flight` reads back of a step (but for the key of a callout)."""
    step, place, source = kept
    if isinstance(step, Told):
        return Record(seq, step.kind, step.at.time, place, "recorder", values=dict(step.values))
    body = _body(step, source, 65536)
    key = hashlib.blake2b(body, digest_size=8).hexdigest()
    raw = orjson.loads(body)
    values = {name: value for name, value in raw.items() if name not in _OWN}
    made = Record(
        seq, raw["type"], step.at.time, place, source, raw["line"], raw["row"], raw["agent"], values
    )
    return replace(made, key=key)
