"""An entry stands in a note as it is, whatever its texts hold; a human's note is read as far as it goes."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.history.model import Capture, Captures, Entry, Line, tidy_entry
from crucible.history.notes import read_entry, read_items, render_entry
from crucible.history.revising import revised
from crucible.note.source import Source
from crucible.note.wikilinks import find_links, find_property_links
from tests.strategies_hostile import hostile_line, hostile_text

ENTRY = Entry(
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
    done=(Line("User profiles (task 1)", line=21),),
    decisions=(Line("Stripe over Paddle.", "Better documentation.", 40),),
    questions=(Line("Do we need webhook retries?", line=50),),
    further=(Line("Continue: billing (task 2)", line=21), Line("Blocked: no API keys")),
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

From [[sessions/2026-11-21-billing]].

## What We Did

- User profiles (task 1) (line 21)

## Decisions Made

- Stripe over Paddle. (line 40)
  - Why: Better documentation.

## Open Questions

- Do we need webhook retries? (line 50)

## Next Session

- Continue: billing (task 2) (line 21)
- Blocked: no API keys
"""


def test_a_note_looks_as_people_expect() -> None:
    body, _, last = render_entry(ENTRY).rpartition("\n%% crucible wrote:")
    assert body == NOTE
    assert last.endswith(" %%\n")


def test_a_note_reads_back() -> None:
    assert read_entry(Source(render_entry(ENTRY))).entry == ENTRY


def test_another_note_is_no_history() -> None:
    read = read_entry(Source("---\ntype: session\n---\n"))
    assert read.entry is None
    assert [one.code for one in read.problems] == ["no-history"]


def test_what_a_human_wrote_is_read_too() -> None:
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
- Chosen (line 3)
  - Why: so
    and so
"""
    read = read_entry(Source(text), "x")
    assert read.entry is not None
    assert read.entry.session_id == "x"
    assert [one.text for one in read.entry.done] == [
        "First goes on and below",
        "Second",
        "A paragraph of two lines.",
    ]
    assert read.entry.decisions == (Line("Chosen", "so and so", 3),)
    assert read.entry.captures == Captures(approved=(Capture("pattern", "p"),))
    assert [one.code for one in read.problems] == ["bad-field", "bad-field"]


def _lines() -> st.SearchStrategy[tuple[Line, ...]]:
    texts = st.one_of(
        hostile_text(), hostile_line(), st.sampled_from(["x (line 3)", "(line 3)", "Why: x", "x \\(line 3)"])
    )
    return st.lists(st.builds(Line, texts, texts, st.integers(0, 9999)), max_size=3).map(tuple)


def _values() -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(hostile_line(), max_size=3).map(tuple)


def _captures() -> st.SearchStrategy[tuple[Capture, ...]]:
    return st.lists(st.builds(Capture, hostile_line(), hostile_line(), hostile_line()), max_size=2).map(tuple)


ENTRIES = st.builds(
    Entry,
    st.one_of(st.just("2026-11-21-x"), hostile_line().filter(str.strip)),
    title=hostile_line(),
    project=hostile_line(),
    started=st.none() | st.datetimes(timezones=st.just(UTC)),
    ended=st.none() | st.datetimes(timezones=st.just(UTC)),
    duration_minutes=st.none() | st.integers(0, 10**6),
    agent=hostile_line(),
    skills=_values(),
    files_modified=_values(),
    captures=st.builds(Captures, _captures(), _captures()),
    tokens=st.none() | st.integers(0, 10**9),
    done=_lines(),
    further=_lines(),
)


@settings(max_examples=40, deadline=None)
@given(ENTRIES)
def test_any_entry_reads_back_and_leads_nowhere(entry: Entry) -> None:
    tidy = tidy_entry(entry)
    assert tidy_entry(tidy) == tidy
    source = Source(render_entry(entry))
    assert read_entry(source).entry == tidy
    assert revised(source, entry) == source
    wiki = {link.target for link in find_links(source) if link.kind == "wiki"}
    assert wiki <= {f"sessions/{tidy.session_id}"}
    assert not find_property_links(source)
    assert [line for line in source.lines if line.startswith("## ")] == [
        "## What We Did",
        "## Decisions Made",
        "## Open Questions",
        "## Next Session",
    ]


@settings(max_examples=50, deadline=None)
@given(hostile_text())
def test_whatever_stands_in_a_section_is_read_without_an_error(text: str) -> None:
    lines = Source(f"## What We Did\n{text}\n").lines
    for item in read_items(lines):
        assert 0 < item.first < item.end <= len(lines)


def test_marks_of_a_merge_that_nobody_settled_are_no_items() -> None:
    lines = ["## Next Session", "", "<<<<<<< HEAD", "- One", "||||||| a", "=======", "- Two", ">>>>>>> b"]
    assert [item.line.text for item in read_items(lines)] == ["One", "Two"]
