"""Read facts of the git repository around a folder, and digests of its files.

The project may be untrusted: nothing in it is executed, waited for or written.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import reason_of
from crucible.core.patterns import late_pattern

WHOLE = 16 * 1024 * 1024
"""In bytes.  Larger files are hashed by size, beginning and end only, so that making a bookmark is fast."""

UNREADABLE = "?"
"""Digest of anything that cannot be read or is not a file."""

_PART = 1 << 20
_SECONDS = 5.0
_SAFE = (
    *("--no-pager", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "core.untrackedCache=false"),
    *(
        "-c",
        "credential.helper=",
        "-c",
        "core.askPass=",
        "-c",
        "protocol.allow=never",
        "-c",
        "log.showSignature=false",
    ),
    *("-c", "diff.external=", "-c", "core.quotePath=false", "-c", "color.ui=false"),
)
_KEPT = ("GIT_CONFIG", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")
"""Variables that a user sets for git in general.

All others name one repository, perhaps that of a git hook that runs us.
"""

_COMMIT = late_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class _Answer(NamedTuple):
    """Git's output; `refusal` is "" on success, else the reason in one line."""

    data: bytes
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository.  `root` is the real path of the worktree's top folder.

    `branch` is "" for a detached HEAD; `head` is a full commit id, "" before the first commit.  `refusal` is why git
    reported neither, in one line: it is not installed, or does not trust the folder's owner.
    """

    root: Path
    branch: str = ""
    head: str = ""
    is_shallow: bool = False
    refusal: str = ""


def read_repository(folder: Path) -> Repository | None:
    """Read the repository whose worktree contains `folder`; None outside any, inside `.git`, or in a bare one."""
    if not folder.is_dir():
        return None
    answer = _ask(folder, "rev-parse", "--is-shallow-repository", "--show-toplevel")
    if answer.refusal:
        return _without_git(folder, answer.refusal)
    shallow, _, top = answer.data.removesuffix(b"\n").partition(b"\n")
    root = Path(os.path.realpath(os.fsdecode(top)))
    name = _word(_ask(root, "symbolic-ref", "-q", "HEAD"))
    head = _word(_ask(root, "rev-parse", "-q", "--verify", "HEAD"))
    return Repository(root, name.removeprefix("refs/heads/"), head if is_commit(head) else "", shallow == b"true")


def run_git(folder: Path, *args: str, seconds: float = _SECONDS) -> str | None:
    """Return the output of a read-only git command; None if it failed.  Bytes that are not UTF-8 become surrogates.

    No program named by the repository is run.  Commands that compare contents need `--no-ext-diff --no-textconv` for
    that.
    """
    answer = _ask(folder, *args, seconds=seconds)
    return None if answer.refusal else os.fsdecode(answer.data)


def is_commit(text: str) -> bool:
    """Return whether the text is a full commit id, which git cannot mistake for an option."""
    return _COMMIT.match(text) is not None


def _ask(folder: Path, *args: str, seconds: float = _SECONDS) -> _Answer:
    import subprocess  # noqa: PLC0415  slow to import, and readers of bookmarks do not run git

    command = ["git", *_SAFE, "-C", os.fspath(folder), *args]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=_environment(),
            timeout=seconds,
        )
    except FileNotFoundError:
        return _Answer(b"", "git is not installed")
    except subprocess.TimeoutExpired:
        return _Answer(b"", f"git did not answer within {seconds:g} s")
    except (OSError, ValueError) as error:
        return _Answer(b"", f"git: {reason_of(error) if isinstance(error, OSError) else error}")
    if not done.returncode:
        return _Answer(done.stdout)
    message = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
    return _Answer(done.stdout, message or f"git {args[0]} ended with {done.returncode}")


def digest_of(path: Path) -> str:
    """Return git's id (SHA-1) of a file's bytes, or of a symlink's target; "" if the path does not exist.

    A file of more than `WHOLE` bytes has `~` and the SHA-1 of its size, beginning and end; anything unreadable or not a
    file has `UNREADABLE`.
    """
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return _blob(os.fsencode(os.readlink(path)))
        return _file_digest(path) if stat.S_ISREG(status.st_mode) else UNREADABLE
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        return UNREADABLE


def _file_digest(path: Path) -> str:
    # The file may have been replaced by a pipe or a link meanwhile.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return UNREADABLE
        if status.st_size <= WHOLE:
            data = file.read(WHOLE + 1)
            if len(data) <= WHOLE:
                return _blob(data)
        size = os.fstat(descriptor).st_size
        file.seek(0)
        begin = file.read(_PART)
        file.seek(max(size - _PART, 0))
        return "~" + _sha1(b"%d\0" % size + begin + file.read(_PART))


def _blob(data: bytes) -> str:
    return _sha1(b"blob %d\0" % len(data) + data)


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def _word(answer: _Answer) -> str:
    return "" if answer.refusal else answer.data.decode(errors="replace").removesuffix("\n")


def _environment() -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name.startswith(_KEPT)}
    return env | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }


def _without_git(folder: Path, refusal: str) -> Repository | None:
    """Return what is known if git refused: the folder that has `.git` is the top; None if there is no worktree."""
    if refusal.startswith(("not a git repository", "this operation must be run in a work tree")):
        return None
    here = Path(os.path.realpath(folder))
    for parent in (here, *here.parents):
        with suppress(OSError):
            if os.path.lexists(parent / ".git"):
                return Repository(parent, refusal=refusal)
    return None
