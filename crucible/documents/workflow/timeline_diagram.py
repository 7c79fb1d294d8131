"""Draw a session as a Mermaid timeline: its phases by day, each with its decisions, errors and subagents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from crucible.core.zones import in_zone
from crucible.documents.session.session import Decision, Entry, Failure, Phase, Session, Subagent
from crucible.documents.workflow.graph_diagrams import mermaid_text

_LONGEST = 60
_MOST_PHASES, _MOST_EVENTS = 40, 4


def render_timeline(session: Session, zone: tzinfo | None) -> str:
    """The diagram's source, with times in `zone`.  Long sessions show their first phases."""
    lines = ["timeline", f"  title {mermaid_text(session.title or session.id, _LONGEST)}"]
    day = ""
    for phase in session.phases[:_MOST_PHASES]:
        at = in_zone(phase.started, zone) if phase.started else None
        if at and f"{at:%Y-%m-%d}" != day:
            day = f"{at:%Y-%m-%d}"
            lines.append(f"  section {day}")
        words = [mermaid_text(phase.name, _LONGEST), *_events(phase)]
        lines.append(f"    {mermaid_text(f'{at:%H:%M}' if at else '?')} : {' : '.join(words)}")
    left = len(session.phases) - _MOST_PHASES
    if left > 0:
        lines.append(f"    … : {left} more phases")
    return "\n".join(lines) + "\n"


def _events(phase: Phase) -> Iterator[str]:
    found = [text for entry in phase.all_entries() if (text := _event(entry))]
    yield from (mermaid_text(text, _LONGEST) for text in found[:_MOST_EVENTS])
    if len(found) > _MOST_EVENTS:
        yield f"{len(found) - _MOST_EVENTS} more"


def _event(entry: Entry) -> str:
    if isinstance(entry, Decision):
        return f"decided: {entry.text}"
    if isinstance(entry, Failure):
        return f"{'fixed' if entry.resolution else 'failed'}: {entry.text}"
    if isinstance(entry, Subagent):
        return ": ".join(filter(None, (f"@{entry.agent.name}", entry.summary or entry.text)))
    return ""
