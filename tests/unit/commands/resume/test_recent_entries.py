from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.resume.context_parts import Window, choose_window
from crucible.commands.resume.resume_material import find_extent
from crucible.core.tokens import Estimate
from crucible.documents.session.session import (
    Callout,
    Entry,
    Intervention,
    Outcome,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from tests.unit.commands.resume.contexts import phase, session, turn


def window(made: Session, most: int = 15, allowance: int = 100_000) -> Window:
    return choose_window(find_extent(made), most, allowance, Estimate())


def shown(made: Session, most: int = 15, allowance: int = 100_000) -> str:
    return "\n".join(window(made, most, allowance).blocks)


def test_the_newest_entries_are_shown_in_their_order() -> None:
    made = session(phase("Build", *turn(1), *turn(2)), phase("Test", *turn(3)))
    text = shown(made, most=4)
    assert re.findall(r"(?:question|answer) \d", text) == ["question 2", "answer 2", "question 3", "answer 3"]
    assert "[phase-2 begins]\n  Test @codex\n[phase-2 user]\n  question 3\n[phase-2 agent]\n  answer 3" in text


def test_a_window_that_would_begin_with_an_answer_grows_to_its_question() -> None:
    made = session(phase("Build", *turn(1), *turn(2)))
    assert re.findall(r"(?:question|answer) \d", shown(made, most=1)) == ["question 2", "answer 2"]


def test_long_work_without_the_user_is_shown_with_the_question_and_a_gap() -> None:
    work = [Callout("observation", "", f"step {n}.") for n in range(100)]
    text = shown(session(phase("Build", Intervention("do it"), *work)), most=5)
    assert text.startswith("[phase-1 begins]\n  Build @codex\n[phase-1 user]\n  do it\n[… 95 entries left out …]\n")
    assert re.findall(r"step \d+", text) == [f"step {n}" for n in range(95, 100)]


def test_a_session_without_user_messages_shows_its_newest_entries() -> None:
    work = [Callout("observation", "", f"step {n}.") for n in range(9)]
    assert re.findall(r"step \d+", shown(session(phase("Build", *work)), most=2)) == ["step 7", "step 8"]


def test_each_call_is_on_one_line_with_its_result() -> None:
    calls = tuple(ToolCall(f"Bash make {n} {'x' * 150}", f"result {n}", Outcome.FAILED) for n in range(60))
    text = shown(session(phase("Build", Intervention("go"), ToolCalls(calls))))
    lines = [line for line in text.split("\n") if "make" in line]
    assert 1 <= len(lines) < 60
    assert "make 59" in lines[-1]
    assert all(re.fullmatch(r"  - Bash make (\d+) x+ → ❌ result \1", line) for line in lines)
    assert f"[… {60 - len(lines)} calls left out …]" in text


def test_recent_entries_win_if_not_all_fit() -> None:
    made = session(*(phase(f"Part {n}", *turn(n)) for n in range(1, 9)))
    text = shown(made, allowance=100)
    assert "answer 8" in text
    assert "answer 1" not in text


def test_no_room_gives_no_window() -> None:
    made = session(phase("Build", *turn(1)))
    assert window(made, allowance=3) == Window((), 2)
    assert window(session(), allowance=1000) == Window((), 0)


def test_a_huge_entry_is_cut_in_its_middle() -> None:
    text = shown(session(phase("Build", Intervention("go"), Prose("first " + "x" * 1_000_000 + " last"))))
    assert len(text) < 5000
    assert "first" in text
    assert text.endswith(" last")
    assert "characters left out" in text


def test_entries_of_a_subphase_have_its_id() -> None:
    made = session(phase("Build", *turn(1), subphases=(phase("Inner", *turn(2)),)))
    assert "[phase-1.1 begins]\n  Inner @codex\n[phase-1.1 user]\n  question 2" in shown(made)


_entry: st.SearchStrategy[Entry] = st.sampled_from(
    (Intervention("ask"), Callout("observation", "", "saw"), ToolCalls((ToolCall("Bash x", "y"),)))
)


@given(st.lists(st.lists(_entry, max_size=8), max_size=5), st.integers(1, 12), st.integers(0, 600))
def test_a_window_begins_with_a_user_message_and_keeps_its_room(
    phases: list[list[Entry]], most: int, allowance: int
) -> None:
    made = session(*(phase(f"Part {n}", *_apart(entries)) for n, entries in enumerate(phases)))
    extent = find_extent(made)
    found = choose_window(extent, most, allowance, Estimate())
    assert Estimate().count("\n".join(found.blocks)) <= allowance or not found.blocks
    if not found.blocks:
        return
    first = found.start if found.opener is None else found.opener
    asked = [at for at, one in enumerate(extent.entries[: found.start + 1]) if isinstance(one.entry, Intervention)]
    assert not asked or first == asked[-1]
    assert len(extent.entries) - found.start <= 2 * most


def _apart(entries: list[Entry]) -> list[Entry]:
    kept: list[Entry] = []
    for entry in entries:
        if not (kept and isinstance(entry, ToolCalls) and isinstance(kept[-1], ToolCalls)):
            kept.append(entry)
    return kept


@pytest.mark.parametrize("outcome", Outcome)
def test_how_a_call_ended_is_shown(outcome: Outcome) -> None:
    marks = {"ok": "", "failed": "❌ ", "rejected": "🚫 ", "interrupted": "⏹ ", "pending": "⏳ "}
    text = shown(session(phase("Build", ToolCalls((ToolCall("Bash x", "y", outcome),)))))
    assert f"  - Bash x → {marks[outcome]}y" in text
