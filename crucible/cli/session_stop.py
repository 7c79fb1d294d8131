"""The steps that commands take after a session stops: capture, history, tasks, and compacting memory."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from crucible.analysis.review.agent_questions import BUDGET
from crucible.cli.command_agent import user_budget
from crucible.cli.index_access import query_index
from crucible.cli.output import say, warn
from crucible.cli.vault_access import folders_of
from crucible.clients.launch.ask import Asker
from crucible.commands.capture.after_stop import StopHelpers, StopResult, after_stop
from crucible.commands.capture.question import Ask
from crucible.core.errors import CrucibleError
from crucible.memory.history.compact_memory import compact, live_sessions
from crucible.memory.history.history_folder import entry_path
from crucible.memory.history.memory_log import completes_milestone
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault


def compact_at_end(vault: Vault, path: Path) -> None:
    """Compact memory; if the session at `path` reached a milestone, compact all entries of its project."""
    try:
        session = vault.read(path).session
    except CrucibleError as error:
        _say_why_not(error)
    else:
        compact_memory(vault, session.project if completes_milestone(session) else None)


def compact_memory(vault: Vault, milestone: str | None = None) -> None:
    """Compact old entries if there are too many, or all of the project `milestone`.  Errors are reported."""

    def live() -> frozenset[str]:
        return query_index(Index(vault.root, vault.settings), live_sessions)[0]

    try:
        compact(vault, live, say, milestone=milestone)
    except CrucibleError as error:
        _say_why_not(error)


def _say_why_not(error: CrucibleError) -> None:
    warn(f"memory was not compacted: {error}")


def finish(
    vault: Vault,
    path: Path,
    *,
    asker: Asker | None = None,
    ask: Ask | None = None,
    updates: bool = False,
) -> StopResult:
    """Run `after_stop` on the note at `path`, then compact memory; `asker` is an agent, `ask` asks the user."""
    project = ""
    # The first step below reports an error in the note.
    with suppress(CrucibleError):
        project = vault.read(path).session.project or ""
    folder, roots = folders_of(vault.root, project)
    budget = BUDGET
    try:
        budget = user_budget() if asker else BUDGET
    except CrucibleError as error:  # the tokenizer cannot be loaded
        warn(f"what mattered: {error}")
        asker = None
    helpers = StopHelpers(asker, budget, ask=ask, folder=folder, roots=roots)
    ended = after_stop(vault, path, now=datetime.now(UTC), helpers=helpers, updates=updates)
    compact_at_end(vault, path)
    return ended


def finish_quietly(vault: Vault, path: Path) -> None:
    """Run `finish` without asking the user or an agent, and print only problems."""
    say_problems_of(finish(vault, path))


def update_histories(vault: Vault, sessions: Iterable[str]) -> None:
    """Update existing histories after an import added rows to their sessions."""
    for name in sessions:
        with suppress(CrucibleError):
            if entry_path(vault, name).is_file():
                say_problems_of(finish(vault, vault.find(name), updates=True))


def say_problems_of(ended: StopResult) -> None:
    """Report each step that failed."""
    warn(*ended.problems)
