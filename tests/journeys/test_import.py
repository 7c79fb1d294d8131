from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from crucible.clients.launch.session_marks import OWN_MARK
from crucible.search.embedded.recall_files import RecallStore
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.paths import TESTS
from tests.running import Cru, CruProcess
from tests.unit.clients.building import SESSION, assistant, dump, text, user

DATA = TESTS / "data" / "transcripts" / "claude-code"
LIMITER = DATA / "limiter"


def _notes(vault: Vault) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in (vault.root / "sessions").rglob("*.md")}


def _import(cru: Cru, *args: str | Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(cru("import", "claude-code", *args, "--format", "json").stdout)
    return found


def test_real_transcripts_become_notes_that_list_show_and_check(vault: Vault, cru: Cru) -> None:
    report = _import(cru, DATA)
    assert list(report) == ["schema", "created", "updated", "unchanged", "unreadable", "clients"]
    assert report["created"]
    assert not report["unreadable"]
    rows = json.loads(cru("session", "list", "--children", "--format", "json").stdout)["sessions"]
    assert {row["id"] for row in rows} == set(report["created"])
    assert any(row["parent"] for row in rows)
    for row in rows:
        assert cru("session", "show", row["id"]).exit_code == 0
    check = cru("session", "check")
    assert (check.stdout, check.exit_code) == ("", 0)


def test_importing_twice_changes_no_byte(vault: Vault, cru: Cru) -> None:
    created = _import(cru, DATA)["created"]
    before = _notes(vault)
    again = _import(cru, DATA)
    assert sorted(again["unchanged"]) == sorted(created)
    assert (again["created"], again["updated"]) == ([], [])
    assert _notes(vault) == before


def test_a_dry_run_says_the_same_and_writes_nothing(vault: Vault, cru: Cru) -> None:
    everything = sorted(vault.root.rglob("*"))
    would = cru("import", "claude-code", LIMITER, "--dry-run")
    assert would.stdout.splitlines()[0] == "Dry run: nothing is written."
    assert sorted(vault.root.rglob("*")) == everything
    created = _import(cru, LIMITER)["created"]
    assert f"  new         1 session and {len(created) - 1} subagents" in would.stdout.splitlines()


def test_the_summary_counts(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    trunk = next(LIMITER.rglob("dc14014e-*.jsonl"))
    broken.write_bytes(trunk.read_bytes() + b'{"type": "user", "mess\n')
    result = cru("import", "claude-code", broken)
    line = len(trunk.read_bytes().splitlines()) + 1
    assert result.exit_code == 3
    assert f"{broken}:{line}: unreadable: " in result.stderr
    assert result.stdout.splitlines() == [
        "Claude Code",
        "  new         1 session and 2 subagents",
        "  unreadable  1",
    ]


def test_verbose_lists_every_session(vault: Vault, cru: Cru) -> None:
    shown = cru("import", "claude-code", LIMITER, "-v").stdout
    rows = json.loads(cru("session", "list", "--children", "--json").stdout)["sessions"]
    assert len(rows) > 1
    assert all(f"    {row['id']}\n" in shown for row in rows)


def test_many_unreadable_files_are_counted(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number}.jsonl").write_text("no json\n")
    files = sorted(tmp_path.glob("*.jsonl"))
    result = cru("import", "claude-code", *files)
    assert result.stderr.count(": unreadable: ") == 10
    assert "2 more unreadable; -v shows them" in result.stderr
    assert cru("import", "claude-code", *files, "-v").stderr.count(": unreadable: ") == 12


def test_a_session_that_cru_started_is_skipped_in_words(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(dump([user(f"{OWN_MARK} What mattered?"), assistant(text("Nothing."))]))
    assert "  skipped     1: started by cru itself\n" in cru("import", "claude-code", path).stdout


@pytest.mark.parametrize("content", [b"\x00\xff\x13random" * 50, b"", None], ids=["bytes", "empty", "missing"])
def test_what_is_no_transcript_is_named_and_the_rest_goes_on(
    vault: Vault, cru: Cru, tmp_path: Path, content: bytes | None
) -> None:
    odd = tmp_path / "odd.jsonl"
    if content is not None:
        odd.write_bytes(content)
    result = cru("import", "claude-code", odd, LIMITER, "--format", "json")
    report = json.loads(result.stdout)
    assert report["created"]
    assert result.exit_code == 3
    assert all(set(row) == {"path", "line", "reason"} and row["path"] == str(odd) for row in report["unreadable"])
    assert report["unreadable"]


def test_since_leaves_out_what_was_not_written_to(vault: Vault, cru: Cru) -> None:
    assert _import(cru, LIMITER, "--since", "2100-01-01")["created"] == []
    assert _import(cru, LIMITER, "--since", "2020-01-01")["created"]


def test_project_narrows_to_one(vault: Vault, cru: Cru) -> None:
    assert _import(cru, LIMITER, "--project", "no-such-project")["created"] == []


def test_without_a_path_the_clients_own_folder_is_read(vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = cru("import", "claude-code")
    assert missing.exit_code == 1
    assert "cru import claude-code PATH" in missing.stderr
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(LIMITER))
    assert cru("import", "claude-code").exit_code == 0


def test_an_unknown_format_is_refused(vault: Vault, cru: Cru) -> None:
    assert cru("import", "claude-code", LIMITER, "--format", "yaml").exit_code == 2


def test_a_path_cannot_forge_a_line_of_the_report(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    result = cru("import", "claude-code", tmp_path / "x\nfake.jsonl:1: unreadable: y.jsonl")
    assert result.exit_code == 3
    assert result.stderr.startswith(f"{tmp_path}/x⏎fake.jsonl:1: ")
    assert len(result.stderr.splitlines()) == 2
    assert result.stdout.splitlines() == ["Claude Code", "  unreadable  1"]


def test_import_says_where_the_original_of_a_secret_still_is(vault: Vault, cru: Cru, tmp_path: Path) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(dump([user("DB_PASSWORD=xzsWEHfBRJRH"), assistant(text("No."), stop="end_turn")]))
    done = cru("import", "claude-code", path)
    assert f"1 secret redacted in the notes; the transcript still has them: {path}\n" in done.stderr
    assert "redacted" not in cru("import", "claude-code", path).stderr


@pytest.mark.parametrize("named", [("claude-code",), ()])
def test_an_import_with_nothing_new_says_the_same_and_opens_no_log(
    named: tuple[str, ...], vault: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(LIMITER, tmp_path / "logs")
    time.sleep(0.1)  # times this fresh are not trusted
    cru("import", *named, tmp_path / "logs")
    answers = vault.root / ".crucible" / "cache" / "import-answers.json"
    assert answers.is_file()
    answers.unlink()
    read = cru("import", *named, tmp_path / "logs")
    assert answers.is_file()
    monkeypatch.setattr("crucible.cli.import_run.run_import", None)
    again = cru("import", *named, tmp_path / "logs")
    assert (again.exit_code, again.stdout, again.stderr) == (read.exit_code, read.stdout, read.stderr)
    assert "unchanged" in again.stdout


def test_an_import_builds_the_index_of_recall_in_the_background(vault: Vault, cru_process: CruProcess) -> None:
    imported = cru_process("--vault", vault.root, "import", "claude-code", LIMITER, env={"CI": ""})
    assert imported.returncode == 0
    store = RecallStore(vault.root / ".crucible" / "cache" / "recall")
    wait_until(lambda: store.load().is_complete)
    assert {Path(path).name for path in store.load().rows} == _notes(vault).keys()
