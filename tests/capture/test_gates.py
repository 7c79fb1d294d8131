"""Gates make detection fast and change nothing of it."""

from __future__ import annotations

import re

import pytest

from crucible.capture.gates import GATES
from tests.capture.gating import MODULES, gate_of, is_gate, marks_of


@pytest.mark.parametrize("module", MODULES)
def test_whatever_a_turn_finds_holds_one_of_its_gates_words(module: str) -> None:
    for mark in marks_of(module):
        gates = GATES[f"{mark.name} {len(mark.turns)}"]
        for turn, joined in zip(mark.turns, gates, strict=True):
            assert not joined or is_gate(joined.split("|"), turn), (
                f"{mark.name}: python -m tests.capture.gating"
            )


def test_a_gate_is_of_every_branch() -> None:
    assert gate_of(r"\b(?:red|green) apples?|pears") == (" apple", "pears")
    assert is_gate((" apple", "pears"), r"\b(?:red|green) apples?|pears")
    assert not is_gate((" apple",), r"\b(?:red|green) apples?|pears")
    assert gate_of(r"\w+") == ()


def test_each_gate_is_some_marks() -> None:
    names = {f"{mark.name} {len(mark.turns)}" for module in MODULES for mark in marks_of(module)}
    assert names == {*GATES}
    assert all(re.compile(turn) for module in MODULES for mark in marks_of(module) for turn in mark.turns)
