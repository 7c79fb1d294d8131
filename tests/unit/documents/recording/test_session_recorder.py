"""Events to a session: phases, entries, totals, status."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given

from crucible.clients.events import (
    Answered,
    CallEnd,
    Compacted,
    ContextSeen,
    ContinuedIn,
    Event,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Rewound,
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
from crucible.documents.markdown.source import Source
from crucible.documents.recording.session_draft import ChildNote, session_of
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Prose,
    Session,
    Status,
    Subagent,
    SubagentRef,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.status_rules import Turn, session_status
from crucible.documents.session.task_block import read_tasks, render_task
from tests.cases import for_each
from tests.unit.documents.recording.sample_events import BEGIN, LATER, at, event_lists, record, session, setting


def used(call: str, command: str = "make") -> ToolUsed:
    return ToolUsed(at(), call, "Bash", {"command": command})


def names(told: Session) -> list[str]:
    return [phase.name for phase in told.all_phases()]


@given(event_lists())
def test_what_is_recorded_reads_back_as_the_same_session(events: list[Event]) -> None:
    told = session(*events)
    assert read_session(Source(render_session(told)), "s") == told


def test_every_prompt_is_a_phase_with_the_human_s_exact_words() -> None:
    told = session(Prompted(at(), "Fix it\nplease"), Replied(at(), "Done."), Prompted(at(), "Now test it. All of it."))
    assert names(told) == ["Fix it", "Now test it"]
    assert [phase.entries[0] for phase in told.phases] == [
        Intervention("Fix it\nplease"),
        Intervention("Now test it. All of it."),
    ]


def test_steering_stays_in_the_phase() -> None:
    told = session(Prompted(at(), "Fix it"), used("c1"), Prompted(at(), "Not that", PromptKind.STEERING))
    assert names(told) == ["Fix it"]
    assert told.phases[0].entries[-1] == Intervention("Not that")


def test_commands_make_a_phase_only_when_the_agent_then_works() -> None:
    commands = [Prompted(at(), "/model x", PromptKind.COMMAND), Prompted(at(), "!ls", PromptKind.SHELL)]
    begin: list[Event] = [Prompted(at(), "Fix it"), Replied(at(), "Done."), Answered(at())]
    quiet = session(*begin, *commands)
    assert (names(quiet), quiet.status) == (["Fix it"], Status.COMPLETED)
    worked = session(*begin, *commands, Replied(at(), "So it is."))
    assert names(worked) == ["Fix it", "/model x"]
    assert worked.phases[1].entries == (Intervention("/model x"), Intervention("!ls"), Prose("So it is."))
    asked = session(*begin, *commands, Prompted(at(), "And now?"))
    assert names(asked) == ["Fix it", "And now?"]
    assert asked.phases[1].entries == tuple(map(Intervention, ("/model x", "!ls", "And now?")))


def test_a_prompt_of_pictures_counts_them() -> None:
    told = session(Prompted(at(), "", images=2), Prompted(at(), "See", images=1), Prompted(at(), " \n"))
    assert [phase.entries for phase in told.phases] == [
        (Intervention("[2 pictures]"),),
        (Intervention("See", "with 1 picture"),),
    ]


def test_adjacent_prose_and_adjacent_calls_are_one_entry() -> None:
    told = session(
        Prompted(at(), "Go"),
        Replied(at(), "One."),
        Replied(at(), "Two."),
        used("c1", "a"),
        used("c2", "b"),
        ToolReturned(at(), "c2", "second"),
        ToolReturned(at(), "c1", "first"),
        Replied(at(), "Three."),
    )
    assert told.phases[0].entries[1:] == (
        Prose("One.\n\nTwo."),
        ToolCalls((ToolCall("Bash a", "first"), ToolCall("Bash b", "second"))),
        Prose("Three."),
    )


def test_a_result_without_its_call_is_kept() -> None:
    told = session(Prompted(at(), "Go"), ToolReturned(at(), "lost-1", "all done", CallEnd.FAILED))
    assert list(told.calls()) == [ToolCall("result", "all done", Outcome.FAILED)]


def test_a_rejection_keeps_the_feedback_twice_and_says_what_was_refused() -> None:
    told = session(Prompted(at(), "Go"), used("c1"), ToolReturned(at(), "c1", "…", CallEnd.REJECTED, "Use b"))
    assert told.phases[0].entries[1:] == (
        ToolCalls((ToolCall("Bash make", "Use b", Outcome.REJECTED),)),
        Intervention("Use b", "refused: Bash make"),
    )


def test_interruption_compaction_and_fault_are_callouts() -> None:
    told = session(
        Prompted(at(), "Go"),
        Interrupted(at(), in_tool=True),
        Compacted(at(), "auto", 144920, "a long summary"),
        Faulted(at(), "API Error: overloaded"),
        Faulted(at(), "API Error: overloaded"),
    )
    assert told.phases[0].entries[1:] == (
        Callout("observation", "Interrupted", "The user stopped the agent during a tool call."),
        Callout("observation", "Compacted", "auto, 144,920 tokens before"),
        Failure("API Error: overloaded"),
    )
    assert told.phases[0].status == "failed"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Rewound(at(9), 1), "the last turn"),
        (Rewound(at(9), 3, "6 messages"), "the last 3 turns"),
        (Rewound(at(9), None, "2 messages"), "2 messages"),
        (Rewound(at(9)), "words"),
    ],
)
def test_words_taken_back_stay_in_the_note_and_are_marked(event: Rewound, words: str) -> None:
    told = session(Prompted(at(), "Go"), Replied(at(), "Done."), event)
    marked = Callout("observation", "Rewound", f"The user took back {words}.")
    assert told.phases[0].entries == (Intervention("Go"), Prose("Done."), marked)


@pytest.mark.parametrize("end", [[], [Interrupted(at())], [Faulted(at(), "overloaded")]])
def test_nothing_waits_for_an_answer_once_it_was_taken_back(end: list[Event]) -> None:
    told = [Prompted(at(), "Go"), Replied(at(), "Well"), *end]
    assert session(*told).status is not Status.COMPLETED
    assert session(*told, Rewound(at(), 1)).status is Status.COMPLETED
    assert session(*told, Rewound(at(), 1), Prompted(at(), "Again")).pause_reason is not None


def test_taking_back_opens_no_phase_of_its_own() -> None:
    assert not session(Rewound(at(), 1)).phases
    command = Prompted(at(), "/rewind", PromptKind.COMMAND)
    assert names(session(Prompted(at(), "Go"), command, Rewound(at(), 1))) == ["Go"]


def test_a_trunk_that_an_agent_asked_has_a_task_and_its_name() -> None:
    told = session(Prompted(at(), "Look around", PromptKind.TASK), Replied(at(), "Done."))
    assert told.preamble == (Prose("Look around"),)
    assert (told.title, names(told)) == ("Look around", ["Work"])
    assert not any(isinstance(entry, Intervention) for entry in told.phases[0].entries)


def test_work_without_a_prompt_has_a_phase_too() -> None:
    assert names(session(Replied(at(), "Going on."))) == ["Work"]


# --- tasks -----------------------------------------------------------------------------------------------------------


def started(ident: str, content: str | None = None) -> TaskChanged:
    return TaskChanged(at(), ident, content, "in_progress")


def test_a_started_task_opens_a_sub_phase_with_its_first_entry() -> None:
    told = session(
        Prompted(at(), "Go"),
        TaskChanged(at(), "1", "Write", "pending"),
        TaskChanged(at(), "2", "Test", "pending"),
        Replied(at(), "Plan."),
        started("1"),
        used("c1"),
        started("1"),
        Replied(at(), "Written."),
        TaskChanged(at(), "1", None, "completed"),
        started("2"),
        Prompted(at(), "Quick", PromptKind.STEERING),
        Prompted(at(), "Next"),
        Replied(at(), "Ok."),
    )
    assert names(told) == ["Go", "Write", "Test", "Next"]
    first = told.phases[0]
    assert first.entries == (Intervention("Go"), Prose("Plan."))
    assert [sub.agent for sub in first.subphases] == [None, None]
    assert [len(sub.entries) for sub in first.subphases] == [2, 1]
    assert [phase.id for phase in told.all_phases()] == ["phase-1", "phase-1.1", "phase-1.2", "phase-2"]
    assert all(phase.started and phase.ended for phase in first.subphases)


def test_a_task_that_is_started_and_done_at_once_opens_nothing() -> None:
    told = session(
        Prompted(at(), "Go"),
        started("1", "A"),
        TaskChanged(at(), "1", None, "completed"),
        Replied(at(), "Done."),
    )
    assert names(told) == ["Go"]
    assert [task.status for task in told.tasks] == ["completed"]


def test_a_list_written_anew_is_followed_by_the_tasks_content() -> None:
    def listed(*states: tuple[str, str]) -> TasksListed:
        return TasksListed(at(), tuple(TaskState(str(n), *state) for n, state in enumerate(states, 1)))

    told = session(
        Prompted(at(), "Go"),
        listed(("A", "in_progress"), ("B", "pending")),
        used("c1"),
        listed(("B", "in_progress"), ("A", "completed"), ("C", "odd")),
        used("c2"),
    )
    assert names(told) == ["Go", "A", "B"]
    assert [(t.id, t.content, t.status) for t in told.tasks] == [
        ("2", "B", "in_progress"),
        ("1", "A", "completed"),
        ("3", "C", "pending"),
    ]


def test_a_new_list_erases_nothing_of_the_earlier_one() -> None:
    def listed(*states: TaskState) -> TasksListed:
        return TasksListed(at(), states)

    told = session(
        Prompted(at(), "Go"),
        listed(TaskState("1", "A", "completed"), TaskState("2", "B", "in_progress"), TaskState("3", "C")),
        listed(
            TaskState("1", "D"),
            TaskState("2", "C", depends_on=("1",)),
            TaskState("3", "E", depends_on=("1", "2")),
        ),
        listed(TaskState("1", "B", "in_progress"), TaskState("2", "D", "completed")),
        listed(),
    )
    assert [(t.id, t.content, t.status, t.depends_on) for t in told.tasks] == [
        ("1", "A", "completed", ()),
        ("3", "C", "cancelled", ("4",)),
        ("5", "E", "cancelled", ("4", "3")),
        ("2", "B", "cancelled", ()),
        ("4", "D", "completed", ()),
    ]
    assert told.tasks[3].started


def test_a_task_in_other_words_stays_one_task() -> None:
    told = session(
        Prompted(at(), "Go"),
        TasksListed(at(), (TaskState("1", "Describe the limit in the README"), TaskState("2", "Add tests for orders"))),
        TasksListed(
            at(),
            (
                TaskState("1", "Describe the limit and its default in the README"),
                TaskState("2", "Add tests for refunds"),
            ),
        ),
    )
    assert [(task.id, task.content, task.status) for task in told.tasks] == [
        ("2", "Add tests for orders", "cancelled"),
        ("1", "Describe the limit and its default in the README", "pending"),
        ("3", "Add tests for refunds", "pending"),
    ]


def test_nothing_waits_for_what_a_later_list_left_out() -> None:
    told = session(
        Prompted(at(), "Go"),
        TasksListed(at(), (TaskState("1", "A", "in_progress"),)),
        TasksListed(at(), (TaskState("1", "B", "completed"),)),
        Replied(at(), "Done.", final=True),
    )
    assert {task.content: task.status for task in told.tasks} == {"A": "cancelled", "B": "completed"}
    assert read_tasks(json.dumps([json.loads(render_task(task)) for task in told.tasks]), 0) == (
        told.tasks,
        [],
    )


@pytest.mark.parametrize("status", ["deleted", "cancelled"])
def test_a_task_that_nobody_wants_any_more_is_no_task_and_opens_nothing(status: str) -> None:
    listed = [TasksListed(at(), (TaskState("1", "A", s), TaskState("2", "B"))) for s in ("in_progress", status)]
    changed = [started("1", "A"), TaskChanged(at(), "2", "B"), TaskChanged(at(), "1", None, status)]
    for events in (listed, changed):
        told = session(Prompted(at(), "Go"), *events, Replied(at(), "Done."))
        assert [(task.id, task.content) for task in told.tasks] == [("2", "B")]
        assert names(told) == ["Go"]


@pytest.mark.parametrize("status", ["in_progress", "pending"])
def test_a_task_that_is_opened_again_has_no_end(status: str) -> None:
    told = session(
        Prompted(at(), "Go"),
        TaskChanged(at(1), "1", "A", "in_progress"),
        TaskChanged(at(2), "1", None, "completed"),
        TaskChanged(at(3), "1", None, status),
    )
    assert told.tasks == (Task("1", "A", status, started="2026-01-02T03:04:06Z"),)


def test_tasks_keep_times_dependencies_and_lose_what_is_deleted() -> None:
    told = session(
        Prompted(at(), "Go"),
        TaskChanged(at(1), "1", "A", "pending"),
        TaskChanged(at(2), "2", "B", "pending", ("1",)),
        TaskChanged(at(3), "2", None, None, ("1", "3")),
        TaskChanged(at(4), "1", "A2", "in_progress"),
        TaskChanged(at(5), "1", None, "completed"),
        TaskChanged(at(6), "9", None, "in_progress"),
        TaskChanged(at(7), "9", None, "deleted"),
    )
    assert told.tasks == (
        Task("1", "A2", "completed", started="2026-01-02T03:04:09Z", completed="2026-01-02T03:04:10Z"),
        Task("2", "B", depends_on=("1", "3")),
    )


# --- subagents -------------------------------------------------------------------------------------------------------


def test_delegated_work_is_a_callout_and_no_call() -> None:
    events: list[Event] = [
        Prompted(at(), "Go"),
        ToolUsed(at(), "c1", "Agent", {"prompt": "Look"}),
        SubagentStarted(at(), "c1", "Explore", "Look", "Look around"),
    ]
    (waiting,) = session(*events).phases[0].entries[1:]
    assert waiting == Subagent(AgentRef("Explore"), text="Look around")
    events.append(SubagentReturned(at(), "c1", "abc", "Long report.\n\nSummary: all **well**."))
    child = ChildNote("s-look", Mode.EMBED, "Explore", "m-1", 7)
    told = session(*events, children={"abc": child})
    assert told.phases[0].entries[1:] == (Subagent(AgentRef("Explore"), "m-1", Mode.EMBED, "s-look", "", "all well."),)
    assert told.subagents == (SubagentRef("s-look", "Explore", "m-1", 7),)
    assert not list(told.calls())


def test_a_rejected_subagent_keeps_the_words_and_not_the_client_s_sentence() -> None:
    told = session(
        Prompted(at(), "Go"),
        SubagentStarted(at(), "c1", "Explore", "Look", "Look around"),
        SubagentReturned(at(), "c1", "", "The user doesn't want to proceed", CallEnd.REJECTED),
        ToolReturned(at(), "c1", "The user doesn't want to proceed", CallEnd.REJECTED, "Do it yourself"),
    )
    assert told.phases[0].entries[1:] == (
        Subagent(AgentRef("Explore"), text="Look around\nThe user rejected it."),
        Intervention("Do it yourself", "refused: Look around"),
    )


def test_a_subagent_s_task_is_no_human_s_word() -> None:
    draft = record(
        Prompted(at(), "Look\naround", PromptKind.TASK),
        Replied(at(), "Looked."),
        Prompted(at(), "Further", PromptKind.TASK),
        Prompted(at(), "I am human"),
        agent="abc",
        kind="Explore",
        work_name="Looking",
    )
    told = session_of(draft, setting(parent="p", title="Looking"))
    assert told.preamble == (Prose("Look\naround"),)
    assert (told.title, told.parent, names(told)) == ("Looking", "p", ["Looking"])
    assert told.participants == (AgentRef("Explore"), AgentRef("claude-code"))
    assert told.phases[0].agent == AgentRef("Explore")
    assert told.phases[0].entries == (
        Prose("Looked."),
        Callout("observation", "Message", "Further"),
        Intervention("I am human"),
    )


# --- totals ----------------------------------------------------------------------------------------------------------


def counted(message: str, fresh: int, cached: int, said: int, model: str = "m-1") -> UsageCounted:
    return UsageCounted(at(), message, model, fresh, cached, said)


def test_the_last_count_of_a_message_wins_in_the_phase_where_it_began() -> None:
    told = session(
        Prompted(at(), "A"),
        counted("x", 100, 5, 1),
        counted("x", 100, 5, 42),
        Prompted(at(), "B"),
        counted("x", 100, 6, 43),
        counted("y", 10, 7, 1, "m-2"),
        counted("z", 1, 0, 0, "m-2"),
        counted("synthetic", 0, 0, 0, "<synthetic>"),
    )
    assert (told.tokens_used, told.tokens_cached) == (155, 13)
    assert [phase.tokens for phase in told.phases] == [143, 12]
    assert told.model == "m-2"


def test_all_versions_of_the_client_take_part_and_each_phase_names_its_own() -> None:
    told = session(
        ContextSeen(at(), "s", "/a", "main", "2.0"),
        Prompted(at(), "A"),
        ContextSeen(at(), "s", "/b", "feature", "2.1 beta"),
        Prompted(at(), "B"),
        ContextSeen(at(), "s", "/a", "main", "2.0"),
        Prompted(at(), "C"),
    )
    assert [str(agent) for agent in told.participants] == ["claude-code@2.0", "claude-code@2.1-beta"]
    assert [phase.agent and phase.agent.version for phase in told.phases] == ["2.0", "2.1-beta", "2.0"]
    assert told.branch == "main"


def test_a_user_s_title_wins_over_the_client_s_and_the_client_s_over_the_prompt() -> None:
    assert session(Titled(at(), "By AI"), Prompted(at(), "Fix it")).title == "By AI"
    assert session(Prompted(at(), "Fix it"), Titled(at(), "Mine", by_user=True)).title == "Mine"
    assert session(Titled(at(), "By AI"), Replied(at(), "x")).title == "By AI"
    assert session(Replied(at(), "x")).title == "Untitled"


def test_times_are_whole_seconds_and_a_phase_ends_with_its_last_event() -> None:
    told = session(
        Injected(at(0), "hook"),
        Prompted(at(1), "A"),
        Replied(at(5), "x"),
        Injected(at(6), "noise"),
        Prompted(at(9), "B"),
    )
    assert told.started == BEGIN.replace(microsecond=0) + timedelta(seconds=1)
    assert [(p.started, p.ended) for p in told.phases] == [
        (told.started, told.started + timedelta(seconds=4)),
        (told.started + timedelta(seconds=8), None),
    ]


# --- status ----------------------------------------------------------------------------------------------------------

_HOUR = timedelta(hours=1)


@for_each(
    ("turn", "quiet", "status"),
    [
        (Turn.ANSWERED, timedelta(minutes=61), Status.COMPLETED),
        (Turn.MOVED, timedelta(minutes=61), Status.COMPLETED),
        (Turn.ANSWERED, timedelta(minutes=60), Status.COMPLETED),
        (Turn.ANSWERED, timedelta(minutes=59), Status.ACTIVE),
        (Turn.FAULTED, timedelta(minutes=59), Status.ACTIVE),
        (Turn.FAULTED, timedelta(minutes=61), Status.FAILED),
        (Turn.OPEN, timedelta(minutes=61), Status.PAUSED),
        (Turn.UNASKED, timedelta(minutes=61), Status.PAUSED),
        (Turn.INTERRUPTED, timedelta(minutes=61), Status.PAUSED),
    ],
)
def test_status_follows_from_the_end_and_the_quiet_since(turn: Turn, quiet: timedelta, status: Status) -> None:
    assert session_status(turn, BEGIN, BEGIN + quiet, _HOUR) is status


def test_a_transcript_without_times_is_not_active() -> None:
    assert session_status(Turn.ANSWERED, None, LATER, _HOUR) is Status.COMPLETED


@for_each(
    ("last", "status", "reason"),
    [
        ([Replied(at(), "x"), Answered(at())], Status.COMPLETED, None),
        ([Replied(at(), "x", final=True)], Status.COMPLETED, None),
        ([ContinuedIn(at(), "other")], Status.COMPLETED, None),
        ([Answered(at()), Faulted(at(), "API Error")], Status.FAILED, None),
        ([], Status.PAUSED, "the prompt was not answered"),
        ([Replied(at(), "x")], Status.PAUSED, "stopped in the middle of a turn"),
        ([Answered(at()), Reasoned(at(), "hm")], Status.PAUSED, "stopped in the middle of a turn"),
        ([used("c1")], Status.PAUSED, "no result of Bash make"),
        ([used("c1"), Interrupted(at())], Status.PAUSED, "interrupted by the user"),
        ([Answered(at()), Injected(at(), "x"), Titled(at(), "x")], Status.COMPLETED, None),
        ([Replied(at(), "Done. Commit?", final=True)], Status.PAUSED, "asked: Commit?"),
        ([Replied(at(), "Done. Commit?", final=True), Rewound(at(), 1)], Status.COMPLETED, None),
        (
            [ToolUsed(at(), "q", "AskUserQuestion", {"questions": [{"question": "Which one?"}]})],
            Status.PAUSED,
            "asked: Which one?",
        ),
        (
            [ToolUsed(at(), "p", "ExitPlanMode", {"plan": "# Cache in SQLite\n\nAll of it"})],
            Status.PAUSED,
            "asked: Cache in SQLite",
        ),
        (
            [TasksListed(at(), (TaskState("1", "A", "completed"), TaskState("2", "B"))), Answered(at())],
            Status.PAUSED,
            "1 open task: B",
        ),
    ],
)
def test_how_a_transcript_ends_is_told(last: list[Event], status: Status, reason: str | None) -> None:
    told = session(Prompted(at(), "Go"), *last)
    assert (told.status, told.pause_reason) == (status, reason)
    assert (told.ended is not None) is (status in (Status.COMPLETED, Status.FAILED))
    assert told.resume_point == ("phase-1" if status is Status.PAUSED else None)


def test_a_paused_session_resumes_at_its_last_phase() -> None:
    assert session(Prompted(at(), "A"), Answered(at()), Prompted(at(), "B")).resume_point == "phase-2"


def test_the_last_row_with_something_to_tell_is_what_a_note_is_synced_to() -> None:
    told = session(Prompted(at(row="aaaaaaaa-1"), "Go"), Replied(at(row="bbbbbbbb-2"), "x"), Injected(at(), "noise"))
    assert told.synced_to == ("claude-code:bbbbbbbb",)
    recorder = Recorder("claude-code", synced="bbbbbbbb")
    for event in (Prompted(at(row="aaaaaaaa-1"), "Go"), Replied(at(row="bbbbbbbb-2"), "x")):
        recorder.add(event)
    assert recorder.synced_found
    assert recorder.base is None
    recorder.add(Injected(at(), "noise"))
    assert recorder.base == recorder.draft()


def test_a_row_without_an_id_has_a_mark_of_its_own() -> None:
    steering = Prompted(at(1, 7, ""), "Not that", PromptKind.STEERING)
    other = Prompted(at(1, 7, ""), "But this", PromptKind.STEERING)
    marks = [session(event).synced_to[0].partition(":")[2] for event in (steering, other)]
    assert marks[0] != marks[1]
    assert [len(mark) for mark in marks] == [8, 8]
    recorder = Recorder("claude-code", synced=marks[0])
    recorder.add(steering)
    assert recorder.synced_found
