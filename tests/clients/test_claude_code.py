"""Claude Code with our hooks, and the notes they made: nothing missing, doubled or misplaced."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import OWN_ENVIRONMENT, OWN_MARK
from crucible.documents.session.session import Session, Status
from crucible.documents.session.task_block import CLOSED_TASKS
from samples.waiting import wait_until
from tests.clients.accounts import compare, played, told
from tests.clients.agreeing import agree, agree_in_plain_text, holds_no_secret, subagents_of
from tests.clients.conftest import Programs
from tests.clients.model import ScriptedModel
from tests.clients.playing import Rows, play_claude, rows_of, start_claude, transcript_of
from tests.clients.scenario import Scenario, load_scenario
from tests.clients.secrets_made import make_secrets
from tests.clients.stage import Stage, make_stage

pytestmark = pytest.mark.e2e

NAME = "claude-code"


@pytest.fixture
def program(programs: Programs) -> Path:
    return programs(NAME)


@pytest.fixture
def hooked(tmp_path: Path) -> Callable[[Scenario], Stage]:
    """A stage with a scenario's files and our hooks in the project's settings."""

    def make(scenario: Scenario) -> Stage:
        stage = make_stage(tmp_path, scenario.files)
        stage.cru("install", NAME, "--project")
        return stage

    return make


Hooked = Callable[[Scenario], Stage]


def _at_rest(session: Session) -> Status:
    """Return the status of a session whose client ended after an answer: open work pauses it."""
    waits = any(task.status not in CLOSED_TASKS for task in session.tasks)
    return Status.PAUSED if waits else Status.COMPLETED


@pytest.mark.parametrize("name", ["work", "steered", "hostile"])
def test_the_note_agrees_with_the_scenario(name: str, program: Path, hooked: Hooked) -> None:
    scenario = load_scenario(name, NAME)
    stage = hooked(scenario)
    with ScriptedModel(scenario) as model:
        session = play_claude(program, stage, model)
    (main,) = stage.mains()
    agree(stage, model, main)
    assert main.sources[0] == f"{NAME}:{session}"
    assert main.status is _at_rest(main)
    assert stage.log() == ""
    before = {session.id: stage.note_text(session.id) for session in stage.sessions()}
    stage.cru("import", NAME)
    assert {session.id: stage.note_text(session.id) for session in stage.sessions()} == before


def test_no_secret_reaches_the_vault(program: Path, hooked: Hooked) -> None:
    secrets = make_secrets()
    scenario = load_scenario("secrets", NAME, secrets)
    stage = hooked(scenario)
    with ScriptedModel(scenario) as model:
        play_claude(program, stage, model)
    stage.cru("session", "list")
    holds_no_secret(stage, model, secrets)


def test_a_phase_is_in_the_note_before_the_session_ends(program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("plain", NAME)
    stage = hooked(scenario)
    with ScriptedModel(scenario) as model, start_claude(program, stage, model) as client:
        client.ask(scenario.says[0])
        stage.settle()
        (main,) = stage.mains()
        compare(played(model), told(main, {}), "after the first prompt")
        assert main.status is Status.ACTIVE
        client.end()
    stage.settle()
    compare(played(model), told(stage.mains()[0], {}), "after the end")


def test_a_killed_session_is_found_at_the_next_start(program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("plain", NAME)
    stage = hooked(scenario)
    with ScriptedModel(scenario) as model, start_claude(program, stage, model) as client:
        client.ask(scenario.says[0])
        client.say(scenario.says[1])
        path = transcript_of(stage, client.session)
        wait_until(lambda: b"go-on" in path.read_bytes(), lambda: "the slow command runs")
        client.kill()
    rows, killed = rows_of(stage, client.session), client.session
    (stage.project / "go-on").touch()
    with ScriptedModel(scenario) as again:
        second = play_claude(program, stage, again)
    first, last = stage.mains()
    assert [first.sources, last.sources] == [(f"{NAME}:{killed}",), (f"{NAME}:{second}",)]
    agree(stage, again, last)
    assert first.status is Status.PAUSED
    assert first.pause_reason
    assert len(rows.commands) == 4, "two of each prompt"
    _holds_rows(stage, first, rows)
    assert [line[9:] for line in told(first, {}) if line.startswith("prompt")] == rows.prompts
    assert "paused" in stage.cru("session", "list", "--format", "json")


@pytest.mark.parametrize("then", ["another session", "the same again"])
def test_a_session_that_is_killed_with_its_subagents_is_whole_again(then: str, program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("cut", NAME)
    stage = hooked(scenario)
    with ScriptedModel(scenario) as model:
        with start_claude(program, stage, model) as client:
            client.say(scenario.says[0])
            wait_until(
                lambda: _holds(stage, "until [ -e go-on ]") and _holds(stage, "The quick answer."),
                lambda: "cut",
            )
            client.kill()
        (stage.project / "go-on").touch()
        rows, subagents = _all_rows(stage, client.session)
        resume = client.session if then == "the same again" else ""
        play_claude(program, stage, model, scenario.says[1:], resume=resume)
    cut, *others = stage.mains()
    assert cut.sources[0] == f"{NAME}:{client.session}"
    assert len(others) == (0 if resume else 1)
    assert resume or cut.status is Status.PAUSED
    _holds_rows(stage, cut, rows)
    assert len(subagents) == 2
    notes = {session.sources[0].rpartition("/")[2]: session for session in subagents_of(stage, cut)}
    assert set(notes) == set(subagents)
    assert sorted(ref.session for ref in cut.subagents) == sorted(s.id for s in notes.values())
    for agent, found in subagents.items():
        _holds_rows(stage, notes[agent], found)


def _holds(stage: Stage, words: str) -> bool:
    """Whether some transcript of the client holds these words."""
    return any(words in path.read_text() for path in stage.home.glob(".claude/projects/**/*.jsonl"))


def _all_rows(stage: Stage, session: str) -> tuple[Rows, dict[str, Rows]]:
    """The rows of a session, and those of its subagents by their ids."""
    path = transcript_of(stage, session)
    files = path.with_suffix("").glob("subagents/*.jsonl")
    return Rows(path), {file.stem.removeprefix("agent-"): Rows(file) for file in files}


def _holds_rows(stage: Stage, session: Session, rows: Rows) -> None:
    """Each text and each call is in the note once, in the rows' order, calls with their end."""
    text = stage.note_text(session.id)
    for said in rows.said:
        assert len(re.findall(rf"^{re.escape(said)}$", text, re.MULTILINE)) == 1, said
    calls = [(call.call, call.outcome.value) for call in session.calls()]
    assert calls[: len(rows.plain_calls)] == [
        (f"Bash {rows.commands[n]}", _ENDS[rows.ended.get(n)]) for n in rows.plain_calls
    ]


_ENDS = {True: "ok", False: "failed", None: "pending"}


@pytest.mark.parametrize("save", ["tool", "interval"])
def test_a_call_is_in_the_note_before_its_phase_ends_where_the_settings_say_so(
    save: str, program: Path, hooked: Hooked
) -> None:
    scenario = load_scenario("plain", NAME)
    stage = hooked(scenario)
    settings = stage.vault / ".crucible" / "config.toml"
    text = re.sub(r"(?m)^#? ?save = .*$", f'save = "{save}"', settings.read_text())
    settings.write_text(re.sub(r"(?m)^#? ?interval_seconds = .*$", "interval_seconds = 1", text))
    assert f'save = "{save}"' in settings.read_text()
    with ScriptedModel(scenario) as model, start_claude(program, stage, model) as client:
        client.ask(scenario.says[0])
        stage.settle()
        client.say(scenario.says[1])
        if save == "tool":
            wait_until(lambda: "Bash echo two" in stage.note_text(stage.mains()[0].id), lambda: "the call is there")
        stage.write({"go-on": ""})
        client.wait()
        client.ask(scenario.says[2])
        client.end()
    stage.settle()
    (main,) = stage.mains()
    agree(stage, model, main)


def test_two_sessions_at_once_do_not_mix(program: Path, hooked: Hooked) -> None:
    first, second = load_scenario("work", NAME), load_scenario("plain", NAME)
    stage = hooked(first)
    stage.write({"go-on": ""})
    with (
        ScriptedModel(first) as one,
        ScriptedModel(second) as two,
        start_claude(program, stage, one) as a,
        start_claude(program, stage, two) as b,
    ):
        for left, right in zip(first.says, second.says, strict=True):
            a.say(left)
            b.say(right)
            a.wait()
            b.wait()
        a.end()
        b.end()
    stage.settle()
    by_source = {session.sources[0]: session for session in stage.mains()}
    assert set(by_source) == {f"{NAME}:{a.session}", f"{NAME}:{b.session}"}
    agree(stage, one, by_source[f"{NAME}:{a.session}"])
    agree(stage, two, by_source[f"{NAME}:{b.session}"])


@pytest.mark.parametrize("name", ["plain", "work"])
def test_a_resumed_session_continues_in_its_note(name: str, program: Path, hooked: Hooked) -> None:
    """A process for each prompt; the second begins when all is written down, the third while the second's end is."""
    scenario = load_scenario(name, NAME)
    stage = hooked(scenario)
    stage.write({"go-on": ""})
    with ScriptedModel(scenario) as model:
        session = play_claude(program, stage, model, scenario.says[:1])
        (ended,) = stage.mains()
        with start_claude(program, stage, model, session) as client:
            client.ask(scenario.says[1])
            client.end()
        play_claude(program, stage, model, scenario.says[2:], resume=session)
    (main,) = stage.mains()
    assert main.id == ended.id
    assert main.status is _at_rest(main)
    agree(stage, model, main)


def test_a_human_edits_the_note_while_the_agent_works(program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("plain", NAME)
    stage = hooked(scenario)
    stage.write({"go-on": ""})
    with ScriptedModel(scenario) as model, start_claude(program, stage, model) as client:
        client.ask(scenario.says[0])
        stage.settle()
        path = stage.note_path(stage.mains()[0].id)
        text = path.read_bytes().decode()
        assert "The first answer.\n" in text
        path.write_bytes(text.replace("The first answer.\n", "The first *reply*.\n\nMy own remark.\n").encode())
        client.ask(scenario.says[1])
        stage.settle()
        # Not at a moment when we write: while the next prompt is answered.
        client.say(scenario.says[2])
        text = path.read_bytes().decode()
        path.write_bytes(text.replace("# First question\n", "# First question of three\n", 1).encode())
        client.wait()
        client.end()
    stage.settle()
    expected = [line.replace("The first answer.", "The first *reply*.\n\nMy own remark.") for line in played(model)]
    (main,) = stage.mains()
    compare(expected, told(main, {}), main.id)
    assert main.title == "First question of three"
    agree_in_plain_text(stage, main, expected, [])


@pytest.mark.parametrize("mark", ["environment", "prompt"])
def test_a_session_that_cru_started_itself_is_left_alone(mark: str, program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("plain", NAME)
    if mark == "prompt":
        prompts = [dataclasses.replace(p, say=f"{OWN_MARK}\n{p.say}") for p in scenario.prompts[:1]]
        scenario = dataclasses.replace(scenario, prompts=tuple(prompts))
    stage = hooked(scenario)
    stage.more = {OWN_ENVIRONMENT: "1"} if mark == "environment" else {}
    with ScriptedModel(scenario) as model:
        session = play_claude(program, stage, model, scenario.says[:1])
    assert not stage.sessions()
    assert transcript_of(stage, session).exists()
    assert stage.log() == ""
    if mark == "environment":
        assert not stage.holding(session)
    else:
        stage.cru("import", NAME)
        assert not stage.sessions()


def test_a_vault_of_the_project_comes_before_the_default_one(program: Path, hooked: Hooked) -> None:
    scenario = load_scenario("plain", NAME)
    stage = hooked(scenario)
    default, stage.vault = stage.vault, stage.project
    stage.cru("init", stage.project)
    with ScriptedModel(scenario) as model:
        play_claude(program, stage, model, scenario.says[:1])
    (main,) = stage.mains()
    agree(stage, model, main)
    assert not list(default.glob("sessions/**/*.md"))


@pytest.mark.parametrize("why", ["no vault", "told to"])
def test_a_folder_without_a_vault_is_left_alone(why: str, program: Path, tmp_path: Path) -> None:
    scenario = load_scenario("plain", NAME)
    stage = make_stage(tmp_path, scenario.files)
    stage.cru("install", NAME, "--user")
    settings = stage.home / ".config" / "crucible" / "config.toml"
    if why == "no vault":
        settings.unlink()
    else:
        settings.write_text(settings.read_text() + '\n[hooks]\nelsewhere = "ignore"\n')
    before = {p for p in stage.vault.rglob("*") if "index" not in p.parts}
    with ScriptedModel(scenario) as model:
        play_claude(program, stage, model, scenario.says[:1])
    assert {p for p in stage.vault.rglob("*") if "index" not in p.parts} == before
    assert not list(stage.project.rglob(".crucible"))
    assert not list(stage.home.rglob(".crucible"))


def test_hooks_print_nothing_and_the_client_says_the_same(program: Path, tmp_path: Path) -> None:
    scenario = load_scenario("plain", NAME)
    said = []
    for name in ("without", "with"):
        stage = make_stage(tmp_path / name, scenario.files)
        if name == "with":
            stage.cru("install", NAME, "--user")
        with ScriptedModel(scenario) as model:
            command = [str(program), "-p", scenario.says[0], "--allowedTools", "Bash"]
            env = stage.env(model.url)
            ran = subprocess.run(
                command,
                cwd=stage.project,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
            )
        said.append((ran.returncode, ran.stdout, ran.stderr))
    stage.settle()
    assert said[0] == said[1]
    assert len(stage.mains()) == 1
    rows = [json.loads(line) for line in _transcript(stage).split("\n") if line]
    summaries = [row for row in rows if row.get("subtype") == "stop_hook_summary"]
    assert [row["hookErrors"] for row in summaries] == [[] for _ in summaries]
    shown = [row["attachment"] for row in rows if str(row.get("attachment", {}).get("type")).startswith("hook")]
    assert not [a for a in shown if a.get("stdout") or a.get("stderr") or a.get("content")]


def _transcript(stage: Stage) -> str:
    (path,) = stage.home.glob(".claude/projects/*/*.jsonl")
    return path.read_text(encoding="utf-8")
