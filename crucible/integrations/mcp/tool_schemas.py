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
    "user",
    "approval_required",
    "decision_needed",
    "task_complete",
)
"""The types of entries that `flight_recorder_log` accepts, most common first."""

_READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)

Query = Annotated[
    str, Field(description='Natural words, or terms, "phrases", -not, field:value; identifiers as they are.')
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
    Field(description="Only events of these types; by default all."),
]
InSession = Annotated[str, Field(description="Only of the session of this id; by default all.")]
Hits = Annotated[int, Field(description="How many, at most 20.", json_schema_extra={"minimum": 1, "maximum": 20})]
Offset = Annotated[int, Field(description="How many to leave out, to see more.", json_schema_extra={"minimum": 0})]
When = Annotated[str, Field(description="A date, a time, or how long ago: 2026-11-21, today, 7d.")]
Id = Annotated[str, Field(description="The session's id, or the unique beginning of one.")]
Ids = Annotated[list[str], Field(description="Ids as recall_search and recall_context tell them, at most 20.")]
Around = Annotated[
    int, Field(description="How many events, at most 20.", json_schema_extra={"minimum": 0, "maximum": 20})
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
                    f"a fault of Crucible's own: {message}\nthe other tools may work; `cru doctor` looks after the vault"
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
        """Find what was said, decided or learned in earlier sessions: the best events, each with the one before and after it.

        Ask it before a decision that may have been made already ("what did we decide about the retry policy?"), when an error looks
        familiar, and when the user speaks of earlier work.
        """
        return service().recalling.context(query, event_types, session, limit)

    def recall_search(
        *,
        query: Query,
        event_types: Kinds = None,
        session: InSession = "",
        agent: Annotated[str, Field(description="Only of this agent.")] = "",
        channel: Annotated[str, Field(description="Only of this channel.")] = "",
        project: Annotated[str, Field(description="Only of this project.")] = "",
        since: When = "",
        until: When = "",
        limit: Hits = 5,
        offset: Offset = 0,
    ) -> str:
        """Search all sessions and knowledge, a line for each event with its date, session, phase and id, and the sessions themselves."""
        narrowed = {"agent": agent, "channel": channel, "project": project}
        return service().recalling.search(
            query, event_types, session, limit, offset, since=since, until=until, **narrowed
        )

    def recall_timeline(
        anchor: Annotated[str, Field(description="The id of an event.")],
        before: Around = 3,
        after: Around = 3,
    ) -> str:
        """What happened around an event, in its order."""
        return service().recalling.timeline(anchor, before, after)

    def recall_get(
        ids: Ids, offset: Annotated[int, Field(description="From this character of each text on.")] = 0
    ) -> str:
        """The whole texts of events or items of knowledge; of a long one a part, and how to have the next."""
        return service().recalling.get(ids, offset)

    for tool in (recall_context, recall_search, recall_timeline, recall_get):
        _added(server, tool, _READS)


def _add_knowledge(server: MCPServer[Any], service: GetService) -> None:
    def recall_add(
        *,
        type: Literal["evidence", "decision", "pattern", "observation", "failure"],  # noqa: A002  the public name
        title: Annotated[str, Field(description="What is known, in a line.")] = "",
        text: Text = "",
        tags: list[str] | None = None,
        scope: Annotated[
            Literal["", "project", "domain", "global"],
            Field(
                description="For whom it is worth knowing; by default the project you work in, without one everybody."
            ),
        ] = "",
        project: Annotated[str, Field(description="By default the one you work in.")] = "",
        domain: str = "",
        session: Annotated[str, Field(description="The id of the session that it comes from.")] = "",
        phase: Annotated[str, Field(description="Its phase, such as phase-2.")] = "",
        confidence: Annotated[float | None, Field(description="From 0 to 1.")] = None,
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
            Field(description="Of a failure."),
        ] = "",
        root_cause: Annotated[str, Field(description="Of a failure.")] = "",
        preventable_with: Annotated[str, Field(description="Of a failure.")] = "",
        resolution: Annotated[str, Field(description="Of a failure.")] = "",
        choice: Annotated[
            Literal["", "merge", "keep_both", "skip"],
            Field(description="Only when an earlier call said that something alike is known."),
        ] = "",
    ) -> str:
        """Keep something worth knowing in later sessions, as a note. What is known already is not added again."""
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
        id: Annotated[str, Field(description="The id of an item of knowledge.")],  # noqa: A002  the public name
        useful: Annotated[bool, Field(description="Whether it helped.")],
    ) -> str:
        """Say whether an item of knowledge that you used was of use: it is found earlier then, or later."""
        return service().feedback(id, useful=useful)

    for tool in (recall_add, recall_feedback):
        _added(server, tool, _WRITES)


def _add_recorder(server: MCPServer[Any], service: GetService) -> None:
    def flight_recorder_log(
        *,
        type: Annotated[str, Field(description="What it is.", json_schema_extra={"enum": list(TYPES)})],  # noqa: A002
        content: Text,
        ctx: Context[Any, Any],
        rationale: Annotated[str, Field(description="Of a decision: why.")] = "",
        resolution: Annotated[str, Field(description="Of an error: how it was fixed; without one it stays open.")] = "",
        metadata: Annotated[
            dict[str, Any] | None,
            Field(
                description="Anything else: files, tickets; options of decision_needed; of an observation that other tasks' agents"
                " should know tag=parallel-discovery, task_id, applies_to."
            ),
        ] = None,
        session: Annotated[str, Field(description="The session's whole id; by default the running one.")] = "",
    ) -> str:
        """Write into this session's note: a decision and why, an error and how it was fixed, a milestone, an observation.

        Call it when a choice is made that a later session must know, when an error was understood or mended, when a part of
        the work is done.
        """
        fields = {"rationale": rationale, "resolution": resolution, "session": session}
        return service().log(_caller(ctx), metadata or {}, type=type, content=content, **fields)

    _added(server, flight_recorder_log, _WRITES)


def _add_sessions(server: MCPServer[Any], service: GetService) -> None:
    def session_list(
        *,
        status: Annotated[
            Literal["", "active", "paused", "completed", "failed"], Field(description="By default any.")
        ] = "",
        project: str = "",
        agent: str = "",
        since: When = "",
        until: When = "",
        limit: Annotated[
            int, Field(description="How many, at most 50.", json_schema_extra={"minimum": 1, "maximum": 50})
        ] = 10,
        offset: Offset = 0,
    ) -> str:
        """Sessions, newest first: id, status, start, project, agents and title."""
        narrowed = {"status": status, "project": project, "agent": agent, "since": since, "until": until}
        return service().list_sessions(limit, offset, **narrowed)

    def session_show(
        id: Id,  # noqa: A002  the public name
        phase: Annotated[str, Field(description="2, or 2.1 for a sub-phase: its whole text, a part at a time.")] = "",
        offset: Annotated[
            int, Field(description="From this character of the phase on; without a phase, so many phases on.")
        ] = 0,
    ) -> str:
        """What a session was for, where it stands, and its phases; or one phase whole."""
        return service().show_session(id, phase, offset)

    def session_resume_context(
        id: Id,  # noqa: A002  the public name
        budget: Annotated[int, Field(description="Tokens, 500 to 60,000; 0 is the vault's setting.")] = 0,
    ) -> str:
        """All that is needed to go on with a session: goal, decisions, open work, what was said last, what changed since."""
        return service().context_of(id, budget)

    for tool in (session_list, session_show, session_resume_context):
        _added(server, tool, _READS)
