"""Renaming a session: its file, its id, and every link in the vault that means it.

Owns the order: plan, move the file, then mend the notes one by one.  A note that changes under our hands is planned
anew; one that cannot be written is reported and the others go on.  Which links mean the session, and how a link is
written, is `vault.links`'s; aliases, headings and code stay as they are.

A subagent's id in its parent's `subagents` is no link and follows too, and so does a title that is the old id or its
slug; a title in words is the human's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from crucible.errors import BadSessionId, CrucibleError, NoteChanged
from crucible.flight.recorder import flight_folder
from crucible.note.frontmatter import find_frontmatter
from crucible.note.source import Edit, Problem, Source, Span
from crucible.session.editing import set_field
from crucible.session.identity import check_session_id
from crucible.vault.links import UnclearLink, plan_rename
from crucible.vault.store import Note, Vault

__all__ = ["Left", "RenameReport", "rename_session"]

_ROUNDS = 3
"""How often notes that change meanwhile are planned anew."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a rename did not change, where, and why."""

    path: Path
    problem: Problem


@dataclass(frozen=True, slots=True)
class RenameReport:
    """What a rename did.

    `path` is the note's new place, `changed` the notes that were edited, `links` how many links in them; `left` names
    what was not changed: ambiguous links, and notes that could not be read or written.
    """

    path: Path
    old_id: str
    new_id: str
    changed: tuple[Path, ...]
    links: int
    left: tuple[Left, ...]


@dataclass(slots=True)
class _Rename:
    """A rename on its way; notes by the paths that they had before it, seen from the vault."""

    vault: Vault
    old: str
    new: str
    notes: dict[str, Note]
    failed: dict[str, Left] = field(default_factory=dict)
    changed: dict[str, Path] = field(default_factory=dict)
    links: int = 0

    def mend(self) -> bool:
        """One round; whether there is nothing left to do."""
        plan = plan_rename({at: note.source for at, note in self.notes.items()}, self.old, self.new)
        settled = True
        for at, note in list(self.notes.items()):
            links = plan.edits.get(at, [])
            edits = [*links, *_other_edits(note, at == self.old, _stem(self.old), _stem(self.new))]
            if edits and at not in self.failed:
                settled = self.save(at, note, edits, len(links)) and settled
        return settled

    def save(self, at: str, note: Note, edits: list[Edit], links: int) -> bool:
        try:
            self.notes[at] = self.vault.save(note, edits)
            self.changed[at] = note.path
            self.links += links
        except NoteChanged:
            return self.read_again(at, note)
        except CrucibleError as error:
            self.failed[at] = Left(note.path, Problem("not-written", 1, str(error)))
        return True

    def read_again(self, at: str, note: Note) -> bool:
        try:
            self.notes[at] = self.vault.read(note.path)
        except CrucibleError as error:
            self.failed[at] = Left(note.path, Problem("not-written", 1, str(error)))
            return True
        return False


def rename_session(vault: Vault, note: Note, new_id: str) -> RenameReport:
    """Give the session of `note` the id `new_id`.

    Raises BadSessionId and NoteExists before anything is changed.
    """
    check_session_id(new_id)
    old = vault.relative(note.path)
    new = str(PurePosixPath(old).with_name(f"{new_id}.md"))
    notes, unreadable = _read_all(vault)
    # Before the move, so that a name that is taken changes nothing; what is ambiguous now stays ambiguous.
    unclear = plan_rename({at: one.source for at, one in notes.items()}, old, new).ambiguous
    moved = vault.rename(note, new_id)
    _move_flight(vault, note.name, new_id)
    work = _Rename(vault, old, new, notes | {old: vault.read(moved)})
    for _ in range(_ROUNDS):
        if work.mend():
            break
    left = [*unreadable, *(_ambiguous(vault, link, old, moved) for link in unclear), *work.failed.values()]
    changed = tuple(sorted(work.changed.values()))
    return RenameReport(moved, note.name, new_id, changed, work.links, tuple(left))


def _move_flight(vault: Vault, old_id: str, new_id: str) -> None:
    """The whole events go along: their folder has the session's id."""
    try:
        old, new = flight_folder(vault.root, old_id), flight_folder(vault.root, new_id)
    except BadSessionId:
        return  # a name that is no id, as a human may give a file, never had any events
    if old.is_dir() and not new.exists():
        old.rename(new)


def _read_all(vault: Vault) -> tuple[dict[str, Note], list[Left]]:
    notes: dict[str, Note] = {}
    unreadable: list[Left] = []
    for path in vault.note_paths():
        try:
            notes[vault.relative(path)] = vault.read(path)
        except CrucibleError as error:
            unreadable.append(Left(path, Problem("unreadable-note", 1, str(error))))
    return notes, unreadable


def _ambiguous(vault: Vault, link: UnclearLink, old: str, moved: Path) -> Left:
    path = moved if link.path == old else vault.root / link.path
    message = f"[[{link.link.target}]] is left: it could be any of {', '.join(link.candidates)}"
    return Left(path, Problem("ambiguous-link", link.line, message))


def _other_edits(note: Note, is_renamed: bool, old_id: str, new_id: str) -> list[Edit]:
    edits = _subagent_edits(note.source, old_id, new_id)
    if not is_renamed:
        return edits
    if "session_id" in note.session.properties and note.session.id != new_id:
        edits += set_field(note.source, note.session, "session_id", new_id)
    return edits + _title_edits(note, old_id, new_id)


def _subagent_edits(source: Source, old_id: str, new_id: str) -> list[Edit]:
    """`session: <old>` inside the property `subagents`, quoted or not."""
    span = find_frontmatter(source).keys.get("subagents")
    if span is None or old_id not in source.slice(span):
        return []
    item = re.compile(rf"(?<![\w-])session:[ \t]*([\"']?)({re.escape(old_id)})\1(?![\w.-])")
    found = item.finditer(source.slice(span))
    return [Edit(Span(span.start + m.start(2), span.start + m.end(2)), new_id) for m in found]


def _title_edits(note: Note, old_id: str, new_id: str) -> list[Edit]:
    names = {old_id: new_id, _slug(old_id): _slug(new_id)}
    new = names.get(note.session.title)
    if new is None or note.session.title_lines.first < 0:
        return []
    line = note.source.span_of(note.session.title_lines)
    at = line.start + note.source.slice(line).find(note.session.title)
    return [Edit(Span(at, at + len(note.session.title)), new)] if at >= line.start else []


def _slug(session_id: str) -> str:
    return re.sub(r"^\d{4}-\d{2}-\d{2}-", "", session_id)


def _stem(path: str) -> str:
    return PurePosixPath(path).stem
