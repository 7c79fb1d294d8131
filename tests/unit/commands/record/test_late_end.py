"""A session that is ended long after anything happened in it ended when the last thing happened."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crucible.analysis.review.session_review import review
from crucible.commands import record
from crucible.commands.record import Recorder
from crucible.vault.notes.vault import Vault
from tests.unit.analysis.review.reviewed_session import REDACT, Fake
from tests.unit.commands.imports.places import copy_real, notes_of, run_import
from tests.unit.commands.record.recorder_clock import read

WHEN = datetime(2026, 1, 2, 10, tzinfo=UTC)
HOUR = timedelta(hours=1)
YEAR = timedelta(days=300)


def told(vault: Vault, *hours: float) -> str:
    """A session of one phase, with something told that many hours after its start."""
    now = WHEN
    first = record.session("Fix it", vault=vault, now=lambda: now)
    first.phase("Research")
    for hour in hours:
        now = WHEN + hour * HOUR
        first.prose(f"So it is at {hour}.")
    return first.id


def opened(vault: Vault, name: str, now: datetime) -> Recorder:
    return record.open(name, vault=vault, now=lambda: now)


def test_an_old_session_ends_at_its_last_activity(vault: Vault) -> None:
    late = opened(vault, told(vault, 1, 3), WHEN + YEAR)
    late.end()
    session = read(late, vault)
    assert session.ended == session.phases[-1].ended == WHEN + 3 * HOUR
    assert session.duration() == 3 * HOUR


def test_a_pause_in_between_is_no_work(vault: Vault) -> None:
    name = told(vault, 1)
    opened(vault, name, WHEN + YEAR / 2).pause("later")
    late = opened(vault, name, WHEN + YEAR)
    late.end()
    assert read(late, vault).ended == WHEN + HOUR


def test_what_an_agent_is_asked_in_between_is_no_work(vault: Vault) -> None:
    name = told(vault, 1)
    agent = Fake([[]])
    assert not review(vault, name, agent, now=WHEN + YEAR / 2, redact=REDACT).problem
    assert agent.seen
    late = opened(vault, name, WHEN + YEAR)
    late.end()
    assert read(late, vault).ended == WHEN + HOUR


def test_a_session_that_goes_on_ends_now(vault: Vault) -> None:
    soon = opened(vault, told(vault, 1), WHEN + 1.5 * HOUR)
    soon.end()
    assert read(soon, vault).ended == WHEN + 1.5 * HOUR


def test_a_recorder_that_wrote_ends_its_session_now(vault: Vault) -> None:
    now = WHEN
    with record.session("Fix it", vault=vault, now=lambda: now) as one:
        one.phase("Research")
        now = WHEN + 5 * HOUR
    assert read(one, vault).ended == WHEN + 5 * HOUR


def test_a_time_that_was_named_counts(vault: Vault) -> None:
    late = opened(vault, told(vault, 1), WHEN + YEAR)
    late.end(at=WHEN + 9 * HOUR)
    assert read(late, vault).ended == WHEN + 9 * HOUR


@pytest.mark.parametrize("kept", [True, False])
def test_an_imported_session_ends_at_its_last_event(
    vault: Vault, tmp_path_factory: pytest.TempPathFactory, kept: bool
) -> None:
    run_import(vault, copy_real("limiter", tmp_path_factory.mktemp("logs")))
    note = next(note for note in notes_of(vault).values() if note.session.parent is None)
    if not kept:
        for file in (vault.root / ".crucible" / "flight").rglob("*.jsonl"):
            file.unlink()
    late = opened(vault, note.name, WHEN + 2 * YEAR)
    late.end()
    session = read(late, vault)
    assert session.ended is not None
    assert session.duration() is not None
    assert session.duration() < timedelta(minutes=1)  # type: ignore[operator]
