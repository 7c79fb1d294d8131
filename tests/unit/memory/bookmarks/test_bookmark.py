from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import LockTimeout, OutsideVault, VaultError
from crucible.core.files import locked
from crucible.memory.bookmarks import bookmark as keeping
from crucible.memory.bookmarks.bookmark import (
    Bookmark,
    StopReason,
    append_bookmark,
    follow_rename,
    latest,
    load_bookmarks,
)
from crucible.vault.logs import jsonl_store as lines
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from samples.waiting import SECONDS, pauses
from tests.git_repositories import commit, git
from tests.unit.memory.bookmarks.bookmark_strategies import bookmarks

NOW = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
ONE = Bookmark("b-1", "2026-11-21-x", NOW, StopReason.PAUSED, note="first")
TWO = replace(ONE, id="b-2", at=NOW + timedelta(seconds=1), note="second")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    init_vault(tmp_path / "vault")
    return tmp_path / "vault"


def _file(root: Path) -> Path:
    return root / ".crucible" / "memory" / "bookmarks.jsonl"


def _data(*given: Bookmark) -> bytes:
    """What the file holds when these were appended."""
    return b"".join(orjson.dumps(_fields(one)) + b"\n" for one in given)


def _fields(one: Bookmark) -> dict[str, object]:
    return keeping._fields(one)


def _key(one: Bookmark) -> bytes:
    """Bookmarks hold a mapping, so they have no hash."""
    return orjson.dumps(_fields(one))


def _put(root: Path, data: bytes) -> Path:
    _file(root).parent.mkdir(parents=True, exist_ok=True)
    _file(root).write_bytes(data)
    return root


@given(st.lists(bookmarks, max_size=6))
def test_bookmarks_are_loaded_by_time_then_id(tmp_path_factory: pytest.TempPathFactory, given: list[Bookmark]) -> None:
    root = _put(tmp_path_factory.getbasetemp() / "kept", b"")
    for one in given:
        append_bookmark(root, one, fsync=False)
    found = load_bookmarks(root)
    assert not found.problems
    assert {*map(_key, found.found)} == {*map(_key, given)}
    assert len(found.found) == len({*map(_key, given)})
    assert [(one.at, one.id) for one in found.found] == sorted((one.at, one.id) for one in found.found)
    for session in {one.session for one in given}:
        newest = latest(root, session)
        assert newest
        own = [(one.at, one.id) for one in given if one.session == session]
        assert (newest.at, newest.id) == max(own)


@given(bookmarks)
def test_a_bookmark_is_one_line(one: Bookmark) -> None:
    assert _data(one).count(b"\n") == 1


def test_a_vault_without_bookmarks_has_none(root: Path) -> None:
    assert load_bookmarks(root) == ((), ())
    assert latest(root, "2026-11-21-x") is None


@given(st.lists(bookmarks, min_size=1, max_size=4, unique_by=lambda one: one.id), st.data())
def test_a_truncated_file_loses_at_most_its_torn_line_and_reports_it(
    tmp_path_factory: pytest.TempPathFactory, given: list[Bookmark], data: st.DataObject
) -> None:
    whole = _data(*given)
    at = data.draw(st.integers(0, len(whole)))
    root = _put(tmp_path_factory.getbasetemp() / "cut", whole[:at])
    kept = given[: whole[:at].count(b"\n")]
    torn = whole[:at].rpartition(b"\n")[2]
    if whole[at : at + 1] == b"\n":  # only the line end is gone
        kept, torn = given[: len(kept) + 1], b""
    found = load_bookmarks(root)
    assert {one.id for one in found.found} == {one.id for one in kept}
    assert [one.line for one in found.problems] == ([whole[:at].count(b"\n") + 1] if torn else [])

    append_bookmark(root, TWO, fsync=False)
    again = load_bookmarks(root)
    assert {one.id for one in again.found} == {*(one.id for one in kept), TWO.id}
    assert again.problems == found.problems
    assert _file(root).read_bytes().startswith(whole[:at])


def test_appending_changes_no_earlier_byte(root: Path) -> None:
    before = b"\r\n<<<<<<< ours\n" + _data(ONE).replace(b"\n", b"\r\n") + b"\x00\xff{"
    _put(root, before)
    append_bookmark(root, TWO)
    assert _file(root).read_bytes() == before + b"\n" + _data(TWO)
    found = load_bookmarks(root)
    assert found.found == (ONE, TWO)
    assert [problem.line for problem in found.problems] == [2, 4]


def test_processes_that_append_at_once_lose_no_line(root: Path) -> None:
    script = (
        "import sys\nfrom datetime import UTC, datetime\nfrom pathlib import Path\n"
        "from crucible.memory.bookmarks.bookmark import append_bookmark\n"
        "from crucible.memory.bookmarks.bookmark import Bookmark, StopReason\n"
        "who = sys.argv[2]\n"
        "for n in range(40):\n"
        "    one = Bookmark(f'{who}-{n}', 'x', datetime(2026, 1, 1, tzinfo=UTC), StopReason.TASK, note='n' * n * 200)\n"
        "    append_bookmark(Path(sys.argv[1]), one, fsync=False)\n"
    )
    _put(root, b'{"id": "torn')
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(root), who], env={**os.environ, "PYTHONPATH": os.getcwd()})
        for who in "abcd"
    ]
    seen = 0
    while any(one.poll() is None for one in running):
        read = load_bookmarks(root)  # while they write, no half line is taken for a torn one
        assert len(read.found) >= seen
        seen = len(read.found)
        assert [problem.line for problem in read.problems] == [1]
    assert [one.wait() for one in running] == [0] * 4
    assert {one.id for one in load_bookmarks(root).found} == {f"{w}-{n}" for w in "abcd" for n in range(40)}


def test_a_process_killed_while_it_appends_leaves_every_earlier_line(root: Path) -> None:
    script = (
        "import sys, itertools\nfrom datetime import UTC, datetime\nfrom pathlib import Path\n"
        "from crucible.memory.bookmarks.bookmark import append_bookmark\n"
        "from crucible.memory.bookmarks.bookmark import Bookmark, StopReason\n"
        "for n in itertools.count():\n"
        "    one = Bookmark(f'k-{n}', 'x', datetime(2026, 1, 1, tzinfo=UTC), StopReason.TASK, note='n' * 9000)\n"
        "    append_bookmark(Path(sys.argv[1]), one, fsync=False)\n"
        "    print(n, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(root)],
        env={**os.environ, "PYTHONPATH": os.getcwd()},
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdout
        told = [running.stdout.readline() for _ in range(20)]
        running.kill()
        told += running.stdout.readlines()
    append_bookmark(root, ONE)
    found = {one.id for one in load_bookmarks(root).found}
    assert found >= {ONE.id, *(f"k-{int(line)}" for line in told if line.endswith(b"\n"))}


def test_git_merges_the_lines_of_two_branches(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    append_bookmark(root, ONE)
    commit(root)
    git(root, "checkout", "-qb", "other")
    append_bookmark(root, TWO)
    both = replace(ONE, id="b-4", note="on both sides")
    append_bookmark(root, both)
    commit(root)
    git(root, "checkout", "-q", "main")
    three = replace(ONE, id="b-3", at=NOW - timedelta(days=1))
    append_bookmark(root, three)
    append_bookmark(root, both)
    commit(root)
    git(root, "merge", "-q", "--no-edit", "other")
    found = load_bookmarks(root)
    assert found == ((three, ONE, both, TWO), ())


def test_a_merge_of_torn_lines_costs_those_alone(root: Path) -> None:
    git(root, "init", "-q", "-b", "main")
    append_bookmark(root, ONE)
    commit(root)
    git(root, "checkout", "-qb", "other")
    with _file(root).open("ab") as file:
        file.write(_data(TWO)[:-1])  # whole, but for its end
    commit(root)
    git(root, "checkout", "-q", "main")
    with _file(root).open("ab") as file:
        file.write(b'{"id":"torn')
    commit(root)
    git(root, "merge", "-q", "--no-edit", "other")
    found = load_bookmarks(root)
    assert ONE in found.found
    assert len(found.found) + len(found.problems) >= 2


def test_equal_lines_count_once(root: Path) -> None:
    _put(root, _data(ONE, TWO, ONE, ONE))
    assert load_bookmarks(root).found == (ONE, TWO)


def test_a_file_that_is_replaced_meanwhile_has_the_line_in_the_end(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(root, _data(ONE))
    real = os.open
    done: list[str | Path] = []

    def replaced_once(path: str | Path, flags: int, mode: int = 0o777) -> int:
        descriptor = real(path, flags, mode)
        if str(path).endswith("bookmarks.jsonl") and not done:
            done.append(path)
            (root / "new").write_bytes(_data(ONE))
            (root / "new").replace(path)
        return descriptor

    monkeypatch.setattr(os, "open", replaced_once)
    append_bookmark(root, TWO)
    assert done
    assert load_bookmarks(root).found == (ONE, TWO)


def test_a_full_disk_leaves_the_file_as_it_was(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _put(root, _data(ONE))
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(descriptor, bytes(data)[:50])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(VaultError, match="no space left"):
        append_bookmark(root, replace(TWO, note="second " * 20))
    assert _file(root).read_bytes() == _data(ONE)


def test_a_time_in_another_zone_is_the_same_moment(root: Path) -> None:
    zone = timezone(timedelta(hours=5, minutes=30))
    append_bookmark(root, replace(ONE, at=ONE.at.astimezone(zone)))
    assert load_bookmarks(root).found == (ONE,)
    assert b'"2026-11-21T20:26:47Z"' in _file(root).read_bytes()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"id": 7}, "`id` is not text"),
        ({"id": ""}, "`id` is not an id"),
        ({"id": "../x"}, "`id` is not an id"),
        ({"session": "../../x"}, "`session`"),
        ({"at": "2026-11-21T20:26:47"}, "`at`"),
        ({"at": "soon"}, "`at`"),
        ({"at": "0001-01-01T00:00:00+23:59"}, "`at`"),
        ({"why": "later"}, "`why`"),
        ({"head": "--output=/tmp/x"}, "`head`"),
        ({"branch": "--upload-pack=x"}, "`branch`"),
        ({"task_number": True}, "`task_number`"),
        ({"task_count": -1}, "`task_count`"),
        ({"blockers": "one"}, "`blockers`"),
        ({"files": ["- /etc/passwd"]}, "`files`"),
        ({"files": ["- ../out"]}, "`files`"),
        ({"files": ["- a/../../out"]}, "`files`"),
        ({"files": ["- a\\..\\..\\out"]}, "`files`"),
        ({"files": ["- C:/Windows/x"]}, "`files`"),
        ({"files": ["- a\x00b"]}, "`files`"),
        ({"files": ["zz a.py"]}, "`files`"),
        ({"files": {"a.py": ""}}, "`files`"),
    ],
)
def test_a_forged_line_is_skipped_and_reported(root: Path, wrong: dict[str, object], said: str) -> None:
    _put(root, orjson.dumps(_fields(TWO) | wrong) + b"\n" + _data(ONE))
    found = load_bookmarks(root)
    assert found.found == (ONE,)
    assert [problem.line for problem in found.problems] == [1]
    assert said in found.problems[0].message


@pytest.mark.parametrize("line", [b"[]", b"null", b'"text"', b"\xff\xfe", b"{" * 5000, b" " * 10 + b"7"])
def test_json_that_is_no_record_is_reported(root: Path, line: bytes) -> None:
    _put(root, line + b"\n" + _data(ONE))
    found = load_bookmarks(root)
    assert found.found == (ONE,)
    assert [problem.code for problem in found.problems] == ["torn-line"]


def test_a_field_of_a_later_version_is_passed_over(root: Path) -> None:
    _put(root, orjson.dumps(_fields(ONE) | {"mood": "good"}) + b"\n")
    assert load_bookmarks(root) == ((ONE,), ())


def test_a_session_whose_id_begins_like_anothers_has_its_own_bookmark(root: Path) -> None:
    append_bookmark(root, replace(TWO, session=f"{ONE.session}-more", note=ONE.session))
    append_bookmark(root, ONE)
    assert latest(root, ONE.session) == ONE


def test_no_line_is_written_out_of_the_vault(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / ".crucible" / "memory").rmdir()
    (root / ".crucible" / "memory").symlink_to(outside)
    with pytest.raises(OutsideVault):
        append_bookmark(root, ONE)
    with pytest.raises(OutsideVault):
        load_bookmarks(root)
    (root / ".crucible" / "memory").unlink()
    (root / ".crucible" / "memory").mkdir()
    _file(root).symlink_to(outside / "x.jsonl")
    with pytest.raises(OutsideVault):
        append_bookmark(root, ONE)
    assert not list(outside.iterdir())
    _file(root).unlink()
    _file(root).symlink_to(root / ".gitattributes")
    before = (root / ".gitattributes").read_bytes()
    for call in (append_bookmark, lambda at, _: load_bookmarks(at)):
        with pytest.raises(OutsideVault, match="a symlink"):
            call(root, ONE)
    assert (root / ".gitattributes").read_bytes() == before


def test_a_folder_or_a_pipe_in_the_files_place_is_one_clear_line(root: Path) -> None:
    _file(root).mkdir()
    with pytest.raises(VaultError, match="cannot be written"):
        append_bookmark(root, ONE)
    with pytest.raises(VaultError, match="cannot be read"):
        load_bookmarks(root)
    _file(root).rmdir()
    os.mkfifo(_file(root))
    with pytest.raises(VaultError, match="cannot be"):
        append_bookmark(root, ONE)
    with pytest.raises(VaultError, match="cannot be read"):
        load_bookmarks(root)


def test_a_lock_time_out_is_an_error(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LOCK_SECONDS", 0.01)
    with locked(root, _file(root)), pytest.raises(LockTimeout):
        append_bookmark(root, ONE)


def test_a_note_that_is_too_long_for_a_line_is_refused(root: Path) -> None:
    with pytest.raises(VaultError, match="too long"):
        append_bookmark(root, replace(ONE, note="x" * lines.LONGEST_LINE))
    assert not _file(root).exists()


def test_a_vault_that_cannot_be_written_can_be_read(root: Path) -> None:
    _put(root, _data(ONE) + b'{"id"')
    (root / ".crucible" / "cache").write_text("no folder, so no lock")
    assert load_bookmarks(root).found == (ONE,)


def test_ten_thousand_bookmarks_are_no_wait(vault: Vault) -> None:
    many = [replace(ONE, id=f"b-{n}", session=f"s-{n % 1000}") for n in range(10_000)]
    _put(vault.root, _data(*many))
    newest = latest(vault.root, "s-7")
    assert newest
    assert newest.id == "b-9007"


def test_the_bookmarks_of_a_renamed_session_are_the_new_ones_too(root: Path) -> None:
    append_bookmark(root, ONE)
    append_bookmark(root, TWO)
    append_bookmark(root, replace(TWO, id="b-9", session="other", note=ONE.session))
    assert follow_rename(root, ONE.session, "2026-11-21-y") == 2
    newest = latest(root, "2026-11-21-y")
    assert newest
    assert newest == replace(TWO, id=newest.id, session="2026-11-21-y")
    before = _file(root).read_bytes()
    assert follow_rename(root, ONE.session, "2026-11-21-y") == 0
    assert _file(root).read_bytes() == before
    ids = [one.id for one in load_bookmarks(root).found]
    assert len(ids) == len({*ids}) == 5


def test_a_line_that_is_being_written_is_waited_for(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _data(ONE, TWO)
    begun, paused = threading.Event(), pauses(monkeypatch)

    def write() -> None:
        with locked(root, _file(root)):
            _put(root, whole[:-20])
            begun.set()
            assert paused.wait(SECONDS)
            _put(root, whole)

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait()
    found = load_bookmarks(root)
    writer.join()
    assert found == ((ONE, TWO), ())
