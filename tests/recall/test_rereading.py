"""The words of hits, read where they stand."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given

from crucible.flight.entries import append_entry
from crucible.recall import rereading
from crucible.recall.cards import load_card
from crucible.recall.deriving import derive_note
from crucible.recall.model import Question
from crucible.session.markup import render_session
from crucible.session.model import Phase, Session, ToolCall, ToolCalls
from crucible.vault.init import init_vault
from tests.recall.vaults import NOW, ask, found, recall, session_of, vault_of
from tests.session.strategies import sessions


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reread") / "v"
    init_vault(path)
    return path


@given(sessions())
def test_every_event_is_read_back_as_it_was_indexed(root: Path, session: Session) -> None:
    path = root / "sessions" / "s.md"
    path.write_bytes(render_session(session).encode("utf-8", "surrogateescape"))
    derived = derive_note(str(root), "sessions/s.md")
    assert derived
    card = load_card(derived.card)
    texts = rereading.texts_of_card(str(root), card, range(len(card.kinds)))
    assert all(texts.values())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert rereading.texts_of_card(str(root), card, range(len(card.kinds))) == texts


def test_plain_notes_are_read_the_short_way(tmp_path: Path) -> None:
    calls = ToolCalls((ToolCall("Bash ls", "12 files"), ToolCall("Read a.py", "3 lines")))
    session = session_of("s", "A question?", "An answer\n\nin two paragraphs with <b>marks</b> and `code`.")
    session = replace(session, phases=(*session.phases, Phase("b", entries=(calls,))))
    root = vault_of(tmp_path / "v", session)
    with mock.patch.object(rereading, "_whole", side_effect=AssertionError):
        first = recall(root).ask(Question("question"), NOW).hits[0].event
        assert len(recall(root).around(first.id, 0, 9)) == 5


def test_what_a_note_cuts_is_found_whole_in_the_flight_recorder_and_gone_with_it(tmp_path: Path) -> None:
    call = ToolCall("Bash make", "done")
    session = replace(session_of("s"), phases=(Phase("a", entries=(ToolCalls((call,)),)),))
    root = vault_of(tmp_path / "v", session)
    ids = [hit.event.id for hit in ask(root, "make").hits]
    values = {"tool": "Bash", "command": "make", "result": "done\nwarning: quokka in line 3", "outcome": "ok"}
    append_entry(root, "s", "tool", values, now=NOW - timedelta(days=1))
    answer = ask(root, "quokka")
    assert found(answer) == ["Bash\nmake\ndone\nwarning: quokka in line 3"]
    assert [hit.event.id for hit in answer.hits] == ids
    assert answer.hits[0].event.at == NOW - timedelta(days=1)
    for path in (root / ".crucible" / "flight" / "s").iterdir():
        path.unlink()
    assert not ask(root, "quokka").hits
    assert found(ask(root, "make")) == ["Bash make\ndone"]
