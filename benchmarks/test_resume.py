"""The bars on what a context holds, over sessions with known content; `make bench` takes ten times as many."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from benchmarks.measuring import seconds_of
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from samples.known_sessions import (
    BUDGET,
    context_of,
    known_session,
    missing,
    without_what_is_always_there,
)
from samples.notes import sample_phases

ROOT = Path(__file__).resolve().parent.parent


def test_every_decision_open_task_and_unresolved_error_is_there_and_the_budget_is_kept_but_for_them() -> None:
    tight = 0
    for seed in range(10_000, 10_040):
        known = known_session(seed)
        told = context_of(known.session)
        assert missing(known, told) == [], seed
        assert told.tokens <= BUDGET or without_what_is_always_there(told) <= BUDGET, seed
        tight += told.is_tight
    assert tight > 3


def test_a_second_run_gives_the_same_bytes() -> None:
    """Another process has another order of sets."""
    code = (
        "from hashlib import sha256; from samples.known_sessions import context_of, known_session as known\n"
        "print(sha256(''.join(context_of(known(seed).session).text for seed in range(8)).encode()).hexdigest())"
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
    short, long = (without_what_is_always_there(context_of(known_session(7, n).session, 8000)) for n in (40, 400))
    assert long <= 1.1 * short


@pytest.mark.timed
def test_reading_a_note_and_building_its_context_takes_less_time_than_markdown_it_takes_to_parse_it() -> None:
    note = render_session(Session("it", datetime(2026, 11, 21, tzinfo=UTC), phases=sample_phases(150)))
    parser = MarkdownIt("commonmark")
    context_of(read_session(Source(note), "it"))
    ours = min(seconds_of(lambda: context_of(read_session(Source(note), "it")), 1) for _ in range(3))
    theirs = min(seconds_of(lambda: parser.parse(note), 1) for _ in range(3))
    assert ours <= theirs
