"""The session that `flight_recorder_log` writes to, and the entry in its note."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crucible.commands import record
from crucible.documents.session.session import Status
from crucible.integrations.mcp.server_context import ServerContext
from crucible.integrations.mcp.tool_schemas import TYPES
from crucible.vault.events.spool import append, spool_folder
from crucible.vault.notes.vault import Vault
from tests.unit.integrations.mcp.talking import Answer, call, place_of, talk

NATIVE = "7657ea93-0db1-4236-8e7d-6986d23bcd51"
DECIDED = {"type": "decision", "content": "Token bucket", "rationale": "constant memory"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def log(place: ServerContext, **given: object) -> Answer:
    return call(place, "flight_recorder_log", **(DECIDED | given))


def test_the_session_that_the_environment_names_has_the_entry(vault: Vault) -> None:
    with record.session("Work", vault=vault) as recorder:
        recorder.phase("Build")
        answer = log(place_of(vault, CRU_SESSION=recorder.id))
        assert answer.text == f"Logged decision in session {recorder.id}, phase-1."
    assert "> [!decision]\n> Token bucket\n> Rationale: constant memory\n" in recorder.path.read_text()
    assert len(vault.session_paths()) == 1


def test_a_session_that_is_named_comes_first(vault: Vault) -> None:
    one, other = record.session("One", vault=vault), record.session("Other", vault=vault)
    log(place_of(vault, CRU_SESSION=one.id), session=other.id)
    assert "Token bucket" in other.path.read_text()
    assert "Token bucket" not in one.path.read_text()


def test_an_ended_session_rejects_entries_with_a_hint(vault: Vault) -> None:
    with record.session("Work", vault=vault) as recorder:
        pass
    answer = log(place_of(vault, CRU_SESSION=recorder.id))
    assert answer.failed
    assert f"--continues {recorder.id}" in answer.text


def test_a_missing_session_of_the_environment_is_reported(vault: Vault) -> None:
    answer = log(place_of(vault, CRU_SESSION="nobody"))
    assert answer.failed
    assert "no session 'nobody'" in answer.text
    assert "CRU_SESSION" in answer.text
    assert not vault.session_paths()


def test_the_only_active_session_of_the_project_and_client_is_meant(vault: Vault, project: Path) -> None:
    mine = record.session("Mine", vault=vault, agent="mcp@1", project="shop")
    record.session("Another agent's", vault=vault, agent="codex@1", project="shop")
    record.session("Another project's", vault=vault, agent="mcp@1", project="bank")
    assert mine.id in log(place_of(vault, project)).text
    second = record.session("Mine too", vault=vault, agent="mcp@1", project="shop")
    answer = log(place_of(vault, project))
    assert answer.failed
    assert mine.id in answer.text
    assert second.id in answer.text
    assert "session=" in answer.text


def test_where_there_is_none_one_is_begun_for_the_server_and_paused_with_it(vault: Vault, project: Path) -> None:
    place = place_of(vault, project)
    answers = talk(
        place,
        [
            ("flight_recorder_log", DECIDED),
            ("flight_recorder_log", {"type": "milestone", "content": "It works"}),
        ],
    )
    assert not any(answer.failed for answer in answers)
    (path,) = vault.session_paths()
    session = vault.read(path).session
    assert (session.project, session.status, session.pause_reason) == (
        "shop",
        Status.PAUSED,
        "the client was closed",
    )
    assert [each.name for each in session.participants] == ["mcp"]
    assert "Token bucket" in path.read_text()
    assert "It works" in path.read_text()
    # Another process is another agent: it does not go on in that one.
    log(place)
    assert len(vault.session_paths()) == 2


def transcript(project: Path, rows: int) -> Path:
    """A transcript of Claude Code in the middle of its first turn, in the fewest words that are read."""
    said = [
        {"type": "user", "message": {"role": "user", "content": "Add a limiter"}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "I look first."}]},
        },
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "text", "text": "And now I build."}]},
        },
    ]
    path = project / f"{NATIVE}.jsonl"
    head = {"sessionId": NATIVE, "cwd": str(project), "version": "2.1.197", "isSidechain": False}
    lines = [
        json.dumps(
            head
            | row
            | {
                "uuid": f"0000000{at}-0000-4000-8000-000000000000",
                "timestamp": f"2026-11-21T20:00:0{at}.000Z",
            }
        )
        for at, row in enumerate(said[:rows])
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_session_with_hooks_is_imported_first(vault: Vault, project: Path) -> None:
    path = transcript(project, 2)
    line = {"event": "SessionStart", "transcript": str(path), "time": 1, "pid": os.getpid()}
    append(spool_folder(str(vault.root), "claude-code"), NATIVE, json.dumps(line).encode())
    place = place_of(vault, project, CLAUDE_CODE_SESSION_ID=NATIVE)
    answer = log(place)
    assert not answer.failed, answer.text
    (note,) = vault.session_paths()
    assert vault.read(note).session.sources == (f"claude-code:{NATIVE}",)
    text = note.read_text()
    assert text.index("Add a limiter") < text.index("I look first.") < text.index("Token bucket")
    transcript(project, 3)
    log(place, content="Second")
    text = note.read_text()
    assert text.index("Token bucket") < text.index("And now I build.") < text.index("Second")
    assert text.count("Token bucket") == 1
    assert len(vault.session_paths()) == 1


def test_a_transcript_without_hooks_is_ignored(vault: Vault, project: Path) -> None:
    transcript(project, 2)
    other = record.session("Somebody else's", vault=vault, agent="mcp@1", project="shop")
    log(place_of(vault, project, CLAUDE_CODE_SESSION_ID=NATIVE))
    assert "Token bucket" not in other.path.read_text()
    assert not any("Add a limiter" in path.read_text() for path in vault.session_paths())
    assert len(vault.session_paths()) == 2


def test_secrets_never_reach_the_note(vault: Vault) -> None:
    token = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
    recorder = record.session("Work", vault=vault)
    log(place_of(vault, CRU_SESSION=recorder.id), content=f"use {token}", metadata={"header": token})
    assert "use [REDACTED:github-token]" in recorder.path.read_text()
    for path in vault.root.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def test_every_offered_type_can_be_logged(vault: Vault) -> None:
    recorder = record.session("Work", vault=vault)
    recorder.tasks([{"content": "x", "id": "1"}])
    place = place_of(vault, CRU_SESSION=recorder.id)
    more = {"metadata": {"task": "1", "options": ["A"], "from_agent": "coder@1", "to_agent": "tester@2"}}
    answers = talk(place, [("flight_recorder_log", {"type": each, "content": f"told {each}"} | more) for each in TYPES])
    assert not [answer.text for answer in answers if answer.failed]
    text = recorder.path.read_text()
    assert all(f"told {each}" in text for each in TYPES)
    assert "[!agent_switch] coder@1 → tester@2" in text


def test_an_agent_switch_needs_two_agents(vault: Vault) -> None:
    recorder = record.session("Work", vault=vault)
    place = place_of(vault, CRU_SESSION=recorder.id)
    told = {"type": "agent_switch", "content": "Tests now.", "metadata": {"to_agent": "tester@2"}}
    answer = talk(place, [("flight_recorder_log", told)])[0]
    assert answer.failed
    assert "metadata has from_agent and to_agent" in answer.text
