"""A question put to the index, and rows on stdout: as a table, as JSON, as TOON, as paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import toons

from crucible.cli.door import Door
from crucible.cli.indexed import answered
from crucible.cli.output import clean_line, say, write_json, write_text
from crucible.index.query import unreadable_rows
from crucible.index.schema import LISTS, Row, path_of_cell, split_list
from crucible.index.store import Index, Refreshed
from crucible.index.view import View

__all__ = ["asked", "in_color", "say_unreadable", "write_paths", "write_rows", "write_table"]

Answer = TypeVar("Answer")
Cell = str | int | None

_STYLES = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
"""Of the column `status`."""

_ODD = LISTS | {"path"}
"""Columns whose cells are not what they are told as."""


_WIDEST = 200
"""Characters of a cell: an id has at most 128, and one long cell would make every line as long."""


def in_color(door: Door) -> bool:
    """Whether stdout is to have colours: as the user said, else when it is a terminal."""
    return door.terminal if door.color is None else door.color


def asked(index: Index, question: Callable[[View], Answer]) -> tuple[Answer, Refreshed]:
    """As `answered`; each note that could not be read is a line on stderr, whatever the question was."""
    (unreadable, answer), now = answered(index, lambda view: (unreadable_rows(view), question(view)))
    say_unreadable(unreadable)
    return answer, now


def say_unreadable(rows: Sequence[Row]) -> None:
    """A line on stderr for each."""
    for row in rows:
        say(f"{path_of_cell(str(row['path']))}:1: unreadable-note: {row['unreadable']}", style="yellow")


def write_rows(
    rows: Sequence[Row], columns: Sequence[str], format_: str, name: str, *, color: bool = False
) -> None:
    """These columns as `table`, `json` or `toon`; `name` is the TOON table's."""
    if format_ == "table":
        write_table(rows, columns, color=color)
        return
    tell = _items if format_ == "json" else _flat
    shown: list[dict[str, Any]] = [{column: row[column] for column in columns} for row in rows]
    for column in _ODD.intersection(columns):
        for one in shown:
            one[column] = tell(column, one[column])
    if format_ == "json":
        write_json(shown)
    else:
        write_text(toons.dumps({name: shown}))


def write_table(rows: Sequence[Row], columns: Sequence[str], *, color: bool = False) -> None:
    """A heading and a line a row.  The last column is not padded, so that a line is as long as it must be."""
    padded = [_padded(column, [row[column] for row in rows], color=color) for column in columns]
    head, *lines = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    # One write: ten thousand of them take longer than all the rest.
    click.echo("\n".join([click.style(head, bold=True) if color else head, *lines]))


def write_paths(root: str | os.PathLike[str], rows: Sequence[Row], *, null: bool, terminal: bool) -> bool:
    """The files' whole paths, a line each, or each ended by a NUL; whether all could be written.

    A path that a line cannot hold as it is would name another file, or two: it is left out and named.  Between NULs any
    path can stand, but a terminal would obey some.
    """
    paths = [os.path.join(root, path_of_cell(str(row["path"]))) for row in rows]
    safe = (
        paths
        if null and not terminal
        else [path for path in paths if path.isprintable() or path == clean_line(path)]
    )
    for left_out in sorted({*paths} - {*safe}) if len(safe) < len(paths) else ():
        shown = os.path.relpath(left_out, root)
        say(f"{shown}:1: unprintable-path: left out, a line cannot hold it", style="yellow")
    # As bytes: a terminal's encoding may lack a letter, and with another in its place it is another file.
    end = b"\0" if null else os.linesep.encode()
    click.echo(b"".join(os.fsencode(path) + end for path in safe), nl=False)
    return len(safe) == len(paths)


def _padded(column: str, cells: Sequence[Cell], *, color: bool) -> list[str]:
    """The heading and the cells, as wide as the widest."""
    told = [_flat(column, cell) for cell in cells] if column in _ODD else cells
    texts = ["-" if cell is None or cell == "" else str(cell) for cell in told]
    texts = [text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…" for text in texts]
    if not "".join(texts).isprintable():
        texts = [text if text.isprintable() else clean_line(text) for text in texts]
    width = max(map(len, [column, *texts]))
    padded = [text.ljust(width) for text in texts]
    if color and column == "status":
        padded = [click.style(cell, fg=_STYLES.get(text)) for cell, text in zip(padded, texts, strict=True)]
    return [column.ljust(width), *padded]


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
