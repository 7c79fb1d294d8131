"""Who speaks in a session while it is recorded: the client in its versions, or a subagent of some kind.

Owns the list of participants.  How a name becomes legal in a heading is `wording`'s.
"""

from __future__ import annotations

from crucible.session.model import AgentRef
from crucible.session.wording import agent_ref

__all__ = ["Speakers"]


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
