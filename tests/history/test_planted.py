"""What was planted in sessions stands in their histories; `python -m tests.history.planted` looks at 500."""

from __future__ import annotations

from pathlib import Path

from crucible.history.model import Entry
from crucible.settings import VaultSettings
from crucible.vault.store import Vault
from tests.history.planted import Count, check, plant


def test_every_planted_decision_open_question_and_unfinished_task_is_told(tmp_path: Path) -> None:
    (tmp_path / ".crucible").mkdir()
    vault, count = Vault(tmp_path, VaultSettings(fsync=False)), Count()
    for seed in range(20):
        check(vault, seed, count)
    assert count.planted > 400
    assert (count.missing, count.answered, count.paths) == ([], [], [])


def test_what_is_missing_is_counted() -> None:
    count = Count()
    count.take(plant(4), Entry("s"))
    planted = plant(4)
    whys = [why for _, why in planted.decisions if why]
    wanted = len(planted.decisions) + len(whys) + len(planted.open) + len(planted.unfinished)
    assert len(count.missing) == wanted > 3


def test_a_seed_is_always_the_same_session() -> None:
    assert plant(7) == plant(7) != plant(8)
