"""Gather the cases of many sessions in several processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from crucible.commands.learn.case_gathering import CaseFilter, Gatherer, SessionCases
from crucible.core.batches import Run, work_in_batches
from crucible.core.file_stamps import digest_of, stamp_at
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers, cores, spread
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES, find_notes, note_name

_MANY, _CHUNK = 200, 32
"""The minimum number of sessions for which several processes are used, and the number of sessions per chunk."""
_VALUES = ValueTypes(
    {"crucible.commands.learn.case_gathering": {"SessionCases"}, "pathlib": {"PosixPath", "WindowsPath"}},
    ("crucible.commands.learn.case", "crucible.documents.", "crucible.core.errors"),
)
_GATHERERS: list[Gatherer] = []
"""The gatherer of a worker process, as the only item."""


def gather_all(gatherer: Gatherer, paths: Sequence[Path], workers: Workers | None) -> Iterator[SessionCases]:
    """Yield the cases of each session in order.  Without `workers`, many sessions are read on all cores.

    With `workers`, a run that was killed can be continued.  On one core, the gatherer's cache of redacted texts also
    serves the export.
    """
    begin = partial(_begin, gatherer.vault, gatherer.case_filter)
    if workers:
        types, *rest = gatherer.case_filter
        vault = gatherer.vault
        run = Run(
            vault.root, f"learn {sorted(types)} {rest}", _VALUES, workers, _basis(vault), partial(_events, vault.root)
        )
        for some in work_in_batches(run, _gather, paths, begin):
            yield from some
    elif len(paths) < _MANY or cores() == 1:
        yield from map(gatherer.gather, paths)
    else:
        chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
        for some in spread(_gather, chunks, Workers(cores()), begin):
            yield from some


def _basis(vault: Vault) -> str:
    """Return what every case depends on: the user's rules for secrets, and what was reviewed."""
    reviewed = (folder / name for folder, names in find_notes(vault.root, vault.root / CASES) for name in names)
    return digest_of(vault.settings.secrets, *((str(path), stamp_at(path)) for path in sorted(reviewed)))


def _events(root: Path, path: Path) -> Iterator[Path]:
    """Yield the files of a session's events."""
    own, name = root / ".crucible", note_name(path.name)
    yield own / "archive" / f"{name}.jsonl.zst"
    yield from sorted((own / "flight" / name).glob("*"))


def _begin(vault: Vault, wanted: CaseFilter) -> None:
    _GATHERERS[:] = [Gatherer(vault, caching_redact(redact_of(vault.settings.secrets)), wanted)]


def _gather(paths: Sequence[Path]) -> list[SessionCases]:
    return [_GATHERERS[0].gather(path) for path in paths]
