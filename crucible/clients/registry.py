"""The table of clients, and their dialects: how each client's logs are read (see docs/clients.md).

Importing this module loads no log readers: a `Dialect` loads its client's `logs` module when first used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from crucible.clients.claude_code.client import CLIENT as CLAUDE_CODE
from crucible.clients.client import PROMPT, ClientProfile, HookSettings, McpSettings
from crucible.clients.cline.client import CLIENT as CLINE
from crucible.clients.codex.client import CLIENT as CODEX
from crucible.clients.copilot.client import CLIENT as COPILOT
from crucible.clients.cursor.client import CLIENT as CURSOR
from crucible.clients.gemini.client import CLIENT as GEMINI
from crucible.clients.goose.client import CLIENT as GOOSE
from crucible.clients.kilo.client import CLIENT as KILO
from crucible.clients.opencode.client import CLIENT as OPENCODE
from crucible.clients.pi.client import CLIENT as PI
from crucible.clients.qwen_code.client import CLIENT as QWEN_CODE
from crucible.clients.zed.client import CLIENT as ZED

if TYPE_CHECKING:  # bookmarks and briefings need the table, but do not read logs
    from crucible.clients.events import Event
    from crucible.clients.log_files import Reach, Resume, Transcript, Wanted

CLIENTS: Mapping[str, ClientProfile] = MappingProxyType(
    {
        client.program: client
        for client in (CLAUDE_CODE, CODEX, OPENCODE, GEMINI, COPILOT, PI, QWEN_CODE, CLINE, KILO, CURSOR, GOOSE, ZED)
    }
)
"""All clients, by the name that users type."""

LAUNCHABLE: Mapping[str, ClientProfile] = MappingProxyType(
    {name: client for name, client in CLIENTS.items() if client.tested}
)
"""The clients that were started with a briefing and whose sessions were read."""

RESUMABLE: Mapping[str, ClientProfile] = MappingProxyType(
    {name: client for name, client in LAUNCHABLE.items() if client.asked}
)
"""The clients that can resume a session."""

STEP_CLIENTS: Mapping[str, ClientProfile] = MappingProxyType(
    {name: client for name, client in RESUMABLE.items() if PROMPT not in client.piped}
)
"""The clients that can carry out a step of a workflow: they read its prompt from standard input."""

ASKABLE: Mapping[str, ClientProfile] = MappingProxyType(
    {name: client for name, client in STEP_CLIENTS.items() if client.asked_once}
)
"""The clients that can answer a prompt without tools."""

MCP_SETTINGS: Mapping[str, McpSettings] = MappingProxyType({one.name: one.mcp for one in CLIENTS.values() if one.mcp})
"""How to register our MCP server, by the client's name in `sources`.  Only clients that support MCP servers."""

HOOKS: Mapping[str, HookSettings] = MappingProxyType({one.name: one.hooks for one in CLIENTS.values() if one.hooks})
"""How to make clients call `cru hook`, by the client's name in `sources`.  Only clients with hooks or plugins."""

TITLES: Mapping[str, str] = MappingProxyType({client.name: client.title for client in CLIENTS.values()})
"""Product names, by the client's name in `sources`."""

FILE_TOOLS = frozenset().union(*(client.file_tools for client in CLIENTS.values()))
"""The tools of all clients that read or change files."""

ASKING_TOOLS = frozenset().union(*(client.asking_tools for client in CLIENTS.values()))
"""The tools of all clients whose result is the user's answer."""


def client_of(name: str, clients: Mapping[str, ClientProfile]) -> ClientProfile | None:
    """Return the client with this name: its program, or its name in a note's `sources`."""
    return next((client for client in clients.values() if name in (client.program, client.name)), None)


class LogReader(Protocol):
    """The functions of a client's `logs` module."""

    def find(self, path: Path) -> Iterator[Transcript]:
        """Yield the sessions in a file, a folder or the client's entire folder.

        Raises `TranscriptError` for a path that does not exist or may not be read.
        """

    def sniff(self, path: Path) -> bool:
        """Return whether this client wrote a file; False if the file cannot be read."""

    def read(self, transcript: Transcript, agent: str = "") -> Iterator[Event]:
        """Yield the events of the trunk or of the subagent `agent`, with little of the log in memory at a time.

        Raises `TranscriptError` if the file cannot be opened; a row that cannot be read becomes `Unreadable`.
        """

    def beside(self, transcript: Transcript) -> list[Path] | None:
        """Return the files that `read` uses besides the logs; None if they cannot be told."""

    def reach(self, transcript: Transcript) -> Reach:
        """Return how far a transcript goes, from its head and tail.  Raises `OSError` if it does not exist."""


@runtime_checkable
class SelectiveReader(Protocol):
    """The function of a `logs` module that can find some sessions of a database without the others."""

    def find_some(self, path: Path, wanted: Wanted) -> Iterator[Transcript]:
        """Yield the wanted sessions, and perhaps others."""


@runtime_checkable
class ResumableReader(Protocol):
    """The functions of a `logs` module that can read a log that has grown from where an earlier reading stopped."""

    def is_resumable(self, transcript: Transcript) -> bool:
        """Return whether `read` can begin in the middle of a session's trunk."""

    def read(self, transcript: Transcript, agent: str = "", resume: Resume | None = None) -> Iterator[Event]:
        """Yield the events of the trunk from a place on."""


class Dialect:
    """One client's logs; see `LogReader` for the methods."""

    def __init__(self, client: ClientProfile) -> None:
        self.client = client
        self.name = client.name
        self.title = client.title
        self.default_folder = client.logs_folder
        self.retention_days = client.retention_days

    @cached_property
    def _logs(self) -> LogReader:
        # Most commands need the reader of one client; loading all of them takes as long as the rest of an import.
        return cast("LogReader", import_module(f"crucible.clients.{self.name.replace('-', '_')}.logs"))

    def find(self, path: Path, wanted: Wanted | None = None) -> Iterator[Transcript]:
        """Yield the sessions at a path: at least the wanted ones, by default all."""
        logs = self._logs
        return logs.find_some(path, wanted) if wanted and isinstance(logs, SelectiveReader) else logs.find(path)

    def sniff(self, path: Path) -> bool:
        """Return whether this client wrote a file."""
        return self._logs.sniff(path)

    def read(self, transcript: Transcript, agent: str = "") -> Iterator[Event]:
        """Yield the events of one log."""
        return self._logs.read(transcript, agent)

    def is_resumable(self, transcript: Transcript) -> bool:
        """Return whether `read_from` can read a session's trunk."""
        return isinstance(self._logs, ResumableReader) and self._logs.is_resumable(transcript)

    def read_from(self, transcript: Transcript, resume: Resume) -> Iterator[Event]:
        """Yield the events of a trunk from a place on."""
        return cast("ResumableReader", self._logs).read(transcript, resume=resume)

    def beside(self, transcript: Transcript) -> list[Path] | None:
        """Return the files that `read` uses besides the logs."""
        return self._logs.beside(transcript)

    def reach(self, transcript: Transcript) -> Reach:
        """Return how far a transcript goes."""
        return self._logs.reach(transcript)

    def last_written(self, transcript: Transcript) -> datetime:
        """Return the time of a transcript's last event, else the file's modification time."""
        last = transcript.last or self.reach(transcript).last
        return last or datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC)


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {client.name: Dialect(client) for client in sorted(CLIENTS.values(), key=lambda client: client.name)}
)


def sniff(path: Path) -> Dialect | None:
    """Return the dialect of the client that wrote a file, or None."""
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(path)), None)
