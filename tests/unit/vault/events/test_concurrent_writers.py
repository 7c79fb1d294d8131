"""Several processes write to one session and some are killed: no record is torn, lost or numbered twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from crucible.clients.events import At, Prompted
from crucible.vault.events.event_files import EVENTS, TOOLS, flight_folder, hold_events
from crucible.vault.events.event_reader import EventRecord, load_meta, read_records
from crucible.vault.events.event_recorder import FlightWriter
from samples.waiting import SECONDS, pauses, wait_until
from tests.paths import ROOT
from tests.unit.vault.events.flights import load_flight

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")

TOGETHER = """
import os, sys
from datetime import datetime, UTC
from pathlib import Path
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_recorder import FlightWriter
from crucible.clients.events import At, Prompted, ToolUsed
root = Path(sys.argv[1])

def record(who):
    for n in range(5):
        kind = "tool" if n % 2 else "decision"
        append_entry(root, "s", kind, {"content": f"{who}.{n}" + "x" * 3000}, now=datetime.now(UTC))

def bring(_):
    # As an import and a live sync of the same transcript.
    with FlightWriter(root, "s") as writer:
        for n in range(2000):
            event = ToolUsed(At(n), "c", "T", {"x": "y" * 900}) if n % 3 else Prompted(At(n), "z" * 900)
            writer.write(event, "phase-1", "c:x")

jobs = [(record, who) for who in range(40)] + [(bring, 0), (bring, 1), (bring, 2)]
children = []
for job, who in jobs:
    child = os.fork()
    if not child:
        job(who)
        os._exit(0)
    children.append(child)
sys.exit(max(os.waitpid(child, 0)[1] for child in children))
"""


def numbers(root: Path) -> list[int]:
    return [record.seq for record in read_records(root, "s")]


def test_forty_recorders_and_three_imports_lose_and_double_nothing(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TOGETHER, tmp_path], cwd=ROOT, check=True, timeout=120)
    flight = load_flight(tmp_path, "s")
    assert flight.torn == 0
    assert [r.seq for r in flight.records] == list(range(1, 2201))
    said = {str(r.values["content"]).rstrip("x") for r in flight.records if r.source == "recorder"}
    assert said == {f"{who}.{n}" for who in range(40) for n in range(5)}
    brought = [r.line for r in flight.records if r.source == "c:x"]
    assert sorted(brought) == list(range(2000))
    assert load_meta(tmp_path, "s")["records"] == 2200


def test_numbers_rise_in_each_file(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TOGETHER, tmp_path], cwd=ROOT, check=True, timeout=120)
    for name in (EVENTS, TOOLS):
        lines = (flight_folder(tmp_path, "s") / name).read_bytes().splitlines()
        found = [json.loads(line)["seq"] for line in lines]
        assert found == sorted(found)


KILLED = """
import os, sys, itertools
from datetime import datetime, UTC
from pathlib import Path
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_recorder import FlightWriter
from crucible.clients.events import At, Prompted, ToolUsed
root, told = Path(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def record():
    for n in itertools.count():
        number = append_entry(root, "s", "tool" if n % 2 else "user", {"content": "x" * (n % 7 * 9000)}, now=datetime.now(UTC))
        os.write(told, b"%d\\n" % number)

def bring():
    for n in itertools.count():
        with FlightWriter(root, "s") as writer:
            for m in range(60):
                event = At(n * 60 + m)
                writer.write(Prompted(event, "z" * 20000) if m % 2 else ToolUsed(event, "c", "T", {"x": "z" * 20000}))

for line in sys.stdin:
    child = os.fork()
    if not child:
        record() if line == "record\\n" else bring()
    print(child, flush=True)
"""


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    acknowledged, moments = tmp_path / "told", random.Random(4)
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(acknowledged)]

    def count() -> int:
        return acknowledged.read_bytes().count(b"\n") if acknowledged.exists() else 0

    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin
        assert parent.stdout
        # A busy machine gets more turns, so that enough is acknowledged between two kills.
        for turn in range(1000):
            if turn > 100 and count() > 120:
                break
            children = []
            for job in ("record", "bring" if turn % 3 else "record"):
                print(job, file=parent.stdin, flush=True)
                children.append(int(parent.stdout.readline()))
            enough = count() + moments.randrange(4)
            wait_until(lambda: count() >= enough)  # noqa: B023
            for child in children:
                os.kill(child, signal.SIGKILL)
        parent.stdin.close()
    told = [int(line) for line in acknowledged.read_text().split()]
    assert len(told) > 120
    with hold_events(flight_folder(tmp_path, "s")):
        pass  # as the next writer begins
    flight = load_flight(tmp_path, "s")
    kept = [r.seq for r in flight.records if r.source == "recorder"]
    assert flight.torn == 0
    assert len(set(told)) == len(told)
    assert set(told) <= set(kept)
    assert [r.seq for r in flight.records] == list(range(1, len(flight.records) + 1))
    brought = [r.line for r in flight.records if r.source == ""]
    assert len(set(brought)) == len(brought)
    assert load_meta(tmp_path, "s")["records"] == len(flight.records)


def test_an_import_that_is_killed_leaves_its_first_events_without_a_gap(tmp_path: Path) -> None:
    """So that what a repetition adds has its place behind them."""
    command = [sys.executable, "-c", KILLED, str(tmp_path), str(tmp_path / "told")]
    events = flight_folder(tmp_path, "s") / EVENTS
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdin
        assert parent.stdout
        for _ in range(10):
            size = events.stat().st_size if events.exists() else 0
            print("bring", file=parent.stdin, flush=True)
            child = int(parent.stdout.readline())
            wait_until(lambda: events.exists() and events.stat().st_size > size)  # noqa: B023
            os.kill(child, signal.SIGKILL)
        parent.stdin.close()
    brought = [r.line for r in read_records(tmp_path, "s")]
    assert brought == list(range(len(brought)))


def test_healing_waits_for_a_line_that_is_just_being_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = flight_folder(tmp_path, "s")
    with FlightWriter(tmp_path, "s") as first:
        first.write(Prompted(At(1), "one"))
    with hold_events(folder), (folder / EVENTS).open("ab") as file:
        # Half a line, by somebody who holds the files.
        file.write(b'{"seq":2,"key":"0000000000000000","time":null,"ph')
        file.flush()
        waiting, paused = threading.Thread(target=_bring, args=(tmp_path,)), pauses(monkeypatch)
        waiting.start()
        assert paused.wait(SECONDS)
        file.write(b'ase":"","type":"user","source":"recorder"}\n')
        file.flush()
    waiting.join()
    assert [(r.seq, r.type) for r in load_flight(tmp_path, "s").records] == [
        (1, "Prompted"),
        (2, "user"),
        (3, "Prompted"),
    ]


def _bring(root: Path) -> None:
    with FlightWriter(root, "s") as writer:
        writer.write(Prompted(At(2), "two"))


def test_a_complete_record_without_a_line_end_does_not_count_yet(tmp_path: Path) -> None:
    _bring(tmp_path)
    path = flight_folder(tmp_path, "s") / EVENTS
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    flight = load_flight(tmp_path, "s")
    assert (flight.records, flight.torn) == ((), 1)
    _bring(tmp_path)
    assert numbers(tmp_path) == [1]


def test_a_folder_that_was_removed_while_a_writer_was_open_is_made_again(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(Prompted(At(1), "one"))
        _remove(flight_folder(tmp_path, "s"))
    assert [r.values["text"] for r in read_records(tmp_path, "s")] == ["one"]


def test_what_another_writer_wrote_meanwhile_is_not_written_again(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "s") as first, FlightWriter(tmp_path, "s") as second:
        assert first.write(Prompted(At(1), "one"))
        assert second.write(Prompted(At(1), "one"))
        assert second.write(Prompted(At(2), "two"))
    assert (first.written, second.written) == (0, 2)  # the second one was closed first
    found: list[EventRecord] = list(read_records(tmp_path, "s"))
    assert [r.values["text"] for r in found] == ["one", "two"]


def _remove(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


# --- cached keys ------------------------------------------------------------------------------------------------------


def memory(root: Path) -> Path:
    return root / ".crucible/cache/flight/s.keys"


def bring_many(root: Path, count: int, first: int = 0) -> int:
    with FlightWriter(root, "s") as writer:
        for number in range(first, first + count):
            writer.write(Prompted(At(number), "x" * 400))
        return writer.written


@pytest.mark.timed
def test_opening_a_long_session_again_costs_little(tmp_path: Path) -> None:
    bring_many(tmp_path, 20_000)
    assert min(_seconds_of_one(tmp_path, number) for number in range(10)) < 0.05


def _seconds_of_one(root: Path, number: int) -> float:
    start = time.perf_counter()
    bring_many(root, 1, 30_000 + number)
    return time.perf_counter() - start


@pytest.mark.parametrize("damage", ["none", "gone", "cut", "junk", "flipped"])
def test_without_its_memory_an_import_knows_the_same(tmp_path: Path, damage: str) -> None:
    bring_many(tmp_path, 1000)
    path = memory(tmp_path)
    data = path.read_bytes()
    damaged = {"cut": data[:-8], "junk": b"junk", "flipped": data[:200] + bytes([data[200] ^ 1]) + data[201:]}
    if damage == "gone":
        path.unlink()
    path.write_bytes(damaged.get(damage, data)) if damage != "gone" else None
    assert bring_many(tmp_path, 1001) == 1


def test_a_memory_of_other_files_is_not_believed(tmp_path: Path) -> None:
    bring_many(tmp_path, 1000)
    for name in (EVENTS, TOOLS):
        (flight_folder(tmp_path, "s") / name).unlink(missing_ok=True)
    with FlightWriter(tmp_path, "s") as writer:
        for number in range(2000):
            writer.write(Prompted(At(number), "y" * 400))
    assert bring_many(tmp_path, 1000) == 1000


def test_a_truncated_file_is_read_again(tmp_path: Path) -> None:
    bring_many(tmp_path, 1000)
    path = flight_folder(tmp_path, "s") / EVENTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:900]))
    assert bring_many(tmp_path, 1000) == 100


def test_no_memory_is_written_through_a_symlink_out_of_the_vault(tmp_path: Path) -> None:
    from crucible.core.errors import OutsideVault

    root, outside = tmp_path / "vault", tmp_path / "outside"
    outside.mkdir()
    (root / ".crucible/cache").mkdir(parents=True)
    (root / ".crucible/cache/flight").symlink_to(outside)
    with pytest.raises(OutsideVault):
        bring_many(root, 1000)
    assert os.listdir(outside) == []
