"""Which commands count as a proof, and which only ended well."""

from __future__ import annotations

import pytest

from crucible.commands.learn.timeline import verification_after, verified_by
from tests.unit.commands.learn.sown import done, says, timeline_of


@pytest.mark.parametrize(
    ("line", "result", "command"),
    [
        ("Bash pytest -q", "3 passed", "pytest -q"),
        ("Bash pytest -q", "0 tests ran", ""),
        ("Bash python3 -m unittest", "Ran 0 tests in 0.000s\n\nOK", ""),
        ("Bash pytest -q", "collected 0 items / 3 deselected", ""),
        ("Bash go test ./...", "?   shop/a [no test files]\nok  shop/b 0.1s", "go test ./..."),
        ("Bash go test ./...", "?   shop/a [no test files]", ""),
        ("Bash pytest -q", "collected 10 items\n10 passed", "pytest -q"),
        ("Bash cargo test", "running 0 tests\nrunning 3 tests\n3 passed", "cargo test"),
        ("Bash sudo apt-get install -y jq", "ok", ""),
        ("Bash python3 -m pip install rich", "ok", ""),
        ("Bash python3 app.py", "ok", "python3 app.py"),
    ],
)
def test_a_test_that_ran_nothing_and_what_only_prepares_prove_nothing(line: str, result: str, command: str) -> None:
    timeline = timeline_of((says("Now."), done(line, result)))
    assert verification_after(timeline, 0) == command


def test_of_several_commands_the_one_that_does_the_work_is_named() -> None:
    (moment,) = timeline_of((done("Bash apt-get install --yes sqlite3 && python3 fts.py --build"),)).moments
    assert verified_by(moment) == "python3 fts.py --build"
