"""Rows on stdout as a table, JSON, TOON or paths, and texts aligned in columns as a terminal shows them."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click
import toons

from crucible.cli.options import Door
from crucible.cli.output import clean_line, in_color, room_of, say, write_json, write_text
from crucible.core.toon import dump_rows
from crucible.vault.index.schema import LISTS, NUMBERS, TIMES, Row, path_of_cell, split_list

GAP = "  "
"""Between two columns of a table."""

_WIDEST = 200
"""Columns that a cell may take: an id has at most 128, and one long cell would make every line as long."""


_MARKS = 4
"""Characters a column, at most, of a text that is to be cut: accents take none, and a text may be endless."""


def broadest(texts: Sequence[str]) -> int:
    """Columns of the widest."""
    if "".join(texts).isascii():
        return max(map(len, texts))
    from rich.cells import cell_len  # noqa: PLC0415  most tables have none but ASCII

    return max(map(cell_len, texts))


def aligned(texts: Sequence[str], widest: int | None = None) -> list[str]:
    """Filled up with blanks to the width of the widest, or cut to `widest` columns; what is cut ends in `…`."""
    if "".join(texts).isascii() and (widest is None or max(map(len, texts)) <= widest):
        width = max(map(len, texts))
        return [text.ljust(width) for text in texts]
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  most tables have none but ASCII

    if widest is not None:
        texts = [text if len(text) <= _MARKS * widest else text[: _MARKS * widest] + "…" for text in texts]
    width = max(map(cell_len, texts))
    width = width if widest is None else min(width, widest)
    return [
        set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
        for text in texts
    ]


class Tier(NamedTuple):
    """Columns of a table, by their places, that may be cut where a terminal is narrow, down to `least`.

    With `in_middle` their ends stay: ids of one family begin alike.
    """

    columns: Collection[int]
    least: int
    in_middle: bool = False


def fitted(columns: Sequence[Sequence[str]], room: int | None, tiers: Sequence[Tier]) -> list[list[str]]:
    """Each column's texts of one width, all beside each other no wider than `room`; None has room for all.

    The widest column of the first tier is cut first, and so on.  What would not fit even so is left whole.
    """
    if room is None:
        return [aligned(texts, _WIDEST) for texts in columns]
    widths = [min(broadest(texts), _WIDEST) for texts in columns]
    fitting = _narrowed(widths, room - len(GAP) * (len(columns) - 1), tiers)
    middle = {at for tier in tiers if tier.in_middle for at in tier.columns}
    return [
        aligned(texts, _WIDEST)
        if width == widths[at]
        else aligned([_without_middle(text, width) for text in texts] if at in middle else texts, width)
        for at, (texts, width) in enumerate(zip(columns, fitting, strict=True))
    ]


def _without_middle(text: str, width: int) -> str:
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  most tables are cut nowhere

    text = text if len(text) <= _MARKS * _WIDEST else text[: _MARKS * _WIDEST]
    if cell_len(text) <= width:
        return text
    front = width // 2
    back = next(text[at:] for at in range(len(text) + 1) if cell_len(text[at:]) < width - front)
    return f"{set_cell_size(text, front)}…{back}"


def _narrowed(widths: list[int], room: int, tiers: Sequence[Tier]) -> list[int]:
    now = list(widths)
    for tier in tiers:
        while sum(now) > room and (wide := max(tier.columns, key=now.__getitem__, default=None)) is not None:
            if now[wide] <= tier.least:
                break
            now[wide] -= 1
    return now if sum(now) <= room else widths


def cut_to(text: str, widest: int) -> str:
    """A text of at most `widest` columns; what is cut ends in `…`."""
    return aligned([text], max(widest, 1))[0].rstrip()


Cell = str | int | None

_STYLES = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
"""Of the column `status`."""

_ODD = LISTS | {"path"}
"""Columns whose cells are not what they are told as."""

_WHOLE = NUMBERS | TIMES | {"status"}
_IDS = frozenset({"id", "parent", "session", "path"})
"""What a narrow terminal cuts never, and what it cuts last."""

_LEAST, _LEAST_ID = 12, 20
"""Columns that are left of a text, and of an id or a name, at least."""


def write_rows(
    rows: Sequence[Row],
    columns: Sequence[str],
    format_: str,
    name: str,
    *,
    color: bool = False,
    room: int | None = None,
    more: str = "",
) -> None:
    """These columns as `table`, `json` or `toon`; `name` is the TOON table's, whose cells are as the index holds them.

    `color`, `room` and `more` are a table's, as `write_table` has them.
    """
    if format_ == "table":
        write_table(rows, columns, color=color, room=room, more=more)
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


def write_table(
    rows: Sequence[Row],
    columns: Sequence[str],
    *,
    color: bool = False,
    room: int | None = None,
    more: str = "",
) -> None:
    """A heading and a line a row.  The last column is not padded, so that a line is as long as it must be.

    On a terminal of `room` columns long texts are cut, and the column `more` stands behind the others where it has room.
    """
    texts = {column: _texts(column, rows) for column in columns}
    if room is not None and more and more not in texts:
        left = room - sum(len(GAP) + broadest(cells) for cells in texts.values())
        texts |= {more: _texts(more, rows)} if left >= _LEAST else {}
    cut = [at for at, column in enumerate(texts) if column not in _WHOLE | _IDS]
    ids = [at for at, column in enumerate(texts) if column in _IDS]
    shown = fitted([*texts.values()], room, (Tier(cut, _LEAST), Tier(ids, _LEAST_ID, in_middle=True)))
    if color and "status" in texts:
        at = [*texts].index("status")
        name, *cells = shown[at]
        shown[at] = [name, *(click.style(cell, fg=_STYLES.get(cell.rstrip())) for cell in cells)]
    head, *lines = [GAP.join(cells).rstrip() for cells in zip(*shown, strict=True)]
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
    _say_left_out(named, safe, "foreign-path: left out, it leads out of the sessions; try `cru index rebuild`")
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


def _texts(column: str, rows: Sequence[Row]) -> list[str]:
    """The heading and the cells, as a terminal may have them."""
    cells = [row[column] for row in rows]
    told = [_flat(column, cell) for cell in cells] if column in _ODD else cells
    texts = ["-" if cell is None or cell == "" else str(cell) for cell in told]
    if not "".join(texts).isprintable():
        texts = [text if text.isprintable() else clean_line(text) for text in texts]
    return [column, *texts]


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


STATUS_STYLES = {"success": "green", "failed": "red", "skipped": "yellow", "timeout": "red"}
"""Colours of a run's status; any other has none."""


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
            Tier([at for at, one in enumerate(columns) if one in names], _LEAST_ID, in_middle=True),
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
