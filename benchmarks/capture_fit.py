"""Fits how much the features of a sentence speak for a choice, a way worth doing again and a taking back, to wordings of which it is known.

`python -m benchmarks.capture_fit` writes `crucible/capture/weights.tsv`.  `--check` leaves out the wordings of each hand in turn and prints precision and
recall over them: how well it does in words that it has not seen.  It is a logistic regression over the features of `crucible.capture.weights`: plain gradients,
half of the features left out at random each time so that none is relied on alone.  It learns from the books of planted sessions and from
`tests/capture/sayings/`, a file for each hand; of a book only since the detector was measured with it, blind.  The same wordings give the same table.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crucible.capture import correcting_words, deciding_words, never, pattern_words, unsettled
from crucible.capture.leanings import features_by_sentence
from crucible.capture.marks import Mark
from crucible.capture.sentences import sentences_of
from crucible.capture.weights import TABLE, UNIT, Chances, beginnings, together
from tests.capture.planted.books import FIFTH, FIRST, FOURTH, THIRD, Book
from tests.cases.planted.stacks import Names

__all__ = ["BOOKS", "SAYINGS", "Example", "Wording", "checked", "examples", "fit", "fitted_to", "known_to", "table_of", "wordings"]  # fmt: skip

SAYINGS = Path(__file__).parent.parent / "tests" / "capture" / "sayings"
LABELS = ("none", "decision", "pattern", "correction")

BOOKS: Mapping[str, Book] = {"first": FIRST, "third": THIRD, "fourth": FOURTH, "fifth": FIFTH}
"""Those that may be learnt from, by the name of their hand."""

_SPOKEN = ("en", "de", "fr", "es")
_TOLD, _MANY = 3, 0.4
"""Wordings that have to have a feature, and the share of a language's hands that have to use a word."""
_TEMPTING = 0.7
"""How much a saying counts that tells nothing: most were written to be mistaken, and are rarer than that in sessions."""
_FILLS = 3
"""Times that a wording with slots is filled."""
_ROUNDS = 8
_STEP = 2.0
_DRAWN = 0.002
_LEFT_OUT = 0.5

_MATTER = ("a", "what", "do", "right", "wrong")
"""Slots of which one stands in the sentence that tells a choice, a way, or what is taken back."""

Weights = dict[str, list[float]]
Table = Mapping[str, Sequence[str]] | Sequence[str]

_SAID: tuple[tuple[int, bool, tuple[str, ...]], ...] = (
    (1, False, ("sentences", "bare")),
    (1, True, ("users",)),
    (2, False, ("wordings",)),
    (3, False, ("retractions",)),
    (0, False, ("looks", "changes", "ends", "before", "after")),
    (0, False, ("statements", "claimed", "proven")),
    (0, False, ("causes", "guesses", "announcements", "wirings")),
    (0, False, ("after_environment", "after_transient", "after_suite", "given_up", "first_red")),
    (0, False, ("questions", "prose")),
    (0, True, ("goals", "follow_ups", "user_before", "user_after")),
    (0, True, ("put_off", "prompts")),
)
"""The tables of a book by label and whether the user says it."""


class Wording(NamedTuple):
    """A text, maybe with slots, its label's place in `LABELS`, and whose `hand` wrote it."""

    label: int
    by_user: bool
    language: str
    text: str
    hand: str


class Example(NamedTuple):
    """A wording filled: the features of its sentences."""

    wording: Wording
    sentences: tuple[frozenset[str], ...]


def wordings() -> list[Wording]:
    """All that may be learnt from."""
    return [*_planted(), *_sayings()]


def _planted() -> Iterator[Wording]:
    for hand, book in BOOKS.items():
        for label, by_user, names in _SAID:
            for table in (each for name in names for each in _tables(getattr(book, name))):
                spoken = table if isinstance(table, Mapping) else {"en": table}
                for language in _SPOKEN:
                    rows = (text for text in spoken.get(language, ()) if text)
                    yield from (Wording(label, by_user, language, text, hand) for text in rows)


def _tables(found: Any) -> list[Table]:
    """A table, or those of every reason."""
    by_reason = isinstance(found, Mapping) and any(isinstance(one, Mapping) for one in found.values())
    return list(found.values()) if by_reason else [found]


def _sayings() -> Iterator[Wording]:
    for path in sorted(SAYINGS.glob("*.txt")):
        label, by_user, language = 0, False, "en"
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("="):
                kind, speaker, language = line[1:].split()
                label, by_user = LABELS.index(kind), speaker == "user"
            elif line and not line.startswith("#"):
                yield Wording(label, by_user, language, line, path.stem)


def examples(told: Sequence[Wording], known: frozenset[str]) -> list[Example]:
    """Each wording, filled several times where it has slots, now and then without its capital and full stop, or with something before it."""
    chance = random.Random(1)
    return [_example(one, known, chance) for one in told for _ in range(_FILLS if "<" in one.text else 1)]


def _example(one: Wording, known: frozenset[str], chance: random.Random) -> Example:
    (text, matter), before, how = _filled(one, chance), 0, chance.random()
    if not one.by_user and how < 0.2:
        text = text[:1].lower() + text[1:].removesuffix(".")
    elif not one.by_user and how < 0.4 and one.language in FIRST.before:
        first = chance.choice(FIRST.before[one.language])
        text, before = f"{_filled(one._replace(text=first), chance)[0]} {text}", 1
    sentences = sentences_of(text, 1)
    found = [*zip(sentences, features_by_sentence(sentences, known, by_user=one.by_user), strict=True)][
        before:
    ]
    if one.label:
        found = [each for each in found if any(value in each[0].text.casefold() for value in matter)] or found
    return Example(one, tuple(frozenset(features) for _, features in found))


def _filled(one: Wording, chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """The text without slots, and what it is of where it says something, in small letters."""
    book = BOOKS.get(one.hand, FIRST)
    language = one.language if one.language in book.topics else "en"
    topic, names = chance.choice(book.topics[language]), Names.draw(chance, chance.choice(book.stacks))
    wrong, right = chance.choice(book.claims[language])
    do, where = chance.choice(book.practices[language])
    slots = {
        **topic._asdict(), "first": topic.a, "second": topic.b, "wrong": wrong, "right": right, "do": do, "where": where,
        "claim": chance.choice(book.proofs[language])[0], "cause": chance.choice(book.failures).cause,
        "api": chance.choice(book.apis).name, "n1": "7",
    }  # fmt: skip
    text = one.text
    for name, value in slots.items():
        whole = names.fill(value)
        text = re.sub(rf"(^|[.!?] )<{name}>", lambda m, v=whole: m[1] + v[:1].upper() + v[1:], text)  # type: ignore[misc]
        text = text.replace(f"<{name}>", whole)
    return names.fill(text), tuple(
        names.fill(slots[name]).casefold() for name in _MATTER if f"<{name}>" in one.text
    )


def known_to(told: Sequence[Wording]) -> frozenset[str]:
    """The beginnings of words that many hands of a language use, besides what stands in slots: the rest are names of things."""
    hands: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    of: defaultdict[str, set[str]] = defaultdict(set)
    for one in told:
        of[one.language].add(one.hand)
        for word in beginnings(re.sub(r"<\w+>", " ", one.text)):
            hands[one.language, word].add(one.hand)
    return frozenset(
        word for (language, word), found in hands.items() if len(found) >= max(2, _MANY * len(of[language]))
    )


def fit(learnt: Sequence[Example]) -> Weights:
    """Weights by feature, one for each of `Chances`."""
    held: defaultdict[str, set[Wording]] = defaultdict(set)
    for one in learnt:
        for feature in frozenset().union(*one.sentences):
            held[feature].add(one.wording)
    weights: Weights = {
        feature: [0.0] * len(Chances._fields)
        for feature, told in sorted(held.items())
        if len(told) >= _TOLD and len({one.hand for one in told}) > 1
    }
    rows = [
        (
            one.wording,
            [[weights[each] for each in sorted(said & weights.keys())] for said in one.sentences],
        )
        for one in learnt
        if one.sentences
    ]
    _descend(rows, random.Random(1))
    return weights


_Row = list[float]


def _descend(rows: list[tuple[Wording, list[list[_Row]]]], chance: random.Random) -> None:
    """Fit the weights that stand in the rows."""
    for turn in range(_ROUNDS):
        chance.shuffle(rows)
        step = _STEP / (1 + turn * 0.25)
        for told, sentences in rows:
            weight = 1.0 if told.label or told.hand in BOOKS else _TEMPTING
            for each in _meant(told.label, sentences, is_first=turn < 2):
                kept = [row for row in each if chance.random() > _LEFT_OUT]
                _learn(kept, len(each), told.label, step, weight)


def _meant(label: int, sentences: list[list[_Row]], *, is_first: bool) -> list[list[_Row]]:
    """The sentences to learn from: all that tell nothing; of what tells something the one that tells it, the first to begin with."""
    if not label or is_first:
        return sentences if not label else sentences[:1]
    return [max(sentences, key=lambda each: _said(each)[label - 1])]


def _learn(rows: list[_Row], many: int, label: int, step: float, weight: float) -> None:
    """One step towards a sentence's label."""
    share = 1 / (math.sqrt(max(1, many)) * (1 - _LEFT_OUT))
    found = together([sum(column) * share for column in zip(*rows, strict=True)], 1)
    drawn = step * _DRAWN
    first, second, third = (weight * step * share * ((label == at) - one) for at, one in enumerate(found, 1))
    for row in rows:
        row[0] += first - drawn * row[0]
        row[1] += second - drawn * row[1]
        row[2] += third - drawn * row[2]


def _said(rows: Sequence[_Row]) -> Chances:
    """The chances of a sentence by weights that are being fitted."""
    return together([sum(column) for column in zip(*rows, strict=True)], max(1, len(rows)))


def checked(hand: str, least: float) -> tuple[int, int, int]:
    """How many wordings of a hand are told rightly, wrongly, and missed, by weights that were fitted to all others'."""
    told = wordings()
    rest, out = ([one for one in told if (one.hand == hand) is is_out] for is_out in (False, True))
    known = known_to(rest)
    weights = fit(examples(rest, known))
    right = wrong = missed = 0
    for one in examples(out, known):
        found = [_said([weights[name] for name in each if name in weights]) for each in one.sentences]
        best = max(found, key=max, default=Chances(0.0, 0.0, 0.0))
        label = 0 if max(best) < least else 1 + best.index(max(best))
        right += label == one.wording.label > 0
        missed += label != one.wording.label > 0
        wrong += label not in (0, one.wording.label)
    return right, wrong, missed


def fitted_to() -> str:
    """A digest of what the table depends on; another one means that it has to be fitted anew."""
    seen = hashlib.sha256()
    for one in wordings():
        seen.update(f"{one}\n".encode())
    for module in (deciding_words, correcting_words, pattern_words, unsettled, never):
        marks = [each for each in vars(module).values() if isinstance(each, Mark)]
        seen.update("".join(f"{each.name} {each.turns}\n" for each in marks).encode())
    return seen.hexdigest()[:16]


def main() -> None:
    """Write the table, or print what the fit is worth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_fit", description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--least", type=float, default=0.45)
    given = parser.parse_args()
    if given.check:
        for hand in dict.fromkeys(one.hand for one in wordings()):
            right, wrong, missed = checked(hand, given.least)
            shares = (right / max(1, right + other) for other in (wrong, missed))
            print(f"{hand:12} precision {next(shares):.3f}, recall {next(shares):.3f} of {right + missed}")
        return
    TABLE.write_text(table_of(wordings()), "utf-8")


def table_of(told: Sequence[Wording]) -> str:
    """The table that is fitted to these wordings, in whole units."""
    known = known_to(told)
    whole = {
        feature: [round(one / UNIT) for one in row] for feature, row in fit(examples(told, known)).items()
    }
    lines = ["\t".join([feature, *map(str, row)]) + "\n" for feature, row in whole.items() if any(row)]
    return f"# fitted to {fitted_to()}\nwords\t{' '.join(sorted(known))}\n{''.join(lines)}"


if __name__ == "__main__":
    main()
