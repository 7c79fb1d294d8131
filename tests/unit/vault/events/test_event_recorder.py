"""Whole events: written once, cut if too long, repaired after a crash, read back in order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.clients.events import (
    At,
    CallEnd,
    Choice,
    Event,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Replied,
    SubagentReturned,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
    Unknown,
)
from crucible.core.errors import BadSessionId, OutsideVault, VaultError
from crucible.vault.events.event_files import EVENTS, META, TOOLS, flight_folder
from crucible.vault.events.event_lines import record_line
from crucible.vault.events.event_reader import read_records
from crucible.vault.events.event_recorder import FlightWriter
from tests.paths import ROOT
from tests.unit.vault.events.flights import Flight, load_flight

TIME = datetime(2026, 11, 21, 20, 26, 47, 123000, tzinfo=UTC)

EVENTS_OF_A_SESSION: list[Event] = [
    Prompted(At(1, "r1", TIME), "do it", PromptKind.STEERING),
    ToolUsed(At(2, "r2", TIME), "c1", "Bash", {"command": "ls", "deep": {"list": [1, None, "é"]}}),
    ToolReturned(At(3, "r3"), "c1", "out\n", CallEnd.FAILED, details={"lines": 1}),
    SubagentReturned(At(4, "r4", TIME, "a1"), "c2", "a2", "done", tokens=5),
    TasksListed(At(5), (TaskState("1", "one", depends_on=("0",)),)),
    Unknown(At(6), "odd"),
]


def record(root: Path, events: list[Event], limit: int = 65536) -> int:
    with FlightWriter(root, "s", limit) as writer:
        for event in events:
            writer.write(event, "phase-1", "claude-code:x")
        return writer.written


def test_events_come_back_in_order_with_place_and_phase(tmp_path: Path) -> None:
    assert record(tmp_path, EVENTS_OF_A_SESSION) == 6
    flight = load_flight(tmp_path, "s")
    assert [r.type for r in flight.records] == [type(e).__name__ for e in EVENTS_OF_A_SESSION]
    assert [r.seq for r in flight.records] == [1, 2, 3, 4, 5, 6]
    assert {(r.phase, r.source) for r in flight.records} == {("phase-1", "claude-code:x")}
    assert [(r.line, r.row, r.agent) for r in flight.records][3:5] == [(4, "r4", "a1"), (5, "", "")]
    assert [r.time for r in flight.records][:3] == [TIME, TIME, None]
    assert [dict(r.values) for r in flight.records] == [
        {"text": "do it", "kind": "steering", "images": 0},
        {
            "call": "c1",
            "name": "Bash",
            "arguments": {"command": "ls", "deep": {"list": [1, None, "é"]}},
            "message": "",
            "model": "",
        },
        {"call": "c1", "text": "out\n", "end": "failed", "feedback": "", "details": {"lines": 1}},
        {"call": "c2", "subagent": "a2", "text": "done", "end": "ok", "tokens": 5},
        {"tasks": [{"id": "1", "content": "one", "status": "pending", "priority": "", "depends_on": ["0"]}]},
        {"row_type": "odd"},
    ]
    assert flight.torn == 0
    counts = {"events_count": 3, "tools_count": 3, "records": 6}
    assert {name: flight.meta[name] for name in counts} == counts


def test_calls_and_their_results_have_a_file_of_their_own(tmp_path: Path) -> None:
    record(tmp_path, EVENTS_OF_A_SESSION)
    folder = tmp_path / ".crucible/flight/s"
    assert sorted(os.listdir(folder)) == [EVENTS, META, TOOLS]
    kinds = [json.loads(line)["type"] for line in (folder / TOOLS).read_text().splitlines()]
    assert kinds == ["ToolUsed", "ToolReturned", "SubagentReturned"]


def test_answered_questions_and_plans_are_read_back_complete(tmp_path: Path) -> None:
    choice = Choice("Where?", "Here", (("Here", "near"), ("There", "")), ("Here",))
    long = Choice("Why?", "x" * 70_000)
    events: list[Event] = [
        QuestionsAnswered(At(1, "r1"), "c1", (choice,)),
        PlanSettled(At(2, "r2"), "c2", "# Plan", approved=None),
        QuestionsAnswered(At(3, "r3"), "c3", (long,)),
    ]
    record(tmp_path, events)
    answered, settled, cut = load_flight(tmp_path, "s").records
    kept = {
        "question": "Where?",
        "answer": "Here",
        "options": [["Here", "near"], ["There", ""]],
        "picked": ["Here"],
    }
    assert dict(answered.values) == {"call": "c1", "choices": [kept]}
    assert dict(settled.values) == {"call": "c2", "text": "# Plan", "approved": None}
    assert dict(cut.cut) == {"choices.0.answer": 70_000}
    assert [record_line(answered), record_line(settled)] == ["Where? Here", "# Plan"]


def test_the_same_events_are_not_written_twice(tmp_path: Path) -> None:
    record(tmp_path, EVENTS_OF_A_SESSION[:4])
    folder = tmp_path / ".crucible/flight/s"
    before = {name: (folder / name).read_bytes() for name in os.listdir(folder)}
    assert record(tmp_path, EVENTS_OF_A_SESSION[:4]) == 0
    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before
    assert record(tmp_path, EVENTS_OF_A_SESSION) == 2
    assert [r.seq for r in load_flight(tmp_path, "s").records] == [1, 2, 3, 4, 5, 6]


def test_two_native_sessions_with_equal_rows_are_both_kept(tmp_path: Path) -> None:
    with FlightWriter(tmp_path, "s") as writer:
        assert writer.write(EVENTS_OF_A_SESSION[0], source="claude-code:a")
        assert writer.write(EVENTS_OF_A_SESSION[0], source="claude-code:b")
    assert [r.source for r in load_flight(tmp_path, "s").records] == ["claude-code:a", "claude-code:b"]


def test_a_torn_last_line_is_cut_off_and_written_again(tmp_path: Path) -> None:
    record(tmp_path, EVENTS_OF_A_SESSION)
    path = tmp_path / ".crucible/flight/s" / EVENTS
    path.write_bytes(path.read_bytes()[:-10])
    flight = load_flight(tmp_path, "s")
    assert (len(flight.records), flight.torn) == (5, 1)
    assert record(tmp_path, EVENTS_OF_A_SESSION) == 1
    flight = load_flight(tmp_path, "s")
    assert (len(flight.records), flight.torn) == (6, 0)
    assert len({r.seq for r in flight.records}) == 6


def test_a_file_that_is_one_torn_line_is_emptied(tmp_path: Path) -> None:
    folder = tmp_path / ".crucible/flight/s"
    folder.mkdir(parents=True)
    (folder / EVENTS).write_bytes(b'{"seq": 1' + b"x" * 3_000_000)
    assert record(tmp_path, EVENTS_OF_A_SESSION[:1]) == 1
    assert len((folder / EVENTS).read_bytes().splitlines()) == 1


def test_lines_that_are_no_records_are_skipped_counted_and_kept(tmp_path: Path) -> None:
    record(tmp_path, EVENTS_OF_A_SESSION)
    path = tmp_path / ".crucible/flight/s" / EVENTS
    junk = b'not json\n[]\n{"seq": "x"}\n3\n\xff\n'
    path.write_bytes(junk + path.read_bytes())
    (tmp_path / ".crucible/flight/s" / META).write_bytes(b"{")
    told: list[int] = []
    records = list(read_records(tmp_path, "s", lambda _, line: told.append(line)))
    assert [r.seq for r in records] == [1, 2, 3, 4, 5, 6]
    assert told == [1, 2, 3, 4, 5]
    assert load_flight(tmp_path, "s").meta["records"] == 6
    assert len(list(read_records(tmp_path, "s"))) == 6
    assert record(tmp_path, EVENTS_OF_A_SESSION) == 0
    assert path.read_bytes().startswith(junk)


def test_a_session_without_records_is_empty(tmp_path: Path) -> None:
    assert load_flight(tmp_path, "s") == Flight()


def test_only_what_is_too_long_is_cut_and_says_how_long_it_was(tmp_path: Path) -> None:
    long = "é" * 40
    event = ToolUsed(At(1), "c", "Write", {"path": "p", "content": long, "edits": [{"old": "x" * 64, "new": long}]})
    record(tmp_path, [event, Replied(At(2), "ok" * 40)], limit=64)
    call, reply = load_flight(tmp_path, "s").records
    assert call.values["arguments"] == {
        "path": "p",
        "content": "é" * 32,
        "edits": [{"old": "x" * 64, "new": "é" * 32}],
    }
    assert call.cut == {"arguments.content": 80, "arguments.edits.0.new": 80}
    assert (reply.values["text"], reply.cut) == ("ok" * 32, {"text": 80})


def test_a_cut_never_splits_a_letter(tmp_path: Path) -> None:
    record(tmp_path, [Replied(At(1), "é" * 40)], limit=65)
    assert load_flight(tmp_path, "s").records[0].values["text"] == "é" * 32


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ({"a": "\ud800", "\udfff": 1}, {"a": "\ufffd", "\ufffd": 1}),
        ({"a": 2**70}, {"a": float(2**70)}),
        ({"a": float("nan")}, {"a": None}),
        ({"a": {3: "number key"}}, {"a": {"3": "number key"}}),
        ({"a": {1}}, {"a": "{1}"}),
    ],
)
def test_odd_values_are_written_as_well_as_json_can(
    tmp_path: Path, arguments: Mapping[str, object], written: Mapping[str, object]
) -> None:
    record(tmp_path, [ToolUsed(At(1, time=TIME), "c", "T", arguments), Replied(At(2), "after", "m")])
    flight = load_flight(tmp_path, "s")
    assert [r.type for r in flight.records] == ["ToolUsed", "Replied"]
    assert flight.records[0].values["arguments"] == written
    assert flight.records[0].time == TIME


def test_bottomless_nesting_is_cut_off(tmp_path: Path) -> None:
    deep: dict[str, object] = {}
    for _ in range(1000):
        deep = {"d": deep}
    record(tmp_path, [ToolUsed(At(1, "r", TIME), "c", "T", deep)])
    found = load_flight(tmp_path, "s").records[0]
    assert (found.type, found.row) == ("ToolUsed", "r")
    assert found.cut == {"arguments" + ".d" * 100: 0}


@pytest.mark.parametrize("session_id", ["", "..", "../x", "a/b", ".x", "a\0"])
def test_a_bad_id_becomes_no_folder(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(BadSessionId):
        FlightWriter(tmp_path, session_id)
    assert os.listdir(tmp_path) == []


def test_records_do_not_leave_the_vault_through_a_symlink(tmp_path: Path) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    outside.mkdir()
    (root / ".crucible").mkdir(parents=True)
    (root / ".crucible/flight").symlink_to(outside)
    with pytest.raises(OutsideVault):
        FlightWriter(root, "s")
    (root / ".crucible/flight").unlink()
    folder = flight_folder(root, "s")
    folder.mkdir(parents=True)
    (outside / "precious").write_text("no newline")
    (folder / EVENTS).symlink_to(outside / "precious")
    with pytest.raises(OutsideVault):
        FlightWriter(root, "s")
    assert (outside / "precious").read_text() == "no newline"


def test_a_place_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / ".crucible").write_text("a file")
    with pytest.raises(VaultError, match="cannot be written"):
        FlightWriter(tmp_path, "s")


WRITER = """
import itertools, sys
from pathlib import Path
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.events.event_lines import record_line
from crucible.clients.events import At, Replied
writer = FlightWriter(Path(sys.argv[1]), "s")
print("ready", flush=True)
for n in itertools.count(1):
    writer.write(Replied(At(n), "x" * 5000))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_recorder_can_be_gone_on_with(tmp_path: Path) -> None:
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path], stdout=subprocess.PIPE, cwd=ROOT)
        assert process.stdout
        with process, process.stdout:
            process.stdout.readline()
            while not (tmp_path / ".crucible/flight/s" / EVENTS).exists():
                pass
            process.send_signal(signal.SIGKILL)
    with FlightWriter(tmp_path, "s") as writer:
        writer.write(Replied(At(10**9), "last"))
    flight = load_flight(tmp_path, "s")
    assert flight.torn == 0
    assert [r.seq for r in flight.records] == list(range(1, len(flight.records) + 1))
    assert len({r.line for r in flight.records}) == len(flight.records)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), JSON, max_size=4), st.text(max_size=30))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_arguments_are_read_back_complete(
    tmp_path_factory: pytest.TempPathFactory, arguments: dict[str, object], text: str
) -> None:
    root = tmp_path_factory.mktemp("v")
    record(root, [ToolUsed(At(1), "c", "T", arguments), Replied(At(2), text)])
    call, reply = load_flight(root, "s").records
    assert call.values["arguments"] == arguments
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert reply.values["text"] == clean or "\ufffd" in str(reply.values["text"])


@given(st.binary(max_size=400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_the_files_are_survived(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    root = tmp_path_factory.mktemp("v")
    folder = flight_folder(root, "s")
    folder.mkdir(parents=True)
    (folder / TOOLS).write_bytes(data)
    load_flight(root, "s")
    assert record(root, EVENTS_OF_A_SESSION) == 6
    kept = (folder / TOOLS).read_bytes()
    assert kept.startswith(data[: data.rfind(b"\n") + 1])
    assert orjson.loads(kept.splitlines()[-1])["type"] == "SubagentReturned"
    assert len([r for r in load_flight(root, "s").records if r.source]) == 6
