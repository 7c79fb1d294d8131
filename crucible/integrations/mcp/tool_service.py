"""Everything that the tools do, imported when the first of them is called."""

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
from crucible.documents.knowledge.item_weight import EVERYTHING
from crucible.documents.markdown.quoting import quote_line
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
"""The channel of sessions that were begun here: another process's is nobody else's."""
_ENDED = "the client was closed"


class RunningSessions:
    """The sessions of one server: its client's, and the one that was begun for it, if any."""

    def __init__(self, place: ServerContext) -> None:
        self._place = place
        self._turn = threading.Lock()
        self._own: tuple[Path, str] | None = None
        """The vault, and the id of the session that was begun here."""
        self._last = ""
        """The id of the session that was last logged to unasked."""

    def recorder(self, named: str, caller: Caller) -> Recorder:
        """For what is to be told now.  `SessionNotFound`, `SessionEnded` or `UsageError` say what to do."""
        place, vault = self._place, vault_of(self._place)
        with self._turn:
            told = named.strip() or place.env.get("CRU_SESSION", "").strip()
            name = told or self._native(vault) or self._begun_here(vault) or self._active(vault, caller)
            recorder = self._attached(vault, name, named.strip()) if name else self._begin(vault, caller)
            self._last = self._last if named.strip() else recorder.id
        return recorder

    def _attached(self, vault: Vault, name: str, named: str) -> Recorder:
        try:
            return record.open(name, vault=vault, cwd=self._place.cwd, projects=self._place.user.projects)
        except SessionNotFound:
            what = "" if named else ", which CRU_SESSION names"
            raise SessionNotFound(
                f"no session {name!r}{what}", f"{UNKNOWN}; it takes a whole id, and nothing was written"
            ) from None

    def known(self) -> str:
        """The id of the running session where that is told without looking for it, "" else."""
        return self._place.env.get("CRU_SESSION", "").strip() or self._last

    def close(self) -> None:
        """The client is gone, so the session that was begun for it stops; who cannot be told is found idle later."""
        if self._own is None:
            return
        with suppress(CrucibleError, OSError):
            root, name = self._own
            vault = Vault(root, load_vault_settings(root, self._place.user))
            recorder = record.open(
                name,
                vault=vault,
                cwd=self._place.cwd,
                projects=self._place.user.projects,
            )
            if recorder.read_head().status == "active":
                recorder.pause(_ENDED)
                after_stop(vault, recorder.path, now=now())

    # --- the client's own --------------------------------------------------------------------------------------------

    def _native(self, vault: Vault) -> str:
        """The note of the session that Claude Code says it is in, brought up to date first: what is told now stands behind it.

        "" where no hook told of that session and no note has it: then nobody asked for its transcript.
        """
        native = self._place.env.get("CLAUDE_CODE_SESSION_ID", "")
        client = CLIENT.name
        if not native:
            return ""
        source = source_name(client, native)
        spooled = next((each for each in load_spool(vault.root, client) if each.session == native), None)
        transcript = Path(spooled.transcript) if spooled and spooled.transcript else None
        if transcript and transcript.name == f"{native}.jsonl" and transcript.is_file():
            options = ImportOptions(now=now(), projects=self._place.user.projects, client=Client.RUNNING)
            with suppress(CrucibleError):  # what is not written down now is at the turn's end
                import_transcripts(vault, DIALECTS[client], [transcript], options=options)
        path = SourceTable(vault).find(source)
        if path is None and spooled:
            raise UsageError(
                "this session has no note yet",
                "it is written at the end of this turn; tell it again after your next answer",
            )
        return note_name(path.name) if path else ""

    # --- others ------------------------------------------------------------------------------------------------------

    def _active(self, vault: Vault, caller: Caller) -> str:
        project = self._place.project
        if not project or self._place.env.get("CLAUDE_CODE_SESSION_ID"):
            return ""
        query = SessionQuery(status="active", project=project, agent=caller.agent)
        rows, _ = index_of(vault).ask(lambda view: select(view, query))
        names = [str(row["id"]) for row in rows if row["channel"] != _CHANNEL]
        if len(names) > 1:
            raise UsageError(
                f"{len(names)} sessions of {caller.agent} are active in {project}, and it cannot be told which one is yours",
                f"name it with session=, one of: {', '.join(filter(is_session_id, names[:5]))}",
            )
        return names[0] if names else ""

    def _begun_here(self, vault: Vault) -> str:
        return self._own[1] if self._own and self._own[0] == vault.root else ""

    def _begin(self, vault: Vault, caller: Caller) -> Recorder:
        project = self._place.project
        recorder = record.session(
            f"{caller.agent} in {project}" if project else f"Notes of {caller.agent}",
            vault=vault,
            agent=caller.speaker,
            channel=_CHANNEL,
            project=project,
            cwd=self._place.cwd,
            projects=self._place.user.projects,
        )
        self._own = (vault.root, recorder.id)
        return recorder


_LONGEST, _MOST_KEYS, _LONGEST_KEY = 50_000, 30, 60


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What is told: `type` is one of `tools.TYPES`; of `rationale` and `resolution` a type takes one or none; `metadata` is anything else."""

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
        "user": {"note": "note"},
        "approval_required": {},
        "decision_needed": {"options": "options"},
        "task_complete": {"task": "task"},
    }
)
"""The types, which are the recorder's methods, and which of a client's words each takes as which argument."""
_LISTS = ("applies_to", "options")


def _arguments(telling: LogEntry, takes: Mapping[str, str]) -> Iterator[tuple[str, str | list[str]]]:
    for key, name in takes.items():
        value = telling.metadata.get(key)
        words = [str(each) for each in (value if isinstance(value, list) else [value]) if _is_word(each)]
        if key in _LISTS:  # or one of its items alone
            yield name, words
        else:
            yield name, getattr(telling, key, "") or (str(value) if _is_word(value) else "")


def _is_word(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def tell(running: RunningSessions, telling: LogEntry, caller: Caller) -> str:
    """Write it, and say where it stands; raises `UsageError` for what cannot be said so."""
    kind = telling.type.strip().lower()
    if kind not in _TAKES:
        raise UsageError(f"type {telling.type[:40]!r}: unknown", "one of " + ", ".join(_TAKES))
    takes = _TAKES[kind]
    for name in ("rationale", "resolution"):
        text = checked(name, getattr(telling, name), _LONGEST)
        if text.strip() and name not in takes:
            owner = next(other for other, words in _TAKES.items() if name in words)
            raise UsageError(f"{kind}: takes no {name}", f"{name} goes with {owner}; put it into content")
    content = checked("content", telling.content, _LONGEST)
    if not content.strip():
        raise UsageError(f"{kind}: nothing was said", "content says what is to be written down")
    text = content + _rest(telling.metadata, takes)
    recorder = running.recorder(telling.session, caller)
    way: Callable[..., str] = getattr(recorder, kind)
    phase = way(text, **dict(_arguments(telling, takes)))
    where = f"{recorder.id}, {phase}" if phase else recorder.id
    warnings = [quote_line(warning, 300) for warning in recorder.warnings]
    return "\n".join([f"Logged {kind} in session {where}.", *warnings])


def _rest(metadata: Mapping[str, Any], takes: Mapping[str, str]) -> str:
    """What a type has no place for, as a list behind the text: nothing that was told is dropped."""
    rest = {
        name: value
        for name, value in metadata.items()
        if not (name in takes and _is_said(value)) and value not in (None, "", [], {})
    }
    if len(rest) > _MOST_KEYS:
        raise UsageError(f"metadata: {len(rest)} keys", f"at most {_MOST_KEYS} are taken")
    lines = [f"- {quote_line(name, _LONGEST_KEY)}: {_value(name, value)}" for name, value in rest.items()]
    return "\n\n" + "\n".join(lines) if lines else ""


def _is_said(value: object) -> bool:
    """Whether it is told where its type has a place for it."""
    return all(map(_is_word, value)) if isinstance(value, list) else _is_word(value)


def _value(name: str, value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise UsageError(f"metadata: {name[:40]!r} is no JSON", "give texts, numbers and lists of them") from None
    return " ".join(checked(f"metadata {name[:40]!r}", text, 4000).split())


_LISTED = 20


class Listed(NamedTuple):
    """A note that a client is offered: `sessions/ID` or `knowledge/ID`, a name and a title, both fit to be shown."""

    path: str
    name: str
    title: str


class ToolService:
    """The parts of one server."""

    def __init__(self, place: ServerContext, opener: Callable[[ServerContext], Recall] | None = None) -> None:
        """`opener` opens what searches; by default it is `opening`'s."""
        self._place = place
        self.recalling = RecallTools(place, opener or open_recall)
        self._running = RunningSessions(place)

    def add(
        self,
        type_: str,
        tags: Sequence[str],
        failure: Mapping[str, str],
        confidence: float | None,
        **told: str,
    ) -> str:
        """An item of knowledge; it comes from the running session when no other one is named."""
        noted = NewItem(type_, tags=tags, failure=failure, confidence=confidence, **told)
        # What is alike is compared over all; who sees it is looked at there.
        similar = open_own(self._place, EVERYTHING).similar
        return knowing.add(self._place, noted, self._running.known(), similar)

    def feedback(self, ref: str, *, useful: bool) -> str:
        """Whether an item helped."""
        return knowing.feedback(self._place, ref, useful=useful)

    def log(self, caller: Caller, metadata: Mapping[str, Any], **told: str) -> str:
        """An entry of a session's note."""
        return tell(self._running, LogEntry(metadata=metadata, **told), caller)

    def list_sessions(self, limit: int = _LISTED, offset: int = 0, **narrowed: str) -> str:
        """A line for each session."""
        every = dict.fromkeys(("status", "project", "agent", "since", "until"), "")
        return sessions.list_sessions(self._place, limit, offset, **every | narrowed)

    def show_session(self, ref: str, phase: str = "", offset: int = 0) -> str:
        """A session, or one phase of it."""
        return sessions.show_session(self._place, ref, phase, offset)

    def context_of(self, ref: str, budget: int) -> str:
        """What is needed to go on with a session."""
        return sessions.context_of(self._place, ref, budget)

    def list_items(self) -> str:
        """A line for each item of knowledge."""
        return knowing.list_of_items(self._place)

    def show_item(self, ref: str) -> str:
        """One item of knowledge."""
        return knowing.show_item(self._place, ref)

    def listed(self) -> list[Listed]:
        """The newest sessions and the items of most weight."""
        quoting = Quoting(redact_of(vault_of(self._place).settings.secrets))
        found = [
            (f"sessions/{row['id']}", str(row["id"]), str(row["title"] or ""))
            for row in sessions.newest(self._place, _LISTED)
        ]
        found += [(f"knowledge/{row.id}", row.id, row.item.title) for row in knowing.items(self._place, _LISTED)]
        # A file may be called anything; what can be no id is found by asking, and is not offered.
        offered = [each for each in found if is_session_id(each[1])]
        return [Listed(path, name, quoting.line(title, 100)) for path, name, title in offered]

    def close(self) -> None:
        """The client is gone."""
        self._running.close()
