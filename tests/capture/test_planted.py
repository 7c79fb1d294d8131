"""The generator keeps its word: what it says is planted stands where it says, and the score counts as it says."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path

import orjson
import pytest

from crucible.flight.reading import load_flight
from crucible.note.source import Lines, Source
from crucible.session.markup import render_session
from crucible.session.reading import read_session
from crucible.vault.store import Vault
from tests.capture.planted import (
    NEVER,
    Band,
    Found,
    Generated,
    Kind,
    Noise,
    Planted,
    Reason,
    generate,
    generate_many,
    is_of,
    score,
    write,
)
from tests.capture.planted.__main__ import main
from tests.capture.planted.books import FIFTH, FIRST, FOURTH, THIRD, Book
from tests.capture.planted.truth import SEED_TRIGGERS
from tests.capture.planted.words_evidence import CLAIMED, PROVEN
from tests.capture.planted.words_patterns import APIS

COUNT = 300
OF_A_BLIND_HALF = 50
SHARED = {"stacks", "calls", "apis", "failures", "environment", "transient", "expected", "mentions", "writes", "places", "refused"}  # fmt: skip
"""What the fourth book has from the third: matter without wording, and half of the failures."""


@cache
def _some() -> tuple[Generated, ...]:
    return tuple(generate_many(7, COUNT))


@cache
def _blind(half: int) -> tuple[Generated, ...]:
    return tuple(generate_many(7, OF_A_BLIND_HALF, half))


def _planted() -> list[tuple[Generated, Planted]]:
    return [(generated, one) for generated in _some() for one in generated.planted]


def _noise() -> list[tuple[Generated, Noise]]:
    return [(generated, one) for generated in _some() for one in generated.noise]


def _things(generated: Generated) -> tuple[Planted | Noise, ...]:
    return (*generated.planted, *generated.noise)


def _labelled(generated: Generated) -> list[int]:
    """The numbers, from 0, of all lines that are planted or noise."""
    return [line for one in _things(generated) for span in one.spans for line in range(*span)]


def _lines(generated: Generated, spans: tuple[Lines, ...]) -> str:
    lines = generated.text.split("\n")
    return "\n".join(line for span in spans for line in lines[span.first : span.end])


def test_a_seed_gives_the_same_session_again_and_another_one_another() -> None:
    assert generate(random.Random(3)) == generate(random.Random(3))
    assert generate(random.Random(3)) != generate(random.Random(4))


def test_a_longer_run_begins_with_the_same_sessions() -> None:
    assert list(generate_many(7, 5)) == list(_some()[:5])
    assert [g.text for g in generate_many(7, 5)] != [g.text for g in generate_many(8, 5)]


def test_the_halves_share_neither_wording_nor_matter() -> None:
    def told(half: int) -> set[str]:
        some = [one for g in generate_many(5, 60, half) for one in g.planted]
        return {
            w for one in some if one.language == "en" for w in one.wordings if w and not w.startswith("[!")
        }

    assert len(told(0)) > 40
    assert told(0) & told(1) <= {"docs/adr/<n4>-<slug>.md"}
    assert [g.text for g in generate_many(5, 5, 0)] != [g.text for g in generate_many(5, 5, 1)]


def _texts(table: object) -> list[str]:
    """Every sentence, command and name of a table; what is shorter, or a path of everyone, says nothing of who wrote it."""
    if isinstance(table, str):
        return [table] if len(table) > 16 and not table.startswith("docs/adr/") else []
    rows = table.values() if isinstance(table, Mapping) else table if isinstance(table, tuple) else ()
    return [text for row in rows for text in _texts(row)]


def test_the_third_half_has_a_book_of_its_own() -> None:
    for field in fields(Book):
        if field.name != "stacks":
            first, third = ({*_texts(getattr(book, field.name))} for book in (FIRST, THIRD))
            assert not first & third, field.name
    assert [g.text for g in generate_many(5, 3, 2)] != [g.text for g in generate_many(5, 3, 0)]


def _sizes(book: Book) -> dict[tuple[object, ...], int]:
    """How many rows each table has, by its name, and by reason and language where it is divided by these."""

    def sizes(name: tuple[object, ...], table: object) -> dict[tuple[object, ...], int]:
        if isinstance(table, Mapping):
            return {key: n for part, rows in table.items() for key, n in sizes((*name, part), rows).items()}
        return {name: len(table)} if isinstance(table, tuple) else {}

    return {key: n for f in fields(Book) for key, n in sizes((f.name,), getattr(book, f.name)).items()}


@pytest.mark.parametrize(
    ("book", "others", "shared"),
    [(FOURTH, (FIRST, THIRD), SHARED), (FIFTH, (FIRST, THIRD, FOURTH), {"stacks"})],
    ids=["fourth", "fifth"],
)
def test_a_later_half_shares_no_wording(book: Book, others: tuple[Book, ...], shared: set[str]) -> None:
    for name in {field.name for field in fields(Book)} - shared:
        told = {*_texts(getattr(book, name))}
        assert all(not told & {*_texts(getattr(other, name))} for other in others), name


@pytest.mark.parametrize("book", [THIRD, FIFTH], ids=["third", "fifth"])
def test_a_book_of_its_own_has_as_much_to_say_as_another_one(book: Book) -> None:
    sizes = _sizes(book)
    apart = {("stacks",), *(key for key in _sizes(FIRST) if key[0] == "calls")}
    least = {key: (n + 1) // 2 if n > 3 else n for key, n in _sizes(FIRST).items() if key not in apart}
    assert {key: (sizes.get(key), n) for key, n in least.items() if sizes.get(key, 0) < n} == {}
    spoken = {key[:-1]: {k[-1] for k in sizes if k[:-1] == key[:-1]} for key in sizes if key[-1] == "en"}
    assert all(languages == {*book.languages} for languages in spoken.values())


@pytest.mark.parametrize("half", [2, 3, 4])
def test_a_blind_half_keeps_its_word_as_the_others_do(half: int) -> None:
    for generated in _blind(half):
        again = read_session(Source(generated.text), generated.session.id)
        assert (again, again.problems) == (generated.session, ())
        lines = _labelled(generated)
        assert len(lines) == len({*lines}), generated.session.id
        failed = [call for call in again.calls() if call.outcome.value == "failed"]
        assert {call.lines.first for call in failed} <= {*lines}
        for one in generated.planted:
            told = _lines(generated, one.spans).casefold()
            assert one.terms, one
            assert one.form == "api" or all(term in told for term in one.terms), one
    assert {one.kind for g in _blind(half) for one in g.planted} == {*Kind}
    assert {one.reason for g in _blind(half) for one in g.noise} == {*Reason}


def test_every_note_reads_back_without_a_problem() -> None:
    for generated in _some():
        again = read_session(Source(generated.text), generated.session.id)
        assert again == generated.session
        assert again.problems == ()
        assert render_session(again) == generated.text
    assert len({g.session.id for g in _some()}) == COUNT


# --- where it stands -------------------------------------------------------------------------------------------------


def test_every_key_term_stands_in_its_lines_or_in_the_whole_call() -> None:
    for generated, one in _planted():
        told = _lines(generated, one.spans).casefold()
        assert one.terms, one
        assert len(one.terms) == len(set(one.terms))
        missing = [term for term in one.terms if term not in told]
        if one.form == "api":
            told = orjson.dumps([record.values for record in generated.records]).decode().casefold()
            missing = [term for term in missing if term not in told]
        assert missing == [], (one, told)


def test_every_stretch_lies_in_the_note_and_ends_in_its_phase() -> None:
    for generated in _some():
        phases = {phase.id: phase.lines for phase in generated.session.all_phases()}
        for one in _things(generated):
            assert all(0 < span.first < span.end <= generated.text.count("\n") + 1 for span in one.spans)
            here = phases[one.phase]
            assert here.first < one.spans[-1].first < here.end


def test_no_two_things_share_a_line() -> None:
    for generated in _some():
        lines = _labelled(generated)
        assert len(lines) == len(set(lines)), generated.session.id


def test_every_failed_call_is_within_something_that_is_labelled() -> None:
    for generated in _some():
        known = _labelled(generated)
        failed = [call for call in generated.session.calls() if call.outcome.value == "failed"]
        assert all(call.lines.first in known for call in failed)


def test_every_decision_and_error_callout_is_labelled() -> None:
    for generated in _some():
        known = _labelled(generated)
        callouts = [e for e in generated.session.all_entries() if type(e).__name__ in ("Decision", "Failure")]
        assert all(callout.lines.first in known for callout in callouts)


def test_a_secret_stands_in_its_lines() -> None:
    secrets = [(generated, one) for generated, one in _noise() if one.secret]
    assert len(secrets) > 10
    for generated, one in secrets:
        assert one.reason is Reason.SECRET
        assert one.secret in _lines(generated, one.spans)


# --- what there is ---------------------------------------------------------------------------------------------------


def test_there_is_enough_of_every_kind_and_of_every_reason() -> None:
    kinds = Counter(one.kind for _, one in _planted())
    reasons = Counter(one.reason for _, one in _noise())
    assert all(kinds[kind] > COUNT / 8 for kind in Kind), kinds
    assert all(reasons[reason] > COUNT / 15 for reason in Reason), reasons
    assert {one.band for _, one in _planted()} == {*Band}


def test_a_fifth_of_the_sessions_has_nothing_to_keep() -> None:
    bare = [generated for generated in _some() if not generated.planted]
    assert 0.14 < len(bare) / COUNT < 0.3
    assert sum(bool(generated.noise) for generated in bare) > len(bare) / 3


def test_sessions_are_short_and_long_and_of_all_clients() -> None:
    entries = sorted(len(list(g.session.all_entries())) for g in _some())
    assert entries[0] < 10
    assert entries[-1] > 200
    assert {str(g.session.sources[0]).partition(":")[0] for g in _some()} == {
        "claude-code",
        "codex",
        "opencode",
        "gemini",
    }
    assert 0 < sum(not g.kept for g in _some()) < COUNT / 4
    assert sum(len(g.session.phases) > 3 for g in _some()) > COUNT / 10


def test_the_wordings_are_many() -> None:
    wordings = {kind: {w for _, p in _planted() if p.kind is kind for w in p.wordings} for kind in Kind}
    assert all(len(some) >= 40 for some in wordings.values()), {
        kind: len(some) for kind, some in wordings.items()
    }
    assert len(CLAIMED["en"]) + len(PROVEN["en"]) >= 40
    assert len(wordings[Kind.PATTERN] & {api.name for api in APIS}) > 10
    assert {one.language for _, one in _planted()} == {"en", "de", "fr"}
    assert 0.75 < sum(one.language == "en" for _, one in _planted()) / len(_planted()) < 0.95


def test_the_words_of_the_seed_do_not_tell_what_is_planted() -> None:
    planted = [bool(SEED_TRIGGERS.search(_lines(generated, one.spans))) for generated, one in _planted()]
    noise = [bool(SEED_TRIGGERS.search(_lines(generated, one.spans))) for generated, one in _noise()]
    assert sum(planted) <= len(planted) / 2
    assert sum(noise) >= len(noise) / 2
    for kind in (*Kind,):
        some = [bool(SEED_TRIGGERS.search(_lines(g, one.spans))) for g, one in _planted() if one.kind is kind]
        assert 0 < sum(some) < 0.7 * len(some), kind


def test_things_stand_anywhere_in_a_session() -> None:
    places = [one.spans[0].first / generated.text.count("\n") for generated, one in _planted()]
    assert all(
        sum(low <= p < low + 0.25 for p in places) > len(places) / 10 for low in (0.0, 0.25, 0.5, 0.75)
    )


# --- the score -------------------------------------------------------------------------------------------------------


def _ideal(one: Planted) -> Found:
    return Found(one.kind, one.band.floor, f"about {one.terms[0]}", one.phase, one.spans[-1].first + 1)


def _with(count: int, kind: Kind) -> Generated:
    return next(g for g in _some() if sum(p.kind is kind for p in g.planted) >= count)


def test_the_ideal_candidates_score_one_and_are_told_from_each_other() -> None:
    scores = score((g, [_ideal(one) for one in g.planted]) for g in _some())
    assert scores.all.precision == scores.all.recall == scores.all.in_band == 1
    assert len(scores.all.found) == len(_planted())
    assert all(one.precision == one.recall == 1 for one in scores.by_kind.values())
    assert scores.never == 0
    for generated in _some():
        for one in generated.planted:
            assert [other for other in generated.planted if is_of(_ideal(one), other)] == [one]


def test_every_line_of_a_stretch_is_its_place_and_those_beside_it_are_not() -> None:
    one = Planted(Kind.DECISION, "prose", "phase-1", (Lines(9, 11), Lines(20, 21)), ("cursor",), Band.PROMPT)
    hits = [
        line for line in range(1, 30) if is_of(Found("decision", 0.9, "Cursors it is", "phase-1", line), one)
    ]
    assert hits == [10, 11, 21]


def test_another_kind_or_a_summary_of_nothing_is_wrong() -> None:
    generated = _with(1, Kind.EVIDENCE)
    one = next(p for p in generated.planted if p.kind is Kind.EVIDENCE)
    other = _ideal(one)._replace(kind="pattern")
    mute = _ideal(one)._replace(summary="§")
    scores = score([(generated, [other, mute])])
    assert scores.all.found == []
    assert [why for _, _, why in scores.all.wrong] == [
        "of another kind: evidence",
        "no key term in the summary",
    ]
    assert len(scores.by_kind[Kind.PATTERN].wrong) == 1
    assert scores.by_kind[Kind.EVIDENCE].recall == 0


def test_the_same_found_twice_is_once_right_and_once_wrong() -> None:
    generated = _with(1, Kind.FAILURE)
    one = next(p for p in generated.planted if p.kind is Kind.FAILURE)
    scores = score([(generated, [_ideal(one), _ideal(one)])])
    told = scores.by_kind[Kind.FAILURE]
    assert (len(told.found), [why for _, _, why in told.wrong]) == (1, ["found twice"])


def test_a_record_may_be_proposed_as_a_decision_once_more() -> None:
    generated = _with(1, Kind.ADR)
    one = next(p for p in generated.planted if p.kind is Kind.ADR)
    again = _ideal(one)._replace(kind="decision")
    scores = score([(generated, [_ideal(one), again, again])])
    assert (scores.excused, len(scores.all.wrong)) == (1, 1)
    alone = score([(generated, [again])])
    assert (alone.excused, len(alone.all.wrong)) == (0, 1)


def test_what_is_below_the_line_counts_for_nothing() -> None:
    generated = _with(1, Kind.DECISION)
    candidates = [_ideal(one)._replace(confidence=0.59) for one in generated.planted]
    scores = score([(generated, candidates)])
    assert (scores.all.recall, scores.all.precision) == (0, 1)
    assert score([(generated, candidates)], at=0.5).all.recall == 1
    assert score([(generated, candidates)], at=0.5).all.in_band == 0


def test_noise_is_counted_by_its_reason_and_the_never_list_apart() -> None:
    generated, one = next((g, n) for g, n in _noise() if n.reason is Reason.STORY)
    scores = score([(generated, [Found("decision", 0.9, "lunch", one.phase, one.spans[0].first + 1)])])
    assert scores.noise == {Reason.STORY: 1}
    assert scores.never == 1
    assert scores.all.wrong[0][2].startswith("noise: story")
    plain, other = next((g, n) for g, n in _noise() if n.reason not in NEVER)
    assert score([(plain, [Found("decision", 0.9, "x", other.phase, other.spans[0].first + 1)])]).never == 0


@pytest.mark.parametrize("field", ["summary", "detail"])
def test_a_secret_in_a_candidate_is_a_leak_wherever_it_stands(field: str) -> None:
    class Detailed(Found):
        detail = ""

    generated, one = next((g, n) for g, n in _noise() if n.secret)
    candidate = Detailed("decision", 0.9, one.secret if field == "summary" else "x", "phase-1", 1)
    if field == "detail":
        candidate.detail = f"it is {one.secret}."
    assert len(score([(generated, [candidate])]).leaks) == 1


# --- in a vault ------------------------------------------------------------------------------------------------------


def test_a_vault_gives_the_same_back(vault: Vault) -> None:
    for generated in _some()[:8]:
        write(vault, generated)
        assert vault.load(generated.session.id).session == generated.session
        assert len(load_flight(vault.root, generated.session.id).records) == len(generated.records)


def test_the_command_writes_notes_records_and_the_truth(tmp_path: Path) -> None:
    main(["--seed", "7", "--count", "4", "--vault", str(tmp_path / "v")])
    rows = [orjson.loads(line) for line in (tmp_path / "v" / "planted.jsonl").read_bytes().splitlines()]
    assert Counter(row["is"] for row in rows) == Counter(
        planted=sum(len(g.planted) for g in _some()[:4]), noise=sum(len(g.noise) for g in _some()[:4])
    )
    assert Vault(tmp_path / "v").session_ids() == {g.session.id for g in _some()[:4]}
