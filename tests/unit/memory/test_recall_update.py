"""The background update of recall's index."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.core.locks import hold
from crucible.core.settings.settings import RecallSettings
from crucible.memory import recall_update
from crucible.search.background_update import update_later
from crucible.search.embedded.recall_files import RecallStore
from samples.waiting import wait_until
from tests.unit.search.vaults import ask, recall, session_of, vault_of, write

_LOCK = Path(".crucible", "cache", "recall-update", "lock")


def _indexed(root: Path) -> int:
    return len(RecallStore(root / ".crucible" / "cache" / "recall").load().rows)


def _is_free(root: Path) -> bool:
    with hold(root / _LOCK, 0) as lock:
        return lock is not None


def test_after_the_update_a_question_changes_nothing(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"), session_of("two", "bucket"))
    recall_update.main(str(root))
    assert _indexed(root) == 2
    assert recall(root).refresh().changed == 0


def test_one_update_runs_at_a_time(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"))
    (root / _LOCK).parent.mkdir(parents=True)
    with hold(root / _LOCK, 0):
        recall_update.main(str(root))
    assert _indexed(root) == 0


def test_a_vault_that_is_gone_is_no_error(tmp_path: Path) -> None:
    recall_update.main(str(tmp_path / "gone"))
    assert not list(tmp_path.iterdir())


def test_the_process_in_the_background_builds_the_index_and_ends(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"))
    update_later(str(root), RecallSettings(), {})
    wait_until(lambda: _indexed(root) == 1 and _is_free(root))
    write(root, session_of("two", "bucket"))
    assert len(ask(root, "token bucket").hits) == 2


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        (RecallSettings(background=False), {}),
        (RecallSettings(), {"CI": "true"}),
        (RecallSettings("postgresql://db.example.org/team"), {}),
        (RecallSettings(), {"CRUCIBLE_RECALL_BACKEND": "postgresql://db.example.org/team"}),
    ],
)
def test_nothing_is_started_where_it_is_off_or_of_no_use(
    settings: RecallSettings, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr("crucible.search.background_update.start_in_background", lambda *words: started.append(words))
    update_later("vault", settings, environment)
    assert not started
    update_later("vault", RecallSettings(), {"CRUCIBLE_RECALL_BACKEND": "embedded"})
    assert started == [("crucible.memory.recall_update", "vault")]
