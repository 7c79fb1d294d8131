"""Build the briefing for a client that starts.

Recall is used only if its index exists, because building one takes too long.  Nothing but that index is written.
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
from crucible.documents.knowledge.item_rules import Audience
from crucible.integrations.hooks.hook_log import log_fault
from crucible.integrations.hooks.paused_notice import ROOM, ClientStart, units
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Recall
from crucible.vault.index.schema import View
from crucible.vault.notes.projects import project_folder
from crucible.vault.notes.vault import Vault


class _InRoom:
    """Counts tokens so that text over the client's size limit is also over the budget."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._estimate = Estimate()

    def count(self, text: str) -> int:
        """Return the estimated tokens, or the text's share of the size limit in tokens if that is larger."""
        return max(self._estimate.count(text), -(-units(text) * self._budget // ROOM))


class StartPlace(NamedTuple):
    """Inputs for a start briefing: vault, user settings, index view, client start, and quoter for untrusted text."""

    vault: Vault
    user: UserSettings
    view: View
    start: ClientStart
    quoter: Quoter


def brief_start(place: StartPlace, notice: str, early: Callable[[str], object]) -> str:
    """Return the block for a client's start.

    `notice` is the text about a paused session; it is returned alone if the briefing is empty or too long.
    `early` is called with the unfinished block before recall is queried.
    """
    vault, start, settings, quoter = place.vault, place.start, place.vault.settings, place.quoter
    folder = project_folder(Path(start.cwd), place.user.projects, start.project)
    tells_paused = settings.resume.at_start != "off"

    def block(briefing: Briefing) -> str:
        return briefing.text.strip("\n") if not briefing.is_empty and units(briefing.text) <= ROOM else notice

    request = BriefingRequest(
        start.project,
        start.now,
        settings.briefing.budget,
        folder,
        notice,
        tells_paused,
    )
    briefing = brief(
        vault,
        request,
        BriefingSources(
            place.view,
            recall=_recall_of(vault, start.project),
            client_folder=home_folder(os.environ, Path(os.path.expanduser("~"))),
        ),
        quoter=quoter,
        counter=_InRoom(request.budget),
        on_error=lambda line: log_fault(str(vault.root), "briefing", ValueError(line)),
        early=lambda one: early(block(one)),
    )
    return block(briefing)


def _recall_of(vault: Vault, project: str) -> Callable[[], tuple[Recall, Type]] | None:
    shelf = ItemShelf(vault, Audience("project", project))
    found = EmbeddedRecall(vault.root, vault.settings, items=shelf)
    return (lambda: (found, types_on(shelf))) if found.figures().notes else None
