"""`cru team push`, `sync`, `status`, `setup`, and a question to a real server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.search.background_update import BACKEND_VARIABLE
from crucible.vault.notes.vault import Vault
from samples.postgres_server import GUARDED, Running, Team
from tests.journeys.notes import LIMITER, note, write
from tests.running import Cru


@pytest.fixture
def address(team: Team, monkeypatch: pytest.MonkeyPatch) -> str:
    address = team.address("owner")
    monkeypatch.setenv(BACKEND_VARIABLE, address)
    return address


def found(cru: Cru, *args: str) -> list[str]:
    result = cru("recall", "bucket", "--format", "json", *args)
    assert result.exit_code == 0, result.stderr
    return [hit["session"] for hit in json.loads(result.stdout)["hits"]]


def test_push_question_and_sync_work_together(address: str, vault: Vault, cru: Cru) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-20-other", note("2026-11-20-other"))
    assert cru("team", "setup").exit_code == 0
    pushed = cru("team", "push", "--format", "json")
    assert pushed.exit_code == 0, pushed.stderr
    assert json.loads(pushed.stdout)["new"] == 2
    assert set(found(cru)) == {"2026-11-21-limiter"}
    files = cru("recall", "bucket", "--format", "paths")
    assert (files.exit_code, files.stdout) == (0, "")
    assert "--here" in files.stderr, "what the server found is no file here"
    status = json.loads(cru("team", "status", "--format", "json").stdout)
    assert status["sessions"] == 2
    assert json.loads(cru("team", "push", "--format", "json").stdout)["same"] == 2
    (vault.root / "sessions" / "2026-11-21-limiter.md").unlink()
    assert found(cru)
    assert found(cru, "--here") == []
    assert json.loads(cru("team", "sync", "--format", "json").stdout)["removed"] == 1
    assert found(cru) == []


def test_set_up_prints_the_next_steps(team: Team, address: str, cru: Cru) -> None:
    team.run("DROP SCHEMA crucible CASCADE")
    assert "crucible.grant_project('anna', 'apollo', true)" in cru("team", "setup").stderr
    assert cru("team", "setup").stderr == "nothing to do\n"


def test_old_months_are_removed_for_the_owner_only(
    address: str, team: Team, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    assert cru("team", "push").exit_code == 0
    assert "0 notes removed" in cru("team", "prune", "--older-than", "2026-11-30").stderr
    assert "1 note removed" in cru("team", "prune", "--older-than", "2026-12-01").stderr
    again = cru("team", "push")
    assert (again.exit_code, "1 note: older than what the server keeps" in again.stderr) == (0, True)
    team.run("SELECT crucible.grant_project('ben', '*', true)")
    monkeypatch.setenv(BACKEND_VARIABLE, team.address("ben"))
    assert "does not allow this user" in cru("team", "prune").stderr


def test_a_refused_push_says_whom_to_ask(team: Team, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    team.run("SELECT crucible.grant_project('ben', 'apollo')")
    write(vault, "2026-11-21-limiter", LIMITER)
    monkeypatch.setenv(BACKEND_VARIABLE, team.address("ben"))
    pushed = cru("team", "push")
    assert pushed.exit_code == 3
    assert "1 note of project " in pushed.stderr
    assert "not permitted; ask the server's administrator" in pushed.stderr


REFUSING = {
    "down": "postgresql://me:sesame@/team?host=/nowhere",
    "password": "{carol}",
    "database": "{nothing}",
    "user": "{nobody}",
    "not set up": "{postgres}",
    "no host": "postgresql://me:sesame@no-such-host.invalid/team",
}


@pytest.mark.parametrize("why", REFUSING)
def test_without_a_server_the_error_is_one_line_and_here_works(
    why: str, postgres: Running, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {
        "carol": postgres.address(f"{GUARDED}:sesame"),
        "nothing": postgres.address("anna:sesame", "nothing"),
        "nobody": postgres.address("nobody:sesame"),
        "postgres": postgres.address("anna:sesame"),
    }
    monkeypatch.setenv(BACKEND_VARIABLE, REFUSING[why].format(**places))
    write(vault, "2026-11-21-limiter", LIMITER)
    for command in ("recall", "bucket"), ("team", "status"), ("team", "push"):
        refused = cru(*command)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "sesame" not in refused.stderr
        assert "PostgreSQL at " in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 2
    assert found(cru, "--here")


def test_a_password_in_the_address_is_never_shown(
    team: Team, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BACKEND_VARIABLE, team.address("owner:sesame"))
    write(vault, "2026-11-21-limiter", LIMITER)
    for command in (
        ("team", "push"),
        ("team", "push", "--force", "--format", "json"),
        ("team", "status"),
        ("team", "status", "--format", "json"),
        ("team", "sync", "--format", "json"),
        ("team", "setup"),
        ("recall", "bucket", "--explain"),
    ):
        result = cru(*command)
        assert result.exit_code == 0, result.stderr
        assert "sesame" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    "backend",
    ["mysql://me:sesame@host/team", "host=h password=sesame", "postgresql://me:se@sesame@host/team"],
)
def test_an_invalid_address_is_not_repeated(
    backend: str, vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    settings = tmp_path / "crucible" / "config.toml"
    settings.parent.mkdir()
    settings.write_text(f'[recall]\nbackend = "{backend}"\n')
    for command in ("recall", "bucket"), ("team", "status"), ("doctor",):
        result = cru(*command)
        assert result.exit_code or command == ("doctor",)
        assert "sesame" not in result.stdout + result.stderr


def test_a_project_sees_permitted_items_of_other_projects(address: str, vault: Vault, cru: Cru) -> None:
    for name, scope in (("own", "project"), ("shared", "global")):
        command = ("knowledge", "add", "decision", f"{name} bucket", f"One bucket for the {name}.")
        added = cru(*command, "--scope", scope, "--project", "zeus")
        assert added.exit_code == 0, added.stderr
    assert cru("team", "push").exit_code == 0
    for project, items in (("shop", {"shared-bucket"}), ("zeus", {"own-bucket", "shared-bucket"})):
        assert set(found(cru, "--project", project)) == items
        assert set(found(cru, "--project", project, "--here")) == items


def test_without_a_server_the_error_has_a_hint(vault: Vault, cru: Cru) -> None:
    for command in ("push", "sync", "status", "setup", "prune"):
        result = cru("team", command)
        assert result.exit_code == 2
        assert "docs/teams.md" in result.stderr


def test_an_invalid_address_is_refused(vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BACKEND_VARIABLE, "mysql://x")
    assert cru("recall", "bucket").exit_code == 2
