"""The brief of a session that is imported while it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.core.settings.settings import AgentSettings, UserSettings
from crucible.documents.session.session import Session
from crucible.integrations.hooks.sync import sync_vault
from crucible.memory.summary.brief import Brief, find_brief
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.unit.integrations.hooks.playing import Client, turn


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


def test_the_brief_is_one_phase_late(client: Client) -> None:
    one_turn(client, "Fix the retry, I prefer no sleeps", "Fixed without sleeping.")
    assert find_brief(session_of(client)) is None
    one_turn(client, "Now the tests", "The tests pass.")
    assert brief_of(client).covers.startswith("phase-1 ")
    assert "Fixed without sleeping." in brief_of(client).text
    one_turn(client, "And the docs", "Written.")
    assert brief_of(client).covers.startswith("phase-2 ")


def test_a_users_edit_of_the_brief_stays(client: Client) -> None:
    one_turn(client, "Fix the retry", "Fixed without sleeping.")
    one_turn(client, "Now the tests", "The tests pass.")
    (path,) = Vault(client.root).session_paths()
    text = path.read_text()
    path.write_text(text.replace("Fixed without sleeping.", "It never sleeps: mind the clock.", 1))
    one_turn(client, "And the docs", "Written.")
    assert "mind the clock" in brief_of(client).text


def test_the_brief_asks_no_agent(client: Client, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    for said in ("Fixed.", "The tests pass.", "Written."):
        one_turn(client, "Fix the retry", said, f"touch {asked}")
    assert brief_of(client).covers.startswith("phase-2 ")
    assert not asked.exists()
