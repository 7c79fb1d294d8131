"""Tool calls and their results, each in one line."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.recording import call_lines as calls
from crucible.documents.recording import result_lines as results
from crucible.documents.recording.call_lines import call_line, one_line
from crucible.documents.recording.result_lines import result_line
from crucible.documents.session.markup import CALL_LIMIT, RESULT_LIMIT
from crucible.documents.session.session import Outcome
from samples.hostile_texts import hostile_text
from tests.cases import for_each

CWD = "/home/dev/shop"


@for_each(
    ("name", "arguments", "line"),
    [
        ("Bash", {"command": "ls  -la", "description": "List"}, "Bash ls -la"),
        ("Bash", {"command": "cd a\n  make\n"}, "Bash cd a⏎make"),
        ("Read", {"file_path": "/home/dev/shop/src/a.py", "limit": 5}, "Read src/a.py"),
        ("Read", {"file_path": "/home/dev/shopping/a.py"}, "Read ~/shopping/a.py"),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts"),
        ("Edit", {"old_string": "a", "file_path": "a.py", "new_string": "b"}, "Edit a.py"),
        ("Grep", {"pattern": "def .*", "path": "/home/dev/shop/src", "glob": "*.py"}, "Grep def .* src *.py"),
        ("Grep", {"output_mode": "count"}, 'Grep {"output_mode":"count"}'),
        ("Glob", {"pattern": "**/*.md"}, "Glob **/*.md"),
        ("WebFetch", {"url": "https://a.b", "prompt": "what"}, "WebFetch https://a.b"),
        ("WebSearch", {"query": "rate limiter"}, "WebSearch rate limiter"),
        ("TaskCreate", {"subject": "Test it", "description": "all"}, "TaskCreate Test it"),
        ("TaskUpdate", {"taskId": "2", "status": "in_progress"}, "TaskUpdate 2 in_progress"),
        ("TodoWrite", {"todos": [{"content": "A", "status": "in_progress"}, {"content": "B"}]},
         "TodoWrite 2 tasks, now: A"),
        ("TodoWrite", {"todos": [{"content": "A", "status": "completed"}]}, "TodoWrite 1 task"),
        ("TodoWrite", {"todos": "odd"}, 'TodoWrite {"todos":"odd"}'),
        ("Skill", {"skill": "pdf", "args": "x.pdf"}, "Skill pdf x.pdf"),
        ("AskUserQuestion", {"questions": [{"question": "Which?"}, {"question": "When?"}]},
         "AskUserQuestion Which? / When?"),
        ("ExitPlanMode", {"plan": "# The plan\n\n1. go"}, "ExitPlanMode The plan"),
        ("mcp__github__get_issue", {"issue": 7, "repo": "a/b"}, 'mcp__github__get_issue {"issue":7,"repo":"a/b"}'),
        ("mcp__jira__search", {"query": "open bugs", "max": 5}, "mcp__jira__search open bugs"),
        ("apply_patch", {"patchText": "*** Begin Patch\n*** Update File: /home/dev/shop/a.py\n@@"}, "apply_patch a.py"),
        ("Nothing", {}, "Nothing"),
        ("", {"command": "x"}, "tool x"),
        ("two words", {}, "two_words"),
    ],
)  # fmt: skip
def test_a_call_tells_what_a_person_would_look_for(name: str, arguments: Mapping[str, object], line: str) -> None:
    assert call_line(name, arguments, CWD) == line


def test_a_long_call_is_cut() -> None:
    line = call_line("Bash", {"command": "x" * 500})
    assert line == "Bash " + "x" * 194 + "…"
    assert len(line) == CALL_LIMIT


@for_each(
    ("call", "text", "details", "line"),
    [
        ("Write a.py", "File created successfully at: a.py", {"kind": "create", "lines": 17}, "created, 17 lines"),
        ("Write a.py", "File created successfully at: a.py", None, "created"),
        ("Write a.py", "The file a.py has been updated", {"kind": "update", "lines": 1}, "updated, 1 line"),
        ("Edit a.py", "The file has been updated", {"added": 3, "removed": 1}, "updated, +3 −1"),
        ("Edit a.py", "The file has been updated", None, "updated"),
        ("Read a.py", "1\tx\n2\ty\n", {"lines": 347}, "347 lines"),
        ("Read a.py", "1\tx\n2\ty\n", None, "2 lines"),
        ("Read a.png", "", {"kind": "image"}, "image"),
        ("Read a.py", "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", None,
         "empty"),
        ("Bash make", "building\n\nall done\n", None, "all done"),
        ("Bash make", "", None, "ok"),
        ("Bash grep x y", "", {"note": "No matches found"}, "No matches found"),
        ("Bash sleep 99", "Command running", {"background": "b1"}, "in the background as b1"),
        ("Bash pytest -q", "....\n=== 4 passed in 0.10s ===\n", None, "4 passed in 0.10s"),
        ("Bash cat a.py", "a\nb\nc\nd\n", None, "4 lines"),
        ("Bash ls && cat a.py | head -3", "a\nb\nc\n", None, "3 lines"),
        ("Bash cat VERSION", "1.2.3\n", None, "1.2.3"),
        ("Bash cat a && make", "a\nb\nc\nd\nmade\n", None, "made"),
        ("Bash mise run fmt", "[fmt] $ gofmt -w .", None, "ok"),
        ("Bash mise run lint", "[lint] $ golangci-lint run\n0 issues.\n[lint] $ golangci-lint run", None, "0 issues"),
        ("Bash npm run say", "> shop@1.0.0 say\n> node say.js\n\nhello there\n", None, "hello there"),
        ("Bash yarn say", "yarn run v1.22.19\n$ node say.js\nhello there\nDone in 0.12s.\n", None, "hello there"),
        ("Bash cd ../web && date", "Mon Nov 23\nShell cwd was reset to /home/dev/shop", None, "Mon Nov 23"),
        ("Bash make", "make[1]: Entering directory '/home/dev'\ncc a.c\nmake[1]: Leaving directory '/home/dev'", None, "cc a.c"),
        ("Bash ./run", "<system-reminder>Be brief.</system-reminder>\n", None, "ok"),
        ("Bash ./run", "done\n<system-reminder>\nBe brief.\n</system-reminder>", None, "done"),
        ("Bash ./run", "==========", None, "ok"),
        ("Bash mise run lint | tail -3", "[lint:go] * goconst: 1\n[lint:go] ERROR task failed", None, "failed: * goconst: 1"),
        ("Bash mise run all | tail -3", "0 issues.\n[test] ERROR task failed", None, "failed: 0 issues"),
        ("Bash npm test | tail -1", "npm error Lifecycle script `test` failed with error:", None, "failed"),
        ("Bash go test -v | grep FAIL | tail -9", "=== RUN   TestA\n=== RUN   TestB\nFAIL", None, "failed"),
        ("Bash npm run dup", ("<persisted-output>\nOutput too large (99KB). Full output saved to: /home/dev/x.txt\n\nPreview (first 2KB):\n"
         "ok  \tshop/cart\t0.1s\n...\n</persisted-output>"), None, "99KB of output"),
        ("Bash go test ./...", ("<persisted-output>\nOutput too large (99KB). Full output saved to: /home/dev/x.txt\n\nPreview (first 2KB):\n"
         "--- FAIL: TestThird (0.00s)\n...\n</persisted-output>"), None, "failed: TestThird"),
        ("Bash npm run dup", "ok  \tshop/cart\t0.1s\n[… 99KB in all; the rest was not kept …]", None, "99KB of output"),
        ("Bash go test ./...", "ok  \tshop/cart\t0.1s\n[… 65,000 bytes left out …]\nok  \tshop/web\t0.1s", None, "packages ok"),
        ("Bash git commit -m x && git push", "[main 1a2b3c4] Round totals\n 1 file changed\n create mode 100644 a.py\n", None,
         "1a2b3c4 Round totals"),
        ("Bash ./try.sh", "[main (root-commit) 1a2b3c4] First\nall tried", None, "all tried"),
        ("Bash cat results.txt", "a\nb\n3 failed, 2 passed in 0.1s\n", None, "3 lines"),
        ("Bash gh api x --jq .", '{\n  "a": 1\n}\n', None, "3 lines"),
        ("TaskOutput b1", "<retrieval_status>success</retrieval_status>\n<output>\n2 failed, 3 passed in 0.1s\n</output>", None,
         "2 failed, 3 passed"),
        ("Grep x", "Found 3 files\na\nb\nc", {"matches": 12, "files": 3}, "12 matches in 3 files"),
        ("Grep x", "Found 1 file\na", None, "1 file"),
        ("Grep x", "No matches found", None, "no matches"),
        ("Grep x", "a:1:x\nb:2:x", None, "2 matches"),
        ("Glob *.py", "a.py\nb.py", None, "2 files"),
        ("Glob *.py", "No files found", {"matches": 0}, "no files"),
        ("WebSearch x", "Web search results for x", {"results": 5}, "5 results"),
        ("TaskCreate A", "Task #3 created successfully: A", None, "task 3"),
        ("TaskUpdate 3 completed", "Updated task #3 status", None, "ok"),
        ("mcp__a__b", "\n\n{\n  first: 1\n}", None, "first: 1"),
        ("Other", "—\n", None, "—"),
    ],
)  # fmt: skip
def test_a_result_tells_what_came_of_it(call: str, text: str, details: Mapping[str, object] | None, line: str) -> None:
    assert result_line(call, text, Outcome.OK, details) == line


@for_each(
    ("text", "line"),
    [
        ("Exit code 1\nok\nFAILED test_limiter.py::test_third - AssertionError", "FAILED test_limiter.py::test_third - AssertionError"),
        ("Exit code 1\nFAILED a\nFAILED b\n=== 2 failed ===", "2 failed: a, b"),
        ("Exit code 1\nretry failed: connection reset", "retry failed: connection reset"),
        ("Exit code 127\nbash: foo: command not found", "bash: foo: command not found"),
        ("Error: Exit code 3", "exit code 3"),
        ('Exit code 1\nTraceback (most recent call last):\n  File "x.py"\nValueError: bad\n', "ValueError: bad"),
        ("<tool_use_error>File does not exist.</tool_use_error>", "File does not exist."),
        ("error[E0308]: mismatched types\n --> a.rs:1\nnote: more", "1 error: a.rs:1 E0308 mismatched types"),
        ("Something odd\nat the end", "at the end"),
        ("Exit code 2\ngrep: unrecognized option '--- FAIL'\nusage: grep [-abc]\n\t[pattern] [file ...]", "grep: unrecognized option '--- FAIL'"),
        ("Exit code 1\ngo: updates to go.mod needed; to update it:\n\tgo mod tidy", "go: updates to go.mod needed; to update it:"),
        ("Exit code 1\n[lint] $ ~/shop/tasks/lint\n[lint] ERROR task failed", "exit code 1"),
        ("Exit code 1\npackage shop/cart\n\timports shop/order\n\timports shop/cart: import cycle not allowed",
         "imports shop/cart: import cycle not allowed"),
        ("Exit code 1\nnpm ERR! code ECONNRESET\nnpm ERR! network read ECONNRESET\nnpm ERR! A complete log of this run can be found in: x",
         "npm ERR! network read ECONNRESET"),
        ("Exit code 2\nmake: *** [Makefile:3: test] Error 1", "exit code 2"),
        ("Exit code 1\n[lint] $ golangci-lint run\n0 issues.\n[test] ERROR task failed", "exit code 1; 0 issues"),
        ("", "failed"),
    ],
)  # fmt: skip
def test_a_failure_tells_its_cause(text: str, line: str) -> None:
    assert result_line("Bash x", text, Outcome.FAILED) == line


def test_the_cause_is_found_at_either_end_of_a_long_output() -> None:
    assert result_line("Bash x", "Exit code 2\nfatal: early\n" + "noise\n" * 50_000, Outcome.FAILED) == "fatal: early"
    assert result_line("Bash x", "noise\n" * 50_000 + "KeyError: 'late'\n", Outcome.FAILED) == "KeyError: 'late'"


@given(st.sampled_from(["Bash", "Read", "Grep", "X"]), hostile_text(), st.sampled_from(Outcome))
def test_lines_are_single_and_within_their_limits(name: str, text: str, outcome: Outcome) -> None:
    call = call_line(name, {"command": text, "file_path": text})
    result = result_line(call, text, outcome)
    assert "\n" not in call + result
    assert len(call) <= CALL_LIMIT
    assert len(result) <= RESULT_LIMIT
    assert one_line(call, CALL_LIMIT) == call
    assert one_line(result, RESULT_LIMIT) == result


@given(st.dictionaries(st.text(max_size=5), st.recursive(st.none() | st.integers() | st.text(), st.lists), max_size=4))
def test_any_arguments_make_a_line(arguments: dict[str, object]) -> None:
    for name in (
        "TodoWrite",
        "TaskUpdate",
        "Grep",
        "AskUserQuestion",
        "ExitPlanMode",
        "Skill",
        "Agent",
        "Other",
    ):
        assert call_line(name, arguments).startswith(name)


@pytest.mark.parametrize("told", [calls, results])
def test_clients_that_have_a_tool_of_one_name_have_it_told_alike(told: ModuleType) -> None:
    tables = [vars(told)[name] for name in ("_CLAUDE_CODE", "_CODEX", "_GEMINI", "_OPENCODE")]
    tellers: dict[str, object] = {}
    for tool, teller in (pair for table in tables for pair in table.items()):
        assert tellers.setdefault(tool, teller) is teller, tool
