"""`cru install codex` and `cru install opencode`, and `--mcp` of each client: our server in its settings, and out again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from crucible.cli.agent_offer import offer_to_ask
from crucible.cli.door import Door
from crucible.cli.output import clean_line, say, write
from crucible.cli.programs import own_program, project_folder
from crucible.cli.surroundings import from_here, user_settings, vault_root
from crucible.core.errors import CrucibleError, UsageError, VaultNotFound
from crucible.integrations.install.claude_code_settings import find_installed, settings_path
from crucible.integrations.install.mcp_servers import (
    CLIENTS,
    SKILL,
    TITLES,
    Part,
    find_registered,
    install_mcp,
    parts_of,
    uninstall_mcp,
)

_SHOWN = {
    "claude-code": "`claude mcp list`, or /mcp in the client, shows crucible as connected",
    "codex": "`codex mcp list`, or /mcp in the client, shows crucible",
    "opencode": "`opencode mcp list` shows crucible as connected",
}
"""How a user sees that it works."""


@click.command
@click.option("--mcp", is_flag=True, help="The server of recall and the recorder.")
@click.option("--user", is_flag=True, help="For all your projects (the default).")
@click.option("--project", is_flag=True, help="For this project, in its .codex/config.toml and AGENTS.md.")
@click.option("--remove", is_flag=True, help="With --mcp, take it out again; the files are what they were.")
@click.pass_obj
def codex(door: Door, /, **given: bool) -> None:
    """Have Codex start `cru mcp`, and tell its agent when to use it.

    Adds a table to config.toml and a marked block to AGENTS.md and touches nothing else in them. Of a project Codex reads
    its own config.toml only where you trust it.

    \b
      cru install codex --mcp
      cru install codex --mcp --project
      cru install codex --mcp --remove
    """
    _only_mcp("codex", **given)
    register(door, "codex", project=given["project"], remove=given["remove"])


@click.command
@click.option("--mcp", is_flag=True, help="The server of recall and the recorder.")
@click.option("--user", is_flag=True, help="For all your projects (the default).")
@click.option("--project", is_flag=True, help="For this project, in its opencode.json and AGENTS.md.")
@click.option("--remove", is_flag=True, help="With --mcp, take it out again; the files are what they were.")
@click.pass_obj
def opencode(door: Door, /, **given: bool) -> None:
    """Have OpenCode start `cru mcp`, and tell its agent when to use it.

    Adds an entry to opencode.json and a marked block to AGENTS.md and touches nothing else in them.

    \b
      cru install opencode --mcp
      cru install opencode --mcp --project
      cru install opencode --mcp --remove
    """
    _only_mcp("opencode", **given)
    register(door, "opencode", project=given["project"], remove=given["remove"])


def _only_mcp(client: str, *, mcp: bool, user: bool, project: bool, remove: bool) -> None:
    if not mcp:
        more = " --remove" if remove else ""
        raise UsageError("there is nothing else to be installed", f"cru install {client} --mcp{more}")
    if user and project:
        raise UsageError("--user and --project: one or the other", "call it twice for both")


def register(door: Door, client: str, *, project: bool, remove: bool) -> None:
    """Put our server, and what its agent is told, into a client's files, or take both out."""
    parts = parts_of(client, _program(door, shared=project), os.environ, Path.home(), _folder(project=project))
    shared = _also_read(client, parts, _folder(project=project)) if remove else {}
    # Each by itself: when one stays as it is, what was done to those before it is told.
    done = [_taken_out(part, shared) if remove else _put_in(part) for part in parts]
    if any(done):
        say(f"{TITLES[client]} reads this when it starts: start it anew")
    if not remove:
        _say_what_is_next(door, client, project=project)
        offer_to_ask(door, client)


def _put_in(part: Part) -> bool:
    ((path, is_changed),) = install_mcp([part])
    write(f"{'installed in' if is_changed else 'already in'}  {clean_line(str(path))}")
    return is_changed


def _taken_out(part: Part, shared: Mapping[Path, str]) -> bool:
    path = clean_line(str(part.path))
    if part.path in shared:
        write(f"left, since {shared[part.path]} reads it, too  {path}")
        return False
    ((_, is_changed),) = uninstall_mcp([part])
    if not is_changed and part.path.name == SKILL and part.path.exists():
        write(f"left, since it is not as it was put in  {path}")
    else:
        write(f"{'removed from' if is_changed else 'not in'}  {path}")
    return is_changed


def _also_read(client: str, parts: Sequence[Part], folder: Path | None) -> dict[Path, str]:
    """Which of these files another client that is registered has, too: a project's AGENTS.md is for several."""
    found = {}
    for other in (each for each in CLIENTS if each != client):
        servers, told = parts_of(other, ("cru", "mcp"), os.environ, Path.home(), folder)
        if told.path in (part.path for part in parts) and _is_registered(servers):
            found[told.path] = other
    return found


def _is_registered(servers: Part) -> bool:
    with suppress(CrucibleError):  # a file that cannot be understood is told of where it is asked for
        found = find_registered(servers)
        return found is not None and bool(found.words)
    return False


def say_what_stays(*, project: bool, mcp: bool) -> None:
    """After a removal, what of Claude Code's that one did not take out: the hooks, or the server."""
    folder, more = _folder(project=project), " --project" if project else ""
    if mcp and _has_hooks(folder):
        say(f"the hooks stay; `cru install claude-code{more} --remove` takes them out")
    servers = parts_of("claude-code", ("cru", "mcp"), os.environ, Path.home(), folder)[0]
    if not mcp and _is_registered(servers):
        say(f"the server of recall stays; `cru install claude-code --mcp{more} --remove` takes it out")


def _has_hooks(folder: Path | None) -> bool:
    with suppress(CrucibleError):
        return bool(find_installed(settings_path(os.environ, Path.home(), folder)).events)
    return False


def _say_what_is_next(door: Door, client: str, *, project: bool) -> None:
    where = "in this project " if project else ""
    if client == "claude-code" and project:
        say("Claude Code asks once whether it may start a project's server")
    say(f"{where}{_SHOWN[client]}; its agent is told when to ask and what to write down")
    if client == "claude-code" and not (_has_hooks(None) or _has_hooks(project_folder())):
        say("whole sessions are written down by hooks, which are another thing: `cru install claude-code`")
    try:
        say(f"its tools answer from {clean_line(vault_root(door, user_settings()))}{_unless(door, shared=project)}")
    except VaultNotFound:
        say("there is no vault here and no default vault, so its tools have nothing yet", style="yellow")
        say("     `cru init DIR --default` makes one for every project, `cru init` one here")


def _unless(door: Door, *, shared: bool) -> str:
    """Whether that is so wherever the client works."""
    return "" if door.vault and not shared else " when it is started here"


def _program(door: Door, *, shared: bool) -> list[str]:
    """What serves.  In files that are committed it is found by its name, and finds the vault by itself."""
    if shared:
        return ["cru", "mcp"]
    named = ["--vault", os.path.abspath(from_here(door.vault))] if door.vault else []
    return [*own_program(), *named, "mcp"]


def _folder(*, project: bool) -> Path | None:
    return project_folder() if project else None
