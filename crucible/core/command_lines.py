"""Command lines that sh, cmd.exe and PowerShell split into the same words, such as the one that adds an extra."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from crucible.core.errors import UsageError

_PLAIN = re.compile(r"[A-Za-z0-9_./:][A-Za-z0-9_./:-]*|--?[A-Za-z0-9_-]+")
"""Words that need no quotes.  PowerShell splits an option with a dot or colon in two, so such options are quoted."""

_PROGRAM = re.compile(r"[A-Za-z_./][A-Za-z0-9_./:-]*")
_QUOTABLE = re.compile(r'(?!.*%.*%)(?!.*\\(?:\\|\Z))[^\x00-\x1f"$`\x7f\u201c-\u201f]+')
"""Words that mean themselves in double quotes everywhere.

`$` and backticks expand in sh and PowerShell, and two percent signs may name a variable in cmd.exe.  sh joins two
backslashes.  PowerShell also ends a string at curly quotes.
"""


def command_line(words: Sequence[str]) -> str:
    """Return a command line for sh, cmd.exe and PowerShell.  Raises `UsageError` if no line means the same in all.

    PowerShell takes a program in quotes for a value and does not run it, so the first word must do without quotes.
    """
    program, *rest = words
    if not _PROGRAM.fullmatch(program):
        raise _refused(program)
    return " ".join([program, *map(_quoted, rest)])


def hook_command_line(words: Sequence[str]) -> str:
    """Return a command line for a hook on this system.

    Where no line works in every shell, it is one for sh; Windows may use another shell, so there it is an error.
    """
    try:
        return command_line(words)
    except UsageError:
        if os.name == "nt":
            raise
        return shlex.join(words)


def _quoted(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return word
    if _QUOTABLE.fullmatch(word):
        return f'"{word}"'
    raise _refused(word)


def _refused(word: str) -> UsageError:
    what = f"{word!r} cannot be part of a command line that every shell reads alike"
    return UsageError(what, "Install cru in a folder without spaces or special characters, or put it on your PATH.")


DISTRIBUTION = "crucible-vault"
"""The name that pip, pipx and uv know; the package to import is `crucible`."""


def install_command(extra: str) -> str:
    """Return the command that adds an extra, for the tool that installed Crucible: pipx, uv or pip.

    Without an extra, it is the command that installs Crucible itself.
    """
    wanted, is_editable = _requirement(extra)
    return hook_command_line([*_installer(Path(sys.prefix)), *(["--editable"] if is_editable else []), wanted])


def is_temporary() -> bool:
    """Return whether `uvx` runs Crucible: its environment is in uv's cache, and may be gone tomorrow."""
    return any(part.startswith("archive-v") for part in Path(sys.prefix).parts)


def _installer(environment: Path) -> list[str]:
    if (environment / "pipx_metadata.json").exists():
        return ["pipx", "install", "--force"]
    if (environment / "uv-receipt.toml").exists() or is_temporary():
        return ["uv", "tool", "install", "--force"]
    python = Path(sys.executable).as_posix()
    if find_spec("pip"):
        return [python, "-m", "pip", "install"]
    return ["uv", "pip", "install", "--python", python]


def _requirement(extra: str) -> tuple[str, bool]:
    """Return what to install: the name, a path or a repository.  Also return whether it is an editable folder."""
    # Late: these are slow to import, and only error messages need them.
    import json  # noqa: PLC0415
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, extras = origin.get("url", ""), f"[{extra}]" if extra else ""
    if "vcs_info" in origin:
        return f"{DISTRIBUTION}{extras} @ {origin['vcs_info'].get('vcs', 'git')}+{url}", False
    if urlsplit(url).scheme != "file":
        return DISTRIBUTION + extras, False
    path = Path(url2pathname(urlsplit(url).path)).as_posix()
    return path + extras, bool(origin.get("dir_info", {}).get("editable"))
