"""`cru watch`: follow the sessions folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import assert_never

import click

from crucible.cli.environment import cwd_and_projects, user_settings
from crucible.cli.options import Door, flag
from crucible.cli.output import clean_line, say, warn, write
from crucible.cli.vault_access import open_vault
from crucible.commands.idle.idle_check import look
from crucible.core.text import counted
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
    help="Process changes after this many milliseconds without new ones.",
)
@flag("--clients", "Also import the logs of all clients while they grow.")
@click.pass_obj
def follow(door: Door, settle: int, *, clients: bool) -> None:
    """Watch the vault: keep the index current, and print a line for every change.

    \b
    - Shows changes by Obsidian, git, editors and cru: the time, what
      happened, the path and the session's status.
    - With --clients, the sessions of all agents on this machine become notes
      while they run, within seconds after each turn. Sessions that ran while
      nothing was watching are imported first.
    - Pauses sessions after the idle time in the settings.
    - One watcher per vault. Ctrl-C ends it.

    Exit code: 1 if the vault was moved away.

    \b
      cru watch
      cru watch --clients
      cru watch --settle 1000
      cru watch | grep --line-buffered failed
    """
    vault = open_vault(door)

    def tell(news: WatchStarted | NoteChange | WatchNotice) -> None:
        _print(news, str(vault.sessions))

    with _ended_quietly(), _followed_logs(vault.root) if clients else nullcontext(_nothing) as follow_logs:

        def pulse(index: Index) -> float | None:
            soon = follow_logs()
            look(index, datetime.now(UTC), cwd_and_projects, is_true=True)
            return soon

        watch(vault.root, vault.settings, settle / 1000, tell, pulse, user=user_settings())


@contextmanager
def _followed_logs(root: Path) -> Iterator[Callable[[], float | None]]:
    """Follow the logs of all clients; yields what is to be called twice a second, or when it says."""
    from crucible.integrations.live.client_watch import ClientWatch  # noqa: PLC0415  only needed with --clients

    with closing(ClientWatch(root, os.environ, Path.home(), _say_clean, _warn_clean)) as client_watch:
        yield client_watch.pulse


def _say_clean(line: str) -> None:
    say(clean_line(line))


def _warn_clean(line: str) -> None:
    warn(clean_line(line))


def _nothing() -> None:
    """Do nothing: no logs are followed."""


def _print(news: WatchStarted | NoteChange | WatchNotice, folder: str) -> None:
    match news:
        case WatchStarted():
            say(f"watching {counted(news.sessions, 'session')} in {folder}")
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
