"""Archives of sessions that ended: written at once, joined with what comes later, and read in parts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from crucible.clients.events import At, Prompted, ToolReturned, ToolUsed
from crucible.core import zstd
from crucible.core.errors import VaultError
from crucible.core.settings.settings import EventSettings
from crucible.vault.events import archive_blocks, archive_writer, event_archive
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.archive_writer import archive_events
from crucible.vault.events.event_archive import verify_archive
from crucible.vault.events.event_files import archive_path, flight_folder
from crucible.vault.events.event_reader import EventRecord, last_time, load_meta, read_records
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.events.event_retention import purge
from crucible.vault.events.event_summary import Facts
from tests.killing import deaths_of, killed_at_call

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=40)
FACTS = Facts(project="shop")


def write(root: Path, first: int, last: int, *, ended: bool = False, words: str = "") -> None:
    with FlightWriter(root, "s", ended_by=NOW if ended else None) as writer:
        for number in range(first, last):
            writer.write(Prompted(At(3 * number, time=OLD), f"é{number}{words}"), "phase-1", "c:x")
            writer.write(ToolUsed(At(3 * number + 1, time=OLD), "c", "T", {"n": number}), "phase-1", "c:x")
            writer.write(ToolReturned(At(3 * number + 2, time=OLD), "c", f"{number}{words}"), "phase-1", "c:x")


def records(root: Path) -> list[EventRecord]:
    return list(read_records(root, "s"))


def random_words(number: int, size: int) -> str:
    """Text that does not compress."""
    return os.urandom(size // 2).hex() + str(number)


def write_large(root: Path, megabytes: int) -> None:
    with FlightWriter(root, "s") as writer:
        for number in range(megabytes * 20):
            writer.write(ToolReturned(At(number, time=OLD), "c", random_words(number, 50_000)), "phase-1", "c:x")


def test_an_ended_session_is_archived_at_once_and_reads_like_lines(tmp_path: Path) -> None:
    lines, archived = tmp_path / "lines", tmp_path / "archived"
    write(lines, 0, 50)
    write(archived, 0, 50, ended=True)
    assert not flight_folder(archived, "s").exists()
    assert records(archived) == records(lines)
    told = {name: value for name, value in load_meta(lines, "s").items() if name != "sizes"}
    assert load_meta(archived, "s") == {**told, "archive": 2, "last_seq": 150, "last": "2026-10-12T12:00:00Z"}
    assert last_time(archived, "s") == last_time(lines, "s") == OLD


def test_a_session_that_may_go_on_is_written_as_lines(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "s", ended_by=OLD) as writer:
        writer.write(Prompted(At(1, time=NOW), "now"), "phase-1", "c:x")
    assert flight_folder(tmp_path, "s").exists()
    assert not archive_path(tmp_path, "s").exists()


def test_facts_are_added_to_an_archive_without_a_change_of_records(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    before = records(tmp_path)
    archive_events(tmp_path, "s", FACTS)
    assert load_meta(tmp_path, "s")["project"] == "shop"
    assert records(tmp_path) == before
    assert not flight_folder(tmp_path, "s").exists()


def test_a_session_that_goes_on_is_joined_when_it_ends_again(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    write(tmp_path, 5, 8)
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=NOW)
    before = records(tmp_path)
    assert [one.seq for one in before] == list(range(1, 26))
    archive_events(tmp_path, "s", FACTS)
    assert records(tmp_path) == before
    assert not flight_folder(tmp_path, "s").exists()
    assert load_meta(tmp_path, "s")["records"] == 25
    assert last_time(tmp_path, "s") == NOW
    assert last_time(tmp_path, "s", {"user"}) == OLD


def test_an_import_from_the_start_adds_nothing_to_an_archive(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    archive_events(tmp_path, "s", FACTS)
    before = archive_path(tmp_path, "s").read_bytes()
    write(tmp_path, 0, 5, ended=True)
    write(tmp_path, 0, 5)
    archive_events(tmp_path, "s", FACTS)
    assert archive_path(tmp_path, "s").read_bytes() == before


def count_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each block that is decompressed."""
    read: list[int] = []

    def read_block(file: object, place: archive_blocks.Place) -> bytes:
        read.append(place.length)
        return archive_blocks.read_block(file, place)  # type: ignore[arg-type]

    monkeypatch.setattr(event_archive, "read_block", read_block)
    monkeypatch.setattr(archive_writer, "read_block", read_block)
    return read


@pytest.mark.parametrize("megabytes", [2, 4])
def test_a_record_is_read_without_the_rest_of_a_large_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    write_large(tmp_path, megabytes)
    archive_events(tmp_path, "s", FACTS)
    chosen = records(tmp_path)[megabytes * 10]
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=NOW)
    read = count_bytes(monkeypatch)
    assert list(read_records(tmp_path, "s", keys={chosen.key})) == [chosen]
    assert sum(read) < 400_000


@pytest.mark.parametrize("megabytes", [2, 4])
def test_joining_a_few_records_costs_the_same_however_large_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, megabytes: int
) -> None:
    write_large(tmp_path, megabytes)
    archive_events(tmp_path, "s", FACTS)
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=NOW)
    before = records(tmp_path)
    read = count_bytes(monkeypatch)
    archive_events(tmp_path, "s", FACTS)
    assert sum(read) < 1_000_000
    assert records(tmp_path) == before


def test_keys_of_any_form_find_their_records(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    chosen = records(tmp_path)[3:5]
    assert list(read_records(tmp_path, "s", keys={one.key for one in chosen})) == chosen
    assert list(read_records(tmp_path, "s", keys={*(one.key for one in chosen), "none", ""})) == chosen
    assert list(read_records(tmp_path, "s", keys=set())) == []


def test_an_archive_of_an_earlier_version_is_read_joined_and_kept(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    before, path = records(tmp_path), archive_path(tmp_path, "s")
    text = zstd.decompress(path.read_bytes()).replace(b'"archive":2', b'"archive":1')
    path.write_bytes(zstd.compress(text.replace(b',"last":"2026-10-12T12:00:00Z"', b"")))
    assert records(tmp_path) == before
    assert list(read_records(tmp_path, "s", keys={before[2].key})) == [before[2]]
    assert last_time(tmp_path, "s") == OLD
    verify_archive(path)
    deleting = EventSettings(after="delete")
    assert purge(tmp_path, deleting, ("s",), NOW, status_of=lambda _: "").purged == ()
    assert records(tmp_path) == before
    write(tmp_path, 0, 6)  # repeats what is archived
    archive_events(tmp_path, "s", FACTS)
    assert records(tmp_path)[:15] == before
    assert len(records(tmp_path)) == 18
    assert load_meta(tmp_path, "s")["archive"] == 2


def test_where_the_setting_says_so_archived_events_are_deleted_when_they_are_old(tmp_path: Path) -> None:
    write(tmp_path, 0, 5, ended=True)
    settings = EventSettings(after="delete")
    for now, status, left in ((OLD, "", 15), (NOW, "paused", 15), (NOW, "", 0)):
        purge(tmp_path, settings, ("s",), now, status_of=lambda _, status=status: status)  # type: ignore[misc]
        assert len(records(tmp_path)) == left
    assert not archive_path(tmp_path, "s").exists()
    assert not flight_folder(tmp_path, "s").exists()


def test_any_damage_to_an_archive_is_found_unless_its_records_are_whole(tmp_path: Path) -> None:
    write(tmp_path, 0, 3, ended=True)
    before, path = records(tmp_path), archive_path(tmp_path, "s")
    verify_archive(path)
    data, harmless = path.read_bytes(), 0
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x5A]) + data[at + 1 :])
        try:
            verify_archive(path)
        except VaultError:
            continue
        assert records(tmp_path) == before
        harmless += 1
    assert harmless < 5
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(VaultError, match="damaged"):
            verify_archive(path)


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_loses_no_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    write(tmp_path, 0, 5, ended=True)
    write(tmp_path, 5, 8)
    before = records(tmp_path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr(archive_writer, "write_blocks", full)
    else:
        place: object = os if step == "fsync" else Path
        monkeypatch.setattr(place, step, full)
    with pytest.raises(VaultError, match="no space left"):
        archive_events(tmp_path, "s", FACTS)
    monkeypatch.undo()
    assert records(tmp_path) == before
    archive_events(tmp_path, "s", FACTS)
    assert records(tmp_path) == before


def nothing(root: Path) -> None:
    """Nothing was imported yet."""


def went_on(root: Path) -> None:
    write(root, 0, 3, ended=True)
    write(root, 3, 4)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
@pytest.mark.parametrize(("what", "begin"), [("import", nothing), ("import", went_on), ("end", went_on)])
def test_ending_a_session_killed_at_any_step_loses_and_doubles_nothing(
    tmp_path: Path, what: str, begin: Callable[[Path], None]
) -> None:
    whole = tmp_path / "whole"
    write(whole, 0, 4)
    expected = [(r.seq, r.values) for r in records(whole)]

    def work(root: Path) -> None:
        if what == "import":
            write(root, 0, 4, ended=True)
        archive_events(root, "s", FACTS)

    begin(tmp_path / "counted")
    for number in deaths_of(lambda: work(tmp_path / "counted")):
        root = tmp_path / str(number)
        begin(root)
        before = [(r.seq, r.values) for r in records(root)]
        killed_at_call(number, partial(work, root))
        found = [(r.seq, r.values) for r in records(root)]
        assert found in ([*before], expected)
        # The next import adds what is missing, and ends the session again.
        write(root, 0, 4, ended=True)
        archive_events(root, "s", FACTS)
        assert [(r.seq, r.values) for r in records(root)] == expected
        assert os.listdir(root / ".crucible/archive") == ["s.jsonl.zst"]
        assert not flight_folder(root, "s").exists()
        verify_archive(archive_path(root, "s"))
