"""Rows of the index on stdout: as a table, as JSON, as TOON, as paths."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
import toons

from crucible.cli.aligning import aligned
from crucible.cli.output import clean_line, say, write_json, write_text
from crucible.index.schema import LISTS, Row, path_of_cell, split_list

__all__ = ["write_paths", "write_rows", "write_table"]

Cell = str | int | None

_STYLES = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
"""Of the column `status`."""

_ODD = LISTS | {"path"}
"""Columns whose cells are not what they are told as."""

_WIDEST = 200
"""Columns that a cell may take: an id has at most 128, and one long cell would make every line as long."""


def write_rows(
    rows: Sequence[Row], columns: Sequence[str], format_: str, name: str, *, color: bool = False
) -> None:
    """These columns as `table`, `json` or `toon`; `name` is the TOON table's, whose cells are as the index holds them."""
    if format_ == "table":
        write_table(rows, columns, color=color)
        return
    shown: list[dict[str, Any]] = [{column: row[column] for column in columns} for row in rows]
    if format_ == "toon":
        # A table without rows tells its columns too.
        write_text(toons.dumps({name: shown}) if shown else f"{name}[0]{{{','.join(columns)}}}:")
        return
    for column in _ODD.intersection(columns):
        for one in shown:
            one[column] = _items(column, one[column])
    write_json(shown)


def write_table(rows: Sequence[Row], columns: Sequence[str], *, color: bool = False) -> None:
    """A heading and a line a row.  The last column is not padded, so that a line is as long as it must be."""
    padded = [_padded(column, [row[column] for row in rows], color=color) for column in columns]
    head, *lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    # One write: ten thousand of them take longer than all the rest.
    click.echo("\n".join([click.style(head, bold=True) if color else head, *lines]))


def write_paths(root: str, folder: str, rows: Sequence[Row], *, null: bool, terminal: bool) -> bool:
    """The files' whole paths, a line each, or each ended by a NUL; whether all could be written.

    A path that a line cannot hold as it is would name another file, or two: it is left out and named.  Between NULs any
    path can stand, but a terminal would obey some.  `folder`, seen from `root`, holds the sessions: a row that names a
    file elsewhere is damaged or forged, and what reads these lines may delete.
    """
    named = [path_of_cell(str(row["path"])) for row in rows]
    safe = [path for path in named if _is_below(folder, path)]
    _say_left_out(
        named, safe, "foreign-path: left out, it leads out of the sessions; try `cru index rebuild`"
    )
    if null and not terminal:
        written = safe
    else:
        written = [path for path in safe if path.isprintable() or path == clean_line(path)]
        _say_left_out(safe, written, "unprintable-path: left out, a line cannot hold it")
    # As bytes: a terminal's encoding may lack a letter, and with another in its place it is another file.
    end = b"\0" if null else os.linesep.encode()
    click.echo(b"".join(os.fsencode(os.path.join(root, path)) + end for path in written), nl=False)
    return len(written) == len(named)


def _is_below(folder: str, path: str) -> bool:
    inside = folder == "." or path.startswith(f"{folder}/")
    parts = path.replace(os.sep, "/").split("/")
    return inside and not os.path.isabs(path) and ".." not in parts and "\0" not in path


def _say_left_out(every: Sequence[str], kept: Sequence[str], reason: str) -> None:
    for path in sorted({*every} - {*kept}) if len(kept) < len(every) else ():
        say(f"{path}:1: {reason}", style="yellow")


def _padded(column: str, cells: Sequence[Cell], *, color: bool) -> list[str]:
    """The heading and the cells, as wide as the widest."""
    told = [_flat(column, cell) for cell in cells] if column in _ODD else cells
    texts = ["-" if cell is None or cell == "" else str(cell) for cell in told]
    if not "".join(texts).isprintable():
        texts = [text if text.isprintable() else clean_line(text) for text in texts]
    head, *padded = aligned([column, *texts], _WIDEST)
    if color and column == "status":
        padded = [click.style(cell, fg=_STYLES.get(text)) for cell, text in zip(padded, texts, strict=True)]
    return [head, *padded]


def _items(column: str, cell: Cell) -> object:
    return split_list(str(cell or "")) if column in LISTS else _flat(column, cell)


def _flat(column: str, cell: Cell) -> Cell:
    """Lists with their items as they are, paths as they are named; a byte that is no UTF-8 is nothing to be shown."""
    if isinstance(cell, str):
        if column in LISTS and '"' in cell:
            return ", ".join(split_list(cell))
        if column == "path" and "\ufffd" in cell:
            return path_of_cell(cell).encode(errors="surrogateescape").decode(errors="replace")
    return cell
