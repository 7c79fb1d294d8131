"""`cru session resume` with clients: real processes that take Claude Code's place, and command lines of the user's."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import find_resume_mark
from crucible.documents.session.session import Intervention, Session, Status
from crucible.memory.bookmarks.bookmark import StopReason, latest
from crucible.memory.bookmarks.resume_tickets import find_ticket
from crucible.memory.summary.brief import find_brief
from crucible.vault.notes.vault import Vault
from samples.waiting import IDLE, is_gone, wait_until
from tests.journeys.terminals import all_shown
from tests.running import Cru
from tests.unit.commands.resume.resumed import PAUSED, Scene, make_scene, paused_note


@pytest.fixture
def scene(tmp_path: Path, vault: Vault) -> Scene:
    found = make_scene(tmp_path, vault)
    found.write(paused_note())
    return found


def words(session: Session) -> list[str]:
    return [entry.words for entry in session.all_entries() if isinstance(entry, Intervention)]


def native(scene: Scene) -> str:
    """A paused session of the client's own, imported; its native id."""
    env = {**scene.env, "FAKE_LOG": str(scene.root / "first.log")}
    subprocess.run(["claude", "-p"], input=b"Add a rate limiter", cwd=scene.project, env=env, check=True)
    (path,) = Path(scene.env["HOME"]).glob(".claude/projects/*/*.jsonl")
    (scene.vault.sessions / f"{PAUSED}.md").unlink()
    scene.write(paused_note(more=f"sources:\n  - claude-code:{path.stem}\n"))
    return path.stem


def test_a_new_session_begins_with_the_context_and_comes_into_the_note(scene: Scene) -> None:
    code, _, err = scene.resume(PAUSED, "--with", "claude")
    assert code == 0
    (given,) = scene.log()
    assert given["words"] == ["-p"]
    assert (given["cwd"], given["PWD"]) == (str(scene.project), str(scene.project))
    assert (given["CRUCIBLE_RESUMING"], given["CRUCIBLE_VAULT"]) == (PAUSED, str(scene.vault.root))
    assert "Token bucket." in given["said"]
    found = find_resume_mark(given["said"])
    assert found
    ticket = find_ticket(scene.vault.root, found[1])
    assert found[0] == PAUSED
    assert ticket
    assert (ticket.session, ticket.client, ticket.phase, ticket.native) == (
        PAUSED,
        "claude-code",
        "Tests",
        "",
    )
    assert err.splitlines()[-1].startswith(f"Resuming phase-2 'Tests' of {PAUSED}, task 2 of 3, last active ")
    (path,) = Path(scene.env["HOME"]).glob(".claude/projects/*/*.jsonl")
    session = scene.session()
    assert session.sources == (f"claude-code:{path.stem}",)
    assert words(session) == ["Add a rate limiter"]
    assert len(session.phases) == 3
    assert "Resumed" in session.phases[2].name
    assert "Answer " in scene.text()
    assert (session.status, session.resume_point) == (Status.PAUSED, "phase-3")
    assert list(scene.vault.session_ids()) == [PAUSED]
    bookmark = latest(scene.vault.root, PAUSED)
    assert bookmark
    assert (bookmark.why, bookmark.phase) == (StopReason.ENDED, "phase-3")
    brief = find_brief(session)
    assert brief
    assert brief.covers == 'phase-2 "Tests"'


def test_a_native_session_continues_without_a_prompt_if_nothing_changed(scene: Scene) -> None:
    ident = native(scene)
    assert scene.resume(PAUSED, "--with", "claude")[0] == 0
    (given,) = scene.log()
    assert given["words"] == ["-p", "--resume", ident]
    assert "Token bucket" not in given["said"]
    assert given["said"].endswith("Continue where you stopped.")
    session = scene.session()
    assert session.sources == (f"claude-code:{ident}",)
    assert session.status is Status.PAUSED
    assert not any("Continue where" in said for said in words(session))


def test_fresh_leaves_the_clients_own_session_alone(scene: Scene) -> None:
    ident = native(scene)
    assert scene.resume(PAUSED, "--with", "claude", "--fresh")[0] == 0
    assert scene.log()[0]["words"] == ["-p"]
    session = scene.session()
    assert session.sources[0] == f"claude-code:{ident}"
    assert len(session.sources) == 2


def test_native_is_refused_where_the_transcript_or_its_folder_is_gone(scene: Scene) -> None:
    native(scene)
    (path,) = Path(scene.env["HOME"]).glob(".claude/projects/*/*.jsonl")
    scene.project.rename(scene.root / "away")
    code, _, err = scene.resume(PAUSED, "--with", "claude", "--native", "--force", cwd=scene.root)
    assert (code, "the folder in which Claude Code started no longer exists" in err) == (1, True)
    path.unlink()
    code, _, err = scene.resume(PAUSED, "--with", "claude", "--native", cwd=scene.root)
    assert (code, "no transcript of it on this machine" in err) == (1, True)
    assert not scene.log()


def test_the_clients_own_arguments_come_last(scene: Scene) -> None:
    assert scene.resume(PAUSED, "--with", "claude", "--", "--model", "opus", "--", "x")[0] == 0
    assert scene.log()[0]["words"] == ["-p", "--model", "opus", "--", "x"]


def test_arguments_of_the_client_are_never_taken_for_the_id(scene: Scene) -> None:
    assert scene.resume("--with", "claude", "--", "2026-01-01-x")[0] == 0
    assert scene.log()[0]["words"] == ["-p", "2026-01-01-x"]


def test_a_client_that_writes_no_transcript_leaves_the_note_as_it_was(scene: Scene) -> None:
    before = scene.text()
    assert scene.resume(PAUSED, "--with", "claude", env={"FAKE_QUIET": "1"})[0] == 0
    assert scene.text() == before


def test_a_client_that_ends_with_an_error_leaves_the_note_paused(scene: Scene) -> None:
    before = scene.text()
    code, _, err = scene.resume(PAUSED, "--with", "claude", env={"FAKE_QUIET": "1", "FAKE_EXIT": "7"})
    assert (code, scene.text()) == (1, before)
    assert "error: claude ended with exit code 7" in err
    assert f"cru session resume {PAUSED}" in err


def test_an_error_after_work_keeps_the_work_and_pauses(scene: Scene) -> None:
    assert scene.resume(PAUSED, "--with", "claude", env={"FAKE_EXIT": "7"})[0] == 1
    session = scene.session()
    assert len(session.phases) == 3
    assert (session.status, session.resume_point) == (Status.PAUSED, "phase-3")


def test_work_that_a_broken_note_cannot_take_is_imported_after_it_is_fixed(scene: Scene, cru: Cru) -> None:
    scene.write(paused_note() + "\n```\na human's open fence\n")
    before = scene.text()
    code, _, err = scene.resume(PAUSED, "--with", "claude")
    assert (code, scene.text()) == (0, before)
    assert "this fence is never closed" in err
    assert '"cru import claude-code"' in err
    scene.write(before + "```\n")
    assert cru("import", "claude-code").exit_code == 0
    assert "Answer " in scene.text()
    assert list(scene.vault.session_ids()) == [PAUSED]


def test_a_killed_client_leaves_the_note_paused(scene: Scene) -> None:
    process = scene.start(PAUSED, "--with", "claude", env={"FAKE_WAIT": "never"})
    wait_until(scene.log)
    wait_until(lambda: scene.session().status is Status.ACTIVE)
    wait_until(lambda: list(Path(scene.env["HOME"]).glob(".claude/projects/*/*.jsonl")))
    os.kill(scene.log()[0]["pid"], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert b"was killed by SIGKILL" in err
    session = scene.session()
    assert session.status is Status.PAUSED
    assert len(session.phases) == 3


def test_ending_cru_ends_the_client_and_pauses_the_note(scene: Scene) -> None:
    process = scene.start(PAUSED, "--with", "claude", env={"FAKE_WAIT": "never"})
    wait_until(scene.log)
    process.terminate()
    process.communicate(timeout=60)
    assert scene.session().status is Status.PAUSED
    with pytest.raises(ProcessLookupError):
        os.kill(scene.log()[0]["pid"], 0)


def test_the_keys_of_the_terminal_belong_to_the_client(scene: Scene, tmp_path: Path) -> None:
    script = "import signal, sys\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(print('heard')))\nprint('ready', flush=True)\n"
    scene.put("asks", f"#!{sys.executable}\n{script}{IDLE}\n")
    process = scene.start(PAUSED, "--with", "asks", start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"heard\n")


def test_resuming_twice_at_once_is_refused_and_names_the_holder(scene: Scene, tmp_path: Path) -> None:
    first = scene.start(PAUSED, "--with", "claude", env={"FAKE_WAIT": str(tmp_path / "go")})
    wait_until(scene.log)
    for force in ((), ("--force",)):
        code, _, err = scene.resume(PAUSED, "--with", "claude", *force)
        assert code == 1
        assert "held by claude, process" in err
        assert os.uname().nodename[:20] in err
    assert "held by claude, process" in scene.resume("--with", "claude")[2]
    assert len(scene.log()) == 1
    assert scene.resume(PAUSED, "--print")[0] == 0
    (tmp_path / "go").touch()
    assert first.wait(60) == 0
    first.communicate()
    assert scene.resume(PAUSED, "--with", "claude")[0] == 0


def test_of_two_that_start_at_the_same_moment_one_goes_on(scene: Scene, tmp_path: Path) -> None:
    env = {"FAKE_WAIT": str(tmp_path / "go")}
    both = [scene.start(PAUSED, "--with", "claude", env=env) for _ in range(2)]
    wait_until(lambda: scene.log() and any(each.poll() is not None for each in both))
    (tmp_path / "go").touch()
    ends = [(each.communicate(timeout=60)[1], each.returncode) for each in both]
    assert sorted(code for _, code in ends) == [0, 1]
    assert sum(b"held by claude, process" in told for told, _ in ends) == 1
    assert len(scene.log()) == 1


def test_a_client_whose_cru_was_killed_still_holds_the_session(scene: Scene, tmp_path: Path) -> None:
    go = tmp_path / "go"
    first = scene.start(
        PAUSED,
        "--with",
        "claude",
        env={"FAKE_WAIT": str(go)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(scene.log)
    pid = scene.log()[0]["pid"]
    first.kill()
    first.wait(60)
    code, _, err = scene.resume(PAUSED, "--with", "claude")
    assert (code, f"process {pid} on" in err) == (1, True)
    go.touch()
    wait_until(lambda: is_gone(pid))
    code, _, err = scene.resume(PAUSED, "--with", "claude")
    assert (code, "it is active; last event" in err) == (1, True)
    assert "cru session pause" in err
    assert "--force" in err
    assert scene.resume(PAUSED, "--with", "claude", "--force")[0] == 0
    assert scene.session().status is Status.PAUSED


def test_a_session_is_not_timed_out_while_its_client_runs(scene: Scene, cru: Cru, tmp_path: Path) -> None:
    first = scene.start(PAUSED, "--with", "claude", env={"FAKE_WAIT": str(tmp_path / "go"), "FAKE_QUIET": "1"})
    wait_until(scene.log)
    for quiet in (True, False):
        os.utime(scene.vault.sessions / f"{PAUSED}.md", (1, 1))
        (scene.vault.root / ".crucible" / "cache" / "idle").unlink(missing_ok=True)
        cru("session", "list")
        assert scene.session().status is (Status.ACTIVE if quiet else Status.PAUSED)
        if quiet:
            (tmp_path / "go").touch()
            first.communicate(timeout=60)


def test_an_active_session_that_is_quiet_for_long_goes_on(scene: Scene) -> None:
    path = scene.write(paused_note(status="active").replace("resume_point: phase-2\npause_reason: lunch\n", ""))
    os.utime(path, (1, 1))
    assert scene.resume(PAUSED, "--with", "claude")[0] == 0
    assert len(scene.session().phases) == 3


# --- on a terminal ---------------------------------------------------------------------------------------------------


def on_terminal(scene: Scene, *args: str) -> str:
    """`cru session resume` on a terminal of its own; what it showed."""
    main, side = pty.openpty()
    os.write(main, b"\r")  # Enter, where a picker opens: the first is the session that was paused last
    process = scene.start(*args, stdin=side, stdout=side, stderr=side, start_new_session=True)
    os.close(side)
    shown = all_shown(main)
    assert process.wait(60) == 0
    return shown.decode()


def test_on_a_terminal_the_client_that_worked_last_goes_on_unasked(scene: Scene) -> None:
    ident = native(scene)
    shown = on_terminal(scene)
    assert f"Resuming phase-2 'Tests' of {PAUSED}, task 2 of 3, last active " in shown
    (given,) = scene.log()
    assert given["words"] == ["--resume", ident]


def test_on_a_terminal_a_new_session_takes_the_context_as_its_prompt(scene: Scene) -> None:
    native(scene)
    on_terminal(scene, PAUSED, "--fresh", "--", "--model", "opus")
    (given,) = scene.log()
    prompt, *more = given["words"]
    assert more == ["--model", "opus"]
    assert find_resume_mark(prompt)
    assert "Token bucket." in prompt
    assert len(scene.session().sources) == 2


# --- command lines of the user's -------------------------------------------------------------------------------------


def test_a_command_gets_the_context_on_its_standard_input_and_may_log(scene: Scene) -> None:
    script = "#!/bin/sh\ncat > given\npython3 -m crucible record milestone 'It ships' || exit 9\necho done\n"
    scene.put("agent", script.replace("python3", sys.executable))
    code, out, err = scene.resume(PAUSED, "--with", "agent --fast")
    assert (code, out) == (0, "done\n"), err
    assert "Token bucket." in (scene.project / "given").read_text()
    session = scene.session()
    assert "It ships" in scene.text()
    assert (session.status, session.resume_point, session.pause_reason) == (
        Status.PAUSED,
        "phase-2",
        "the client was closed",
    )


def test_a_command_may_end_the_session(scene: Scene) -> None:
    scene.put("agent", f"#!/bin/sh\n{sys.executable} -m crucible session end --failed\nexit 1\n")
    assert scene.resume(PAUSED, "--with", "agent")[0] == 1
    assert scene.session().status is Status.FAILED


def test_a_command_takes_the_context_as_one_argument_where_it_says_so(scene: Scene) -> None:
    scene.put("agent", '#!/bin/sh\nprintf "%s|" "$#" "$1" "$2" > given\n')
    assert scene.resume(PAUSED, "--with", "agent --prompt={context} 'a b'")[0] == 0
    count, prompt, last, _ = (scene.project / "given").read_text().split("|")
    assert (count, last) == ("2", "a b")
    assert prompt.startswith(f"--prompt=<!-- cru:resume {PAUSED} ")
    assert "Token bucket." in prompt


def test_a_context_that_no_argument_holds_is_cut_or_refused(scene: Scene) -> None:
    scene.put("agent", '#!/bin/sh\nprintf "%s" "$1" | wc -c > given\n')
    prose = "\n".join(f'> [!user]\n> "{"word " * 30}{n}"\n\nIt is {"so " * 30}{n}.\n' for n in range(900))
    scene.write(paused_note() + prose)
    env = {"FAKE_LOG": "x"}
    (scene.vault.root / ".crucible" / "config.toml").write_text("[resume]\nwindow = 5000\nbudget = 400000\n")
    code, _, err = scene.resume(PAUSED, "--with", "agent {context}", env=env)
    assert code == 0, err
    assert "context cut" in err
    assert 1000 < int((scene.project / "given").read_text()) < 131_072
    many = "\n".join(f"> [!decision]\n> {'x' * 150} {n}\n" for n in range(1000))
    scene.write(paused_note() + many)
    before = scene.text()
    code, _, err = scene.resume(PAUSED, "--with", "agent {context}")
    assert (code, "but an argument can hold 128 KB" in err) == (2, True)
    assert scene.text() == before


def test_drift_is_shown_before_the_start_and_given_to_a_client_with_the_conversation(scene: Scene) -> None:
    from datetime import UTC, datetime

    from crucible.memory.bookmarks.bookmark import Bookmark, append_bookmark

    ident = native(scene)
    (scene.project / "a.py").write_text("new")
    old = Bookmark("b-1", PAUSED, datetime.now(UTC), StopReason.PAUSED, "phase-2", "Tests", files={"a.py": "0" * 40})
    append_bookmark(scene.vault.root, old)
    _, _, err = scene.resume(PAUSED, "--with", "claude")
    assert "  changed: a.py" in err.splitlines()
    assert err.splitlines()[-1].endswith("; 1 file changed since")
    (given,) = scene.log()
    assert given["words"] == ["-p", "--resume", ident]
    assert find_resume_mark(given["said"])
    assert "a.py" in given["said"]
    assert "Token bucket" not in given["said"]
