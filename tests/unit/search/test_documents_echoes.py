"""Calls of recall are recognized as echoes, however a client names them, and nothing else is."""

from __future__ import annotations

import time

import pytest

from crucible.search.embedded.documents import without_echoes
from crucible.search.recall import RECALLED, RECALLED_END, Event, EventKind
from tests.cases import for_each


def _indexed_text(text: str, kind: EventKind = EventKind.TOOL) -> str:
    return without_echoes(Event("s#00000000", "s", kind, text))


@for_each(
    "call",
    [
        "mcp__crucible__recall_context jitter",
        "crucible.recall_search jitter",
        "crucible_recall_context jitter",  # as OpenCode names a server's tool
        "crucible_session_show s",
        "crucible-vault_recall_get s#1",
        "Bash cru recall jitter",
        "Bash cru --vault ~/vault recall jitter",
        "Bash cru --vault=~/vault -q recall jitter",
        'Bash cru --vault "/my notes/v" knowledge search jitter',
        "Bash cd x && .venv/bin/cru  recall jitter",
        "bash\npython -m crucible --vault v recall jitter\n1. jitter",
        "mcp__crucible-vault__recall_timeline s#1",
        "crucible__recall_context jitter",  # as Codex names it to a model
        "session_resume_context s",  # as Gemini CLI does
        "shell\nbash\n-lc\ncru recall jitter\njitter",
        "exec_command bash -lc 'cd x; cru recall jitter'",
        "Bash NO_COLOR=1 uv run cru recall jitter | head",
        "Bash for x in a b; do cru recall $x; done",
        "Bash echo $(/opt/bin/cru recall jitter)",
    ],
)
def test_recall_calls_are_echoes(call: str) -> None:
    assert _indexed_text(f"{call}\nwhat it found") == ""


@for_each(
    "call",
    [
        "Bash grep recall notes.md",
        "Bash grep -rn 'cru recall' docs",
        'Bash rg "cru recall" docs\nREADME.md: cru recall jitter',
        "Bash cat docs/recall.md\n# Recall\n\n    cru recall what did we decide",
        "Read docs/recall.md\n# Recall\ncru recall what did we decide",
        "Read\n/x/docs/recall.md\n# Recall\ncru recall what did we decide",
        "Write\nREADME.md\ncru recall jitter",
        "mcp__browser__session_list all",
        "mcp__other__recall_products jitter",
        "tmux_session_list all",
        "Bash cru record decision recall",
        "Bash cru --vault v knowledge add pattern jitter",
    ],
)
def test_other_calls_are_not_echoes(call: str) -> None:
    assert _indexed_text(call) == call


def test_the_note_separates_the_command_of_a_call_from_its_result() -> None:
    text = "Bash\ncat docs/recall.md\nShow it\n# Recall\n\ncru recall what did we decide"
    event = Event("s#00000000", "s", EventKind.TOOL, text)
    assert without_echoes(event, "Bash cat docs/recall.md\n# Recall …") == text
    long = "Bash\n" + "echo waiting for a while\n" * 300 + "cru recall jitter\njitter"
    noted = f"Bash {'echo waiting for a while ' * 7}…\njitter"
    assert without_echoes(Event("s#00000000", "s", EventKind.TOOL, long), noted) == ""


def test_a_long_marked_answer_is_removed_completely() -> None:
    indexed = _indexed_text(f"Task\n{RECALLED}\n{'old words ' * 20_000}\n{RECALLED_END}\nnew words")
    assert "old" not in indexed
    assert "new words" in indexed
    assert "old" not in _indexed_text(f"Task\n{RECALLED}\n{'old words ' * 20_000}")  # the end mark was cut off


@pytest.mark.parametrize("kind", [EventKind.AGENT, EventKind.USER, EventKind.DECISION, EventKind.SUBAGENT])
def test_text_about_recall_is_indexed(kind: EventKind) -> None:
    text = "Ask `cru recall jitter`, or recall_context over MCP, before you decide.\n\ncru recall retry"
    assert _indexed_text(text, kind) == text


@pytest.mark.parametrize("kind", [EventKind.TOOL, EventKind.AGENT, EventKind.USER, EventKind.SUBAGENT])
def test_marked_text_is_removed_from_any_event(kind: EventKind) -> None:
    text = f"ReadMcpResourceTool crucible://knowledge/x\n{RECALLED}\nold words\n{RECALLED_END}\nnew words"
    indexed = _indexed_text(text, kind)
    assert "old words" not in indexed
    assert "new words" in indexed


@pytest.mark.timed
@pytest.mark.parametrize(
    "text",
    [
        "--a b " * 6_000,
        "-" * 30_000,
        "\n" * 30_000,
        " " * 30_000,
        "\ncru -a " * 4_000,
        ";cru -" * 5_000,
        "\na=" * 9_000,
    ],
)
def test_long_calls_are_scanned_quickly(text: str) -> None:
    start = time.monotonic()
    assert _indexed_text(f"Bash cru {text}log") != ""
    assert _indexed_text(f"Bash\n{text}log") != ""
    assert time.monotonic() - start < 2
