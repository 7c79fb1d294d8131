"""Entries that agents report: their form, their cost, what is refused, and the summary beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.clients.events import At, Prompted, ToolUsed
from crucible.core.errors import BadSessionId, LockTimeout, OutsideVault, VaultError
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_files import EVENTS, META, TOOLS, flight_folder, hold_events
from crucible.vault.events.event_reader import load_meta
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.events.event_summary import Facts, save_meta
from tests.paths import ROOT
from tests.unit.vault.events.flights import load_flight

NOW = datetime(2026, 1, 24, 10, 16, tzinfo=UTC)


def lines(root: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (flight_folder(root, "s") / name).read_bytes().splitlines()]


def test_an_entry_has_its_values_flat_in_the_file_of_its_kind(tmp_path: Path) -> None:
    because = {"content": "Chose exponential backoff", "rationale": "Prevents thundering herd"}
    assert append_entry(tmp_path, "s", "decision", because, now=NOW, phase="phase-1") == 1
    call = {"tool": "bash", "command": "go test ./...", "exit_code": 0, "duration_ms": 1234}
    assert append_entry(tmp_path, "s", "tool", call, now=NOW) == 2
    (event,), (tool,) = lines(tmp_path, EVENTS), lines(tmp_path, TOOLS)
    assert {
        **because,
        "seq": 1,
        "type": "decision",
        "phase": "phase-1",
        "source": "recorder",
    }.items() <= event.items()
    assert {
        **call,
        "seq": 2,
        "type": "tool",
        "phase": "",
        "time": "2026-01-24T10:16:00Z",
    }.items() <= tool.items()


def test_entries_and_imported_events_are_read_alike_and_in_order(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "milestone", {"content": "one"}, now=NOW)
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(ToolUsed(At(1, "r", NOW), "c", "Bash", {"command": "ls"}), "phase-1", "claude-code:x")
        writer.write(Prompted(At(2, "q", NOW), "do"), "phase-2", "claude-code:x")
    append_entry(tmp_path, "s", "error", {"content": "two", "resolution": "three"}, now=NOW, phase="phase-2")
    flight = load_flight(tmp_path, "s")
    assert [(r.seq, r.type, r.source) for r in flight.records] == [
        (1, "milestone", "recorder"),
        (2, "ToolUsed", "claude-code:x"),
        (3, "Prompted", "claude-code:x"),
        (4, "error", "recorder"),
    ]
    assert flight.records[3].values == {"content": "two", "resolution": "three"}
    assert (flight.records[3].time, flight.records[3].phase) == (NOW, "phase-2")


def test_the_same_entry_twice_is_two_records(tmp_path: Path) -> None:
    for _ in range(2):
        append_entry(tmp_path, "s", "observation", {"content": "slow"}, now=NOW)
    assert len({line["key"] for line in lines(tmp_path, EVENTS)}) == 2


def test_a_value_that_has_the_name_of_a_records_field_does_not_replace_it(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "checkpoint", {"seq": 99, "type": "x", "agent": "me"}, now=NOW)
    (record,) = load_flight(tmp_path, "s").records
    assert (record.seq, record.type, record.agent) == (1, "checkpoint", "")
    assert record.values == {"seq_": 99, "type_": "x", "agent_": "me"}


def test_a_long_value_is_cut_and_says_how_long_it_was(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "tool", {"tool": "cat", "args": {"x": "é" * 40}}, now=NOW, max_value_bytes=64)
    (record,) = load_flight(tmp_path, "s").records
    assert (record.values["args"], record.cut) == ({"x": "é" * 32}, {"args.x": 80})


def test_a_local_time_is_stored_as_utc(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "user", {}, now=NOW.astimezone(timezone(timedelta(hours=2))))
    assert lines(tmp_path, EVENTS)[0]["time"] == "2026-01-24T10:16:00Z"


TEXT = st.text(max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(kind=TEXT, phase=TEXT, values=st.dictionaries(TEXT, VALUES, max_size=4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_appended_is_one_record_that_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, kind: str, phase: str, values: dict[str, object]
) -> None:
    root = tmp_path_factory.mktemp("v")
    for number in (1, 2):
        assert append_entry(root, "s", kind, values, now=NOW, phase=phase) == number
    flight = load_flight(root, "s")
    assert ([r.seq for r in flight.records], flight.torn) == ([1, 2], 0)
    assert len(flight.records[0].values) == len(values)


@pytest.mark.timed
def test_appending_to_a_long_session_costs_no_more_than_to_an_empty_one(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "long") as writer:
        for number in range(20_000):
            writer.write(Prompted(At(number), "x" * 500))
    cost = {name: min(_seconds(tmp_path, name) for _ in range(30)) for name in ("long", "short")}
    assert cost["long"] < 3 * cost["short"] + 0.001


def _seconds(root: Path, session_id: str) -> float:
    start = time.perf_counter()
    append_entry(root, session_id, "decision", {"content": "x"}, now=NOW)
    return time.perf_counter() - start


@pytest.mark.parametrize("session_id", ["", "..", "../x", "a/b", ".x", "a\0", "x" * 129])
def test_a_bad_id_becomes_no_folder(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(BadSessionId):
        append_entry(tmp_path, session_id, "user", {}, now=NOW)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["", EVENTS, TOOLS])
def test_a_symlink_leads_no_entry_out_of_the_vault(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    folder = root / ".crucible/flight/s"
    outside.mkdir()
    (outside / "precious").write_text("no newline")
    folder.parent.mkdir(parents=True)
    if name:
        folder.mkdir()
        (folder / name).symlink_to(outside / "precious")
    else:
        folder.symlink_to(outside)
    with pytest.raises(OutsideVault):
        append_entry(root, "s", "tool" if name == TOOLS else "user", {}, now=NOW)
    assert {p.name: p.read_text() for p in outside.iterdir()} == {"precious": "no newline"}


def test_a_symlink_in_the_place_of_the_summary_is_replaced_and_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / ".crucible/flight/s"
    folder.mkdir(parents=True)
    (tmp_path / "precious").write_text("mine")
    for name in (META, f"{META}.tmp"):
        (folder / name).symlink_to(tmp_path / "precious")
    append_entry(tmp_path, "s", "user", {}, now=NOW)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_pipe_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / ".crucible/flight/s"
    folder.mkdir(parents=True)
    os.mkfifo(folder / EVENTS)
    with pytest.raises(VaultError, match="not a regular file"):
        append_entry(tmp_path, "s", "user", {}, now=NOW)


def test_a_lock_held_for_too_long_is_reported(tmp_path: Path) -> None:
    with hold_events(flight_folder(tmp_path, "s")), pytest.raises(LockTimeout, match=r"has held it for 0\.05 s"):
        append_entry(tmp_path, "s", "user", {}, now=NOW, lock_seconds=0.05)
    assert append_entry(tmp_path, "s", "user", {}, now=NOW, lock_seconds=0.05) == 1


FULL = """
import resource, sys
from datetime import datetime, UTC
from pathlib import Path
from crucible.core.errors import VaultError
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_recorder import FlightWriter
from crucible.clients.events import At, Prompted, ToolUsed
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
root, now = Path(sys.argv[1]), datetime.now(UTC)
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
done = 0
try:
    while True:
        done = append_entry(root, "s", "user", {"content": "x" * 700}, now=now)
except VaultError as error:
    print(done, "\\n" not in str(error), str(error))
try:
    with FlightWriter(root, "s") as writer:
        for n in range(100):
            writer.write(ToolUsed(At(n), "c", "T", {"x": "y" * 100}))
            writer.write(Prompted(At(n), "y" * 100))
except VaultError as error:
    print("refused", "\\n" not in str(error))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of file sizes")
def test_a_full_disk_is_one_line_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", FULL, tmp_path], capture_output=True, cwd=ROOT, check=True, text=True
    ).stdout.splitlines()
    done, whole, *_ = told[0].split(" ")
    assert (whole, told[1]) == ("True", "refused True")
    assert "cannot be written: file too large" in told[0]
    flight = load_flight(tmp_path, "s")
    assert ([r.seq for r in flight.records], flight.torn) == (list(range(1, int(done) + 1)), 0)
    assert append_entry(tmp_path, "s", "user", {}, now=NOW) == int(done) + 1


# --- the summary -----------------------------------------------------------------------------------------------------


def counts(root: Path) -> tuple[object, ...]:
    meta = json.loads((flight_folder(root, "s") / META).read_bytes())
    return meta["events_count"], meta["tools_count"], meta["records"]


def test_the_summary_has_the_fields_of_a_session(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "user", {"content": "go"}, now=NOW)
    facts = Facts(
        started=NOW - timedelta(minutes=1),
        ended=NOW,
        initial_agent="architect",
        agent_switches=("architect", "coder"),
        project="payment-service",
        ended_cleanly=True,
    )
    save_meta(tmp_path, "s", facts)
    append_entry(tmp_path, "s", "tool", {"tool": "bash"}, now=NOW)
    meta = json.loads((flight_folder(tmp_path, "s") / META).read_bytes())
    del meta["sizes"]
    assert meta == {
        "version": 1,
        "session_id": "s",
        "started": "2026-01-24T10:15:00Z",
        "ended": "2026-01-24T10:16:00Z",
        "initial_agent": "architect",
        "agent_switches": ["architect", "coder"],
        "project": "payment-service",
        "ended_cleanly": True,
        "events_count": 1,
        "tools_count": 1,
        "records": 2,
    }


def test_the_summary_follows_who_works(tmp_path: Path) -> None:
    for old, new in (("architect", "coder"), ("coder", "reviewer"), ("reviewer", "coder")):
        append_entry(tmp_path, "s", "agent_switch", {"from_agent": old, "to_agent": new}, now=NOW)
    meta = load_meta(tmp_path, "s")
    assert meta["initial_agent"] == "architect"
    assert meta["agent_switches"] == ["architect", "coder", "reviewer", "coder"]


@pytest.mark.parametrize("broken", [None, b"{", b"[]", b'{"events_count": 7, "sizes": {"events.jsonl": 999999}}'])
def test_a_missing_or_wrong_summary_is_rebuilt_from_the_records(tmp_path: Path, broken: bytes | None) -> None:
    append_entry(tmp_path, "s", "agent_switch", {"from_agent": "a", "to_agent": "b"}, now=NOW)
    append_entry(tmp_path, "s", "tool", {"tool": "x"}, now=NOW)
    path = flight_folder(tmp_path, "s") / META
    path.unlink()
    if broken is not None:
        path.write_bytes(broken)
    assert load_meta(tmp_path, "s")["records"] == 2
    append_entry(tmp_path, "s", "user", {}, now=NOW + timedelta(hours=1))
    meta = load_meta(tmp_path, "s")
    assert (counts(tmp_path), meta["agent_switches"]) == ((2, 1, 3), ["a", "b"])
    assert meta["started"] == "2026-01-24T10:16:00Z"


def test_what_a_killed_writer_did_not_come_to_count_is_counted_by_the_next(tmp_path: Path) -> None:
    append_entry(tmp_path, "s", "user", {}, now=NOW)
    path = flight_folder(tmp_path, "s") / META
    before = path.read_bytes()
    append_entry(tmp_path, "s", "agent_switch", {"from_agent": "a", "to_agent": "b"}, now=NOW)
    path.write_bytes(before)
    assert load_meta(tmp_path, "s")["records"] == 2
    append_entry(tmp_path, "s", "agent_switch", {"from_agent": "b", "to_agent": "c"}, now=NOW)
    assert counts(tmp_path) == (3, 0, 3)
    assert load_meta(tmp_path, "s")["agent_switches"] == ["a", "b", "c"]


def test_a_summary_of_an_import_counts_both_files(tmp_path: Path) -> None:
    for _ in range(2):
        with FlightWriter(tmp_path, "s") as writer:
            writer.write(Prompted(At(1, time=NOW), "x"))
            writer.write(ToolUsed(At(2), "c", "T", {}))
            writer.write(ToolUsed(At(3), "d", "T", {}))
        assert counts(tmp_path) == (1, 2, 3)
    assert load_meta(tmp_path, "s")["started"] == "2026-01-24T10:16:00Z"


def test_facts_alone_create_a_folder_only_on_request(tmp_path: Path) -> None:
    save_meta(tmp_path, "s", Facts(project="p"), make=False)
    assert load_meta(tmp_path, "s") == {}
    save_meta(tmp_path, "s", Facts(project="p"))
    assert load_meta(tmp_path, "s")["project"] == "p"
