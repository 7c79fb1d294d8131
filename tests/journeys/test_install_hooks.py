"""`cru install claude-code`: the command lines in its settings, and what stays out without the extra `mcp`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from crucible.cli import install_command, install_hooks
from crucible.clients.hook_settings import with_hooks
from crucible.clients.registry import HOOKS
from crucible.core.command_lines import command_line
from tests.running import Cru

EVENTS = HOOKS["claude-code"].events
OLD = (
    "cru hook claude-code 2>/dev/null || :",
    "'/opt/my tools/cru' hook claude-code 2>/dev/null || :",
    "/usr/bin/python3 -P -m crucible hook claude-code 2>/dev/null || :",
)


def commands_in(path: Path) -> set[str]:
    groups = json.loads(path.read_text())["hooks"].values()
    return {hook["command"] for event in groups for group in event for hook in group["hooks"]}


@pytest.mark.parametrize("program", [["C:/Users/me/.local/bin/cru.exe"], ["/usr/bin/python3", "-P", "-m", "crucible"]])
def test_the_hooks_command_has_no_shells_syntax(
    program: list[str], project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (install_command, install_hooks):
        monkeypatch.setattr(module, "own_program", lambda: program)
    cru("install", "claude-code")
    cru("install", "claude-code", "--project")
    assert commands_in(Path.home() / ".claude" / "settings.json") == {" ".join([*program, "hook", "claude-code"])}
    assert commands_in(project / ".claude" / "settings.json") == {"cru hook claude-code"}


@pytest.mark.parametrize("old", OLD)
def test_the_entries_of_older_versions_are_replaced_and_removed(old: str, project: Path, cru: Cru) -> None:
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    before = '{\n  // mine\n  "model": "opus"\n}\n'
    path.write_text(with_hooks(before, old, EVENTS))
    assert "installed in" in cru("install", "claude-code", "--project").stdout
    text = path.read_text()
    assert text.count('"command": "cru hook claude-code"') == text.count('"command":') == len(EVENTS)
    cru("install", "claude-code", "--project", "--remove")
    assert path.read_text() == before
    path.write_text(with_hooks(before, old, EVENTS))
    cru("install", "claude-code", "--project", "--remove")
    assert path.read_text() == before


def test_a_program_in_uvs_cache_is_told_to_be_installed(
    project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/me/.cache/uv/archive-v0/q0cMYewY0r")
    said = cru("install", "claude-code").stderr
    assert "uv tool install --force" in said
    assert "uv tool" not in cru("install", "claude-code", "--remove").stderr


def test_windows_gets_the_bare_name_for_a_path_that_a_shell_would_split(
    project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install_hooks, "own_program", lambda: ["C:/Program Files/Python/cru.exe"])
    monkeypatch.setattr(install_hooks, "hook_command_line", command_line)
    monkeypatch.setattr("crucible.cli.install_hooks.shutil.which", lambda _: "C:/Program Files/Python/cru.exe")
    cru("install", "claude-code")
    path = Path.home() / ".claude" / "settings.json"
    assert commands_in(path) == {"cru hook claude-code"}
    monkeypatch.setattr("crucible.cli.install_command.shutil.which", lambda _: None)
    before = path.read_bytes()
    result = cru("install", "claude-code")
    assert (result.exit_code, path.read_bytes()) == (2, before)
    assert "PATH" in result.stderr


@pytest.mark.parametrize("args", [("claude-code", "--mcp"), ("codex",), ("opencode", "--dry-run")])
def test_without_the_extra_the_server_is_not_registered_and_the_command_is_named(
    args: tuple[str, ...], project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = cru("install", *args)
    assert result.exit_code == 1
    assert '[mcp]"' in result.stderr
    assert not [name for _, _, names in os.walk(Path.home()) for name in names if "crucible" not in name]


def test_all_agents_but_those_that_need_the_extra_are_connected(
    project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (".claude", ".codex"):
        (Path.home() / folder).mkdir()
    monkeypatch.setattr("crucible.cli.install_command.shutil.which", lambda _: None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = cru("install", "--yes")
    assert result.exit_code == 0, result.stderr
    assert "Skipped Codex: " in result.stderr
    assert "settings.json" in result.stdout
    assert os.listdir(Path.home() / ".codex") == []


def test_a_server_can_be_removed_without_the_extra(project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    cru("install", "codex", "--project")
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert cru("install", "codex", "--project", "--remove").exit_code == 0
    assert not (project / ".codex").exists()


def test_the_server_says_which_command_brings_it(cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = cru("mcp")
    assert (result.exit_code, result.stdout) == (1, "")
    assert '[mcp]"' in result.stderr


def test_doctor_finds_a_server_that_cannot_start(project: Path, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    cru("install", "codex")
    monkeypatch.setitem(sys.modules, "mcp", None)
    rows = json.loads(cru("doctor", "--json").stdout)["checks"]
    assert any('[mcp]"' in str(row.get("fix")) for row in rows)


def test_hooks_of_other_clients_are_installed_when_asked_for(cru: Cru) -> None:
    for folder in (".codex", ".qwen", ".cline"):
        (Path.home() / folder).mkdir()
    result = cru("install", "--hooks", "--yes")
    assert result.exit_code == 0, result.stderr
    assert "Codex asks you to review these hooks" in result.stderr
    assert commands_in(Path.home() / ".codex" / "hooks.json") == {f"{' '.join(install_hooks.own_program())} hook codex"}
    assert "hook qwen-code" in (Path.home() / ".qwen" / "settings.json").read_text()
    checks = json.loads(cru("doctor", "--json").stdout)["checks"]
    assert [row["state"] for row in checks if "hooks.json" in row["text"]] == ["good"]
    path = Path.home() / ".codex" / "hooks.json"
    path.write_text(path.read_text().replace(install_hooks.own_program()[0], "/gone/cru"))
    bad = [row for row in json.loads(cru("doctor", "--json").stdout)["checks"] if "hooks.json" in row["text"]]
    assert [(row["state"], row["fix"]) for row in bad] == [("bad", "cru install codex --hooks")]
    cru("install", "codex")
    assert "The hooks are still installed" in cru("install", "codex", "--remove").stderr
    assert cru("install", "--hooks", "--remove", "--yes").exit_code == 0
    assert not path.exists()


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("cline", "--hooks"), "Cline CLI has no hooks that cru can use"),
        (("pi",), 'Run "cru watch --clients", which follows its logs.'),
        (("codex", "--hooks", "--project"), "for all projects only"),
        (("codex", "--hooks", "--mcp"), "cannot be used together"),
        (("git-hooks", "--hooks"), "takes only"),
    ],
)
def test_hooks_that_cannot_be_installed_are_an_error(args: tuple[str, ...], told: str, cru: Cru) -> None:
    result = cru("install", *args)
    assert (result.exit_code, told in result.stderr) == (2, True), result.stderr


def test_a_plugin_that_was_edited_stays_and_is_named(cru: Cru) -> None:
    path = Path.home() / ".config" / "opencode" / "plugins" / "crucible.js"
    cru("install", "opencode", "--hooks")
    path.write_text("// mine\n" + path.read_text())
    assert "kept, it was edited" in cru("install", "opencode", "--hooks", "--remove").stdout
    assert path.exists()
