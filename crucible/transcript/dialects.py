"""The table of clients whose transcripts we read.

Owns the choice, by name or by a look into the file; each client's files and rows are its module's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from crucible.transcript import claude_code
from crucible.transcript.events import Event
from crucible.transcript.files import Transcript

__all__ = ["DIALECTS", "Dialect", "sniff"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """One client.

    `find(path)` lists sessions, `sniff(path)` knows a file, `read(path, agent)` gives its events, and
    `default_folder(env, home)` is where the client keeps them.
    """

    name: str
    find: Callable[[Path], Iterator[Transcript]]
    sniff: Callable[[Path], bool]
    read: Callable[[Path, str], Iterator[Event]]
    default_folder: Callable[[Mapping[str, str], Path], Path]


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {
        claude_code.NAME: Dialect(
            claude_code.NAME,
            claude_code.find,
            claude_code.sniff,
            claude_code.read,
            claude_code.default_folder,
        )
    }
)


def sniff(path: Path) -> Dialect | None:
    """The client that wrote a file, None when no dialect knows it."""
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(path)), None)
