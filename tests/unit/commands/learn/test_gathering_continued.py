"""A run of `learn` that is continued finds what a run from the beginning finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.commands.learn.case_gathering import CaseFilter, Gatherer, SessionCases
from crucible.commands.learn.gathering_processes import gather_all
from crucible.core.processes import Workers
from crucible.vault.notes.vault import Vault
from tests.interrupted import interrupted
from tests.unit.commands.learn.sample_sessions import imported, kept


def _gathered(vault: Vault, workers: Workers | None) -> list[SessionCases]:
    return [*gather_all(Gatherer(vault, kept, CaseFilter()), vault.session_paths(), workers)]


def test_a_subagents_note_that_changed_meanwhile_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault, _ = imported(tmp_path / "v", "claude-code", "limiter")
    before = _gathered(vault, None)
    with interrupted(monkeypatch):
        _gathered(vault, Workers())
    child = next(path for path in vault.session_paths() if vault.read(path).session.parent)
    text = child.read_text(encoding="utf-8")
    task = "Is time.time() safe for a limiter?"
    assert task in text
    child.write_text(text.replace(task, "Is time.monotonic() safe for a limiter?"), encoding="utf-8")
    continued = _gathered(vault, Workers())
    assert continued == _gathered(vault, None) != before
