"""A few kills; `make kills` does six hundred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.killed_watcher import kill_watchers
from tests.clients.killing import TARGETS, kill_at_random

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc"),
]


@pytest.mark.parametrize("seed", [20, 26])
def test_whatever_is_killed_every_row_is_in_the_note_once_after_the_next_start(seed: int, tmp_path: Path) -> None:
    toll = kill_at_random(tmp_path, 3, seed)
    assert sum(toll.killed.values()) == 3
    assert set(toll.killed) <= set(TARGETS)


def test_what_a_killed_watcher_has_written_is_what_one_import_writes(tmp_path: Path) -> None:
    assert kill_watchers(tmp_path, 3, 1, clients=("copilot", "opencode")).kills == 3
