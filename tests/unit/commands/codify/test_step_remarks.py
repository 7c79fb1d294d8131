"""A step's prose: requests, decisions, corrections, lessons and commands as labelled lines."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given

from crucible.analysis.tools.recorded_calls import recorded_calls_of
from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.documents.session.session import (
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Prose,
    Session,
)
from crucible.documents.workflow.workflow import Step
from crucible.vault.events.event_reader import EventRecord
from samples.codified_sessions import (
    calls,
    codify_one,
    corrected,
    failed,
    flow_of,
    inline,
    no_secrets,
    phase,
    read_back,
    session,
    step_called,
    written,
)
from samples.hostile_texts import hostile_text
from tests.cases import fewer, for_each


def first_step(*entries: object) -> Step:
    return codify_one(session(phase("Do it", *entries))).steps[0]  # type: ignore[arg-type]


def test_a_request_is_in_the_step_if_its_name_says_less() -> None:
    assert first_step(Intervention("Do it. All of it."), calls("Write a.py")).prose == '- Asked: "Do it. All of it."'
    assert first_step(Intervention("Do it."), calls("Write a.py")).prose == ""


def prose_of(step: Step) -> str:
    """Return a step's prose without the ids of findings."""
    return re.sub(r"; [a-z]+-[0-9a-f]+(?:-\d+)?\)| \([a-z]+-[0-9a-f]+(?:-\d+)?\)", _end, step.prose)


def _end(found: re.Match[str]) -> str:
    return ")" if found[0][0] == ";" else ""


CONSTRAINT = "- Constraint: the user corrected this, so do it this way from the start:"


def test_decisions_have_their_reason_author_and_id() -> None:
    step = first_step(Decision("Use a bucket", "Constant memory", by="user"), calls("Write a.py"))
    assert re.fullmatch(r"- Decided: Use a bucket \(why: Constant memory; by: user; decision-\w+\)", step.prose)


def test_outcomes_of_written_steps_have_their_points() -> None:
    one = session(
        phase("Write", calls("Write a.py"), Prose("The limiter counts per user.")),
        phase("Docs", calls("Write docs.md")),
        findings=(FindingItem("outcome", "The limiter counts per user.", points=("one bucket each", "a → b")),),
    )
    found = codify_one(one)
    assert prose_of(found.steps[0]).split("\n")[-3:] == [
        "- Did: The limiter counts per user.",
        "  - Part: one bucket each",
        "  - Part: a → b",
    ]
    assert "limiter" not in found.steps[1].prose
    assert read_back(written(found))[0] == found


def test_a_correction_is_a_constraint_of_its_step_and_starts_no_step() -> None:
    first = phase("Add a limiter", Intervention("Add a limiter"), calls("Write limiter.py"))
    words = "Don't make it global"
    second = phase("Don't make it global", Intervention(words), calls("Edit limiter.py"))
    (step,) = codify_one(corrected(session(first, second), words)).steps
    assert prose_of(step) == f'{CONSTRAINT} "{words}"'


def test_the_outcome_of_a_request_is_not_repeated() -> None:
    first = phase("Add it", Intervention("Add it"), calls("Write a.py"), Prose("It is one global bucket."))
    second = phase("No", Intervention("No, per user"), calls("Edit a.py"), Prose("It is a bucket for each."))
    workflow_session = corrected(session(first, second), "No, per user")
    done = (FindingItem("outcome", "It is one global bucket."), FindingItem("outcome", "It is a bucket for each."))
    (step,) = codify_one(replace(workflow_session, findings=(*workflow_session.findings, *done))).steps
    assert prose_of(step) == f'{CONSTRAINT} "No, per user"'


def test_a_correction_of_three_sessions_is_one_constraint() -> None:
    def one(name: str) -> Session:
        wrong = phase("Add a limiter", Intervention("Add a limiter"), calls("Write limiter.py"))
        right = phase("No, per user", Intervention("No, per user, please"), calls("Edit limiter.py"))
        return corrected(session(wrong, right, name=name), "No, per user, please")

    found = codify([RecordedSession(one(name)) for name in ("a", "b", "c")], no_secrets)
    (step,) = found.steps
    assert prose_of(step) == f'{CONSTRAINT} "No, per user, please"'


def test_a_correction_in_a_rejected_call_is_in_the_phase_of_the_call() -> None:
    words = "merge from the parent, not from main"
    refused = calls("Bash git merge main", outcome=Outcome.REJECTED, result=words)
    one = session(phase("Merge", refused, calls("Bash git merge parent")))
    (step,) = codify_one(corrected(one, words)).steps
    assert prose_of(step) == f'{CONSTRAINT} "{words}"\n- Run: `git merge parent`'


def test_a_prohibition_that_corrects_nothing_is_part_of_the_request() -> None:
    wish = "Now write the docs and don't touch the code."
    (step,) = codify_one(session(phase("Docs", Intervention(wish), calls("Write docs.md")))).steps
    assert step.prose == f'- Asked: "{wish}"'


def test_an_answer_continues_the_request_that_it_answers() -> None:
    ask = phase("Make it faster", Intervention("Make it faster"), calls("Read a.py"))
    answer = phase("Shall I cache it? yes do that", Intervention("yes do that"), calls("Edit a.py"))
    (step,) = codify_one(session(ask, answer)).steps
    assert (step.name, step.prose) == ("Make it faster", "")


def test_a_question_between_a_proposal_and_its_answer_is_no_step() -> None:
    ask = phase("Write the changes", Intervention("Write the changes"), calls("Bash git log v1..HEAD"))
    why = phase("Why so few?", Intervention("Why so few?"), calls("Bash git log"))
    yes = phase(
        "Put them into the file",
        Intervention("Put them into the file"),
        Decision("Put them into the file", grounds=Grounds("reply", 0.9)),
        calls("Edit CHANGELOG.md"),
    )
    assert [step.name for step in codify_one(session(ask, why, yes)).steps] == ["Write the changes"]


def test_a_lesson_has_its_fix() -> None:
    step = first_step(Failure("It was circular", "Split the types"), calls("Write a.py"))
    assert prose_of(step) == "- Learned: It was circular (fixed by: Split the types)"


def test_a_check_occurs_once_with_its_last_result() -> None:
    step = first_step(failed("Bash pytest -q", "2 failed"), calls("Edit a.py", "Bash pytest -q"))
    assert step.prose == "- Check: `pytest -q`"
    early = first_step(calls("Bash ruff check", "Bash pytest -q", "Edit a.py", "Bash pytest -q"))
    assert early.prose == "- Check: `ruff check`\n- Check: `pytest -q`"


def test_a_check_that_failed_before_any_change_is_a_lookup() -> None:
    look = inline("Look", failed("Bash make lint", "3 issues"))
    found = codify_one(session(phase("Do", look, calls("Edit a.py", "Bash make lint"))))
    assert step_called(found, "Look").prose == "- Look up: `make lint` (failed)"
    assert step_called(found, "Edit a.py and run the checks").prose == "- Check: `make lint`"


def test_a_check_with_an_absolute_path_is_dropped() -> None:
    step = first_step(calls("Bash cd src && pytest x"), calls("Bash pytest /elsewhere/y.py"))
    assert [line for line in step.prose.split("\n") if line.startswith("- Check")] == ["- Check: `cd src && pytest x`"]


@for_each(
    ("command", "line"),
    [
        ("git push -u origin fix", "- Run: `git push -u origin fix`"),
        ("gh pr create --fill", "- Run: `gh pr create --fill`"),
        ("npm install left-pad", "- Run: `npm install left-pad`"),
        ("mise run fmt", "- Run: `mise run fmt`"),
        ("npm publish", "- Run: `npm publish`"),
        ("gh pr view 12 --comments", "- Look up: `gh pr view {{pull_request}} --comments`"),
        ("gh api -X POST repos/o/r/issues", "- Run: `gh api -X POST repos/o/r/issues`"),
        ('git commit -m "Count each user in a bucket of their own"', "- Run: `git commit -m {{message}}`"),
        ("git add a/1.py a/2.py a/3.py a/4.py a/5.py a/6.py", "- Run: `git add {{files}}`"),
        ("git status", ""),
        ("exot", ""),
        ("./entire status", ""),
        ("make check", "- Check: `make check`"),
        ("just test", "- Check: `just test`"),
    ],
)
def test_a_command_with_an_effect_is_kept(command: str, line: str) -> None:
    assert first_step(calls(f"Bash {command}", "Write x.txt")).prose == line


def test_a_command_is_a_check_if_its_output_is_a_verdict() -> None:
    arguments = {"command": "./verify everything"}
    records = [
        EventRecord(1, "ToolUsed", values={"call": "1", "name": "Bash", "arguments": arguments}),
        EventRecord(2, "ToolReturned", values={"call": "1", "text": "3 passed in 0.1s\n", "end": "ok"}),
    ]
    one = session(phase("Do", calls("Write a.py", "Bash ./verify everything")))
    found = codify([RecordedSession(one, {}, lambda _: recorded_calls_of(records))], no_secrets)
    assert found.steps[0].prose == "- Check: `./verify everything` (passed: 3 passed in 0.1s)"


def test_a_merge_that_stopped_at_conflicts_is_kept() -> None:
    stopped = failed("Bash git merge parent", "CONFLICT (content): Merge conflict in a.py")
    step = first_step(stopped, calls("Edit a.py", "Bash git commit --no-edit"))
    assert step.prose == "- Run: `git merge parent`\n- Run: `git commit --no-edit`"


def test_reverted_changes_are_a_dead_end() -> None:
    step = first_step(calls("Edit a.py", "Edit b.py", "Bash git checkout -- a.py"))
    assert flow_of(step) == "b.py → b.py"


def test_a_value_that_a_request_names_is_a_parameter() -> None:
    words = "Write the changes from 0.4.3 to 0.4.4 for ENT-12"
    step = first_step(Intervention(words), calls("Bash git log v0.4.3..HEAD --oneline", "Edit CHANGES.md"))
    assert step.prose.split("\n") == [
        '- Asked: "Write the changes from {{version}} to {{version_2}} for {{ticket}}"',
        "- Look up: `git log v{{version}}..HEAD --oneline`",
    ]
    assert flow_of(step) == "CHANGES.md, version, version_2, ticket → CHANGES.md"


def test_a_rebase_that_was_aborted_is_a_dead_end() -> None:
    step = first_step(
        Intervention("bring it up to date"),
        calls("Bash git rebase main", "Bash git rebase --abort", "Bash git rebase dev", "Bash git push"),
    )
    assert [line for line in step.prose.split("\n") if "Run" in line] == [
        "- Run: `git rebase dev`",
        "- Run: `git push`",
    ]


def test_a_version_in_words_is_a_parameter_and_no_one_off_name() -> None:
    words = "Upgrade the database to version 17 and take a backup first"
    step = first_step(Intervention(words), calls("Bash git commit -am Upgrade"))
    assert step.prose.split("\n")[0] == (
        '- Asked: "Upgrade the database to version {{version}} and take a backup first"'
    )


def test_the_preamble_names_the_parameters_with_an_example() -> None:
    one = session(phase("Do", Intervention("Do it for ENT-12, whatever it is"), calls("Write a.py")))
    found = codify_one(one)
    assert found.preamble.split("\n")[-1] == ("- Parameter `ticket`: the ticket named in the request, such as `ENT-12`")
    assert read_back(written(found))[0] == found


def test_prose_and_thanks_are_dropped() -> None:
    step = first_step(
        Intervention("Do it"), Prose("Sure, I will do it now!"), calls("Write a.py"), Intervention("thanks!")
    )
    assert step.prose == ""


def test_remarks_of_dropped_work_are_kept_in_the_step() -> None:
    one = phase("Do", Decision("Ask first"), inline("Ask", calls("Read a.py")), calls("Write b.py"))
    found = codify_one(session(one))
    assert prose_of(found.steps[0]) == "- Decided: Ask first"
    assert step_called(found, "Write b.py").prose == ""


@fewer(3)
@given(hostile_text(), hostile_text())
def test_no_foreign_text_becomes_markup(words: str, more: str) -> None:
    entries = (
        Intervention(words),
        calls("Write a.py", "Bash pytest"),
        Decision(more, words),
        Failure(words, more),
        Intervention(more),
    )
    found = codify_one(
        session(phase("Do", *entries), phase("Next", Intervention(words), calls("Read a.py"), Prose(more)))
    )
    back, graph, diagnostics = read_back(written(found))
    assert back == found
    assert len(graph.steps) == len(list(found.walk()))
    assert diagnostics == ()
