"""Which parts of a session belong to a puzzle, and which to its solution."""

from __future__ import annotations

from dataclasses import replace

from crucible.commands.learn.case import CaseType, Role
from crucible.commands.learn.puzzle_cases import find_puzzles
from crucible.commands.learn.timeline import Timeline
from crucible.documents.session.session import Entry, Failure, Grounds, Outcome
from tests.unit.commands.learn.sample_timelines import (
    asked,
    body_of,
    done,
    error,
    failed,
    puzzles_of,
    says,
    timeline_of,
)

RED = "E   KeyError: 'id'\nFAILED tests/test_shop.py::test_a - KeyError: 'id'"
FIX = (says("Old rows have no id; it needs a default."), done("Edit shop.py"))
GREEN = done("Bash pytest tests/test_shop.py", "1 passed")
TOLD = Failure("pytest: KeyError: 'id'", "fixed in shop.py; passed after 2 runs", "rows without an id", Grounds("failing then passing call", 0.95))  # fmt: skip


def test_a_call_that_failed_until_it_passed_is_one_puzzle() -> None:
    (case,) = puzzles_of((
        asked("Fix the old shop"), done("Read shop.py"), says("Testing."), failed("Bash pytest tests/test_shop.py", RED), says("Maybe the cast."), done("Edit cast.py"),
        failed("Bash pytest tests/test_shop.py -q", RED), *FIX, GREEN, TOLD, says("All good."),
    ))  # fmt: skip
    body = body_of(case)
    assert (body.goal, body.failure) == ("Fix the old shop", RED)
    assert [turn.failed for turn in body.tried if turn.role is Role.TOOL] == [True]
    assert body.expected == "rows without an id\n\nfixed in shop.py; passed after 2 runs"
    assert [call.name for turn in body.solution for call in turn.calls] == ["Edit"]
    assert case.verification == "pytest tests/test_shop.py"
    assert case.type is CaseType.PUZZLE


def test_a_failure_without_a_finding_is_no_puzzle() -> None:
    assert puzzles_of((failed("Bash pytest a.py", RED), *FIX, done("Bash pytest a.py"))) == []


def test_an_error_without_a_resolution_is_no_puzzle() -> None:
    assert puzzles_of((failed("Bash make", "error: x"), error("make: error x"))) == []


def test_a_puzzle_may_be_solved_in_a_later_phase() -> None:
    (case,) = puzzles_of(
        (
            asked("Fix the old shop"),
            failed("Bash pytest tests/test_shop.py", RED),
            says("I don't see why yet."),
        ),
        (asked("Please look once more"), *FIX, GREEN, TOLD),
    )
    assert case.place.phase == "phase-1"
    assert case.verification


def test_two_failures_are_two_puzzles() -> None:
    linted = Failure("ruff: F841 unused", "removed the name", None, Grounds("failing then passing call", 0.95))
    found = puzzles_of(
        (
            failed("Bash pytest tests/test_shop.py", RED),
            *FIX,
            GREEN,
            TOLD,
            failed("Bash ruff check b.py", "b.py:1: F841 unused"),
            done("Edit b.py"),
            done("Bash ruff check b.py"),
            linted,
        )
    )
    assert [body_of(case).failure for case in found] == [RED, "b.py:1: F841 unused"]
    assert len({case.id for case in found}) == 2


def test_a_failure_hidden_by_a_pipe_is_found_by_its_command() -> None:
    (case,) = puzzles_of((done("Bash pytest tests/test_shop.py | tail -3", RED), *FIX, GREEN, TOLD))
    body = body_of(case)
    assert body.failure == RED
    assert [call.name for turn in body.solution for call in turn.calls] == ["Edit"]


def test_a_failure_without_a_call_has_the_text_of_its_callout() -> None:
    (case,) = puzzles_of((done("Edit a.py"), error("The export wrote rows twice.", "One flush is left."), GREEN))
    body = body_of(case)
    assert (body.failure, body.expected) == ("The export wrote rows twice.", "One flush is left.")
    assert "flush" not in " ".join(turn.text for turn in body.tried)
    assert case.verification == "pytest tests/test_shop.py"


def test_an_edit_that_did_not_match_is_solved_by_the_edit_that_did() -> None:
    (case,) = puzzles_of(
        (
            failed("Edit a.js", "String to replace not found in file."),
            done("Edit a.js"),
            error("The edit did not match.", "read the file again"),
        )
    )
    assert [call.name for turn in body_of(case).solution for call in turn.calls] == ["Edit"]


def test_a_solution_holds_no_other_failure_and_no_words_of_the_user() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash pytest tests/test_shop.py", RED),
            failed("Bash mypy", "error: List"),
            failed("Read b.toml", "Sibling tool call errored", Outcome.INTERRUPTED),
            asked("And the changelog?"),
            *FIX,
            GREEN,
            TOLD,
        )
    )
    turns = body_of(case).solution
    assert not any(turn.failed for turn in turns)
    assert all(turn.role is not Role.USER for turn in turns)


def test_a_merge_conflict_is_no_puzzle() -> None:
    failure = Failure("merge: CONFLICT (content): Merge conflict in shop.py", "fixed in shop.py", None, Grounds("failure then edits", 0.9))  # fmt: skip
    assert puzzles_of((failed("Bash git merge main", failure.text), done("Edit shop.py"), failure)) == []


def test_a_test_that_was_meant_to_fail_is_no_puzzle() -> None:
    first = (done("Write tests/test_shop.py"), failed("Bash pytest tests/test_shop.py", RED))
    assert puzzles_of((asked("Add ids"), *first, *FIX, GREEN, TOLD)) == []
    assert puzzles_of((asked("Add ids"), done("Edit shop.py"), *first, *FIX, GREEN, TOLD)) != []


def test_the_fix_is_all_changes_until_the_failure_was_gone() -> None:
    other = failed("Bash pytest tests/test_shop.py", "FAILED tests/test_cart.py::test_b - ValueError")
    (case,) = puzzles_of(
        (
            asked("Fix it"),
            failed("Bash pytest tests/test_shop.py", RED),
            *FIX,
            other,
            done("Edit cart.py"),
            GREEN,
            TOLD,
        )
    )
    assert [call.arguments for turn in body_of(case).solution for call in turn.calls] == [{"input": "shop.py"}]


def test_an_id_is_the_same_after_the_session_grew() -> None:
    short: tuple[Entry, ...] = (failed("Bash pytest tests/test_shop.py", RED), *FIX, GREEN, TOLD)
    (before,), (after,) = puzzles_of(short), puzzles_of((*short, says("Next.")), (asked("More"),))
    assert before.id == after.id


def test_no_hint_gives_the_answer() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash cat a.toml", "cat: a.toml: No such file"),
            done("Bash ls", "a.yaml"),
            done("Read a.yaml"),
            done("Bash cat a.yaml"),
            error("No a.toml.", "it is a.yaml"),
        )
    )
    assert "a.yaml" not in " ".join(body_of(case).hints)


def recorded(*phases: tuple[Entry, ...], rows: tuple[tuple[str, str], ...]) -> Timeline:
    """A timeline whose calls have these rows, keyed by the start of their results."""
    made = timeline_of(*phases)
    known = dict(rows)
    moments = tuple(one._replace(row=known.get(one.result, "")) for one in made.moments)
    return replace(made, moments=moments)


def test_of_several_failures_of_one_command_each_has_its_own_run_and_changes() -> None:
    first, second = "src/a.py:3: undefined name x", "src/b.py:9: line too long"
    grounds = Grounds("failing then passing call", 0.9, ("row-2",))
    line = recorded(
        (
            asked("Fix it"),
            failed("Bash make lint", first),
            done("Edit src/a.py"),
            failed("Bash make lint", second),
            done("Edit src/b.py"),
            done("Bash make lint", "0 issues"),
            Failure(f"make lint: {first}", "fixed in a.py, b.py", grounds=replace(grounds, rows=("row-1",))),
            Failure(f"make lint: {second}", "fixed in b.py", grounds=grounds),
        ),
        rows=((first, "row-1-of-it"), (second, "row-2-of-it")),
    )
    bodies = [body_of(case) for case in find_puzzles(line)]
    assert [one.failure for one in bodies] == [first, second]
    assert [[call.arguments for turn in one.solution for call in turn.calls] for one in bodies] == [
        [{"input": "src/a.py"}],
        [{"input": "src/b.py"}],
    ]


def test_a_change_that_left_the_failure_is_not_its_fix() -> None:
    red = "src/a.py:3: undefined name x"
    again = red.replace("3", "5")
    [case] = puzzles_of(
        (
            asked("Fix it"),
            failed("Bash make lint", red),
            done("Edit src/a.py", "the first try"),
            failed("Bash make lint", again),
            done("Edit src/a.py", "the second try"),
            done("Bash make lint", "0 issues"),
            Failure(f"make lint: {red}", "fixed in a.py", None, Grounds("failing then passing call", 0.9)),
        )
    )
    assert body_of(case).failure == again
    assert [turn.text for turn in body_of(case).solution if turn.answers] == ["the second try"]
