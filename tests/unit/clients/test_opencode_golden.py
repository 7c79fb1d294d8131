"""Golden events and notes of real databases of OpenCode.  `CRUCIBLE_GOLDEN=1` updates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.clients.events import ContextSeen, Prompted, PromptKind, Unknown, Unreadable, UsageCounted
from crucible.documents.session.session import Outcome, Subagent
from crucible.vault.notes.vault import Vault
from tests.golden import check_file, check_notes, events_text
from tests.unit.clients.building import DATA, only
from tests.unit.clients.opencode_building import NAMES, REAL, run_import, told
from tests.unit.commands.imports.places import bytes_of, make_vault, notes_of

GOLDEN = DATA.parent / "golden" / "import-opencode"


@pytest.mark.parametrize("name", [*NAMES, "asked"])
def test_real_databases_give_the_events_that_are_written_down(name: str) -> None:
    check_file(DATA / "golden" / f"opencode-{name}.json", events_text(told(REAL / name)))


def test_real_databases_give_the_notes_that_are_written_down(tmp_path: Path) -> None:
    texts = {}
    for name in NAMES:
        vault = make_vault(tmp_path / name)
        assert not run_import(vault, REAL / name).unreadable
        for path in vault.session_paths():
            texts[f"{name}/{path.name}"] = path.read_text(encoding="utf-8")
    check_notes(GOLDEN, texts)


@pytest.mark.parametrize("name", [*NAMES, "asked"])
def test_no_row_of_a_real_database_is_unknown_or_unreadable(name: str) -> None:
    assert not [event for events in told(REAL / name).values() for event in only(events, Unknown, Unreadable)]


@pytest.mark.parametrize(
    ("name", "responses"), [("retry", [7, 2]), ("limiter", [12, 2, 3]), ("many", [9, 2, 2]), ("stopped", [2])]
)
def test_every_response_of_the_model_is_counted_once(name: str, responses: list[int]) -> None:
    counted = [only(events, UsageCounted) for events in told(REAL / name).values()]
    assert [len(each) for each in counted] == responses
    for each in counted:
        assert {(event.fresh, event.cached, event.said) for event in each} == {(600, 0, 42)}
        assert len({event.message for event in each}) == len(each)


def test_lines_ascend_and_row_ids_are_distinct() -> None:
    for name in NAMES:
        for events in told(REAL / name).values():
            lines = [event.at.line for event in events]
            assert lines == sorted(lines)
            of_line = {event.at.line: event.at.row for event in events}
            assert len(set(of_line.values())) == len(of_line)


def test_what_was_typed_comes_without_the_quotes_of_the_command_line() -> None:
    for name, words in (
        ("retry", ["Fix the retry bug in app.py", "No, jitter must never be zero. Add a floor."]),
        ("stopped", ['Say "two words" please', "And this while you work"]),
    ):
        trunk = next(iter(told(REAL / name).values()))
        assert [event.text for event in only(trunk, Prompted)] == words


def test_a_prompt_while_the_agent_works_is_steering_and_one_after_a_crash_is_not() -> None:
    kinds = {name: [e.kind for e in only(next(iter(told(REAL / name).values())), Prompted)] for name in NAMES}
    assert kinds["stopped"] == [PromptKind.TYPED, PromptKind.STEERING]
    assert kinds["resumed"] == [PromptKind.TYPED, PromptKind.TYPED]


def test_events_of_subagents_have_their_own_id() -> None:
    found = told(REAL / "many")
    trunk, *children = found
    assert {event.at.agent for event in found[trunk]} == {""}
    for child in children:
        assert {event.at.agent for event in found[child]} == {child}
        assert [event.kind for event in only(found[child], Prompted)] == [PromptKind.TASK]
    assert only(found[trunk], ContextSeen)[0].version == "1.18.33"


@pytest.fixture
def many(tmp_path: Path) -> Vault:
    vault = make_vault(tmp_path / "vault")
    assert len(run_import(vault, REAL / "many").created) == 3
    return vault


def test_importing_twice_changes_no_byte(many: Vault) -> None:
    before = bytes_of(many)
    report = run_import(many, REAL / "many")
    assert (report.created, report.updated, len(report.unchanged)) == ((), (), 3)
    assert bytes_of(many) == before


def test_calls_and_subagents_end_as_they_did(many: Vault) -> None:
    notes = notes_of(many)
    session = notes["2026-11-22-try-many-things"].session
    ends = [(call.call.split(" ")[0], call.outcome) for call in session.calls() if call.outcome is not Outcome.OK]
    assert ends == [
        ("bash", Outcome.FAILED),
        ("read", Outcome.FAILED),
        ("edit", Outcome.FAILED),
        ("frobnicate", Outcome.FAILED),
        ("read", Outcome.FAILED),
        ("bash", Outcome.FAILED),
    ]
    links = [entry.link for entry in session.all_entries() if isinstance(entry, Subagent)]
    assert links == [ref.session for ref in session.subagents]
    assert {notes[str(link)].session.parent for link in links} == {"2026-11-22-try-many-things"}
    assert session.problems == ()


def test_a_call_left_open_by_a_killed_client_is_closed_when_the_session_continues(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run_import(vault, REAL / "killed")
    (note,) = notes_of(vault).values()
    assert [call.outcome for call in note.session.calls()] == [Outcome.OK, Outcome.PENDING, Outcome.OK]
    assert run_import(vault, REAL / "resumed").updated
    (note,) = notes_of(vault).values()
    assert [call.outcome for call in note.session.calls()] == [Outcome.OK, Outcome.INTERRUPTED, Outcome.OK]
    assert [phase.name for phase in note.session.phases] == ["Do slow things", "Go on please"]
