"""`cru install claude-code`: our hooks in the client's settings, and out again."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from crucible.cli.agent_offer import offer_to_ask
from crucible.cli.door import Door
from crucible.cli.installing_mcp import register, say_what_stays
from crucible.cli.output import clean_line, write
from crucible.cli.programs import own_program, project_folder, say_where
from crucible.core.errors import UsageError
from crucible.integrations.install.claude_code_settings import install, settings_path, uninstall


@click.command("claude-code")
@click.option("--user", is_flag=True, help="For all your projects (the default).")
@click.option("--project", is_flag=True, help="For this project, in its .claude/settings.json.")
@click.option(
    "--remove",
    is_flag=True,
    help="Take the hooks out again, with --mcp the server; the files are what they were.",
)
@click.option("--mcp", is_flag=True, help="Not the hooks, but the server of recall and the recorder, and a skill.")
@click.pass_obj
def claude_code(door: Door, *, user: bool, project: bool, remove: bool, mcp: bool) -> None:
    """Have Claude Code's sessions written down while they run.

    Adds our hooks to the client's settings.json and touches nothing else in it. They note which session did something,
    and never wait: a process of its own brings the session's note up to date at the end of each turn. A session goes to
    the vault around its folder, else to your default vault.

    With --mcp the client starts `cru mcp` instead, by which its agent asks what earlier sessions say and tells of its
    decisions, and gets a skill that says when: in ~/.claude.json, or the project's .mcp.json, and the skills folder.

    On a terminal it offers, once, to ask Claude Code at each session's end what mattered in it, and shows what that costs.

    --remove alone takes out the hooks and leaves the server, --mcp --remove takes out the server and leaves the hooks; each of them
    in your own settings, or with --project in this project's, and says what stays.

    \b
      cru install claude-code             in your own settings, for all projects
      cru install claude-code --project   in this project's, to be committed
      cru install claude-code --remove
      cru install claude-code --mcp
      cru install claude-code --mcp --remove
    """
    if user and project:
        raise UsageError("--user and --project: one or the other", "call it twice for both")
    if mcp:
        register(door, "claude-code", project=project, remove=remove)
        if remove:
            say_what_stays(project=project, mcp=True)
        return
    folder = project_folder() if project else None
    path = settings_path(os.environ, Path.home(), folder)
    if remove:
        write(f"{'removed from' if uninstall(path) else 'not in'}  {clean_line(str(path))}")
        say_what_stays(project=project, mcp=False)
        return
    changed = install(path, hook_command(shared=project))
    write(f"{'installed in' if changed else 'already in'}  {clean_line(str(path))}")
    say_where(door)
    offer_to_ask(door, "claude")


def hook_command(*, shared: bool) -> str:
    """What the client is to run.  A hook that fails is shown to the user or obeyed, so it never does.

    In settings that are committed the command is found by its name, and colleagues without it are not bothered.
    """
    if shared:
        return "cru hook claude-code 2>/dev/null || :"
    return f"{shlex.join(own_program())} hook claude-code 2>/dev/null || :"
