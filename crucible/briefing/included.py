"""The section on files that a vault's settings always quote from: `include_files`, seen from the project's folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from crucible.briefing.files import find_files, read_text
from crucible.briefing.model import Item, Rank, Section
from crucible.briefing.quoting import Quoter

__all__ = ["included_section"]

_LINES = 12
"""Lines of each file that are told."""
_READ = 16 * 1024


def included_section(folder: Path | None, named: Sequence[str], quoter: Quoter) -> Section:
    """The first lines of each file; one that cannot be read, or lies elsewhere, is named."""
    items = list(_items(folder, named, quoter)) if folder and named else []
    return Section("files", "From the project's files", tuple(items))


def _items(folder: Path, named: Iterable[str], quoter: Quoter) -> Iterator[Item]:
    for name in find_files(folder, named):
        label = quoter.line(name, 120).replace("]", "")
        text = read_text(folder, name, _READ)
        if text is None:
            yield Item("not there, not in the project's folder, or no text", Rank.CONVENTION, label)
            continue
        lines = [shown for line in quoter.whole(text).split("\n") if (shown := quoter.line(line, 200))]
        yield from (Item(line, Rank.CONVENTION, label) for line in lines[:_LINES])
        if len(lines) > _LINES:
            yield Item(f"… {len(lines) - _LINES} more lines", Rank.CONVENTION, label)
