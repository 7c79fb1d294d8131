"""A whole session: how long it is, what is planted in it and where, and how it goes on from turn to turn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tests.capture.planted import filler, proving, settling
from tests.capture.planted.distracting import DISTRACTIONS
from tests.capture.planted.plot import Plot
from tests.capture.planted.truth import Generated

__all__ = ["generate", "generate_many"]

_Beat = Callable[[Plot], object]

_PLANTS: tuple[tuple[int, Callable[[Plot], bool]], ...] = (
    (15, settling.adr), (16, settling.decide), (11, settling.settle), (16, settling.correct_self), (15, proving.fail), (4, proving.lone),
    (12, proving.practise), (7, proving.call_api), (15, proving.prove),
)  # fmt: skip


def generate(rng: random.Random, half: int | None = None) -> Generated:
    """One session with its whole events and the truth; the same for the same state of `rng`.

    `half` 0 or 1 draws from every second wording only: who wrote a detector by the one is measured by the other.  2 draws from a book
    of its own (`books.THIRD`), for when both have been read, 3 from `books.FOURTH` and 4 from `books.FIFTH`, for when those have been too;
    None is 0 and 1 together.
    """
    plot = Plot(rng, half)
    plot.begin(filler.goal(plot))
    for beat in _beats(rng):
        beat(plot)
        if rng.random() < 0.1:
            filler.follow_up(plot)
    plot.end_turn()
    return plot.finish()


def generate_many(seed: int, count: int, half: int | None = None) -> Iterator[Generated]:
    """`count` sessions; a longer run begins with the same ones."""
    for number in range(count):
        yield generate(random.Random(f"capture:{seed}:{number}"), half)


def _beats(rng: random.Random) -> list[_Beat]:
    """Ordinary work, with what is worth keeping (in four of five sessions) and what is not strewn into it."""
    size = rng.choices(["short", "middle", "long"], [55, 33, 12])[0]
    low, high = {"short": (1, 10), "middle": (10, 40), "long": (60, 160)}[size]
    beats: list[_Beat] = rng.choices([filler.look, filler.change], [55, 45], k=rng.randrange(low, high))
    most = {"short": 3, "middle": 5, "long": 9}[size]
    if rng.random() < 0.8:
        beats += _drawn(rng, _PLANTS, rng.randrange(1, most + 1))
    beats += _drawn(rng, DISTRACTIONS, rng.randrange(most + 2))
    rng.shuffle(beats)
    return beats


def _drawn(
    rng: random.Random, table: tuple[tuple[int, Callable[[Plot], bool]], ...], count: int
) -> list[_Beat]:
    return list(rng.choices([beat for _, beat in table], [weight for weight, _ in table], k=count))
