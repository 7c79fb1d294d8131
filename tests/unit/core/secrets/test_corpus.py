from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import takewhile

import pytest

from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from samples.secrets.building import Case, fill, is_caught
from samples.secrets.heldout_cases import heldout_cases
from samples.secrets.heldout_lines import heldout_lines
from samples.secrets.measured import measured
from samples.secrets.open_cases import open_cases
from samples.secrets.open_lines import open_lines

OPEN_LINES, HELDOUT_LINES = cache(open_lines), cache(heldout_lines)
HALVES = {"open": (open_cases, OPEN_LINES), "held out": (heldout_cases, HELDOUT_LINES)}
STEP = 61
"""Every 61st case: no divisor of any number of templates, so that a sample sees them all."""


@pytest.mark.parametrize("half", HALVES)
def test_of_a_sample_99_of_100_secrets_go_and_999_of_1000_ordinary_lines_stay(half: str) -> None:
    cases, lines = HALVES[half]
    scanner = Scanner(SecretSettings())
    found = measured(lambda text: scanner.redact(text)[0], cases(STEP), lines()[::2])
    # Figures only: whoever mends a rule must not see the texts of the half that is held out.
    if found.caught_share < 99 or found.touched_share > 0.1:
        figures = f"{found.caught_share:.2f} % caught, {found.touched} of {found.lines} lines touched"
        pytest.fail(f"{half}: {figures}; missed: {', '.join(found.worst) or 'none'}", pytrace=False)


@pytest.mark.parametrize("cases", [open_cases, heldout_cases])
def test_unredacted_secrets_are_reported_as_missed(cases: Callable[[int], Iterator[Case]]) -> None:
    sample = list(cases(41))
    assert len({case.kind for case in sample}) >= 57
    assert not any(is_caught(case, case.text) for case in sample)
    assert all(case.secrets and all(secret in case.text for secret in case.secrets) for case in sample)


def test_a_half_redacted_secret_counts_as_missed() -> None:
    case = next(iter(open_cases(499)))
    (secret,) = case.secrets
    half = secret[len(secret) // 3 :]
    assert not is_caught(case, case.text.replace(secret, half))
    assert is_caught(case, case.text.replace(secret, "[REDACTED:x]"))
    assert is_caught(case, case.text.replace(secret, secret[:3] + "[REDACTED:x]"))


def test_the_halves_share_no_context_and_no_line() -> None:
    ours, theirs = ({(case.context, case.text) for case in cases(29)} for cases in (open_cases, heldout_cases))
    # A bare value is a context of both: nothing stands around it.
    assert {context for context, _ in ours} & {context for context, _ in theirs} <= {"«V»"}
    assert not {text for _, text in ours} & {text for _, text in theirs}
    assert not set(OPEN_LINES()) & set(HELDOUT_LINES())


def test_a_half_is_the_same_each_time() -> None:
    assert list(open_cases(101)) == list(open_cases(101))
    assert open_lines() == OPEN_LINES()


def test_a_sample_is_part_of_the_corpus() -> None:
    kind = next(iter(open_cases(499))).kind
    whole, sample = (
        {case.text for case in takewhile(lambda case: case.kind == kind, open_cases(step))} for step in (1, 50)
    )
    assert len(sample) == 10
    assert sample <= whole
    assert len(whole) == 500


def test_each_half_has_as_many_kinds_and_lines_as_promised() -> None:
    kinds = {case.kind for case in heldout_cases(250)}
    assert len(kinds) >= 60
    assert {case.kind for case in open_cases(250)} < kinds
    assert (len(OPEN_LINES()), len(HELDOUT_LINES())) == (5000, 5000)


def test_a_pattern_has_the_lengths_and_letters_it_says() -> None:
    from random import Random

    made = fill("x-{h:8}.{d:3|5}.{U:2-4}", Random(1))
    head, digits, capitals = made.split(".")
    assert (head[:2], len(head), len(digits) in {3, 5}, 2 <= len(capitals) <= 4) == ("x-", 10, True, True)
    assert digits.isdigit()
    assert capitals.isupper()
