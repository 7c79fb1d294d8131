"""What a session's questions may cost goes by the time worked on it, as its history tells it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crucible.commands.capture.selection import minutes_of
from crucible.documents.session.session import Phase, Session, Status
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason

BEGUN = datetime(2026, 11, 20, 20, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return BEGUN + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("session", "marks", "told"),
    [
        (Session("s", started=BEGUN, ended=at(50)), (), 50),
        (
            Session("s", started=BEGUN, ended=at(800), phases=(Phase("P", started=BEGUN, ended=at(20)),)),
            (),
            20,
        ),
        (Session("s", started=BEGUN, ended=at(800)), (Bookmark("b", "s", at(20), StopReason.PAUSED),), 20),
        (Session("s", started=BEGUN, status=Status.ACTIVE), (), 100),
        (Session("s", started=at(200), status=Status.ACTIVE), (), None),
        (Session("s"), (), None),
    ],
)
def test_breaks_make_no_session_longer(session: Session, marks: tuple[Bookmark, ...], told: float | None) -> None:
    assert minutes_of(session, at(100), marks) == told
