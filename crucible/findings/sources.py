"""How findings are found, and how sure each way is.

The figures are counts on 129 real sessions of one project: how many findings of a pattern were read, and how many were true.
`docs/findings.md` says how that was done; a pattern below eight in ten is not here.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.session.findings import Source
from crucible.session.model import Grounds

__all__ = ["ROW", "Pattern"]

ROW = 8
"""Characters of a row's id that a note keeps."""


class Pattern(NamedTuple):
    """One way to find something: `true` of `read` findings were true when they were read."""

    name: str
    source: Source
    true: int
    read: int

    def on(self, *rows: str) -> Grounds:
        """The grounds of a finding that stands on these rows."""
        kept = tuple(dict.fromkeys(row[:ROW] for row in rows if row))
        return Grounds(self.source, round((self.true + 1) / (self.read + 2), 2), kept)
