"""The section on recent sessions: what was decided, went wrong and was reached in them, and what comes next.

Owns what is told of a session whose history is there and of one that has none yet, and how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.briefing.entries import Question
from crucible.briefing.model import Item, Rank, Section
from crucible.briefing.quoting import Quoter, whole_words
from crucible.briefing.rows import Event, Happened, Known, begun, time_of
from crucible.history.composing import PAUSED
from crucible.history.model import Entry, Line
from crucible.index.schema import Row
from crucible.session.tasks import is_task_news

__all__ = ["NEXT", "UNRESOLVED", "questions_section", "sessions_section"]

_DECISIONS, _DONE, _NEXT, _ERRORS, _REACHED = 8, 6, 5, 4, 5
"""Lines of each that are told of one session, the newest."""
_QUESTIONS = 10
UNRESOLVED, NEXT = "Unresolved error: ", "Next: "
"""Our words before an error, and before what comes next."""
_TITLE, _WHY = 120, 160


class _Told(NamedTuple):
    """A session by when it began, for the order."""

    at: str
    session: str
    row: Row | None
    happened: Happened | None
    entry: Entry | None


def sessions_section(
    known: Known, entries: Sequence[Entry], *, now: datetime, depth: int, quoter: Quoter
) -> Section:
    """The newest sessions, each with its items: those whose events are told, and `depth` histories."""
    items = [item for one in _told(known, entries[:depth]) for item in _session(one, now, quoter)]
    return Section("sessions", "Recent sessions", tuple(items))


def questions_section(questions: Sequence[Question], quoter: Quoter) -> Section:
    """What nobody answered yet."""
    told = [(quoter.line(one.text), quoter.line(one.session, 130)) for one in questions[:_QUESTIONS]]
    items = [Item(f"{text} ({name})" if name else text, Rank.TODO) for text, name in told if text]
    if len(questions) > _QUESTIONS:
        items.append(Item(f"and {len(questions) - _QUESTIONS} more: cru history list", Rank.TODO))
    return Section("questions", "Open questions", tuple(items))


def _told(known: Known, entries: Sequence[Entry]) -> list[_Told]:
    rows = {str(row["id"]): row for row in known.newest}
    found: dict[str, _Told] = {}
    for happened in known.events:
        name, at = str(happened.row["id"]), begun(happened.row)
        found[name] = _Told(at, name, happened.row, happened, None)
    for entry in entries:
        name = entry.session_id
        time = entry.started or entry.ended
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ") if time else name[:10]
        known_one = found.get(name) or _Told(at, name, rows.get(name), None, None)
        found[name] = known_one._replace(entry=entry)
    return sorted(found.values(), key=lambda one: (one.at, one.session), reverse=True)


def _session(one: _Told, now: datetime, quoter: Quoter) -> Iterator[Item]:
    group = quoter.line(_label(one, now), 200)
    title = (
        one.entry.title if one.entry and one.entry.title else whole_words(one.row["title"] if one.row else "")
    )
    texts = list(_lines(one))
    if shown := quoter.line(title, _TITLE):
        yield Item(shown, Rank.DECISION, group)
    elif not texts:
        yield Item("nothing was noted", Rank.LESSON, group)
    for rank, lead, text, why in texts:
        if shown := quoter.line(text):
            reason = quoter.line(why, _WHY)
            yield Item(f"{lead}{shown}{f' (why: {reason})' if reason else ''}", rank, group)


def _label(one: _Told, now: datetime) -> str:
    """`2026-11-21-add-clock, yesterday, completed`: only what is ours or an id."""
    day = time_of(one.at) or time_of(one.at[:10])
    status = str(one.row["status"] or "") if one.row else ""
    return ", ".join(filter(None, (one.session, _day(day, now), status))).replace("]", "")


def _day(time: datetime | None, now: datetime) -> str:
    if time is None:
        return ""
    days = (now.date() - time.date()).days
    if days <= 0:
        return "today"
    return "yesterday" if days == 1 else f"{days} days ago"


_Line = tuple[Rank, str, str, str]


def _lines(one: _Told) -> Iterator[_Line]:
    """Rank, label, text and reason of each line: the history tells better, and errors only the session does."""
    entry, events = one.entry, one.happened.events if one.happened else ()
    if entry:
        yield from _of_entry(entry)
        yield from _of_events([event for event in events if event.kind == "error" and event.waits])
    else:
        yield from _of_events(events)


def _of_entry(entry: Entry) -> Iterator[_Line]:
    for rank, lead, lines, most in (
        (Rank.TODO, NEXT, [line for line in entry.further if not line.text.startswith(PAUSED)], _NEXT),
        (Rank.DECISION, "Decided: ", entry.decisions, _DECISIONS),
        (Rank.LESSON, "Done: ", entry.done, _DONE),
    ):
        for line in _newest(lines, most):
            yield rank, lead, line.text, line.why


def _newest(lines: Sequence[Line], most: int) -> Sequence[Line]:
    return lines[-most:]


def _of_events(events: Sequence[Event]) -> Iterator[_Line]:
    for rank, lead, kinds, most in (
        (Rank.DECISION, "Decided: ", ("decision",), _DECISIONS),
        (Rank.DECISION, "Corrected: ", ("correction",), _DECISIONS),
        (Rank.TODO, NEXT, ("open_end",), _NEXT),
        (Rank.LESSON, "Done: ", ("outcome",), _DONE),
        (Rank.LESSON, "Known: ", ("environment",), _DONE),
        (Rank.LESSON, "Reached: ", ("milestone", "task_complete", "checkpoint"), _REACHED),
        (Rank.LESSON, "Error: ", ("error",), _ERRORS),
    ):
        for event in [one for one in events if one.kind in kinds and not is_task_news(one.text)][-most:]:
            told = UNRESOLVED if event.waits and event.kind == "error" else lead
            yield (Rank.TODO if told != lead else rank), told, whole_words(event.text), event.why
