"""Puzzles: what is one, how its tries belong together, and what mended it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from crucible.acts.evidence import evidence_of, load_evidence
from crucible.cases.model import Case, CaseType, Fault, Role
from crucible.cases.puzzles import find_puzzles
from crucible.cases.timeline import build_timeline
from crucible.importing.importing import ImportOptions, import_transcripts
from crucible.session.model import AgentRef, Outcome, Subagent
from crucible.transcript.dialects import DIALECTS
from tests.cases.planted import generate_many, score
from tests.cases.planted.truth import Generated
from tests.cases.sown import asked, body_of, done, error, failed, puzzles_of, says, timeline_of
from tests.importing.places import DATA, LATER, make_vault, notes_of

RED = "E   KeyError: 'id'\nFAILED tests/test_shop.py::test_a - KeyError: 'id'"
FIX = (says("Old rows have no id; it needs a default."), done("Edit shop.py"))


def test_a_command_that_fails_until_it_passes_is_one_solved_puzzle() -> None:
    (case,) = puzzles_of((
        asked("Fix the shop"), done("Read shop.py"), says("Testing."), failed("Bash pytest tests/test_shop.py", RED), says("Maybe the cast."), done("Edit cast.py"),
        failed("Bash pytest tests/test_shop.py", RED), *FIX, done("Bash pytest tests/test_shop.py", "1 passed"), says("All good."),
    ))  # fmt: skip
    body = body_of(case)
    assert (body.goal, body.state, body.failure) == ("Fix the shop", "- read shop.py", RED)
    assert [turn.failed for turn in body.tried if turn.role is Role.TOOL] == [True, False, True]
    assert "Old rows have no id" in body.expected
    assert [call.name for turn in body.solution for call in turn.calls] == ["Edit"]
    assert case.verification.command == "pytest tests/test_shop.py"
    assert not body.is_open


def test_the_same_failure_in_a_later_phase_is_the_same_puzzle() -> None:
    (case,) = puzzles_of(
        (asked("Fix it"), failed("Bash make", "error: x"), says("I don't see why yet.")),
        (
            asked("Please look again"),
            failed("Bash cd /home/me/shop && make 2>&1 | tail -5", "error: x"),
            *FIX,
            done("Bash make"),
        ),
    )
    assert case.place.phase == "phase-1"
    assert case.verification.verified


def test_two_causes_are_two_puzzles() -> None:
    found = puzzles_of(
        (
            failed("Bash pytest a.py", RED),
            *FIX,
            done("Bash pytest a.py"),
            failed("Bash ruff check b.py", "b.py:1: F841 unused"),
            *FIX,
            done("Bash ruff check b.py"),
        )
    )
    assert [body_of(case).is_open for case in found] == [False, False]
    assert len({case.id for case in found}) == 2


def test_an_error_that_tells_of_a_failure_is_the_same_puzzle_and_its_resolution_what_is_expected() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash pytest a.py", RED),
            error("KeyError: 'id' in the shop", "Read it with a default."),
            done("Edit shop.py"),
            done("Bash pytest a.py"),
        )
    )
    assert body_of(case).expected == "Read it with a default."
    assert "default" not in " ".join(turn.text for turn in body_of(case).tried)


def test_an_error_alone_is_a_puzzle_open_without_a_resolution() -> None:
    solved, unsolved = puzzles_of(
        (
            done("Edit a.py"),
            error("The export wrote rows twice.", "One flush is left."),
            done("Edit b.py"),
            error("All dates are off by one day."),
        )
    )
    assert (body_of(solved).expected, body_of(solved).is_open) == ("One flush is left.", False)
    assert body_of(unsolved).is_open


def test_what_nobody_mended_is_an_open_puzzle() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash make", "error: x"),
            says("I could not find the cause; I leave it."),
            done("Edit other.py"),
        )
    )
    assert body_of(case).is_open
    assert not case.verification.verified
    assert body_of(case).hints == ()


def test_a_change_that_was_made_for_it_and_told_is_a_solution_without_a_proof() -> None:
    (case,) = puzzles_of(
        (
            says("First I reproduce it."),
            failed("Bash python3 app.py --fail", "retry failed: connection reset"),
            *FIX,
            says("It tries again now."),
        )
    )
    assert not body_of(case).is_open
    assert not case.verification.verified
    assert body_of(case).solution[-1].text == "It tries again now."


def test_another_command_that_does_what_the_failed_one_was_for_solves_it() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash sed -i 's/a/b/c/' x.txt", "sed: -e expression #1, char 7: unknown option to `s'"),
            says("Another delimiter."),
            done("Bash sed -i 's|a/b|c|' x.txt"),
        )
    )
    assert body_of(case).solution[0].calls[0].arguments == {"command": "sed -i 's|a/b|c|' x.txt"}
    assert case.verification.verified


def test_a_suite_that_passes_shows_that_its_part_is_right_and_not_the_other_way_round() -> None:
    wide, narrow = ("Bash pytest -q", "Bash pytest tests/test_a.py -q")
    (case,) = puzzles_of((failed(narrow, RED), *FIX, done(wide)))
    assert case.verification.verified
    (case,) = puzzles_of((failed(wide, RED), says("No idea why."), done(narrow)))
    assert body_of(case).is_open


def test_a_call_that_simply_passes_when_made_again_was_chance() -> None:
    assert (
        puzzles_of((failed("Bash make fetch", "error: reset"), says("Again."), done("Bash make fetch"))) == []
    )
    (case,) = puzzles_of((failed("Bash make fetch", "error: reset"), done("Bash make fetch")), others=True)
    assert case.fault is Fault.TRANSIENT


def test_failures_of_others_are_told_only_on_demand() -> None:
    entries = (
        failed("Bash jq . a", "bash: jq: command not found"),
        says("No jq."),
        error("API Error: 529 overloaded"),
    )
    assert puzzles_of(entries) == []
    assert [case.fault for case in puzzles_of(entries, others=True)] == [Fault.ENVIRONMENT, Fault.TRANSIENT]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I write a failing test first.", "Now the code."),
        ("The new test must fail at this point.", "Fails."),
        ("A test for it.", "It fails as expected."),
    ],
)
def test_a_test_that_was_to_be_red_is_no_puzzle(before: str, after: str) -> None:
    entries = (says(before), done("Write tests/test_new.py"), failed("Bash pytest tests/test_new.py", RED), says(after), done("Edit shop.py"), done("Bash pytest tests/test_new.py"))  # fmt: skip
    assert puzzles_of(entries) == []


def test_a_failed_change_that_the_agent_took_for_done_is_no_puzzle() -> None:
    call = failed("exec_command sed -i 's/a/b/c/' x.py", "sed: unknown option to `s'")
    assert puzzles_of((call, says("Corrected: it has a floor now."))) == []
    assert len(puzzles_of((call, says("That did not work, I leave it.")))) == 1


def test_what_a_subagent_left_failing_is_its_own_puzzle_which_its_parent_solves() -> None:
    child = timeline_of(
        (says("Running."), failed("Bash python3 test_b.py && false", "FAILED third")), id_="c", parent="s"
    )
    parent = timeline_of(
        (
            Subagent(AgentRef("a"), link="c"),
            says("The test failed since last starts at 0."),
            done("Edit b.py"),
            error("FAILED third", "from now"),
            done("Bash python3 test_b.py"),
        )
    )
    (case,) = find_puzzles(child, parent)
    assert (case.place.session, case.verification.command) == ("c", "python3 test_b.py")
    assert "last starts at 0" in body_of(case).expected
    assert list(find_puzzles(parent, None, [child])) == []


def test_an_id_is_the_same_after_the_session_grew() -> None:
    short = (failed("Bash make", "error: x"),)
    (before,), (after,) = puzzles_of(short), puzzles_of((*short, *FIX, done("Bash make")))
    assert before.id == after.id
    assert before.type is CaseType.PUZZLE


def _found(generated: Generated) -> list[Case]:
    lines = {
        ident: build_timeline(one, evidence_of(generated.records(ident)))
        for ident, one in generated.sessions.items()
    }
    parents = {ident: lines.get(one.session.parent or "") for ident, one in lines.items()}
    return [case for ident, one in lines.items() for case in find_puzzles(one, parents[ident])]


def test_planted_puzzles_are_found_and_nothing_else() -> None:
    found = score((one, _found(one)) for one in generate_many(11, 120))[CaseType.PUZZLE]
    assert (found.missed, found.wrong) == ([], [])
    assert len(found.found) > 100
    known = [
        (planted.is_open, body_of(case).is_open)
        for planted, case in found.found
        if planted.is_open is not None
    ]
    assert sum(told is is_open for told, is_open in known) >= 0.98 * len(known)


@cache
def _real(client: str, name: str) -> list[Case]:
    with TemporaryDirectory() as folder:
        vault = make_vault(Path(folder) / client)
        import_transcripts(
            vault, DIALECTS[client], [DATA / "transcripts" / client / name], options=ImportOptions(LATER)
        )
        lines = {
            known: build_timeline(note.session, load_evidence(vault.root, known))
            for known, note in notes_of(vault).items()
        }
    return [
        case
        for one in lines.values()
        for case in find_puzzles(one, lines.get(one.session.parent or ""), lines.values())
    ]


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode"])
def test_a_real_sessions_only_puzzle_is_the_failure_that_it_is_about(client: str) -> None:
    (retry,), (limiter,) = _real(client, "retry"), _real(client, "limiter")
    assert "connection reset" in body_of(retry).failure
    assert "retry.py" in body_of(retry).expected
    assert not retry.verification.verified
    assert "test_third" in body_of(limiter).failure
    assert "time.monotonic" in body_of(limiter).expected
    assert limiter.verification.command == "python3 test_limiter.py"


# --- what a trainer must not be told ----------------------------------------------------------------------------------


def test_an_edit_that_did_not_match_is_mended_by_the_edit_that_did_and_was_no_chance() -> None:
    (case,) = puzzles_of((failed("Edit a.js", "String to replace not found in file."), done("Edit a.js")))
    body = body_of(case)
    assert case.fault is Fault.AGENT
    assert [call.name for turn in body.solution for call in turn.calls] == ["Edit"]
    assert body.hints == ("What mended it was a change to a.js.",)
    assert body.expected == "Done: changed a.js."


def test_a_solution_holds_no_other_failure_and_nothing_that_was_cancelled() -> None:
    first, _ = puzzles_of(
        (
            failed("Bash mypy src", "a.py:3: error: List"),
            failed("Bash pytest", "NameError: List"),
            failed("Read b.toml", "Sibling tool call errored", Outcome.INTERRUPTED),
            says("One import is missing."),
            done("Edit a.py"),
            done("Bash mypy src && pytest"),
        )
    )
    assert not any(turn.failed for turn in body_of(first).solution)
    assert "Done: changed a.py" in body_of(first).expected


def test_what_was_done_for_something_else_in_between_is_no_solution() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash pytest tests/test_csv.py", "UnicodeDecodeError: 0xe9"),
            says("I leave that for now and do the docs."),
            done("Write docs/csv.md"),
        ),
        (asked("Now the changelog"), done("Edit CHANGELOG.md")),
        (
            says("Excel writes cp1252."),
            done("Edit csv.py"),
            done("Bash pytest tests/test_csv.py"),
        ),
    )
    body = body_of(case)
    assert body.expected == "Excel writes cp1252\n\nDone: changed csv.py."
    assert body.hints == ("What mended it was a change to csv.py.",)


def test_a_test_that_was_deleted_was_not_mended() -> None:
    gone = (failed("Bash pytest tests/test_a.py", "AssertionError: 2 != 3"), says("It is outdated."), done("Bash rm tests/test_a.py"))  # fmt: skip
    for more in ((), (done("Bash pytest", "0 tests ran"),)):
        (case,) = puzzles_of((*gone, *more, says("All green.")))
        assert body_of(case).is_open
        assert not case.verification.verified
    (case,) = puzzles_of(
        (
            *gone,
            done("Bash pytest", "0 tests ran"),
            asked("You can't just delete tests! Restore it."),
            says("Sorry. I restore it."),
            done("Edit a.py"),
            done("Bash pytest tests/test_a.py"),
        )
    )
    told = [str(call.arguments) for turn in body_of(case).solution for call in turn.calls]
    assert len(told) == 1
    assert "a.py" in told[0]
    assert "rm " not in told[0]


def test_a_parent_that_speaks_of_its_own_failure_mends_none_of_its_subagents() -> None:
    child = timeline_of((failed('complete_task {"result":"x"}', "params/result must be object"),), id_="c")
    parent = timeline_of(
        (
            Subagent(AgentRef("a"), link="c"),
            failed("Bash python3 app.py", "connection reset"),
            says("It fails; last must start at the clock."),
            done("Edit limiter.py"),
        )
    )
    (case,) = find_puzzles(child, parent)
    assert body_of(case).is_open


def test_the_state_tells_no_change_that_failed_as_made() -> None:
    *_, case = puzzles_of(
        (
            failed("Edit a.py", "String to replace not found in file."),
            failed("Bash make", "error: x"),
            says("I could not solve that."),
            failed("Bash cargo run", "error: y"),
        )
    )
    assert body_of(case).state == "- built with make, which failed"


def test_an_error_that_tells_afterwards_what_was_mended_is_the_same_puzzle() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash pg_upgrade --check", "fatal: your installation references a missing library: postgis-3"),
            done("Bash apt-get install --yes postgresql-17-postgis-3"),
            done("Bash pg_upgrade --check"),
            error("The check refused because the new version had no PostGIS.", "installed it and checked again."),
        )
    )  # fmt: skip
    assert body_of(case).expected == "installed it and checked again."
    assert case.verification.command == "pg_upgrade --check"


def test_no_hint_names_the_file_that_was_the_answer() -> None:
    (case,) = puzzles_of(
        (
            failed("Read a.toml", "File does not exist."),
            done("Bash ls", "a.yaml"),
            done("Read a.yaml"),
            says("The port is 80."),
        )
    )
    body = body_of(case)
    assert "a.yaml" not in " ".join(body.hints)
    assert "a.yaml" in body.expected


def test_a_command_that_nobody_knows_is_part_of_what_mended_it() -> None:
    (case,) = puzzles_of(
        (
            failed("Bash pytest tests/test_api.py", "TimeoutError: timed out"),
            says("A port is taken."),
            done("Bash lsof -i :8080", "python 4411"),
            done("Bash kill 4411"),
            done("Bash pytest tests/test_api.py"),
            error("The tests timed out since an old server held the port.", "kill the old one first."),
        )
    )
    told = [str(call.arguments) for turn in body_of(case).solution for call in turn.calls]
    assert "kill 4411" in " ".join(told)
    assert body_of(case).expected == "kill the old one first."


def test_what_mended_it_is_not_verified_where_the_user_takes_it_back() -> None:
    mended = (failed("Bash git tag v2", "fatal: tag 'v2' already exists"), done("Bash git tag -f v2"))
    (case,) = puzzles_of(
        (*mended, says("Tagged."), asked("stop. do not use -f on tags, ever"), says("Understood."))
    )
    assert not case.verification.verified
    (case,) = puzzles_of(
        (*mended, says("Tagged."), asked("No, the changelog belongs to the docs."), says("Yes."))
    )
    assert case.verification.verified


def test_an_error_that_shares_only_what_the_command_was_given_is_another_puzzle() -> None:
    found = puzzles_of(
        (
            failed("Bash cat config/MapView.json", "cat: config/MapView.json: No such file or directory"),
            done("Bash cat etc/MapView.json"),
            done("Edit app/MapView.tsx"),
            error("The migration left 160 rows of MapView without a zoom.", "a second one fills them."),
        )
    )
    assert len(found) == 2
