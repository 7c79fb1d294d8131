"""One of several native sessions of a note: what it adds, and what it leaves to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import (
    Answered,
    ContextSeen,
    Event,
    Prompted,
    Replied,
    Resumed,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
    UsageCounted,
)
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.recording.session_draft import session_of
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.import_properties import rows_by_source, synced_rows
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.session import Session, Status
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.shared_notes import phase_id_in_note
from crucible.documents.session.status_rules import Client
from tests.unit.documents.recording.sample_events import BEGIN, LATER, at, event_lists, setting

OTHER = "codex:other"


def first_note(*events: Event) -> str:
    recorder = Recorder("claude-code")
    for event in events or (
        Prompted(at(0), "Build it"),
        Replied(at(1), "Built.", final=True),
        Answered(at(2)),
    ):
        recorder.add(event)
    return render_session(session_of(recorder.draft(), setting()))


def guest(events: Sequence[Event], synced: str = "", *, joins: bool = False) -> Recorder:
    recorder = Recorder("codex", synced=synced, joins=joins, after="claude-code")
    for event in events:
        recorder.add(event)
    return recorder


def put(text: str, recorder: Recorder, **options: object) -> str:
    place = setting(source=OTHER, **options)
    base = session_of(recorder.base or recorder.draft(), place)
    now = session_of(recorder.draft(), place)
    source = Source(text)
    return apply_edits(source, merge(source, read(text), base, now, is_guest=recorder.is_guest)).text


def read(text: str) -> Session:
    return read_session(Source(text), "s")


def later(events: Sequence[Event]) -> list[Event]:
    """The same an hour later, behind a prompt that `cru` gave."""
    told = [
        replace(e, at=replace(e.at, time=BEGIN + timedelta(hours=1, seconds=7 * n))) for n, e in enumerate(events, 1)
    ]
    whole = [Resumed(at(3600, row="resumed0"), "s", "Build it"), *told]
    return [replace(e, at=replace(e.at, line=n)) for n, e in enumerate(whole, 1)]


@given(event_lists(1), st.data())
def test_in_two_parts_it_comes_to_the_same_as_in_one(events: list[Event], data: st.DataObject) -> None:
    told = later(events)
    split = data.draw(st.integers(1, len(told)))
    part = guest(told[:split], joins=True)
    first = first_note()
    in_two = put(first, part)
    in_two = put(in_two, guest(told, part.draft().mark))
    in_one = put(first, guest(told, joins=True))
    assert _but_order(read(in_two)) == _but_order(read(in_one))
    assert put(in_one, guest(told, guest(told).draft().mark)) == in_one


def test_a_guests_model_stays_though_a_later_row_gives_its_message_to_another() -> None:
    told = later([UsageCounted(at(1), "u1", "m", 1, 1, 1), UsageCounted(at(2), "u1", "m-2", 1, 1, 1)])
    part = guest(told[:2], joins=True)
    in_two = put(put(first_note(), part), guest(told, part.draft().mark))
    assert read(in_two).model == read(put(first_note(), guest(told, joins=True))).model == "m"


def _but_order(session: Session) -> Session:
    """A frontmatter key that was taken out and came back stands at the end."""
    return replace(session, properties={})


@given(event_lists(1))
def test_what_was_there_stays(events: list[Event]) -> None:
    first = first_note()
    before, after = read(first), read(put(first, guest(later(events), joins=True)))
    assert after.phases[: len(before.phases)] == before.phases
    assert (after.title, after.started) == (before.title, before.started)
    assert after.phases[len(before.phases)].name == "Resumed: Build it"
    assert after.sources == (*before.sources, OTHER)


def test_tokens_of_both_are_added_and_the_model_is_the_first() -> None:
    text = first_note(
        Prompted(at(0), "Build it"),
        Replied(at(1), "Built.", "m", "opus", final=True),
        UsageCounted(at(2), "m", "opus", 5, 7, 9),
    )
    events = later([Replied(at(4), "More.", "n", "gpt"), UsageCounted(at(5), "n", "gpt", 100, 20, 3)])
    session = read(put(text, guest(events, joins=True)))
    before = read(text)
    assert session.model == before.model == "opus"
    assert session.tokens_used == (before.tokens_used or 0) + (guest(events).draft().tokens_used)
    assert session.tokens_cached == (before.tokens_cached or 0) + (guest(events).draft().tokens_cached)
    assert session.phases[-1].tokens == guest(events).draft().tokens_used


def test_its_model_is_named_when_it_becomes_known_and_a_humans_words_stay() -> None:
    events = later([Answered(at(4)), Replied(at(5), "More.", "n", "gpt")])
    begun = put(first_note(), guest(events[:2], joins=True))
    assert "> [!agent_switch] claude-code → codex\n\n" in begun + "\n"
    grown = guest(events, guest(events[:2]).draft().mark)
    assert "> [!agent_switch] claude-code → codex\n> Model: gpt\n" in put(begun, grown)
    mine = begun.replace("claude-code → codex\n", "claude-code → codex\n> by hand\n")
    assert "> by hand\n" in put(mine, grown)
    assert "Model: gpt" not in put(mine, grown)


def tasks(*states: tuple[str, str, str]) -> Event:
    return TasksListed(at(9), tuple(TaskState(*state) for state in states))


def test_tasks_with_the_same_words_are_the_same_and_others_keep_apart() -> None:
    text = first_note(Prompted(at(0), "Build it"), tasks(("1", "Write", "completed"), ("2", "Test", "pending")))
    events = later([tasks(("1", "Test", "completed"), ("2", "Ship", "pending"))])
    told = put(text, guest(events, joins=True))
    assert [(t.id, t.content, t.status) for t in read(told).tasks] == [
        ("1", "Write", "completed"),
        ("2", "Test", "completed"),
        ("2.2", "Ship", "pending"),
    ]
    more = [*events, replace(tasks(("1", "Test", "completed"), ("2", "Ship", "completed")), at=at(4000))]
    grown = read(put(told, guest(more, guest(events).draft().mark)))
    assert [(t.id, t.status) for t in grown.tasks] == [
        ("1", "completed"),
        ("2", "completed"),
        ("2.2", "completed"),
    ]


def test_a_pending_call_of_the_first_half_is_not_answered_by_the_second() -> None:
    call = ToolUsed(at(1), "c1", "Bash", {"command": "make"})
    text = first_note(Prompted(at(0), "Build it"), call)
    events = later([replace(call, at=at(4)), ToolReturned(at(5), "c1", "done")])
    begun = put(text, guest(events[:2], joins=True))
    session = read(put(begun, guest(events, guest(events[:2]).draft().mark)))
    assert [c.outcome for c in session.calls()] == ["pending", "ok"]


def test_a_phase_of_the_same_name_in_the_other_half_is_not_taken_for_its_own() -> None:
    events = [
        *later([]),
        Prompted(at(3700), "Build it"),
        Replied(at(3701), "One."),
        Replied(at(3800), "Two."),
    ]
    begun = put(first_note(), guest(events[:3], joins=True))
    cut = begun[: begun.rindex("\n---\n\n## Build it")] + "\n"
    session = read(put(cut, guest(events, guest(events[:3]).draft().mark)))
    assert session.phases[0] == read(first_note()).phases[0]


@pytest.mark.parametrize("client", [Client.RUNNING, Client.UNKNOWN])
def test_who_worked_last_says_where_the_session_stands(client: Client) -> None:
    events = later([Replied(at(4), "More."), Answered(at(5))])
    young = {"now": BEGIN + timedelta(hours=1, minutes=1), "client": client}
    active = put(first_note(), guest(events, joins=True), **young)
    assert (read(active).status, read(active).ended) == (Status.ACTIVE, None)
    recorder = Recorder("claude-code")
    for event in (Prompted(at(0), "Build it"), Replied(at(1), "Built.", final=True), Answered(at(2))):
        recorder.add(event)
    source = Source(active)
    old = session_of(recorder.draft(), setting(now=LATER))
    assert merge(source, read(active), old, old) == []
    done = read(put(active, guest(events, guest(events).draft().mark)))
    assert done.status is Status.COMPLETED


def test_the_first_half_may_go_on_after_the_second() -> None:
    joined = put(first_note(), guest(later([Replied(at(4), "More.", final=True)]), joins=True))
    told: list[Event] = [
        Prompted(at(0, 1, "a"), "Build it"),
        Replied(at(1, 2, "b"), "Built.", final=True),
        Answered(at(2, 3, "c")),
        Resumed(at(9000, 4, "d"), "s", "Build it"),
        Replied(at(9001, 5, "e"), "Again"),
    ]
    recorder = Recorder("claude-code", synced="c")
    for event in told:
        recorder.add(event)
    assert recorder.base is not None
    place = setting()
    source = Source(joined)
    base, now = session_of(recorder.base, place), session_of(recorder.draft(), place)
    session = read(apply_edits(source, merge(source, read(joined), base, now)).text)
    assert [p.name for p in session.phases] == ["Build it", "Resumed: Build it", "Resumed: Build it"]
    assert (session.status, session.resume_point) == (Status.PAUSED, "phase-3")


def test_a_status_that_a_human_set_stays_until_it_is_resumed() -> None:
    events = later([Replied(at(4), "More."), Answered(at(5))])
    joined = put(first_note(), guest(events, joins=True)).replace("status: completed", "status: failed\nmine: 1")
    more = [*events, Prompted(at(5000), "And?")]
    synced = guest(events).draft().mark
    assert read(put(joined.replace("ended:", "was:"), guest(more, synced))).status is Status.FAILED
    again = [*events, Resumed(at(5000), "s", "x")]
    assert read(put(joined.replace("ended:", "was:"), guest(again, synced))).status is Status.PAUSED


@pytest.mark.parametrize(
    ("place", "wanted"),
    [("phase-1", "phase-3"), ("phase-1.2", "phase-3.2"), ("phase-2.1", "phase-5.1"), ("", "")],
)
def test_a_phase_of_a_transcript_has_its_place_in_the_note(place: str, wanted: str) -> None:
    note = read(put(put_first(), guest(later([Prompted(at(3700), "And?")]), joins=True)))
    assert [p.id for p in note.phases] == ["phase-1", "phase-2", "phase-3", "phase-4"]
    assert phase_id_in_note(note, note.phases[2:3], place) == wanted


def put_first() -> str:
    return first_note(Prompted(at(0), "Build it"), Prompted(at(50), "Test it"))


SOURCES = ["claude-code:a", "codex:b", "claude-code:c"]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            ["claude-code:1", "codex:2", "claude-code:3"],
            {"claude-code:a": "claude-code:1", "codex:b": "codex:2", "claude-code:c": "claude-code:3"},
        ),
        (["codex:2", "claude-code:3"], {"codex:b": "codex:2", "claude-code:c": "claude-code:3"}),
        (["claude-code:1"], {"claude-code:a": "claude-code:1"}),
        ([], {}),
    ],
)
def test_rows_are_their_sources(rows: list[str], wanted: dict[str, str]) -> None:
    assert rows_by_source(SOURCES, rows) == wanted
    assert rows_by_source(SOURCES, synced_rows(SOURCES, wanted)) | wanted == rows_by_source(
        SOURCES, synced_rows(SOURCES, wanted)
    )


def test_the_folder_and_version_are_the_second_clients() -> None:
    events = [ContextSeen(at(1), "s", version="0.169.0"), *later([])]
    session = read(put(first_note(), guest(events, joins=True)))
    assert [str(a) for a in session.participants] == ["claude-code", "codex@0.169.0"]
    assert str(session.phases[-1].agent) == "codex@0.169.0"
