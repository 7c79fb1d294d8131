"""Single events as parts of a note: who speaks, a human's words, what happened to the session, a time.

Owns the few words that a note says in nobody's name.  Where they go is `recording`'s.
"""

from __future__ import annotations

from datetime import UTC, datetime

from crucible.clients.events import CallEnd, Compacted, Faulted, Interrupted, Prompted, Rewound
from crucible.core.text.sentences import cut_at_word
from crucible.documents.markdown.containment import normal, slug
from crucible.documents.recording.call_lines import one_line
from crucible.documents.session.session import AgentRef, Callout, Failure, Intervention, Outcome

_FAULT_LIMIT = 1000

OUTCOMES = {
    CallEnd.OK: Outcome.OK,
    CallEnd.FAILED: Outcome.FAILED,
    CallEnd.REJECTED: Outcome.REJECTED,
    CallEnd.INTERRUPTED: Outcome.INTERRUPTED,
}
"""How a call ended, as a note tells it."""


def agent_ref(name: str, version: str = "") -> AgentRef:
    """A name and a version that a heading can hold."""
    return AgentRef(slug(name, "agent") or "agent", slug(version, "version") or None)


def intervention(event: Prompted) -> Intervention:
    """A human's exact words; pictures are counted."""
    pictures = f"{event.images} picture{'' if event.images == 1 else 's'}" if event.images else None
    words = normal(event.text)
    if not words:
        return Intervention(f"[{pictures}]")
    return Intervention(words, f"with {pictures}" if pictures else None)


def happening(event: Compacted | Faulted | Interrupted) -> Callout | Failure:
    """A callout for what happened to a session: the client compacted its context or failed, or the user stopped the agent."""
    if isinstance(event, Faulted):
        return Failure(cut_at_word(normal(event.text), _FAULT_LIMIT) or "The client failed.")
    if isinstance(event, Interrupted):
        where = " during a tool call" if event.in_tool else ""
        return Callout("observation", "Interrupted", f"The user stopped the agent{where}.")
    tokens = f"{event.tokens_before:,} tokens before" if event.tokens_before else ""
    told = ", ".join(part for part in (one_line(event.trigger, 80), tokens) if part)
    return Callout("observation", "Compacted", told)


def rewinding(event: Rewound) -> Callout:
    """The user took words back."""
    turns = "the last turn" if event.turns == 1 else f"the last {event.turns} turns" if event.turns else ""
    return Callout("observation", "Rewound", f"The user took back {turns or one_line(event.text, 200) or 'words'}.")


def switch(before: str, now: AgentRef) -> Callout:
    """Another client goes on, or the same one anew: in the words of `cru log agent_switch`."""
    return Callout("agent_switch", f"{before} → {now}".lstrip())


def whole_seconds(time: datetime | None) -> datetime | None:
    """Notes hold whole seconds, UTC."""
    return time.astimezone(UTC).replace(microsecond=0) if time else None
