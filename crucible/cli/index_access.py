"""Open the index of a vault and query it when it is up to date; problems go to stderr."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from typing import TypeVar

from crucible.cli.environment import vault_place, whence
from crucible.cli.options import Door
from crucible.cli.output import ReadingLine, say, warn
from crucible.commands.idle.idle_check import look_at
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.query import unreadable_rows
from crucible.vault.index.schema import Row, View, path_of_cell

Answer = TypeVar("Answer")

_LONG = 500
"""Notes to read; fewer are read before anybody wonders."""


def open_index(door: Door) -> Index:
    """The index of the vault that was named, or is around us, or is the default."""
    root, settings = vault_place(door)
    return Index(root, settings)


def asked(index: Index, question: Callable[[View], Answer]) -> tuple[Answer, Refreshed]:
    """The answer to a question about the tables as they are now; it may be asked more than once.

    Long reading shows progress on a terminal.  What cannot be walked, what keeps the index from being kept, and each
    note that could not be read is a line on stderr, whatever the question was.  A session that has been quiet for long is
    paused first, when it is time to look.
    """

    def both(view: View) -> tuple[list[Row], Answer]:
        return unreadable_rows(view), question(view)

    with ReadingLine(_LONG) as progress:
        (unreadable, answer), now = index.ask(both, progress.show)
        if look_at(now.view, index, datetime.now(UTC), whence):
            (unreadable, answer), now = index.ask(both, progress.show)
    _complain(now)
    say_unreadable(unreadable)
    return answer, now


def say_unreadable(rows: Sequence[Row]) -> None:
    """A line on stderr for each."""
    for row in rows:
        say(f"{path_of_cell(str(row['path']))}:1: unreadable-note: {row['unreadable']}", style="yellow")


def rebuilt(index: Index) -> Refreshed:
    """Built anew."""
    with ReadingLine(_LONG) as progress:
        now = index.rebuild(progress.show)
    _complain(now)
    return now


def keep_index(root: PathLike[str], settings: VaultSettings, paths: Collection[PathLike[str]]) -> None:
    """Bring the rows of these notes up to date.  What cannot be done now is done by the next query, so nothing is said."""
    if not paths:
        return
    with suppress(CrucibleError), ReadingLine(_LONG) as progress:
        Index(root, settings).refresh(paths, progress.show)


def _complain(now: Refreshed) -> None:
    for reason in now.unwalked:
        warn(reason)
    if now.unsaved:
        warn(f"the index cannot be kept: {now.unsaved}")
        say("     the answer is whole; the next command has to read again what this one read")
