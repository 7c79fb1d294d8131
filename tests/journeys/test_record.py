"""`cru record`: console journeys of an agent that tells what it does."""

from __future__ import annotations

import json
import os
import pty
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result

from crucible.analysis.tools.recorded_calls import load_recorded_calls
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Prose,
    Session,
    Status,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.vault.events.event_reader import read_records
from crucible.vault.notes.vault import Vault
from tests.journeys.test_launch import HEAVY, _imported
from tests.running import Cru, CruProcess
from tests.trusting import trust


class Agent:
    """`agent("record", ...)` in a session of its own."""

    def __init__(self, cru: Cru, vault: Vault) -> None:
        self.cru, self.vault = cru, vault
        self.id = cru("record", "start", "Fix it all", "--agent", "a@1").stdout.strip()

    def __call__(self, *args: str | Path, code: int = 0) -> Result:
        done = self.cru(*args, env={"CRU_SESSION": self.id})
        assert done.exit_code == code, done.output
        return done

    def session(self) -> Session:
        return self.vault.load(self.id).session


@pytest.fixture
def agent(cru: Cru, vault: Vault) -> Agent:
    return Agent(cru, vault)


def test_a_working_agent_writes_its_note(agent: Agent) -> None:
    agent("record", "phase", "Research", "--channel", "dev")
    agent("record", "user", "do it", "--note", "at once")
    agent("record", "prose", "I looked.")
    agent("record", "tool", "pytest", "-q", "--result", "3 passed")
    agent("record", "tool", "rm", "-rf", "/", "--rejected", "--result", "no")
    agent("record", "decision", "Back off", "--rationale", "it is slow")
    agent("record", "error", "It hung", "--resolution", "a timeout")
    agent("record", "milestone", "works")
    agent("record", "observation", "slow")
    agent("record", "checkpoint")
    agent("record", "agent-switch", "--from", "a@1", "--to", "b", "planned")
    agent("record", "decision-needed", "Which?", "--option", "x", "--option", "y")
    agent("record", "approval-required", "Merge?")
    agent("record", "task-complete", "All done")
    (phase,) = agent.session().phases
    assert (phase.name, phase.agent, phase.channel) == ("Research", AgentRef("a", "1"), "dev")
    assert phase.entries == (
        Intervention("do it", "at once"),
        Prose("I looked."),
        ToolCalls((ToolCall("pytest -q", "3 passed"), ToolCall("rm -rf /", "no", Outcome.REJECTED))),
        Decision("Back off", "it is slow"),
        Failure("It hung", "a timeout"),
        Callout("milestone", "", "works"),
        Callout("observation", "", "slow"),
        Callout("observation", "Checkpoint", ""),
        Callout("agent_switch", "a@1 → b", "planned"),
        Callout("decision_needed", "", "Which?\n\n- x\n- y"),
        Callout("approval_required", "", "Merge?"),
        Callout("task_complete", "", "All done"),
    )


def test_success_is_silent_and_verbose_tells_the_phase(agent: Agent) -> None:
    assert agent("record", "phase", "One").output == ""
    assert agent("record", "phase", "Two", "-v").stdout == "phase-2\n"
    assert agent("record", "decision", "x", "--verbose").stdout == "phase-2\n"


def test_a_text_may_come_from_standard_input(agent: Agent, cru_process: CruProcess, vault: Vault) -> None:
    env = {"CRU_SESSION": agent.id, "CRUCIBLE_VAULT": str(vault.root)}
    for args in (("prose", "-"), ("decision", "d", "--rationale", "-"), ("tool", "t", "--result", "-")):
        done = cru_process("record", *args, input="é\nsecond\n".encode(), env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert agent.session().phases[0].entries == (
        Prose("é\nsecond"),
        Decision("d", "é\nsecond"),
        ToolCalls((ToolCall("t", "é⏎second"),)),
    )


def test_options_that_are_not_ours_are_the_tool_s(agent: Agent) -> None:
    agent("record", "tool", "ls", "-h", "--color=never", "--result", "ok", "-x")
    agent("record", "tool", "--", "cru", "--session", "x", "--help")
    assert [call.call for call in agent.session().calls()] == [
        "ls -h --color=never -x",
        "cru --session x --help",
    ]


def test_a_file_s_path_is_kept_and_the_acts_see_it(agent: Agent) -> None:
    agent("record", "tool", "file_write", "--file-path", "src/limiter.py", "--result", "45 lines")
    agent("record", "tool", "Edit", "src/limiter.py", "2 lines", "--file-path", "src/limiter.py")
    calls = list(agent.session().calls())
    assert [call.call for call in calls] == ["file_write src/limiter.py", "Edit src/limiter.py 2 lines"]
    kept = [r.values["path"] for r in read_records(agent.vault.root, agent.id) if r.type == "tool"]
    assert kept == ["src/limiter.py"] * 2
    evidence, files = load_recorded_calls(agent.vault.root, agent.id), Files()
    acts = [act for call in calls for act in acts_of(call, evidence, files)]
    assert [(act.deed, act.what) for act in acts] == [
        (Deed.WRITE, "src/limiter.py"),
        (Deed.EDIT, "src/limiter.py"),
    ]


def test_an_exit_code_other_than_0_is_a_failure(agent: Agent) -> None:
    agent("record", "tool", "make", "--exit-code", "2", "--duration-ms", "17")
    agent("record", "tool", "make", "--exit-code", "0")
    agent("record", "tool", "make", "--failed", "--result", "no rule")
    agent("record", "tool", "sleep", "--interrupted")
    assert [(call.outcome, call.result) for call in agent.session().calls()] == [
        (Outcome.FAILED, "exit code 2"),
        (Outcome.OK, ""),
        (Outcome.FAILED, "no rule"),
        (Outcome.INTERRUPTED, ""),
    ]
    first = next(r for r in read_records(agent.vault.root, agent.id) if r.type == "tool")
    assert (first.values["exit_code"], first.values["duration_ms"]) == (2, 17)


def test_tokens_are_counted(agent: Agent) -> None:
    agent("record", "phase", "One", "--tokens", "5")
    agent("record", "tokens", "--used", "10", "--cached", "100", "--model", "m")
    session = agent.session()
    assert (session.tokens_used, session.tokens_cached, session.model) == (15, 100, "m")
    assert session.phases[0].tokens == 15
    agent("record", "tokens", "--used", "-1", code=2)


def test_tasks_come_as_json_or_as_changes(agent: Agent, tmp_path: Path, cru_process: CruProcess) -> None:
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps([{"content": "Write"}, {"content": "Test", "priority": "high"}]))
    agent("record", "tasks", "--file", file)
    agent("record", "tasks", "--add", "Ship", "--start", "2", "--done", "1")
    assert [(t.id, t.content, t.status) for t in agent.session().tasks] == [
        ("1", "Write", "completed"),
        ("2", "Test", "in_progress"),
        ("3", "Ship", "pending"),
    ]
    env = {"CRU_SESSION": agent.id, "CRUCIBLE_VAULT": str(agent.vault.root)}
    assert cru_process("record", "tasks", input=b'[{"id": 2, "content": "Test"}]', env=env).returncode == 0
    assert [(t.id, t.status) for t in agent.session().tasks] == [("2", "pending")]


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ("{}", "not a JSON list"), ("[3]", "not a task"), ('[{"content": 3}]', "needs a `content`")],
)
def test_tasks_that_are_none_are_refused(agent: Agent, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tasks.json").write_text(text)
    assert said in agent("record", "tasks", "--file", tmp_path / "tasks.json", code=2).stderr
    assert "no task '9'" in agent("record", "tasks", "--done", "9", code=2).stderr
    agent("record", "tasks", "--file", tmp_path / "gone.json", code=2)
    agent("record", "tasks", "--file", tmp_path / "tasks.json", "--add", "x", code=2)
    assert agent.session().tasks == ()


def test_a_subagent_is_logged_to_and_ended_by_its_own_id(agent: Agent, cru: Cru) -> None:
    given = ("--model", "small", "--task", "Find the clock", "--tokens", "4")
    child = agent("record", "subagent", "researcher@2", *given).stdout.strip()
    for args in (("phase", "Search"), ("tool", "grep", "x"), ("tokens", "--used", "20")):
        assert cru("record", *args, "--session", child).exit_code == 0
    done = cru("session", "end", child, "--summary", "Found it.")
    assert (done.exit_code, done.stdout) == (0, "")
    session, other = agent.session(), agent.vault.load(child).session
    assert session.phases[0].entries == (
        Subagent(AgentRef("researcher", "2"), "small", Mode.LINK, child, "", "Found it."),
    )
    assert (session.subagents[0].session, session.subagents[0].tokens) == (child, 24)
    assert (other.parent, other.status, other.tokens_used) == (agent.id, Status.COMPLETED, 24)
    assert cru("session", "check").exit_code == 0


def test_an_inline_subagent_prints_nothing_and_makes_no_note(agent: Agent) -> None:
    done = agent("record", "subagent", "helper", "--mode", "inline", "--work", "I did it.", "--summary", "Done.")
    assert done.output == ""
    (entry,) = agent.session().phases[0].entries
    assert entry == Subagent(AgentRef("helper"), None, Mode.INLINE, None, "", "Done.", None, (Prose("I did it."),))
    assert len(agent.vault.session_paths()) == 1


def test_what_happened_earlier_is_told_with_its_time(cru: Cru, agent: Agent) -> None:
    agent.id = cru("record", "start", "Early", "--at", "2026-01-02T03:04:05Z").stdout.strip()
    for name, at in (("One", "2026-01-02T03:04Z"), ("Two", "2026-01-02T03:04:06Z"), ("Three", "5m")):
        agent("record", "phase", name, "--at", at)
    one, two, three = (phase.started for phase in agent.session().phases)
    assert one is not None
    # What is told to the minute may lie in the session's first.
    assert one.isoformat() == "2026-01-02T03:04:05+00:00"
    assert two is not None
    assert two.isoformat() == "2026-01-02T03:04:06+00:00"
    assert three is not None
    assert timedelta(minutes=5) <= datetime.now(UTC) - three < timedelta(minutes=6)


@pytest.mark.parametrize("at", ["2026-01-02T03:04:05Z", "1d", "9998-01-01"])
@pytest.mark.parametrize(
    "command",
    [
        ["record", "phase", "X"],
        ["record", "tool", "x"],
        ["record", "prose", "x"],
        ["session", "pause"],
        ["session", "end"],
    ],
)
def test_a_time_before_the_session_or_days_ahead_is_refused(agent: Agent, command: list[str], at: str) -> None:
    before = agent.vault.session_paths()[0].read_bytes()
    assert "--at" in agent(*command, "--at", at, code=2).stderr
    assert agent.vault.session_paths()[0].read_bytes() == before


def test_no_session_begins_days_ahead(cru: Cru, vault: Vault) -> None:
    assert cru("record", "start", "X", "--at", "9998-01-01").exit_code == 2
    assert not vault.session_paths()


def test_the_error_of_a_time_names_every_form_that_the_help_names(agent: Agent) -> None:
    said = agent("record", "phase", "X", "--at", "soon", code=2).stderr
    assert "5m" in said
    assert "2026-11-21T20:30" in said


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["tool", "x", "--failed", "--rejected"], "--failed and --rejected: a call has one outcome"),
        (["tool", "x", "--interrupted", "--failed"], "a call has one outcome"),
        (["tokens"], "--used or --cached is missing"),
        (["tokens", "--model", "m"], "--used or --cached is missing"),
    ],
)
def test_what_says_nothing_or_two_things_is_refused(agent: Agent, command: list[str], said: str) -> None:
    before = agent.vault.session_paths()[0].read_bytes()
    assert said in agent("record", *command, code=2).stderr
    assert agent.vault.session_paths()[0].read_bytes() == before


def test_tasks_that_nobody_pipes_in_are_not_waited_for(agent: Agent, cru_process: CruProcess) -> None:
    main, side = pty.openpty()
    done = cru_process("--vault", agent.vault.root, "record", "tasks", "--session", agent.id, stdin=side, timeout=20)
    os.close(main)
    os.close(side)
    assert done.returncode == 2
    assert b"--add" in done.stderr


@pytest.mark.parametrize(
    ("session", "code", "said"),
    [
        ("", 2, "no session: set CRU_SESSION"),
        ("../x", 2, "is not a session id"),
        ("2026-01-01-none", 1, 'no session matches "2026-01-01-none"'),
    ],
)
def test_a_session_that_is_not_named_malformed_or_unknown_are_three_errors(
    cru: Cru, session: str, code: int, said: str
) -> None:
    done = cru("record", "decision", "x", env={"CRU_SESSION": session})
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr
    named = cru("record", "decision", "x", "--session", session)
    assert (named.exit_code, said in named.stderr) == (code, True)


def test_an_ended_session_takes_no_more_and_says_what_to_do(agent: Agent) -> None:
    agent("session", "end")
    done = agent("record", "milestone", "late", code=1)
    assert "nothing more can be recorded" in done.stderr
    assert f"cru record start --continues {agent.id}" in done.stderr


def test_a_secret_never_reaches_the_vault(agent: Agent) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    agent("record", "tool", "curl", "-H", f"Authorization: token {token}", "--result", token)
    for path in agent.vault.root.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()
    assert agent.session().redactions == 2


def test_a_broken_rule_of_the_settings_writes_nothing_and_says_so(agent: Agent) -> None:
    before = agent.vault.load(agent.id).source
    config = agent.vault.root / ".crucible" / "config.toml"
    config.write_text('[secrets.rules]\nmine = "(?P<x>a)(?P=y)"\n')
    trust(agent.vault.root)
    done = agent("record", "decision", "x", code=1)
    assert "config.toml" in done.stderr or "nothing is written" in done.stderr
    assert agent.vault.load(agent.id).source == before


def test_logging_imports_nothing_that_only_others_need(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRUCIBLE_VAULT", str(agent.vault.root))
    monkeypatch.setenv("CRU_SESSION", agent.id)
    imported = _imported("record", "decision", "x")
    assert not imported & ({*HEAVY} - {"orjson"})
    assert not {name for name in imported if name.startswith(("crucible.commands.imports", "crucible.clients"))}


def test_what_a_user_said_in_private_is_not_logged(vault: Vault, cru: Cru) -> None:
    name = cru("record", "start", "Talk").stdout.strip()
    env = {"CRU_SESSION": name}
    assert cru("record", "user", "Mail <private>maria@example.org</private> now", env=env).exit_code == 0
    text = vault.load(name).source.text
    assert "maria" not in text
    assert "private: 1" in text
