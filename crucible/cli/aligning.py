"""Texts of one width under each other: as a terminal shows them, where some characters take two columns and some none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

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
