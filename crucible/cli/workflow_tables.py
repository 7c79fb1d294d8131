"""Rows of figures on stdout: as a table, as JSON, as TOON.  For rows that are no index's; those are `tables`'.

Owns how such a table looks: texts are cut on a narrow terminal, names at last, and numbers, times and statuses never.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from crucible.cli.options import Door
from crucible.cli.output import clean_line, in_color, room_of, write_json, write_text
from crucible.cli.text_tables import GAP, Tier, broadest, fitted
from crucible.core.toon import dump_rows

STATUS_STYLES = {"success": "green", "failed": "red", "skipped": "yellow", "timeout": "red"}
"""Colours of a run's status; any other has none."""

_WIDEST = 200
"""As `aligning` has it for any cell."""

_LEAST, _LEAST_NAME = 12, 20
"""Columns that are left of a text, and of a name, at least."""


def write_cells(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    format_: str,
    name: str,
    door: Door,
    *,
    texts: Collection[str] = (),
    names: Collection[str] = (),
) -> None:
    """These columns as `table`, `json` or `toon`; a row without a column has null there.

    `name` is the TOON table's.  On a narrow terminal the columns `texts` are cut first, then `names`, no others.
    """
    shown = [{column: row.get(column) for column in columns} for row in rows]
    if format_ == "json":
        write_json(shown)
    elif format_ == "toon":
        # A table without rows tells its columns too.
        write_text(dump_rows(shown, name) if shown else f"{name}[0]{{{','.join(columns)}}}:")
    else:
        tiers = [
            Tier([at for at, one in enumerate(columns) if one in texts], _LEAST),
            Tier([at for at, one in enumerate(columns) if one in names], _LEAST_NAME, in_middle=True),
        ]
        _write_table(shown, columns, tiers, door)


def _write_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], tiers: Sequence[Tier], door: Door) -> None:
    cells = [[clean_line(column), *(_text(row[column]) for row in rows)] for column in columns]
    lines = fitted(cells, _enough(cells, room_of(door), tiers), tiers)
    if in_color(door):
        lines = [_styled(one, texts) for one, texts in zip(columns, lines, strict=True)]
    # One write: many take longer than all the rest.
    click.echo("\n".join(GAP.join(one).rstrip() for one in zip(*lines, strict=True)))


def _enough(cells: Sequence[Sequence[str]], room: int | None, tiers: Sequence[Tier]) -> int | None:
    """The terminal's columns, or as many as are needed at least: what does not fit even so is cut all the same."""
    if room is None:
        return None
    least = {at: tier.least for tier in tiers for at in tier.columns}
    widths = [min(broadest(texts), least.get(at, _WIDEST)) for at, texts in enumerate(cells)]
    return max(room, sum(widths) + len(GAP) * (len(widths) - 1))


def _text(cell: object) -> str:
    """As a terminal may have it."""
    if cell is None or cell in ("", [], ()):
        return "-"
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list | tuple):
        return clean_line(", ".join(map(str, cell)))
    return clean_line(str(cell))


def _styled(column: str, texts: list[str]) -> list[str]:
    head, *cells = texts
    styles = STATUS_STYLES if column.endswith("status") else {}
    return [
        click.style(head, bold=True),
        *(click.style(cell, fg=styles[word]) if (word := cell.rstrip()) in styles else cell for cell in cells),
    ]
