"""Open the vault that the options select, and find sessions and projects in it."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import click

from crucible.cli.environment import cwd_and_projects, vault_place, working_directory
from crucible.cli.index_access import query_index, update_index
from crucible.cli.options import Door
from crucible.cli.output import say
from crucible.commands.idle.idle_check import look
from crucible.core.errors import UsageError
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.projects import folder_in_project, named_project_of, project_folder, project_of
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name


def open_vault(door: Door, *, looks: bool = True, finish: bool = True) -> Vault:
    """Open the vault that `vault_root` finds; unknown settings are reported on stderr.

    When the command ends, the index rows of the notes it wrote are updated.  With `looks`, sessions that have been idle
    too long are paused first, except in a dry run; commands that agents wait for pass False.
    """
    return open_place(*vault_place(door, finish=finish), looks=looks)


def open_place(root: str, settings: VaultSettings, *, looks: bool = True) -> Vault:
    """Like `open_vault`, for a vault that was found."""
    vault = Vault(Path(root), settings)
    context = click.get_current_context()
    if looks and not context.params.get("dry_run"):
        look(index_of(vault), datetime.now(UTC), cwd_and_projects)
    context.call_on_close(lambda: update_index(vault.root, settings, vault.to_index))
    return vault


def index_of(vault: Vault) -> Index:
    """Return the index of an open vault."""
    return Index(vault.root, vault.settings)


def newest_session(vault: Vault, project: str, statuses: Collection[str] = ()) -> str:
    """Return the id of the project's newest session, optionally with one of these `statuses`; "" if there is none."""
    where = (lambda row: row["status"] in statuses,) if statuses else ()
    query = SessionQuery(project=project, limit=1, where=where)
    rows = query_index(index_of(vault), lambda view: select(view, query))[0] if project else ()
    return next((note_name(str(row["path"]).rpartition("/")[2]) for row in rows), "")


def newest_here(vault: Vault, statuses: Collection[str] = ()) -> str:
    """Return the newest session of the working directory's project; raises `UsageError` if there is none."""
    project = project_of(*cwd_and_projects(vault.root))
    if found := newest_session(vault, project, statuses):
        return found
    which = f" that is {' or '.join(statuses)}" if statuses else ""
    of = f"the project {project!r} has none{which}" if project else "this folder has no project"
    raise UsageError(f"no session given, CRU_SESSION is not set, and {of}", 'run "cru session list" to see ids')


def newest_here_named(vault: Vault) -> str:
    """Like `newest_here`, and report on stderr which session that is."""
    found = newest_here(vault)
    say(f"{found}: the newest session of this project")
    return found


def here() -> Path | None:
    """Return the working directory, or None if it was deleted."""
    folder = working_directory()
    return None if folder is None else Path(folder)


def find_note(vault: Vault, ref: str) -> Path:
    """Find a session by id, path or unique id prefix; raises `UsageError` if the path is hidden in Obsidian."""
    path = vault.find(ref, here())
    if any(part.startswith(".") for part in PurePosixPath(vault.relative(path)).parts):
        raise UsageError(f"{ref}: hidden, so not a session", f"sessions are the notes in {vault.sessions}")
    return path


def load_note(vault: Vault, ref: str) -> Note:
    """Find a session with `find_note`, and read its note."""
    return vault.read(find_note(vault, ref))


def project_here(root: Path) -> str:
    """Return the working directory's project, by the user's settings or git; "" inside the vault at `root`."""
    return named_project_of(*cwd_and_projects(root), str(root))


def folders_of(root: Path, project: str) -> tuple[Path | None, Sequence[str]]:
    """Return the project's folder around the working directory (or None), and all its folders, that one first."""
    cwd, projects = cwd_and_projects(root)
    folder = folder_in_project(cwd, projects, project)
    return folder, [*([str(folder)] if folder else []), *projects.get(project, ())]


def folder_of(root: Path, project: str) -> Path | None:
    """Return the project's folder: the one around the working directory, else the first in the user's settings."""
    cwd, projects = cwd_and_projects(root)
    here = folder_in_project(cwd, projects, project) if project else None
    if here:
        return project_folder(here, projects, project)
    return next((folder for folder in map(Path, projects.get(project, ())) if folder.is_dir()), None)


def claude_folder() -> Path:
    """Return Claude Code's configuration folder."""
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude"))
