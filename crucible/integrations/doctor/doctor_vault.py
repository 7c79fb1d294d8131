"""Whether the vault itself is fit to be written to: its settings, rights and disk, and what looks at its commits.

Owns how little room counts as none.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from crucible.core.errors import CrucibleError, VaultError
from crucible.core.settings.trust import Ask, ignored_names
from crucible.integrations.doctor.check_results import Finding, State
from crucible.integrations.install.git_hooks import find_hook, is_installed

_NO_ROOM = 1 << 20
"""Bytes of free disk below which no note is sure to be written."""
_ROOM = "make room on the disk"
_RIGHT = "give yourself the right to write there, or call `cru` as the user whose vault it is"
_REFUSALS = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EACCES: _RIGHT,
    errno.EPERM: _RIGHT,
    errno.EROFS: "mount the disk so that it can be written to",
}


def check_settings(faults: Iterable[CrucibleError], warnings: Iterable[str]) -> Iterator[Finding]:
    """What is wrong in settings files; `faults` keep every other command from working."""
    for fault in faults:
        hint = fault.hint or "mend the line by hand, or take it out"
        yield Finding("settings", State.BAD, f"{fault}; no other command works until then", hint)
    for warning in dict.fromkeys(warnings):
        yield Finding("settings", State.NOTE, warning, "mend its name, or take the line out")


def check_trust(asks: Sequence[Ask]) -> Iterator[Finding]:
    """Report what the vault asks for, and whether the user accepted it."""
    broken = tuple(f"{ask.name}: {ask.fault}" for ask in asks if ask.fault)
    if broken:
        yield Finding("trust", State.NOTE, "what this vault asks for and cannot have is ignored", "", broken)
    asks = [ask for ask in asks if not ask.fault]
    ignored = ignored_names(asks)
    if ignored:
        what = "what this vault asks for is ignored until you accept it"
        yield Finding("trust", State.NOTE, what, "cru trust", ignored)
    elif asks:
        what = f"you accepted what this vault asks for: {', '.join(ask.name for ask in asks)}"
        yield Finding("trust", State.GOOD, what)
    else:
        yield Finding("trust", State.GOOD, "nothing in this vault needs to be accepted")


def check_writable(root: Path, folders: Iterable[Path]) -> Iterator[Finding]:
    """Whether we may write what a session needs, and whether there is room for it."""
    own = root / ".crucible"
    places = (root, own, *folders, *(own / name for name in ("spool", "flight", "cache", "index", "log")))
    shut = tuple(str(path) for path in places if path.is_dir() and not os.access(path, os.W_OK | os.X_OK))
    if shut:
        what = "the vault cannot be written to by this user, so no session is written down"
        yield Finding("vault", State.BAD, what, _RIGHT, shut)
    try:
        free = shutil.disk_usage(root).free
    except OSError:
        return
    if free < _NO_ROOM:
        yield Finding("vault", State.BAD, f"the disk of {root} is full", _ROOM)


def mend_of_refusal(reason: str, otherwise: str) -> str:
    """What mends what the system refused, by its own words; `otherwise` for what they do not tell."""
    found = (mend for number, mend in _REFUSALS.items() if os.strerror(number) in reason)
    return next(found, otherwise)


def check_git_hooks(root: Path) -> Iterator[Finding]:
    """Whether commits of a vault in a git repository are looked at for secrets."""
    if not any((folder / ".git").exists() for folder in (root, *root.parents)):
        return
    try:
        installed = is_installed(find_hook(root))
    except VaultError as error:
        yield Finding("git-hooks", State.NOTE, f"git does not say what looks at commits: {error}", error.hint)
        return
    if installed:
        yield Finding("git-hooks", State.GOOD, "what is committed is looked at for secrets")
    else:
        what = "nothing looks at what is committed: a secret that a human wrote may get into git"
        yield Finding("git-hooks", State.NOTE, what, "cru install git-hooks")
