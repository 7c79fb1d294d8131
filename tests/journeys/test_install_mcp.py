"""`cru install … --mcp`: what a user types, and what stands in the clients' files then."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from crucible.clients.registry import MCP_SETTINGS
from crucible.vault.notes.vault import Vault
from tests.running import Cru

CLIENTS = ("claude-code", "codex", "opencode")


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
def test_a_client_without_hooks_gets_the_server(client: str, project: Path, cru: Cru) -> None:
    assert "installed in" in cru("install", client).stdout
    assert cru("install", client, "--mcp").stdout.count("already in") == 2


def test_a_client_may_be_named_by_its_program(project: Path, cru: Cru) -> None:
    cru("install", "claude")
    assert "already in" in cru("install", "claude-code").stdout


@pytest.mark.parametrize("words", [["vim"], ["claude-code", "codex"]])
def test_an_unknown_client_is_wrong_usage_and_the_choices_are_named(words: list[str], cru: Cru) -> None:
    result = cru("install", *words)
    assert result.exit_code == 2
    if len(words) == 1:
        assert all(f"'{name}'" in result.stderr for name in (*MCP_SETTINGS, "git-hooks"))


@pytest.mark.parametrize("more", [["--mcp"], ["--project"], ["--user"]])
def test_an_option_that_the_git_hook_lacks_is_wrong_usage(more: list[str], cru: Cru) -> None:
    result = cru("install", "git-hooks", *more)
    assert result.exit_code == 2
    assert "git-hooks takes only --remove and --dry-run" in result.stderr


@pytest.mark.parametrize("args", [("claude-code",), ("claude-code", "--mcp"), ("codex",), ("opencode", "--project")])
def test_a_dry_run_names_the_files_and_changes_none(
    args: tuple[str, ...], project: Path, vault: Vault, cru: Cru
) -> None:
    def state() -> dict[Path, bytes]:
        files = (*project.rglob("*"), *Path.home().rglob("*"))
        return {path: path.read_bytes() for path in files if path.is_file()}

    before = state()
    would = cru("install", *args, "--dry-run")
    assert (would.exit_code, state()) == (0, before)
    done = cru("install", *args)
    assert would.stdout == done.stdout.replace("installed in", "would install in")
    after = state()
    would = cru("install", *args, "--dry-run", "--remove")
    assert state() == after
    assert would.stdout == cru("install", *args, "--remove").stdout.replace("removed from", "would remove from")


def test_without_a_client_and_a_terminal_nothing_is_changed(project: Path, cru: Cru) -> None:
    (Path.home() / ".codex").mkdir()
    result = cru("install")
    assert (result.exit_code, result.stdout) == (2, "")
    assert '"cru install codex"' in result.stderr
    assert "--yes" in result.stderr


def test_without_a_client_those_that_are_here_are_connected(project: Path, vault: Vault, cru: Cru) -> None:
    for folder in (".codex", ".claude"):
        (Path.home() / folder).mkdir()
    done = cru("install", "--yes")
    assert done.exit_code == 0
    assert [line.partition(f"{Path.home()}/")[2] for line in done.stdout.splitlines()] == [
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/AGENTS.md",
    ]
    assert cru("install", "--yes", "--remove").stdout.count("removed from") == 3


def test_with_no_agent_on_the_machine_the_choices_are_named(
    project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = cru("install", "--yes")
    assert result.exit_code == 1
    assert ", ".join(MCP_SETTINGS) in result.stderr


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
    assert "Restart " in said
    assert f'Run "{WHERE[client]}"' in said
    assert f"Its tools use the vault {vault.root}" in said
    assert "are recorded in" not in said, "that is what hooks are for"
    assert f'"cru install {client}{"" if client == "claude-code" else " --hooks"}"' in said, "only hooks keep sessions"
    assert "Restart " not in cru("install", client, "--mcp").stderr, "nothing changed"
    out = cru("install", client, "--mcp", "--remove")
    assert "Restart " in out.stderr


def test_with_hooks_nobody_is_told_to_install_them(project: Path, vault: Vault, cru: Cru) -> None:
    cru("install", "claude-code")
    assert '"cru install claude-code"' not in cru("install", "claude-code", "--mcp").stderr


def test_for_a_client_without_hooks_it_names_the_watcher(project: Path, vault: Vault, cru: Cru) -> None:
    assert 'run "cru watch --clients"' in cru("install", "cline").stderr


def test_without_a_vault_it_says_so(project: Path, bare_cru: Cru) -> None:
    assert "No vault" in bare_cru("install", "codex", "--mcp").stderr


@pytest.mark.parametrize("where", [(), ("--project",)])
def test_each_remove_takes_out_its_own_and_names_what_stays(
    where: tuple[str, ...], project: Path, vault: Vault, cru: Cru
) -> None:
    for more in ((), ("--mcp",)):
        cru("install", "claude-code", *where, *more)
    out = cru("install", "claude-code", *where, "--remove")
    assert f'"cru install claude-code --mcp {" ".join((*where, "--remove"))}"' in out.stderr
    cru("install", "claude-code", *where)
    out = cru("install", "claude-code", *where, "--mcp", "--remove")
    assert f'"cru install claude-code {" ".join((*where, "--remove"))}"' in out.stderr
    out = cru("install", "claude-code", *where, "--remove")
    assert "--mcp" not in out.stderr
    left = [path for path in (*project.rglob("*"), *Path.home().rglob("*")) if path.is_file()]
    assert left == []


def test_what_two_clients_read_stays_while_one_of_them_is_registered(project: Path, vault: Vault, cru: Cru) -> None:
    (project / "AGENTS.md").write_text("# Mine\n")
    for client in ("codex", "opencode"):
        cru("install", client, "--mcp", "--project")
    told = (project / "AGENTS.md").read_text()
    out = cru("install", "codex", "--mcp", "--project", "--remove")
    assert (project / "AGENTS.md").read_text() == told
    assert "OpenCode reads it too" in out.stdout
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
    assert f"kept, it was edited  {skill}" in out.stdout
    assert skill.read_text() == "mine\n"
