"""Offer a vault to a user who has none, with the sessions that agents left on this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from crucible.cli.environment import absolute_path, human_is_there, settings_path, user_settings
from crucible.cli.import_run import import_options, import_with_progress
from crucible.cli.import_summary import write_summary
from crucible.cli.options import Door
from crucible.cli.output import clean_line, say
from crucible.commands.imports.import_result import Search
from crucible.commands.imports.transcript_search import searches_here
from crucible.core.errors import TranscriptError, VaultNotFound
from crucible.core.settings.settings import load_vault_settings
from crucible.core.text import counted
from crucible.core.vault_folders import is_vault
from crucible.vault.notes.init_vault import init_vault, set_user_settings
from crucible.vault.notes.vault import Vault

_FOLDERS = ("crucible", "crucible-vault", "notes/crucible")
"""Folders in the home folder for a first vault; the first one that is free is offered."""
_NO, _YES = ("n", "no"), ("", "y", "yes")


def make_first_vault(door: Door, *, may_ask: bool) -> None:
    """Ask whether to create a vault and import what is on this machine, and do it.

    Raises `VaultNotFound` if nobody can be asked or `may_ask` is False.  Exits with 1 if the user says no.
    """
    user_settings()  # checked first, since the vault becomes the default in this file
    searches = searches_here(os.environ, Path.home())
    folder, found = _free_folder(Path.home()), _found(searches)
    if not (may_ask and human_is_there(door)):
        shown = _short(folder)
        message = f"no vault here, and no default vault; found on this machine: {found or 'no sessions'}"
        what = f'Run "cru init {shown} --default" to create one' + (', then "cru import".' if found else ".")
        raise VaultNotFound(message, what)
    say("No vault yet. A vault is a folder of notes, one for each session, that Obsidian can open.")
    if found:
        say(f"Found on this machine: {found}.")
    root = _asked(folder, can_import=bool(found))
    was_there = is_vault(str(root))
    init_vault(root)
    set_user_settings(Path(settings_path()), {"default_vault": str(root)})
    done = "is" if was_there else "was created and is"
    say(f"{clean_line(_short(root))} {done} your default vault. In Obsidian: Open folder as vault.")
    if searches:
        _import(root, searches)
    say("")


def _asked(folder: Path, *, can_import: bool) -> Path:
    """Ask for yes, no or another folder, and return the folder."""
    purpose = " and import them" if can_import else ""
    while True:
        verb = "Use the vault in" if is_vault(str(folder)) else "Create a vault in"
        question = f"{verb} {clean_line(_short(folder))}{purpose}? [Y/n/other folder]"
        answer = click.prompt(question, default="", show_default=False, err=True).strip()
        if answer.lower() in _NO:
            say('Nothing was created. Run "cru init DIR --default" when you want a vault.')
            raise click.exceptions.Exit(1)
        if answer.lower() in _YES:
            return folder
        named = Path(absolute_path(os.path.expanduser(answer))).resolve()
        if why := _unfit(named):
            say(f"{clean_line(_short(named))}: {why}", style="yellow")
        else:
            return named


def _free_folder(home: Path) -> Path:
    """Return the first folder that is a vault, is missing or empty, and is not in this git repository."""
    folders = [home / name for name in _FOLDERS]
    return next((one for one in folders if is_vault(str(one)) or not (_unfit(one) or _has_files(one))), folders[-1])


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _unfit(folder: Path) -> str:
    """Return why a folder cannot become the vault, or ""."""
    if any(one.exists() and not one.is_dir() for one in (folder, *folder.parents)):
        return "a file is in the way; name a folder"
    here = Path(absolute_path("."))
    repository = next((one for one in (here, *here.parents) if (one / ".git").exists()), None)
    # A home folder that is a repository, as for dotfiles, leaves no other place.
    if repository and repository != Path.home() and folder.resolve().is_relative_to(repository.resolve()):
        return f"in the git repository {repository}; name a folder outside it"
    return ""


def _found(searches: Sequence[Search]) -> str:
    """Return what clients left on this machine: `12 Claude Code sessions, 3 Codex sessions`; "" for nothing."""
    counts = ((search.dialect.title, _count(search)) for search in searches)
    return ", ".join(counted(count, f"{title} session") for title, count in counts if count)


def _count(search: Search) -> int:
    """Count a client's sessions without reading them; the import reports what cannot be read."""
    found: set[str] = set()
    with suppress(TranscriptError, OSError):
        for path in search.paths:
            found.update(one.native_id for one in search.dialect.find(path))
    return len(found)


def _import(root: Path, searches: Sequence[Search]) -> None:
    vault = Vault(root, load_vault_settings(str(root), user_settings()))
    reports = import_with_progress(vault, import_options(), searches)
    write_summary([*zip(searches, reports, strict=True)], (), verbose=False, dry_run=False)


def _short(path: Path) -> str:
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
