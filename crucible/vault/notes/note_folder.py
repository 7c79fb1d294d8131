"""List, find, create and replace the notes in one folder, such as `knowledge/`, `cases/` or `history/`.

A note that is replaced in full (a case, a workflow) contains a digest of itself, so that user edits are never
overwritten.  For histories, which are updated in parts, see `memory.history.history_revision`.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from crucible.core import files
from crucible.core.errors import CrucibleError, EditRefused, UnknownId, UsageError, first_of, no_match
from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, set_key
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import render_entry
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import OnError, find_notes, is_markdown, note_name

_T = TypeVar("_T")


class FolderNotes(NamedTuple):
    """A folder, its singular and plural nouns for messages, and the command that lists its notes."""

    folder: str
    one: str
    several: str
    command: str

    def paths(self, vault: Vault, on_error: OnError | None = None) -> list[Path]:
        """List all notes in the folder, sorted.  `on_error` receives errors for what cannot be read."""
        walk = find_notes(vault.root, vault.root / self.folder, on_error)
        return sorted((folder / name for folder, names in walk for name in names), key=str)

    def load(self, vault: Vault, read: Callable[[Vault, Path], _T], on_error: OnError | None = None) -> Iterator[_T]:
        """Yield the result of `read` for each note, sorted by path.

        `on_error` receives errors for what cannot be read.
        """
        for path in self.paths(vault, on_error):
            try:
                yield read(vault, path)
            except CrucibleError as error:
                if on_error:
                    on_error(error)

    def find(self, vault: Vault, ref: str, cwd: Path | None = None) -> Path:
        """Find a note by id, by path from `cwd` or the vault, or by unique id prefix.

        Raises `UnknownId` if there is none, and `UsageError` if there are several.
        """
        if is_markdown(ref) and "\0" not in ref:
            for place in (cwd, vault.root, vault.root / self.folder):
                if place and (place / ref).is_file():
                    return self._own(vault, place / ref)
        paths, name = self.paths(vault), _key(note_name(ref))
        found = [path for path in paths if _key(note_name(path.name)) == name]
        found = found or [path for path in paths if name and _key(path.name).startswith(name)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise UnknownId(*no_match(self.one, ref, self.command, (note_name(path.name) for path in paths)))
        shown = first_of([vault.relative(path) for path in found])
        raise UsageError(f"{ref!r} matches {len(found)} {self.several}", f"one of: {shown}")

    def _own(self, vault: Vault, path: Path) -> Path:
        """Return the note's real path; `UsageError` if it is outside the folder."""
        real = files.inside(vault.root, path)
        if not real.is_relative_to(files.inside(vault.root, vault.root / self.folder)):
            raise UsageError(f"{vault.relative(real)}: not in {self.folder}/", f'Run "{self.command}" to see ids.')
        return real


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def create_note(vault: Vault, path: Path, data: bytes) -> None:
    """Write a new note; `NoteExists` if the file exists."""
    files.create_exclusive(path, data, fsync=vault.settings.fsync)
    vault.touched.add(path)


def replacement(source: Source, text: str) -> list[Edit]:
    """Return the edits that replace the full text of a note; none if it already has this text."""
    return [] if source.text == text else [Edit(Span(0, len(source.text)), text)]


# --- the digest in generated notes ------------------------------------------------------------------------------------

_DIGITS = 16


def stamped(text: str, key: str, besides: Sequence[str] = (), without: Callable[[str], str] | None = None) -> str:
    """Return the note with its digest in the property `key`.

    The digest excludes the properties in `besides` and whatever `without` removes from the text.
    """
    source = Source(text)
    found = find_frontmatter(source)
    if found.locked or not found.present or key in found.values:
        source = apply_edits(source, set_key(source, found, key, "0" * _DIGITS))
        found = find_frontmatter(source)
        edits = set_key(source, found, key, _digest(source, found, key, besides, without))
        return apply_edits(source, edits).text
    entry = render_entry(key, _digest(source, found, key, besides, without))
    at = source.starts[found.lines.end - 1]
    lines = "".join(f"{line}{source.newline}" for line in entry)
    return apply_edits(source, [Edit(Span(at, at), lines)]).text


def is_stamped(
    source: Source,
    key: str,
    besides: Sequence[str] = (),
    without: Callable[[str], str] | None = None,
    found: Frontmatter | None = None,
) -> bool:
    """Return whether the note's digest matches its text.  `found` is its frontmatter, if already parsed."""
    found = found or find_frontmatter(source)
    stored = found.values.get(key)
    return isinstance(stored, str) and bool(stored) and stored == _digest(source, found, key, besides, without)


def _digest(
    source: Source,
    found: Frontmatter,
    key: str,
    besides: Sequence[str],
    without: Callable[[str], str] | None,
) -> str:
    """Return the digest as hex digits; "" if the lines of the properties cannot be located.

    Removing the properties may leave frontmatter that does not parse.  That is harmless: the digest still matches only
    a note that we wrote.
    """
    if found.present and found.locked and not found.keys.keys() >= {key, *besides}:
        return ""
    names = {key, *besides}
    spans = [span for name, span in (*found.keys.items(), *found.repeats) if name in names]
    try:
        same = apply_edits(source, [Edit(span, "") for span in spans]).text.replace("\r\n", "\n")
    except EditRefused:
        return ""
    same = without(same) if without else same
    return hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:_DIGITS]
