"""Purging old events: which ones, completely, still readable, and safe against kills and damage."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.clients.events import At, Event, Prompted, ToolReturned, ToolUsed
from crucible.core import zstd
from crucible.core.errors import OutsideVault, VaultError
from crucible.core.settings.settings import EventSettings
from crucible.vault.events import archive_writer
from crucible.vault.events import event_retention as retention
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.archive_blocks import read_block
from crucible.vault.events.archive_writer import archive_events, put_away
from crucible.vault.events.event_files import EVENTS, META, TOOL_TYPES, TOOLS, archive_path, flight_folder, hold_events
from crucible.vault.events.event_reader import EventRecord, load_meta, read_records
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.events.event_retention import KeptEvents, PurgeReport, is_due, move_flight, purge
from crucible.vault.events.event_summary import Facts, last_time, save_meta
from tests.killing import deaths_of, killed_at_call
from tests.unit.vault.events.flights import load_flight

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=40)
ARCHIVE, DELETE = EventSettings(), EventSettings(after="delete")


def fill(root: Path, at: datetime = OLD, session_id: str = "s", first: int = 0) -> None:
    with FlightWriter(root, session_id) as writer:
        for number in range(first, first + 6, 2):
            writer.write(Prompted(At(number, time=at), f"é{number}"), "phase-1", "c:x")
            writer.write(ToolUsed(At(number + 1, time=at), "c", "T", {"n": number}), "phase-1", "c:x")


def ended(_: str) -> str:
    return ""


def run(
    root: Path,
    settings: EventSettings = ARCHIVE,
    notes: tuple[str, ...] = ("s",),
    status_of: Callable[[str], str] = ended,
    **more: bool,
) -> PurgeReport:
    return purge(root, settings, notes, NOW, status_of=status_of, **more)


def records(root: Path) -> list[EventRecord]:
    return list(read_records(root, "s"))


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_old_events_are_compressed_and_read_as_before(tmp_path: Path) -> None:
    fill(tmp_path)
    before = load_flight(tmp_path, "s")
    report = run(tmp_path)
    assert [(one.session_id, one.last) for one in report.purged] == [("s", OLD)]
    assert not flight_folder(tmp_path, "s").exists()
    after = load_flight(tmp_path, "s")
    assert (after.records, after.torn, after.archived) == (before.records, 0, True)
    told = {name: value for name, value in before.meta.items() if name != "sizes"}
    assert after.meta == {**told, "archive": 2, "last_seq": 6, "last": "2026-10-12T12:00:00Z"}
    assert run(tmp_path) == PurgeReport("archive")


def test_an_archive_is_lines_of_json_with_the_summary_first(tmp_path: Path) -> None:
    fill(tmp_path)
    save_meta(tmp_path, "s", Facts(project="shop"))
    run(tmp_path)
    data = zstd.decompress(archive_path(tmp_path, "s").read_bytes())
    head, *lines = map(json.loads, data.splitlines())
    assert (head["project"], head["records"], head["events_count"], head["tools_count"]) == ("shop", 6, 3, 3)
    assert [line["seq"] for line in lines] == [1, 2, 3, 4, 5, 6]


def test_where_the_setting_says_so_old_events_are_deleted(tmp_path: Path) -> None:
    fill(tmp_path)
    assert [one.session_id for one in run(tmp_path, DELETE).purged] == ["s"]
    assert not flight_folder(tmp_path, "s").exists()
    assert load_flight(tmp_path, "s").records == ()


@pytest.mark.parametrize("settings", [ARCHIVE, DELETE])
def test_a_session_without_a_note_is_never_touched(tmp_path: Path, settings: EventSettings) -> None:
    fill(tmp_path)
    before = tree(tmp_path / ".crucible/flight")
    assert run(tmp_path, settings, notes=("t", "S", "s2")).kept == (KeptEvents("s", "no-note", OLD),)
    assert tree(tmp_path / ".crucible/flight") == before


@pytest.mark.parametrize(("days", "stays"), [(29.9, True), (30, False)])
def test_the_age_counts_from_the_last_record(tmp_path: Path, days: float, stays: bool) -> None:
    fill(tmp_path)
    append_entry(tmp_path, "s", "tool", {"tool": "x"}, now=NOW - timedelta(days=days))
    assert bool(run(tmp_path).kept) is stays


def test_the_times_of_the_files_do_not_make_it_older_or_younger(tmp_path: Path) -> None:
    fill(tmp_path, NOW)
    for path in flight_folder(tmp_path, "s").iterdir():
        os.utime(path, (0, 0))
    assert [one.reason for one in run(tmp_path).kept] == ["recent"]


def test_records_without_a_time_are_as_old_as_their_file(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(Prompted(At(1), "x"))
    os.utime(flight_folder(tmp_path, "s") / EVENTS, (OLD.timestamp(),) * 2)
    assert last_time(flight_folder(tmp_path, "s")) == OLD
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(Prompted(At(2, time=NOW), "y"))
        writer.write(Prompted(At(3), "z"))
    assert last_time(flight_folder(tmp_path, "s")) == NOW


def test_a_dry_run_tells_the_same_and_writes_nothing(tmp_path: Path) -> None:
    fill(tmp_path)
    fill(tmp_path, NOW, "new")
    with (flight_folder(tmp_path, "s") / EVENTS).open("ab") as file:
        file.write(b"torn")
    before = tree(tmp_path)
    told = run(tmp_path, notes=("s", "new"), dry_run=True)
    assert tree(tmp_path) == before
    done = run(tmp_path, notes=("s", "new"))
    assert [one._replace(size=0) for one in told.purged] == [one._replace(size=0) for one in done.purged]
    assert told.kept == done.kept == (KeptEvents("new", "recent", NOW),)


def test_a_session_that_went_on_is_put_away_again_with_nothing_lost_or_doubled(tmp_path: Path) -> None:
    fill(tmp_path)
    run(tmp_path)
    fill(tmp_path)  # an import that is repeated from the start
    fill(tmp_path, OLD, first=6)
    expected = [f"é{n}" for n in range(0, 12, 2)]
    both = load_flight(tmp_path, "s")
    assert [r.values["text"] for r in both.records if r.type == "Prompted"] == expected
    assert [r.seq for r in both.records] == sorted({r.seq for r in both.records})
    assert (both.meta["events_count"], both.meta["tools_count"], both.meta["records"]) == (6, 6, 12)
    run(tmp_path)
    after = load_flight(tmp_path, "s")
    assert (after.records, after.meta["records"], after.meta["events_count"]) == (both.records, 12, 6)


def test_numbers_go_on_after_those_of_the_archive(tmp_path: Path) -> None:
    fill(tmp_path)
    run(tmp_path)
    assert append_entry(tmp_path, "s", "user", {}, now=NOW) == 7
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(Prompted(At(99), "x"))
    assert [r.seq for r in records(tmp_path)] == list(range(1, 9))


def test_a_purge_that_died_between_the_two_is_finished_by_the_next(tmp_path: Path) -> None:
    fill(tmp_path)
    before = records(tmp_path)
    with hold_events(flight_folder(tmp_path, "s")) as files:
        put_away(tmp_path, "s", files)
    assert records(tmp_path) == before
    assert load_meta(tmp_path, "s")["records"] == 6
    (flight_folder(tmp_path, "s") / TOOLS).unlink()
    assert records(tmp_path) == before
    assert [one.session_id for one in run(tmp_path).purged] == ["s"]
    assert records(tmp_path) == before


def test_lines_that_are_not_records_are_archived_and_reported(tmp_path: Path) -> None:
    fill(tmp_path)
    path = flight_folder(tmp_path, "s") / EVENTS
    path.write_bytes(b"junk\n\xff[]\n" + path.read_bytes() + b'{"seq":3}\ntorn')
    before = records(tmp_path)
    run(tmp_path)
    torn: list[int] = []
    assert list(read_records(tmp_path, "s", lambda _, line: torn.append(line))) == before
    assert len(torn) == 3
    data = zstd.decompress(archive_path(tmp_path, "s").read_bytes())
    assert data.count(b"\njunk\n\xff[]\n") == 1


def test_a_session_that_goes_on_is_kept_however_old(tmp_path: Path) -> None:
    fill(tmp_path)
    before = tree(tmp_path)
    report = run(tmp_path, DELETE, status_of={"s": "paused"}.__getitem__)
    assert [(one.session_id, one.reason, one.failed) for one in report.kept] == [("s", "paused", False)]
    assert before.items() <= tree(tmp_path).items()


def test_a_folder_without_a_record_stays(tmp_path: Path) -> None:
    save_meta(tmp_path, "s", Facts(project="shop"))
    assert [one.reason for one in run(tmp_path, EventSettings(retention_days=-1)).kept] == ["no-records"]
    assert not archive_path(tmp_path, "s").exists()


def test_files_without_a_record_beside_an_archive_are_cleared_away(tmp_path: Path) -> None:
    fill(tmp_path)
    run(tmp_path)
    flight_folder(tmp_path, "s").mkdir()
    events = flight_folder(tmp_path, "s") / "events.jsonl"
    events.touch()
    os.utime(events, (OLD.timestamp(), OLD.timestamp()))  # without a record the file's own time tells
    assert run(tmp_path, EventSettings(retention_days=-1)).purged
    assert not flight_folder(tmp_path, "s").exists()
    assert len(records(tmp_path)) == 6


def test_foreign_files_in_the_folder_stay(tmp_path: Path) -> None:
    fill(tmp_path)
    (flight_folder(tmp_path, "s") / "mine.txt").write_text("mine")
    run(tmp_path)
    assert os.listdir(flight_folder(tmp_path, "s")) == ["mine.txt"]
    assert len(records(tmp_path)) == 6
    assert [one.reason for one in run(tmp_path).kept] == ["no-records"]


def damage_head(data: bytes) -> bytes:
    return b"\0" * 8 + data[8:]


def damage_middle(data: bytes) -> bytes:
    return data[:60] + bytes([data[60] ^ 0xFF]) + data[61:]


def cut(data: bytes) -> bytes:
    return data[:-20]


def other(data: bytes) -> bytes:
    return zstd.compress(b"something else\n")


@pytest.mark.parametrize("damage", [damage_head, damage_middle, cut, other])
def test_a_damaged_archive_is_reported_and_not_overwritten(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    fill(tmp_path)
    run(tmp_path)
    path = archive_path(tmp_path, "s")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(VaultError, match="damaged"):
        records(tmp_path)
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=OLD)  # is kept all the same
    before = tree(tmp_path / ".crucible/archive")
    report = run(tmp_path)
    assert [(one.session_id, "damaged" in one.reason) for one in report.failed] == [("s", True)]
    assert tree(tmp_path / ".crucible/archive") == before
    archive_path(tmp_path, "s").unlink()
    assert [r.values for r in records(tmp_path)] == [{"content": "later"}]


def test_an_archive_that_fails_verification_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)
    before = records(tmp_path)

    monkeypatch.setattr(archive_writer, "read_block", lambda file, place: read_block(file, place)[1:])
    report = run(tmp_path)
    assert [(one.session_id, one.failed) for one in report.kept] == [("s", True)]
    assert "could not be read back" in report.failed[0].reason
    assert os.listdir(tmp_path / ".crucible/archive") == []
    assert records(tmp_path) == before


def test_a_full_disk_is_reported_and_other_sessions_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        fill(tmp_path, session_id=name)
    full = iter((True, False))

    def fsync(_: int) -> None:
        if next(full, False):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    report = run(tmp_path, notes=("a", "b"))
    assert [one.session_id for one in report.purged] == ["b"]
    assert report.failed[0].reason.endswith("a.jsonl.zst: cannot be written: no space left on device")
    assert len(list(read_records(tmp_path, "a"))) == 6


def test_a_session_that_is_written_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path)

    def late(folder: Path, seconds: float, *, make: bool) -> object:
        append_entry(tmp_path, "s", "user", {}, now=NOW)
        return hold_events(folder, seconds, make=make)

    monkeypatch.setattr(retention, "hold_events", late)
    assert [one.reason for one in run(tmp_path).kept] == ["recent"]
    assert len(records(tmp_path)) == 7


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_a_purge_killed_at_any_step_loses_nothing(tmp_path: Path) -> None:
    def work(root: Path) -> None:
        purge(root, EventSettings(), ("s",), NOW, status_of=ended)

    fill(tmp_path / "counted")
    for number in deaths_of(lambda: work(tmp_path / "counted")):
        root = tmp_path / str(number)
        fill(root)
        before = [(r.seq, r.values) for r in records(root)]
        killed_at_call(number, partial(work, root))
        assert [(r.seq, r.values) for r in records(root)] == before
        _check_that_it_goes_on(root, [values for _, values in before])


def _check_that_it_goes_on(root: Path, before: list[object]) -> None:
    after = [*before, {"content": "later"}]
    append_entry(root, "s", "user", {"content": "later"}, now=OLD)
    assert [r.values for r in records(root)] == after
    run(root)
    assert [r.values for r in records(root)] == after
    assert os.listdir(root / ".crucible/archive") == ["s.jsonl.zst"]
    assert not flight_folder(root, "s").exists()


WORDS = st.text(st.characters(codec="utf-8"), max_size=8)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("entry"), st.sampled_from(["tool", "user"]), WORDS),
        st.tuples(st.just("event"), st.integers(0, 6), WORDS),
        st.tuples(st.just("junk"), st.sampled_from([EVENTS, TOOLS]), st.binary(max_size=12)),
        st.tuples(st.just("purge"), st.booleans(), st.none()),
        st.tuples(st.just("end"), st.booleans(), st.none()),
    ),
    max_size=25,
)


@given(steps=STEPS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whenever_a_session_is_put_away_its_records_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object, object]]
) -> None:
    root = tmp_path_factory.mktemp("v")
    expected: list[object] = []
    brought: set[object] = set()
    for kind, what, text in steps:
        if kind == "entry":
            append_entry(root, "s", str(what), {"content": text}, now=OLD)
            expected.append({"content": text})
        elif kind == "event" and (what, text) not in brought:
            assert isinstance(what, int)
            with FlightWriter(root, "s") as writer:
                writer.write(ToolReturned(At(what), "c", str(text)))
            brought.add((what, text))
            expected.append((what, text))
        elif kind == "junk" and isinstance(text, bytes):
            folder = flight_folder(root, "s")
            folder.mkdir(parents=True, exist_ok=True)
            with (folder / str(what)).open("ab") as file:
                file.write(text.replace(b"{", b"") + b"\n")
        elif kind == "purge":
            purge(root, ARCHIVE, ("s",), NOW + timedelta(days=99999), status_of=ended)
        elif kind == "end":
            archive_events(root, "s", Facts(project="shop"))
    found = load_flight(root, "s")
    assert [dict(r.values) if r.source else (r.line, r.values["text"]) for r in found.records] == expected
    seqs = [r.seq for r in found.records]
    assert all(a < b for a, b in itertools.pairwise(seqs))
    assert (found.meta or {"records": 0})["records"] == len(expected)
    for one in found.records[::3]:
        assert {r.values["content"] if r.source else r.line for r in read_records(root, "s", keys={one.key})} == {
            one.values["content"] if one.source else one.line
        }


@pytest.mark.parametrize("place", ["flight", "archive", "flight/s", "archive/s.jsonl.zst"])
def test_no_purge_leaves_the_vault_through_a_symlink(tmp_path: Path, place: str) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    fill(root)
    fill(outside)
    before = tree(outside)
    path = root / ".crucible" / place
    if path.exists():
        path.rename(tmp_path / "away")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside / ".crucible" / "flight")
    try:
        report = run(root)
        assert not report.purged
    except OutsideVault:
        pass
    assert tree(outside) == before


def test_what_is_no_sessions_folder_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path)
    odd = tmp_path / ".crucible/flight/.odd"
    odd.mkdir()
    (tmp_path / ".crucible/flight/file").write_text("x")
    assert [one.session_id for one in run(tmp_path, notes=("s", ".odd", "file")).purged] == ["s"]
    assert odd.is_dir()


def test_a_purge_is_due_once_a_day(tmp_path: Path) -> None:
    assert is_due(tmp_path, NOW)
    run(tmp_path)
    assert not is_due(tmp_path, NOW + timedelta(hours=23))
    assert is_due(tmp_path, NOW + timedelta(hours=24))
    assert is_due(tmp_path, NOW - timedelta(days=2))  # the clock was wrong


def test_when_it_was_is_noted_nowhere_outside_the_vault(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "vault"
    outside.mkdir()
    (root / ".crucible" / "cache").mkdir(parents=True)
    (root / ".crucible" / "cache" / "flight").symlink_to(outside)
    with pytest.raises(OutsideVault):
        run(root)
    with pytest.raises(OutsideVault):
        is_due(root, NOW)
    assert not any(outside.iterdir())


def test_what_a_killed_purge_left_is_swept(tmp_path: Path) -> None:
    fill(tmp_path)
    folder = tmp_path / ".crucible/archive"
    folder.mkdir()
    for name in ("s.jsonl.zst.tmp", "gone.jsonl.zst.tmp", "other.tmp"):
        (folder / name).write_bytes(b"half")
    run(tmp_path)
    assert sorted(os.listdir(folder)) == ["other.tmp", "s.jsonl.zst"]


def test_the_types_of_calls_are_events_of_a_transcript_or_an_entry() -> None:
    calls = {kind.__name__ for kind in get_args(Event) if kind.__name__.startswith(("Tool", "Subagent"))}
    assert calls | {"tool"} == TOOL_TYPES


# --- another id ------------------------------------------------------------------------------------------------------


def test_folder_and_archive_follow_a_session_to_its_new_id(tmp_path: Path) -> None:
    fill(tmp_path)
    run(tmp_path)
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=NOW)
    before = records(tmp_path)
    assert move_flight(tmp_path, "s", "new") == ""
    assert list(read_records(tmp_path, "new")) == before
    assert load_flight(tmp_path, "s").records == ()
    assert json.loads((flight_folder(tmp_path, "new") / META).read_bytes())["session_id"] == "new"
    assert move_flight(tmp_path, "s", "new") == ""  # nothing is left to move


@pytest.mark.parametrize("taken", ["flight/new", "archive/new.jsonl.zst"])
def test_neither_moves_when_the_new_id_has_events(tmp_path: Path, taken: str) -> None:
    fill(tmp_path)
    run(tmp_path)
    append_entry(tmp_path, "s", "user", {"content": "later"}, now=NOW)
    (tmp_path / ".crucible" / taken).mkdir()
    assert move_flight(tmp_path, "s", "new").endswith(f"{taken} already exists")
    assert len(records(tmp_path)) == 7
