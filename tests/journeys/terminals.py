"""A terminal for a command to write to."""

from __future__ import annotations

import os
import pty

from crucible.vault.notes.vault import Vault
from tests.running import CruProcess


def on_a_terminal(run: CruProcess, vault: Vault, columns: int, *args: str, **env: str) -> list[str]:
    """What a terminal of so many columns gets on stdout, without colours."""
    main, side = pty.openpty()
    surroundings = {
        "COLUMNS": str(columns),
        "TERM": "xterm-256color",
        "PYTHONIOENCODING": "utf-8",
        "NO_COLOR": "1",
    }
    with os.fdopen(main, "rb", buffering=0) as terminal:
        # A terminal holds some thousand bytes until they are read; this is less.
        done = run("--vault", vault.root, *args, env={**surroundings, **env}, capture_output=False, stdout=side)
        os.close(side)
        assert done.returncode == 0
        shown = b""
        try:
            while part := terminal.read(65_536):
                shown += part
        except OSError:  # Linux says so when the other side is closed and all is read
            pass
    return shown.decode().splitlines()
