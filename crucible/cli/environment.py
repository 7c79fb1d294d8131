"""The context of a call of `cru`: environment, home folder, working directory, and the vault that they select.

Keep imports light: listing sessions and completing ids load this module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from crucible.cli.options import Door
from crucible.cli.output import say_problems, warn
from crucible.core.errors import CrucibleError, VaultError
from crucible.core.settings.settings import UserSettings, VaultSettings, load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.core.settings.trust import ignored_warnings
from crucible.vault.notes.discovery import find_vault, is_unfinished

if TYPE_CHECKING:
    from crucible.vault.notes.vault import Vault


def settings_path() -> str:
    """Return the path of the user's settings file, which may not exist."""
    return user_settings_path(os.environ, os.path.expanduser("~"))


def user_settings() -> UserSettings:
    """Load the user's settings."""
    return load_user_settings(settings_path(), os.path.expanduser("~"))


def human_is_there(door: Door) -> bool:
    """True if stdin, stdout and stderr are terminals and no agent started the command."""
    # Late: listing sessions asks nobody.
    from crucible.clients.launch.session_marks import OWN_ENVIRONMENT  # noqa: PLC0415

    terminal = door.terminal and bool(sys.stdin) and sys.stdin.isatty() and sys.stderr.isatty()
    return terminal and not any(os.environ.get(name) for name in (OWN_ENVIRONMENT, "CLAUDECODE"))


def working_directory() -> str | None:
    """Return the working directory; None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None


def cwd_and_projects(root: str | os.PathLike[str] | None = None) -> tuple[str, Mapping[str, Sequence[str]]]:
    """Return the working directory ("" if it was deleted), and the projects of the user and of the vault at `root`."""
    projects: Mapping[str, Sequence[str]] = user_settings().projects
    if root is not None and os.path.exists(f"{os.fspath(root)}/.crucible/memory/projects.jsonl"):
        from pathlib import Path  # noqa: PLC0415  late, as below

        # Late: completing ids needs no projects, and many vaults know none.
        from crucible.vault.notes.known_projects import with_known  # noqa: PLC0415

        projects = with_known(projects, Path(root))
    return working_directory() or "", projects


def absolute_path(path: str) -> str:
    """Make a path absolute; raises `VaultError` if it is relative and the working directory was deleted."""
    here = working_directory()
    if here is None and not os.path.isabs(path):
        raise VaultError("the current directory no longer exists", "change to another folder, or use an absolute path")
    return path if here is None else os.path.join(here, path)


def vault_place(door: Door, *, finish: bool = True) -> tuple[str, VaultSettings]:
    """Return the vault's real path and its settings; unknown and ignored settings are reported on stderr.

    With `finish`, an interrupted rename or deletion is finished first.
    """
    user = user_settings()
    root = vault_root(door, user)
    settings = load_vault_settings(root, user)
    for warning in (*user.warnings, *settings.warnings, *ignored_warnings(settings.asks)):
        warn(warning)
    if finish and is_unfinished(root):
        _finish_interrupted(root, settings)
    return root, settings


def _finish_interrupted(root: str, settings: VaultSettings) -> None:
    """Finish an interrupted rename or deletion and report it; errors are reported as warnings."""
    from datetime import UTC, datetime  # noqa: PLC0415  late, as below
    from pathlib import Path  # noqa: PLC0415  slow, and rarely needed

    from crucible.commands.delete.delete import finish_deletion  # noqa: PLC0415  rarely needed
    from crucible.vault.notes.vault import Vault  # noqa: PLC0415  late, as above

    vault = Vault(Path(root), settings)
    try:
        if entry := finish_deletion(vault, datetime.now(UTC)):
            warn(f"finished an interrupted deletion of {entry.session}")
    except CrucibleError as error:
        warn(f"a deletion was interrupted and cannot be finished: {error}")
    _finish_rename(vault)


def _finish_rename(vault: Vault) -> None:
    from crucible.commands.rename.rename import finish_rename  # noqa: PLC0415  rarely needed, and it reads every note

    try:
        report = finish_rename(vault)
    except CrucibleError as error:
        warn(f"a rename was interrupted and cannot be finished: {error}")
        return
    if report is None:
        return
    warn(f"finished an interrupted rename: {report.old_id} is now {report.new_id}")
    for left in report.left:
        say_problems(vault.relative(left.path), [left.problem])


def vault_root(door: Door, user: UserSettings) -> str:
    """Return the vault that was named, else the one around the working directory, else the default."""
    named = door.vault or os.environ.get("CRUCIBLE_VAULT") or ""
    here = working_directory() or os.path.dirname(absolute_path(named))
    return find_vault(door.vault, os.environ, here, user)
