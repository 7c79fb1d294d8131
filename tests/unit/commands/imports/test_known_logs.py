"""Logs that an import need not open, because nothing that decides their outcome has changed."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.log_files import Wanted
from crucible.clients.registry import DIALECTS, Dialect
from crucible.commands.imports import note_sources
from crucible.commands.imports.import_answer import Question, answer, ask, keep, state_of_vault
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport, Search
from crucible.commands.imports.imports import import_all
from crucible.commands.imports.known_logs import KnownLogs
from crucible.commands.imports.note_sources import SourceTable
from crucible.core.settings.settings import VaultSettings
from crucible.vault.logs.tombstones import Tombstone, append_tombstone
from crucible.vault.notes.vault import Vault
from tests.counting import steps_of
from tests.paths import TESTS
from tests.unit.clients.building import SESSION, assistant, text, user
from tests.unit.clients.test_untested_clients import goose_rows, write_goose
from tests.unit.commands.imports.places import CLAUDE, LATER, REAL, bytes_of, make_vault, session_file, write_rows

GOOSE = DIALECTS["goose"]
OLD = 1_700_000_000
"""A time at which every file is quiet."""


def age(folder: Path) -> None:
    """Make all files old, so that their stamps can be trusted."""
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (OLD, OLD + 0.5))


class Reads:
    """Counts the logs that are opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[Path] = []
        read = Dialect.read

        def counted(dialect: Dialect, transcript: object, agent: str = "") -> object:
            self.paths.append(transcript.path_of(agent))  # type: ignore[attr-defined]
            return read(dialect, transcript, agent)  # type: ignore[arg-type]

        monkeypatch.setattr(Dialect, "read", counted)

    def take(self) -> list[Path]:
        found, self.paths = self.paths, []
        return found


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    monkeypatch.setattr("crucible.core.file_stamps._FINE", -(1 << 62))  # files just written count as quiet
    return Reads(monkeypatch)


QUIET = LATER + timedelta(days=14)
"""Long after every recording."""


def run(vault: Vault, folder: Path, *, now: datetime = LATER, dialect: Dialect = CLAUDE) -> ImportReport:
    known = KnownLogs(Vault(vault.root, vault.settings), now, "1")
    (report,) = import_all(vault, [Search(dialect, (folder,))], options=ImportOptions(now), known=known)
    return report


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return make_vault(tmp_path / "vault")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    write_rows(session_file(folder), [user("Fix it"), assistant(text("Fixed."))])
    return folder


def test_an_unchanged_log_is_not_opened_again(vault: Vault, logs: Path, reads: Reads) -> None:
    created = run(vault, logs).created
    assert reads.take()
    again = run(vault, logs)
    assert (again.created, again.unchanged, again.sessions) == ((), created, 1)
    assert not reads.take()


@pytest.mark.parametrize(
    "client", sorted(path.name for path in (TESTS / "data" / "transcripts").iterdir() if path.name in DIALECTS)
)
def test_the_table_reports_what_reading_reports(client: str, vault: Vault, tmp_path: Path, reads: Reads) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(TESTS / "data" / "transcripts" / client, folder)
    age(folder)
    run(vault, folder, now=QUIET, dialect=DIALECTS[client])
    before = bytes_of(vault)
    reads.take()
    by_table = run(vault, folder, now=QUIET, dialect=DIALECTS[client])
    opened = len(reads.take())
    (vault.root / ".crucible" / "cache" / "imports.json").unlink()
    by_reading = run(vault, folder, now=QUIET, dialect=DIALECTS[client])
    assert len(reads.take()) > opened
    assert by_table._replace(unchanged=()) == by_reading._replace(unchanged=())
    assert sorted(by_table.unchanged) == sorted(by_reading.unchanged)
    after = bytes_of(vault)
    assert {name: data for name, data in after.items() if "cache" not in name} == {
        name: data for name, data in before.items() if "cache" not in name
    }


def test_what_is_kept_after_writing_is_what_reading_again_would_keep(
    vault: Vault, tmp_path: Path, reads: Reads
) -> None:
    folder = tmp_path / "logs"
    shutil.copytree(REAL, folder)
    age(folder)
    run(vault, folder)
    table = vault.root / ".crucible" / "cache" / "imports.json"
    written = table.read_bytes()
    table.unlink()
    run(vault, folder)
    assert table.read_bytes() == written


def _grow(logs: Path, _: Vault) -> None:
    rows = write_rows(logs / "more", [user("More"), assistant(text("Done."))])
    with session_file(logs).open("ab") as file:
        file.write(rows.read_bytes())


def _rewrite(logs: Path, _: Vault) -> None:
    """Same size, same time: only the inode or the ctime tells."""
    path = session_file(logs)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Fixed", b"Mixed"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _shorten(logs: Path, _: Vault) -> None:
    path = session_file(logs)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])


def _add_subagent(logs: Path, _: Vault) -> None:
    agent = [user("Look", isSidechain=True, agentId="a1"), assistant(text("Seen."), isSidechain=True, agentId="a1")]
    write_rows(logs / SESSION / "subagents" / "agent-a1.jsonl", agent)


def _add_output(logs: Path, _: Vault) -> None:
    path = logs / SESSION / "tool-results" / "x.txt"
    path.parent.mkdir(parents=True)
    path.write_text("moved output")


def _edit_note(_: Path, vault: Vault) -> None:
    (note,) = vault.session_paths()
    note.write_text(note.read_text() + "\nmine\n")


def _delete_note(_: Path, vault: Vault) -> None:
    (note,) = vault.session_paths()
    note.unlink()


def _move_note(_: Path, vault: Vault) -> None:
    (note,) = vault.session_paths()
    (vault.sessions / "done").mkdir()
    note.rename(vault.sessions / "done" / note.name)


def _lose_the_cache(_: Path, vault: Vault) -> None:
    shutil.rmtree(vault.root / ".crucible" / "cache")


def _break_the_cache(_: Path, vault: Vault) -> None:
    (vault.root / ".crucible" / "cache" / "imports.json").write_text('{"made": 1, "logs": []}')


@pytest.mark.parametrize(
    "change",
    [
        _grow,
        _rewrite,
        _shorten,
        _add_subagent,
        _add_output,
        _edit_note,
        _delete_note,
        _move_note,
        _lose_the_cache,
        _break_the_cache,
    ],
)
def test_a_change_is_noticed(change: Callable[[Path, Vault], None], vault: Vault, logs: Path, reads: Reads) -> None:
    run(vault, logs)
    change(logs, vault)
    reads.take()
    run(vault, logs)
    assert reads.take()


def test_a_log_that_grew_is_known_again_after_one_import(vault: Vault, logs: Path, reads: Reads) -> None:
    run(vault, logs)
    _grow(logs, vault)
    assert run(vault, logs).updated
    reads.take()
    run(vault, logs)
    assert not reads.take()


def test_a_deleted_note_is_made_again(vault: Vault, logs: Path, reads: Reads) -> None:
    created = run(vault, logs).created
    _delete_note(logs, vault)
    assert run(vault, logs).created == created


def test_a_deleted_session_stays_deleted(vault: Vault, logs: Path, reads: Reads) -> None:
    run(vault, logs)
    _delete_note(logs, vault)
    append_tombstone(vault.root, Tombstone("e", "s", LATER, (f"claude-code:{SESSION}",)), fsync=False)
    report = run(vault, logs)
    assert (report.created, report.left_out) == ((), {"deleted": 1})


def test_a_session_that_may_still_run_is_read_until_it_rests(vault: Vault, logs: Path, reads: Reads) -> None:
    last = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    rows = [user("Fix it", timestamp=last.isoformat()), assistant(text("Fixed."), timestamp=last.isoformat())]
    write_rows(session_file(logs), rows)
    run(vault, logs, now=last + timedelta(minutes=1))
    (note,) = vault.session_paths()
    assert "status: active" in note.read_text()
    reads.take()
    run(vault, logs, now=last + timedelta(hours=2))
    assert reads.take()
    assert "status: active" not in note.read_text()
    run(vault, logs, now=last + timedelta(hours=3))
    assert not reads.take()


def test_other_settings_read_every_log(vault: Vault, logs: Path, reads: Reads) -> None:
    run(vault, logs)
    reads.take()
    run(Vault(vault.root, VaultSettings(fsync=False, idle_minutes=5)), logs)
    assert reads.take()


def test_a_log_that_was_just_written_is_not_trusted(vault: Vault, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crucible.core.file_stamps._FINE", 1 << 60)
    known = Reads(monkeypatch)
    run(vault, logs)
    known.take()
    run(vault, logs)
    assert known.take()


# --- whole imports ---------------------------------------------------------------------------------------------------


def question(vault: Vault, folder: Path) -> Question:
    found = ask(str(vault.root), vault.settings, "1", [((CLAUDE,), folder)])
    assert found
    return found


def run_and_keep(vault: Vault, folder: Path) -> list[ImportReport]:
    asked = question(vault, folder)
    known = KnownLogs(vault, LATER, "1")
    import_all(vault, [Search(CLAUDE, (folder,))], options=ImportOptions(LATER), known=known)
    state = state_of_vault(asked)
    reports = known.confirm()
    assert reports
    keep(asked, state, known.files(), ([(Search(CLAUDE, (folder,)), reports[0])], ()), until=known.until())
    return reports


def test_an_import_is_answered_as_the_next_one_would_report(vault: Vault, logs: Path, reads: Reads) -> None:
    (kept,) = run_and_keep(vault, logs)
    found = answer(question(vault, logs))
    assert found
    assert found[0][0] == (Search(CLAUDE, (logs,)), kept)
    assert run(vault, logs) == kept


@pytest.mark.parametrize(
    "change",
    [_grow, _rewrite, _shorten, _add_subagent, _add_output, _edit_note, _delete_note, _move_note, _lose_the_cache],
)
def test_an_import_is_not_answered_after_a_change(
    change: Callable[[Path, Vault], None], vault: Vault, logs: Path, reads: Reads
) -> None:
    run_and_keep(vault, logs)
    change(logs, vault)
    assert answer(question(vault, logs)) is None


def test_an_import_is_not_answered_after_a_deletion(vault: Vault, logs: Path, reads: Reads) -> None:
    run_and_keep(vault, logs)
    append_tombstone(vault.root, Tombstone("e", "s", LATER, ("claude-code:x",)), fsync=False)
    assert answer(question(vault, logs)) is None


def test_files_are_no_question(vault: Vault, logs: Path) -> None:
    assert ask(str(vault.root), vault.settings, "1", [((CLAUDE,), session_file(logs))]) is None


def goose_database(folder: Path, *names: str) -> Path:
    """A database with the session `one`, and copies of it."""
    path = write_goose(folder, goose_rows())
    with closing(sqlite3.connect(path)) as database:
        for name in names:
            database.execute(
                f"INSERT INTO sessions SELECT '{name}', name, user_set_name, working_dir, created_at, updated_at, 0, 0"
                " FROM sessions WHERE id = 'one'"
            )
            database.execute(
                "INSERT INTO messages (session_id, role, content_json, created_timestamp)"
                f" SELECT '{name}', role, content_json, created_timestamp FROM messages WHERE session_id = 'one'"
            )
        database.commit()
    return path


def add_prompt(path: Path, session: str) -> None:
    content = '[{"type": "text", "text": "More"}]'
    with closing(sqlite3.connect(path)) as database:
        told = (session, "user", content)
        database.execute("INSERT INTO messages (session_id, role, content_json) VALUES (?, ?, ?)", told)
        database.execute("UPDATE sessions SET updated_at = '2026-11-30 10:00:00' WHERE id = ?", (session,))
        database.commit()


def test_of_a_database_only_the_session_that_changed_is_read_again(vault: Vault, tmp_path: Path, reads: Reads) -> None:
    path = goose_database(tmp_path / "goose", "two", "three")
    assert len(run(vault, path.parent, now=QUIET, dialect=GOOSE).created) == 3
    assert len(reads.take()) == 3
    add_prompt(path, "two")
    again = run(vault, path.parent, now=QUIET, dialect=GOOSE)
    assert (len(again.updated), len(again.unchanged), len(reads.take())) == (1, 2, 1)


def turn_of(vault: Vault, path: Path, table: SourceTable | None = None) -> ImportReport:
    """Import what was written lately, as a watcher does."""
    since = datetime(2026, 11, 30, tzinfo=UTC)
    search = Search(GOOSE, (path,), wanted=Wanted(since=since))
    (report,) = import_all(vault, [search], options=ImportOptions(QUIET, since=since, whole_turns=True), table=table)
    return report


def test_a_turn_among_many_sessions_opens_the_database_a_few_times(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = goose_database(tmp_path / "goose", *(f"s{number}" for number in range(40)))
    add_prompt(path, "s7")
    connect: Any = sqlite3.connect
    opened: list[object] = []

    def counted(*args: Any, **more: Any) -> Any:
        opened.append(args)
        return connect(*args, **more)

    monkeypatch.setattr(sqlite3, "connect", counted)
    assert turn_of(vault, path).sessions == 1
    assert len(opened) < 10


def test_a_turn_costs_the_same_among_twice_as_many_sessions(tmp_path: Path) -> None:
    steps = []
    for number in (60, 120):
        vault = make_vault(tmp_path / f"vault {number}")
        path = goose_database(tmp_path / f"goose {number}", *(f"s{each}" for each in range(number)))
        add_prompt(path, "s7")
        turn_of(vault, path)
        table = SourceTable(vault)
        add_prompt(path, "s7")
        steps.append(steps_of(lambda vault=vault, path=path, table=table: turn_of(vault, path, table)))  # type: ignore[misc]
    assert steps[1] < 1.02 * steps[0]


def test_of_a_session_that_may_still_run_only_news_are_read(vault: Vault, logs: Path, reads: Reads) -> None:
    last = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
    rows = [user("Fix it", timestamp=last.isoformat()), assistant(text("Fixed."), timestamp=last.isoformat())]
    write_rows(session_file(logs), rows)
    run(vault, logs, now=last + timedelta(minutes=1))
    reads.take()
    run(vault, logs, now=last + timedelta(minutes=2))
    assert not reads.take()


def test_an_answer_holds_no_longer_than_a_session_may_still_run(vault: Vault, logs: Path, reads: Reads) -> None:
    last = datetime.now(UTC)
    rows = [user("Fix it", timestamp=last.isoformat()), assistant(text("Fixed."), timestamp=last.isoformat())]
    write_rows(session_file(logs), rows)
    known = KnownLogs(vault, last, "1")
    import_all(vault, [Search(CLAUDE, (logs,))], options=ImportOptions(last), known=known)
    assert known.confirm()
    assert known.until() == last.timestamp() + vault.settings.idle_minutes * 60


def test_notes_that_have_not_changed_are_not_opened_for_the_next_table(
    vault: Vault, logs: Path, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(vault, logs)
    monkeypatch.setattr(note_sources, "_WORTH_IT", 1)
    before = SourceTable(vault)
    before.save()
    opened: list[str] = []
    read = note_sources._read_sources

    def counted(path: str) -> tuple[list[str], bool]:
        opened.append(path)
        return read(path)

    monkeypatch.setattr(note_sources, "_read_sources", counted)
    source = f"claude-code:{SESSION}"
    assert SourceTable(vault).find(source) == before.find(source)
    assert not opened
    _edit_note(logs, vault)
    assert SourceTable(vault).find(source) == before.find(source)
    assert len(opened) == 1
    _move_note(logs, vault)
    assert SourceTable(vault).find(source) != before.find(source)
