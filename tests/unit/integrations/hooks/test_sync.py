"""Import from the spool: whole turns, races at their end, sessions that died, and concurrent edits by users."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import OWN_MARK
from crucible.core.errors import VaultError
from crucible.core.settings.session_settings import HookSettings
from crucible.integrations.hooks import sync as syncing
from crucible.vault.events.event_reader import load_meta
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.notes.vault import Vault
from tests.trusting import trust
from tests.unit.clients.building import Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import copy_real, notes_of, trunk_of
from tests.unit.integrations.hooks.playing import GONE, OTHER, SESSION, Client, log_of, sync, the_note, turn


@pytest.fixture
def client(vault: Vault, tmp_path: Path) -> Client:
    return Client(vault.root, tmp_path / "home")


def test_a_turn_is_written_down_when_it_ends(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed.", "ls"))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="Fixed.")
    sync(client)
    session = the_note(client)
    assert session.status == "active"
    assert [phase.name for phase in session.phases] == ["Fix it"]
    assert [call.call for call in session.calls()] == ["Bash ls"]
    assert not load_spool(client.root, "claude-code")[0].has_backlog
    assert log_of(client.root) == ""


def test_a_turn_under_way_waits_for_its_end(client: Client) -> None:
    client.say(*turn("First", "One."), user("Second"), assistant(text("On it."), use("Bash", command="make")))
    client.call("Stop", said="One.")
    sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["First"]
    client.say(result("built"), assistant(text("Two."), stop="end_turn"))
    client.call("Stop", said="Two.")
    sync(client)
    session = the_note(client)
    assert [phase.name for phase in session.phases] == ["First", "Second"]
    assert [str(call.outcome) for call in session.calls()] == ["ok"]


def test_rows_that_come_after_the_hook_are_waited_for(client: Client) -> None:
    client.say(user("Fix it"), assistant(use("Bash", command="ls")), result("ok"))
    client.call("Stop", said="Fixed at last.")
    late = threading.Timer(0.7, lambda: client.say(assistant(text("Fixed at last."), stop="end_turn")))
    late.start()
    sync(client)
    late.join()
    assert "Fixed at last." in str(the_note(client).phases)


def test_rows_that_come_after_the_end_are_read_at_the_next_start(client: Client, tmp_path: Path) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="other")
    sync(client)
    assert the_note(client).status == "completed"
    client.say(assistant(text("One more word."), stop="end_turn"))
    Client(client.root, tmp_path / "home", OTHER).call("SessionStart", source="startup")
    sync(client)
    assert "One more word." in str(the_note(client).phases)


def test_a_session_that_is_long_over_leaves_the_spool_at_the_next_start(client: Client, tmp_path: Path) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.age(3700)
    client.call("SessionEnd", reason="other")
    sync(client)
    Client(client.root, tmp_path / "home", OTHER).call("SessionStart", source="startup")
    sync(client)
    assert [spooled.session for spooled in load_spool(client.root, "claude-code")] == [OTHER]
    assert the_note(client).status == "completed"


def test_a_session_whose_client_ended_is_completed_at_once(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="other")
    client.call("PostToolUse", call="late")  # nobody waits for a tool's hook, so it may come in last
    sync(client)
    session = the_note(client)
    assert (session.status, session.pause_reason) == ("completed", None)
    assert (session.resume_point, session.ended) == (None, session.phases[-1].ended)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (turn("Fix it", "Fixed. Shall I commit it?"), "asked: Shall I commit it?"),
        ([user("Fix it")], "the prompt was not answered"),
        ([user("Fix it"), assistant(use("Bash", command="make all"))], "no result of Bash make all"),
    ],
)
def test_a_session_whose_client_ended_says_what_it_waits_for(
    client: Client, monkeypatch: pytest.MonkeyPatch, rows: list[Row], reason: str
) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.1)
    client.say(*rows)
    client.call("SessionEnd", reason="other")
    sync(client)
    session = the_note(client)
    assert (session.status, session.pause_reason, session.resume_point) == ("paused", reason, "phase-1")


def test_a_session_that_died_is_found_at_the_next_start(client: Client, tmp_path: Path) -> None:
    died = Client(client.root, tmp_path / "home", pid=GONE)
    died.say(*turn("Fix it", "Fixed."), user("More"), assistant(use("Bash", call="c9", command="make all")))
    died.call("SessionStart", source="startup")
    died.call("PostToolUse", call="c9")
    Client(client.root, tmp_path / "home", OTHER).call("SessionStart", source="startup")
    sync(client)
    session = the_note(client)
    assert session.status == "paused"
    assert session.pause_reason == "no result of Bash make all"
    assert session.resume_point == "phase-2"


def test_a_session_that_died_at_rest_is_completed(client: Client, tmp_path: Path) -> None:
    died = Client(client.root, tmp_path / "home", pid=GONE)
    died.say(*turn("Fix it", "Fixed."))
    died.call("SessionStart", source="startup")
    died.call("Stop", said="Fixed.")
    Client(client.root, tmp_path / "home", OTHER).call("SessionStart", source="startup")
    sync(client)
    assert the_note(client).status == "completed"


@pytest.mark.parametrize("end", ["died", "ended"])
def test_a_session_that_is_taken_up_again_is_active(client: Client, end: str) -> None:
    first = Client(client.root, client.transcript.parents[3], pid=GONE if end == "died" else None)
    first.say(*turn("Fix it", "Fixed."))
    first.call("SessionStart", source="startup")
    first.call("Stop", said="Fixed.")
    if end == "ended":
        first.call("SessionEnd", reason="other")
    sync(client)
    assert the_note(client).status == "completed"
    client.rows = first.rows
    client.say(*turn("More", "Done more."))
    client.call("SessionStart", source="resume")
    client.call("Stop", said="Done more.")
    sync(client)
    session = the_note(client)
    assert (session.status, session.ended, session.pause_reason) == ("active", None, None)
    assert len(session.phases) == 2


def test_a_status_that_a_human_set_stays(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    sync(client)
    (path,) = client.root.glob("sessions/*.md")
    path.write_text(path.read_text().replace("status: active", "status: failed"))
    client.say(*turn("More", "Done more."))
    client.call("Stop", said="Done more.")
    client.call("SessionEnd", reason="other")
    sync(client)
    assert the_note(client).status == "failed"
    assert len(the_note(client).phases) == 2


def test_a_users_concurrent_edit_stays(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed.", "ls"))
    client.call("Stop", said="Fixed.")
    sync(client)
    (path,) = client.root.glob("sessions/*.md")
    path.write_text(path.read_text().replace("Fixed.", "Fixed, I checked.") + "\nMy own words.\n")
    client.say(*turn("More", "Done more."))
    client.call("Stop", said="Done more.")
    sync(client)
    note = path.read_text()
    assert "Fixed, I checked." in note
    assert "My own words." in note
    assert note.count("Done more.") == 1


def test_two_sessions_at_once_do_not_mix(client: Client, tmp_path: Path) -> None:
    other = Client(client.root, tmp_path / "home", OTHER)
    for number in range(3):
        client.say(*turn(f"Mine {number}", f"A{number}."))
        client.call("Stop", said=f"A{number}.")
        other.say(*turn(f"Theirs {number}", f"B{number}."))
        other.call("Stop", said=f"B{number}.")
        sync(client)
    names = sorted([phase.name for phase in note.session.phases] for note in notes_of(Vault(client.root)).values())
    assert names == [["Mine 0", "Mine 1", "Mine 2"], ["Theirs 0", "Theirs 1", "Theirs 2"]]


def test_syncing_again_changes_no_byte(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="other")
    sync(client)
    (path,) = client.root.glob("sessions/*.md")
    before = path.read_bytes()
    client.call("PostToolUse", call="late")
    sync(client)
    assert path.read_bytes() == before


def test_a_session_of_our_own_makes_no_note(client: Client) -> None:
    client.say(*turn(f"Summarise. {OWN_MARK}", "So it was."))
    client.call("Stop", said="So it was.")
    client.call("SessionEnd", reason="other")
    sync(client)
    assert notes_of(Vault(client.root)) == {}
    assert log_of(client.root) == ""


def test_subagents_of_a_turn_under_way_wait_with_it(vault: Vault, tmp_path: Path) -> None:
    project = copy_real("limiter", tmp_path / "home" / ".claude" / "projects" / "p")
    trunk = trunk_of(project)
    whole = trunk.read_bytes().splitlines(keepends=True)
    client = Client(vault.root, tmp_path / "home", trunk.stem)
    client.transcript = trunk
    # Up to the call of the second subagent: the first turn has not ended.
    cut = max(at for at, line in enumerate(whole) if b'"name":"Agent"' in line) + 1
    trunk.write_bytes(b"".join(whole[:cut]))
    client.call("SessionStart", source="startup")
    sync(client)
    assert notes_of(vault) == {}
    trunk.write_bytes(b"".join(whole))
    client.call("SessionEnd", reason="other")
    sync(client)
    sessions = {name: note.session for name, note in notes_of(vault).items()}
    (parent,) = [session for session in sessions.values() if session.parent is None]
    assert len(sessions) == 3
    assert {ref.session for ref in parent.subagents} == set(sessions) - {parent.id}
    assert parent.pause_reason == "1 open task: Test the token bucket"
    assert {session.status for session in sessions.values() if session.parent} == {"completed"}


@pytest.mark.parametrize("table", ["hooks", "capture"])
def test_tool_calls_are_written_down_when_the_settings_say_so(client: Client, table: str) -> None:
    vault = Vault(client.root)
    config = client.root / ".crucible" / "config.toml"
    config.write_text(f'[{table}]\nsave = "tool"\n')
    client.say(user("Fix it"), assistant(use("Bash", command="make")))
    client.call("PostToolUse", call="call-1")
    sync(client)
    assert [str(call.outcome) for call in the_note(client).calls()] == ["pending"]
    client.say(result("built"))
    client.call("PostToolUse", call="call-1")
    sync(client)
    assert [str(call.outcome) for call in the_note(client).calls()] == ["ok"]
    assert vault.settings.hooks == HookSettings()


def test_a_missing_transcript_is_logged_and_tried_again(client: Client) -> None:
    client.call("UserPromptSubmit")
    client.call("SessionEnd", reason="other")
    sync(client)
    assert f"no transcript of {SESSION}" in log_of(client.root)
    assert load_spool(client.root, "claude-code")[0].has_backlog
    client.say(*turn("Fix it", "Fixed."))
    sync(client)
    assert the_note(client).status == "completed"


def test_a_transcript_of_another_name_is_not_read(client: Client, tmp_path: Path) -> None:
    secret = tmp_path / "private.jsonl"
    client.say(*turn("Private", "Yes."))
    client.transcript.rename(secret)
    client.call("Stop", transcript=str(secret))
    sync(client)
    assert notes_of(Vault(client.root)) == {}


def test_a_transcript_that_moved_to_another_project_is_found(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    told = client.transcript
    moved = told.parent.parent / "-home-dev-worktree" / told.name
    moved.parent.mkdir()
    told.rename(moved)
    client.call("Stop", said="Fixed.")
    sync(client)
    assert [phase.name for phase in the_note(client).phases] == ["Fix it"]


def test_a_scanner_that_cannot_run_writes_nothing(client: Client) -> None:
    (client.root / ".crucible" / "config.toml").write_text('[secrets]\nallow = ["("]\n')
    trust(client.root)
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    with pytest.raises(VaultError, match=r"secrets\.allow"):
        sync(client)
    assert not list(client.root.glob("sessions/*.md"))


def test_a_long_wait_is_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.5)
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="something that was never written")
    begun = time.monotonic()
    sync(client)
    assert 0.3 < time.monotonic() - begun < 30
    assert len(the_note(client).phases) == 1


def test_a_session_continued_after_a_clear_is_linked_both_ways(client: Client, tmp_path: Path) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("SessionStart", source="startup")
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="clear")
    other = Client(client.root, tmp_path / "home", OTHER)
    other.call("SessionStart", source="clear")
    other.say(*turn("Now the docs", "Written."))
    other.call("Stop", said="Written.")
    sync(client)
    first, second = sorted(
        (note.session for note in notes_of(Vault(client.root)).values()), key=lambda session: session.title
    )
    assert (first.continued_by, second.continues) == (second.id, first.id)


def test_whole_events_know_whose_session_they_are(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.call("Stop", said="Fixed.")
    client.call("SessionEnd", reason="other")
    sync(client)
    meta = load_meta(client.root, the_note(client).id)
    assert meta["ended_cleanly"] is True
    assert meta["initial_agent"] == "claude-code@2.1.197"
