"""Gather the cases of many sessions in several processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from crucible.commands.learn.case_gathering import CaseFilter, Gatherer, SessionCases
from crucible.core.batches import Run, work_in_batches
from crucible.core.file_stamps import digest_of, stamp_at
from crucible.core.patterns import late_pattern
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers, cores, spread
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.core.settings.settings import VaultSettings
from crucible.vault.events.event_files import log_files_of_note
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES, find_notes, note_name

_Gather = Callable[[Sequence[Path]], list[SessionCases]]
_MANY, _CHUNK = 200, 32
"""The minimum number of sessions for which several processes are used, and the number of sessions per chunk."""
_VALUES = ValueTypes(
    {"crucible.commands.learn.case_gathering": {"SessionCases"}, "pathlib": {"PosixPath", "WindowsPath"}},
    ("crucible.commands.learn.case", "crucible.documents.", "crucible.core.errors"),
    list[SessionCases],
)
_LINK = late_pattern(rb"\[\[([^\]|#\r\n]+)")
_GATHER: list[_Gather] = []
"""What a worker process does with a chunk, as the only item."""


def gather_all(gatherer: Gatherer, paths: Sequence[Path], workers: Workers | None) -> Iterator[SessionCases]:
    """Yield the cases of each session in order.  Without `workers`, many sessions are read on all cores.

    With `workers`, a run that was killed can be continued.  On one core, the gatherer's cache of redacted texts also
    serves the export.
    """
    vault = gatherer.vault
    make = partial(_maker, vault.settings, gatherer.case_filter)
    if workers:
        types, *rest = gatherer.case_filter
        others = partial(_read_with, gatherer)
        run = Run(vault.root, f"learn {sorted(types)} {rest}", make, _VALUES, workers, _basis(vault), others)
        for some in work_in_batches(run, paths):
            yield from some
    elif len(paths) < _MANY or cores() == 1:
        yield from map(gatherer.gather, paths)
    else:
        chunks = [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]
        for some in spread(_gather, chunks, Workers(cores()), partial(_begin, make, vault.root)):
            yield from some


def _basis(vault: Vault) -> str:
    """Return what every case depends on: the user's rules for secrets, and what was reviewed."""
    reviewed = (folder / name for folder, names in find_notes(vault.root, vault.root / CASES) for name in names)
    return digest_of(vault.settings.secrets, *((str(path), stamp_at(path)) for path in sorted(reviewed)))


def _read_with(gatherer: Gatherer, path: Path) -> Iterator[Path]:
    """Yield the files that the cases of a session are made from, besides its note.

    These are its events, its subagents' notes, its reviewed cases, and the note that has the same name.
    """
    yield from log_files_of_note(gatherer.vault.root, path)
    with suppress(OSError):
        found = _LINK.findall(path.read_bytes())
        names = [note_name(path.name), *sorted({one.decode("utf-8", "replace").strip() for one in found})]
        yield from (one for name in names if (one := gatherer.linked(name)) and one != path)
    yield from gatherer.case_notes(note_name(path.name))


def _maker(settings: VaultSettings, wanted: CaseFilter, root: Path) -> _Gather:
    gatherer = Gatherer(Vault(root, settings), caching_redact(redact_of(settings.secrets)), wanted)
    return lambda paths: [gatherer.gather(path) for path in paths]


def _begin(make: Callable[[Path], _Gather], root: Path) -> None:
    _GATHER[:] = [make(root)]


def _gather(paths: Sequence[Path]) -> list[SessionCases]:
    return _GATHER[0](paths)
