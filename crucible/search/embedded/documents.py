"""A note as the index stores it: which words and facts of its events and of the session are indexed.

Imported late, since a question about unchanged notes derives nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.files import inside, read_bytes
from crucible.documents.markdown.source import NOWHERE, Source
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from crucible.search.echoes import without_echoes
from crucible.search.question_words import names_in, plain, spoken, value_of, words_in
from crucible.search.recall import Document, Event, EventKind
from crucible.search.session_cards import TextPlace, dump_card, seconds_of
from crucible.search.session_events import PlacedEvent, document_of, events_of, recorded_calls


class Indexed(NamedTuple):
    """A document: `number` is its event's place in the card, `facts` are `field:value`, times are epochs."""

    number: int
    text: str
    names: str
    facts: tuple[str, ...]
    first: int
    last: int


class Derived(NamedTuple):
    """What is indexed of a note: its events, the session as a whole (None for an item), and its card."""

    path: str
    sha: str
    session: str
    card: bytes
    events: tuple[Indexed, ...] = ()
    whole: Indexed | None = None
    size: int = 0
    """Bytes of text."""


def derive_note(root: str, path: str) -> Derived | None:
    """Read a note; None where it is gone or cannot be read."""
    try:
        data, _ = read_bytes(inside(Path(root), Path(root, path)))
    except CrucibleError:
        return None
    document, placed = place_note(root, path, data)
    return _derived(document, placed, sha_of(data))


def place_note(root: str, path: str, data: bytes) -> tuple[Document, tuple[PlacedEvent, ...]]:
    """The session in a note's bytes, and the places of its events."""
    session = _session(path, data)
    return document_of(session, path, recorded_calls(Path(root), session.id))


def noted_events(path: str, data: bytes) -> dict[str, Event]:
    """Every event as the note alone has it, by id."""
    return {one.event.id: one.event for one in events_of(_session(path, data))}


def _session(path: str, data: bytes) -> Session:
    return read_session(Source.from_bytes(data), path.rpartition("/")[2].removesuffix(".md"))


def derive_item(document: Document, sha: str) -> Derived:
    """The same of what is no session: its events are kept as they are, and no session is found by it."""
    return derive_document(document, sha)._replace(whole=None)


def derive_document(document: Document, sha: str) -> Derived:
    """The same for a session without a note at hand: places are unknown."""
    placed = tuple(PlacedEvent(event, event.text, NOWHERE) for event in document.events)
    return _derived(document, placed, sha)


def sha_of(data: bytes) -> str:
    """As the index of notes has it."""
    return hashlib.sha256(data).hexdigest()[:32]


def _derived(document: Document, placed: Sequence[PlacedEvent], sha: str) -> Derived:
    card = dump_card(document, [TextPlace(*one.lines, one.keys) for one in placed])
    common = _common(document)
    texts = [without_echoes(one.event, one.noted) for one in placed]
    bare = tuple(
        _indexed(at, event, text, common)
        for at, (event, text) in enumerate(zip(document.events, texts, strict=True))
        if text or event.title
    )
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    headings = _headings(document)
    whole = _whole(document, bare, common, headings)
    events = tuple(_under_its_heading(one, document.events[one.number], headings) for one in bare)
    return Derived(document.path, sha, document.session, card, events, whole, size)


def _indexed(number: int, event: Event, text: str, common: tuple[str, ...]) -> Indexed:
    at = seconds_of(event.at) or 0
    if event.title:
        text = f"{event.title}\n{text}" if text else event.title
    return Indexed(number, spoken(text), " ".join(names_in(text)), (*common, *facts_of(event)), at, at)


_HEADED = frozenset({EventKind.AGENT, EventKind.DECISION, EventKind.ERROR, EventKind.MILESTONE, EventKind.OBSERVATION})


def _headings(document: Document) -> dict[str, str]:
    """The phases' headings, except those that only repeat the beginning of a prompt: the prompt is an event, too."""
    found = {event.phase: event.phase_name for event in document.events if event.phase}
    for event in document.events:
        if event.kind is EventKind.USER and event.phase in found and _begins_so(event.text, event.phase_name):
            del found[event.phase]
    return found


def _begins_so(text: str, heading: str) -> bool:
    """Whether a heading is a text's beginning; of a cut one the last word may be half."""
    begin = words_in(heading.lower())[: -1 if heading.endswith("…") else None]
    return bool(begin) and words_in(text[: 2 * len(heading)].lower())[: len(begin)] == begin


def _under_its_heading(indexed: Indexed, event: Event, headings: Mapping[str, str]) -> Indexed:
    """With the words of its phase's heading: a paragraph seldom says again what it is about.

    A call, and what a subagent did, is looked for by its own words.
    """
    heading = headings.get(event.phase) if event.kind in _HEADED else None
    return indexed._replace(text=f"{indexed.text}\n{spoken(heading)}") if heading else indexed


def _whole(
    document: Document, events: Sequence[Indexed], common: tuple[str, ...], headings: Mapping[str, str]
) -> Indexed:
    """The document of a session: properties, date in words, headings, and all events."""
    head = "\n".join(_head(document))
    names = dict.fromkeys(names_in(head))
    facts = dict.fromkeys(common)
    for event in events:
        names.update(dict.fromkeys(event.names.split(" ")))
        facts.update(dict.fromkeys(event.facts))
    times = [event.first for event in events if event.first]
    started = seconds_of(document.started) or min(times, default=0)
    others = [one for one in dict.fromkeys(headings.values()) if one != document.title]
    text = "\n".join([spoken(head), *map(spoken, others), *(event.text for event in events)])
    return Indexed(0, text, " ".join(names), tuple(facts), started, max([started, *times]))


def _head(document: Document) -> Iterator[str]:
    yield plain(document.title)
    if document.started:
        yield _date_words(document.started)
    yield from (document.project, document.branch, *document.tags)


def _date_words(at: datetime) -> str:
    return f"{at:%A} {at.day} {at:%B} {at.year} {at:%Y-%m-%d}"


def _common(document: Document) -> tuple[str, ...]:
    pairs = [("session", document.session), ("project", document.project), ("branch", document.branch)]
    pairs += [("tag", tag) for tag in document.tags]
    return tuple(_facts(pairs))


def facts_of(event: Event) -> tuple[str, ...]:
    """What an event is found by beside its words."""
    name, _, version = event.agent.partition("@")
    pairs = [("kind", event.kind.value), ("agent", name), ("channel", event.channel), ("phase", event.phase)]
    if version:
        pairs.append(("agent", event.agent))
    pairs.append(("phase", event.phase_name))
    return tuple(_facts(pairs))


def _facts(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"{field}:{value_of(value)}" for field, value in pairs if value)
