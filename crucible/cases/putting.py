"""Puzzles and their solutions as files in a folder that the user named, or in the vault's own for what is made from it.

Owns that what somebody changed there is not written over: a puzzle and its solution belong together, and where one of them is not what would
be written, both stay unless it is asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crucible.cases.model import Case, Puzzle
from crucible.cases.puzzle_files import puzzle_file_names, render_puzzle_file, render_solution_file
from crucible.cases.rows import named_cleanly
from crucible.cases.scrubbing import Scrubber
from crucible.errors import NoteExists, VaultError, reason_of
from crucible.vault import files

__all__ = ["Put", "exports_folder", "put_puzzles"]


class Put(NamedTuple):
    """The files that were written, that were so already, and that were left because something else stood there; what was taken out, by rule.

    Of those that were left, `changed` are the ones in which something else stands: the other of a pair is left with it.
    """

    written: tuple[Path, ...]
    same: tuple[Path, ...]
    left: tuple[Path, ...]
    redactions: Mapping[str, int]
    changed: frozenset[Path] = frozenset()


def exports_folder(root: Path) -> Path:
    """Where puzzles go unless the user says: `exports/puzzles` of the vault, out of git by a `.gitignore` in `exports/` itself.

    Raises `OutsideVault` where a symlink leads away, and `VaultError`.
    """
    exports = files.make_folders(root, root / "exports")
    with suppress(NoteExists):
        files.create_exclusive(exports / ".gitignore", _IGNORE_ALL)
    return files.make_folders(root, exports / "puzzles")


_IGNORE_ALL = b"# What is made from notes can be made again.\n*\n"


def put_puzzles(folder: Path, cases: Iterable[Case], scrubber: Scrubber, *, force: bool = False) -> Put:
    """Write `<id>.puzzle.md` and, of a solved one, `<id>.solution.md`; other cases are left out.  `VaultError` when the disk says no."""
    written: list[Path] = []
    same: list[Path] = []
    left: list[Path] = []
    changed: set[Path] = set()
    redactions: Counter[str] = Counter()
    try:
        for case in cases:
            if not isinstance(case.body, Puzzle):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            clean = named_cleanly(scrubber.clean(case), scrubber)
            redactions.update(clean.redactions)
            pair = {folder / name: text.encode() for name, text in _files(clean)}
            there = {path: _there(path) for path in pair}
            other = {path for path, data in there.items() if data is not None and data != pair[path]}
            if other and not force:
                left += pair
                changed |= other
                continue
            for path, data in pair.items():
                (same if there[path] == data else written).append(path)
                if there[path] != data:
                    _put(path, data, new=there[path] is None)
    except OSError as error:
        raise VaultError(f"{folder}: {reason_of(error)}", "what was written so far is whole") from error
    return Put(tuple(written), tuple(same), tuple(left), redactions, frozenset(changed))


def _files(case: Case) -> Iterator[tuple[str, str]]:
    names = puzzle_file_names(case)
    yield names[0], render_puzzle_file(case)
    if isinstance(case.body, Puzzle) and not case.body.is_open:
        yield names[1], render_solution_file(case)


def _there(path: Path) -> bytes | None:
    """What stands there; a symlink is nobody's word, and is not followed."""
    if path.is_symlink():
        raise VaultError(f"{path}: a symbolic link, which is not written through", "name another folder")
    return path.read_bytes() if path.exists() else None


def _put(path: Path, data: bytes, *, new: bool) -> None:
    if not new:
        files.write_atomic(path, data)
        return
    try:
        files.create_exclusive(path, data)
    except NoteExists as error:
        raise VaultError(f"{path}: somebody else wrote it at this moment", "try again") from error
