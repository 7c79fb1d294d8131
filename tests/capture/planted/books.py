"""All that a session can be told with: one book for halves 0 and 1, which share its tables, and one for each of the halves 2, 3 and 4.

Owns which tables there are; a field is the constant of the same name in one of the modules of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import ModuleType

from tests.capture.planted import (
    fifth_adrs,
    fifth_corrections,
    fifth_decisions,
    fifth_filler,
    fifth_noise,
    fifth_patterns,
    fifth_proving,
    fifth_topics,
    filler_words,
    fourth_corrections,
    fourth_decisions,
    fourth_filler,
    fourth_noise,
    fourth_proving,
    fourth_topics,
    noise_calls,
    noise_words,
    third_adrs,
    third_calls,
    third_corrections,
    third_decisions,
    third_evidence,
    third_failures,
    third_filler,
    third_noise,
    third_patterns,
    third_stacks,
    third_topics,
    topics,
    words_adrs,
    words_corrections,
    words_decisions,
    words_evidence,
    words_failures,
    words_patterns,
)
from tests.capture.planted.topics import Topic
from tests.capture.planted.truth import Reason
from tests.capture.planted.words_failures import Failing
from tests.capture.planted.words_patterns import Api
from tests.cases.planted import stacks
from tests.cases.planted.refusals import Refused
from tests.cases.planted.stacks import Stack

__all__ = ["FIFTH", "FIRST", "FOURTH", "THIRD", "Book"]

Rows = Sequence[str]
Table = Mapping[str, Rows]
"""By language."""
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Book:
    """Every table of words and matter; each is told of where it stands."""

    languages: Mapping[str, int]
    stacks: Sequence[Stack]
    topics: Mapping[str, Sequence[Topic]]

    folders: Table
    announcements: Table
    bodies: Rows
    shell: Pairs

    sentences: Table
    bare: Table
    callouts: Table
    users: Table
    questions: Table
    answers: Table

    claims: Mapping[str, Pairs]
    statements: Table
    retractions: Table

    failures: Sequence[Failing]
    causes: Table
    guesses: Table
    lone: Pairs

    practices: Mapping[str, Pairs]
    wordings: Table
    apis: Sequence[Api]
    calls: Table
    wirings: Rows

    proofs: Mapping[str, Sequence[tuple[str, str, str]]]
    claimed: Table
    proven: Table

    prose: Mapping[Reason, Table]
    prompts: Mapping[Reason, Table]
    put_off: Table
    secret_callouts: Sequence[tuple[str, str | None]]

    environment: Sequence[Refused]
    transient: Sequence[Refused]
    expected: Sequence[Refused]
    after_environment: Rows
    after_transient: Rows
    after_suite: Rows
    given_up: Rows
    first_red: Rows
    left_out: str
    repeated: str
    anything: str
    mentions: Pairs
    writes: Pairs
    places: Rows
    refused: str

    goals: Table
    follow_ups: Table
    looks: Table
    changes: Table
    ends: Table
    before: Table
    after: Table
    openers: Table
    intros: Table
    user_before: Table
    user_after: Table
    acks: Table
    noted: Table


def _bound(*modules: ModuleType) -> Book:
    """The constants of these modules, of the last one where several have it; raises `KeyError` for a table that none of them has."""
    known = {
        name.lower(): value for module in modules for name, value in vars(module).items() if name.isupper()
    }
    return Book(**{field.name: known[field.name] for field in fields(Book)})


FIRST = _bound(stacks, topics, words_adrs, words_decisions, words_corrections, words_failures, words_patterns, words_evidence, noise_words, noise_calls, filler_words)  # fmt: skip
THIRD = _bound(third_stacks, third_topics, third_adrs, third_decisions, third_corrections, third_failures, third_patterns, third_evidence, third_noise, third_calls, third_filler)  # fmt: skip
FOURTH = _bound(third_stacks, third_calls, third_patterns, fourth_topics, fourth_decisions, fourth_corrections, fourth_proving, fourth_noise, fourth_filler)  # fmt: skip
FIFTH = _bound(third_stacks, fifth_topics, fifth_adrs, fifth_decisions, fifth_corrections, fifth_patterns, fifth_proving, fifth_noise, fifth_filler)  # fmt: skip
