"""`cru record` under bad luck and ill will: what was once found to go wrong, and must not again."""

from __future__ import annotations

import pytest

from crucible.documents.session.session import ToolCalls
from crucible.vault.notes.vault import Vault
from tests.running import Cru


@pytest.fixture
def session(cru: Cru) -> str:
    return cru("record", "start", "Fix it").stdout.strip()


@pytest.mark.parametrize("args", [("-v", "x"), ("-qv",), ("-rnv", "foo"), ("-Evil",), ("-vvv",), ("--tb=short", "-V")])
def test_a_tools_own_letters_are_its_own(cru: Cru, vault: Vault, session: str, args: tuple[str, ...]) -> None:
    done = cru("record", "tool", "grep", *args, "--session", session)
    assert (done.exit_code, done.output) == (0, "")
    (calls,) = vault.load(session).session.phases[0].entries
    assert isinstance(calls, ToolCalls)
    assert calls.calls[0].call == " ".join(["grep", *args])


def test_the_phase_of_a_tool_is_told_when_asked_for(cru: Cru, session: str) -> None:
    assert cru("record", "tool", "ls", "--verbose", "--session", session).output == "phase-1\n"
    assert cru("record", "prose", "x", "-v", "--session", session).output == "phase-1\n"


def test_what_was_recorded_without_a_secret_has_none(cru: Cru, session: str) -> None:
    for number in range(20):
        cru("record", "tool", "ls", str(number), "--session", session)
        cru("record", "prose", f"Said {number}.", "--session", session)
    done = cru("session", "check", "--secrets")
    assert (done.stdout, done.exit_code) == ("", 0)


def test_standard_input_is_one_text(cru: Cru, vault: Vault, session: str) -> None:
    done = cru("record", "decision", "-", "--rationale", "-", "--session", session)
    assert done.exit_code == 2
    assert "only one option can read" in done.stderr
    assert not vault.load(session).session.phases
