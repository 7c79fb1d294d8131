"""Memory kept small behind commands that add to it: it is told, never asked, and fails nothing."""

from __future__ import annotations

from pathlib import Path

from crucible.cli.indexed import asked
from crucible.cli.output import say
from crucible.commands.briefing.compacting import compact, live_sessions
from crucible.core.errors import CrucibleError
from crucible.memory.history.memory_log import completes_milestone
from crucible.vault.index.index import Index
from crucible.vault.index.watch.vouching import ask as vouched
from crucible.vault.notes.vault import Vault


def compact_at_end(vault: Vault, path: Path) -> None:
    """Old lines shrink where they are too many; all of the project's where the session at `path` reached a milestone."""
    try:
        session = vault.read(path).session
    except CrucibleError as error:
        _say_why_not(error)
    else:
        compact_memory(vault, session.project if completes_milestone(session) else None)


def compact_memory(vault: Vault, milestone: str | None = None) -> None:
    """Old lines shrink where they are too many; `milestone` is the project that reached one."""

    def live() -> frozenset[str]:
        return asked(Index(vault.root, vault.settings, vouched), live_sessions)[0]

    try:
        compact(vault, live, say, milestone=milestone)
    except CrucibleError as error:
        _say_why_not(error)


def _say_why_not(error: CrucibleError) -> None:
    say(f"cru: memory was not compacted: {error}", style="yellow")
