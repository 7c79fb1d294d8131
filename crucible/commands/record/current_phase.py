"""What an entry's phase is: the last one, or the first one when there is none yet; and whose it is.

Owns plans only; `writing` puts them into the note.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from crucible.documents.markdown.wikilinks import without_links
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, PhaseField, Plan, Step
from crucible.documents.session.counted_properties import KINDS, Spent, spent_lines, spent_more
from crucible.documents.session.session import AgentRef, Callout, Phase, Session
from crucible.documents.session.titles import UNTITLED


def in_phase(plan: Plan, now: datetime) -> Plan:
    """The plan, in a note that has a phase: what is told before the first one begins it, named as the session."""

    def begun(standing: NoteState) -> Addition:
        wanted = plan(standing)
        if standing.phase is not None or not wanted.steps:
            return wanted
        first = Phase(standing.head.title or UNTITLED, _current_agent(standing), None, started=now)
        return replace(wanted, steps=(first, *wanted.steps))

    return begun


def new_phase(
    name: str,
    agent: AgentRef | None,
    model: str | None,
    channel: str | None,
    tokens: int | None,
    *,
    now: datetime,
) -> Plan:
    """A phase behind the last one, which ends now."""

    def plan(standing: NoteState) -> Addition:
        head = standing.head
        speaker = agent or _current_agent(standing)
        keys: dict[str, Value] = joining(head, (speaker,) if speaker else ())
        if model and not head.model:
            keys["model"] = model
        if channel and not head.channel:
            keys["channel"] = channel
        keys |= counted(head, tokens or 0, model=model, now=now)
        phase = Phase(name, speaker, channel, started=now, tokens=tokens)
        return Addition(keys, (*closing(standing.phase, now), phase))

    return plan


def counted(
    head: Session, used: int, *, cached: int = 0, output: int = 0, model: str | None, now: datetime
) -> dict[str, Value]:
    """The properties of a session that used more tokens; of `used`, `output` were generated and the others sent."""
    tokens = {"input": used - output, "output": output, "cache_read": cached}
    more = Spent(now.date().isoformat(), model or head.model or "", dict.fromkeys(KINDS, 0) | tokens)
    keys: dict[str, Value] = {"tokens_used": (head.tokens_used or 0) + used} if used else {}
    keys |= {"tokens_cached": (head.tokens_cached or 0) + cached} if cached else {}
    lines = spent_more(head.usage, (), spent_lines((more,)))
    return keys | ({"usage": [without_links(line) for line in lines]} if keys else {})


def closing(phase: Phase | None, now: datetime) -> tuple[Step, ...]:
    """The end of a phase that has a start and no end."""
    if phase is None or phase.started is None or phase.ended is not None:
        return ()
    return (PhaseField("ended", max(now, phase.started)),)


def joining(head: Session, agents: tuple[AgentRef, ...]) -> dict[str, Value]:
    """`participants` with those that are not there yet."""
    there = [str(agent) for agent in head.participants]
    new = [name for name in dict.fromkeys(map(str, agents)) if name not in there]
    listed: list[Value] = [*there, *new]
    return {"participants": listed} if new else {}


def _current_agent(standing: NoteState) -> AgentRef | None:
    """Who the last phase, or the last switch of agents in it, says is at work; else the first participant."""
    for entry in reversed(tuple(standing.phase.all_entries()) if standing.phase else ()):
        if isinstance(entry, Callout) and entry.kind == "agent_switch" and " → " in entry.title:
            return AgentRef.parse(entry.title.rpartition(" → ")[2].strip())
    if standing.phase and standing.phase.agent:
        return standing.phase.agent
    return standing.head.participants[0] if standing.head.participants else None
