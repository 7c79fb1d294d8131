"""A configured agent is asked only when its user said so."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.analysis.review.agent_questions import Agent
from crucible.cli import session_stop as stopped
from crucible.cli.command_agent import as_agent
from crucible.clients.launch.ask import Program
from crucible.commands.capture.after_stop import StopHelpers, StopResult
from crucible.vault.notes.vault import Vault
from tests.running import Cru

Configure = Callable[[str], Path]


@pytest.fixture
def configure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Configure an agent, with more lines below `[agents]`; returns the file that it makes when it is asked."""
    asked, config = tmp_path / "asked", tmp_path / "user.toml"
    code = f"import sys; sys.stdin.read(); open({str(asked)!r}, 'a').write('x'); print('yes')"
    command = json.dumps(shlex.join([sys.executable, "-S", "-c", code]))

    def configured(more: str = "") -> Path:
        config.write_text(f"[agents]\ncommand = {command}\n{more}")
        monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
        return asked

    return configured


@pytest.fixture
def session(cru: Cru) -> str:
    name = cru("record", "start", "Limit requests", "--project", "shop").stdout.strip()
    for words in (
        ("phase", "Work"),
        ("decision", "Use a token bucket", "--rationale", "constant memory"),
        ("error", "rg: unknown option --foo"),
        ("phase", "More"),
        ("task", "Test it"),
    ):
        assert cru("record", *words, "--session", name).exit_code in (0, 2)
    cru("task", "add", "Test it", "--session", name)
    return name


def test_a_configured_agent_alone_is_never_asked(cru: Cru, vault: Vault, session: str, configure: Configure) -> None:
    asked = configure("")
    for words in (
        ("task", "add", "Bill it, and report", "--yes", "--session", session),
        ("task", "pick", f"{session}.1"),
        ("task", "done", f"{session}.1"),
        ("session", "brief", session),
        ("session", "pause", session),
        ("knowledge", "capture", session, "--accept", "all"),
        ("history", "show", session),
        ("session", "codify", session),
        ("session", "learn", session, "--export", "markdown"),
        ("session", "end", session),
        ("session", "end", session),
    ):
        assert cru(*words).exit_code in (0, 1, 3), words
    assert not asked.exists()
    assert not (vault.root / ".crucible/log/asked.jsonl").exists()


@pytest.mark.parametrize(
    ("settings", "option", "is_asked"),
    [
        ("at_end = true\n", (), True),
        ("at_end = true\n", ("--no-model",), False),
        ("at_end = false\n", (), False),
        ("", (), False),
    ],
)
def test_a_sessions_end_has_an_agent_only_where_the_user_said_so(
    cru: Cru,
    session: str,
    configure: Configure,
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    option: tuple[str, ...],
    is_asked: bool,
) -> None:
    configure(settings)
    given: list[StopHelpers] = []

    def after_stop(*_: object, helpers: StopHelpers, **__: object) -> StopResult:
        given.append(helpers)
        return StopResult()

    monkeypatch.setattr(stopped, "after_stop", after_stop)
    assert cru("session", "end", session, *option).exit_code == 0
    (helpers,) = given
    assert isinstance(helpers.asker, Agent) is is_asked
    if isinstance(helpers.asker, Agent):
        assert (helpers.asker.purpose, helpers.asker.session) == ("findings", session)


def test_nobody_is_asked_at_an_end_where_nobody_is_configured(
    cru: Cru, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "user.toml"
    config.write_text("[agents]\nat_end = true\n")
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
    assert cru("session", "end", session).exit_code == 0


def test_a_vault_cannot_have_an_agent_asked(
    cru: Cru, vault: Vault, session: str, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = configure("")
    (vault.root / ".crucible/config.toml").write_text("[agents]\nat_end = true\n")
    ended = cru("session", "end", session)
    assert ended.exit_code == 0
    assert "agents" in ended.stderr
    assert not asked.exists()


def test_what_an_answer_took_is_said_and_written_down(
    cru: Cru, vault: Vault, session: str, configure: Configure
) -> None:
    configure("")
    done = cru("task", "add", "Bill it", "--break-down", "--yes", "--session", session)
    assert done.exit_code == 0
    assert "twice: tokens and cost unknown" in done.stderr
    rows = [json.loads(line) for line in (vault.root / ".crucible/log/asked.jsonl").read_text().splitlines()]
    assert [(row["for"], row["session"]) for row in rows] == [("tasks", session)] * 2


def test_an_agent_of_a_command_has_one_time_out() -> None:
    agent = as_agent(Program(("x",), {}, 7.0), None, "puzzle")
    assert (agent.program.timeout_seconds, agent.purpose, agent.root) == (7.0, "puzzle", None)
