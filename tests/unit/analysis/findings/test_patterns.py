"""Patterns and their confidence, and the page that lists them."""

from __future__ import annotations

import importlib
import pkgutil
import re

import crucible.analysis.findings
from crucible.analysis.findings.decisions import INSTRUCTED
from crucible.analysis.findings.turns import Pattern
from crucible.documents.session.findings import Source
from tests.paths import ROOT

PAGE = ROOT / "docs" / "findings.md"


def patterns() -> set[Pattern]:
    modules = [
        importlib.import_module(f"crucible.analysis.findings.{each.name}")
        for each in pkgutil.iter_modules(crucible.analysis.findings.__path__)
    ]
    return {value for module in modules for value in vars(module).values() if isinstance(value, Pattern)}


def test_the_page_lists_every_pattern_with_its_counts() -> None:
    rows = re.findall(
        r"^\| [a-z ]+ \| ([^|]+) \| [^|]+ \| (\d+) / (\d+) \|$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert {(name, int(true), int(read)) for name, true, read in rows} == {
        (each.name, each.true, each.read) for each in patterns()
    }


def test_confidence_follows_the_counts_and_is_never_1() -> None:
    assert Pattern("x", Source.REPLY, 8, 10).on("a" * 36, "", "a" * 36, "b").confidence == 0.75
    assert Pattern("x", Source.REPLY, 8, 10).on("a" * 36, "", "a" * 36, "b").rows == ("aaaaaaaa", "b")
    assert Pattern("x", Source.REPLY, 8, 10).on("prt_1fff0b2c3001abcdefgh").rows == ("prt_1fff0b2c3001abcd",)
    assert all(0.6 <= each.on().confidence < 1 for each in patterns() - {INSTRUCTED})
    assert INSTRUCTED.on().confidence < 0.6, "which is why nothing but a proposal comes of it"
