"""Start a module of ours as a process that outlives this one.

Keep imports light, even without `contextlib`: hooks start such a process.
"""

from __future__ import annotations

import os
import sys


def start_in_background(module: str, *arguments: str) -> None:
    """Start a module in a session of its own, without input and output.  Raises `OSError`."""
    # `-P`: do not import modules from the working directory, which may be an agent's.
    command = [sys.executable, "-P", "-m", module, *arguments]
    if sys.platform != "win32":
        try:
            opened = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
            os.posix_spawn(sys.executable, command, os.environ, file_actions=opened, setsid=True)
        except (NotImplementedError, AttributeError):
            pass  # this system has none, or none that starts a session
        else:
            return
    import subprocess  # noqa: PLC0415  slow, and only needed without `posix_spawn`

    # On Windows, no console window opens, and this console's Ctrl+C does not reach the process.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(
        command, stdin=-3, stdout=-3, stderr=-3, start_new_session=True, close_fds=True, creationflags=flags
    )


def run_after_others(process: int = 0) -> None:
    """Lower the priority of a process, by default this one: what the user waits for comes first."""
    if sys.platform != "win32":
        try:
            os.setpriority(os.PRIO_PROCESS, process, 10)
        except OSError:
            return
