"""What recall said itself is known again, however a client calls it, and nothing else is taken for it."""

from __future__ import annotations

import pytest

from crucible.recall.echoes import RECALLED, RECALLED_END, without_echoes
from crucible.recall.model import Event, Kind


def _told(text: str, kind: Kind = Kind.TOOL) -> str:
    return without_echoes(Event("s#00000000", "s", kind, text))


@pytest.mark.parametrize(
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
    ],
)
def test_a_call_of_ours_is_an_echo(call: str) -> None:
    assert _told(f"{call}\nwhat it found") == ""


@pytest.mark.parametrize(
    "call",
    [
        "Bash grep recall notes.md",
        "mcp__other__recall_products jitter",
        "tmux_session_list all",
        "Bash cru log decision recall",
        "Bash cru --vault v knowledge add pattern jitter",
    ],
)
def test_another_call_is_none(call: str) -> None:
    assert _told(call) == call


@pytest.mark.parametrize("kind", [Kind.TOOL, Kind.AGENT, Kind.USER, Kind.SUBAGENT])
def test_what_stands_between_our_marks_is_taken_out_of_whatever_quotes_it(kind: Kind) -> None:
    text = f"ReadMcpResourceTool crucible://knowledge/x\n{RECALLED}\nold words\n{RECALLED_END}\nnew words"
    told = _told(text, kind)
    assert "old words" not in told
    assert "new words" in told


def test_many_flags_are_read_in_a_moment() -> None:
    assert _told("Bash cru " + "--a b " * 600 + "log") != ""
    assert _told("Bash cru " + "-" * 3000) != ""
