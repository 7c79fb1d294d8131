"""Questions, plans and refused calls: what was put to the user and what became of it is in the note, whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from crucible.clients.events import (
    CallEnd,
    Choice,
    Event,
    Injected,
    PlanSettled,
    Prompted,
    QuestionsAnswered,
    ToolReturned,
    ToolUsed,
)
from crucible.documents.recording.session_draft import session_of
from crucible.documents.session.findings import FindingDetector
from crucible.documents.session.session import Callout, Decision, Entry, Failure, Intervention, ToolCalls
from tests.unit.documents.recording.sample_events import Scribe, at, fold, setting
from tests.unit.documents.recording.test_session_recorder import used

OPTIONS = (("One file", "no server to run"), ("Redis", "fast"), ("Memory", ""))
ASKED = Choice("Where shall the cache live?", "", OPTIONS)


def settled(*events: Event, judge: FindingDetector | None = None) -> list[Entry]:
    """What stands behind the prompt and the calls."""
    told = session_of(fold([Prompted(at(), "Go"), *events], judge=judge).draft(), setting())
    return [entry for entry in told.phases[0].entries[1:] if not isinstance(entry, ToolCalls)]


def test_an_answered_question_is_a_decision_and_one_without_an_answer_waits() -> None:
    answered = Choice(ASKED.question, "One file", OPTIONS, ("One file",))
    assert settled(QuestionsAnswered(at(), "c1", (answered, ASKED))) == [
        Decision("Where shall the cache live? → One file", "no server to run", "Redis: fast; Memory", "user"),
        Callout(
            "decision_needed",
            "",
            "Where shall the cache live?\n\n- One file: no server to run\n- Redis: fast\n- Memory",
        ),
    ]


def test_an_answer_in_words_of_the_user_s_own_is_whole() -> None:
    words = "Neither.\n\nKeep it in the browser: " + "nobody else reads it. " * 40
    (entry,) = settled(QuestionsAnswered(at(), "c1", (Choice("Where?", words.strip(), (("A", ""),)),)))
    assert isinstance(entry, Decision)
    assert entry.text.startswith("Where? → Neither. Keep it in the browser")
    assert entry.rationale == " ".join(words.split())
    assert (entry.alternatives, entry.by) == ("A", "user")


class Quiet(Scribe):
    """A judge that tells answered questions in its own way."""

    def add(self, event: Event) -> Sequence[Decision | Failure]:
        return [Decision("mine")] if isinstance(event, QuestionsAnswered) else []


def test_who_judges_tells_the_answered_questions_and_nobody_else_does() -> None:
    answered = Choice(ASKED.question, "Redis", OPTIONS, ("Redis",))
    told = settled(QuestionsAnswered(at(), "c1", (answered, Choice("And?"))), judge=Quiet())
    assert told == [Callout("decision_needed", "", "And?"), Decision("mine")]


@pytest.mark.parametrize(
    ("text", "approved", "title"),
    [
        ("# Cache in SQLite\n\n- one file", True, "approved: Cache in SQLite"),
        ("# Plan: Cache in SQLite", False, "rejected: Cache in SQLite"),
        ("Planned outage on Monday", None, "left: Planned outage on Monday"),
        ("# Plan", True, "approved: Plan"),
        ("", True, "approved"),
    ],
)
def test_a_plan_is_whole_and_says_what_became_of_it(text: str, approved: bool | None, title: str) -> None:
    assert settled(PlanSettled(at(), "c1", text, approved)) == [Callout("plan", title, text, fold="-")]


def test_words_that_refuse_a_plan_stand_behind_it() -> None:
    told = settled(
        used("c1"),
        PlanSettled(at(), "c1", "# Redis", False),
        ToolReturned(at(), "c1", "", CallEnd.REJECTED, "One file"),
    )
    assert told == [Callout("plan", "rejected: Redis", "# Redis", fold="-"), Intervention("One file")]


def test_a_refusal_names_the_first_line_of_the_call() -> None:
    call = ToolUsed(at(), "c1", "Bash", {"command": "cat <<X\nmany\nlines\nX"})
    assert settled(call, ToolReturned(at(), "c1", "", CallEnd.REJECTED, "No")) == [
        Intervention("No", "refused: Bash cat <<X")
    ]


def test_words_with_an_answer_refuse_nothing() -> None:
    assert settled(used("c1"), ToolReturned(at(), "c1", "ok", feedback="Fine")) == [Intervention("Fine")]


def test_a_judge_s_callout_marks_its_row_as_told() -> None:
    events: list[Event] = [Prompted(at(), "Go"), Injected(at(row="abcdefgh-1"), "note")]
    assert fold(events, judge=Scribe()).draft().mark == "abcdefgh"
    assert fold(events).draft().mark != "abcdefgh"


def test_a_plan_that_the_agent_said_is_not_told_again() -> None:
    assert settled(PlanSettled(at(), "", "# One file\n\nOpen it.", True)) == [
        Callout("plan", "approved: One file", fold="-")
    ]
