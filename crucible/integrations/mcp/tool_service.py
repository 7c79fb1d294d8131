"""The implementation of all tools, imported when one is first called."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from crucible.clients.claude_code.client import CLIENT
from crucible.clients.log_files import source_name
from crucible.clients.registry import DIALECTS
from crucible.commands import record
from crucible.commands.capture.after_stop import after_stop
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.imports.note_sources import SourceTable
from crucible.commands.record import Recorder
from crucible.core.errors import CrucibleError, SessionNotFound, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import load_vault_settings
from crucible.documents.knowledge.item_rules import EVERYTHING
from crucible.documents.markdown.containment import quote_line
from crucible.documents.session.status_rules import Client
from crucible.integrations.mcp import knowledge_tools as knowing
from crucible.integrations.mcp import session_tools as sessions
from crucible.integrations.mcp.knowledge_tools import NewItem
from crucible.integrations.mcp.opened_vault import index_of, now, open_own, open_recall, vault_of
from crucible.integrations.mcp.recall_tools import RecallTools
from crucible.integrations.mcp.replies import UNKNOWN, Quoting, checked, is_session_id
from crucible.integrations.mcp.server_context import Caller, ServerContext
from crucible.search.recall import Recall
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_CHANNEL = "mcp"
"""The channel of sessions begun by a server; no server continues the session of another."""
_ENDED = "the client was closed"


class RunningSessions:
    """The sessions of one server: the client's own, and the one (if any) that the server began for the client."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._turn = threading.Lock()
        self._own: tuple[Path, str] | None = None
        """The vault and id of the session that this server began."""
        self._last = ""
        """The id of the last session that was logged to by default."""

    def recorder(self, named: str, caller: Caller) -> Recorder:
        """Return the recorder for a new entry in the named or current session.

        Raises `SessionNotFound`, `SessionEnded` or `UsageError`, each with a hint.
        """
        context, vault = self._context, vault_of(self._context)
        with self._turn:
            requested = named.strip() or context.env.get("CRU_SESSION", "").strip()
            name = requested or self._native(vault) or self._begun_here(vault) or self._active(vault, caller)
            recorder = self._attached(vault, name, named.strip()) if name else self._begin(vault, caller)
            self._last = self._last if named.strip() else recorder.id
        return recorder

    def _attached(self, vault: Vault, name: str, named: str) -> Recorder:
        try:
            return record.open(name, vault=vault, cwd=self._context.cwd, projects=self._context.user.projects)
        except SessionNotFound:
            what = "" if named else ", which CRU_SESSION names"
            raise SessionNotFound(
                f"no session {name!r}{what}", f"{UNKNOWN}; give the full id; nothing was written"
            ) from None

    def known(self) -> str:
        """Return the id of the running session if it is known without a search, or ""."""
        return self._context.env.get("CRU_SESSION", "").strip() or self._last

    def close(self) -> None:
        """Pause the session begun for the client; errors are ignored, since idle sessions are paused later."""
        if self._own is None:
            return
        with suppress(CrucibleError, OSError):
            root, name = self._own
            vault = Vault(root, load_vault_settings(root, self._context.user))
            recorder = record.open(
                name,
                vault=vault,
                cwd=self._context.cwd,
                projects=self._context.user.projects,
            )
            if recorder.read_head().status == "active":
                recorder.pause(_ENDED)
                after_stop(vault, recorder.path, now=now())

    # --- the client's own session ------------------------------------------------------------------------------------

    def _native(self, vault: Vault) -> str:
        """Return the note of Claude Code's current session, importing it first so that the new entry comes last.

        Returns "" if the session has no note and no hook reported it: then the user does not want it recorded.
        """
        native = self._context.env.get("CLAUDE_CODE_SESSION_ID", "")
        client = CLIENT.name
        if not native:
            return ""
        source = source_name(client, native)
        spooled = next((each for each in load_spool(vault.root, client) if each.session == native), None)
        transcript = Path(spooled.transcript) if spooled and spooled.transcript else None
        if transcript and transcript.name == f"{native}.jsonl" and transcript.is_file():
            options = ImportOptions(
                now=self._context.now(), projects=self._context.user.projects, client=Client.RUNNING
            )
            with suppress(CrucibleError):  # otherwise it is imported at the end of the turn
                import_transcripts(vault, DIALECTS[client], [transcript], options=options)
        path = SourceTable(vault).find(source)
        if path is None and spooled:
            raise UsageError(
                "this session has no note yet",
                "it is written when this turn ends; repeat the call in your next turn",
            )
        return note_name(path.name) if path else ""

    # --- other clients -----------------------------------------------------------------------------------------------

    def _active(self, vault: Vault, caller: Caller) -> str:
        project = self._context.project
        if not project or self._context.env.get("CLAUDE_CODE_SESSION_ID"):
            return ""
        query = SessionQuery(status="active", project=project, agent=caller.agent)
        rows, _ = index_of(vault).ask(lambda view: select(view, query))
        names = [str(row["id"]) for row in rows if row["channel"] != _CHANNEL]
        if len(names) > 1:
            raise UsageError(
                f"{len(names)} sessions of {caller.agent} are active in {project}, so yours is ambiguous",
                f"pass session=, one of: {', '.join(filter(is_session_id, names[:5]))}",
            )
        return names[0] if names else ""

    def _begun_here(self, vault: Vault) -> str:
        return self._own[1] if self._own and self._own[0] == vault.root else ""

    def _begin(self, vault: Vault, caller: Caller) -> Recorder:
        project = self._context.project
        recorder = record.session(
            f"{caller.agent} in {project}" if project else f"Notes of {caller.agent}",
            vault=vault,
            agent=caller.speaker,
            channel=_CHANNEL,
            project=project,
            cwd=self._context.cwd,
            projects=self._context.user.projects,
        )
        self._own = (vault.root, recorder.id)
        return recorder


_LONGEST, _MOST_KEYS, _LONGEST_KEY = 50_000, 30, 60


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A new entry.  `type` is one of `tool_schemas.TYPES`; it takes `rationale`, `resolution` or neither.

    `metadata` holds everything else.
    """

    type: str
    content: str
    rationale: str = ""
    resolution: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    session: str = ""


_TAKES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "decision": {"rationale": "rationale"},
        "error": {"resolution": "resolution"},
        "milestone": {},
        "observation": {"tag": "tag", "task_id": "task", "applies_to": "applies_to"},
        "prose": {},
        "checkpoint": {},
        "agent_switch": {"from_agent": "from_agent", "to_agent": "to_agent"},
        "user": {"note": "note"},
        "approval_required": {},
        "decision_needed": {"options": "options"},
        "task_complete": {"task": "task"},
    }
)
"""For each type, which is a recorder method: the client's keys, and the arguments they map to."""
_LISTS = ("applies_to", "options")


def _arguments(entry: LogEntry, takes: Mapping[str, str]) -> Iterator[tuple[str, str | list[str]]]:
    for key, name in takes.items():
        value = entry.metadata.get(key)
        words = [str(each) for each in (value if isinstance(value, list) else [value]) if _is_word(each)]
        if key in _LISTS:  # or one item on its own
            yield name, words
        else:
            yield name, getattr(entry, key, "") or (str(value) if _is_word(value) else "")


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def log_entry(running: RunningSessions, entry: LogEntry, caller: Caller) -> str:
    """Write an entry and return where it was written.  Raises `UsageError` for invalid entries."""
    kind = entry.type.strip().lower()
    if kind not in _TAKES:
        raise UsageError(f"type {entry.type[:40]!r}: unknown", "one of " + ", ".join(_TAKES))
    takes = _TAKES[kind]
    for name in ("rationale", "resolution"):
        text = checked(name, getattr(entry, name), _LONGEST)
        if text.strip() and name not in takes:
            owner = next(other for other, words in _TAKES.items() if name in words)
            raise UsageError(f"{kind}: does not accept {name}", f"{name} belongs to {owner}; put it into content")
    content = checked("content", entry.content, _LONGEST)
    if not content.strip():
        raise UsageError(f"{kind}: content is empty", "put the text to record into content")
    text = content + _rest(entry.metadata, takes)
    recorder = running.recorder(entry.session, caller)
    write: Callable[..., str] = getattr(recorder, kind)
    given = dict(_arguments(entry, takes))
    if kind == "agent_switch" and not (given["from_agent"] and given["to_agent"]):
        raise UsageError("agent_switch: two agents are needed", "metadata has from_agent and to_agent")
    phase = write(text=text, **given) if kind == "agent_switch" else write(text, **given)
    where = f"{recorder.id}, {phase}" if phase else recorder.id
    warnings = [quote_line(warning, 300) for warning in recorder.warnings]
    return "\n".join([f"Logged {kind} in session {where}.", *warnings])


def _rest(metadata: Mapping[str, Any], takes: Mapping[str, str]) -> str:
    """Return metadata without an argument of its own as a list after the text, so that nothing is lost."""
    rest = {
        name: value
        for name, value in metadata.items()
        if not (name in takes and _fits_argument(value)) and value not in (None, "", [], {})
    }
    if len(rest) > _MOST_KEYS:
        raise UsageError(f"metadata: {len(rest)} keys", f"the limit is {_MOST_KEYS}")
    lines = [f"- {quote_line(name, _LONGEST_KEY)}: {_value(name, value)}" for name, value in rest.items()]
    return "\n\n" + "\n".join(lines) if lines else ""


def _fits_argument(value: object) -> bool:
    """Return whether a value can be passed to the recorder's method."""
    return all(map(_is_word, value)) if isinstance(value, list) else _is_word(value)


def _value(name: str, value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise UsageError(f"metadata: {name[:40]!r} is not JSON", "use strings, numbers and lists of them") from None
    return " ".join(checked(f"metadata {name[:40]!r}", text, 4000).split())


_LISTED = 20


class Listed(NamedTuple):
    """A note in the list of resources: `sessions/ID` or `knowledge/ID`, and a name and title that are safe to show."""

    path: str
    name: str
    title: str


class ToolService:
    """The tools of one server."""

    def __init__(self, context: ServerContext, opener: Callable[[ServerContext], Recall] | None = None) -> None:
        """`opener` opens recall; by default it is `open_recall`."""
        self._context = context
        self.recalling = RecallTools(context, opener or open_recall)
        self._running = RunningSessions(context)

    def add(
        self,
        type_: str,
        tags: Sequence[str],
        failure: Mapping[str, str],
        confidence: float | None,
        **fields: str,
    ) -> str:
        """Add an item of knowledge; it comes from the running session unless the arguments name one."""
        noted = NewItem(type_, tags=tags, failure=failure, confidence=confidence, **fields)
        # Compare with all items; `add_item` decides which similar ones are visible.
        similar = open_own(self._context, EVERYTHING).similar
        return knowing.add(self._context, noted, self._running.known(), similar)

    def feedback(self, ref: str, *, useful: bool) -> str:
        """Record whether an item helped."""
        return knowing.feedback(self._context, ref, useful=useful)

    def log(self, caller: Caller, metadata: Mapping[str, Any], **fields: str) -> str:
        """Add an entry to a session's note."""
        return log_entry(self._running, LogEntry(metadata=metadata, **fields), caller)

    def list_sessions(self, limit: int = _LISTED, offset: int = 0, **narrowed: str) -> str:
        """Return one line for each session."""
        every = dict.fromkeys(("status", "project", "agent", "since", "until"), "")
        return sessions.list_sessions(self._context, limit, offset, **every | narrowed)

    def show_session(self, ref: str, phase: str = "", offset: int = 0) -> str:
        """Return a session, or one phase of it."""
        return sessions.show_session(self._context, ref, phase, offset)

    def context_of(self, ref: str, budget: int) -> str:
        """Return the resume context of a session."""
        return sessions.context_of(self._context, ref, budget)

    def list_items(self) -> str:
        """Return one line for each item of knowledge."""
        return knowing.list_of_items(self._context)

    def show_item(self, ref: str) -> str:
        """Return one item of knowledge."""
        return knowing.show_item(self._context, ref)

    def listed(self) -> list[Listed]:
        """Return the newest sessions and the items with the highest weights."""
        quoting = Quoting(redact_of(vault_of(self._context).settings.secrets))
        found = [
            (f"sessions/{row['id']}", str(row["id"]), str(row["title"] or ""))
            for row in sessions.newest(self._context, _LISTED)
        ]
        found += [(f"knowledge/{row.id}", row.id, row.item.title) for row in knowing.items(self._context, _LISTED)]
        # Files may have any name, so only valid ids are listed; other notes can still be found by searching.
        offered = [each for each in found if is_session_id(each[1])]
        return [Listed(path, name, quoting.line(title, 100)) for path, name, title in offered]

    def close(self) -> None:
        """Pause the session begun for the client."""
        self._running.close()
