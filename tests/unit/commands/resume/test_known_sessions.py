"""What a context holds, over sessions with known content; `make bench` takes ten times as many."""

from __future__ import annotations

import os
import subprocess
import sys

from samples.known_sessions import BUDGET, context_of, known_session, missing, without_what_is_always_there
from tests.paths import ROOT


def test_every_decision_open_task_and_unresolved_error_is_there_and_the_budget_is_kept_but_for_them() -> None:
    tight = 0
    for seed in range(10_000, 10_016):
        known = known_session(seed)
        context = context_of(known.session)
        assert missing(known, context) == [], seed
        assert context.tokens <= BUDGET or without_what_is_always_there(context) <= BUDGET, seed
        tight += context.is_tight
    assert tight > 1


def test_a_second_run_gives_the_same_bytes() -> None:
    """Another process has another order of sets."""
    code = (
        "from hashlib import sha256; from samples.known_sessions import context_of, known_session as known\n"
        "print(sha256(''.join(context_of(known(seed).session).text for seed in range(4)).encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(runs[0]) == 65
    assert runs[0] == runs[1]


def test_ten_times_the_phases_cost_at_most_a_tenth_more() -> None:
    short, long = (without_what_is_always_there(context_of(known_session(7, n).session, 8000)) for n in (20, 200))
    assert long <= 1.1 * short
