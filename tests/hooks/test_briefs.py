"""The brief of a session that is written down while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.brief.covering import find_brief
from crucible.brief.model import Brief
from crucible.hooks.syncing import sync_vault
from crucible.session.model import Session
from crucible.settings import AgentSettings, UserSettings
from crucible.vault.init import init_vault
from crucible.vault.store import Vault
from tests.hooks.playing import Client, log_of, turn


@pytest.fixture
def client(tmp_path: Path) -> Client:
    init_vault(tmp_path / "vault")
    return Client(tmp_path / "vault", tmp_path / "home")


def one_turn(client: Client, asked: str, said: str, command: str = "") -> None:
    client.say(*turn(asked, said))
    client.call("Stop", said=said)
    sync_vault(client.root, UserSettings(agents=AgentSettings(command)), {})


def session_of(client: Client) -> Session:
    vault = Vault(client.root)
    (path,) = vault.session_paths()
    return vault.read(path).session


def brief_of(client: Client) -> Brief:
    brief = find_brief(session_of(client))
    assert brief is not None
    return brief


def test_it_follows_a_phase_behind(client: Client) -> None:
    one_turn(client, "Fix the retry, I prefer no sleeps", "Fixed without sleeping.")
    assert find_brief(session_of(client)) is None
    one_turn(client, "Now the tests", "The tests pass.")
    assert brief_of(client).covers.startswith("phase-1 ")
    assert "Fixed without sleeping." in brief_of(client).text
    one_turn(client, "And the docs", "Written.")
    assert brief_of(client).covers.startswith("phase-2 ")


def test_what_a_human_made_of_it_stays(client: Client) -> None:
    one_turn(client, "Fix the retry", "Fixed without sleeping.")
    one_turn(client, "Now the tests", "The tests pass.")
    (path,) = Vault(client.root).session_paths()
    text = path.read_text()
    path.write_text(text.replace("Fixed without sleeping.", "It never sleeps: mind the clock.", 1))
    one_turn(client, "And the docs", "Written.")
    assert "mind the clock" in brief_of(client).text


def test_a_model_that_fails_is_told_once_and_the_next_one_catches_up(client: Client) -> None:
    failing = "sh -c 'exit 3'"
    one_turn(client, "Fix the retry", "Fixed.", failing)
    one_turn(client, "Now the tests", "The tests pass.", failing)
    one_turn(client, "And the docs", "Written.", failing)
    assert find_brief(session_of(client)) is None
    assert log_of(client.root).count("exit code 3") == 1
    one_turn(client, "Done?", "Done.", "echo It was all done at once.")
    assert brief_of(client).covers.startswith("phase-3 ")
    assert brief_of(client).text == "It was all done at once."
