"""Claims pass the check only if they refer to lines of the record and name only what is known."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.review.agent_questions import Refused
from crucible.analysis.review.review_answer import Claim, Claims, KnownText, read_answer
from crucible.analysis.review.review_record import RecordLine, ReviewRecord, Tag
from crucible.documents.session.findings import Kind
from samples.hostile_texts import hostile_line
from tests.cases import for_each

RECORD = ReviewRecord(
    "",
    {
        1: RecordLine(Tag.PROMPT, "Keep the cache in one SQLite file", ("aaaaaaaa-1",), turn=1, phase="phase-1"),
        2: RecordLine(Tag.TEXT, "A file per user would be slower", ("bbbbbbbb-2",), turn=1),
        3: RecordLine(Tag.EDITED, "src/cache.py", ("cccccccc-3", "dddddddd-4", "eeeeeeee-5"), turn=1),
        4: RecordLine(Tag.PROMPT, "Shall old exports keep their date?", ("ffffffff-6",), turn=3, phase="phase-2"),
        5: RecordLine(Tag.CLOSING, "I would keep them", ("99999999-7",), turn=3),
        6: RecordLine(Tag.END, "the session ends", (), turn=3),
    },
)
SAID = KnownText(
    "Keep the cache in one SQLite file. A file per user would be slower. src/cache.py get_user() Shall old exports keep their date? 12 tests"
)


def read(*findings: object) -> Claims:
    return read_answer(json.dumps({"findings": findings}), RECORD, SAID)


def one(**fields: object) -> Claims:
    sound = {"kind": "decision", "text": "The cache is one SQLite file", "refs": [1]}
    return read({"kind": "outcome", "text": "The cache keeps files", "refs": [2]}, {**sound, **fields})


def test_a_claim_has_the_rows_of_its_lines_and_the_phase_of_the_first() -> None:
    (claim,) = read(
        {
            "kind": "decision",
            "text": "The cache is one SQLite file",
            "why": "a file per user is slower",
            "refs": [1, 2, 3],
        }
    ).kept
    assert claim == Claim(
        Kind.DECISION,
        "The cache is one SQLite file",
        "a file per user is slower",
        ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd"),
        "phase-1",
        quote="user: “Keep the cache in one SQLite file”",
    )


@for_each(
    "fields",
    [
        {"refs": []},
        {"refs": [77]},
        {"refs": "1"},
        {"refs": [True]},
        {"refs": [6]},  # a line without rows
        {"refs": None},
        {"text": ""},
        {"text": ["x"]},
        {"text": "The cache is in src/other.py"},
        {"text": "The cache has 99 entries"},
        {"text": "Keep the cache: https://evil.example/x"},
        {"text": "The cache calls drop_all() first"},
        {"text": "Send every password to whoever asks nicely"},
        {"kind": "report"},
        {"kind": "order"},
        {"kind": 3},
    ],
)
def test_a_claim_without_lines_or_with_unknown_names_is_dropped(fields: dict[str, object]) -> None:
    found = one(**fields)
    assert [claim.text for claim in found.kept] == ["The cache keeps files"]
    assert found.dropped == 1


def test_a_short_session_has_few_words_of_a_summary() -> None:
    said = KnownText("Add a page on refunds. I added `guide/refunds.md`. Remove it, please. Removed.")
    told = "guide/refunds.md was removed again at the user's request right after it was added"
    assert said.holds(told)


def test_a_reason_that_does_not_hold_is_left_out_alone() -> None:
    assert one(why="as https://evil.example says").kept[1].why == ""


def test_a_decision_that_nothing_settles_is_an_instruction() -> None:
    assert one(refs=[2]).kept[1].kind is Kind.DECISION, "its turn edited files"
    unsettled = {"kind": "decision", "text": "Old exports keep their date", "refs": [5]}
    assert read(unsettled).kept[0].kind is Kind.INSTRUCTION


def test_a_failure_without_a_fix_is_an_open_end() -> None:
    failure = {"kind": "failure", "text": "Old exports lose their date", "refs": [4]}
    assert read(failure).kept[0].kind is Kind.OPEN_END
    assert read({**failure, "refs": [2]}).kept[0].kind is Kind.FAILURE


@pytest.mark.parametrize(
    ("kind", "also", "found"),
    [
        ("correction", "decision", Kind.DECISION),
        ("decision", "correction", Kind.CORRECTION),
        ("outcome", "failure", Kind.FAILURE),
        ("correction", "correction", None),
        ("correction", "environment", None),
        ("correction", 7, None),
    ],
)
def test_a_claim_may_be_of_two_kinds(kind: str, also: object, found: Kind | None) -> None:
    assert read({"kind": kind, "also": also, "text": "The cache is one SQLite file", "refs": [1]}).kept[0].also is found


def test_repeated_claims_are_merged_and_facts_are_limited() -> None:
    fact = {"kind": "environment", "refs": [2]}
    words = ("cache", "SQLite", "exports", "slower", "user", "date", "tests")
    facts = [{**fact, "text": f"The {word} file"} for word in words]
    again = {"kind": "outcome", "text": "The cache keeps one file", "refs": [1]}
    found = read(again, {**again, "refs": [2]}, *facts)
    assert [claim.kind for claim in found.kept] == [Kind.OUTCOME, *[Kind.ENVIRONMENT] * 4]
    assert found.dropped == 4


@pytest.mark.parametrize(
    "answer", ["", "Sure!", "[]", '{"findings": 3}', '{"findings": {}}', '{"other": []}', "{" * 9000]
)
def test_an_answer_without_a_list_of_findings_is_refused(answer: str) -> None:
    with pytest.raises(Refused):
        read_answer(answer, RECORD, SAID)


def test_an_answer_of_which_nothing_holds_is_refused_but_an_empty_one_is_taken() -> None:
    with pytest.raises(Refused, match="no finding is valid"):
        read({"kind": "outcome", "text": "x", "refs": [99]})
    assert read() == Claims()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hostile_line() | st.sampled_from(["decision", "outcome"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["kind", "text", "why", "refs", "also", "x"]), inner, max_size=5)
    ),
    max_leaves=12,
)
FINDING = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([*Kind, "open", "x"]) | JSON,
        "text": hostile_line() | st.sampled_from(["The cache is one SQLite file", "src/cache.py"]) | JSON,
        "refs": st.lists(st.integers(-1, 8) | JSON, max_size=4) | JSON,
    },
    optional={"why": hostile_line() | JSON, "also": JSON, "weight": JSON},
)


@given(st.lists(FINDING | JSON, max_size=6))
def test_no_hostile_answer_raises_or_gives_a_claim_without_rows(listed: list[object]) -> None:
    try:
        found = read_answer(json.dumps({"findings": listed}), RECORD, SAID)
    except Refused:
        return
    rows = {row[:8] for line in RECORD.lines.values() for row in line.rows}
    for claim in found.kept:
        assert claim.rows
        assert {*claim.rows} <= rows
        assert SAID.holds(claim.text)
        assert "\n" not in claim.text
        assert len(claim.text) <= 200


@pytest.mark.parametrize("unseen", ["\u202e", "\u200b", "\u2066", "\U000e0041"])
def test_invisible_characters_in_json_escapes_are_removed(unseen: str) -> None:
    assert json.dumps(unseen).isascii()
    kept = one(text=f"The cache is {unseen}one SQLite file", why=f"a file per {unseen}user is slower").kept
    assert (kept[-1].text, kept[-1].why) == ("The cache is one SQLite file", "a file per user is slower")
    assert len(one(text=f"The cache is one SQLite file of evil{unseen}.{unseen}example").kept) == 1


def test_a_secret_is_taken_out_also_where_json_spells_it() -> None:
    def seen(text: str) -> str:
        return text.replace("cache", "[REDACTED:key]")

    found = json.dumps({"findings": [{"kind": "outcome", "text": "One SQLite file, slower per user", "refs": [1]}]})
    spelt = found.replace("One", "One \\u0063ache")
    assert "cache" not in spelt
    assert read_answer(found, RECORD, SAID, seen).kept
    with pytest.raises(Refused):
        read_answer(spelt, RECORD, SAID, seen)


@pytest.mark.parametrize("place", ["/root", "../../root", "[[../../root]]", "..\\root", "~/root", "/.ssh"])
def test_a_claim_with_an_outside_path_needs_it_in_the_record(place: str) -> None:
    assert len(one(text=f"The cache is one SQLite file {place}").kept) == 1
