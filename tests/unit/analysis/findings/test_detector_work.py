"""The work of detecting findings grows with the length of a turn and no faster, whatever the turn consists of."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from crucible.documents.session.findings import Kind
from tests.counting import steps_of
from tests.unit.analysis.findings.scripted_session import Played

# The failures that a detector keeps open are limited, so the work for them is linear only beyond that number.
STEPS: dict[str, Callable[[Played, int], object]] = {
    "edits": lambda played, at: played.edit(f"src/part_{at}.py"),
    "commits": lambda played, at: played.run("git commit -m x", f"[main {at:07x}] Skip lines of part {at}"),
    "logs": lambda played, at: played.run("git log", f"{at:07x} Skip lines of part {at}"),
    "passes": lambda played, at: played.run(f"pytest tests/test_{at}.py", f"{at} passed"),
    "texts": lambda played, at: played.agent(f"I decided on part {at}, because it is small."),
    "prompts": lambda played, at: played.you(f"Please use the store of part {at} instead."),
}


@pytest.mark.parametrize("step", STEPS)
def test_twice_the_events_take_about_twice_the_work(step: str) -> None:
    def play(count: int) -> None:
        played = Played().you("go").edit()
        for at in range(count):
            STEPS[step](played, at)
        played.noted(Kind.OUTCOME)

    play(160)  # compiles the patterns and fills the caches
    assert steps_of(lambda: play(160)) <= 2.2 * steps_of(lambda: play(80))
