"""`cru recall push`, `sync`, `status`, `set-up`, and a question to a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.recall.postgres_address import VARIABLE
from crucible.vault.store import Vault
from tests.cli.notes import LIMITER, note, write
from tests.recall.server import Team
from tests.running import Cru


@pytest.fixture
def address(team: Team, monkeypatch: pytest.MonkeyPatch) -> str:
    address = team.address("owner")
    monkeypatch.setenv(VARIABLE, address)
    return address


def found(cru: Cru, *args: str) -> list[str]:
    result = cru("recall", "bucket", "--format", "json", *args)
    assert result.exit_code == 0, result.stderr
    return [hit["session"] for hit in json.loads(result.stdout)["hits"]]


def test_a_vault_is_pushed_asked_and_synced(address: str, vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-20-other", note("2026-11-20-other"))
    assert cru("recall", "set-up").exit_code == 0
    pushed = cru("recall", "push", "--format", "json")
    assert pushed.exit_code == 0, pushed.stderr
    assert json.loads(pushed.stdout)["new"] == 2
    assert set(found(cru)) == {"2026-11-21-limiter"}
    told = json.loads(cru("recall", "status", "--format", "json").stdout)
    assert told["sessions"] == 2
    assert json.loads(cru("recall", "push", "--format", "json").stdout)["same"] == 2
    (vault.root / "sessions" / "2026-11-21-limiter.md").unlink()
    assert found(cru)
    assert found(cru, "--here") == []
    assert json.loads(cru("recall", "sync", "--format", "json").stdout)["removed"] == 1
    assert found(cru) == []


def test_a_server_that_is_down_is_one_line_and_the_own_index_answers_when_asked(
    vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, f"postgresql://me:sesame@/team?host={tmp_path}")
    write(vault, "2026-11-21-limiter", LIMITER)
    down = cru("recall", "bucket")
    assert down.exit_code == 1
    assert down.stdout == ""
    assert "sesame" not in down.stderr
    assert len(down.stderr.strip().splitlines()) == 2
    assert found(cru, "--here")


def test_without_a_server_there_is_a_way_out(vault: Vault, cru: Cru) -> None:
    for command in ("push", "sync", "status", "set-up"):
        result = cru("recall", command)
        assert result.exit_code == 2
        assert "docs/teams.md" in result.stderr


def test_an_address_that_is_none_is_refused(vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "mysql://x")
    assert cru("recall", "bucket").exit_code == 2
