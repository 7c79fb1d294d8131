"""A history entry reads back from its note unchanged; a user's notes are parsed leniently."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import example, given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Source
from crucible.documents.markdown.wikilinks import find_links, find_property_links
from crucible.memory.history.history import HEADINGS, Capture, Captures, HistoryEntry, HistoryLine, lines_of, tidy_entry
from crucible.memory.history.history_notes import read_entry, read_items, render_history
from crucible.memory.history.history_revision import revised
from samples.hostile_texts import hostile_line, hostile_text

ENTRY = HistoryEntry(
    "2026-11-21-billing",
    title="Billing",
    project="shop",
    started=datetime(2026, 11, 21, 9, 15, tzinfo=UTC),
    ended=datetime(2026, 11, 21, 11, 30, tzinfo=UTC),
    duration_minutes=135,
    agent="claude-code@2.1",
    skills=("testing",),
    tasks_completed=("1",),
    tasks_started=("2",),
    files_modified=("src/billing.ts",),
    captures=Captures(approved=(Capture("decision", "stripe-over-paddle", "Stripe over Paddle"),)),
    tokens=1944,
    request=(HistoryLine("Bill our users"),),
    done=(HistoryLine("User profiles (task-1)", points=("Added GET", "Wrote tests")), HistoryLine("Dates")),
    decisions=(HistoryLine("Stripe over Paddle.", "Better documentation.", ("See ADR-003",)),),
    questions=(HistoryLine("Do we need webhook retries?"),),
    further=(HistoryLine("Continue: billing (task-2)"), HistoryLine("Blocked: no API keys")),
)
NOTE = """\
---
type: history
session_id: 2026-11-21-billing
title: Billing
project: shop
started: "2026-11-21T09:15:00Z"
ended: "2026-11-21T11:30:00Z"
duration_minutes: 135
agent: claude-code@2.1
skills:
  - testing
tasks_completed:
  - "1"
tasks_started:
  - "2"
files_modified:
  - src/billing.ts
captures:
  - type: decision
    id: stripe-over-paddle
    summary: Stripe over Paddle
    outcome: approved
tokens: 1944
format: 2
---

# Billing

From [[sessions/2026-11-21-billing|2026-11-21-billing]].

## Request

- Bill our users

## What We Did

1. **User profiles** (task-1)
   - Added GET
   - Wrote tests
2. **Dates**

## Decisions Made

- **Stripe over Paddle.**
  - Why: Better documentation.
  - See ADR-003

## Open Questions

- Do we need webhook retries?

## Next Session

- Continue: billing (task-2)
- Blocked: no API keys
"""


def test_a_point_that_reads_as_a_reason_is_one() -> None:
    entry = HistoryEntry("s", further=(HistoryLine("Ship", "", ("Why: it is late", "Ask Ada")),))
    assert tidy_entry(entry).further == (HistoryLine("Ship", "it is late", ("Ask Ada",)),)
    assert read_entry(Source(render_history(entry))).entry == tidy_entry(entry)


def test_a_note_looks_as_people_expect() -> None:
    body, _, last = render_history(ENTRY).rpartition("\n<!-- crucible wrote:")
    assert body == NOTE
    assert last.endswith(" -->\n")


def test_a_note_reads_back() -> None:
    assert read_entry(Source(render_history(ENTRY))).entry == ENTRY


def test_another_note_is_no_history() -> None:
    read = read_entry(Source("---\ntype: session\n---\n"))
    assert read.entry is None
    assert [one.code for one in read.problems] == ["no-history"]


def test_a_users_items_are_read_too() -> None:
    text = """---
type: history
captures: [{type: pattern, id: p}, 7]
tokens: many
---
## what we did
1. First
   goes on
   - and below
* Second

A paragraph
of two lines.

## Mine
- not read

## Decisions Made
- **Chosen** (captured)
  - Why: so
    and so
  - More
"""
    read = read_entry(Source(text), "x")
    assert read.entry is not None
    assert read.entry.session_id == "x"
    assert read.entry.done == (
        HistoryLine("First goes on", points=("and below",)),
        HistoryLine("Second"),
        HistoryLine("A paragraph of two lines."),
    )
    assert read.entry.decisions == (HistoryLine("Chosen (captured)", "so and so", ("More",)),)
    assert read.entry.captures == Captures(approved=(Capture("pattern", "p"),))
    assert [one.code for one in read.problems] == ["bad-field", "bad-field"]


def _lines() -> st.SearchStrategy[tuple[HistoryLine, ...]]:
    texts = st.one_of(
        hostile_text(),
        hostile_line(),
        st.sampled_from(
            ["**x** (y)", "(y)", "Why: x", "x** (y)", "**", "`x (y)", ">", "> x", "#", "-", "1.", "|", "```"]
        ),
    )
    return st.lists(
        st.builds(HistoryLine, texts, texts, st.lists(texts, max_size=2).map(tuple), st.just("")), max_size=3
    ).map(tuple)


def _values() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(hostile_line(), max_size=3).map(tuple)


def _captures() -> st.SearchStrategy[tuple[Capture, ...]]:
    return st.lists(st.builds(Capture, hostile_line(), hostile_line(), hostile_line(), st.just("")), max_size=2).map(
        tuple
    )


ENTRIES = st.builds(
    HistoryEntry,
    st.one_of(st.just("2026-11-21-x"), hostile_line().filter(str.strip)),
    title=hostile_line(),
    project=hostile_line(),
    started=st.none() | st.datetimes(timezones=st.just(UTC)),
    ended=st.none() | st.datetimes(timezones=st.just(UTC)),
    duration_minutes=st.none() | st.integers(0, 10**6),
    agent=hostile_line(),
    skills=_values(),
    files_modified=_values(),
    captures=st.builds(Captures, _captures(), _captures(), st.just(())),
    tokens=st.none() | st.integers(0, 10**9),
    request=_lines(),
    done=_lines(),
    further=_lines(),
)


@given(ENTRIES, ENTRIES)
def test_any_entry_that_replaces_another_one_reads_back(before: HistoryEntry, after: HistoryEntry) -> None:
    changed = replace(after, session_id=before.session_id)
    found = read_entry(revised(Source(render_history(before)), changed)).entry
    assert found is not None
    for part in HEADINGS:
        told = sorted(line[:3] for line in lines_of(tidy_entry(changed), part))
        assert sorted(line[:3] for line in lines_of(found, part)) == told


@example(HistoryEntry("2026-11-21-x", done=(HistoryLine(">", "x"),), further=(HistoryLine(">", "x"),)))
@given(ENTRIES)
def test_any_entry_reads_back_and_leads_nowhere(entry: HistoryEntry) -> None:
    tidy = tidy_entry(entry)
    assert tidy_entry(tidy) == tidy
    source = Source(render_history(entry))
    assert read_entry(source).entry == tidy
    assert revised(source, entry) == source
    wiki = {link.target for link in find_links(source) if link.kind == "wiki"}
    assert wiki <= {f"sessions/{tidy.session_id}"}
    assert not find_property_links(source)
    told = {"## Request": tidy.request, "## What We Did": tidy.done, "## Next Session": tidy.further}
    assert [line for line in source.lines if line.startswith("## ")] == [
        heading for heading, lines in told.items() if lines
    ]


@given(hostile_text())
def test_any_text_in_a_section_is_read_without_an_error(text: str) -> None:
    lines = Source(f"## What We Did\n{text}\n").lines
    for item in read_items(lines):
        assert 0 < item.first < item.end <= len(lines)


def test_conflict_markers_are_no_items() -> None:
    lines = ["## Next Session", "", "<<<<<<< HEAD", "- One", "||||||| a", "=======", "- Two", ">>>>>>> b"]
    assert [item.line.text for item in read_items(lines)] == ["One", "Two"]


SEED = """\
---
session_id: a1b2c3d4
date: 2026-01-24
start_time: "09:15:00"
end_time: "11:30:00"
duration_minutes: 135
agent: coder
tasks_completed:
  - task-001
captures:
  - type: decision
    id: dec-789
    summary: "Chose Stripe over Paddle"
---

# Session Summary: January 24, 2026

## What We Did

1. **Implemented user profile API** (task-001)
   - Added GET /api/users/:id endpoint

2. **Started billing integration** (task-004)
   - Blocked: Need API keys from finance team

## Decisions Made

- **Chose Stripe over Paddle** (captured → RECALL)
  - Better API documentation
"""


def test_a_history_of_edi_is_read() -> None:
    entry = read_entry(Source(SEED), "2026-01-24-a1b2c3d4").entry
    assert entry is not None
    assert (entry.session_id, entry.started, entry.ended) == (
        "a1b2c3d4",
        datetime(2026, 1, 24, 9, 15, tzinfo=UTC),
        datetime(2026, 1, 24, 11, 30, tzinfo=UTC),
    )
    assert entry.done == (
        HistoryLine("Implemented user profile API (task-001)", points=("Added GET /api/users/:id endpoint",)),
        HistoryLine("Started billing integration (task-004)", points=("Blocked: Need API keys from finance team",)),
    )
    assert entry.decisions == (
        HistoryLine("Chose Stripe over Paddle (captured → RECALL)", points=("Better API documentation",)),
    )
    assert entry.captures.approved == (Capture("decision", "dec-789", "Chose Stripe over Paddle"),)


def test_a_note_lists_five_captures_at_most_first_what_was_kept() -> None:
    group = [Capture("decision", "", f"D{number}") for number in range(9)]
    captures = Captures(tuple(group[:4]), tuple(group[4:7]), tuple(group[7:]))
    read = read_entry(Source(render_history(HistoryEntry("s", captures=captures)))).entry
    assert read is not None
    assert read.captures == Captures(tuple(group[:2]), tuple(group[4:7]))
