"""A session that `cru` resumed in a new session of the client, whose hooks are called while it runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from crucible.clients.launch.session_marks import resume_mark
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.session import Session
from crucible.integrations.hooks.sync import sync_vault
from crucible.memory.bookmarks.resume_tickets import issue_ticket
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import notes_of
from tests.unit.integrations.hooks.playing import GONE, Client, log_of

SECOND = "99999999-2222-3333-4444-555555555555"


def sync(client: Client) -> None:
    sync_vault(client.root, UserSettings(), {})


def the_note(vault: Vault) -> Session:
    (note,) = notes_of(Vault(vault.root)).values()
    return note.session


def test_a_resumed_session_is_folded_into_its_note_turn_by_turn_while_it_runs(vault: Vault, tmp_path: Path) -> None:
    first = Client(vault.root, tmp_path / "home", pid=GONE)
    first.say(user("Build it"), assistant(text("Built."), stop="end_turn"))
    first.call("SessionStart", source="startup")
    first.call("Stop", said="Built.")
    first.call("SessionEnd", reason="prompt_input_exit")
    sync(first)
    name = the_note(vault).id
    ticket = issue_ticket(vault.root, name, "claude-code", datetime.now(UTC), phase="Build it")

    second = Client(vault.root, tmp_path / "home", SECOND)
    second.say(user(f"{resume_mark(name, ticket.token)}\nWhere we are: …"))
    second.call("SessionStart", source="startup")
    second.call("UserPromptSubmit")
    sync(second)
    assert [phase.name for phase in the_note(vault).phases] == ["Build it"]

    second.say(assistant(text("On it."), stop="end_turn"))
    second.call("Stop", said="On it.")
    sync(second)
    session = the_note(vault)
    assert [phase.name for phase in session.phases] == ["Build it", "Resumed: Build it"]
    assert [source.rpartition(":")[2] for source in session.sources] == [first.session, SECOND]
    assert session.status == "active"

    second.say(user("Test it"), assistant(text("Tested."), stop="end_turn"))
    second.call("Stop", said="Tested.")
    sync(second)
    session = the_note(vault)
    assert [phase.name for phase in session.phases] == ["Build it", "Resumed: Build it", "Test it"]
    second.call("SessionEnd", reason="prompt_input_exit")
    sync(second)
    session = the_note(vault)
    assert session.status != "active"
    assert session.resume_point in (None, "phase-3")
    assert "Where we are" not in notes_of(vault)[name].source.text
    assert log_of(vault.root) == ""
