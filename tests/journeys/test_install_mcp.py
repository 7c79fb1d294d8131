"""`cru install … --mcp`: what a user types, and what stands in the clients' files then."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
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


WHERE = {"claude-code": "claude mcp list", "codex": "codex mcp list", "opencode": "opencode mcp list"}


@pytest.mark.parametrize("client", CLIENTS)
def test_it_says_what_was_done_and_how_to_see_that_it_works(client: str, project: Path, vault: Vault, cru: Cru) -> None:
    said = cru("install", client, "--mcp").stderr
    assert "start it anew" in said
    assert f"`{WHERE[client]}`" in said
    assert f"its tools answer from {vault.root}" in said
    assert "sessions from here go to" not in said, "that is what hooks are for"
    assert ("cru install claude-code`" in said) is (client == "claude-code"), "without hooks nothing is kept"
    assert "start it anew" not in cru("install", client, "--mcp").stderr, "nothing changed"
    out = cru("install", client, "--mcp", "--remove")
    assert "start it anew" in out.stderr


def test_with_hooks_nobody_is_told_to_install_them(project: Path, vault: Vault, cru: Cru) -> None:
    cru("install", "claude-code")
    assert "cru install claude-code`" not in cru("install", "claude-code", "--mcp").stderr


def test_without_a_vault_it_says_so(project: Path, bare_cru: Cru) -> None:
    assert "no vault" in bare_cru("install", "codex", "--mcp").stderr


@pytest.mark.parametrize("where", [(), ("--project",)])
def test_each_remove_takes_out_its_own_and_names_what_stays(
    where: tuple[str, ...], project: Path, vault: Vault, cru: Cru
) -> None:
    for more in ((), ("--mcp",)):
        cru("install", "claude-code", *where, *more)
    out = cru("install", "claude-code", *where, "--remove")
    assert f"`cru install claude-code --mcp {' '.join((*where, '--remove'))}`" in out.stderr
    cru("install", "claude-code", *where)
    out = cru("install", "claude-code", *where, "--mcp", "--remove")
    assert f"`cru install claude-code {' '.join((*where, '--remove'))}`" in out.stderr
    out = cru("install", "claude-code", *where, "--remove")
    assert "--mcp" not in out.stderr
    left = [path for path in (*project.rglob("*"), *Path.home().rglob("*")) if path.is_file()]
    assert left == []


@pytest.mark.parametrize("client", CLIENTS)
def test_the_help_says_what_each_remove_removes(client: str, cru: Cru) -> None:
    told = " ".join(cru("install", client, "--help").stdout.split())
    assert f"cru install {client} --mcp --remove" in told
    if client == "claude-code":
        assert "--remove alone takes out the hooks and leaves the server" in told


def test_what_two_clients_read_stays_while_one_of_them_is_registered(project: Path, vault: Vault, cru: Cru) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    for client in ("codex", "opencode"):
        cru("install", client, "--mcp", "--project")
    told = (project / "AGENTS.md").read_text()
    out = cru("install", "codex", "--mcp", "--project", "--remove")
    assert (project / "AGENTS.md").read_text() == told
    assert "opencode reads it, too" in out.stdout
    cru("install", "opencode", "--mcp", "--project", "--remove")
    assert (project / "AGENTS.md").read_text() == "# Mine\n"


def test_an_edited_skill_is_left_and_named(project: Path, vault: Vault, cru: Cru) -> None:
    cru("install", "claude-code", "--mcp")
    skill = Path.home() / ".claude" / "skills" / "crucible" / "SKILL.md"
    skill.write_text("mine\n")
    again = cru("install", "claude-code", "--mcp")
    assert again.exit_code == 1
    assert "already in" in again.stdout, "what was done before is told"
    out = cru("install", "claude-code", "--mcp", "--remove")
    assert f"left, since it is not as it was put in  {skill}" in out.stdout
    assert skill.read_text() == "mine\n"
