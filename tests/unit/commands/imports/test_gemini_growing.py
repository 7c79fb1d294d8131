"""A log of Gemini CLI's that grows, is rewound, or lies there twice."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.vault.events.event_reader import read_records
from crucible.vault.notes.vault import Note, Vault
from tests.cases import fewer
from tests.unit.clients.gemini_logs import FIRST, call, dump, model, tokens, user
from tests.unit.clients.test_gemini_golden import GEMINI, longest
from tests.unit.commands.imports.places import bytes_of, make_vault, notes_of

LATER = datetime(2026, 11, 23, tzinfo=UTC)
NAMES = ("limiter", "resumed", "fault")


def read(vault: Vault, path: Path) -> ImportReport:
    return import_transcripts(vault, DIALECTS["gemini"], [path], options=ImportOptions(LATER))


def trunk(vault: Vault) -> Note:
    return next(note for note in notes_of(vault).values() if note.session.parent is None)


def body(note: Note) -> str:
    return note.source.text.partition("\n---\n")[2]


def copy(name: str, to: Path) -> Path:
    """A real session's files; the path of its trunk."""
    path = longest(name).path
    for file in [path, *path.parent.glob("*/*.jsonl")]:
        target = to / "chats" / file.relative_to(path.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return to / "chats" / path.name


@pytest.mark.parametrize("name", NAMES)
def test_importing_twice_changes_no_byte(tmp_path: Path, name: str) -> None:
    vault = make_vault(tmp_path / "vault")
    assert read(vault, GEMINI / name).created
    before = bytes_of(vault)
    again = read(vault, GEMINI / name)
    assert (again.created, again.updated) == ((), ())
    assert bytes_of(vault) == before


@fewer(4)
@given(st.sampled_from(NAMES), st.data())
def test_a_part_and_then_the_rest_is_the_whole(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("grown")
    path = copy(name, folder / "project")
    lines = path.read_bytes().splitlines(keepends=True)
    vault = make_vault(folder / "vault")
    # A subagent's log is there before its parent's tells of it, which puts it elsewhere: it comes with the whole.
    for file in path.parent.glob("*/*.jsonl"):
        file.unlink()
    for end in sorted(data.draw(st.sets(st.integers(1, len(lines) - 1), min_size=1, max_size=3))):
        path.write_bytes(b"".join(lines[:end]))
        read(vault, path)
    copy(name, folder / "project")
    read(vault, path)
    whole = make_vault(folder / "whole")
    read(whole, copy(name, folder / "again"))
    grown, expected = trunk(vault), trunk(whole)
    for key in ("tokens_used", "tokens_cached", "status", "model"):
        assert grown.session.properties.get(key) == expected.session.properties.get(key)
    assert [phase.name for phase in grown.session.phases] == [phase.name for phase in expected.session.phases]
    assert sorted(body(grown).split("\n")) == sorted(body(expected).split("\n"))


def test_calls_that_come_later_in_the_same_message_are_added(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    path = tmp_path / "session-x.jsonl"
    rows = [
        FIRST,
        user("u", "go"),
        model("m", "I look."),
        model("m", "I look.", toolCalls=[call("c", "glob", "a.py")]),
    ]
    path.write_bytes(dump(rows[:3]))
    read(vault, path)
    path.write_bytes(dump(rows))
    assert read(vault, path).updated
    assert body(trunk(vault)).count("\nI look.") == 1
    assert "- `glob" in body(trunk(vault))


def test_what_was_imported_before_it_was_taken_back_stays_and_the_new_words_come(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    path = tmp_path / "session-x.jsonl"
    rows: list[object] = [
        FIRST,
        user("u", "one"),
        model("m", "two", tokens=tokens(output=1)),
        user("v", "wrong"),
        model("n", "wronger", tokens=tokens(output=10)),
    ]
    path.write_bytes(dump(rows))
    read(vault, path)
    rows += [{"$rewindTo": "v"}, user("w", "right"), model("o", "answer", tokens=tokens(output=100))]
    path.write_bytes(dump(rows))
    read(vault, path)
    text = body(trunk(vault))
    assert text.count("> [!observation] Rewound\n> The user took back 2 messages.\n") == 1
    assert all(text.count(f'"{word}"') == 1 for word in ("one", "wrong", "right"))
    assert text.count("answer") == 1
    assert trunk(vault).session.tokens_used == 111


def test_a_document_that_was_resumed_as_a_log_is_one_session(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    messages = [user("u", "one"), model("m", "two")]
    document = tmp_path / "chats" / "session-x.json"
    document.parent.mkdir()
    document.write_text(json.dumps({**FIRST, "messages": messages}))
    assert len(read(vault, tmp_path).created) == 1
    rows = [FIRST, *messages, user("v", "three"), model("n", "four")]
    document.with_suffix(".jsonl").write_bytes(dump(rows))
    report = read(vault, tmp_path)
    assert (len(report.created), len(report.updated)) == (0, 1)
    assert [phase.name for phase in trunk(vault).session.phases] == ["one", "three"]


@pytest.mark.parametrize("alone", [False, True])
def test_the_file_that_a_resume_began_adds_nothing_to_a_session_that_still_grows(tmp_path: Path, alone: bool) -> None:
    """When it resumes, the client begins a new file with its context only, and goes on in the old one."""
    vault, log = make_vault(tmp_path / "one"), copy("limiter", tmp_path)
    rows = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(rows[:20]), encoding="utf-8")
    read(vault, tmp_path)
    begun = next(path for path in longest("limiter").path.parent.glob("session-*") if path.name != log.name)
    shutil.copy(begun, log.parent / begun.name)
    assert read(vault, log.parent / begun.name if alone else tmp_path).unreadable == ()
    log.write_text("".join(rows), encoding="utf-8")
    read(vault, tmp_path)
    whole = make_vault(tmp_path / "two")
    read(whole, tmp_path)
    assert _event_types(vault) == _event_types(whole)


def _event_types(vault: Vault) -> list[str]:
    return [one.type for one in read_records(vault.root, trunk(vault).session.id)]
