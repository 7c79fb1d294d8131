"""Outputs that the client moved into separate files."""

from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest

from crucible.clients.claude_code import logs as claude_code
from crucible.clients.claude_code.call_results import LONGEST_OUTPUT
from crucible.clients.events import SubagentReturned, ToolReturned
from tests.unit.clients.building import SESSION, Row, assistant, dump, one, result, text, use

OTHER = "99999999-2222-3333-4444-555555555555"


def moved(path: str, preview: str = "line 1", more: str = "\n...\n") -> str:
    return (
        f"<persisted-output>\nOutput too large (91.2KB). Full output saved to: {path}\n\nPreview (first 2KB):\n"
        f"{preview}{more}</persisted-output>"
    )


def write(folder: Path, *rows: Row, name: str = SESSION) -> Path:
    path = folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(rows))
    return path


def keep(folder: Path, name: str, data: bytes, session: str = SESSION) -> Path:
    path = folder / session / "tool-results" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def told(path: Path, agent: str = "") -> str:
    return one(claude_code.read_log(path, agent), ToolReturned).text


def ran(named: str, raw: object = None, call: str = "Bash") -> tuple[Row, Row]:
    return assistant(use(call)), result(moved(named), raw=raw)


def test_a_moved_output_is_read_from_its_file(tmp_path: Path) -> None:
    kept = keep(tmp_path, "call-1.txt", b"line 1\nline 2\nok\n")
    assert told(write(tmp_path, *ran(str(kept)))) == "line 1\nline 2\nok\n"


def test_a_folder_that_was_copied_is_read_where_it_is(tmp_path: Path) -> None:
    keep(tmp_path, "call-1.txt", b"all of it")
    for named in (
        f"/Users/ada/.claude/projects/-x/{SESSION}/tool-results/call-1.txt",
        rf"C:\Users\ada\.claude\projects\-x\{SESSION}\tool-results\call-1.txt",
    ):
        assert told(write(tmp_path, *ran(named))) == "all of it"


def test_the_head_and_the_tail_of_a_long_output_are_kept(tmp_path: Path) -> None:
    lines = [f"line {number} é" for number in range(20_000)]
    data = "\n".join(lines).encode()
    kept = keep(tmp_path, "call-1.txt", data)
    found = told(write(tmp_path, *ran(str(kept))))
    assert len(found.encode()) <= LONGEST_OUTPUT
    head, between, tail = found.partition("\n[… ")
    left, _, tail = tail.partition(" bytes left out …]\n")
    assert between
    assert found.startswith("line 0 é\nline 1 é\n")
    assert found.endswith("line 19999 é")
    assert set(head.split("\n")) | set(tail.split("\n")) <= set(lines)
    assert int(left.replace(",", "")) == len(data) - len(head.encode()) - len(tail.encode()) - 2


def test_one_endless_line_is_cut_between_characters(tmp_path: Path) -> None:
    kept = keep(tmp_path, "call-1.txt", "é".encode() * 100_001)
    found = told(write(tmp_path, *ran(str(kept))))
    assert "\ufffd" not in found
    assert len(found.encode()) <= LONGEST_OUTPUT


def test_blocks_in_a_file_are_their_text(tmp_path: Path) -> None:
    kept = keep(tmp_path, "call-1.json", orjson.dumps([text("one"), text("two")]))
    assert told(write(tmp_path, *ran(str(kept), call="mcp__x__list"))) == "one\ntwo"


def test_a_subagents_outputs_lie_in_the_folder_of_its_session(tmp_path: Path) -> None:
    kept = keep(tmp_path, "call-1.txt", b"whole")
    write(tmp_path)
    for name in ("subagents/agent-a1", "subagents/workflows/run/agent-a2"):
        rows = [{**row, "isSidechain": True, "agentId": name[-2:]} for row in ran(str(kept))]
        assert told(write(tmp_path / SESSION, *rows, name=name), name[-2:]) == "whole"
    sibling = write(tmp_path, *({**row, "agentId": "a3"} for row in ran(str(kept))), name="agent-a3")
    assert told(sibling, "a3") == "whole"


# --- what is not read ------------------------------------------------------------------------------------------------

GONE = "line 1\n[… 91.2KB in all; the rest was not kept …]"


def test_no_file_outside_the_sessions_own_folder_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_bytes(b"secret")
    kept = keep(tmp_path, "call-1.txt", b"of another session", OTHER)
    keep(tmp_path, "real.txt", b"own")
    own = tmp_path / SESSION / "tool-results"
    (own / "link.txt").symlink_to(secret)
    (own / "link").symlink_to(tmp_path)
    (own / "folder.txt").mkdir()
    for named in (
        str(secret),
        str(kept),
        str(own / "link.txt"),
        str(own / "link" / "secret.txt"),
        str(own / ".." / ".." / "secret.txt"),
        f"/x/tool-results/{secret}",
        "/x/tool-results/../../secret.txt",
        r"C:\x\tool-results\..\..\secret.txt",
        str(own / "folder.txt"),
        str(own),
        f"{own}/",
        "/x/tool-results/nul\x00byte",
        "/x/tool-results/" + "n" * 5000,
    ):
        assert told(write(tmp_path, *ran(named))) == GONE, named


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    keep(tmp_path / "elsewhere", "call-1.txt", b"not ours")
    (tmp_path / SESSION).mkdir()
    (tmp_path / SESSION / "tool-results").symlink_to(tmp_path / "elsewhere" / SESSION / "tool-results")
    assert told(write(tmp_path, *ran("/x/tool-results/call-1.txt"))) == GONE


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    keep(tmp_path, "x", b"")
    os.mkfifo(tmp_path / SESSION / "tool-results" / "call-1.txt")
    assert told(write(tmp_path, *ran("/x/tool-results/call-1.txt"))) == GONE


def test_a_result_that_only_quotes_such_a_note_is_left_alone(tmp_path: Path) -> None:
    keep(tmp_path, "call-1.txt", b"whole")
    quoted = "grep found:\n" + moved("/x/tool-results/call-1.txt")
    assert told(write(tmp_path, assistant(use("Grep")), result(quoted))) == quoted


# --- when the file is gone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "raw"),
    [
        ("Bash", {"stdout": "line 1\nline 2\nok", "stderr": ""}),
        ("Bash", {"stdout": "line 1\nline 2", "stderr": "ok"}),
        ("Grep", {"mode": "content", "content": "line 1\nline 2\nok"}),
    ],
)
def test_the_structured_result_has_what_the_file_had(tmp_path: Path, call: str, raw: object) -> None:
    assert told(write(tmp_path, *ran("/x/tool-results/gone.txt", raw, call))) == "line 1\nline 2\nok"


def test_a_long_structured_result_keeps_its_head_and_tail(tmp_path: Path) -> None:
    found = told(write(tmp_path, *ran("/x/.txt", {"stdout": "first\n" + "x" * 200_000 + "\nlast"})))
    assert found.startswith("first\n")
    assert found.endswith("\nlast")
    assert len(found.encode()) <= LONGEST_OUTPUT


@pytest.mark.parametrize("raw", [None, "x", {"stdout": 7}, {"stdout": "line"}, {"content": [text("x")]}])
def test_without_either_the_preview_is_used_without_its_tags(tmp_path: Path, raw: object) -> None:
    assert told(write(tmp_path, *ran("/x/tool-results/gone.txt", raw))) == GONE


def test_a_note_in_another_shape_keeps_its_words(tmp_path: Path) -> None:
    for note, words in (
        ("<persisted-output>\nsaved somewhere\n</persisted-output>", "saved somewhere"),
        ("<persisted-output>cut sho", "cut sho"),
        ("<persisted-output></persisted-output>", ""),
    ):
        assert told(write(tmp_path, assistant(use("Bash")), result(note))) == words


def test_a_report_that_was_moved_is_whole(tmp_path: Path) -> None:
    report = "Found it.\n" + "x" * 200_000
    raw = {"status": "completed", "agentId": "a1", "content": [text(report)], "totalTokens": 5}
    path = write(tmp_path, assistant(use("Agent", prompt="Find it")), result(moved("/x/gone.txt"), raw=raw))
    assert one(claude_code.read_log(path), SubagentReturned).text == report
