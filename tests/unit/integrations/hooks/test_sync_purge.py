"""Old event logs, deleted by the background process."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crucible.integrations.hooks.sync import write_down
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_files import archive_path, flight_folder
from crucible.vault.notes.vault import Vault
from tests.unit.integrations.hooks.playing import log_of
from tests.unit.vault.events.flights import load_flight

OLD = datetime.now(UTC) - timedelta(days=40)


@pytest.fixture
def old(vault: Vault) -> str:
    vault.create("old", "---\nid: old\nstarted: 2026-01-01T00:00:00Z\nstatus: completed\n---\n\n# Old\n")
    append_entry(vault.root, "old", "decision", {"content": "This one"}, now=OLD)
    return "old"


def test_old_events_are_put_away_once_a_day(vault: Vault, old: str) -> None:
    write_down(vault.root)
    assert archive_path(vault.root, old).is_file()
    assert not flight_folder(vault.root, old).exists()
    append_entry(vault.root, old, "decision", {"content": "That one"}, now=OLD)
    write_down(vault.root)
    assert flight_folder(vault.root, old).is_dir()
    assert [record.seq for record in load_flight(vault.root, old).records] == [1, 2]
    assert log_of(vault.root) == ""


def test_events_that_cannot_be_put_away_are_named_in_the_log(vault: Vault, old: str) -> None:
    archive = archive_path(vault.root, old)
    archive.parent.mkdir()
    archive.write_bytes(b"no archive")
    write_down(vault.root)
    assert "purge: VaultError: old: " in log_of(vault.root)
    assert flight_folder(vault.root, old).is_dir()
    assert archive.read_bytes() == b"no archive"


def test_a_cache_outside_the_vault_is_logged_and_blocks_nothing(
    vault: Vault, old: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (vault.root / ".crucible" / "cache").mkdir(exist_ok=True)
    (vault.root / ".crucible" / "cache" / "flight").symlink_to(outside)
    write_down(vault.root)
    assert "purge: OutsideVault" in log_of(vault.root)
    assert flight_folder(vault.root, old).is_dir()
    assert not any(outside.iterdir())
