"""Ctrl-C during an import leaves whole sessions, and the report says which."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from pathlib import Path
from typing import Any

import pytest

from crucible.commands.imports import imports, session_notes
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.vault.notes.vault import Vault
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import CLAUDE, LATER, make_vault, run_import, session_file, write_rows


def _sessions(folder: Path) -> Path:
    for at in range(6):
        name = f"{at:08d}-2222-3333-4444-555555555555"
        write_rows(session_file(folder, name), [user(f"Fix it {at}"), assistant(text("Fixed."))])
    return folder


def _interrupted(vault: Vault, folder: Path, progress: Callable[[int, int, str], None]) -> ImportReport:
    """Import, and return the report of the import that was interrupted."""
    stopped: list[ImportReport] = []
    options = ImportOptions(LATER)
    with pytest.raises(KeyboardInterrupt):
        import_transcripts(vault, CLAUDE, [folder], options=options, progress=progress, on_stop=stopped.extend)
    (report,) = stopped
    return report


def _names(vault: Vault) -> set[str]:
    return {path.stem for path in vault.session_paths()}


def test_an_interrupted_import_reports_the_sessions_that_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "_BATCH", 2)

    def stop(done: int, _total: int, _name: str) -> None:
        if done == 5:
            raise KeyboardInterrupt

    vault, folder = make_vault(tmp_path / "vault"), _sessions(tmp_path / "logs")
    report = _interrupted(vault, folder, stop)
    assert len(report.created) == 4
    assert set(report.created) == _names(vault)
    assert len(run_import(vault, folder).created) == 2


def test_writes_that_began_before_an_interrupt_finish_and_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_pending: Collection[Future[Any]]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session_notes, "wait", interrupted)
    vault, folder = make_vault(tmp_path / "vault"), _sessions(tmp_path / "logs")
    report = _interrupted(vault, folder, lambda *_: None)
    assert len(report.created) == 6
    assert set(report.created) == _names(vault)
    monkeypatch.setattr(session_notes, "wait", wait_for)
    assert not run_import(vault, folder).created
