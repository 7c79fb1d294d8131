"""Words that nobody wrote, and those that were likely meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import near_stems
from tests.unit.search.vaults import ask, session_of, vault_of


class Known:
    """So many sessions have these stems; counts how many stems it was asked for."""

    def __init__(self, **counts: int) -> None:
        self.counts, self.asked = counts, 0

    def __call__(self, stems: Sequence[str]) -> Mapping[str, int]:
        self.asked += len(stems)
        return {stem: self.counts[stem] for stem in stems if stem in self.counts}


@pytest.mark.parametrize(
    "word", ["elevaton", "elevattion", "elevatoin", "elevatian", "elevationn", "elevatiom", "ellevation"]
)
def test_a_word_in_one_letter_wrong_is_the_word_that_was_meant(word: str) -> None:
    assert near_stems((word,), Known(elev=1)) == ("elev",)


@pytest.mark.parametrize(
    "word", ["slevation", "levation", "elevtaino", "elev8tion", "élevaton", "elv", "e" * 31, "éléphant"]
)
def test_nothing_is_near_another_first_letter_or_two_faults_or_a_number_or_a_short_word(word: str) -> None:
    assert near_stems((word,), Known(elev=1, elf=1, elephant=1)) == ()


def test_a_word_that_somebody_wrote_is_meant() -> None:
    known = Known(elev=1, eleven=5, bucket=1)
    assert near_stems(("elevation", "bucket"), known) == ()
    assert known.asked == 2


def test_of_many_near_words_those_of_most_sessions_are_meant() -> None:
    known = Known(hard=6, heart=2, hurt=2, hat=1, part=90)
    assert near_stems(("hart",), known) == ("hard", "heart", "hurt")


def test_a_stop_word_is_never_meant() -> None:
    assert near_stems(("agreed", "there"), Known(here=4, the=7)) == ()


def test_one_strange_word_among_many_is_not_looked_into_and_of_many_only_some() -> None:
    known = Known(elev=1, **{f"w{n}": 1 for n in range(6)})
    assert near_stems(("elevaton", *(f"w{n}" for n in range(6))), known) == ()
    assert known.asked == 7
    strange = tuple(f"{letter}levaton" for letter in "abcdefgh")
    near_stems(strange, known)
    assert known.asked < 3_000


@given(st.lists(st.text(max_size=40)))
def test_any_words_can_be_looked_into(words: list[str]) -> None:
    known = Known(elev=3)
    assert set(near_stems(tuple(words), known)) <= {"elev"} - set(analyze(" ".join(words)))


def test_a_misspelt_question_finds_and_marks_what_was_meant(tmp_path: Path) -> None:
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


def test_a_misspelt_word_beside_filters_and_phrases(tmp_path: Path) -> None:
    root = vault_of(
        tmp_path / "v",
        session_of("one", "q", "the elevation of the alps", project="atlas"),
        session_of("two", "q", "the elevation of the andes", project="shop"),
    )
    assert [hit.event.session for hit in ask(root, "elevaton project:atlas").hits] == ["one"]
    assert [hit.event.session for hit in ask(root, 'elevaton "of the andes"').hits] == ["two"]
    assert not ask(root, "zyzzyva").hits
