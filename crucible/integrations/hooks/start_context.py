"""Print the block for a client that starts: a briefing that begins with the paused session, or nothing.

Modules that write the text are imported late, because in most folders there is nothing to report.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crucible.commands.briefing.facts import has_news
from crucible.commands.resume.choose_session import paused_rows
from crucible.core.settings.settings import UserSettings, VaultSettings, load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.integrations.hooks.hook_log import log_fault
from crucible.vault.index.index import quick_answer
from crucible.vault.index.schema import View
from crucible.vault.notes.known_projects import with_known
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault

LONGEST = 2.0
"""Maximum seconds that a client waits for the block; then the unfinished block is printed."""


def greet(root: str, client: str, session: str, cwd: str) -> None:
    """Print the block for a client that starts in `cwd`.

    After `LONGEST` seconds, print the unfinished block and end the process.
    """
    made: list[str] = []
    in_time = _set_deadline(root, made)
    home = os.path.expanduser("~")
    user = load_user_settings(user_settings_path(os.environ, home), home)
    text = _greeting(root, user, _Client(f"{client}:{session}", cwd, datetime.now(UTC)), made.append)
    in_time()
    _print(text)


def _print(text: str) -> None:
    data = f"{text}\n".encode("utf-8", "replace") if text else b""
    while data:
        data = data[os.write(1, data) :]


def _set_deadline(root: str, made: Sequence[str]) -> Callable[[], object]:
    """Start a timer; return a function that stops it.  At the deadline, the last text in `made` is printed."""

    def end(*_: object) -> None:
        log_fault(root, "greeting", TimeoutError(f"no answer within {LONGEST:g} s"))
        with suppress(OSError):
            _print(made[-1] if made else "")
        os._exit(0)

    if sys.platform == "win32":
        timer = threading.Timer(LONGEST, end)
        timer.daemon = True
        timer.start()
        return timer.cancel
    # Not a thread: the index starts a second process only if there is a single thread.
    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    return partial(signal.setitimer, signal.ITIMER_REAL, 0)


Early = Callable[[str], object]


def greeting(root: str, user: UserSettings, starting: str, cwd: str, now: datetime) -> str:
    """Return the block for a client that starts in `cwd`; "" if there is nothing to report or the settings turn it off.

    `starting` is the new session as named in a note's `sources`; `root` must be a real path, `now` aware.
    """
    return _greeting(root, user, _Client(starting, cwd, now), lambda _: None)


class _Client(NamedTuple):
    session: str
    cwd: str
    now: datetime


def _greeting(root: str, user: UserSettings, client: _Client, early: Early) -> str:
    """Return the block; `early` is called with an unfinished version before the slower parts."""
    settings = load_vault_settings(root, user)
    project = project_of(client.cwd, with_known(user.projects, Path(root)))
    notices, briefs = settings.resume.at_start != "off", settings.briefing.at_start
    if not project or not (notices or briefs):
        return ""

    def block(view: View) -> str:
        rows = paused_rows(view, project) if notices else []
        if not rows and not (briefs and _has_news(view, root, project, client.now, settings)):
            return ""
        # Imported late: in most folders there is nothing to report.
        from crucible.integrations.hooks.paused_notice import ClientStart, quoter_at, tell  # noqa: PLC0415

        start = ClientStart(client.session, client.cwd, project, client.now)
        quoter = quoter_at(root, settings, user, start)
        notice = tell(root, settings, user, rows, start, quoter=quoter) if rows else ""
        if not briefs:
            return notice
        early(notice)
        from crucible.integrations.hooks.start_briefing import StartPlace, brief_start  # noqa: PLC0415  as above

        return brief_start(StartPlace(Vault(Path(root), settings), user, view, start, quoter), notice, early)

    return quick_answer(root, settings.sessions, block)


def _has_news(view: View, root: str, project: str, now: datetime, settings: VaultSettings) -> bool:
    """Return whether anything is known about the project."""
    profile = os.path.join(root, "projects", f"{project}.md")
    return has_news(view, project, now, settings.briefing) or os.path.lexists(profile)
