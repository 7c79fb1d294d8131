"""Snippets: the line of an event's text that holds most of the question's words, with these words marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from crucible.core.patterns import late_pattern
from crucible.core.text.words import WORD
from crucible.search.question_words import parts_of
from crucible.search.recall import Snippet

WIDTH = 200
"""Code points of a snippet, the ellipses not counted."""

_LOOKED_AT = 50_000
"""Code points of a text in which a piece is sought."""
_BEFORE = 40
"""Code points before the first mark, if any."""
_BLANKS = late_pattern(r"\s+")

Analyze = Callable[[str], Sequence[str]]
_Mark = tuple[int, int, frozenset[str]]


def snippet_of(text: str, stems: Collection[str], analyze: Analyze) -> Snippet:
    """The line with most of the question's `stems`; `analyze` turns text into stems."""
    line = _BLANKS.sub(" ", text[:_LOOKED_AT]).strip()
    marks = _marks(line, frozenset(stems), analyze) if stems else []
    start = _start(line, marks)
    end = min(start + WIDTH, len(line))
    if end < len(line) and (blank := line.rfind(" ", start + WIDTH // 2, end)) > 0:
        end = blank
    inside = [(first, last) for first, last, _ in marks if start <= first and last <= end]
    before, after = "…" if start else "", "…" if end < len(line) or len(text) > _LOOKED_AT else ""
    shift = len(before) - start
    return Snippet(f"{before}{line[start:end]}{after}", tuple((first + shift, last + shift) for first, last in inside))


def clean_snippet(text: str, snippet: Snippet, clean: Callable[[str], str], analyze: Analyze) -> str:
    """The snippet of the redacted text: half a secret could not be recognized."""
    looked_at = text[:_LOOKED_AT]
    told = clean(looked_at)
    if told == looked_at:
        return snippet.text
    stems = {stem for first, last in snippet.marks for stem in analyze(snippet.text[first:last])}
    return snippet_of(told, stems, analyze).text


def _marks(line: str, stems: frozenset[str], analyze: Analyze) -> list[_Mark]:
    """The places of the question's words; a name in one word is marked as a whole."""
    words = list(WORD.finditer(line))
    telling = _telling({word[0] for word in words}, stems, analyze)
    return [(word.start(), word.end(), telling[word[0]]) for word in words if word[0] in telling]


def _telling(words: Collection[str], stems: frozenset[str], analyze: Analyze) -> dict[str, frozenset[str]]:
    """The words with some of the stems, and which."""
    simple = [word for word in words if word.isascii() and len(word) < _SHORT and not parts_of(word)]
    found = {}
    # One call for all of them: each becomes one.
    for word, stem in zip(simple, analyze(" ".join(simple)), strict=True):
        if stem in stems:
            found[word] = frozenset((stem,))
    for word in set(words).difference(simple):
        parts = (word, *parts_of(word), *(() if word.isascii() else word))
        held = stems.intersection(one for part in parts for one in analyze(part))
        if held:
            found[word] = held
    return found


_SHORT = 64


def _start(line: str, marks: Sequence[_Mark]) -> int:
    """Where the best piece begins: at a blank, a little before its first mark."""
    if len(line) <= WIDTH or not marks:
        return 0
    best, most = 0, 0
    for at, (first, _, _) in enumerate(marks):
        held: set[str] = set()
        for begin, _, which in marks[at : at + WIDTH // 2]:
            if begin > first + WIDTH - _BEFORE:
                break
            held |= which
        if len(held) > most:
            best, most = first, len(held)
    start = max(min(best - _BEFORE, len(line) - WIDTH), 0)
    blank = line.find(" ", start, best)
    return blank + 1 if start and blank >= 0 else start
