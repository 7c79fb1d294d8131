"""Rows of cases as files: parted, each whole or not at all.

Owns the files; the way of a case to its line is `rows`'.  Rows go out as they come, so memory holds none but those in hand.  All files are written beside their places first and put there together at the end; whatever goes wrong
before, what was there stays.  An export of nothing writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import orjson

from crucible.cases.card import CARD_MARK, CardFile, Tally, render_card
from crucible.cases.rows import Export, Line
from crucible.cases.shapes import Provenance
from crucible.errors import UsageError, VaultError, reason_of
from crucible.vault.files import fsync_folder

__all__ = ["Exported", "Written", "export_files", "export_stream", "target_of"]


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written."""

    path: Path
    split: str
    rows: int
    size: int


@dataclass(frozen=True, slots=True)
class Exported:
    """What came of it: the files, the card (None where there is no place for one), and the counts."""

    files: tuple[Written, ...]
    card: Path | None
    tally: Tally


def export_stream(lines: Iterable[Line], tally: Tally, write: Callable[[Iterable[bytes]], None]) -> Exported:
    """Write all rows to a stream, by `write`, whose `metadata` names their split; a stream has no card.  `tally` is whole when all lines were taken."""
    write(data for _, data in lines)
    return Exported((), None, tally)


def export_files(lines: Iterable[Line], tally: Tally, export: Export, target: Path) -> Exported:
    """Write a file for each split, at `target` or in it where it is a folder (see `target_of`), and the card beside them.

    `tally` is as for a stream.  `UsageError` for a target that cannot be one, `VaultError` when the disk says no.
    """
    names = list(export.splits.shares) if export.splits else [""]
    places = {split: target_of(target, split) for split in names}
    try:
        with ExitStack() as stack:
            drafts = {split: _Draft(path, stack) for split, path in places.items()}
            for split, data in lines:
                drafts[split].write(data)
            written = [draft.ended(split) for split, draft in drafts.items()]
            files = tuple(one for one in written if one.rows)
            _check_others([one.path for one in written if not one.rows] if files else ())
            card = _card(export, tally, files, stack) if files else None
            for draft in (*drafts.values(), card) if card else ():
                draft.put()
    except OSError as error:
        raise VaultError(f"{target}: {reason_of(error)}", "nothing was exported") from error
    return Exported(files, card.path if card else None, tally)


def target_of(target: Path, split: str) -> Path:
    """Where a split's rows go: `TARGET/train.jsonl` in a folder, or what has no ending; beside `cases.jsonl`, `cases.train.jsonl`."""
    if target.is_dir() or not target.suffix:
        if target.exists() and not target.is_dir():
            raise UsageError(f"{target}: no folder", "name another one, or a file such as -o cases.jsonl")
        return target / f"{split or 'train'}.jsonl"
    if target.suffix not in {".jsonl", ".json", ".ndjson"}:
        raise UsageError(
            f"{target}: rows are written to a file .jsonl, or into a folder", "such as -o cases.jsonl"
        )
    return target.with_suffix(f".{split}{target.suffix}") if split else target


# --- files -----------------------------------------------------------------------------------------------------------


class _Draft:
    """A file in the making, beside its place; gone when the stack closes, unless it was put there."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        if path.is_symlink():
            raise VaultError(f"{path}: a symbolic link, which is not written through", "name another place")
        self.path = path
        self._rows = 0
        for folder in reversed([one for one in (path.parent, *path.parent.parents) if not one.exists()]):
            folder.mkdir(exist_ok=True)
            stack.callback(_remove_empty, folder)
        _remove_leftovers(path)
        self._beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        stack.callback(self._beside.unlink, missing_ok=True)  # when it is closed
        self._file = stack.enter_context(self._beside.open("wb"))

    def write(self, line: bytes) -> None:
        self._file.write(line)
        self._rows += 1

    def ended(self, split: str) -> Written:
        self._file.flush()
        os.fsync(self._file.fileno())
        size = self._file.tell()
        self._file.close()
        return Written(self.path, split, self._rows, size)

    def put(self) -> None:
        """In its place, or, where it has no rows, nothing there: rows of an earlier export would be those of another split now."""
        if self._rows:
            self._beside.replace(self.path)
        else:
            self.path.unlink(missing_ok=True)
        fsync_folder(self.path.parent)


def _card(export: Export, tally: Tally, files: tuple[Written, ...], stack: ExitStack) -> _Draft:
    """The card's draft: `README.md`, or where that is somebody else's, `cases.README.md` after the first file, or one with a number."""
    listed = [CardFile(one.path.name, one.split, one.rows) for one in files]
    text = render_card(export.shape, tally, listed, Provenance(export.licence, export.source))
    path = next(filter(_is_ours, _places_of_card(files[0].path)))
    draft = _Draft(path, stack)
    draft.write(text.encode())
    draft.ended("")
    return draft


def _places_of_card(first: Path) -> Iterator[Path]:
    yield first.with_name("README.md")
    yield first.with_suffix(".README.md")
    for number in count(2):
        yield first.with_suffix(f".README-{number}.md")


def _is_ours(path: Path) -> bool:
    """Whether a card may be written there."""
    if path.is_symlink() or not path.is_file():
        return not os.path.lexists(path)
    return CARD_MARK in path.read_text(encoding="utf-8", errors="replace")


def _check_others(paths: Iterable[Path]) -> None:
    """What would have to go, since no row comes there now, is of an earlier export: a card beside it names it."""
    for path in paths:
        beside = [path.with_name("README.md"), *path.parent.glob("*.README*.md")]
        cards = [one.read_text(encoding="utf-8", errors="replace") for one in beside if one.is_file()]
        name = orjson.dumps(path.name).decode()
        if os.path.lexists(path) and not any(CARD_MARK in card and name in card for card in cards):
            raise VaultError(
                f"{path}: no row comes there now, and what is there is of no export",
                "move it, or name another folder",
            )


def _remove_leftovers(path: Path) -> None:
    """Remove what killed exports to `path` left beside it: drafts of processes that are gone."""
    head, end = f".{path.name}.", ".part"
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            pid = entry.name[len(head) : -len(end)]
            ours = entry.name.startswith(head) and entry.name.endswith(end) and pid.isascii()
            if ours and pid.isdecimal() and entry.is_file(follow_symlinks=False) and _is_gone(int(pid)):
                Path(entry.path).unlink(missing_ok=True)


def _is_gone(pid: int) -> bool:
    """Whether no process has this number, as far as this machine can tell; where asking would end it, none is gone."""
    if os.name != "posix":
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:
        return False  # somebody else's
    return pid == 0  # which would be ourselves


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):  # what holds anything stays
        folder.rmdir()
