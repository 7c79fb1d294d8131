"""The word of a session's end that comes after the session was marked dead."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.hooks import syncing
from crucible.session.model import Session
from crucible.vault.store import Vault
from tests.hooks.playing import GONE, OTHER, Client, sync, the_note, turn
from tests.importing.places import run_import
from tests.transcript.building import assistant, use, user


@pytest.fixture
def dead(vault: Vault, tmp_path: Path) -> Client:
    """At rest, and found dead at another session's start."""
    client = Client(vault.root, tmp_path / "home", pid=GONE)
    client.say(*turn("Fix it", "Fixed."))
    return bury(client)


def bury(client: Client) -> Client:
    client.call("SessionStart", source="startup")
    client.call("Stop", said="Fixed.")
    Client(client.root, client.transcript.parents[3], OTHER).call("SessionStart", source="startup")
    sync(client)
    assert the_note(client).status == "paused"
    return client


def end(client: Client) -> Session:
    client.call("SessionEnd", reason="other")
    sync(client)
    return the_note(client)


def test_a_late_end_of_a_session_that_was_at_rest_takes_its_death_back(dead: Client) -> None:
    session = end(dead)
    assert (session.status, session.pause_reason) == ("paused", "the client was closed")
    assert session.resume_point == "phase-1"


def test_a_late_end_of_an_unfinished_turn_leaves_it_paused_for_another_reason(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.1)  # no answer comes any more
    client = Client(vault.root, tmp_path / "home", pid=GONE)
    client.say(user("More"), assistant(use("Bash", call="c9", command="make all")))
    session = end(bury(client))
    assert session.status == "paused"
    assert "without a word" not in (session.pause_reason or "")


def test_a_pause_that_a_human_explained_stays(dead: Client) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    path.write_text(path.read_text().replace("the client ended without a word", "lunch"))
    before = path.read_text()
    end(dead)
    assert path.read_text() == before


def test_an_import_that_knows_nothing_of_the_client_takes_no_death_back(dead: Client) -> None:
    (path,) = dead.root.glob("sessions/*.md")
    before = path.read_text()
    run_import(Vault(dead.root), dead.transcript)
    assert path.read_text() == before
