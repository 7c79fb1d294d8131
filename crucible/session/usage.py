"""Tokens and models, counted once a message however many rows tell of it; the last row wins.

Owns the sums; which phase a message belongs to is told by `recording`.
"""

from __future__ import annotations

from collections import Counter

from crucible.note.contain import normal_line
from crucible.session.drafts import Stretch
from crucible.transcript.events import UsageCounted

__all__ = ["Usage"]


class Usage:
    """What the model was sent and said.  `used` = sent afresh + said, `cached` = read from the cache."""

    def __init__(self) -> None:
        self.used = 0
        self.cached = 0
        self._messages: dict[str, tuple[int, int, Stretch]] = {}
        self._models: dict[str, str] = {}

    @property
    def model(self) -> str | None:
        """The model of most messages."""
        return Counter(self._models.values()).most_common(1)[0][0] if self._models else None

    @property
    def first_model(self) -> str | None:
        """The model of the first message."""
        return next(iter(self._models.values()), None)

    def count(self, event: UsageCounted, phase: Stretch) -> None:
        """Count a message, for the phase in which it was first seen."""
        key = event.message or event.at.row or f"#{event.at.line}"
        used, cached, first = self._messages.get(key, (0, 0, phase))
        self._messages[key] = (event.fresh + event.said, event.cached, first)
        self.used += event.fresh + event.said - used
        self.cached += event.cached - cached
        first.tokens += event.fresh + event.said - used
        self.name_model(key, event.model)

    def name_model(self, message: str, model: str) -> None:
        """A message was this model's; a name in angle brackets is no model."""
        name = normal_line(model)[:100]
        if name and not name.startswith("<"):
            self._models[message or f"#{len(self._models)}"] = name
