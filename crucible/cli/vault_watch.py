"""`cru watch`: follow the sessions folder."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import assert_never

import click

from crucible.cli.environment import cwd_and_projects, user_settings
from crucible.cli.options import Door
from crucible.cli.output import say, warn, write
from crucible.cli.vault_access import open_vault
from crucible.commands.idle.idle_check import look
from crucible.vault.index.index import Index
from crucible.vault.index.watch.changed_notes import NoteChange
from crucible.vault.index.watch.watcher import WatchNotice, WatchStarted, watch


@click.command
@click.option(
    "--settle",
    type=click.IntRange(1, 60_000),
    default=200,
    show_default=True,
    metavar="MS",
    help="Milliseconds without changes that end a burst.",
)
@click.pass_obj
def follow(door: Door, settle: int) -> None:
    """Watch the vault: keep the index current, and print a line for every change.

    \b
    - Shows changes by Obsidian, git, editors and cru: the time, what
      happened, the path and the session's status.
    - Pauses sessions after the idle time in the settings.
    - One watcher per vault. Ctrl-C ends it.

    Exit code: 1 if the vault was moved away.

    \b
      cru watch
      cru watch --settle 1000
      cru watch | grep --line-buffered failed
    """
    vault = open_vault(door)

    def tell(news: WatchStarted | NoteChange | WatchNotice) -> None:
        _print(news, str(vault.sessions))

    with _ended_quietly():
        watch(vault.root, vault.settings, settle / 1000, tell, _pause_quiet, user=user_settings())


def _pause_quiet(index: Index) -> None:
    look(index, datetime.now(UTC), cwd_and_projects, is_true=True)


def _print(news: WatchStarted | NoteChange | WatchNotice, folder: str) -> None:
    match news:
        case WatchStarted():
            noun = "session" if news.sessions == 1 else "sessions"
            say(f"watching {news.sessions:,} {noun} in {folder}")
            if news.unreported:
                _print(WatchNotice(news.unreported), folder)
        case WatchNotice():
            warn(f"{news.text}; all notes are checked every few seconds")
        case NoteChange():
            time = datetime.now(UTC).astimezone().strftime("%H:%M:%S")
            path = f"{news.old} → {news.path}" if news.old else news.path
            write("  ".join(filter(None, (time, f"{news.kind:7}", path, news.status))))
        case _:
            assert_never(news)


class _Terminated(BaseException):
    """Raised when the process receives SIGTERM."""


@contextmanager
def _ended_quietly() -> Iterator[None]:
    """End the block normally on SIGTERM, the signal that service managers send."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except _Terminated:
        pass
    finally:
        signal.signal(signal.SIGTERM, before)
