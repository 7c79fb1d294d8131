"""Snippets show the sentences that fit a question best."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.search.embedded.segments import analyze
from crucible.search.question_words import indexable
from crucible.search.snippets import WIDTH, snippet_of
from samples.hostile_texts import hostile_text

FILLER = "Nothing of this matters to anyone at all. " * 12


def test_the_snippet_is_the_sentence_with_the_rarest_words() -> None:
    text = f"The cache is large. {FILLER}The cache expires after nine hours, since quotas are daily. {FILLER}"
    snippet = snippet_of(text, {"cach": 1.0, "quota": 3.0}, analyze)
    assert snippet.text.startswith("…The cache expires after nine hours, since quotas are daily. Nothing")
    assert snippet.text.endswith("at all.…")
    assert [snippet.text[first:last] for first, last in snippet.marks] == ["cache", "quotas"]


def test_a_long_sentence_is_cut_between_words() -> None:
    text = f"{'word ' * 200}quota {'more ' * 200}"
    snippet = snippet_of(text, {"quota": 1.0}, analyze)
    assert set(snippet.text.strip("…").split()) == {"word", "quota", "more"}
    assert len(snippet.text) <= WIDTH + 2


def test_lines_are_sentences() -> None:
    text = "\n".join([*(f"- point {n} without an end" for n in range(40)), "- the quota is daily", "- the end"])
    assert "- the quota is daily - the end" in snippet_of(text, {"quota": 1.0}, analyze).text


def test_a_short_text_is_shown_in_full() -> None:
    assert snippet_of("One line.\n\n  Another.", {"anoth": 1.0}, analyze).text == "One line. Another."


@pytest.mark.parametrize(
    ("text", "stems", "marked"),
    [
        ("缓存在午夜过期。", ("缓存", "过期"), ["缓存", "过期"]),
        ("キャッシュは真夜中に消えます", ("真夜", "夜中"), ["真夜中"]),
        ("캐시는 자정에 만료된다", ("자정", "정에"), ["자정에"]),
        ("存存", ("存",), ["存存"]),
    ],
)
def test_letters_that_count_as_words_are_marked_where_they_match(
    text: str, stems: tuple[str, ...], marked: list[str]
) -> None:
    snippet = snippet_of(text, dict.fromkeys(stems, 1.0), analyze)
    assert [snippet.text[first:last] for first, last in snippet.marks] == marked
    assert snippet.found == frozenset(stems)


@given(hostile_text(), st.lists(hostile_text(), max_size=5))
def test_any_text_has_a_short_snippet_with_marks_inside(text: str, words: list[str]) -> None:
    snippet = snippet_of(text * 9, dict.fromkeys(analyze(indexable(" ".join(words))), 1.0), analyze)
    assert len(snippet.text) <= WIDTH + 2
    assert all(0 <= first < last <= len(snippet.text) for first, last in snippet.marks)
    assert "\n" not in snippet.text
