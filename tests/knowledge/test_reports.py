"""The labelled failure reports are whole: counts, labels, ids.  Their texts are never shown, half of them are held out."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from crucible.knowledge.model import Category, FailureReport

REPORTS = Path(__file__).parent / "reports"
HALVES = ("open", "held_out")


@cache
def _rows(half: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (REPORTS / f"{half}.jsonl").read_bytes().split(b"\n") if line]


def _all() -> list[dict[str, Any]]:
    return [row for half in HALVES for row in _rows(half)]


@pytest.mark.parametrize("half", HALVES)
def test_each_half_holds_ten_reports_of_each_category(half: str) -> None:
    assert Counter(Category(row["category"]) for row in _rows(half)) == dict.fromkeys(Category, 10)


def test_ids_are_unique_over_both_halves() -> None:
    assert sorted(row["id"] for row in _all()) == [f"r{n:03}" for n in range(1, 121)]


def test_every_row_is_a_report_with_a_label_and_a_reason() -> None:
    bad = [row["id"] for row in _all() if set(row) != {"id", "category", "why", "report"} or not row["why"]]
    assert not bad


def test_every_report_has_a_message_of_at_most_fifteen_lines() -> None:
    reports = {row["id"]: FailureReport(**row["report"]) for row in _all()}
    bad = [name for name, one in reports.items() if not one.error.strip() or one.error.count("\n") >= 15]
    assert not bad


def test_no_message_stands_twice() -> None:
    counted = Counter(" ".join(row["report"]["error"].casefold().split()) for row in _all())
    assert set(counted.values()) == {1}


def test_reports_are_complete_in_varying_degree() -> None:
    filled = Counter(len(row["report"]) for row in _all())
    assert filled[6] >= 35
    assert filled[1] >= 12
