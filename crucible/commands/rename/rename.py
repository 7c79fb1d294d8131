"""Rename a session: its file, its id, and every link to it in the vault.

First plan, then move the file, then edit each note; a journal lets the next command finish an interrupted rename.
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
from crucible.documents.session.property_values import changed_title
from crucible.documents.session.session_id import check_new_id
from crucible.documents.session.task_edits import set_fields
from crucible.memory.history.history_folder import history_names
from crucible.vault.events.event_files import may_have_records
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
    """The result of a rename.

    `path` is the note's new path, `changed` lists the edited notes, `links` is the number of links changed in them.
    `left` lists what was not changed: ambiguous links, events, and notes that could not be read or written.
    """

    path: Path
    old_id: str
    new_id: str
    changed: tuple[Path, ...]
    links: int
    left: tuple[Left, ...]


def rename_named(vault: Vault, ref: str, new_id: str, cwd: Path | None = None) -> RenameReport:
    """Rename the session that `Vault.find` returns for `ref`, after finishing any interrupted rename.

    Also updates the id in the parent's `subagents`, and a title that equals the old id or its slug. `ref` may be the id
    from before an interrupted rename. If only `new_id` exists, an earlier rename could not write some notes, and the
    remaining links are fixed. Raises `UsageError` for a note that is not a session or for an invalid id, `NoteExists`,
    `NoteChanged` and `LockTimeout`, all before anything is changed.
    """
    with _rename_lock(vault, vault.settings.lock_seconds):
        finished = _finish_interrupted(vault)
        old_id = note_name(PurePath(ref).name)
        if finished and old_id == finished.old_id:
            if new_id == finished.new_id:
                return finished
            ref = old_id = finished.new_id
        ids = vault.session_ids()
        if old_id and old_id not in ids and new_id in ids:
            report = _fix_remaining(vault, old_id, new_id)
            if report:
                return _joined(finished, report)
        return _joined(finished, _rename(vault, vault.load(ref, cwd), new_id))


def _joined(finished: RenameReport | None, report: RenameReport) -> RenameReport:
    """Add the notes that the earlier rename could not write."""
    return replace(report, left=(*finished.left, *report.left)) if finished else report


def finish_rename(vault: Vault) -> RenameReport | None:
    """Finish an interrupted rename; None if there is none or it is still running.

    Raises `CrucibleError` if that fails.
    """
    if not is_unfinished(vault.root):
        return None
    try:
        with _rename_lock(vault, 0.0):
            return _finish_interrupted(vault)
    except LockTimeout:
        return None


def _rename_lock(vault: Vault, seconds: float) -> AbstractContextManager[Lock]:
    """Return the lock for all renames in a vault, which share one journal."""
    return locked(vault.root, journal_path(vault.root), seconds)


def _rename(vault: Vault, note: Note, new_id: str) -> RenameReport:
    refuse_secret(check_new_id(new_id), vault.settings.secrets)
    check_is_session(vault, note)
    old = vault.relative(note.path)
    notes, unreadable = _read_all(vault)
    notes[old] = note
    # Plan before the move: a taken name raises before anything changes, and links that are already ambiguous are left.
    work = _Rename(vault, old, _beside(old, new_id), notes, unreadable)
    keep_journal(vault, Journal(work.old, work.new))
    try:
        vault.rename(note, new_id)
    except CrucibleError:
        forget_rename(vault.root)
        raise
    work.update_references()
    forget_rename(vault.root)
    return work.report()


def _finish_interrupted(vault: Vault) -> RenameReport | None:
    """Finish the rename in the journal. Does nothing if the note was not moved or no longer exists."""
    journal = load_journal(vault)
    report = None
    if journal and _has_moved(vault, journal):
        work = _resumed(vault, journal)
        work.update_references()
        report = work.report()
    forget_rename(vault.root)
    return report


def _has_moved(vault: Vault, journal: Journal) -> bool:
    """True if the note has its new name. Finishes a move that stopped between its two steps."""
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


def _fix_remaining(vault: Vault, old_id: str, new_id: str) -> RenameReport | None:
    """Fix the links that an earlier rename could not write; None if there are none."""
    note = vault.load(new_id)
    check_is_session(vault, note)
    new = vault.relative(note.path)
    work = _resumed(vault, Journal(_beside(new, old_id), new))
    work.update_references()
    return work.report() if work.changed or work.failed or work.moved_events else None


def _resumed(vault: Vault, journal: Journal) -> _Rename:
    """Return the rename of a note that already has its new name."""
    pairs = history_names(*journal.ids)
    for old, new in pairs:
        files.finish_move(vault.root / old, vault.root / new)
    notes, unreadable = _read_all(vault)
    before = {journal.old if at == journal.new else at: one for at, one in notes.items()}
    for old, new in pairs:
        if old not in before:
            # The history moves after all links to it are fixed, so mentions of the new id are not links to it.
            before.pop(new, None)
    return _Rename(vault, *journal, before, unreadable, was_begun=True)


@dataclass(slots=True)
class _Rename:
    """A rename in progress. `notes` has the notes by their paths before the rename, relative to the vault's root.

    `was_begun` is True if an earlier run already moved the file.
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

    def update_references(self) -> None:
        """Do everything except move the file.

        The session's own note comes last, so its old id identifies an interrupted run.
        """
        left = (self.move_events(), copy_bookmarks(self.vault, *self.ids), move_tasks(self.vault, *self.ids))
        self.failed += [each for each in left if each]
        for at in sorted(self.notes, key=lambda at: (at == self.old, at)):
            self.update_note(at)
        self.move_history()

    def move_events(self) -> Left | None:
        old_id, new_id = self.ids
        existed = may_have_records(self.vault.root, old_id)
        left = move_events(self.vault, old_id, new_id)
        self.moved_events = existed and left is None
        return left

    def move_history(self) -> None:
        """Move the history note last, since links in it are edited at its old path."""
        now = {self.new if at == self.old else at: note for at, note in self.notes.items()}
        for path in self.changed:
            with suppress(CrucibleError):
                now[self.vault.relative(path)] = self.vault.read(path)
        moved = move_history(self.vault, *self.ids, now)
        self.failed += moved.left
        for at, count in moved.links.items():
            path = self.vault.root / at
            self.changed[path] = self.changed.get(path, 0) + count

    def update_note(self, at: str) -> None:
        path = self.vault.root / (self.new if at == self.old else at)
        edits: list[Edit] = []
        links = 0

        def plan_edits(note: Note) -> list[Edit]:
            nonlocal edits, links
            edits, links = self.edits(at, note)
            return edits

        try:
            if plan_edits(self.notes[at]):
                self.vault.update(path, plan_edits)
                self.changed |= {path: links} if edits else {}
        except CrucibleError as error:
            self.failed.append(Left(path, Problem("not-written", 1, str(error))))

    def edits(self, at: str, note: Note) -> tuple[list[Edit], int]:
        """Return the edits to the note's current text, and how many of them change links."""
        plan = self.plan
        if note.source != self.notes[at].source:
            plan = plan_rename({at: note.source}, self.old, self.new, [o for o in self.notes if o != at])
        links = plan.edits.get(at, [])
        return [*links, *_other_edits(note, at == self.old and self.is_own(note), *self.ids)], len(links)

    def is_own(self, note: Note) -> bool:
        """True if the id in the renamed note may be changed. If an earlier run began, only the old id may."""
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
        message = f"[[{link.link.target}]] was not changed: it could mean any of {', '.join(link.candidates)}"
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
        edits += set_fields(note.source, note.session, {"session_id": new_id})
    return edits + _title_edits(note, old_id, new_id)


def _subagent_edits(source: Source, old_id: str, new_id: str) -> list[Edit]:
    """Return edits of `session: <old>` in each item of the property `subagents`."""
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
        # Skip values with an anchor or a tag before the text.
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
    if at < line.start:
        return []
    repeated = changed_title(note.session.properties, note.session.title, new)
    return [*set_fields(note.source, note.session, repeated), Edit(Span(at, at + len(note.session.title)), new)]


def _slug(session_id: str) -> str:
    return re.sub(r"^\d{4}-\d{2}-\d{2}-", "", session_id)


def _stem(path: str) -> str:
    return note_name(PurePosixPath(path).name)


def _beside(path: str, session_id: str) -> str:
    return str(PurePosixPath(path).with_name(f"{session_id}.md"))
