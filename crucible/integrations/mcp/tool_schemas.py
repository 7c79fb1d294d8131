"""The tools as clients see them: names, arguments and descriptions.  The docstrings of tools are their descriptions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from crucible.core.errors import CrucibleError, reason_of
from crucible.integrations.mcp.replies import plain_lines
from crucible.integrations.mcp.server_context import Caller

if TYPE_CHECKING:
    from crucible.integrations.mcp.tool_service import ToolService


GetService: TypeAlias = "Callable[[], ToolService]"
"""Returns the service, creating it on first use."""

TYPES = (
    "decision",
    "error",
    "milestone",
    "observation",
    "prose",
    "checkpoint",
    "agent_switch",
    "user",
    "approval_required",
    "decision_needed",
    "task_complete",
)
"""The types of entries that `flight_recorder_log` accepts, most common first."""

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Query = Annotated[
    str, Field(description='Plain words, or terms, "phrases", -not, field:value; write identifiers as they are.')
]
Kinds = Annotated[
    list[
        Literal[
            "user",
            "agent",
            "tool",
            "decision",
            "error",
            "subagent",
            "milestone",
            "observation",
            "knowledge",
            "correction",
            "outcome",
            "open_end",
            "environment",
        ]
    ]
    | None,
    Field(description="Only events of these types; all by default."),
]
InSession = Annotated[str, Field(description="Only events of the session with this id; all by default.")]
Hits = Annotated[
    int, Field(description="Maximum number of results, up to 20.", json_schema_extra={"minimum": 1, "maximum": 20})
]
Offset = Annotated[int, Field(description="Number of results to skip.", json_schema_extra={"minimum": 0})]
When = Annotated[str, Field(description="A date, a time, or an age: 2026-11-21, today, 7d.")]
Id = Annotated[str, Field(description="The session's id, or a unique prefix of it.")]
Ids = Annotated[list[str], Field(description="Ids from recall_search or recall_context, at most 20.")]
Around = Annotated[
    int, Field(description="Number of events, at most 20.", json_schema_extra={"minimum": 0, "maximum": 20})
]
Text = Annotated[str, Field(description="Markdown.")]


def with_error_answers(tool: Callable[..., str]) -> Callable[..., CallToolResult]:
    """Wrap a tool so that errors become answers: one line, and what to do next."""

    @wraps(tool)
    def called(**given: Any) -> CallToolResult:
        try:
            return _answer(tool(**given))
        except CrucibleError as error:
            return _answer(plain_lines(f"{error}\n{error.hint}"), failed=True)
        except OSError as error:
            place = f"{error.filename}: " if error.filename else ""
            return _answer(plain_lines(f"{place}{reason_of(error)}"), failed=True)
        except Exception as error:  # noqa: BLE001  the library would report only the type, and a server has no screen
            message = " ".join(f"{type(error).__name__}: {error}".split())
            return _answer(
                plain_lines(
                    f"internal error in Crucible: {message}\nthe other tools may still work; `cru doctor` checks the vault"
                ),
                failed=True,
            )

    return called


def _answer(text: str, *, failed: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=failed)


def _caller(context: Context[Any, Any]) -> Caller:
    params = context.session.client_params
    return Caller(params.client_info.name[:60], params.client_info.version[:40]) if params else Caller()


def add_tools(server: MCPServer[Any], service: GetService) -> None:
    """Add all tools to the server."""
    _add_recall(server, service)
    _add_knowledge(server, service)
    _add_recorder(server, service)
    _add_sessions(server, service)


def _added(server: MCPServer[Any], tool: Callable[..., str], annotations: ToolAnnotations) -> None:
    about = cleandoc(tool.__doc__ or "")
    server.add_tool(with_error_answers(tool), description=about, annotations=annotations, structured_output=False)


def _add_recall(server: MCPServer[Any], service: GetService) -> None:
    def recall_context(query: Query, event_types: Kinds = None, session: InSession = "", limit: Hits = 5) -> str:
        """Find what was said, decided or learned in earlier sessions: the best events, each with the events before and after it.

        Call it before a decision that may have been made already ("what did we decide about the retry policy?"), when an error looks
        familiar, and when the user mentions earlier work.
        """
        return service().recalling.context(query, event_types, session, limit)

    def recall_search(
        *,
        query: Query,
        event_types: Kinds = None,
        session: InSession = "",
        agent: Annotated[str, Field(description="Only events of this agent.")] = "",
        channel: Annotated[str, Field(description="Only events of this channel.")] = "",
        project: Annotated[str, Field(description="Only events of this project.")] = "",
        since: When = "",
        until: When = "",
        limit: Hits = 5,
        offset: Offset = 0,
    ) -> str:
        """Search all sessions and knowledge. Lists events with date, session, phase and id, and the matching sessions."""
        narrowed = {"agent": agent, "channel": channel, "project": project}
        return service().recalling.search(
            query, event_types, session, limit, offset, since=since, until=until, **narrowed
        )

    def recall_timeline(
        anchor: Annotated[str, Field(description="The id of an event.")],
        before: Around = 3,
        after: Around = 3,
    ) -> str:
        """Show what happened before and after an event, in order."""
        return service().recalling.timeline(anchor, before, after)

    def recall_get(
        ids: Ids, offset: Annotated[int, Field(description="Start at this character of each text.")] = 0
    ) -> str:
        """Show the full text of events or knowledge items. Long texts come in parts, with the offset of the next."""
        return service().recalling.get(ids, offset)

    for tool in (recall_context, recall_search, recall_timeline, recall_get):
        _added(server, tool, _READS)


def _add_knowledge(server: MCPServer[Any], service: GetService) -> None:
    def recall_add(
        *,
        type: Literal["evidence", "decision", "pattern", "observation", "failure"],  # noqa: A002  the public name
        title: Annotated[str, Field(description="The knowledge in one line.")] = "",
        text: Text = "",
        tags: list[str] | None = None,
        scope: Annotated[
            Literal["", "project", "domain", "global"],
            Field(description="Where it applies; by default the current project, or everywhere if there is none."),
        ] = "",
        project: Annotated[str, Field(description="The current project by default.")] = "",
        domain: str = "",
        session: Annotated[str, Field(description="The id of its source session.")] = "",
        phase: Annotated[str, Field(description="The phase of that session, such as phase-2.")] = "",
        confidence: Annotated[float | None, Field(description="Confidence from 0 to 1.")] = None,
        category: Annotated[
            Literal[
                "",
                "requirements_ambig",
                "knowledge_gap",
                "tool_misuse",
                "context_missing",
                "execution_error",
                "external_dep",
            ],
            Field(description="For a failure: the category of its cause."),
        ] = "",
        root_cause: Annotated[str, Field(description="For a failure: its root cause.")] = "",
        preventable_with: Annotated[
            str, Field(description="For a failure: what knowledge would have prevented it.")
        ] = "",
        resolution: Annotated[str, Field(description="For a failure: how it was fixed.")] = "",
        choice: Annotated[
            Literal["", "merge", "keep_both", "skip"],
            Field(description="Only if an earlier call reported a similar item."),
        ] = "",
    ) -> str:
        """Save knowledge for later sessions as a note. Known items are not added again."""
        failure = {
            "category": category,
            "root_cause": root_cause,
            "preventable_with": preventable_with,
            "resolution": resolution,
        }
        fields = {"title": title, "text": text, "scope": scope, "project": project, "domain": domain}
        origin = {"session": session, "phase": phase, "choice": choice}
        return service().add(type, tags or (), failure, confidence, **fields, **origin)

    def recall_feedback(
        id: Annotated[str, Field(description="The id of a knowledge item.")],  # noqa: A002  the public name
        useful: Annotated[bool, Field(description="True if it helped.")],
    ) -> str:
        """Report whether a knowledge item helped. Useful items rank higher in later searches."""
        return service().feedback(id, useful=useful)

    for tool in (recall_add, recall_feedback):
        _added(server, tool, _WRITES)


def _add_recorder(server: MCPServer[Any], service: GetService) -> None:
    def flight_recorder_log(
        *,
        type: Annotated[str, Field(description="The type of the entry.", json_schema_extra={"enum": list(TYPES)})],  # noqa: A002
        content: Text,
        ctx: Context[Any, Any],
        rationale: Annotated[str, Field(description="For a decision: the reason.")] = "",
        resolution: Annotated[
            str, Field(description="For an error: how it was fixed; leave empty if it is unresolved.")
        ] = "",
        metadata: Annotated[
            dict[str, Any] | None,
            Field(
                description="Other data: files, tickets; `options` for decision_needed, `from_agent` and `to_agent` for"
                " agent_switch. For an observation that agents of other tasks should see, set tag=parallel-discovery, task_id and applies_to."
            ),
        ] = None,
        session: Annotated[str, Field(description="The session's full id; the running session by default.")] = "",
    ) -> str:
        """Record an entry in this session's note: a decision and its reason, an error and its fix, a milestone, an observation.

        Call it when a choice is made that later sessions must know, when an error is understood or fixed, and when a part of
        the work is done.
        """
        fields = {"rationale": rationale, "resolution": resolution, "session": session}
        return service().log(_caller(ctx), metadata or {}, type=type, content=content, **fields)

    _added(server, flight_recorder_log, _WRITES)


def _add_sessions(server: MCPServer[Any], service: GetService) -> None:
    def session_list(
        *,
        status: Annotated[
            Literal["", "active", "paused", "completed", "failed"],
            Field(description="Only sessions with this status; any by default."),
        ] = "",
        project: str = "",
        agent: str = "",
        since: When = "",
        until: When = "",
        limit: Annotated[
            int,
            Field(description="Maximum number of sessions, up to 50.", json_schema_extra={"minimum": 1, "maximum": 50}),
        ] = 10,
        offset: Offset = 0,
    ) -> str:
        """List sessions, newest first: id, status, start, project, agents and title."""
        narrowed = {"status": status, "project": project, "agent": agent, "since": since, "until": until}
        return service().list_sessions(limit, offset, **narrowed)

    def session_show(
        id: Id,  # noqa: A002  the public name
        phase: Annotated[
            str, Field(description="Show the full text of this phase, in parts: 2, or 2.1 for a sub-phase.")
        ] = "",
        offset: Annotated[
            int, Field(description="Start at this character of the phase; without a phase, skip this many phases.")
        ] = 0,
    ) -> str:
        """Show a session's goal, state and phases, or one phase in full."""
        return service().show_session(id, phase, offset)

    def session_resume_context(
        id: Id,  # noqa: A002  the public name
        budget: Annotated[int, Field(description="Maximum tokens, 500 to 60,000; 0 uses the vault's setting.")] = 0,
    ) -> str:
        """Show what is needed to continue a session: goal, decisions, open work, the last messages, and changes since."""
        return service().context_of(id, budget)

    for tool in (session_list, session_show, session_resume_context):
        _added(server, tool, _READS)
