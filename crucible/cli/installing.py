"""`cru install claude-code`: our hooks in the client's settings, and out again."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import clean_line, say, write
from crucible.cli.surroundings import from_here, user_settings, vault_root
from crucible.errors import UsageError, VaultNotFound
from crucible.installing.claude_code import install, settings_path, uninstall

__all__ = ["claude_code", "hook_command", "own_program", "project_here"]


@click.command("claude-code")
@click.option("--user", is_flag=True, help="For all your projects (the default).")
@click.option("--project", is_flag=True, help="For this project, in its .claude/settings.json.")
@click.option("--remove", is_flag=True, help="Take our hooks out again; the file is what it was.")
@click.pass_obj
def claude_code(door: Door, *, user: bool, project: bool, remove: bool) -> None:
    """Have Claude Code's sessions written down while they run.

    Adds our hooks to the client's settings.json and touches nothing else in it. They note which session did something,
    and never wait: a process of its own brings the session's note up to date at the end of each turn. A session goes to
    the vault around its folder, else to your default vault.

    \b
      cru install claude-code             in your own settings, for all projects
      cru install claude-code --project   in this project's, to be committed
      cru install claude-code --remove
    """
    if user and project:
        raise UsageError("--user and --project: one or the other", "call it twice for both")
    folder = project_here() if project else None
    path = settings_path(os.environ, Path.home(), folder)
    if remove:
        write(f"{'removed from' if uninstall(path) else 'not in'}  {clean_line(str(path))}")
        return
    changed = install(path, hook_command(shared=project))
    write(f"{'installed in' if changed else 'already in'}  {clean_line(str(path))}")
    _say_where(door)


def hook_command(*, shared: bool) -> str:
    """What the client is to run.  A hook that fails is shown to the user or obeyed, so it never does.

    In settings that are committed the command is found by its name, and colleagues without it are not bothered.
    """
    if shared:
        return "cru hook claude-code 2>/dev/null || :"
    return f"{shlex.join(own_program())} hook claude-code 2>/dev/null || :"


def own_program() -> list[str]:
    """How hooks call us: the `cru` that runs now, by its whole path, or this interpreter."""
    own = sys.argv[0] if os.path.basename(sys.argv[0]).startswith("cru") else "cru"
    found = shutil.which(own)
    return [os.path.abspath(found)] if found else [sys.executable, "-P", "-m", "crucible"]


def project_here() -> Path:
    """The folder that the client would be started in: the nearest with `.claude` or `.git`, else this one."""
    here = Path(from_here("."))
    near = (folder for folder in (here, *here.parents) if folder != Path.home())
    return next((f for f in near if (f / ".claude").is_dir() or (f / ".git").exists()), here).resolve()


def _say_where(door: Door) -> None:
    user = user_settings()
    try:
        say(f"sessions from here go to {clean_line(vault_root(door, user))}")
    except VaultNotFound:
        say("there is no vault here and no default vault, so nothing is written down yet", style="yellow")
        say("     `cru init DIR --default` makes one for every project, `cru init` one here")
