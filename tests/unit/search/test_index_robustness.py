"""Recall with hostile files and busy writers: nothing outside the vault is touched, and no index is lost."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zlib import crc32

import pytest

from crucible.core.errors import IndexBroken
from crucible.core.settings.settings import VaultSettings
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded import embedded_recall as embedded
from crucible.search.embedded.index_format import RecallManifest, load_manifest
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.tantivy_search import Searchers, open_searchers
from crucible.search.recall import Question
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.unit.search.vaults import NOW, ask, found, recall, session_of, vault_of

INDEX = Path(".crucible", "cache", "recall")
CARD = Path(".crucible", "cache", "knowledge.json")
ENDLESS = '{"schema": 1, "items": {"knowledge/a.md": ["", "", ["", "", ""], ["", 0, Infinity, 0, null, null]]}}'

posix = pytest.mark.skipif(os.name != "posix", reason="symlinks and pipes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return vault_of(tmp_path / "v", session_of("one", "a token bucket"), session_of("two", "a cold cache"))


def _in_time(root: Path) -> list[str]:
    """The answer of another process, which is killed if it hangs."""
    # Spawned, not forked: a forked child would wait forever for a lock that a thread of our engine held.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with context.Pool(1) as pool:
        return pool.apply_async(_found, (root,)).get(20)


def _found(root: Path) -> list[str]:
    shelf = ItemShelf(Vault(root, VaultSettings()))
    return found(recall(root, shelf).ask(Question("token"), NOW))


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "more").write_text("x")


# --- what lies where the engine and we open files --------------------------------------------------------------------


@posix
@pytest.mark.parametrize("name", [".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json"])
@pytest.mark.parametrize("lay", [_folder, os.mkfifo, lambda path: path.symlink_to(path.parents[5] / "made")])
def test_files_planted_in_place_of_engine_files_are_removed(name: str, lay: Callable[[Path], None], root: Path) -> None:
    # In a process of its own: a thread of an engine in this one could still open its lock, and follow the symlink.
    assert _in_time(root) == ["a token bucket"]
    for side in ("events", "sessions"):
        place = root / INDEX / side / name
        with suppress(FileNotFoundError):
            place.unlink()
        lay(place)
    assert _in_time(root) == ["a token bucket"]
    assert not (root.parent / "made").exists()


@posix
@pytest.mark.parametrize(
    "lay",
    [
        os.mkfifo,
        _folder,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.write_text(ENDLESS),
        lambda path: path.write_text("[" * 200_000),
    ],
)
def test_a_question_is_answered_whatever_the_knowledge_cache_is(lay: Callable[[Path], None], root: Path) -> None:
    assert ask(root, "token").hits
    lay(root / CARD)
    assert _in_time(root) == ["a token bucket"]


# --- what no index holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["f" * 128, f'"{"e" * 128} {"d" * 128}"', "é" * 60])
def test_words_too_long_to_be_indexed_find_nothing(text: str, root: Path) -> None:
    answer = ask(root, text)
    assert not answer.hits
    assert not answer.sessions
    assert "too long" in answer.notes[0]


@pytest.mark.parametrize("field", ["session", "agent", "channel", "project"])
@pytest.mark.parametrize("value", ["\udcff", "\0", "x" * 100_000, "../../x"])
def test_a_filter_may_have_any_text(field: str, value: str, root: Path) -> None:
    assert not ask(root, "token", **{field: value}).hits


def test_a_name_too_long_for_the_index_works_as_a_filter(tmp_path: Path) -> None:
    name = "p" * 300
    root = vault_of(tmp_path / "v", session_of("one", "a token bucket", project=name))
    assert ask(root, "token", project=name).hits


# --- busy writers ----------------------------------------------------------------------------------------------------


def test_an_index_that_is_replaced_repeatedly_is_never_discarded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(root, "token").hits
    index = root / INDEX / "index.json"
    whole, opened = open_searchers, 0

    def replaced(store: RecallStore, manifest: RecallManifest) -> Searchers:
        nonlocal opened
        opened += 1
        if opened < 6:
            os.utime(index, ns=(opened, opened))  # a new manifest has another stamp
            raise IndexBroken("replaced while it was being opened")
        return whole(store, manifest)

    monkeypatch.setattr(embedded, "open_searchers", replaced)
    forgotten: list[RecallStore] = []
    monkeypatch.setattr(RecallStore, "forget", forgotten.append)
    assert found(ask(root, "token")) == ["a token bucket"]
    assert not forgotten


def test_an_unreadable_index_is_not_discarded_during_an_update(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(root, "token").hits
    monkeypatch.setattr(embedded, "open_searchers", _broken)
    with RecallStore(root / INDEX).locked(0), pytest.raises(IndexBroken):
        ask(root, "token")
    assert (root / INDEX / "index.json").exists()
    with pytest.raises(IndexBroken):
        ask(root, "token")
    monkeypatch.undo()
    assert found(ask(root, "token")) == ["a token bucket"]


def _broken(store: RecallStore, manifest: RecallManifest) -> Searchers:
    raise IndexBroken("cannot be read")


# --- a manifest that somebody else wrote -----------------------------------------------------------------------------


@for_each(
    "body",
    [
        b"[" * 200_000,
        b"[2]",
        b"5",
        b'[2,"a","",-1,0,"",0,true,{},[],{}]',
        b'[2,"a","",0,"x","",0,true,{},[],{}]',
        b'[2,"a","",0,1' + b"0" * 40 + b',"",0,true,{},[],{}]',
        b'[2,"a","",0,0,"",0,true,{},[[1,5,{},{}]],{}]',
        b'[2,"a","",0,0,"",0,true,{"x.md":["","","",null,0,0]},[],{}]',
    ],
)
def test_an_intact_manifest_that_is_not_ours_is_rejected(body: bytes) -> None:
    assert load_manifest(b"%s\n%d\n" % (body, crc32(body))) is None


def test_an_item_replaced_with_the_same_size_and_time_is_read_again(
    tmp_path: Path,
) -> None:
    vault = Vault(vault_of(tmp_path / "v"), VaultSettings())
    note = vault.root / "knowledge" / "a.md"
    note.parent.mkdir()
    note.write_text("---\ntype: pattern\nsource: manual\n---\n\n# Jitter\n\nwombat\n")
    before, was = ItemShelf(vault).stamps(), note.stat()
    note.write_text(note.read_text().replace("wombat", "quokka"))
    os.utime(note, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert ItemShelf(vault).stamps() != before
