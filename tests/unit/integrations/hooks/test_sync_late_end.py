"""A session's end event that comes after the session was marked dead."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.documents.session.session import Session
from crucible.integrations.hooks import sync as syncing
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import assistant, use, user
from tests.unit.commands.imports.places import run_import
from tests.unit.integrations.hooks.playing import GONE, OTHER, Client, sync, the_note, turn


@pytest.fixture
def dead(vault: Vault, tmp_path: Path) -> Client:
    """It has asked something, and was found dead at another session's start."""
    client = Client(vault.root, tmp_path / "home", pid=GONE)
    client.say(*turn("Fix it", "Shall I?"))
    return bury(client)


def bury(client: Client) -> Client:
    client.call("SessionStart", source="startup")
    client.call("Stop", said="Shall I?")
    Client(client.root, client.transcript.parents[3], OTHER).call("SessionStart", source="startup")
    sync(client)
    assert the_note(client).status == "paused"
    return client


def end(client: Client) -> Session:
    client.call("SessionEnd", reason="other")
    sync(client)
    return the_note(client)


def test_a_late_end_changes_nothing_of_what_the_transcript_says(dead: Client) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    before = path.read_text()
    session = end(dead)
    assert (session.status, session.pause_reason) == ("paused", "asked: Shall I?")
    assert path.read_text() == before


@pytest.mark.parametrize("reason", ["the client was closed", "the client ended without a word"])
def test_a_session_paused_by_an_older_version_at_its_clients_end_is_judged_again(dead: Client, reason: str) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    path.write_text(path.read_text().replace('"asked: Shall I?"', reason))
    assert reason in path.read_text()
    run_import(Vault(dead.root), dead.transcript)
    assert the_note(dead).pause_reason == "asked: Shall I?"


def test_a_late_end_of_an_unfinished_turn_leaves_it_paused_for_another_reason(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.1)  # no answer comes any more
    client = Client(vault.root, tmp_path / "home", pid=GONE)
    client.say(user("More"), assistant(use("Bash", call="c9", command="make all")))
    session = end(bury(client))
    assert (session.status, session.pause_reason) == ("paused", "no result of Bash make all")


def test_a_pause_that_a_human_explained_stays(dead: Client) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    path.write_text(path.read_text().replace('"asked: Shall I?"', "lunch"))
    before = path.read_text()
    end(dead)
    assert path.read_text() == before


def test_an_import_that_knows_nothing_of_the_client_changes_nothing(dead: Client) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    before = path.read_text()
    run_import(Vault(dead.root), dead.transcript)
    assert path.read_text() == before
