"""`cru install`: add our hooks and MCP server to clients' settings and our hook to git, or remove them."""

from __future__ import annotations

import inspect
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click

from crucible.cli.command_agent import offer_to_ask
from crucible.cli.environment import absolute_path, user_settings, vault_place, vault_root
from crucible.cli.options import Door, flag
from crucible.cli.output import clean_line, say, write
from crucible.clients.claude_code.hook_settings import (
    find_installed,
    install_hooks,
    settings_path,
    uninstall_hooks,
)
from crucible.clients.registry import MCP_SETTINGS, TITLES
from crucible.core.errors import CrucibleError, UsageError, VaultNotFound
from crucible.integrations.install.git_hooks import find_hook, install_hook, uninstall_hook
from crucible.integrations.install.mcp_servers import (
    SKILL,
    Part,
    find_registered,
    parts_of,
)


def _mcp_command(client: str, files: str, text: str) -> click.Command:
    """Make the command `cru install CLIENT --mcp` for a client without hooks."""

    @click.command(client, help=inspect.cleandoc(text))
    @flag("--mcp", "The server of recall and the recorder.")
    @flag("--user", "For all your projects (the default).")
    @flag("--project", f"For this project, in its {files}.")
    @flag("--remove", "With --mcp, take it out again; the files are what they were.")
    @click.pass_obj
    def command(door: Door, /, *, mcp: bool, user: bool, project: bool, remove: bool) -> None:
        if not mcp:
            more = " --remove" if remove else ""
            raise UsageError("there is nothing else to be installed", f"cru install {client} --mcp{more}")
        _check_place(user=user, project=project)
        _register(door, client, project=project, remove=remove)

    return command


codex = _mcp_command(
    "codex",
    ".codex/config.toml and AGENTS.md",
    """Have Codex start `cru mcp`, and tell its agent when to use it.

    Adds a table to config.toml and a marked block to AGENTS.md and touches nothing else in them. Of a project Codex reads
    its own config.toml only where you trust it.

    \b
      cru install codex --mcp
      cru install codex --mcp --project
      cru install codex --mcp --remove
    """,
)
opencode = _mcp_command(
    "opencode",
    "opencode.json and AGENTS.md",
    """Have OpenCode start `cru mcp`, and tell its agent when to use it.

    Adds an entry to opencode.json and a marked block to AGENTS.md and touches nothing else in them.

    \b
      cru install opencode --mcp
      cru install opencode --mcp --project
      cru install opencode --mcp --remove
    """,
)


def _check_place(*, user: bool, project: bool) -> None:
    if user and project:
        raise UsageError("--user and --project: one or the other", "call it twice for both")


def _register(door: Door, client: str, *, project: bool, remove: bool) -> None:
    """Add our server and its instructions to a client's files, or remove both, file by file."""
    parts = parts_of(client, _program(door, shared=project), os.environ, Path.home(), _folder(project=project))
    shared = _shared_files(client, parts, _folder(project=project)) if remove else {}
    # One file at a time, so that changes before an error are still reported.
    done = [_taken_out(part, shared) if remove else _put_in(part) for part in parts]
    if any(done):
        say(f"{TITLES[client]} reads this when it starts: start it anew")
    if not remove:
        _say_what_is_next(door, client, project=project)
        offer_to_ask(door, client)


def _put_in(part: Part) -> bool:
    is_changed = part.install()
    _write_installed(part.path, is_changed=is_changed)
    return is_changed


def _write_installed(path: Path, *, is_changed: bool) -> None:
    write(f"{'installed in' if is_changed else 'already in'}  {clean_line(str(path))}")


def _write_removed(path: Path, *, is_changed: bool) -> None:
    write(f"{'removed from' if is_changed else 'not in'}  {clean_line(str(path))}")


def _taken_out(part: Part, shared: Mapping[Path, str]) -> bool:
    path = clean_line(str(part.path))
    if part.path in shared:
        write(f"left, since {shared[part.path]} reads it, too  {path}")
        return False
    is_changed = part.uninstall()
    if not is_changed and part.path.name == SKILL and part.path.exists():
        write(f"left, since it is not as it was put in  {path}")
    else:
        _write_removed(part.path, is_changed=is_changed)
    return is_changed


def _shared_files(client: str, parts: Sequence[Part], folder: Path | None) -> dict[Path, str]:
    """Map each file that another registered client also uses, such as a project's AGENTS.md, to that client's name."""
    found = {}
    for other in (each for each in MCP_SETTINGS if each != client):
        servers, told = parts_of(other, ("cru", "mcp"), os.environ, Path.home(), folder)
        if told.path in (part.path for part in parts) and _is_registered(servers):
            found[told.path] = other
    return found


def _is_registered(servers: Part) -> bool:
    with suppress(CrucibleError):  # an invalid file is reported where it is used
        found = find_registered(servers)
        return found is not None and bool(found.words)
    return False


def _say_still_installed(*, project: bool, mcp: bool) -> None:
    """After a removal from Claude Code, report whether its hooks or our server are still installed."""
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
    say(f"{where}{MCP_SETTINGS[client].shown_by}; its agent is told when to ask and what to write down")
    if client == "claude-code" and not (_has_hooks(None) or _has_hooks(project_folder())):
        say("whole sessions are written down by hooks, which are another thing: `cru install claude-code`")
    try:
        say(
            f"its tools answer from {clean_line(vault_root(door, user_settings()))}{_restriction(door, shared=project)}"
        )
    except VaultNotFound:
        say("there is no vault here and no default vault, so its tools have nothing yet", style="yellow")
        say("     `cru init DIR --default` makes one for every project, `cru init` one here")


def _restriction(door: Door, *, shared: bool) -> str:
    """Return a caveat for the message above: without --vault, the vault depends on where the client is started."""
    return "" if door.vault and not shared else " when it is started here"


def _program(door: Door, *, shared: bool) -> list[str]:
    """Return the server's command line; in committed files, a bare name that finds the vault itself."""
    if shared:
        return ["cru", "mcp"]
    named = ["--vault", os.path.abspath(absolute_path(door.vault))] if door.vault else []
    return [*own_program(), *named, "mcp"]


def _folder(*, project: bool) -> Path | None:
    return project_folder() if project else None


def own_program() -> list[str]:
    """Return the command that hooks call: the absolute path of the running `cru`, or else this interpreter."""
    own = sys.argv[0] if os.path.basename(sys.argv[0]).startswith("cru") else "cru"
    found = shutil.which(own)
    return [os.path.abspath(found)] if found else [sys.executable, "-P", "-m", "crucible"]


def project_folder() -> Path:
    """Return the current project's folder: the nearest with `.claude` or `.git`, or else the working directory."""
    here = Path(absolute_path("."))
    near = (folder for folder in (here, *here.parents) if folder != Path.home())
    return next((f for f in near if (f / ".claude").is_dir() or (f / ".git").exists()), here).resolve()


def _say_where(door: Door) -> None:
    """Report which vault receives the sessions of the working directory."""
    user = user_settings()
    try:
        say(f"sessions from here go to {clean_line(vault_root(door, user))}")
    except VaultNotFound:
        say("there is no vault here and no default vault, so nothing is written down yet", style="yellow")
        say("     `cru init DIR --default` makes one for every project, `cru init` one here")


@click.command("claude-code")
@flag("--user", "For all your projects (the default).")
@flag("--project", "For this project, in its .claude/settings.json.")
@flag("--remove", "Take the hooks out again, with --mcp the server; the files are what they were.")
@flag("--mcp", "Not the hooks, but the server of recall and the recorder, and a skill.")
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
    _check_place(user=user, project=project)
    if mcp:
        _register(door, "claude-code", project=project, remove=remove)
        if remove:
            _say_still_installed(project=project, mcp=True)
        return
    folder = project_folder() if project else None
    path = settings_path(os.environ, Path.home(), folder)
    if remove:
        _write_removed(path, is_changed=uninstall_hooks(path))
        _say_still_installed(project=project, mcp=False)
        return
    _write_installed(path, is_changed=install_hooks(path, _hook_command(shared=project)))
    _say_where(door)
    offer_to_ask(door, "claude")


def _hook_command(*, shared: bool) -> str:
    """Return the hook's command line.  It never fails, since clients show a failing hook's error or obey it.

    In committed settings it is a bare name, and does nothing for colleagues without `cru`.
    """
    if shared:
        return "cru hook claude-code 2>/dev/null || :"
    return f"{shlex.join(own_program())} hook claude-code 2>/dev/null || :"


@click.command("git-hooks")
@flag("--remove", "Take our lines out again; what was there before has its bytes again.")
@click.pass_obj
def git_hooks(door: Door, *, remove: bool) -> None:
    """Refuse to commit a secret: adds a pre-commit hook to the repository around the vault.

    The hook looks at the staged lines of the vault's files (`cru session check --secrets --staged`) and names the file,
    the line and the rule. Without cru, or when secrets cannot be looked for, it refuses the commit. A hook that is there
    already goes on as before; ours runs first. `git commit --no-verify` commits without looking.

    \b
      cru install git-hooks
      cru install git-hooks --remove
    """
    root, _ = vault_place(door)
    hook = find_hook(Path(root))
    if remove:
        _write_removed(hook.path, is_changed=uninstall_hook(hook))
        return
    _write_installed(hook.path, is_changed=install_hook(hook, own_program()))
    if hook.is_shared:
        say(
            "core.hooksPath names this folder for other repositories too; where there is no vault the hook does nothing"
        )
