"""`cru doctor --secrets` counts the secrets in the clients' own logs, and shows none of them."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.registry import DIALECTS
from crucible.core.settings.settings import SecretSettings
from crucible.integrations.doctor.transcript_checks import check_client_secrets, find_native
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT
from tests.running import Cru
from tests.unit.clients.building import assistant, dump, result, text, use, user
from tests.unit.commands.imports.halves import second_half

GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
AWS = "AKIA" + "Q3EGR5X7YPLM2KTN"
HALVED = {name: DIALECTS[name] for name in ("claude-code", "codex", "gemini", "opencode")}
"""The clients whose sessions `second_half` can make."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CODEX_HOME", "XDG_DATA_HOME", "OPENCODE_DB", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return folder


def with_secrets(home: Path, tmp_path: Path) -> None:
    """A session of each of these clients, with two secrets in its first prompt."""
    for client, dialect in HALVED.items():
        half = second_half(client, tmp_path / "made", f"Deploy with {GITHUB} and {AWS}")
        to = dialect.default_folder(os.environ, home)
        to.parent.mkdir(parents=True, exist_ok=True)
        found = half.path if half.path.is_dir() else half.path.parent
        inner = next((one for one in found.rglob(to.name) if one.is_dir() == (client != "opencode")), found)
        if to.suffix or inner.is_file():
            shutil.copy(inner, to)
        else:
            shutil.copytree(inner, to, dirs_exist_ok=True)


def counted(cru: Cru, *more: str) -> list[dict[str, Any]]:
    found = json.loads(cru("doctor", "--secrets", "--format", "json", *more).stdout)["checks"]
    return [each for each in found if each["topic"] == "secrets"]


def test_each_client_s_secrets_are_counted_by_kind_and_file(cru: Cru, home: Path, tmp_path: Path) -> None:
    with_secrets(home, tmp_path)
    found = counted(cru)
    assert len(found) == len(HALVED)
    for dialect, each in zip(HALVED.values(), sorted(found, key=lambda one: order(one["text"])), strict=True):
        assert each["state"] == "note"
        assert each["text"].startswith(f"{dialect.title}'s logs (")
        assert "github-token" in each["text"]
        assert "aws-access-key-id" in each["text"]
        assert str(home) in each["items"][0]
    assert not any(secret in json.dumps(found) for secret in (GITHUB, AWS))


def order(told: str) -> int:
    return next(number for number, one in enumerate(HALVED.values()) if told.startswith(one.title))


def claude(home: Path, name: str, *rows: Any) -> Path:
    path = home / ".claude" / "projects" / "-home-dev-project" / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(rows))
    return path


def test_the_worst_file_comes_first_and_no_value_is_shown(cru: Cru, home: Path) -> None:
    one = claude(home, "11111111-2222-3333-4444-555555555551", user(f"Use {GITHUB}"))
    many = claude(
        home,
        "11111111-2222-3333-4444-555555555552",
        user(f"Use {AWS}"),
        assistant(use("Bash", command=f"export GITHUB_TOKEN={GITHUB}")),
        result(f"{GITHUB}\n"),
        assistant(text(f"It is {GITHUB}."), stop="end_turn"),
    )
    done = cru("doctor", "--secrets", "--all")
    assert (
        "Claude Code's logs (2 sessions) contain 5 secrets in 2 files: 4 github-token, 1 aws-access-key-id"
        in done.stdout
    )
    assert done.stdout.index(f"{many}: 3") < done.stdout.index(f"{one}: 1")
    assert GITHUB[4:] not in done.output
    assert AWS not in done.output


def test_clean_logs_are_good_and_are_only_read_with_the_option(cru: Cru, home: Path) -> None:
    claude(home, "11111111-2222-3333-4444-555555555551", user("Fix it"))
    (found,) = counted(cru)
    assert found["state"] == "good"
    assert "no secrets in Claude Code's logs (1 session)" in found["text"]
    assert "secrets" not in {each["topic"] for each in json.loads(cru("doctor", "--format", "json").stdout)["checks"]}


def test_the_settings_exceptions_count_here_too(vault: Vault, cru: Cru, home: Path) -> None:
    claude(home, "11111111-2222-3333-4444-555555555551", user(f"Use {AWS}"))
    (vault.root / ".crucible/config.toml").write_text(f'[secrets]\nallow = ["{AWS}"]\n')
    assert cru("trust", "--yes").exit_code == 0
    assert counted(cru)[0]["state"] == "good"


def test_a_long_log_is_not_held_in_memory(home: Path) -> None:
    rows = [result(f"{GITHUB} " + "word " * 4000) for _ in range(500)]
    size = claude(home, "11111111-2222-3333-4444-555555555551", user("Begin"), *rows).stat().st_size
    natives = list(find_native(os.environ, home))
    told: list[tuple[int, int]] = []
    tracemalloc.start()
    (found,) = check_client_secrets(natives, SecretSettings(), lambda *done: told.append(done))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "500 github-token" in found.text
    assert told == [(0, 1), (1, 1)]
    assert peak < size / 3


def test_on_a_terminal_it_shows_how_far_it_is(vault: Vault, home: Path) -> None:
    claude(home, "11111111-2222-3333-4444-555555555551", user("Fix it"))
    main, side = pty.openpty()
    command = [sys.executable, "-m", "crucible", "--vault", str(vault.root), "doctor", "--secrets"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    done = subprocess.run(command, env=env, cwd=home, stdout=subprocess.PIPE, stderr=side, timeout=60, check=False)
    os.close(side)
    shown = os.read(main, 65_536)
    os.close(main)
    assert b"clients' logs" in shown
    assert b"no secrets in Claude Code's logs" in done.stdout
