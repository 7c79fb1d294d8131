"""The labelled failure reports are whole: counts, labels, ids.  Their texts are never shown, `held_out_2` must not be read."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from crucible.documents.knowledge.items import Category, FailureReport

REPORTS = Path(__file__).parent / "reports"
SETS = ("open", "held_out", "held_out_2")


@cache
def _rows(name: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (REPORTS / f"{name}.jsonl").read_bytes().split(b"\n") if line]


def _all() -> list[dict[str, Any]]:
    return [row for name in SETS for row in _rows(name)]


@pytest.mark.parametrize("name", SETS)
def test_each_set_holds_sixty_reports_ten_of_each_category(name: str) -> None:
    assert len(_rows(name)) == 60
    assert Counter(Category(row["category"]) for row in _rows(name)) == dict.fromkeys(Category, 10)


def test_ids_are_unique_over_all_sets() -> None:
    first, second = [f"r{n:03}" for n in range(1, 121)], [f"s{n:03}" for n in range(1, 61)]
    assert sorted(row["id"] for row in _all()) == first + second


def test_every_row_is_a_report_with_a_label_and_a_reason() -> None:
    bad = [row["id"] for row in _all() if set(row) != {"id", "category", "why", "report"} or not row["why"]]
    assert not bad


def test_every_report_has_a_message_of_at_most_fifteen_lines() -> None:
    reports = {row["id"]: FailureReport(**row["report"]) for row in _all()}
    bad = [name for name, one in reports.items() if not one.error.strip() or one.error.count("\n") >= 15]
    assert not bad


def test_no_message_is_repeated() -> None:
    ids: dict[str, list[str]] = {}
    for row in _all():
        ids.setdefault(" ".join(row["report"]["error"].casefold().split()), []).append(row["id"])
    assert not [same for same in ids.values() if len(same) > 1]


@pytest.mark.parametrize(("names", "whole", "bare"), [(SETS[:2], 35, 12), (SETS[2:], 18, 6)])
def test_reports_are_complete_in_varying_degree(names: tuple[str, ...], whole: int, bare: int) -> None:
    filled = Counter(len(row["report"]) for name in names for row in _rows(name))
    assert filled[6] >= whole
    assert filled[1] >= bare


def test_nearly_half_of_the_second_set_has_no_resolution() -> None:
    assert 24 <= sum("resolution" not in row["report"] for row in _rows("held_out_2")) <= 32
