"""`cru install … --mcp`: what a user types, and what stands in the clients' files then."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from crucible.vault.store import Vault
from tests.running import Cru

CLIENTS = ("claude-code", "codex", "opencode")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("where", [(), ("--project",)])
def test_it_goes_in_once_and_out_again(client: str, where: tuple[str, ...], project: Path, cru: Cru) -> None:
    for folder in (".codex", ".claude"):  # a client's own is there before us
        (Path.home() / folder).mkdir()
    args = ("install", client, "--mcp", *where)
    first, again, out, gone = cru(*args), cru(*args), cru(*args, "--remove"), cru(*args, "--remove")
    for result, word in (
        (first, "installed in"),
        (again, "already in"),
        (out, "removed from"),
        (gone, "not in"),
    ):
        assert result.exit_code == 0, result.stderr
        lines = result.stdout.splitlines()
        assert len(lines) == 2
        assert all(line.startswith(f"{word}  ") for line in lines)
    left = [path for path in (*project.rglob("*"), *Path.home().rglob("*")) if path.is_file()]
    assert left == []


def test_a_vault_that_is_named_is_named_to_the_server(project: Path, vault: Vault, cru: Cru) -> None:
    cru("install", "claude-code", "--mcp")
    server = json.loads((Path.home() / ".claude.json").read_text())["mcpServers"]["crucible"]
    assert server["args"][-3:] == ["--vault", str(vault.root), "mcp"]
    cru("install", "codex", "--mcp")
    told = tomllib.loads((Path.home() / ".codex" / "config.toml").read_text())
    assert told["mcp_servers"]["crucible"]["args"] == server["args"]


def test_what_is_committed_holds_no_path_of_this_machine(project: Path, vault: Vault, cru: Cru) -> None:
    for client in CLIENTS:
        cru("install", client, "--mcp", "--project")
    files = [path for path in project.rglob("*") if path.is_file()]
    assert len(files) == 5, "AGENTS.md is the same for two of them"
    assert not [path for path in files if str(vault.root.parent) in path.read_text()]
    assert json.loads((project / ".mcp.json").read_text())["mcpServers"]["crucible"]["command"] == "cru"


def test_hooks_and_server_are_two_things(project: Path, cru: Cru) -> None:
    cru("install", "claude-code", "--project")
    settings = (project / ".claude" / "settings.json").read_bytes()
    cru("install", "claude-code", "--project", "--mcp")
    assert (project / ".claude" / "settings.json").read_bytes() == settings
    cru("install", "claude-code", "--project", "--remove")
    assert (project / ".mcp.json").exists()
    assert (project / ".claude" / "skills" / "crucible" / "SKILL.md").exists()


@pytest.mark.parametrize("client", ["codex", "opencode"])
def test_without_mcp_there_is_nothing_to_install(client: str, cru: Cru) -> None:
    result = cru("install", client)
    assert result.exit_code == 2
    assert f"cru install {client} --mcp" in result.stderr


def test_a_broken_file_stays_and_is_named(project: Path, cru: Cru) -> None:
    (project / ".mcp.json").write_text("{broken")
    result = cru("install", "claude-code", "--mcp", "--project")
    assert result.exit_code == 1
    assert ".mcp.json: line 1" in result.stderr
    assert (project / ".mcp.json").read_text() == "{broken"
