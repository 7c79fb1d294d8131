"""The two real transcripts, imported: the notes that are written down.  `CRUCIBLE_GOLDEN=1` writes them anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.property_values import link_to
from crucible.documents.session.session import Outcome, Status, Subagent
from crucible.vault.notes.vault import Vault
from tests.golden import check_notes
from tests.unit.commands.imports.places import DATA, REAL, bytes_of, make_vault, notes_of, run_import

GOLDEN = DATA / "golden" / "import"
LIMITER, RETRY = "2026-11-21-add-rate-limiter-project", "2026-11-21-fix-retry-bug-app-py"


@pytest.fixture
def imported(tmp_path: Path) -> Vault:
    vault = make_vault(tmp_path / "vault")
    report = run_import(vault, REAL)
    assert len(report.created) == 5
    assert not report.unreadable
    return vault


def test_real_transcripts_give_the_notes_that_are_written_down(imported: Vault) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in imported.session_paths()}
    check_notes(GOLDEN, texts)


def test_importing_twice_changes_no_byte(imported: Vault) -> None:
    before = bytes_of(imported)
    report = run_import(imported, REAL)
    assert (report.created, report.updated, len(report.unchanged)) == ((), (), 5)
    assert bytes_of(imported) == before


def test_what_is_written_reads_without_a_problem(imported: Vault) -> None:
    assert [note.session.problems for note in notes_of(imported).values()] == [()] * 5


def test_tokens_are_counted_once_a_message_and_without_subagents(imported: Vault) -> None:
    session = notes_of(imported)[LIMITER].session
    assert (session.tokens_used, session.tokens_cached) == (1944, 6000)
    assert sum(phase.tokens or 0 for phase in session.phases) == 1944
    assert [ref.tokens for ref in session.subagents] == [324, 486]


def test_a_phase_a_prompt_and_a_sub_phase_a_task(imported: Vault) -> None:
    session = notes_of(imported)[LIMITER].session
    assert [phase.name for phase in session.all_phases()] == [
        "Add a rate limiter to this project",
        "Write the token bucket",
        "It must be per user, not global",
    ]
    assert [(task.id, task.status) for task in session.tasks] == [("1", "completed"), ("2", "pending")]


def test_subagents_link_both_ways(imported: Vault) -> None:
    notes = notes_of(imported)
    for parent in (LIMITER, RETRY):
        session = notes[parent].session
        links = [entry.link for entry in session.all_entries() if isinstance(entry, Subagent)]
        assert links == [ref.session for ref in session.subagents]
        assert session.properties["subagent_logs"] == [link_to(str(link)) for link in links]
        assert {notes[str(link)].session.parent for link in links} == {parent}


def test_a_failing_command_is_marked_with_its_reason(imported: Vault) -> None:
    failed = [c for c in notes_of(imported)[RETRY].session.calls() if c.outcome is Outcome.FAILED]
    assert [(call.call, call.result) for call in failed] == [
        ("Bash python3 app.py --fail", "retry failed: connection reset")
    ]


def test_a_dry_run_tells_the_same_and_writes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    before = bytes_of(vault)
    told = run_import(vault, REAL, dry_run=True)
    assert bytes_of(vault) == before
    assert not list((vault.root / ".crucible").iterdir())
    assert told == run_import(vault, REAL)
    again = run_import(vault, REAL, dry_run=True)
    assert (again.created, len(again.unchanged)) == ((), 5)


def test_whole_events_lie_beside_each_note(imported: Vault) -> None:
    from crucible.vault.events.event_reader import read_records

    records = list(read_records(imported.root, LIMITER))
    result = next(r for r in records if r.type == "ToolReturned" and r.values["text"] == "ok")
    assert (result.phase, result.source) == ("phase-1.1", "claude-code:dc14014e-7082-433e-bd3b-39532f5458da")
    assert [r.values["text"] for r in records if r.type == "Prompted"] == [
        "Add a rate limiter to this project",
        "It must be per user, not global",
    ]


@pytest.mark.parametrize("mode", ["embed", "inline"])
def test_the_setting_says_how_subagents_are_kept(tmp_path: Path, mode: str) -> None:
    vault = make_vault(tmp_path / "vault", VaultSettings(fsync=False, subagents=mode))
    run_import(vault, REAL)
    notes = notes_of(vault)
    session = notes[RETRY].session
    (work,) = [entry for entry in session.all_entries() if isinstance(entry, Subagent)]
    assert work.mode == mode
    assert len(notes) == (5 if mode == "embed" else 2)
    assert len(session.sources) == (1 if mode == "embed" else 2)
    if mode == "inline":
        assert work.task == "[agent:researcher] Find how retries are done in this repository and report."
        assert len(work.entries) == 3
    before = bytes_of(vault)
    assert not run_import(vault, REAL).updated
    assert bytes_of(vault) == before


def test_an_active_session_is_completed_when_it_has_been_quiet(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    vault = make_vault(tmp_path / "vault")
    run_import(vault, REAL, now=datetime(2026, 11, 21, 21, 30, tzinfo=UTC))
    session = notes_of(vault)[RETRY].session
    assert (session.status, session.ended) == (Status.ACTIVE, None)
    assert len(run_import(vault, REAL).updated) == 2  # what subagents did is done at once
    session = notes_of(vault)[RETRY].session
    assert (session.status, session.ended) == (
        Status.COMPLETED,
        datetime(2026, 11, 21, 21, 16, 36, tzinfo=UTC),
    )
    assert len(run_import(vault, REAL).unchanged) == 5
