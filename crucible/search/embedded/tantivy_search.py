"""Search with tantivy: convert a question to queries, drop outdated matches, and correct misspelled words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

from crucible.core.errors import IndexBroken
from crucible.core.named_tuples import NamedTuple
from crucible.core.text import stop_words
from crucible.search.embedded.index_format import KINDS, SIDES, Card, RecallManifest, load_card
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.segments import analyze, open_side, refusals, schema_of
from crucible.search.question_words import ParsedQuestion, field_value, names_in, words_in
from crucible.search.recall import EventKind, Question, seconds_of

OFTEN = 100
"""Maximum session count of a word: beyond this, a correction is not considered more likely."""

Count = Callable[[Sequence[str]], Mapping[str, int]]
"""Returns the number of sessions and items with each stem, up to `OFTEN`.  Stems without any may be omitted."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST, _LONGEST = 4, 30
"""Minimum and maximum letters of a word to correct: too many words are similar to shorter ones."""
_MOST_UNKNOWN, _SHARE = 3, 6
"""Maximum number of words to correct, since each takes a search for 600 words, and the divisor for the minimum: if
fewer than a sixth of the words are unknown, none are corrected."""
_MOST_NEAR = 3
"""Maximum number of corrections for a word: those in the most sessions."""


def near_stems(words: Sequence[str], count: Count) -> tuple[str, ...]:
    """Return the likely corrections, as stems, of words that are not in the index."""
    stems = {word: analyze(word) for word in words}
    known = count([stem for some in stems.values() for stem in some])
    unknown = [word for word in words if _is_word(word) and not any(known.get(stem) for stem in stems[word])]
    found: dict[str, None] = {}
    if len(unknown) * _SHARE < len(words):
        return ()
    for word in unknown[:_MOST_UNKNOWN]:
        # Vary the word instead of its stem: `elevaton` is stemmed differently from `elevation`.
        counts = count(list(dict.fromkeys(analyze(" ".join(_near(word))))))
        likely = sorted(filter(counts.get, counts), key=lambda stem: (-counts[stem], stem))
        found.update(dict.fromkeys(likely[:_MOST_NEAR]))
    return tuple(stem for stem in found if not known.get(stem))


def _is_word(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()


def _near(word: str) -> Iterator[str]:
    """Yield every word that differs in one letter, except stop words."""
    for variant in dict.fromkeys(_variants(word)):
        if variant not in stop_words("search"):
            yield variant


def _variants(word: str) -> Iterator[str]:
    for at in range(1, len(word) + 1):
        head, tail = word[:at], word[at:]
        for letter in _LETTERS:
            yield f"{head}{letter}{tail}"
            if tail:
                yield f"{head}{letter}{tail[1:]}"
        if tail:
            yield f"{head}{tail[1:]}"
            yield f"{head}{tail[1:2]}{tail[0]}{tail[2:]}"


if TYPE_CHECKING:
    import tantivy


WHOLE = 3.0
"""The weight of a full name, relative to a word."""
NEAR = 0.6
"""The weight of a correction, relative to a word."""
TOO_LONG = "the words of the query are too long to search for"
"""Remark for a question that cannot be searched."""
_TRIES = 4
"""Maximum number of searches, with a growing limit, if too many matches are outdated."""
MOST_SESSIONS = 500
"""Maximum number of sessions matched by an id prefix."""


class Searchers(NamedTuple):
    """An open index: searchers by side (none if the index is empty), and paths and loaded cards by note number."""

    manifest: RecallManifest
    sides: Mapping[str, tantivy.Searcher]
    paths: Mapping[int, str]
    cards: dict[int, Card]


class Match(NamedTuple):
    """A match: the note's path, the event's position in its card (0 for a session), its text score and its time.

    `reply` is the position of what follows a question, 0 for any other event.  A session has no `kind`.
    """

    path: str
    number: int
    score: float
    first: int
    reply: int = 0
    kind: EventKind | None = None


class SearchTerms(NamedTuple):
    """A question with its words as stems, as in the index.

    Any of `stems`, `names`, `near` and `related` is sufficient; `near` are corrections of misspelled words.  `related`
    are near words by stem, with their weights: of a stem and its near words, only the one that scores best counts.
    `phrases` and `nots` are sequences of stems that must, or must not, occur.  `counts` are the numbers of sessions with
    a stem.
    """

    stems: tuple[str, ...]
    names: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    nots: tuple[tuple[str, ...], ...]
    parsed: ParsedQuestion
    question: Question
    near: tuple[str, ...] = ()
    counts: Mapping[str, int] = {}
    related: Mapping[str, Mapping[str, float]] = {}

    @property
    def is_unsearchable(self) -> bool:
        """True if the question has words, but all are too long for the index."""
        given = self.parsed.words or self.parsed.phrases
        return bool(given) and not (self.stems or self.names or self.phrases)

    def weights(self) -> dict[str, float]:
        """Return the stems of the question and of corrections, with their weights: rare words say more."""
        stems = (*self.stems, *self.near, *(word for phrase in self.phrases for word in phrase))
        return {stem: log(1 + OFTEN / (self.counts.get(stem, 0) + 0.5)) for stem in stems}

    def marks(self) -> dict[str, float]:
        """Return the stems to mark in snippets, with their weights."""
        found = self.weights()
        for stem, some in self.related.items():
            for one, share in some.items():
                found[one] = max(found.get(one, 0.0), share * found[stem])
        return found

    def asked(self) -> float:
        """Return the weight of all words, without corrections; 0 if phrases decide whether a hit is certain."""
        weights = self.weights()
        return 0.0 if self.phrases else sum(weights[stem] for stem in self.stems)


def open_searchers(store: RecallStore, manifest: RecallManifest) -> Searchers:
    """Open the index of a manifest.  Raises `IndexBroken` if it has been replaced or cannot be opened."""
    paths = {row.number: path for path, row in manifest.rows.items()}
    if not manifest.parts:
        return Searchers(manifest, {}, paths, {})
    with refusals(IndexBroken):
        sides = {side: open_side(store.folder / side) for side in SIDES}
    if not store.is_current(manifest):
        raise IndexBroken(f"{store.folder}: replaced while it was being opened")
    return Searchers(manifest, sides, paths, {})


def search_terms(parsed: ParsedQuestion, question: Question) -> SearchTerms:
    """Convert the words of a question to stems, without corrections."""
    stems = dict.fromkeys(stem for word in parsed.words for stem in analyze(word))
    phrases = [tuple(analyze(phrase)) for phrase in parsed.phrases]
    nots = [tuple(analyze(text)) for text in parsed.nots]
    return SearchTerms(
        tuple(stems), parsed.names, tuple(filter(None, phrases)), tuple(filter(None, nots)), parsed, question
    )


def count_stems(searchers: Searchers, stems: Sequence[str]) -> dict[str, int]:
    """Return the number of sessions with each stem, up to `OFTEN`; 1 for a stem that only occurs in knowledge items."""
    if not searchers.sides:
        return {}
    sessions, events = (searchers.sides[side] for side in ("sessions", "events"))
    with refusals(IndexBroken):
        return {
            stem: min(sessions.doc_freq("text", stem), OFTEN) or min(events.doc_freq("text", stem), 1) for stem in stems
        }


def best(searchers: Searchers, side: str, terms: SearchTerms, most: int) -> list[Match]:
    """Return the best documents of a side, best first; the newest if the question has no words."""
    searcher = searchers.sides.get(side)
    if searcher is None:
        return []
    query = _query(searchers, side, terms)
    by_time = not (terms.stems or terms.names or terms.phrases)
    limit = most
    for _ in range(_TRIES):
        with refusals(IndexBroken):
            by = "first" if by_time else None
            hits = searcher.search(query, limit, count=False, order_by_field=by).hits
            found = _current(searchers, side, hits, by_time)
        if len(found) >= most or len(hits) < limit:
            break
        limit *= 4
    return found[:most]


def _current(
    searchers: Searchers, side: str, hits: Sequence[tuple[Any, tantivy.DocAddress]], by_time: bool
) -> list[Match]:
    """Return the matches, without outdated documents; for sessions, also without knowledge items."""
    searcher = searchers.sides[side]
    places = [place for _, place in hits]

    def values(field: str) -> list[Any]:
        return searcher.fast_field_values(field, places)

    fields = ("note", "first", *(("event", "reply", "kind") if side == "events" else ()))
    found = []
    for (score, _), note, first, *more in zip(hits, *map(values, fields), strict=True):
        path = searchers.paths.get(note)
        if path is not None and first is not None:
            number, reply, kind = more or (0, 0, None)
            found.append(
                Match(path, number, 0.0 if by_time else score, first, reply, None if kind is None else KINDS[kind])
            )
    return found


def load_cards(searchers: Searchers, paths: Iterable[str]) -> dict[str, Card]:
    """Load the cards of notes, by path.  Raises `IndexBroken` for a damaged card."""
    # Late: see `segments`.
    import tantivy  # noqa: PLC0415

    searcher, found = searchers.sides.get("sessions"), {}
    for path in paths if searcher else ():
        row = searchers.manifest.rows.get(path)
        if row is None or searcher is None:
            continue
        if known := searchers.cards.get(row.number):
            found[path] = known
            continue
        query = tantivy.Query.term_query(schema_of("sessions"), "note", row.number)
        with refusals(IndexBroken):
            for _, place in searcher.search(query, 1, count=False).hits:
                found[path] = load_card(bytes(searcher.doc(place)["card"][0]))
        if path in found and len(searchers.cards) < _MOST_CARDS:
            searchers.cards[row.number] = found[path]
    return found


_MOST_CARDS = 500
"""Maximum number of cards kept while an index is open: a card with a hundred events takes ten kilobytes."""


def _query(searchers: Searchers, side: str, terms: SearchTerms) -> tantivy.Query:
    # Late: see `segments`.
    import tantivy  # noqa: PLC0415

    query, occur = tantivy.Query, tantivy.Occur
    any_of = _any_of(side, terms)
    clauses = [(occur.Must, query.boolean_query(any_of))] if any_of else []
    clauses += [(occur.Must, _words(side, phrase)) for phrase in terms.phrases]
    if not clauses:
        clauses.append((occur.Must, query.all_query()))
    # Filters must not affect the score.
    needed = _filters(searchers, side, terms)
    clauses += [(occur.Must, query.const_score_query(one, 0.0)) for one in needed]
    clauses += [(occur.MustNot, _words(side, words)) for words in terms.nots if len(words) == 1]
    clauses += [(occur.MustNot, _fact(searchers, side, field, [value])) for field, value in terms.parsed.not_facts]
    names_session = terms.question.session or any(field == "session" for field, _ in terms.parsed.facts)
    if not (terms.question.archived or names_session):
        clauses.append((occur.MustNot, _fact(searchers, side, "archived", ["true"])))
    return query.boolean_query(clauses)


def _any_of(side: str, terms: SearchTerms) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    found = [(should, _word(schema, stem, terms.related.get(stem, {}))) for stem in terms.stems]
    for stem in terms.near:
        near = tantivy.Query.term_query(schema, "text", stem, "freq")
        found.append((should, tantivy.Query.boost_query(near, NEAR)))
    for name in terms.names:
        # A full name counts more than its parts, which also match as words.
        whole = tantivy.Query.term_query(schema, "names", name, "basic")
        found.append((should, tantivy.Query.boost_query(whole, WHOLE)))
    return found


def _word(schema: tantivy.Schema, stem: str, related: Mapping[str, float]) -> tantivy.Query:
    """Match a stem or its near words, whichever scores best."""
    import tantivy  # noqa: PLC0415  as above

    query = tantivy.Query
    own = query.term_query(schema, "text", stem, "freq")
    others = [query.boost_query(query.term_query(schema, "text", one, "freq"), share) for one, share in related.items()]
    return query.disjunction_max_query([own, *others], 0.0) if others else own


def _words(side: str, words: Sequence[str]) -> tantivy.Query:
    """Match all of the words, in any order: the index has no word positions."""
    import tantivy  # noqa: PLC0415  as above

    schema, must = schema_of(side), tantivy.Occur.Must
    each = [(must, tantivy.Query.term_query(schema, "text", word, "freq")) for word in dict.fromkeys(words)]
    return each[0][1] if len(each) == 1 else tantivy.Query.boolean_query(each)


def _filters(searchers: Searchers, side: str, terms: SearchTerms) -> list[tantivy.Query]:
    import tantivy  # noqa: PLC0415  as above

    question = terms.question
    by_field: dict[str, list[str]] = {}
    for field, value in terms.parsed.facts:
        by_field.setdefault(field, []).append(value)
    found = [_fact(searchers, side, field, values) for field, values in by_field.items()]
    given = {field: getattr(question, field) for field in ("session", "agent", "channel", "project")}
    found += [_fact(searchers, side, field, [field_value(value)]) for field, value in given.items() if value]
    if question.project and side == "events":
        # Keep knowledge items: a project also sees its domain's items and global ones; their weights select among them.
        own = [found.pop(), _fact(searchers, side, "kind", [EventKind.KNOWLEDGE.value])]
        found.append(tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in own]))
    if question.kinds != frozenset(EventKind) and side == "events":
        found.append(_fact(searchers, side, "kind", sorted(kind.value for kind in question.kinds)))
    return found + _times(side, question)


def _times(side: str, question: Question) -> list[tantivy.Query]:
    """Match a time range; a session matches if any part of it is in the range."""
    import tantivy  # noqa: PLC0415  as above

    schema, kind, found = schema_of(side), tantivy.FieldType.Integer, []
    if question.since:
        field = "first" if side == "events" else "last"
        found.append(tantivy.Query.range_query(schema, field, kind, seconds_of(question.since), _LATEST))
    if question.until:
        found.append(tantivy.Query.range_query(schema, "first", kind, -_LATEST, seconds_of(question.until)))
    return found


_LATEST = 2**40


def _fact(searchers: Searchers, side: str, field: str, values: Sequence[str]) -> tantivy.Query:
    """Match any of a field's values."""
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    if field == "file":
        return tantivy.Query.boolean_query([(should, _file(side, value)) for value in values])
    if field == "session":
        values = _session_ids(searchers.manifest, values)
    if not values:
        return tantivy.Query.empty_query()
    return tantivy.Query.term_set_query(schema, "facts", [f"{field}:{field_value(value)}" for value in values])


def _session_ids(manifest: RecallManifest, values: Sequence[str]) -> list[str]:
    """Return the session ids that equal a value or, if there are none, those that begin with it."""
    ids = {row.session.lower() for row in manifest.rows.values()}
    found = [one for value in values for one in ([value] if value in ids else sorted(ids)) if one.startswith(value)]
    return found[:MOST_SESSIONS]


def _file(side: str, value: str) -> tantivy.Query:
    """Match a path or its last components."""
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    found = [(should, tantivy.Query.term_query(schema, "names", name, "basic")) for name in (*names_in(value), value)]
    if words := analyze(" ".join(words_in(value))):
        found.append((should, _words(side, words)))
    return tantivy.Query.boolean_query(found)
