"""Recorded calls are found by the lines of a note."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.analysis.tools.recorded_calls import RecordedCalls, load_recorded_calls, recorded_calls_of
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.documents.markdown.source import Lines
from crucible.documents.recording.call_lines import call_line
from crucible.documents.session.session import Outcome, ToolCall
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_reader import EventRecord

LONG = {"cmd": "cat > limiter.py <<'END'\n" + "x = 1\n" * 100 + "END"}


def _used(
    call: str,
    name: str,
    arguments: Mapping[str, object],
    agent: str = "",
    cut: Mapping[str, int] | None = None,
) -> EventRecord:
    values = {"call": call, "name": name, "arguments": arguments}
    return EventRecord(1, "ToolUsed", agent=agent, values=values, cut=cut or {})


def _returned(call: str, text: str, end: str = "ok", agent: str = "") -> EventRecord:
    return EventRecord(1, "ToolReturned", agent=agent, values={"call": call, "text": text, "end": end})


def test_a_cut_call_has_its_whole_arguments_and_result() -> None:
    evidence = recorded_calls_of([_used("1", "exec_command", LONG), _returned("1", "whole\nresult")])
    call = ToolCall(call_line("exec_command", LONG), "2 lines")
    assert call.call.endswith("…")
    assert evidence.arguments(call) == LONG
    assert evidence.result(call) == "whole\nresult"
    assert evidence.name(call) == "exec_command"
    assert evidence.whole


def test_a_path_below_the_folder_of_the_session_is_found_by_the_note_s_short_one() -> None:
    arguments = {"file_path": "/home/dev/shop/app.py", "content": "x"}
    evidence = recorded_calls_of(
        [EventRecord(1, "ContextSeen", values={"cwd": "/home/dev/shop"}), _used("1", "Write", arguments)]
    )
    call = ToolCall("Write app.py")
    assert evidence.arguments(call) == arguments
    assert (evidence.roots, evidence.folder(call)) == (("/home/dev/shop",), "/home/dev/shop")


def test_calls_with_one_line_get_their_records_in_order_and_each_always_the_same() -> None:
    edits = [{"file_path": "a.py", "new_string": str(at)} for at in range(3)]
    evidence = recorded_calls_of([_used(str(at), "Edit", edit) for at, edit in enumerate(edits)])
    calls = [ToolCall("Edit a.py", outcome=Outcome.PENDING, lines=Lines(at, at + 1)) for at in range(3)]
    assert [evidence.arguments(call) for call in calls] == edits
    assert [evidence.arguments(call) for call in reversed(calls)] == edits[::-1]
    assert evidence.arguments(ToolCall("Edit a.py", lines=Lines(9, 10))) is None


def test_of_calls_with_one_line_the_one_that_ended_alike_is_meant() -> None:
    evidence = recorded_calls_of(
        [
            _used("1", "Edit", {"file_path": "a.py", "new_string": "bad"}),
            _returned("1", "no match", "failed"),
            _used("2", "Edit", {"file_path": "a.py", "new_string": "good"}),
            _returned("2", "updated"),
        ]
    )
    found = evidence.arguments(ToolCall("Edit a.py", outcome=Outcome.OK, lines=Lines(5, 6)))
    assert found is not None
    assert found["new_string"] == "good"


def test_calls_of_two_agents_with_one_id_are_two() -> None:
    evidence = recorded_calls_of(
        [
            _used("1", "Read", {"file_path": "a.py"}, "x"),
            _used("1", "Read", {"file_path": "b.py"}, "y"),
            _returned("1", "of a", agent="x"),
            _returned("1", "of b", agent="y"),
        ]
    )
    assert evidence.result(ToolCall("Read a.py")) == "of a"
    assert evidence.result(ToolCall("Read b.py")) == "of b"


def test_a_call_that_was_not_recorded_has_no_evidence() -> None:
    evidence = RecordedCalls()
    call = ToolCall("Bash ls")
    assert (evidence.arguments(call), evidence.result(call), evidence.name(call)) == (None, None, "Bash")
    assert not evidence.whole


def test_arguments_that_were_cut_are_not_whole() -> None:
    assert not recorded_calls_of([_used("1", "Write", {"file_path": "a"}, cut={"arguments.content": 9_000_000})]).whole


def test_a_call_that_an_agent_recorded_itself_is_found(tmp_path: Path) -> None:
    values = {"tool": "cargo", "command": "test -p core", "result": "ok\nall", "outcome": "failed"}
    append_entry(tmp_path, "2026-11-21-one", "tool", values, now=datetime(2026, 11, 21, tzinfo=UTC))
    evidence = load_recorded_calls(tmp_path, "2026-11-21-one")
    call = ToolCall("cargo test -p core", "ok", Outcome.FAILED)
    assert evidence.arguments(call) == {"command": "test -p core"}
    assert evidence.result(call) == "ok\nall"


@pytest.mark.parametrize("session", ["2026-11-21-none", "../escape", ""])
def test_a_session_without_records_has_none(tmp_path: Path, session: str) -> None:
    assert not load_recorded_calls(tmp_path, session).whole


def test_damaged_records_are_less_evidence_and_no_error(tmp_path: Path) -> None:
    folder = tmp_path / ".crucible" / "flight" / "2026-11-21-one"
    folder.mkdir(parents=True)
    used = '{"seq":1,"type":"ToolUsed","call":"1","name":"Bash","arguments":{"command":"ls"}}\n'
    (folder / "tools.jsonl").write_text(
        used + '{"seq":2,"type":5}\nnot json\n' + used.replace('"Bash"', "7").replace('{"command":"ls"}', "[]")
    )
    evidence = load_recorded_calls(tmp_path, "2026-11-21-one")
    assert evidence.arguments(ToolCall("Bash ls", outcome=Outcome.PENDING)) == {"command": "ls"}


@pytest.mark.parametrize(
    ("tool", "deed"),
    [("Edit", Deed.EDIT), ("Write", Deed.WRITE), ("Read", Deed.READ), ("file_write", Deed.WRITE)],
)
def test_a_call_that_an_agent_recorded_by_its_tool_and_file_keeps_the_file(tool: str, deed: Deed) -> None:
    evidence = recorded_calls_of([EventRecord(1, "tool", values={"tool": tool, "command": "src/limiter.py"})])
    (act,) = acts_of(ToolCall(f"{tool} src/limiter.py"), evidence, Files())
    assert (act.deed, act.what) == (deed, "src/limiter.py")
