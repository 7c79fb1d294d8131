"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from crucible.core.patterns import late_pattern


def test_it_finds_what_a_compiled_pattern_finds() -> None:
    text, late, compiled = "aXbxc", late_pattern("x(.)", re.IGNORECASE), re.compile("x(.)", re.IGNORECASE)
    for _ in range(2):
        assert late.findall(text) == compiled.findall(text)
        assert late.sub("-", text) == compiled.sub("-", text)
        assert [m.span() for m in late.finditer(text)] == [m.span() for m in compiled.finditer(text)]
    assert (late.pattern, late.flags) == (compiled.pattern, compiled.flags)


def test_nothing_is_compiled_before_the_first_use() -> None:
    broken = late_pattern("(")
    with pytest.raises(re.error):
        broken.search("")
