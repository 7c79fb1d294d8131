"""Items that wait for a human: found in the index's tables, read from their notes.

An item's id depends only on its own words, so other edits of the note do not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.session.session import Callout, Entry, Failure, Intervention, Phase, Status
from crucible.documents.session.waiting import Answers
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.notes.vault import Note, Vault


class PendingKind(StrEnum):
    """What the user is to do: decide, approve, review a finished task, or fix an error."""

    DECISION = "decision_needed"
    APPROVAL = "approval_required"
    DONE = "task_complete"
    ERROR = "error"


class PendingItem(NamedTuple):
    """Something that waits for a human, or waited.

    `id` is the session's id, a dot and six hexadecimal digits of what the item says (`-2` behind the second of the same): it
    changes only when the item's own words do.  `session` is the note's name, `path` the note seen from the vault.  `phase` is
    the phase's id ("" before the first), `line` the item's first line in the note, from 1.  `at` is when its phase began, else its
    session; UTC, None when neither says.  `title` and `text` are decoded, whole and on as many lines as they have.  `answer` is what
    was said, "" where the item waits, or where nobody's very words answer it; `verdict` says how: answered, approved, rejected, seen or mended.
    """

    id: str
    session: str
    path: str
    project: str
    phase: str
    line: int
    at: datetime | None
    kind: PendingKind
    title: str
    text: str
    answered: bool = False
    answer: str = ""
    verdict: str = ""


_ALL = frozenset(PendingKind)


class PendingNote(NamedTuple):
    """A note with items: its path cell, and its session's start and end as in the tables, "" if unknown or still open."""

    path: str
    started: str
    ended: str = ""


def places(
    view: View, project: str = "", kinds: Collection[PendingKind] = _ALL, *, answered: bool = False
) -> Iterator[PendingNote]:
    """The notes with pending items of these kinds, newest session first; with `answered` also answered ones."""
    for shard in view.shards:
        wanted = {
            str(row["path"])
            for kind in sorted(kinds)
            for state in ("1,", "0,")[: 1 + answered]
            for row in view.rows("callouts", [shard], [f",{kind.value},{state}"])
            if row["kind"] == kind.value and row["waits"] == int(state[0])
        }
        rows = view.rows("sessions", [shard]) if wanted else ()
        found = [
            PendingNote(str(row["path"]), str(row["started"] or ""), _ended(row))
            for row in rows
            if row["path"] in wanted and (not project or str(row["project"] or "").lower() == project.lower())
        ]
        yield from sorted(found, key=lambda one: one.started, reverse=True)


def _ended(row: Row) -> str:
    is_over = row["status"] in (Status.COMPLETED, Status.FAILED)
    return str(row["ended"] or row["started"] or "") if is_over else ""


def once(items: Iterable[PendingItem]) -> Iterator[PendingItem]:
    """Drop repeated pending items of a session: an agent may ask again."""
    seen: set[tuple[str, ...]] = set()
    for item in items:
        said = (item.session, item.kind.value, item.title, item.text)
        if item.answered or said not in seen:
            yield item
        if not item.answered:
            seen.add(said)


def read_items(
    vault: Vault, found: Iterable[PendingNote], on_error: Callable[[CrucibleError], None]
) -> Iterator[PendingItem]:
    """Yield every item of these notes, answered ones too, reading notes lazily."""
    for place in found:
        path = path_of_cell(place.path)
        try:
            yield from items_of(vault.read(vault.root / Path(path)), path)
        except CrucibleError as error:
            on_error(error)


def items_of(note: Note, path: str = "") -> list[PendingItem]:
    """A note's items in order; `path` is relative to the vault."""
    return [item._replace(path=path) for item, _ in _placed(note)]


def find_entry(note: Note, name: str) -> list[tuple[PendingItem, Entry]]:
    """The items named `name`, or with that prefix, and their entries; all for ""."""
    found = [(item.id.removeprefix(f"{note.name}."), item, entry) for item, entry in _placed(note)]
    named = [one for one in found if one[0] == name] or [one for one in found if one[0].startswith(name)]
    return [(item, entry) for _, item, entry in named]


def _placed(note: Note) -> list[tuple[PendingItem, Entry]]:
    session = note.session
    parts: list[tuple[Phase | None, Entry]] = [(None, entry) for entry in session.preamble]
    parts += [(phase, entry) for phase in session.all_phases() for entry in phase.entries]
    answers = Answers([entry for _, entry in parts], logged=bool(session.sources))
    return [(_item(note, *parts[at], answers, at), parts[at][1]) for at in answers.names]


def _item(note: Note, phase: Phase | None, entry: Entry, answers: Answers, at: int) -> PendingItem:
    """An item without its path; the session's name is the file's."""
    settled = answers.settles(at)
    title = entry.title if isinstance(entry, Callout) else ""
    text = entry.text if isinstance(entry, Callout | Failure) else ""
    return PendingItem(
        id=f"{note.name}.{answers.names[at]}",
        session=note.name,
        path="",
        project=note.session.project or "",
        phase=phase.id if phase else "",
        line=entry.lines.first + 1,
        at=(phase and phase.started) or note.session.started,
        kind=PendingKind(entry.kind) if isinstance(entry, Callout) else PendingKind.ERROR,
        title=title,
        text=text,
        answered=settled,
        answer=_answer(entry, answers, at) if settled else "",
        verdict=_verdict(entry, answers, at) if settled else "",
    )


def _verdict(entry: Entry, answers: Answers, at: int) -> str:
    """The verdict of the answer that names the item; other answers count as `answered`."""
    own = answers.own(at)
    if own is None:
        return "mended" if isinstance(entry, Failure) else "answered"
    return (own.note or "").partition(" ")[0]


def _answer(entry: Entry, answers: Answers, at: int) -> str:
    found: Intervention | None = answers.own(at)
    if found is None and isinstance(entry, Failure):
        return entry.resolution or ""
    found = found or answers.behind(at)
    return found.words if found else ""
