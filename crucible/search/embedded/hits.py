"""Finds as hits: with their words, their neighbours, and the question's words marked.

Owns that each note is read once for all that is shown of it, and by who asks again and again not even once for each question.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from crucible.search.embedded.event_texts import events_of_card
from crucible.search.embedded.ranking import Ranked
from crucible.search.embedded.recall_manifest import Manifest
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Sought
from crucible.search.recall import LISTED, MOST_CONTEXT, Event, Hit, Kind, SessionHit
from crucible.search.session_cards import Card, event_at, find_event
from crucible.search.shelf import Shelf
from crucible.search.snippets import snippet_of

__all__ = ["Kept", "Shown", "hits_of", "session_hits"]

_Place = tuple[str, int]
"""A note's path, and which of its card's events."""


class Kept:
    """Events that were read, by their note's number in the index, which is another one whenever the note is: they are as they were."""

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


class Shown:
    """Events with their words; `cards` are of every note that is shown."""

    def __init__(self, root: str, shelf: Shelf, cards: Mapping[str, Card], manifest: Manifest, kept: Kept) -> None:
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
        if any(event_at(card, at).kind is Kind.KNOWLEDGE for at in wanted):
            document = self._shelf.document(path)
            events = document.events if document else ()
            return {at: events[at] if at < len(events) else event_at(card, at) for at in wanted}
        return events_of_card(self._root, card, wanted)


def hits_of(shown: Shown, cards: Mapping[str, Card], ranked: Iterable[Ranked], sought: Sought) -> tuple[Hit, ...]:
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
    """The sessions as hits, in their order; without one whose note is gone since it was indexed."""
    found = [
        (one, cards[one.found.path])
        for one in ranked
        if one.found.path in cards and os.path.lexists(f"{root}/{one.found.path}")
    ]
    return tuple(
        SessionHit(card.session, card.title, one.score, one.parts, card.started, card.project, one.found.path)
        for one, card in found
    )
