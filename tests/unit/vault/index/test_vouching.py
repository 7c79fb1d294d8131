"""A watcher answers whether the stored index includes every change made so far."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from crucible.core.errors import VaultError
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.index_update import NoteChanges
from crucible.vault.index import index as indexing
from crucible.vault.index import scan
from crucible.vault.index.index import Index, quick_answer
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.vouching import Voucher, vouched_index
from crucible.vault.index.watch.watcher import WatchStarted, watch
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports changes in order")


@contextmanager
def _watched(vault: Vault) -> Iterator[None]:
    """While a watcher runs in another thread, which ends when the vault is no longer one."""
    started = threading.Event()

    def follow() -> None:
        with pytest.raises(VaultError):
            # No burst ends by itself within a test: only questions make the watcher read.
            watch(
                vault.root, vault.settings, 60, lambda news: started.set() if isinstance(news, WatchStarted) else None
            )

    thread = threading.Thread(target=follow)
    thread.start()
    try:
        assert started.wait(60)
        yield
    finally:
        (vault.root / ".crucible").rename(vault.root / "moved")
        thread.join()
        (vault.root / "moved").rename(vault.root / ".crucible")


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that this thread scans."""
    found: list[str] = []
    me, real = threading.get_ident(), scan.scan_folders

    def counted(root: str, starts: Any) -> scan.VaultScan:
        if threading.get_ident() == me:
            found.append(root)
        return real(root, starts)

    monkeypatch.setattr(scan, "scan_folders", counted)
    return found


def _statuses(vault: Vault) -> dict[str, str]:
    rows, _ = Index(vault.root, vault.settings).ask(lambda view: select(view, SessionQuery()))
    return {str(row["id"]): str(row["status"]) for row in rows}


@pytest.mark.parametrize("many", [1, 20])
def test_a_watched_query_sees_every_earlier_change_without_a_scan(vault: Vault, scans: list[str], many: int) -> None:
    write(vault, "a", note("a"))
    with _watched(vault):
        for number in range(10):
            for name in range(many):
                write(vault, f"b{name}", note("b", status=("failed", "paused")[number % 2]))
            assert _statuses(vault)["b0"] == ("failed", "paused")[number % 2]
            assert len(_statuses(vault)) == many + 1
        (vault.sessions / "a.md").unlink()
        assert "a" not in _statuses(vault)
        (vault.sessions / "b0.md").rename(vault.sessions / "c.md")
        assert _statuses(vault).keys() == {"c", *(f"b{name}" for name in range(1, many))}
    assert scans == []


def test_hooks_and_recall_ask_the_watcher_too(vault: Vault, scans: list[str]) -> None:
    write(vault, "a", note("a"))
    changes = NoteChanges(str(vault.root), vault.settings)
    with _watched(vault):
        write(vault, "b", note("b"))
        assert quick_answer(str(vault.root), "sessions", lambda view: view.count_sessions()) == 2
        write(vault, "c", note("c"))
        assert changes.current("").hashes.keys() == {"sessions/a.md", "sessions/b.md", "sessions/c.md"}  # type: ignore[union-attr]
    assert scans == []


@pytest.mark.parametrize("how", ["link", "hard link", "new folder", "other sessions folder"])
def test_what_a_watcher_may_miss_is_scanned_for(vault: Vault, scans: list[str], how: str) -> None:
    path, settings = write(vault, "a", note("a")), vault.settings
    outside = vault.root / "outside.md"
    outside.write_text(note("b"))
    with _watched(vault):
        match how:
            case "link":
                (vault.sessions / "b.md").symlink_to(outside)
            case "hard link":
                (vault.sessions / "b.md").hardlink_to(outside)
            case "new folder":
                (vault.sessions / "deep").mkdir()
                outside.rename(vault.sessions / "deep" / "b.md")
            case _:
                (vault.root / "others").mkdir()
                outside.rename(vault.root / "others" / "b.md")
                path.rename(vault.root / "others" / "a.md")
                settings = VaultSettings(sessions="others")
        rows, _ = Index(vault.root, settings).ask(lambda view: select(view, SessionQuery()))
        assert len(rows) == 2
        assert scans


def test_an_index_that_was_removed_or_put_back_is_not_believed(vault: Vault, tmp_path: Path) -> None:
    write(vault, "a", note("a"))
    index = vault.root / ".crucible" / "index"
    with _watched(vault):
        shutil.copytree(index, tmp_path / "kept")
        write(vault, "b", note("b"))
        assert _statuses(vault).keys() == {"a", "b"}
        shutil.copytree(tmp_path / "kept", index, dirs_exist_ok=True)
        assert _statuses(vault).keys() == {"a", "b"}
        (index / "manifest.toon").unlink()
        assert _statuses(vault).keys() == {"a", "b"}


def test_nobody_answers_without_a_watcher(vault: Vault) -> None:
    assert vouched_index(str(vault.root), "sessions") == ""
    (vault.root / ".crucible" / "cache" / "watch").mkdir(parents=True)
    assert vouched_index(str(vault.root), "sessions") == ""


def test_a_process_of_another_user_is_not_believed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault, "a", note("a"))
    with _watched(vault):
        assert vouched_index(str(vault.root), "sessions")
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        assert vouched_index(str(vault.root), "sessions") == ""


def test_a_watcher_that_does_not_answer_is_not_waited_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.vault.index.vouching._PATIENCE", 0.05)
    (vault.root / ".crucible" / "cache" / "watch").mkdir(parents=True)
    vault.sessions.mkdir(exist_ok=True)
    with closing(Voucher(str(vault.root))) as voucher:
        assert vouched_index(str(vault.root), "sessions") == ""
        voucher.folder = str(vault.sessions)
        assert vouched_index(str(vault.root), "sessions") == ""
    assert list(vault.sessions.iterdir()) == []


def test_a_copied_index_is_not_believed(vault: Vault, monkeypatch: pytest.MonkeyPatch, scans: list[str]) -> None:
    write(vault, "a", note("a"))
    index = Index(vault.root, vault.settings)
    index.refresh()
    number = int(index.token().partition("-")[2])
    for token, believed in ((index.token(), True), (f"00000000-{number}", False), (index.token() + "0", False)):
        scans.clear()
        monkeypatch.setattr(indexing, "vouched_index", lambda *_, token=token: token)
        index.refresh()
        assert (scans == []) is believed
