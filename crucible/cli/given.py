"""A path as it was given on the command line, as text unless a `Path` is asked for."""

from __future__ import annotations

from typing import Any

import click


class GivenPath(click.Path):
    """Never an empty one: `--vault "$UNSET"` must not mean this folder."""

    def __init__(self, *, file_okay: bool = True, path_type: type | None = None) -> None:
        super().__init__(file_okay=file_okay, path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does it, after a look at the text."""
        if value == "":
            self.fail("it is empty; name a folder or a file, or leave it out", param, ctx)
        return super().convert(value, param, ctx)
