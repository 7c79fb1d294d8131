"""Write an answer into the session's note, once for each item, as the locked note shows.

An error gets its `Resolution:`; any other item a `[!user]` callout after it that names the item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from crucible.core.errors import CrucibleError, EditRefused, SessionNotFound, UsageError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import unscanned
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.frontmatter import find_frontmatter, find_frontmatter_span, set_key
from crucible.documents.markdown.source import Edit, Source, Span, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.callout_edits import add_behind, add_resolution
from crucible.documents.session.counted_properties import redacted_more
from crucible.documents.session.session import Entry, Failure, Intervention
from crucible.documents.session.waiting import naming
from crucible.memory.inbox.pending import PendingItem, PendingKind, find_entry
from crucible.vault.notes.vault import Note, Vault

_REFERENCE = late_pattern(r"(?s)(.+)\.([0-9a-f]{1,6}(?:-\d{0,4})?)")
_SHOWN = 3


class AnswerVerdict(StrEnum):
    """The kind of an answer."""

    ANSWERED = "answered"
    APPROVED = "approved"
    REJECTED = "rejected"
    SEEN = "seen"


class ItemNotFound(CrucibleError):
    """No item has that name; it may have been removed or edited."""


class AlreadyAnswered(CrucibleError):
    """An item is answered once."""


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """The item before the answer, and redactions by rule."""

    item: PendingItem
    redactions: Mapping[str, int] = field(default_factory=dict)


_TAKES = {
    PendingKind.DECISION: {AnswerVerdict.ANSWERED},
    PendingKind.APPROVAL: {AnswerVerdict.ANSWERED, AnswerVerdict.APPROVED, AnswerVerdict.REJECTED},
    PendingKind.DONE: {AnswerVerdict.ANSWERED, AnswerVerdict.SEEN},
    PendingKind.ERROR: {AnswerVerdict.ANSWERED, AnswerVerdict.SEEN},
}
_NEEDS = {
    PendingKind.DECISION: "say what you decide",
    PendingKind.APPROVAL: "answer with --approve or --reject, or in words",
    PendingKind.DONE: "answer with --ack, or in words",
    PendingKind.ERROR: "say how it was fixed, or let it be with --ack",
}


def answer(
    vault: Vault, ref: str, text: str = "", *, verdict: AnswerVerdict = AnswerVerdict.ANSWERED, redact: Redact
) -> GivenAnswer:
    """Answer the item `ref`: its id or a beginning of it; a session's id where only one thing waits in it.

    Without a text a verdict other than `ANSWERED` speaks for itself.  Only the answer's lines are written, and the count of redactions where
    the scanner took something out.  Raises `ItemNotFound`, `AlreadyAnswered`, `UsageError` for an answer that the item does not take,
    `SessionNotFound`, or `EditRefused` where the note has no place for it.
    """
    said, counts = _cleaned(text, redact)
    session, name = _named(vault, ref)
    done: list[PendingItem] = []

    def intention(note: Note) -> list[Edit]:
        item, entry = _only(note, name, ref)
        _check(item, verdict, said)
        done[:] = [item]
        edits = _edits(note, item, entry, verdict, said)
        return [*_counted(note, counts), *edits]

    path = vault.find(session)
    vault.update(path, intention)
    return GivenAnswer(done[0]._replace(path=vault.relative(path)), counts)


def _cleaned(text: str, redact: Redact) -> tuple[str, dict[str, int]]:
    """Redact the text as given and as normalised, since normalising may join a secret's parts."""
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
    """The session, and the item's name or prefix in it, "" for the only pending one."""
    found = _REFERENCE.fullmatch(ref)
    if not found:
        return ref, ""
    try:
        # An id may have a dot, and what is behind it look like a name.
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
        raise AlreadyAnswered(f"{found[0][0].id}: answered already{said}", "change it in the note")
    if open_:
        raise ItemNotFound(f"{ref}: which? {_listed(item for item, _ in open_)}", "name one by its whole id")
    raise ItemNotFound(
        f"{ref}: nothing of that name waits there; it may have been changed in the note, or taken out",
        "`cru inbox` shows what waits, `cru inbox --all` what is answered",
    )


def _is_whole(item: PendingItem, name: str) -> bool:
    return item.id.endswith(f".{name}")


def _listed(items: Iterable[PendingItem]) -> str:
    ids = [item.id for item in items]
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more


def _check(item: PendingItem, verdict: AnswerVerdict, said: str) -> None:
    if item.answered:
        raise AlreadyAnswered(f"{item.id}: answered already", "change it in the note")
    if verdict not in _TAKES[item.kind] or (verdict is AnswerVerdict.ANSWERED and not said):
        missing = "no answer" if verdict is AnswerVerdict.ANSWERED else f"it cannot be {verdict.value}"
        raise UsageError(f"{item.id} ({item.kind.value}): {missing}", _NEEDS[item.kind])


def _edits(note: Note, item: PendingItem, entry: Entry, verdict: AnswerVerdict, said: str) -> list[Edit]:
    if isinstance(entry, Failure) and verdict is AnswerVerdict.ANSWERED:
        return add_resolution(note.source, note.session, entry, said)
    name = item.id.removeprefix(f"{item.session}.")
    words = said or f"{verdict.value.capitalize()}."
    return add_behind(note.source, note.session, entry, Intervention(words, naming(verdict.value, name)))


def _counted(note: Note, counts: Mapping[str, int]) -> list[Edit]:
    """Edits of the redaction counts in the frontmatter, if it can be edited."""
    start = find_frontmatter_span(note.source).end
    if not counts or not start:
        return []
    session, head = note.session, Source(note.source.text[:start])
    values: dict[str, Value] = {"redactions": (session.redactions or 0) + sum(counts.values())}
    values["redacted"] = [*redacted_more(session.redacted, counts)]
    try:
        for key, value in values.items():
            head = apply_edits(head, set_key(head, find_frontmatter(head), key, value))
    except EditRefused:
        return []  # what was taken out is gone in any case
    return [Edit(Span(0, start), head.text)]
