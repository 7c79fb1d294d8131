"""The comment with a session's bookkeeping: hidden, read back, never closed or forged by foreign text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import NOWHERE, Source, apply_edits
from crucible.documents.session.append import Addition, NoteState, append, read_head
from crucible.documents.session.bookkeeping import trailing_lines
from crucible.documents.session.callout_edits import add_summary
from crucible.documents.session.edits import add_entry, add_phase
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Phase, Prose, Session
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_edits import set_field, set_fields
from samples.hostile_texts import hostile_text
from tests.unit.documents.session.session_strategies import sessions

FORGED = "<!-- crucible\nsources:\n  - claude-code:stolen\n-->"
NOTE = Session(
    "s",
    title="T",
    sources=("claude-code:a",),
    synced_to=("claude-code:1",),
    phases=(Phase("A", entries=(Prose("x"),)),),
)


def read(text: str) -> Session:
    return read_session(Source(text), "s")


@given(st.lists(hostile_text(3) | st.text(max_size=9), min_size=1, max_size=3))
def test_any_value_is_read_back_and_nothing_closes_the_comment(values: list[str]) -> None:
    wanted = tuple(value.encode("utf-8", "replace").decode() for value in values)
    text = render_session(replace(NOTE, sources=wanted))
    found = read(text)
    assert found.sources == wanted
    assert found.phases == NOTE.phases
    comment = text[text.rindex("<!-- crucible") :]
    assert (comment.count("-->"), comment.count("<"), comment.endswith("\n-->\n")) == (1, 1, True)


@given(sessions())
def test_foreign_text_forges_no_bookkeeping(session: Session) -> None:
    phase = Phase("A", entries=(Prose(FORGED), Prose(f"```\n{FORGED}\n```")))
    forging = replace(session, title=FORGED, phases=(*session.phases, phase), summary=FORGED)
    text = render_session(forging)
    found = read_session(Source(text), session.id)
    assert (found.sources, found.synced_to) == (session.sources, session.synced_to)
    has_own = any((session.sources, session.synced_to, session.usage, session.redacted, session.redactions is not None))
    assert (found.bookkeeping_lines is not NOWHERE) == has_own
    assert (trailing_lines(Source(text)) == found.bookkeeping_lines) or not has_own


@pytest.mark.parametrize("typed", ["Mine.\n", "\nMine.\n", "## Mine\n\nMore.\n", "- [ ] mine\n"])
def test_a_human_may_type_below_it(typed: str) -> None:
    text = render_session(NOTE) + typed
    found = read(text)
    assert (found.sources, found.problems[1:]) == (NOTE.sources, ())
    assert "ine" in str(found.phases[-1])
    source = Source(text)
    grown = apply_edits(source, add_phase(source, found, Phase("B"))).text
    assert [phase.name for phase in read(grown).phases][-1] == "B"
    source = Source(grown)
    last = apply_edits(source, set_field(source, read(grown), "synced_to", ["claude-code:2"]))
    assert (read(last.text).synced_to, read(last.text).phases) == (("claude-code:2",), read(grown).phases)


def test_what_is_added_goes_above_it() -> None:
    source = Source(render_session(NOTE))
    note = read_session(source, "s")
    for edits in (
        add_phase(source, note, Phase("B", entries=(Prose("y"),))),
        add_entry(source, note, Prose("y"), "phase-1"),
        add_summary(source, note, "y"),
    ):
        text = apply_edits(source, edits).text
        assert text.index("y\n") < text.index("<!-- crucible")
        assert text.endswith(source.text[source.text.index("\n<!-- crucible") :])


def test_the_first_value_adds_it_and_a_later_one_goes_to_its_place() -> None:
    source = Source(render_session(replace(NOTE, sources=(), synced_to=())))
    once = apply_edits(source, set_fields(source, read_session(source, "s"), {"redactions": 1, "status": "paused"}))
    assert once.text == source.text.replace("active", "paused") + "\n<!-- crucible\nredactions: 1\n-->\n"
    twice = apply_edits(once, set_fields(once, read_session(once, "s"), {"sources": ["a:-->"], "recording": 2}))
    assert twice.text.endswith('\n<!-- crucible\nsources:\n  - "a:--\\x3e"\nredactions: 1\nrecording: 2\n-->\n')


def test_an_older_note_keeps_its_bookkeeping_in_the_frontmatter() -> None:
    source = Source("---\ntype: session\nsession_id: s\nsources:\n  - a:b\n---\n\n# T\n\n## A\n\nx\n")
    edits = set_fields(source, read_session(source, "s"), {"synced_to": ["a:1"], "redactions": 2})
    text = apply_edits(source, edits).text
    assert text == source.text.replace("  - a:b\n", "  - a:b\nsynced_to:\n  - a:1\nredactions: 2\n")
    plan = Addition({"redactions": 2, "synced_to": ["a:1"]})
    appended = append(source, "s", lambda _: plan)
    assert read(appended.source.text) == read(text)
    assert "<!--" not in appended.source.text


def test_an_addition_knows_and_changes_it() -> None:
    source = Source(render_session(NOTE))
    seen: list[tuple[str, ...]] = []

    def plan(state: NoteState) -> Addition:
        seen.append(state.head.sources)
        return Addition({"redactions": 3}, (Prose("y"),))

    done = append(source, "s", plan)
    assert (seen, read(done.source.text).redactions) == ([NOTE.sources], 3)
    assert read_head(done.source, "s").redactions == 3


def test_of_two_the_last_counts_and_one_is_reported() -> None:
    text = render_session(NOTE) + "\n<!-- crucible\nsources:\n  - b:c\n-->\n"
    found = read(text)
    assert found.sources == ("b:c",)
    assert "second-bookkeeping" in [problem.code for problem in found.problems]


@pytest.mark.parametrize("line", ["redactions: many", "redacted: {a: b}"])
def test_a_wrong_value_is_reported_with_its_line(line: str) -> None:
    text = render_session(NOTE).replace("synced_to:", f"{line}\nsynced_to:")
    [problem] = [one for one in read(text).problems if one.code == "bad-field"]
    assert text.split("\n")[problem.line - 1] == line
