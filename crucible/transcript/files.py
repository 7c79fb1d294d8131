"""The files of one native session, the same for every client, and the mark on sessions that `cru` itself started.

Owns the vocabulary that the dialects' `find` answers in; where a client keeps its files is the dialect's.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["OWN_MARK", "SubagentFile", "Transcript"]

OWN_MARK = "<!-- cru:own-session -->"
"""Whoever starts an agent on behalf of `cru` puts this into the first prompt: such a session is nobody's work and is
left out of every import.  It is in the prompt and not in the environment because only the prompt is in the log."""


@dataclass(frozen=True, slots=True)
class SubagentFile:
    """The log of one subagent.

    `agent` is its id, as in `At.agent` and `SubagentStarted.agent`.  `kind`, `description` and `call` (the id of the
    call that started it) are "" where the client wrote no notice beside the log.  `run` names the workflow run it
    belonged to, `depth` counts from 1 and is 0 when unknown.
    """

    agent: str
    path: Path
    kind: str = ""
    description: str = ""
    call: str = ""
    run: str = ""
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Transcript:
    """One native session: its trunk file and the files of its subagents, in the order of their names."""

    client: str
    native_id: str
    path: Path
    subagents: tuple[SubagentFile, ...] = ()
