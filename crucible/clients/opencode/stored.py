"""One session as OpenCode keeps it, wherever: a head, messages, and the parts of each message.

Owns the values that the stores (`tables`, `tree`) give and the shape of a store; what a part means is `telling`'s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from crucible.clients.log_values import Row


@dataclass(frozen=True, slots=True)
class Head:
    """A session without its messages.  Times are milliseconds since 1970, 0 when unknown.

    `parent` is the session that handed the work out, `agent` the kind of agent.  `by_command` when it was begun by
    `opencode run`, which puts quotes around a prompt that holds a blank.  `reverted_to` is the message before which the
    user went back.
    """

    id: str
    parent: str = ""
    title: str = ""
    directory: str = ""
    version: str = ""
    agent: str = ""
    created: int = 0
    updated: int = 0
    by_command: bool = False
    reverted_to: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message.

    `created` and `updated` say when the client wrote it, 0 when unknown; `data` is None when it cannot be read, for
    `reason`.
    """

    id: str
    created: int
    updated: int
    data: Row | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its parts in the order of their ids; `data` is None when it cannot be read, for `reason`."""

    id: str
    created: int
    updated: int
    data: Row | None
    parts: tuple[Part, ...] = ()
    reason: str = ""


class Store(Protocol):
    """Sessions in one place.  Every method may raise `TranscriptError`."""

    def heads(self) -> list[Head]:
        """All sessions, the oldest first."""

    def head(self, session: str) -> Head | None:
        """One session, None when it is not here."""

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session in their order, one of them in memory at a time."""

    def message(self, session: str, ident: str) -> Message | None:
        """One message again."""

    def size(self, session: str) -> tuple[int, int, str]:
        """The last time that anything was written (0 unknown), the number of messages, and the first one's id."""
