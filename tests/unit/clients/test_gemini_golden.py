"""Golden events and notes of real logs of Gemini CLI.  `CRUCIBLE_GOLDEN=1` updates them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.clients.events import Prompted, ToolUsed, UsageCounted
from crucible.clients.gemini import logs as gemini
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from tests.golden import check_file, events_text
from tests.unit.clients.building import DATA, only
from tests.unit.commands.imports.places import make_vault

GEMINI = DATA / "gemini"
NAMES = ("fault", "limiter", "resumed", "rewind")
EVENTS = (*NAMES, "asked", "steered")
LATER = datetime(2026, 11, 23, tzinfo=UTC)


def longest(name: str) -> Transcript:
    """The session of a folder; a resume left a second file of it."""
    return max(gemini.find(GEMINI / name), key=lambda found: found.path.stat().st_size)


def golden(name: str) -> str:
    found = longest(name)
    agents = ("", *(sub.agent for sub in found.subagents))
    return events_text({agent: gemini.read(found, agent) for agent in agents})


@pytest.mark.parametrize("name", EVENTS)
def test_real_logs_give_the_events_that_are_written_down(name: str) -> None:
    check_file(GEMINI / "golden" / f"{name}.json", golden(name))


@pytest.mark.parametrize("name", NAMES)
def test_real_logs_give_the_notes_that_are_written_down(name: str, tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    import_transcripts(vault, DIALECTS["gemini"], [GEMINI / name], options=ImportOptions(LATER))
    notes = sorted(vault.session_paths())
    check_file(GEMINI / "golden" / f"{name}.md", "\n".join(note.read_text(encoding="utf-8") for note in notes))


@pytest.mark.parametrize(("name", "messages"), [("limiter", 8), ("resumed", 5), ("rewind", 7), ("fault", 1)])
def test_every_message_of_a_real_log_is_counted_once(name: str, messages: int) -> None:
    counted = only(gemini.read(longest(name)), UsageCounted)
    assert len(counted) == messages == len({event.message for event in counted})
    assert sum(event.said for event in counted) == 49 * messages


def test_a_resume_within_a_minute_removes_nothing_logged_before() -> None:
    said = [event.text for event in only(gemini.read(longest("resumed")), Prompted)]
    assert said == ["Do a big thing", "And then?", "Once more"]


def test_messages_kept_by_a_compaction_are_not_repeated() -> None:
    events = list(gemini.read(longest("rewind")))
    said = [event.text for event in only(events, Prompted)]
    assert said == ["What does it do", "Delete it but keep a copy", "Sleep a while"]
    calls = [event.call for event in only(events, ToolUsed)]
    assert len(calls) == len(set(calls)) == 3


def test_no_row_of_a_real_log_is_unknown_or_unreadable() -> None:
    for name in EVENTS:
        told = json.loads(golden(name)).values()
        assert not [e for events in told for e in events if e["event"] in {"Unknown", "Unreadable"}]
