"""Grouping files into sessions, and detecting which client wrote a file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crucible.clients import registry as dialects
from crucible.clients.claude_code import logs as claude_code
from crucible.clients.events import Prompted, ToolUsed
from crucible.clients.log_files import SubagentFile, Transcript
from crucible.clients.redact import keep_all
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.transcript_search import other_writer
from crucible.core.errors import TranscriptError
from tests.cases import for_each
from tests.unit.clients.building import DATA, SESSION, Row, dump, only, user

LIMITER = DATA / "claude-code" / "limiter"
TRUNK = next(LIMITER.rglob("dc14*.jsonl"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / ".claude" / "projects" / "-home-dev-project"
    folder.mkdir(parents=True)
    return folder


def write(path: Path, *rows: Row) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(rows))
    return path


def found(path: Path) -> list[Transcript]:
    return list(claude_code.find(path))


@pytest.fixture(scope="module")
def bottomless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """More folders in one another than Python goes down into."""
    folders = [tmp_path_factory.mktemp("bottomless")]
    while len(folders) < 1200:
        folders.append(folders[-1] / "d")
        folders[-1].mkdir()
    yield folders[0]
    for folder in reversed(folders):  # what removes a tree goes down into it, too
        folder.rmdir()


@pytest.mark.parametrize("dialect", dialects.DIALECTS.values(), ids=list(dialects.DIALECTS))
def test_folders_without_end_are_not_gone_down_into(dialect: dialects.Dialect, bottomless: Path) -> None:
    assert list(dialect.find(bottomless)) == []


def test_files_below_the_maximum_depth_are_not_found(bottomless: Path) -> None:
    assert other_writer(dialects.DIALECTS["codex"], bottomless) is None


@pytest.mark.parametrize("path", [TRUNK, TRUNK.with_suffix(""), TRUNK.parent, LIMITER / "projects", LIMITER])
def test_a_session_is_found_from_its_file_its_folder_its_project_and_the_whole_folder(path: Path) -> None:
    (transcript,) = found(path)
    assert (transcript.client, transcript.native_id, transcript.path) == ("claude-code", TRUNK.stem, TRUNK)
    assert [(s.agent, s.kind, s.call, s.depth) for s in transcript.subagents] == [
        ("a6cfaffccd1e5f9af", "general-purpose", "toolu_000009", 1),
        ("a71be38916f9b6a9c", "general-purpose", "toolu_000014", 1),
    ]


def test_every_session_below_a_folder_is_found() -> None:
    assert [t.native_id[:4] for t in found(DATA / "claude-code")] == ["dc14", "706c"]


def test_the_clients_folder_counts_only_its_projects(tmp_path: Path, project: Path) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    write(tmp_path / ".claude" / "todos" / f"{SESSION}.jsonl", user("y"))
    write(tmp_path / ".claude" / "history.jsonl", {"display": "x"})
    assert [t.path.parent for t in found(tmp_path / ".claude")] == [project]
    assert [t.path.parent for t in found(tmp_path)] == [project]


def test_siblings_of_old_versions_belong_to_the_session_that_they_name(project: Path) -> None:
    trunk = write(project / f"{SESSION}.jsonl", user("x"))
    other = write(project / "99999999-2222-3333-4444-555555555555.jsonl", user("y"))
    mine = write(project / "agent-1a2b.jsonl", user("task", isSidechain=True, agentId="1a2b"))
    theirs = write(project / "agent-3c4d.jsonl", {"type": "summary"}, user("task", sessionId=other.stem))
    (project / "agent-junk.jsonl").write_bytes(b"\xff\x00\n")
    by_id = {t.native_id: t for t in found(project)}
    assert by_id[SESSION].subagents == (SubagentFile("1a2b", mine),)
    assert [s.path for s in by_id[other.stem].subagents] == [theirs]
    assert found(trunk) == [by_id[SESSION]]


def test_subagents_of_workflow_runs_are_found_and_side_runs_are_not(project: Path) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    folder = project / SESSION / "subagents"
    write(folder / "workflows" / "run-1" / "agent-a1.jsonl", user("task"))
    write(folder / "workflows" / "run-1" / "journal.jsonl", user("no"))
    write(folder / "agent-a2.jsonl", user("task"))
    for side in ("acompact-33eb", "aside_question-12", "aprompt_suggestion-23e3"):
        write(folder / f"agent-{side}.jsonl", user("no"))
    (transcript,) = found(project)
    assert [(s.agent, s.run) for s in transcript.subagents] == [("a1", "run-1"), ("a2", "")]


def test_a_file_of_both_layouts_is_listed_once(project: Path) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    new = write(project / SESSION / "subagents" / "agent-a1.jsonl", user("task"))
    write(project / "agent-a1.jsonl", user("task"))
    assert [s.path for s in found(project)[0].subagents] == [new]


@pytest.mark.parametrize("meta", ["{", "[]", '{"agentType": 7, "spawnDepth": "x"}', None])
def test_a_broken_or_missing_notice_leaves_its_fields_empty(project: Path, meta: str | None) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    path = write(project / SESSION / "subagents" / "agent-a1.jsonl", user("task"))
    if meta is not None:
        path.with_suffix(".meta.json").write_text(meta, encoding="utf-8")
    assert found(project)[0].subagents == (SubagentFile("a1", path),)


def test_in_a_folder_only_sessions_count_but_a_named_file_always_does(project: Path) -> None:
    broken = project / f"{SESSION}.jsonl"
    broken.write_bytes(b"\x00\xff")
    write(project / "renamed.jsonl", user("x"))
    junk = project / "junk.jsonl"
    junk.write_bytes(b"\xff\n{}\n")
    (project / "note.md").write_text("x", encoding="utf-8")
    (project / "folder.jsonl").mkdir()
    assert [t.path.name for t in found(project)] == [broken.name, "renamed.jsonl"]
    assert [t.path for t in found(junk)] == [junk]


def test_a_path_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError, match="absent"):
        found(tmp_path / "absent")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_listed_says_so_when_it_is_read(project: Path) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    project.chmod(0)
    try:
        (transcript,) = found(project.parent)
        with pytest.raises(TranscriptError, match="-home-dev-project"):
            list(claude_code.read_log(transcript.path))
    finally:
        project.chmod(0o755)


def test_a_folder_that_vanishes_while_it_is_walked_says_so_when_it_is_read(project: Path) -> None:
    other = project.with_name("-home-dev-zoo")
    other.mkdir()
    write(project / f"{SESSION}.jsonl", user("x"))
    walk = claude_code.find(project.parent)
    assert next(walk).path.parent == project
    shutil.rmtree(other)
    assert [t.native_id for t in walk] in ([], [other.name])


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path, project: Path) -> None:
    write(project / f"{SESSION}.jsonl", user("x"))
    (project / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(found(project)) == 1


def test_the_clients_folder_follows_its_own_variable(tmp_path: Path) -> None:
    assert DIALECTS["claude-code"].default_folder({}, tmp_path) == tmp_path / ".claude" / "projects"
    assert DIALECTS["claude-code"].default_folder({"CLAUDE_CONFIG_DIR": "/x"}, tmp_path) == Path("/x/projects")


# --- choosing a dialect ---


def test_real_transcripts_are_known_by_a_look() -> None:
    for path in DATA.rglob("*.jsonl"):
        dialect = dialects.sniff(path)
        assert dialect is not None
        assert path.relative_to(DATA).parts[0] == dialect.name


@pytest.mark.parametrize(
    "row",
    [
        {"type": "session_meta", "payload": {}, "timestamp": "x"},
        {"type": "user", "text": "of another client"},
        {"type": ["user"], "sessionId": "x"},
        {"sessionId": "x"},
    ],
)
def test_rows_of_others_are_not_ours(tmp_path: Path, row: Row) -> None:
    assert dialects.sniff(write(tmp_path / "x.jsonl", row)) is None


def test_an_unreadable_file_belongs_to_no_client(tmp_path: Path) -> None:
    assert dialects.sniff(tmp_path) is None
    assert dialects.sniff(tmp_path / "absent") is None
    assert dialects.sniff(write(tmp_path / "empty.jsonl")) is None


def test_every_dialect_reads_the_transcripts_it_finds() -> None:
    dialect = dialects.DIALECTS["claude-code"]
    (transcript,) = dialect.find(LIMITER)
    (subagent, _) = transcript.subagents
    assert len(only(dialect.read(transcript), Prompted)) == 2
    assert {event.at.agent for event in dialect.read(transcript, subagent.agent)} == {subagent.agent}


def test_keeping_all_changes_nothing() -> None:
    for event in only(claude_code.read_log(TRUNK), ToolUsed):
        assert keep_all(event) == (event, {})


def test_the_notices_of_real_subagents_name_a_call_of_the_trunk() -> None:
    (transcript,) = found(LIMITER)
    calls = {event.call for event in only(claude_code.read_log(transcript.path), ToolUsed)}
    for subagent in transcript.subagents:
        meta = json.loads(subagent.path.with_suffix(".meta.json").read_text(encoding="utf-8"))
        assert subagent.call == meta["toolUseId"]
        assert subagent.call in calls


@for_each("client", ["claude-code", "codex", "gemini", "cline"])
def test_the_log_of_a_subagent_counts_as_its_session(client: str) -> None:
    dialect = dialects.DIALECTS[client]
    for session in (one for folder in (DATA / client).glob("*/") for one in dialect.find(folder)):
        for file in session.subagents:
            (found,) = dialect.find(file.path)
            assert found.native_id == session.native_id
            assert found.path == session.path or client == "gemini"  # one of the two files of a resumed session
