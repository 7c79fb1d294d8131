"""Spread work over workers that read the vault's files from a copy in a bucket.

The client names the files of a chunk, with digests of the vault's files.  A worker reads them into a temporary folder with
the vault's layout, and works there.  In values that it gets and returns, paths are those of the client's vault.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import file_digest
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any, NamedTuple, TypeVar

from crucible.core.buckets import Bucket
from crucible.core.errors import CrucibleError, VaultError
from crucible.core.files import inside
from crucible.core.processes import Workers, is_alive, spread
from crucible.core.quick_imports import sha256

_PREFIX = "crucible-copy-"
"""The start of a temporary folder's name; followed by the process id and `-`."""
_STREAMS = 16
"""Number of files to read at the same time."""

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")


class _File(NamedTuple):
    name: str
    size: int
    digest: str


class CopiedChunk(NamedTuple):
    """A chunk, and the files that its work reads."""

    chunk: Any
    files: Sequence[_File]


def spread_on_copy(
    make: Callable[[Path], Callable[[_Chunk], _Result]],
    root: Path,
    chunks: Sequence[_Chunk],
    files_of: Callable[[_Chunk], Iterable[Path]],
    workers: Workers,
) -> Generator[_Result, None, None]:
    """Yield the result for each chunk, in order, from the copy of the vault at `workers.copy`.

    `make` returns the function that does the work, for the root of a vault; `files_of` returns all files that it reads.
    Raises `VaultError` for a file that differs from the one in the vault.
    """
    copied = [CopiedChunk(chunk, [*_named(root, files_of(chunk))]) for chunk in chunks]
    yield from spread(partial(_work, make, root, workers.copy), copied, workers)


def _named(root: Path, paths: Iterable[Path]) -> Iterator[_File]:
    """Return files with their digests.  A file that cannot be read must be missing in the copy, too."""
    for path in dict.fromkeys(paths):
        with suppress(CrucibleError, OSError):
            real = inside(root, path)
            if real.is_file():  # opening a pipe would block
                with real.open("rb") as file:
                    digest = file_digest(file, sha256).hexdigest()
                    yield _File(path.relative_to(root).as_posix(), file.tell(), digest)


# --- in a worker -----------------------------------------------------------------------------------------------------


def _work(make: Callable[[Path], Callable[[Any], _Result]], root: Path, address: str, copied: CopiedChunk) -> _Result:
    _remove_leftovers()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        place = Path(os.path.realpath(folder))
        _take(Bucket(address), copied.files, place)
        result: _Result = _moved(make(place)(_moved(copied.chunk, root, place)), place, root)
        return result


def _take(bucket: Bucket, files: Sequence[_File], folder: Path) -> None:
    def take(file: _File) -> None:
        data = bucket.read(file.name, file.size + 1)
        if data is None or sha256(data).hexdigest() != file.digest:
            what = "missing" if data is None else "differs from the vault"
            raise VaultError(f"{bucket.place}/{file.name}: {what}", "copy the vault to the bucket again")
        target = inside(folder, folder / file.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    with ThreadPoolExecutor(_STREAMS) as pool:
        for _ in pool.map(take, files):
            pass


def _remove_leftovers() -> None:
    """Remove the folders of killed workers."""
    base = Path(tempfile.gettempdir())
    for name in os.listdir(base):
        number = name.removeprefix(_PREFIX).partition("-")[0]
        if name.startswith(_PREFIX) and number.isdigit() and not is_alive(int(number)):
            shutil.rmtree(base / name, ignore_errors=True)


def _moved(value: Any, old: Path, new: Path) -> Any:
    """Return a value with all paths below `old`, also within texts, below `new`."""
    data = BytesIO()
    _Mover(data, old, new).dump(value)
    data.seek(0)
    return _Moved(data).load()


class _Mover(pickle.Pickler):
    def __init__(self, file: BytesIO, old: Path, new: Path) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._old, self._new = old, new
        self._texts = str(old), str(new)

    def persistent_id(self, value: Any) -> Any:
        if type(value) is str and self._texts[0] in value:
            return value.replace(*self._texts)
        if isinstance(value, PurePath) and value.is_relative_to(self._old):
            return self._new / value.relative_to(self._old)
        return None


class _Moved(pickle.Unpickler):
    def persistent_load(self, pid: Any) -> Any:
        return pid
