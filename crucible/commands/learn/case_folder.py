"""The folder `cases/` of a vault: write, find and review case notes.

A note that a user reviewed or edited is never replaced; an untouched one is, when its case changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crucible.commands.learn.case import Case, CaseStatus, Place
from crucible.commands.learn.case_notes import ParsedCase, is_as_written, is_case, read_case, render_case
from crucible.core import files
from crucible.core.errors import (
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    UsageError,
    VaultError,
)
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.frontmatter import find_frontmatter, set_key
from crucible.documents.markdown.source import Edit, Source
from crucible.vault.notes.note_folder import FolderNotes, create_note, place_base, replacement
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES, OnError

_CASES_BASE = Path(__file__).with_name("Cases.base")
_ID = late_pattern(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")


class WrittenCases(NamedTuple):
    """What came of writing cases.

    The notes that are new, that took the place of untouched ones, that said the same already, and that were left because a
    human reviewed or changed them.
    """

    new: tuple[Path, ...] = ()
    replaced: tuple[Path, ...] = ()
    same: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


class CaseNote(NamedTuple):
    """A case's note and what was read of it."""

    note: Note
    read: ParsedCase


# --- writing ---------------------------------------------------------------------------------------------------------


def write_case_notes(
    vault: Vault,
    cases: Iterable[Case],
    heading_of: Callable[[Place], str] | None = None,
    place_of: Callable[[Case], Path | None] | None = None,
    on_error: OnError | None = None,
) -> WrittenCases:
    """Write each case as `cases/<id>.md`, or where `place_of` says that its note is, and `Cases.base` where there is none; `heading_of` is `render_case`'s.

    What is no note (a folder, a symlink that leaves the vault), or was changed at this moment, is passed to `on_error`, and the rest is written.
    `VaultError` for an id that can name no file, and when the disk says no.
    """
    found: dict[str, list[Path]] = {name: [] for name in WrittenCases._fields}
    folder: Path | None = None
    for case in cases:
        if folder is None:
            folder = files.make_folders(vault.root, vault.root / CASES)
            place_base(vault, _CASES_BASE)
        path = place_of(case) if place_of else None
        path = path or folder / f"{_checked(case.id)}.md"
        text = render_case(case, heading_of(case.place) if heading_of else "")
        try:
            found[_keep(vault, path, text)].append(path)
        except (NoteChanged, NoteExists, OutsideVault) as error:
            if on_error is None:
                raise
            on_error(error)
    return WrittenCases(*map(tuple, found.values()))


def _checked(id_: str) -> str:
    if not _ID.fullmatch(id_):
        raise VaultError(f"{id_[:60]!r}: no id of a case", "an id has letters, digits, '.', '_' and '-'")
    return id_


def _keep(vault: Vault, path: Path, text: str) -> str:
    """Write a note unless somebody touched it; the name of the field of `WrittenCases` that says what came of it."""
    data = Source(text).to_bytes()
    if len(data) > files.LARGEST_NOTE:
        raise VaultError(f"{path}: too large for a note", "leave it out with --max-tokens")
    try:
        note = vault.read(path)
    except NoteUnreadable:
        create_note(vault, path, data)
        return "new"
    if note.source.text.replace("\r\n", "\n") == text:
        return "same"
    if not _is_ours(note.source):
        return "left"
    vault.save(note, replacement(note.source, text))
    return "replaced"


def _is_ours(source: Source) -> bool:
    """Whether nobody reviewed it and nobody changed it."""
    found = find_frontmatter(source)
    proposed = found.values.get("status") == CaseStatus.PROPOSED.value
    return proposed and is_case(source, found) and is_as_written(source, found)


# --- reading ---------------------------------------------------------------------------------------------------------


def load_cases(vault: Vault, on_error: OnError | None = None) -> Iterator[CaseNote]:
    """Every case of the folder by its path; what cannot be read is told to `on_error`, what says it is something else is left out."""
    return (one for one in _NOTES.load(vault, load_case, on_error) if one.read.says_case)


def load_case(vault: Vault, path: Path) -> CaseNote:
    """The case of a note, read without a guess."""
    note = vault.read(path)
    return CaseNote(note, read_case(note.source, note.name))


_NOTES = FolderNotes(
    CASES, "case", "cases", "`cru cases list` tells them; `cru session learn --export markdown` writes them"
)
find_case = _NOTES.find


# --- a human's word --------------------------------------------------------------------------------------------------


def review_case(vault: Vault, path: Path, review: CaseStatus) -> bool:
    """Set a case's status, by its own line only; whether that changed anything.  `UsageError` for a note that is no case."""
    changed = False

    def edits(note: Note) -> list[Edit]:
        nonlocal changed
        found = find_frontmatter(note.source)
        if not is_case(note.source, found):
            raise UsageError(f"{path}: no case", "`cru cases list` tells the cases")
        made = set_key(note.source, found, "status", review.value)
        changed = bool(made)
        return made

    vault.update(path, edits)
    return changed
