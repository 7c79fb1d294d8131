"""Write, find and review the case notes in a vault's folder `cases/`.

A note is replaced only if its case changed and the user has neither reviewed nor edited it.
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
from crucible.vault.notes.note_folder import FolderNotes, create_note, replacement
from crucible.vault.notes.note_homes import folder_of_session
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES, OnError

_ID = late_pattern(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}")


class WrittenCases(NamedTuple):
    """The notes of written cases, by result.

    `same` were up to date; `left` were not written because the user had reviewed or changed them.
    """

    new: tuple[Path, ...] = ()
    replaced: tuple[Path, ...] = ()
    same: tuple[Path, ...] = ()
    left: tuple[Path, ...] = ()


class CaseNote(NamedTuple):
    """A case note and the case parsed from it."""

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
    """Write each case as `cases/<id>.md`.

    `place_of` returns the path of a case's existing note, `heading_of` the heading to link to. Errors for a note that
    cannot be replaced, or that changed during the write, go to `on_error`, and the others are still written. Raises
    `VaultError` for an id that is not a valid file name, and if writing fails.
    """
    found: dict[str, list[Path]] = {name: [] for name in WrittenCases._fields}
    folder: Path | None = None
    for case in cases:
        if folder is None:
            folder = files.make_folders(vault.root, vault.root / CASES)
        path = place_of(case) if place_of else None
        path = path or folder / f"{_checked(case.id)}.md"
        home = folder_of_session(vault, case.place.session)
        text = render_case(case, heading_of(case.place) if heading_of else "", home)
        try:
            found[_keep(vault, path, text)].append(path)
        except (NoteChanged, NoteExists, OutsideVault) as error:
            if on_error is None:
                raise
            on_error(error)
    return WrittenCases(*map(tuple, found.values()))


def _checked(id_: str) -> str:
    if not _ID.fullmatch(id_):
        raise VaultError(f"{id_[:60]!r}: not a case id", "an id has letters, digits, '.', '_' and '-'")
    return id_


def _keep(vault: Vault, path: Path, text: str) -> str:
    """Write a note unless the user edited it; returns the name of its field in `WrittenCases`."""
    data = Source(text).to_bytes()
    if len(data) > files.LARGEST_NOTE:
        raise VaultError(f"{path}: too large for a note", "skip it with --max-tokens")
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
    """True if the user has neither reviewed nor changed the note."""
    found = find_frontmatter(source)
    proposed = found.values.get("status") == CaseStatus.PROPOSED.value
    return proposed and is_case(found) and is_as_written(source, found)


# --- reading ---------------------------------------------------------------------------------------------------------


def load_cases(vault: Vault, on_error: OnError | None = None) -> Iterator[CaseNote]:
    """Yield the cases in the folder by path. Errors go to `on_error`; notes of other types are skipped."""
    return (one for one in _NOTES.load(vault, load_case, on_error) if one.read.says_case)


def load_case(vault: Vault, path: Path) -> CaseNote:
    """Read the case note at a path."""
    note = vault.read(path)
    return CaseNote(note, read_case(note.source, note.name))


_NOTES = FolderNotes(CASES, "case", "cases", "cru case list")
find_case = _NOTES.find


# --- reviewing -------------------------------------------------------------------------------------------------------


def review_case(vault: Vault, path: Path, review: CaseStatus) -> bool:
    """Set a case's status; returns whether it changed. Raises `UsageError` if the note is not a case."""
    changed = False

    def edits(note: Note) -> list[Edit]:
        nonlocal changed
        found = find_frontmatter(note.source)
        if not is_case(found):
            raise UsageError(f"{path}: not a case", '"cru case list" lists the cases')
        made = set_key(note.source, found, "status", review.value)
        changed = bool(made)
        return made

    vault.update(path, edits)
    return changed
