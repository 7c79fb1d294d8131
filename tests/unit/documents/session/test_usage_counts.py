"""Tokens by day and model: enough to know from the note alone what a session cost."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import At, Event, Prompted, UsageCounted
from crucible.core.prices import KINDS
from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.import_properties import TokenUsage, add_usage, parse_usage, usage_lines
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from tests.unit.documents.recording.sample_events import at, fold, session
from tests.unit.documents.session.session_strategies import lines
from tests.unit.documents.session.test_merge import merged, parts

_models = lines.map(str.strip).filter(lambda name: name not in ("", "unknown"))
_tokens = st.fixed_dictionaries(dict.fromkeys(KINDS, st.integers(0, 10**9)))
_days = st.sampled_from(["2026-11-21", "2026-11-22", ""])
_spent = st.lists(st.builds(TokenUsage, _days, _models, _tokens, st.sampled_from([0, 200_000])), max_size=4)


def used(day: int, message: str, model: str, *counts: int) -> UsageCounted:
    time = datetime(2026, 11, day, 23, 59, tzinfo=UTC)
    return UsageCounted(At(at().line, f"{message}-{model}-{counts}", time), message, model, *counts)


def total(spent: list[TokenUsage]) -> dict[tuple[str, str, str, int], int]:
    found: dict[tuple[str, str, str, int], int] = {}
    for day, model, tokens, over in spent:
        for kind, count in tokens.items():
            found[day, model, kind, over] = found.get((day, model, kind, over), 0) + count
    return {key: count for key, count in found.items() if count}


@given(_spent)
def test_what_is_written_reads_back_whatever_a_model_is_called(spent: list[TokenUsage]) -> None:
    assert total(parse_usage(usage_lines(spent))) == total(spent)
    told = Session("s", usage=usage_lines(spent))
    assert read_session(Source(render_session(told)), "s").usage == told.usage


@given(_spent, _spent, _spent)
def test_a_note_grows_by_what_a_transcript_grew(
    mine: list[TokenUsage], first: list[TokenUsage], more: list[TokenUsage]
) -> None:
    whole = usage_lines([*first, *more])
    note = add_usage(usage_lines([*mine, *first]), usage_lines(first), whole)
    assert total(parse_usage(note)) == total([*mine, *first, *more])


def test_a_line_that_tells_nothing_stays() -> None:
    assert add_usage(["mine", "2026-11-21 m: input 1"], (), ("2026-11-21 m: output 2",)) == [
        "mine",
        "2026-11-21 m: input 1, output 2",
    ]


def test_each_kind_of_token_is_counted_by_day_and_model() -> None:
    told = session(
        Prompted(at(), "Go"),
        used(21, "a", "opus", 100, 900, 10, 80, 30),
        used(21, "a", "opus", 120, 900, 40, 80, 30),
        used(21, "b", "haiku", 7, 0, 1),
        used(22, "c", "opus", 5, 50, 2),
    )
    assert told.usage == (
        "2026-11-21 haiku: input 7, output 1",
        "2026-11-21 opus: input 40, output 40, cache_write 50, cache_write_1h 30, cache_read 900",
        "2026-11-22 opus: input 5, output 2, cache_read 50",
    )
    assert (told.tokens_used, told.tokens_cached) == (175, 950)


def test_long_prompts_are_counted_apart_where_the_models_price_changes() -> None:
    told = session(
        Prompted(at(), "Go"),
        used(21, "a", "gemini-2.5-pro", 100_000, 100_000, 7),
        used(21, "b", "gemini-2.5-pro", 100_000, 100_001, 7),
        used(21, "c", "claude-opus-4-8", 400_000, 500_000, 7),
        used(21, "d", "nobodys-model", 300_000, 0, 7),
    )
    assert told.usage == (
        "2026-11-21 claude-opus-4-8: input 400000, output 7, cache_read 500000",
        "2026-11-21 gemini-2.5-pro: input 100000, output 7, cache_read 100000",
        "2026-11-21 gemini-2.5-pro over 200000: input 100000, output 7, cache_read 100001",
        "2026-11-21 nobodys-model over 272000: input 300000, output 7",
    )
    assert (told.tokens_used, told.tokens_cached) == (900_028, 700_001)


def test_a_message_counts_on_its_day_where_the_user_is() -> None:
    events: list[Event] = [Prompted(at(), "Go"), used(21, "a", "m", 3, 4, 5)]
    recorder = Recorder("claude-code", zone=ZoneInfo("Asia/Tokyo"))
    for event in events:
        recorder.add(event)
    assert recorder.draft().usage == ("2026-11-22 m: input 3, output 5, cache_read 4",)


def test_web_searches_are_counted_beside_tokens() -> None:
    told = session(Prompted(at(), "Go"), used(21, "a", "m", 3, 4, 5, 0, 0, 2))
    assert told.usage == ("2026-11-21 m: input 3, output 5, cache_read 4, web_search 2",)
    assert (told.tokens_used, told.tokens_cached) == (8, 4)


def test_tokens_by_model_sum_up_to_the_note_s_own() -> None:
    told = session(Prompted(at(), "Go"), used(21, "a", "m", 3, 4, 5, 9, 9), used(22, "b", "<synthetic>", 1, 1, 1))
    tokens = [each.tokens for each in parse_usage(told.usage)]
    assert sum(sum(each.values()) for each in tokens) == (told.tokens_used or 0) + (told.tokens_cached or 0)


FIRST: list[Event] = [Prompted(at(), "Go"), used(21, "a", "m", 3, 4, 5)]
MORE: list[Event] = [used(21, "b", "m", 10, 0, 1), used(22, "c", "n", 1, 0, 0)]


def test_a_sync_adds_what_is_new_and_keeps_what_others_added() -> None:
    base, now = parts([*FIRST, *MORE], len(FIRST))
    text = render_session(base)
    line = '  - "2026-11-21 m: input 3, output 5, cache_read 4"\n'
    assert line in text
    other = '  - "2026-11-21 m: input 3, output 6, cache_read 4"\n  - "2026-11-21 other: input 8"\n'
    found = read_session(Source(merged(text.replace(line, other), base, now)), "s")
    assert found.usage == (
        "2026-11-21 m: input 13, output 7, cache_read 4",
        "2026-11-21 other: input 8",
        "2026-11-22 n: input 1",
    )


def test_a_note_of_before_there_was_the_property_goes_on_without() -> None:
    base, now = parts([*FIRST, *MORE], len(FIRST))
    old = "".join(
        line for line in render_session(base).splitlines(keepends=True) if "usage" not in line and "input" not in line
    )
    assert "usage" not in merged(old, base, now)


@pytest.mark.parametrize("written", ['usage: "2026-11-21 m: input 3"', "usage: [a, b]  # mine", "usage: 7"])
def test_what_did_not_change_is_not_written_anew(written: str) -> None:
    draft = fold(FIRST)
    now = session(*FIRST)
    lines_of = render_session(now).split("\n")
    begin = lines_of.index("usage:")
    text = "\n".join([*lines_of[:begin], written, *lines_of[begin + 2 :]])
    assert draft.has_work
    note = read_session(Source(text), "s")
    assert apply_edits(Source(text), merge(Source(text), note, now, now)).text == text
