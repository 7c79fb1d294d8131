from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crucible.vault.index.watch import vouching
from crucible.vault.notes.vault import Vault

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nobody vouches elsewhere")


@contextmanager
def _answering(vault: Vault, *words: bytes, by: Callable[[str], None] = lambda _: None) -> Iterator[None]:
    """Somebody who holds the lock and says these words to every question."""
    lock = vouching.hold(str(vault.root))
    assert lock
    vouching.prepare(str(vault.sessions))
    lock.vouch_for("sessions")
    over = threading.Event()

    def serve() -> None:
        said = set()
        while not over.wait(0.001):
            for question in (vault.sessions / vouching.ASKING).glob("ask-*"):
                if question not in said:
                    said.add(question)
                    by(str(question))
                    for word in words:
                        vouching.answer(str(question), word)
                        time.sleep(0.15 if word == vouching.WAIT else 0)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        lock.release()


def _questions(vault: Vault) -> list[Path]:
    return list((vault.sessions / vouching.ASKING).glob("ask-*"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((vouching.YES,), True),
        ((vouching.NO,), False),
        ((vouching.WAIT, vouching.YES), True),
        ((vouching.WAIT, vouching.NO), False),
        ((b"?",), False),
        ((), False),
    ],
    ids=["yes", "no", "later yes", "later no", "nonsense", "silence"],
)
def test_a_query_believes_a_yes_and_nothing_else(vault: Vault, words: tuple[bytes, ...], expected: bool) -> None:
    with _answering(vault, *words):
        began = time.monotonic()
        assert vouching.ask(vault.root) is expected
        assert time.monotonic() - began < 1
    assert not _questions(vault)


def test_a_question_that_somebody_cleans_up_is_no_yes(vault: Vault) -> None:
    with _answering(vault, by=os.unlink):
        assert not vouching.ask(vault.root)


@pytest.mark.timed
def test_without_a_watcher_nobody_waits_and_nothing_is_made(vault: Vault) -> None:
    began = time.monotonic()
    assert not vouching.ask(vault.root)
    assert time.monotonic() - began < 0.05
    assert list(vault.root.rglob("ask-*")) == []
    assert not (vault.root / vouching.LOCK).exists()


@pytest.mark.timed
def test_what_a_killed_watcher_left_vouches_for_nothing(vault: Vault) -> None:
    with _answering(vault, vouching.YES):
        pass
    (vault.root / vouching.LOCK).write_text("sessions")
    began = time.monotonic()
    assert not vouching.ask(vault.root)
    assert time.monotonic() - began < 0.05


@pytest.mark.parametrize("said", ["..", "../elsewhere", "nowhere", "a\0b", "\udcff", ""])
def test_a_lock_that_names_another_folder_is_not_believed(vault: Vault, said: str) -> None:
    (vault.root.parent / "elsewhere" / vouching.ASKING).mkdir(parents=True)
    with _answering(vault, vouching.YES):
        (vault.root / vouching.LOCK).write_bytes(os.fsencode(said))
        assert not vouching.ask(vault.root)


@pytest.mark.parametrize("part", [".crucible/cache/watch", ".crucible/cache", "sessions"])
def test_a_symlink_on_the_way_is_not_followed(vault: Vault, part: str) -> None:
    with _answering(vault, vouching.YES):
        assert vouching.ask(vault.root)
        outside = vault.root.parent / "outside"
        (vault.root / part).rename(outside)
        (vault.root / part).symlink_to(outside)
        assert not vouching.ask(vault.root)


def test_a_lock_is_not_made_through_a_symlink(vault: Vault) -> None:
    outside = vault.root.parent / "outside"
    outside.mkdir()
    (vault.root / ".crucible" / "cache").symlink_to(outside)
    with pytest.raises(OSError, match="symlink"):
        vouching.hold(str(vault.root))
    assert list(outside.iterdir()) == []


def test_one_process_holds_the_lock_even_while_queries_look(vault: Vault) -> None:
    root = str(vault.root)
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            vouching.ask(root)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        for _ in range(5):
            lock = vouching.hold(root)
            assert lock
            assert vouching.hold(root) is None
            assert lock.is_in_place()
            lock.release()
    finally:
        over.set()
        looking.join()


def test_old_questions_are_cleaned_up_and_young_ones_stay(vault: Vault) -> None:
    vouching.prepare(str(vault.sessions))
    folder = vault.sessions / vouching.ASKING
    old, young = folder / "ask-old", folder / "ask-young"
    for path in (old, young):
        path.touch()
    os.utime(old, (1, 1))
    vouching.prepare(str(vault.sessions))
    assert _questions(vault) == [young]
    vouching.clean(str(vault.sessions))
    assert young.exists()
    young.unlink()
    vouching.clean(str(vault.sessions))
    assert not folder.exists()


def test_git_does_not_see_questions(vault: Vault) -> None:
    subprocess.run(["git", "init", "-q", vault.root], check=True)
    vouching.prepare(str(vault.sessions))
    (vault.sessions / vouching.ASKING / "ask-1").touch()
    shown = subprocess.run(
        ["git", "status", "--porcelain", "-uall", "sessions"],
        cwd=vault.root,
        capture_output=True,
        check=True,
    )
    assert shown.stdout == b""


def test_an_answer_to_nobody_is_no_error(tmp_path: Path) -> None:
    vouching.answer(str(tmp_path / "ask-gone"), vouching.YES)
    (tmp_path / "ask-link").symlink_to(tmp_path / "note")
    (tmp_path / "note").touch()
    vouching.answer(str(tmp_path / "ask-link"), vouching.YES)
    assert (tmp_path / "note").read_bytes() == b""


@pytest.mark.parametrize("is_read", [False, True])
def test_a_pipe_that_looks_like_a_question_gets_no_answer(tmp_path: Path, is_read: bool) -> None:
    pipe = tmp_path / "ask-x"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK) if is_read else None
    began = time.monotonic()
    vouching.answer(str(pipe), vouching.YES)
    assert time.monotonic() - began < 1
    if reader is not None:
        assert os.read(reader, 1) == b""
        os.close(reader)


def test_a_second_name_of_a_note_gets_no_answer(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("words")
    (tmp_path / "ask-x").hardlink_to(tmp_path / "note")
    vouching.answer(str(tmp_path / "ask-x"), vouching.YES)
    assert (tmp_path / "note").read_text() == "words"


@pytest.mark.parametrize("is_written", [False, True])
def test_a_pipe_as_lock_stops_nobody(vault: Vault, is_written: bool) -> None:
    lock = vault.root / vouching.LOCK
    lock.parent.mkdir(parents=True)
    os.mkfifo(lock)
    writer = os.open(lock, os.O_RDWR | os.O_NONBLOCK) if is_written else None
    if writer is not None:
        os.write(writer, b"sessions")
    began = time.monotonic()
    assert not vouching.ask(vault.root)
    assert time.monotonic() - began < 1
    with pytest.raises(OSError, match="not a file"):
        vouching.hold(str(vault.root))
    if writer is not None:
        os.close(writer)


def test_the_folder_to_ask_in_is_removed_from_where_it_was_moved_to(vault: Vault) -> None:
    vouching.prepare(str(vault.sessions))
    handle = vouching.handle_of(str(vault.sessions))
    elsewhere = vault.root.parent / "elsewhere"
    vault.root.rename(elsewhere)
    assert handle is not None
    vouching.clean(str(vault.sessions), handle)
    os.close(handle)
    assert list((elsewhere / "sessions").iterdir()) == []


def test_cleaning_up_follows_no_symlink(vault: Vault) -> None:
    outside = vault.root.parent / "outside"
    outside.mkdir()
    (outside / ".gitignore").write_text("*\n")
    (vault.sessions / vouching.ASKING).symlink_to(outside)
    vouching.clean(str(vault.sessions))
    assert (outside / ".gitignore").exists()


def test_asking_imports_next_to_nothing(vault: Vault) -> None:
    with _answering(vault, vouching.YES):
        code = (
            "import os, sys, time; before = set(sys.modules)\n"
            "from crucible.vault.index.watch import vouching\n"
            f"assert vouching.ask({str(vault.root)!r})\n"
            "print(sorted(set(sys.modules) - before))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [
        "crucible",
        "crucible.vault",
        "crucible.vault.index",
        "crucible.vault.index.watch",
        "crucible.vault.index.watch.vouching",
        "fcntl",
    ]
    assert set(eval(done.stdout)) <= {*loaded, "__future__"}
