"""Who speaks in a session while it is recorded: the client in its versions, or a subagent of some kind.

Owns the list of participants and the callout that tells of another one who goes on.  How a name becomes legal in a heading is `wording`'s.
"""

from __future__ import annotations

from dataclasses import replace

from crucible.documents.recording.entry_texts import agent_ref, switch
from crucible.documents.recording.session_draft import Stretch
from crucible.documents.session.session import AgentRef


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

    def __init__(self, phase: Stretch, before: str, now: AgentRef) -> None:
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
