"""Real git repositories for tests, independent of the machine's git settings."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SETTINGS = ("user.name=x", "user.email=x@example.com", "protocol.file.allow=always", "commit.gpgsign=false")


def git(folder: Path, *args: str | Path, check: bool = True) -> str:
    """What git says."""
    settings = [word for one in _SETTINGS for word in ("-c", one)]
    done = subprocess.run(["git", *settings, *args], cwd=folder, check=check, capture_output=True, text=True)
    return done.stdout.removesuffix("\n")


def made(folder: Path) -> Path:
    """An empty repository."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, **files: str) -> str:
    """Write files, a name's `__` being a dot, and commit all that is there; the commit's id."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "next", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")
