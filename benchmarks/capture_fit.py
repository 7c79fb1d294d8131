"""Fits how much the features of a sentence speak for a choice and for a way worth doing again, to wordings of which it is known.

`python -m benchmarks.capture_fit` writes `crucible/capture/weights.tsv`; `--check` leaves a fifth of the wordings out at a time, whole wordings, and
prints precision and recall over those that were left out.  It is a logistic regression over the features of `crucible.capture.weights`: plain
gradients, drawn towards nothing, half of the features left out at random each time so that none is relied on alone.  It learns from the planted wordings and from
`tests/capture/sayings.txt`; of the later books only since the detector was measured with them, blind.  The same wordings give the same table.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from crucible.capture import deciding_words, never, pattern_words, unsettled
from crucible.capture.leanings import features_by_sentence
from crucible.capture.marks import Mark
from crucible.capture.sentences import sentences_of
from crucible.capture.weights import TABLE, UNIT, Chances, beginnings, together
from tests.capture.planted.books import FIRST, FOURTH, THIRD, Book
from tests.cases.planted.stacks import Names

__all__ = ["SAYINGS", "Example", "Wording", "checked", "examples", "fit", "fitted_to", "wordings"]

SAYINGS = Path(__file__).parent.parent / "tests" / "capture" / "sayings.txt"
LABELS = ("none", "decision", "pattern")

_SPOKEN = ("en", "de", "fr", "es")
_TOLD = 3
"""Wordings that have to have a word, or a feature."""
_FILLS = 3
_ROUNDS = 25
_STEP = 2.0
_DRAWN = 0.002
_LEFT_OUT = 0.5
_FOLDS = 5
_TIMES = 3
"""Fits that are averaged."""

_MATTER = ("a", "what", "do")
"""Slots of which one stands in the sentence that tells a choice, or a way."""

_LATER = {4: THIRD, 5: FOURTH}

Weights = dict[str, list[float]]
Table = Mapping[str, Sequence[str]] | Sequence[str]

_SAID: tuple[tuple[int, bool, tuple[str, ...]], ...] = (
    (1, False, ("sentences", "bare")),
    (1, True, ("users",)),
    (2, False, ("wordings",)),
    (0, False, ("looks", "changes", "ends", "before", "after")),
    (0, False, ("statements", "retractions", "claimed", "proven")),
    (0, False, ("causes", "guesses", "announcements", "wirings")),
    (0, False, ("after_environment", "after_transient", "after_suite", "given_up", "first_red")),
    (0, False, ("questions", "prose")),
    (0, True, ("goals", "follow_ups", "user_before", "user_after")),
    (0, True, ("put_off", "prompts")),
)
"""The tables of a book by label and whether the user says it."""


class Wording(NamedTuple):
    """A text with slots, its label's place in `LABELS`; `half` is 0 or 1, 2 where both have it, 3 of `SAYINGS`, 4 and 5 of `_LATER`."""

    label: int
    by_user: bool
    language: str
    text: str
    half: int


class Example(NamedTuple):
    """A wording filled: the features of its sentences."""

    wording: Wording
    sentences: tuple[frozenset[str], ...]


def wordings() -> list[Wording]:
    """All that may be learnt from."""
    return [*_planted(), *_own()]


def _planted() -> Iterator[Wording]:
    for book in (FIRST, *_LATER.values()):
        for label, by_user, names in _SAID:
            for table in (each for name in names for each in _tables(getattr(book, name))):
                yield from _of_table(book, label, table, by_user=by_user)


def _tables(found: Any) -> list[Table]:
    """A table, or those of every reason."""
    by_reason = isinstance(found, Mapping) and any(isinstance(one, Mapping) for one in found.values())
    return list(found.values()) if by_reason else [found]


def _of_table(book: Book, label: int, table: Table, *, by_user: bool) -> Iterator[Wording]:
    spoken = table if isinstance(table, Mapping) else {"en": table}
    for language in _SPOKEN:
        rows = spoken.get(language, ())
        for number, text in enumerate(rows):
            if text:
                later = next((half for half, other in _LATER.items() if book is other), None)
                half = later or (2 if len(rows) < 4 else number % 2)
                yield Wording(label, by_user, language, text, half)


def _own() -> Iterator[Wording]:
    label, by_user, language = 0, False, "en"
    for line in SAYINGS.read_text("utf-8").splitlines():
        if line.startswith("="):
            kind, speaker, language = line[1:].split()
            label, by_user = LABELS.index(kind), speaker == "user"
        elif line and not line.startswith("#"):
            yield Wording(label, by_user, language, line, 3)


def examples(told: Sequence[Wording], known: frozenset[str]) -> list[Example]:
    """Each wording filled several times, now and then without its capital and full stop, or with something before it."""
    chance = random.Random(1)
    return [_example(one, known, chance) for one in told for _ in range(_FILLS)]


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
    # The fourth book's wordings take the first one's matter: with their own the table was no better at plain choices.
    book = THIRD if one.half == 4 else FIRST
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
    """The beginnings of words that several wordings have, besides what stands in their slots."""
    counts = Counter(word for one in told for word in beginnings(re.sub(r"<\w+>", " ", one.text)))
    return frozenset(word for word, count in counts.items() if count >= _TOLD)


def fit(learnt: Sequence[Example]) -> Weights:
    """Weights by feature, for a choice and for a way."""
    held: defaultdict[str, set[Wording]] = defaultdict(set)
    for one in learnt:
        for feature in frozenset().union(*one.sentences):
            held[feature].add(one.wording)
    weights: Weights = {feature: [0.0, 0.0] for feature in sorted(held) if len(held[feature]) >= _TOLD}
    rows = [
        (one.wording.label, [sorted(each & weights.keys()) for each in one.sentences])
        for one in learnt
        if one.sentences
    ]
    for seed in range(_TIMES):
        _descend({feature: [0.0, 0.0] for feature in weights}, rows, random.Random(seed), weights)
    return weights


def _descend(
    weights: Weights, rows: list[tuple[int, list[list[str]]]], chance: random.Random, summed: Weights
) -> None:
    """Fit from nothing and add a share of what it comes to to `summed`."""
    for turn in range(_ROUNDS):
        chance.shuffle(rows)
        step = _STEP / (1 + turn * 0.25)
        for label, sentences in rows:
            for each in _meant(weights, label, sentences, is_first=turn < 2):
                _learn(weights, [one for one in each if chance.random() > _LEFT_OUT], len(each), label, step)
    for feature, row in weights.items():
        for place in (0, 1):
            summed[feature][place] += row[place] / _TIMES


def _meant(weights: Weights, label: int, sentences: list[list[str]], *, is_first: bool) -> list[list[str]]:
    """The sentences to learn from: all that tell nothing; of what tells something the one that tells it, the first to begin with."""
    if not label or is_first:
        return sentences if not label else sentences[:1]
    return [max(sentences, key=lambda each: said(weights, each)[label - 1])]


def _learn(weights: Weights, features: list[str], many: int, label: int, step: float) -> None:
    """One step towards a sentence's label."""
    share = 1 / (math.sqrt(max(1, many)) * (1 - _LEFT_OUT))
    choice, way = (sum(weights[one][place] for one in features) * share for place in (0, 1))
    found = together(choice, way, 1)
    missed = [step * ((label == place + 1) - found[place]) for place in (0, 1)]
    for one in features:
        row = weights[one]
        for place, miss in enumerate(missed):
            row[place] += miss * share - step * _DRAWN * row[place]


def said(weights: Mapping[str, Sequence[float]], features: Sequence[str]) -> Chances:
    """The chances of a sentence by weights that are being fitted."""
    rows = [weights[one] for one in features if one in weights]
    return together(sum(row[0] for row in rows), sum(row[1] for row in rows), max(1, len(rows)))


def checked(least: float, *, whole_halves: bool = False) -> tuple[float, float]:
    """Precision and recall over wordings that were left out, a fifth of them at a time, or halves 0 and 1 in turn."""
    told = wordings()
    places = {one: number % _FOLDS for number, one in enumerate(dict.fromkeys(told))}
    right = wrong = missed = 0
    for fold in (0, 1) if whole_halves else range(_FOLDS):
        out = [one for one in told if (one.half if whole_halves else places[one]) == fold]
        rest = [one for one in told if one not in set(out)]
        known = known_to(rest)
        weights = fit(examples(rest, known))
        for one in examples(out, known):
            found = [said(weights, [*each]) for each in one.sentences]
            best = max(found, key=max, default=Chances(0.0, 0.0))
            label = 0 if max(best) < least else 1 + (best.way > best.choice)
            right += label == one.wording.label > 0
            missed += label != one.wording.label > 0
            wrong += label not in (0, one.wording.label)
    return right / (right + wrong), right / (right + missed)


def fitted_to() -> str:
    """A digest of what the table depends on; another one means that it has to be fitted anew."""
    seen = hashlib.sha256()
    for one in wordings():
        seen.update(f"{one}\n".encode())
    for module in (deciding_words, pattern_words, unsettled, never):
        marks = [each for each in vars(module).values() if isinstance(each, Mark)]
        seen.update("".join(f"{each.name} {each.turns}\n" for each in marks).encode())
    return seen.hexdigest()[:16]


def main() -> None:
    """Write the table, or print what the fit is worth."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capture_fit", description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        for least in (0.4, 0.45, 0.5, 0.6):
            for whole_halves in (False, True):
                precision, recall = checked(least, whole_halves=whole_halves)
                name = "halves in turn" if whole_halves else "fifths in turn"
                print(f"from {least}, {name}: precision {precision:.3f}, recall {recall:.3f}")
        return
    told = wordings()
    known = known_to(told)
    write(fit(examples(told, known)), known)


def write(weights: Weights, known: frozenset[str]) -> None:
    """The table, in whole units."""
    whole = {feature: [round(one / UNIT) for one in row] for feature, row in sorted(weights.items())}
    lines = ["\t".join([feature, *map(str, row)]) + "\n" for feature, row in whole.items() if any(row)]
    TABLE.write_text(
        f"# fitted to {fitted_to()}\nwords\t{' '.join(sorted(known))}\n{''.join(lines)}", "utf-8"
    )
    print(f"{len(lines)} features, {len(known)} words in {TABLE.name}")


if __name__ == "__main__":
    main()
