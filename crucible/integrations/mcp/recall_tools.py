"""The tools `recall_context`, `recall_search`, `recall_timeline` and `recall_get`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from crucible.core.errors import UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.markdown.containment import quote_line
from crucible.integrations.mcp.opened_vault import vault_of
from crucible.integrations.mcp.replies import (
    Quoting,
    answer,
    bounded,
    checked,
    day_of,
    is_session_id,
    page,
)
from crucible.integrations.mcp.server_context import ServerContext
from crucible.integrations.mcp.session_tools import check_session
from crucible.memory.knowledge.item_status import should_ask
from crucible.search.answers import UNCERTAIN, age_of_folded
from crucible.search.embedded.segments import analyze
from crucible.search.recall import MOST, Answer, Event, EventKind, Hit, Question, Recall, SessionHit
from crucible.search.snippets import clean_snippet
from crucible.vault.index.time_filters import parse_when

_SNIPPET, _NEIGHBOUR, _LINE, _MOMENT = 400, 160, 160, 400
"""Maximum characters: a hit in a context, a neighbouring event, a hit in a list, and an event in a timeline."""
_WHOLE, _LEAST_WHOLE = 12_000, 600
"""Maximum characters that `get` shows of all events together, and the minimum for each event."""
_FAR, _NOTE = 20, 300
"""Maximum events on each side of a timeline, and maximum characters of recall's own notes."""
_LONGEST_QUERY = 200_000


class RecallTools:
    """The recall tools for one client.

    `open_recall` is called for the first query, because a server must start quickly.
    """

    def __init__(self, context: ServerContext, open_recall: Callable[[ServerContext], Recall]) -> None:
        self._context = context
        self._open = open_recall
        self._recall: tuple[tuple[str, str], Recall] | None = None
        # Clients call several tools at the same time, but an engine answers one query at a time.
        self._turn = threading.Lock()

    def context(self, query: str, event_types: Sequence[str] | None, session: str, limit: int) -> str:
        """Return the best events with their neighbours."""
        question = Question(
            checked("query", query, _LONGEST_QUERY),
            kinds=_kinds(event_types),
            session=session.strip(),
            limit=bounded("limit", limit, 1, MOST),
            context=1,
        )
        found = self._ask(question)
        quoting = self._quoting()
        hits = [_hit(quoting, number, hit) for number, hit in enumerate(found.hits, 1)]
        return answer(_headline(found, len(hits)), hits, _more_of(found, limit))

    def search(
        self,
        query: str,
        event_types: Sequence[str] | None,
        session: str,
        limit: int,
        offset: int,
        *,
        since: str = "",
        until: str = "",
        **narrowed: str,
    ) -> str:
        """Return one line for each event and session found; `narrowed` are `agent`, `channel` and `project`."""
        bounded("limit", limit, 1, MOST), bounded("offset", offset, 0, MOST - 1)
        question = Question(
            checked("query", query, _LONGEST_QUERY),
            kinds=_kinds(event_types),
            session=session.strip(),
            since=_moment(since, self._context.now(), end=False),
            until=_moment(until, self._context.now(), end=True),
            limit=min(MOST, offset + limit + 1),
            context=0,
            archived=False,
            **{name: text.strip() for name, text in narrowed.items()},
        )
        found = self._ask(question)
        quoting = self._quoting()
        shown = found.hits[offset : offset + limit]
        hits = [_line(quoting, at, hit) for at, hit in enumerate(shown, offset + 1)]
        sessions = [_session(quoting, each) for each in found.sessions[:limit]] if not offset else []
        # If the maximum number of hits was found, there may be more.
        known = len(found.hits) + (len(found.hits) == MOST)
        more = page(known, offset, limit, MOST)
        ways = "Events around one: recall_timeline(anchor=id). Full texts: recall_get(ids)." if hits else ""
        return answer(_headline(found, len(shown)), [*hits, *sessions], [more, ways])

    def timeline(self, anchor: str, before: int, after: int) -> str:
        """Return an event and its neighbours."""
        bounded("before", before, 0, _FAR), bounded("after", after, 0, _FAR)
        anchor = checked("anchor", anchor.strip(), 400)
        with self._turn:
            events = self._opened().around(anchor, before, after)
        if not events:
            raise UsageError("no event with that id", "recall_search and recall_context show the ids of events")
        quoting = self._quoting()
        lines = [_event(quoting, each, "> " if each.id == anchor else "") for each in events]
        return answer([f"{len(events)} events, the anchor is marked >"], lines, ["Full texts: recall_get(ids)."])

    def get(self, ids: Sequence[str], offset: int) -> str:
        """Return the text of events."""
        requested = [*dict.fromkeys(checked("an id", each.strip(), 400) for each in ids)]
        bounded("the number of ids", len(requested), 1, MOST), bounded("offset", offset, 0, 100_000_000)
        with self._turn:
            events = self._opened().get(requested)
        if not events:
            raise UsageError("no events with these ids", "recall_search and recall_context show the ids of events")
        quoting = self._quoting()
        room = max(_LEAST_WHOLE, _WHOLE // len(events))
        blocks = []
        for each in events:
            text, left = quoting.part(each.text, offset, room)
            title = quoting.line(each.title or each.phase_name, _LINE)
            blocks.append(f"{_label(quoting, each)} {title}".rstrip() + (f"\n{text}" if text else ""))
            if left:
                blocks.append(f"[{left:,} more characters; continue with offset={offset + room}]")
        missing = len(requested) - len({each.id for each in events})
        headline = [f"{len(events)} of {len(requested)} ids; the others are unknown."] if missing > 0 else []
        return answer(headline, blocks, [self._question(events)])

    def _question(self, events: Sequence[Event]) -> str:
        """Occasionally return a question whether an item of knowledge helped."""
        # Outside the fence, only text that is certainly an id is allowed.
        items = [each.id for each in events if each.kind is EventKind.KNOWLEDGE and is_session_id(each.id)]
        vault = vault_of(self._context)
        if not items or not should_ask(vault, vault.settings.knowledge.ask_one_in):
            return ""
        return f"Did it help? Call recall_feedback(id={items[0]!r}, useful=true or false)."

    def _ask(self, question: Question) -> Answer:
        with self._turn:
            found = self._opened(question.project).ask(question, self._context.now())
        if question.session and not (found.hits or found.sessions):
            check_session(self._context, question.session)
        fits = (hit for hit in found.hits if _is_of(question.project, hit.event))
        return found._replace(hits=tuple(fits))

    def _opened(self, project: str = "") -> Recall:
        """Return recall for the current vault and viewer, or for the named project."""
        context = replace(self._context, asked=project) if project else self._context
        key = (context.root(), context.viewer)
        if self._recall is None or self._recall[0] != key:
            self._recall = (key, self._open(context))
        return self._recall[1]

    def _quoting(self) -> Quoting:
        return Quoting(redact_of(vault_of(self._context).settings.secrets))


def _is_of(project: str, event: Event) -> bool:
    """Return whether a hit fits the requested project: knowledge from other projects does not."""
    return not project or event.kind is not EventKind.KNOWLEDGE or event.project in ("", project)


# --- the query -------------------------------------------------------------------------------------------------------


def _kinds(names: Sequence[str] | None) -> frozenset[EventKind]:
    try:
        return frozenset(EventKind(name.strip().lower()) for name in names) if names else frozenset(EventKind)
    except ValueError as error:
        raise UsageError(f"event_types: {error}", "of " + ", ".join(EventKind)) from None


def _moment(text: str, now: datetime, *, end: bool) -> datetime | None:
    return parse_when(checked("a time", text, 60), now, end=end) if text.strip() else None


# --- the results -----------------------------------------------------------------------------------------------------


def _headline(found: Answer, shown: int) -> list[str]:
    count = f"{shown} found" if shown else "Nothing found. Try fewer or other words, or omit event_types."
    if found.uncertain:
        count += f"; {UNCERTAIN}. The hits below may be about something else."
    return [count, *(quote_line(note, _NOTE) for note in found.notes)]


def _more_of(found: Answer, limit: int) -> list[str]:
    if not found.hits:
        return []
    more = f"More: limit up to {MOST}; " if len(found.hits) >= limit < MOST else ""
    return [f"{more}full texts: recall_get(ids); events around one: recall_timeline(anchor=id)."]


def _label(quoting: Quoting, event: Event, number: str = "") -> str:
    head = f"{number} {event.speaker}".strip()
    where = [] if event.kind is EventKind.KNOWLEDGE else [f"session {event.session}", event.phase]
    words = [head, day_of(event.at), *where, f"id {event.id}"]
    return f"[{', '.join(quoting.name(word) for word in words if word)}]"


def _hit(quoting: Quoting, number: int, hit: Hit) -> str:
    event = hit.event
    lines = [
        f"{_label(quoting, event, str(number))} {quoting.line(event.title or event.phase_name, 80)}".rstrip(),
        f"  {quoting.line(_snippet(quoting, hit), _SNIPPET)}",
    ]
    for name, beside in (("before", hit.before[-1:]), ("after", hit.after[:1])):
        # Only our own labels begin a line; quoted text is indented.
        lines += [f"[{number} {name}, {each.kind}] {quoting.line(each.text, _NEIGHBOUR)}" for each in beside]
    return "\n".join(lines + _also(quoting, number, hit))


def _line(quoting: Quoting, number: int, hit: Hit) -> str:
    title = f"{hit.event.title}: " if hit.event.title else ""
    text = quoting.line(title + _snippet(quoting, hit), _LINE)
    return "\n".join([f"{_label(quoting, hit.event, str(number))} {text}", *_also(quoting, number, hit)])


def _also(quoting: Quoting, number: int, hit: Hit) -> list[str]:
    """Return a label that names the events folded into a hit."""
    words = [quoting.name(f"{each.id} {day_of(each.at)}".strip()) for each in hit.also]
    return [f"[{number} also in {len(words)} {age_of_folded(hit)}, {', '.join(words)}]"] if words else []


def _snippet(quoting: Quoting, hit: Hit) -> str:
    return clean_snippet(hit.event.text, hit.snippet, quoting.clean, analyze) or hit.event.text


def _event(quoting: Quoting, event: Event, mark: str) -> str:
    return f"{mark}{_label(quoting, event)} {quoting.line(event.text, _MOMENT)}"


def _session(quoting: Quoting, found: SessionHit) -> str:
    words = [f"session {found.session}", day_of(found.started), found.project]
    return quoting.labelled(words, found.title, _LINE)
