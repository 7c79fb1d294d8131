"""Outcomes: closing texts, commits, pull requests."""

from __future__ import annotations

from crucible.session.findings import Kind, Source
from crucible.transcript.events import CallEnd
from tests.findings.played import Played

CLOSING = """Done. The importer skips empty lines now.

## Changes

- parser: **empty lines** are skipped
- report: names the bad row
  - with its number

All tests pass."""


def test_the_text_after_the_last_edit_is_what_was_done() -> None:
    played = Played().you("go").agent("I look first.").edit().agent(CLOSING)
    assert played.outcomes == [
        "Done. The importer skips empty lines now. · parser: empty lines are skipped · report: names the bad row with its number"
    ]


def test_a_turn_without_edits_has_no_outcome() -> None:
    assert not Played().you("why?").agent(CLOSING).outcomes


def test_edits_that_failed_and_a_client_s_own_files_are_none() -> None:
    assert not Played().you("go").edit(end=CallEnd.FAILED).agent(CLOSING).outcomes
    assert not Played().you("go").edit("/home/me/.agent/plans/p.md").agent(CLOSING).outcomes


def test_a_text_that_leads_over_to_a_call_closes_nothing() -> None:
    assert not Played().you("go").edit().agent("Let me run the tests:").run("make test").outcomes


def test_an_outcome_is_cut_at_the_bound_of_the_block() -> None:
    text = "Done.\n\n" + "\n".join(f"- part {number} {'x' * 90}" for number in range(40))
    (told,) = Played().you("go").edit().agent(text).outcomes
    assert len(told) <= 650


def test_a_commit_is_known_by_git_s_own_line() -> None:
    text = "[main 1a2b3c4] Skip empty lines\n 2 files changed"
    (found,) = Played().you("commit").run("git commit -m x", text).noted(Kind.OUTCOME)
    assert found.text == "Skip empty lines (commit 1a2b3c4)"
    assert found.grounds
    assert found.grounds.source == Source.COMMIT


def test_a_first_commit_of_a_scratch_repository_is_none() -> None:
    text = "[main (root-commit) 1a2b3c4] start"
    assert not Played().you("try").run("git commit -m start", text).outcomes
    assert not Played().you("try").run("git init x && git commit -m s", "[main 1a2b3c4] s").outcomes


def test_a_commit_that_says_the_same_as_the_closing_text_stands_with_it() -> None:
    played = (
        Played()
        .you("go")
        .edit()
        .run("git commit -m x", "[main 1a2b3c4] importer skips empty lines")
        .agent(CLOSING)
    )
    (found,) = played.noted(Kind.OUTCOME)
    assert found.details == "importer skips empty lines (commit 1a2b3c4)"


def test_a_pull_request_is_named_with_its_address() -> None:
    played = (
        Played()
        .you("go")
        .run('gh pr create --title "Skip empty lines" --body x', "https://forge.example/a/b/pull/7")
    )
    assert played.outcomes == ["PR opened: Skip empty lines https://forge.example/a/b/pull/7"]
