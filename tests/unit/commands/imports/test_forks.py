"""Forks repeat the rows of the session that they were made of: those are told, and counted, once."""

from __future__ import annotations

import json
import os
import shutil
import time
from itertools import permutations
from pathlib import Path

import pytest

from crucible.clients.claude_code import logs as claude_code
from crucible.documents.session.property_values import link_to
from crucible.vault.notes.vault import Note, Vault
from tests.unit.clients.building import Row, assistant, text, user
from tests.unit.commands.imports.places import DATA, make_vault, notes_of, run_import, write_rows

PARENT = "360dba79-c4cf-4ebd-8eb5-ce4de30e85d1"
FORK = "86acfd2d-16c1-4575-bc26-b1d9ee41c726"
FORKS_FORK = "c98824ee-0dee-4f28-9e13-1ded44020f2a"
ALL = (PARENT, FORK, FORKS_FORK)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "projects" / "-home-dev-project"
    shutil.copytree(DATA / "forks" / "-home-dev-project", folder)
    for path in folder.glob("*.jsonl"):
        os.utime(path, (time.time() + 2**30, time.time() + 2**30))  # whatever the clock of this machine says
    return folder


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path / "vault")


def by_source(vault: Vault) -> dict[str, Note]:
    return {note.session.sources[0].partition(":")[2]: note for note in notes_of(vault).values()}


def prompts(note: Note) -> list[str]:
    return [
        word
        for word in ("Fix the failing retry", "Now tell me more", "And once more", "Continue in the parent")
        if word in note.source.text.partition("\n# ")[2]
    ]


def test_what_a_fork_repeats_is_its_parents(vault: Vault, project: Path) -> None:
    assert run_import(vault, project).unreadable == ()
    notes = by_source(vault)
    assert prompts(notes[PARENT]) == ["Fix the failing retry", "Continue in the parent"]
    assert prompts(notes[FORK]) == ["Now tell me more"]
    assert prompts(notes[FORKS_FORK]) == ["And once more"]


def test_tokens_of_a_fork_are_its_own(vault: Vault, project: Path) -> None:
    run_import(vault, project)
    counted: dict[str, int] = {}
    for path in project.glob("*.jsonl"):
        for line in path.read_text().splitlines():
            message = json.loads(line).get("message") or {}
            if usage := message.get("usage"):
                counted[message["id"]] = (
                    usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["output_tokens"]
                )
    children = [note for source, note in by_source(vault).items() if source not in ALL]
    total = sum(note.session.tokens_used or 0 for note in notes_of(vault).values())
    assert total == sum(counted.values()) + sum(note.session.tokens_used or 0 for note in children)


def test_a_fork_says_what_it_continues(vault: Vault, project: Path) -> None:
    run_import(vault, project)
    notes = by_source(vault)
    assert notes[FORK].session.properties["continues"] == link_to(notes[PARENT].name)
    assert notes[FORKS_FORK].session.properties["continues"] == link_to(notes[FORK].name)
    assert notes[PARENT].session.properties["continued_by"] == link_to(notes[FORK].name)


@pytest.mark.parametrize("order", list(permutations(ALL)))
def test_the_order_of_imports_does_not_matter(tmp_path: Path, project: Path, order: tuple[str, ...]) -> None:
    whole, single = make_vault(tmp_path / "whole"), make_vault(tmp_path / "single")
    run_import(whole, project)
    for name in order:
        assert run_import(single, project / f"{name}.jsonl").unreadable == ()
    assert lines_of(single) == lines_of(whole)


def test_importing_again_changes_nothing(vault: Vault, project: Path) -> None:
    run_import(vault, project)
    again = run_import(vault, project)
    assert (again.created, again.updated, again.unreadable) == ((), (), ())


def test_a_fork_whose_parent_is_gone_keeps_all_it_has(vault: Vault, project: Path) -> None:
    (project / f"{PARENT}.jsonl").unlink()
    (project / f"{FORKS_FORK}.jsonl").unlink()
    run_import(vault, project)
    assert prompts(by_source(vault)[FORK]) == ["Fix the failing retry", "Now tell me more"]


def test_an_empty_fork_creates_no_note(vault: Vault, project: Path) -> None:
    fork = project / f"{FORK}.jsonl"
    (project / f"{FORKS_FORK}.jsonl").unlink()
    lines = fork.read_text().splitlines(keepends=True)
    fork.write_text("".join(line for line in lines if "05:41:52" not in line and "00e35627" not in line))
    report = run_import(vault, project)
    assert report.empty == (fork,)


def lines_of(vault: Vault) -> dict[str, list[str]]:
    """Without the order of properties."""
    return {name: sorted(note.source.text.split("\n")) for name, note in notes_of(vault).items()}


A, B = (f"{digit * 8}-0000-4000-8000-000000000000" for digit in "ab")


def _rows(session: str, count: int, begin: int = 0, **more: object) -> list[Row]:
    return [
        {
            **(assistant(text(f"Answer {n}."), stop="end_turn") if n % 2 else user(f"Question {n}?")),
            "uuid": f"{session[:8]}-{n}",
            "sessionId": session,
            "timestamp": f"2026-01-02T03:04:{n:02}.000Z",
            **more,
        }
        for n in range(begin, begin + count)
    ]


def test_rows_that_name_another_session_are_that_ones_where_it_has_them(tmp_path: Path, vault: Vault) -> None:
    write_rows(tmp_path / "p" / f"{A}.jsonl", _rows(A, 4))
    write_rows(tmp_path / "p" / f"{B}.jsonl", [*_rows(A, 4), *_rows(B, 2, 4)])
    report = run_import(vault, tmp_path / "p")
    assert len(report.created) == 2
    (note,) = [note for source, note in by_source(vault).items() if source == B]
    assert "Question 4?" in note.source.text
    assert "Question 0?" not in note.source.text


def test_copies_that_say_where_they_come_from_are_known_by_it(tmp_path: Path, vault: Vault) -> None:
    write_rows(tmp_path / "p" / f"{A}.jsonl", _rows(A, 4))
    copies = [
        {
            **row,
            "uuid": f"copy-{row['uuid']}",
            "sessionId": B,
            "forkedFrom": {"sessionId": A, "messageUuid": row["uuid"]},
        }
        for row in _rows(A, 4)
    ]
    write_rows(tmp_path / "p" / f"{B}.jsonl", [*copies, *_rows(B, 2, 4)])
    run_import(vault, tmp_path / "p")
    assert "Question 0?" not in by_source(vault)[B].source.text


def test_files_that_name_each_other_both_keep_their_rows(tmp_path: Path, vault: Vault) -> None:
    write_rows(tmp_path / "p" / f"{A}.jsonl", _rows("same", 4, sessionId=B))
    write_rows(tmp_path / "p" / f"{B}.jsonl", _rows("same", 4, sessionId=A))
    run_import(vault, tmp_path / "p")
    assert all("Question 0?" in note.source.text for note in by_source(vault).values())


def test_a_fork_of_what_was_compacted_is_known_by_its_first_row(tmp_path: Path, vault: Vault) -> None:
    whole = _rows(A, 8)
    write_rows(tmp_path / "p" / f"{A}.jsonl", whole)
    copies = [{**row, "sessionId": B} for row in whole[4:]]
    copies[0]["logicalParentUuid"] = "x"
    ahead = {
        "type": "queue-operation",
        "operation": "enqueue",
        "timestamp": "2026-01-02T03:05:00.000Z",
        "sessionId": B,
    }
    write_rows(tmp_path / "p" / f"{B}.jsonl", [ahead, *copies, *_rows(B, 2, 8)])
    run_import(vault, tmp_path / "p")
    text_of = by_source(vault)[B].source.text
    assert "Question 4?" not in text_of
    assert "Question 8?" in text_of


def test_a_session_without_a_sign_looks_at_no_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (A, B):
        write_rows(tmp_path / "p" / f"{name}.jsonl", _rows(name, 4))

    def fail(*_: object) -> None:
        raise AssertionError("looked at")

    monkeypatch.setattr("crucible.clients.claude_code.logs._beside", fail)
    assert [each.follows for each in claude_code.find(tmp_path / "p")] == ["", ""]
