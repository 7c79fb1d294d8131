"""Where a session's whole events lie: the folder and its three files, and the archive.

Owns the rule that neither leaves the vault, and how a refusal of the system is told.  What the files hold is for
`recorder`, `entries`, `meta` and `archive`.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crucible.core.errors import OutsideVault, VaultError, reason_of
from crucible.documents.session.session_id import check_session_id

EVENTS, TOOLS, META = "events.jsonl", "tools.jsonl", "meta.json"

OWN_FIELDS = frozenset({"seq", "key", "type", "time", "phase", "source", "line", "row", "agent", "cut"})
"""Fields that every record has or may have; all others are values."""

TOOL_TYPES = frozenset({"tool", "ToolUsed", "ToolReturned", "SubagentStarted", "SubagentReturned"})
"""The records that stand in `tools.jsonl`."""

_FULL = {errno.ENOSPC, errno.EDQUOT}


def flights_folder(vault_root: Path) -> Path:
    """Where the sessions' folders lie."""
    return _inside(vault_root, vault_root / ".crucible" / "flight")


def flight_folder(vault_root: Path, session_id: str) -> Path:
    """Where a session's records lie; never outside the vault, whatever the id or a symlink says."""
    return _inside(vault_root, vault_root / ".crucible" / "flight" / check_session_id(session_id))


def archive_folder(vault_root: Path) -> Path:
    """Where the archives lie."""
    return _inside(vault_root, vault_root / ".crucible" / "archive")


def archive_path(vault_root: Path, session_id: str) -> Path:
    """The file that the records are compressed into; the same holds for it."""
    return _inside(vault_root, archive_folder(vault_root) / f"{check_session_id(session_id)}.jsonl.zst")


def may_have_records(vault_root: Path, session_id: str) -> bool:
    """Whether anything goes by the name of a session's records: quick to ask, and a promise neither that it is that nor where it lies."""
    inner = os.path.join(vault_root, ".crucible")
    # The folder first: a purge puts what it takes from it into the archive before.
    return os.path.lexists(os.path.join(inner, "flight", session_id)) or os.path.lexists(
        os.path.join(inner, "archive", f"{session_id}.jsonl.zst")
    )


def keys_path(vault_root: Path, session_id: str) -> Path:
    """The file, in the cache, that remembers which records there are."""
    return _cached(vault_root, f"{check_session_id(session_id)}.keys")


def purged_path(vault_root: Path) -> Path:
    """The file, in the cache, that remembers when old records were last put away."""
    return _cached(vault_root, "purged")


def _cached(vault_root: Path, name: str) -> Path:
    return _inside(vault_root, vault_root / ".crucible" / "cache" / "flight" / name)


def _inside(vault_root: Path, path: Path) -> Path:
    real, root = os.path.realpath(path), os.path.realpath(vault_root)
    if not real.startswith(root.rstrip(os.sep) + os.sep):
        raise OutsideVault(f"{path}: leads out of the vault, to {real}", f"the vault is {root}")
    return Path(real)


@contextmanager
def refusals(path: Path, doing: str = "written") -> Iterator[None]:
    """What the system refuses, said in one line."""
    try:
        yield
    except OSError as error:
        hint = "what was there is untouched; make room and try again" if error.errno in _FULL else ""
        raise VaultError(f"{path}: cannot be {doing}: {reason_of(error)}", hint) from error
