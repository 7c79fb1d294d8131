"""Cases exported in one step, from the case to the file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from crucible.cases import exporting
from crucible.cases.card import Tally
from crucible.cases.exporting import Exported
from crucible.cases.model import Case
from crucible.cases.rows import Export, lines_of
from crucible.cases.scrubbing import Scrubber

__all__ = ["export_files", "export_stream"]


def export_files(cases: Iterable[Case], export: Export, scrubber: Scrubber, target: Path) -> Exported:
    tally = Tally()
    return exporting.export_files(lines_of(cases, export, scrubber, tally), tally, export, target)


def export_stream(cases: Iterable[Case], export: Export, scrubber: Scrubber, out: BinaryIO) -> Exported:
    tally = Tally()
    return exporting.export_stream(lines_of(cases, export, scrubber, tally), tally, out.writelines)
