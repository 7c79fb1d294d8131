"""The texts of hits are read from their notes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given

from crucible.core.locks import hold
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.search.embedded import hits as rereading
from crucible.search.embedded.documents import derive_note
from crucible.search.embedded.index_format import load_card
from crucible.search.recall import EventKind, Question
from crucible.vault.events.append_entry import append_entry
from crucible.vault.notes.init_vault import init_vault
from tests.cases import fewer
from tests.unit.documents.session.session_strategies import sessions
from tests.unit.search.vaults import NOW, ask, found, recall, session_of, vault_of


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reread") / "v"
    init_vault(path)
    return path


@fewer(2)
@given(sessions())
def test_the_text_of_every_event_is_read_back(root: Path, session: Session) -> None:
    path = root / "sessions" / "s.md"
    path.write_bytes(render_session(session).encode("utf-8", "surrogateescape"))
    derived = derive_note(str(root), "sessions/s.md")
    assert derived
    card = load_card(derived.card)
    events = rereading.events_of_card(str(root), card, range(len(card.kinds)))
    assert all(event.text for event in events.values())
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert rereading.events_of_card(str(root), card, range(len(card.kinds))) == events


def test_plain_notes_are_not_parsed(tmp_path: Path) -> None:
    calls = ToolCalls((ToolCall("Bash ls", "12 files"), ToolCall("Read a.py", "3 lines")))
    session = session_of("s", "A question?", "An answer\n\nin two paragraphs with <b>marks</b> and `code`.")
    grounds = Grounds("reply", 0.5, ("abcd1234",))
    entries = (Decision("A", "b", "c", "user", grounds), Failure("One\n\nTwo", "f", "e", grounds), Decision("D"))
    session = replace(session, phases=(*session.phases, Phase("b", entries=(calls, *entries))))
    root = vault_of(tmp_path / "v", session)
    with mock.patch.object(rereading, "_parse_events", side_effect=AssertionError):
        first = recall(root).ask(Question("question"), NOW).hits[0].event
        assert len(recall(root).around(first.id, 0, 9)) == 8


def test_findings_and_repeated_texts_are_found_without_parsing_the_note(tmp_path: Path) -> None:
    grounds = Grounds("closing text", 0.9, ("abcd1234",), "phase-1")
    listed = (
        FindingItem("outcome", "The quokka counts (twice)", "passed: `make test`", grounds, ("a point",)),
        FindingItem("correction", 'Not that: "this"', None, grounds),
        FindingItem("instruction", "Always run the census", None),
    )
    calls = ToolCalls((*[ToolCall("Edit a.py", "updated")] * 9, ToolCall("Ask `one` or `two`", "one")))
    entries: tuple[Entry, ...] = (
        calls,
        *[Intervention("yes")] * 5,
        Intervention("Two lines:\n\n- one\n- two"),
        *[Prose("---")] * 5,
    )
    session = replace(session_of("s", "A question?"), findings=listed)
    root = vault_of(tmp_path / "v", replace(session, phases=(*session.phases, Phase("b", entries=entries))))
    with mock.patch.object(rereading, "_parse_events", side_effect=AssertionError):
        first = recall(root).ask(Question("quokka census"), NOW).hits[0].event
        assert len(recall(root).around(first.id, 50, 50)) == 3 + 1 + 10 + 5 + 1 + 5


def test_the_passages_of_a_plan_are_read_without_parsing_the_note(tmp_path: Path) -> None:
    texts = ("# Count\n\n## Every quokka\n\nOnce a day.", "- census: by night\n- [!note] `twice`", "```\na\n\nb\n```")
    plans = (Callout("plan", "The quokka census", "\n\n".join(texts)), Callout("plan", text="One.\n\nTwo."))
    session = session_of("s", "A question?")
    root = vault_of(tmp_path / "v", replace(session, phases=(*session.phases, Phase("b", entries=plans))))
    with mock.patch.object(rereading, "_parse_events", side_effect=AssertionError):
        first = recall(root).ask(Question("quokka"), NOW).hits[0].event
        around = recall(root).around(first.id, 0, 9)
    head, *rest = texts
    assert [event.text for event in around] == [f"The quokka census\n{head}", "\n\n".join(rest), "One.", "Two."]


def test_shortened_calls_are_found_and_shown_with_their_recorded_text(tmp_path: Path) -> None:
    call = ToolCall("Bash make", "done")
    session = replace(session_of("s"), phases=(Phase("a", entries=(ToolCalls((call,)), Prose("All is built."))),))
    root = vault_of(tmp_path / "v", session)
    ids = [hit.event.id for hit in ask(root, "make").hits]
    values = {"tool": "Bash", "command": "make", "result": "done\nwarning: quokka in line 3", "outcome": "ok"}
    append_entry(root, "s", "tool", values, now=NOW - timedelta(days=1))
    answer = ask(root, "quokka")
    assert found(answer) == ["Bash\nmake\ndone\nwarning: quokka in line 3"]
    assert [hit.event.id for hit in answer.hits] == ids
    assert answer.hits[0].event.at == NOW - timedelta(days=1)
    assert [one.text for one in ask(root, "built").hits[0].before] == ["Bash make\ndone"]
    for path in (root / ".crucible" / "flight" / "s").iterdir():
        path.unlink()
    assert not ask(root, "quokka").hits
    assert found(ask(root, "make")) == ["Bash make\ndone"]


def test_changed_events_are_shown_at_their_current_place_or_not_at_all(
    tmp_path: Path,
) -> None:
    root = vault_of(
        tmp_path / "v",
        session_of("a", "Why quokkas?", "The quokka stays.\n\nThis quokka goes."),
        session_of("b", "A quokka elsewhere?"),
    )
    ids = [hit.event.id for hit in ask(root, "quokka").hits]
    note, gone = root / "sessions" / "a.md", root / "sessions" / "b.md"
    with hold(root / ".crucible" / "cache" / "recall" / "lock", 1):  # another process is writing
        text = note.read_text().replace("This quokka goes.", "Gone.").replace("## Work", "New.\n\n## Work")
        note.write_text(text)
        gone.unlink()
        answer = ask(root, "quokka", context=5)
        assert len(recall(root).get(ids)) == 2
        assert sorted(len(recall(root).around(one, 1, 1)) for one in ids) == [0, 0, 2, 2]
    assert {hit.event.text for hit in answer.hits} == {"Why quokkas?", "The quokka stays."}
    lines = text.split("\n")
    for hit in answer.hits:
        for event in (hit.event, *hit.before, *hit.after):
            assert event.text in "\n".join(lines[event.line - 1 : event.line + 1])
            assert event.text
    assert [one.session for one in answer.sessions] == ["a"]
    assert answer.notes


def test_findings_are_read_without_parsing_the_note(tmp_path: Path) -> None:
    items = tuple(
        FindingItem(kind, f"{kind}: round the `tax` once", "commit 1a2b3c4", Grounds("reply", 0.9, ("abcd1234",)))
        for kind in ("correction", "outcome", "open_end", "environment", "instruction", "decision", "failure", "report")
    )
    root = vault_of(tmp_path / "v", replace(session_of("s", "Round it."), findings=items))
    with mock.patch.object(rereading, "_parse_events", side_effect=AssertionError):
        hits = recall(root).ask(Question("tax", limit=20), NOW).hits
    assert len(hits) == len(items)
    assert all(hit.event.text.endswith("round the `tax` once\ncommit 1a2b3c4") for hit in hits)


def test_a_type_finds_every_finding_of_that_kind(tmp_path: Path) -> None:
    findings = tuple(FindingItem("decision", f"Choice {number} stands") for number in range(3))
    entries = (Decision("A choice in a callout"), Prose("We choose."))
    session = replace(session_of("s"), phases=(Phase("a", entries=entries),), findings=findings)
    root = vault_of(tmp_path / "v", session)
    wanted = {"Choice 0 stands", "Choice 1 stands", "Choice 2 stands", "A choice in a callout"}
    for text in ("", "choice"):
        answer = recall(root).ask(Question(text, kinds=frozenset({EventKind.DECISION}), limit=20), NOW)
        assert {hit.event.text for hit in answer.hits} == wanted
