"""`cru install`: add our hooks and MCP server to clients' settings and our hook to git, or remove them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from crucible.cli.command_agent import offer_to_ask
from crucible.cli.environment import absolute_path, human_is_there, user_settings, vault_place, vault_root
from crucible.cli.install_hooks import (
    MAKE_ONE,
    WATCH,
    Work,
    change_hooks,
    change_status_line,
    has_hooks,
    own_program,
    project_folder,
    status_line_path,
)
from crucible.cli.options import Door, flag, yes_option
from crucible.cli.output import clean_line, say, write
from crucible.clients.claude_code.status_line_setting import has_status_line
from crucible.clients.launch.terminal import ClientMissing
from crucible.clients.registry import CLIENTS, HOOKS, MCP_SETTINGS, TITLES, client_of
from crucible.core.command_lines import install_command, is_temporary
from crucible.core.errors import CrucibleError, UsageError, VaultNotFound
from crucible.integrations.install.git_hooks import (
    find_hook,
    install_hook,
    is_in_repository,
    is_installed,
    uninstall_hook,
)
from crucible.integrations.install.mcp_servers import (
    SKILL,
    Part,
    check_library,
    clients_with_servers,
    find_registered,
    is_used,
    missing_library,
    parts_of,
)
from crucible.integrations.install.service import (
    Machine,
    Service,
    install_service,
    is_service_installed,
    service_for,
    uninstall_service,
)


class _Target(click.Choice[str]):
    """A client, `git-hooks` or `service`; a client may also be named by its program."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Replace a program's name by its client's."""
        client = client_of(value, CLIENTS)
        if client and client.name not in self.choices:
            raise UsageError(f"{client.title} has no hooks or MCP servers that cru can use", WATCH)
        return super().convert(client.name if client else value, param, ctx)


_GIT, _SERVICE = "git-hooks", "service"
CLIENT_PROGRAMS = {client.name: client.program for client in CLIENTS.values()}


@click.command("install")
@click.argument("client", metavar="[CLIENT]", type=_Target([*MCP_SETTINGS, _GIT, _SERVICE]), required=False)
@flag("--mcp", "Install the MCP server and its instructions instead of hooks.")
@flag("--hooks", "Install hooks instead of the MCP server.")
@flag("--statusline", "Show costs in Claude Code's status line; nothing else changes.")
@flag("--user", "For all your projects (the default).")
@flag("--project", "For this project only, in files that can be committed.")
@flag("--remove", "Remove what this command installed, and nothing else.")
@flag("--dry-run", "Show the files that would change, and change nothing.")
@yes_option("Without CLIENT, or for service: do not ask.")
@click.pass_obj
def install(
    door: Door,
    /,
    client: str | None,
    *,
    mcp: bool,
    hooks: bool,
    statusline: bool,
    user: bool,
    project: bool,
    remove: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Connect agents to the vault.

    CLIENT is one of:

    \b
      claude-code  hooks that record sessions while they run, --mcp or
                   --statusline
      codex        the MCP server, to search past sessions and record decisions,
                   or --hooks
      opencode, gemini, copilot, qwen
                   the same
      cline        the MCP server
      git-hooks    a pre-commit hook that refuses secrets
      service      a systemd or launchd service that runs cru watch --clients

    Without CLIENT, all agents found on this machine are connected, after asking.

    \b
    - Only our entries in the client's files change; --remove removes them.
    - Hooks never block an agent: a separate process updates the note.
    - The server comes with instructions: a skill, or a block in AGENTS.md.
    - The git hook runs before your own hook, which still runs.
    - The service is for this vault. You see its file first, and start it.

    \b
      cru install
      cru install claude-code
      cru install claude-code --mcp --project
      cru install claude-code --statusline
      cru install codex --hooks
      cru install codex --remove --dry-run
      cru install git-hooks
      cru install service --dry-run
    """
    if user and project:
        raise UsageError("--user and --project cannot be used together", "Run the command twice to install both.")
    if client not in (None, _SERVICE) and yes:
        raise UsageError("--yes is for cru install without CLIENT, and for service", "")
    if mcp and hooks:
        raise UsageError("--mcp and --hooks cannot be used together", "Run the command twice to install both.")
    if client in (_GIT, _SERVICE) and (mcp or hooks or user or project):
        more = "--remove, --dry-run and --yes" if client == _SERVICE else "--remove and --dry-run"
        raise UsageError(f"{client} takes only {more}", "Run the command inside the vault.")
    if statusline and (client != "claude-code" or mcp or hooks):
        raise UsageError("--statusline works only with claude-code", 'Run "cru install claude-code --statusline".')
    work = Work(project=project, remove=remove, dry_run=dry_run, mcp=mcp, hooks=hooks)
    if statusline:
        change_status_line(work)
    elif client is None:
        _install_found(door, work, yes=yes)
    elif client == _GIT:
        _change_git_hook(door, work)
    elif client == _SERVICE:
        path, is_changed = change_service(door, own_program(), remove=remove, dry_run=dry_run, yes=yes)
        work.report(path, is_changed=is_changed)
    else:
        _change_client(door, client, work)
        if not remove and not dry_run:
            offer_to_ask(door, CLIENT_PROGRAMS[client])


def _install_found(door: Door, work: Work, *, yes: bool) -> None:
    """Change all clients found on this machine, after asking."""
    names = HOOKS if work.hooks else MCP_SETTINGS
    found = [name for name in names if _is_here(name)]
    if not found:
        raise ClientMissing("no agent found on this machine", f"Name one: {', '.join(names)}.")
    if not (yes or work.dry_run):
        if not human_is_there(door):
            each = ", ".join(f'"cru install {name}"' for name in found)
            raise UsageError("no CLIENT named, and no terminal to ask on", f"Add --yes, or run {each}.")
        say("Found on this machine:")
        for name in found:
            say(f"  {TITLES[name]}: {'MCP server' if work.uses_mcp(name) else 'hooks'}")
        if not click.confirm("Remove from these?" if work.remove else "Connect these?", default=False, err=True):
            return
    for name in found if work.remove else _without_lacking(found, work):
        _change_client(door, name, work)
    if not work.remove and not work.dry_run:
        offer_to_ask(door, CLIENT_PROGRAMS[found[0]])


def _without_lacking(found: Sequence[str], work: Work) -> list[str]:
    """Return the clients that can be connected: without the extra `mcp`, those that have hooks."""
    command = missing_library()
    lacking = [name for name in found if command and work.uses_mcp(name)]
    if len(lacking) == len(found):
        check_library()
    if lacking:
        say(
            f'Skipped {", ".join(TITLES[name] for name in lacking)}: the MCP server needs the extra "mcp". Run: {command}'
        )
    return [name for name in found if name not in lacking]


def _is_here(name: str) -> bool:
    return bool(shutil.which(CLIENT_PROGRAMS[name])) or is_used(name, os.environ, Path.home())


def _change_client(door: Door, client: str, work: Work) -> None:
    if work.uses_mcp(client):
        _register(door, client, work)
    else:
        change_hooks(door, client, work)
    if is_temporary() and not (work.remove or work.project):
        command = install_command("mcp" if work.uses_mcp(client) else "")
        say(f"This cru is in uv's cache and may be deleted. Run: {command}", style="yellow")
        say("Then run cru install again.")
    if work.remove and not work.dry_run:
        _say_still_installed(client, work)


def _register(door: Door, client: str, work: Work) -> None:
    """Add our server and its instructions to a client's files, or remove both, file by file."""
    if not work.remove:
        check_library()
    folder = _folder(project=work.project)
    if client not in clients_with_servers(folder):
        raise UsageError(f"{TITLES[client]} has no MCP servers for single projects", "Leave out --project.")
    parts = parts_of(client, _program(door, shared=work.project), os.environ, Path.home(), folder)
    shared = _shared_files(client, parts, folder) if work.remove else {}
    # One file at a time, so that changes before an error are still reported.
    done = [
        _take_out(part, shared, work)
        if work.remove
        else work.report(part.path, is_changed=part.install(dry_run=work.dry_run))
        for part in parts
    ]
    if work.dry_run:
        return
    if any(done):
        say(f"Restart {TITLES[client]} to apply this.")
    if not work.remove:
        _say_what_is_next(door, client, project=work.project)


def _take_out(part: Part, shared: Mapping[Path, str], work: Work) -> bool:
    path = clean_line(str(part.path))
    if part.path in shared:
        write(f"kept, {TITLES[shared[part.path]]} reads it too  {path}")
        return False
    is_changed = part.uninstall(dry_run=work.dry_run)
    if not is_changed and part.path.name == SKILL and part.path.exists():
        write(f"kept, it was edited  {path}")
        return False
    return work.report(part.path, is_changed=is_changed)


def _shared_files(client: str, parts: Sequence[Part], folder: Path | None) -> dict[Path, str]:
    """Map each file that another registered client also uses, such as a project's AGENTS.md, to that client's name."""
    found = {}
    for other in (each for each in clients_with_servers(folder) if each != client):
        servers, told = parts_of(other, ("cru", "mcp"), os.environ, Path.home(), folder)
        if told.path in (part.path for part in parts) and _is_registered(servers):
            found[told.path] = other
    return found


def _is_registered(servers: Part) -> bool:
    with suppress(CrucibleError):  # an invalid file is reported where it is used
        found = find_registered(servers)
        return found is not None and bool(found.words)
    return False


def _say_still_installed(client: str, work: Work) -> None:
    """After a removal, report what is still installed."""
    folder, more = _folder(project=work.project), " --project" if work.project else ""
    if work.uses_mcp(client) and has_hooks(client, folder):
        option = "" if client == "claude-code" else " --hooks"
        say(f'The hooks are still installed. Run "cru install {client}{option}{more} --remove" to remove them.')
    with suppress(CrucibleError):
        if client == "claude-code" and has_status_line(status_line_path(project=work.project)):
            say(f'The status line is still installed. Run "cru install claude-code --statusline{more} --remove".')
    servers = parts_of(client, ("cru", "mcp"), os.environ, Path.home(), folder)[0]
    if not work.uses_mcp(client) and _is_registered(servers):
        say(f'The MCP server is still installed. Run "cru install {client} --mcp{more} --remove" to remove it.')


def _say_what_is_next(door: Door, client: str, *, project: bool) -> None:
    where = " in this project" if project else ""
    if client == "claude-code" and project:
        say("Claude Code asks once whether it may start a project's server.")
    say(f'Run "{MCP_SETTINGS[client].shown_by}"{where} to check the connection.')
    if client not in HOOKS:
        say('To record whole sessions, run "cru watch --clients".')
    elif not (has_hooks(client, None) or has_hooks(client, project_folder())):
        option = "" if client == "claude-code" else " --hooks"
        say(f'To record whole sessions, install the hooks too: "cru install {client}{option}".')
    try:
        say(
            f"Its tools use the vault {clean_line(vault_root(door, user_settings()))}{_restriction(door, shared=project)}."
        )
    except VaultNotFound:
        say("No vault here and no default vault: its tools have nothing to search yet.", style="yellow")
        say(MAKE_ONE)


def _restriction(door: Door, *, shared: bool) -> str:
    """Return a caveat for the message above: without --vault, the vault depends on where the client is started."""
    return "" if door.vault and not shared else " when started here"


def _program(door: Door, *, shared: bool) -> list[str]:
    """Return the server's command line; in committed files, a bare name that finds the vault itself."""
    if shared:
        return ["cru", "mcp"]
    named = ["--vault", os.path.abspath(absolute_path(door.vault))] if door.vault else []
    return [*own_program(), *named, "mcp"]


def _folder(*, project: bool) -> Path | None:
    return project_folder() if project else None


def _change_git_hook(door: Door, work: Work) -> None:
    """Add our pre-commit hook to the repository around the vault, or remove it."""
    root, _ = vault_place(door)
    if work.remove and not is_in_repository(Path(root)):
        say("The vault is not in a git repository, so there is no hook to remove.")
        return
    hook = find_hook(Path(root))
    if work.dry_run:
        work.report(hook.path, is_changed=is_installed(hook) is work.remove)
        return
    change = uninstall_hook(hook) if work.remove else install_hook(hook, own_program())
    work.report(hook.path, is_changed=change)
    if hook.is_shared and not work.remove:
        say("core.hooksPath shares this folder with other repositories; without a vault the hook does nothing.")


def change_service(door: Door, program: Sequence[str], *, remove: bool, dry_run: bool, yes: bool) -> tuple[Path, bool]:
    """Add the service of this vault, or remove it; return its file, and whether that changed.

    `program` is the command line of `cru`.
    """
    root, _ = vault_place(door)
    command = [*program, "--vault", root, "watch", "--clients"]
    service = service_for(Path(root), command, Machine(os.environ, Path.home(), sys.platform))
    if remove:
        return service.path, _remove(service, dry_run=dry_run)
    return service.path, _add(door, service, dry_run=dry_run, yes=yes)


def _add(door: Door, service: Service, *, dry_run: bool, yes: bool) -> bool:
    """Show the file and write it after asking; return whether it has changed.  Nothing is started."""
    is_there = is_service_installed(service)
    if not is_there:
        write(f"{clean_line(str(service.path))}:")
        write()
        for line in service.data.decode("utf-8", "replace").split("\n"):
            write(line)
    if dry_run:
        return not is_there
    if not (is_there or yes or human_is_there(door)):
        raise UsageError("no terminal to ask on", "Add --yes, or --dry-run to see the file.")
    if not (is_there or yes or click.confirm("Write this file?", default=False, err=True)):
        raise click.Abort
    is_changed = install_service(service)
    say("Nothing was started. To start it now and at each login:")
    for command in service.start:
        say(f"  {clean_line(command)}")
    say(f"To see what it does: {clean_line(service.show)}")
    return is_changed


def _remove(service: Service, *, dry_run: bool) -> bool:
    if dry_run:
        return service.path.exists()
    is_changed = uninstall_service(service)
    if is_changed:
        say(f"If it still runs, stop it: {clean_line(service.stop)}")
    return is_changed
