"""A shared session as a trajectory: one JSON object of the Agent Trajectory Interchange Format, ATIF 1.8.

The user's words are steps of the user, prose and tool calls steps of the agent, other callouts steps of the system with
their kind.  Notes have no token counts of single steps, so only the sums are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, assert_never

from crucible.documents.session.import_properties import parse_usage
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Prose,
    Session,
    Subagent,
    ToolCalls,
)
from crucible.documents.session.session_json import export_time
from crucible.web.call_details import CallDetail
from crucible.web.session_entries import Report, numbered, phase_prefix
from crucible.web.shared_session import Shared, with_all_below

SCHEMA = "ATIF-v1.8"
_PROMPT = ("input", "cache_write", "cache_write_1h", "cache_read")
_Plain = dict[str, Any]


def trajectory_of(shared: Shared) -> _Plain:
    """Return the trajectory of a session, with its subagents' beside it."""
    others = [one for one in with_all_below(shared.whole) if one is not shared.whole]
    reports = {one.session.id: one for one in others}
    whole = _trajectory(shared.whole, reports)
    if shared.cost.micros is not None:
        whole["final_metrics"]["total_cost_usd"] = shared.cost.micros / 1_000_000
    if shared.cost.unpriced:
        whole["final_metrics"].setdefault("extra", {})["unpriced_tokens"] = dict(shared.cost.unpriced)
    if others:
        whole["subagent_trajectories"] = [_trajectory(one, reports) for one in others]
    return whole


def _trajectory(report: Report, reports: Mapping[str, Report]) -> _Plain:
    session, details, _ = report
    agent = session.participants[0] if session.participants else None
    steps = [*_steps(session, details, reports)]
    return {
        "schema_version": SCHEMA,
        "session_id": session.id,
        "trajectory_id": session.id,
        "agent": {
            "name": agent.name if agent else "unknown",
            "version": (agent.version if agent else None) or "unknown",
            **({"model_name": session.model} if session.model else {}),
        },
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, 1)],
        "final_metrics": _metrics(session) | {"total_steps": len(steps)},
        "extra": _extra(session),
    }


def _extra(session: Session) -> _Plain:
    found = {
        "title": session.title,
        "status": session.status,
        "project": session.project,
        "branch": session.branch,
        "started": export_time(session.started),
        "ended": export_time(session.ended),
        "summary": session.summary,
        "tasks": [{"content": task.content, "status": task.status} for task in session.tasks],
    }
    return {key: value for key, value in found.items() if value}


def _metrics(session: Session) -> _Plain:
    used = parse_usage(session.usage)
    if not used:
        return {}
    sums = {kind: sum(one.tokens.get(kind, 0) for one in used) for kind in (*_PROMPT, "output")}
    return {
        "total_prompt_tokens": sum(sums[kind] for kind in _PROMPT),
        "total_completion_tokens": sums["output"],
        "total_cached_tokens": sums["cache_read"],
    }


# --- steps -----------------------------------------------------------------------------------------------------------


def _steps(session: Session, details: Mapping[str, CallDetail], reports: Mapping[str, Report]) -> Iterator[_Plain]:
    yield from _steps_of(session.preamble, "e0", None, details, reports)
    for phase in session.all_phases():
        yield from _steps_of(phase.entries, phase_prefix(phase), export_time(phase.started), details, reports)


def _steps_of(
    entries: Iterable[Entry],
    above: str,
    time: str | None,
    details: Mapping[str, CallDetail],
    reports: Mapping[str, Report],
) -> Iterator[_Plain]:
    at = {"timestamp": time} if time else {}
    for name, entry in numbered(entries, above):
        match entry:
            case Prose():
                yield {**at, "source": "agent", "message": entry.text}
            case Intervention():
                yield {**at, "source": "user", "message": entry.words}
            case ToolCalls():
                yield {**at, "source": "agent", "message": "", **_calls(name, entry, details)}
            case Subagent():
                yield {**at, "source": "agent", "message": entry.task or entry.text, **_delegated(name, entry, reports)}
                yield from _steps_of(entry.entries, name, time, details, reports)
            case Decision() | Failure() | Callout():
                yield {**at, "source": "system", **_note(entry)}
            case _:
                assert_never(entry)


def _calls(name: str, entry: ToolCalls, details: Mapping[str, CallDetail]) -> _Plain:
    calls, results = [], []
    for number, call in enumerate(entry.calls, 1):
        tool, _, arguments = call.call.partition(" ")
        detail = details.get(f"{name}-{number}", CallDetail())
        given = {"line": arguments, "text": detail.arguments, "diff": detail.diff}
        call_id = f"{name}-{number}"
        values = {key: value for key, value in given.items() if value}
        calls.append({"tool_call_id": call_id, "function_name": tool, "arguments": values})
        told = {"outcome": "" if call.outcome is Outcome.OK else call.outcome.value, "cut": detail.mark}
        extra = {key: value for key, value in told.items() if value}
        result = {"source_call_id": call_id, "content": detail.output or call.result}
        results.append({**result, "extra": extra} if extra else result)
    return {"tool_calls": calls, "observation": {"results": results}}


def _delegated(name: str, entry: Subagent, reports: Mapping[str, Report]) -> _Plain:
    call = {"tool_call_id": name, "function_name": "subagent", "arguments": {"agent": str(entry.agent)}}
    result: _Plain = {"source_call_id": name, "content": entry.summary or entry.text}
    if entry.link and entry.link in reports:
        result["subagent_trajectory_ref"] = [{"trajectory_id": reports[entry.link].session.id}]
    return {"tool_calls": [call], "observation": {"results": [result]}}


def _note(entry: Decision | Failure | Callout) -> _Plain:
    if isinstance(entry, Callout):
        return {"message": "\n".join(filter(None, (entry.title, entry.text))), "extra": {"kind": entry.kind}}
    if isinstance(entry, Decision):
        found = {"kind": "decision", "rationale": entry.rationale, "alternatives": entry.alternatives, "by": entry.by}
    else:
        found = {"kind": "error", "cause": entry.cause, "resolution": entry.resolution}
    return {"message": entry.text, "extra": {key: value for key, value in found.items() if value}}
