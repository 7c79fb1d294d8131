"""Building a context takes less time than a parser takes for the note."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from markdown_it import MarkdownIt

from benchmarks.measuring import seconds_of
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from samples.known_sessions import context_of
from samples.notes import sample_phases


@pytest.mark.timed
def test_reading_a_note_and_building_its_context_takes_less_time_than_markdown_it_takes_to_parse_it() -> None:
    note = render_session(Session("it", datetime(2026, 11, 21, tzinfo=UTC), phases=sample_phases(150)))
    parser = MarkdownIt("commonmark")
    context_of(read_session(Source(note), "it"))
    ours = min(seconds_of(lambda: context_of(read_session(Source(note), "it")), 1) for _ in range(3))
    theirs = min(seconds_of(lambda: parser.parse(note), 1) for _ in range(3))
    assert ours <= theirs
