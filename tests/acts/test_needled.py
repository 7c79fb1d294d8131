"""Patterns that are sought only where one of their words stands find what they would find anyway."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.acts import choosing
from crucible.acts.needled import Needled, holds, lowered
from crucible.cases import failing, faults, red_first
from tests.cases.planted import generate_many

ALL = {
    f"{module.__name__}.{name}": value
    for module in (choosing, faults, failing, red_first)
    for name, value in vars(module).items()
    if isinstance(value, Needled)
}
_ALSO = {"s": "\u017f", "i": "\u0131", "I": "\u0130", "k": "\u212a"}
"""What a pattern without case takes for these."""


def test_there_are_some() -> None:
    assert len(ALL) > 12


@pytest.mark.parametrize("name", ALL)
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_whatever_a_pattern_finds_holds_a_needle(name: str, data: st.DataObject) -> None:
    one = ALL[name]
    found = data.draw(st.from_regex(re.compile(one.pattern.pattern, one.pattern.flags)))
    assert holds(lowered(found), one.needles), found


@settings(max_examples=settings().max_examples // 2)
@given(st.text(st.sampled_from("askiKSI \u017f\u0131\u0130\u212aéß\u2019"), max_size=12))
def test_letters_that_a_pattern_takes_for_ascii_are_lowered_to_it(text: str) -> None:
    for word in ("ask", "is", "kiss", "i", "k", "s"):
        assert (word in lowered(text)) == bool(re.search(word, text, re.IGNORECASE))


@settings(max_examples=settings().max_examples // 2)
@given(st.data())
def test_a_choice_in_odd_letters_is_found_as_ever(data: st.DataObject) -> None:
    plain = "I decided on Kafka instead of a list since it is kind."
    odd = "".join(data.draw(st.sampled_from([sign, _ALSO.get(sign, sign)])) for sign in plain)
    assert bool(choosing._CHOSE.search(odd)) == bool(choosing._CHOSE.pattern.search(odd))
    assert len(list(choosing.settled_in(plain))) == 1


def _sentences() -> Iterator[str]:
    for one in generate_many(41, 40):
        for session in one.sessions.values():
            for entry in session.all_entries():
                yield from re.split(r"[\n.]", f"{entry}")


def test_texts_of_sessions_are_searched_alike() -> None:
    texts = sorted(set(_sentences()))
    assert len(texts) > 500
    hits = 0
    for one in ALL.values():
        for text in texts:
            found, plain = one.search(text), one.pattern.search(text)
            assert (found and found.span()) == (plain and plain.span())
            hits += bool(found)
    assert hits > 40
