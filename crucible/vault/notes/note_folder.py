"""The notes of one folder of a vault, such as `knowledge/` and `cases/`: list them, and find one by name."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import UsageError
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import OnError, find_notes, is_markdown, note_name

__all__ = ["FolderNotes"]

_SHOWN = 5


class FolderNotes(NamedTuple):
    """A folder, its singular and plural nouns for messages, and a hint with the command that lists its notes."""

    folder: str
    one: str
    several: str
    hint: str

    def paths(self, vault: Vault, on_error: OnError | None = None) -> list[Path]:
        """Every note of the folder, sorted; `on_error` gets what cannot be read."""
        walk = find_notes(vault.root, vault.root / self.folder, on_error)
        return sorted((folder / name for folder, names in walk for name in names), key=str)

    def find(self, vault: Vault, ref: str, cwd: Path | None = None) -> Path:
        """Find a note by id, by path from `cwd` or the vault, or by unique id prefix; else `UsageError`."""
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
            raise UsageError(f"no {self.one} {ref[:80]!r}", self.hint)
        shown = ", ".join(map(vault.relative, found[:_SHOWN])) + (" …" if len(found) > _SHOWN else "")
        raise UsageError(f"{ref!r} fits {len(found)} {self.several}", f"one of: {shown}")

    def _own(self, vault: Vault, path: Path) -> Path:
        """The note's resolved path; `UsageError` if it is outside the folder."""
        real = files.inside(vault.root, path)
        if not real.is_relative_to(files.inside(vault.root, vault.root / self.folder)):
            raise UsageError(f"{vault.relative(real)}: not in {self.folder}/", self.hint)
        return real


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
