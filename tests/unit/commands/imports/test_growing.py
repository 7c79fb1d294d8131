"""A transcript that grows, and a human who edits the note in the meantime."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.imports.import_result import ImportReport
from crucible.documents.markdown.source import Source
from crucible.documents.session.session_reader import read_session
from crucible.vault.notes.vault import Note, Vault
from tests.cases import fewer
from tests.unit.clients.building import Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import (
    bytes_of,
    copy_real,
    make_vault,
    notes_of,
    run_import,
    session_file,
    trunk_of,
    write_rows,
)
from tests.unit.documents.session.older_notes import older

NAMES = ("limiter", "retry")
ROWS = {"limiter": 45, "retry": 29}


class Growing:
    """One real session of which only the first rows are there."""

    def __init__(self, folder: Path, name: str, rows: int) -> None:
        self.folder = folder
        self.project = copy_real(name, folder / "project")
        self.name = name
        self.vault = make_vault(folder / "vault")
        trunk = trunk_of(self.project)
        head = b"".join(trunk.read_bytes().splitlines(keepends=True)[:rows])
        trunk.write_bytes(head)
        for notice in self.project.rglob("*.meta.json"):
            if json.loads(notice.read_bytes())["toolUseId"].encode() not in head:
                notice.with_name(notice.name.replace(".meta.json", ".jsonl")).unlink()
                notice.unlink()

    def grow(self) -> None:
        copy_real(self.name, self.project)

    def read(self) -> ImportReport:
        return run_import(self.vault, self.project)

    def edit(self, note: Note, *changes: tuple[str, str]) -> None:
        text = note.source.text
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        note.path.write_text(text, encoding="utf-8")

    def main(self) -> Note:
        return next(note for note in notes_of(self.vault).values() if note.session.parent is None)


def whole(folder: Path, name: str) -> Vault:
    vault = make_vault(folder / "whole")
    run_import(vault, copy_real(name, folder / "whole-project"))
    return vault


def body(note: Note) -> str:
    return note.source.text.partition("\n---\n")[2]


@fewer(4)
@given(st.sampled_from(NAMES), st.data())
def test_a_part_and_then_the_rest_is_the_whole(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    rows = sorted(data.draw(st.lists(st.integers(1, ROWS[name] - 1), min_size=1, max_size=2, unique=True)))
    folder = tmp_path_factory.mktemp("grown")
    growing = Growing(folder, name, rows[0])
    growing.read()
    if len(rows) > 1:
        shutil.rmtree(growing.project)
        longer = Growing(folder / "longer", name, rows[1])
        shutil.copytree(longer.project, growing.project)
        growing.read()
    growing.grow()
    growing.read()
    wanted, got = notes_of(whole(folder, name)), notes_of(growing.vault)
    assert {k: n.session for k, n in got.items()} == {k: n.session for k, n in wanted.items()}
    assert {k: body(n) for k, n in got.items()} == {k: body(n) for k, n in wanted.items()}
    before = bytes_of(growing.vault)
    assert not growing.read().updated
    assert bytes_of(growing.vault) == before


def test_whole_events_are_the_same_however_often_a_transcript_was_read(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "limiter", 20)
    growing.read()
    growing.grow()
    growing.read()
    vault = whole(tmp_path, "limiter")
    for path in vault.root.glob(".crucible/flight/*/*.jsonl"):
        other = growing.vault.root / path.relative_to(vault.root)
        kept, wanted = ([{**json.loads(line), "seq": 0} for line in p.read_bytes().splitlines()] for p in (other, path))
        assert kept == wanted


@pytest.mark.parametrize("rows", [8, 16, 28, 38])
def test_what_a_human_edited_stays_and_what_is_new_is_added(tmp_path: Path, rows: int) -> None:
    growing = Growing(tmp_path, "limiter", rows)
    growing.read()
    note = growing.main()
    growing.edit(
        note,
        ("## Add a rate limiter to this project @", "## The limiter, renamed @"),
        ("# Add a rate limiter to this project\n", "# My own title\n\nWhy we do this.\n"),
        ("branch: master", "branch: main # corrected"),
        ("  - session\nformat: 2\n---", "  - session\n  - mine\nformat: 2\nrating: 5\n---"),
        ("And a second task for the tests.\n\n", "" if rows > 8 else "And a second task for the tests.\n\n")
        if rows > 9
        else ("I'll plan the work as tasks.", "Planned."),
    )
    growing.grow()
    report = growing.read()
    assert report.updated[0] == note.name
    session = growing.main().session
    text = growing.main().source.text
    assert session.title == "My own title"
    assert "Why we do this." in text
    assert "branch: main # corrected\n" in text
    assert session.properties["rating"] == 5
    assert session.tags == ("session", "mine")
    assert [phase.name for phase in session.phases] == [
        "The limiter, renamed",
        "It must be per user, not global",
    ]
    assert "And a second task for the tests." not in text or rows < 10
    wanted = next(n for n in notes_of(whole(tmp_path, "limiter")).values() if n.session.parent is None).session
    assert [call.call for call in session.calls()] == [call.call for call in wanted.calls()]
    assert (session.tokens_used, session.status) == (wanted.tokens_used, wanted.status)
    before = bytes_of(growing.vault)
    assert not growing.read().updated
    assert bytes_of(growing.vault) == before


def test_new_entries_come_before_a_summary_and_into_their_own_phase(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 16)
    growing.read()
    note = growing.main()
    mine = "\n---\n\n## What I think of it\n\nNot much.\n\n---\n\n## Summary\n\nGoing well.\n"
    note.path.write_text(note.source.text + mine, encoding="utf-8")
    growing.grow()
    growing.read()
    session = growing.main().session
    assert [phase.name for phase in session.phases] == [
        "Fix the retry bug in app.py",
        "What I think of it",
        "No, jitter must never be zero",
    ]
    assert session.summary == "Going well."
    assert [call.call for call in session.calls()][-2:] == ["Write retry.py", "Edit retry.py"]


def test_a_deleted_phase_stays_deleted_and_what_is_new_of_it_is_not_lost(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 16)
    growing.read()
    note = growing.main()
    head, _, rest = note.source.text.partition("## Fix the retry bug")
    note.path.write_text(head + rest[rest.index("<!-- crucible") :], encoding="utf-8")
    growing.grow()
    growing.read()
    session = growing.main().session
    assert [phase.name for phase in session.phases] == [
        "Fix the retry bug in app.py",
        "No, jitter must never be zero",
    ]
    assert [call.call for call in session.calls()] == ["Edit retry.py"]
    assert "All done" in growing.main().source.text
    assert "I'll look at the project first" not in growing.main().source.text


def test_a_status_set_by_hand_stays_while_the_transcript_is_unchanged(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 29)
    growing.read()
    growing.edit(growing.main(), ("status: completed", "status: active"))
    assert len(growing.read().unchanged) == 2
    assert "status: active" in growing.main().source.text


@pytest.mark.parametrize("question", ["Done.", "Done. Shall I commit?"])
def test_an_end_set_by_the_end_of_the_file_is_not_the_users(tmp_path: Path, question: str) -> None:
    """Versions before 2.1.97 write no stop reason: a last word is the answer while nothing comes behind it."""
    told = [
        (user("Go"), 0),
        (assistant(text("I look."), stop=None), 5),
        (assistant(use("Bash", command="ls"), stop=None), 6),
        (result("call-1", "a.py"), 7),
        (assistant(text(question), stop=None, message="m2"), 8),
    ]
    rows = [{**row, "timestamp": f"2026-01-02T03:04:{second:02}.000Z"} for row, second in told]
    fresh = make_vault(tmp_path / "fresh")
    run_import(fresh, write_rows(session_file(tmp_path), rows))
    (wanted,) = notes_of(fresh).values()
    for cut in range(1, len(rows)):
        vault = make_vault(tmp_path / f"vault{cut}")
        for some in (rows[:cut], rows):
            run_import(vault, write_rows(session_file(tmp_path), some))
        (note,) = notes_of(vault).values()
        assert note.session == wanted.session


def test_a_model_that_would_be_a_link_stays_none_when_more_comes_in(tmp_path: Path) -> None:
    rows = [user("Go"), *(assistant(text(f"Word {n}."), stop="end_turn", message=f"m{n}") for n in (1, 2))]
    for row in rows[1:]:
        row["message"]["model"] = "[[m]]"
    vault = make_vault(tmp_path / "vault")
    for cut in (1, 2, 3):
        run_import(vault, write_rows(session_file(tmp_path), rows[:cut]))
        (note,) = notes_of(vault).values()
        assert note.session.model == (None if cut == 1 else "[[m]]")
        assert "[[m]]" not in note.source.text
    before = bytes_of(vault)
    assert not run_import(vault, session_file(tmp_path)).updated
    assert bytes_of(vault) == before


def test_a_note_with_crlf_keeps_its_line_ends(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "limiter", 16)
    growing.read()
    note = growing.main()
    note.path.write_bytes(note.source.text.replace("\n", "\r\n").encode())
    growing.grow()
    growing.read()
    text = growing.main().path.read_bytes().decode()
    assert not re.search(r"(?<!\r)\n", text)
    wanted = next(n for n in notes_of(whole(tmp_path, "limiter")).values() if n.session.parent is None).session
    assert read_session(Source(text.replace("\r\n", "\n")), note.name) == wanted


def test_a_renamed_note_is_found_by_its_source(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 16)
    growing.read()
    note = growing.main()
    growing.edit(note, (f"session_id: {note.name}\n", "session_id: mine\n"))
    (growing.vault.sessions / "deep").mkdir()
    note.path.rename(growing.vault.sessions / "deep" / "mine.md")
    growing.grow()
    report = growing.read()
    assert report.updated == ("mine",)
    assert not report.created


def test_a_transcript_that_became_shorter_is_left_out_as_a_copy(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 29)
    growing.read()
    before = growing.main().path.read_bytes()
    trunk = trunk_of(growing.project)
    rows = trunk.read_bytes().splitlines(keepends=True)
    trunk.write_bytes(b"".join(rows[:18]))
    report = growing.read()
    assert (report.unreadable, report.left_out) == ((), {"copy": 1})
    assert growing.main().path.read_bytes() == before


def _unmarked(note: Note) -> None:
    text = re.sub(r"\nsynced_to:(\n +- .*)+", "", note.source.text)
    assert text != note.source.text
    note.path.write_text(text, encoding="utf-8")


def _said(words: str, milliseconds: int) -> Row:
    stamp = f"2026-01-02T03:04:05.{milliseconds:03}Z"
    return assistant(text(words), stop="end_turn", timestamp=stamp)


@pytest.mark.parametrize("words", ["One *more*", "## A heading", "> quoted\n\n```\ncode"])
def test_without_a_mark_what_is_new_in_the_last_second_is_taken_by_its_words(tmp_path: Path, words: str) -> None:
    vault = make_vault(tmp_path / "vault")
    rows = [user("Go", timestamp="2026-01-02T03:04:05.100Z"), _said("Going: <b>\n\n# now", 200)]
    path = write_rows(session_file(tmp_path), rows)
    run_import(vault, path)
    (note,) = notes_of(vault).values()
    _unmarked(note)
    before = bytes_of(vault)
    assert run_import(vault, path).unchanged == (note.name,)
    assert bytes_of(vault) == before
    write_rows(path, [*rows, _said(words, 300)])
    report = run_import(vault, path)
    assert (report.updated, report.unreadable) == ((note.name,), ())
    (note,) = notes_of(vault).values()
    fresh = make_vault(tmp_path / "fresh")
    run_import(fresh, path)
    (wanted,) = notes_of(fresh).values()
    assert body(note) == body(wanted)
    assert len(run_import(vault, path).unchanged) == 1


def test_without_a_mark_possibly_new_rows_of_one_instant_are_reported(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    rows = [user("Go", timestamp="2026-01-02T03:04:05.100Z"), _said("Going", 200)]
    path = write_rows(session_file(tmp_path), rows)
    run_import(vault, path)
    (note,) = notes_of(vault).values()
    _unmarked(note)
    write_rows(path, [*rows, _said("One more", 200)])
    (told,) = run_import(vault, path).unreadable
    assert "synced_to" in told.reason


def test_only_provably_new_rows_are_added_to_a_rewritten_transcript(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "retry", 29)
    growing.read()
    trunk = trunk_of(growing.project)
    rows = [json.loads(line) for line in trunk.read_bytes().splitlines()]
    for row in rows:
        if "uuid" in row:
            row["uuid"] = "f" + row["uuid"][1:-1] + "0"
    later = dict(rows[21], uuid="abcdef01-0", timestamp="2026-11-21T22:00:00.000Z")
    later["message"] = {"role": "user", "content": "One more thing"}
    trunk.write_text("".join(json.dumps(row) + "\n" for row in [*rows, later]), encoding="utf-8")
    report = growing.read()
    assert len(report.unreadable) == 1
    session = growing.main().session
    assert [phase.name for phase in session.phases][2:] == ["One more thing"]
    assert session.synced_to == ("claude-code:abcdef01",)
    assert not growing.read().unreadable


def test_a_note_whose_comment_a_human_deleted_with_its_end_gets_no_second_note(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "limiter", 28)
    growing.read()
    note = growing.main()
    text = note.source.text
    note.path.write_text(text[: text.index("**Tool calls:**")], encoding="utf-8")
    before = growing.main().source.text
    growing.grow()
    report = growing.read()
    assert not [name for name in report.created if name.startswith(f"{note.name}-2")]
    assert ["the comment at its end, which records" in row.reason for row in report.unreadable] == [True]
    assert growing.main().source.text == before


@pytest.mark.parametrize("rows", [8, 28])
def test_a_note_of_an_older_version_grows_as_it_is(tmp_path: Path, rows: int) -> None:
    whole, growing = Growing(tmp_path / "a", "limiter", 10_000), Growing(tmp_path / "b", "limiter", rows)
    whole.read()
    growing.read()
    old = {path: older(path.read_text(encoding="utf-8")) for path in growing.vault.session_paths()}
    for path, written in old.items():
        path.write_text(written, encoding="utf-8")
    growing.grow()
    assert growing.read().unreadable == ()
    for path in whole.vault.session_paths():
        name = path.name.removesuffix(".md")
        assert growing.vault.load(name).session == whole.vault.load(name).session
    for path in old:
        now = path.read_text(encoding="utf-8")
        assert ("\nsources:\n" in now, "<!-- crucible" in now, "\ntitle:" in now) == (True, False, False)
    assert growing.read().updated == ()
