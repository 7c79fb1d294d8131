"""The process that a hook starts: runs `sync`, and logs errors even if importing `sync` fails."""

from __future__ import annotations

import sys
from pathlib import Path

from crucible.core.background import run_after_others
from crucible.integrations.hooks.hook_log import log_fault


def main(root: str) -> None:
    """Import the sessions waiting in a vault's spool."""
    try:
        from crucible.integrations.hooks.sync import write_down  # noqa: PLC0415  errors during this import are logged

        run_after_others()
        write_down(Path(root))
    except Exception as error:  # noqa: BLE001  this process has no terminal, so it logs every error
        log_fault(root, "sync", error)


if __name__ == "__main__":
    main(sys.argv[1])
