"""Patterns and their confidence.

A pattern has the counts behind its confidence: how many of its findings in 129 real sessions of one project were read,
and how many of them were true.  See `docs/findings.md`.  A pattern that is right less than six times in ten is not used, except for
instructions, which only capture proposes.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.documents.session.findings import Source
from crucible.documents.session.session import Grounds

_ROW, _PREFIXED = 8, 20
"""Characters of a row id that a note keeps; ids that begin with a kind and the time (`prt_1fff0b2c…`) need more."""


def short_row(row: str) -> str:
    """The first characters of a row id, as notes have it."""
    return row[: _PREFIXED if "_" in row[:_ROW] else _ROW]


class Pattern(NamedTuple):
    """One way to detect a finding: `true` of the `read` findings were true."""

    name: str
    source: Source
    true: int
    read: int

    def on(self, *rows: str) -> Grounds:
        """The grounds of a finding that is based on these rows."""
        kept = tuple(dict.fromkeys(short_row(row) for row in rows if row))
        return Grounds(self.source, round((self.true + 1) / (self.read + 2), 2), kept)
