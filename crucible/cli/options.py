"""Options that several commands share.  Imports little, for the commands that must be quick."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import click

from crucible.index.moments import parse_when

__all__ = ["BEGIN", "END", "Moment", "format_option"]


def format_option(*formats: str) -> Callable[[Any], Any]:
    """`--format`, the first one being the default; anything else is refused."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How to write it.",
    )


class Moment(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A date, a time or how long ago; what has no zone is in this machine's."""

    name = "when"

    def __init__(self, *, end: bool) -> None:
        self.end = end

    def convert(
        self, value: str | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        """An aware time; the clock is read here and nowhere below the doors."""
        return (
            value
            if isinstance(value, datetime)
            else parse_when(value, datetime.now().astimezone(), end=self.end)
        )


BEGIN = Moment(end=False)
END = Moment(end=True)
