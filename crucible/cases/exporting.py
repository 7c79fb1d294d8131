"""Writing cases as files of rows: cleaned, shaped, parted, each file whole or not at all.

Owns the way of a case to its line, and the files.  Rows go out as they come, so memory holds none but the one in hand, and the same cases in
the same order give the same bytes.  All files are written beside their places first and put there together at the end; whatever goes wrong
before, what was there stays.  An export of nothing writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import BinaryIO

import orjson

from crucible.cases.card import CARD_MARK, CardFile, Tally, render_card
from crucible.cases.chat import Row
from crucible.cases.model import Case
from crucible.cases.scrubbing import Scrubber
from crucible.cases.shapes import Provenance, Shape, row_of
from crucible.cases.splitting import Families, Splits
from crucible.cases.toolbox import with_tools
from crucible.errors import UsageError, VaultError, reason_of
from crucible.patterns import late_pattern
from crucible.vault.files import fsync_folder

__all__ = ["Export", "Exported", "Written", "export_files", "export_stream", "named_cleanly", "target_of"]

_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be written: the shape, how it is parted, and what every row says of itself.  Without `metadata` no row says anything."""

    shape: Shape
    splits: Splits | None = None
    families: Families = field(default_factory=Families)
    licence: str = "unspecified"
    source: str = "crucible"
    metadata: bool = True


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


def export_stream(cases: Iterable[Case], export: Export, scrubber: Scrubber, out: BinaryIO) -> Exported:
    """Write all rows to a stream, whose `metadata` names their split; a stream has no card."""
    tally = Tally()
    out.writelines(_line(row, export) for _, row in _told(cases, export, scrubber, tally))
    return Exported((), None, tally)


def export_files(cases: Iterable[Case], export: Export, scrubber: Scrubber, target: Path) -> Exported:
    """Write a file for each split, at `target` or in it where it is a folder (see `target_of`), and the card beside them.

    `UsageError` for a target that cannot be one, `VaultError` when the disk says no; `SecretsError` when secrets cannot be looked for.
    """
    tally = Tally()
    names = list(export.splits.shares) if export.splits else [""]
    places = {split: target_of(target, split) for split in names}
    try:
        with ExitStack() as stack:
            drafts = {split: _Draft(path, stack) for split, path in places.items()}
            for split, row in _told(cases, export, scrubber, tally):
                drafts[split].write(_line(row, export))
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


# --- a case's way to its line ----------------------------------------------------------------------------------------


def _told(
    cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally
) -> Iterator[tuple[str, Row]]:
    """Each row with its split."""
    rows = _rows(cases, export, scrubber, tally)
    for row in with_tools(rows) if export.shape is Shape.TOOLS else rows:
        metadata = row["metadata"]
        assert isinstance(metadata, dict)  # noqa: S101  every row has one until it is written
        tally.add(metadata)
        yield str(metadata["split"]), row


def _rows(cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally) -> Iterator[Row]:
    for case in cases:
        split = export.splits.side(export.families.of(case.place.session)) if export.splits else ""
        provenance = Provenance(export.licence, export.source, split)
        clean = named_cleanly(scrubber.clean(case), scrubber)
        row = row_of(clean, export.shape, provenance)
        if row is None:
            tally.left_out[case.type.value] += 1
        else:
            tally.redactions.update(clean.redactions)
            yield row


def named_cleanly(case: Case, scrubber: Scrubber) -> Case:
    """The case without a secret in its session's name, of which its id is made."""
    session = scrubber.text(case.place.session)
    if session is case.place.session:
        return case
    plain = _NOT_PLAIN.sub("-", scrubber.text(case.id)).strip("-")
    return replace(case, id=plain, place=case.place._replace(session=session))


def _line(row: Row, export: Export) -> bytes:
    shown = row if export.metadata else {name: value for name, value in row.items() if name != "metadata"}
    return orjson.dumps(shown, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)


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
