"""Decisions and lessons in free words: what says so is found, what only sounds like it is not."""

from __future__ import annotations

import time

import pytest

from crucible.history.inferring import Inferred, inferred_decisions, inferred_lessons

DECIDED = {
    "We decided to keep the queue in Redis because the workers share it.": (
        "We decided to keep the queue in Redis.",
        "the workers share it.",
    ),
    "I chose Parquet over CSV since columns are read alone.": (
        "I chose Parquet over CSV.",
        "columns are read alone.",
    ),
    "Settled on one migration a release.": ("Settled on one migration a release.", ""),
    "After measuring both, we went with a heap instead of a sorted list.": (
        "After measuring both, we went with a heap instead of a sorted list.",
        "",
    ),
    "Decision: the CLI stays silent on success.": ("the CLI stays silent on success.", ""),
    "**Decision:** one table a tenant (why: backups stay small).": (
        "one table a tenant.",
        "backups stay small",
    ),
    "A bloom filter was chosen over a set because it fits in memory.": (
        "A bloom filter was chosen over a set.",
        "it fits in memory.",
    ),
    "The user decided to drop the old route.": ("The user decided to drop the old route.", ""),
    "It was decided that times are UTC.": ("It was decided that times are UTC.", ""),
    "We'll keep the monolith rather than split it.": ("We'll keep the monolith rather than split it.", ""),
    "Decided against a second cache.": ("Decided against a second cache.", ""),
}


@pytest.mark.parametrize("sentence", DECIDED)
def test_a_sentence_that_says_what_was_decided_is_a_decision(sentence: str) -> None:
    found = [
        (one.text, one.why.rstrip(".") if "(why" in sentence else one.why)
        for one in inferred_decisions(sentence)
    ]
    assert found == [DECIDED[sentence]]
    around = f"The tests pass.\n\n{sentence} The next file is longer."
    assert [one.text for one in inferred_decisions(around)] == [DECIDED[sentence][0]]


@pytest.mark.parametrize(
    "sentence",
    [
        "Did we decide to keep the queue in Redis?",
        "We decided to keep the queue in Redis, right?",
        "We should have chosen Parquet over CSV because of its size.",
        "If we decided to use Redis we would need a server.",
        "We have not decided on a name.",
        "Nobody has agreed to that.",
        "I decided to run the tests first.",
        "I opted to look at the logs.",
        "I'll use grep to find the callers.",
        "The scheduler chose the wrong worker.",
        "The parser selects every row that matches.",
        "> We decided to keep the queue in Redis.",
        "```\nWe decided to keep the queue in Redis.\n```",
        "| We decided | to keep it |",
        "It is undecided whether we keep the queue.",
        "Maybe we decided on the wrong queue here.",
    ],
)
def test_what_is_asked_quoted_thought_of_or_a_step_of_the_work_is_none(sentence: str) -> None:
    assert not list(inferred_decisions(sentence))


def test_items_below_a_heading_of_decisions_are_decisions_and_others_are_not() -> None:
    text = "Done.\n\n## Key decisions\n\n- Keys are UUIDv7, so shards merge\n- One writer only,\n  many readers\n\n## Next\n\n- Run it again soon\n"
    assert list(inferred_decisions(text)) == [
        Inferred("Keys are UUIDv7, so shards merge"),
        Inferred("One writer only, many readers"),
    ]


def test_a_wrapped_sentence_is_one() -> None:
    assert [one.why for one in inferred_decisions("We decided to keep\nthe queue because\nit works.")] == [
        "it works."
    ]


@pytest.mark.parametrize(
    ("text", "lesson"),
    [
        (
            "Actually, I was wrong about the lock. It is taken before the read.",
            "Actually, I was wrong about the lock. It is taken before the read.",
        ),
        (
            "My earlier diagnosis was wrong: the pool is empty.",
            "My earlier diagnosis was wrong: the pool is empty.",
        ),
        ("I misread the manual; the unit is seconds.", "I misread the manual; the unit is seconds."),
        ("Lesson learned: flush before fsync.", "flush before fsync."),
        (
            "That was a mistake. The index must be built first.",
            "That was a mistake. The index must be built first.",
        ),
    ],
)
def test_a_self_correction_is_a_lesson(text: str, lesson: str) -> None:
    assert [one.text for one in inferred_lessons(f"All tests pass.\n\n{text}")] == [lesson]


@pytest.mark.parametrize(
    "text",
    [
        "The test was wrong.",
        "If I was wrong, tell me so.",
        "Was I wrong about the lock?",
        "Something is off here.",
        "The wrong file was opened by the loader.",
        "> I was wrong about the lock.",
    ],
)
def test_what_else_is_wrong_is_no_lesson(text: str) -> None:
    assert not list(inferred_lessons(text))


def test_a_text_of_a_megabyte_takes_no_time() -> None:
    begin = time.process_time()
    for text in (
        "we decided " * 90_000,
        "a " * 500_000 + "decided",
        "*" * 1_000_000 + "decided",
        "after " * 200_000 + "decided",
    ):
        list(inferred_decisions(text))
        list(inferred_lessons(f"{text} wrong"))
    assert time.process_time() - begin < 2
