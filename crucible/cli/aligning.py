"""Texts of one width under each other: as a terminal shows them, where some characters take two columns and some none."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["aligned", "broadest"]

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
