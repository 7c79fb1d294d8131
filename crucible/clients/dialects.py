"""How each client's logs are read: its `logs` module, which loads when the first log is looked at.

See docs/dialects.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from crucible.clients.client import ClientProfile
from crucible.clients.events import Event
from crucible.clients.registry import CLIENTS
from crucible.clients.session_files import Reach, Transcript


class LogReader(Protocol):
    """What a client's `logs` module offers."""

    def find(self, path: Path) -> Iterator[Transcript]:
        """The sessions of a file, of a folder, or of the client's whole folder.

        `TranscriptError` for a path that cannot be reached.
        """

    def sniff(self, path: Path) -> bool:
        """Whether a file is this client's; False for what cannot be read."""

    def read(self, transcript: Transcript, agent: str = "") -> Iterator[Event]:
        """The events of one log: the trunk's, or the subagent's of that id; little of it in memory at a time.

        `TranscriptError` when the file cannot be opened; what cannot be read inside it becomes `Unreadable`.
        """

    def reach(self, transcript: Transcript) -> Reach:
        """How far a transcript goes, from a quick look; `OSError` if it does not exist."""


class Dialect:
    """One client's logs; see `LogReader` for the methods."""

    def __init__(self, client: ClientProfile) -> None:
        self.name = client.name
        self.title = client.title
        self.default_folder = client.logs_folder

    @cached_property
    def _logs(self) -> LogReader:
        # A command needs one client's readers at most, and all four take as long to load as the rest of an import.
        return cast("LogReader", import_module(f"crucible.clients.{self.name.replace('-', '_')}.logs"))

    def find(self, path: Path) -> Iterator[Transcript]:
        """The sessions at a path."""
        return self._logs.find(path)

    def sniff(self, path: Path) -> bool:
        """Whether a file is this client's."""
        return self._logs.sniff(path)

    def read(self, transcript: Transcript, agent: str = "") -> Iterator[Event]:
        """The events of one log."""
        return self._logs.read(transcript, agent)

    def reach(self, transcript: Transcript) -> Reach:
        """How far a transcript goes."""
        return self._logs.reach(transcript)


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {client.name: Dialect(client) for client in sorted(CLIENTS.values(), key=lambda client: client.name)}
)


def sniff(path: Path) -> Dialect | None:
    """The client that wrote a file, None when no dialect knows it."""
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(path)), None)
