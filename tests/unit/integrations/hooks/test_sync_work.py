"""A turn's sync costs by what is new, and writes the same note as one that reads everything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest

from crucible.commands.imports import session_notes, trunk_fold
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import Body
from crucible.memory.summary import brief_updates
from crucible.memory.summary.brief import find_brief
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import Row
from tests.unit.commands.imports.places import make_vault
from tests.unit.commands.imports.test_kept_folds import story
from tests.unit.integrations.hooks.playing import Client, log_of, sync


def turns_of(rows: list[Row]) -> list[list[Row]]:
    """The rows from one prompt to the next."""
    numbers: list[int] = []
    for row in rows:
        numbers.append((numbers[-1] if numbers else -1) + ("thinkingMetadata" in row))
    return [[row for _, row in group] for _, group in groupby(zip(numbers, rows, strict=True), lambda pair: pair[0])]


@pytest.fixture(autouse=True)
def _short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the folds of short logs, and leave short notes to the next query."""
    monkeypatch.setattr(session_notes, "_LONG", 1)
    monkeypatch.setattr(trunk_fold, "WORTH_IT", 1)
    monkeypatch.setattr(trunk_fold, "BEFORE_END", 1500)


def syncing(client: Client, turns: list[list[Row]]) -> Iterator[str]:
    """Sync after each turn, and yield the note's text."""
    for turn in turns:
        client.say(*turn)
        client.call("Stop")
        sync(client)
        (path,) = Vault(client.root).session_paths()
        yield path.read_text()


def work_of_a_turn(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """The blocks of notes that the sync of one turn reads, after this number of turns."""
    client = Client(make_vault(folder / "vault").root, folder)
    *before, more, last = turns_of(story(count + 2))
    [*_] = syncing(client, [[*chain.from_iterable(before)], more])
    read, blocks = Body.read, 0

    def counting(body: Body, found: Any) -> None:
        nonlocal blocks
        blocks += len(found)
        read(body, found)

    with monkeypatch.context() as patch:
        patch.setattr(Body, "read", counting)
        [text] = syncing(client, [last])
    assert f"Covers: phase-{count + 1} " in text
    assert not log_of(client.root)
    return blocks


def test_the_sync_of_a_turn_reads_no_more_of_a_longer_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short, long = (work_of_a_turn(tmp_path / str(count), count, monkeypatch) for count in (12, 24))
    assert long < 1.2 * short


def test_a_brief_that_is_extended_without_the_closed_phases_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = turns_of(story(11))
    is_enough, enough = brief_updates.is_enough, list[bool]()

    def noting(session: Session) -> bool:
        enough.append(is_enough(session))
        return enough[-1]

    monkeypatch.setattr(brief_updates, "is_enough", noting)
    parts, whole = (Client(make_vault(tmp_path / name).root, tmp_path / name / "home") for name in "ab")
    by_parts = [*syncing(parts, turns)]
    monkeypatch.setattr(brief_updates, "is_enough", lambda _: False)
    assert [*syncing(whole, turns)] == by_parts
    assert enough.count(True) > 3
    assert find_brief(Vault(whole.root).read(Vault(whole.root).session_paths()[0]).session)
