"""Work through many notes in batches whose results are kept in files, so that a run that was killed can be continued.

Workers write the results.  A file is named after its batch and its notes, written beside its name and moved there, so
it is whole, and a batch that two workers do is one file.
"""

from __future__ import annotations

import os
import pickle
import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import orjson

from crucible.core.errors import VaultError
from crucible.core.extras import DISTRIBUTION
from crucible.core.files import make_folders, write_atomic
from crucible.core.named_tuples import NamedTuple
from crucible.core.pickled_values import BROKEN, ValueTypes
from crucible.core.processes import Workers, spread
from crucible.core.quick_imports import sha256

_MOST = 500
"""Maximum notes per batch."""
_LEAST_BATCHES = 64
"""Number of batches into which fewer notes are divided, for workers to share."""

_Result = TypeVar("_Result")


def _none(_path: Path) -> Iterable[Path]:
    return ()


class Run(NamedTuple):
    """A piece of work on notes of the vault at `root`; `what` names it, with its options.

    Results are kept only while what they were made from is the same: the notes, `others` of each, and `basis`.
    """

    root: Path
    what: str
    values: ValueTypes
    workers: Workers
    basis: str = ""
    others: Callable[[Path], Iterable[Path]] = _none


def batches_of(paths: Sequence[Path]) -> list[Sequence[Path]]:
    """Divide notes into batches.  The division depends on their number only, so that a run can be continued elsewhere."""
    size = max(1, min(_MOST, len(paths) // _LEAST_BATCHES))
    return [paths[at : at + size] for at in range(0, len(paths), size)]


def work_in_batches(
    run: Run,
    work: Callable[[Sequence[Path]], _Result],
    paths: Sequence[Path],
    begin: Callable[[], None] | None = None,
) -> Generator[_Result, None, None]:
    """Yield the result of `work` for each batch of notes, in order; arguments as in `spread`.

    Results are kept in `.crucible/cache/batches` until all have been used.
    """
    own = run.root / ".crucible"
    basis = f"{version(DISTRIBUTION)}\n{_stamp(own / 'config.toml')}\n{run.basis}"
    folder = make_folders(run.root, own / "cache" / "batches" / _digest(run.what))
    batches = {_shard_name(basis, batch, run.others): batch for batch in batches_of(paths)}
    _write_manifest(folder, run.what, [*batches])
    missing = [(name, batch) for name, batch in batches.items() if not (folder / name).exists()]
    written = spread(partial(_write_shard, folder, work), missing, run.workers, begin)
    waiting = {name for name, _ in missing}
    for name, batch in batches.items():
        while name in waiting:
            waiting.discard(next(written))
        yield _read_shard(folder / name, run.values, partial(_redo, work, batch, begin))
    shutil.rmtree(folder, ignore_errors=True)


def _write_manifest(folder: Path, what: str, names: Sequence[str]) -> None:
    """Write what the run consists of, and remove results that are outdated."""
    for one in set(os.listdir(folder)) - {*names}:
        with suppress(OSError):  # a folder, or another run has removed it
            (folder / one).unlink()
    write_atomic(folder / "manifest.json", orjson.dumps({"work": what, "shards": names}), fsync=False)


def _write_shard(folder: Path, work: Callable[[Sequence[Path]], object], batch: tuple[str, Sequence[Path]]) -> str:
    name, paths = batch
    body = pickle.dumps(work(paths), pickle.HIGHEST_PROTOCOL)
    try:
        _write(folder / name, body)
    except VaultError:  # another run of the same work has ended, and removed the folder
        _write(folder / name, body)
    return name


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, sha256(body).digest() + body, fsync=False)


def _read_shard(path: Path, values: ValueTypes, redo: Callable[[], _Result]) -> _Result:
    """Return a result.  After a power failure its file may be damaged: then the work is done again."""
    try:
        data = path.read_bytes() if path.is_file() else b""
        if sha256(data[32:]).digest() == data[:32]:
            result: _Result = values.load(BytesIO(data[32:]))
            return result
    except BROKEN:
        pass
    return redo()


def _redo(
    work: Callable[[Sequence[Path]], _Result], batch: Sequence[Path], begin: Callable[[], None] | None
) -> _Result:
    if begin:
        begin()
    return work(batch)


def _shard_name(basis: str, paths: Sequence[Path], others: Callable[[Path], Iterable[Path]]) -> str:
    files = (one for path in paths for one in (path, *others(path)))
    return _digest("\n".join((basis, *(f"{path}\0{_stamp(path)}" for path in files))))


def _stamp(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def _digest(text: str) -> str:
    return sha256(os.fsencode(text)).hexdigest()[:32]
