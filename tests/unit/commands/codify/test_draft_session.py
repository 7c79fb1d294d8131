"""A session's steps: phases, sub-phases, subagents, and the work between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crucible.documents.session.session import (
    AgentRef,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    SubagentRef,
    Task,
    ToolCalls,
)
from crucible.documents.workflow.marker_rows import aggregate, rows_of, runs_of
from crucible.documents.workflow.workflow import Grade
from samples.codified_sessions import (
    AGENT,
    START,
    calls,
    codify_one,
    failed,
    flow_of,
    inline,
    linked,
    phase,
    read_back,
    session,
    step_called,
    tree,
    written,
)
from tests.cases import for_each


def test_phases_are_steps_with_their_agent_and_channel() -> None:
    one = Phase("Write it", AGENT, "dev", entries=(calls("Write a.py"),))
    (step,) = codify_one(session(one)).steps
    assert (step.name, step.agent, step.channel) == ("Write it", AGENT, "dev")


def test_subphases_are_child_steps_of_the_same_agent() -> None:
    one = phase(
        "Build",
        subphases=(phase("Write", calls("Write a.py")), Phase("Prove", entries=(calls("Bash pytest"),))),
    )
    found = codify_one(session(one))
    assert tree(found) == [["Build", "Write", "Prove"]]
    assert step_called(found, "Prove").agent == AGENT


def test_work_between_subagents_is_a_child_step_named_after_it() -> None:
    one = phase(
        "Build it",
        calls("Write a.py"),
        inline("Is it safe?", calls("Read a.py")),
        calls("Edit a.py", "Bash pytest"),
        inline("Write the docs", calls("Write docs.md")),
        calls("Bash git push"),
    )
    assert tree(codify_one(session(one))) == [
        [
            "Build it",
            "Write a.py",
            "Is it safe?",
            "Edit a.py and run the tests",
            "Write the docs",
            "Run git push",
        ]
    ]


def test_a_stretch_that_only_read_joins_the_next_work() -> None:
    one = phase(
        "Do",
        calls("Read a.py"),
        inline("Look", calls("Read b.py")),
        calls("Write c.py"),
        inline("More"),
        calls("Read d.py"),
    )
    found = codify_one(session(one))
    assert tree(found) == [["Do", "Look", "Write c.py", "More"]]
    assert flow_of(step_called(found, "Write c.py")).startswith("a.py, d.py, look_report → ")


def test_a_phase_without_children_is_one_step() -> None:
    one = phase("Do", calls("Read a.py"), Prose("Now."), calls("Write b.py"), Prose("Test."), calls("Bash pytest"))
    assert tree(codify_one(session(one))) == ["Do"]


def test_a_sub_phase_of_a_task_list_is_part_of_its_phase() -> None:
    sub = phase("Write the bucket", calls("Write a.py"))
    one = phase("Add a limiter", calls("TaskCreate Write the bucket", "TaskUpdate 1 in_progress"), subphases=(sub,))
    assert tree(codify_one(session(one, tasks=(Task("1", "Write the bucket"),)))) == ["Add a limiter"]
    assert tree(codify_one(session(one))) == [["Add a limiter", "Write the bucket"]]


def test_a_prompt_that_only_continues_starts_no_step() -> None:
    first = phase("Write it", Intervention("Write it"), calls("Write a.py"))
    second = phase("Continue", Intervention("continue"), calls("Edit a.py"))
    third = phase("Thanks", Intervention("Thanks!"))
    found = codify_one(session(first, second, third))
    assert tree(found) == ["Write it"]
    assert found.steps[0].markers[0].values["tokens_used"] == 300
    assert found.steps[0].prose == ""


def test_a_question_without_work_is_no_step() -> None:
    asked = phase("What is a.py?", Intervention("What is a.py?"), Prose("A file."))
    assert tree(codify_one(session(asked, phase("Do", calls("Write a.py"))))) == ["Do"]
    assert tree(codify_one(session(asked))) == [], "and nothing repeats"


# --- subagents -------------------------------------------------------------------------------------------------------


def child(name: str, *phases: Phase, task: str = "") -> Session:
    return session(*phases, name=name, preamble=(Prose(task),) if task else ())


def test_a_subagent_is_named_after_its_task_without_the_clients_tags() -> None:
    note = child(
        "kid",
        phase("Find how retries are done in this reposi", calls("Read a.py")),
        task="[agent:r] Find how retries are done in this repository",
    )
    found = codify_one(session(phase("Do", linked("kid"))), {"kid": note})
    assert tree(found) == [["Do", "Find how retries are done in this repository"]]
    assert found.steps[0].children[0].agent == AgentRef("helper")


def test_a_subagent_with_several_phases_has_child_steps() -> None:
    note = child("kid", phase("First", calls("Write a.py")), phase("Second", calls("Edit a.py")), task="Do both")
    found = codify_one(session(phase("Do", linked("kid"), calls("Bash pytest"))), {"kid": note})
    assert tree(found) == [["Do", ["Do both", "First", "Second"], "Run the tests"]]
    assert flow_of(step_called(found, "Second")) == "a.py → a.py, do_both_report"
    assert "do_both_report" in flow_of(step_called(found, "Run the tests"))


def test_a_report_goes_to_the_next_work_of_the_delegating_agent() -> None:
    one = phase("Ask", inline("Is it safe?", calls("Read a.py")))
    found = codify_one(session(one, phase("Do", calls("Write b.py")), phase("More", calls("Write c.py"))))
    assert flow_of(step_called(found, "Do")) == "is_it_safe_report → b.py".replace("is_it_", "")
    assert "report" not in flow_of(step_called(found, "More"))


def test_a_subagent_without_a_note_is_a_step_made_of_its_callout() -> None:
    note = Subagent(AgentRef("explore"), None, link="gone", text="Look around.")
    one = session(phase("Do", note), subagents=(SubagentRef("gone", tokens=77),))
    found = codify_one(one, {"gone": None})
    assert tree(found) == [["Do", "Look around"]]
    assert found.steps[0].children[0].markers[0].values["tokens_used"] == 77


@for_each(
    ("ending", "status", "grade"),
    [
        ("The subagent failed.", "failed", Grade.CRITICAL),
        ("The user rejected it.", "failed", Grade.CRITICAL),
        ("The subagent was stopped.", "failed", Grade.CRITICAL),
        ("The subagent did it.", "success", Grade.PLAIN),
    ],
)
@for_each("is_missing", [True, False])
def test_the_end_of_a_subagent_is_not_part_of_its_task(
    ending: str, status: str, grade: Grade, is_missing: bool
) -> None:
    asked = "Look into b and say what it is for, and why"
    note = Subagent(AgentRef("explore"), None, link="kid", text=f"{asked}\n{ending}")
    kid = None if is_missing else child("kid", phase("Do b", calls("Read b.py")), task=asked)
    step = codify_one(session(phase("Do", note)), {"kid": kid}).steps[0].children[0]
    assert [marker.status for marker in step.markers] == [status]
    assert step.grade is grade
    assert ("The " in written(codify_one(session(phase("Do", note)), {"kid": kid}))) is (
        is_missing and status == "success"
    )


def test_a_subagent_without_a_known_task_is_named_after_its_agent() -> None:
    found = codify_one(session(phase("Do", Subagent(AgentRef("explore"), None, text="The subagent failed."))))
    assert tree(found) == [["Do", "Work of explore"]]
    assert found.steps[0].children[0].markers[0].status == "failed"


@pytest.mark.parametrize("link", ["one", "kid"])
def test_a_subagent_that_names_itself_or_its_parent_is_read_once(link: str) -> None:
    note = child("kid", phase("Work", calls("Write a.py"), linked(link), calls("Write b.py")), task="Work")
    found = codify_one(session(phase("Do", linked("kid"), linked("kid"))), {"kid": note})
    assert [step.name for step in found.walk()] == ["Do", "Work"]


def test_work_below_the_sixth_level_is_part_of_the_sixth() -> None:
    entry = inline("Task 165", calls("Write deep.py"))
    for number in range(164, 0, -1):
        entry = inline(f"Task {number}", entry)
    found = codify_one(session(phase("Do", entry)))
    text = written(found)
    assert [step.name for step in found.walk()] == ["Do", *(f"Task {number}" for number in range(1, 5))]
    assert "deep.py" in flow_of(step_called(found, "Task 4"))
    assert read_back(text)[0] == found


def test_a_chain_of_linked_subagents_is_read_to_its_end() -> None:
    notes = {f"k{n}": child(f"k{n}", phase("Work", linked(f"k{n + 1}")), task=f"Task {n}") for n in range(200)}
    notes["k200"] = child("k200", phase("Work", calls("Write deep.py")))
    found = codify_one(session(phase("Do", linked("k0"))), notes)
    assert "deep.py" in written(found)


# --- names -----------------------------------------------------------------------------------------------------------


@for_each("name", ["Summary", "Workflow x", "Notes", "!", "?", "@agent", "a → b", "proceed to Do", "# x", "***"])
def test_phases_of_any_name_are_steps_that_read_back(name: str) -> None:
    made = [Phase(name, entries=(calls(f"Write {n}.py"),)) for n in range(3)]
    found = codify_one(session(*made))
    back, graph, diagnostics = read_back(written(found))
    assert back == found
    assert len(graph.steps) == 3
    assert diagnostics == ()


def test_a_step_with_the_name_of_a_file_is_not_confused_with_it() -> None:
    found = codify_one(session(phase("a.py", calls("Write a.py")), phase("Test", calls("Read a.py", "Bash pytest"))))
    back, graph, _ = read_back(written(found))
    assert back == found
    assert [(edge.source, edge.target, edge.data) for edge in graph.edges] == [(0, 1, ("a.py",))]


def test_a_session_without_phases_is_a_workflow_without_steps() -> None:
    found = codify_one(session())
    assert found.steps == ()
    assert read_back(written(found))[0] == found


def test_work_before_the_first_phase_counts() -> None:
    assert tree(codify_one(session(preamble=(calls("Write a.py"),)))) == ["A session"]
    assert "a.py" in flow_of(codify_one(session(phase("Do"), preamble=(calls("Write a.py"),))).steps[0])


# --- grades ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", [Outcome.REJECTED, Outcome.INTERRUPTED])
def test_a_stopped_call_is_a_dead_end_and_makes_no_step_critical(outcome: Outcome) -> None:
    entries = (calls("Bash git push --force", outcome=outcome), calls("Write a.py"))
    step = codify_one(session(phase("Do", *entries))).steps[0]
    assert (step.grade, step.prose) == (Grade.PLAIN, "")


def test_an_unresolved_error_is_critical() -> None:
    entries = (calls("Write a.py"), Failure("No network", None))
    assert codify_one(session(phase("Do", *entries))).steps[0].grade is Grade.CRITICAL


@pytest.mark.parametrize("command", ["pytest", "ruff check .", "mypy .", "make"])
def test_a_failed_check_makes_its_step_critical_even_if_it_passed_later(command: str) -> None:
    one = phase("Do", calls("Write a.py"), failed(f"Bash {command}", "no"), calls("Edit a.py", f"Bash {command}"))
    assert codify_one(session(one)).steps[0].grade is Grade.CRITICAL


def test_a_failed_command_that_is_no_check_makes_no_step_critical() -> None:
    one = phase("Do", failed("Bash python3 app.py --fail", "reset"), calls("Write a.py"))
    assert codify_one(session(one)).steps[0].grade is Grade.PLAIN


def test_only_the_stretch_whose_check_failed_is_critical() -> None:
    broken = inline("Test it", calls("Write t.py"), failed("Bash pytest", "no"))
    one = phase("Do", calls("Write a.py"), broken, calls("Edit a.py"))
    found = codify_one(session(one))
    assert [step.name for step in found.walk() if step.grade is Grade.CRITICAL] == ["Test it"]


# --- figures ---------------------------------------------------------------------------------------------------------


def test_a_step_has_a_row_with_the_known_figures() -> None:
    one = phase("Write it", calls("Read b.py", "Write a.py"))
    (marker,) = codify_one(session(one)).steps[0].markers
    assert marker.values == {
        "phase": "WriteIt",
        "agent": "claude-code@2.1.197",
        "channel": None,
        "input": "b.py",
        "output": "a.py",
        "duration_ms": 90_000,
        "status": "success",
        "tokens_used": 100,
        "session": "one",
        "started": START.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def test_tokens_of_subagents_are_counted_once() -> None:
    kid = replace(
        child("kid", phase("First", calls("Write a.py")), phase("Second", calls("Edit a.py"))),
        tokens_used=230,
    )
    sub = phase("Part", calls("Write b.py"))
    one = session(
        phase("Do", linked("kid"), calls("Edit b.py"), subphases=(sub, sub)),
        phase("More", calls("Write c.py")),
    )
    found = codify_one(one, {"kid": kid})
    rows = {step.name: step.markers[0].values["tokens_used"] for step in found.walk()}
    assert sum(used for used in rows.values() if isinstance(used, int)) == 2 * 100 + 230
    assert (rows["Do"], rows["First"], rows["Part"]) == (100, 100, None)
    (run,) = runs_of(found)
    assert run.figures.tokens_used == aggregate(rows_of(found), "workflow").total.tokens_used == 430
    assert run.duration_ms == 2 * 90_000


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_step_fails_if_its_last_call_did_not_succeed(outcome: Outcome) -> None:
    one = phase("Do", calls("Write a.py"), Prose("x"), calls("Bash ./run", outcome=outcome))
    (marker,) = codify_one(session(one)).steps[0].markers
    assert marker.status == ("success" if outcome is Outcome.OK else "failed")


def test_a_failed_task_list_call_fails_no_step() -> None:
    one = phase("Do", calls("Write a.py"), Prose("x"), failed("TaskUpdate 1 completed", "unsupported call"))
    assert codify_one(session(one)).steps[0].markers[0].status == "success"


def test_a_step_without_calls_does_not_fail() -> None:
    empty: tuple[ToolCalls, ...] = ()
    assert codify_one(session(phase("Do", *empty))).steps[0].markers[0].status == "success"
