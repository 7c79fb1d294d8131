"""Sessions that worker processes read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import resume_mark
from crucible.clients.registry import DIALECTS
from crucible.commands.imports import imports, reading_ahead, trunk_fold
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.imports.reading_ahead import ReadingAhead
from crucible.core.settings.settings import VaultSettings
from crucible.memory.bookmarks.resume_tickets import issue_ticket
from crucible.vault.notes.vault import Vault
from samples.waiting import is_gone, wait_until
from tests.paths import ROOT, TESTS
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import LATER, bytes_of, make_vault, session_file, write_rows

TRANSCRIPTS = TESTS / "data" / "transcripts"


@pytest.fixture
def use_processes(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    def use(count: int) -> None:
        for module in (imports, reading_ahead):
            monkeypatch.setattr(module, "cores", lambda: count)
        monkeypatch.setattr(reading_ahead, "_WORTH_IT", 1)
        monkeypatch.setattr(reading_ahead, "_BLOCK", 1 << 12)

    return use


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of sessions that each import had workers read."""
    counts: list[int] = []
    begin = ReadingAhead.__init__

    def counted(self: ReadingAhead, vault: Vault, options: ImportOptions, tasks: list[reading_ahead.Task]) -> None:
        counts.append(len(tasks))
        begin(self, vault, options, tasks)

    monkeypatch.setattr(ReadingAhead, "__init__", counted)
    return counts


def run(vault: Vault, client: str, folder: Path, **options: object) -> ImportReport:
    return import_transcripts(
        vault,
        DIALECTS[client],
        [folder],
        options=ImportOptions(LATER, **options),  # type: ignore[arg-type]
    )


def content_of(vault: Vault) -> dict[str, bytes]:
    return {name: data for name, data in bytes_of(vault).items() if ".crucible/cache" not in name}


@pytest.mark.parametrize(
    ("client", "mode"),
    [*((client, "link") for client in ("claude-code", "codex", "gemini", "opencode", "pi")), ("claude-code", "inline")],
)
def test_any_number_of_processes_gives_the_same_vault(
    client: str, mode: str, tmp_path: Path, use_processes: Callable[[int], None], begun: list[int]
) -> None:
    found = []
    for count in (1, 3):
        use_processes(count)
        vault = make_vault(tmp_path / f"vault{count}", VaultSettings(fsync=False, subagents=mode))
        report = run(vault, client, TRANSCRIPTS / client)
        found.append((report, content_of(vault)))
        assert not [*(vault.root / ".crucible" / "cache").glob("importing/*")]
    assert found[0] == found[1]
    assert found[0][0].created
    assert len(begun) == 1


def test_a_process_that_shares_nothing_with_ours_reads_the_same(
    tmp_path: Path, use_processes: Callable[[int], None]
) -> None:
    use_processes(1)
    alone = make_vault(tmp_path / "alone")
    run(alone, "claude-code", TRANSCRIPTS / "claude-code")
    use_processes(2)
    other, done = make_vault(tmp_path / "other"), threading.Event()
    thread = threading.Thread(target=done.wait)  # with another thread, a process cannot be forked
    thread.start()
    try:
        run(other, "claude-code", TRANSCRIPTS / "claude-code")
    finally:
        done.set()
        thread.join()
    assert content_of(alone) == content_of(other)


def _sessions(folder: Path, *, begin: str = "", first: str = "Fix it") -> Path:
    for at in range(6):
        name = f"{at:08d}-2222-3333-4444-555555555555"
        write_rows(session_file(folder, name), [user(f"{begin}{first} {at}"), assistant(text("Fixed."))])
    return folder


def test_a_session_with_private_words_is_read_by_the_import(
    tmp_path: Path, use_processes: Callable[[int], None]
) -> None:
    folder = _sessions(tmp_path / "logs", begin="<private>acme corp</private> ")
    found = []
    for count in (1, 2):
        use_processes(count)
        vault = make_vault(tmp_path / f"vault{count}")
        found.append((run(vault, "claude-code", folder), content_of(vault)))
    assert found[0] == found[1]
    assert not any(b"acme corp" in data for data in found[1][1].values())


@pytest.mark.parametrize("client", ["claude-code", "codex"])
def test_recording_events_one_by_one_or_many_at_once_gives_the_same_vault(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for most in (1, 5, 1000):
        monkeypatch.setattr(trunk_fold, "_MOST", most)
        vault = make_vault(tmp_path / f"vault{most}")
        found.append((run(vault, client, TRANSCRIPTS / client), content_of(vault)))
    assert found[0] == found[1] == found[2]


def test_an_unreadable_log_is_reported_alike(tmp_path: Path, use_processes: Callable[[int], None]) -> None:
    folder = _sessions(tmp_path / "logs")
    session_file(folder, "00000002-2222-3333-4444-555555555555").write_text("no JSON\n" * 3)
    session_file(folder, "00000003-2222-3333-4444-555555555555").unlink()
    session_file(folder, "00000003-2222-3333-4444-555555555555").symlink_to(folder / "missing.jsonl")
    found = []
    for count in (1, 2):
        use_processes(count)
        vault = make_vault(tmp_path / f"vault{count}")
        found.append((run(vault, "claude-code", folder), content_of(vault)))
    assert found[0] == found[1]
    assert found[0][0].unreadable


def test_a_dry_run_with_processes_writes_nothing(
    tmp_path: Path, use_processes: Callable[[int], None], begun: list[int]
) -> None:
    use_processes(2)
    vault = make_vault(tmp_path / "vault")
    before = sorted(vault.root.rglob("*"))
    assert run(vault, "claude-code", _sessions(tmp_path / "logs"), dry_run=True).created
    assert begun
    assert sorted(vault.root.rglob("*")) == before


@pytest.mark.parametrize("options", [{"whole_turns": True}, {"only_project": "x"}, {"met": lambda *_: None}])
def test_hooks_and_filters_start_no_process(
    options: dict[str, object], tmp_path: Path, use_processes: Callable[[int], None], begun: list[int]
) -> None:
    use_processes(2)
    run(make_vault(tmp_path / "vault"), "claude-code", _sessions(tmp_path / "logs"), **options)
    assert not begun


def test_known_sessions_and_a_single_one_start_no_process(
    tmp_path: Path, use_processes: Callable[[int], None], begun: list[int]
) -> None:
    use_processes(2)
    vault, folder = make_vault(tmp_path / "vault"), _sessions(tmp_path / "logs")
    run(vault, "claude-code", folder)
    run(vault, "claude-code", folder)
    write_rows(session_file(folder), [user("One more"), assistant(text("Fine."))])
    run(vault, "claude-code", folder)
    assert begun == [6]


def test_a_session_that_continues_another_is_no_workers(
    tmp_path: Path, use_processes: Callable[[int], None], begun: list[int]
) -> None:
    use_processes(2)
    vault, folder = make_vault(tmp_path / "vault"), _sessions(tmp_path / "logs")
    created = run(vault, "claude-code", folder).created
    ticket = issue_ticket(vault.root, created[0], "claude-code", LATER, fsync=False)
    more = tmp_path / "more"
    for at in range(3):
        prompt = f"{resume_mark(ticket.session, ticket.token)} Go on" if at == 0 else "Something else"
        rows = [user(prompt), assistant(text("Done."))]
        write_rows(session_file(more, f"{at:08d}-9999-3333-4444-555555555555"), rows)
    report = run(vault, "claude-code", more)
    assert begun == [6, 2]
    assert (len(report.created), report.updated) == (2, (created[0],))


def test_a_killed_import_leaves_whole_sessions_and_no_process(tmp_path: Path) -> None:
    folder, root = _sessions(tmp_path / "logs"), make_vault(tmp_path / "vault").root
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from tests.unit.commands.imports import test_reading_ahead as t\n"
        "t.import_and_stop(Path(sys.argv[1]), Path(sys.argv[2]))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script, str(root), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env, text=True) as process:
        assert process.stdout
        workers = [int(pid) for pid in process.stdout.readline().split()]
        process.send_signal(signal.SIGKILL)
    assert workers
    for pid in workers:
        wait_until(lambda pid=pid: is_gone(pid))  # type: ignore[misc]
    vault = Vault(root, VaultSettings(fsync=False))
    report = run(vault, "claude-code", folder)
    assert len(vault.session_paths()) == 6
    assert not report.unreadable


def import_and_stop(root: Path, folder: Path) -> None:
    """Print the workers' ids after the second session, and never go on."""
    for module in (imports, reading_ahead):
        module.cores = lambda: 2  # type: ignore[attr-defined]
    reading_ahead._WORTH_IT = 1

    def stop(done: int, _total: int, _name: str) -> None:
        if done == 2:
            children = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
            sys.stdout.write(children + "\n")
            sys.stdout.flush()
            threading.Event().wait()

    vault = Vault(root, VaultSettings(fsync=False))
    import_transcripts(vault, DIALECTS["claude-code"], [folder], options=ImportOptions(LATER), progress=stop)
