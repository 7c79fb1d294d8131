"""Errors of hooks and of the sync process: lines in `.crucible/log/hooks.log`, since nobody may be shown them.

They have kinds of errors, places in the code and our own messages, and no content of a session.
"""

from __future__ import annotations

import os
import time

LOG = os.path.join(".crucible", "log", "hooks.log")
_LONGEST = 1 << 20
# Not through a symlink, and a named pipe keeps nobody.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def log_fault(root: str, who: str, error: BaseException) -> None:
    """Note a fault; `root` is "" where no vault was found, and then there is nowhere to note it."""
    if not root:
        return
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" ({os.path.basename(at.tb_frame.f_code.co_filename)}:{at.tb_lineno})" if at else ""
    told = "".join(char if char.isprintable() else "?" for char in " ".join(str(error).split())[:500])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    path = os.path.join(root, LOG)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), LOG):
            return  # it would lie outside the vault
        if os.path.exists(path) and os.path.getsize(path) > _LONGEST:
            os.replace(path, path + ".1")
        file = os.open(path, _FLAGS, 0o600)
        try:
            os.write(file, f"{now} {who}: {type(error).__name__}: {told}{place}\n".encode("utf-8", "replace"))
        finally:
            os.close(file)
    except OSError:
        return  # a full disk, say: the agent goes on all the same
