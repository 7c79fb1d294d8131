"""Search results with texts, neighbours and snippets; each note is read once, however many of its events are shown."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from crucible.core.files import LARGEST_NOTE
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, read_code
from crucible.documents.markdown.containment import uncontain, uncontain_line
from crucible.search.embedded.ranking import Ranked
from crucible.search.embedded.recall_manifest import RecallManifest
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Sought
from crucible.search.recall import LISTED, MOST_CONTEXT, Event, EventKind, Hit, ItemCatalog, SessionHit
from crucible.search.session_cards import Card, event_at, find_event, hash_of, place_at
from crucible.search.snippets import snippet_of

_CALL = late_pattern(r"[-*+] +`([^`]+)` (?:→|->)(?: (.*))?$")
_MARKS = "❌🚫⏹⏳"
_LABEL = late_pattern(r"\n\n(?=(?:Rationale|Alternatives|Cause|Resolution|Summary): )")
_UNTOLD = late_pattern(r"(?:\n{1,2}By:[^\n]*)?(?:\n{1,2}Source:[^\n]*)?\Z")
"""The last lines of a decision's or error's callout: author and source."""
_LINKED = late_pattern(r"^(?:mode:.*|(?:→ *|-> *)?!?\[\[.*\]\] *)(?:\n|$)", re.MULTILINE)
"""The lines of a subagent's callout that are not its words."""
_QUOTE = late_pattern(r"^> ?")
_HEAD = 20_000
_FORMAT = late_pattern(rf"^format: {FORMAT}$", re.MULTILINE)
"""If a note writes this differently, the hash does not match and the whole note is read."""
_LIKELY = 3
"""How many events of the same words are tried before the note is read whole."""


def events_of_card(root: str, card: Card, wanted: Sequence[int]) -> dict[int, Event]:
    """Events of a card by place, with their texts and current lines; "" is the text of one that is gone."""
    try:
        data = _bytes_of(os.path.realpath(f"{root}/{card.path}"), root)
    except (OSError, ValueError):
        return {at: event_at(card, at) for at in wanted}
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    found: dict[int, Event] = {}
    if "\r" not in text:
        lines, form = text.split("\n"), FORMAT if _FORMAT.search(text, 0, _HEAD) else 1
        for at in wanted:
            if (told := _short(card, lines, at, form)) is not None:
                found[at] = event_at(card, at, told)
    if len(found) < len(wanted):
        found = {**_whole(card, data, wanted), **found}
    return _with_records(root, card, found)


def _bytes_of(path: str, root: str) -> bytes:
    """A note's bytes.  Its events' hashes prove it complete, so it is not hashed as a whole."""
    if not path.startswith(root.rstrip(os.sep) + os.sep):
        raise ValueError(f"{path}: leads out of the vault")
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_NOTE:
            raise ValueError(f"{path}: no note")
        return file.read()


_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _short(card: Card, lines: Sequence[str], at: int, form: int) -> str | None:
    event, place = event_at(card, at), place_at(card, at)
    identity = event.id.rpartition("#")[2]
    for text in _candidates(event, lines[place.first : place.end], lines[event.line - 1 : event.line], form):
        if any(hash_of(event.kind, text, count) == identity for count in range(_LIKELY)):
            return text
    return None


def _candidates(event: Event, lines: Sequence[str], own: Sequence[str], form: int) -> Iterator[str]:
    """What the lines may say."""
    if event.kind is EventKind.TOOL:
        if own and (told := _call(own[0], form)):
            yield told
        return
    if not lines or not lines[0].startswith(">"):
        yield uncontain("\n".join(lines).strip("\n"), form=form)
        return
    body = "\n".join(_QUOTE.sub("", line) for line in lines[1:]).strip("\n")
    if event.kind is EventKind.USER:
        yield from (uncontain(text, form=form) for text in _words(body))
    elif event.kind is EventKind.SUBAGENT:
        rest = uncontain(_LABEL.sub("\n", _LINKED.sub("", body).strip("\n")), form=form)
        yield f"{event.agent}\n{rest}" if rest else event.agent
    else:
        title = lines[0].partition("]")[2].lstrip("+-").strip()
        body = _UNTOLD.sub("", body) if event.kind in (EventKind.DECISION, EventKind.ERROR) else body
        text = uncontain(_LABEL.sub("\n", body), form=form)
        yield f"{uncontain_line(title, form=form)}\n{text}".strip("\n") if title else text


def _words(body: str) -> Iterator[str]:
    """A user's words, and what was made of them."""
    if body[:1] != '"':
        yield body
        return
    words, is_noted, note = body[1:].partition('" - ')
    yield f"{words}\n{note}" if is_noted else body[1:].removesuffix('"')


def _call(line: str, form: int) -> str:
    found = _CALL.match(line)
    if not found:
        return ""
    call, result = found[1], (found[2] or "").strip(" \t")
    if call[:1] == " " == call[-1:] and call.strip(" "):
        call = call[1:-1]
    if result[:1] and result[0] in _MARKS:
        result = result[1:].removeprefix("\ufe0f").lstrip(" ")
    elif result[:1] == "\\" and result.lstrip("\\")[:1] in _MARKS:
        result = result[1:]
    call, result = read_code(call, form), uncontain_line(result, form=form)
    return f"{call}\n{result}" if result else call


def _whole(card: Card, data: bytes, wanted: Sequence[int]) -> dict[int, Event]:
    """The note read as a session.  What changed since it was indexed is found by its id, or gone."""
    # Reading whole notes takes twice as long to load as a query takes, and is hardly ever needed.
    from crucible.search.embedded.documents import noted_events  # noqa: PLC0415

    noted = noted_events(card.path, data)
    found = {}
    for at in wanted:
        event = event_at(card, at)
        now = noted.get(event.id)
        # Lines that were put in above it move it.
        found[at] = replace(event, text=now.text, line=now.line) if now else event
    return found


def _with_records(root: str, card: Card, found: dict[int, Event]) -> dict[int, Event]:
    """Replace the texts of recorded calls by their full texts."""
    keys = {at: some for at, event in found.items() if event.text and (some := place_at(card, at).keys)}
    if not keys:
        return found
    # Late for the same reason: few hits are calls that were recorded.
    from crucible.search.event_records import read_wholes  # noqa: PLC0415

    texts = read_wholes(Path(root), card.session, set(keys.values()))
    wholes = {at: replace(found[at], text=texts[some]) for at, some in keys.items() if some in texts}
    return {**found, **wholes}


_Place = tuple[str, int]
"""A note's path, and which of its card's events."""


class EventCache:
    """Events that were read, by the number of their note in the index, which changes whenever the note does."""

    def __init__(self) -> None:
        self._line = ""
        self._events: dict[tuple[int, int], Event] = {}
        self._size = 0

    def of(self, line: str) -> dict[tuple[int, int], Event]:
        """What is kept of the index that has this line, where numbers mean the same; others are forgotten."""
        if line != self._line or self._size > _MOST_KEPT:
            self._line, self._events, self._size = line, {}, 0
        return self._events

    def add(self, number: int, at: int, event: Event) -> None:
        """Keep one more."""
        self._events[number, at] = event
        self._size += len(event.text) + _OF_EACH


_MOST_KEPT, _OF_EACH = 4_000_000, 500
"""Code points, and what each event counts beside its text."""


class EventReader:
    """Events with their words; `cards` are of every note that is shown."""

    def __init__(
        self, root: str, shelf: ItemCatalog, cards: Mapping[str, Card], manifest: RecallManifest, kept: EventCache
    ) -> None:
        self._root = root
        self._shelf = shelf
        self._cards = cards
        self._rows = manifest.rows
        self._kept = kept
        self._known = kept.of(manifest.line)
        self._texts: dict[_Place, Event] = {}

    def places_of(self, ids: Iterable[str]) -> dict[str, _Place]:
        """Where events are, by id."""
        found = {}
        for identity in ids:
            session, _, digits = identity.rpartition("#")
            for path, card in self._cards.items():
                at = find_event(card, digits) if card.session == (session or identity) else None
                if at is not None and event_at(card, at).id == identity:
                    found[identity] = (path, at)
        return found

    def neighbours(self, place: _Place, before: int, after: int) -> tuple[list[_Place], list[_Place]]:
        """The events before and after one, in the order of the note."""
        path, at = place
        end = len(self._cards[path].kinds)
        first, last = max(at - max(before, 0), 0), min(at + max(after, 0), end - 1)
        return [(path, n) for n in range(first, at)], [(path, n) for n in range(at + 1, last + 1)]

    def events(self, places: Iterable[_Place]) -> tuple[Event, ...]:
        """The events, each with its whole text."""
        given = list(places)
        missing: dict[str, set[int]] = {}
        for path, at in given:
            if (path, at) in self._texts:
                continue
            if known := self._known.get((self._rows[path].number, at)):
                self._texts[path, at] = known
            else:
                missing.setdefault(path, set()).add(at)
        for path, wanted in missing.items():
            self._read(path, sorted(wanted))
        return tuple(self._texts[place] for place in given)

    def told(self, places: Iterable[_Place]) -> tuple[Event, ...]:
        """The same without those that are gone since they were indexed."""
        return tuple(event for event in self.events(places) if event.text or event.title)

    def _read(self, path: str, wanted: Sequence[int]) -> None:
        number = self._rows[path].number
        for at, event in self._events_of(path, wanted).items():
            self._texts[path, at] = event
            if event.text:
                self._kept.add(number, at, event)

    def _events_of(self, path: str, wanted: Sequence[int]) -> dict[int, Event]:
        card = self._cards[path]
        if any(event_at(card, at).kind is EventKind.KNOWLEDGE for at in wanted):
            document = self._shelf.document(path)
            events = document.events if document else ()
            return {at: events[at] if at < len(events) else event_at(card, at) for at in wanted}
        return events_of_card(self._root, card, wanted)


def hits_of(shown: EventReader, cards: Mapping[str, Card], ranked: Iterable[Ranked], sought: Sought) -> tuple[Hit, ...]:
    """The finds as hits, in their order."""
    places = [(one, place) for one in ranked if (place := _place_of(cards, one))]
    context = min(max(sought.question.context, 0), MOST_CONTEXT)
    around = [shown.neighbours(place, context, context) for _, place in places]
    # All of them at once, so that each note is read once.
    shown.events([place for _, place in places] + [one for two in around for some in two for one in some])
    hits = []
    for (one, place), (before, after) in zip(places, around, strict=True):
        event = next(iter(shown.told([place])), None)
        if event is None:
            continue
        snippet = snippet_of(event.text or event.title, sought.marked, analyze)
        hits.append(
            Hit(
                event,
                one.score,
                one.parts,
                snippet,
                () if event.kind in LISTED else shown.told(before),
                () if event.kind in LISTED else shown.told(after),
                place[0],
            )
        )
    return tuple(hits)


def _place_of(cards: Mapping[str, Card], one: Ranked) -> _Place | None:
    card = cards.get(one.found.path)
    if card is None:
        return None
    return (one.found.path, one.found.number) if one.found.number < len(card.kinds) else None


def session_hits(root: str, cards: Mapping[str, Card], ranked: Iterable[Ranked]) -> tuple[SessionHit, ...]:
    """The sessions as hits, in order, without sessions whose note is gone."""
    found = [
        (one, cards[one.found.path])
        for one in ranked
        if one.found.path in cards and os.path.lexists(f"{root}/{one.found.path}")
    ]
    return tuple(
        SessionHit(card.session, card.title, one.score, one.parts, card.started, card.project, one.found.path)
        for one, card in found
    )
