"""A glimpse of the bookmarks: of every line that is one, whose it is, when it was made and why."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from crucible.bookmarks.glimpsing import glimpse_bookmarks
from crucible.bookmarks.keeping import append_bookmark, load_bookmarks
from crucible.bookmarks.model import Bookmark, Why
from crucible.vault.store import Vault

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def test_it_shows_what_the_whole_bookmarks_say_in_their_order(vault: Vault) -> None:
    for hours, why in ((3, Why.PAUSED), (1, Why.TASK), (2, Why.IDLE)):
        mark = Bookmark(
            f"b{hours}", f"s{hours}", NOON - timedelta(hours=hours), why, files={"a.py": "0" * 40}
        )
        append_bookmark(vault.root, mark, fsync=False)
    path = vault.root / ".crucible" / "memory" / "bookmarks.jsonl"
    path.write_bytes(path.read_bytes() + b'{"session": "s9"}\n<<<<<<< HEAD\n{"session": "../x"')
    whole = load_bookmarks(vault.root).found
    assert [(one.session, one.at, one.why) for one in whole] == glimpse_bookmarks(vault.root)
    assert [one.session for one in whole] == ["s3", "s2", "s1"]


def test_a_vault_without_bookmarks_has_none(vault: Vault) -> None:
    assert glimpse_bookmarks(vault.root) == []
