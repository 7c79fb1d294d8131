"""Case notes: a written case is read back without loss, and so are the edits of a user."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crucible.commands.learn.case import (
    Case,
    CaseCall,
    CaseStatus,
    CaseTurn,
    Choice,
    Correction,
    Delegation,
    Difficulty,
    Fault,
    Puzzle,
    Role,
    Trajectory,
)
from crucible.commands.learn.case_notes import is_as_written, read_case, render_case
from crucible.documents.knowledge.items import Attribution, Category
from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import find_property_links
from tests.unit.commands.learn.sample_cases import (
    CHOICE,
    DELEGATION,
    PUZZLE,
    WORKFLOW,
    any_case,
    assistant_turn,
    case_of,
    hostile_text,
    made_cases,
)


def read(text: str) -> Case:
    case, problems, *_ = read_case(Source(text), "some")
    assert not problems
    assert case is not None
    return case


# --- the law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", made_cases(), ids=lambda case: case.id)
def test_each_type_of_case_is_read_back(case: Case) -> None:
    assert read(render_case(case)) == case


@given(any_case())
def test_any_case_is_read_back(case: Case) -> None:
    assert read(render_case(case)) == case


@given(hostile_text(), hostile_text(), st.floats(0, 1), st.sampled_from(Category))
def test_properties_of_a_case_are_read_back(one: str, other: str, confidence: float, category: Category) -> None:
    why = Attribution(category, one, other, confidence, other)
    case = case_of(
        replace(PUZZLE, attribution=why, hints=(one, "", other)),
        agent=one,
        model=other,
        channel=one,
        tools=(one, other),
        tags=(other,),
        started=datetime(2026, 5, 4, 10, 11, 12, 345, tzinfo=UTC),
        difficulty=Difficulty.HARD,
        fault=Fault.TRANSIENT,
        verification=one,
        digest=other,
        complete=False,
        problems=(one,),
        redactions={"github-token": 2, one: 1},
        review=CaseStatus.ACCEPTED,
    )
    assert read(render_case(case)) == case


@given(hostile_text())
def test_a_choice_of_hostile_options_is_read_back(text: str) -> None:
    case = case_of(Choice(text, (text, "", text), text, text, text))
    assert read(render_case(case)) == case


@given(
    st.lists(st.sampled_from(["[", "[[", "\\", "]]", "x", "|", "!", " ", "#"]), max_size=9).map("".join)
    | hostile_text()
)
def test_no_foreign_property_is_a_link(text: str) -> None:
    attribution = Attribution(Category.KNOWLEDGE_GAP, text, text, 0.5, "some")
    case = case_of(replace(PUZZLE, attribution=attribution), verification=text, tools=(text or "t",), project=text)
    written = render_case(case)
    assert read(written) == case
    links = find_property_links(Source(written))
    assert [link.target for link in links] == [f"sessions/{case.place.session}"]
    head = written.split("\n---\n")[0]
    assert head.count("[[") == 1


def test_line_ends_changed_by_git_change_nothing() -> None:
    text = render_case(case_of(PUZZLE))
    changed = text.replace("\n", "\r\n")
    assert read(changed) == case_of(PUZZLE)
    assert is_as_written(Source(changed))


def test_a_note_names_its_type_and_links_to_its_session() -> None:
    text = render_case(
        case_of(CHOICE, title="Backoff with jitter."), heading="Make retries polite @claude-code@2.1 #dev"
    )
    values = yaml.safe_load(text.split("---\n")[1])
    assert (values["type"], values["case_type"], values["status"]) == ("case", "decision", "proposed")
    assert values["session"] == "[[sessions/2026-05-04-1000-retry|2026-05-04-1000-retry]]"
    assert (
        "From [[sessions/2026-05-04-1000-retry#Make retries polite @claude-code@2.1 dev|Make retries polite]], line 42."
        in text
    )
    assert "# Decision: Backoff with jitter." in text
    assert "\n## Rationale\n\nIt spreads them.\n" in text


# --- foreign text ----------------------------------------------------------------------------------------------------


@given(any_case())
def test_foreign_text_makes_no_heading_and_no_html(case: Case) -> None:
    text = render_case(case)
    tokens = MarkdownIt("commonmark").parse(text.partition("\n---\n")[2])
    heads = [(one.tag, after.content) for one, after in pairwise(tokens) if one.type == "heading_open"]
    assert sum(tag == "h1" for tag, _ in heads) == 1
    known = {
        "Goal", "State", "Tried", "Failure", "Hints", "Expected", "Solution", "What the agent did", "Rejected", "The user's words",
        "What followed", "Situation", "Options", "Choice", "Rationale", "Outcome", "Task", "Result", "Evidence", "Turns",
    }  # fmt: skip
    assert {content for tag, content in heads if tag == "h2"} <= known
    assert not any(one.type == "html_block" for one in tokens)


def test_embeds_queries_and_comments_are_inert() -> None:
    bad = "![[secrets]]\n\n```dataviewjs\nalert(1)\n```\n\n%% hidden\n\n<script>x</script>\n\n## Solution\n\nforged"
    case = case_of(replace(PUZZLE, goal=bad))
    text = render_case(case)
    assert "\n```dataviewjs" not in text
    assert text.count("\n## Solution\n") == 1 or "````" in text
    assert read(text) == case


# --- a human's edits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        (
            "## Goal\n\nMake app.py survive a connection reset.",
            "## goal\nLet it *survive*.",
            "goal",
            "Let it *survive*.",
        ),
        (
            "```text\nConnectionResetError: [Errno 104]\n```\n\n## Hints",
            "Reset by peer\n\n## Hints",
            "failure",
            "Reset by peer",
        ),
        ("It tries again with backoff.", "One.\n\nTwo.", "expected", "One.\n\nTwo."),
        ("- Look at the error's class.", "- first\n- second", "hints", ("first", "second")),
        ("## State\n\nRead app.py.\n\n", "", "state", ""),
    ],
)
def test_an_edited_section_is_read(old: str, new: str, field: str, value: object) -> None:
    text = render_case(case_of(PUZZLE))
    assert text.count(old) == 1
    case = read(text.replace(old, new))
    assert getattr(case.body, field) == value
    assert replace(case, body=PUZZLE, digest=case_of(PUZZLE).digest, tokens=120) == case_of(PUZZLE)
    assert case.digest != case_of(PUZZLE).digest


def test_edited_turns_are_read() -> None:
    text = render_case(case_of(PUZZLE))
    for old, new in [
        ('"It tries again now."', '["It tries again.", "", "### By the way", "It waits, too."]'),
        ('"new": "retry(get, url)"', '"new": "again(get)"'),
        ('"failed": true,\n', ""),
    ]:
        assert old in text
        text = re.sub(rf"\n *{re.escape(old)}|{re.escape(old)}", new, text)
    body = read(text).body
    assert isinstance(body, Puzzle)
    assert body.solution[0].calls == (
        CaseCall("t2", "Edit", {"path": "app.py", "old": "get(url)", "new": "again(get)"}),
    )
    assert body.solution[2] == assistant_turn("It tries again.\n\n### By the way\nIt waits, too.")
    assert body.tried[1].failed is False


def test_a_turn_may_be_inserted() -> None:
    text = render_case(case_of(PUZZLE))
    turn = '  {\n    "role": "tool",\n    "answers": "t2"'
    assert turn in text
    body = read(text.replace(turn, '  {"role": "user", "text": "Go on."},\n' + turn)).body
    assert isinstance(body, Puzzle)
    assert body.solution[1] == CaseTurn(Role.USER, "Go on.")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"role": "tool"', '"role": "nobody"'),
        ('"role": "assistant",', '"role": "assistant"'),
        ("```json\n", "```text\n"),
        ('"arguments": {', '"arguments": "{'),
    ],
)
def test_a_case_with_invalid_turns_is_not_exported(old: str, new: str) -> None:
    text = render_case(case_of(WORKFLOW))
    assert old in text
    found = read_case(Source(text.replace(old, new, 1)), "some")
    assert found.case is None
    assert [one.code for one in found.problems] == ["bad-turns"]
    assert "list of turns" in found.problems[0].message


@pytest.mark.parametrize("status", ["yes please", "[accepted]", '"rejected'])
def test_a_case_with_an_invalid_review_is_not_exported(status: str) -> None:
    found = read_case(Source(render_case(case_of(CHOICE)).replace("proposed", status)), "some")
    assert found.case is None
    assert (found.id, found.session, found.says_case) == ("c1", "2026-05-04-1000-retry", True)


def test_edited_properties_are_read() -> None:
    text = render_case(case_of(DELEGATION))
    for old, new in [
        ("status: proposed", "status: Accepted"),
        ("difficulty: easy", "difficulty: hard"),
        ("used: true", "used: false"),
        ("verified: true", "verified: false"),
        ("tags:\n  - retry", "tags: [a, b]"),
        ("[[sessions/2026-05-04-1000-retry|2026-05-04-1000-retry]]", "[[old/2026-05-04-1000-again|it]]"),
    ]:
        assert old in text
        text = text.replace(old, new, 1)
    case = read(text)
    assert (case.review, case.difficulty, case.tags) == (CaseStatus.ACCEPTED, Difficulty.HARD, ("a", "b"))
    assert isinstance(case.body, Delegation)
    assert case.body.used is False
    assert not case.verification
    assert case.place.session == "2026-05-04-1000-again"


def test_a_review_or_a_renamed_session_is_no_edit_of_the_content() -> None:
    text = render_case(case_of(CHOICE)).replace("status: proposed", "status: accepted")
    text = text.replace("2026-05-04-1000-retry", "2026-05-04-other")
    assert is_as_written(Source(text))
    assert read(text).digest == "digest-c1"
    assert not is_as_written(Source(text.replace("It spreads them.", "It spreads.")))


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("\n## Rationale", "\n## Ideas\n\nmine\n\n## Rationale", "unknown-section"),
        ("\n## Outcome", "\n## Choice\n\nx\n\n## Outcome", "section-twice"),
        ("tokens: 120", "tokens: many", "bad-field"),
        ("started: ", "started: on ", "bad-field"),
        ("complete: true", "complete: almost", "bad-field"),
    ],
)
def test_an_invalid_part_is_reported_and_the_rest_is_read(old: str, new: str, code: str) -> None:
    text = render_case(case_of(CHOICE)).replace(old, new)
    case, problems, *_ = read_case(Source(text), "some")
    assert [one.code for one in problems] == [code]
    line = text.split("\n")[problems[0].line - 1]
    assert line.startswith(new.strip().split()[0])
    assert case is not None
    assert case.body == CHOICE


@pytest.mark.parametrize(
    "text", ["", "# A note\n", "---\ntype: session\n---\n", "---\ntype: case\ncase_type: joke\n---\n"]
)
def test_a_note_of_another_type_is_no_case(text: str) -> None:
    case, problems, *_ = read_case(Source(text), "some")
    assert case is None
    assert problems


def test_a_handwritten_note_needs_few_properties() -> None:
    case = read("---\ntype: case\ncase_type: correction\n---\n## The user's words\n\nNo, per user.\n")
    assert isinstance(case.body, Correction)
    assert (case.id, case.body.words, case.body.goal, case.body.did) == ("some", "No, per user.", "", ())


def test_a_case_names_its_finding() -> None:
    case = case_of(Trajectory("g", (assistant_turn("x"),)), title="The flag is renamed.", finding="outcome-3a77d35a")
    assert "# Workflow: The flag is renamed." in render_case(case)
    assert read(render_case(case)) == case
