"""`cru doctor` shows which agent is asked, when, and what that took this month."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.clients.client import Answer
from crucible.core.settings.settings import AgentSettings
from crucible.integrations.doctor import CheckState
from crucible.integrations.doctor.client_checks import check_agents
from crucible.vault.logs.spending import keep_answer
from crucible.vault.notes.vault import Vault
from tests.running import Cru

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


def told(root: Path, settings: AgentSettings, path: str = "/bin:/usr/bin") -> list[tuple[CheckState, str]]:
    return [(one.state, one.text) for one in check_agents(root, settings, {"PATH": path}, NOW)]


def test_what_was_spent_this_month_is_one_line(tmp_path: Path) -> None:
    for number in range(34):
        cost = None if number < 5 else 0.84 / 29
        took = (70_000, 9_000) if not number else (1515, 151)
        keep_answer(tmp_path, Answer("", "haiku", cost, *took), now=NOW - timedelta(hours=number), purpose="x")
    keep_answer(tmp_path, Answer("", "haiku", 99.0, 1, 1), now=NOW - timedelta(days=23), purpose="x")
    assert told(tmp_path, AgentSettings("sh -c x"))[1] == (
        CheckState.GOOD,
        "agents asked this month: 34 answers, 119,995 tokens in, 13,983 out, $0.84 (5 without a price)",
    )


def test_where_nobody_was_asked_there_is_no_line_of_it(tmp_path: Path) -> None:
    assert told(tmp_path, AgentSettings()) == [
        (CheckState.GOOD, "no agent is configured; agents are asked only with --with")
    ]


@pytest.mark.parametrize(
    ("settings", "state", "text"),
    [
        (AgentSettings("sh -c 'a key'"), CheckState.GOOD, "sh is asked on demand only (agents.at_end is off)"),
        (AgentSettings("sh", at_end=True), CheckState.GOOD, "sh is asked at each session's end, and on demand"),
        (AgentSettings(model="gpt"), CheckState.GOOD, "gpt is asked on demand only (agents.at_end is off)"),
        (AgentSettings("no-such-x -p"), CheckState.BAD, "no-such-x: no such program (agents.command)"),
        (AgentSettings("sh 'x"), CheckState.BAD, "agents.command: No closing quotation"),
        (AgentSettings(at_end=True), CheckState.NOTE, "agents.at_end is set, but no agent is configured"),
    ],
)
def test_it_says_who_is_asked_and_when(tmp_path: Path, settings: AgentSettings, state: CheckState, text: str) -> None:
    assert told(tmp_path, settings) == [(state, text)]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / ".crucible/log/asked.jsonl").mkdir(parents=True)
    assert told(tmp_path, AgentSettings())[1][1].startswith("the log of agents' costs cannot be read: ")


def test_the_command_shows_both(cru: Cru, vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "user.toml"
    config.write_text("[agents]\ncommand = 'sh'\nat_end = true\n")
    monkeypatch.setenv("CRUCIBLE_CONFIG", str(config))
    keep_answer(vault.root, Answer("", "haiku", 0.5, 10, 2), now=datetime.now(UTC), purpose="tasks")
    shown = cru("doctor").stdout
    assert "agents        sh is asked at each session's end, and on demand\n" in shown
    assert "agents        agents asked this month: 1 answer, 10 tokens in, 2 out, $0.50\n" in shown
    rows = json.loads(cru("doctor", "--format", "json").stdout)["checks"]
    assert [row["state"] for row in rows if row["topic"] == "agents"] == ["good", "good"]
