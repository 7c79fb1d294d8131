"""`cru import` for the other clients, and `cru import`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from crucible.clients.registry import DIALECTS
from crucible.vault.notes.vault import Vault
from tests.journeys.test_import import DATA as CLAUDE
from tests.paths import TESTS
from tests.running import Cru
from tests.unit.clients.gemini_logs import FIRST, dump, model, user

GEMINI = CLAUDE.parent / "gemini"
HOMES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which no client left anything."""
    folder = tmp_path / "home-of-clients"
    folder.mkdir()
    for name in HOMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder))
    return folder


def settle_gemini(home: Path, name: str = "limiter") -> Path:
    return Path(shutil.copytree(GEMINI / name, home / ".gemini"))


def test_the_help_names_every_client(cru: Cru) -> None:
    shown = cru("import", "--help").stdout
    assert [name for name in DIALECTS if name not in shown] == []


@pytest.mark.parametrize("words", [["vim"], ["vim", "/tmp"], ["gemini", "vim"]])
def test_a_word_that_is_neither_a_client_nor_a_path_is_wrong_usage(vault: Vault, cru: Cru, words: list[str]) -> None:
    result = cru("import", *words)
    assert result.exit_code == 2
    assert f"vim: neither a client ({', '.join(DIALECTS)}) nor a path" in result.stderr


@pytest.mark.parametrize("words", [["codex", "gemini"], ["/tmp", "codex"]])
def test_a_client_is_named_once_and_first(vault: Vault, cru: Cru, words: list[str]) -> None:
    assert cru("import", *words).exit_code == 2


def test_a_folder_may_be_called_like_a_client(
    vault: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex" / "session.jsonl").write_bytes(dump([FIRST, user("u", "hello there"), model("m", "hi")]))
    monkeypatch.chdir(tmp_path)
    assert len(json.loads(cru("import", "./codex", "--format", "json").stdout)["created"]) == 1


@pytest.mark.parametrize("name", DIALECTS)
def test_a_client_that_is_not_here_is_named_with_its_folder(vault: Vault, cru: Cru, home: Path, name: str) -> None:
    result = cru("import", name)
    folder = DIALECTS[name].default_folder({}, home)
    assert result.exit_code == 1
    assert f"{folder}: no such folder" in result.stderr
    assert f"cru import {name} PATH" in result.stderr


def test_geminis_own_folder_is_read(vault: Vault, cru: Cru, home: Path) -> None:
    settle_gemini(home)
    report = json.loads(cru("import", "gemini", "--format", "json").stdout)
    assert len(report["created"]) == 2
    assert list(report) == ["schema", "created", "updated", "unchanged", "unreadable", "clients"]
    assert (cru("session", "check").stdout, cru("session", "check").exit_code) == ("", 0)


@pytest.mark.parametrize("name", ["odd name.jsonl", "C:\\Users\\me\\session.jsonl", "sess ion ü✓.jsonl"])
def test_odd_names_of_files_are_taken_as_they_are(vault: Vault, cru: Cru, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(dump([FIRST, user("u", "hello there"), model("m", "hi")]))
    for client in (["gemini"], []):
        report = json.loads(cru("import", *client, path, "--format", "json").stdout)
        assert [len(report["created"]) + len(report["unchanged"]), report["unreadable"]] == [1, []]


# --- every client ------------------------------------------------------------------------------------------------------------


def test_auto_says_when_nothing_is_here(vault: Vault, cru: Cru, home: Path) -> None:
    result = cru("import")
    assert result.exit_code == 0
    assert "No sessions found." in result.stderr
    for dialect in DIALECTS.values():
        assert str(dialect.default_folder({}, home)) in result.stderr
    assert json.loads(cru("import", "--format", "json").stdout)["clients"] == []


def test_auto_finds_every_client_that_is_here(vault: Vault, cru: Cru, home: Path) -> None:
    settle_gemini(home)
    shutil.copytree(CLAUDE / "retry", home / ".claude")
    report = json.loads(cru("import", "--format", "json").stdout)
    clients = {client["client"]: client for client in report["clients"]}
    assert set(clients) == {"claude-code", "gemini"}
    assert clients["gemini"] == {
        "client": "gemini",
        "folders": [str(home / ".gemini")],
        "sessions": 1,
        "created": 2,
        "updated": 0,
        "unchanged": 0,
        "unreadable": 0,
    }
    assert len(report["created"]) == sum(client["created"] for client in clients.values())
    again = json.loads(cru("import", "--format", "json").stdout)
    assert (again["created"], sorted(again["unchanged"])) == ([], sorted(report["created"]))


def test_the_summary_has_a_part_for_each_client(vault: Vault, cru: Cru, home: Path) -> None:
    settle_gemini(home)
    result = cru("import")
    assert result.stdout.splitlines()[:2] == ["Gemini CLI", "  new         1 session and 1 subagent"]
    assert result.stderr.splitlines()[-1].startswith('Run "cru session list"')
    again = cru("import")
    assert again.stdout.splitlines()[:2] == ["Gemini CLI", "  unchanged   1 session and 1 subagent"]
    assert "Run " not in again.stderr


def test_auto_sniffs_what_it_is_given(vault: Vault, cru: Cru, home: Path, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed"
    shutil.copytree(GEMINI / "limiter", mixed / "one")
    shutil.copytree(CLAUDE / "retry", mixed / "two")
    report = json.loads(cru("import", mixed, "--format", "json").stdout)
    assert report["unreadable"] == []
    assert {c["client"]: c["sessions"] for c in report["clients"]} == {"claude-code": 1, "gemini": 1}
    rows = json.loads(cru("session", "list", "--children", "--format", "json").stdout)["sessions"]
    # A subagent's log of Gemini CLI is named as a session of Claude Code is, and is none.
    assert sorted(row["id"] for row in rows) == sorted(report["created"])
    assert sum(row["parent"] is None for row in rows) == 2


def test_auto_names_what_nobody_wrote_and_takes_the_rest(vault: Vault, cru: Cru, home: Path, tmp_path: Path) -> None:
    other, missing = tmp_path / "notes.txt", tmp_path / "missing"
    other.write_text("not a log")
    result = cru("import", other, missing, GEMINI / "rewind", "--format", "json")
    report = json.loads(result.stdout)
    assert result.exit_code == 3
    assert [row["path"] for row in report["unreadable"]] == [str(other), str(missing)]
    assert len(report["created"]) == 1


def test_a_session_that_two_paths_lead_to_is_one(vault: Vault, cru: Cru, home: Path, tmp_path: Path) -> None:
    folder = settle_gemini(home, "rewind")
    (log,) = folder.rglob("session-*.jsonl")
    copy = shutil.copy(log, tmp_path / "copy.jsonl")
    report = json.loads(cru("import", folder, log, copy, home, "--format", "json").stdout)
    assert len(report["created"]) == 1
    assert report["clients"][0]["sessions"] == 1


def test_auto_narrows_as_the_others_do(vault: Vault, cru: Cru, home: Path) -> None:
    settle_gemini(home)
    everything = sorted(vault.root.rglob("*"))
    assert "  new         1 session and 1 subagent" in cru("import", "--dry-run").stdout
    assert sorted(vault.root.rglob("*")) == everything
    assert json.loads(cru("import", "--since", "2100-01-01", "--format", "json").stdout)["created"] == []
    assert json.loads(cru("import", "--project", "no-such", "--format", "json").stdout)["created"] == []


def test_an_empty_folder_holds_no_sessions(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    result = cru("import", empty)
    assert result.exit_code == 0
    assert f"No sessions found. Looked in: {empty}" in result.stderr


CLIENTS = TESTS / "data" / "transcripts"


RECORDED = [client for client in DIALECTS if (CLIENTS / client).exists()]


@pytest.mark.parametrize("client", RECORDED)
@pytest.mark.parametrize("other", RECORDED)
def test_what_another_client_wrote_is_named_with_its_command(
    vault: Vault, cru: Cru, client: str, other: str, tmp_path: Path
) -> None:
    folder = CLIENTS / other / "limiter"
    folder = folder if folder.exists() else CLIENTS / other
    file = next(p for p in sorted(folder.rglob("*")) if p.is_file() and DIALECTS[other].sniff(p))
    for path in (file, folder):
        result = cru("import", client, path, "--dry-run")
        told = f"{path}: unreadable: this is {DIALECTS[other].title}'s: cru import {other} {path}\n"
        assert (told in result.stderr) is (client != other)
        if client != other:
            assert result.exit_code == 3
            assert "unknown type" not in result.stderr


@pytest.mark.parametrize("client", [*((name,) for name in DIALECTS), ()])
def test_a_path_that_is_not_there_is_unreadable_whatever_the_client(
    vault: Vault, cru: Cru, client: tuple[str, ...], tmp_path: Path
) -> None:
    result = cru("import", *client, tmp_path / "gone")
    assert result.exit_code == 3
    row, *hint = result.stderr.splitlines()
    assert row.lower() == f"{tmp_path}/gone: unreadable: no such file or directory".lower()
    assert hint


def test_a_folder_of_no_client_is_empty_and_no_fault(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "readme.txt").write_text("nothing")
    os.mkfifo(tmp_path / "x" / "pipe")
    result = cru("import", "codex", tmp_path / "x")
    assert result.exit_code == 0
    assert "No sessions found." in result.stderr
