"""Count tokens and models once a message, however many rows report it; the last row wins."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from typing import NamedTuple

from crucible.clients.events import UsageCounted
from crucible.documents.markdown.containment import normal_line
from crucible.documents.recording.session_draft import OpenPhase
from crucible.documents.session.counted_properties import KINDS, Spent, spent_lines


class _Message(NamedTuple):
    """The tokens of a message, and the phase and day in which it was first seen."""

    spent: Spent
    phase: OpenPhase

    @property
    def used(self) -> int:
        return sum(self.spent.tokens.values()) - self.cached

    @property
    def cached(self) -> int:
        return self.spent.tokens["cache_read"]


class TokenCounts:
    """What the model was sent and said.  `used` = sent afresh + said, `cached` = read from the cache."""

    def __init__(self) -> None:
        self.used = 0
        self.cached = 0
        # Named once and for all, though later rows may give the same message to another model.
        self.first_model: str | None = None
        self._messages: dict[str, _Message] = {}
        self._models: dict[str, str] = {}

    @property
    def model(self) -> str | None:
        """The model of most messages."""
        return Counter(self._models.values()).most_common(1)[0][0] if self._models else None

    @property
    def lines(self) -> tuple[str, ...]:
        """Tokens by day and model, as a note has them."""
        return spent_lines(message.spent for message in self._messages.values())

    def count(self, event: UsageCounted, phase: OpenPhase) -> None:
        """Count a message, for the phase in which it was first seen."""
        key = event.message or event.at.row or f"#{event.at.line}"
        self.name_model(key, event.model)
        before = self._messages.get(key)
        if before is None:
            day = event.at.time.astimezone(UTC).date().isoformat() if event.at.time else ""
            before = _Message(Spent(day, "", dict.fromkeys(KINDS, 0)), phase)
        spent = Spent(before.spent.day, self._models.get(key, ""), _tokens(event))
        now = self._messages[key] = _Message(spent, before.phase)
        self.used += now.used - before.used
        self.cached += now.cached - before.cached
        now.phase.tokens += now.used - before.used

    def name_model(self, message: str, model: str) -> None:
        """A message was this model's; a name in angle brackets is no model."""
        name = normal_line(model)[:100]
        if name and not name.startswith("<"):
            self._models[message or f"#{len(self._models)}"] = name
            self.first_model = self.first_model or name


def _tokens(event: UsageCounted) -> dict[str, int]:
    """Tokens by kind; the kinds do not overlap."""
    written = min(event.written, event.fresh)
    for_an_hour = min(event.written_1h, written)
    counts = (event.fresh - written, event.said, written - for_an_hour, for_an_hour, event.cached)
    return dict(zip(KINDS, counts, strict=True))
