"""Parsing texts and questions into words, names and operators."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crucible.core.text import stop_words
from crucible.search.question_words import (
    FIELDS,
    ParsedQuestion,
    indexable,
    names_in,
    parts_of,
    pieces_of_text,
    read_question,
    with_name_parts,
    words_in,
)
from samples.hostile_texts import hostile_text
from tests.cases import for_each

_OPERATORS = st.lists(
    st.sampled_from(
        [
            '"',
            "-",
            "--",
            ":",
            *(f"{field}:" for field in FIELDS),
            "a",
            "the",
            "AND",
            "*",
            "(",
            ")",
            "^",
            "~",
            " ",
        ]
    )
).map("".join)


@given(st.text() | hostile_text() | _OPERATORS)
@example('note:""')
def test_any_text_is_a_valid_question(text: str) -> None:
    asked = read_question(text)
    if words_in(text) and asked.is_empty():
        pytest.fail("words were lost")


@given(st.lists(st.sampled_from(sorted(stop_words("search"))), min_size=1).map(" ".join))
def test_a_question_of_stop_words_searches_for_them(text: str) -> None:
    assert set(read_question(text).words) == set(text.split())


def test_stop_words_are_dropped_if_there_are_other_words() -> None:
    assert read_question("What did we decide about the retry policy?").words == ("decide", "retry", "policy")


@for_each(
    ("text", "words", "names"),
    [
        ("TokenBucket", ("tokenbucket", "token", "bucket"), ()),
        ("HTTPServer", ("httpserver", "http", "server"), ()),
        ("token_bucket", ("token", "bucket"), ("token_bucket",)),
        ("`src/limiter.py`,", ("src", "limiter", "py"), ("src/limiter.py", "limiter.py")),
        ("use --dry-run.", ("use", "dry", "run"), ("--dry-run",)),
        ("v1.2.3?", ("v1", "2", "3"), ("v1.2.3",)),
        ("std::vector", ("std", "vector"), ("std::vector",)),
        ("a sentence. Another", ("sentence", "another"), ()),
    ],
)
def test_an_identifier_is_a_name_and_its_parts_are_words(
    text: str, words: tuple[str, ...], names: tuple[str, ...]
) -> None:
    asked = read_question(text)
    assert (asked.words, asked.names) == (words, names)


def test_terminal_colors_are_no_words() -> None:
    asked = read_question("\x1b[31;1mFAILED\x1b[0m tests/test_\x1b[1mretry\x1b[0m.py")
    assert asked.words == ("failed", "tests", "test", "retry", "py")
    assert asked.names[0] == "tests/test_retry.py"


def test_operators_are_parsed() -> None:
    asked = read_question('retry "token bucket" -slow -"sliding log" type:error -project:shop agent:"claude-code" ')
    assert asked.words == ("retry",)
    assert asked.phrases == ("token bucket",)
    assert asked.nots == ("slow", "sliding log")
    assert asked.facts == (("kind", "error"), ("agent", "claude-code"))
    assert asked.not_facts == (("project", "shop"),)


@pytest.mark.parametrize("text", ["note:this", "type:", "type:of", "http://x.y", "10:30", ":", 'what:"is this"'])
def test_unknown_fields_are_words(text: str) -> None:
    asked = read_question(text)
    assert not asked.facts
    words = {word.lower() for word in words_in(text)}
    assert set(asked.words) | set(words_in(" ".join(asked.phrases))) >= words - stop_words("search")


def test_a_short_flag_is_no_negation() -> None:
    asked = read_question("why does rm -rf fail with -v")
    assert not asked.nots
    assert {"rf", "v"} <= set(asked.words)


def test_curly_quotes_are_quotes() -> None:
    assert read_question("“token bucket”").phrases == ("token bucket",)


def test_letters_of_languages_without_blanks_are_words() -> None:
    assert words_in(with_name_parts("令牌桶")) == ["令", "牌", "桶", "令牌", "牌桶"]
    assert read_question("令牌桶 for 桶").words == ("令牌", "牌桶", "桶")
    assert read_question('"令牌桶" -"漏桶"') == ParsedQuestion(phrases=(" 令 牌 桶 ",), nots=(" 漏 桶 ",))


def test_a_pasted_text_is_cut_with_a_remark() -> None:
    asked = read_question(" ".join(f"word{n}" for n in range(5000)))
    assert asked.cut
    assert len(asked.words) == 100


@pytest.mark.timed
@pytest.mark.parametrize("unit", ["a", "a.", "-", '"', "a:", "A", "Aa", "_", "type:", "/", "--", "\x00", '-"'])
def test_hostile_texts_are_parsed_quickly(unit: str) -> None:
    start = time.perf_counter()
    text = unit * (200_000 // len(unit))
    names_in(text)
    with_name_parts(text)
    read_question(text)
    assert time.perf_counter() - start < 2


@given(hostile_text())
def test_indexed_text_is_valid_utf8_and_keeps_every_word(text: str) -> None:
    indexed = with_name_parts(text)
    indexed.encode()
    assert set(words_in(indexable(text))) <= {*words_in(indexed), *filter(_has_east, words_in(text))}


def _has_east(word: str) -> bool:
    return not word.isascii()


@pytest.mark.parametrize(
    ("word", "parts"), [("retry", []), ("JSON", []), ("parseJSON", ["parse", "JSON"]), ("utf8", [])]
)
def test_parts_of_a_word(word: str, parts: list[str]) -> None:
    assert parts_of(word) == parts


@given(st.text(alphabet=st.sampled_from("aB9_./:@#+- \n→éΩ\x1c\u00a0\u2028\ud800"), max_size=60))
def test_names_and_parts_are_those_that_a_search_of_the_whole_text_finds(text: str) -> None:
    runs = dict.fromkeys(re.findall(r"(?<![\w./:@#+-])[^\W_]*[_./:@#+-][\w./:@#+-]*", text))
    assert set(names_in(text)) == {name for run in runs for name in names_in(run)}
    whole, *parts = pieces_of_text(text)
    words = dict.fromkeys(re.findall(r"[^\W_]+", whole))
    assert parts == [" ".join(parts_of(word)) for word in words if parts_of(word)]
