"""The inbox: items waiting for the user, found in the index and read from their notes, and the user's answers.

An error is answered by its `Resolution:`; any other item by a `[!user]` callout after it that names the item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from crucible.core.errors import CrucibleError, EditRefused, SessionNotFound, UsageError
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import unscanned
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.frontmatter import find_frontmatter_span
from crucible.documents.markdown.source import Edit
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.callout_edits import add_after, add_resolution
from crucible.documents.session.import_properties import add_redactions
from crucible.documents.session.session import Callout, Entry, Failure, Intervention, Phase, Status
from crucible.documents.session.task_edits import set_fields
from crucible.documents.session.waiting import Answers, answer_note
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.notes.vault import Note, Vault


class PendingKind(StrEnum):
    """What the user has to do: decide, approve, review a finished task, or fix an error."""

    DECISION = "decision_needed"
    APPROVAL = "approval_required"
    DONE = "task_complete"
    ERROR = "error"


class PendingItem(NamedTuple):
    """An item that is waiting for the user or has been answered.

    `id` is the session's id, a dot and six hex digits that depend only on the item's text (with `-2` for a second item
    with the same text).  `session` is the note's name, `path` its path relative to the vault.  `phase` is the phase's
    id ("" before the first phase), `line` the item's first line in the note, from 1.  `at` is the start of its phase,
    else of its session, in UTC, or None if unknown.  `title` and `text` are decoded, with all their lines.  `answer` is
    the answer's text, or "".  `verdict` is `answered`, `approved`, `rejected`, `seen` or `fixed`, "" for a pending
    item.
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
    """A note with items: its path cell, and its session's start and end from the index ("" if unknown or not ended)."""

    path: str
    started: str
    ended: str = ""


def notes_with_items(
    view: View, project: str = "", kinds: Collection[PendingKind] = _ALL, *, answered: bool = False
) -> Iterator[PendingNote]:
    """Yield the notes with pending items of these kinds, newest session first.  `answered` includes answered items."""
    for shard in view.shards:
        paths = {
            str(row["path"])
            for kind in sorted(kinds)
            for state in ("1,", "0,")[: 1 + answered]
            for row in view.rows("callouts", [shard], [f",{kind.value},{state}"])
            if row["kind"] == kind.value and row["waits"] == int(state[0])
        }
        rows = view.rows("sessions", [shard]) if paths else ()
        found = [
            PendingNote(str(row["path"]), str(row["started"] or ""), _ended(row))
            for row in rows
            if row["path"] in paths
            and row["archived"] is None
            and (not project or str(row["project"] or "").lower() == project.lower())
        ]
        yield from sorted(found, key=lambda one: one.started, reverse=True)


def _ended(row: Row) -> str:
    is_over = row["status"] in (Status.COMPLETED, Status.FAILED)
    return str(row["ended"] or row["started"] or "") if is_over else ""


def without_repeats(items: Iterable[PendingItem]) -> Iterator[PendingItem]:
    """Drop repeated pending items of a session: an agent may ask the same question again."""
    seen: set[tuple[str, ...]] = set()
    for item in items:
        key = (item.session, item.kind.value, item.title, item.text)
        if item.answered or key not in seen:
            yield item
        if not item.answered:
            seen.add(key)


def read_items(
    vault: Vault, found: Iterable[PendingNote], on_error: Callable[[CrucibleError], None]
) -> Iterator[PendingItem]:
    """Yield all items in these notes, including answered ones.  Notes are read lazily."""
    for place in found:
        path = path_of_cell(place.path)
        try:
            yield from items_of(vault.read(vault.root / Path(path)), path)
        except CrucibleError as error:
            on_error(error)


def items_of(note: Note, path: str = "") -> list[PendingItem]:
    """Return a note's items in order; `path` is relative to the vault."""
    return [item._replace(path=path) for item, _ in _placed(note)]


def find_entry(note: Note, name: str) -> list[tuple[PendingItem, Entry]]:
    """Return the items named `name`, or else with that prefix, and their entries; all items if `name` is ""."""
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
    """Return an item without its path."""
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
    """Return the verdict of the answer that names the item; any other answer counts as `answered`."""
    own = answers.named_answer(at)
    if own is None:
        return "fixed" if isinstance(entry, Failure) else "answered"
    return (own.note or "").partition(" ")[0]


def _answer(entry: Entry, answers: Answers, at: int) -> str:
    found: Intervention | None = answers.named_answer(at)
    if found is None and isinstance(entry, Failure):
        return entry.resolution or ""
    found = found or answers.prompt_after(at)
    return found.words if found else ""


_REFERENCE = late_pattern(r"(?s)(.+)\.([0-9a-f]{1,6}(?:-\d{0,4})?)")
_SHOWN = 3


class AnswerVerdict(StrEnum):
    """The kind of an answer."""

    ANSWERED = "answered"
    APPROVED = "approved"
    REJECTED = "rejected"
    SEEN = "seen"


class ItemNotFound(CrucibleError):
    """No item has this name; it may have been removed or edited."""


class AlreadyAnswered(CrucibleError):
    """The item already has an answer."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The item as it was before the answer, and the number of redactions by rule."""

    item: PendingItem
    redactions: Mapping[str, int] = field(default_factory=dict)


_TAKES = {
    PendingKind.DECISION: {AnswerVerdict.ANSWERED},
    PendingKind.APPROVAL: {AnswerVerdict.ANSWERED, AnswerVerdict.APPROVED, AnswerVerdict.REJECTED},
    PendingKind.DONE: {AnswerVerdict.ANSWERED, AnswerVerdict.SEEN},
    PendingKind.ERROR: {AnswerVerdict.ANSWERED, AnswerVerdict.SEEN},
}
_NEEDS = {
    PendingKind.DECISION: "state your decision",
    PendingKind.APPROVAL: "answer with --approve or --reject, or in words",
    PendingKind.DONE: "answer with --ack, or in words",
    PendingKind.ERROR: "state how it was fixed, or dismiss it with --ack",
}


def answer(
    vault: Vault, ref: str, text: str = "", *, verdict: AnswerVerdict = AnswerVerdict.ANSWERED, redact: Redact
) -> GivenAnswer:
    """Answer the item `ref`: its id, a prefix of the id, or the id of a session with one pending item.

    Only the verdict `ANSWERED` needs a text.  Writes only the answer's lines and, if anything was redacted, the
    redaction counts.  Raises `ItemNotFound`, `AlreadyAnswered`, `UsageError` for a verdict that the item does not
    allow, `SessionNotFound`, or `EditRefused` if the answer cannot be inserted.
    """
    words, counts = _cleaned(text, redact)
    session, name = _named(vault, ref)
    done: list[PendingItem] = []

    def intention(note: Note) -> list[Edit]:
        item, entry = _only(note, name, ref)
        _check(item, verdict, words)
        done[:] = [item]
        edits = _edits(note, item, entry, verdict, words)
        return [*_counted(note, counts), *edits]

    path = vault.find(session)
    vault.update(path, intention)
    return GivenAnswer(done[0]._replace(path=vault.relative(path)), counts)


def _cleaned(text: str, redact: Redact) -> tuple[str, dict[str, int]]:
    """Redact the text as given and in normal form, since normalization may join the parts of a secret."""
    counts: Counter[str] = Counter()
    for form in (str, normal):
        text = form(text)
        try:
            text, found = redact(text)
        except Exception as error:
            raise unscanned(error) from error
        counts.update(found)
    return normal(text).strip(), dict(counts)


def _named(vault: Vault, ref: str) -> tuple[str, str]:
    """Return the session, and the item's name or prefix; "" for the only pending item."""
    found = _REFERENCE.fullmatch(ref)
    if not found:
        return ref, ""
    try:
        # A session's id may contain a dot, followed by what looks like an item's name.
        vault.find(ref)
    except SessionNotFound:
        return found[1], found[2]
    return ref, ""


def _only(note: Note, name: str, ref: str) -> tuple[PendingItem, Entry]:
    found = find_entry(note, name)
    open_ = [one for one in found if not one[0].answered]
    if len(open_) == 1 and (not name or len(found) == 1 or _is_whole(open_[0][0], name)):
        return open_[0]
    if len(found) == 1 and name:
        said = f": {' '.join(found[0][0].answer.split())[:60]!r}" if found[0][0].answer else ""
        raise AlreadyAnswered(f"{found[0][0].id}: already answered{said}", "change it in the note")
    if open_:
        raise ItemNotFound(
            f"{ref} matches several items: {_listed(item for item, _ in open_)}", "give the full id of one"
        )
    raise ItemNotFound(
        f"{ref}: no such pending item; it may have been edited in the note or removed",
        '"cru inbox" lists pending items, "cru inbox --all" answered ones too',
    )


def _is_whole(item: PendingItem, name: str) -> bool:
    return item.id.endswith(f".{name}")


def _listed(items: Iterable[PendingItem]) -> str:
    ids = [item.id for item in items]
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def _check(item: PendingItem, verdict: AnswerVerdict, words: str) -> None:
    if item.answered:
        raise AlreadyAnswered(f"{item.id}: already answered", "change it in the note")
    if verdict not in _TAKES[item.kind] or (verdict is AnswerVerdict.ANSWERED and not words):
        missing = "no answer" if verdict is AnswerVerdict.ANSWERED else f"it cannot be {verdict.value}"
        raise UsageError(f"{item.id} ({item.kind.value}): {missing}", _NEEDS[item.kind])


def _edits(note: Note, item: PendingItem, entry: Entry, verdict: AnswerVerdict, words: str) -> list[Edit]:
    if isinstance(entry, Failure) and verdict is AnswerVerdict.ANSWERED:
        return add_resolution(note.source, note.session, entry, words)
    name = item.id.removeprefix(f"{item.session}.")
    text = words or f"{verdict.value.capitalize()}."
    return add_after(note.source, note.session, entry, Intervention(text, answer_note(verdict.value, name)))


def _counted(note: Note, counts: Mapping[str, int]) -> list[Edit]:
    """Return edits that add redaction counts to the note's properties; none if they cannot be edited."""
    session = note.session
    if not counts or not find_frontmatter_span(note.source).end:
        return []
    values: dict[str, Value] = {"redactions": (session.redactions or 0) + sum(counts.values())}
    values["redacted"] = [*add_redactions(session.redacted, counts)]
    try:
        return set_fields(note.source, session, values)
    except EditRefused:
        return []  # the counts are not essential
