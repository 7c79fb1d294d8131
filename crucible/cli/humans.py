"""Whether a human sits at the terminal, and can be asked."""

from __future__ import annotations

import os
import sys

from crucible.agents.marks import OWN_ENVIRONMENT
from crucible.cli.door import Door

__all__ = ["human_is_there"]


def human_is_there(door: Door) -> bool:
    """On a terminal on all sides; an agent, which may have one, is none."""
    terminal = door.terminal and bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty()
    return terminal and not any(os.environ.get(name) for name in (OWN_ENVIRONMENT, "CLAUDECODE"))
