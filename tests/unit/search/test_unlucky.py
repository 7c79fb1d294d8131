"""Recall among hostile files and busy writers: nothing outside the vault is touched, nobody waits, nothing sound is thrown away."""

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
from tests.unit.search.vaults import NOW, ask, found, recall, session_of, vault_of

INDEX = Path(".crucible", "cache", "recall")
CARD = Path(".crucible", "cache", "knowledge.json")
ENDLESS = '{"schema": 1, "items": {"knowledge/a.md": ["", "", ["", "", ""], ["", 0, Infinity, 0, null, null]]}}'

posix = pytest.mark.skipif(os.name != "posix", reason="symlinks and pipes")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return vault_of(tmp_path / "v", session_of("one", "a token bucket"), session_of("two", "a cold cache"))


def _in_time(root: Path) -> list[str]:
    """What is found by a process that is given up when it waits for ever."""
    # Not forked from this one, whose engine has had threads: of a lock that one of them held the child would wait for ever, too.
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
def test_what_lies_where_the_engine_opens_its_own_files_is_removed(
    name: str, lay: Callable[[Path], None], root: Path
) -> None:
    assert ask(root, "token").hits
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
def test_whatever_the_cache_of_knowledge_is_a_question_is_answered(lay: Callable[[Path], None], root: Path) -> None:
    assert ask(root, "token").hits
    lay(root / CARD)
    assert _in_time(root) == ["a token bucket"]


# --- what no index holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["f" * 128, f'"{"e" * 128} {"d" * 128}"', "é" * 60])
def test_words_that_are_too_long_to_be_indexed_find_nothing_rather_than_anything(text: str, root: Path) -> None:
    answer = ask(root, text)
    assert not answer.hits
    assert not answer.sessions
    assert "too long" in answer.notes[0]


@pytest.mark.parametrize("field", ["session", "agent", "channel", "project"])
@pytest.mark.parametrize("value", ["\udcff", "\0", "x" * 100_000, "../../x"])
def test_a_filter_of_any_text_is_answered(field: str, value: str, root: Path) -> None:
    assert not ask(root, "token", **{field: value}).hits


def test_a_name_that_is_longer_than_the_index_keeps_is_a_filter_all_the_same(tmp_path: Path) -> None:
    name = "p" * 300
    root = vault_of(tmp_path / "v", session_of("one", "a token bucket", project=name))
    assert ask(root, "token", project=name).hits


# --- busy writers ----------------------------------------------------------------------------------------------------


def test_an_index_that_is_replaced_again_and_again_is_never_thrown_away(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask(root, "token").hits
    index = root / INDEX / "index.json"
    whole, opened = open_searchers, 0

    def replaced(store: RecallStore, manifest: RecallManifest) -> Searchers:
        nonlocal opened
        opened += 1
        if opened < 6:
            os.utime(index, ns=(opened, opened))  # as a writer's new manifest has another stamp
            raise IndexBroken("replaced while it was opened")
        return whole(store, manifest)

    monkeypatch.setattr(embedded, "open_searchers", replaced)
    forgotten: list[RecallStore] = []
    monkeypatch.setattr(RecallStore, "forget", forgotten.append)
    assert found(ask(root, "token")) == ["a token bucket"]
    assert not forgotten


def test_an_index_that_cannot_be_read_is_not_thrown_away_under_a_writer(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    "told",
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
def test_a_manifest_that_is_whole_and_not_ours_is_none(told: bytes) -> None:
    assert load_manifest(b"%s\n%d\n" % (told, crc32(told))) is None


def test_an_item_that_another_program_put_in_place_with_the_same_size_and_time_is_read_anew(
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
