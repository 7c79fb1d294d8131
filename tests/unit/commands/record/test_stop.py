"""Pauses, ends and finished tasks under recording: the note's status, and a bookmark of each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from crucible.commands import record
from crucible.commands.record import stop as bookmarking
from crucible.core.errors import EditRefused, UsageError, VaultError
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, load_bookmarks
from crucible.memory.summary.brief import find_brief
from crucible.vault.notes.vault import Vault
from tests.git_repositories import git

WHEN = datetime(2026, 11, 22, 10, tzinfo=UTC)
BROKEN = "---\nstatus: active\nx: [\n---\n\n# A\n\n## One\n"
LATE = WHEN + timedelta(hours=1)
TOKEN = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture
def recorder(vault: Vault) -> record.Recorder:
    ticks = count()
    return record.session("Fix it", vault=vault, now=lambda: WHEN + next(ticks) * timedelta(seconds=1))


def bookmarks(vault: Vault) -> tuple[Bookmark, ...]:
    loaded = load_bookmarks(vault.root)
    assert loaded.problems == ()
    return loaded.found


def test_a_pause_stores_a_bookmark_with_the_remarks(vault: Vault, recorder: record.Recorder) -> None:
    recorder.tasks([{"content": "One", "status": "completed"}, {"content": "Two"}])
    recorder.phase("Research")
    recorder.pause("later", note="look at\n\nthe clock", blockers=["no key", "rain\ntoday", " "], at=LATE)
    one = bookmarks(vault)[-1]
    assert (one.why, one.session, one.at) == (StopReason.PAUSED, recorder.id, LATE)
    assert (one.phase, one.phase_name) == ("phase-1", "Research")
    assert (one.task_name, one.task_number, one.task_count) == ("Two", 2, 2)
    assert (one.note, one.blockers) == ("look at\n\nthe clock", ("no key", "rain⏎today"))
    assert recorder.warnings == []


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_an_ended_session_is_paused_only_when_that_is_meant(vault: Vault, status: str) -> None:
    s = record.session("Fix it", vault=vault, now=lambda: WHEN)
    s.phase("Research")
    s.end("It works.", failed=status == "failed")
    before = s.path.read_text()
    with pytest.raises(record.SessionEnded):
        s.pause("later")
    assert s.path.read_text() == before
    s.pause("later", reopens=True)
    session = vault.load(s.id).session
    assert (session.status, session.ended, session.resume_point) == ("paused", None, "phase-1")
    changed = [line for line in s.path.read_text().split("\n") if line not in before.split("\n")]
    assert changed == ["status: paused", "resume_point: phase-1", "pause_reason: later"]
    s.milestone("back")
    assert vault.load(s.id).session.status == "active"


def test_a_pause_changes_no_other_byte(vault: Vault, recorder: record.Recorder) -> None:
    text = (
        "\ufeff---\r\ntype: session\r\nstatus:   'active'   # mine\r\nmood: 007\r\n---\r\n\r\n# A\r\n\r\n"
        "## One\r\n\r\n```\r\n## not me\r\n```\r\n\r\n### Inner\r\n\r\nEnd, without a line end"
    )
    recorder.path.write_bytes(text.encode())
    recorder.pause()
    after = recorder.path.read_bytes().decode()
    assert vault.load(recorder.id).session.resume_point == "phase-1.1"
    assert after.replace("resume_point: phase-1.1\r\n", "").partition("mood")[2] == text.partition("mood")[2]
    assert after.startswith("\ufeff---\r\ntype: session\r\nstatus:")


def test_a_session_without_phases_has_no_resume_point(vault: Vault, recorder: record.Recorder) -> None:
    recorder.pause("later")
    session = vault.load(recorder.id).session
    assert (session.status, session.resume_point) == ("paused", None)
    assert bookmarks(vault)[0].phase == ""


def test_a_broken_note_is_refused_and_left_alone(vault: Vault, recorder: record.Recorder) -> None:
    recorder.path.write_text(BROKEN)
    with pytest.raises(EditRefused):
        recorder.pause("later", note="x")
    assert recorder.path.read_text() == BROKEN
    assert bookmarks(vault) == ()


def test_an_end_keeps_a_bookmark_and_a_subagents_end_none(vault: Vault, recorder: record.Recorder) -> None:
    with recorder.subagent("helper", mode="link") as child:
        child.phase("Search")
    assert bookmarks(vault) == ()
    recorder.end()
    assert [(one.session, one.why) for one in bookmarks(vault)] == [(recorder.id, StopReason.ENDED)]


def test_a_task_that_is_finished_keeps_one_and_one_that_was_none(vault: Vault, recorder: record.Recorder) -> None:
    recorder.add_tasks("One", "Two", "Three")
    recorder.start_task("1")
    assert bookmarks(vault) == ()
    recorder.finish_task("1")
    recorder.finish_task("1")
    recorder.task_complete("Done", task="2")
    recorder.task_complete("Done", task="2")
    recorder.tasks([{"id": "3", "content": "Three", "status": "completed"}])
    assert [(one.why, one.task) for one in bookmarks(vault)] == [
        (StopReason.TASK, "2"),
        (StopReason.TASK, "3"),
        (StopReason.TASK, ""),
    ]


def test_other_tellings_keep_no_bookmark(vault: Vault, recorder: record.Recorder) -> None:
    recorder.phase("A")
    recorder.tool("ls")
    recorder.tokens(5)
    recorder.milestone("m")
    assert bookmarks(vault) == ()


def test_a_bookmark_has_the_git_state_of_its_own_project_only(vault: Vault, tmp_path: Path) -> None:
    for name in ("shop", "other"):
        folder = tmp_path / name
        folder.mkdir()
        git(folder, "init", "-q", "-b", "trunk")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    begun = record.session("Fix it", vault=vault, cwd=tmp_path / "shop")
    begun.pause()
    record.open(begun.id, vault=vault).pause()
    record.open(begun.id, vault=vault, cwd=tmp_path / "other").pause()
    record.open(begun.id, vault=vault, cwd=tmp_path / "shop" / "gone").pause()
    record.open(begun.id, vault=vault, cwd=tmp_path / "shop").pause()
    assert [one.branch for one in bookmarks(vault)] == ["trunk", "", "", "", "trunk"]


@pytest.mark.parametrize("wrong", [VaultError("no room", "make some"), OSError("no git")])
def test_a_bookmark_that_cannot_be_made_is_a_warning(
    vault: Vault, recorder: record.Recorder, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    def fall(*_: object, **__: object) -> None:
        raise wrong

    monkeypatch.setattr(bookmarking, "make_bookmark", fall)
    recorder.pause("later")
    assert vault.load(recorder.id).session.status == "paused"
    recorder.end()
    assert vault.load(recorder.id).session.status == "completed"
    assert len(recorder.warnings) == 2


def test_no_secret_of_a_note_is_kept(vault: Vault, recorder: record.Recorder) -> None:
    recorder.pause(TOKEN, note=f"use {TOKEN}", blockers=[TOKEN])
    files = [path for path in vault.root.rglob("*") if path.is_file()]
    assert not [path for path in files if TOKEN.encode() in path.read_bytes()]


@pytest.mark.parametrize("said", [{"note": 5}, {"blockers": [None]}])
def test_what_is_no_text_is_refused_before_anything_is_written(
    vault: Vault, recorder: record.Recorder, said: dict[str, object]
) -> None:
    before = recorder.path.read_bytes()
    with pytest.raises(UsageError):
        recorder.pause(**said)  # type: ignore[arg-type]
    assert recorder.path.read_bytes() == before
    assert bookmarks(vault) == ()


def test_a_pause_and_an_end_bring_the_brief_up_to_date(vault: Vault) -> None:
    s = record.session("Fix it", vault=vault, now=lambda: WHEN)
    s.phase("Research")
    s.decision("Back off exponentially", rationale="the server recovers slowly")
    s.pause("later")
    assert find_brief(vault.load(s.id).session) is None  # the phase goes on
    s.phase("Build")
    s.milestone("It backs off")
    s.pause("later")
    brief = find_brief(vault.load(s.id).session)
    assert brief is not None
    assert brief.covers.startswith("phase-1 ")
    assert "Back off exponentially" in brief.text
    s.end("It works.")
    brief = find_brief(vault.load(s.id).session)
    assert brief is not None
    assert brief.covers.startswith("phase-2 ")


def test_a_subagents_note_gets_no_brief_of_its_own(vault: Vault, recorder: record.Recorder) -> None:
    recorder.phase("Research")
    with recorder.subagent("searcher", mode="link") as child:
        child.phase("Search")
        child.decision("There")
        child.phase("Tell")
    assert isinstance(child, record.Recorder)
    assert find_brief(vault.load(child.id).session) is None
