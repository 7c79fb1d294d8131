"""The process that a hook starts: `sync`, with its errors logged even when it cannot be imported."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from crucible.integrations.hooks.hook_log import log_fault


def main(root: str) -> None:
    """Write down what waits in a vault."""
    try:
        from crucible.integrations.hooks.sync import write_down  # noqa: PLC0415  what fails while it is loaded is noted, too

        with suppress(OSError, AttributeError):
            os.nice(10)  # the agent's own work comes first
        write_down(Path(root))
    except Exception as error:  # noqa: BLE001  a door: it logs, and nobody is there to be told
        log_fault(root, "sync", error)


if __name__ == "__main__":
    main(sys.argv[1])
