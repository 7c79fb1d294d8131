"""A phase, a sub-phase or the preamble of a note while it is being read."""

from __future__ import annotations

from datetime import datetime

from crucible.documents.markdown.source import Lines
from crucible.documents.session.session import AgentRef, Entry, Phase


class Section:
    """A phase, a sub-phase or the preamble while it is being read."""

    __slots__ = (
        "agent",
        "body_end",
        "channel",
        "end",
        "entries",
        "fields",
        "first",
        "fresh",
        "id",
        "name",
        "subs",
    )

    def __init__(self, identity: str, first: int) -> None:
        self.id = identity
        self.first = first
        self.end = self.body_end = first + 1
        self.name = ""
        self.agent: AgentRef | None = None
        self.channel: str | None = None
        self.fields: dict[str, datetime | int | None] = {}
        self.entries: list[Entry] = []
        self.subs: list[Section] = []
        self.fresh = True

    def phase(self) -> Phase:
        """The finished phase."""
        fields = self.fields
        return Phase(
            self.name,
            self.agent,
            self.channel,
            fields.get("started"),  # type: ignore[arg-type]
            fields.get("ended"),  # type: ignore[arg-type]
            fields.get("tokens"),  # type: ignore[arg-type]
            tuple(self.entries),
            tuple(sub.phase() for sub in self.subs),
            self.id,
            Lines(self.first, self.end),
            self.body_end,
        )
