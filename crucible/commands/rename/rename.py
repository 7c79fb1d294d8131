"""Renaming a session: its file, its id, and every link in the vault that means it.

Owns the order: plan, move the file, then mend the notes one by one.  A note that changes under our hands is planned
anew; one that cannot be read or written is reported and the others go on.  Which links mean the session, and how a
link is written, is `vault.links`'s; aliases, headings and code stay as they are.

A subagent's id in its parent's `subagents` is no link and follows too, and so does a title that is the old id or its
slug; a title in words is the human's own.

A journal is in the vault from before the move until the end, under a lock.  An interrupted rename leaves it behind, and whatever
opens the vault next finishes that rename first; otherwise a rename to a third id would leave links to the first one.  A rename
that could not write some notes has ended: run it again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath, PurePosixPath

import yaml

from crucible.commands.rename.rename_targets import (
    Left,
    check_is_session,
    copy_bookmarks,
    move_events,
    move_history,
    move_tasks,
)
from crucible.core import files
from crucible.core.errors import CrucibleError, LockTimeout
from crucible.core.files import locked
from crucible.core.locks import Lock
from crucible.core.secrets.redaction import refuse_secret
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Edit, Problem, Source, Span
from crucible.documents.markdown.yaml_nodes import READ_ERRORS, compose
from crucible.documents.markdown.yaml_scalars import write_scalar
from crucible.documents.session.edits import set_field
from crucible.documents.session.names import check_new_id
from crucible.memory.history.history_folder import HISTORY
from crucible.vault.notes.discovery import is_unfinished
from crucible.vault.notes.links import RenamePlan, UnclearLink, plan_rename
from crucible.vault.notes.rename_journal import (
    Journal,
    forget_rename,
    journal_path,
    keep_journal,
    load_journal,
)
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name


@dataclass(frozen=True, slots=True)
class RenameReport:
    """What a rename did.

    `path` is the note's new place, `changed` the notes that were edited, `links` how many links in them; `left` names
    what was not changed: ambiguous links, events, and notes that could not be read or written.
    """

    path: Path
    old_id: str
    new_id: str
    changed: tuple[Path, ...]
    links: int
    left: tuple[Left, ...]


def rename_session(vault: Vault, note: Note, new_id: str) -> RenameReport:
    """Give the session of `note` the id `new_id`, after finishing what an earlier rename left.

    Raises UsageError for a note or an id that cannot be renamed so, NoteExists, NoteChanged and LockTimeout, all before anything
    is changed.
    """
    with _alone(vault, vault.settings.lock_seconds):
        finished = _finish_killed(vault)
        return _joined(finished, _rename(vault, note, new_id))


def rename_named(vault: Vault, ref: str, new_id: str, cwd: Path | None = None) -> RenameReport:
    """Rename the session that `ref` finds, as `Vault.find` does.

    An interrupted rename is finished first, and `ref` may still be the id from before it.  If only `new_id` exists, an earlier
    rename could not write some notes: the remaining links are fixed.
    """
    with _alone(vault, vault.settings.lock_seconds):
        finished = _finish_killed(vault)
        old_id = note_name(PurePath(ref).name)
        if finished and old_id == finished.old_id:
            if new_id == finished.new_id:
                return finished
            ref = old_id = finished.new_id
        ids = vault.session_ids()
        if old_id and old_id not in ids and new_id in ids:
            report = _finish_left(vault, old_id, new_id)
            if report:
                return _joined(finished, report)
        return _joined(finished, _rename(vault, vault.load(ref, cwd), new_id))


def _joined(finished: RenameReport | None, report: RenameReport) -> RenameReport:
    """Add the notes that the earlier rename could not write."""
    return replace(report, left=(*finished.left, *report.left)) if finished else report


def finish_rename(vault: Vault) -> RenameReport | None:
    """Finish an interrupted rename; None if there is none, or if it is still running.  Raises CrucibleError if that fails."""
    if not is_unfinished(vault.root):
        return None
    try:
        with _alone(vault, 0.0):
            return _finish_killed(vault)
    except LockTimeout:
        return None


def _alone(vault: Vault, seconds: float) -> AbstractContextManager[Lock]:
    """Lock out other renames: there is only one journal."""
    return locked(vault.root, journal_path(vault.root), seconds)


def _rename(vault: Vault, note: Note, new_id: str) -> RenameReport:
    refuse_secret(check_new_id(new_id), vault.settings.secrets)
    check_is_session(vault, note)
    old = vault.relative(note.path)
    notes, unreadable = _read_all(vault)
    notes[old] = note
    # Planned before the move, so that a name that is taken changes nothing; what is ambiguous now stays ambiguous.
    work = _Rename(vault, old, _beside(old, new_id), notes, unreadable)
    keep_journal(vault, Journal(work.old, work.new))
    try:
        vault.rename(note, new_id)
    except CrucibleError:
        forget_rename(vault.root)
        raise
    work.mend()
    forget_rename(vault.root)
    return work.report()


def _finish_killed(vault: Vault) -> RenameReport | None:
    """Finish the rename in the journal.  If its note was not moved, or is gone, there is nothing to do."""
    journal = load_journal(vault)
    report = None
    if journal and _has_moved(vault, journal):
        work = _resumed(vault, journal)
        work.mend()
        report = work.report()
    forget_rename(vault.root)
    return report


def _has_moved(vault: Vault, journal: Journal) -> bool:
    """Whether the note has its new name.  A move that stopped between its two steps is finished."""
    old, new = (vault.root / name for name in journal)
    if not new.is_file() or new.is_symlink():
        return False
    if not os.path.lexists(old):
        return True
    if not new.stat().st_size:  # without hard links, a move first reserves the name with an empty file
        new.unlink()
        return False
    vault.touched |= {old, new}
    return files.finish_move(old, new)


def _finish_left(vault: Vault, old_id: str, new_id: str) -> RenameReport | None:
    """None when nothing is left of such a rename."""
    note = vault.load(new_id)
    check_is_session(vault, note)
    new = vault.relative(note.path)
    work = _resumed(vault, Journal(_beside(new, old_id), new))
    work.mend()
    return work.report() if work.changed or work.failed or work.moved_events else None


def _resumed(vault: Vault, journal: Journal) -> _Rename:
    """The rename of a note that already has its new name."""
    old, new = (f"{HISTORY}/{name}.md" for name in journal.ids)
    files.finish_move(vault.root / old, vault.root / new)
    notes, unreadable = _read_all(vault)
    before = {journal.old if at == journal.new else at: one for at, one in notes.items()}
    if old not in before:
        # It was moved after all links to it were fixed: mentions of the new id are not links to this history.
        before.pop(new, None)
    return _Rename(vault, *journal, before, unreadable, was_begun=True)


@dataclass(slots=True)
class _Rename:
    """A rename on its way; notes by the paths that they had before it, seen from the vault.

    `was_begun` when an earlier run moved the file already.
    """

    vault: Vault
    old: str
    new: str
    notes: dict[str, Note]
    left: list[Left]
    was_begun: bool = False
    plan: RenamePlan = field(init=False)
    failed: list[Left] = field(default_factory=list)
    changed: dict[Path, int] = field(default_factory=dict)
    moved_events: bool = False

    def __post_init__(self) -> None:
        self.plan = plan_rename({at: note.source for at, note in self.notes.items()}, self.old, self.new)

    @property
    def ids(self) -> tuple[str, str]:
        return _stem(self.old), _stem(self.new)

    def mend(self) -> None:
        """Everything but the file's move; what names the session itself comes last, so that it tells of a broken end."""
        left = (self.move_events(), copy_bookmarks(self.vault, *self.ids), move_tasks(self.vault, *self.ids))
        self.failed += [each for each in left if each]
        for at in sorted(self.notes, key=lambda at: (at == self.old, at)):
            self.mend_note(at)
        self.follow_history()

    def move_events(self) -> Left | None:
        old_id, new_id = self.ids
        folder = self.vault.root / ".crucible" / "flight" / old_id
        there = folder.exists()
        left = move_events(self.vault, old_id, new_id)
        self.moved_events = there and left is None
        return left

    def follow_history(self) -> None:
        """Last of all, since its links to the session are mended where it is."""
        now = {self.new if at == self.old else at: note for at, note in self.notes.items()}
        for path in self.changed:
            with suppress(CrucibleError):
                now[self.vault.relative(path)] = self.vault.read(path)
        followed = move_history(self.vault, *self.ids, now)
        self.failed += followed.left
        for at, count in followed.links.items():
            path = self.vault.root / at
            self.changed[path] = self.changed.get(path, 0) + count

    def mend_note(self, at: str) -> None:
        path = self.vault.root / (self.new if at == self.old else at)
        edits: list[Edit] = []
        links = 0

        def wanted(note: Note) -> list[Edit]:
            nonlocal edits, links
            edits, links = self.edits(at, note)
            return edits

        try:
            if wanted(self.notes[at]):
                self.vault.update(path, wanted)
                self.changed |= {path: links} if edits else {}
        except CrucibleError as error:
            self.failed.append(Left(path, Problem("not-written", 1, str(error))))

    def edits(self, at: str, note: Note) -> tuple[list[Edit], int]:
        """What to change in a note as it is now, and how many links of it."""
        plan = self.plan
        if note.source != self.notes[at].source:
            plan = plan_rename({at: note.source}, self.old, self.new, [o for o in self.notes if o != at])
        links = plan.edits.get(at, [])
        return [*links, *_other_edits(note, at == self.old and self.is_own(note), *self.ids)], len(links)

    def is_own(self, note: Note) -> bool:
        """Whether the id in the renamed note is ours to change: when finishing, another one than the old is not."""
        old_id = self.ids[0]
        return not self.was_begun or str(note.session.properties.get("session_id", old_id)) == old_id

    def report(self) -> RenameReport:
        old_id, new_id = self.ids
        path = self.vault.root / self.new
        unclear = (self.unclear(link, path) for link in self.plan.ambiguous)
        left = (*self.left, *unclear, *self.failed)
        return RenameReport(path, old_id, new_id, tuple(sorted(self.changed)), sum(self.changed.values()), left)

    def unclear(self, link: UnclearLink, moved: Path) -> Left:
        path = moved if link.path == self.old else self.vault.root / link.path
        message = f"[[{link.link.target}]] is left: it could be any of {', '.join(link.candidates)}"
        return Left(path, Problem("ambiguous-link", link.line, message))


def _read_all(vault: Vault) -> tuple[dict[str, Note], list[Left]]:
    notes: dict[str, Note] = {}
    unreadable: list[Left] = []
    for path in vault.note_paths():
        try:
            notes[vault.relative(path)] = vault.read(path)
        except CrucibleError as error:
            unreadable.append(Left(path, Problem("unreadable-note", 1, str(error))))
    return notes, unreadable


def _other_edits(note: Note, is_renamed: bool, old_id: str, new_id: str) -> list[Edit]:
    edits = _subagent_edits(note.source, old_id, new_id)
    if not is_renamed:
        return edits
    if "session_id" in note.session.properties:
        edits += set_field(note.source, note.session, "session_id", new_id)
    return edits + _title_edits(note, old_id, new_id)


def _subagent_edits(source: Source, old_id: str, new_id: str) -> list[Edit]:
    """`session: <old>` of each item of the property `subagents`."""
    span = find_frontmatter(source).keys.get("subagents")
    if span is None or old_id not in source.slice(span):
        return []
    try:
        composed = compose(source.slice(span))
    except READ_ERRORS:
        return []
    edits = {}
    for node in _sessions(composed.root):
        at = Span(span.start + composed.offset(node.start_mark), span.start + composed.offset(node.end_mark))
        # An anchor or a tag before the text belongs to the node and must stay: such a thing is left to its author.
        if node.value == old_id and source.slice(at).strip("'\"") == old_id:
            edits[at.start] = Edit(at, write_scalar(new_id))
    return list(edits.values())


def _sessions(root: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    for _, items in _pairs(root):
        for item in items.value if isinstance(items, yaml.SequenceNode) else ():
            for key, value in _pairs(item):
                if isinstance(key, yaml.ScalarNode) and key.value == "session" and isinstance(value, yaml.ScalarNode):
                    yield value


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else []


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
    return note_name(PurePosixPath(path).name)


def _beside(path: str, session_id: str) -> str:
    return str(PurePosixPath(path).with_name(f"{session_id}.md"))
