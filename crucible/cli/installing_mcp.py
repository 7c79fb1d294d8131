"""`cru install codex` and `cru install opencode`, and `--mcp` of each client: our server in its settings, and out again."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import clean_line, say, write
from crucible.cli.programs import own_program, project_here, say_where
from crucible.cli.surroundings import from_here
from crucible.errors import UsageError
from crucible.installing.mcp_servers import install_mcp, parts_of, uninstall_mcp

__all__ = ["codex", "opencode", "register"]


@click.command
@click.option("--mcp", is_flag=True, help="The server of recall and the recorder.")
@click.option("--user", is_flag=True, help="For all your projects (the default).")
@click.option("--project", is_flag=True, help="For this project, in its .codex/config.toml and AGENTS.md.")
@click.option("--remove", is_flag=True, help="Take it out again; the files are what they were.")
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
@click.option("--remove", is_flag=True, help="Take it out again; the files are what they were.")
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
    parts = parts_of(
        client, _program(door, shared=project), os.environ, Path.home(), _folder(project=project)
    )
    for path, is_changed in uninstall_mcp(parts) if remove else install_mcp(parts):
        done = (
            ("removed from" if is_changed else "not in")
            if remove
            else ("installed in" if is_changed else "already in")
        )
        write(f"{done}  {clean_line(str(path))}")
    if remove:
        return
    if client == "claude-code" and project:
        say("Claude Code asks once whether it may start a project's server")
    say_where(door)


def _program(door: Door, *, shared: bool) -> list[str]:
    """What serves.  In files that are committed it is found by its name, and finds the vault by itself."""
    if shared:
        return ["cru", "mcp"]
    named = ["--vault", os.path.abspath(from_here(door.vault))] if door.vault else []
    return [*own_program(), *named, "mcp"]


def _folder(*, project: bool) -> Path | None:
    return project_here() if project else None
