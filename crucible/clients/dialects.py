"""The table of clients whose transcripts we read.

Owns the shape that every dialect has, and the choice, by name or by a look into the file; each client's files and rows
are its module's.  A new client is one module of this shape and its name in `_MODULES`: see docs/dialects.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from crucible.clients.claude_code import logs as claude_code
from crucible.clients.codex import logs as codex
from crucible.clients.events import Event
from crucible.clients.gemini import logs as gemini
from crucible.clients.opencode import logs as opencode
from crucible.clients.session_files import Reach, Transcript


class Dialect(Protocol):
    """One client: a module with these names."""

    @property
    def NAME(self) -> str:  # noqa: N802  a constant of the module
        """As in `cru import NAME` and in a note's `sources`: `claude-code`."""

    @property
    def TITLE(self) -> str:  # noqa: N802
        """As its makers write it: `Claude Code`."""

    def default_folder(self, env: Mapping[str, str], home: Path) -> Path:
        """Where the client keeps its transcripts; it need not be there."""

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
        """How far a transcript goes, told by a quick look; `OSError` when there is none."""


_MODULES: tuple[Dialect, ...] = (claude_code, codex, gemini, opencode)

DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.NAME: dialect for dialect in _MODULES})


def sniff(path: Path) -> Dialect | None:
    """The client that wrote a file, None when no dialect knows it."""
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(path)), None)
