"""One line on a terminal's stderr while notes are read, written over and gone in the end.

Imports little: every query may show it.
"""

from __future__ import annotations

import sys
from typing import Self

import click


class ReadingLine:
    """Shown for so many notes or more: fewer are read before anybody wonders."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)

    def show(self, done: int, total: int) -> None:
        """Told after each note, or some of them."""
        if total >= self._least and sys.stderr.isatty():
            self._shown = True
            click.echo(f"\rreading notes: {done:,} of {total:,}", err=True, nl=False)
