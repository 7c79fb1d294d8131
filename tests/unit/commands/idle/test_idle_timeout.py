"""Sessions that are active and quiet: who notices, what it costs, and that it is done once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.commands.idle import idle_check as noticing
from crucible.commands.idle import idle_timeout as timing_out
from crucible.commands.idle.idle_check import is_due, look
from crucible.documents.session.status_rules import IDLE_REASON
from crucible.memory.bookmarks.bookmark import StopReason, load_bookmarks
from crucible.vault.index.index import Index
from crucible.vault.index.watch.watcher import watch
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.git_repositories import git
from tests.running import Cru, CruProcess
from tests.unit.commands.imports.places import bytes_of

LONG = 4000.0
"""Seconds; the idle time is 3,600."""
NOTE = """---
type: session
session_id: {name}
started: 2026-11-21T08:00:00Z
status: active  # so far
---

# A note

## First

started:: 2026-11-21T08:00:00Z

Words.

---

## Second

More words.
"""


def quiet(vault: Vault, name: str = "quiet", text: str = NOTE, age: float = LONG) -> Path:
    path = vault.create(name, text.format(name=name)).path
    os.utime(path, (time.time() - age,) * 2)
    return path


def unstamp(vault: Vault) -> None:
    (vault.root / ".crucible" / "cache" / "idle").unlink(missing_ok=True)


def looked(vault: Vault) -> list[str]:
    unstamp(vault)
    return look(Index(vault.root, vault.settings), datetime.now(UTC))


def whys(vault: Vault) -> list[tuple[str, StopReason]]:
    return [(one.session, one.why) for one in load_bookmarks(vault.root).found]


def test_a_quiet_session_is_paused_with_its_place_and_reason_and_a_bookmark(vault: Vault) -> None:
    path = quiet(vault)
    assert looked(vault) == ["sessions/quiet.md"]
    session = vault.load("quiet").session
    assert (session.status, session.resume_point) == ("paused", "phase-2")
    assert session.pause_reason == IDLE_REASON
    (one,) = load_bookmarks(vault.root).found
    assert (one.session, one.why, one.phase, one.phase_name) == ("quiet", StopReason.IDLE, "phase-2", "Second")
    assert path.read_text() == NOTE.format(name="quiet").replace(
        "status: active  # so far\n",
        f"status: paused  # so far\nresume_point: phase-2\npause_reason: {IDLE_REASON}\n",
    )
    assert looked(vault) == []
    assert len(whys(vault)) == 1


def test_a_session_without_phases_has_no_place(vault: Vault) -> None:
    quiet(vault, text="---\nsession_id: {name}\nstatus: active\n---\n\n# A\n")
    assert looked(vault) == ["sessions/quiet.md"]
    assert vault.load("quiet").session.resume_point is None


@pytest.mark.parametrize("sign", ["note", "phase", "spool"])
def test_a_sign_of_life_keeps_it_active(vault: Vault, sign: str) -> None:
    """An agent that works for two hours in one turn is not idle: its tools' hooks are called."""
    text = NOTE.replace("---\n\n# A", "sources:\n  - claude-code:n1\n---\n\n# A")
    now = datetime.now(UTC)
    if sign == "phase":
        text = text.replace("More", f"started:: {now:%Y-%m-%dT%H:%M:%SZ}\n\nMore")
    path = quiet(vault, text=text)
    spooled = vault.root / ".crucible" / "spool" / "claude-code" / "n1.jsonl"
    spooled.parent.mkdir(parents=True)
    spooled.write_text("\n")
    if sign != "spool":
        os.utime(spooled, (time.time() - LONG,) * 2)
    if sign == "note":
        os.utime(path)
    assert looked(vault) == []
    unstamp(vault)
    assert look(Index(vault.root, vault.settings), now + timedelta(hours=3)) == ["sessions/quiet.md"]


def test_a_subagent_lives_while_its_clients_hooks_are_called(vault: Vault) -> None:
    """Its source is named after its client's session, which alone is spooled."""
    quiet(vault, text=NOTE.replace("---\n\n# A", "sources:\n  - claude-code:n1/a7\n---\n\n# A"))
    spooled = vault.root / ".crucible" / "spool" / "claude-code" / "n1.jsonl"
    spooled.parent.mkdir(parents=True)
    spooled.write_text("\n")
    assert looked(vault) == []
    os.utime(spooled, (time.time() - LONG,) * 2)
    assert looked(vault) == ["sessions/quiet.md"]


def test_a_time_that_lies_ahead_is_no_sign_of_life(vault: Vault) -> None:
    """A slip of the pen, or another machine's clock, would keep it active for years."""
    quiet(vault, text=NOTE.replace("More", "ended:: 2099-01-01T00:00:00Z\n\nMore"))
    assert looked(vault) == ["sessions/quiet.md"]


@pytest.mark.parametrize("status", ["paused", "completed", "failed", "active?", "Active"])
def test_another_status_is_left_alone(vault: Vault, status: str) -> None:
    path = quiet(vault, text=NOTE.replace("status: active", f"status: {status}"))
    before = path.read_bytes()
    looked(vault)
    assert status == "Active" or path.read_bytes() == before


def test_a_broken_note_keeps_no_other_one(vault: Vault) -> None:
    broken = quiet(vault, "broken", "---\nstatus: active\nx: [\n---\n")
    held = quiet(vault, "held")
    quiet(vault, "quiet")
    before = broken.read_bytes()
    with vault.locked(held):
        assert looked(vault) == ["sessions/quiet.md"]
    assert broken.read_bytes() == before
    assert whys(vault) == [("quiet", StopReason.IDLE)]


def test_a_look_is_due_every_few_minutes_and_sooner_where_the_idle_time_is_short(vault: Vault) -> None:
    stamp = vault.root / ".crucible" / "cache" / "idle"
    assert is_due(vault.root, vault.settings)
    look(Index(vault.root, vault.settings), datetime.now(UTC))
    assert not is_due(vault.root, vault.settings)
    os.utime(stamp, (time.time() - 100,) * 2)
    assert not is_due(vault.root, vault.settings)
    assert is_due(vault.root, vault.settings._replace(idle_minutes=1))
    os.utime(stamp, (time.time() - 300,) * 2)
    assert is_due(vault.root, vault.settings)
    os.utime(stamp, (time.time() + 10_000,) * 2)
    assert is_due(vault.root, vault.settings)


def test_between_two_looks_nothing_is_read(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    looked(vault)
    quiet(vault)

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Index, "ask", fail)
    monkeypatch.setattr(noticing, "_active", fail)
    assert look(Index(vault.root, vault.settings), datetime.now(UTC)) == []


def test_whatever_goes_wrong_the_command_goes_on(cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet(vault)

    def fall(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(timing_out, "pause_idle", fall)
    for command in (["session", "list"], ["session", "show", "quiet"]):
        unstamp(vault)
        assert cru(*command).exit_code == 0


def test_secrets_that_cannot_be_looked_for_leave_all_as_it_was(cru: Cru, vault: Vault) -> None:
    path = quiet(vault)
    before = path.read_bytes()
    broken = vault.settings.secrets._replace(allow=("(",))
    assert look(Index(vault.root, vault.settings._replace(secrets=broken)), datetime.now(UTC)) == []
    assert path.read_bytes() == before


def test_a_stamp_that_leads_out_of_the_vault_is_not_written(vault: Vault, tmp_path: Path) -> None:
    quiet(vault)
    (tmp_path / "elsewhere").mkdir()
    cache = vault.root / ".crucible" / "cache"
    if cache.exists():
        cache.rename(tmp_path / "old")
    cache.symlink_to(tmp_path / "elsewhere")
    assert look(Index(vault.root, vault.settings), datetime.now(UTC)) == []
    assert not list((tmp_path / "elsewhere").iterdir())


def test_the_list_shows_the_new_status_already(cru: Cru, vault: Vault) -> None:
    quiet(vault)
    quiet(vault, "busy", age=10)
    shown = cru("session", "list", "--format", "toon").stdout
    assert "quiet" in shown
    assert "paused" in next(line for line in shown.split("\n") if "quiet" in line)
    assert "active" in next(line for line in shown.split("\n") if "busy" in line)
    assert whys(vault) == [("quiet", StopReason.IDLE)]


@pytest.mark.parametrize("command", [["session", "show", "quiet"], ["session", "check"], ["session", "stats"]])
def test_every_other_command_notices_too(cru: Cru, vault: Vault, command: list[str]) -> None:
    quiet(vault)
    cru(*command)
    assert vault.load("quiet").session.status == "paused"


def test_a_dry_run_writes_nothing(cru: Cru, vault: Vault) -> None:
    quiet(vault)
    before = bytes_of(vault)
    cru("import", "--dry-run")
    assert bytes_of(vault) == before


def test_whoever_logs_to_it_makes_it_active_again(cru: Cru, vault: Vault) -> None:
    quiet(vault)
    looked(vault)
    cru("record", "milestone", "back", "--session", "quiet")
    session = vault.load("quiet").session
    assert (session.status, session.resume_point, session.pause_reason) == ("active", None, None)


def test_two_processes_at_once_pause_once_and_keep_one_bookmark(vault: Vault) -> None:
    names = [f"quiet-{number}" for number in range(12)]
    for name in names:
        quiet(vault, name)
    code = (
        "import sys; from datetime import UTC, datetime; from crucible.commands.idle import idle_timeout\n"
        "from crucible.core.settings.settings import load_vault_settings as load\n"
        # A check that runs out of time leaves the rest to the next one.
        "idle_timeout._LONGEST = idle_timeout._PATIENCE = 60\n"
        "sys.stdin.readline()\n"
        f"names = {[f'sessions/{name}.md' for name in names]!r}\n"
        "print(len(idle_timeout.pause_idle(sys.argv[1], load(sys.argv[1]), names, datetime.now(UTC))))"
    )
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(vault.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for one in both:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    paused = [int(one.communicate(timeout=60)[0]) for one in both]
    assert sum(paused) == len(names)
    assert sorted(whys(vault)) == sorted((name, StopReason.IDLE) for name in names)
    assert {vault.load(name).session.status for name in names} == {"paused"}


def test_of_two_commands_at_once_each_lists_and_one_bookmark_is_kept(vault: Vault, cru_process: CruProcess) -> None:
    quiet(vault)
    done = []

    def call() -> None:
        done.append(cru_process("--vault", vault.root, "session", "list").returncode)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [0, 0]
    assert whys(vault) == [("quiet", StopReason.IDLE)]


def test_a_watcher_notices_without_being_asked(tmp_path: Path) -> None:
    init_vault(tmp_path / "vault")
    vault = Vault(tmp_path / "vault")
    quiet(vault)

    class _EnoughError(Exception):
        pass

    told = []

    def pulse(index: Index) -> None:
        told.append(look(index, datetime.now(UTC), is_true=True))
        raise _EnoughError

    with pytest.raises(_EnoughError):
        watch(vault.root, vault.settings, 0.05, lambda _: None, pulse)
    assert told == [["sessions/quiet.md"]]
    assert vault.load("quiet").session.status == "paused"


def test_many_are_paused_a_few_at_a_time(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        quiet(vault, f"quiet-{number}")
    monkeypatch.setattr(timing_out, "_LONGEST", -1.0)
    assert looked(vault) == []
    monkeypatch.undo()
    assert len(looked(vault)) == 4


def test_the_bookmark_tells_git_where_somebody_stands_in_the_sessions_project(
    cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "trunk")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    for name, project in (("ours", "shop"), ("theirs", "other")):
        quiet(vault, name, NOTE.replace("status:", f"project: {project}\nstatus:"))
    monkeypatch.chdir(folder)
    cru("session", "list")
    branches = {one.session: one.branch for one in load_bookmarks(vault.root).found}
    assert branches == {"ours": "trunk", "theirs": ""}
