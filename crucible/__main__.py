"""The door of doors: `cru` and `python -m crucible`.

A hook fires at every call of a tool and the status line after every message, so they go their own way before anything else is imported.
"""

from __future__ import annotations

import sys

_HOOK_WORDS = 3


def run() -> None:
    """The console script."""
    if sys.argv[1:2] == ["hook"] and len(sys.argv) == _HOOK_WORDS:
        from crucible.integrations.hooks.client_hook import main as hook  # noqa: PLC0415  imports next to nothing

        hook(sys.argv[2])
    if sys.argv[1:] == ["statusline"]:
        from crucible.integrations.hooks.status_line import main as status_line  # noqa: PLC0415  as above

        status_line()
    from crucible.cli.main import run as command  # noqa: PLC0415  imports ten times as much

    command()


if __name__ == "__main__":
    run()
