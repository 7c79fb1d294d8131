"""Count notes of an older format, and convert them to the current one.

Sessions, histories and knowledge items are converted.  A note that would read differently afterwards is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.knowledge.item_notes import read_item
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.migration import migrate
from crucible.documents.session.session_reader import read_session
from crucible.integrations.doctor.check_results import Finding, State, numbered
from crucible.memory.history.history_folder import HISTORY
from crucible.memory.history.history_notes import read_entry
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import KNOWLEDGE

_Reader = Callable[[Source], object]


class Migrated(NamedTuple):
    """Paths of the converted notes, relative to the vault, and of the others with the reason (`path: reason`)."""

    converted: tuple[str, ...]
    kept: tuple[str, ...]


def check_formats(vault: Vault) -> Iterator[Finding]:
    """Report the notes of an older format."""
    old = [path for path, _ in _notes(vault) if _is_old(vault, path)]
    if old:
        text = (
            numbered(len(old), "note has", "notes have")
            + " an older format, in which plugins can act on what agents said"
        )
        yield Finding("format", State.NOTE, text, "cru doctor --migrate", tuple(vault.relative(path) for path in old))
    else:
        yield Finding("format", State.GOOD, "every note has the current format")


def migrate_notes(vault: Vault) -> Migrated:
    """Convert every note of an older format that reads the same afterwards."""
    converted, kept = list[str](), list[str]()
    for path, read in _notes(vault):
        if not _is_old(vault, path):
            continue
        name = vault.relative(path)
        try:
            note = vault.update(path, lambda note, read=read: _edits(note, read))  # type: ignore[misc]
        except CrucibleError as error:
            kept.append(f"{name}: {error}")
            continue
        if format_of(find_frontmatter(note.source).values) == FORMAT:
            converted.append(name)
        else:
            kept.append(
                f"{name}: the conversion would change what it says, or leave `<%` in it; escape it by hand, then add `format: {FORMAT}`"
            )
    return Migrated(tuple(converted), tuple(kept))


def _edits(note: Note, read: _Reader) -> list[Edit]:
    edits = migrate(note.source)
    if not edits:
        return []
    new = apply_edits(note.source, edits)
    return edits if "<%" not in new.text and read(new) == read(note.source) else []


def _notes(vault: Vault) -> Iterator[tuple[Path, _Reader]]:
    folders: dict[Path, _Reader] = {
        vault.sessions: lambda source: read_session(source, ""),
        vault.root / HISTORY: lambda source: read_entry(source).entry,
        vault.root / KNOWLEDGE: lambda source: read_item(source, "").item,
    }
    for path in vault.note_paths():
        for folder, read in folders.items():
            if path.is_relative_to(folder):
                yield path, read
                break


def _is_old(vault: Vault, path: Path) -> bool:
    """Whether the note has a `type`, but not the current `format`."""
    try:
        found = find_frontmatter(vault.read(path).source)
    except CrucibleError:
        return False
    return found.present and not found.problems and "type" in found.values and format_of(found.values) < FORMAT
