"""Corrections of misspelled words in a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import near_stems
from tests.cases import for_each
from tests.unit.search.vaults import ask, session_of, vault_of


class Known:
    """Session counts by stem; also counts the requested stems."""

    def __init__(self, **counts: int) -> None:
        self.counts, self.asked = counts, 0

    def __call__(self, stems: Sequence[str]) -> Mapping[str, int]:
        self.asked += len(stems)
        return {stem: self.counts[stem] for stem in stems if stem in self.counts}


@pytest.mark.parametrize(
    "word", ["elevaton", "elevattion", "elevatoin", "elevatian", "elevationn", "elevatiom", "ellevation"]
)
def test_a_word_with_one_wrong_letter_is_corrected(word: str) -> None:
    assert near_stems((word,), Known(elev=1)) == ("elev",)


@for_each("word", ["slevation", "levation", "elevtaino", "elev8tion", "élevaton", "elv", "e" * 31, "éléphant"])
def test_other_words_are_not_corrected(word: str) -> None:
    assert near_stems((word,), Known(elev=1, elf=1, elephant=1)) == ()


def test_known_words_are_not_corrected() -> None:
    known = Known(elev=1, eleven=5, bucket=1)
    assert near_stems(("elevation", "bucket"), known) == ()
    assert known.asked == 2


def test_corrections_are_the_most_frequent_similar_words() -> None:
    known = Known(hard=6, heart=2, hurt=2, hat=1, part=90)
    assert near_stems(("hart",), known) == ("hard", "heart", "hurt")


def test_a_stop_word_is_no_correction() -> None:
    assert near_stems(("agreed", "there"), Known(here=4, the=7)) == ()


def test_only_a_few_unknown_words_are_corrected() -> None:
    known = Known(elev=1, **{f"w{n}": 1 for n in range(6)})
    assert near_stems(("elevaton", *(f"w{n}" for n in range(6))), known) == ()
    assert known.asked == 7
    strange = tuple(f"{letter}levaton" for letter in "abcdefgh")
    near_stems(strange, known)
    assert known.asked < 3_000


@given(st.lists(st.text(max_size=40)))
def test_any_words_can_be_corrected(words: list[str]) -> None:
    known = Known(elev=3)
    assert set(near_stems(tuple(words), known)) <= {"elev"} - set(analyze(" ".join(words)))


def test_a_misspelled_question_finds_and_marks_the_correction(tmp_path: Path) -> None:
    root = vault_of(
        tmp_path / "v",
        session_of("one", "Which elevation data may be printed?", "Two sources are free"),
        session_of("two", "Which colours are printed?", "Grey, and one accent"),
    )
    (hit, *_) = ask(root, "elevaton").hits
    assert hit.event.session == "one"
    assert [hit.snippet.text[slice(*mark)] for mark in hit.snippet.marks] == ["elevation"]
    right, wrong = (ask(root, text).hits[0].parts["text"] for text in ("elevation", "elevaton"))
    assert 0 < wrong < right


def test_corrections_work_with_filters_and_phrases(tmp_path: Path) -> None:
    root = vault_of(
        tmp_path / "v",
        session_of("one", "q", "the elevation of the alps", project="atlas"),
        session_of("two", "q", "the elevation of the andes", project="shop"),
    )
    assert [hit.event.session for hit in ask(root, "elevaton project:atlas").hits] == ["one"]
    assert [hit.event.session for hit in ask(root, 'elevaton "of the andes"').hits] == ["two"]
    assert not ask(root, "zyzzyva").hits
