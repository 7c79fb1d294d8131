"""Memory kept small behind commands that add to it: it is told, never asked, and fails nothing."""

from __future__ import annotations

from pathlib import Path

from crucible.briefing.compacting import compact, live_sessions
from crucible.cli.indexed import asked
from crucible.cli.output import say
from crucible.errors import CrucibleError
from crucible.history.memories import completes_milestone
from crucible.index.store import Index
from crucible.index.vouching import ask as vouched
from crucible.vault.store import Vault

__all__ = ["compact_at_end", "compact_memory"]


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
