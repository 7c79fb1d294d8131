"""Rules say where a failure comes from, how sure they are, and what would have prevented it.

`reports/open.jsonl` and `reports/held_out.jsonl` were labelled by somebody else, `own_reports.jsonl` and `reports/made_up.jsonl` by who wrote the
rules.  The weights were fitted to all of them, so that agreement here only shows that the table belongs to the code; how far the rules go
with other reports is measured by `benchmarks/attribution.py`.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.attribution import (
    AGREEMENT,
    UNSEEN,
    Labelled,
    agreement,
    left_out,
    load_reports,
    matrix,
    sureness,
)
from benchmarks.attribution_fit import PRACTICE, fit, fitted_to, load
from crucible.knowledge.classifying import LONGEST, SURE, classify
from crucible.knowledge.concepts import sentences
from crucible.knowledge.evidence import SIGNS
from crucible.knowledge.model import Category, FailureReport
from crucible.knowledge.speaking import parted
from crucible.knowledge.weights import TABLE, scores, shares

HERE = Path(__file__).parent
FILES = (HERE / "reports" / "open.jsonl", HERE / "reports" / "held_out.jsonl")


@cache
def _reports(path: Path) -> list[Labelled]:
    return load_reports(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_rules_agree_with_the_labels(path: Path) -> None:
    assert agreement(_reports(path)) >= AGREEMENT


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_category_is_left_to_chance(path: Path) -> None:
    for label in Category:
        assert agreement(one for one in _reports(path) if one.label is label) >= 0.7, label


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_said_surely_is_right(path: Path) -> None:
    for least, share in ((0.85, 0.85), (SURE, 0.6)):
        said = [one for one in _reports(path) if one.said.confidence >= least]
        assert len(said) >= len(_reports(path)) / 4
        assert agreement(said) >= share


def test_the_table_was_fitted_to_the_present_reports_signs_and_words() -> None:
    first = TABLE.read_text("utf-8").split("\n", 1)[0]
    assert first == f"# fitted to {fitted_to()}", "run python -m benchmarks.attribution_fit"


def test_the_unseen_set_is_not_learnt_from() -> None:
    assert not [path for path in PRACTICE.values() if path.name == UNSEEN.name]


def test_a_part_is_judged_with_weights_that_were_fitted_to_the_others() -> None:
    some = load("open")[:24]
    parts = [one._replace(part="a" if place % 2 else "b") for place, one in enumerate(some)]
    found = left_out(parts)
    assert [len(found["a"]), len(found["b"])] == [12, 12]
    assert fit(some) == fit(some)
    assert fit(parts[::2]) != fit(parts[1::2])


def test_more_features_of_a_kind_count_less_each() -> None:
    assert shares(["word a", "about told not"]) == [("word a", 0.5), ("about told not", 1.0)]
    assert shares(["word a", "word b", "word c", "word d"])[0] == ("word a", 0.25)


def test_nothing_known_says_nothing() -> None:
    assert set(scores(["never heard of"]).values()) == {0}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("their provider told of an outage", [["theirs", "others", "say", "outage"]]),
        ("readme.md says so. i re-read it", [["file", "say"], ["i", "again", "look"]]),
        ("from memory, with --flag and -x", [["look", "option", "option"]]),
        ("gestern nicht gelesen", [["time", "not", "look"]]),
        ("確認しない", [["look", "not"]]),
        ("", [[]]),
    ],
)
def test_words_stand_for_concepts_in_any_language(text: str, found: list[list[str]]) -> None:
    assert sentences(text) == found


def test_the_table_of_a_half_counts_every_report() -> None:
    reports = _reports(FILES[0])
    cells = [
        int(cell) for cell in matrix(reports).replace("·", "0").replace("|", " ").split() if cell.isdigit()
    ]
    assert sum(cells) == len(reports)
    assert "0.85 and more" in sureness(reports)


MEANT = "Guessed the name; it is listed in README.md and was not looked at."


@pytest.mark.parametrize(
    ("report", "category"),
    [
        # One message, several causes: the telling decides.
        (
            FailureReport("String to replace not found in file.", "I typed spaces, the file has tabs."),
            Category.TOOL_MISUSE,
        ),
        (
            FailureReport(
                "String to replace not found in file.", "A formatter had run over it in the meantime."
            ),
            Category.CONTEXT_MISSING,
        ),
        (FailureReport("Command timed out after 2m", call="npm run dev", tool="Bash"), Category.TOOL_MISUSE),
        (
            FailureReport("Test timed out after 5000 ms", "Passed on the second run, alone."),
            Category.EXECUTION_ERROR,
        ),
        (
            FailureReport("AttributeError: 'Order' object has no attribute 'sum'", MEANT),
            Category.CONTEXT_MISSING,
        ),
        (FailureReport("AttributeError: module 'numpy' has no attribute 'int'"), Category.KNOWLEDGE_GAP),
        (
            FailureReport("connect ECONNREFUSED 127.0.0.1:5432", "README: start the database first"),
            Category.CONTEXT_MISSING,
        ),
        (
            FailureReport("503 Service Unavailable", "Their status page tells of an incident."),
            Category.EXTERNAL_DEP,
        ),
    ],
)
def test_the_whole_report_decides(report: FailureReport, category: Category) -> None:
    assert classify(report).category is category


def test_a_report_that_says_nothing_is_not_sure() -> None:
    for error in ("", "?", "exit 1", "🙃"):
        assert classify(FailureReport(error)).confidence < SURE


def test_more_evidence_for_the_same_cause_makes_it_surer() -> None:
    bare = classify(FailureReport("Error: listen EADDRINUSE: address already in use :::3000"))
    told = classify(
        FailureReport(
            "Error: listen EADDRINUSE: address already in use :::3000",
            "An orphaned server was still running.",
        )
    )
    assert bare.category is told.category is Category.EXECUTION_ERROR
    assert told.confidence > bare.confidence


def test_the_cause_quotes_the_telling_line_the_call_and_what_happened() -> None:
    report = FailureReport(
        "collected 0 items\nerror: unknown option `--frob'", "I made it up.", "", "Bash", "tool --frob x"
    )
    cause = classify(report).root_cause
    assert "“error: unknown option `--frob'”" in cause
    assert "“tool --frob x”" in cause
    assert "(I made it up)" in cause


@pytest.mark.parametrize(
    ("report", "told"),
    [
        (FailureReport("cat: a.py: No such file or directory", MEANT), "README.md"),
        (
            FailureReport("error: unknown option --frob", call="rg --frob x", resolution="rg x"),
            "rg is called: rg x",
        ),
        (
            FailureReport("DeprecationWarning: removed in 3.12", resolution="datetime.now(UTC)"),
            "knowing: datetime.now(UTC)",
        ),
        (FailureReport("DeprecationWarning: removed in 3.12"), "DeprecationWarning"),
        (
            FailureReport("Could not find oldString in the file.", tool="edit", call="a.js"),
            "how edit is called",
        ),
        (
            FailureReport("error: unknown option --frob", tool="Bash", call="cd x && A=b rg --frob x"),
            "how rg is called",
        ),
        (FailureReport("error: unknown option --frob"), "the tool is called"),
        (FailureReport("cat: a.py: No such file or directory"), "a look"),
    ],
)
def test_a_preventable_one_says_what_would_have_had_to_be_known(report: FailureReport, told: str) -> None:
    found = classify(report)
    assert found.preventable
    assert told in found.preventable_with


@pytest.mark.parametrize("tool", ["Read", "edit", "read_file", "Write", "view"])
@pytest.mark.parametrize("told", ["", "It was renamed last week; I change src/b.js instead."])
def test_a_file_that_a_clients_tool_did_not_find_was_not_looked_for(tool: str, told: str) -> None:
    for error in (
        "File not found: src/a.js",
        "File does not exist.",
        "Error: ENOENT: no such file or directory",
    ):
        found = classify(FailureReport(error, tool=tool, call="src/a.js", resolution=told))
        assert found.category is Category.CONTEXT_MISSING
        assert found.confidence >= SURE
        assert "is called" not in found.preventable_with


def test_what_nobody_could_have_prevented_says_nothing_of_it() -> None:
    for error in ("Killed", "429 Too Many Requests", "No, I meant the other one."):
        found = classify(FailureReport(error, resolution="waited"))
        assert (found.preventable, found.preventable_with, found.judge) == (False, "", "rules")


@pytest.mark.parametrize(
    ("message", "words", "program"),
    [
        ("No, I meant the header.", "No, I meant the header.", ""),
        (
            "TypeError: x is not a function\nuser: latest 4, not 5!",
            "latest 4, not 5!",
            "TypeError: x is not a function\n",
        ),
        ("File does not exist. Did you mean src/a.rb?", "", "File does not exist. Did you mean src/a.rb?"),
        ("Nein, nicht die Datei umbenennen!", "Nein, nicht die Datei umbenennen!", ""),
        ("error: you must specify a branch", "", "error: you must specify a branch"),
    ],
)
def test_a_humans_words_are_told_from_a_programs(message: str, words: str, program: str) -> None:
    assert parted(message) == (words, program)


@given(st.builds(FailureReport, *[st.text(max_size=300)] * 6))
def test_any_report_gets_an_attribution_in_bounds(report: FailureReport) -> None:
    found = classify(report)
    assert 0 <= found.confidence <= 1
    assert bool(found.preventable_with) == found.preventable
    for text in (found.root_cause, found.preventable_with):
        assert len(text) <= LONGEST
        assert "\n" not in text
    assert classify(report) == found


@pytest.mark.parametrize(
    "piece",
    ["a ", "which ", "{", "error: ", "a.b", "--x ", "read the ", "-", "\n", "説", "the customer wants "],
)
def test_no_text_makes_a_sign_slow(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    classify(FailureReport("warm"))
    started = time.perf_counter()
    classify(FailureReport(text, text, text, text, text, text))
    assert time.perf_counter() - started < 5


def test_every_sign_speaks_for_something_and_matches_no_empty_text() -> None:
    for sign in SIGNS:
        assert max(sign.weights.values()) > 0
        assert not sign.pattern.search(""), sign
