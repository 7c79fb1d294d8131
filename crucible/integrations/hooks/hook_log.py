"""Log errors of hooks and of the background process to `.crucible/log/hooks.log`, because hooks print nothing.

Each line gives the error's type, message and source location, but no session content.
"""

from __future__ import annotations

import os
import time

from crucible.vault.events.spool import make_folder

LOG = os.path.join(".crucible", "log", "hooks.log")
_LONGEST = 1 << 20
# Do not follow a symlink, and do not block on a named pipe.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def log_fault(root: str, who: str, error: BaseException) -> None:
    """Log an error.  `root` is "" if no vault was found; nothing is logged then."""
    if not root:
        return
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" ({os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno})" if at else ""
    message = "".join(char if char.isprintable() else "?" for char in " ".join(str(error).split())[:500])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path = os.path.join(root, LOG)
    try:
        make_folder(os.path.dirname(path))
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), LOG):
            return  # it would be outside the vault
        if os.path.exists(path) and os.path.getsize(path) > _LONGEST:
            os.replace(path, path + ".1")
        file = os.open(path, _FLAGS, 0o600)
        try:
            os.write(file, f"{now} {who}: {type(error).__name__}: {message}{place}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)
    except OSError:
        return  # such as a full disk: the agent must not be stopped
