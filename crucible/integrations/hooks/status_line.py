"""`cru statusline`: one line for Claude Code's status line, with the cost of the session, the day and the week.

Claude Code runs it after every message, with the session's state as JSON on stdin.  Only the stored index is read, no
notes: the line is as old as the last import.  It prints something valid for any input and always exits with 0.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

from crucible import __version__
from crucible.core.settings.toml_scan import user_settings_path
from crucible.integrations.hooks.client_hook import read_payload, text_of, vault_of
from crucible.integrations.hooks.hook_log import log_fault

_GAP = " | "
_LONGEST = 200
_HIGHEST = 1_000_000_000
"""From this amount on, a session's cost is an error of the client."""
_INDEX = os.path.join(".crucible", "index", "manifest.toon")
CACHE = os.path.join(".crucible", "cache", "statusline")
"""The kept line, after the second in which it ends and the state that it was made from."""


def main() -> None:
    """Print the line; never returns."""
    print_line()
    os._exit(0)


def print_line() -> None:
    """Print the line for the payload on stdin.  Never raises."""
    root, parts = "", []
    payload = _payload()
    try:
        parts = _of_session(payload)
        root = vault_of(_folder(payload))
        if root:
            parts += _of_vault(root)
    except BaseException as error:  # noqa: BLE001  no error may blank the client's line
        log_fault(root, "statusline", error)
    data = (_GAP.join(parts) + "\n").encode()
    try:
        os.write(1, data)
    except OSError:
        return


def _payload() -> Mapping[str, Any]:
    try:
        return {} if os.isatty(0) else read_payload()
    except Exception:  # noqa: BLE001  the day and the week are known without it
        return {}


def _folder(payload: Mapping[str, Any]) -> str:
    workspace = payload.get("workspace")
    places = (workspace.get("current_dir") if isinstance(workspace, dict) else None, payload.get("cwd"))
    named = [place for place in places if isinstance(place, str) and place]
    return named[0] if named else os.getcwd()


def _of_session(payload: Mapping[str, Any]) -> list[str]:
    """The session's cost as the client estimates it, at list price too."""
    cost = payload.get("cost")
    value = cost.get("total_cost_usd") if isinstance(cost, dict) else None
    is_amount = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _HIGHEST
    return [f"${value:,.2f} session"] if is_amount else []


def _of_vault(root: str) -> list[str]:
    """The costs of today and of the week, kept until the index, a setting or the day changes."""
    state = _state(root)
    until, _, rest = _text_of(os.path.join(root, CACHE)).partition("\n")
    of, _, line = rest.partition("\n")
    # Anyone may have written the file: only plain text in it reaches the terminal.
    if of != state or not until.isdecimal() or time.time() >= int(until[:15]):
        # Late: importing this takes ten times as long as everything else.
        from crucible.integrations.hooks.week_costs import keep_week_line  # noqa: PLC0415  as above

        line = keep_week_line(root, state, CACHE)
    return [text] if (text := "".join(filter(str.isprintable, line))[:_LONGEST]) else []


def _state(root: str) -> str:
    """Return what the line depends on: the stamps of the index and of the user's settings, and our version."""
    config = user_settings_path(os.environ, os.path.expanduser("~"))
    own = os.path.join(os.path.dirname(config), "prices.toml")
    return " ".join([__version__, *map(_stamp, (os.path.join(root, _INDEX), config, own))])


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}"


def _text_of(path: str) -> str:
    try:
        return text_of(path)
    except (OSError, UnicodeDecodeError):
        return ""
