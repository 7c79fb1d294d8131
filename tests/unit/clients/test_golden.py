"""Golden events of real transcripts.  `CRUCIBLE_GOLDEN=1` updates them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.clients.claude_code import logs as claude_code
from crucible.clients.events import UsageCounted
from tests.golden import check_file, events_text
from tests.unit.clients.building import DATA, only

NAMES = ("limiter", "retry")


def golden(name: str) -> str:
    (transcript,) = claude_code.find(DATA / "claude-code" / name)
    files = {"": transcript.path, **{sub.agent: sub.path for sub in transcript.subagents}}
    return events_text({agent: claude_code.read_log(path, agent) for agent, path in files.items()})


@pytest.mark.parametrize("name", NAMES)
def test_real_transcripts_give_the_events_that_are_written_down(name: str) -> None:
    check_file(DATA / "golden" / f"{name}.json", golden(name))


@pytest.mark.parametrize(("name", "said"), [("limiter", 12 * 42), ("retry", 7 * 42)])
def test_every_message_of_a_real_trunk_is_counted_once(name: str, said: int) -> None:
    (transcript,) = claude_code.find(DATA / "claude-code" / name)
    counted = only(claude_code.read_log(transcript.path), UsageCounted)
    assert len({event.message for event in counted}) == len(counted)
    assert sum(event.said for event in counted) == said


def test_no_row_of_a_real_transcript_is_unknown_or_unreadable() -> None:
    for path in sorted(Path(DATA / "golden").glob("*.json")):
        events = [event for told in json.loads(path.read_text(encoding="utf-8")).values() for event in told]
        assert not [event for event in events if event["event"] in {"Unknown", "Unreadable"}]
