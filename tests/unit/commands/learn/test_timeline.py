"""The moments of a session: their order, goals and turns, and which commands prove an outcome."""

from __future__ import annotations

import pytest

from crucible.analysis.tools.recorded_calls import recorded_calls_of
from crucible.analysis.tools.tool_acts import Deed
from crucible.commands.learn.case import Role
from crucible.commands.learn.excerpts import Requests
from crucible.commands.learn.proofs import proof_of
from crucible.commands.learn.timeline import build_timeline, turns_of
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.vault.events.event_reader import EventRecord
from tests.cases import for_each
from tests.unit.commands.learn.sample_timelines import asked, done, failed, says, timeline_of


def test_each_call_of_a_list_is_a_moment_and_each_other_entry_too() -> None:
    both = ToolCalls((ToolCall("Read a.py", "x"), ToolCall("Edit a.py", "y")))
    timeline = timeline_of((asked("Do it"), both), (says("Done."),))
    assert [(one.at, one.phase, one.call.call if one.call else "") for one in timeline.moments] == [
        (0, "phase-1", ""), (1, "phase-1", "Read a.py"), (2, "phase-1", "Edit a.py"), (3, "phase-2", ""),
    ]  # fmt: skip
    assert [act.deed for act in timeline.moments[2].acts] == [Deed.EDIT]
    assert timeline.phase_of(3).name == "Phase 2"


def test_sub_phases_follow_their_phases_entries_and_the_preamble_is_no_moment() -> None:
    phase = Phase(
        "A",
        entries=(says("one"),),
        id="phase-1",
        subphases=(Phase("B", entries=(says("two"),), id="phase-1.1"),),
    )
    session = Session(
        "s", preamble=(says("before"),), phases=(phase, Phase("C", entries=(says("three"),), id="phase-2"))
    )
    moments = build_timeline(session, recorded_calls_of([])).moments
    assert [(one.phase, one.entry.text) for one in moments if isinstance(one.entry, Prose)] == [
        ("phase-1", "one"), ("phase-1.1", "two"), ("phase-2", "three"),
    ]  # fmt: skip


def test_an_inline_subagents_work_is_no_moment() -> None:
    child = Subagent(AgentRef("explore"), entries=(says("inside"), done("Bash ls")))
    assert len(timeline_of((child, says("outside"))).moments) == 2


def test_a_goal_is_the_prompt_of_the_phase_or_of_the_nearest_before() -> None:
    timeline = timeline_of(
        (asked("Add a limiter"),), (asked("continue"),), (says("On."),), (asked("Make it per user!"),)
    )
    goals = [timeline.goal_of(f"phase-{n}") for n in range(1, 5)]
    assert goals == ["Add a limiter", "Add a limiter", "Add a limiter", "Make it per user!"]


def test_without_words_a_goal_is_the_task_then_the_phases_name() -> None:
    phases = (Phase("Look", entries=(says("Looking."),), id="phase-1"),)
    task = Session("c", parent="s", preamble=(says("Find what calls it."),), phases=phases, title="T")
    assert build_timeline(task, recorded_calls_of([])).goal_of("phase-1") == "Find what calls it."
    alone = build_timeline(Session("c", phases=phases, title="T"), recorded_calls_of([]))
    assert (alone.goal_of("phase-1"), alone.goal_of("phase-9")) == ("Look", "T")


def test_turns_join_prose_with_the_next_call() -> None:
    moments = timeline_of(
        (
            asked("Go"),
            says("One."),
            says("Two."),
            failed("Bash make", "boom"),
            Decision("A", "B"),
            says("Done."),
        )
    ).moments
    turns = turns_of(moments)
    assert [(one.role, one.text, one.failed) for one in turns] == [
        (Role.ASSISTANT, "One.\n\nTwo.", False),
        (Role.TOOL, "boom", True),
        (Role.ASSISTANT, "Done.", False),
    ]
    assert turns[0].calls[0].arguments == {"command": "make"}
    assert turns[1].answers == turns[0].calls[0].id


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("Bash make test", {"command": "make test"}),
        ("exec_command ls", {"cmd": "ls"}),
        ("Bash make te…", {"input": "make te…"}),
        ("Bash cat <<X⏎a⏎X", {"input": "cat <<X⏎a⏎X"}),  # its indentation is gone
        ("Edit a.py", {"input": "a.py"}),
    ],
)
def test_only_an_uncut_shell_command_becomes_an_argument(line: str, arguments: dict[str, str]) -> None:
    (turn, _) = turns_of(timeline_of((done(line),)).moments)
    assert turn.calls[0].arguments == arguments


def test_a_call_that_was_not_recorded_leaves_a_timeline_incomplete() -> None:
    session = Session("s", phases=(Phase("A", entries=(done("Bash ls"), done("Bash pwd"))),))
    records = [
        EventRecord(at, "tool", values={"tool": "Bash", "command": name}) for at, name in enumerate(("ls", "pwd"))
    ]
    assert build_timeline(session, recorded_calls_of(records)).complete
    assert recorded_calls_of(records[:1]).whole
    assert not build_timeline(session, recorded_calls_of(records[:1])).complete


def test_a_moment_without_a_note_has_line_zero() -> None:
    assert timeline_of((says("x"),)).moments[0].line == 0
    assert timeline_of((failed("Bash x", "y", Outcome.REJECTED),)).moments[0].outcome is Outcome.REJECTED


def test_the_expansion_of_a_slash_command_is_the_request() -> None:
    def record(type_: str, **values: object) -> EventRecord:
        return EventRecord(0, type_, row=str(values.get("row", "")), values=values)

    calls = recorded_calls_of(
        [
            record("Prompted", text="Add a limiter to every route, please.", kind="typed"),
            record("Prompted", text="/review 17", kind="command", row="row-2"),
            record("Injected", text="Read the comments of the pull request.", kind="skill"),
        ]
    )
    entries = (
        Intervention("Add a limiter to every route, please."),
        Intervention("/review 17"),
        Prose("I read."),
    )
    line = build_timeline(Session("s", phases=(Phase("P", entries=entries, id="phase-1"),)), calls)
    assert line.moments[1].row == "row-2"
    assert Requests(line).at(2) == "/review 17\n\nRead the comments of the pull request."


@for_each(
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
def test_empty_test_runs_and_preparations_prove_nothing(line: str, result: str, command: str) -> None:
    timeline = timeline_of((says("Now."), done(line, result)))
    assert timeline.verifications[0] == command


def test_the_most_conclusive_command_is_named() -> None:
    (moment,) = timeline_of((done("Bash apt-get install --yes sqlite3 && python3 fts.py --build"),)).moments
    assert proof_of(moment) == "python3 fts.py --build"
