"""A case's way to its line: cleaned, shaped, parted.

Owns that the same cases in the same order give the same bytes, and that memory holds one row at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import orjson

from crucible.cases.card import Tally
from crucible.cases.chat import Row
from crucible.cases.model import Case
from crucible.cases.scrubbing import Scrubber
from crucible.cases.shapes import Provenance, Shape, row_of
from crucible.cases.splitting import Families, Splits
from crucible.cases.toolbox import with_tools
from crucible.patterns import late_pattern

__all__ = ["Export", "Line", "lines_of", "named_cleanly"]

Line: TypeAlias = tuple[str, bytes]
"""A row as JSON with its line end, behind the split that it belongs to ("" for none)."""

_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Export:
    """What is to be written: the shape, how it is parted, and what every row says of itself.  Without `metadata` no row says anything."""

    shape: Shape
    splits: Splits | None = None
    families: Families = field(default_factory=Families)
    licence: str = "unspecified"
    source: str = "crucible"
    metadata: bool = True


def lines_of(cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally) -> Iterator[Line]:
    """Each row that the cases give; `tally` counts them as they come.  `SecretsError` when secrets cannot be looked for."""
    for split, row in _told(cases, export, scrubber, tally):
        yield split, _line(row, export)


def _told(
    cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally
) -> Iterator[tuple[str, Row]]:
    """Each row with its split."""
    rows = _rows(cases, export, scrubber, tally)
    for row in with_tools(rows) if export.shape is Shape.TOOLS else rows:
        metadata = row["metadata"]
        assert isinstance(metadata, dict)  # noqa: S101  every row has one until it is written
        tally.add(metadata)
        yield str(metadata["split"]), row


def _rows(cases: Iterable[Case], export: Export, scrubber: Scrubber, tally: Tally) -> Iterator[Row]:
    for case in cases:
        split = export.splits.side(export.families.of(case.place.session)) if export.splits else ""
        provenance = Provenance(export.licence, export.source, split)
        clean = named_cleanly(scrubber.clean(case), scrubber)
        row = row_of(clean, export.shape, provenance)
        if row is None:
            tally.left_out[case.type.value] += 1
        else:
            tally.redactions.update(clean.redactions)
            yield row


def named_cleanly(case: Case, scrubber: Scrubber) -> Case:
    """The case without a secret in its session's name, of which its id is made."""
    session = scrubber.text(case.place.session)
    if session is case.place.session:
        return case
    plain = _NOT_PLAIN.sub("-", scrubber.text(case.id)).strip("-")
    return replace(case, id=plain, place=case.place._replace(session=session))


def _line(row: Row, export: Export) -> bytes:
    shown = row if export.metadata else {name: value for name, value in row.items() if name != "metadata"}
    return orjson.dumps(shown, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)
