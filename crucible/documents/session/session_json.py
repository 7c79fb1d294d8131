"""Export a session as plain JSON values, for other programs.

Keys are never renamed or removed.  Times are ISO 8601 in UTC.  Lines are `[first, last]`, from 1, or null for values
that are not in a note.  Unknown values are null.

    id title status archived project branch channel started ended duration_s participants model tokens tokens_cached
    usage[day model over input output cache_write cache_write_1h cache_read web_search] subagents[session agent model tokens]
    parent continues continued_by resume_point pause_reason sources synced_to
    redactions redacted tags aliases properties{every frontmatter key}
    tasks[id content status priority depends_on started completed …]
    findings[kind text details points also evidence source confidence rows lines]
    preamble[entry] phases[phase] summary problems[code line message]

A phase: `id name agent channel started ended tokens status lines entries[entry] phases[phase]`.
An entry has `type`, `lines`, and keys that depend on its type:
`prose` text; `tool_calls` calls[tool call result outcome lines];
`decision` text rationale alternatives by source confidence rows; `error` text cause resolution source confidence rows;
`user` words note; `subagent` agent model mode link text summary task entries[entry]; `callout` kind title text fold.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TypeAlias, assert_never

from crucible.core.prices import KINDS
from crucible.documents.markdown.source import NOWHERE, Lines, Problem
from crucible.documents.session.import_properties import TokenUsage, parse_usage
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)

_Plain: TypeAlias = dict[str, object]


def export_time(time: datetime | None) -> str | None:
    """Format a time as in notes: `2026-11-21T20:26:47Z`."""
    return format_time(time) if time else None


def export_session(session: Session) -> _Plain:
    """Export the session in the shape given in the module docstring."""
    return {**_head(session), **_body(session)}


def _head(session: Session) -> _Plain:
    duration = session.duration()
    return {
        "id": session.id,
        "title": session.title,
        "status": session.status,
        "archived": session.archived,
        "project": session.project,
        "branch": session.branch,
        "channel": session.channel,
        "started": export_time(session.started),
        "ended": export_time(session.ended),
        "duration_s": int(duration.total_seconds()) if duration is not None else None,
        "participants": [str(p) for p in session.participants],
        "model": session.model,
        "tokens": session.tokens_used,
        "tokens_cached": session.tokens_cached,
        "usage": [_spent(spent) for spent in parse_usage(session.usage)],
        "subagents": [asdict(s) for s in session.subagents],
        "parent": session.parent,
        "continues": session.continues,
        "continued_by": session.continued_by,
        "resume_point": session.resume_point,
        "pause_reason": session.pause_reason,
        "sources": list(session.sources),
        "synced_to": list(session.synced_to),
        "redactions": session.redactions,
        "redacted": list(session.redacted),
        "tags": list(session.tags),
        "aliases": list(session.aliases),
        "properties": dict(session.properties),
    }


def _body(session: Session) -> _Plain:
    return {
        "tasks": [_task(t) for t in session.tasks],
        "findings": [_noted(n) for n in session.findings],
        "preamble": [_entry(e) for e in session.preamble],
        "phases": [export_phase(p) for p in session.phases],
        "summary": session.summary,
        "problems": [export_problem(p) for p in session.problems],
    }


def export_phase(phase: Phase) -> _Plain:
    """Export a phase and its sub-phases."""
    return {
        "id": phase.id,
        "name": phase.name,
        "agent": str(phase.agent) if phase.agent else None,
        "channel": phase.channel,
        "started": export_time(phase.started),
        "ended": export_time(phase.ended),
        "tokens": phase.tokens,
        "status": phase.status,
        "lines": _lines(phase.lines),
        "entries": [_entry(e) for e in phase.entries],
        "phases": [export_phase(p) for p in phase.subphases],
    }


def export_problem(problem: Problem) -> _Plain:
    """Export a problem and its line."""
    return problem._asdict()


def _lines(lines: Lines) -> list[int] | None:
    return None if lines == NOWHERE else [lines.first + 1, lines.end]


def _spent(spent: TokenUsage) -> _Plain:
    counts = {kind: spent.tokens.get(kind, 0) for kind in KINDS}
    return {"day": spent.day or None, "model": spent.model or None, "over": spent.over, **counts}


def _task(task: Task) -> _Plain:
    return {
        **task.extra,
        "id": task.id,
        "content": task.content,
        "status": task.status,
        "priority": task.priority,
        "depends_on": list(task.depends_on),
        "started": task.started,
        "completed": task.completed,
    }


def _noted(item: FindingItem) -> _Plain:
    texts = {"kind": item.kind, "text": item.text, "details": item.details, "points": list(item.points)}
    return {
        **texts,
        "also": item.also or None,
        "evidence": item.evidence,
        **_grounds(item.grounds),
        "lines": _lines(item.lines),
    }


def _grounds(grounds: Grounds | None) -> _Plain:
    if grounds is None:
        return {"source": None, "confidence": None, "rows": []}
    return {"source": grounds.source, "confidence": grounds.confidence, "rows": list(grounds.rows)}


def _entry(entry: Entry) -> _Plain:
    return {**_content(entry), "lines": _lines(entry.lines)}


def _content(entry: Entry) -> _Plain:
    match entry:
        case Prose():
            return {"type": "prose", "text": entry.text}
        case ToolCalls():
            return {"type": "tool_calls", "calls": [_call(c) for c in entry.calls]}
        case Decision():
            chosen = {"text": entry.text, "rationale": entry.rationale}
            more = {"alternatives": entry.alternatives, "by": entry.by}
            return {"type": "decision", **chosen, **more, **_grounds(entry.grounds)}
        case Failure():
            texts = {"text": entry.text, "cause": entry.cause, "resolution": entry.resolution}
            return {"type": "error", **texts, **_grounds(entry.grounds)}
        case Intervention():
            return {"type": "user", "words": entry.words, "note": entry.note}
        case Subagent():
            return _subagent(entry)
        case Callout():
            head = {"kind": entry.kind, "title": entry.title, "fold": entry.fold}
            return {"type": "callout", **head, "text": entry.text}
        case _:
            assert_never(entry)


def _call(call: ToolCall) -> _Plain:
    return {
        "tool": call.tool,
        "call": call.call,
        "result": call.result,
        "outcome": call.outcome,
        "lines": _lines(call.lines),
    }


def _subagent(entry: Subagent) -> _Plain:
    return {
        "type": "subagent",
        "agent": str(entry.agent),
        "model": entry.model,
        "mode": entry.mode,
        "link": entry.link,
        "text": entry.text,
        "summary": entry.summary,
        "task": entry.task,
        "entries": [_entry(e) for e in entry.entries],
    }
