"""A brief without a model: limited, deterministic, decisions first, and with a user's edits."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import UsageError
from crucible.documents.markdown.containment import normal
from crucible.documents.session.findings import plain
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.memory.summary.brief import (
    MOST_WORDS,
    Brief,
    count_covered,
    count_words,
    covering,
    cut_words,
    due_phase,
)
from crucible.memory.summary.brief_text import ShownTexts, extend_brief, read_digest, render_digest
from samples.hostile_texts import hostile_text
from tests.cases import fewer, for_each
from tests.unit.documents.session.session_strategies import sessions


def phases(*bodies: tuple[Entry, ...], names: str = "") -> tuple[Phase, ...]:
    told = names or "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return tuple(Phase(told[n], entries=body, id=f"phase-{n + 1}") for n, body in enumerate(bodies))


def session(*bodies: tuple[Entry, ...], **more: object) -> Session:
    return Session("s", title="T", phases=phases(*bodies), **more)  # type: ignore[arg-type]


def brief_of(*bodies: tuple[Entry, ...]) -> str:
    return extend_brief(session(*bodies), None, f"phase-{len(bodies)}").text


def whole_words(brief: Brief) -> int:
    return count_words(f"[!abstract] Brief Covers: {brief.covers} {brief.text}")


# --- words -----------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "words"),
    [
        ("", 0),
        (" \n\t", 0),
        ("one", 1),
        ("one two\nthree", 3),
        ("x" * 24, 1),
        ("x" * 25, 2),
        ("x" * 240, 10),
        ("漢字", 2),
        ("かな漢字 kanji", 5),
        ("สวัสดี", 6),
        ("…", 1),
        ("a…", 1),
    ],
)
def test_a_word_is_a_run_without_blanks_and_a_long_run_is_several(text: str, words: int) -> None:
    assert count_words(text) == words


@fewer(2)
@given(hostile_text() | st.text() | st.text("漢 x…"), st.integers(0, 30))
def test_cut_text_has_no_more_words_than_asked_and_begins_as_before(text: str, limit: int) -> None:
    short = cut_words(text, limit)
    assert count_words(short) <= limit
    assert short == text or text.startswith(short[:-1])
    assert (short == text) == (count_words(text) <= limit)


# --- what is told ----------------------------------------------------------------------------------------------------


def test_decisions_come_before_results_wishes_and_questions() -> None:
    text = brief_of(
        (
            Callout("decision_needed", "", "Which clock?"),
            Intervention("The monotonic one."),
            Prose("I looked around.\n\nThe bucket works."),
            Failure("It leaked."),
            Failure("Off by one.", "Start at 0."),
        ),
        (Decision("Token bucket.", "Constant memory."),),
    )
    assert text == (
        "**Decisions**\n- Token bucket. (why: Constant memory.)\n\n"
        "**Results**\n- Fixed: Off by one. → Start at 0.\n\n"
        "**Open questions**\n- Unresolved: It leaked."
    )


def test_findings_are_listed_in_the_phase_that_quotes_them() -> None:
    grounds = Grounds("closing text", 0.89)
    block = (
        FindingItem("outcome", "The import skips empty lines and names the bad row", grounds=grounds),
        FindingItem("correction", '"Never use a global."', grounds=grounds),
        FindingItem("open_end", "Asked, no answer: keep the format?", grounds=grounds),
    )
    bodies: tuple[tuple[Entry, ...], ...] = (
        (Prose("The import skips empty lines and names the bad row. All pass."),),
        (Intervention("Never use a global."), Prose("Right.")),
    )
    found = session(*bodies, findings=block)
    assert extend_brief(found, None, "phase-1").text == (
        "**Results**\n- The import skips empty lines and names the bad row"
    )
    assert extend_brief(found, None, "phase-2").text == (
        "**Results**\n- The import skips empty lines and names the bad row\n- B: Right.\n\n"
        '**Preferences**\n- "Never use a global."\n\n'
        "**Open questions**\n- Asked, no answer: keep the format?"
    )


def test_a_humans_words_that_correct_nothing_are_no_wish() -> None:
    assert "Preferences" not in brief_of((Intervention("Now the parser, please."), Prose("Done.")))


def test_a_question_is_open_until_it_is_answered() -> None:
    asked: Entry = Callout("decision_needed", "", "Redis or memory?")
    assert "- Asked: Redis or memory?" in brief_of((asked,))
    assert "Asked" not in brief_of((asked, Intervention("Memory")))
    assert "Asked" not in brief_of((asked,), (Decision("Memory, not Redis"),))
    assert "- Asked: Redis or memory?" in brief_of((asked,), (Prose("Hm."), Intervention("Rename it.")))


def test_a_phase_without_words_is_no_result() -> None:
    assert brief_of((ToolCalls((ToolCall("Bash ls"), ToolCall("Bash make test"))),)) == ""


def test_only_a_recorded_phase_is_shown_by_its_last_paragraph() -> None:
    body = (Prose("I looked around.\n\nThe bucket works."),)
    assert "- A: The bucket works." in brief_of(body)
    logged = session(body, (Callout("milestone", "", "Half way."),), sources=("claude-code:1",))
    assert extend_brief(logged, None, "phase-2").text == "**Results**\n- Half way."


def test_a_brief_is_not_empty_where_anything_was_said() -> None:
    logged = session((Prose("Seven files use it."),), (), sources=("claude-code:1",))
    assert extend_brief(logged, None, "phase-2").text == "**Results**\n- A: Seven files use it."


def test_a_decision_names_who_made_it_and_a_fixed_failure_its_cause() -> None:
    text = brief_of(
        (
            Decision("Token bucket.", "Constant memory.", by="user"),
            Decision("No lock.", by="agent"),
            Failure("make test: 1 failed", "start at 0", cause="the clock starts at 1"),
        )
    )
    assert "- Token bucket. (user; why: Constant memory.)\n- No lock. (agent)" in text
    assert "**Results**\n- Fixed: make test: 1 failed (cause: the clock starts at 1) → start at 0" in text


def test_a_failure_without_a_described_fix_ends_with_its_cause() -> None:
    told = Grounds("model haiku on 2026-11-23", 0.92, ("a1",))
    item = FindingItem("failure", "The rounding was off, fixed in tax.py", "cents were cut", told)
    text = extend_brief(session((Prose("Done."),), findings=(item,)), None, "phase-1").text
    assert "- Fixed: The rounding was off, fixed in tax.py (cause: cents were cut)" in text.split("\n")


def test_failed_checks_come_last_and_are_at_most_three() -> None:
    passed = Grounds("failing then passing call", 0.97)
    text = brief_of(
        tuple(Failure(f"make lint: {n} issues", "fixed in a.py", cause="a typo", grounds=passed) for n in range(9))
    )
    assert text.startswith("**Fixed**\n- … and 6 earlier\n- make lint: 6 issues (cause: a typo) → fixed in a.py\n")


def test_a_decision_that_is_a_correction_is_listed_once() -> None:
    words = "Build the orders in the test itself, never in a file"
    found = session((Intervention(words), Decision(words)), findings=(FindingItem("correction", f'"{words}"'),))
    text = extend_brief(found, None, "phase-1").text
    assert text.count("never in a file") == 1
    assert "Preferences" not in text


def test_summaries_are_never_cut_and_older_ones_are_counted() -> None:
    def summary(n: int) -> str:
        return f"choice {n} of the many that were made about the limiter and its bucket for all users"

    kinds = ("correction", "outcome", "open_end")
    block = tuple(FindingItem(kind, f"{kind} {summary(n)}") for kind in kinds for n in range(20))
    text = extend_brief(session(tuple(Decision(summary(n)) for n in range(20)), findings=block), None, "phase-1").text
    for part in text.split("\n\n"):
        head, count, *items = part.split("\n")
        assert count == f"- … and {20 - len(items)} earlier", head
        assert items[-1].endswith("choice 19 of the many that were made about the limiter and its bucket for all users")
        assert all(item.endswith("for all users") for item in items)


def test_a_subagents_summary_and_a_milestone_are_results() -> None:
    body = (Subagent(AgentRef("explore"), summary="Found it in x.py."), Callout("milestone", "", "Half way."))
    text = brief_of(body)
    assert "- explore: Found it in x.py." in text
    assert "- Half way." in text


# --- the bound -------------------------------------------------------------------------------------------------------


@fewer(2)
@given(sessions(), st.data())
def test_whatever_happened_the_whole_brief_fits_and_is_the_same_again(found: Session, data: st.DataObject) -> None:
    if not found.phases:
        return
    found = replace(found, phases=tuple(replace(p, id=f"phase-{n}") for n, p in enumerate(found.phases, 1)))
    until = data.draw(st.sampled_from(found.phases)).id
    old = Brief(data.draw(hostile_text()), data.draw(st.sampled_from(("", "phase-1", 'phase-9 "x"', "x"))))
    for before in (None, old):
        brief = extend_brief(found, before, until)
        assert whole_words(brief) <= MOST_WORDS
        assert brief == extend_brief(found, before, until)


HUGE = (
    "x" * 10_000_000,
    "漢" * 3_000_000,
    "word " * 2_000_000,
    "\n" * 5_000_000 + "x",
    "`" * 3_000_000,
    "- a\n" * 500_000,
)


@pytest.mark.parametrize("text", HUGE, ids=["one word", "no blanks", "words", "lines", "ticks", "a list"])
def test_a_huge_text_fits_in_every_place(text: str) -> None:
    body = (
        Decision(text, text),
        Prose(text),
        Failure(text, text),
        Intervention(text),
        Callout("milestone", text, text),
    )
    found = Session("s", phases=(Phase(text, entries=body, id="phase-1"),))
    for old in (None, Brief(text, ""), Brief(f"**Results**\n- {text}", text)):
        brief = extend_brief(found, old, "phase-1")
        assert whole_words(brief) <= MOST_WORDS
        assert len(brief.text) < MOST_WORDS * 40
        assert old or "**Decisions**" in brief.text or not plain(text)


@fewer(2)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=40))
def test_in_one_step_or_phase_by_phase_decisions_stand_first_and_the_newest_is_kept(sizes: list[int]) -> None:
    bodies: list[tuple[Entry, ...]] = [
        (
            *(Decision(f"Choice {n}-{k} of many words on the matter at hand, for this and that") for k in range(size)),
            *(Intervention(f"do {n}"), Prose(f"came to {n}"), Failure(f"broke {n}")),
        )
        for n, size in enumerate(sizes)
    ]
    found = Session("s", phases=tuple(Phase(f"P{n}", entries=b, id=f"phase-{n + 1}") for n, b in enumerate(bodies)))
    stepwise: Brief | None = None
    for phase in found.phases:
        stepwise = extend_brief(found, stepwise, phase.id)
        assert whole_words(stepwise) <= MOST_WORDS
    assert stepwise is not None
    for brief in (stepwise, extend_brief(found, None, found.phases[-1].id)):
        newest = f"Choice {len(sizes) - 1}-{sizes[-1] - 1}"
        assert brief.text.startswith("**Decisions**\n")
        assert newest in brief.text.partition("**Results**")[0]
        assert brief.covers == covering(found.phases[-1])
        told, total = brief.text.count("- Choice"), sum(sizes)
        assert told == total or f"… and {total - told} earlier" in brief.text


# --- building on what stands there -----------------------------------------------------------------------------------


def test_a_users_edit_survives_the_next_phase() -> None:
    found = session((Decision("Redis."), Prose("Done.")), (Decision("Two buckets."),))
    first = extend_brief(found, None, "phase-1")
    edited = Brief(
        "The customer insists on memory.\n\n" + first.text.replace("- Redis.", "- Memory, not Redis."),
        first.covers,
    )
    text = extend_brief(found, edited, "phase-2").text
    assert text.startswith("The customer insists on memory.\n\n**Decisions**\n- Memory, not Redis.\n- Two buckets.")
    assert "- Redis." not in text


def test_a_deleted_item_does_not_return() -> None:
    found = session((Decision("Redis."), Prose("Done.")), (Prose("Next."),))
    first = extend_brief(found, None, "phase-1")
    text = extend_brief(
        found,
        replace(first, text=first.text.replace("- A: Done.\n", "").replace("- A: Done.", "")),
        "phase-2",
    ).text
    assert "Done." not in text
    assert "B: Next." in text


def test_a_brief_that_reaches_as_far_stays_to_the_letter() -> None:
    found = session((Prose("a"),), (Prose("b"),))
    brief = Brief("Mine,  all mine.\n\n* so", 'phase-2 "B"')
    assert extend_brief(found, brief, "phase-1") == brief
    assert extend_brief(found, brief, "phase-2") == brief
    assert extend_brief(found, None, "") == Brief("", "")


def test_a_phase_that_is_not_there_is_an_error() -> None:
    with pytest.raises(UsageError, match="no phase-9"):
        extend_brief(session((Prose("a"),)), None, "phase-9")


def test_a_sub_phase_stands_for_its_phase() -> None:
    assert extend_brief(session((Prose("a"),)), None, "phase-1.2").covers == 'phase-1 "A"'


def test_questions_go_when_they_are_answered_but_for_those_that_people_asked() -> None:
    before = session((Failure("It leaks."), Callout("decision_needed", "", "Which one?")))
    brief = extend_brief(before, None, "phase-1")
    assert brief.text.count("- ") == 2
    brief = replace(brief, text=f"{brief.text}\n- Who pays?")
    after = session(
        (Failure("It leaks.", "Closed."), Callout("decision_needed", "", "Which one?")),
        (Intervention("This"),),
    )
    assert extend_brief(after, brief, "phase-2").text.endswith("**Open questions**\n- Who pays?")


@fewer(2)
@given(hostile_text())
def test_free_words_are_kept_as_they_are(text: str) -> None:
    said = normal(text)
    if "**" in said or count_words(said) > 100:
        return
    digest = read_digest(said)
    assert render_digest(digest, 290) == said.strip("\n")


@fewer(2)
@given(st.lists(st.text("ab *-#`[]>\n", max_size=12), max_size=6))
def test_a_digest_reads_back_as_it_was_written(items: list[str]) -> None:
    lines = [" ".join(item.split()) for item in items]
    text = render_digest(read_digest("**Results**\n" + "\n".join(f"- {line}" for line in lines if line)), 290)
    assert render_digest(read_digest(text), 290) == text


# --- how far it reaches ----------------------------------------------------------------------------------------------


def named(*names: str) -> Session:
    return Session("s", phases=tuple(Phase(name, id=f"phase-{n}") for n, name in enumerate(names, 1)))


@for_each(
    ("names", "covers", "count"),
    [
        ("ABC", 'phase-2 "B"', 2),
        ("XABC", 'phase-2 "B"', 3),  # one was added above
        ("BC", 'phase-2 "B"', 1),  # one was removed above
        ("AYC", 'phase-2 "B"', 1),  # renamed or removed: told again, perhaps, but never missed
        ("ABB", 'phase-2 "B"', 2),
        ("BAB", 'phase-2 "B"', 1),  # equally near: the earlier one
        ("ABC", "phase-2", 2),
        ("ABC", "phase-9", 3),
        ("ABC", "2", 2),
        ("ABC", "B", 2),
        ("ABC", '"C"', 3),
        ("ABC", "", 0),
        ("ABC", "gone", 0),
        ("ABC", 'phase-0 "x"', 0),
        ("ABC", 'phase-2.1 "B"', 2),
        ("", 'phase-2 "B"', 0),
    ],
)
def test_the_phase_that_a_brief_names_is_found_again(names: str, covers: str, count: int) -> None:
    assert count_covered(named(*names), covers) == count


@fewer(2)
@given(st.lists(hostile_text(), min_size=1, max_size=5), st.data())
def test_any_name_is_found_again(names: list[str], data: st.DataObject) -> None:
    found = named(*names)
    at = data.draw(st.integers(0, len(names) - 1))
    assert count_covered(found, covering(found.phases[at])) == at + 1 or not normal(names[at]).strip()


@pytest.mark.parametrize(
    ("status", "due"),
    [
        (Status.ACTIVE, "phase-2"),
        (Status.PAUSED, "phase-2"),
        (Status.COMPLETED, "phase-3"),
        (Status.FAILED, "phase-3"),
        (None, "phase-2"),
    ],
)
def test_the_running_phase_is_not_due(status: Status | None, due: str) -> None:
    found = replace(named("A", "B", "C"), status=status)
    assert due_phase(found, "") == due
    assert due_phase(found, due) == ""
    assert due_phase(replace(named("A"), status=Status.ACTIVE), "") == ""
    assert due_phase(named(), "") == ""


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("It works", True),
        ("it *works*!", True),
        ("It", False),
        ("the bucket holds every user's tokens", True),
        ("the bucket holds", False),
        ("", False),
    ],
)
def test_a_known_text_is_recognised_with_other_marks_and_in_a_longer_text(text: str, is_said: bool) -> None:
    said = ShownTexts(["It works.", "The bucket holds every user's tokens, in memory."])
    assert said.has(text) == is_said
    assert said.add(text) == (not is_said and bool(text))


@pytest.mark.timed
def test_thousands_of_questions_in_a_brief_are_no_wait() -> None:
    old = Brief("**Open questions**\n" + "\n".join(f"- q{n}" for n in range(8000)), "")
    made = Session(
        "s",
        phases=tuple(Phase("A", id=f"phase-{n}", entries=(Failure(f"e {n}", "x"),)) for n in range(1, 500)),
    )
    began = time.perf_counter()
    extend_brief(made, old, "phase-499")
    assert time.perf_counter() - began < 1
