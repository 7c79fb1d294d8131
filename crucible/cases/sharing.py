"""Gathering the cases of many sessions on all cores.

Owns how sessions are dealt out: neighbours go together, since a session's subagents began soon after it.  The cases come in the order of the
sessions, whoever made them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from crucible.cases.gathering import Gathered, Gatherer, Wanted
from crucible.processes import cores, spread
from crucible.secrets.redacting import redact_of, remembering
from crucible.settings import VaultSettings
from crucible.vault.store import Vault

__all__ = ["gather_all"]

_WORTH_PROCESSES = 200
"""Sessions; fewer are gathered sooner by one process than by several that must start."""
_CHUNK = 32

_OWN: list[Gatherer] = []
"""The gatherer of a process that works for another."""


def gather_all(vault: Vault, gatherer: Gatherer, paths: Sequence[Path]) -> Iterator[Gathered]:
    """What `gatherer` gathers of each session, in their order; where they are many, others of its kind do it in processes of their own."""
    if len(paths) < _WORTH_PROCESSES or cores() == 1:
        yield from map(gatherer.gather, paths)
        return
    chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
    begin = partial(_begin, vault.root, vault.settings, gatherer.wanted)
    try:
        for some in spread(_gather, chunks, cores(), begin):
            yield from some
    finally:
        _OWN.clear()


def _begin(root: Path, settings: VaultSettings, wanted: Wanted) -> None:
    _OWN[:] = [Gatherer(Vault(root, settings), remembering(redact_of(settings.secrets)), wanted)]


def _gather(paths: Sequence[Path]) -> list[Gathered]:
    return [_OWN[0].gather(path) for path in paths]
