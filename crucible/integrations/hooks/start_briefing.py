"""The briefing for a client that starts.

Nothing is written but the index of recall, and recall is asked only if it has an index: making one takes too long.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from crucible.clients.claude_code.client import home_folder
from crucible.commands.briefing.briefing_parts import Briefing, Quoter
from crucible.commands.briefing.build_briefing import BriefingRequest, BriefingSources, brief
from crucible.commands.briefing.sections import Type, types_on
from crucible.core.settings.settings import UserSettings
from crucible.core.tokens import Estimate
from crucible.documents.knowledge.item_weight import Audience
from crucible.integrations.hooks.hook_log import log_fault
from crucible.integrations.hooks.paused_notice import ROOM, ClientStart, units
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Recall
from crucible.vault.index.schema import View
from crucible.vault.notes.projects import project_folder
from crucible.vault.notes.vault import Vault


class _InRoom:
    """Counts tokens, and more of them where the client's room for a text is the narrower one."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._estimate = Estimate()

    def count(self, text: str) -> int:
        """So many that a text beyond the room is beyond the budget."""
        return max(self._estimate.count(text), -(-units(text) * self._budget // ROOM))


class StartPlace(NamedTuple):
    """Where a client starts: the vault with its settings, the user's own, the tables, the start, and what quotes foreign text."""

    vault: Vault
    user: UserSettings
    view: View
    start: ClientStart
    quoter: Quoter


def brief_start(at: StartPlace, notice: str, early: Callable[[str], object]) -> str:
    """The block; `notice` is what is told of a paused session, alone where no more fits, and `early` gets what there is before recall is asked."""
    vault, start, settings, quoter = at.vault, at.start, at.vault.settings, at.quoter
    folder = project_folder(Path(start.cwd), at.user.projects, start.project)
    tells_paused = settings.resume.at_start != "off"

    def block(made: Briefing) -> str:
        return made.text.strip("\n") if not made.is_empty and units(made.text) <= ROOM else notice

    wish = BriefingRequest(
        start.project,
        start.now,
        settings.briefing.budget,
        folder,
        notice,
        tells_paused,
    )
    made = brief(
        vault,
        wish,
        BriefingSources(
            at.view,
            recall=_recall_of(vault, start.project),
            client_folder=home_folder(os.environ, Path(os.path.expanduser("~"))),
        ),
        quoter=quoter,
        counter=_InRoom(wish.budget),
        on_error=lambda line: log_fault(str(vault.root), "briefing", ValueError(line)),
        early=lambda one: early(block(one)),
    )
    return block(made)


def _recall_of(vault: Vault, project: str) -> Callable[[], tuple[Recall, Type]] | None:
    shelf = ItemShelf(vault, Audience("project", project))
    found = EmbeddedRecall(vault.root, vault.settings, items=shelf)
    return (lambda: (found, types_on(shelf))) if found.figures().notes else None
