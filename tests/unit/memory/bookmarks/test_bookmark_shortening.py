"""Old bookmarks are shortened to one line each; all other lines stay, even those appended meanwhile."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import NoteChanged, VaultError
from crucible.memory.bookmarks.bookmark import (
    BOOKMARKS,
    Bookmark,
    StopReason,
    append_bookmark,
    follow_rename,
    latest,
    load_bookmarks,
    shorten_bookmarks,
)
from crucible.vault.logs.jsonl_store import append_line, append_lines, rewrite_lines
from tests.git_repositories import git
from tests.unit.memory.bookmarks.bookmark_strategies import bookmarks

NOW = datetime(2026, 2, 22, 9, tzinfo=UTC)
OLD = Bookmark(
    *("b-1", "2026-02-22-x", NOW, StopReason.PAUSED, "phase-11", "Continuity", "3", "Write it", 3, 5),
    note="half\ndone",
    blockers=("no key",),
    project="shop",
    branch="main",
    head="a" * 40,
    files={"a.py": "b" * 40},
    more_files=7,
)
NEW = Bookmark("b-2", "2026-02-22-x", NOW + timedelta(hours=1), StopReason.ENDED, project="shop", note="all done")


def _path(root: Path) -> Path:
    return root / ".crucible" / "memory" / BOOKMARKS


def test_an_old_bookmark_becomes_a_one_line_summary(tmp_path: Path) -> None:
    append_bookmark(tmp_path, OLD)
    append_bookmark(tmp_path, NEW)
    before = _path(tmp_path).read_bytes().split(b"\n")
    assert shorten_bookmarks(tmp_path, ["b-1"]) == 1
    short, new = load_bookmarks(tmp_path).found
    assert new == NEW
    assert short.compacted == ("2026-02-22: Continuity, task 3 of 5 (Write it): half done; blocked: no key")
    assert (short.id, short.session, short.at, short.why) == ("b-1", OLD.session, NOW, StopReason.PAUSED)
    assert (short.files, short.note, short.blockers, short.head) == ({}, "", (), "")
    assert _path(tmp_path).read_bytes().split(b"\n")[1:] == before[1:]
    assert [one.session for one in load_bookmarks(tmp_path).found] == [OLD.session, OLD.session]


def test_shortening_twice_changes_nothing(tmp_path: Path) -> None:
    append_bookmark(tmp_path, OLD)
    shorten_bookmarks(tmp_path, ["b-1"])
    data = _path(tmp_path).read_bytes()
    assert shorten_bookmarks(tmp_path, ["b-1"]) == 0
    assert _path(tmp_path).read_bytes() == data


@given(st.lists(bookmarks, max_size=5, unique_by=lambda one: one.id), st.data())
def test_every_bookmark_is_still_there_and_no_other_line_changes(
    tmp_path_factory: pytest.TempPathFactory, given_: list[Bookmark], data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("v")
    append_line(root, BOOKMARKS, {"mood": "good"}, fsync=False)
    for one in given_:
        append_bookmark(root, one, fsync=False)
    ids = data.draw(st.sets(st.sampled_from([one.id for one in given_])) if given_ else st.just(set()))
    before = _path(root).read_bytes().split(b"\n")
    assert shorten_bookmarks(root, ids, fsync=False) == len(ids)
    after = _path(root).read_bytes().split(b"\n")
    loaded = load_bookmarks(root)
    assert {one.id: bool(one.compacted) for one in loaded.found} == {one.id: one.id in ids for one in given_}
    assert {(one.id, one.session, one.at) for one in loaded.found} == {(one.id, one.session, one.at) for one in given_}
    assert [one for one in loaded.found if one.id not in ids] == sorted(
        (one for one in given_ if one.id not in ids), key=lambda one: (one.at.timestamp(), one.id)
    )
    assert sum(new != old for new, old in zip(after, before, strict=True)) == len(ids)
    assert all(len(one.compacted) <= 240 and "\n" not in one.compacted for one in loaded.found)


def test_a_line_that_a_merge_brings_back_counts_and_its_summary_does_not(tmp_path: Path) -> None:
    append_bookmark(tmp_path, OLD)
    whole = _path(tmp_path).read_bytes()
    shorten_bookmarks(tmp_path, ["b-1"])
    _path(tmp_path).write_bytes(_path(tmp_path).read_bytes() + whole)
    assert load_bookmarks(tmp_path).found == (OLD,)
    assert latest(tmp_path, OLD.session) == OLD


def test_a_summary_follows_a_rename(tmp_path: Path) -> None:
    append_bookmark(tmp_path, OLD)
    shorten_bookmarks(tmp_path, ["b-1"])
    assert follow_rename(tmp_path, OLD.session, "2026-02-22-y") == 1
    moved = latest(tmp_path, "2026-02-22-y")
    assert moved
    assert moved.compacted.startswith("2026-02-22: Continuity")
    assert follow_rename(tmp_path, OLD.session, "2026-02-22-y") == 0


# --- lines -----------------------------------------------------------------------------------------------------------


def test_several_lines_are_written_at_once_and_none_of_none(tmp_path: Path) -> None:
    append_lines(tmp_path, "x.jsonl", [])
    assert not (tmp_path / ".crucible" / "memory" / "x.jsonl").exists()
    append_lines(tmp_path, "x.jsonl", [{"a": 1}, {"a": 2}])
    assert (tmp_path / ".crucible" / "memory" / "x.jsonl").read_bytes() == b'{"a":1}\n{"a":2}\n'


def test_one_line_that_is_too_long_keeps_back_all_of_them(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="too long"):
        append_lines(tmp_path, "x.jsonl", [{"a": 1}, {"a": "x" * (1 << 20)}])
    assert not (tmp_path / ".crucible" / "memory" / "x.jsonl").exists()


def test_a_file_that_is_not_there_is_not_rewritten(tmp_path: Path) -> None:
    assert not rewrite_lines(tmp_path, "x.jsonl", lambda lines: [*lines, b"{}"])


def test_lines_written_meanwhile_are_not_overwritten(tmp_path: Path) -> None:
    append_line(tmp_path, "x.jsonl", {"a": 1})
    path = tmp_path / ".crucible" / "memory" / "x.jsonl"

    def change(lines: object) -> list[bytes]:
        path.write_bytes(b'{"git":"checkout"}\n')
        return [b'{"a":2}']

    with pytest.raises(NoteChanged):
        rewrite_lines(tmp_path, "x.jsonl", change)
    assert path.read_bytes() == b'{"git":"checkout"}\n'


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    append_bookmark(tmp_path, OLD)
    data = _path(tmp_path).read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(VaultError, match="no space left"):
        shorten_bookmarks(tmp_path, ["b-1"])
    assert _path(tmp_path).read_bytes() == data
    assert [path.name for path in _path(tmp_path).parent.iterdir()] == [BOOKMARKS]


def test_a_union_merge_of_a_shortened_file_and_an_appended_one_loses_no_bookmark(tmp_path: Path) -> None:
    git(tmp_path, "init", "-b", "main")
    (tmp_path / ".gitattributes").write_text(".crucible/memory/**/*.jsonl merge=union\n")
    append_bookmark(tmp_path, OLD)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "one")
    git(tmp_path, "checkout", "-b", "side")
    append_bookmark(tmp_path, NEW)
    git(tmp_path, "commit", "-am", "two")
    git(tmp_path, "checkout", "main")
    shorten_bookmarks(tmp_path, ["b-1"])
    git(tmp_path, "commit", "-am", "three")
    git(tmp_path, "merge", "side")
    loaded = load_bookmarks(tmp_path)
    assert ([one.id for one in loaded.found], loaded.problems) == (["b-1", "b-2"], ())
    assert all(orjson.loads(line) for line in _path(tmp_path).read_bytes().split(b"\n") if line)
