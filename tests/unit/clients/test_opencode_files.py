"""OpenCode's stores in all states: databases with a writer, damaged ones, the JSON tree, exports."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import Event, Injected, Prompted, Replied, Titled, Unreadable
from crucible.clients.log_files import Transcript, Wanted
from crucible.clients.opencode import logs as opencode
from crucible.clients.registry import DIALECTS, sniff
from crucible.core.errors import TranscriptError
from tests.unit.clients.building import only
from tests.unit.clients.opencode_building import (
    FIRST,
    NAMES,
    REAL,
    SECOND,
    SESSION,
    START,
    add_session,
    events,
    insert,
    make,
    real,
    run_import,
    talk,
    text,
    told,
    write_tree,
)
from tests.unit.commands.imports.places import make_vault


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.iterdir())}


def words(found: dict[str, list[Event]]) -> dict[str, list[object]]:
    """What was said and done, without places and times."""
    return {
        session: [
            (type(event).__name__, *(getattr(event, name) for name in event.__slots__ if name != "at"))
            for event in found_events
        ]
        for session, found_events in found.items()
    }


def words_of(found: list[Event]) -> list[str]:
    return [event.text for event in found if isinstance(event, Prompted | Replied)]


# --- where they lie --------------------------------------------------------------------------------------------------


def test_the_data_folder_is_the_clients_own(tmp_path: Path) -> None:
    assert DIALECTS["opencode"].default_folder({}, tmp_path) == tmp_path / ".local" / "share" / "opencode"
    assert DIALECTS["opencode"].default_folder({"XDG_DATA_HOME": "/data"}, tmp_path) == Path("/data/opencode")
    assert DIALECTS["opencode"].title == "OpenCode"


def test_a_file_a_data_folder_and_a_folder_above_hold_the_same_sessions(tmp_path: Path) -> None:
    database = real("many", tmp_path / "share" / "opencode")
    found = [list(opencode.find(path)) for path in (database, database.parent, tmp_path)]
    assert found[0] == found[1] == found[2]
    (transcript,) = found[0]
    assert [(file.kind, file.description, file.depth) for file in transcript.subagents] == [
        ("general", "Look at a.", 1),
        ("general", "Look at b.", 1),
    ]
    assert {file.path for file in transcript.subagents} == {transcript.path}


def test_another_channels_database_counts_and_any_other_does_not(tmp_path: Path) -> None:
    shutil.copyfile(REAL / "retry" / "opencode.db", tmp_path / "opencode-dev.db")
    shutil.copyfile(REAL / "retry" / "opencode.db", tmp_path / "other.db")
    assert [transcript.path.name for transcript in opencode.find(tmp_path)] == ["opencode-dev.db"]
    assert len(list(opencode.find(tmp_path / "other.db"))) == 1


def test_descendants_belong_to_the_first_session_and_orphans_to_themselves(tmp_path: Path) -> None:
    connection = make(tmp_path / "opencode.db", FIRST)
    for ident, parent in (
        ("a", None),
        ("b", "a"),
        ("c", "b"),
        ("lost", "gone"),
        ("x", "y"),
        ("y", "x"),
        ("self", "self"),
    ):
        add_session(connection, ident, parent_id=parent)
    found = {t.native_id: [(f.agent, f.depth) for f in t.subagents] for t in opencode.find(tmp_path)}
    assert found == {"a": [("b", 1), ("c", 2)], "lost": [], "x": [("y", 1)], "self": []}


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TranscriptError):
        list(opencode.find(tmp_path / "none"))


def test_only_our_files_are_known_as_ours(tmp_path: Path) -> None:
    storage = write_tree(REAL / "retry" / "opencode.db", tmp_path / "storage")
    (trunk, _) = sorted((storage / "session").glob("*/*.json"))
    assert sniff(REAL / "retry" / "opencode.db") is DIALECTS["opencode"]
    assert sniff(REAL / "export.json") is DIALECTS["opencode"]
    assert sniff(trunk) is DIALECTS["opencode"]
    other = make(tmp_path / "other.db", "CREATE TABLE session (id text)")
    other.close()
    odd = tmp_path / "odd.json"
    odd.write_text('{"info": {"id": "x"}, "messages": 3}', encoding="utf-8")
    message = next((storage / "message").glob("*/*.json"))
    for path in (tmp_path / "other.db", odd, message, tmp_path, tmp_path / "none", Path(__file__)):
        assert not opencode.sniff(path)


def test_how_far_a_session_goes_is_its_own_last_change(tmp_path: Path) -> None:
    (before,) = opencode.find(REAL / "killed")
    (after,) = opencode.find(REAL / "resumed")
    reaches = opencode.reach(before), opencode.reach(after)
    assert reaches[0].first == reaches[1].first != ""
    assert (reaches[0].size, reaches[1].size) == (3, 5)
    assert reaches[0].last
    assert reaches[1].last
    assert reaches[0].last < reaches[1].last
    broken = tmp_path / "opencode.db"
    broken.write_bytes(b"no database")
    assert opencode.reach(Transcript("opencode", "x", broken)) == (None, 11, "")
    with pytest.raises(OSError, match="No such file"):
        opencode.reach(Transcript("opencode", "x", tmp_path / "none"))


def test_of_two_copies_the_one_that_goes_further_is_imported(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    report = run_import(vault, REAL / "killed", REAL / "resumed")
    assert (len(report.created), report.left_out, report.unreadable) == (1, {"copy": 1}, ())


# --- beside a writer -------------------------------------------------------------------------------------------------

_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=wal")
connection.execute("PRAGMA wal_autocheckpoint=5")
count = 0
for line in sys.stdin:
    for _ in range(20):
        count += 1
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)",
            (f"msg_{count:026d}", sys.argv[2], 1795300000000 + count, 0, '{"role":"user"}'))
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
            (f"prt_{count:026d}", f"msg_{count:026d}", sys.argv[2], 1795300000000 + count, 0,
             '{"type":"text","text":"%d"}' % count))
    print(count, flush=True)
"""


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    connection = make(tmp_path / "data" / "opencode.db", FIRST)
    add_session(connection)
    connection.close()
    command = [sys.executable, "-c", _WRITER, str(tmp_path / "data" / "opencode.db"), SESSION]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        if process.stdin:
            process.stdin.close()


def write_more(writer: subprocess.Popen[str]) -> int:
    assert writer.stdin
    assert writer.stdout
    writer.stdin.write("\n")
    writer.stdin.flush()
    return int(writer.stdout.readline())


def test_a_live_writer_is_read_and_not_disturbed(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    data = tmp_path / "data"
    for _ in range(3):
        written = write_more(writer)
        names = {path.name for path in data.iterdir()}
        assert names == {"opencode.db", "opencode.db-shm", "opencode.db-wal"}
        (transcript,) = opencode.find(data)
        reading = opencode.read(transcript)
        first = next(reading)
        write_more(writer)  # while the reading goes on, which sees one state
        said = [event.text for event in only([first, *reading], Prompted)]
        assert said == [str(number) for number in range(1, written + 1)]
        assert {path.name for path in data.iterdir()} == names


def test_rows_only_in_the_write_ahead_log_are_read_without_the_shared_file(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    write_more(writer)
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("opencode.db", "opencode.db-wal"):
        shutil.copyfile(tmp_path / "data" / name, copied / name)
    before = files(copied)
    assert len(only(events(copied), Prompted)) == 20
    assert files(copied) == before


@pytest.mark.parametrize("empty_log", [False, True])
def test_reading_a_closed_database_leaves_no_files(tmp_path: Path, empty_log: bool) -> None:
    database = real("retry", tmp_path / "opencode")
    assert database.read_bytes()[18:20] == b"\x02\x02"  # WAL mode
    if empty_log:
        (tmp_path / "opencode" / "opencode.db-wal").touch()
    before = files(database.parent)
    assert len(told(database)) == 2
    assert files(database.parent) == before


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_read(tmp_path: Path) -> None:
    database = real("retry", tmp_path / "opencode")
    database.parent.chmod(0o500)
    try:
        assert len(told(database)) == 2
    finally:
        database.parent.chmod(0o700)


def test_a_change_while_an_idle_database_is_read_is_noticed(tmp_path: Path) -> None:
    database = real("retry", tmp_path)
    transcript = next(opencode.find(database))
    reading = opencode.read(transcript)
    next(reading)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE session SET title = 'x'")
        connection.commit()
    with pytest.raises(TranscriptError, match="during the import"):
        list(reading)
    assert len(told(database)) == 2


def test_a_hot_journal_is_rolled_back_in_a_copy(tmp_path: Path) -> None:
    made = talk(tmp_path / "data")
    made.user(text("Kept"))
    made.connection.execute("PRAGMA cache_size=1")
    made.connection.execute("BEGIN")
    for number in range(200):
        insert(made.connection, "part", id=f"x{number}", message_id="m", session_id="s", data="x" * 4000)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for path in (tmp_path / "data").iterdir():
        shutil.copyfile(path, crashed / path.name)
    before = files(crashed)
    assert "opencode.db-journal" in before
    assert [event.text for event in only(events(crashed), Prompted)] == ["Kept"]
    assert files(crashed) == before


def test_a_locked_database_is_reported_with_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.clients.opencode.database._PATIENCE", 0.01)
    made = talk(tmp_path)
    made.connection.execute("BEGIN EXCLUSIVE")
    (transcript,) = opencode.find(tmp_path)
    with pytest.raises(TranscriptError, match="locked") as caught:
        list(opencode.read(transcript))
    assert "import again" in caught.value.hint


def test_a_locked_database_is_waited_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.clients.opencode.database._PATIENCE", 0.01)
    connect: Any = sqlite3.connect
    waits: list[float] = []

    def counted(*args: Any, timeout: float, **more: Any) -> Any:
        waits.append(timeout)
        return connect(*args, timeout=timeout, **more)

    talk(tmp_path).connection.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr(sqlite3, "connect", counted)
    (found,) = opencode.find(tmp_path)
    assert found.last is None
    assert sniff(found.path) is None
    assert (waits[0], {*waits[1:]}) == (0.01, {0.0})


# --- damage ----------------------------------------------------------------------------------------------------------


def _torn(database: Path) -> bytes:
    data = bytearray(database.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    return bytes(data)


@pytest.mark.parametrize("damage", ["empty", "text", "encrypted", "cut", "torn", "other"])
def test_a_database_that_cannot_be_read_is_one_row_of_the_report(tmp_path: Path, damage: str) -> None:
    database = real("retry", tmp_path / "data")
    whole = database.read_bytes()
    if damage == "other":
        database.unlink()
        make(database, "CREATE TABLE poems (id text)").close()
    else:
        data = {
            "empty": b"",
            "text": b"hello",
            "encrypted": bytes(range(256)) * 64,
            "cut": whole[:5000],
            "torn": _torn(database),
        }[damage]
        database.write_bytes(data)
    (transcript,) = opencode.find(tmp_path)
    with pytest.raises(TranscriptError) as caught:
        list(opencode.read(transcript))
    assert caught.value.hint
    assert str(database) in str(caught.value)
    report = run_import(make_vault(tmp_path / "vault"), database)
    assert (report.created, len(report.unreadable)) == ((), 1)


def test_a_database_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    real("retry", tmp_path / "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "opencode.db").write_bytes(b"")
    report = run_import(make_vault(tmp_path / "vault"), tmp_path / "a", tmp_path / "b")
    assert (len(report.created), len(report.unreadable)) == (2, 1)


_VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["a", "b", "m1", "m2", '{"role":"user"}', '{"role":"assistant"}', "user", "assistant", "shell"]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-10, 2**62), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(
                    [
                        "type",
                        "role",
                        "text",
                        "time",
                        "created",
                        "completed",
                        "end",
                        "start",
                        "state",
                        "status",
                        "input",
                        "output",
                        "metadata",
                        "error",
                        "name",
                        "data",
                        "tokens",
                        "cache",
                        "read",
                        "content",
                        "tool",
                        "callID",
                        "parentID",
                        "summary",
                        "finish",
                        "command",
                        "files",
                        "mime",
                        "path",
                        "cwd",
                        "todos",
                        "sessionId",
                        "exit",
                        "display",
                        "filediff",
                        "files",
                        "reason",
                        "synthetic",
                        "model",
                        "id",
                    ]
                ),
                st.one_of(
                    inner,
                    st.sampled_from(["user", "assistant", "text", "tool", "task", "completed", "error", "step-finish"]),
                ),
                max_size=8,
            ),
        ),
        max_leaves=12,
    ).map(json.dumps),
)


def _columns(script: str) -> dict[str, list[str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script)
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {t: [row[1] for row in connection.execute(f"PRAGMA table_info({t})")] for t in tables}


@pytest.mark.parametrize("script", [FIRST, SECOND, FIRST + SECOND], ids=["first", "second", "both"])
@given(data=st.data())
def test_no_rows_make_the_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, script: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("odd") / "opencode.db"
    with closing(make(path, script.replace(" PRIMARY KEY", ""))) as connection:
        for table, names in _columns(script).items():
            for _ in range(data.draw(st.integers(0, 4))):
                row = {name: data.draw(_VALUES) for name in names}
                keyed = {
                    name: data.draw(st.sampled_from(["a", "b", "m1", "m2"])) for name in names if name.endswith("id")
                }
                insert(connection, table, **{**row, **(keyed if data.draw(st.booleans()) else {})})
    for found in told(path).values():
        lines = [event.at.line for event in found if not isinstance(event, Titled | Injected)]
        assert lines == sorted(lines)


def test_a_time_beyond_all_years_is_none(tmp_path: Path) -> None:
    made = talk(tmp_path)
    far = 10**18
    made.message({"role": "user", "time": {"created": far}}, text("One"))
    made.connection.execute("UPDATE message SET time_created = ?, time_updated = ?", (far, far))
    assert words_of(events(tmp_path)) == ["One"]


def test_whole_rows_stay_readable_beside_damaged_ones(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("One"))
    made.agent(text("Two"), text("Three"))
    made.connection.execute("UPDATE part SET data = x'ff00' WHERE data LIKE '%Two%'")
    found = events(tmp_path)
    assert words_of(found) == ["One", "Three"]
    (unreadable,) = only(found, Unreadable)
    assert unreadable.reason == f"part {unreadable.at.row}: not a JSON object"
    report = run_import(make_vault(tmp_path / "vault"), tmp_path / "opencode.db")
    assert (len(report.created), len(report.unreadable)) == (1, 1)


# --- the tree and the export -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_tree_yields_the_same_events_as_the_database(tmp_path: Path, name: str) -> None:
    write_tree(REAL / name / "opencode.db", tmp_path / "storage")
    assert words(told(tmp_path)) == words(told(REAL / name))
    assert words(told(tmp_path / "storage")) == words(told(REAL / name))


def test_a_file_of_the_tree_names_its_session(tmp_path: Path) -> None:
    storage = write_tree(REAL / "many" / "opencode.db", tmp_path / "storage")
    for path in (storage / "session").glob("*/*.json"):
        (transcript,) = opencode.find(path)
        assert len(transcript.subagents) == 2


def test_the_oldest_tree_keeps_everything_inside_its_sessions(tmp_path: Path) -> None:
    storage = write_tree(REAL / "retry" / "opencode.db", tmp_path / "new")
    old = tmp_path / "data" / "project" / "shop" / "storage" / "session"
    (project,) = (storage / "session").iterdir()
    shutil.copytree(project, old / "info")
    shutil.copytree(storage / "message", old / "message")
    for session in (storage / "message").iterdir():
        for message in session.iterdir():
            shutil.copytree(storage / "part" / message.stem, old / "part" / session.name / message.stem)
    assert words(told(tmp_path / "data")) == words(told(REAL / "retry"))


def test_a_session_in_the_database_and_in_the_tree_is_one(tmp_path: Path) -> None:
    database = real("retry", tmp_path)
    write_tree(database, tmp_path / "storage")
    write_tree(REAL / "many" / "opencode.db", tmp_path / "storage")
    found = list(opencode.find(tmp_path))
    assert found[0].path.name == "opencode.db"
    assert len(found) == 2
    report = run_import(make_vault(tmp_path / "vault"), tmp_path)
    assert (len(report.created), report.left_out) == (5, {})


def test_damaged_files_of_the_tree_are_reported_one_by_one(tmp_path: Path) -> None:
    storage = write_tree(REAL / "retry" / "opencode.db", tmp_path / "storage")
    parts = [path for path in sorted(storage.glob("part/*/*.json")) if '"text": "All done' in path.read_text()]
    parts[0].write_bytes(b"{")
    trunk = max(told(tmp_path).values(), key=len)
    (unreadable,) = only(trunk, Unreadable)
    assert unreadable.reason.startswith("part prt_")


def test_an_export_yields_the_same_events_as_the_database(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    export.write_bytes(b"Exporting session: ses_1\n" + (REAL / "export.json").read_bytes())
    assert words(told(export)) == words(told(REAL / "resumed"))
    assert words(told(tmp_path)) == words(told(REAL / "resumed"))


def test_an_export_of_the_second_generation_is_read(tmp_path: Path) -> None:
    messages = [
        {"id": "m1", "type": "user", "text": "Hello", "time": {"created": 1795300001000}},
        {"id": "m2", "type": "assistant", "content": [{"type": "text", "text": "Hi."}], "finish": "stop",
         "time": {"created": 1795300002000, "completed": 1795300003000}},
        "odd",
    ]  # fmt: skip
    info = {"id": "ses_1", "title": "T", "location": {"directory": "/p"}, "time": {"created": 1795300000000}}
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"info": info, "messages": messages}), encoding="utf-8")
    assert words_of(events(path)) == ["Hello", "Hi."]
    assert len(only(events(path), Unreadable)) == 1


def test_a_database_whose_table_of_parts_is_missing_makes_no_empty_notes(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(make(path, FIRST)) as connection:
        add_session(connection)
        connection.execute("DROP TABLE part")
        connection.commit()
    report = run_import(make_vault(tmp_path / "vault"), path)
    assert report.created == ()
    assert "not an OpenCode database" in report.unreadable[0].reason


@pytest.mark.parametrize("script", [FIRST, FIRST + SECOND])
def test_of_a_database_only_the_wanted_sessions_are_found_with_all_of_their_family(script: str, tmp_path: Path) -> None:
    path, day = tmp_path / "opencode.db", 86_400_000
    with closing(make(path, script)) as database:
        for ident, parent, updated in (("old", "", 0), ("top", "", 0), ("new", "top", 30), ("more", "top", 0)):
            add_session(database, ident, parent_id=parent or None, time_updated=START + updated * day)
        insert(
            database, "message", id="m", session_id="new", time_created=START, time_updated=START + 31 * day, data={}
        )
    dialect = DIALECTS["opencode"]
    every = {one.native_id: one for one in dialect.find(path)}
    assert {*every} == {"old", "top"}
    since = Wanted(since=datetime.fromtimestamp(START / 1000, UTC) + timedelta(days=20))
    assert [*dialect.find(path, since)] == [every["top"]]
    assert [[*dialect.find(path, Wanted(ident))] for ident in ("old", "new", "gone")] == [
        [every["old"]],
        [every["top"]],
        [],
    ]
    assert [*dialect.find(tmp_path, since)] == [*every.values()]
