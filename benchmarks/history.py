"""Saving history: how long it takes beside one parse of the note."""

from __future__ import annotations

import statistics
from datetime import UTC, datetime
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.measuring import Figure, in_turns, median_ratio, seconds_of
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Session, Status
from crucible.memory.history.history_update import make_history
from crucible.vault.notes.vault import Vault
from samples.notes import sample_phases

_NAME = "2026-11-21-known"


def measure(scratch: Path) -> list[Figure]:
    return _speed(scratch / "history")


def _speed(folder: Path) -> list[Figure]:
    (folder / ".crucible").mkdir(parents=True)
    session = Session(
        _NAME,
        datetime(2026, 11, 21, 20, tzinfo=UTC),
        Status.COMPLETED,
        participants=(AgentRef("claude-code", "2.1"),),
        title="Known",
        phases=sample_phases(1000),
    )
    text = render_session(session)
    vault = Vault(folder)
    path = vault.create(_NAME, text).path
    redact = redact_of(vault.settings.secrets)

    def save() -> None:
        """The note read and understood, its history composed, looked through, rendered and written."""
        (folder / "history" / f"{_NAME}.md").unlink(missing_ok=True)
        make_history(vault, Vault(folder).read(path), redact=redact)

    def save_again() -> None:
        make_history(vault, Vault(folder).read(path), redact=redact)

    parser = MarkdownIt("commonmark")
    turns = {
        "new": lambda: seconds_of(save, 1),
        "again": lambda: seconds_of(save_again, 1),
        "markdown-it": lambda: seconds_of(lambda: parser.parse(text), 1),
    }
    save()
    found = in_turns(turns, 7)
    taken = {key: statistics.median(times) * 1000 for key, times in found.items()}
    detail = f"{len(text.encode())} bytes: {taken['new']:.0f} ms, {taken['again']:.0f} ms again, {taken['markdown-it']:.0f} ms"
    return [
        Figure("history: saving that of 1,000 phases over markdown-it's parse of the note",
               median_ratio(found, "new", "markdown-it"), 3.0, detail=detail),
        Figure("history: bringing it up to date over the same", median_ratio(found, "again", "markdown-it"), 3.0),
    ]  # fmt: skip
