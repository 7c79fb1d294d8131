"""A question as tantivy queries, and their matches that are still current; also corrects misspelled words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from crucible.core.errors import IndexBroken
from crucible.core.text.words import stop_words
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.recall_manifest import SIDES, RecallManifest
from crucible.search.embedded.segments import analyze, open_side, refusals, schema_of
from crucible.search.question_words import ParsedQuestion, names_in, value_of, words_in
from crucible.search.recall import EventKind, Question
from crucible.search.session_cards import Card, load_card, seconds_of

OFTEN = 100
"""Counting stops here: a word in this many sessions is as likely to be meant as one in more."""

Count = Callable[[Sequence[str]], Mapping[str, int]]
"""In how many sessions and items each of these stems is, at most `OFTEN`; one that is in none may be left out."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SHORTEST, _LONGEST = 4, 30
"""Letters: of shorter words everything is near, longer ones are no words."""
_MOST_STRANGE, _SHARE = 3, 6
"""Misspelled words of a question that are corrected: each costs a search for six hundred words.  None if they are less than a
sixth of the question: the other words suffice then."""
_MOST_NEAR = 3
"""Of each, those in the most sessions."""


def near_stems(words: Sequence[str], count: Count) -> tuple[str, ...]:
    """The stems that were probably meant by words that the index does not contain."""
    stems = {word: analyze(word) for word in words}
    known = count([stem for some in stems.values() for stem in some])
    strange = [word for word in words if _is_word(word) and not any(known.get(stem) for stem in stems[word])]
    found: dict[str, None] = {}
    if len(strange) * _SHARE < len(words):
        return ()
    for word in strange[:_MOST_STRANGE]:
        # Stems of misspelt words are none: `elevaton` has no letter in common with what is cut off of `elevation`.
        counts = count(list(dict.fromkeys(analyze(" ".join(_near(word))))))
        likely = sorted(filter(counts.get, counts), key=lambda stem: (-counts[stem], stem))
        found.update(dict.fromkeys(likely[:_MOST_NEAR]))
    return tuple(stem for stem in found if not known.get(stem))


def _is_word(word: str) -> bool:
    return _SHORTEST <= len(word) <= _LONGEST and word.isascii() and word.isalpha()


def _near(word: str) -> Iterator[str]:
    """Every word that is one letter apart."""
    for made in dict.fromkeys(_changed(word)):
        if made not in stop_words("search"):
            yield made


def _changed(word: str) -> Iterator[str]:
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
"""What a name that is there whole counts more than a word."""
NEAR = 0.6
"""The weight of a word that is similar to a misspelled one."""
TOO_LONG = "the words of the question are too long to be searched for"
"""What is said of a question that is vain."""
_TRIES = 4
"""How often more is asked for because too much of what was found is dead."""
MOST_SESSIONS = 500
"""That the beginning of an id may mean."""


class Searchers(NamedTuple):
    """An open index: searchers by side, none for an empty one; `paths` and the loaded `cards` by note number."""

    manifest: RecallManifest
    sides: Mapping[str, tantivy.Searcher]
    paths: Mapping[int, str]
    cards: dict[int, Card]


class Match(NamedTuple):
    """A match: the note's path, the event's place in its card (0 for a session), its text score and its time."""

    path: str
    number: int
    score: float
    first: int


class Sought(NamedTuple):
    """A question with its words as the index has them.

    Any of `stems`, `names` and `near` suffices; `near` are corrections of misspelled words. `phrases` and `nots` are
    lists of words that must, or must not, follow each other.
    """

    stems: tuple[str, ...]
    names: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    nots: tuple[tuple[str, ...], ...]
    asked: ParsedQuestion
    question: Question
    near: tuple[str, ...] = ()

    @property
    def is_vain(self) -> bool:
        """Whether words were asked for, and none of them can be in an index: they are too long."""
        given = self.asked.words or self.asked.phrases
        return bool(given) and not (self.stems or self.names or self.phrases)

    @property
    def marked(self) -> frozenset[str]:
        """Every stem that a snippet marks."""
        return frozenset((*self.stems, *self.near, *(word for phrase in self.phrases for word in phrase)))


def open_searchers(store: RecallStore, manifest: RecallManifest) -> Searchers:
    """Open what a manifest names.  Raises `IndexBroken` when it has been replaced meanwhile, or cannot be opened."""
    paths = {row.number: path for path, row in manifest.rows.items()}
    if not manifest.parts:
        return Searchers(manifest, {}, paths, {})
    with refusals(IndexBroken):
        sides = {side: open_side(store.folder / side) for side in SIDES}
    if not store.is_current(manifest):
        raise IndexBroken(f"{store.folder}: replaced while it was opened")
    return Searchers(manifest, sides, paths, {})


def sought_of(asked: ParsedQuestion, question: Question) -> Sought:
    """The question's words as the index has them."""
    stems = dict.fromkeys(stem for word in asked.words for stem in analyze(word))
    phrases = [tuple(analyze(phrase)) for phrase in asked.phrases]
    nots = [tuple(analyze(text)) for text in asked.nots]
    return Sought(tuple(stems), asked.names, tuple(filter(None, phrases)), tuple(filter(None, nots)), asked, question)


def count_stems(searchers: Searchers, stems: Sequence[str]) -> dict[str, int]:
    """In how many sessions each stem is, at most `OFTEN`; of a word of items only, one."""
    if not searchers.sides:
        return {}
    sessions, events = (searchers.sides[side] for side in ("sessions", "events"))
    with refusals(IndexBroken):
        return {
            stem: min(sessions.doc_freq("text", stem), OFTEN) or min(events.doc_freq("text", stem), 1) for stem in stems
        }


def best(searchers: Searchers, side: str, sought: Sought, most: int) -> list[Match]:
    """The best documents of a side, best first; of a question without words the newest."""
    searcher = searchers.sides.get(side)
    if searcher is None:
        return []
    query = _query(searchers, side, sought)
    by_time = not (sought.stems or sought.names or sought.phrases)
    limit = most
    for _ in range(_TRIES):
        with refusals(IndexBroken):
            by = "first" if by_time else None
            hits = searcher.search(query, limit, count=False, order_by_field=by).hits
            found = _live(searchers, side, hits, by_time)
        if len(found) >= most or len(hits) < limit:
            break
        limit *= 4
    return found[:most]


def _live(
    searchers: Searchers, side: str, hits: Sequence[tuple[Any, tantivy.DocAddress]], by_time: bool
) -> list[Match]:
    """Without what a later writing replaced, and on the side of sessions without what is none."""
    searcher = searchers.sides[side]
    places = [place for _, place in hits]

    def values(field: str) -> list[Any]:
        return searcher.fast_field_values(field, places)

    numbers = values("event") if side == "events" else [0] * len(places)
    found = []
    for (score, _), note, first, number in zip(hits, values("note"), values("first"), numbers, strict=True):
        path = searchers.paths.get(note)
        if path is not None and first is not None:
            found.append(Match(path, number, 0.0 if by_time else score, first))
    return found


def load_cards(searchers: Searchers, paths: Iterable[str]) -> dict[str, Card]:
    """The cards of notes.  Raises `IndexBroken` for one that is no card."""
    # Late for the reason in `segments`.
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
"""That are kept as long as an index is open: a card of a hundred events takes ten kilobytes."""


def _query(searchers: Searchers, side: str, sought: Sought) -> tantivy.Query:
    # Late for the reason in `segments`.
    import tantivy  # noqa: PLC0415

    query, occur = tantivy.Query, tantivy.Occur
    any_of = _any_of(side, sought)
    clauses = [(occur.Must, query.boolean_query(any_of))] if any_of else []
    clauses += [(occur.Must, _words(side, phrase)) for phrase in sought.phrases]
    if not clauses:
        clauses.append((occur.Must, query.all_query()))
    # Which project something belongs to says nothing of how well it fits.
    needed = _filters(searchers, side, sought)
    clauses += [(occur.Must, query.const_score_query(one, 0.0)) for one in needed]
    clauses += [(occur.MustNot, _words(side, words)) for words in sought.nots if len(words) == 1]
    clauses += [(occur.MustNot, _fact(searchers, side, field, [value])) for field, value in sought.asked.not_facts]
    return query.boolean_query(clauses)


def _any_of(side: str, sought: Sought) -> list[tuple[tantivy.Occur, tantivy.Query]]:
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    found = [(should, tantivy.Query.term_query(schema, "text", stem, "freq")) for stem in sought.stems]
    for stem in sought.near:
        near = tantivy.Query.term_query(schema, "text", stem, "freq")
        found.append((should, tantivy.Query.boost_query(near, NEAR)))
    for name in sought.names:
        # Who writes a name whole means it whole: its parts alone are also found.
        whole = tantivy.Query.term_query(schema, "names", name, "basic")
        found.append((should, tantivy.Query.boost_query(whole, WHOLE)))
    return found


def _words(side: str, words: Sequence[str]) -> tantivy.Query:
    """Words that are all there: whether they follow each other only the text knows."""
    import tantivy  # noqa: PLC0415  as above

    schema, must = schema_of(side), tantivy.Occur.Must
    each = [(must, tantivy.Query.term_query(schema, "text", word, "freq")) for word in dict.fromkeys(words)]
    return each[0][1] if len(each) == 1 else tantivy.Query.boolean_query(each)


def _filters(searchers: Searchers, side: str, sought: Sought) -> list[tantivy.Query]:
    import tantivy  # noqa: PLC0415  as above

    question = sought.question
    wanted: dict[str, list[str]] = {}
    for field, value in sought.asked.facts:
        wanted.setdefault(field, []).append(value)
    found = [_fact(searchers, side, field, values) for field, values in wanted.items()]
    given = {field: getattr(question, field) for field in ("session", "agent", "channel", "project")}
    found += [_fact(searchers, side, field, [value_of(value)]) for field, value in given.items() if value]
    if question.project and side == "events":
        # Which knowledge a project sees, the shelf knows: its domain's and everybody's, too.
        own = [found.pop(), _fact(searchers, side, "kind", [EventKind.KNOWLEDGE.value])]
        found.append(tantivy.Query.boolean_query([(tantivy.Occur.Should, one) for one in own]))
    if question.kinds != frozenset(EventKind) and side == "events":
        found.append(_fact(searchers, side, "kind", sorted(kind.value for kind in question.kinds)))
    return found + _times(side, question)


def _times(side: str, question: Question) -> list[tantivy.Query]:
    """A session counts that had begun and had not ended."""
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
    """Any of the values."""
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    if field == "file":
        return tantivy.Query.boolean_query([(should, _file(side, value)) for value in values])
    if field == "session":
        values = _sessions(searchers.manifest, values)
    if not values:
        return tantivy.Query.empty_query()
    return tantivy.Query.term_set_query(schema, "facts", [f"{field}:{value_of(value)}" for value in values])


def _sessions(manifest: RecallManifest, values: Sequence[str]) -> list[str]:
    """The ids that are meant: as they are, or all that begin so."""
    ids = {row.session.lower() for row in manifest.rows.values()}
    found = [one for value in values for one in ([value] if value in ids else sorted(ids)) if one.startswith(value)]
    return found[:MOST_SESSIONS]


def _file(side: str, value: str) -> tantivy.Query:
    """A path, or its last parts."""
    import tantivy  # noqa: PLC0415  as above

    schema, should = schema_of(side), tantivy.Occur.Should
    found = [(should, tantivy.Query.term_query(schema, "names", name, "basic")) for name in (*names_in(value), value)]
    if words := analyze(" ".join(words_in(value))):
        found.append((should, _words(side, words)))
    return tantivy.Query.boolean_query(found)
