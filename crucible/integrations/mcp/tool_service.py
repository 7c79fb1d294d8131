"""Everything that tools do, in one value: what reads, searches and writes, imported when the first of them is called.

Owns which part answers what; `tools` and `server` know no other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from crucible.core.secrets.redaction import redact_of
from crucible.integrations.mcp import knowledge_tools as knowing
from crucible.integrations.mcp import session_tools as sessions
from crucible.integrations.mcp.current_session import Running
from crucible.integrations.mcp.knowledge_tools import Noted
from crucible.integrations.mcp.opened_vault import EVERYTHING, open_own, open_recall, vault_of
from crucible.integrations.mcp.recall_tools import Recalling
from crucible.integrations.mcp.record_tool import Telling, tell
from crucible.integrations.mcp.replies import Quoting, is_session_id
from crucible.integrations.mcp.server_context import Caller, Place
from crucible.search.recall import Recall

__all__ = ["Desk", "Listed"]

_LISTED = 20


class Listed(NamedTuple):
    """A note that a client is offered: `sessions/ID` or `knowledge/ID`, a name and a title, both fit to be shown."""

    path: str
    name: str
    title: str


class Desk:
    """The parts of one server."""

    def __init__(self, place: Place, opener: Callable[[Place], Recall] | None = None) -> None:
        """`opener` opens what searches; by default it is `opening`'s."""
        self._place = place
        self.recalling = Recalling(place, opener or open_recall)
        self._running = Running(place)

    def add(
        self,
        type_: str,
        tags: Sequence[str],
        failure: Mapping[str, str],
        confidence: float | None,
        **told: str,
    ) -> str:
        """An item of knowledge; it comes from the running session when no other one is named."""
        noted = Noted(type_, tags=tags, failure=failure, confidence=confidence, **told)
        # What is alike is compared over all; who sees it is looked at there.
        similar = open_own(self._place, EVERYTHING).similar
        return knowing.add(self._place, noted, self._running.known(), similar)

    def feedback(self, ref: str, *, useful: bool) -> str:
        """Whether an item helped."""
        return knowing.feedback(self._place, ref, useful=useful)

    def log(self, caller: Caller, metadata: Mapping[str, Any], **told: str) -> str:
        """An entry of a session's note."""
        return tell(self._running, Telling(metadata=metadata, **told), caller)

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
