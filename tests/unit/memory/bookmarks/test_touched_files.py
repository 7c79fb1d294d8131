from __future__ import annotations

import pytest

from crucible.documents.markdown.source import Source
from crucible.documents.recording.call_lines import Arguments, call_line
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.memory.bookmarks.make_bookmark import touched_files
from tests.cases import for_each
from tests.paths import TESTS

GOLDEN = TESTS / "data"


def _session(*calls: ToolCall | str) -> Session:
    made = tuple(ToolCall(call) if isinstance(call, str) else call for call in calls)
    return Session("x", phases=(Phase("One", entries=(Prose("Hi"), ToolCalls(made)), id="phase-1"),))


@for_each(
    ("name", "arguments"),
    [
        ("Write", {"file_path": "/home/me/shop/src/a.py", "content": "x"}),
        ("Edit", {"file_path": "/home/me/shop/src/a.py", "old_string": "a", "new_string": "b"}),
        ("MultiEdit", {"file_path": "/home/me/shop/src/a.py", "edits": []}),
        ("NotebookEdit", {"notebook_path": "/home/me/shop/src/a.py", "new_source": "x", "cell_id": "3"}),
        ("Read", {"file_path": "/home/me/shop/src/a.py", "offset": 3}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"}),
        ("apply_patch", {"path": "/home/me/shop/src/a.py"}),
        ("write", {"filePath": "/home/me/shop/src/a.py", "content": "x"}),
        ("edit", {"filePath": "/home/me/shop/src/a.py", "oldString": "a", "newString": "b"}),
        ("read", {"filePath": "/home/me/shop/src/a.py"}),
        ("write_file", {"file_path": "/home/me/shop/src/a.py", "content": "x"}),
        ("replace", {"file_path": "/home/me/shop/src/a.py", "instruction": "mend", "old_string": "a"}),
        ("read_file", {"absolute_path": "/home/me/shop/src/a.py"}),
    ],
)
def test_each_clients_tools_name_their_file(name: str, arguments: Arguments) -> None:
    session = _session(call_line(name, arguments, "/home/me/shop"))
    assert touched_files(session) == ("src/a.py",)


@for_each(
    "call",
    [
        *("Bash cat a.py", "bash rm a.py", "exec_command sed -i s/a/b/ a.py", "Grep x a.py", "Glob *.py"),
        *("Write", "Write ", 'Read {"wrong":1}', 'patch {"patchText":"*** Begin Patch"}'),
        *("apply_patch *** Begin Patch⏎*** End Patch", "Write a⏎b.py", "Write /home/[REDACTED:jwt]/a.py"),
        *("Write caf\ufffd.py", "frobnicate a.py"),
    ],
)
def test_an_uncertain_path_touches_no_file(call: str) -> None:
    assert touched_files(_session(call)) == ()


def test_a_patch_names_each_of_its_files() -> None:
    patch = "*** Add File: a.py\n+x\n*** Update File: src/b c.py\n@@\n*** Delete File: d.py\n"
    assert touched_files(_session(call_line("apply_patch", {"input": patch}))) == (
        "a.py",
        "src/b c.py",
        "d.py",
    )


def test_a_path_that_the_note_holds_cut_is_left_out() -> None:
    long = "src/" + "x" * 300 + ".py"
    patch = f"*** Update File: a.py\n*** Update File: {long}\n*** Update File: b.py\n"
    calls = [call_line("Write", {"file_path": long}), call_line("apply_patch", {"input": patch})]
    assert touched_files(_session(*calls)) == ("a.py",)


def test_files_are_unique_and_in_order_of_the_last_touch() -> None:
    assert touched_files(_session("Write a.py", "Write b.py", "Read c.py", "Edit a.py")) == (
        "b.py",
        "c.py",
        "a.py",
    )


def test_what_failed_or_was_rejected_touched_nothing_and_what_was_interrupted_may_have() -> None:
    calls = [ToolCall(f"Write {outcome}.py", "x", outcome) for outcome in Outcome]
    assert touched_files(_session(*calls)) == ("ok.py", "interrupted.py", "pending.py")


def test_subphases_and_inline_subagents_touch_files_too() -> None:
    inner = Subagent(AgentRef("helper"), mode=Mode.INLINE, entries=(ToolCalls((ToolCall("Write b.py"),)),))
    below = Phase("Below", entries=(inner, ToolCalls((ToolCall("Write c.py"),))))
    session = Session("x", phases=(Phase("A", entries=(ToolCalls((ToolCall("Write a.py"),)),), subphases=(below,)),))
    assert touched_files(session) == ("a.py", "b.py", "c.py")


@for_each("name", ["a`b.py", "a``b.py", "→ x.py", "a, b.py", "[[x]].py", "-rf", "# x.py", "ä é.py"])
def test_a_hostile_name_comes_back_from_a_note(name: str) -> None:
    text = render_session(_session(call_line("Write", {"file_path": name})))
    assert touched_files(read_session(Source(text), "x")) == (name,)


@pytest.mark.parametrize(
    ("note", "files"),
    [
        ("golden/import/2026-11-21-add-rate-limiter-project.md", ("limiter.py",)),
        ("golden/import-opencode/limiter/2026-11-21-add-rate-limiter-project.md", ("limiter.py",)),
        ("transcripts/gemini/golden/limiter.md", ("app.py", "limiter.py")),
    ],
)
def test_notes_of_real_sessions_name_their_files(note: str, files: tuple[str, ...]) -> None:
    path = GOLDEN / note
    assert touched_files(read_session(Source.from_bytes(path.read_bytes()), path.stem)) == files
