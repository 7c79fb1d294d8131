"""Phases and speakers while a session is recorded: where the next entry goes, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from crucible.clients.events import At, Prompted
from crucible.core.text import cut_at_word
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.entry_texts import agent_ref, intervention, switch, whole_seconds
from crucible.documents.recording.session_draft import OpenPhase
from crucible.documents.recording.task_list import TaskTracker
from crucible.documents.session.session import AgentRef, Entry
from crucible.documents.session.status_rules import Turn
from crucible.documents.session.titles import Titles


class Speakers:
    """`kind` is that of the subagent whose work is recorded, "" in the trunk."""

    def __init__(self, client: str, kind: str = "") -> None:
        self._client = client
        self._kind = kind
        self._speaking = AgentRef(client)
        self._heard: list[AgentRef] = [agent_ref(kind)] if kind else []

    @property
    def now(self) -> AgentRef:
        """Whose a phase is that begins now."""
        return agent_ref(self._kind) if self._kind else self._speaking

    def all(self) -> tuple[AgentRef, ...]:
        """Everybody who left something in the note, in the order in which they came."""
        return tuple(self._heard)

    def change(self, version: str) -> None:
        """The client runs in this version now."""
        self._speaking = agent_ref(self._client, version)

    def hear(self) -> None:
        """Who speaks now left something in the note."""
        if self._speaking not in self._heard:
            self._heard.append(self._speaking)


class Switch:
    """The callout of a phase in which somebody else goes on; it names the model as soon as that is known.

    The session's own `model` stays the one it began with.
    """

    def __init__(self, phase: OpenPhase, before: str, now: AgentRef) -> None:
        self._phase = phase
        self._callout = switch(before, now)
        self._place = len(phase.entries)
        self._is_open = True
        phase.entries.append(self._callout)

    def name_model(self, model: str | None) -> None:
        """The first model that is told counts."""
        if model and self._is_open:
            self._phase.entries[self._place] = replace(self._callout, text=f"Model: {model}")
            self._is_open = False


class PhaseTracker:
    """The part of a `Recorder` that knows its phases.

    `_held` are commands that become part of the phase that follows; `work_name` names a phase that no prompt began.
    """

    work_name: str
    _phases: list[OpenPhase]
    _held: list[Prompted]
    _plan: TaskTracker
    _speakers: Speakers
    _titles: Titles
    started: datetime | None
    _turn: Turn

    @property
    def place(self) -> str:
        """The id of the current phase or sub-phase, such as `phase-2.1`; "" before the first."""
        if not self._phases:
            return ""
        parts = self._phases[-1].parts
        return f"phase-{len(self._phases)}" + (f".{len(parts)}" if parts else "")

    def _open_phase(self, *prompts: Prompted) -> OpenPhase:
        """Open a phase for the last prompt; held commands come first."""
        said = [*self._held, *prompts]
        self._held = []
        named = prompts[-1] if prompts else said[0]
        phase = self._new_phase(self._titles.prompted(named.text), said[0].at)
        self.started = self.started or phase.started
        phase.entries.extend(intervention(p) for p in said)
        return phase

    def _new_phase(self, name: str, at: At) -> OpenPhase:
        phase = OpenPhase(name, self._speakers.now, whole_seconds(at.time))
        self._plan.forget_start()
        self._phases.append(phase)
        return phase

    def _work(self, at: At) -> OpenPhase:
        """The phase in which the agent is working; opens one if needed."""
        self._turn = Turn.OPEN
        if self._held:
            return self._open_phase()
        if self._phases:
            return self._phases[-1]
        return self._new_phase(self.work_name, at)

    def _stretch(self, at: At) -> OpenPhase:
        """Where the next entry goes: the last sub-phase, if the phase has any."""
        phase = self._phases[-1] if self._phases and not self._held else self._work(at)
        started = self._plan.take_start()
        if started:
            phase.parts.append(OpenPhase(cut_at_word(one_line(started, 400), 80), None, whole_seconds(at.time)))
        return phase.parts[-1] if phase.parts else phase

    def _tell(self, at: At, entries: Iterable[Entry]) -> bool:
        """Add callouts; return whether there were any."""
        told = list(entries)
        for entry in told:
            self._stretch(at).add(entry)
        return bool(told)
