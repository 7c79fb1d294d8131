"""Bookmarks of captured sessions: once each, at a client's end, its death, and a finished task."""

from __future__ import annotations

import os
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.integrations.hooks import session_end as stops
from crucible.integrations.hooks import sync as syncing
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, load_bookmarks
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import assistant, result, text, use, user
from tests.unit.commands.imports.places import bytes_of, run_import
from tests.unit.integrations.hooks.playing import GONE, OTHER, SESSION, Client, log_of, sync, the_note, turn


@pytest.fixture
def client(vault: Vault, tmp_path: Path) -> Client:
    return Client(vault.root, tmp_path / "home")


def bookmarks(client: Client) -> tuple[Bookmark, ...]:
    loaded = load_bookmarks(client.root)
    assert loaded.problems == ()
    return loaded.found


def reasons(client: Client) -> list[StopReason]:
    return [one.why for one in bookmarks(client)]


def start_another(client: Client) -> None:
    Client(client.root, client.transcript.parents[3], OTHER).call("SessionStart", source="startup")
    sync(client)


def told(client: Client, event: str, said: str = "", **more: object) -> None:
    client.call(event, said, **more)
    sync(client)


def todos(*states: str) -> list[dict[str, object]]:
    items = [{"content": f"Part {n}", "status": s, "activeForm": "x"} for n, s in enumerate(states)]
    call = "-".join(states)
    return [assistant(use("TodoWrite", call=call, todos=items)), result("ok", call=call)]


def test_a_clients_end_makes_one_bookmark_however_often_it_is_checked(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    told(client, "Stop", "Fixed.")
    assert reasons(client) == []
    told(client, "SessionEnd", reason="other")
    client.call("PostToolUse", call="late")
    sync(client)
    start_another(client)
    (one,) = bookmarks(client)
    assert (one.why, one.session, one.phase) == (StopReason.ENDED, the_note(client).id, "phase-1")
    assert log_of(client.root) == ""


def test_a_session_that_is_taken_up_and_ended_again_has_two(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    told(client, "SessionEnd", reason="other")
    client.call("SessionStart", source="resume")
    client.say(*turn("More", "Done."))
    told(client, "Stop", "Done.")
    told(client, "SessionEnd", reason="other")
    assert [one.phase for one in bookmarks(client)] == ["phase-1", "phase-2"]


def test_a_session_that_was_only_opened_again_has_one_even_after_its_spool_is_gone(client: Client) -> None:
    client.age(4000)
    client.say(*turn("Fix it", "Fixed."))
    told(client, "SessionEnd", reason="other")
    start_another(client)
    assert [each.session for each in load_spool(client.root, "claude-code")] == [OTHER]
    client.call("SessionStart", source="resume")
    told(client, "SessionEnd", reason="other")
    assert reasons(client) == [StopReason.ENDED]


def test_a_death_makes_a_bookmark_and_a_late_word_of_the_end_another(client: Client) -> None:
    client.pid = GONE
    client.say(*turn("Fix it", "Fixed."))
    client.call("SessionStart", source="startup")
    client.call("Stop", "Fixed.")
    start_another(client)
    start_another(client)
    assert reasons(client) == [StopReason.DIED]
    told(client, "SessionEnd", reason="other")
    assert reasons(client) == [StopReason.DIED, StopReason.ENDED]


def test_a_failed_session_has_a_bookmark_too(client: Client) -> None:
    client.say(user("Fix it"), assistant(text("API Error: 500"), stop="end_turn", isApiErrorMessage=True))
    told(client, "SessionEnd", reason="other")
    assert the_note(client).status == "failed"
    assert reasons(client) == [StopReason.ENDED]


def test_a_finished_task_makes_one(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syncing, "LONGEST", 0.1)  # the same answer does not come again
    client.say(user("Fix it"), *todos("in_progress", "pending"), assistant(text("On it."), stop="end_turn"))
    told(client, "Stop", "On it.")
    assert reasons(client) == []
    client.say(user("Go on"), *todos("completed", "in_progress"), assistant(text("One."), stop="end_turn"))
    told(client, "Stop", "One.")
    told(client, "PostToolUse", call="late")
    told(client, "Stop", "One.")
    (one,) = bookmarks(client)
    assert (one.why, one.task_name, one.task_number, one.task_count) == (StopReason.TASK, "Part 1", 2, 2)


def test_the_bookmark_tells_git_where_the_client_worked(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com", "-C", str(folder)]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    client.say(*({**row, "cwd": str(folder)} for row in turn("Fix it", "Fixed.")))
    told(client, "SessionEnd", reason="other")
    (one,) = bookmarks(client)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert (one.branch, one.head) == ("trunk", head.stdout.strip())
    assert str(tmp_path) not in (client.root / ".crucible" / "memory" / "bookmarks.jsonl").read_text()


@pytest.mark.parametrize("wrong", [OSError("no git"), PermissionError("no")])
def test_a_bookmark_that_cannot_be_made_keeps_no_note_waiting(
    client: Client, monkeypatch: pytest.MonkeyPatch, wrong: OSError
) -> None:
    def fall(*_: object, **__: object) -> None:
        raise wrong

    monkeypatch.setattr(stops, "make_bookmark", fall)
    client.say(*turn("Fix it", "Fixed."))
    told(client, "SessionEnd", reason="other")
    assert the_note(client).status == "completed"
    assert "bookmark claude-code" in log_of(client.root)
    assert not load_spool(client.root, "claude-code")[0].has_backlog


def test_a_session_that_makes_no_note_makes_no_bookmark(client: Client) -> None:
    told(client, "SessionEnd", reason="other")
    assert bookmarks(client) == ()
    assert log_of(client.root) == ""


def test_a_session_leaves_the_spool_when_it_has_been_quiet(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    client.age(50)
    told(client, "SessionEnd", reason="other")
    start_another(client)
    assert {each.session for each in load_spool(client.root, "claude-code")} == {SESSION, OTHER}
    spooled = next((client.root / ".crucible" / "spool").rglob(f"{SESSION}.jsonl"))
    earlier = re.sub(r'("time": ?)([0-9.]+)', lambda told: f"{told[1]}{float(told[2]) - 60}", spooled.read_text())
    spooled.write_text(earlier)
    start_another(client)
    assert the_note(client).status == "completed"
    assert [each.session for each in load_spool(client.root, "claude-code")] == [OTHER]
    assert reasons(client) == [StopReason.ENDED]


def test_a_plain_import_within_the_idle_time_changes_nothing_of_what_a_client_closed(client: Client) -> None:
    client.say(*turn("Fix it", "Fixed."))
    told(client, "SessionEnd", reason="other")
    before = bytes_of(Vault(client.root))
    for _ in range(2):
        run_import(Vault(client.root), client.transcript, now=datetime.now(UTC))
        assert bytes_of(Vault(client.root)) == before


def test_an_idle_session_is_paused_by_the_next_hook(client: Client, vault: Vault) -> None:
    vault.create("quiet", "---\nsession_id: quiet\nstatus: active\n---\n\n# Quiet\n")
    os.utime(vault.sessions / "quiet.md", (time.time() - 4000,) * 2)
    told(client, "SessionStart", source="startup")
    assert vault.load("quiet").session.status == "paused"
    assert reasons(client) == [StopReason.IDLE]
