from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO

import pytest

from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.conftest import ROOT
from tests.journeys.notes import note, write
from tests.running import Cru

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="about inotify")


class Watching:
    """`cru watch` as a process, its lines collected as they come."""

    def __init__(self, vault: Vault, *options: str, before: Sequence[str] = ()) -> None:
        command = [*before, sys.executable, "-m", "crucible", "--vault", str(vault.root), "watch", *options]
        self.vault = vault
        self.process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.told: list[str] = []
        self.said: list[str] = []
        self._threads = [
            threading.Thread(target=self._collect, args=pair, daemon=True)
            for pair in ((self.process.stdout, self.told), (self.process.stderr, self.said))
        ]
        for thread in self._threads:
            thread.start()
        wait_until(lambda: self.said)

    def _collect(self, stream: IO[str], lines: list[str]) -> None:
        with stream:
            for line in stream:
                lines += [line.removesuffix("\n")]

    def news(self) -> list[str]:
        """The lines so far without their times."""
        return [re.sub(r"^\d\d:\d\d:\d\d  (\w+) *  ", r"\1 ", line) for line in self.told]

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(10)
        for thread in self._threads:
            thread.join(10)
        return code


def remove_folder(folder: Path) -> None:
    """Remove a folder in which the watch may be writing: a file made behind the walk's back starts it anew."""

    def removed() -> bool:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.ENOENT):
                raise
            return not folder.exists()
        return True

    wait_until(removed)


Start = Callable[..., Watching]


@pytest.fixture
def start(vault: Vault) -> Iterator[Start]:
    """Starts `cru watch` on the vault; ended when the test ends."""
    started: list[Watching] = []

    def begin(*options: str) -> Watching:
        started.append(Watching(vault, *options))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.end()


def statuses(vault: Vault) -> dict[str, str]:
    view = Index(vault.root, vault.settings).refresh().view
    return {str(row["id"]): str(row["status"]) for row in view.rows("sessions")}


def test_every_change_is_one_line(vault: Vault, start: Start) -> None:
    path = write(vault, "a", note("a"))
    watching = start()
    assert watching.said == [f"watching 1 session in {vault.sessions}"]
    expected = []

    def told(line: str) -> None:
        expected.append(line)
        wait_until(lambda: watching.news() == expected)

    write(vault, "b", note("b", status="failed"))
    told("added sessions/b.md  failed")
    path.write_text(note("a", status="paused"))
    told("changed sessions/a.md  paused")
    path.write_text(note("a", "More words.\n", status="paused"))
    told("changed sessions/a.md  paused")
    (vault.sessions / "2026").mkdir()
    path.rename(vault.sessions / "2026" / "c.md")
    told("renamed sessions/a.md → sessions/2026/c.md  paused")
    (vault.sessions / "b.md").unlink()
    told("removed sessions/b.md")
    remove_folder(vault.sessions / "2026")
    told("removed sessions/2026/c.md")
    os.utime(write(vault, "d", note("d")), (1, 1))
    told("added sessions/d.md  completed")
    os.utime(vault.sessions / "d.md")
    (vault.sessions / "picture.png").touch()
    (vault.sessions / ".hidden.md").touch()
    # The next line shows that nothing was printed about these.
    write(vault, "e", note("e"))
    told("added sessions/e.md  completed")
    assert all(re.match(r"\d\d:\d\d:\d\d  [a-z]", line) for line in watching.told)


def test_a_change_that_cru_itself_has_indexed_is_told_too(vault: Vault, cru: Cru, start: Start) -> None:
    write(vault, "a", note("a", status="active"))
    watching = start("--settle", "400")
    write(vault, "a", note("a", status="paused"))
    write(vault, "b", note("b"))
    assert statuses(vault) == {"a": "paused", "b": "completed"}
    wait_until(lambda: watching.news() == ["changed sessions/a.md  paused", "added sessions/b.md  completed"])


@pytest.mark.parametrize("new", ["bb", "2026-11-21-a-much-longer-name"])
def test_a_rename_by_cru_is_one_line(vault: Vault, cru: Cru, start: Start, new: str) -> None:
    write(vault, "a", note("a", "See [[b]].\n"))
    write(vault, "b", note("b", "# b\n\nWords, as in [[b]].\n"))
    watching = start("--settle", "1000")
    assert cru("session", "rename", "b", new).exit_code == 0
    renamed = f"renamed sessions/b.md → sessions/{new}.md  completed"
    wait_until(lambda: len(watching.told) >= 2)
    # The next line shows that no other is printed about the rename.
    write(vault, "z", note("z"))
    wait_until(lambda: "added sessions/z.md  completed" in watching.news())
    assert sorted(watching.news()) == [
        "added sessions/z.md  completed",
        "changed sessions/a.md  completed",
        renamed,
    ]


def test_one_watcher_is_enough(vault: Vault, cru: Cru, start: Start) -> None:
    watching = start()
    result = cru("watch")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"error: {vault.root}: another")
    watching.end()
    assert start().said == [f"watching 0 sessions in {vault.sessions}"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 0)])
def test_it_ends_quietly_and_leaves_nothing_behind(vault: Vault, start: Start, number: int, code: int) -> None:
    watching = start()
    assert watching.end(number) == code
    # Click ends the line in which a terminal shows ^C.
    assert (watching.said[1:], watching.told) == ([""] if code else [], [])
    assert list(vault.sessions.iterdir()) == []


def test_the_whole_vault_may_be_the_sessions_folder(vault: Vault, start: Start) -> None:
    (vault.root / ".crucible" / "config.toml").write_text('[sessions]\nfolder = "."\n')
    (vault.root / "work").mkdir()
    watching = start()
    for name in ("a", "work/b"):
        (vault.root / f"{name}.md").write_text(note(name[-1:]))
        assert name[-1:] in statuses(Vault(vault.root))
    expected = ["added a.md  completed", "added work/b.md  completed"]
    wait_until(lambda: sorted(watching.news()) == expected)


def test_after_a_killed_watcher_the_next_one_works(vault: Vault, start: Start) -> None:
    watching = start()
    watching.end(signal.SIGKILL)
    watching = start()
    write(vault, "a", note("a"))
    wait_until(lambda: watching.news() == ["added sessions/a.md  completed"])


@pytest.mark.parametrize("gone", ["moved", "deleted", "replaced"])
def test_it_ends_when_the_vault_goes_away(vault: Vault, start: Start, gone: str) -> None:
    write(vault, "a", note("a"))
    watching = start()
    elsewhere = vault.root.parent / "elsewhere"
    if gone == "deleted":
        remove_folder(vault.root)
    else:
        vault.root.rename(elsewhere)
    if gone == "replaced":
        shutil.copytree(elsewhere, vault.root)
    if gone != "deleted":
        # Still held for a moment, but nobody there hears what happens here.
        moved = Vault(elsewhere)
        write(moved, "b", note("b"))
        assert statuses(moved) == {"a": "completed", "b": "completed"}
    assert watching.process.wait(5) == 1
    watching.end()
    assert watching.said[-2:] == [
        f"error: {vault.root}: the vault was moved away or deleted",
        '       Run "cru watch" again in its new place.',
    ]
    assert vault.root.exists() is (gone == "replaced")
    if gone != "deleted":
        assert sorted(path.name for path in (elsewhere / "sessions").iterdir()) == ["a.md", "b.md"]


def test_a_burst_of_files_is_told_one_by_one(vault: Vault, start: Start) -> None:
    watching = start()
    for number in range(1500):
        write(vault, f"{number % 7}/n{number}", note(f"n{number}"))
    wait_until(lambda: len(watching.told) >= 1500)
    expected = {f"added sessions/{n % 7}/n{n}.md  completed" for n in range(1500)}
    assert set(watching.news()) == expected
    assert len(statuses(vault)) == 1500
    assert len(watching.told) == 1500


@on_linux
def test_events_that_the_kernel_drops_are_made_up_for(vault: Vault, start: Start) -> None:
    paths = [write(vault, name, note(name)) for name in ("a", "b")]
    watching = start()
    watching.process.send_signal(signal.SIGSTOP)
    room = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if room > 100_000:
        pytest.skip("the queue is too long to fill")
    for turn in range(room + 100):
        os.utime(paths[turn % 2], (turn, turn))
    write(vault, "lost", note("lost", status="failed"))
    (vault.sessions / "a.md").unlink()
    watching.process.send_signal(signal.SIGCONT)
    for _ in range(50):
        assert statuses(vault) == {"b": "completed", "lost": "failed"}
    wait_until(lambda: {"added sessions/lost.md  failed", "removed sessions/a.md"} <= set(watching.news()))
    write(vault, "later", note("later"))
    wait_until(lambda: "added sessions/later.md  completed" in watching.news())


@on_linux
@pytest.mark.parametrize("kind", ["folder", "note", "hard link"])
def test_what_can_change_unheard_is_followed_all_the_same(vault: Vault, start: Start, kind: str) -> None:
    outside = vault.root / "elsewhere"
    outside.mkdir()
    (outside / "x.md").write_text(note("x"))
    if kind == "folder":
        (vault.sessions / "linked").symlink_to(outside)
    elif kind == "note":
        (vault.sessions / "x.md").symlink_to(outside / "x.md")
    else:
        (vault.sessions / "x.md").hardlink_to(outside / "x.md")
    watching = start()
    wait_until(lambda: len(watching.said) == 2)
    assert "all notes are checked every few seconds" in watching.said[1]
    with (outside / "x.md").open("r+") as file:
        file.write(note("x", status="paused"))
        file.truncate()
    assert statuses(vault) == {"x": "paused"}
    wait_until(lambda: [line for line in watching.news() if line.endswith("x.md  paused")])


def test_another_sessions_folder_is_followed_when_the_settings_say_so(vault: Vault, start: Start) -> None:
    write(vault, "a", note("a"))
    watching = start()
    config = vault.root / ".crucible" / "config.toml"
    config.write_text("[sessions\n")
    wait_until(lambda: "not valid TOML" in watching.said[-1])
    vault.sessions.rename(vault.root / "work")
    config.write_text('[sessions]\nfolder = "work"\n')
    wait_until(lambda: "work/a.md  completed" in "".join(watching.news()))
    (vault.root / "work" / "b.md").write_text(note("b"))
    assert statuses(Vault(vault.root)) == {"a": "completed", "b": "completed"}
    wait_until(lambda: watching.news()[-1:] == ["added work/b.md  completed"])


def test_a_sessions_folder_that_goes_and_comes_is_followed(vault: Vault, start: Start) -> None:
    write(vault, "a", note("a"))
    watching = start()
    remove_folder(vault.sessions)
    wait_until(lambda: watching.news() == ["removed sessions/a.md"])
    # An error in the settings shows that the watcher went on, without creating the folder.
    config = vault.root / ".crucible" / "config.toml"
    settings = config.read_text()
    config.write_text("[sessions\n")
    wait_until(lambda: "not valid TOML" in watching.said[-1])
    config.write_text(settings)
    assert not vault.sessions.exists()
    write(vault, "b", note("b"))
    wait_until(lambda: watching.news()[1:] == ["added sessions/b.md  completed"])
    assert statuses(vault) == {"b": "completed"}


@pytest.mark.parametrize("folder", ["index", "cache"])
def test_a_deleted_index_or_cache_changes_only_speed(vault: Vault, start: Start, folder: str) -> None:
    write(vault, "a", note("a"))
    watching = start()
    remove_folder(vault.root / ".crucible" / folder)
    write(vault, "a", note("a", "More words.\n"))
    assert statuses(vault) == {"a": "completed"}
    wait_until(lambda: watching.news() == ["changed sessions/a.md  completed"])


@pytest.mark.parametrize("how", ["removed", "another folder", "older files"])
def test_an_index_that_is_not_the_one_it_kept_is_brought_up_to_date(vault: Vault, start: Start, how: str) -> None:
    write(vault, "a", note("a"))
    statuses(vault)
    index, kept = vault.root / ".crucible" / "index", vault.root / "kept"
    shutil.copytree(index, kept)
    watching = start()
    write(vault, "a", note("a", status="paused"))
    wait_until(lambda: watching.news() == ["changed sessions/a.md  paused"])
    if how != "older files":
        remove_folder(index)
    if how != "removed":
        shutil.copytree(kept, index, dirs_exist_ok=True)
    assert statuses(vault) == {"a": "paused"}
    write(vault, "a", note("a", status="failed"))
    wait_until(lambda: watching.news()[1:] == ["changed sessions/a.md  failed"])
