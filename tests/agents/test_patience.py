"""All answers that somebody waits for together take no longer than one may."""

from __future__ import annotations

import pytest

from crucible.agents import asking
from crucible.agents.asking import Program
from crucible.agents.patience import Patience, TimeUsedUp
from crucible.agents.running import TimedOut


class Clock:
    """Runs as long as each program takes: the next of `takes`, or as long as it may."""

    def __init__(self, *takes: float) -> None:
        self.now, self.takes, self.given = 0.0, [*takes], list[float | None]()

    def run(
        self, words: tuple[str, ...], _given: bytes, _env: object, timeout: float | None, **_: object
    ) -> bytes:
        """The answer, or `TimedOut`."""
        self.given.append(timeout)
        took = self.takes.pop(0)
        if timeout is not None and took >= timeout:
            self.now += timeout
            raise TimedOut(f"{words[0]}: no answer within {timeout:g} seconds", "the hint")
        self.now += took
        return b"yes"


def asker(clock: Clock, monkeypatch: pytest.MonkeyPatch, timeout: float | None = 10) -> Patience:
    monkeypatch.setattr(asking, "run_program", clock.run)
    return Patience(Program(("/bin/model",), {}, timeout), lambda: clock.now)


def test_each_question_has_what_those_before_it_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(6, 3, 3)
    patience = asker(clock, monkeypatch)
    clock.now += 500  # a human thought about something else
    assert patience.ask("1").text == patience.ask("2").text == "yes"
    with pytest.raises(TimedOut, match=r"model: no answer within 10 seconds in all") as told:
        patience.ask("3")
    assert (clock.given, told.value.hint) == ([10, 4, 1], "the hint")
    with pytest.raises(TimeUsedUp):
        patience.ask("4")
    assert clock.now == 510


def test_who_may_take_any_time_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(1000, 1000)
    patience = asker(clock, monkeypatch, None)
    assert [patience.ask("1").text, patience.ask("2").text] == ["yes", "yes"]
