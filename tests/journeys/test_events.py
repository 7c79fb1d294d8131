"""`cru events`: what a session's whole events are, as a terminal shows them, and what becomes of old ones."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.cells import cell_len

from crucible.clients.events import (
    At,
    CallEnd,
    Event,
    Prompted,
    SubagentStarted,
    TaskChanged,
    ToolReturned,
    ToolUsed,
    UsageCounted,
)
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_files import EVENTS, flight_folder
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.notes.vault import Vault
from tests.journeys.terminals import on_a_terminal
from tests.running import Cru, CruProcess
from tests.trusting import trust

OLD = datetime(2020, 1, 24, 10, 16, tzinfo=UTC)
NOTE = "---\ntype: session\nsession_id: {0}\nstarted: 2020-01-24T10:16:00Z\nstatus: completed\n---\n\n# {0}\n"
ID = "2020-01-24-retry"

EVENTS_OF_IT: Sequence[tuple[Event, str]] = [
    (Prompted(At(1, "r1", OLD), "Add a retry\nnow"), "phase-1"),
    (ToolUsed(At(2, "r2", OLD), "c1", "Bash", {"command": "go test ./..."}), "phase-1"),
    (ToolReturned(At(3, "r3", OLD), "c1", "FAIL\nmore", CallEnd.FAILED), "phase-1"),
    (SubagentStarted(At(4, "r4", OLD), "c2", "explorer", "find it"), "phase-2.1"),
    (TaskChanged(At(5, "r5"), "1", status="done"), "phase-2"),
]


@pytest.fixture
def filled(vault: Vault) -> Vault:
    (vault.sessions / f"{ID}.md").write_text(NOTE.format(ID))
    fill(vault)
    return vault


def fill(vault: Vault, session_id: str = ID) -> None:
    with FlightWriter(vault.root, session_id, 100) as writer:
        for event, phase in EVENTS_OF_IT:
            writer.write(event, phase, "claude-code:x")
    for kind, values in (
        ("decision", {"content": "Chose backoff", "rationale": "no herd"}),
        ("tool", {"tool": "bash", "command": "go test", "exit_code": 0, "duration_ms": 1234}),
        ("agent_switch", {"from_agent": "architect", "to_agent": "coder", "content": "build"}),
    ):
        append_entry(vault.root, session_id, kind, values, now=OLD, phase="phase-2")


def lines(text: str) -> list[list[str]]:
    return [line.split(maxsplit=4) for line in text.splitlines()]


def test_every_record_is_a_line_that_says_what_was_done(filled: Vault, cru: Cru) -> None:
    result = cru("events", "show", ID)
    assert (result.exit_code, result.stderr) == (0, "")
    assert lines(result.stdout) == [
        ["1", "2020-01-24T10:16:00Z", "phase-1", "prompted", "Add a retry⏎now"],
        ["2", "2020-01-24T10:16:00Z", "phase-1", "tool_used", "Bash go test ./..."],
        ["3", "2020-01-24T10:16:00Z", "phase-1", "tool_returned", "failed: FAIL⏎more"],
        ["4", "2020-01-24T10:16:00Z", "phase-2.1", "subagent_started", "@explorer: find it"],
        ["5", "-", "phase-2", "task_changed", "task 1: done"],
        ["6", "2020-01-24T10:16:00Z", "phase-2", "decision", "Chose backoff (rationale: no herd)"],
        ["7", "2020-01-24T10:16:00Z", "phase-2", "tool", "bash go test → exit 0, 1234 ms"],
        ["8", "2020-01-24T10:16:00Z", "phase-2", "agent_switch", "architect → coder: build"],
    ]


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (["--type", "decision"], "6"),
        (["--type", "DECISION", "--type", "prompted"], "16"),
        (["--phase", "1"], "123"),
        (["--phase", "phase-1"], "123"),
        (["--phase", "2"], "45678"),
        (["--phase", "2.1"], "4"),
        (["--tools"], "2347"),
        (["--events"], "1568"),
        (["-n", "2"], "78"),
        (["-n", "0"], ""),
        (["--tools", "--phase", "1", "-n", "1"], "3"),
        (["--type", "none"], ""),
    ],
)
def test_records_are_chosen_by_type_phase_and_file(filled: Vault, cru: Cru, options: list[str], numbers: str) -> None:
    table, rows = (
        cru("events", "show", ID, *options),
        cru("events", "show", ID, *options, "--format", "jsonl"),
    )
    assert [line[0] for line in lines(table.stdout)] == [*numbers]
    assert [json.loads(line)["seq"] for line in rows.stdout.splitlines()] == [int(n) for n in numbers]


def test_what_fits_no_event_says_which_there_are(filled: Vault, cru: Cru) -> None:
    for options in (["--type", "eror"], ["--phase", "9"]):
        for format_ in ("text", "json", "jsonl"):
            result = cru("events", "show", ID, *options, "--format", format_)
            assert result.exit_code == 0
            assert result.stderr == (
                "no matching events; types here: agent_switch, decision, prompted, subagent_started, task_changed, tool, "
                "tool_returned, tool_used; phases: 1, 2, 2.1\n"
            )
    assert cru("events", "show", ID, "-n", "0").stderr == ""


def test_the_first_year_has_four_digits(filled: Vault, cru: Cru) -> None:
    append_entry(filled.root, ID, "user", {"content": "x"}, now=datetime(1, 1, 1, 5, tzinfo=UTC))
    assert "  0001-01-01T05:00:00Z  " in cru("events", "show", ID, "-n", "1").stdout
    told = cru("events", "show", ID, "-n", "1", "--format", "jsonl").stdout
    assert json.loads(told)["time"] == "0001-01-01T05:00:00Z"


@pytest.mark.parametrize("phase", ["x", "", "2.", "phase-", "1.x", "-1"])
def test_what_is_no_phase_is_refused(filled: Vault, cru: Cru, phase: str) -> None:
    result = cru("events", "show", ID, f"--phase={phase}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "2.1" in result.stderr


def test_a_line_of_json_is_the_record_as_it_is_documented(filled: Vault, cru: Cru) -> None:
    shown = cru("events", "show", ID, "--format", "jsonl").stdout.splitlines()
    kept = [json.loads(line) for line in _kept(filled)]
    for line, record in zip(map(json.loads, shown), kept, strict=True):
        assert line == {k: v for k, v in record.items() if v or k not in ("line", "row", "agent")}
    assert list(json.loads(shown[0]))[:8] == ["seq", "key", "time", "phase", "type", "source", "line", "row"]
    assert json.loads(shown[5])["time"] == "2020-01-24T10:16:00Z"
    assert not {"line", "row", "agent"} & set(json.loads(shown[5]))


def _kept(vault: Vault) -> list[str]:
    folder = flight_folder(vault.root, ID)
    lines = [line for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()]
    return sorted(lines, key=lambda line: int(json.loads(line)["seq"]))


def test_what_a_recorder_told_reads_as_what_was_imported(vault: Vault, cru: Cru) -> None:
    for kind, values in (
        ("tool", {"tool": "grep", "command": "-rn x", "result": "2 hits", "outcome": "ok"}),
        ("tool", {"tool": "make", "command": "", "outcome": "failed", "exit_code": 2}),
        ("tokens", {"used": 12, "cached": 600, "model": "m"}),
        ("tasks", {"tasks": [{"content": "Do", "status": "in_progress"}, {"status": "completed"}]}),
        ("subagent", {"subagent": "finder@2", "task": "Find it", "session": "s-2", "mode": "link"}),
    ):
        append_entry(vault.root, ID, kind, values, now=OLD)
    with FlightWriter(vault.root, ID) as writer:
        writer.write(UsageCounted(At(1, time=OLD), "m1", "opus", 3, 40, 5), "", "c:x")
    assert [line[4:] for line in lines(cru("events", "show", ID).stdout)] == [
        ["grep -rn x → 2 hits"],
        ["make → failed, exit 2"],
        ["12 used, 600 cached tokens (m)"],
        ["2 tasks, 1 done, now: Do"],
        ["@finder@2: Find it → s-2"],
        ["3 fresh, 40 cached, 5 said tokens (opus)"],
    ]


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_a_terminal_gets_lines_that_it_has_room_for(
    filled: Vault, cru: Cru, cru_process: CruProcess, columns: int
) -> None:
    append_entry(filled.root, ID, "user", {"content": "日本 " * 99}, now=OLD, max_value_bytes=150)
    (filled.sessions / f"{'long-' * 12}x.md").write_text(NOTE.format("x"))
    fill(filled, f"{'long-' * 12}x")
    for command in (["show", ID], ["list"]) if columns > 60 else (["show", ID],):
        shown = on_a_terminal(cru_process, filled, columns, "events", *command)
        assert max(map(cell_len, shown)) <= columns
        assert len(shown) == len(cru("events", *command).stdout.splitlines())
    shown = on_a_terminal(cru_process, filled, columns, "events", "show", ID)
    if columns > 60:
        assert re.search(r"… \[cut: \d+ bytes\]$", shown[-1])


def test_what_goes_on_is_never_put_away(filled: Vault, cru: Cru) -> None:
    for name, status in (("now", "active"), ("rest", "paused"), ("odd", "active\nstatus: [")):
        text = NOTE.format(name).replace("completed", status)
        (filled.sessions / f"{name}.md").write_text(text)
        fill(filled, name)
    flight_folder(filled.root, "bare").mkdir()
    (filled.sessions / "bare.md").write_text(NOTE.format("bare"))
    (flight_folder(filled.root, "bare") / EVENTS).touch()
    result = cru("events", "prune", "--older-than", "0")
    assert result.exit_code == 0
    assert "now" not in os.listdir(filled.root / ".crucible/archive")
    left = os.listdir(filled.root / ".crucible/flight")
    assert {"now", "rest", "bare"} <= {*left}
    assert ID not in left
    starts = {line.index("last 2020") for line in result.stdout.splitlines() if "last 2020" in line}
    assert len(starts) == 1
    assert re.search(r"kept +rest +last 2020-01-24, paused", result.stdout)


def test_json_has_everything_whole(filled: Vault, cru: Cru) -> None:
    told = json.loads(cru("events", "show", "2020-01", "--format", "json").stdout)
    assert (told["session"], told["meta"]["records"], len(told["events"])) == (ID, 8, 8)
    assert told["events"][2]["text"] == "FAIL\nmore"
    assert told["events"][6]["exit_code"] == 0
    assert told["events"][1]["arguments"] == {"command": "go test ./..."}


def test_what_was_cut_says_so(filled: Vault, cru: Cru) -> None:
    append_entry(filled.root, ID, "user", {"content": "x" * 500}, now=OLD, max_value_bytes=150)
    append_entry(filled.root, ID, "user", {"content": "y" * 500}, now=OLD, max_value_bytes=300)
    short, long = cru("events", "show", ID, "-n", "2").stdout.splitlines()
    assert short.endswith("x [cut: 500 bytes]")
    assert long.endswith("y… [cut: 500 bytes]")
    told = cru("events", "show", ID, "-n", "1", "--format", "jsonl").stdout
    assert json.loads(told)["cut"] == {"content": 500}


@pytest.mark.parametrize("format_", ["text", "json", "jsonl"])
def test_nothing_in_a_record_steers_the_terminal(filled: Vault, cru: Cru, format_: str) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J\u202egnp\x9b31m\r\n\x7f   9  forged"
    append_entry(filled.root, ID, evil, {"content": evil, evil: evil}, now=OLD, phase=evil)
    with FlightWriter(filled.root, ID) as writer:
        writer.write(ToolUsed(At(99, evil), evil, evil, {evil: evil}), evil, evil)
    shown = cru("events", "show", ID, "--format", format_).stdout
    assert not set(shown) & set("\x1b\x07\x9b\x7f\r\u202e")
    if format_ != "json":
        assert len(shown.splitlines()) == 10
    if format_ == "jsonl":
        assert json.loads(shown.splitlines()[8])["content"] == evil


def test_torn_lines_are_named_and_the_rest_is_shown(filled: Vault, cru: Cru) -> None:
    path = flight_folder(filled.root, ID) / EVENTS
    path.write_bytes(b"junk\n" * 12 + path.read_bytes() + b'{"seq":9')
    result = cru("events", "show", ID)
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 8)
    told = result.stderr.splitlines()
    assert told[0] == f".crucible/flight/{ID}/events.jsonl:1: torn-line: not a record, skipped"
    assert told[-1] == "and 3 more broken lines"


def test_a_session_without_events_says_so(filled: Vault, cru: Cru) -> None:
    (filled.sessions / "bare.md").write_text(NOTE.format("bare"))
    result = cru("events", "show", "bare")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "bare: no event log; see the note\n"


def test_events_without_a_note_are_shown_too(filled: Vault, cru: Cru) -> None:
    for name in ("2019-lost-a", "2019-lost-b"):
        fill(filled, name)
    assert cru("events", "show", "2019-lost-a").stderr == "2019-lost-a: has no note\n"
    assert cru("events", "show", "2019-lo").exit_code == 2
    assert cru("events", "show", "2018").exit_code == 1
    assert cru("events", "show", "../flight").exit_code != 0


def test_old_events_are_archived_and_shown_from_there(filled: Vault, cru: Cru) -> None:
    before = cru("events", "show", ID).stdout
    result = cru("events", "prune")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"archived  {ID}  last 2020-01-24, ")
    assert result.stderr == "1 archived\n"
    shown = cru("events", "show", ID)
    assert shown.stdout == before
    assert shown.stderr == ""


def test_a_dry_run_of_a_purge_writes_nothing_and_tells_what_is_kept_and_why(filled: Vault, cru: Cru) -> None:
    fill(filled, "no-note-here")
    append_entry(filled.root, "young", "user", {}, now=datetime.now(UTC))
    (filled.sessions / "young.md").write_text(NOTE.format("young"))
    before = tree(filled.root / ".crucible")
    result = cru("events", "prune", "--dry-run")
    assert tree(filled.root / ".crucible") == before
    assert [line.split("  ")[0].strip() for line in result.stdout.splitlines()] == ["archive", "keep"]
    assert result.stdout.splitlines()[1] == "keep     no-note-here      last 2020-01-24, no note"
    assert result.stderr == "1 to archive; 1 kept: no note, 1 kept: not old enough\n"
    told = json.loads(cru("events", "prune", "--dry-run", "--format", "json").stdout)
    assert {row["id"]: row.get("reason", row["outcome"]) for row in told["sessions"]} == {
        ID: "purged",
        "no-note-here": "no-note",
        "young": "recent",
    }
    assert tree(filled.root / ".crucible") == before


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_how_old_is_old_can_be_said(filled: Vault, cru: Cru) -> None:
    assert cru("events", "prune", "--older-than", "99999").stderr == "0 archived; 1 kept: not old enough\n"
    assert cru("events", "prune", "--older-than", "7").stderr == "1 archived\n"


def test_the_settings_say_how_long_and_what_then(filled: Vault, cru: Cru) -> None:
    config = filled.root / ".crucible/config.toml"
    config.write_text('[flight]\nretention_days = 90000\nafter = "delete"\n')
    trust(filled.root)
    assert cru("events", "prune").stderr == "0 deleted; 1 kept: not old enough\n"
    config.write_text('[flight]\nafter = "delete"\n')
    trust(filled.root)
    assert cru("events", "prune").stdout.startswith(f"deleted  {ID}  ")
    assert not (filled.root / ".crucible/archive").exists()
    assert os.listdir(filled.root / ".crucible/flight") == []


def test_what_could_not_be_put_away_is_named_and_the_code_is_3(filled: Vault, cru: Cru) -> None:
    (filled.root / ".crucible/archive").mkdir()
    (filled.root / f".crucible/archive/{ID}.jsonl.zst").write_bytes(b"no archive")
    result = cru("events", "prune")
    assert (result.exit_code, result.stdout) == (3, "")
    assert "damaged" in result.stderr.splitlines()[0]
    assert cru("events", "show", ID).exit_code == 1


def test_sessions_with_events_are_listed_with_where_they_lie(filled: Vault, cru: Cru) -> None:
    for name in ("b", "c"):
        (filled.sessions / f"{name}.md").write_text(NOTE.format(name))
        fill(filled, name)
    cru("events", "prune")
    fill(filled)
    append_entry(filled.root, "b", "user", {}, now=OLD)
    fill(filled, "d")
    rows = [line.split() for line in cru("events", "list").stdout.splitlines()]
    assert rows[0] == ["id", "where", "events", "calls", "size", "started", "last"]
    assert [row[:4] for row in rows[1:]] == [
        [ID, "both", "6", "5"],
        ["b", "both", "5", "4"],
        ["c", "archive", "4", "4"],
        ["d", "live", "4", "4"],
    ]
    assert all(re.fullmatch(r"[\d.]+k?B", row[4]) for row in rows[1:])
    assert [row[5:] for row in rows[1:]] == [["2020-01-24", last] for last in ("2020-01-24",) * 4]
    told = json.loads(cru("events", "list", "--format", "json").stdout)["sessions"]
    assert [(row["id"], row["records"]) for row in told] == [(ID, 11), ("b", 9), ("c", 8), ("d", 8)]


def test_a_vault_without_events_has_an_empty_list(cru: Cru) -> None:
    assert cru("events", "list").stdout == "id  where  events  calls  size  started  last\n"
    assert json.loads(cru("events", "list", "--format", "json").stdout)["sessions"] == []
    assert cru("events", "prune").stderr == "0 archived\n"


def test_a_renamed_sessions_archive_follows(filled: Vault, cru: Cru) -> None:
    before = cru("events", "show", ID).stdout
    cru("events", "prune")
    assert cru("session", "rename", ID, "2020-01-24-backoff").exit_code == 0
    assert cru("events", "show", "2020-01-24-backoff").stdout == before
    assert [row.split()[0] for row in cru("events", "list").stdout.splitlines()[1:]] == ["2020-01-24-backoff"]


def test_the_commands_run_as_processes(filled: Vault, cru_process: CruProcess) -> None:
    purged = cru_process("--vault", filled.root, "events", "prune")
    assert (purged.returncode, purged.stderr) == (0, b"1 archived\n")
    shown = cru_process("--vault", filled.root, "events", "show", ID, "--format", "jsonl")
    assert [json.loads(line)["seq"] for line in shown.stdout.splitlines()] == list(range(1, 9))
