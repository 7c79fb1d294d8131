"""The lines in a note for Codex's tool calls."""

from __future__ import annotations

from crucible.documents.recording.call_lines import call_line
from crucible.documents.recording.result_lines import result_line
from tests.cases import for_each

PATCH = "*** Begin Patch\n*** Update File: /p/app.py\n@@\n-a\n+b\n*** Add File: new.py\n+x\n*** End Patch"


@for_each(
    ("name", "arguments", "line"),
    [
        ("exec_command", {"cmd": "make test", "workdir": "/p"}, "exec_command make test"),
        ("shell", {"command": ["bash", "-lc", "make test"]}, "shell make test"),
        ("shell", {"command": ["git", "status"], "workdir": "/p"}, "shell git status"),
        ("local_shell", {"command": []}, 'local_shell {"command":[]}'),
        ("apply_patch", {"input": PATCH}, "apply_patch app.py, new.py"),
        ("apply_patch", {"path": "/p/app.py"}, "apply_patch app.py"),
        (
            "update_plan",
            {"plan": [{"step": "Look", "status": "completed"}, {"step": "Mend", "status": "in_progress"}]},
            "update_plan 2 tasks, now: Mend",
        ),
        ("wait_agent", {"targets": ["a", "b"], "timeout_ms": 1000}, "wait_agent 2 agents"),
        ("wait_agent", {"timeout_ms": 1000}, 'wait_agent {"timeout_ms":1000}'),
        ("close_agent", {"target": "01a20175-8706-7531-81b6-23ac6932bb5d"}, "close_agent 23ac6932bb5d"),
        ("send_input", {"target": "x", "message": "one more thing"}, "send_input one more thing"),
        ("web_search", {"query": "retry"}, "web_search retry"),
        ("view_image", {"path": "/p/pic.png"}, "view_image pic.png"),
    ],
)
def test_a_call_line_has_the_most_telling_argument(name: str, arguments: dict[str, object], line: str) -> None:
    assert call_line(name, arguments, "/p") == line


@for_each(
    ("call", "text", "details", "line"),
    [
        ("exec_command ls", "a\nb\nc\n", {"exit_code": 0}, "3 lines"),
        ("exec_command make", "cc\nok built\n", {"exit_code": 0}, "ok built"),
        ("exec_command make", "", {"background": "7"}, "in the background as 7"),
        ("apply_patch a.py", "Success.", {"kind": "update", "added": 2, "removed": 1}, "updated, +2 −1"),
        (
            "apply_patch a.py",
            "Success.",
            {"kind": "create", "added": 2, "removed": 0},
            "created, 2 lines",
        ),
        ("update_plan 2 tasks", "Plan updated", {}, "ok"),
        ("wait_agent x", '{"status":{},"timed_out":true}', {}, "timed out"),
        ("wait_agent x", '{"status":{"x":{"completed":"y"}},"timed_out":false}', {}, "ok"),
        ("web_search retry", "", {}, "ok"),
    ],
)
def test_a_result_line_is_even_shorter(call: str, text: str, details: dict[str, object], line: str) -> None:
    assert result_line(call, text, details=details) == line
