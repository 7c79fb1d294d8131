"""Codex's files: grouping into sessions, copies of a parent's history, compressed and damaged files."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients import registry as dialects
from crucible.clients.claude_code import logs as claude_code
from crucible.clients.codex import logs as codex
from crucible.clients.codex.files import head_of, kin_of
from crucible.clients.events import (
    ContextSeen,
    Event,
    Prompted,
    PromptKind,
    Replied,
    Titled,
    Unreadable,
    UsageCounted,
)
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS
from crucible.core import zstd
from crucible.core.errors import TranscriptError
from crucible.documents.session.session import Prose
from tests.unit.clients.building import DATA
from tests.unit.clients.codex_building import (
    CODEX,
    START,
    Row,
    completed,
    event,
    events_of,
    meta,
    only,
    row,
    said,
    tokens,
    uuid7,
    write,
)
from tests.unit.clients.test_codex_golden import run
from tests.unit.commands.imports.places import make_vault, notes_of


def rollout(folder: Path, ident: str, *rows: Row, at: str = "2026-01-02T03-04-05", **head: Any) -> Path:
    path = folder / f"rollout-{at}-{ident}.jsonl"
    return write(path, [meta(ident, **head), said("user", f"Do {ident}"), said("assistant", "Done."), *rows])


def child_of(parent: str, depth: int = 1, role: str | None = None) -> dict[str, Any]:
    spawn = {"parent_thread_id": parent, "depth": depth, "agent_nickname": "Ada", "agent_role": role}
    return {"source": {"subagent": {"thread_spawn": spawn}}, "parent_thread_id": parent}


def pack(path: Path) -> Path:
    packed = path.with_name(path.name + ".zst")
    packed.write_bytes(zstd.compress(path.read_bytes()))
    return packed


def shape(transcript: Transcript) -> tuple[str, list[tuple[str, str, int]]]:
    return transcript.native_id, [(sub.agent, sub.kind, sub.depth) for sub in transcript.subagents]


# --- finding ---------------------------------------------------------------------------------------------------------


def test_the_clients_folder_is_its_own_or_the_one_it_was_given() -> None:
    assert DIALECTS["codex"].default_folder({}, Path("/home/me")) == Path("/home/me/.codex")
    assert DIALECTS["codex"].default_folder({"CODEX_HOME": "/data/codex"}, Path("/home/me")) == Path("/data/codex")


def test_live_archived_and_flat_rollouts_are_found_in_the_clients_folder_and_nothing_else(
    tmp_path: Path,
) -> None:
    rollout(tmp_path / "sessions" / "2026" / "01" / "02", "a")
    rollout(tmp_path / "sessions", "b")
    rollout(tmp_path / "archived_sessions", "c")
    write(tmp_path / "history.jsonl", [{"session_id": "a", "ts": 1, "text": "x"}])
    write(tmp_path / "sessions" / "notes.jsonl", [{"a": 1}])
    assert {t.native_id for t in codex.find(tmp_path)} == {"a", "b", "c"}
    assert {t.native_id for t in codex.find(tmp_path / "sessions")} == {"a", "b"}


def test_subagents_of_every_depth_are_files_of_the_eldest_session(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "01" / "02"
    rollout(folder, "a")
    rollout(folder, "b", at="2026-01-02T03-05-00", **child_of("a", role="explorer"))
    rollout(folder.parent / "03", "c", at="2026-01-03T03-05-00", **child_of("b", 2))
    rollout(folder, "d")
    found = sorted(map(shape, codex.find(tmp_path)))
    assert found == [("a", [("b", "explorer", 1), ("c", "", 2)]), ("d", [])]


def test_a_subagent_whose_parent_is_gone_is_a_session_and_keeps_its_own_subagents(tmp_path: Path) -> None:
    rollout(tmp_path, "b", **child_of("a"))
    rollout(tmp_path, "c", **child_of("b", 2))
    assert [shape(t) for t in codex.find(tmp_path)] == [("b", [("c", "", 2)])]
    (transcript,) = codex.find(tmp_path)
    (asked,) = only(codex.read(transcript), Prompted)
    assert (asked.text, asked.kind) == ("Do b", PromptKind.TASK)


@pytest.mark.parametrize(
    "head",
    [
        {"source": {"subagent": "review"}},
        {"source": {"subagent": {"other": "x"}}},
        {"thread_source": "subagent"},
    ],
)
def test_prompts_of_any_kind_of_subagent_are_tasks(tmp_path: Path, head: Row) -> None:
    (asked,) = only(events_of(tmp_path, meta("b", **head), said("user", "Do b")), Prompted)
    assert asked.kind is PromptKind.TASK


def test_a_subagent_whose_parent_is_gone_has_a_note_with_a_task(tmp_path: Path) -> None:
    rollout(tmp_path / "rollouts", "b", **child_of("a"))
    vault = make_vault(tmp_path / "vault")
    run(vault, tmp_path / "rollouts")
    (note,) = notes_of(vault).values()
    assert note.session.preamble == (Prose("Do b"),)
    assert note.session.title == "Do b"
    assert "[!user]" not in note.source.text


def test_sessions_that_call_each_other_parent_are_not_lost(tmp_path: Path) -> None:
    rollout(tmp_path, "a", **child_of("b"))
    rollout(tmp_path, "b", **child_of("a"))
    rollout(tmp_path, "c", **child_of("c"))
    found = list(codex.find(tmp_path))
    assert {t.native_id for t in found} | {s.agent for t in found for s in t.subagents} == {"a", "b", "c"}


def test_any_file_of_a_family_finds_the_family(tmp_path: Path) -> None:
    folder = tmp_path / "sessions" / "2026" / "01"
    paths = [
        rollout(folder / "02", "a"),
        rollout(folder / "02", "b", **child_of("a")),
        rollout(folder / "03", "c", at="2026-01-03T00-00-00", **child_of("b", 2)),
    ]
    rollout(folder / "02", "other")
    for path in paths:
        (transcript,) = codex.find(path)
        assert (transcript.path, shape(transcript)[1]) == (paths[0], [("b", "", 1), ("c", "", 2)])


def test_a_file_that_is_named_is_a_transcript_whatever_it_is_called(tmp_path: Path) -> None:
    path = rollout(tmp_path, "a").rename(tmp_path / "mine.jsonl")
    assert [(t.native_id, t.path) for t in codex.find(path)] == [("a", path)]
    with pytest.raises(TranscriptError):
        list(codex.find(tmp_path / "nothing.jsonl"))


def test_only_its_own_files_are_known(tmp_path: Path) -> None:
    ours = [*CODEX.rglob("rollout-*.jsonl")]
    others = [*(DATA / "claude-code").rglob("*.jsonl")]
    assert ours
    assert all(codex.sniff(path) and not claude_code.sniff(path) for path in ours)
    assert others
    assert not any(codex.sniff(path) for path in others)
    for odd in (
        b"",
        b"\x00\xff",
        b"[]\n1\n",
        b'{"type":"message"}\n',
        b'{"timestamp":"2026-01-01T00:00:00Z"}\n',
    ):
        (tmp_path / "odd.jsonl").write_bytes(odd)
        assert not codex.sniff(tmp_path / "odd.jsonl")
    assert not codex.sniff(tmp_path)
    assert dialects.sniff(ours[0]) is DIALECTS["codex"]


def test_a_name_given_to_a_session_is_its_title(tmp_path: Path) -> None:
    rollout(tmp_path / "sessions" / "2026" / "01" / "02", "a")
    names = [("a", "First name"), ("b", "Another's"), ("a", "Last name")]
    write(tmp_path / "session_index.jsonl", [{"id": i, "thread_name": n} for i, n in names])
    (transcript,) = codex.find(tmp_path)
    assert [e.title for e in only(codex.read(transcript), Titled)] == ["Last name"]
    vault = make_vault(tmp_path / "vault")
    run(vault, tmp_path / "sessions")
    assert [note.session.title for note in notes_of(vault).values()] == ["Last name"]


# --- compressed and damaged files ------------------------------------------------------------------------------------


def test_a_compressed_rollout_is_read_like_a_plain_one(tmp_path: Path) -> None:
    path = rollout(tmp_path, "a")
    plain = list(codex.read_log(path))
    (both,) = codex.find(tmp_path)
    reach = codex.reach(both)
    pack(path)
    assert [t.path for t in codex.find(tmp_path)] == [path]
    path.unlink()
    (packed,) = codex.find(tmp_path)
    assert packed.path.suffix == ".zst"
    assert codex.sniff(packed.path)
    assert list(codex.read(packed)) == plain
    assert (codex.reach(packed).last, codex.reach(packed).first) == (reach.last, reach.first) == (START, "a")


def test_compressing_a_rollout_makes_no_second_note(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    path = rollout(tmp_path / "sessions", "a")
    assert len(run(vault, tmp_path / "sessions").created) == 1
    pack(path)
    path.unlink()
    report = run(vault, tmp_path / "sessions")
    assert (report.created, report.updated, len(report.unchanged)) == ((), (), 1)


def test_a_damaged_compressed_rollout_is_read_up_to_the_damage_and_reported(tmp_path: Path) -> None:
    rows = [said("user", f"Prompt {n} {'x' * 3000}{n * 7919}") for n in range(400)]
    path = rollout(tmp_path, "a", *rows)
    packed = pack(path)
    path.unlink()
    data = packed.read_bytes()
    for broken in (data[: len(data) // 2], data[:-40] + b"\x00" * 40, b"not zstd at all", b""):
        packed.write_bytes(broken)
        events = list(codex.read_log(packed))
        assert all(isinstance(e.at.line, int) for e in events)
        assert bool(only(events, Unreadable)) == (broken != b"")
        codex.sniff(packed)
        codex.reach(Transcript("codex", "a", packed))


def test_a_truncated_last_row_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = rollout(tmp_path, "a")
    path.write_bytes(path.read_bytes() + b'{"timestamp":"2026-01-02T03:04:09Z","type":"event_msg","pay')
    events = list(codex.read_log(path))
    assert len(only(events, Replied)) == 1
    assert [e.reason for e in only(events, Unreadable)] == ["incomplete at the end of the file"]


# --- copies of a parent's history ------------------------------------------------------------------------------------


def turn(ident: str, prompt: str, total: int, at: float) -> list[Row]:
    return [
        event("task_started", at, turn_id=ident),
        row("turn_context", {"turn_id": ident, "cwd": "/home/dev/project", "model": "m"}, at),
        said("user", prompt, at),
        event("user_message", at, message=prompt),
        said("assistant", f"Done: {prompt}", at),
        tokens((600 * total, 500 * total, 42 * total), (600, 500, 42), at),
        completed(at=at, turn_id=ident),
    ]


def own_words(events: list[Event]) -> tuple[list[str], int]:
    return [e.text for e in only(events, Prompted)], len(only(events, UsageCounted))


@pytest.mark.parametrize("parent_is_there", [True, False])
def test_a_fork_has_only_its_own_turns(tmp_path: Path, parent_is_there: bool) -> None:
    parent, fork = uuid7(0), uuid7(100)
    turns = [uuid7(1, 7), uuid7(20, 7)]
    if parent_is_there:
        first = [*turn(turns[0], "one", 1, 1), *turn(turns[1], "two", 2, 20)]
        write(tmp_path / f"rollout-2026-01-02T03-04-05-{parent}.jsonl", [meta(parent), *first])
    copied = [*turn(turns[0], "one", 1, 100.01), *turn(turns[1], "two", 2, 100.02)]
    mine = turn(uuid7(100.05, 7), "three", 3, 100.05)
    path = write(
        tmp_path / f"rollout-2026-01-02T03-05-45-{fork}.jsonl",
        [meta(fork, 100, forked_from_id=parent), meta(parent, 100), *copied, *mine],
    )
    events = list(codex.read_log(path))
    assert own_words(events) == (["three"], 1)
    assert {e.session for e in only(events, ContextSeen)} == {fork}


def test_only_the_clients_own_folders_are_walked_for_a_forks_parent(tmp_path: Path) -> None:
    fork = tmp_path / "rollout-2026-01-02T03-05-45-fork.jsonl"
    rows = [meta("parent"), *turn("t", "one", 1, 1)]
    write(tmp_path / "rollout-2026-01-02T03-04-05-parent.jsonl", rows)
    assert codex._turns_of(fork, "parent") == {"t"}
    (tmp_path / "elsewhere").mkdir()
    write(tmp_path / "elsewhere" / "rollout-2026-01-02T03-04-05-other.jsonl", rows)
    assert codex._turns_of(fork, "other") == frozenset()
    assert codex._turns_of(fork, "") == frozenset()


@pytest.mark.parametrize("spaced", [0.0, 5.0])
def test_turns_that_only_the_parents_file_can_tell_apart(tmp_path: Path, spaced: float) -> None:
    write(
        tmp_path / "rollout-2026-01-02T03-04-05-p.jsonl",
        [meta("p"), *turn("t1", "one", 1, 1), *turn("t2", "two", 2, 9)],
    )
    copied = [*turn("t1", "one", 1, 100 + spaced), *turn("t2", "two", 2, 100 + 2 * spaced)]
    rows = [
        meta("f", 100, forked_from_id="p"),
        meta("p", 100),
        *copied,
        *turn("t3", "three", 3, 100.01 + 3 * spaced),
    ]
    path = write(tmp_path / "rollout-2026-01-02T03-05-45-f.jsonl", rows)
    assert own_words(list(codex.read_log(path))) == (["three"], 1)


def test_a_copy_without_ids_ends_where_the_client_waited_for_its_human(tmp_path: Path) -> None:
    copied = [
        said("user", "one", 100),
        said("assistant", "Done", 100),
        tokens((600, 500, 42), (600, 500, 42), 100),
    ]
    mine = [
        said("user", "two", 130),
        said("assistant", "Yes", 131),
        tokens((1200, 1000, 84), (600, 500, 42), 131),
    ]
    for head in ([meta("f", 100, forked_from_id="p"), meta("p", 100)], [meta("f", 100), meta("p", 100)]):
        assert own_words(events_of(tmp_path, *head, *copied, *mine)) == (["two"], 1)


def test_a_subagent_says_where_its_own_rows_begin(tmp_path: Path) -> None:
    head = meta("s", subagent_history_start_ordinal=4, **child_of("p"))
    rows = [
        head,
        meta("p"),
        said("user", "parents", 0),
        said("assistant", "copied", 0),
        said("user", "mine", 0),
    ]
    numbered = [{**each, "ordinal": n} for n, each in enumerate(rows)]
    assert own_words(events_of(tmp_path, *numbered, agent="s"))[0] == ["mine"]


def test_a_fork_that_copies_nothing_and_a_resumed_session_lose_nothing(tmp_path: Path) -> None:
    assert own_words(events_of(tmp_path, meta("f", forked_from_id="p"), said("user", "mine")))[0] == ["mine"]
    resumed = [meta("a"), said("user", "one"), said("assistant", "1"), meta("a", 60), said("user", "two", 60)]
    assert own_words(events_of(tmp_path, *resumed))[0] == ["one", "two"]


# --- sessions of another client that Codex imported ------------------------------------------------------------------


def imported(total: int) -> list[Row]:
    """As `/import` writes a session of Claude Code's: one turn, two questions."""
    ident = f"external-import-turn-{total}"
    return [
        event("task_started", 1, turn_id=ident),
        *(said(role, f"{role} of another client", 1) for role in ("user", "assistant") * 2),
        event("user_message", 1, message="user of another client"),
        tokens((600 * total, 500 * total, 42 * total), (600, 500, 42), 1),
        completed(at=1, turn_id=ident),
    ]


def test_turns_that_codex_imported_are_skipped_and_later_ones_are_read(tmp_path: Path) -> None:
    assert own_words(events_of(tmp_path, meta(), *imported(1), *imported(2))) == ([], 0)
    events = events_of(tmp_path, meta(), *imported(1), *turn(uuid7(60, 7), "mine", 2, 60))
    assert own_words(events) == (["mine"], 1)
    assert sum(e.fresh + e.cached for e in only(events, UsageCounted)) == 600


def test_a_session_that_codex_only_imported_has_no_note(tmp_path: Path) -> None:
    write(tmp_path / "rollouts" / "rollout-2026-01-02T03-04-05-x.jsonl", [meta("x"), *imported(1)])
    vault = make_vault(tmp_path / "vault")
    run(vault, tmp_path / "rollouts")
    assert not notes_of(vault)


# --- any rows --------------------------------------------------------------------------------------------------------

words = st.sampled_from(
    [
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "token_usage_record",
        "item_completed",
        "user_message",
        "agent_message",
        "token_count",
        "task_started",
        "task_complete",
        "turn_aborted",
        "error",
        "patch_apply_end",
        "mcp_tool_call_end",
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "reasoning",
        "spawn_agent",
        "exec",
        "CommandExecution",
        "FileChange",
        "McpToolCall",
        "CollabAgentToolCall",
        "SubAgentActivity",
        "UserMessage",
        "AgentMessage",
        "Plan",
        "user",
        "assistant",
        "update_plan",
        "inter_agent_communication",
        "exited_review_mode",
        "thread_rolled_back",
        "wait_agent",
    ]
)
keys = st.sampled_from(
    [
        "type",
        "payload",
        "item",
        "id",
        "role",
        "content",
        "text",
        "call_id",
        "name",
        "arguments",
        "output",
        "input",
        "info",
        "usage",
        "total_token_usage",
        "status",
        "last_token_usage",
        "input_tokens",
        "output_tokens",
        "exit_code",
        "command",
        "changes",
        "action",
        "query",
        "plan",
        "step",
        "message",
        "images",
        "source",
        "subagent",
        "thread_spawn",
        "parent_thread_id",
        "forked_from_id",
        "turn_id",
        "timestamp",
        "ordinal",
        "git",
        "branch",
        "cwd",
        "result",
        "Ok",
        "Err",
        "error",
        "invocation",
        "agents_states",
        "receiver_thread_ids",
        "agent_id",
        "agent_path",
        "kind",
        "summary",
        "num_turns",
        "response_id",
        "namespace",
    ]
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | words
    | st.text(max_size=20)
    | st.sampled_from(
        [
            '{"status":{"a":{"completed":1}}}',
            "<turn_aborted>",
            "<subagent_notification>{}</subagent_notification>",
        ]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=12,
)
payloads = st.dictionaries(keys, values, max_size=6)


def _deep(factory: pytest.TempPathFactory) -> Path:
    """A folder whose surroundings, where kin is looked for, hold nothing of other tests."""
    folder = factory.getbasetemp() / "alone" / "a" / "b" / "c" / "d" / "e" / "f"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@st.composite
def any_row(draw: st.DrawFn) -> Row:
    inner = {"type": draw(words), **draw(payloads)}
    if inner["type"] == "item_completed":
        inner["item"] = {"type": draw(words), **draw(payloads)}
    found: Row = {"type": draw(words), "payload": inner, "timestamp": draw(values)}
    return {**found, **draw(st.dictionaries(keys, values, max_size=2))}


@given(st.lists(any_row() | st.dictionaries(keys, values, max_size=6), max_size=3), st.binary(max_size=30))
def test_no_rows_make_reading_fail(tmp_path_factory: pytest.TempPathFactory, rows: list[Row], tail: bytes) -> None:
    path = _deep(tmp_path_factory) / "rollout-2026-01-02T03-04-05-any.jsonl"
    path.write_bytes("".join(json.dumps(each) + "\n" for each in rows).encode("utf-8", "replace") + tail)
    for agent in ("", "any"):
        events = list(codex.read_log(path, agent))
        assert all(event.at.line >= 1 and event.at.agent == agent for event in events)
        assert repr(events)
    assert [t.path for t in codex.find(path)]
    codex.sniff(path)


REAL_ROWS = [line for path in sorted(CODEX.rglob("rollout-*.jsonl")) for line in path.read_bytes().splitlines()]


def damage(value: object, data: st.DataObject, depth: int = 0) -> object:
    """Return a value with something else at one nested place."""
    if isinstance(value, dict) and value and depth < 6:
        key = data.draw(st.sampled_from(sorted(value)))
        return {**value, key: damage(value[key], data, depth + 1)}
    if isinstance(value, list) and value and depth < 6:
        return [damage(value[0], data, depth + 1), *value[1:]]
    return data.draw(values)


@given(st.lists(st.sampled_from(REAL_ROWS), min_size=1, max_size=4), st.data())
def test_no_damage_to_real_rows_makes_reading_fail(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], data: st.DataObject
) -> None:
    rows = [damage(json.loads(line), data) for line in lines]
    path = _deep(tmp_path_factory) / "rollout-2026-01-02T03-04-05-damaged.jsonl"
    path.write_bytes("".join(json.dumps(each) + "\n" for each in rows).encode("utf-8", "replace"))
    assert all(event.at.line >= 1 for event in codex.read_log(path))
    assert [t.path for t in codex.find(path)]


@given(st.data())
def test_a_head_of_a_file_gives_the_head_of_its_events(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A growing file yields the same events again, except those emitted at the end of the file."""
    path = data.draw(st.sampled_from(sorted(CODEX.rglob("rollout-*.jsonl"))))
    lines = path.read_bytes().splitlines(keepends=True)
    cut = data.draw(st.integers(1, len(lines)))
    part = _deep(tmp_path_factory) / f"part-{path.name}"
    part.write_bytes(b"".join(lines[:cut]))
    head, whole = list(codex.read_log(part)), list(codex.read_log(path))
    assert head == whole[: len(head)]


def test_every_event_of_a_numbered_file_has_its_rows_number() -> None:
    for path in CODEX.rglob("rollout-*.jsonl"):
        ordinals = {n: str(orjson.loads(line)["ordinal"]) for n, line in enumerate(path.read_bytes().splitlines(), 1)}
        assert all(event.at.row == ordinals[event.at.line] for event in codex.read_log(path))


def test_times_are_utc() -> None:
    (transcript,) = codex.find(CODEX / "retry")
    times = [event.at.time for event in codex.read(transcript)]
    assert all(time and time.utcoffset() == timedelta(0) for time in times)
    assert codex.reach(transcript).last == datetime(2026, 11, 21, 21, 16, 37, 792000, tzinfo=UTC)


def test_only_the_clients_own_folders_are_walked_for_kin(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2026-01-02T03-04-05-alone.jsonl"
    path.write_bytes(REAL_ROWS[0] + b"\n")
    below = tmp_path / "elsewhere" / "rollout-2026-01-02T03-04-06-other.jsonl"
    below.parent.mkdir()
    (below.parent / "sessions").mkdir()
    below.write_bytes(b"")
    looked_at = {head.path for head in kin_of(head_of(path))}
    assert looked_at == {path}
