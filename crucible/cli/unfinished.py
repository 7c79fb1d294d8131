"""What a rename that was killed left, finished before any other command begins."""

from __future__ import annotations

from pathlib import Path

from crucible.cli.output import say, say_problems
from crucible.errors import CrucibleError
from crucible.renaming.renaming import finish_rename
from crucible.settings import VaultSettings
from crucible.vault.store import Vault

__all__ = ["finish_first"]


def finish_first(root: str, settings: VaultSettings) -> None:
    """Finish it and say so; a command that only reads goes on where that cannot be done, and `cru session rename` refuses."""
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
