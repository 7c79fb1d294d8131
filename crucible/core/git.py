"""Read the state of the git repository around a folder, and hash files as git does.

The project may be untrusted: nothing in it is executed or written, and no command runs without a time limit.
"""

from __future__ import annotations

import hashlib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from crucible.core.errors import reason_of
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

WHOLE = 16 * 1024 * 1024
"""Maximum bytes to hash in full.

Of larger files only the size, beginning and end are hashed, so bookmarks stay fast.
"""

UNREADABLE = "?"
"""The digest of anything that cannot be read or is not a file."""

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
"""Prefixes of git's variables that are user-wide settings, and so are passed on.

All others select a repository, possibly that of a git hook that called us.
"""

_COMMIT = late_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class _Answer(NamedTuple):
    """Git's output.  `refusal` is "" on success, else the error in one line."""

    data: bytes
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository.  `root` is the real path of the worktree's top folder.

    `branch` is "" for a detached HEAD; `head` is a full commit id, "" before the first commit.  `refusal` is git's
    error in one line if it could not report them: git is not installed, or it does not trust the folder's owner.
    """

    root: Path
    branch: str = ""
    head: str = ""
    is_shallow: bool = False
    refusal: str = ""


def read_repository(folder: Path) -> Repository | None:
    """Read the repository whose worktree contains `folder`; None outside worktrees, as in `.git` or a bare one."""
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

    No program configured by the repository is run, provided that commands that compare contents have the options
    `--no-ext-diff --no-textconv`.
    """
    answer = _ask(folder, *args, seconds=seconds)
    return None if answer.refusal else os.fsdecode(answer.data)


def is_commit(text: str) -> bool:
    """Return whether the text is a full commit id, which is safe to pass to git: it cannot be read as an option."""
    return _COMMIT.match(text) is not None


def _ask(folder: Path, *args: str, seconds: float = _SECONDS) -> _Answer:
    import subprocess  # noqa: PLC0415  slow to import, and reading bookmarks does not run git

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
        return _Answer(b"", f"git did not answer in {seconds:g} s")
    except (OSError, ValueError) as error:
        return _Answer(b"", f"git: {reason_of(error) if isinstance(error, OSError) else error}")
    if not done.returncode:
        return _Answer(done.stdout)
    message = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
    return _Answer(done.stdout, message or f"git {args[0]} exited with status {done.returncode}")


def digest_of(path: Path) -> str:
    """Return git's id (SHA-1) for a file's bytes, or for a symlink's target; "" if the path does not exist.

    For a file of more than `WHOLE` bytes, return `~` and the SHA-1 of its size, beginning and end.  For anything
    unreadable, or not a file, return `UNREADABLE`.
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
    # The file may have been replaced by a pipe or a link since it was checked.
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
    """Return what is known without git: the nearest folder with `.git` is the top.  None if there is no worktree."""
    if refusal.startswith(("not a git repository", "this operation must be run in a work tree")):
        return None
    here = Path(os.path.realpath(folder))
    for parent in (here, *here.parents):
        with suppress(OSError):
            if os.path.lexists(parent / ".git"):
                return Repository(parent, refusal=refusal)
    return None
