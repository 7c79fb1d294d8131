"""`cru import` under bad luck and ill will: what was once found to go wrong, and must not again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from crucible.clients.registry import DIALECTS
from crucible.vault.notes.vault import Vault
from tests.journeys.test_import import DATA as CLAUDE
from tests.running import Cru

COMMANDS = [(), *((name,) for name in DIALECTS)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_is_refused_and_not_waited_for(cru: Cru, tmp_path: Path, command: tuple[str, ...]) -> None:
    pipe = tmp_path / "rollout-x.jsonl"
    os.mkfifo(pipe)
    done = cru("import", *command, pipe)
    assert done.exit_code == 2
    assert "neither a file nor a folder" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pipe_in_a_folder_is_no_transcript(cru: Cru, tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for name in (
        "rollout-x.jsonl",
        "session-x.jsonl",
        "opencode.db",
        f"{'0' * 8}-0000-4000-8000-{'0' * 12}.jsonl",
        "events.jsonl",
        "odd.messages.json",
        "odd.db",
    ):
        os.mkfifo(folder / name)
    assert cru("import", *command, folder).exit_code in (0, 3)


@pytest.mark.parametrize("command", [(), ("claude-code",)])
def test_the_folder_one_is_in_has_transcripts_too(
    cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(shutil.copytree(CLAUDE / "retry", tmp_path / "copy"))
    assert "1 session and 1 subagent" in cru("import", *command, ".").stdout
    assert len(vault.session_ids()) == 2


@pytest.mark.parametrize("client", [("claude-code",), ("codex",), ()])
def test_the_whole_machine_is_no_path(vault: Vault, cru: Cru, client: tuple[str, ...]) -> None:
    result = cru("import", *client, "/")
    assert result.exit_code == 2
    assert "name a folder in it" in result.stderr
