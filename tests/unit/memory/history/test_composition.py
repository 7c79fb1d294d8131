"""A session's history without a model: decisions, outcomes and open ends, without settled items."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.documents.markdown.source import Source
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session import Entry as NoteEntry
from crucible.documents.session.session_reader import read_session
from crucible.memory.history.composition import MOST, THEN, compose_entry
from crucible.memory.history.history import (
    LONGEST,
    Capture,
    Captures,
    HistoryEntry,
    HistoryLine,
    lines_of,
    shortener,
    tidy_entry,
    tidy_line,
)
from crucible.memory.history.work_time import modified_files
from crucible.vault.index.later_sessions import LaterSessions
from tests.counting import steps_of
from tests.unit.documents.session.session_strategies import sessions

shorten = shortener()
START = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)


def composed(*bodies: tuple[NoteEntry, ...], **more: object) -> HistoryEntry:
    told = tuple(Phase(f"P{n}", entries=body, id=f"phase-{n}") for n, body in enumerate(bodies, 1))
    return compose_entry(Session("2026-11-21-x", title="T", phases=told, **more))  # type: ignore[arg-type]


def bare(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def texts(lines: tuple[HistoryLine, ...]) -> list[str]:
    return [line.text for line in lines]


def noted(
    kind: str, text: str, details: str | None = None, points: tuple[str, ...] = (), **more: object
) -> HistoryEntry:
    """The history of a session with one item in its findings block."""
    item = FindingItem(kind, text, details, Grounds("closing text", 0.89, ("1a2b3c4d",)), points)
    return composed((), findings=(item,), **more)


def test_our_own_news_of_the_task_list_are_no_results() -> None:
    news = Callout("milestone", "", "Task created: Measure it")
    assert composed((Prose("It leaks."), news)).done == ()


# --- what was found ---------------------------------------------------------------------------------------------------


def test_an_outcome_is_what_was_done_with_its_points_and_its_proof() -> None:
    entry = noted("outcome", "CSV import names the bad row", "commit 1a2b3c4", ("Row and column", "Tests"))
    points = ("Row and column", "Tests", "commit 1a2b3c4")
    assert entry.done == (HistoryLine("CSV import names the bad row", "", points, "outcome-1a2b3c4d"),)


def test_an_outcome_has_the_ids_of_the_finished_tasks_that_it_covers() -> None:
    tasks = (
        Task("001", "Import names the bad row", "completed"),
        Task("2", "Release version two", "completed"),
    )
    entry = noted("outcome", "CSV import names the bad row", tasks=tasks)
    assert texts(entry.done) == ["CSV import names the bad row (task-001)", "Other finished tasks"]
    assert entry.done[1].points == ("Release version two (task-2)",)


def test_a_correction_has_a_section_and_the_reaction() -> None:
    entry = noted("correction", '"Build the data in the test"', "refused: Edit orders.json")
    assert entry.corrections == (
        HistoryLine('"Build the data in the test"', "", ("refused: Edit orders.json",), "correction-1a2b3c4d"),
    )


def test_an_open_end_that_asks_is_a_question_and_another_one_comes_next() -> None:
    asked, planned = (
        noted("open_end", "Keep the format?", "We talked of CSV."),
        noted("open_end", "Plan: Retry"),
    )
    assert asked.questions == (HistoryLine("Keep the format?", "", ("We talked of CSV.",), "open_end-1a2b3c4d"),)
    assert texts(planned.further) == ["Plan: Retry"]


def test_a_fixed_failure_has_its_cause_and_fix() -> None:
    entry = composed((Failure("test_refund, 0.1 off", "fixed in tax.py", "rounded too early"),))
    [line] = entry.failures
    assert line[:3] == ("test_refund, 0.1 off", "", ("Cause: rounded too early", "Fix: fixed in tax.py"))


def test_a_report_is_listed_without_an_outcome() -> None:
    report = Subagent(AgentRef("explore", "1"), summary="Three callers.")
    assert texts(composed((report,)).done) == ["explore: Three callers."]
    done = FindingItem("outcome", "Renamed all callers", None, Grounds("commit"))
    assert texts(composed((report,), findings=(done,)).done) == ["Renamed all callers"]


def test_a_summary_is_listed_unless_an_outcome_covers_it() -> None:
    done = FindingItem("outcome", "Renamed every caller of parse", None, Grounds("commit"))
    assert texts(composed((), findings=(done,), summary="Renamed every caller.").done) == [done.text]
    assert len(composed((), findings=(done,), summary="Coupons expire now.").done) == 2


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ((f"Fix the limiter.\n\nHere is a log:\n\n{'x ' * 60}",), "Fix the limiter."),
        (("Run:\n\n> cru\n\nWhy does it hang?",), "Run: > cru Why does it hang?"),
        (
            (f"Implement the following plan:\n\n# Retry with jitter\n\n## Why\n\n{'x ' * 60}",),
            "Implement the following plan: Retry with jitter",
        ),
        (("/review", "Only the tests"), "/review"),
        (("/review",), "/review"),
        ((), ""),
    ],
)
def test_the_request_is_the_first_paragraph_that_the_user_wrote(words: tuple[str, ...], asked: str) -> None:
    entry = composed(tuple(map(Intervention, words)))
    assert texts(entry.request) == [asked] * bool(asked)


def test_words_that_answer_an_offer_are_not_the_request() -> None:
    answer = Decision("Write the tests, too? → yes", by="user")
    assert texts(composed((Intervention("yes"), answer, Intervention("Ship it"))).request) == ["Ship it"]


def test_plain_texts_are_no_outcomes_decisions_or_questions() -> None:
    entry = composed((Prose("We decided to use Redis. It is done. Blocked: no key.\n\nShall I deploy it?"),))
    assert (entry.done, entry.decisions, entry.questions, entry.further) == ((), (), (), ())


# --- decisions -------------------------------------------------------------------------------------------------------


def test_a_decision_has_its_rationale() -> None:
    entry = composed((Decision("Token bucket.", "Constant memory."),))
    assert [line[:2] for line in entry.decisions] == [("Token bucket.", "Constant memory.")]


def test_a_decision_says_who_made_it_what_was_not_chosen_and_that_it_was_kept() -> None:
    decision = Decision("Token bucket", None, "leaky bucket", "user", Grounds("picked option", 0.8, ("1a2b",)))
    kept = Captures(approved=(Capture("decision", "token-bucket", "Token bucket"),))
    phase = Phase("One", entries=(decision,))
    [line] = compose_entry(Session("s", phases=(phase,)), captures=kept).decisions
    assert line == HistoryLine("Token bucket (by user, captured)", "", ("Not chosen: leaky bucket",), "decision-1a2b")


def test_decisions_of_preamble_sub_phases_and_inline_subagents_are_listed() -> None:
    inner = Subagent(AgentRef("planner"), entries=(Decision("Inner"),))
    sub = Phase("Sub", entries=(Decision("Below"),))
    phase = Phase("One", entries=(inner,), subphases=(sub,))
    entry = compose_entry(Session("s", preamble=(Decision("Before"),), phases=(phase,)))
    assert texts(entry.decisions) == ["Before", "Inner", "Below"]


def test_a_repeated_decision_is_listed_once() -> None:
    longer = Decision("Use Postgres for the queue, with one table")
    entry = composed((Decision("Use Postgres for the queue"),), (Decision("A", "b"), longer, Decision("A", "b")))
    assert texts(entry.decisions) == ["A", longer.text]


def test_a_question_is_not_listed_again_as_the_reason_of_the_pause() -> None:
    entry = noted("open_end", "Asked, no answer: shall I go on?", pause_reason="asked: shall I go on?")
    assert (len(entry.questions), entry.further) == (1, ())
    left = composed((), tasks=(Task("1", "Ship"),), pause_reason="1 open task: Ship")
    assert texts(left.further) == ["To do: Ship (task-1)"]


def test_a_line_has_the_id_of_the_item_that_waits() -> None:
    text = "---\ntype: session\nsession_id: s\n---\n\n# T\n\n## One\n\n> [!decision]\n> Go.\n\n> [!error]\n> Red.\n"
    entry = compose_entry(read_session(Source(text), "s"))
    assert texts(entry.decisions) == ["Go."]
    [line] = entry.questions
    assert (line.text, line.finding[:6]) == ("Unresolved: Red.", "inbox-")


def test_subagents_decisions_are_listed_but_not_their_reports() -> None:
    asked = Intervention("Is the clock safe?")
    child = Session("c", title="Clock", phases=(Phase("A", entries=(Decision("Monotonic", "safe"), asked)),))
    told = compose_entry(Session("s"), children=[child])
    assert [line[:2] for line in told.decisions] == [("Monotonic (subagent Clock)", "safe")]
    assert told.questions == ()


# --- questions -------------------------------------------------------------------------------------------------------

ASKED = Callout("decision_needed", "Database", "Postgres or SQLite for the queue?")


def test_an_unanswered_question_is_open() -> None:
    assert texts(composed((ASKED,)).questions) == ["Database: Postgres or SQLite for the queue?"]


def test_a_prompt_right_after_a_question_answers_it() -> None:
    assert not composed((ASKED,), (Intervention("The second."),)).questions


def test_one_word_answers_questions_that_were_asked_at_once() -> None:
    assert not composed((ASKED, Callout("approval_required", "", "Deploy?")), (Intervention("Yes."),)).questions


def test_a_word_on_something_else_after_the_agent_went_on_answers_nothing() -> None:
    entry = composed((ASKED, Prose("I go on with the parser.")), (Intervention("Rename the module"),))
    assert texts(entry.questions) == ["Database: Postgres or SQLite for the queue?"]


@pytest.mark.parametrize(
    "answer",
    [
        Decision("SQLite holds the queue, no Postgres database."),
        Intervention("for the queue: sqlite, not postgres, as database"),
    ],
)
def test_later_words_on_the_same_answer_a_question(answer: NoteEntry) -> None:
    assert not composed((ASKED, Prose("I go on.")), (Prose("So."), answer)).questions


def test_an_answer_in_the_callout_itself_counts() -> None:
    assert not composed((Callout("decision_needed", "", "A or B?\nAnswer: A"),)).questions


def test_an_error_is_open_until_it_is_fixed() -> None:
    entry = composed((Failure("Red"), Failure("Blue")), (Failure("Red", "Painted"),))
    assert texts(entry.questions) == ["Unresolved: Blue"]
    assert [line[:3] for line in entry.failures] == [("Red", "", ("Fix: Painted",))]


# --- tasks and blockers ----------------------------------------------------------------------------------------------


def test_unfinished_tasks_come_next_those_in_progress_first_with_what_they_wait_for() -> None:
    tasks = (
        Task("1", "Write", "completed"),
        Task("2", "Ship", depends_on=("1", "3")),
        Task("3", "Test", "in_progress"),
        Task("4", "Odd", "waiting"),
        Task("5", "Gone", "cancelled"),
    )
    entry = composed((), tasks=tasks)
    assert texts(entry.further) == [
        "Continue: Test (task-3)",
        "To do: Ship (task-2; waits for task-3)",
        "To do (waiting): Odd (task-4)",
    ]
    assert texts(entry.done) == ["Write (task-1)", "Started: Test (task-3)"]
    assert (entry.tasks_completed, entry.tasks_started) == (("task-1: Write",), ("task-3: Test",))


def test_what_a_later_session_did_is_open_no_more_and_the_rest_says_how_many_followed() -> None:
    tasks = (Task("1", "Write the migration guide"), Task("2", "Ask Ada about limits"))
    plan = FindingItem("open_end", "Planned, not carried out: PAY-7: Refunds in parts", None, Grounds("last state"))
    session = Session("2026-11-21-x", tasks=tasks, findings=(plan,))
    said = ("Add a guide for the migration", "Merge PAY-7")
    assert texts(compose_entry(session, following=LaterSessions(3, said)).further) == [
        "To do: Ask Ada about limits (task-2)",
        f"{THEN}3 later sessions of the project may have done it",
    ]
    assert len(compose_entry(session).further) == 3


def test_the_names_of_tasks_hold_no_absolute_path() -> None:
    tasks = (
        Task("1", "Move /home/ada/notes/plan.md", "completed"),
        Task("2", "Read /home/ada/x/y.md", "in_progress"),
    )
    entry = composed((), tasks=tasks)
    assert (entry.tasks_completed, entry.tasks_started) == (
        ("task-1: Move notes/plan.md",),
        ("task-2: Read x/y.md",),
    )


def test_a_task_that_an_outcome_names_is_not_open() -> None:
    tasks = (Task("10", "Split the module"), Task("1", "Write the guide"))
    done = FindingItem("outcome", "All of it is pushed", None, Grounds("commit"), ("Task #10: moved into a package",))
    assert texts(composed((), tasks=tasks, findings=(done,)).further) == ["To do: Write the guide (task-1)"]


def test_an_error_of_a_log_that_the_user_went_on_from_is_not_open() -> None:
    phases = (Phase("A", entries=(Failure("API Error: 500"), Intervention("Go on"))),)
    session = Session("2026-11-21-x", phases=phases, sources=("claude-code:1",))
    assert not compose_entry(session).questions
    assert compose_entry(replace(session, sources=())).questions


def test_a_plan_that_the_session_committed_itself_is_not_open() -> None:
    plan = FindingItem("open_end", "Planned, not carried out: Refunds in parts", None, Grounds("last state"))
    done = FindingItem("outcome", "Support refunds in several parts", None, Grounds("commit"))
    assert not composed((), findings=(plan, done)).further


def test_the_sessions_own_outcomes_close_its_tasks_but_no_question_to_a_human() -> None:
    done = FindingItem("outcome", "Add refunds in several parts to the database queue", None, Grounds("commit"))
    asked = Callout("decision_needed", "", "Several refunds, in parts?")
    entry = composed((asked,), tasks=(Task("1", "Refunds in several parts"),), findings=(done,))
    assert (texts(entry.further), texts(entry.questions)) == ([], ["Several refunds, in parts?"])


def test_an_outcome_that_repeats_request_or_decision_is_listed() -> None:
    done = FindingItem("outcome", "Fix lint errors", None, Grounds("closing text"))
    entry = composed((Intervention("Fix lint errors"), Decision("Fix lint errors")), findings=(done,))
    assert texts(entry.request) == texts(entry.done) == texts(entry.decisions) == ["Fix lint errors"]


def test_the_request_matches_the_title_not_a_greeting() -> None:
    session = Session(
        "2026-11-21-x",
        title="Write a page on refunds",
        phases=(Phase("A", entries=(Intervention("hello"), Intervention("write a page on refunds in docs"))),),
    )
    assert texts(compose_entry(session).request) == ["write a page on refunds in docs"]


def test_a_question_of_a_log_that_a_user_went_on_from_is_not_open() -> None:
    phases = (
        Phase(
            "A",
            entries=(
                Callout("decision_needed", text="Which port?"),
                Prose("So."),
                Intervention("Add the docs"),
            ),
        ),
    )
    session = Session("2026-11-21-x", phases=phases)
    assert len(compose_entry(session).questions) == 1
    assert not compose_entry(replace(session, sources=("claude-code:1",))).questions


def test_tasks_that_wait_for_each_other_are_both_listed() -> None:
    tasks = (Task("1", "A", depends_on=("2",)), Task("2", "B", depends_on=("1", "2")))
    assert len(composed((), tasks=tasks).further) == 2


def test_blockers_of_the_bookmark_are_listed() -> None:
    entry = compose_entry(Session("s", pause_reason="lunch"), blockers=("Legal",))
    assert texts(entry.further) == ["Blocked: Legal", "Paused: lunch"]


# --- facts -----------------------------------------------------------------------------------------------------------


def test_times_agent_and_tokens_are_the_sessions() -> None:
    entry = composed(
        (),
        started=START,
        ended=START + timedelta(minutes=135),
        participants=(AgentRef("claude-code", "2.1"),),
        tokens_used=7,
    )
    assert (entry.duration_minutes, entry.agent, entry.tokens) == (135, "claude-code@2.1", 7)


def test_modified_files_are_listed_without_absolute_paths() -> None:
    calls = (
        ToolCall("Write limiter.py"),
        ToolCall("Read other.py"),
        ToolCall("Edit failed.py", outcome=Outcome.FAILED),
        ToolCall("Edit /home/me/shop/src/a.py"),
        ToolCall("Edit limiter.py"),
        ToolCall("Write ~/.claude/plans/plan.md"),
        ToolCall("Write scratch.py"),
        ToolCall("Bash rm scratch.py"),
        ToolCall("Skill testing now"),
    )
    entry = composed((ToolCalls(calls),))
    assert entry.files_modified == ("limiter.py", "a.py")
    assert entry.skills == ("testing",)


def test_deleted_and_temporary_files_are_not_listed() -> None:
    calls = (
        ToolCall("Write walrus.md"),
        ToolCall("Write /tmp/try.py"),
        ToolCall("Bash cat > /private/tmp/a/probe.py <<E⏎x⏎E"),
        ToolCall("Edit kept.py"),
        ToolCall("Edit back.py"),
        ToolCall("Bash rm walrus.md old.py && git checkout -- back.py"),
    )
    assert composed((ToolCalls(calls),)).files_modified == ("kept.py", "old.py")


def test_a_section_lists_the_surest_and_then_the_latest_and_counts_the_rest() -> None:
    sure = [FindingItem("outcome", f"Sure {n}", None, Grounds("commit", 0.97)) for n in range(3)]
    less = [FindingItem("outcome", f"Less {n}", None, Grounds("closing text", 0.9)) for n in range(20)]
    done = texts(composed((), findings=(*sure, *less)).done)
    assert done == [
        *(one.text for one in (*sure, *less[-(MOST["done"] - 3) :])),
        "… 11 more in `cru session show 2026-11-21-x --findings`",
    ]


def test_an_empty_session_has_an_entry() -> None:
    entry = compose_entry(Session("s"))
    assert (entry.done, entry.decisions, entry.questions, entry.further) == ((), (), (), ())


def test_a_line_is_one_line_and_not_too_long() -> None:
    assert tidy_line(HistoryLine("a\n\nb", "c\td", ("\n", "e\nf"))) == HistoryLine("a b", "c d", ("e f",))
    assert len(tidy_line(HistoryLine("x" * 5000)).text) == LONGEST


def test_captures_without_a_type_are_left_out() -> None:
    entry = tidy_entry(HistoryEntry("s", captures=Captures(approved=(Capture(""), Capture("decision", "d")))))
    assert entry.captures.approved == (Capture("decision", "d"),)


# --- any session -----------------------------------------------------------------------------------------------------


@given(sessions())
def test_every_decision_and_every_unfinished_task_of_any_session_is_there(session: Session) -> None:
    entry = compose_entry(session)
    assert entry == tidy_entry(entry)
    assert all(len(lines_of(entry, part)) <= most + 1 for part, most in MOST.items())
    told = [*texts(entry.decisions), *texts(entry.corrections)]
    is_whole = all(len(lines_of(entry, part)) <= MOST[part] for part in ("decisions", "corrections"))
    for one in findings_of(session) if is_whole else ():
        if one.kind == Kind.DECISION and bare(one.summary):
            wanted = tidy_line(HistoryLine(shorten(one.summary))).text
            assert any(bare(wanted) in bare(text) for text in told)
    open_tasks = [task for task in session.tasks if task.status not in {"completed", "cancelled", "deleted"}]
    for task in open_tasks:
        wanted = bare(tidy_line(HistoryLine(shorten(f": {task.content}"))).text)
        assert len(entry.further) > MOST["further"] or any(wanted in bare(text) for text in texts(entry.further))


def test_a_finding_of_two_kinds_is_listed_once_a_correction_before_a_decision() -> None:
    both = FindingItem(
        "decision", "Tax is rounded last", None, Grounds("model small-1 on 2026-11-23"), also="correction"
    )
    entry = composed((), findings=(both,))
    assert (texts(entry.corrections), texts(entry.decisions)) == (["Tax is rounded last"], [])


def test_closing_texts_give_way_to_outcomes_that_an_agent_named() -> None:
    guess = FindingItem("outcome", "Now all of it works.", None, Grounds("closing text", 0.8))
    commit = FindingItem("outcome", "Round last", None, Grounds("commit", 0.98))
    named = FindingItem("outcome", "Refunds are exact", None, Grounds("model small-1 on 2026-11-23", 0.98))
    assert texts(composed((), findings=(guess, commit)).done) == ["Now all of it works.", "Round last"]
    assert texts(composed((), findings=(guess, commit, named)).done) == ["Round last", "Refunds are exact"]


def test_what_an_agent_said_is_open_replaces_the_reason_of_the_pause_and_its_outcomes_the_tasks() -> None:
    source = Grounds("model small-1 on 2026-11-23")
    left = FindingItem("open_end", "Credit notes were not asked about", None, source)
    done = FindingItem("outcome", "Refunds are exact", None, source)
    tasks = (Task("1", "Round last", "completed"), Task("2", "Tell the shop"))
    session = {"tasks": tasks, "pause_reason": "asked: And the credit notes?"}
    without, told = composed((), **session), composed((), findings=(left, done), **session)
    assert texts(without.further) == ["To do: Tell the shop (task-2)", "Paused: asked: And the credit notes?"]
    assert texts(told.further) == ["To do: Tell the shop (task-2)", "Credit notes were not asked about"]
    assert (texts(without.done), texts(told.done)) == (["Round last (task-1)"], ["Refunds are exact"])


def test_listing_modified_files_takes_about_twice_the_work_for_twice_the_files() -> None:
    def edits(count: int) -> Session:
        calls = tuple(ToolCall(f"Edit src/part{at}.py", "ok") for at in range(count))
        return Session("s", phases=(Phase("P", entries=(ToolCalls(calls),), id="phase-1"),))

    few, many = (steps_of(partial(modified_files, edits(count), RecordedCalls())) for count in (200, 400))
    assert len(modified_files(edits(100), RecordedCalls())) == 100
    assert many <= 2.1 * few
