"""Small vaults for tests of search, with sessions as notes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.core.settings.settings import VaultSettings
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Entry, Intervention, Phase, Prose, Session, Status
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import NO_ITEMS, Answer, ItemCatalog, Question
from crucible.vault.notes.init_vault import init_vault

STARTED = datetime(2026, 11, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 11, 22, tzinfo=UTC)


def session_of(name: str, *texts: str, days: int = 0, **more: object) -> Session:
    """A session in which user and agent take turns."""
    entries: tuple[Entry, ...] = tuple(Prose(text) if at % 2 else Intervention(text) for at, text in enumerate(texts))
    started = STARTED + timedelta(days=days)
    phase = Phase("Work", AgentRef("claude-code", "2.1.197"), "dev", started, entries=entries)
    given = {"title": name.replace("-", " "), "project": "shop", "phases": (phase,), **more}
    return Session(name, started, Status.COMPLETED, **given)  # type: ignore[arg-type]


def write(root: Path, session: Session) -> Path:
    """Write the note of a session."""
    path = root / "sessions" / f"{session.id}.md"
    path.write_text(render_session(session))
    return path


def vault_of(root: Path, *sessions: Session) -> Path:
    """Create a vault with these sessions."""
    init_vault(root)
    for session in sessions:
        write(root, session)
    return root


def recall(root: Path, shelf: ItemCatalog = NO_ITEMS) -> EmbeddedRecall:
    """A new engine, as in another process."""
    return EmbeddedRecall(root, VaultSettings(), items=shelf)


def ask(root: Path, text: str, **more: object) -> Answer:
    """Ask a new engine one question."""
    return recall(root).ask(Question(text, **more), NOW)  # type: ignore[arg-type]


def found(answer: Answer) -> list[str]:
    """The texts of the hits."""
    return [hit.event.text for hit in answer.hits]


def flat(answer: Answer) -> list[tuple[str, str, float]]:
    """The parts of an answer that tests compare."""
    hits = [("event", hit.event.id, round(hit.score, 4)) for hit in answer.hits]
    return hits + [("session", one.session, round(one.score, 4)) for one in answer.sessions]
