"""A note of an older version gets today's properties, and says the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given

from crucible.documents.markdown.source import NOWHERE, Source, apply_edits
from crucible.documents.session.bookkeeping import BOOKKEEPING
from crucible.documents.session.markup import render_session
from crucible.documents.session.property_upgrade import Upgrade, upgrade_properties
from crucible.documents.session.session import NoteHome, Phase, Prose, Session
from crucible.documents.session.session_reader import read_session
from tests.unit.documents.session.older_notes import older
from tests.unit.documents.session.session_strategies import sessions

HOME = NoteHome()
NOTE = Session(
    "s",
    datetime(2026, 11, 21, 23, 26, 47, tzinfo=UTC),
    project="shop",
    title="Add a [[limiter]]",
    sources=("claude-code:a",),
    synced_to=("claude-code:1",),
    phases=(Phase("A", entries=(Prose("x"),)),),
)
OLD = older(render_session(NOTE))


def upgraded(text: str, home: NoteHome = HOME) -> str:
    source = Source(text)
    upgrade = upgrade_properties(source, "s", home)
    assert upgrade.reason == ""
    return apply_edits(source, upgrade.edits).text


@given(sessions())
def test_it_says_the_same_and_nothing_is_lost_or_done_twice(session: Session) -> None:
    session = replace(session, aliases=())
    text = older(render_session(session))
    before = read_session(Source(text), session.id)
    source = Source(text)
    upgrade = upgrade_properties(source, session.id, HOME)
    assert upgrade.reason == ""
    new = apply_edits(source, upgrade.edits)
    after = read_session(new, session.id)
    assert after == before
    assert not any(key in new.text.partition("\n---\n")[0].split(":") for key in BOOKKEEPING)
    assert Counter(text.split("\n")) - Counter(new.text.split("\n")) <= Counter([""])
    assert upgrade_properties(new, session.id, HOME) == Upgrade()


def test_it_becomes_what_a_new_note_is() -> None:
    new = render_session(NOTE).split("\n")
    assert sorted(upgraded(OLD).split("\n")) == sorted(new)


def test_days_are_the_users_and_a_project_with_a_note_is_a_link() -> None:
    text = upgraded(OLD, NoteHome(zone=ZoneInfo("Europe/Berlin"), project="projects/shop"))
    assert 'date: "2026-11-22"\nstarted_local: "2026-11-22T00:26:47"\n' in text
    assert 'project: "[[projects/shop|shop]]"\n' in text
    assert read_session(Source(text), "s").project == "shop"


def test_comments_quotes_and_what_a_human_set_stay() -> None:
    text = OLD.replace("sources:", "# mine\nsources: # where from").replace("session_id: s", "session_id: 's'  # id")
    text = text.replace("status:", "title: My own\ndate: 1999-01-01\nstatus:")
    new = upgraded(text)
    assert "\ntitle: My own\ndate: 1999-01-01\n" in new
    assert "session_id: 's'  # id\naliases:\n  - My own\n" in new
    assert "\n# mine\n---\n" in new
    assert "<!-- crucible\nsources: # where from\n  - claude-code:a\n" in new
    assert upgraded(new) == new


@pytest.mark.parametrize("newline", ["\r\n", "\n"])
def test_line_ends_stay(newline: str) -> None:
    text = OLD.replace("\n", newline)
    new = upgraded(text)
    assert new.count("\n") == new.count(newline)
    assert read_session(Source(new), "s") == read_session(Source(OLD), "s")


def test_what_could_close_the_comment_is_escaped() -> None:
    text = OLD.replace("  - claude-code:a\n", "  - claude-code:a-->\n")
    new = upgraded(text)
    assert '  - "claude-code:a--\\x3e"\n' in new
    assert read_session(Source(new), "s").sources == ("claude-code:a-->",)


def test_two_values_of_one_key_are_left_to_the_human() -> None:
    source = Source(render_session(NOTE).replace("status:", "sources:\n  - b:c\nstatus:"))
    assert "two values" in upgrade_properties(source, "s", HOME).reason
    same = Source(render_session(NOTE).replace("status:", "sources:\n  - claude-code:a\nstatus:"))
    assert apply_edits(same, upgrade_properties(same, "s", HOME).edits).text == render_session(NOTE)


@pytest.mark.parametrize(
    "text", ["No note.\n", "---\ntype: book\nsources: [a]\n---\n", "---\ntype: session\na: [\n---\n"]
)
def test_other_notes_and_broken_ones_are_not_touched(text: str) -> None:
    assert upgrade_properties(Source(text), "s", HOME) == Upgrade()


def test_a_comment_of_an_upgraded_note_is_found_again() -> None:
    assert read_session(Source(upgraded(OLD)), "s").bookkeeping_lines is not NOWHERE
