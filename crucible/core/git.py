"""Facts of the git repository around a folder, and digests of its files.

The project may be anybody's, so nothing in it is run, waited for or written.
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
"""Bytes.  Of a larger file only the size, the beginning and the end are looked at: a bookmark is made at once."""

UNREADABLE = "?"
"""The digest of what is there and cannot be read, or is no file."""

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
"""What a user sets for all of git.  The rest names one repository, that of the hook perhaps in which we run."""

_COMMIT = late_pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class _Answer(NamedTuple):
    """What git said; `refusal` is "" when it did as asked, else its reason in one line."""

    data: bytes
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Repository:
    """`root` is the top of the worktree, with no symlink in it.

    `branch` is "" for a detached HEAD; `head` is a commit's whole id, "" before the first one.  `refusal` is why git told
    neither, in one line: it is not installed, or does not trust the folder's owner.
    """

    root: Path
    branch: str = ""
    head: str = ""
    is_shallow: bool = False
    refusal: str = ""


def read_repository(folder: Path) -> Repository | None:
    """The repository whose worktree holds `folder`; None outside of any, and inside `.git` or a bare one."""
    if not folder.is_dir():
        return None
    told = _ask(folder, "rev-parse", "--is-shallow-repository", "--show-toplevel")
    if told.refusal:
        return _untold(folder, told.refusal)
    shallow, _, top = told.data.removesuffix(b"\n").partition(b"\n")
    root = Path(os.path.realpath(os.fsdecode(top)))
    name = _word(_ask(root, "symbolic-ref", "-q", "HEAD"))
    head = _word(_ask(root, "rev-parse", "-q", "--verify", "HEAD"))
    return Repository(root, name.removeprefix("refs/heads/"), head if is_commit(head) else "", shallow == b"true")


def run_git(folder: Path, *args: str, seconds: float = _SECONDS) -> str | None:
    """What a command of git's that only reads says, None when it failed; a byte that is no UTF-8 is a surrogate.

    Nothing that the repository names is run, but what compares contents needs `--no-ext-diff --no-textconv` besides.
    """
    told = _ask(folder, *args, seconds=seconds)
    return None if told.refusal else os.fsdecode(told.data)


def is_commit(text: str) -> bool:
    """Whether it is a commit's whole id: what is handed to git must not be one of its options."""
    return _COMMIT.match(text) is not None


def _ask(folder: Path, *args: str, seconds: float = _SECONDS) -> _Answer:
    import subprocess  # noqa: PLC0415  slow to import, and who only reads bookmarks asks nothing

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
    said = done.stderr.decode(errors="replace").strip().partition("\n")[0].removeprefix("fatal: ")
    return _Answer(done.stdout, said or f"git {args[0]} ended with {done.returncode}")


def digest_of(path: Path) -> str:
    """The id that git gives a file's bytes (SHA-1), of a symlink those of its target's name; "" where nothing is.

    A file of more than `WHOLE` bytes has `~` and the SHA-1 of its size, beginning and end; what cannot be read, or is no file,
    has `UNREADABLE`.
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
    # Somebody may put a pipe or a link there meanwhile.
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


def _untold(folder: Path, refusal: str) -> Repository | None:
    """Git found no worktree, or would not look: then the folder that has `.git` is the top, and no more is known."""
    if refusal.startswith(("not a git repository", "this operation must be run in a work tree")):
        return None
    here = Path(os.path.realpath(folder))
    for parent in (here, *here.parents):
        with suppress(OSError):
            if os.path.lexists(parent / ".git"):
                return Repository(parent, refusal=refusal)
    return None
