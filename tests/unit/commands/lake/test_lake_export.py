from __future__ import annotations

import os
from pathlib import Path

import orjson
import pytest
from pyarrow import parquet

from crucible.commands.delete.delete import delete_session, plan_deletion
from crucible.commands.lake import lake_export
from crucible.commands.lake.event_columns import LogRequest, LogSession
from crucible.commands.lake.lake_inputs import CaseFacts, ExportOptions, VaultSource, topic_of
from crucible.commands.lake.lake_store import FolderStore
from crucible.commands.lake.lake_tables import TABLES, VERSION_KEY, project_key
from crucible.core.errors import LockTimeout, UsageError, VaultError
from crucible.core.locks import hold
from crucible.core.processes import Workers
from crucible.core.settings.settings import SecretSettings
from crucible.vault.events.event_files import archive_path
from crucible.vault.notes.vault import Vault
from tests.unit.commands.lake.exported_vaults import (
    AT,
    SAID,
    call,
    export,
    files_with,
    rows,
    secret_settings,
    write_session,
)


def _parquet(lake: Path) -> dict[str, bytes]:
    return {str(path.relative_to(lake)): path.read_bytes() for path in lake.rglob("*.parquet")}


def test_every_record_is_a_row_or_completes_the_row_of_its_call(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "a", [*SAID, *call("Bash", "failed", ident="c2", command="ls")])
    report = export(vault, tmp_path / "lake")
    assert (report.events, report.rows["messages"], report.rows["calls"]) == (5, 1, 2)
    assert rows(
        tmp_path / "lake", "SELECT tool, deed, outcome, exit_code, duration_ms, result_size FROM calls ORDER BY seq"
    ) == [
        {"tool": "Bash", "deed": "run", "outcome": "ok", "exit_code": 1, "duration_ms": 1000, "result_size": 4},
        {"tool": "Bash", "deed": "run", "outcome": "failed", "exit_code": 1, "duration_ms": 1000, "result_size": 4},
    ]
    assert rows(tmp_path / "lake", "SELECT id, project_name, events, month FROM sessions") == [
        {"id": "a", "project_name": "shop", "events": 5, "month": "2026-11"}
    ]


def test_a_call_that_repeats_a_failed_one_names_it(vault: Vault, tmp_path: Path) -> None:
    other = call("Bash", ident="c2", command="pwd")
    write_session(vault, "a", [*call("Bash", "failed", command="ls"), *other, *call("Bash", ident="c3", command="ls")])
    export(vault, tmp_path / "lake")
    assert rows(tmp_path / "lake", "SELECT seq, retry_of FROM calls ORDER BY seq") == [
        {"seq": 1, "retry_of": None},
        {"seq": 3, "retry_of": None},
        {"seq": 5, "retry_of": 1},
    ]


def test_a_later_count_of_a_message_replaces_the_earlier_one(vault: Vault, tmp_path: Path) -> None:
    count = {"type": "UsageCounted", "message": "m", "model": "x", "cached": 1, "said": 1}
    write_session(vault, "a", [{**count, "fresh": 10}, {**count, "fresh": 30}])
    export(vault, tmp_path / "lake")
    assert rows(tmp_path / "lake", "SELECT sum(input) AS tokens FROM messages") == [{"tokens": 30}]


def test_texts_are_left_out_unless_asked_for_and_then_redacted(vault: Vault, tmp_path: Path) -> None:
    vault = secret_settings(vault, "plan-[0-9]+")
    write_session(
        vault,
        "a",
        [{"type": "Prompted", "text": "see plan-77 now", "kind": "typed"}, *call("Bash", command="cat plan-78")],
    )
    lake = tmp_path / "lake"
    export(vault, lake)
    assert files_with(lake, "see ", "cat ", "Fix the", "tabs") == []
    export(vault, lake, ExportOptions(contents=True))
    assert files_with(lake, "plan-7") == []
    assert len(files_with(lake, "see ", "cat ", "Fix the", "tabs")) == 4
    export(vault, lake)
    assert files_with(lake, "see ", "cat ", "Fix the", "tabs") == []


def test_names_can_be_left_out(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "named-session", SAID, project="apollo-project")
    assert export(vault, tmp_path / "lake", ExportOptions(names=False)).sessions == 1
    assert files_with(tmp_path / "lake", "named-session", "apollo-project") == []


def test_a_failing_scan_for_secrets_writes_nothing(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> object:
        raise RuntimeError("no scanner")

    monkeypatch.setattr("crucible.commands.lake.event_columns._redact_of", lambda _: broken)
    write_session(vault, "a", SAID)
    with pytest.raises(VaultError, match="scan for secrets"):
        export(vault, tmp_path / "lake")
    assert _parquet(tmp_path / "lake") == {}


def test_only_months_and_projects_that_changed_are_written_again(vault: Vault, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    write_session(vault, "a", SAID)
    write_session(vault, "b", SAID, project="ledger")
    write_session(vault, "c", SAID, started="2026-10-01T00:00:00Z")
    assert export(vault, lake).written == 3
    before = _parquet(lake)
    assert export(vault, lake).written == 0
    assert _parquet(lake) == before
    write_session(vault, "b", [*SAID, *call("Read", ident="c9", path="x")], project="ledger")
    report = export(vault, lake)
    assert (report.written, report.unchanged) == (1, 2)
    kept = [name for name in before if project_key("ledger") not in name]
    assert {name: data for name, data in _parquet(lake).items() if name in before} == {
        name: before[name] for name in kept
    }
    assert rows(lake, "SELECT count(*) AS n FROM calls") == [{"n": 4}]


def test_the_same_vault_gives_the_same_bytes_in_any_number_of_processes(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lake_export, "_CHUNK", 1)
    for name in "abcdef":
        write_session(vault, name, SAID)
    export(vault, tmp_path / "one")
    export(vault, tmp_path / "two", workers=Workers(2))
    assert _parquet(tmp_path / "one") == _parquet(tmp_path / "two")
    assert rows(tmp_path / "two", "SELECT count(*) AS n FROM calls") == [{"n": 6}]


def test_a_part_that_kills_its_workers_is_named_by_its_sessions() -> None:
    sessions = [LogSession(name, "") for name in ("first", "other", "last")]
    assert str(LogRequest(0, "", sessions, SecretSettings(), contents=False)) == "first … last"


def test_a_session_deleted_in_the_vault_is_in_no_file_afterwards(vault: Vault, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    write_session(vault, "gone-session", SAID)
    write_session(vault, "kept-session", SAID)
    facts = CaseFacts("gone-session", {"id": "gone-session-puzzle-1", "about": "x"})
    export(vault, lake, cases=[facts])
    assert rows(lake, "SELECT count(*) AS n FROM cases") == [{"n": 1}]
    delete_session(
        vault, plan_deletion(vault, vault.read(vault.find("gone-session")), []), AT, logs_of=lambda _: [], force=True
    )
    export(vault, lake, cases=[facts])
    key = rows(lake, "SELECT session FROM sessions")[0]["session"]
    assert files_with(lake, "gone-session") == []
    for table in TABLES:
        assert rows(lake, f"SELECT count(*) AS n FROM {table} WHERE session <> '{key}'") == [{"n": 0}]


@pytest.mark.parametrize("listed", ["gone-session", "native-77", "claude-code:native-77"])
def test_a_listed_session_and_its_subagents_are_in_no_file_now_and_later(
    vault: Vault, tmp_path: Path, listed: str
) -> None:
    lake = tmp_path / "lake"
    write_session(vault, "gone-session", SAID, native="native-77")
    write_session(vault, "gone-child", SAID, parent="gone-session")
    write_session(vault, "kept-session", SAID)
    export(vault, lake)
    assert export(vault, lake, delete=[listed]).sessions == 1
    assert files_with(lake, "gone-session", "gone-child", "native-77") == []
    write_session(vault, "gone-session", [*SAID, *SAID], native="native-77")
    assert export(vault, lake).sessions == 1
    assert files_with(lake, "gone-session", "gone-child") == []


class _Killed(BaseException):
    pass


class _DyingStore(FolderStore):
    """Dies at the n-th change of the lake, as after kill -9."""

    left = 0

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Killed

    def write(self, name: str, data: bytes) -> None:
        self._count()
        super().write(name, data)

    def put(self, temporary: Path, name: str) -> None:
        self._count()
        super().put(temporary, name)

    def remove(self, name: str) -> None:
        self._count()
        super().remove(name)


def test_an_export_killed_at_any_step_leaves_a_whole_lake_and_the_next_one_completes_it(
    vault: Vault, tmp_path: Path
) -> None:
    lake, whole = tmp_path / "lake", tmp_path / "whole"
    write_session(vault, "a", SAID)
    export(vault, lake)
    write_session(vault, "a", [*SAID, *SAID])
    write_session(vault, "b", SAID, project="ledger")
    for step in range(40):
        store = _DyingStore(str(lake))
        store.left = step
        try:
            export(vault, store)
        except _Killed:
            assert rows(lake, "SELECT count(*) AS n FROM calls")[0]["n"] in (1, 3)
        else:
            break
    else:
        pytest.fail("never completed")
    export(vault, whole)
    assert _parquet(lake) == _parquet(whole)
    assert step > 5


def test_a_full_disk_leaves_the_old_lake(vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = tmp_path / "lake"
    write_session(vault, "a", SAID)
    export(vault, lake)
    before = _parquet(lake)
    write_session(vault, "a", [*SAID, *SAID])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("pyarrow.parquet.ParquetWriter.close", full)
        with pytest.raises(VaultError, match="no space left"):
            export(vault, lake)
    assert _parquet(lake) == before
    assert list(lake.rglob("*.tmp")) == []
    assert export(vault, lake).rows["calls"] == 2


def test_a_second_export_at_once_is_refused(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "a", SAID)
    export(vault, tmp_path / "lake")
    (lock,) = (tmp_path / "lake").glob(".*.lock")
    with hold(lock, 0.0), pytest.raises(LockTimeout):
        export(vault, tmp_path / "lake")


def test_a_manifest_that_another_export_replaced_is_not_overwritten(vault: Vault, tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    write_session(vault, "a", SAID)
    export(vault, lake)
    (manifest,) = (lake / "manifests").iterdir()
    write_session(vault, "a", [*SAID, *SAID])

    class Slow(FolderStore):
        def put(self, temporary: Path, name: str) -> None:
            manifest.write_bytes(manifest.read_bytes() + b"\n")
            super().put(temporary, name)

    with pytest.raises(VaultError, match="another export"):
        export(vault, Slow(str(lake)))


@pytest.mark.parametrize("place", ["", "lake", "sessions/lake"])
def test_a_lake_inside_the_vault_is_refused(vault: Vault, place: str) -> None:
    with pytest.raises(UsageError, match="inside the vault"):
        export(vault, vault.root / place)


def test_a_lake_that_is_a_symlink_into_the_vault_is_refused(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "lake").symlink_to(vault.root / "sessions")
    with pytest.raises(UsageError, match="inside the vault"):
        export(vault, tmp_path / "lake")


def test_no_file_is_written_through_a_symlink_out_of_the_lake(vault: Vault, tmp_path: Path) -> None:
    lake, outside = tmp_path / "lake", tmp_path / "outside"
    write_session(vault, "a", SAID)
    lake.mkdir()
    outside.mkdir()
    (lake / "lake.json").write_text('{"lake": 1}')
    (lake / "sessions").symlink_to(outside)
    with pytest.raises(Exception, match="points outside"):
        export(vault, lake)
    assert list(outside.iterdir()) == []


def test_a_folder_with_other_files_is_not_made_a_lake(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(VaultError, match="not empty"):
        export(vault, tmp_path / "home")


@pytest.mark.parametrize(("version", "hint"), [(0, "export to a new folder"), (99, "upgrade"), ("x", "new folder")])
def test_a_lake_of_another_version_is_refused_with_a_hint(
    vault: Vault, tmp_path: Path, version: object, hint: str
) -> None:
    write_session(vault, "a", SAID)
    export(vault, tmp_path / "lake")
    (tmp_path / "lake" / "lake.json").write_bytes(orjson.dumps({"lake": version}))
    for work in (lambda: export(vault, tmp_path / "lake"), lambda: rows(tmp_path / "lake", "SELECT 1")):
        with pytest.raises(VaultError) as error:
            work()
        assert hint in error.value.hint


def test_every_file_says_its_version_and_is_compressed(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "a", SAID)
    export(vault, tmp_path / "lake")
    for name in _parquet(tmp_path / "lake"):
        meta = parquet.ParquetFile(tmp_path / "lake" / name)
        assert meta.schema_arrow.metadata[VERSION_KEY.encode()] == b"1"
        assert meta.metadata.row_group(0).column(0).compression == "ZSTD"


def test_hostile_values_are_exported(vault: Vault, tmp_path: Path) -> None:
    odd = "a\nb\0c\ud800d\u202e'\";--"
    long = "../" * 50
    write_session(
        vault,
        "a",
        [
            {"type": "Prompted", "text": odd, "kind": odd},
            {"type": "UsageCounted", "message": "m", "model": odd, "fresh": 10**30, "cached": -5, "said": True},
            {"type": "ToolUsed", "call": 7, "name": long * 9, "arguments": [1]},
            {"type": "ToolUsed", "call": "x", "name": None, "arguments": {"n": 1e308}},
            {"type": "ToolReturned", "call": "x", "text": 5, "end": {}, "details": []},
            {"type": "tool", "tool": "Bash", "args": {"a": odd}, "outcome": "failed", "duration_ms": "soon"},
            {"type": odd, "content": odd},
        ],
        project=long,
    )
    write_session(vault, "b", [{**SAID[0], "time": "0001-01-01T00:00:00"}, {**SAID[0], "time": "never"}], project="..")
    report = export(vault, tmp_path / "lake", ExportOptions(contents=True))
    assert (report.problems, report.events, report.sessions) == ((), 9, 2)
    assert all(path.is_relative_to(tmp_path / "lake") for path in (tmp_path / "lake").rglob("*"))
    assert rows(tmp_path / "lake", "SELECT text FROM messages WHERE seq = 1 AND kind IS NOT NULL ORDER BY 1 DESC")[0][
        "text"
    ] == odd.replace("\ud800", "\ufffd")


def test_projects_whose_names_differ_in_case_or_a_slash_are_apart(vault: Vault, tmp_path: Path) -> None:
    for at, name in enumerate(("shop", "Shop", "shop/", "shop\u0301")):
        write_session(vault, f"s{at}", SAID, project=name)
    export(vault, tmp_path / "lake")
    assert rows(tmp_path / "lake", "SELECT count(DISTINCT project) AS n FROM sessions") == [{"n": 4}]


def test_a_damaged_archive_is_named_and_all_else_exported(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "bad", SAID)
    write_session(vault, "good", SAID)
    path = archive_path(vault.root, "bad")
    path.write_bytes(path.read_bytes()[:40])
    for _ in range(2):
        report = export(vault, tmp_path / "lake")
        assert [problem.partition(":")[0] for problem in report.problems] == ["bad"]
    assert rows(tmp_path / "lake", "SELECT id, events FROM sessions ORDER BY id") == [
        {"id": "bad", "events": 0},
        {"id": "good", "events": 3},
    ]
    write_session(vault, "bad", SAID)
    assert export(vault, tmp_path / "lake").problems == ()


def test_a_note_that_cannot_be_read_is_left_out_and_the_others_exported(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "good", SAID)
    os.mkfifo(vault.root / "sessions" / "bad.md")
    assert export(vault, tmp_path / "lake").sessions == 1


def test_two_vaults_share_a_lake(vault: Vault, tmp_path: Path) -> None:
    write_session(vault, "a", SAID)
    lake = tmp_path / "lake"
    export(vault, lake)
    other = lambda root, _id, *rest: VaultSource(root, "b" * 32, *rest)  # noqa: E731
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.unit.commands.lake.exported_vaults.VaultSource", other)
        export(vault, lake)
    assert rows(
        lake, "SELECT count(DISTINCT session) AS sessions, count(DISTINCT project) AS projects FROM sessions"
    ) == [{"sessions": 2, "projects": 1}]


def test_texts_with_the_same_words_have_the_same_topic() -> None:
    assert topic_of("Use tabs, not spaces!") == topic_of("not space: using TAB") != topic_of("use spaces")
    assert topic_of("…") is None
