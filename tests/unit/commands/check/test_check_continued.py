"""A check that is continued finds what a check from the beginning finds."""

from __future__ import annotations

import pytest

from crucible.commands.check.check_vault import check_sessions
from crucible.core.processes import Workers
from crucible.vault.notes.vault import Vault
from tests.interrupted import interrupted

NOTE = "---\ntype: session\nsession_id: a\nagents: [claude-code]\nstatus: completed\nformat: 2\n---\n# A\n\nSee [[other]].\n"


def test_a_link_to_a_note_added_meanwhile_is_not_broken(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    (vault.sessions / "a.md").write_text(NOTE)
    with interrupted(monkeypatch):
        check_sessions(vault, workers=Workers())
    (vault.root / "other.md").write_text("# Other\n")
    assert "broken-link" not in {finding.problem.code for finding in check_sessions(vault, workers=Workers())}
