"""Cut snippets out of the text of hits: the sentences that fit a question best, with its words marked."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate

from crucible.core.patterns import late_pattern
from crucible.core.text import WORD, split_sentences
from crucible.search.question_words import parts_of, unspaced_runs
from crucible.search.recall import Event, Snippet

WIDTH = 320
"""Maximum code points of a snippet, not counting ellipses."""

_SCANNED = 50_000
"""Maximum code points of a text to search for a snippet."""
_BEFORE = 40
"""Maximum code points of a snippet before its first mark, in a sentence that is too long to show."""
_SENTENCE_END = late_pattern(r"[.!?…]+[\"'”’)\]*_`]*(?=\s)|[。！？]|\n")

Analyze = Callable[[str], Sequence[str]]
_Mark = tuple[int, int, frozenset[str]]


def event_snippet(event: Event, weights: Mapping[str, float], analyze: Analyze) -> Snippet:
    """Return the snippet of an event.  The words found include those in a knowledge item's title."""
    snippet = snippet_of(event.text or event.title, weights, analyze)
    return snippet._replace(found=snippet.found | snippet_of(event.title, weights, analyze).found)


def snippet_of(text: str, weights: Mapping[str, float], analyze: Analyze) -> Snippet:
    """Return the sentences of a text that fit best, as one line.  `weights` are of the question's stems.

    Sentences fit best if they have the most of the question's words, counted by weight.  `analyze` returns stems.
    """
    sentences = [" ".join(one.split()) for one in split_sentences(text[:_SCANNED], _SENTENCE_END)]
    line = " ".join(filter(None, sentences))
    marks = _marks(line, frozenset(weights), analyze) if weights else []
    starts = list(accumulate((len(one) + 1 for one in sentences if one), initial=0))
    start = _start(line, starts, marks, weights)
    end = _end(line, starts, start)
    inside = tuple((first, last) for first, last, _ in marks if start <= first and last <= end)
    before, after = "…" if start else "", "…" if end < len(line) or len(text) > _SCANNED else ""
    shift = len(before) - start
    found = frozenset(stem for _, _, stems in marks for stem in stems)
    return Snippet(
        f"{before}{line[start:end]}{after}", tuple((first + shift, last + shift) for first, last in inside), found
    )


def clean_snippet(text: str, snippet: Snippet, clean: Callable[[str], str], analyze: Analyze) -> str:
    """Return the snippet from the redacted text: redacting only the snippet could miss a truncated secret."""
    scanned = text[:_SCANNED]
    redacted = clean(scanned)
    if redacted == scanned:
        return snippet.text
    stems = [stem for first, last in snippet.marks for stem in analyze(snippet.text[first:last])]
    return snippet_of(redacted, dict.fromkeys(stems, 1.0), analyze).text


def _marks(line: str, stems: frozenset[str], analyze: Analyze) -> list[_Mark]:
    """Return the places of the question's words with their stems.  Words like `TokenBucket` are marked as one word."""
    words = list(WORD.finditer(line))
    matching = _matching_words({word[0] for word in words}, stems, analyze)
    marks = [(word.start(), word.end(), matching[word[0]]) for word in words if word[0] in matching]
    return sorted([*marks, *_unspaced_marks(line, stems)])


def _unspaced_marks(line: str, stems: frozenset[str]) -> Iterator[_Mark]:
    """Yield the places of pairs of letters, and of single letters, that count as words; neighbors are joined."""
    for run in unspaced_runs(line):
        first, last, held = 0, 0, set[str]()
        for at in range(run.start(), run.end()):
            here = [one for size in (2, 1) if (one := line[at : min(at + size, run.end())]) in stems]
            if here and at > last and held:
                yield first, last, frozenset(held)
                held = set()
            if here:
                first, last = (first, max(last, at + len(here[0]))) if held else (at, at + len(here[0]))
                held.update(here)
        if held:
            yield first, last, frozenset(held)


def _matching_words(words: Collection[str], stems: frozenset[str], analyze: Analyze) -> dict[str, frozenset[str]]:
    """Return the words that contain any of the stems, with these stems."""
    simple = [word for word in words if word.isascii() and len(word) < _SHORT and not parts_of(word)]
    found = {}
    # One call for all of these words, each of which has exactly one stem.
    for word, stem in zip(simple, analyze(" ".join(simple)), strict=True):
        if stem in stems:
            found[word] = frozenset((stem,))
    for word in set(words).difference(simple):
        held = stems.intersection(one for part in (word, *parts_of(word)) for one in analyze(part))
        if held and not any(unspaced_runs(word)):
            found[word] = held
    return found


_SHORT = 64


def _start(line: str, starts: Sequence[int], marks: Sequence[_Mark], weights: Mapping[str, float]) -> int:
    """Return where the best part starts: at a sentence or, in a long one, at a blank before a mark."""
    if len(line) <= WIDTH:
        return 0
    best, most = 0, 0.0
    for at, (first, last, _) in enumerate(marks):
        start = starts[bisect_right(starts, first) - 1]
        if last - start > WIDTH:
            start = _blank_before(line, first)
        held: set[str] = set()
        for _, end, stems in marks[at : at + WIDTH // 2]:
            if end > start + WIDTH:
                break
            held |= stems
        weight = sum(weights[stem] for stem in held)
        if weight > most:
            best, most = start, weight
    return best


def _blank_before(line: str, first: int) -> int:
    """Return the start of a word shortly before a mark."""
    start = max(min(first - _BEFORE, len(line) - WIDTH), 0)
    blank = line.find(" ", start, first)
    return blank + 1 if start and blank >= 0 else start


def _end(line: str, starts: Sequence[int], start: int) -> int:
    """Return where a part ends: after a sentence or, if it would be short, after a word."""
    most = start + WIDTH
    if most >= len(line):
        return len(line)
    sentence = starts[bisect_right(starts, most + 1) - 1] - 1
    if sentence > start + WIDTH // 2:
        return sentence
    blank = line.rfind(" ", start + WIDTH // 2, most)
    return blank if blank > 0 else most
