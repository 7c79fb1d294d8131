"""Search hits with their text and neighbors.  Each note is read once for all of its events."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from crucible.core.files import LARGEST_NOTE
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, read_code
from crucible.documents.markdown.containment import uncontain, uncontain_line
from crucible.search.answers import fold_hits
from crucible.search.embedded.index_format import Card, RecallManifest, event_at, find_event, place_at
from crucible.search.embedded.ranking import Ranked
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import SearchTerms
from crucible.search.recall import (
    LISTED,
    MOST_CONTEXT,
    Event,
    EventKind,
    Hit,
    ItemCatalog,
    SessionHit,
    Snippet,
    hash_of,
)
from crucible.search.snippets import event_snippet

_CALL = late_pattern(r"[-*+] +(`+)(?!`)(.+?)(?<!`)\1 (?:→|->)(?: (.*))?$")
_MARKS = "❌🚫⏹⏳"
_LABEL = late_pattern(r"\n\n(?=(?:Rationale|Alternatives|Cause|Resolution|Summary): )")
_ATTRIBUTION = late_pattern(r"(?:\n{1,2}By:[^\n]*)?(?:\n{1,2}Source:[^\n]*)?\Z")
"""The last lines of a callout for a decision or an error: author and source."""
_LINKED = late_pattern(r"^(?:mode:.*|(?:→ *|-> *)?!?\[\[.*\]\] *)(?:\n|$)", re.MULTILINE)
"""Lines in a subagent's callout that are not part of its report."""
_QUOTE = late_pattern(r"^> ?")
_FINDING = late_pattern(r"> {0,4}[-*+] +[a-z_]+(?: and [a-z_]+)?: +(.+?)(?: \([A-Za-z][^()]*\))? *$")
"""An item of the findings block as it is written: its kind, its text and its grounds."""
_DETAILS = late_pattern(r" *Details: +(.*?) *$", re.MULTILINE)
_HEAD = 20_000
_FORMAT = late_pattern(rf"^format: {FORMAT}$", re.MULTILINE)
"""If a note writes its format differently, hashes do not match and the entire note is parsed."""
_MOST_REPEATS = 50
"""Maximum number of events with the same text to try before the entire note is parsed."""


def events_of_card(root: str, card: Card, numbers: Sequence[int], *, noted: bool = False) -> dict[int, Event]:
    """Return events of a card by number, with their text and current lines.  A deleted event has the text "".

    With `noted`, tool calls have their shorter text in the note, which needs no event log.
    """
    try:
        data = _bytes_of(os.path.realpath(f"{root}/{card.path}"), root)
    except (OSError, ValueError):
        return {at: event_at(card, at) for at in numbers}
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    found: dict[int, Event] = {}
    if "\r" not in text:
        lines, form = text.split("\n"), FORMAT if _FORMAT.search(text, 0, _HEAD) else 1
        for at in numbers:
            if (event_text := _text_at(card, lines, at, form)) is not None:
                found[at] = event_at(card, at, event_text)
    if len(found) < len(numbers):
        found = {**_parse_events(card, data, numbers), **found}
    return found if noted else _with_call_texts(root, card, found)


def _bytes_of(path: str, root: str) -> bytes:
    """Return the bytes of a note.  Raises `ValueError` for a path outside the vault, or if the file is not a note."""
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        raise ValueError(f"{path}: points outside the vault")
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_NOTE:
            raise ValueError(f"{path}: not a note")
        return file.read()


_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _text_at(card: Card, lines: Sequence[str], at: int, form: int) -> str | None:
    """Return an event's text from its indexed lines, without parsing the note; None if the hash does not match."""
    event, place = event_at(card, at), place_at(card, at)
    identity = event.id.rpartition("#")[2]
    texts = list(_candidates(event, lines[place.first : place.end], form))
    tries = ((text, count) for count in range(_MOST_REPEATS) for text in texts)
    return next((text for text, count in tries if hash_of(event.kind, text, count) == identity), None)


def _candidates(event: Event, lines: Sequence[str], form: int) -> Iterator[str]:
    """Yield candidates for the event's text in these lines."""
    if event.kind is EventKind.TOOL:
        if lines and (text := _call(lines[0], form)):
            yield text
        return
    if not lines or not lines[0].startswith(">"):
        yield uncontain("\n".join(lines).strip("\n"), form=form)
        return
    head, *below = [_QUOTE.sub("", line) for line in lines]
    body = "\n".join(below).strip("\n")
    if finding := _FINDING.match(lines[0]):
        details = _DETAILS.match(body)
        parts = (finding[1], details[1] if details else "")
        yield "\n".join(uncontain_line(part, form=form) for part in parts if part)
    if not head.startswith("[!"):  # a passage of a plan
        yield uncontain("\n".join((head, *below)), form=form)
    elif event.kind is EventKind.USER:
        yield from (uncontain(text, form=form) for text in _user_texts(body))
    elif event.kind is EventKind.SUBAGENT:
        rest = uncontain(
            _LABEL.sub("\n", _LINKED.sub("", body).strip("\n")).replace("Summary:\n", "Summary: ", 1), form=form
        )
        yield f"{event.agent}\n{rest}" if rest else event.agent
    else:
        title = head.partition("]")[2].lstrip("+-").strip()
        body = _ATTRIBUTION.sub("", body) if event.kind in (EventKind.DECISION, EventKind.ERROR) else body
        text = uncontain(_LABEL.sub("\n", body), form=form)
        yield f"{uncontain_line(title, form=form)}\n{text}".strip("\n") if title else text


def _user_texts(body: str) -> Iterator[str]:
    """Yield the parts of a user's callout: the quoted words and the note after them."""
    if body[:1] != '"':
        yield body
        return
    words, is_noted, note = body[1:].partition('" - ')
    yield f"{words}\n{note}" if is_noted else body[1:].removesuffix('"').strip("\n")


def _call(line: str, form: int) -> str:
    found = _CALL.match(line)
    if not found:
        return ""
    call, result = found[2], (found[3] or "").strip(" \t")
    if call[:1] == " " == call[-1:] and call.strip(" "):
        call = call[1:-1]
    if result[:1] and result[0] in _MARKS:
        result = result[1:].removeprefix("\ufe0f").lstrip(" ")
    elif result[:1] == "\\" and result.lstrip("\\")[:1] in _MARKS:
        result = result[1:]
    call, result = read_code(call, form), uncontain_line(result, form=form)
    return f"{call}\n{result}" if result else call


def _parse_events(card: Card, data: bytes, numbers: Sequence[int]) -> dict[int, Event]:
    """Parse the entire note, and find the events by id.  A changed event keeps its empty text."""
    # Late: loading this takes twice as long as a query and is rarely needed.
    from crucible.search.embedded.documents import noted_events  # noqa: PLC0415

    noted = noted_events(card.path, data)
    found = {}
    for at in numbers:
        event = event_at(card, at)
        now = noted.get(event.id)
        found[at] = event._replace(text=now.text, line=now.line) if now else event
    return found


def _with_call_texts(root: str, card: Card, found: dict[int, Event]) -> dict[int, Event]:
    """Replace the shortened text of recorded tool calls by their full text."""
    keys = {at: some for at, event in found.items() if event.text and (some := place_at(card, at).keys)}
    if not keys:
        return found
    # Late: few hits are recorded calls.
    from crucible.search.event_records import read_call_texts  # noqa: PLC0415

    texts = read_call_texts(Path(root), card.session, set(keys.values()))
    full = {at: found[at]._replace(text=texts[some]) for at, some in keys.items() if some in texts}
    return {**found, **full}


_Place = tuple[str, int]
"""The path of a note, and the position of an event in its card."""


_Key = tuple[int, int, bool]
"""The number of a note in the index, which changes whenever the note changes, the event's position, and `noted`."""


class EventCache:
    """Cached events."""

    def __init__(self) -> None:
        self._lineage = ""
        self._events: dict[_Key, Event] = {}
        self._size = 0

    def of(self, lineage: str) -> dict[_Key, Event]:
        """Return the cached events of an index.  A rebuilt index has another lineage and different note numbers."""
        if lineage != self._lineage or self._size > _MOST_CACHED:
            self._lineage, self._events, self._size = lineage, {}, 0
        return self._events

    def add(self, key: _Key, event: Event) -> None:
        """Add an event to the cache."""
        self._events[key] = event
        self._size += len(event.text) + _EVENT_SIZE


_MOST_CACHED, _EVENT_SIZE = 4_000_000, 500
"""Maximum code points in the cache, and the overhead of each event."""


class EventReader:
    """Reads events with their text; `cards` are the cards of all notes needed."""

    def __init__(
        self, root: str, items: ItemCatalog, cards: Mapping[str, Card], manifest: RecallManifest, cache: EventCache
    ) -> None:
        self.cards = cards
        self._root = root
        self._items = items
        self._rows = manifest.rows
        self._cache = cache
        self._cached = cache.of(manifest.lineage)
        self._events: dict[tuple[str, int, bool], Event] = {}

    def places_of(self, ids: Iterable[str]) -> dict[str, _Place]:
        """Return the places of events by id; unknown ids are skipped."""
        found = {}
        for identity in ids:
            session, _, digits = identity.rpartition("#")
            for path, card in self.cards.items():
                at = find_event(card, digits) if card.session == (session or identity) else None
                if at is not None and event_at(card, at).id == identity:
                    found[identity] = (path, at)
        return found

    def neighbours(self, place: _Place, before: int, after: int) -> tuple[list[_Place], list[_Place]]:
        """Return the places before and after a place, in the order of the note."""
        path, at = place
        end = len(self.cards[path].kinds)
        first, last = max(at - max(before, 0), 0), min(at + max(after, 0), end - 1)
        return [(path, n) for n in range(first, at)], [(path, n) for n in range(at + 1, last + 1)]

    def events(self, places: Iterable[_Place], *, noted: bool = False) -> tuple[Event, ...]:
        """Return the events at these places, each with its text, as in `events_of_card`."""
        places = list(places)
        missing: dict[str, set[int]] = {}
        for path, at in places:
            if (path, at, noted) in self._events:
                continue
            if known := self._cached.get((self._rows[path].number, at, noted)):
                self._events[path, at, noted] = known
            else:
                missing.setdefault(path, set()).add(at)
        for path, numbers in missing.items():
            self._read(path, sorted(numbers), noted=noted)
        return tuple(self._events[path, at, noted] for path, at in places)

    def existing(self, places: Iterable[_Place], *, noted: bool = False) -> tuple[Event, ...]:
        """Like `events`, but skips events that were deleted since they were indexed."""
        return tuple(event for event in self.events(places, noted=noted) if event.text or event.title)

    def _read(self, path: str, numbers: Sequence[int], *, noted: bool) -> None:
        number = self._rows[path].number
        for at, event in self._events_of(path, numbers, noted=noted).items():
            self._events[path, at, noted] = event
            if event.text:
                self._cache.add((number, at, noted), event)

    def _events_of(self, path: str, numbers: Sequence[int], *, noted: bool) -> dict[int, Event]:
        card = self.cards[path]
        if any(event_at(card, at).kind is EventKind.KNOWLEDGE for at in numbers):
            document = self._items.document(path)
            events = document.events if document else ()
            return {at: events[at] if at < len(events) else event_at(card, at) for at in numbers}
        return events_of_card(self._root, card, numbers, noted=noted)


def hits_of(reader: EventReader, ranked: Iterable[Ranked], terms: SearchTerms) -> tuple[Hit, ...]:
    """Build the hits of an answer from ranked events, best first."""
    places = [(one, place) for one in ranked if (place := _place_of(reader.cards, one))]
    # Read all events in one call, so that each note is read once.
    events = reader.events([place for _, place in places])
    found = {
        event.id: (place, Hit(event, one.score, one.parts, _NO_SNIPPET, path=place[0]))
        for (one, place), event in zip(places, events, strict=True)
        if event.text or event.title
    }
    shown = fold_hits((hit for _, hit in found.values()), terms.question.shown, analyze)
    context = min(max(terms.question.context, 0), MOST_CONTEXT)
    around = [
        ([], []) if hit.event.kind in LISTED else reader.neighbours(found[hit.event.id][0], context, context)
        for hit in shown
    ]
    reader.events([one for two in around for some in two for one in some], noted=True)
    read = partial(reader.existing, noted=True)
    return tuple(
        _with_snippet(hit, terms)._replace(before=read(before), after=read(after))
        for hit, (before, after) in zip(shown, around, strict=True)
    )


_NO_SNIPPET = Snippet("")
"""For hits that may be folded: cutting a snippet takes longer than anything else here."""


def passages_of(reader: EventReader, ranked: Iterable[Ranked], terms: SearchTerms) -> dict[str, Hit]:
    """Build a hit, without neighbors, of one event of each of several sessions, by session."""
    places = [(one, place) for one in ranked if (place := _place_of(reader.cards, one))]
    events = reader.events([place for _, place in places])
    return {
        event.session: _with_snippet(Hit(event, one.score, one.parts, _NO_SNIPPET, path=path), terms)
        for (one, (path, _)), event in zip(places, events, strict=True)
        if event.text
    }


def _with_snippet(hit: Hit, terms: SearchTerms) -> Hit:
    return hit._replace(snippet=event_snippet(hit.event, terms.marks(), analyze))


def _place_of(cards: Mapping[str, Card], one: Ranked) -> _Place | None:
    card = cards.get(one.found.path)
    if card is None:
        return None
    return (one.found.path, one.found.number) if one.found.number < len(card.kinds) else None


def session_hits(root: str, cards: Mapping[str, Card], ranked: Iterable[Ranked]) -> tuple[SessionHit, ...]:
    """Return the hits of ranked sessions, in order; sessions whose note was deleted are skipped."""
    found = [
        (one, cards[one.found.path])
        for one in ranked
        if one.found.path in cards and os.path.lexists(f"{root}/{one.found.path}")
    ]
    return tuple(
        SessionHit(card.session, card.title, one.score, one.parts, card.started, card.project, one.found.path)
        for one, card in found
    )
