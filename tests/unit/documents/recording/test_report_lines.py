"""What a subagent's report comes to in a line."""

from __future__ import annotations

import pytest

from crucible.documents.recording.report_lines import summary_of
from tests.cases import for_each

BODY = "## Findings\n\nThe cache is never emptied.\n\n- `cache.py` holds it\n- nobody calls `clear()`"
TOLD = "The cache is never emptied. `cache.py` holds it; nobody calls `clear()`"


@for_each(
    ("report", "summary"),
    [
        ("Found. Summary: use monotonic.", "use monotonic."),
        ("# Report\n\n**Summary:** one\ntwo\n\nthree", "one two"),
        ("# Report\n\nFirst words.\n\nMore.", "First words. More."),
        ("Summary: a\n\nSummary: b", "b"),
        ("", None),
        ("---\n\n```\ncode\n```", "code"),
        ("x" * 400, "x" * 299 + "…"),
        ("It is in a.py.", "It is in a.py."),
        ("# Where it lives", "# Where it lives"),
    ],
)
def test_a_report_is_told_by_its_summary_or_its_beginning(report: str, summary: str | None) -> None:
    assert summary_of(report) == summary


@pytest.mark.parametrize(
    "introduction",
    [
        "Splendid! I have what I need. Let me write it down.\n\n",
        "That is all.\n\nHere it is:\n\n",
        "Now I see how it works.\n\n---\n\n",
        "First I looked around.\n\n***\n\n",
    ],
)
def test_prose_that_introduces_a_heading_or_a_rule_is_left_out(introduction: str) -> None:
    assert summary_of(introduction + BODY) == TOLD


def test_what_ends_in_a_colon_introduces_what_stands_below_it() -> None:
    assert summary_of("I read all of it. Here is what I found:\n\n1. The key is wrong.\n2. It is slow") == (
        "The key is wrong. It is slow"
    )
    assert summary_of("Nothing but this:") == "Nothing but this:"


def test_headings_of_several_words_stand_before_what_is_below_them() -> None:
    report = "## Summary: How tokens are kept\n\n### 1. The bucket\n\nOne per key.\n\n### Limits\n\nNone."
    assert summary_of(report) == "How tokens are kept: 1. The bucket: One per key. None."


def test_thinking_aloud_with_code_is_left_out_when_a_rule_parts_it_from_a_long_report() -> None:
    aloud = "Let me look again.\n\n```py\nx = 1\n```\n\n- so it is\n\nGood.\n\n---\n\n"
    assert summary_of(aloud + BODY * 5).startswith("The cache is never emptied.")  # type: ignore[union-attr]


def test_a_verdict_with_a_list_above_the_first_heading_stays() -> None:
    report = "Two faults:\n\n- the key\n- the lock\n\n## Details\n\nThey are old."
    assert summary_of(report) == "the key; the lock; They are old."


def test_marks_of_markdown_are_no_part_of_a_summary() -> None:
    assert summary_of("The **limiter** lives in `limit.py`.") == "The limiter lives in `limit.py`."
