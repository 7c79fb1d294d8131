"""Clients read after the documents of their formats, from files made by hand: Kilo, Cursor, Goose and Zed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.clients.events import Event, Prompted, Replied, ToolReturned, Unknown, Unreadable, UsageCounted
from crucible.clients.log_files import Wanted
from crucible.clients.registry import CLIENTS, DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.core.zstd import compress
from samples.goose_sessions import add_messages, add_session, new_database
from tests.unit.clients.building import DATA, only
from tests.unit.clients.further_clients import Row, leaves
from tests.unit.commands.imports.places import LATER, make_vault

FAILED = "No such file"


def cursor_rows() -> list[Row]:
    asked = "<user_info>OS: linux</user_info>\n<user_query>\nFix the bug\n</user_query>"
    use = {"type": "tool_use", "name": "Shell", "input": {"command": "cat nowhere"}}
    result = {"type": "tool_result", "content": [{"type": "text", "text": FAILED}], "is_error": True}
    return [
        {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "I look."}, use]}},
        {"role": "user", "message": {"content": [result]}},
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "It is fixed."}]}},
        {"type": "turn_ended"},
    ]


def goose_rows() -> list[Row]:
    call = {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "cat nowhere"}}}
    result = {"status": "success", "value": {"content": [{"type": "text", "text": FAILED}], "isError": True}}
    return [
        {"role": "user", "content": [{"type": "text", "text": "Fix the bug"}]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "I look."}, {"type": "toolRequest", "id": "c", "toolCall": call}],
        },
        {"role": "user", "content": [{"type": "toolResponse", "id": "c", "toolResult": result}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is fixed."}]},
    ]


def zed_rows() -> list[Row]:
    use = {
        "id": "c",
        "name": "terminal",
        "input": {"command": "cat nowhere"},
        "raw_input": "",
        "is_input_complete": True,
    }
    result = {"tool_use_id": "c", "tool_name": "terminal", "is_error": True, "content": [{"Text": FAILED}]}
    return [
        {"User": {"id": "u", "content": [{"Text": "Fix the bug"}]}},
        {"Agent": {"content": [{"Text": "I look."}, {"ToolUse": use}], "tool_results": {"c": result}}},
        {"Agent": {"content": [{"Text": "It is fixed."}], "tool_results": {}}},
    ]


def test_a_file_that_is_no_transcript_of_cursors_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "junk.jsonl"
    path.write_text("junk\n" * 150, encoding="utf-8")
    report = import_transcripts(
        make_vault(tmp_path / "vault"), DIALECTS["cursor"], [path], options=ImportOptions(now=LATER)
    )
    assert [(row.line, row.reason.partition(":")[0]) for row in report.unreadable] == [(1, "not a cursor transcript")]


def write_cursor(folder: Path, rows: list[Any]) -> Path:
    path = folder / "projects" / "home-dev-project" / "agent-transcripts" / "one" / "one.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_goose(folder: Path, rows: list[Any]) -> Path:
    path = folder / "sessions" / "sessions.db"
    began = datetime(2026, 11, 28, 10, tzinfo=UTC)
    with closing(new_database(path)) as database:
        add_session(database, "one", began)
        add_messages(database, "one", (row for row in rows if isinstance(row, dict)), began)
        database.commit()
    return path


def write_zed(folder: Path, rows: list[Any]) -> Path:
    path = folder / "threads" / "threads.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    usage = {
        "u": {"input_tokens": 700, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 9}
    }
    thread = {"version": "0.3.0", "title": "A bug", "messages": rows, "request_token_usage": usage}
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE threads (id TEXT PRIMARY KEY, parent_id TEXT, folder_paths TEXT, summary TEXT NOT NULL,"
            " updated_at TEXT NOT NULL, data_type TEXT NOT NULL, data BLOB NOT NULL)"
        )
        data = compress(json.dumps(thread).encode())
        told = ("one", "/home/dev/project", "A bug", "2026-11-28T10:01:00Z", "zstd", data)
        sql = "INSERT INTO threads (id, folder_paths, summary, updated_at, data_type, data) VALUES (?, ?, ?, ?, ?, ?)"
        database.execute(sql, told)
        database.commit()
    return path


Write = Callable[[Path, list[Any]], Path]
MADE: dict[str, tuple[Callable[[], list[Row]], Write]] = {
    "cursor": (cursor_rows, write_cursor),
    "goose": (goose_rows, write_goose),
    "zed": (zed_rows, write_zed),
}
EACH = pytest.mark.parametrize("client", MADE)


def events_of(client: str, path: Path) -> list[Event]:
    dialect = DIALECTS[client]
    return [event for transcript in dialect.find(path) for event in dialect.read(transcript)]


@EACH
def test_a_session_made_by_hand_is_read_in_full(client: str, tmp_path: Path) -> None:
    rows, write = MADE[client]
    path = write(tmp_path, rows())
    events = events_of(client, tmp_path)
    assert [event.text for event in only(events, Prompted)] == ["Fix the bug"]
    assert [(event.text, event.final) for event in only(events, Replied)] == [
        ("I look.", False),
        ("It is fixed.", True),
    ]
    assert [(event.text, event.end) for event in only(events, ToolReturned)] == [(FAILED, "failed")]
    assert not only(events, Unknown)
    assert [(event.fresh, event.said) for event in only(events, UsageCounted)] == (
        [] if client == "cursor" else [(700, 50)]
    )
    assert [name for name, dialect in DIALECTS.items() if dialect.sniff(path)] == [client]


@EACH
@given(data=st.data())
@settings(max_examples=15)
def test_damage_to_a_message_never_raises_and_never_loses_another(
    client: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    make, write = MADE[client]
    rows: list[Any] = make()
    number = data.draw(st.integers(0, len(rows) - 1))
    row = deepcopy(rows[number])
    *above, key = data.draw(st.sampled_from(list(leaves(row))))
    inside: Any = row
    for each in above:
        inside = inside[each]
    inside[key] = data.draw(st.sampled_from([None, 7, True, "", "other", [], {}, [None], {"x": [1]}]))
    folder = tmp_path_factory.getbasetemp() / f"{client}-damaged"
    write(folder, [*rows[:number], row, *rows[number + 1 :]])
    said = {event.text for event in events_of(client, folder) if isinstance(event, Prompted | Replied)}
    expected = {"Fix the bug": 0, "I look.": 1, "It is fixed.": 2 if client == "zed" else 3}
    assert said >= {text for text, at in expected.items() if at != number}


@EACH
def test_a_kind_of_message_that_is_not_known_is_counted(client: str, tmp_path: Path) -> None:
    rows, write = MADE[client]
    new = {"cursor": {"type": "new"}, "goose": {"role": "user", "content": [{"type": "new"}]}, "zed": {"New": {}}}[
        client
    ]
    write(tmp_path, [*rows(), new])
    assert len(only(events_of(client, tmp_path), Unknown)) == 1


@pytest.mark.parametrize("client", ["goose", "zed"])
def test_finding_tells_when_a_session_was_written(client: str, tmp_path: Path) -> None:
    rows, write = MADE[client]
    write(tmp_path, rows())
    (found,) = DIALECTS[client].find(tmp_path)
    reach = DIALECTS[client].reach(found)
    assert (found.last, found.size) == (reach.last, reach.size)
    assert found.last
    assert found.size


def test_a_block_whose_kind_is_no_text_is_counted(tmp_path: Path) -> None:
    write_goose(tmp_path, [*goose_rows(), {"role": "user", "content": [{"type": []}]}])
    assert len(only(events_of("goose", tmp_path), Unknown)) == 1


@EACH
def test_what_is_not_of_the_client_is_no_session(client: str, tmp_path: Path) -> None:
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00" + bytes(100))
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n')
    assert list(DIALECTS[client].find(tmp_path)) == []


def test_a_thread_that_is_not_what_its_row_says_is_unreadable(tmp_path: Path) -> None:
    path = write_zed(tmp_path, [])
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE threads SET data = ?", (b"not zstd",))
        database.commit()
    assert len(only(events_of("zed", tmp_path), Unreadable)) == 1


def test_kilo_is_read_as_opencode_is(tmp_path: Path) -> None:
    database = next((DATA / "opencode").rglob("opencode.db"))
    shutil.copy(database, tmp_path / "kilo.db")
    (kilo, *_), (own, *_) = DIALECTS["kilo"].find(tmp_path), DIALECTS["opencode"].find(database)
    assert (kilo.client, kilo.native_id) == ("kilo", own.native_id)
    assert list(DIALECTS["kilo"].read(kilo)) == list(DIALECTS["opencode"].read(own))
    assert [name for name, dialect in DIALECTS.items() if dialect.sniff(tmp_path / "kilo.db")] == ["kilo"]


def test_every_client_says_whether_its_reader_is_tested_and_which_files_grow() -> None:
    assert [each.name for each in CLIENTS.values() if not each.tested] == ["kilo", "cursor", "goose", "zed"]
    assert all(each.log_files for each in CLIENTS.values())


@pytest.mark.parametrize("changed", ["2026-11-28T09:00:00Z", "2026-11-27 23:00:00-09:00", 1_795_860_000, None])
def test_a_session_is_wanted_since_a_time_however_its_own_time_is_written(changed: object, tmp_path: Path) -> None:
    path = write_goose(tmp_path, goose_rows())
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE sessions SET updated_at = ?", (changed,))
        database.execute(
            "INSERT INTO sessions SELECT 'old', name, 0, '', '', '2026-01-01 10:00:00', 0, 0 FROM sessions"
        )
        database.commit()
    dialect, since = DIALECTS["goose"], Wanted(since=datetime(2026, 11, 28, 8, tzinfo=UTC))
    (one,) = (one for one in dialect.find(path) if one.native_id == "one")
    assert [*dialect.find(path, since)] == [one] == [*dialect.find(path, Wanted("one"))]
    assert one.size == len(goose_rows())
