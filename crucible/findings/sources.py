"""How findings are found, and how sure each way is.

Each pattern has the counts that its confidence comes from: how many of its findings on 129 real sessions of one project were read,
and how many of them were true.  `docs/findings.md` says how; what is true less than six times in ten has no pattern.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.session.findings import Source
from crucible.session.model import Grounds

__all__ = ["Pattern"]

_ROW, _PREFIXED = 8, 20
"""Characters of a row's id that a note keeps; ids that begin with their kind and the time (`prt_1fff0b2c…`) differ late."""


class Pattern(NamedTuple):
    """One way to find something: `true` of `read` findings were true when they were read."""

    name: str
    source: Source
    true: int
    read: int

    def on(self, *rows: str) -> Grounds:
        """The grounds of a finding that stands on these rows."""
        kept = tuple(dict.fromkeys(row[: _PREFIXED if "_" in row[:_ROW] else _ROW] for row in rows if row))
        return Grounds(self.source, round((self.true + 1) / (self.read + 2), 2), kept)
