"""The table of clients whose transcripts we read.

Owns the choice, by name or by a look into the file; each client's files and rows are its module's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from crucible.transcript import claude_code
from crucible.transcript.events import Event, Prompted
from crucible.transcript.files import OWN_MARK, Transcript

__all__ = ["DIALECTS", "Dialect", "is_own_session", "sniff"]


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
_FAR_ENOUGH = 200
"""Events before the first prompt that are worth looking through for it."""


def sniff(path: Path) -> Dialect | None:
    """The client that wrote a file, None when no dialect knows it."""
    return next((dialect for dialect in DIALECTS.values() if dialect.sniff(path)), None)


def is_own_session(transcript: Transcript) -> bool:
    """Whether `cru` itself started this session: its first prompt holds `OWN_MARK`."""
    events = DIALECTS[transcript.client].read(transcript.path, "")
    prompts = (event for event in islice(events, _FAR_ENOUGH) if isinstance(event, Prompted))
    first = next(prompts, None)
    return first is not None and OWN_MARK in first.text
