"""The time worked on a session: breaks between a stop and the next activity do not count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.session.session import Phase, Session
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
from crucible.memory.history.work_time import worked
from tests.cases import for_each

EVENING = datetime(2026, 11, 20, 20, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return EVENING + timedelta(minutes=minutes)


def phase(start: float | None, end: float | None = None, *parts: Phase) -> Phase:
    began, over = (None if one is None else at(one) for one in (start, end))
    return Phase("P", started=began, ended=over, subphases=parts)


def mark(minutes: float, why: StopReason = StopReason.PAUSED) -> Bookmark:
    return Bookmark(f"b-{minutes}", "s", at(minutes), why)


def minutes(*phases: Phase, ended: float | None = None, marks: tuple[Bookmark, ...] = ()) -> float | None:
    over = None if ended is None else at(ended)
    found = worked(Session("s", started=EVENING, ended=over, phases=phases), marks)
    return None if found is None else found.total_seconds() / 60


NIGHT = 780
"""Minutes from one evening to the next morning."""


@for_each(
    ("phases", "ended", "marks", "told"),
    [
        # What the note alone tells.
        ((), None, (), None),
        ((), -5, (), None),
        ((), 135, (), 135),
        ((phase(0, 30), phase(40, 90)), 90, (), 90),
        ((phase(0, 30), phase(NIGHT, NIGHT + 20)), NIGHT + 20, (), 50),
        ((phase(0, 30), phase(NIGHT, NIGHT + 20)), NIGHT + 500, (), 50),
        ((phase(0), phase(85)), 135, (), 135),
        ((phase(0, 300), phase(10, 20)), 300, (), 300),
        ((phase(0, None, phase(1, 20)), phase(50, 60)), None, (), 60),
        ((phase(None), phase(-30, 10)), 30, (), 30),
        # A recorder's phase ends where the next begins, and only the bookmark tells of the night in it.
        ((phase(0, NIGHT), phase(NIGHT, NIGHT + 20)), NIGHT + 20, (mark(30),), 50),
        ((phase(0),), None, (mark(30),), 30),
        ((phase(0, NIGHT),), NIGHT, (mark(30),), 30),
        ((phase(0, 30), phase(40, 60)), 60, (mark(30, StopReason.ENDED),), 50),
        ((phase(0, 60),), 60, (mark(30, StopReason.TASK), mark(40, StopReason.MANUAL)), 60),
        # Who finds out later that nothing happened, or that a client had died, tells when he looked.
        (
            (phase(0, NIGHT), phase(NIGHT, NIGHT + 20)),
            NIGHT + 20,
            (mark(25, StopReason.TASK), mark(500, StopReason.IDLE)),
            45,
        ),
        ((phase(0, 30), phase(50, 60)), 60, (mark(45, StopReason.DIED),), 40),
        ((phase(0), phase(50, 60)), 60, (mark(45, StopReason.DIED),), 10),
        # A client's end that was noted a little late takes nothing from what was done in the next one.
        ((phase(0, 30), phase(35, 90)), 90, (mark(36, StopReason.ENDED),), 90),
    ],
)
def test_only_what_was_worked_counts(
    phases: tuple[Phase, ...], ended: float | None, marks: tuple[Bookmark, ...], told: float | None
) -> None:
    assert minutes(*phases, ended=ended, marks=marks) == told


def test_without_a_beginning_the_first_phase_is_one() -> None:
    assert worked(Session("s", phases=(phase(0, 30),))) == timedelta(minutes=30)


TIMES = st.none() | st.integers(-100, 2000)
PHASES = st.builds(lambda start, end, part: phase(start, end, phase(*part)), TIMES, TIMES, st.tuples(TIMES, TIMES))


@given(
    st.lists(PHASES, max_size=4),
    TIMES,
    st.lists(st.builds(mark, st.integers(-100, 2000), st.sampled_from([*StopReason])), max_size=3),
)
def test_work_time_is_at_most_the_sessions_duration(
    phases: list[Phase], ended: int | None, marks: list[Bookmark]
) -> None:
    found = minutes(*phases, ended=ended, marks=tuple(marks))
    bare = minutes(*phases, ended=ended)
    times = [one for each in phases for part in (each, *each.subphases) for one in (part.started, part.ended)]
    last = (
        ended
        if ended is not None
        else max(
            [
                0.0,
                *((one - EVENING).total_seconds() / 60 for one in times if one),
                *((one.at - EVENING).total_seconds() / 60 for one in marks),
            ]
        )
    )
    assert found is None or 0 <= found <= last
    if ended is not None and found is not None and bare is not None:
        assert found <= bare
