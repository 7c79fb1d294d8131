"""Whoever asks as often as he may: generated sessions whose tasks and ends come again and again, and what that cost.

    python -m tests.capture.asking_often [SESSIONS [HALF]]

Counts by its own rules: a question at a task's end costs 2; at a session's end 1 for failures, and 1 for all else that is in it.
"""

from __future__ import annotations

import random
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.capture.asking import Answer, Offer
from crucible.capture.keeping import When, capture_session
from crucible.capture.model import Kind
from crucible.vault.init import init_vault
from crucible.vault.store import Vault
from tests.capture.planted import generate_many, write

__all__ = ["Cost", "ask_often"]

_ROUNDS = 5


class Cost(NamedTuple):
    """What the questions of one session cost, how many there were, and what its length allows."""

    session: str
    spent: int
    prompts: int
    limit: int

    @property
    def is_kept(self) -> bool:
        """Whether it is within the budget and no more than three prompts."""
        return self.spent <= self.limit and self.prompts <= 3


def ask_often(root: Path, seed: int, count: int, half: int = 0) -> list[Cost]:
    """Each session with ends and tasks in any order, and a human who answers a part of each question, or none."""
    init_vault(root)
    vault, rng, costs = Vault(root), random.Random(seed), []
    for generated in generate_many(seed, count, half=half):
        write(vault, generated)
        costs.append(_asked(vault, generated.session.id, rng))
    return costs


def _asked(vault: Vault, name: str, rng: random.Random) -> Cost:
    path = vault.find(name)
    session = vault.read(path).session
    ended, lasted = session.ended or session.started, session.duration()
    assert ended
    minutes = lasted.total_seconds() / 60 if lasted else 0
    offers: list[Offer] = []

    def ask(offer: Offer) -> Answer:
        offers.append(offer)
        few = offer.proposals[: rng.randint(0, 1)]
        return Answer(skipped=tuple(one.key for one in few))

    tasks = [task.id for task in session.tasks]
    for number in range(_ROUNDS):
        task = rng.choice(tasks) if tasks and rng.random() < 0.5 else ""
        when = When.TASK if task else When.END
        capture_session(vault, path, now=ended + timedelta(seconds=number), ask=ask, when=when, task=task)
    spent = sum(map(_cost, offers))
    return Cost(name, spent, len(offers), 2 if minutes < 30 else 4 if minutes < 90 else 6)


def _cost(offer: Offer) -> int:
    kinds = {one.candidate.kind is Kind.FAILURE for one in offer.proposals}
    return 2 if offer.task else len(kinds)


def main() -> int:
    count, half = int(sys.argv[1]) if sys.argv[1:] else 1000, int(sys.argv[2]) if sys.argv[2:] else 0
    with tempfile.TemporaryDirectory() as folder:
        costs = ask_often(Path(folder), 7, count, half)
    over = [one for one in costs if not one.is_kept]
    asked = sum(one.prompts for one in costs)
    full = sum(one.spent == one.limit for one in costs)
    print(f"{len(costs)} sessions, {asked} prompts, {full} budgets used up, {len(over)} exceeded")  # noqa: T201  its output
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
