"""What the tests of the recorder share: a clock that goes on by itself, and a note read back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from crucible.commands.record import Recorder
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault

START = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


def clock(start: datetime = START, step: float = 10) -> Callable[[], datetime]:
    """A clock that is `step` seconds later at each look; its first look is `start`."""
    at = start - timedelta(seconds=step)

    def now() -> datetime:
        nonlocal at
        at += timedelta(seconds=step)
        return at

    return now


def read(recorder: Recorder, vault: Vault) -> Session:
    """The session that the note tells."""
    return vault.load(recorder.id).session


def text_of(recorder: Recorder) -> str:
    """The note."""
    return recorder.path.read_text(encoding="utf-8")
