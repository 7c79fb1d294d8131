"""`cru inbox`: what waits for a human over all sessions, and answering it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru

NOTE = """\
---
type: session
session_id: {id}
started: {started}
status: paused
project: {project}
---

# A title

## Work

started:: {started}

{body}
"""
ASKS = "> [!decision_needed] Which store?\n> - SQLite\n> - Postgres"
DONE = "> [!task_complete]\n> The limiter is in."
MENDED = "> [!error]\n> No disk.\n> Resolution: a bigger one."


def note(vault: Vault, name: str, body: str, project: str = "shop") -> None:
    started = f"{name[:10]}T20:26:47Z"
    vault.create(name, NOTE.format(id=name, started=started, project=project, body=body))


def told(cru: Cru, *args: str) -> list[dict[str, Any]]:
    result = cru("inbox", *args, "--format", "json")
    assert result.exit_code == 0, result.stderr
    found: list[dict[str, Any]] = json.loads(result.stdout)["inbox"]
    return found


@pytest.fixture
def filled(vault: Vault) -> Vault:
    note(vault, "2026-11-21-add", f"{ASKS}\n\n{MENDED}")
    note(vault, "2026-11-22-blog", DONE, project="blog")
    note(vault, "2026-10-01-old", "> [!approval_required]\n> Drop it?\n\n> [!error]\n> No disk.")
    note(vault, "2026-11-20-none", MENDED)
    return vault


def test_what_waits_over_all_sessions_is_listed_the_newest_first(filled: Vault, cru: Cru) -> None:
    lines = cru("inbox").stdout.splitlines()
    assert [line.split(".")[0] for line in lines if line[0] != " "] == [
        "2026-11-22-blog",
        "2026-11-21-add",
        "2026-10-01-old",
        "2026-10-01-old",
    ]
    assert lines[3:6] == ["    Which store?", "    - SQLite", "    - Postgres"]
    assert cru("inbox", "list").stdout.splitlines() == lines
    assert [one["type"] for one in told(cru, "-n", "2")] == ["task_complete", "decision_needed"]


def test_what_a_session_left_that_ended_long_ago_is_listed_with_all(vault: Vault, cru: Cru) -> None:
    for days in (2, 40):
        day = f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%d}"
        note(vault, f"{day}-over", f"> [!error]\n> No disk, {days} days ago.")
        path = vault.find(f"{day}-over")
        path.write_text(path.read_text().replace("status: paused", "status: completed"))
    result = cru("inbox")
    assert "2 days ago" in result.stdout
    assert "40 days ago" not in result.stdout
    assert '1 more in old sessions; run "cru inbox --all"' in result.stderr
    assert "40 days ago" in cru("inbox", "--all").stdout


def test_what_was_asked_again_is_listed_once(vault: Vault, cru: Cru) -> None:
    note(vault, "2026-11-21-add", f"{ASKS}\n\n> [!milestone] Half way\n\n{ASKS}")
    note(vault, "2026-11-22-again", ASKS)
    assert [one["session"] for one in told(cru)] == ["2026-11-22-again", "2026-11-21-add"]
    assert len(told(cru, "--all")) == 3


def test_all_shows_what_is_answered_too(filled: Vault, cru: Cru) -> None:
    found = told(cru, "--all", "--type", "error")
    assert [(one["session"], one["answered"], one["answer"]) for one in found] == [
        ("2026-11-21-add", True, "a bigger one."),
        ("2026-11-20-none", True, "a bigger one."),
        ("2026-10-01-old", False, None),
    ]


def test_a_project_and_a_kind_narrow_it(filled: Vault, cru: Cru) -> None:
    assert [one["session"] for one in told(cru, "--project", "Blog")] == ["2026-11-22-blog"]
    assert [one["line"] for one in told(cru, "--type", "approval_required")] == [15]
    result = cru("inbox", "--project", "nobody")
    assert (result.stdout, result.stderr.strip()) == ("", "no open questions")


def test_an_answer_goes_into_the_note_and_the_item_waits_no_more(filled: Vault, cru: Cru) -> None:
    before = filled.load("2026-10-01-old").source.text
    result = cru("inbox", "answer", "2026-10-01-old", "--approve")
    assert result.exit_code == 1
    assert "matches several items" in result.stderr
    (approval,) = told(cru, "--type", "approval_required")
    assert cru("inbox", "answer", approval["id"], "--approve", "after the backup").exit_code == 0
    assert cru("inbox", "answer", "2026-10-01-old", "A bigger one.").exit_code == 0
    after = filled.load("2026-10-01-old").source.text
    name = approval["id"].rpartition(".")[2]
    assert f'> Drop it?\n\n> [!user]\n> "after the backup" - approved (inbox {name})\n\n' in after
    assert "> No disk.\n> Resolution: A bigger one.\n" in after
    assert [line for line in after.splitlines() if line in before.splitlines()][:14] == before.splitlines()[:14]
    assert "2026-10-01-old" not in {one["session"] for one in told(cru)}
    assert cru("session", "list", "--format", "json", "--where", "id = 2026-10-01-old").exit_code == 0


def test_the_last_digits_of_an_id_are_enough_and_how_it_was_answered_is_told(filled: Vault, cru: Cru) -> None:
    (approval,) = told(cru, "--type", "approval_required")
    assert cru("inbox", "answer", approval["id"][-6:], "--reject", "not before the backup").exit_code == 0
    assert "    → rejected: not before the backup" in cru("inbox", "--all").stdout.splitlines()
    assert {one["verdict"] for one in told(cru, "--all")} == {None, "fixed", "rejected"}


def test_what_was_answered_or_is_gone_is_refused(filled: Vault, cru: Cru) -> None:
    assert cru("inbox", "answer", "2026-11-22-blog", "--ack").exit_code == 0
    result = cru("inbox", "answer", "2026-11-22-blog", "--ack")
    assert (result.exit_code, "cru inbox --all" in result.stderr) == (1, True)
    assert cru("inbox", "answer", "2026-11-23-none", "--ack").exit_code == 1
    assert cru("inbox", "answer", "2026-11-21-add").exit_code == 2
    assert cru("inbox", "answer", " ").exit_code == 2


def test_a_note_that_was_edited_since_is_told_as_it_is(filled: Vault, cru: Cru) -> None:
    cru("inbox")
    path = filled.find("2026-11-22-blog")
    path.write_text(path.read_text() + '\n> [!user]\n> "Fine, go on."\n')
    assert "2026-11-22-blog" not in {one["session"] for one in told(cru)}


def test_what_a_note_says_does_not_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    note(vault, "2026-11-21-add", "> [!task_complete] \x1b[2J\u202eDone\n> x\ty")
    for form in ("text", "json", "toon"):
        assert not set("\x1b\u202e") & set(cru("inbox", "--format", form).stdout)


def test_a_word_that_is_no_command_is_answered_with_the_near_ones(cru: Cru) -> None:
    result = cru("inbox", "anwser")
    assert (result.exit_code, "did you mean answer?" in result.stderr) == (2, True)
    assert "answer" in cru("inbox", "--help").stdout


# --- the history of what was answered --------------------------------------------------------------------------------


def history_of(vault: Vault, name: str) -> str:
    return (vault.root / "history" / f"{name}-history.md").read_text()


def test_an_answer_is_told_in_the_history_at_once_and_a_humans_edits_stay(filled: Vault, cru: Cru) -> None:
    name = "2026-10-01-old"
    kept = filled.find(name)
    kept.write_text(kept.read_text().replace("status: paused", "status: completed"))
    assert cru("session", "end", name).exit_code == 0
    path = filled.root / "history" / f"{name}-history.md"
    path.write_text(path.read_text().replace("- Drop it?\n", "- Drop it?\n- Ask Ada\n"))
    assert "- Drop it?\n" in path.read_text()
    (approval,) = told(cru, "--all", "--type", "approval_required")
    answered = cru("inbox", "answer", approval["id"], "--approve")
    assert (answered.exit_code, answered.stdout, answered.stderr) == (0, f"{approval['id']}\n", "")
    text = history_of(filled, name)
    assert "Drop it?" not in text
    assert "- Ask Ada\n" in text
    assert "- Unresolved: No disk.\n" in text
    assert cru("inbox", "answer", name, "A bigger one.").exit_code == 0
    assert "- No disk.\n  - Fix: A bigger one.\n" in history_of(filled, name)


@pytest.mark.parametrize("ident", ["2026-11-22-blog", "../../blog"])
def test_an_answer_makes_no_history(filled: Vault, cru: Cru, ident: str) -> None:
    path = filled.find("2026-11-22-blog")
    path.write_text(path.read_text().replace("session_id: 2026-11-22-blog", f"session_id: {ident}"))
    answered = cru("inbox", "answer", "2026-11-22-blog", "--ack")
    assert (answered.exit_code, answered.stderr) == (0, "")
    assert not (filled.root / "history").exists()


def test_a_history_that_cannot_be_written_takes_nothing_from_the_answer(filled: Vault, cru: Cru) -> None:
    name = "2026-11-22-blog"
    assert cru("session", "end", name).exit_code == 0
    path = filled.root / "history" / f"{name}-history.md"
    path.write_text(path.read_text().replace("type: history", "type: diary"))
    answered = cru("inbox", "answer", name, "--ack")
    assert answered.exit_code == 0
    assert answered.stderr.startswith(
        f"warning: {name}: answered, but its history could not be updated: {path}: line 1: type is not `history`"
    )
    assert name not in {one["session"] for one in told(cru)}


def test_what_a_subagent_asked_is_answered_in_its_parents_history(filled: Vault, cru: Cru) -> None:
    child = "2026-11-21-add-clock"
    note(filled, child, "> [!decision_needed]\n> Which clock?")
    for name, line in (
        (child, 'parent: "[[2026-11-21-add]]"\n'),
        ("2026-11-21-add", f"subagents:\n  - session: {child}\n"),
    ):
        path = filled.find(name)
        path.write_text(path.read_text().replace("status:", f"{line}status:", 1))
    assert cru("session", "end", "2026-11-21-add").exit_code == 0
    assert "- Which clock? (subagent A title)" in history_of(filled, "2026-11-21-add")
    assert cru("inbox", "answer", child, "Monotonic.").exit_code == 0
    assert "Which clock?" not in history_of(filled, "2026-11-21-add")
    assert "- Which store?: - SQLite" in history_of(filled, "2026-11-21-add")


def test_an_error_that_somebody_let_be_is_no_open_question(filled: Vault, cru: Cru) -> None:
    name = "2026-10-01-old"
    (error,) = told(cru, "--type", "error")
    assert cru("session", "end", name).exit_code == 0
    assert cru("inbox", "answer", error["id"], "--ack").exit_code == 0
    assert "No disk" not in history_of(filled, name)
