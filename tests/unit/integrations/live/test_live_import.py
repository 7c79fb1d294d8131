"""What the process of a watcher reads of a client's database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.clients.registry import Dialect
from crucible.integrations.live.live_import import LiveImport
from tests.unit.commands.imports.places import make_vault
from tests.unit.commands.imports.test_known_logs import Reads, add_prompt, goose_database

SINCE = datetime(2026, 11, 28, tzinfo=UTC).timestamp()


def test_of_a_database_only_sessions_that_changed_since_the_last_look_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = goose_database(tmp_path / "goose", "two", "three")
    vault, reads = make_vault(tmp_path / "vault"), Reads(monkeypatch)
    live = LiveImport(vault.root)

    def look(*, is_last: bool = False) -> int:
        job = {"client": "goose", "paths": [str(path)], "since": SINCE, "is_last": is_last}
        assert live.run([job]) == ""
        return len(reads.take())

    assert look() == 3
    assert look() == 0
    add_prompt(path, "two")
    assert look() == 1
    assert look(is_last=True) == 3  # with turns that have not ended
    assert look(is_last=True) == 0
    assert len(vault.session_paths()) == 3


def test_a_session_that_could_not_be_read_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = goose_database(tmp_path / "goose")
    live = LiveImport(make_vault(tmp_path / "vault").root)
    job = {"client": "goose", "paths": [str(path)], "since": SINCE, "is_last": False}

    def refuse(_dialect: object, _transcript: object, _agent: str = "") -> object:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Dialect, "read", refuse)
        assert "input/output error" in live.run([job])
    reads = Reads(monkeypatch)
    assert live.run([job]) == ""
    assert reads.take() == [path]
