"""All answers of one command share one time-out, and the cost of each is recorded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.review.agent_questions import Agent, TimeUsedUp
from crucible.clients.launch import ask as asking
from crucible.clients.launch.answering_process import TimedOut
from crucible.clients.launch.ask import Program
from crucible.core.errors import AgentFailed
from crucible.vault.logs.spending import spent_since

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


class Clock:
    """Runs as long as each program takes: the next of `takes`, or as long as it may."""

    def __init__(self, *takes: float, says: bytes = b"yes") -> None:
        self.now, self.takes, self.given, self.says = 0.0, [*takes], list[float | None](), says

    def run(self, words: tuple[str, ...], _given: bytes, _env: object, timeout: float | None, **_: object) -> bytes:
        """The answer, or `TimedOut`."""
        self.given.append(timeout)
        took = self.takes.pop(0)
        if timeout is not None and took >= timeout:
            self.now += timeout
            raise TimedOut(f"{words[0]}: no answer within {timeout:g} seconds", "the hint")
        self.now += took
        return self.says


def agent(clock: Clock, monkeypatch: pytest.MonkeyPatch, timeout: float | None = 10, root: Path | None = None) -> Agent:
    monkeypatch.setattr(asking, "run_program", clock.run)
    return Agent(Program(("/bin/model",), {}, timeout), lambda: clock.now, lambda: NOW, root)


def result(cost: float | None = 0.0066, tokens: int = 4105) -> bytes:
    """What `claude -p --output-format json` prints."""
    row: dict[str, object] = {"result": "yes", "modelUsage": {"claude-haiku-4-5": {}}, "total_cost_usd": cost}
    return json.dumps({**row, "usage": {"input_tokens": tokens, "output_tokens": 470}}).encode()


def test_each_question_has_the_time_that_earlier_ones_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(6, 3, 3)
    asked = agent(clock, monkeypatch)
    clock.now += 500  # a human thought about something else
    assert asked.ask("1").text == asked.about("tasks").ask("2").text == "yes"
    with pytest.raises(TimedOut, match=r"model: no answer within 10 seconds in total") as told:
        asked.ask("3")
    assert (clock.given, told.value.hint) == ([10, 4, 1], "the hint")
    with pytest.raises(TimeUsedUp):
        asked.about("workflow").ask("4")
    assert clock.now == 510


def test_a_program_that_may_take_any_time_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = agent(Clock(1000, 1000), monkeypatch, None)
    assert [asked.ask("1").text, asked.ask("2").text] == ["yes", "yes"]


def test_the_totals_of_a_command_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = agent(Clock(1, 1, 1, says=result()), monkeypatch)
    assert asked.spent_line() == ""
    asked.ask("1")
    assert asked.spent_line() == "asked claude-haiku-4-5 once: 4,105 tokens in, 470 out, $0.007"
    asked.about("findings").ask("2")
    assert asked.spent_line() == "asked claude-haiku-4-5 twice: 8,210 tokens in, 940 out, $0.013"


def test_a_cost_that_is_not_reported_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1, 1)
    asked = agent(clock, monkeypatch)
    asked.ask("1")
    assert asked.spent_line() == "asked model once: tokens and cost unknown"
    clock.says = result(1.5)
    asked.ask("2")
    assert asked.spent_line().endswith("twice: 4,105 tokens in, 470 out, $1.50 (1 without a price)")


def test_each_answer_adds_a_line_without_its_text_to_the_vault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = agent(Clock(1, 1, says=result()), monkeypatch, root=tmp_path)
    asked.about("findings", "2026-11-21-add").ask("the question")
    asked.about("tasks").ask("the question")
    text = (tmp_path / ".crucible/log/asked.jsonl").read_text()
    first, second = map(json.loads, text.splitlines())
    assert (first["for"], first["session"], first["time"][:19]) == (
        "findings",
        "2026-11-21-add",
        "2026-11-23T12:00:00",
    )
    assert (second["for"], second["session"]) == ("tasks", "")
    assert "question" not in text
    assert "yes" not in text
    assert spent_since(tmp_path, NOW) == asked.spent


@given(
    st.binary(max_size=300)
    | st.builds(
        lambda text, model, cost, tokens: json.dumps(
            {
                "result": text,
                "model": model,
                "modelUsage": {model: {}} if tokens else [],
                "total_cost_usd": cost,
                "usage": {"input_tokens": tokens, "output_tokens": tokens, "cache_read_input_tokens": cost},
            }
        ).encode(),
        st.text(st.characters(), max_size=20) | st.none(),
        st.text(st.characters(), max_size=500),
        st.floats() | st.integers() | st.text(max_size=3) | st.none(),
        st.integers(-(10**30), 10**30) | st.booleans() | st.lists(st.integers()),
    )
)
def test_whatever_a_program_prints_is_an_answer_or_a_failure_and_its_cost_can_be_kept(
    tmp_path_factory: pytest.TempPathFactory, said: bytes
) -> None:
    root = tmp_path_factory.mktemp("vault")
    with pytest.MonkeyPatch.context() as patch:
        asked = agent(Clock(1, says=said), patch, root=root)
        try:
            asked.about("findings").ask("?")
        except AgentFailed:
            assert asked.spent_line() == ""
        else:
            assert asked.problems == ()
            assert asked.spent_line().isprintable()
    assert spent_since(root, NOW) == asked.spent


def test_a_failure_to_record_the_cost_keeps_the_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".crucible").write_text("a file")
    asked = agent(Clock(1, 1), monkeypatch, root=tmp_path)
    assert asked.ask("1").text == asked.about("tasks").ask("2").text == "yes"
    (problem,) = asked.problems
    assert problem.startswith("the answer's cost was not recorded: ")
