"""A session in a vault with its event log, and an agent with scripted answers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime

from crucible.analysis.review.session_review import ReviewResult, review
from crucible.clients.client import Answer
from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from crucible.documents.session.findings import Finding, findings_of
from crucible.documents.session.findings_block import normal_item
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Intervention, Phase, Prose, Session
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.notes.vault import Vault
from tests.unit.analysis.findings.scripted_session import Played

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=UTC)
ID = "2026-11-21-exact-refunds"
REDACT = Scanner(SecretSettings()).redact


@dataclass
class Fake:
    """Answers one after the other, the last one again and again; an exception is raised.  `seen` holds the prompts."""

    answers: list[object]
    seen: list[str] = field(default_factory=list)

    def ask(self, prompt: str) -> Answer:
        self.seen.append(prompt)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else json.dumps({"findings": answer})
        return Answer(text, "small-1", 0.002, 900, 40)


def session_of(played: Played) -> Session:
    """The note of a session in one phase."""
    said = (Intervention("Make refunds exact."), Prose("Totals are rounded after the tax."))
    items = tuple(normal_item(item) for item in played.detector.noted())
    entries = (*said, *played.callouts)
    return Session(ID, title="Refunds", started=NOW, findings=items, phases=(Phase("Refunds", entries=entries),))


def keep(vault: Vault, played: Played) -> None:
    """Write the note and the event log."""
    path = vault.sessions / f"{ID}.md"
    path.write_text(render_session(session_of(played)), encoding="utf-8")
    log(vault, played)


def log(vault: Vault, played: Played) -> None:
    """Write the events that are not in the log yet."""
    with FlightWriter(vault.root, ID) as writer:
        for event in played.events:
            writer.write(event, "phase-1", "claude-code:x")


def ask(vault: Vault, *findings: object, agent: Fake | None = None, again: bool = True) -> ReviewResult:
    """Ask an agent that answers with these findings."""
    return review(vault, ID, agent or Fake([list(findings)]), now=NOW, redact=REDACT, again=again)


def text_of(vault: Vault) -> str:
    """The note."""
    return (vault.sessions / f"{ID}.md").read_bytes().decode()


def found_in(vault: Vault) -> list[Finding]:
    """The findings of the note."""
    return list(findings_of(vault.read(vault.sessions / f"{ID}.md").session))
