"""Reports of subagents in the background that their parent fetched by a call of its own (`TaskOutput`).

Owns the shape of what such a call returns.  A report that comes by itself is a notice, and `texts`'.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.transcript.claude.state import State
from crucible.transcript.events import At, SubagentReturned
from crucible.transcript.values import as_dict, as_str

__all__ = ["fetched_report"]

_RESULT = "--- RESULT ---\n"
_CALL = "[Tool: "


def fetched_report(state: State, raw: object, at: At) -> Iterator[SubagentReturned]:
    """The report in a structured result, when that is a subagent's that has ended."""
    task = as_dict(as_dict(raw).get("task"))
    if task.get("task_type") != "local_agent" or task.get("status") != "completed":
        return
    agent, output = as_str(task.get("task_id")), as_str(task.get("output")) or as_str(task.get("result"))
    _, found, told = output.partition(_RESULT)
    told = told if found else output
    calls = (call for call, started in state.agents.items() if agent and started.agent == agent)
    call = next(calls, "")
    if call and told and not told.startswith(_CALL):
        yield SubagentReturned(at, call, agent, told.strip())
