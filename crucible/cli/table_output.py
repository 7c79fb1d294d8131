"""Write rows to stdout as a table, as JSON, as TOON, or as the paths of their files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import click
import toons

from crucible.cli.options import Door, user_zone
from crucible.cli.output import SCHEMA, clean_line, in_color, room_of, say, write_data, write_text
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.zones import in_zone
from crucible.vault.index.schema import LISTS, NUMBERS, TIMES, Row, path_of_cell, split_list

_SURROGATE = late_pattern("[\ud800-\udfff]")


def flat_rows(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Join lists in cells with `, `, since a list would break the form of a TOON table."""
    return [{key: _flat(value) for key, value in row.items()} for row in rows]


def _flat(value: object) -> object:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
    # A lone surrogate stands for a byte that is not UTF-8; TOON cannot represent it.
    return _SURROGATE.sub("\ufffd", text) if isinstance(text, str) else text


GAP = "  "
"""The gap between two columns of a table."""

_WIDEST = 200
"""The maximum width of a cell: one long cell would make every line as long.  Ids have at most 128 characters."""
_MARKS = 4
"""Maximum characters to measure per column of cut text: accents have no width, and the text may be huge."""
_FIRST = ("title", "about", "project")
"""The first columns of a list on a terminal."""
_READABLE = 24
"""The width of titles below which ids get lines of their own."""
_LEAST, _LEAST_ID = 12, 20
"""The minimum widths of text columns and of id columns."""

STATUS_STYLES = {"success": "green", "failed": "red", "skipped": "yellow", "timeout": "red"}
"""The colour of each status of a run."""
_SESSION_STYLES = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}

_ENCODED = LISTS | {"path"}
"""Columns whose cells are stored encoded in the index."""
_WHOLE = NUMBERS | TIMES | {"status"}
_MOMENTS = TIMES | {"time", "last_run"}
"""Columns that a terminal shows in the user's time zone, to the minute."""
_IDS = frozenset({"id", "name", "parent", "session", "path"})
"""Columns of the index that a narrow terminal cuts last."""


# --- rows ------------------------------------------------------------------------------------------------------------


def write_rows(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    format_: str,
    name: str,
    door: Door,
    *,
    texts: Collection[str] = (),
    names: Collection[str] = (),
) -> None:
    """Write columns of rows as `text`, `json` or `toon`; a missing cell is null.

    `name` is the key of the rows in JSON and TOON.  A narrow terminal cuts only `texts` and then `names`, but no ids.
    Without rows, text has no heading either.
    """
    if format_ != "text":
        shown = [{column: row.get(column) for column in columns} for row in rows]
        _write_data(shown if format_ == "json" else flat_rows(shown), columns, format_, name)
        return
    if not rows:
        return
    room = room_of(door)
    cells = [[clean_line(column), *_cells(column, rows, local=room is not None)] for column in columns]
    if room is not None and _IDS.issuperset(names) and names:
        shown_cells = dict(zip(columns, cells, strict=True))
        _write_listing(shown_cells, [*names], texts, room, STATUS_STYLES, color=in_color(door))
        return
    tiers = _tiers(columns, texts, names)
    styles = {at: STATUS_STYLES for at, column in enumerate(columns) if column.endswith("status")}
    _write_table(cells, tiers, _least_room(cells, room, tiers), styles, color=in_color(door))


def write_index_rows(
    rows: Sequence[Row], columns: Sequence[str], format_: str, name: str, door: Door, more: Sequence[str] = ()
) -> None:
    """Like `write_rows`, for rows of the index; TOON cells are written as stored in the index.

    On a terminal, `more` are columns to show first; ids are then whole, and times are in the user's time zone.
    Without rows, text has no heading either.
    """
    if format_ != "text":
        shown: list[dict[str, Any]] = [{column: row[column] for column in columns} for row in rows]
        for column in _ENCODED.intersection(columns) if format_ == "json" else ():
            for one in shown:
                cell = one[column]
                one[column] = split_list(str(cell or "")) if column in LISTS else _decoded(column, cell)
        _write_data(shown, columns, format_, name)
        return
    if not rows:
        return
    texts = {column: _index_texts(column, rows) for column in columns}
    room = room_of(door)
    if room is not None and more:
        texts = {column: _index_texts(column, rows) for column in more} | texts
        texts |= {column: [*map(_minute, texts[column])] for column in _MOMENTS.intersection(texts)}
        _write_listing(texts, ["id"], {*more, "participants"}, room, _SESSION_STYLES, color=in_color(door))
        return
    cut = [column for column in texts if column not in _WHOLE | _IDS]
    tiers = _tiers([*texts], cut, _IDS)
    styles = {[*texts].index("status"): _SESSION_STYLES} if "status" in texts else {}
    _write_table([*texts.values()], tiers, room, styles, color=in_color(door))


def _write_data(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], format_: str, name: str) -> None:
    if format_ == "json":
        write_data({name: rows})
    else:
        # A table without rows still lists its columns.
        table = toons.dumps({name: rows}) if rows else f"{name}[0]{{{','.join(columns)}}}:"
        write_text(f"schema: {SCHEMA}\n{table}")


def _cells(column: str, rows: Sequence[Mapping[str, Any]], *, local: bool) -> Iterator[str]:
    texts = (_text(row.get(column)) for row in rows)
    return map(_minute, texts) if local and column in _MOMENTS else texts


def _text(cell: object) -> str:
    if cell is None or cell in ("", [], ()):
        return "-"
    if isinstance(cell, bool):
        return str(cell).lower()
    return clean_line(", ".join(map(str, cell)) if isinstance(cell, list | tuple) else str(cell))


def _index_texts(column: str, rows: Sequence[Row]) -> list[str]:
    """Return the heading and the cells, made safe for a terminal."""
    cells = [row[column] for row in rows]
    decoded = [_decoded(column, cell) for cell in cells] if column in _ENCODED else cells
    texts = ["-" if cell is None or cell == "" else str(cell) for cell in decoded]
    if not "".join(texts).isprintable():
        texts = [clean_line(text) for text in texts]
    return [column, *texts]


def _decoded(column: str, cell: str | int | None) -> str | int | None:
    """Decode an index cell for display: lists and paths.  Bytes that are not UTF-8 are replaced."""
    if isinstance(cell, str):
        if column in LISTS and '"' in cell:
            return ", ".join(split_list(cell))
        if column == "path" and "\ufffd" in cell:
            return path_of_cell(cell).encode(errors="surrogateescape").decode(errors="replace")
    return cell


# --- lists on a terminal ---------------------------------------------------------------------------------------------


def _write_listing(
    columns: Mapping[str, Sequence[str]],
    ids: Sequence[str],
    cut: Collection[str],
    room: int,
    styles: Mapping[str, str],
    *,
    color: bool,
) -> None:
    """Write a table with titles and projects first, and with whole ids.

    The ids are the last columns, or have a line of their own below each row if there is little room.  Columns that have
    no room even then are left out, the last ones first; `styles` are the colours of a status.
    """
    first = [name for name in _FIRST if name in columns]
    others = [*first, *(name for name in columns if name not in (*_FIRST, *ids))]
    is_one_line = _least_width(columns, [*others, *ids], cut, _READABLE) <= room
    least = min(_READABLE, room // 3)
    while not is_one_line and len(others) > 1 and _least_width(columns, others, cut, least) > room:
        others.pop()
    shown = [*others, *ids] if is_one_line else others
    rest, titles = (
        [at for at, name in enumerate(shown) if name in cut and (name in first) is is_first]
        for is_first in (False, True)
    )
    cells = fitted([columns[name] for name in shown], room, [Tier(rest, _LEAST), Tier(titles, _LEAST)])
    if color:
        cells = [
            _in_colors(one, styles) if name.endswith("status") else one for name, one in zip(shown, cells, strict=True)
        ]
    lines = list(joined(cells))
    if not is_one_line:
        below = joined([aligned(columns[name]) for name in ids])
        lines = [f"{line}\n  {ident}" for line, ident in zip(lines, below, strict=True)]
    head, *rows = lines
    click.echo("\n".join([click.style(head, bold=True) if color else head, *rows]))


def _least_width(
    columns: Mapping[str, Sequence[str]], names: Sequence[str], cut: Collection[str], least: int = _LEAST
) -> int:
    widths = (min(broadest(columns[name]), least if name in cut else _WIDEST) for name in names)
    return sum(widths) + len(GAP) * (len(names) - 1)


def _in_colors(texts: Sequence[str], colors: Mapping[str, str]) -> list[str]:
    """Colour the cells of a column whose whole word has a colour."""
    name, *cells = texts
    return [
        name,
        *(click.style(cell, fg=colors[word]) if (word := cell.rstrip()) in colors else cell for cell in cells),
    ]


def _minute(text: str) -> str:
    """Shorten a time to the minute in the user's time zone; other texts stay."""
    try:
        return f"{in_zone(datetime.fromisoformat(text), user_zone()):%Y-%m-%d %H:%M}"
    except ValueError:
        return text


# --- paths -----------------------------------------------------------------------------------------------------------


def write_paths(root: str, folder: str, rows: Sequence[Row], *, null: bool, terminal: bool) -> bool:
    """Write absolute paths, one per line or each ended by NUL; returns False if some were skipped.

    A path with a line break is skipped and reported, unless NULs separate paths and stdout is not a terminal.  Paths
    outside `folder` (relative to `root`) are also skipped: the row may be forged, and the reader may delete files.
    """
    named = [path_of_cell(str(row["path"])) for row in rows]
    written = _kept(
        named,
        [path for path in named if _is_below(folder, path)],
        'foreign-path: skipped, it is outside the sessions folder; run "cru index rebuild"',
    )
    if not null or terminal:
        safe = [path for path in written if path == clean_line(path)]
        written = _kept(written, safe, "unprintable-path: skipped, it contains a line break")
    # Written as bytes: an encoding that replaces a character would name a different file.
    end = b"\0" if null else os.linesep.encode()
    click.echo(b"".join(os.fsencode(os.path.join(root, path)) + end for path in written), nl=False)
    return len(written) == len(named)


def _is_below(folder: str, path: str) -> bool:
    inside = folder == "." or path.startswith(f"{folder}/")
    parts = path.replace(os.sep, "/").split("/")
    return inside and not os.path.isabs(path) and ".." not in parts and "\0" not in path


def _kept(every: Sequence[str], kept: Sequence[str], reason: str) -> Sequence[str]:
    for path in sorted({*every} - {*kept}) if len(kept) < len(every) else ():
        say(f"{path}:1: {reason}", style="yellow")
    return kept


# --- tables ----------------------------------------------------------------------------------------------------------


class Tier(NamedTuple):
    """Columns of a table, by position, that a narrow terminal may cut to a width of `least`.

    `in_middle` keeps the end of the text, since related ids begin alike.
    """

    columns: Collection[int]
    least: int
    in_middle: bool = False


def _tiers(columns: Sequence[str], texts: Collection[str], ids: Collection[str]) -> list[Tier]:
    return [
        Tier([at for at, column in enumerate(columns) if column in texts], _LEAST),
        Tier([at for at, column in enumerate(columns) if column in ids], _LEAST_ID, in_middle=True),
    ]


def _write_table(
    columns: Sequence[Sequence[str]],
    tiers: Sequence[Tier],
    room: int | None,
    styles: Mapping[int, Mapping[str, str]],
    *,
    color: bool,
) -> None:
    """Write a heading and one line per row; `styles` are the colours of words in a column."""
    shown = fitted(columns, room, tiers)
    if color:
        for at, colors in styles.items():
            shown[at] = _in_colors(shown[at], colors)
    head, *lines = joined(shown)
    # Written in one call, since ten thousand small writes take longer than everything else.
    click.echo("\n".join([click.style(head, bold=True) if color else head, *lines]))


def _least_room(cells: Sequence[Sequence[str]], room: int | None, tiers: Sequence[Tier]) -> int | None:
    """Return the terminal's width, or the minimum width of the columns if that is larger; None for no limit."""
    if room is None:
        return None
    least = {at: tier.least for tier in tiers for at in tier.columns}
    widths = [min(broadest(texts), least.get(at, _WIDEST)) for at, texts in enumerate(cells)]
    return max(room, sum(widths) + len(GAP) * (len(widths) - 1))


def table_lines(columns: Sequence[Sequence[str]], room: int | None = None, tiers: Sequence[Tier] = ()) -> Iterator[str]:
    """Yield the lines of a table from its columns, which include their headings."""
    return joined(fitted(columns, room, tiers))


def joined(columns: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table from aligned columns, without trailing padding."""
    return (GAP.join(cells).rstrip() for cells in zip(*columns, strict=True))


def broadest(texts: Sequence[str]) -> int:
    """Return the width of the widest text, in terminal columns."""
    if "".join(texts).isascii():
        return max(map(len, texts))
    from rich.cells import cell_len  # noqa: PLC0415  most tables are pure ASCII

    return max(map(cell_len, texts))


def aligned(texts: Sequence[str], widest: int | None = None) -> list[str]:
    """Pad texts to the width of the widest; texts over `widest` columns are cut and end in `…`."""
    if "".join(texts).isascii() and (widest is None or max(map(len, texts)) <= widest):
        width = max(map(len, texts))
        return [text.ljust(width) for text in texts]
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  most tables are pure ASCII

    if widest is not None:
        texts = [text if len(text) <= _MARKS * widest else text[: _MARKS * widest] + "…" for text in texts]
    width = max(map(cell_len, texts))
    width = width if widest is None else min(width, widest)
    return [
        set_cell_size(text, width) if cell_len(text) <= width else set_cell_size(text, width - 1) + "…"
        for text in texts
    ]


def fitted(columns: Sequence[Sequence[str]], room: int | None, tiers: Sequence[Tier]) -> list[list[str]]:
    """Align each column, cutting columns so that a line fits `room`; None means no limit.

    The widest column of the first tier is cut first, then the following tiers.  If that is not enough, nothing is cut.
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
    from rich.cells import cell_len, set_cell_size  # noqa: PLC0415  rarely needed: most tables are not cut

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
    """Cut text to at most `widest` columns, with `…` at the end."""
    return aligned([text], max(widest, 1))[0].rstrip()
