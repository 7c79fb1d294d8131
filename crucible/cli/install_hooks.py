"""`cru install claude-code`, `cru install CLIENT --hooks` and `cru install claude-code --statusline`."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from crucible.cli.environment import absolute_path, user_settings, vault_root
from crucible.cli.options import Door
from crucible.cli.output import clean_line, say, write
from crucible.clients.claude_code.status_line_setting import install_status_line, uninstall_status_line
from crucible.clients.hook_settings import find_installed, hooks_path, install_hooks, uninstall_hooks
from crucible.clients.registry import HOOKS, TITLES
from crucible.core.command_lines import command_line, hook_command_line
from crucible.core.errors import CrucibleError, UsageError, VaultNotFound

MAKE_ONE = 'Run "cru init DIR --default" to create one for all projects, or "cru init" for this folder.'
WATCH = 'Run "cru watch --clients", which follows its logs.'


class Work(NamedTuple):
    """What to do with each file: install or remove, for one project or the user, or only show it.

    `mcp` and `hooks` say what is meant, if the user chose.
    """

    project: bool
    remove: bool
    dry_run: bool
    mcp: bool
    hooks: bool

    def uses_mcp(self, client: str) -> bool:
        """Return whether the MCP server is meant: it is the default but for Claude Code."""
        return self.mcp or (client != "claude-code" and not self.hooks)

    def report(self, path: Path, *, is_changed: bool) -> bool:
        """Write the line for a file, and return `is_changed`."""
        if self.remove:
            word = ("would remove from" if self.dry_run else "removed from") if is_changed else "not in"
        else:
            word = ("would install in" if self.dry_run else "installed in") if is_changed else "already in"
        write(f"{word}  {clean_line(str(path))}")
        return is_changed


def own_program() -> list[str]:
    """Return the command that clients call: the absolute path of the running `cru`, or else this interpreter.

    Paths have forward slashes, which Windows accepts too: sh takes a backslash for an escape.
    """
    own = sys.argv[0] if os.path.basename(sys.argv[0]).startswith("cru") else "cru"
    found = shutil.which(own)
    if found:
        return [Path(os.path.abspath(found)).as_posix()]
    return [Path(sys.executable).as_posix(), "-P", "-m", "crucible"]


def project_folder() -> Path:
    """Return the current project's folder: the nearest with `.claude` or `.git`, or else the working directory."""
    here = Path(absolute_path("."))
    near = (folder for folder in (here, *here.parents) if folder != Path.home())
    return next((f for f in near if (f / ".claude").is_dir() or (f / ".git").exists()), here).resolve()


def _say_where(door: Door) -> None:
    """Report which vault receives the sessions of the working directory."""
    user = user_settings()
    try:
        say(f"New sessions in this folder are recorded in {clean_line(vault_root(door, user))}.")
    except VaultNotFound:
        say("No vault here and no default vault: nothing is recorded yet.", style="yellow")
        say(MAKE_ONE)


def change_hooks(door: Door, client: str, work: Work) -> None:
    """Add our hooks to a client's settings, or remove them."""
    if client not in HOOKS:
        what = f"{TITLES[client]} has no hooks that cru can use"
        raise UsageError(what, WATCH)
    hooks = HOOKS[client]
    if work.project and not hooks.project:
        raise UsageError(f"hooks of {TITLES[client]} are installed for all projects only", "Leave out --project.")
    path = hooks_path(hooks, os.environ, Path.home(), project_folder() if work.project else None)
    if work.remove:
        is_changed = uninstall_hooks(hooks, path, dry_run=work.dry_run)
        if hooks.plugin and not is_changed and path.exists():
            write(f"kept, it was edited  {clean_line(str(path))}")
        else:
            work.report(path, is_changed=is_changed)
        return
    command = _client_command(["hook", client], shared=work.project)
    is_changed = work.report(path, is_changed=install_hooks(hooks, path, command, dry_run=work.dry_run))
    if not work.dry_run:
        if is_changed and hooks.review:
            say(hooks.review)
        _say_where(door)


def has_hooks(client: str, project: Path | None) -> bool:
    """Return whether our hooks are in the settings of the user, or of the folder `project`."""
    hooks = HOOKS.get(client)
    if hooks is None or (project and not hooks.project):
        return False
    with suppress(CrucibleError):  # an invalid file is reported where it is used
        return bool(find_installed(hooks, hooks_path(hooks, os.environ, Path.home(), project)).events)
    return False


def status_line_path(*, project: bool) -> Path:
    """Return Claude Code's settings file, of the user or of the current project."""
    return hooks_path(HOOKS["claude-code"], os.environ, Path.home(), project_folder() if project else None)


def change_status_line(work: Work) -> None:
    """Add our status line to Claude Code's settings, or remove it."""
    path = status_line_path(project=work.project)
    if work.remove:
        work.report(path, is_changed=uninstall_status_line(path, dry_run=work.dry_run))
        return
    command = _client_command(["statusline"], shared=work.project)
    work.report(path, is_changed=install_status_line(path, command, dry_run=work.dry_run))


def _client_command(more: Sequence[str], *, shared: bool) -> str:
    """Return the command line of a hook or of the status line.

    No shell's syntax is in it: Claude Code on Windows runs it in Git Bash or PowerShell.  Settings that are committed
    have a bare name.  So has Windows for a path that a shell would split, if `cru` is on the PATH.
    """
    if shared:
        return command_line(["cru", *more])
    try:
        return hook_command_line([*own_program(), *more])
    except UsageError:
        if not shutil.which("cru"):
            raise
        return command_line(["cru", *more])
