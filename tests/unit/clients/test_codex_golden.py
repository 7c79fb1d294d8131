"""Golden events and notes of real rollouts of Codex.  `CRUCIBLE_GOLDEN=1` updates them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.clients.codex import logs as codex
from crucible.clients.events import Prompted, UsageCounted
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.documents.session.session import Outcome, Status, Subagent
from crucible.vault.notes.vault import Vault
from tests.golden import check_file, check_notes, events_text
from tests.unit.clients.codex_building import CODEX, event, meta, only, response, said, tokens, write
from tests.unit.commands.imports.places import LATER, bytes_of, make_vault, notes_of

NAMES = ("limiter", "retry", "shapes")
EVENTS = (*NAMES, "asked", "steered")
GOLDEN = CODEX / "golden"


def golden(name: str) -> str:
    return events_text(
        {
            f"{transcript.native_id}/{agent}": codex.read(transcript, agent)
            for transcript in codex.find(CODEX / name)
            for agent in ("", *(file.agent for file in transcript.subagents))
        }
    )


def run(vault: Vault, *paths: Path, now: datetime = LATER) -> ImportReport:
    return import_transcripts(vault, DIALECTS["codex"], paths, options=ImportOptions(now))


@pytest.mark.parametrize("name", EVENTS)
def test_real_rollouts_give_the_events_that_are_written_down(name: str) -> None:
    check_file(GOLDEN / f"{name}.json", golden(name))


@pytest.mark.parametrize("name", EVENTS)
def test_no_row_of_a_real_rollout_is_unknown_or_unreadable(name: str) -> None:
    told = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    events = [event for log in told.values() for event in log]
    assert len(events) > 15
    assert not [event for event in events if event["event"] in {"Unknown", "Unreadable"}]


@pytest.mark.parametrize("name", NAMES)
def test_every_response_is_counted_once_and_nothing_of_a_copied_history(name: str) -> None:
    """Each response has the usage that the scripted model plays: 600 in, of which 500 cached, and 42 out."""
    for transcript in codex.find(CODEX / name):
        for agent in ("", *(file.agent for file in transcript.subagents)):
            rows = map(json.loads, transcript.path_of(agent).read_bytes().splitlines())
            records = [r["payload"]["response_id"] for r in rows if r["type"] == "token_usage_record"]
            counted = only(codex.read(transcript, agent), UsageCounted)
            assert [event.message for event in counted] == records
            assert {(e.fresh, e.cached, e.said) for e in counted} <= {(100, 500, 42)}


def test_real_rollouts_give_the_notes_that_are_written_down(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    report = run(vault, *(CODEX / name for name in NAMES))
    assert not report.unreadable
    assert not report.unknown_rows
    texts = {path.name: path.read_text(encoding="utf-8") for path in vault.session_paths()}
    check_notes(GOLDEN / "import", texts)
    assert [note.session.problems for note in notes_of(vault).values()] == [()] * len(texts)
    before = bytes_of(vault)
    again = run(vault, *(CODEX / name for name in NAMES))
    assert (again.created, again.updated) == ((), ())
    assert bytes_of(vault) == before


def test_a_session_its_prompts_its_failures_and_its_subagent(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run(vault, CODEX / "retry")
    trunk = next(n.session for n in notes_of(vault).values() if n.session.parent is None)
    assert [phase.name for phase in trunk.phases] == [
        "Fix the retry bug in app.py",
        "No, jitter must never be zero",
    ]
    assert (trunk.status, trunk.tokens_used, trunk.tokens_cached) == (Status.COMPLETED, 7 * 142, 7 * 500)
    assert [c.call for c in trunk.calls() if c.outcome is Outcome.FAILED] == [
        "exec_command python3 app.py --fail",
        "exec_command sed -i 's/random.random()/(0.5 + random.random() / 2)/' retry.py",
    ]
    (work,) = [entry for entry in trunk.all_entries() if isinstance(entry, Subagent)]
    child = notes_of(vault)[str(work.link)].session
    assert (child.parent, child.tokens_used) == (trunk.id, 284)


def test_a_human_speaks_in_the_trunk_alone() -> None:
    for name in ("limiter", "retry"):
        (transcript,) = codex.find(CODEX / name)
        for agent in ("", *(file.agent for file in transcript.subagents)):
            kinds = {event.kind for event in only(codex.read(transcript, agent), Prompted)}
            assert kinds == ({"task"} if agent else {"typed"})


@pytest.mark.parametrize("name", ["limiter", "retry"])
@pytest.mark.parametrize("rows", [9, 12, 14, 19, 21, 24, 30, 39, 43, 44, 50, 56, 61])
def test_a_part_and_then_the_rest_is_the_whole(tmp_path: Path, name: str, rows: int) -> None:
    (whole,) = codex.find(CODEX / name)
    lines = whole.path.read_bytes().splitlines(keepends=True)
    vault = make_vault(tmp_path / "vault")
    folder = tmp_path / "sessions"
    folder.mkdir()
    trunk = folder / whole.path.name
    for count in (rows, rows + 7, len(lines)):
        trunk.write_bytes(b"".join(lines[:count]))
        for child in whole.subagents:
            if child.agent.encode() in trunk.read_bytes():
                (folder / child.path.name).write_bytes(child.path.read_bytes())
        run(vault, folder)
    other = make_vault(tmp_path / "other")
    run(other, folder)
    got, wanted = notes_of(vault), notes_of(other)
    assert {key: note.session for key, note in got.items()} == {key: note.session for key, note in wanted.items()}
    before = bytes_of(vault)
    assert not run(vault, folder).updated
    assert bytes_of(vault) == before


def test_an_import_while_the_session_runs_leaves_it_active(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run(vault, CODEX / "retry", now=datetime(2026, 11, 21, 21, 17, tzinfo=UTC))
    told = {(note.session.parent is None, note.session.status) for note in notes_of(vault).values()}
    assert told == {(True, Status.ACTIVE), (False, Status.COMPLETED)}  # what a subagent did is done


def classic_rows() -> list[dict[str, object]]:
    """Two turns of the first generation; every visible thing is there twice."""
    arguments = '{"command": ["bash", "-lc", "make test"]}'
    result = '{"output": "1 failed\\n", "metadata": {"exit_code": 2}}'
    first = [
        event("task_started", 1),
        said("user", "Mend the build", 1),
        event("user_message", 1, message="Mend the build"),
        response("function_call", 2, name="shell", arguments=arguments, call_id="c1"),
        tokens((600, 500, 42), (600, 500, 42), 2),
        response("function_call_output", 3, call_id="c1", output=result),
        event("agent_message", 4, message="The build is broken."),
        said("assistant", "The build is broken.", 4),
        tokens((1200, 1000, 84), (600, 500, 42), 4),
        event("task_complete", 4, last_agent_message="The build is broken."),
    ]
    second = [
        event("task_started", 61),
        said("user", "Then mend it", 61),
        event("user_message", 61, message="Then mend it"),
        event("agent_reasoning", 62, text="**Mending**"),
        response("function_call", 62, name="spawn_agent", arguments='{"message": "Mend it"}', call_id="c2"),
        response("function_call_output", 62, call_id="c2", output='{"agent_id": "agent-9"}'),
        tokens((1200, 1000, 84), (600, 500, 42), 62),
        tokens((1800, 1500, 126), (600, 500, 42), 62),
        event("turn_aborted", 63, reason="interrupted"),
    ]
    return [meta(), *first, *second]


@pytest.mark.parametrize("count", range(2, 20))
def test_a_classic_rollout_may_be_read_at_any_moment(tmp_path: Path, count: int) -> None:
    rows = classic_rows()
    path = tmp_path / "sessions" / "rollout-2026-01-02T03-04-05-session-1.jsonl"
    vault, whole = make_vault(tmp_path / "vault"), make_vault(tmp_path / "whole")
    for head in (rows[:count], rows):
        write(path, head)
        run(vault, path)
    run(whole, path)
    (got,), (wanted,) = notes_of(vault).values(), notes_of(whole).values()
    assert got.session == wanted.session
    assert (wanted.session.tokens_used, wanted.session.status) == (3 * 142, Status.PAUSED)
    assert not run(vault, path).updated
