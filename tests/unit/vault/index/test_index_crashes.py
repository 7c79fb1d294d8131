"""Killed writers, concurrent writers and full disks: the next query repairs the index."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crucible.core.errors import IndexBroken
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.index_draft import IndexDraft
from crucible.vault.index.index_files import IndexFolder
from crucible.vault.index.schema import View
from samples.waiting import is_gone, wait_until
from tests.conftest import ROOT
from tests.killing import DEATHS, deaths_of, killed_at_call
from tests.unit.vault.index.tables import (
    SETTINGS,
    Tables,
    new_vault,
    note,
    paths_of,
    rebuilt,
    refreshed,
    same_as_rebuilt,
    tables_of,
    write,
    writes_the_index,
)

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL"),
    # Python 3.12 warns of forks beside threads, which pytest-xdist has; the child uses none of them.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = new_vault(tmp_path / "v")
    for number in range(6):
        write(
            root,
            f"sessions/{number % 2}/{number}.md",
            note(str(number), f"2026-0{number // 2 + 1}-01T00:00:00Z"),
        )
    return root


def asked(root: Path, settings: VaultSettings = SETTINGS) -> tuple[Tables, Refreshed]:
    return Index(root, settings).ask(lambda view: tables_of(Refreshed(view)))


def litter(root: Path) -> list[str]:
    """Files of the index that no manifest names."""
    index = root / ".crucible" / "index"
    named = (index / "manifest.toon").read_text() if (index / "manifest.toon").exists() else ""
    files = [path for path in index.rglob("*") if path.is_file() and path.name not in {"manifest.toon", "lock"}]
    return [path.name for path in files if path.name not in named]


# --- killed ------------------------------------------------------------------------------------------------------


def test_a_build_killed_at_any_call_is_healed_by_the_next_query(root: Path) -> None:
    whole = rebuilt(root)
    for number in deaths_of(lambda: Index(root, SETTINGS).refresh(), writes_the_index):
        shutil.rmtree(root / ".crucible" / "index")
        killed_at_call(number, Index(root, SETTINGS).refresh, writes_the_index)
        assert asked(root)[0] == whole, number
        assert refreshed(root).changes == ()
        assert litter(root) == [], number


def test_a_rebuild_killed_at_any_call_is_healed_by_the_next_query(root: Path) -> None:
    whole = rebuilt(root)
    refreshed(root)
    for number in deaths_of(lambda: Index(root, SETTINGS).rebuild(), writes_the_index):
        killed_at_call(number, Index(root, SETTINGS).rebuild, writes_the_index)
        assert asked(root)[0] == whole, number


def test_a_refresh_killed_at_any_call_leaves_the_old_index_or_the_new_one(root: Path) -> None:
    old, changed = note("old", "2026-01-01T00:00:00Z"), note("new", "2026-03-01T00:00:00Z")

    def go_back() -> None:
        (root / "sessions" / "1" / "1.md").unlink(missing_ok=True)
        write(root, "sessions/0/0.md", old)
        write(root, "sessions/1/3.md", old)
        write(root, "sessions/2/6.md", old)
        refreshed(root)

    def go_on() -> None:
        (root / "sessions" / "2" / "6.md").unlink()
        write(root, "sessions/0/0.md", changed)
        write(root, "sessions/1/1.md", changed)

    go_back()
    before = rebuilt(root)
    go_on()
    after = rebuilt(root)
    for number in deaths_of(lambda: Index(root, SETTINGS).refresh(), writes_the_index):
        go_back()
        go_on()
        killed_at_call(number, Index(root, SETTINGS).refresh, writes_the_index)
        assert _on_disk(root) in (before, after), number
        assert asked(root)[0] == after, number
        assert refreshed(root).changes == ()


def _on_disk(root: Path) -> object:
    """The tables as the index has them, whatever the notes say."""
    folder = IndexFolder(str(root))
    draft = IndexDraft(folder, folder.load())
    return tables_of(Refreshed(View(draft.shards(), draft.read)))


REFRESHING = """
import itertools, sys
from crucible.vault.index.index import Index
from crucible.core.settings.settings import VaultSettings
index = Index(sys.argv[1], VaultSettings(fsync=False))
print("ready", flush=True)
for n in itertools.count():
    index.rebuild() if n % 2 == 0 else index.refresh()
"""


def started(script: str, *args: str | Path) -> subprocess.Popen[bytes]:
    """A process of its own group that has said it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *args], stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True
    )
    assert process.stdout
    process.stdout.readline()
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    with process:
        process.send_signal(signal.SIGKILL)


def _stamps(root: Path) -> dict[str, int]:
    """The files of the index with their times."""
    found = {}
    for path in (root / ".crucible" / "index").rglob("*"):
        with suppress(FileNotFoundError):
            found[str(path)] = path.stat().st_mtime_ns
    return found


@pytest.mark.parametrize("notes", [6, 260])
def test_processes_killed_at_any_moment_leave_what_the_next_query_heals(root: Path, notes: int) -> None:
    """Of 260 notes the reading is shared by processes, who must not keep the lock of their dead parent."""
    for number in range(6, notes):
        write(root, f"sessions/more/{number}.md", note(str(number)))
    whole = rebuilt(root)
    chance = random.Random(notes)
    for _ in range(DEATHS // 3):
        process = started(REFRESHING, root)
        for _ in range(chance.randrange(4)):
            before = _stamps(root)
            wait_until(lambda: _stamps(root) != before)  # noqa: B023
        end(process)
        tables, found = asked(root, VaultSettings(fsync=False, lock_seconds=5))
        assert tables == whole
        assert found.unsaved == ""
    assert refreshed(root).changes == ()


# --- at once -----------------------------------------------------------------------------------------------------


ASKING = """
import itertools, random, sys
from crucible.vault.index.schema import TABLES
from crucible.vault.index.index import Index
from crucible.core.settings.settings import VaultSettings
root, seed = sys.argv[1:]
chance = random.Random(seed)
print("ready", flush=True)
for n in itertools.count():
    index = Index(root, VaultSettings(fsync=False))
    if n % 3 == 0:
        index.refresh([f"{root}/sessions/{chance.randrange(3)}", f"{root}/sessions/1/{chance.randrange(9)}.md"])
    rows, refreshed = index.ask(lambda view: {name: list(view.rows(name)) for name in TABLES})
    paths = [row["path"] for row in rows["sessions"]]
    if len(set(paths)) != len(paths):
        sys.exit(f"rows twice: {paths}")
    if not {row["path"] for row in rows["phases"]} <= set(paths):
        sys.exit("phases of no session")
    if "sessions/still.md" not in paths:
        sys.exit("a note that nobody touches is missing")
    print(n, flush=True)
"""


def test_several_processes_refresh_at_once_while_notes_change(root: Path) -> None:
    write(root, "sessions/still.md")
    processes = [started(ASKING, root, str(seed)) for seed in range(3)]
    chance = random.Random(1)
    for _ in range(20):
        for process in processes:
            for _ in range(4):
                _change_something(root, chance)
            assert process.stdout
            assert process.stdout.readline()
    assert [process.poll() for process in processes] == [None] * 3
    same_as_rebuilt(root)
    for process in processes:
        end(process)
    same_as_rebuilt(root)


def _change_something(root: Path, chance: random.Random) -> None:
    path = f"sessions/{chance.randrange(3)}/{chance.randrange(9)}.md"
    match chance.randrange(4):
        case 0:
            (root / path).unlink(missing_ok=True)
        case 1 if (root / path).exists():
            (root / path).replace(write(root, f"sessions/{chance.randrange(3)}/{chance.randrange(9)}.md"))
        case _:
            month = chance.randrange(1, 4)
            write(root, path, note(str(chance.random()), f"2026-0{month}-01T00:00:00Z"))


def test_two_first_builds_at_once_make_one_index(root: Path) -> None:
    for _ in range(2):
        shutil.rmtree(root / ".crucible" / "index", ignore_errors=True)
        processes = [started(REFRESHING, root) for _ in range(2)]
        wait_until((root / ".crucible" / "index" / "manifest.toon").exists)
        for process in processes:
            assert process.poll() is None
            end(process)
        same_as_rebuilt(root)


# --- a disk that takes no more -----------------------------------------------------------------------------------


def mounted(place: Path, options: str) -> None:
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True, check=False
    ).returncode:
        pytest.skip("may not mount a small file system")


@pytest.fixture
def small_disk(root: Path) -> Iterator[Path]:
    """The index of the vault lies on a file system of 256 KB."""
    place = root / ".crucible" / "index"
    place.mkdir()
    mounted(place, "size=256k")
    yield place
    subprocess.run(["umount", place], check=True)


def fill(root: Path, notes: int = 60) -> None:
    for number in range(notes):
        write(
            root,
            f"sessions/many/{number}.md",
            note("long " * 200 + str(number), f"20{number % 20 + 10}-01-01T00:00:00Z"),
        )


def test_on_a_full_disk_the_answer_is_right_and_says_why_it_is_not_kept(root: Path, small_disk: Path) -> None:
    refreshed(root)
    fill(root)
    for _ in range(3):
        tables, found = asked(root)
        assert tables == rebuilt(root)
        assert found.unsaved == "no space left on device"
        assert len(found.changes) == 60
    subprocess.run(["mount", "-o", "remount,size=10m", small_disk], check=True)
    assert len(same_as_rebuilt(root).changes) == 60
    assert same_as_rebuilt(root).changes == ()


def test_an_index_that_cannot_be_kept_takes_no_room(root: Path, small_disk: Path) -> None:
    refreshed(root)
    before = sorted(path.name for path in small_disk.rglob("*") if path.is_file())
    fill(root)
    for _ in range(2):
        assert refreshed(root).unsaved == "no space left on device"
    assert [name for name in litter(root) if name not in before] == []


def test_a_full_disk_without_any_room_keeps_the_old_index(root: Path, small_disk: Path) -> None:
    refreshed(root)
    before = rebuilt(root)
    with (small_disk / "hog").open("wb", buffering=0) as hog:
        while True:
            try:
                hog.write(bytes(1024))
            except OSError:
                break
    write(root, "sessions/0/0.md", note("changed"))
    tables, found = asked(root)
    assert tables == rebuilt(root)
    assert found.unsaved == "no space left on device"
    assert _on_disk(root) == before


def test_a_disk_that_may_only_be_read_gives_the_same_answer(root: Path, small_disk: Path) -> None:
    refreshed(root)
    write(root, "sessions/0/0.md", note("changed"))
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for _ in range(2):
        tables, found = asked(root)
        assert tables == rebuilt(root)
        assert found.unsaved == "read-only file system"
        assert [change.path for change in found.changes] == ["sessions/0/0.md"]
    write(root, "sessions/0/0.md", note("0", "2026-01-01T00:00:00Z"))
    subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
    assert same_as_rebuilt(root).unsaved == ""


def test_a_fresh_disk_that_may_only_be_read_gives_the_same_answer(root: Path, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    tables, found = asked(root)
    assert tables == rebuilt(root)
    assert found.unsaved == "read-only file system"


LIMITED = """
import resource, sys
from crucible.vault.index.index import Index
from crucible.core.settings.settings import VaultSettings
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
answer, refreshed = Index(sys.argv[1], VaultSettings(fsync=False)).ask(
    lambda view: sorted(row["path"] for row in view.rows("sessions"))
)
print(refreshed.unsaved, answer)
"""


@pytest.mark.parametrize("limit", [0, 100, 300, 700, 1200, 20_000])
def test_truncated_files_are_detected(root: Path, limit: int) -> None:
    """A limit of the size of files strikes in the middle of any of them."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, root, str(limit)],
        capture_output=True, text=True, cwd=ROOT, check=True, timeout=60,
    )  # fmt: skip
    unsaved = "" if limit == 20_000 else "file too large"
    assert done.stdout == f"{unsaved} {paths_of(refreshed(root))}\n"
    same_as_rebuilt(root)


def test_rows_of_files_that_were_replaced_are_an_error_and_never_half_an_answer(root: Path) -> None:
    view: View = refreshed(root).view
    rows = view.rows("sessions")
    first = next(rows)
    Index(root, SETTINGS).rebuild()
    with pytest.raises(IndexBroken):
        list(rows)
    assert first["id"] == "4"


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _building(root: Path) -> subprocess.Popen[bytes]:
    """A process that reads many notes with others' help, once it has them."""
    code = (
        "import sys\nfrom crucible.vault.index import index\nindex.cores = lambda: 2\n"
        "from crucible.vault.index.index import Index\nfrom crucible.core.settings.settings import VaultSettings\n"
        "Index(sys.argv[1], VaultSettings(fsync=False)).refresh()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", code, str(root)], stderr=subprocess.PIPE, env=environment)
    wait_until(lambda: process.poll() is not None or len(_children(process.pid)) >= 2)
    assert process.poll() is None
    return process


@pytest.fixture
def many(root: Path) -> Path:
    for number in range(1500):
        write(root, f"sessions/many/{number}.md", note(str(number)))
    return root


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_a_reading_process_that_the_system_ends_does_not_stop_the_build(many: Path) -> None:
    process = _building(many)
    os.kill(_children(process.pid)[0], signal.SIGKILL)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (0, b"")
    assert not refreshed(many).changes
    same_as_rebuilt(many)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_reading_processes_end_in_silence_with_a_killed_parent(many: Path) -> None:
    process = _building(many)
    children = _children(process.pid)
    process.kill()
    _, told = process.communicate(timeout=60)
    assert told == b""
    wait_until(lambda: all(is_gone(child) for child in children))
