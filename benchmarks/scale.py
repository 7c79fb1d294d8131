"""What a year of an organisation's sessions takes, computed from measured figures; the tables of `docs/scale.md`.

python -m benchmarks.scale [SESSIONS]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.recall_team import PER_SESSION


class Measured(NamedTuple):
    """What `benchmarks.recall_team` printed: bytes and microseconds of the server's processor for one event."""

    events_table: float = 523.6
    sessions_table: float = 37.7
    postings: float = 1_600.5
    """After a day's merge, as measured with blocks that are far from full."""
    server: float = 567.0
    """Of pushes of one session, as most are."""
    question: float = 16.0
    """Milliseconds of the server's processor for a question, with 1,000,000 events."""
    note: float = 4_100.0
    """Bytes of a note: 0.3 TB for 73 million sessions."""


MEASURED = Measured()
_YEAR, _WORK = 365 * 86_400, 250 * 8 * 3_600
"""Seconds of a year, and of its working hours."""
_PEAK = 3
"""How much busier the busiest hour is than a usual working hour."""
_QUESTIONS, _PEOPLE_SESSIONS = 20, 7_300
"""Questions a person asks on a working day, and sessions a person has in a year."""
_DISK, _CORE = 0.10, 25.0
"""Dollars for a gigabyte of disk and for a core, a month: assumed, from list prices of clouds."""
_COPIES = 2
_TERABYTES = 10.0
"""The disk that we take one PostgreSQL server to have."""


class Plan(NamedTuple):
    """What a year takes."""

    sessions: int
    people: float
    events: float
    notes_tb: float
    table_tb: float
    postings_tb: float
    peak: float
    write_cores: float
    question_cores: float
    dollars: float

    @property
    def disk_tb(self) -> float:
        """All of one server's disk, for a year that is kept."""
        return self.table_tb + self.postings_tb

    def shards(self) -> float:
        """How many servers the disk takes."""
        return max(1.0, self.disk_tb / _TERABYTES)


def plan(sessions: int, measured: Measured = MEASURED) -> Plan:
    """Compute a year.  Everything but the number of people grows with the sessions."""
    events = float(sessions * PER_SESSION)
    people = sessions / _PEOPLE_SESSIONS
    peak = _PEAK * events / _WORK
    asked = _PEAK * people * _QUESTIONS * 250 / _WORK
    table, postings = measured.events_table + measured.sessions_table, measured.postings
    disk = events * (table + postings) / 1e12
    write_cores, question_cores = peak * measured.server / 1e6, asked * measured.question / 1e3
    cores = max(2.0, 2 * (write_cores + question_cores))
    dollars = 12 * _COPIES * (disk * 1e3 * _DISK + cores * _CORE)
    notes = sessions * measured.note / 1e12
    return Plan(
        sessions, people, events, notes, events * table / 1e12, events * postings / 1e12, peak, write_cores, question_cores, dollars
    )  # fmt: skip


def rows(plans: list[Plan]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table, with a column for each plan."""
    yield ("sessions a year", *(f"{one.sessions:,}" for one in plans))
    yield ("people", *(f"{one.people:,.0f}" for one in plans))
    yield ("events a year", *(f"{one.events / 1e9:,.1f} billion" for one in plans))
    yield ("notes, in vaults", *(f"{one.notes_tb:,.1f} TB" for one in plans))
    yield ("events and sessions on the server", *(f"{one.table_tb:,.1f} TB" for one in plans))
    yield ("search terms on the server", *(f"{one.postings_tb:,.1f} TB" for one in plans))
    yield ("events a second, busiest hour", *(f"{one.peak:,.0f}" for one in plans))
    yield ("server cores for pushes, busiest hour", *(f"{one.write_cores:,.2f}" for one in plans))
    yield ("server cores for questions, busiest hour", *(f"{one.question_cores:,.1f}" for one in plans))
    yield ("servers by disk", *(f"{one.shards():,.1f}" for one in plans))
    yield ("dollars a year, two copies", *(f"{one.dollars:,.0f}" for one in plans))


def table(sessions: int) -> str:
    """Return the table in Markdown: this many sessions, ten times and a hundred times."""
    plans = [plan(sessions * times) for times in (1, 10, 100)]
    head = "| a year | as planned | 10 times | 100 times |\n|---|---|---|---|\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows(plans))


def main(sessions: int = 73_000_000) -> int:
    """Print the table."""
    print(table(sessions), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
