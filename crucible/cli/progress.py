"""A bar on stderr for long work: on a terminal only, and gone in the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crucible.cli.output import given_width

Show = Callable[..., None]
"""Called with how much is done and how much there is; what else is told is not shown."""


@contextmanager
def bar(label: str) -> Iterator[Show]:
    """What to call as the work goes on; `label` says what is done."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, *_: None
        return
    # Late: a script has no use for a bar, and rich takes as long to load as all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415  late, as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, width=given_width())
    columns = (TextColumn(label), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(label, total=None)

        def show(done: int, total: int, *_: object) -> None:
            progress.update(task, completed=done, total=total)

        yield show
