"""The events of a note: no text is lost, ids are unique and stable."""

from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given

from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Phase,
    Prose,
    Session,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.search.recall import EventKind
from crucible.search.session_events import events_of, texts_of
from tests.cases import fewer
from tests.unit.documents.session.session_strategies import entry_lists, sessions

_WORD = re.compile(r"\w+")


@fewer(2)
@given(sessions())
def test_ids_are_unique_and_every_event_has_a_line_of_its_note(session: Session) -> None:
    note = render_session(session)
    told = list(events_of(read_session(Source(note), session.id)))
    ids = [one.event.id for one in told]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(rf"{re.escape(session.id)}#[0-9a-f]{{8}}", one) for one in ids)
    assert all(1 <= one.event.line <= note.count("\n") + 1 for one in told)
    assert [one.event.line for one in told] == sorted(one.event.line for one in told)


@fewer(2)
@given(sessions())
def test_no_word_of_an_entry_is_lost(session: Session) -> None:
    told = {word for one in events_of(session) for word in _WORD.findall(one.event.text)}
    entries = [*session.preamble, *(entry for phase in session.all_phases() for entry in phase.entries)]
    for entry in entries:
        if isinstance(entry, Prose):
            assert set(_WORD.findall(entry.text)) <= told
        elif isinstance(entry, ToolCalls):
            assert {word for call in entry.calls for word in _WORD.findall(f"{call.call} {call.result}")} <= told
        else:
            # Entries have their text in different fields.
            kept = [
                getattr(entry, name, None)
                for name in (
                    "rationale",
                    "alternatives",
                    "cause",
                    "resolution",
                    "words",
                    "note",
                    "summary",
                    "task",
                    "text",
                )
            ]
            if getattr(entry, "kind", "") != "abstract":
                assert {word for text in kept if text for word in _WORD.findall(text)} <= told


@fewer(2)
@given(entry_lists, entry_lists)
def test_ids_stay_when_a_session_grows(first: tuple[Entry, ...], more: tuple[Entry, ...]) -> None:
    before = Session("s", phases=(Phase("a", entries=first),))
    after = replace(before, phases=(*before.phases, Phase("b", entries=more)))
    ids = [one.event.id for one in events_of(before)]
    assert [one.event.id for one in events_of(after)][: len(ids)] == ids


def test_repeated_texts_are_separate_events_with_stable_ids() -> None:
    entry = Prose("again")
    session = Session("s", phases=(Phase("a", entries=(entry, Prose("other"), entry)),))
    ids = [one.event.id for one in events_of(session)]
    shorter = replace(session, phases=(Phase("a", entries=(entry, entry)),))
    assert [one.event.id for one in events_of(shorter)] == [ids[0], ids[2]]


def kinds(session: Session) -> list[tuple[EventKind, str]]:
    return [(one.event.kind, one.event.text) for one in events_of(session)]


def test_findings_are_events_of_their_kind() -> None:
    items = (
        FindingItem("correction", '"Never  on Fridays"', "refused: Edit a.py"),
        FindingItem("outcome", "It works"),
        FindingItem("open_end", "When?"),
        FindingItem("environment", "make needs Postgres"),
        FindingItem("failure", "It broke"),
        FindingItem("report", "Three callers"),
        FindingItem("decision", "Tabs"),
        FindingItem("odd", "What?"),
    )
    assert kinds(Session("s", findings=items)) == [
        (EventKind.CORRECTION, '"Never  on Fridays"\nrefused: Edit a.py'),
        (EventKind.OUTCOME, "It works"),
        (EventKind.OPEN_END, "When?"),
        (EventKind.ENVIRONMENT, "make needs Postgres"),
        (EventKind.ERROR, "It broke"),
        (EventKind.SUBAGENT, "Three callers"),
        (EventKind.DECISION, "Tabs"),
        (EventKind.OBSERVATION, "What?"),
    ]


def test_alternatives_and_causes_are_searched_but_not_their_grounds() -> None:
    grounds = Grounds("reply", 0.5, ("abcd1234",))
    entries = (Decision("A", "b", "c", "user", grounds), Failure("D", "f", "e", grounds))
    assert kinds(Session("s", phases=(Phase("a", entries=entries),))) == [
        (EventKind.DECISION, "A\nRationale: b\nAlternatives: c"),
        (EventKind.ERROR, "D\nCause: e\nResolution: f"),
    ]


def test_a_plan_is_split_into_passages() -> None:
    plan = Callout("plan", "approved: Cache", "One file.\n\nNo server.", fold="-")
    assert kinds(Session("s", phases=(Phase("a", entries=(plan,)),))) == [
        (EventKind.OBSERVATION, "approved: Cache\nOne file."),
        (EventKind.OBSERVATION, "No server."),
    ]
    assert kinds(Session("s", phases=(Phase("a", entries=(Callout("plan", "left"),)),))) == [
        (EventKind.OBSERVATION, "left")
    ]


def test_prose_is_an_event_of_the_agent() -> None:
    assert [said.kind for said in texts_of(Prose("x"))] == [EventKind.AGENT]
