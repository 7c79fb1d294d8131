"""Work through many notes in batches whose results are kept in files, so that a run that was killed can be continued.

Workers only read the vault.  This process keeps their results, each in a file named after its batch and its notes, which
is written beside its name and moved there.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import Any

import orjson

from crucible.core.command_lines import DISTRIBUTION
from crucible.core.errors import VaultError
from crucible.core.files import inside, make_folders, write_atomic
from crucible.core.named_tuples import NamedTuple
from crucible.core.pickled_values import BROKEN, ValueTypes
from crucible.core.processes import Workers, spread
from crucible.core.quick_imports import sha256

_MOST = 500
"""Maximum notes per batch."""
_LEAST_BATCHES = 64
"""Number of batches into which fewer notes are divided, for workers to share."""


def _none(_path: Path) -> Iterable[Path]:
    return ()


class Run(NamedTuple):
    """A piece of work on notes of the vault at `root`; `what` names it, with its options.

    `make` returns the function that does it, for the root of the vault.  Results are kept only while their inputs are
    the same: the notes, `others` of each, and `basis`.  The work reads no other files.
    """

    root: Path
    what: str
    make: Callable[[Path], Callable[[Sequence[Path]], Any]]
    values: ValueTypes
    workers: Workers
    basis: str = ""
    others: Callable[[Path], Iterable[Path]] = _none


def batches_of(paths: Sequence[Path]) -> list[Sequence[Path]]:
    """Divide notes into batches.  The division depends on their number only, so that a run can be continued elsewhere."""
    size = max(1, min(_MOST, len(paths) // _LEAST_BATCHES))
    return [[*paths[at : at + size]] for at in range(0, len(paths), size)]


def work_in_batches(run: Run, paths: Sequence[Path]) -> Generator[Any, None, None]:
    """Yield the result for each batch of notes, in order.

    Results are kept in `.crucible/cache/batches` until all have been used.
    """
    own = run.root / ".crucible"
    basis = f"{version(DISTRIBUTION)}\n{_stamp(own / 'config.toml')}\n{run.basis}"
    folder = make_folders(run.root, _folder(run.root) / _digest(run.what))
    batches = {_shard_name(basis, batch, run.others): batch for batch in batches_of(paths)}
    _write_manifest(folder, run.what, [*batches])
    missing = {name: batch for name, batch in batches.items() if not (folder / name).exists()}
    made = _spread(run, [*missing.values()])
    for name, batch in batches.items():
        if name in missing:
            result = next(made)
            _write_shard(folder / name, result)
            yield result
        else:
            yield _read_shard(folder / name, run, batch)
    rmtree(folder, ignore_errors=True)


def _spread(run: Run, batches: Sequence[Sequence[Path]]) -> Generator[Any, None, None]:
    if not run.workers.copy:
        return spread(_work, batches, run.workers, partial(_begin, run.make, run.root))
    from crucible.core.vault_copies import spread_on_copy  # noqa: PLC0415  needed for buckets only

    return spread_on_copy(run.make, run.root, batches, lambda batch: _files_of(batch, run.others), run.workers)


def _files_of(paths: Sequence[Path], others: Callable[[Path], Iterable[Path]]) -> Iterator[Path]:
    return (one for path in paths for one in (path, *others(path)))


def forget_batches(root: Path) -> None:
    """Remove all results that are kept."""
    rmtree(inside(root, _folder(root)), ignore_errors=True)


def _folder(root: Path) -> Path:
    return root / ".crucible" / "cache" / "batches"


_WORK: list[Callable[[Sequence[Path]], Any]] = []
"""What this process does with a batch, as the only item."""


def _begin(make: Callable[[Path], Callable[[Sequence[Path]], Any]], root: Path) -> None:
    _WORK[:] = [make(root)]


def _work(batch: Sequence[Path]) -> Any:
    return _WORK[0](batch)


def _write_manifest(folder: Path, what: str, names: Sequence[str]) -> None:
    """Write the description of the run, and remove outdated results."""
    for one in set(os.listdir(folder)) - {*names}:
        with suppress(OSError):  # a folder, or another run has removed it
            (folder / one).unlink()
    write_atomic(folder / "manifest.json", orjson.dumps({"work": what, "shards": names}), fsync=False)


def _write_shard(path: Path, result: object) -> None:
    """Keep a result.  If that fails (full disk, another run has ended here), only its batch must be repeated later."""
    body = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
    with suppress(VaultError):
        write_atomic(path, sha256(body).digest() + body, fsync=False)


def _read_shard(path: Path, run: Run, batch: Sequence[Path]) -> Any:
    """Return a result.  After a power failure its file may be damaged: then the work is done again."""
    try:
        data = path.read_bytes() if path.is_file() else b""
        if sha256(data[32:]).digest() == data[:32]:
            return run.values.load(BytesIO(data[32:]))
    except BROKEN:
        pass
    return run.make(run.root)(batch)


def _shard_name(basis: str, paths: Sequence[Path], others: Callable[[Path], Iterable[Path]]) -> str:
    files = _files_of(paths, others)
    return _digest("\n".join((basis, *(f"{path}\0{_stamp(path)}" for path in files))))


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:32]
