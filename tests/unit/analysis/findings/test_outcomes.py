"""Outcomes: closing texts, commits, pull requests."""

from __future__ import annotations

from crucible.clients.events import CallEnd
from crucible.documents.session.findings import Kind, Source
from tests.unit.analysis.findings.scripted_session import Played

CLOSING = """Done. The importer skips empty lines now.

## Changes

- parser: **empty lines** are skipped
- report: names the bad row
  - with its number

All tests pass."""


def test_the_text_after_the_last_edit_is_the_outcome() -> None:
    played = Played().you("go").agent("I look first.").edit().agent(CLOSING)
    (found,) = played.noted(Kind.OUTCOME)
    assert found.text == "The importer skips empty lines now."
    assert found.points == ("parser: empty lines are skipped", "report: names the bad row")


def test_a_turn_without_edits_has_no_outcome() -> None:
    assert not Played().you("why?").agent(CLOSING).outcomes


def test_edits_that_failed_and_a_client_s_own_files_are_none() -> None:
    assert not Played().you("go").edit(end=CallEnd.FAILED).agent(CLOSING).outcomes
    assert not Played().you("go").edit("/home/me/.agent/plans/p.md").agent(CLOSING).outcomes


def test_a_text_that_leads_over_to_a_call_closes_nothing() -> None:
    assert not Played().you("go").edit().agent("Let me run the tests:").run("make test").outcomes


def test_an_outcome_is_cut_at_the_bound_of_the_block() -> None:
    text = "Done.\n\n" + "\n".join(f"- part{number} {'x' * 200}{number}" for number in range(40))
    (found,) = Played().you("go").edit().agent(text).noted(Kind.OUTCOME)
    assert 0 < len(found.points) <= 7
    assert all(len(point) <= 160 for point in found.points)


def test_a_commit_is_known_by_git_s_own_line() -> None:
    text = "[main 1a2b3c4] Skip empty lines\n 2 files changed"
    (found,) = Played().you("commit").run("git commit -m x", text).noted(Kind.OUTCOME)
    assert found.text == "Skip empty lines"
    assert found.details == "commit 1a2b3c4"
    assert found.grounds
    assert found.grounds.source == Source.COMMIT


def test_a_first_commit_of_a_scratch_repository_is_none() -> None:
    text = "[main (root-commit) 1a2b3c4] start"
    assert not Played().you("try").run("git commit -m start", text).outcomes
    assert not Played().you("try").run("git init x && git commit -m s", "[main 1a2b3c4] s").outcomes


def test_a_commit_and_a_closing_text_with_the_same_words_are_one_outcome() -> None:
    played = (
        Played().you("go").edit().run("git commit -m x", "[main 1a2b3c4] importer skips empty lines").agent(CLOSING)
    )
    (found,) = played.noted(Kind.OUTCOME)
    assert (found.text, found.details) == ("importer skips empty lines", "commit 1a2b3c4")


def test_a_pull_request_is_named_with_its_address() -> None:
    played = (
        Played().you("go").run('gh pr create --title "Skip empty lines" --body x', "https://forge.example/a/b/pull/7")
    )
    (found,) = played.noted(Kind.OUTCOME)
    assert (found.text, found.details) == ("Skip empty lines", "PR https://forge.example/a/b/pull/7")


def test_a_turn_has_one_outcome_with_all_that_proves_it() -> None:
    played = Played().you("skip empty lines").edit().run("pytest -q", "12 passed").run("ls")
    for name, subject in (("1a2b3c4", "Skip empty lines"), ("5d6e7f8", "Test empty lines")):
        played.run("git commit -m x", f"[main {name}] {subject}")
    (found,) = played.agent(CLOSING).noted(Kind.OUTCOME)
    assert found.text == "Skip empty lines"
    assert found.details == "commit 1a2b3c4; commit 5d6e7f8 Test empty lines; passed: pytest"


def test_a_check_before_the_last_edit_proves_nothing() -> None:
    played = Played().you("go").edit().run("pytest -q", "12 passed").edit().agent(CLOSING)
    assert played.noted(Kind.OUTCOME)[0].details is None
    red = Played().you("go").edit().run("pytest -q | tail", "FAILED tests/test_a.py::test_b").agent(CLOSING)
    assert red.noted(Kind.OUTCOME)[0].details is None


def test_a_check_that_failed_last_did_not_pass() -> None:
    played = Played().you("go").edit().run("pytest -q tests/test_walrus.py", "1 passed").run("ruff check .", "ok")
    played.run("pytest -q | tail", "FAILED tests/test_a.py::test_b").agent(CLOSING)
    assert played.noted(Kind.OUTCOME)[0].details == "passed: ruff check"


def test_a_commit_in_the_next_turn_belongs_to_the_outcome_that_it_records() -> None:
    played = Played().you("skip empty lines").edit().agent(CLOSING).you("commit")
    (found,) = played.run("git commit -m x", "[main 1a2b3c4] Importer skips empty lines").noted(Kind.OUTCOME)
    assert (found.text, found.details) == ("Importer skips empty lines", "commit 1a2b3c4")
    other = played.you("and the docs").edit("docs.md").agent("The page says it now.").you("commit all")
    assert len(other.run("git commit -m x", "[main 5d6e7f8] Release 4").noted(Kind.OUTCOME)) == 3


def _told(text: str) -> tuple[str, tuple[str, ...]]:
    (found,) = Played().you("Skip empty lines while importing orders").edit().agent(text).noted(Kind.OUTCOME)
    return found.text, found.points


def test_the_users_words_are_no_outcome() -> None:
    assert _told("Done. Here is what we have:\n\n- one file") == ("Here is what we have: one file", ())
    assert _told("Skip empty lines while importing orders. It counts all empty lines.")[0] == (
        "It counts all empty lines."
    )


def test_the_head_is_the_first_informative_sentence() -> None:
    text = "Wrote `walrus.txt` for them.\n\nYou can skip empty lines of orders later by importing it."
    assert _told(text)[0].startswith("Wrote walrus.txt for them.")
    assert _told(f"# Summary\n\n**Orders of today**\n\nAll good.\n\n{text}")[0].startswith("Wrote walrus.txt")


def test_points_are_those_of_one_list() -> None:
    text = (
        "The importer skips empty lines.\n\n## Changes to cache.py\n\n1. parser\n\n- blanks\n- tabs\n\n2. report:\n   - lines\n\n"
        "## Required setup\n\n- buy a walrus\n"
    )
    points = ("Changes to cache.py: parser: blanks; tabs", "report: lines")
    assert _told(text) == ("The importer skips empty lines.", points)


def test_a_list_that_may_be_anything_is_no_outcome() -> None:
    text = "The importer skips empty lines.\n\n### The problem\n\n- orders were lost\n\n### The fix\n\nA guard."
    assert _told(text) == ("The importer skips empty lines.", ())
    text = "The importer skips empty lines.\n\n**Step 1: build**\n\n```\nmake\n```\n\n**Step 2: look**\n\n- a walrus"
    assert _told(text) == ("The importer skips empty lines.", ())


def test_lists_about_edited_files_are_one_point_each() -> None:
    text = "Both are done:\n\n**`src/cache.py`** - Keeps orders:\n- for a day\n- in memory\n\n**Required setup:**\n1. Buy a walrus"
    assert _told(text) == ("src/cache.py - Keeps orders: for a day; in memory", ())
    text = "Both are done.\n\n### 1. Lifetime (cache.py)\n- a day\n- an hour\n\n### 2. Size (cache.py)\n- ten rows\n\n### Next\n- docs"
    assert _told(text) == ("Lifetime (cache.py): a day; an hour; Size (cache.py): ten rows", ())


def test_a_paragraph_with_a_bold_name_is_an_item() -> None:
    text = (
        "All pass. Here is what I did:\n\n**1. Flattened it** — In two steps:\n- back up the cache\n- chain it\n\n"
        "**2. Removed the scan** — Nobody called it.\n\nIn the end 12 lines."
    )
    assert _told(text)[0].startswith("1. Flattened it — In two steps: back up the cache; chain it; 2. Removed")


def test_a_sentence_before_a_list_is_the_head_if_it_is_about_the_list() -> None:
    text = "Done. Fixed both kinds of orders:\n\n- `a.py` - now of one kind with all\n- `b.py`"
    assert _told(text)[0].startswith("Fixed both kinds of orders: a.py - now")


def test_a_problem_is_no_outcome_if_its_fix_is_stated() -> None:
    text = "Done. In short:\n\n**Problem:** Orders were lost.\n\n**Fix:** `cache.py` keeps them."
    assert _told(text) == ("In short: Fix: cache.py keeps them.", ())


def test_a_commentary_is_no_head() -> None:
    assert _told("Created `walrus.md`. You can fill it later if you want to.")[0] == "Created walrus.md."
    assert _told("All tests pass. The changes look good. The importer skips empty lines.")[0] == (
        "The importer skips empty lines."
    )


def test_an_uninformative_text_gives_the_file_names() -> None:
    assert _told("Done. Here's what we've got:\n\n```\nsrc/\n```") == ("Changed cache.py", ())


def test_a_list_after_another_paragraph_is_about_that() -> None:
    text = "The importer skips empty lines. It counts each of them.\n\nTo try it you need two things:\n\n- a walrus\n- a fish"
    assert _told(text) == ("The importer skips empty lines.", ("It counts each of them.",))


def test_a_summary_that_grows_repeats_no_point() -> None:
    played = Played().you("go").edit().agent(CLOSING).you("more").edit("more.py")
    played.agent(CLOSING.replace("- report", "- limit: ten rows\n- report"))
    assert played.outcomes[1] == "limit: ten rows"


def test_rows_of_a_table_are_points() -> None:
    text = (
        "The tables hold what was asked for.\n\n| table | rows |\n|---|---|\n| tables of orders | 12 |\n| refunds | 3 |"
    )
    (found,) = Played().you("make the tables that were asked for").edit().agent(text).noted(Kind.OUTCOME)
    assert found.points == ("tables of orders – 12", "refunds – 3")


def test_a_yes_is_no_head() -> None:
    offer = "Shall I skip empty lines of the import?"
    played = (
        Played()
        .you("go")
        .agent(offer)
        .you("yes please do that for me")
        .edit()
        .agent("Done.\n\n- parser: empty lines are skipped")
    )
    assert played.outcomes == ["parser: empty lines are skipped"]


# --- what was undone -------------------------------------------------------------------------------------------------

OLD, NEW = "    return rows\n", "    return [row for row in rows if row]\n"


def _changed(played: Played, old: str, new: str, path: str = "/p/src/cache.py") -> Played:
    arguments: dict[str, object] = {"file_path": path, "old_string": old, "new_string": new}
    return played.call("Edit", arguments, "Done", CallEnd.OK)


def _edited() -> Played:
    return _changed(Played().you("go"), OLD, NEW).agent("The importer skips empty lines.")


def test_an_edit_that_is_taken_back_leaves_no_outcome() -> None:
    assert len(_edited().outcomes) == 1
    played = _changed(_edited().you("no, take it back"), NEW, OLD).agent("The importer keeps empty lines again.")
    assert played.outcomes == ["The importer keeps empty lines again."]


def test_work_that_is_rewritten_later_is_one_outcome() -> None:
    played = _changed(_edited().you("shorter"), NEW, "    return list(filter(None, rows))\n")
    assert played.agent("The importer filters empty lines.").outcomes == ["The importer filters empty lines."]


def test_a_file_that_is_rewritten_or_patched_back_leaves_no_outcome() -> None:
    whole: dict[str, object] = {"file_path": "/p/src/cache.py", "content": "import walrus\n"}
    played = _edited().you("with walrus").call("Write", whole, "Done", CallEnd.OK)
    assert played.agent("The walrus does it now.").outcomes == ["The walrus does it now."]
    for patch in ("*** Update File: a.py\n@@\n-return rows if rows\n+return rows", "*** Delete File: a.py\n"):
        played = Played().you("go")
        first = "*** Begin Patch\n*** Update File: a.py\n@@\n-return rows\n+return rows if rows\n"
        played.call("apply_patch", {"input": first}, "Done", CallEnd.OK).agent("The importer skips empty lines.")
        played.you("no").call("apply_patch", {"input": patch}, "Done", CallEnd.OK)
        assert played.agent("The old `a.py` is back.").outcomes == ["The old a.py is back."]


def test_a_line_that_is_reworded_later_is_still_there() -> None:
    played = _changed(_edited().you("blanks as well"), NEW, "    return [row for row in rows if row.strip()]\n")
    assert len(played.agent("The importer strips lines first.").outcomes) == 2


def test_a_file_that_is_deleted_again_leaves_no_outcome() -> None:
    for script in ("rm /p/walrus.md", "git rm -f /p/walrus.md", "rm -rf /p"):
        played = Played().you("go").edit("/p/walrus.md").agent("Created walrus.md.").you("delete that")
        assert not played.run(script).agent("Deleted.").outcomes
        assert played.run("rm other.md").outcomes == []


def test_a_file_that_git_sets_back_leaves_no_outcome() -> None:
    for script in ("git checkout -- .", "git restore /p/src/cache.py", "git reset --hard"):
        assert not _edited().you("drop it").run(script).agent("Dropped.").outcomes
    kept = _edited().you("commit").run("git commit -m x", "[main 1a2b3c4] Importer skips empty lines")
    assert len(kept.run("git checkout -- .").outcomes) == 1


def _committed(subject: str = "Skip empty lines of orders", name: str = "1a2b3c4") -> Played:
    return _edited().run("git commit -m x", f"[main {name}] {subject}")


def test_a_commit_that_is_amended_has_its_last_id() -> None:
    played = _committed().you("fix the text").run("git commit --amend -m y", "[main 5d6e7f8] Skip empty lines of all")
    assert [found.details for found in played.noted(Kind.OUTCOME)] == ["commit 5d6e7f8"]


def test_a_commit_that_is_reset_or_reverted_is_no_outcome() -> None:
    assert _committed().run("git reset --soft HEAD~1").noted(Kind.OUTCOME)[0].details is None
    assert not _committed().run("git reset --hard HEAD^").outcomes
    text = '[main 5d6e7f8] Revert "Skip empty lines of orders"'
    assert _committed().you("revert it").run("git revert HEAD", text).outcomes == [
        'Revert "Skip empty lines of orders"'
    ]


def test_a_commit_that_is_rebased_has_the_id_that_git_shows() -> None:
    played = _committed().run(
        "git rebase main && git log --oneline -2", "9e8d7c6 (HEAD) Skip empty lines of orders\n0000000 x"
    )
    assert played.noted(Kind.OUTCOME)[0].details == "commit 9e8d7c6"


def test_a_check_did_not_pass_while_some_of_its_tests_fail() -> None:
    def played() -> Played:
        told = Played().you("add tests for the two bugs").edit("tax_test.go")
        told.run("go test -run Tax ./...", "--- FAIL: TestTax", CallEnd.FAILED).run("go test -run Cart ./...")
        return told.run("golangci-lint run", "0 issues.")

    said = "Both tests stand in tax_test.go now."
    assert played().agent(said).noted(Kind.OUTCOME)[0].details == "passed: golangci-lint run"
    again = played().run("go test -run Tax ./...").agent(said)
    assert again.noted(Kind.OUTCOME)[0].details == "passed: go test, golangci-lint run"


def test_a_commit_that_a_script_prints_is_not_the_session_s() -> None:
    played = Played().you("try it").edit("try.sh").run("./try.sh", "[main 1a2b3c4] Add a file\n 1 file changed")
    assert "1a2b3c4" not in str(played.agent("The script try.sh works.").noted(Kind.OUTCOME))
