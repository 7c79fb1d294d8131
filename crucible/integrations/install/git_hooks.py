"""Install, find and remove our pre-commit hook, which refuses commits unless a check for secrets succeeds.

An existing shell script gets a block of our lines; any other program is renamed, and our hook calls it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import VaultError, reason_of

_MADE_BY_US = "#!/bin/sh\n# Made by `cru install git-hooks`; your own lines may stand below.\n"
_BEFORE = ".before-crucible"
_CHAIN = f"""\
# What was the hook before runs after us.
[ ! -x "$0{_BEFORE}" ] || exec "$0{_BEFORE}" "$@"
"""
_SHELL = re.compile(rb"#![ \t]*(?:\S*/)?(?:env[ \t]+(?:-S[ \t]+)?)?(?:ba|da|a|k|z)?sh\b[^\n]*(?:\n|\Z)")
"""The first line of a script into which our block can be inserted."""

_BLOCK = """\
# >>> crucible {vault}: no secret is committed; `cru install git-hooks --remove` takes these lines out
crucible_refuses() {{
  echo "crucible: $1" >&2
  return 1
}}
crucible_check() {{
  crucible_tracked=$(git --literal-pathspecs ls-files -- "$1/.crucible") || return 1
  [ -d "$1/.crucible" ] || [ -n "$crucible_tracked" ] || return 0 # this branch has no vault
  crucible_code=0
  if [ -x {program} ]; then
    {command} --vault "$1" session check --secrets --staged >&2 || crucible_code=$?
  elif command -v cru >/dev/null 2>&1; then
    cru --vault "$1" session check --secrets --staged >&2 || crucible_code=$?
  else
    crucible_refuses 'cru was not found, so secrets could not be checked and nothing was committed' || :
    crucible_refuses 'install it or add it to PATH; `git commit --no-verify` skips this check'
    return 1
  fi
  case $crucible_code in
    0) return 0 ;;
    3) crucible_refuses 'nothing was committed because of the problems above' ;;
    *) crucible_refuses 'secrets could not be checked, so nothing was committed; `git commit --no-verify` skips this check' ;;
  esac
}}
crucible_check {folder} || exit 1
# <<< crucible {vault}
"""


class Hook(NamedTuple):
    """The path of the hook (which may not exist), and the vault's folder relative to the top of the repository."""

    path: Path
    top: Path
    folder: str

    @property
    def is_shared(self) -> bool:
        """True if the hook is outside the repository: `core.hooksPath` may name a folder for several repositories."""
        inside = (self.top, _git_folder(self.top))
        return not any(self.path.is_relative_to(folder) for folder in inside)


def is_in_repository(root: Path) -> bool:
    """Return whether a folder or one above it has a `.git`."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def find_hook(root: Path) -> Hook:
    """Return the pre-commit hook that git runs for a vault; handles `core.hooksPath`, worktrees and subfolders."""
    top = Path(os.path.realpath(_git(root, "rev-parse", "--show-toplevel")))
    # Run git in the top folder: a relative `core.hooksPath` is relative to it, and so may be git's answer.
    folder = top / _git(top, "rev-parse", "--git-path", "hooks")
    inner = Path(os.path.realpath(root)).relative_to(top).as_posix()
    return Hook(Path(os.path.realpath(folder)) / "pre-commit", top, "." if inner == "." else f"./{inner}")


def is_installed(hook: Hook) -> bool:
    """Return whether our lines are installed and git would run them."""
    data = _read(hook.path)
    return data is not None and _found(data, hook) is not None and os.access(hook.path, os.X_OK)


def install_hook(hook: Hook, command: Sequence[str]) -> bool:
    """Install a hook that runs `command`, a program and its first arguments; return whether anything has changed."""
    block = _block(hook, command)
    data = _read(hook.path)
    found = None if data is None else _found(data, hook)
    if data is not None and found:
        new = _spliced(data, found.span(), block)
        return _replace(hook.path, data, new)
    if data is not None and _is_editable_script(hook.path, data):
        return _replace(hook.path, data, _with_block(data, block))
    if os.path.lexists(hook.path):
        files.move_exclusive(hook.path, _before(hook.path))
    _create(hook.path, _MADE_BY_US.encode() + block + _CHAIN.encode())
    return True


def uninstall_hook(hook: Hook) -> bool:
    """Remove our lines and restore the previous hook byte for byte; return whether anything has changed."""
    data = _read(hook.path)
    found = None if data is None else _found(data, hook)
    if data is not None and found:
        new = _without_block(data, found)
        if new != (_MADE_BY_US + _CHAIN).encode():
            return _replace(hook.path, data, new)
        _remove(hook.path)
    elif os.path.lexists(hook.path) or not os.path.lexists(_before(hook.path)):
        return False
    if os.path.lexists(_before(hook.path)):
        files.move_exclusive(_before(hook.path), hook.path)
    return True


# --- hook text -------------------------------------------------------------------------------------------------------


def _block(hook: Hook, command: Sequence[str]) -> bytes:
    text = _BLOCK.format(
        vault=_name(hook),
        program=shlex.quote(command[0]),
        command=shlex.join(command),
        folder=shlex.quote(hook.folder),
    )
    return os.fsencode(text)


def _name(hook: Hook) -> str:
    """Return the vault's folder on one line, which identifies its block: a repository may contain several vaults."""
    return json.dumps(hook.folder)


def _found(data: bytes, hook: Hook) -> re.Match[bytes] | None:
    name = re.escape(_name(hook).encode())
    begin, end = b"# >>> crucible " + name + b":[^\n]*\n", b"# <<< crucible " + name
    return re.search(b"^" + begin + b"(?:(?!# >>> crucible )[^\n]*\n)*?" + end + b"(?:\n|\\Z)", data, re.MULTILINE)


def _with_block(data: bytes, block: bytes) -> bytes:
    """Insert the block after the first line, because a script may exit before its last line."""
    head = _SHELL.match(data)
    at = head.end() if head else 0
    if data[:at].endswith(b"\n"):
        return data[:at] + block + data[at:]
    return data + b"\n" + block.removesuffix(b"\n")


def _without_block(data: bytes, found: re.Match[bytes]) -> bytes:
    begin, end = found.span()
    if not found[0].endswith(b"\n"):
        begin -= 1  # the line break that we added before the block
    return data[:begin] + data[end:]


def _spliced(data: bytes, span: tuple[int, int], block: bytes) -> bytes:
    begin, end = span
    whole = data[begin:end].endswith(b"\n")
    return data[:begin] + (block if whole else block.removesuffix(b"\n")) + data[end:]


# --- files -----------------------------------------------------------------------------------------------------------


def _is_editable_script(path: Path, data: bytes) -> bool:
    """Return whether our block can be added to a hook: an executable shell script that is not a link."""
    return bool(_SHELL.match(data)) and b"\0" not in data and os.access(path, os.X_OK) and not path.is_symlink()


def _before(path: Path) -> Path:
    return path.with_name(path.name + _BEFORE)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        hint = '"git config core.hooksPath" shows where git looks for hooks'
        raise VaultError(f"{path}: {reason_of(error)}", hint) from error


def _replace(path: Path, old: bytes, new: bytes) -> bool:
    runs = os.access(path, os.X_OK)
    if new != old:
        files.write_atomic(path, new, expected=old)
    if not runs:
        _make_executable(path)
    return new != old or not runs


def _create(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"{path.parent}: cannot be created: {reason_of(error)}") from error
    files.create_exclusive(path, data)
    _make_executable(path)


def _make_executable(path: Path) -> None:
    """Make a file executable for everyone who may read it."""
    try:
        mode = path.stat().st_mode
        path.chmod(mode | (mode & 0o444) >> 2)
    except OSError as error:
        raise VaultError(f"{path}: cannot be made executable: {reason_of(error)}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise VaultError(f"{path}: cannot be removed: {reason_of(error)}") from error


# --- git -------------------------------------------------------------------------------------------------------------


def _git_folder(top: Path) -> Path:
    return Path(os.path.realpath(top / _git(top, "rev-parse", "--git-common-dir")))


def _git(folder: Path, *args: str) -> str:
    try:
        done = subprocess.run(["git", *args], cwd=folder, capture_output=True, check=False)
    except OSError as error:
        raise VaultError(f"git: {reason_of(error)}", "git is needed for its hooks: install it") from error
    if done.returncode:
        message = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise VaultError(f"{folder}: {message or 'not a git repository'}", 'run "git init" in the vault first')
    return os.fsdecode(done.stdout.removesuffix(b"\n"))
