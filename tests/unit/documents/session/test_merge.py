"""A grown transcript put onto a note: what is new comes in, what a human changed stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import (
    Answered,
    CallEnd,
    Event,
    Prompted,
    Replied,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    TaskState,
    Titled,
    ToolReturned,
    ToolUsed,
    UsageCounted,
)
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.recording.session_draft import ChildNote, session_of
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.append import Addition, append
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.session import Decision, Intervention, Prose, Session, Status, Subagent, Task, ToolCalls
from crucible.documents.session.session_reader import read_session
from tests.unit.documents.recording.sample_events import Scribe, at, event_lists, fold, setting


def read(text: str) -> Session:
    return read_session(Source(text), "s")


def merged(text: str, base: Session, now: Session) -> str:
    source = Source(text)
    return apply_edits(source, merge(source, read_session(source, "s"), base, now)).text


def parts(events: Sequence[Event], cut: int, *, judged: bool = False, **options: object) -> tuple[Session, Session]:
    """What an import of the first events wrote, and what the next one has, as the importer finds them."""
    first = folded(events[:cut], judged).draft()
    recorder = folded(events, judged, first.mark)
    base = recorder.base or recorder.draft()
    return session_of(base, setting(**options)), session_of(recorder.draft(), setting(**options))


def folded(events: Sequence[Event], judged: bool, synced: str = "") -> Recorder:
    return fold(events, synced, judge=Scribe() if judged else None)


@given(event_lists(2), st.data())
def test_merging_onto_an_unedited_note_gives_the_whole(events: list[Event], data: st.DataObject) -> None:
    cut, judged = data.draw(st.integers(1, len(events) - 1)), data.draw(st.booleans())
    first = folded(events[:cut], judged)
    if not first.has_work:
        return
    written = render_session(session_of(first.draft(), setting()))
    base, now = parts(events, cut, judged=judged)
    text = merged(written, base, now)
    assert read(text) == read(render_session(now))
    assert merged(text, now, now) == text


@given(event_lists(2), st.integers(1, 13), st.booleans())
def test_the_base_is_what_the_earlier_import_wrote(events: list[Event], cut: int, judged: bool) -> None:
    first = folded(events[:cut], judged).draft()
    if first.mark:
        base, _ = parts(events, cut, judged=judged)
        wrote = session_of(first, setting())
        assert (base.phases, base.tasks, base.tokens_used) == (wrote.phases, wrote.tasks, wrote.tokens_used)


MINE = "> [!milestone] Mine\n> I was here.\n"


@given(event_lists(3), st.data())
def test_lines_that_a_human_added_survive(events: list[Event], data: st.DataObject) -> None:
    cut, judged = data.draw(st.integers(1, len(events) - 1)), data.draw(st.booleans())
    first = folded(events[:cut], judged)
    if not first.has_work:
        return
    source = Source(render_session(session_of(first.draft(), setting())))
    note = read_session(source, "s")
    places = [phase.body_end for phase in note.all_phases()] or [len(source.lines)]
    line = data.draw(st.sampled_from(places))
    edited = "\n".join([*source.lines[:line], "", *MINE.rstrip("\n").split("\n"), "", *source.lines[line:]])
    base, now = parts(events, cut, judged=judged)
    text = merged(edited, base, now)
    assert MINE in text
    assert set(edited.split("---\n", 2)[2].split("\n")) - set(text.split("\n")) <= replaced(base, now)
    calls = [call for entry in now.all_entries() if isinstance(entry, ToolCalls) for call in entry.calls]
    assert len(list(read(text).calls())) == len(calls)


def replaced(base: Session, now: Session) -> set[str]:
    """Lines of a note that the merge may write anew: calls without results, fields, tasks, subagents' callouts."""
    before = set(render_session(base).split("\n"))
    return before - set(render_session(now).split("\n"))


# --- one thing at a time ---------------------------------------------------------------------------------------------


def grown(first: list[Event], more: list[Event], edit: tuple[str, str] = ("", ""), **options: object) -> Session:
    """The note after an import, a human's edit, and another import."""
    base, now = parts([*first, *more], len(first), judged=False, **options)
    text = render_session(base)
    assert edit[0] in text
    return read(merged(text.replace(edit[0], edit[1]) if edit[0] else text, base, now))


def begin() -> list[Event]:
    return [
        Prompted(at(1), "Go"),
        Replied(at(2), "First."),
        ToolUsed(at(3), "c1", "Bash", {"command": "make"}),
    ]


@pytest.mark.parametrize("back", [["s1", "s2"], ["s2"], ["s2", "s1"]])
def test_of_two_subagents_that_are_told_alike_each_gets_its_own_report(back: list[str]) -> None:
    calls = ((2, "s1"), (3, "s2"))
    first: list[Event] = [Prompted(at(1), "Go")]
    first += [SubagentStarted(at(n), call, "reviewer", "Review", "Review") for n, call in calls]
    more = [SubagentReturned(at(n), call, "", f"Report of {call}.") for n, call in enumerate(back, 4)]
    base, now = parts([*first, *more], len(first))
    text = merged(render_session(base), base, now)
    assert read(text).phases == read(render_session(now)).phases


def test_nothing_new_is_no_edit() -> None:
    base, now = parts([*begin(), Answered(at(4))], 4)
    source = Source(render_session(base))
    assert merge(source, read_session(source, "s"), base, now) == []
    edited = Source(source.text.replace("status: completed", "status: failed").replace("First.", "1st"))
    assert merge(edited, read_session(edited, "s"), base, now) == []


def test_the_same_call_twice_gets_each_its_own_result() -> None:
    calls: list[Event] = [ToolUsed(at(4 + n), f"d{n}", "Bash", {"command": "make"}) for n in range(2)]
    told = grown(
        [*begin(), *calls],
        [ToolReturned(at(9), "d0", "second"), ToolReturned(at(10), "d1", "", CallEnd.FAILED)],
    )
    assert [(call.result, call.outcome) for call in told.calls()] == [
        ("", "pending"),
        ("second", "ok"),
        ("failed", "failed"),
    ]


def test_a_call_that_a_human_took_out_is_not_put_back() -> None:
    told = grown(begin(), [ToolReturned(at(9), "c1", "made")], ("**Tool calls:**\n- `Bash make` → ⏳\n", ""))
    assert not list(told.calls())


def test_new_calls_join_the_list_and_new_prose_the_prose() -> None:
    told = grown(begin(), [ToolUsed(at(4), "c2", "Bash", {"command": "test"}), Replied(at(5), "- a list\n- of things")])
    assert [type(entry) for entry in told.phases[0].entries] == [Intervention, Prose, ToolCalls, Prose]
    assert [call.call for call in told.calls()] == ["Bash make", "Bash test"]
    assert told.phases[0].entries[-1] == Prose("- a list\n- of things")


LOGGED = {"type": "decision", "content": "Use a token bucket", "rationale": "constant memory"}


@pytest.mark.parametrize(
    "call",
    [
        ("mcp__crucible__flight_recorder_log", LOGGED),
        ("Bash", {"command": "cru record decision 'Use a token bucket' --rationale 'constant memory'"}),
        ("Bash", {"command": "cru log decision 'Use a token bucket' --rationale 'constant memory'"}),  # its old name
    ],
)
def test_a_decision_that_was_recorded_before_the_transcript_was_written_follows_its_call(
    call: tuple[str, Mapping[str, object]],
) -> None:
    events: list[Event] = [
        *begin(),
        Replied(at(4), "- A bucket, I decide."),
        ToolUsed(at(5), "c2", call[0], call[1]),
        ToolReturned(at(6), "c2", "Logged"),
        ToolUsed(at(7), "c3", "Bash", {"command": "cat b.txt"}),
        Replied(at(8), "Then."),
    ]
    base, now = parts(events, 3)
    bucket = Decision("Use a token bucket", "constant memory")
    source = Source(render_session(base))
    plan = append(source, "s", lambda _: Addition(steps=(bucket,)), None)
    text = merged(apply_edits(source, plan.edits).text, base, now)
    entries = read(text).phases[0].entries
    kinds = [Intervention, Prose, ToolCalls, Prose, ToolCalls, Decision, ToolCalls, Prose]
    assert [type(entry) for entry in entries] == kinds
    assert entries[3] == Prose("- A bucket, I decide.")
    assert [one.call for one in read(text).calls()][0::2] == ["Bash make", "Bash cat b.txt"]
    assert merged(text, now, now) == text


def test_a_decision_that_no_call_recorded_stays_where_it_is() -> None:
    base, now = parts([*begin(), Replied(at(4), "Then."), ToolUsed(at(5), "c2", "X", LOGGED)], 3)
    text = render_session(base) + "\n> [!decision]\n> Use a token bucket\n"
    kinds = [type(entry) for entry in read(merged(text, base, now)).phases[0].entries]
    assert kinds == [Intervention, Prose, ToolCalls, Decision, Prose, ToolCalls]


def test_new_entries_go_where_the_human_moved_the_phase() -> None:
    base, now = parts([*begin(), Replied(at(9), "Late word.")], 3)
    head, _, phase = render_session(base).partition("## Go")
    told = read(merged(f"{head}## Go{phase.rstrip()}\n\n## My own\n\nMine.\n", base, now))
    assert [p.name for p in told.phases] == ["Go", "My own"]
    assert told.phases[0].entries[-1] == Prose("Late word.")


def test_a_phase_without_its_fields_gets_none_and_is_known_by_its_name() -> None:
    told = grown(
        begin(),
        [Replied(at(9), "More."), UsageCounted(at(9), "u", "m", 1, 1, 1)],
        ("started:: 2026-01-02T03:04:06Z\n", ""),
    )
    assert (told.phases[0].started, told.phases[0].tokens) == (None, None)
    assert told.phases[0].entries[-1] == Prose("More.")


def test_a_renamed_sub_phase_goes_on_under_its_new_name() -> None:
    first: list[Event] = [
        *begin(),
        TaskChanged(at(4), "1", "Write", "in_progress"),
        Replied(at(5), "Writing."),
    ]
    more: list[Event] = [
        Replied(at(6), "Written."),
        TaskChanged(at(7), "2", "Test", "in_progress"),
        Replied(at(8), "T."),
    ]
    told = grown(first, more, ("### Write", "### The writing"))
    assert [phase.name for phase in told.all_phases()] == ["Go", "The writing", "Test"]
    assert told.phases[0].subphases[0].entries == (Prose("Writing.\n\nWritten."),)


def test_a_deleted_sub_phase_comes_back_with_what_is_new_only() -> None:
    first: list[Event] = [
        *begin(),
        TaskChanged(at(4), "1", "Write", "in_progress"),
        Replied(at(5), "Writing."),
    ]
    base, now = parts([*first, Replied(at(6), "Written.")], len(first))
    told = read(merged(render_session(base).partition("### Write")[0], base, now))
    assert [sub.entries for sub in told.phases[0].subphases] == [(Prose("Written."),)]


def test_tasks_are_merged_by_id_and_field() -> None:
    base = [Task("1", "A"), Task("2", "B"), Task("3", "C"), Task("4", "D")]
    note = [
        Task("1", "A, reworded"),
        Task("mine", "Own", "in_progress"),
        Task("3", "C", priority="high"),
        Task("4", "D"),
    ]
    now = [Task("1", "A", "completed"), Task("2", "B", "completed"), Task("3", "C"), Task("5", "E")]
    empty = Session("s", status=Status.COMPLETED, synced_to=("c:1",))
    base_session, now_session = (
        replace(empty, tasks=tuple(base)),
        replace(empty, tasks=tuple(now), synced_to=("c:2",)),
    )
    text = render_session(replace(empty, tasks=tuple(note), title="T"))
    assert read(merged(text, base_session, now_session)).tasks == (
        Task("1", "A, reworded", "completed"),
        Task("mine", "Own", "in_progress"),
        Task("3", "C", priority="high"),
        Task("5", "E"),
    )


def test_a_list_written_anew_changes_only_what_it_changed() -> None:
    def listed(seconds: int, *states: tuple[str, str]) -> TasksListed:
        return TasksListed(at(seconds), tuple(TaskState(str(n), *state) for n, state in enumerate(states, 1)))

    told = grown(
        [*begin(), listed(4, ("A", "pending"), ("B", "pending"))],
        [listed(5, ("A", "completed"), ("B", "pending"), ("C", "pending"))],
        ("- [ ] B ^task-2", "- [ ] B (high) ^task-2"),
    )
    assert [(t.content, t.status, t.priority) for t in told.tasks] == [
        ("A", "completed", "medium"),
        ("B", "pending", "high"),
        ("C", "pending", "medium"),
    ]


def delegated() -> list[Event]:
    return [*begin(), SubagentStarted(at(4), "a1", "Explore", "Look", "Look around", "abc")]


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (("", ""), ""),
        (("> [[sessions/s-look|s-look]]", "> [[sessions/s-look|s-look]]\n> My remark."), "My remark."),
        (("@Explore", "@scout"), ""),
    ],
)
def test_a_subagent_s_report_goes_into_its_callout(edit: tuple[str, str], text: str) -> None:
    child = {"abc": ChildNote("s-look", kind="Explore", model="m")}
    told = grown(delegated(), [SubagentReturned(at(9), "a1", "abc", "All well.")], edit, children=child)
    (work,) = [entry for entry in told.all_entries() if isinstance(entry, Subagent)]
    assert (work.link, work.summary, work.text) == ("s-look", "All well.", text)
    assert work.agent.name == ("scout" if "scout" in edit[1] else "Explore")


def test_a_summary_that_a_human_wrote_stays() -> None:
    child = {"abc": ChildNote("s-look", kind="Explore")}
    edit = ("> [[sessions/s-look|s-look]]", "> [[sessions/s-look|s-look]]\n> Summary: mine")
    told = grown(delegated(), [SubagentReturned(at(9), "a1", "abc", "All well.")], edit, children=child)
    (work,) = [entry for entry in told.all_entries() if isinstance(entry, Subagent)]
    assert work.summary == "mine"


def test_a_subagent_that_the_note_links_already_is_not_told_twice() -> None:
    child = {"abc": ChildNote("s-look", kind="Explore")}
    base, now = parts([*delegated(), Answered(at(9))], 3, children=child)
    text = render_session(base) + "\n> [!subagent] @Explore\n> mode: link\n> [[sessions/s-look|s-look]]\n"
    told = read(merged(text, base, now))
    assert len([entry for entry in told.all_entries() if isinstance(entry, Subagent)]) == 1


def test_counts_grow_by_what_the_transcript_grew() -> None:
    first: list[Event] = [*begin(), UsageCounted(at(4), "u", "m", 100, 10, 1)]
    told = grown(first, [UsageCounted(at(5), "v", "m", 50, 5, 1)], ("tokens_used: 101", "tokens_used: 1101"))
    assert (told.tokens_used, told.tokens_cached) == (1152, 15)
    assert told.phases[0].tokens == 152
    removed = grown(first, [UsageCounted(at(5), "v", "m", 50, 5, 1)], ("tokens_used: 101\n", ""))
    assert removed.tokens_used is None


def test_a_model_that_a_human_corrected_stays_and_a_new_one_comes() -> None:
    first: list[Event] = [*begin(), UsageCounted(at(4), "u", "m-1", 1, 1, 1)]
    more: list[Event] = [UsageCounted(at(5 + n), f"v{n}", "m-2", 1, 1, 1) for n in range(2)]
    assert grown(first, more).model == "m-2"
    assert grown(first, more, ("model: m-1", "model: mine")).model == "mine"


def test_a_title_that_the_user_gave_later_comes_unless_the_note_has_another() -> None:
    first = begin()
    more: list[Event] = [Titled(at(9), "Mine", by_user=True), Replied(at(9), "x")]
    assert grown(first, more).title == "Mine"
    assert grown(first, more, ("\n# Go\n", "\n# Ours\n")).title == "Ours"


def test_other_sources_of_a_note_keep_their_rows() -> None:
    base, now = parts([*begin(), Answered(at(9))], 3)
    text = render_session(base)
    text = text.replace("sources:\n", "sources:\n  - codex:other\n").replace(
        "synced_to:\n", "synced_to:\n  - codex:77\n"
    )
    told = read(merged(text, base, now))
    assert told.sources == ("codex:other", "claude-code:native")
    assert told.synced_to == ("codex:77", *now.synced_to)


def test_a_paused_session_that_goes_on_is_paused_no_longer() -> None:
    told = grown(begin(), [Replied(at(9), "Done."), Answered(at(9))])
    assert (told.status, told.resume_point, told.pause_reason) == (Status.COMPLETED, None, None)
    assert told.ended is not None


def test_the_resume_point_is_the_phase_s_id_in_the_note() -> None:
    base, now = parts([*begin(), Prompted(at(9), "Next")], 3)
    text = render_session(base).replace("## Go", "## Before\n\nMine.\n\n## Go")
    told = read(merged(text, base, now))
    assert [phase.name for phase in told.phases] == ["Before", "Go", "Next"]
    assert told.resume_point == "phase-3"


def test_a_row_s_mark_is_short_and_longer_where_an_earlier_row_begins_alike() -> None:
    alike: list[Event] = [Prompted(at(1, row="01234567-89ab"), "x"), Replied(at(2, row="01234567-89ac"), "y")]
    assert fold(alike[:1]).draft().mark == "01234567"
    assert fold(alike).draft().mark == "01234567-89ac"


def test_rows_whose_ids_begin_alike_are_not_told_twice() -> None:
    rows = [f"00000000-0000-4000-8000-{n:012}" for n in range(8)]
    events: list[Event] = []
    for n in range(0, 8, 2):
        events += [
            Prompted(at(n + 1, row=rows[n]), f"ask {n}"),
            Replied(at(n + 2, row=rows[n + 1]), f"say {n}"),
        ]
    written = render_session(session_of(fold(events[:4]).draft(), setting()))
    base, now = parts(events, 4)
    names = [phase.name.casefold() for phase in read(merged(written, base, now)).phases]
    assert names == ["ask 0", "ask 2", "ask 4", "ask 6"]


@pytest.mark.parametrize(
    "mine",
    ["status: paused\npause_reason: I wait\nresume_point: phase-0\n", "status: failed\n"],
)
def test_a_status_that_a_human_set_stays_when_the_transcript_grows(mine: str) -> None:
    events: list[Event] = [
        Prompted(at(1), "one"), Replied(at(2), "yes"), Answered(at(2)),
        Prompted(at(3), "two"), Replied(at(4), "again"), Answered(at(4)),
    ]  # fmt: skip
    base, now = parts(events, 3)
    written = render_session(base)
    lines = [line for line in written.split("\n") if not line.startswith(("ended:",))]
    edited = "\n".join(lines).replace("status: completed\n", mine)
    assert mine in edited
    after = read(merged(edited, base, now))
    assert len(after.phases) == 2
    assert mine in merged(edited, base, now)


def test_where_a_human_paused_moves_on_with_what_the_turn_under_way_still_brings() -> None:
    events: list[Event] = [
        Prompted(at(1), "one"), Replied(at(2), "yes"), Answered(at(2)),
        Prompted(at(3), "two"), Replied(at(4), "again"), Answered(at(4)),
    ]  # fmt: skip
    base, now = parts(events, 3)
    told = "status: paused\npause_reason: I wait\nresume_point: phase-1\n"
    edited = render_session(base).replace("status: completed\n", told)
    after = read(merged(edited, base, now))
    assert (after.status, after.pause_reason, after.resume_point) == (Status.PAUSED, "I wait", "phase-2")


def test_a_status_that_an_import_wrote_follows_the_transcript() -> None:
    events: list[Event] = [
        Prompted(at(1), "one"),
        Replied(at(2), "yes"),
        Prompted(at(3), "two"),
        Replied(at(4), "x"),
        Answered(at(4)),
    ]
    base, now = parts(events, 3)
    assert base.status is Status.PAUSED
    after = read(merged(render_session(base), base, now))
    assert (after.status, after.pause_reason, after.resume_point) == (Status.COMPLETED, None, None)
