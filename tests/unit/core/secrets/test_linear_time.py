"""Every rule's time is proportional to the text's length, even for adversarial texts."""

from __future__ import annotations

import gc
import time

import pytest

from crucible.core.secrets import Scanner
from crucible.core.secrets.scanner import all_forms, all_rules
from crucible.core.secrets.secret_names import NAME_LITERALS
from tests.unit.core.secrets.made import HEX, chance

SCANNER = Scanner()
SIZES = (3_000, 6_000)
MOST = 3.0
"""Twice the text may take so many times as long; a quadratic rule takes four."""
LITTLE = 0.004
"""Seconds, of which no ratio is taken: the clock is too coarse."""


def _spellings() -> list[str]:
    """The literals of every rule, as the rule spells them."""
    spelled = set()
    for rule in all_rules():
        for literal in rule.literals:
            upper = literal.upper()
            spelled.add(upper if upper in rule.pattern.pattern else literal)
    return sorted({*spelled, *NAME_LITERALS, *(literal for form in all_forms() for literal in form.literals)})


def _filled(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


BAD = {
    "repeated on one line": ("{}", ""),
    "one a line": ("{}\n", ""),
    "cut off each time": ("{}" + chance(12) + " ", ""),
    "with quotes that do not close": ('{}"' + chance(5) + "' ", ""),
    "before a list of values": ("{}: " + chance(9) + ",", ""),
    "before letters without end": (chance(30), "{}"),
    "before hexadecimal digits without end": (chance(32, HEX), "{} "),
    "before lines without end": (chance(64) + "\n", "{}: \n"),
}
"""Texts that are bad for what is sought at a literal: what is repeated, and what stands before."""

RUNS = [
    "a", "A1", "fc-", "sk_live_", "st.", chance(20), chance(21) + "_", chance(32, HEX) + ".", chance(30) + "-", "SK" + chance(32, HEX),
    "AC" + chance(32, HEX) + '"', "MTIz" * 6 + ".", "Z2hwX0FB" * 3 + "-", "Z2hwX0FB" * 8 + "\n", "6768705f" * 4 + " ", "6768705f", "acme_" + chance(25),
    "ZWNobyBn" * 3 + "-", "a_" * 9 + chance(20), "Z2hwX0FB", "Wm1Gc2JHVnlaMmgx",
]  # fmt: skip
"""Pieces that make long runs of letters and digits, or nearly."""


def _seconds(text: str, runs: int) -> float:
    best = 9.0
    for _ in range(runs):
        begin = time.process_time()
        SCANNER.find(text)
        best = min(best, time.process_time() - begin)
    return best


def _is_linear(first: str, piece: str) -> bool:
    small, large = (first + _filled(piece, size) for size in SIZES)
    quick = _seconds(large, 1)
    if quick < LITTLE:
        return True
    gc.disable()
    try:
        return any(_seconds(large, runs) < MOST * max(_seconds(small, runs), LITTLE / 4) for runs in (1, 3, 5))
    finally:
        gc.enable()


@pytest.mark.timed
@pytest.mark.parametrize("bad", BAD)
def test_every_rule_is_linear_on_its_literal(bad: str) -> None:
    piece, first = BAD[bad]
    for literal in _spellings():
        assert _is_linear(first.replace("{}", literal), piece.replace("{}", literal)), literal


@pytest.mark.timed
@pytest.mark.parametrize("piece", RUNS)
def test_long_runs_take_linear_time(piece: str) -> None:
    assert _is_linear("", piece)


MANIFESTS = [
    "kind: Secret\ndata:\n", "kind: Secret\n", '{"kind": "Secret"}', '{"kind": "Secret", "data": {', "data:\n  a: b\n", "kind: Secret\ndata:\n  a: TXlWYWx1ZQ==\n",
    "apiVersion: v1\nkind: Secret\ndata:\n  a: TXlWYWx1ZQ==\n---\n", "---\nkind: Secret\n", '"data": {"a": "b"}, "kind": "Secret",',
]  # fmt: skip


@pytest.mark.timed
@pytest.mark.parametrize("piece", MANIFESTS)
def test_manifests_take_linear_time(piece: str) -> None:
    assert _is_linear("kind: Secret\n", piece)
