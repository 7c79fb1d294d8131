"""`cru workflow run` with real programs as agents: what they are told, what is written down, and how it ends."""

from __future__ import annotations

import json
import os
import pty
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from crucible.clients.launch.session_marks import OWN_ENVIRONMENT, OWN_MARK
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Session, Status
from crucible.documents.workflow.workflow import Marker, Workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from crucible.vault.notes.vault import Vault
from samples.waiting import IDLE, is_gone, wait_until
from tests.conftest import ROOT
from tests.journeys.terminals import all_shown
from tests.running import Cru

AGENT = """
import json, os, pathlib, sys
said = sys.stdin.read()
name = said.split("# ", 1)[1].split("\\n", 1)[0]
with open("asked", "a") as file:
    file.write(json.dumps({"step": name, "said": said, "pid": os.getpid(), "cwd": os.getcwd(),
                           "own": os.environ.get("CRUCIBLE_OWN_SESSION"), "args": sys.argv[1:]}) + "\\n")
here = pathlib.Path(name.replace(" ", "-"))
if here.with_suffix(".wait").exists():
    sys.path.insert(0, {root!r})
    from samples.waiting import wait_until
    wait_until(here.with_suffix(".go").exists)
answer = here.with_suffix(".answer")
print(answer.read_text() if answer.exists() else f"{name} was carried out.\\nSTEP: done")
"""

CHAIN = """---
type: workflow
---

# Release

## Build @builder #ci
Compile it.
version → binary::File

## Check out ?
binary → notes_text

## Publish !
Put it out.
binary → receipt

## Tell
receipt → mail
"""


class Play:
    """A folder with an agent, a workflow in the vault, and `cru workflow run` on it."""

    def __init__(self, tmp_path: Path, vault: Vault) -> None:
        self.folder, self.vault = tmp_path / "work", vault
        self.folder.mkdir()
        self.agent = tmp_path / "agent.py"
        self.agent.write_text(AGENT.replace("{root!r}", repr(str(ROOT))), encoding="utf-8")
        self.command = f"{sys.executable} {self.agent}"
        self.path = vault.root / "workflows" / "release.md"
        self.path.parent.mkdir()
        self.write(CHAIN)

    def write(self, text: str) -> None:
        self.path.write_text(text, encoding="utf-8")

    def answer(self, step: str, text: str) -> None:
        (self.folder / f"{step.replace(' ', '-')}.answer").write_text(text, encoding="utf-8")

    def words(self, *args: str) -> list[str]:
        more = [] if "--dry-run" in args or any(a.startswith("--with") for a in args) else ["--with", self.command]
        return ["--vault", str(self.vault.root), "workflow", "run", str(self.path), *more, *args]

    def __call__(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> Result:
        """In this process, in the folder; agents are real ones all the same."""
        done = Cru()(*self.words(*args), env=env)
        assert done.exit_code == code, done.stdout + done.stderr
        return done

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "crucible", *self.words(*args)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command,
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def asked(self) -> list[dict]:
        path = self.folder / "asked"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def steps(self) -> list[str]:
        return [each["step"] for each in self.asked()]

    def workflow(self) -> Workflow:
        return read_workflow(Source.from_bytes(self.path.read_bytes()), "release")

    def markers(self) -> dict[str, list[str]]:
        return {step.name: [marker.status for marker in step.markers] for step in self.workflow().walk()}

    def marker(self, step: str) -> Marker:
        return next(each for each in self.workflow().walk() if each.name == step).markers[-1]

    def session(self) -> Session:
        (path,) = self.vault.session_paths()
        return self.vault.read(path).session


@pytest.fixture
def play(tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> Play:
    made = Play(tmp_path, vault)
    monkeypatch.chdir(made.folder)
    return made


# --- a whole run -----------------------------------------------------------------------------------------------------


def test_a_run_is_a_session_with_a_phase_for_every_step_and_a_marker_below_each(play: Play) -> None:
    play.answer("Build", "It has 3 warnings.\n\n## Not a heading\n\nSTEP: done")
    done = play("--input", "version=1.2")
    assert play.steps() == ["Build", "Check out", "Publish", "Tell"]
    session = play.session()
    assert session.title == "Run of Release"
    assert session.status is Status.COMPLETED
    assert session.properties["workflow"] == "[[workflows/release]]"
    assert [phase.name for phase in session.phases] == play.steps()
    assert {str(phase.agent).partition("@")[0] for phase in session.phases} == {Path(sys.executable).name}
    assert session.phases[0].channel == "ci"
    text = play.vault.session_paths()[0].read_text()
    assert "It has 3 warnings." in text
    assert "STEP: done" not in text
    assert "> Compile it." in text
    assert play.markers() == {name: ["success"] for name in play.steps()}
    row = play.marker("Check out").values
    assert [*row] == [
        "phase",
        "agent",
        "channel",
        "input",
        "output",
        "duration_ms",
        "status",
        "tokens_used",
        "session",
        "started",
    ]
    assert (row["phase"], row["input"], row["output"]) == ("CheckOut", "binary", "notes_text")
    assert row["session"] == session.id
    assert play.path.read_text().startswith(CHAIN[: CHAIN.index("binary::File")])
    assert session.id in done.stdout


def test_agents_are_told_what_came_before_run_here_and_are_marked_as_ours(play: Play) -> None:
    play.answer("Build", "3 warnings.\nSTEP: done")
    play("--input", "version=1.2", "--", "--allowed", "x y")
    build, _, publish, _ = play.asked()
    assert build["said"].startswith(f"{OWN_MARK}\n# Build\n")
    assert build["own"] == "1"
    assert build["args"] == ["--allowed", "x y"]
    assert os.path.realpath(build["cwd"]) == os.path.realpath(play.folder)
    assert "  1.2" in build["said"]
    assert "  3 warnings." in publish["said"]


def test_a_dry_run_prints_the_plan_and_changes_nothing(play: Play) -> None:
    before = play.path.read_bytes()
    told = play("--dry-run").stdout
    assert "1. Build @builder #ci (no agent yet; use --with)" in told
    assert "takes version: missing" in told
    assert "takes binary of “Build”" in told
    plan = json.loads(play("--dry-run", "--format", "json", "--with", "claude").stdout)
    assert plan["missing"] == ["version"]
    assert [step["name"] for step in plan["steps"]] == ["Build", "Check out", "Publish", "Tell"]
    assert {step["runner"] for step in plan["steps"]} == {"claude-code"}
    assert play.path.read_bytes() == before
    assert play.vault.session_paths() == []
    assert play.asked() == []


def test_the_plan_says_what_a_request_is_that_nobody_gave(play: Play) -> None:
    play.write("# Add a limiter\n\n## Do\nrequest::Text → a\n")
    assert "takes request: the workflow's title and preamble" in play("--dry-run").stdout
    plan = json.loads(play("--dry-run", "--format", "json").stdout)
    assert (plan["missing"], plan["request"]) == ([], "Add a limiter")
    assert "takes request, given" in play("--dry-run", "--input", "request=x").stdout


def test_nobody_named_is_a_wrong_use_and_nothing_is_written(play: Play, cru: Cru) -> None:
    done = cru("workflow", "run", play.path)
    assert done.exit_code == 2
    assert "no program is set to carry out" in done.stderr
    assert play.vault.session_paths() == []


def test_a_program_that_is_not_there_is_told_before_anything_is_written(play: Play) -> None:
    done = play("--with", "no-such-agent-at-all", code=1)
    assert "not installed" in done.stderr
    assert play.vault.session_paths() == []


def test_the_settings_name_an_agent_and_the_workflow_never_does(play: Play, cru: Cru) -> None:
    config = Path(os.environ["HOME"]) / ".config" / "crucible" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[agents]\ncommand = '{play.command}'\n")
    assert cru("workflow", "run", play.path).exit_code == 0
    assert len(play.steps()) == 4


def test_a_workflow_with_errors_is_not_run(play: Play) -> None:
    play.write("# T\n\n## One\nda → db\n\n## Two\ndb → da\n")
    done = play(code=3)
    assert "not run" in done.stderr
    assert play.asked() == []
    assert play.vault.session_paths() == []


def test_an_agent_of_a_run_cannot_run_workflows(play: Play) -> None:
    done = play(code=2, env={OWN_ENVIRONMENT: "1"})
    assert "cannot run workflows itself" in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--input", "version"], "not NAME=VALUE"),
        (["--input", "nothing=1"], "not an input of any step"),
        (["--from", "Nowhere"], "no step 'Nowhere'"),
        (["--continue"], "no run to continue"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_is_written(play: Play, args: list[str], message: str) -> None:
    done = play(*args, code=1 if args == ["--continue"] else 2)
    assert message in done.stderr
    assert play.vault.session_paths() == []


def test_who_is_only_named_for_frames_carries_nothing_out(play: Play) -> None:
    play.write("# T\n\n## Lead @lead\n\n### Write @writer\nda → db\n\n## Sum @sum\ndb → dc\n\n### Part\n")
    done = play(f"--with=lead={play.command}", code=2)
    assert "no step of this run belongs to @lead" in done.stderr
    assert "@sum, @writer" in done.stderr
    play("--with", play.command, f"--with=sum={play.command} summing")
    assert [(each["step"], each["args"]) for each in play.asked()] == [
        ("Write", []),
        ("Sum", ["summing"]),
        ("Part", []),
    ]
    assert play.markers() == {"Lead": [], "Write": ["success"], "Sum": ["success"], "Part": ["success"]}


def test_a_file_outside_of_the_vault_gets_its_markers_too(play: Play, tmp_path: Path) -> None:
    play.path = tmp_path / "elsewhere.md"
    play.write(CHAIN.replace("\n", "\r\n"))
    play("--input", "version=1")
    assert play.markers() == {name: ["success"] for name in play.steps()}
    assert b"\n" not in play.path.read_bytes().replace(b"\r\n", b"")
    assert play.session().properties["workflow"] == "elsewhere.md"
    assert not list(tmp_path.glob(".crucible*"))


def test_secrets_come_out_of_everything_that_is_written(play: Play) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    play.answer("Build", f"The token is {secret}.\nSTEP: failed: {secret} is old")
    play("--input", "version=1", code=1)
    for path in [*play.vault.root.rglob("*")]:
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    assert "[REDACTED" in play.vault.session_paths()[0].read_text()


# --- failures and going on -------------------------------------------------------------------------------------------


def test_a_critical_failure_halts_and_continue_finishes_the_same_run(play: Play) -> None:
    play.answer("Build", "It is in build/app.\nSTEP: done")
    play.answer("Publish", "No way.\nSTEP: failed: no key")
    done = play("--input", "version=1", code=1)
    assert "halted: “Publish” failed" in done.stderr
    assert f'{shlex.join([str(play.path), "--with", play.command, "--continue"])}" continues this run' in done.stderr
    assert "not started  Tell\n" in done.stdout
    assert play.steps() == ["Build", "Check out", "Publish"]
    assert play.markers()["Publish"] == ["failed"]
    assert play.markers()["Tell"] == []
    assert play.session().status is Status.PAUSED
    assert play.session().phases[-1].status == "failed"
    assert all(phase.ended for phase in play.session().phases), "a run may go on days later"

    play.answer("Publish", "Out.\nSTEP: done")
    done = play("--continue", "--format", "json")
    assert play.steps()[3:] == ["Publish", "Tell"]
    assert "  It is in build/app." in play.asked()[3]["said"]
    assert play.markers()["Publish"] == ["failed", "success"]
    assert play.markers()["Build"] == ["success"]
    session = play.session()
    assert session.status is Status.COMPLETED
    assert [phase.name for phase in session.phases] == ["Build", "Check out", "Publish", "Publish", "Tell"]
    told = json.loads(done.stdout)
    assert told["status"] == "done"
    assert told["session"] == session.id
    assert [step["outcome"] for step in told["steps"]] == ["done"] * 4
    assert "this run has ended" in play("--continue", code=1).stderr


def test_an_optional_failure_is_skipped_over(play: Play) -> None:
    play.answer("Check out", "STEP: failed: offline")
    play("--input", "version=1")
    assert play.markers()["Check out"] == ["skipped"]
    assert play.session().status is Status.COMPLETED


def test_a_plain_failure_keeps_back_what_depends_on_it(play: Play) -> None:
    play.write(CHAIN.replace(" !", ""))
    play.answer("Publish", "STEP: failed: no key")
    done = play("--input", "version=1", code=1)
    assert play.markers() == {
        "Build": ["success"],
        "Check out": ["success"],
        "Publish": ["failed"],
        "Tell": ["skipped"],
    }
    assert "held back" in done.stdout
    assert "error: 1 step failed\n" in done.stderr


def test_a_changed_workflow_is_said_and_its_steps_go_by_what_they_say_now(play: Play) -> None:
    play.answer("Publish", "STEP: failed: no key")
    play("--input", "version=1", code=1)
    play.write(play.path.read_text().replace("Put it out.", "Put it out quietly."))
    (play.folder / "Publish.answer").unlink()
    done = play("--continue")
    assert "the workflow changed after" in done.stderr
    assert "quietly" in play.asked()[3]["said"]


def test_a_copy_of_a_workflow_does_not_go_on_with_the_run_of_the_original(play: Play) -> None:
    play.answer("Build", "STEP: failed: no")
    play("--input", "version=1", code=1)
    original, play.path = play.path, play.path.with_name("copy.md")
    play.write(original.read_text())
    assert "no run to continue" in play("--continue", code=1).stderr
    original.unlink()
    play("--continue", code=1)
    assert play.steps() == ["Build", "Build"]


def test_from_a_step_only_that_and_what_is_behind_it_runs(play: Play) -> None:
    play("--from", "publish", "--input", "binary=app.bin")
    assert play.steps() == ["Publish", "Tell"]
    assert "  app.bin" in play.asked()[0]["said"]


def test_from_a_step_with_continue_does_that_again_with_the_old_answers(play: Play) -> None:
    play.answer("Build", "The old build.\nSTEP: done")
    play.answer("Tell", "STEP: failed: offline")
    play("--input", "version=1", code=1)
    (play.folder / "Tell.answer").unlink()
    play("--continue", "--from", "Publish")
    assert play.steps()[4:] == ["Publish", "Tell"]
    assert "The old build." in play.asked()[4]["said"]


def test_a_step_that_takes_too_long_is_a_timeout(play: Play) -> None:
    (play.folder / "Publish.wait").touch()
    play("--input", "version=1", "--timeout", "1", code=1)
    assert play.markers()["Publish"] == ["timeout"]
    assert is_gone(play.asked()[-1]["pid"])


def test_commands_of_conditions_run_only_when_the_user_says_so(play: Play) -> None:
    play.write(
        "# T\n\n## Look\nIf `touch ran && false` → proceed to Go\nOtherwise → proceed to Stay\n\n## Go\n\n## Stay\n"
    )
    done = play(code=2)
    assert "touch ran && false" in done.stderr
    assert not (play.folder / "ran").exists()
    assert play.asked() == []
    play("--allow-commands")
    assert (play.folder / "ran").exists()
    assert play.steps() == ["Look", "Stay"]
    assert play.markers() == {"Look": ["success"], "Go": ["skipped"], "Stay": ["success"]}


def test_a_command_is_shown_as_it_would_run_and_hides_nothing(play: Play) -> None:
    play.write("# T\n\n## Look\nIf `true \x1b]; touch ran #\x07` → proceed to Go\n\n## Go\n")
    told = [play(code=2).stderr, play("--dry-run").stdout]
    assert all(r"true \x1b]; touch ran #\x07" in each for each in told)


def test_what_was_decided_is_not_asked_again_when_the_run_goes_on(play: Play) -> None:
    play.write("# T\n\n## Look\nIf `[ ! -e ran ] && touch ran` → proceed to Go\n\n## Go\n")
    play.answer("Go", "STEP: failed: not yet")
    play("--allow-commands", code=1)
    (play.folder / "Go.answer").unlink()
    play("--allow-commands", "--continue")
    assert play.steps() == ["Look", "Go", "Go"]


# --- side by side, and ends in the middle ------------------------------------------------------------------------------

SIDE = "# T\n\n## Left\nx1 → y1\n\n## Right\nx2 → y2\n\n## Both\ny1, y2 → z\n"


def test_independent_steps_run_side_by_side(play: Play) -> None:
    play.write(SIDE)
    for name in ("Left", "Right"):
        (play.folder / f"{name}.wait").touch()
    with play.start("--jobs", "2") as process:
        wait_until(lambda: sorted(play.steps()) == ["Left", "Right"])
        for name in ("Right", "Left"):
            (play.folder / f"{name}.go").touch()
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert play.steps()[2:] == ["Both"]
    assert play.markers() == {"Left": ["success"], "Right": ["success"], "Both": ["success"]}
    assert sorted(phase.name for phase in play.session().phases) == ["Both", "Left", "Right"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_the_agents_keeps_what_is_done_and_can_go_on(play: Play, number: signal.Signals) -> None:
    (play.folder / "Publish.wait").touch()
    with play.start("--input", "version=1") as process:
        wait_until(lambda: play.steps()[-1:] == ["Publish"])
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert "--continue" in errors.decode()
    assert is_gone(play.asked()[-1]["pid"])
    assert play.session().status is Status.PAUSED
    assert play.markers()["Build"] == ["success"]
    assert play.markers()["Publish"] == []
    (play.folder / "Publish.wait").unlink()
    play("--continue")
    assert play.steps()[3:] == ["Publish", "Tell"]
    assert play.session().status is Status.COMPLETED


def test_an_interruption_of_the_very_first_step_can_go_on_too(play: Play) -> None:
    (play.folder / "Build.wait").touch()
    with play.start("--input", "version=1") as process:
        wait_until(play.steps)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    (play.folder / "Build.wait").unlink()
    play("--continue", "--input", "version=1")
    assert len(play.vault.session_paths()) == 1
    assert play.session().status is Status.COMPLETED


def test_a_run_that_was_killed_keeps_what_was_done_and_goes_on_when_its_agent_is_gone(play: Play) -> None:
    (play.folder / "Publish.wait").touch()
    with play.start("--input", "version=1") as process:
        wait_until(lambda: play.steps()[-1:] == ["Publish"])
        process.kill()
        process.communicate(timeout=30)
    agent = play.asked()[-1]["pid"]
    assert play.markers()["Check out"] == ["success"]
    assert "held by" in play("--continue", code=1).stderr
    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: is_gone(agent))
    (play.folder / "Publish.wait").unlink()
    play("--continue")
    assert play.steps()[3:] == ["Publish", "Tell"]
    assert play.session().status is Status.COMPLETED


def test_what_an_agent_started_is_ended_with_it(play: Play) -> None:
    script = f"import subprocess, sys, pathlib\nchild = subprocess.Popen([sys.executable, '-c', {IDLE!r}])\n"
    script += f"pathlib.Path('pids').write_text(str(child.pid))\n{IDLE}\n"
    play.agent.write_text(script)
    with play.start("--input", "version=1") as process:
        wait_until(lambda: (play.folder / "pids").exists() and (play.folder / "pids").read_text())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    wait_until(lambda: is_gone(int((play.folder / "pids").read_text())))


def test_two_never_go_on_with_one_run(play: Play) -> None:
    (play.folder / "Publish.wait").touch()
    with play.start("--input", "version=1") as process:
        wait_until(lambda: play.steps()[-1:] == ["Publish"])
        assert "held by" in play("--continue", code=1).stderr
        (play.folder / "Publish.go").touch()
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_workflow_that_is_edited_meanwhile_keeps_the_edit_and_gets_its_marker(play: Play) -> None:
    (play.folder / "Publish.wait").touch()
    with play.start("--input", "version=1") as process:
        wait_until(lambda: play.steps()[-1:] == ["Publish"])
        play.write("Before.\n\n" + play.path.read_text().replace("Put it out.", "Put it out, please."))
        (play.folder / "Publish.go").touch()
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert "please" in play.path.read_text()
    assert play.markers()["Publish"] == ["success"]


def test_progress_is_shown_and_talk_never_goes_to_stdout(play: Play) -> None:
    done = play("--input", "version=1")
    assert "[1/4] Build: " in done.stderr
    assert "begins" not in done.stdout


def on_terminal(play: Play, typed: bytes, *args: str) -> tuple[int, str]:
    """The exit code, and what a terminal on standard input and standard error got."""
    main, side = pty.openpty()
    os.write(main, typed)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100"}
    command = [sys.executable, "-m", "crucible", *play.words(*args)]
    with subprocess.Popen(
        command, cwd=play.folder, env=env, stdin=side, stderr=side, stdout=subprocess.PIPE
    ) as process:
        os.close(side)
        shown = all_shown(main)
        process.communicate(timeout=30)
    return process.returncode, shown.decode(errors="replace")


def test_on_a_terminal_it_is_shown_what_is_being_done_and_for_how_long(play: Play) -> None:
    play.answer("Build", "STEP: failed: \x1b[2J\x1b]0;owned\x07bad [red]news[/red]")
    code, shown = on_terminal(play, b"", "--input", "version=1")
    assert code == 1
    assert "0.0 s" in shown
    assert "[1/4] Build: failed in" in shown
    assert "bad [red]news[/red]" in shown
    assert "owned" not in shown


@pytest.mark.parametrize(("typed", "code", "ran"), [(b"y\n", 0, True), (b"n\n", 2, False), (b"\n", 2, False)])
def test_on_a_terminal_the_user_is_asked_before_commands_may_run(
    play: Play, typed: bytes, code: int, ran: bool
) -> None:
    play.write("# T\n\n## Look\nIf `touch ran` → proceed to Go\n\n## Go\n")
    ended, shown = on_terminal(play, typed)
    assert ended == code, shown
    assert "touch ran" in shown
    assert (play.folder / "ran").exists() is ran


# --- personas --------------------------------------------------------------------------------------------------------


def as_persona(play: Play, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workflow's first step belongs to a persona, whose client is our agent."""
    (play.vault.root / "agents").mkdir()
    note = "---\nclient: claude\nmodel: opus\ntools: [Bash]\n---\nYou build with care.\n"
    (play.vault.root / "agents" / "Builder.md").write_text(note)
    client = play.folder.parent / "bin" / "claude"
    client.parent.mkdir()
    client.write_text(f'#!/bin/sh\nexec {play.command} "$@"\n')
    client.chmod(0o755)
    monkeypatch.setenv("PATH", str(client.parent), prepend=":")


def test_a_persona_carries_out_the_steps_of_its_name_and_the_session_names_it(
    play: Play, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_persona(play, cru, monkeypatch)
    cru("trust", "--yes")
    assert "by claude-code as Builder" in play("--dry-run").stdout
    play()
    build, *others = play.asked()
    assert build["said"].partition("\n")[2].startswith("# Persona: Builder\n\nYou build with care.\n\n# Build\n")
    assert build["args"] == ["-p", "--output-format", "json", "--model", "opus", "--tools", "Bash"]
    assert not any("# Persona" in one["said"] or one["args"] for one in others)
    assert play.session().properties["persona"] == "[[agents/Builder|Builder]]"


def test_a_persona_that_nobody_accepted_carries_out_nothing(
    play: Play, cru: Cru, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_persona(play, cru, monkeypatch)
    done = play()
    assert 'ignored until you accept it with "cru trust": agents/Builder.md' in done.stderr
    assert not any("# Persona" in one["said"] or one["args"] for one in play.asked())
    assert "persona" not in play.session().properties


def test_with_names_another_program_for_a_personas_steps(play: Play, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    as_persona(play, cru, monkeypatch)
    cru("trust", "--yes")
    play("--with", play.command, "--with", f"builder={play.command}")
    assert not any("# Persona" in one["said"] or one["args"] for one in play.asked())
