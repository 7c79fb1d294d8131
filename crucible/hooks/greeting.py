"""What a client is told when it starts in a project with a paused session: one block, or nothing.

Owns that there is one block (`greeting` makes it, and nobody else prints at a start), and how long a human waits for it at
most.  Which session was left last is `resume.choosing`'s, what the block says `noticing`'s, imported late: most projects
have no paused session, and then nothing of a note need be understood.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from crucible.hooks.log import complain
from crucible.index.glancing import glance
from crucible.index.vouching import ask
from crucible.resume.choosing import paused_rows
from crucible.settings import UserSettings, load_user_settings, load_vault_settings, user_settings_path
from crucible.vault.projects import project_of

__all__ = ["LONGEST", "greet", "greeting"]

LONGEST = 2.0
"""Seconds that a client waits for the block; then it gets none."""


def greet(root: str, client: str, session: str, cwd: str) -> None:
    """Print the block for a client that starts in `cwd`.  Ends the process, with nothing printed, when that takes too long."""
    in_time = _set_deadline(root)
    home = os.path.expanduser("~")
    user = load_user_settings(user_settings_path(os.environ, home), home)
    text = greeting(root, user, f"{client}:{session}", cwd, datetime.now(UTC))
    in_time()
    data = f"{text}\n".encode("utf-8", "replace") if text else b""
    while data:
        data = data[os.write(1, data) :]


def _set_deadline(root: str) -> Callable[[], object]:
    """What is to be called in time."""

    def end(*_: object) -> None:
        complain(root, "greeting", TimeoutError(f"no answer within {LONGEST:g} s"))
        os._exit(0)

    if not hasattr(signal, "setitimer"):
        timer = threading.Timer(LONGEST, end)
        timer.daemon = True
        timer.start()
        return timer.cancel
    # A second thread would keep `index.scanning` from using a second process.
    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    return partial(signal.setitimer, signal.ITIMER_REAL, 0)


def greeting(root: str, user: UserSettings, starting: str, cwd: str, now: datetime) -> str:
    """The block for a client that starts in `cwd`, by the vault's settings; "" when there is nothing to tell.

    `starting` is the session that begins, as a note's `sources` name it; `root` must be real, `now` aware.
    """
    settings = load_vault_settings(root)
    project = project_of(cwd, user.projects)
    if settings.resume.at_start == "off" or not project:
        return ""
    rows = glance(root, settings.sessions, lambda view: paused_rows(view, project), ask)
    if not rows:
        return ""
    # For the reason above.
    from crucible.hooks.noticing import Start, tell  # noqa: PLC0415

    return tell(root, settings, user, rows, Start(starting, cwd, project, now))
