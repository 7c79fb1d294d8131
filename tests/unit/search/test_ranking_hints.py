"""Ranking by hints: the kind that a question mentions, and the heading above a paragraph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crucible.documents.session.session import (
    Decision,
    Entry,
    Failure,
    Intervention,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.search.question_words import hinted_kinds, read_question
from crucible.search.recall import EventKind
from tests.unit.search.vaults import ask, found, session_of, vault_of


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("what did we decide about the cache?", {EventKind.DECISION}),
        ("which policy was CHOSEN", {EventKind.DECISION}),
        ("why did the upload fail", {EventKind.ERROR}),
        ("what did we decide after the crash", {EventKind.DECISION, EventKind.ERROR}),
        ("where is the cache?", set()),
        ("-error cache", set()),
    ],
)
def test_a_question_hints_at_kinds(text: str, kinds: set[EventKind]) -> None:
    assert hinted_kinds(read_question(text)) == kinds


def _under(heading: str, *entries: Entry) -> Phase:
    return Phase(heading, entries=entries)


def _session(name: str, *phases: Phase) -> Session:
    return replace(session_of(name, title="Work of a day"), phases=phases)


def test_a_decision_ranks_first_if_the_question_hints_at_decisions(tmp_path: Path) -> None:
    said = "Tiles are cached for a day"
    root = vault_of(
        tmp_path / "v",
        _session(
            "one",
            _under("Work", Prose(f"{said}, then."), Decision(f"{said}, now.")),
            _under("More", Failure(f"{said}, not.")),
        ),
    )
    (hit, *others) = ask(root, "what did we decide, how are tiles cached?").hits
    assert (hit.event.kind, hit.parts["kind"]) == (EventKind.DECISION, 1.2)
    assert [other.event.kind for other in others if "kind" in other.parts] == []
    assert ask(root, "error when tiles are cached").hits[0].event.kind is EventKind.ERROR
    assert all("kind" not in hit.parts for hit in ask(root, "how are tiles cached?").hits)
    narrowed = ask(root, "what did we decide, how are tiles cached?", kinds=frozenset({EventKind.AGENT}))
    assert [hit.event.kind for hit in narrowed.hits] == [EventKind.AGENT]


def test_findings_rank_above_the_prose_that_they_were_found_in(tmp_path: Path) -> None:
    said = "Tiles are cached for a day"
    for kind, finding in ((EventKind.DECISION, Decision(f"{said}.")), (EventKind.ERROR, Failure(f"{said}."))):
        root = vault_of(tmp_path / kind, _session("one", _under("Work", Prose(f"{said}!"), finding)))
        hits = ask(root, "how are tiles cached?").hits
        assert [hit.event.kind for hit in hits] == [kind, EventKind.AGENT]
        assert [hit.parts.get("finding") for hit in hits] == [1.2, None]


def test_a_paragraph_is_found_by_the_heading_above_it(tmp_path: Path) -> None:
    root = vault_of(
        tmp_path / "v",
        _session(
            "one",
            _under(
                "Exchange rates",
                Intervention("When are they published?"),
                Prose("At six in the evening."),
                ToolCalls((ToolCall("Bash curl", "ok"),)),
            ),
            _under("Rounding", Prose("To five rappen."), Decision("Half up, always.")),
        ),
    )
    assert found(ask(root, "exchange")) == ["At six in the evening."]
    assert set(found(ask(root, "rounding"))) == {"To five rappen.", "Half up, always."}
    assert [one.session for one in ask(root, "exchange").sessions] == ["one"]
    assert ask(root, "exchange").hits[0].snippet.marks == ()


@pytest.mark.parametrize(
    ("heading", "prompt"),
    [
        ("Exchange rates, please!", "Exchange rates, please! And quickly."),
        ("Exchange rates of all the curren…", "Exchange rates of all the currencies that we have"),
    ],
)
def test_a_heading_that_repeats_the_prompt_is_not_added(tmp_path: Path, heading: str, prompt: str) -> None:
    phase = _under(heading, Intervention(prompt), Prose("At six in the evening."))
    root = vault_of(tmp_path / "v", _session("one", phase))
    assert found(ask(root, "exchange")) == [prompt]


def test_a_phrase_does_not_match_across_heading_and_paragraph(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", _session("one", _under("Exchange rates", Prose("At six in the evening."))))
    answer = ask(root, '"exchange rates"')
    assert answer.notes == ("no exact match; these match some of its words",)
    assert found(answer) == ["At six in the evening."]
