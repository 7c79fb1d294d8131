"""`cru launch`: which client begins, and what it is told."""

from __future__ import annotations

import json
import stat
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.client import start_with_context
from crucible.clients.launch.session_marks import BRIEFED_ENVIRONMENT
from crucible.clients.registry import LAUNCHABLE
from crucible.documents.session.session import AgentRef
from crucible.vault.notes.vault import Vault
from tests.running import Cru
from tests.unit.commands.briefing.sample_vault import PROJECT, session

_CLIENT = (
    f"#!{sys.executable}\n"
    """
import json, os, sys
names = ("CRUCIBLE_VAULT", "CRUCIBLE_BRIEFED", "CRU_SESSION", "OPENCODE_CONFIG_CONTENT")
told = {name: os.environ[name] for name in names if name in os.environ}
files = [open(one).read() for one in json.loads(told.get("OPENCODE_CONFIG_CONTENT", "{}")).get("instructions", [])]
row = {"argv": sys.argv, "env": told, "cwd": os.getcwd(), "files": files}
json.dump(row, open(os.environ["SEEN"], "w"))
sys.exit(int(os.environ.get("ENDS", "0")))
"""
)


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a client noted; the working directory is a project, and no client is installed."""
    folder = tmp_path / PROJECT
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SEEN", str(tmp_path / "seen.json"))
    return tmp_path / "seen.json"


def install(seen: Path, *names: str) -> None:
    for name in names:
        path = seen.parent / "bin" / name
        path.write_text(_CLIENT)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)


def noted(seen: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(seen.read_text())
    return found


def recently(vault: Vault, agent: str = "claude-code") -> None:
    session(
        vault,
        words="Token bucket",
        started=datetime.now(UTC) - timedelta(hours=2),
        participants=(AgentRef(agent, "2.1"),),
    )


def test_claude_code_is_briefed_beside_its_instructions_and_its_hooks_know(
    cru: Cru, vault: Vault, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recently(vault)
    install(seen, "claude", "codex")
    monkeypatch.setenv("CRU_SESSION", "another")
    done = cru("launch", "--", "--model", "opus")
    assert done.exit_code == 0, done.stderr
    assert "Starting claude with a briefing on shop of about " in done.stderr
    told = noted(seen)
    assert told["argv"][1] == "--append-system-prompt"
    assert told["argv"][2].startswith("# Briefing: `shop`\n")
    assert told["argv"][3:] == ["--model", "opus"]
    assert told["env"] == {"CRUCIBLE_VAULT": str(vault.root), BRIEFED_ENVIRONMENT: "1"}
    assert told["cwd"] == str(Path.cwd())


def test_the_client_that_was_used_last_is_the_one(cru: Cru, vault: Vault, seen: Path) -> None:
    install(seen, "claude", "opencode")
    recently(vault, "opencode")
    assert "Starting opencode with" in cru("launch").stderr
    told = noted(seen)
    assert told["argv"][1:] == []
    assert told["files"][0].startswith("# Briefing: `shop`\n")
    (file,) = json.loads(told["env"]["OPENCODE_CONFIG_CONTENT"])["instructions"]
    assert not Path(file).parent.exists()


def test_one_that_is_gone_gives_way_to_one_that_is_installed(cru: Cru, vault: Vault, seen: Path) -> None:
    recently(vault, "opencode")
    install(seen, "codex")
    assert "Starting codex with" in cru("launch").stderr


def test_without_any_client_the_line_says_how_to_get_one(cru: Cru, vault: Vault, seen: Path) -> None:
    recently(vault)
    done = cru("launch")
    assert done.exit_code == 1
    assert f"none of {', '.join(LAUNCHABLE)} is installed" in done.stderr
    assert "npm install -g @anthropic-ai/claude-code" in done.stderr
    refused = cru("launch", "--with", "codex")
    assert (refused.exit_code, "npm install -g @openai/codex" in refused.stderr) == (1, True)
    assert not seen.exists()


def test_any_command_line_gets_it_in_its_place(cru: Cru, vault: Vault, seen: Path) -> None:
    recently(vault)
    install(seen, "agent")
    done = cru("launch", "--with", "agent --context={briefing} -x", "--budget", "400", "--", "more")
    assert done.exit_code == 0, done.stderr
    argv = noted(seen)["argv"]
    assert argv[1].startswith("--context=# Briefing: `shop`\n")
    assert argv[2:] == ["-x", "more"]


def test_a_failing_client_is_reported(cru: Cru, vault: Vault, seen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recently(vault)
    install(seen, "claude")
    monkeypatch.setenv("ENDS", "7")
    done = cru("launch")
    assert done.exit_code == 1
    assert "claude ended with exit code 7" in done.stderr


def test_without_anything_known_the_client_gets_no_briefing(cru: Cru, seen: Path) -> None:
    install(seen, "claude")
    done = cru("launch")
    assert (done.exit_code, "nothing is known yet" in done.stderr) == (0, True)
    assert noted(seen)["argv"][1:] == []
    assert BRIEFED_ENVIRONMENT not in noted(seen)["env"]


def test_in_a_folder_without_a_project_the_client_gets_no_briefing(
    cru: Cru, vault: Vault, seen: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recently(vault)
    install(seen, "claude")
    monkeypatch.chdir(tmp_path)
    done = cru("launch")
    assert (done.exit_code, "no project" in done.stderr) == (0, True)
    assert noted(seen)["argv"][1:] == []


@pytest.mark.parametrize("wish", ["", "'"])
def test_what_is_no_command_line_is_refused(cru: Cru, wish: str) -> None:
    assert cru("launch", "--with", wish).exit_code == 2


def test_codex_gets_a_string_of_toml_whatever_stands_in_it() -> None:
    text = 'Say "hi" \\ \x7f\n日本 🕐 ```'
    made = start_with_context(LAUNCHABLE["codex"], text, "", {})
    assert tomllib.loads(made.command[2]) == {"developer_instructions": text}


def test_opencodes_settings_in_the_environment_stay() -> None:
    known = json.dumps({"model": "x", "instructions": ["a.md"]})
    made = start_with_context(LAUNCHABLE["opencode"], "text", "b.md", {"OPENCODE_CONFIG_CONTENT": known})
    assert json.loads(made.env["OPENCODE_CONFIG_CONTENT"]) == {"model": "x", "instructions": ["a.md", "b.md"]}


@pytest.mark.parametrize(
    ("taken", "used"),
    [
        ([], "OneDriveCommercial"),
        (["OneDriveCommercial", "OneDrive"], "OneDriveConsumer"),
        (["OneDriveCommercial", "OneDriveConsumer", "OneDrive"], "OneDrive"),
    ],
)
def test_clines_rules_come_from_a_folder_that_no_variable_names_yet(taken: list[str], used: str) -> None:
    file = "/tmp/b/" + LAUNCHABLE["cline"].context_file
    made = start_with_context(LAUNCHABLE["cline"], "text", file, dict.fromkeys(taken, "/x"), ["-p"])
    assert (made.command, made.env) == (("cline", "-p"), {used: "/tmp/b"})


@pytest.mark.parametrize("known", ['{"permission": "deny"} // all', "[]"])
def test_settings_of_opencode_that_cannot_be_added_to_are_not_dropped(
    cru: Cru, vault: Vault, seen: Path, monkeypatch: pytest.MonkeyPatch, known: str
) -> None:
    recently(vault)
    install(seen, "opencode")
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", known)
    done = cru("launch", "--with", "opencode")
    assert (done.exit_code, seen.exists()) == (2, False)
    assert "OPENCODE_CONFIG_CONTENT: not a JSON object" in done.stderr


@pytest.mark.parametrize(
    ("client", "more", "told", "rest"),
    [
        ("claude", ["-p", "--append-system-prompt", "Mine", "x"], "said\n\nMine", ["-p", "x"]),
        ("claude", ["--append-system-prompt=Mi=ne"], "said\n\nMi=ne", []),
        ("claude", ["--append-system-prompt"], "said\n", ["--append-system-prompt"]),
        ("claude", ["--", "--append-system-prompt", "x"], "said\n", ["--", "--append-system-prompt", "x"]),
        ("codex", ["-c", 'developer_instructions="M\\"ine"', "-c", "a=b"], 'said\n\nM"ine', ["-c", "a=b"]),
        ("codex", ["--config=developer_instructions=Mine", "exec"], "said\n\nMine", ["exec"]),
        ("codex", ["-c", "model=x", "-"], "said\n", ["-c", "model=x", "-"]),
    ],
)
def test_the_users_own_option_of_that_kind_takes_the_briefings_place_no_more(
    client: str, more: list[str], told: str, rest: list[str]
) -> None:
    made = start_with_context(LAUNCHABLE[client], "said\n", "", {}, more)
    text = made.command[2]
    assert (tomllib.loads(text)["developer_instructions"] if client == "codex" else text) == told
    assert [*made.command[3:]] == rest
    assert [*start_with_context(LAUNCHABLE[client], "", "", {}, more).command[1:]] == more
