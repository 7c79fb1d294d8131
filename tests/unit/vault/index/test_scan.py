"""The fast scan finds the same notes as `vault.notes.walk`, with the system's stamps."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.vault.index import scan as scanning
from crucible.vault.index.scan import UNKNOWN, VaultScan, scan_folders, stamp_of
from crucible.vault.notes.walk import find_notes
from tests.cases import fewer

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

# fmt: off
NAMES = (
    "a.md", "b.MD", "c.mD", ".hidden.md", ".md", "md", "x.txt", "d", "e.md", ".f", "g", "é.md", "\udcff.md", "\udcff", "new\nline.md",
    " .md", "a.md.txt", "..md", "MD.md",
)
# fmt: on
TARGETS = (
    "..",
    "../..",
    "d",
    "e.md",
    "../d",
    "../a.md",
    "nowhere",
    "/",
    "../../outside",
    "../../outside/x.md",
    ".",
    "g",
    "a.md",
)

Tree = dict[str, object]
"""Names with what is there: None for a file, a text for a symlink, "fifo:" for a pipe, a tree for a folder."""

things: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.none(), st.none(), st.sampled_from(TARGETS), st.just("fifo:")),
    lambda inner: st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=14,
)
trees = st.dictionaries(st.sampled_from(NAMES), things, max_size=6)


def grow(folder: Path, tree: Tree) -> None:
    folder.mkdir(parents=True)
    for name, thing in tree.items():
        path = folder / name
        if isinstance(thing, dict):
            grow(path, thing)
        elif thing is None:
            path.write_bytes(os.fsencode(name))
        elif thing == "fifo:":
            os.mkfifo(path)
        else:
            path.symlink_to(str(thing))


def walked(root: Path, start: str) -> tuple[dict[str, set[str]], list[str]]:
    """What `find_notes` says."""
    told: list[str] = []
    found = find_notes(root, root / start, lambda error: told.append(str(error)))
    return {folder.relative_to(root).as_posix(): set(names) for folder, names in found}, sorted(told)


def scanned(found: VaultScan) -> tuple[dict[str, set[str]], list[str]]:
    return {one.folder: set(one.names) for one in found.folders}, sorted(found.unwalked)


def without_empty(found: tuple[dict[str, set[str]], list[str]]) -> tuple[dict[str, set[str]], list[str]]:
    return {folder: names for folder, names in found[0].items() if names}, found[1]


def check_stamps(root: Path, found: VaultScan) -> None:
    for one in found.folders:
        assert len(one.names) == len(set(one.names))
        assert len(one.stamps) == 4 * len(one.names)
        for name, stamp in one.items():
            path = root / one.folder / name
            regular = path.is_file() and not path.is_symlink()
            assert stamp == (stamp_of(path.lstat()) if regular else UNKNOWN)
            assert (name in one.odd) == (not regular)


@fewer(2)
@given(trees, st.sampled_from([0, 1, 3, 16_000]))
def test_the_same_notes_are_found(tree: Tree, threshold: int) -> None:
    kept = scanning._WORTH_A_PROCESS
    place = Path(os.path.realpath(tempfile.mkdtemp()))
    try:
        grow(place / "v" / "sessions", tree)
        grow(place / "outside", {"x.md": None})
        root = place / "v"
        scanning._WORTH_A_PROCESS = threshold
        found = scan_folders(str(root), ["sessions"])
        assert without_empty(scanned(found)) == without_empty(walked(root, "sessions"))
        check_stamps(root, found)
    finally:
        scanning._WORTH_A_PROCESS = kept
        shutil.rmtree(place)


@given(trees)
@settings(max_examples=settings.default.max_examples // 4 + 1 if settings.default else 50)
def test_the_same_notes_are_found_in_a_vault_of_nothing_but_sessions(tree: Tree) -> None:
    place = Path(os.path.realpath(tempfile.mkdtemp()))
    try:
        grow(place / "v", tree)
        root = place / "v"
        found, told = scanned(scan_folders(str(root), ["."]))
        expected, messages = walked(root, ".")
        assert _joined(found) == _joined(expected)
        assert [os.path.normpath(text) for text in told] == [os.path.normpath(text) for text in messages]
    finally:
        shutil.rmtree(place)


def _joined(found: dict[str, set[str]]) -> set[str]:
    return {os.path.normpath(os.path.join(folder, name)) for folder, names in found.items() for name in names}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    grow(
        tmp_path / "v" / "sessions",
        {"a.md": None, "s": {"b.md": None, "t": {"c.md": None}}, "u": {"d.md": None}},
    )
    return Path(os.path.realpath(tmp_path / "v"))


def test_two_processes_give_the_stamps_of_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (root / "sessions" / "s" / f"{number}.md").write_text("x" * number)
    alone = scan_folders(str(root), ["sessions"])
    forks: list[int] = []
    fork = os.fork

    def counting() -> int:
        child = fork()
        if child:
            forks.append(child)
        return child

    monkeypatch.setattr(os, "fork", counting)
    for threshold in (0, 1, 7, 53):
        monkeypatch.setattr(scanning, "_WORTH_A_PROCESS", threshold)
        assert scan_folders(str(root), ["sessions"]) == alone
    assert bool(forks) == (threading.active_count() == 1 and (os.cpu_count() or 1) > 1)


def test_a_second_process_that_fails_costs_only_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    alone = scan_folders(str(root), ["sessions"])
    parent, stat = os.getpid(), os.stat

    def dying(*args: object, **more: object) -> os.stat_result:
        if os.getpid() != parent:
            os.kill(os.getpid(), 9)
        return stat(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(scanning, "_WORTH_A_PROCESS", 1)
    monkeypatch.setattr(os, "stat", dying)
    assert scan_folders(str(root), ["sessions"]) == alone


def test_a_digest_changes_with_every_name_and_stamp(root: Path) -> None:
    def digest() -> str:
        (one,) = (one for one in scan_folders(str(root), ["sessions/s"]).folders if one.folder == "sessions/s")
        return one.digest()

    path = root / "sessions" / "s" / "b.md"
    changes: list[Callable[[], object]] = [
        lambda: path.write_text("longer than before"),
        lambda: os.utime(path, (1, 1)),
        lambda: path.chmod(0o600),
        lambda: path.rename(path.with_name("z.md")),
        lambda: path.write_text("another"),
        lambda: path.with_name("z.md").unlink(),
        lambda: (path.with_name("new").write_text("another"), path.with_name("new").replace(path)),
    ]
    seen = [digest()]
    for change in changes:
        assert digest() == seen[-1]
        change()
        seen.append(digest())
    assert len(set(seen)) == len(seen)


def test_links_out_of_the_vault_are_reported_and_not_followed(root: Path, tmp_path: Path) -> None:
    grow(tmp_path / "outside", {"x.md": None})
    grow(tmp_path / "vault-beside", {"x.md": None})
    (root / "sessions" / "out").symlink_to(tmp_path / "outside")
    (root / "sessions" / "beside").symlink_to(tmp_path / "vault-beside")
    found = scan_folders(str(root), ["sessions"])
    assert sorted(found.unwalked) == [
        f"{root}/sessions/beside: points outside the vault, to {tmp_path}/vault-beside",
        f"{root}/sessions/out: points outside the vault, to {tmp_path}/outside",
    ]
    assert walked(root, "sessions") == scanned(found)
    assert scan_folders(str(root), ["sessions/../../outside"]).folders == []


def test_loops_end_and_broken_links_are_reported(root: Path) -> None:
    (root / "sessions" / "up").symlink_to("..")
    (root / "sessions" / "self").symlink_to("self")
    (root / "sessions" / "self.md").symlink_to("self.md")
    (root / "sessions" / "gone").symlink_to("nowhere")
    (root / "sessions" / "gone.md").symlink_to("nowhere")
    found = scan_folders(str(root), ["sessions"])
    assert without_empty(walked(root, "sessions")) == without_empty(scanned(found))
    assert [line.rpartition(": ")[0] for line in found.unwalked] == [f"{root}/sessions/self"]
    assert {"self.md", "gone.md"} <= {name for one in found.folders for name in one.odd}


@pytest.mark.parametrize("start", ["none", "none/deep", "file", "gone", "self"])
def test_a_start_that_is_not_a_folder_is_reported_as_by_the_walk(root: Path, start: str) -> None:
    (root / "file").write_text("x")
    (root / "gone").symlink_to("nowhere")
    (root / "self").symlink_to("self")
    found = scan_folders(str(root), [start])
    assert found.folders == []
    assert walked(root, start) == ({}, found.unwalked)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_without_permission_is_reported(root: Path) -> None:
    (root / "sessions" / "s").chmod(0)
    try:
        found = scan_folders(str(root), ["sessions"])
        assert found.unwalked == [f"{root}/sessions/s: permission denied"]
        assert walked(root, "sessions") == scanned(found)
    finally:
        (root / "sessions" / "s").chmod(0o700)


def test_several_starts_are_walked_once_each(root: Path) -> None:
    found = scan_folders(str(root), ["sessions/s", "sessions/s/t", "sessions", "sessions/s"])
    assert sorted(one.folder for one in found.folders) == [
        "sessions",
        "sessions/s",
        "sessions/s/t",
        "sessions/u",
    ]


def test_the_order_of_names_is_the_systems_own(root: Path) -> None:
    """Equal digests ask for equal orders: the same folder is listed the same way until it changes."""
    for number in range(300):
        (root / "sessions" / f"{number}.md").touch()
    assert scan_folders(str(root), ["sessions"]) == scan_folders(str(root), ["sessions"])
