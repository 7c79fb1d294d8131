"""What was written is read back the same, for every input; and nothing in it becomes structure."""

from __future__ import annotations

from hypothesis import given

from crucible.note.source import Source
from crucible.session.markup import render_session
from crucible.session.model import Phase, Session
from crucible.session.reading import read_session
from tests.session.strategies import phases, sessions


@given(sessions())
def test_a_session_written_and_read_back_is_the_same_session(session: Session) -> None:
    source = Source(render_session(session))
    read = read_session(source, session.id)
    assert read == session
    assert read.problems == ()


@given(phases())
def test_a_phase_with_hostile_text_in_every_field_is_read_back_alone(phase: Phase) -> None:
    session = Session(id="s", title="T", phases=(phase, Phase("After")))
    read = read_session(Source(render_session(session)), "s")
    assert read.phases == session.phases
