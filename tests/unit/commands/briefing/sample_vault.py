"""A vault with something from every source of a briefing, whatever its words are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from crucible.commands.briefing.briefing_parts import Briefing, Quoter
from crucible.commands.briefing.build_briefing import BriefingRequest, BriefingSources, brief
from crucible.commands.briefing.sections import Type
from crucible.core.secrets.redaction import redact_of
from crucible.core.tokens import Estimate
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Callout, Decision, Failure, Phase, Session, Status, Task
from crucible.memory.history.history import HistoryEntry, HistoryLine, shortener
from crucible.memory.history.history_folder import keep_entry
from crucible.search.recall import Answer, Event, EventKind, Hit, Question, Recall, Snippet
from crucible.vault.index.index import Index
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
PROJECT = "shop"


def session(vault: Vault, name: str = "2026-11-21-clock", words: str = "Ticks", **more: Any) -> Path:
    """A session of the project with a task, a decision, an error and a question, all of these words."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "status": Status.COMPLETED,
        "started": NOW - timedelta(hours=20),
    }
    known |= {"title": words, "tasks": (Task("1", words, "in_progress"),)} | more
    entries = (
        Decision(f"Choose {words}", "it is so"),
        Failure(words),
        Callout("decision_needed", text=words),
        Callout("milestone", words),
    )
    note = Session(name, phases=(Phase("Work", entries=entries),), **known)
    path = vault.root / "sessions" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(render_session(note).encode("utf-8", "replace"))
    return path


def history(vault: Vault, name: str = "2026-11-20-older", words: str = "Ticks", **more: Any) -> None:
    """What an older session came to."""
    lines = (HistoryLine(words, words),)
    chosen = (HistoryLine(f"Choose {words}", words),)
    known: dict[str, Any] = {"done": lines, "decisions": chosen, "questions": lines, "further": lines}
    known |= {"title": words, "project": PROJECT, "started": NOW - timedelta(days=2)}
    keep_entry(vault, HistoryEntry(name, **known | more))


class Finds:
    """Recall that finds one item, whatever is asked."""

    def __init__(self, words: str = "Ticks") -> None:
        self.asked: list[Question] = []
        self._event = Event("an-item", "an-item", EventKind.KNOWLEDGE, words, title=words)

    def ask(self, question: Question, _: datetime) -> Answer:
        """The item."""
        self.asked.append(question)
        return Answer((Hit(self._event, 1.0, {}, Snippet(""), path="knowledge/an-item.md"),))

    def get(self, _: Sequence[str]) -> tuple[Event, ...]:
        """Nothing."""
        return ()

    def around(self, *_: object) -> tuple[Event, ...]:
        """Nothing."""
        return ()


def view_of(vault: Vault) -> View:
    """The tables as they are."""
    return Index(vault.root, vault.settings).refresh().view


def briefing_of(
    vault: Vault,
    *,
    budget: int = 100_000,
    recall: Callable[[], tuple[Recall, Type]] | None = None,
    folder: Path | None = None,
    notice: str = "here",
    errors: list[str] | None = None,
    roots: Sequence[str] = (),
    **more: Any,
) -> Briefing:
    """The project's briefing."""
    supply = BriefingSources(view_of(vault), recall=recall)
    quoter = Quoter(redact_of(vault.settings.secrets), shortener(roots))
    wish = BriefingRequest(PROJECT, NOW, budget, folder, notice, **more)
    told: list[str] = [] if errors is None else errors
    return brief(vault, wish, supply, quoter=quoter, counter=Estimate(), on_error=told.append)
