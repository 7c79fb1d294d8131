"""Whether there is a human at the terminal who can be asked."""

from __future__ import annotations

import os
import sys

from crucible.cli.door import Door
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT


def human_is_there(door: Door) -> bool:
    """True if standard input, output and error are a terminal and the command was not started by an agent."""
    terminal = door.terminal and bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty()
    return terminal and not any(os.environ.get(name) for name in (OWN_ENVIRONMENT, "CLAUDECODE"))
