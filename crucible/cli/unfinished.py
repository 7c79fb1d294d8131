"""Finish an interrupted rename before another command begins."""

from __future__ import annotations

from pathlib import Path

from crucible.cli.output import say, say_problems
from crucible.commands.rename.rename import finish_rename
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.vault.notes.vault import Vault


def finish_first(root: str, settings: VaultSettings) -> None:
    """Finish the rename and report it.  If that fails, warn and go on; only `cru session rename` refuses to run then."""
    vault = Vault(Path(root), settings)
    try:
        report = finish_rename(vault)
    except CrucibleError as error:
        say(f"cru: a rename was interrupted and cannot be finished: {error}", style="yellow")
        return
    if report is None:
        return
    say(f"cru: finished an interrupted rename: {report.old_id} is {report.new_id} now", style="yellow")
    for left in report.left:
        say_problems(vault.relative(left.path), [left.problem])
