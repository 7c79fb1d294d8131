"""The generator keeps its word: what it says is planted is there, apart from the rest, and the same for the same seed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import orjson
import pytest

from crucible.cases.model import (
    Body,
    Case,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Fault,
    Place,
    Puzzle,
)
from crucible.flight.reading import load_flight
from crucible.note.source import Source
from crucible.session.export import export_session
from crucible.session.markup import render_session
from crucible.session.model import Failure, Outcome, Session
from crucible.session.reading import read_session
from crucible.vault.store import Vault
from tests.cases.planted import Generated, Planted, generate, generate_many, is_of, score, write
from tests.cases.planted.__main__ import main
from tests.cases.planted.failures import FAILURES

COUNT = 300


@cache
def _some() -> tuple[Generated, ...]:
    return tuple(generate_many(7, COUNT))


@cache
def _texts(ident: str) -> str:
    """Every text of a note, decoded, as JSON strings do not escape them."""
    return "\n".join(_strings(export_session(_sessions()[ident])))


@cache
def _sessions() -> dict[str, Session]:
    return {ident: session for generated in _some() for ident, session in generated.sessions.items()}


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    return [text for inner in value for text in _strings(inner)] if isinstance(value, list) else []


def _planted() -> list[tuple[Generated, Planted]]:
    return [(generated, one) for generated in _some() for one in generated.planted]


def test_a_seed_gives_the_same_session_again_and_another_one_another() -> None:
    assert generate(random.Random(3)) == generate(random.Random(3))
    assert generate(random.Random(3)) != generate(random.Random(4))


def test_a_longer_run_begins_with_the_same_sessions() -> None:
    assert list(generate_many(7, 5)) == list(_some()[:5])


def test_no_two_notes_have_one_id() -> None:
    ids = [ident for generated in _some() for ident in generated.sessions]
    assert len(ids) == len(set(ids))


def test_every_session_renders_and_reads_back() -> None:
    for generated in _some():
        for ident, session in generated.sessions.items():
            again = read_session(Source(render_session(session)), ident)
            assert again == session
            assert again.problems == ()


def test_every_anchor_stands_in_its_session() -> None:
    for generated, one in _planted():
        told = "\n".join(_texts(ident) for ident in generated.sessions)
        here = told if one.type is CaseType.DELEGATION else _texts(one.session)
        assert one.anchors
        assert all(anchor and anchor in here for anchor in one.anchors), one
    for generated in _some():
        assert all(each.anchor in _texts(each.session) for each in generated.noise)


def test_every_phase_that_is_named_is_there_and_says_an_anchor() -> None:
    for generated, one in _planted():
        phases = {p.id: p for p in generated.sessions[one.session].all_phases()}
        assert set(one.phases) <= phases.keys()
        bare = replace(generated.sessions[one.session], phases=(replace(phases[one.phase], subphases=()),))
        here = "\n".join(_strings(export_session(bare)))
        assert any(anchor in here for anchor in one.anchors), one
        everywhere = {p.id for s in generated.sessions.values() for p in s.all_phases()}
        assert not one.solved_in or one.solved_in in everywhere


def test_the_whole_message_stands_in_flight_where_there_is_any() -> None:
    for generated, one in _planted():
        if one.type is CaseType.PUZZLE and generated.kept:
            values = [record.values for record in generated.records(one.session)]
            texts = [str(v.get("text", "")) for v in values] + [str(v.get("content", "")) for v in values]
            assert one.message in texts


def test_a_puzzle_is_a_call_that_failed_or_an_error_that_is_told() -> None:
    for generated, one in _planted():
        if one.type is CaseType.PUZZLE:
            session = generated.sessions[one.session]
            failed = {c.call for c in session.calls() if c.outcome is Outcome.FAILED}
            errors = {e.text for e in session.all_entries() if isinstance(e, Failure)}
            assert one.call in failed or one.anchors[0] in errors


def test_every_failed_call_is_planted_or_noise() -> None:
    for generated in _some():
        known = {one.call for one in generated.planted}
        noise = {each.anchor for each in generated.noise}
        for session in generated.sessions.values():
            for call in session.calls():
                if call.outcome is Outcome.FAILED:
                    assert call.call in known or noise & {call.call, call.result}, call


# --- the truth tells cases apart -------------------------------------------------------------------------------------


def _ideal(one: Planted) -> Case:
    """The case that an extractor without a fault finds."""
    bodies: dict[CaseType, Body] = {
        CaseType.PUZZLE: Puzzle("", "", (), one.message),
        CaseType.CORRECTION: Correction("", (), one.words or "", (), one.rejected),
        CaseType.DECISION: Choice("", one.options, one.choice, one.rationale),
        CaseType.DELEGATION: Delegation("agent", one.anchors[-1], one.anchors[-1]),
    }
    return Case("", one.type, Place(one.session, one.phase, "", 1), bodies[one.type])


def test_the_ideal_cases_score_one_and_are_told_from_each_other() -> None:
    scores = score((g, [_ideal(one) for one in g.planted]) for g in _some())
    assert all(one.precision == one.recall == 1 for one in scores.values())
    for generated in _some():
        for one in generated.planted:
            assert [other for other in generated.planted if is_of(_ideal(one), other)] == [one]


def test_what_the_note_says_of_a_failure_is_enough_to_find_it() -> None:
    for generated in _some():
        for one in generated.planted:
            if one.type is CaseType.PUZZLE:
                case = replace(_ideal(one), body=Puzzle("", "", (), one.anchors[0]))
                assert [other for other in generated.planted if is_of(case, other)] == [one]


def test_what_is_missed_found_twice_or_taken_for_a_case_counts() -> None:
    generated = next(g for g in _some() if len([p for p in g.planted if p.type is CaseType.PUZZLE]) > 1)
    cases = [_ideal(one) for one in generated.planted if one.type is CaseType.PUZZLE]
    told = score([(generated, [*cases[1:], cases[-1]])])[CaseType.PUZZLE]
    assert (len(told.missed), len(told.wrong)) == (1, 1)
    blamed = score([(generated, [replace(cases[0], fault=Fault.ENVIRONMENT)])])[CaseType.PUZZLE]
    assert (len(blamed.found), len(blamed.wrong)) == (0, 0)


# --- what there is ---------------------------------------------------------------------------------------------------


def test_there_is_enough_of_every_type() -> None:
    by_type = Counter(one.type for _, one in _planted())
    assert all(by_type[kind] > COUNT / 3 for kind in CaseType if kind is not CaseType.WORKFLOW)
    noise = Counter(each.kind.partition("-")[0] for g in _some() for each in g.noise)
    kinds = (
        "environment",
        "transient",
        "expected",
        "cancelled",
        "follow",
        "prose",
        "steering",
        "interrupted",
        "client",
    )
    assert all(noise[kind] for kind in kinds), noise
    assert {fault for g in _some() for each in g.noise for fault in each.faults} >= {
        Fault.ENVIRONMENT,
        Fault.TRANSIENT,
        Fault.CANCELLED,
    }
    assert any(not g.planted for g in _some())


def test_the_wordings_are_many() -> None:
    planted = [one for _, one in _planted()]
    kinds = {type_: {one.kind for one in planted if one.type is type_} for type_ in CaseType}
    assert len(FAILURES) >= 40
    assert len(kinds[CaseType.PUZZLE]) >= 40
    assert len({one.words for one in planted if one.words}) >= 60
    assert {"rejected-with-words", "rejected-without-words", "rejected-then-words"} <= kinds[
        CaseType.CORRECTION
    ]
    assert len({one.choice for one in planted if one.type is CaseType.DECISION}) >= 30
    assert {"prose", "callout", "both", "user-choice", "user-answer"} <= kinds[CaseType.DECISION]
    assert {one.used for one in planted if one.type is CaseType.DELEGATION} == {True, False, None}


def test_puzzles_are_solved_at_once_later_elsewhere_or_never() -> None:
    puzzles = [one for _, one in _planted() if one.type is CaseType.PUZZLE]
    ways = Counter((one.is_open, one.verified) for one in puzzles)
    assert {(True, False), (False, True), (False, False)} <= ways.keys()
    assert ways[False, True] > len(puzzles) / 2
    assert any(one.solved_in not in ("", *one.phases) for one in puzzles)
    assert any(len(one.phases) > 1 for one in puzzles)


def test_all_clients_are_there_and_some_sessions_have_no_whole_events() -> None:
    clients = Counter(str(g.session.sources[0]).partition(":")[0] for g in _some())
    assert set(clients) == {"claude-code", "codex", "opencode", "gemini"}
    assert 0 < sum(not g.kept for g in _some()) < COUNT / 2


# --- in a vault ------------------------------------------------------------------------------------------------------


@pytest.fixture(name="written")
def _written(vault: Vault) -> tuple[Vault, list[Generated]]:
    some = list(_some()[:12])
    for generated in some:
        write(vault, generated)
    return vault, some


def test_a_vault_gives_the_same_back(written: tuple[Vault, list[Generated]]) -> None:
    vault, some = written
    for generated in some:
        for ident, session in generated.sessions.items():
            assert vault.load(ident).session == session
            read = [replace(record, key="") for record in load_flight(vault.root, ident).records]
            assert read == [replace(record, key="") for record in generated.records(ident)]


def test_the_command_writes_notes_records_and_the_truth(tmp_path: Path) -> None:
    main(["--seed", "7", "--count", "3", "--vault", str(tmp_path / "v")])
    rows = [orjson.loads(line) for line in (tmp_path / "v" / "planted.jsonl").read_bytes().splitlines()]
    assert sum(row["is"] == "planted" for row in rows) == sum(len(g.planted) for g in _some()[:3])
    assert Vault(tmp_path / "v").session_ids() == {i for g in _some()[:3] for i in g.sessions}
