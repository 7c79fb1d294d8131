"""Parse text and questions into words, names and times.

A word is a run of letters and digits; a name, such as `src/limiter.py` or `--flag`, is joined by punctuation.  Any text
is a valid question: whatever is not an operator is a word.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from itertools import chain, filterfalse

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import ANSI, late_pattern
from crucible.core.text import WORD, stop_words
from crucible.search.recall import EventKind

FIELDS = ("session", "type", "agent", "channel", "project", "branch", "phase", "tag", "file")
"""Fields that a question may use before a colon."""
_INDEXED = {"type": "kind"}
"""The index's names of fields, where they differ."""

_KINDS = frozenset(EventKind)
_LONGEST_QUESTION = 20_000
"""Maximum code points of a question to parse."""
_MOST_WORDS = 100
"""Maximum distinct words to search for.  Longer text was probably pasted, and its first words identify the topic."""
_LONGEST_NAME = 120
_LONGEST_VALUE = 200

_HUMP = late_pattern(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
_PART = late_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_RUN = late_pattern(r"[\w./:@#+-]+")
"""A word or a possible name."""
_NAMED = late_pattern(r"[\w.][./:@#+-]+\w|_")
_BOUNDS = (
    "\u0e00\u0f00\u1000\u10a0\u1780\u1800\u3040\u3100\u3400\u4dc0\u4e00\ua000\uac00\ud7b0\uf900\ufb00"
    "\U00020000\U0002fa20"
)
"""The first letter of each range of `_UNSPACED`, and what follows its last letter."""
_UNSPACED = late_pattern(f"[{''.join(f'{a}-{chr(ord(b) - 1)}' for a, b in zip(*[iter(_BOUNDS)] * 2, strict=True))}]+")
"""Letters of languages written without blanks between words, such as Chinese, Japanese, Korean and Thai.

The index has each of these letters and each pair of neighbors as a word.  A question searches for the pairs, which are
rarer, and for a letter only if it stands alone.
"""
_NOT_INDEXABLE = late_pattern("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f]")


def _blanking(kept: bytes) -> bytes:
    """Return a table for `bytes.translate` that blanks ASCII, except letters, digits and the characters to keep."""
    return bytes(at if at > 127 or at in kept or chr(at).isalnum() else 32 for at in range(256))


_OUTSIDE_WORDS, _OUTSIDE_NAMES = _blanking(b""), _blanking(b"_./:@#+-")
_ASCII, _UTF8 = bytes(range(128)), ("utf-8", "surrogatepass")
_MOST_OTHERS = 50
"""Maximum number of distinct characters that are not ASCII, above which text is searched instead of blanked."""
_REMEMBERED = 1 << 14
"""Number of recent runs of characters whose parts and names are kept, since most of a session's words are repeated."""


def indexable(text: str) -> str:
    """Replace characters that an index does not accept: lone surrogates and control characters."""
    return text if text.isascii() and text.isprintable() else _NOT_INDEXABLE.sub(" ", text)


def field_value(text: str) -> str:
    """Return a field's value as indexed and searched: in lower case, shortened if it is long."""
    return indexable(text).lower()[:_LONGEST_VALUE]


def with_name_parts(text: str) -> str:
    """Return text for the index, followed by the parts of words such as `TokenBucket`."""
    return "\n".join(pieces_of_text(text))


def pieces_of_text(text: str) -> list[str]:
    """Return the text, then the parts of each compound word, as separate pieces so that no phrase spans two of them."""
    text = indexable(text)
    spaced = _spaced(text)
    pairs = [] if spaced is text else [pair for run in unspaced_runs(text) for pair in pairs_of(run[0])]
    return [spaced, *_parts(spaced), *([" ".join(pairs)] if pairs else ())]


def _spaced(text: str) -> str:
    """Put blanks around letters that count as words."""
    return _UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", text) if _has_unspaced(text) else text


def _paired(text: str) -> str:
    """Put blanks around pairs of letters that count as words, and around single ones."""
    if not _has_unspaced(text):
        return text
    return _UNSPACED.sub(lambda run: f" {' '.join(pairs_of(run[0]) or run[0])} ", text)


def unspaced_runs(text: str) -> Iterator[re.Match[str]]:
    """Yield the runs of letters that count as words."""
    return _UNSPACED.finditer(text) if _has_unspaced(text) else iter(())


def pairs_of(word: str) -> list[str]:
    """Return the pairs of neighboring letters in a word; empty for a single letter."""
    letters = "".join(filter(str.isalnum, word))  # Thai vowels are marks
    return [letters[at : at + 2] for at in range(len(letters) - 1)]


def _has_unspaced(text: str) -> bool:
    """Return whether a text has letters that count as words.  Skips compiling the pattern, which takes 5 ms, if possible."""
    if text.isascii():
        return False
    others = text.encode(*_UTF8).translate(None, _ASCII).decode(*_UTF8)
    return any(bisect_right(_BOUNDS, char) % 2 for char in set(others))


def _parts(text: str) -> list[str]:
    runs = " ".join(filterfalse(str.islower, _runs(text)))
    if not _HUMP.search(runs):
        return []
    words = filterfalse(str.islower, _distinct(runs, _OUTSIDE_WORDS, WORD))
    return list(filter(None, map(_joined_parts, words)))


@lru_cache(_REMEMBERED)
def _joined_parts(word: str) -> str:
    return " ".join(parts_of(word))


def parts_of(word: str) -> list[str]:
    """Return the parts of a word such as `TokenBucket`; empty for a simple word."""
    return _PART.findall(word) if len(word) <= _LONGEST_NAME and _HUMP.search(word) else []


def words_in(text: str) -> list[str]:
    """Return the words in a text, as spelled."""
    return WORD.findall(text)


def names_in(text: str) -> list[str]:
    """Return the distinct names in a text, in lower case; for a path, also its last component."""
    return list(dict.fromkeys(chain.from_iterable(map(_names_of, filterfalse(str.isalnum, _runs(text))))))


@lru_cache(_REMEMBERED)
def _names_of(run: str) -> tuple[str, ...]:
    """Return the name in a run, and for a path its last component, in lower case; nothing if there is no name."""
    if not _NAMED.search(run) and run[:2] != "--":
        return ()
    name = run.lstrip("./:@#+" if run[0] != "-" else "+").rstrip("./:@#+-").lower()
    if len(name) > _LONGEST_NAME or not WORD.search(name):
        return ()
    return (name, name.rpartition("/")[2]) if "/" in name else (name,)


@lru_cache(1)
def _runs(text: str) -> dict[str, None]:
    """Return the distinct runs of characters that names consist of.  Both the names and the words are found in them."""
    return _distinct(text, _OUTSIDE_NAMES, _RUN)


def _distinct(text: str, outside: bytes, pattern: re.Pattern[str]) -> dict[str, None]:
    """Return the distinct matches of a pattern, in order; `outside` blanks the ASCII that it never matches.

    Blanking all that is not part of a match and splitting is several times as fast as searching.
    """
    if not text.isascii():
        others = set(text.encode(*_UTF8).translate(None, _ASCII).decode(*_UTF8))
        if len(others) > _MOST_OTHERS:
            return dict.fromkeys(pattern.findall(text))
        for other in filterfalse(str.isalnum, others):
            text = text.replace(other, " ")
    return dict.fromkeys(text.encode(*_UTF8).translate(outside).decode(*_UTF8).split())


class ParsedQuestion(NamedTuple):
    """A parsed question.

    `words` excludes stop words unless there are no others.  `phrases` and `nots` are phrases that must, and must not,
    occur.  `facts` and `not_facts` are lower-case pairs of the index's field and value.  `cut` is True if words were dropped.
    """

    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    nots: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    not_facts: tuple[tuple[str, str], ...] = ()
    cut: bool = False

    def is_empty(self) -> bool:
        """Return whether the question has no words, phrases or fields."""
        return not (self.words or self.phrases or self.facts or self.nots or self.not_facts)


_HINTS = {
    EventKind.DECISION: frozenset(
        """
        agree agreed choice choose chooses chose chosen decide decided decides deciding decision decisions policy settled
        """.split()  # noqa: SIM905  a block of words is easier to edit than a list
    ),
    EventKind.ERROR: frozenset(
        """
        broke broken bug bugs crash crashed crashes crashing error errors exception exceptions fail failed failing fails
        failure failures wrong
        """.split()  # noqa: SIM905
    ),
}


def hinted_kinds(asked: ParsedQuestion) -> frozenset[EventKind]:
    """Return the kinds that a question hints at: decisions for "what was decided", errors for "what failed"."""
    return frozenset(kind for kind, words in _HINTS.items() if not words.isdisjoint(asked.words))


_TOKEN = late_pattern(r'(-?)(?:([A-Za-z]{3,8}):)?"([^"]*)"|(\S+)')
_QUOTES = str.maketrans("“”„‟«»", '""""""')


def read_question(text: str) -> ParsedQuestion:
    """Parse a question."""
    terms: list[str] = []
    phrases: list[str] = []
    nots: list[str] = []
    facts: list[tuple[str, str]] = []
    not_facts: list[tuple[str, str]] = []
    # Text pasted from a terminal may contain color codes.
    start = text[:_LONGEST_QUESTION]
    uncolored = start if start.isprintable() else ANSI.sub("", start)
    question = indexable(uncolored).translate(_QUOTES)
    for negated, field, value, is_quoted in _tokens(question):
        if field:
            (not_facts if negated else facts).append((field, value.lower()))
        elif negated:
            nots.append(_spaced(value))
        elif is_quoted and len(words_in(_spaced(value))) > 1:
            phrases.append(_spaced(value))
        else:
            terms.append(value)
    words = _search_words(terms)
    names = names_in(" ".join(terms))
    return ParsedQuestion(
        tuple(words[:_MOST_WORDS]),
        tuple(names[:_MOST_WORDS]),
        tuple(dict.fromkeys(phrases))[:_MOST_WORDS],
        tuple(dict.fromkeys(nots))[:_MOST_WORDS],
        tuple(dict.fromkeys(facts))[:_MOST_WORDS],
        tuple(dict.fromkeys(not_facts))[:_MOST_WORDS],
        len(words) > _MOST_WORDS or len(text) > _LONGEST_QUESTION,
    )


def _tokens(text: str) -> Iterator[tuple[bool, str, str, bool]]:
    """Yield for each token: whether it is negated, the field or "", the value, and whether it is quoted."""
    for found in _TOKEN.finditer(text):
        minus, field, quoted, word = found.groups()
        if word is None:
            yield from _quoted(bool(minus), field or "", quoted)
            continue
        # `-v` and `-rf` are command-line flags, not negations.
        negated = len(word) > _FLAG and word[0] == "-" and bool(WORD.match(word, 1))
        yield _bare(negated, word[1:] if negated else word)


_FLAG = 3


def _quoted(negated: bool, field: str, value: str) -> Iterator[tuple[bool, str, str, bool]]:
    if not WORD.search(value):
        if field:
            yield False, "", field, False
        return
    if field and _is_fact(field.lower(), value.lower()):
        yield negated, _indexed(field), value, True
        return
    if field:
        yield False, "", field, False
    yield negated, "", value, True


def _bare(negated: bool, word: str) -> tuple[bool, str, str, bool]:
    field, colon, value = word.partition(":")
    if colon and _is_fact(field.lower(), value.lower()):
        return negated, _indexed(field), value, False
    return negated, "", word, False


def _indexed(field: str) -> str:
    return _INDEXED.get(field.lower(), field.lower())


def _is_fact(field: str, value: str) -> bool:
    return field in FIELDS and bool(WORD.search(value)) and (field != "type" or value in _KINDS)


def _search_words(terms: Iterable[str]) -> list[str]:
    """Return the distinct words in lower case, with their parts; stop words only if there are no other words."""
    found: dict[str, None] = {}
    for word in words_in(_paired(" ".join(terms))):
        found[word.lower()] = None
        found.update((part.lower(), None) for part in parts_of(word))
    return [word for word in found if word not in stop_words("search")] or list(found)


_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {name: number for number, month in enumerate(_MONTHS, 1) for name in (month, month[:3])} | {"sept": 9}
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH = late_pattern(
    rf"\b(?:{_DAY} (?:of )?)?({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b\.?(?: {_DAY}\b)?(?:,? (\d{{4}})\b)?",
    re.IGNORECASE,
)
_DATE = late_pattern(r"\b(20\d\d)-(\d\d)(?:-(\d\d))?\b(?!-|[T ]\d\d:)")
"""A date.  If a time follows, the date is part of a pasted log and not a question about that day."""
_WEEKDAY = late_pattern(rf"\b({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_LEADS = late_pattern(
    r"\b(?:in|of|from|since|last|this|early|late|mid|during|until|by|on|before|after) $", re.IGNORECASE
)
_SCANNED = 2_000
"""Maximum code points to search for dates; later dates in long text were pasted."""
_LEADING = 12
"""Maximum code points before a month's name that may contain a preposition."""


class NamedTime(NamedTuple):
    """A month, day or weekday (0 is Monday); None matches any."""

    month: int
    year: int | None = None
    day: int | None = None
    weekday: int | None = None


def times_in(text: str) -> tuple[NamedTime, ...]:
    """Return the times that a question mentions, in order."""
    return tuple(dict.fromkeys(_times_in_order(" ".join(text[:_SCANNED].split()))))


def _times_in_order(text: str) -> Iterator[NamedTime]:
    for found in _DATE.finditer(text):
        year, month, day = found.groups()
        yield NamedTime(int(month), int(year), int(day) if day else None)
    weekday = next((_WEEKDAYS.index(found[1].lower()) for found in _WEEKDAY.finditer(text)), None)
    # Compiling this pattern takes as long as searching the index, and few questions name a month.
    lower = text.casefold()
    for found in _MONTH.finditer(text) if any(month[:3] in lower for month in _MONTHS) else ():
        before, name, after, year = found.groups()
        day = before or after
        if day or year or _is_month(name.lower(), text[max(found.start() - _LEADING, 0) : found.start()]):
            yield NamedTime(
                _NUMBERS[name.lower()],
                int(year) if year else None,
                int(day) if day else None,
                None if day else weekday,
            )


def _is_month(name: str, before: str) -> bool:
    if name in ("may", "march"):
        return bool(_LEADS.search(before))
    return name in _MONTHS


def is_at_time(times: Sequence[NamedTime], first: int, zone: tzinfo | None = UTC) -> bool:
    """Return whether a time (seconds since 1970) is in one of `times`, in `zone`; False for 0, which means no date."""
    if not times or not first:
        return False
    try:
        at = datetime.fromtimestamp(first, zone or UTC)
    except (ValueError, OverflowError, OSError):
        return False
    fields = (at.month, at.year, at.day, at.weekday())
    return any(all(named in (None, field) for named, field in zip(one, fields, strict=True)) for one in times)
