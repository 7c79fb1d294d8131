from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import toons

from crucible.vault.store import Vault
from tests.cli.notes import CLOCK, LIMITER, note, write
from tests.running import Cru

COLUMNS = (  # noqa: SIM905 - as the specification lists them
    "id title project status started ended duration_s participants channel model tokens_used tokens_cached phases "
    "tool_calls failures decisions errors users parent path problems"
).split()


@pytest.fixture
def two(vault: Vault) -> Vault:
    write(vault, "2026-11-21-limiter", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    write(
        vault, "old/2026-10-01-sale", note("2026-10-01-sale", started="2026-10-01T08:00:00Z", status="paused")
    )
    return vault


def test_the_table_shows_id_status_start_and_participants_newest_first(two: Vault, cru: Cru) -> None:
    result = cru("session", "list")
    assert result.exit_code == 0
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["id", "status", "started", "participants"],
        ["2026-11-21-limiter", "completed", "2026-11-21T20:26:47Z", "claude-code@2.1.197,", "helper"],
        ["2026-10-01-sale", "paused", "2026-10-01T08:00:00Z", "-"],
    ]
    assert "\x1b" not in result.stdout


def test_colours_are_asked_for_or_left_out(two: Vault, bare_cru: Cru) -> None:
    assert "\x1b[" in bare_cru("--vault", two.root, "--color", "session", "list").stdout
    assert "\x1b[" not in bare_cru("--vault", two.root, "--no-color", "session", "list").stdout


def test_a_json_row_has_every_column_in_order(two: Vault, cru: Cru) -> None:
    rows = json.loads(cru("session", "list", "--format", "json").stdout)
    assert [list(row) for row in rows] == [COLUMNS, COLUMNS]
    assert rows[0] == {
        "id": "2026-11-21-limiter",
        "title": "Add a rate limiter",
        "project": "shop",
        "status": "completed",
        "started": "2026-11-21T20:26:47Z",
        "ended": "2026-11-21T20:36:52Z",
        "duration_s": 605,
        "participants": ["claude-code@2.1.197", "helper"],
        "channel": "dev",
        "model": "claude-opus-4-8",
        "tokens_used": 1944,
        "tokens_cached": 6000,
        "phases": 2,
        "tool_calls": 2,
        "failures": 1,
        "decisions": 1,
        "errors": 1,
        "users": 1,
        "parent": None,
        "path": "sessions/2026-11-21-limiter.md",
        "problems": 0,
    }


def test_toon_is_one_table_and_reads_back(two: Vault, cru: Cru) -> None:
    text = cru("session", "list", "--format", "toon").stdout
    assert text.startswith("sessions[2]{id,title,")
    rows = toons.loads(text)["sessions"]
    assert [row["id"] for row in rows] == ["2026-11-21-limiter", "2026-10-01-sale"]


def test_paths_are_files_that_are_there(two: Vault, cru: Cru) -> None:
    paths = cru("session", "list", "--format", "paths").stdout.splitlines()
    assert len(paths) == 2
    assert all(Path(path).is_file() for path in paths)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--status", "paused"], ["2026-10-01-sale"]),
        (["--agent", "claude-code"], ["2026-11-21-limiter"]),
        (["--agent", "claude-code@2.1.197"], ["2026-11-21-limiter"]),
        (["--agent", "claude-code@1"], []),
        (["--channel", "ops"], ["2026-11-21-limiter"]),
        (["--channel", "none"], []),
        (["--model", "opus"], ["2026-11-21-limiter"]),
        (["--project", "shop"], ["2026-11-21-limiter"]),
        (["--since", "2026-11-21"], ["2026-11-21-limiter"]),
        (["--until", "2026-11-01"], ["2026-10-01-sale"]),
        (["--limit", "1"], ["2026-11-21-limiter"]),
        (["--limit", "0"], []),
        (["--children"], ["2026-11-21-clock", "2026-11-21-limiter", "2026-10-01-sale"]),
    ],
    ids=lambda v: " ".join(v) if v and v[0].startswith("--") else None,
)
def test_a_filter_narrows_the_list(two: Vault, cru: Cru, options: list[str], found: list[str]) -> None:
    rows = json.loads(cru("session", "list", *options, "--format", "json").stdout)
    assert [row["id"] for row in rows] == found


def test_an_unknown_format_or_status_is_refused(vault: Vault, cru: Cru) -> None:
    for wrong in (["--format", "yaml"], ["--status", "done"], ["--since", "soon"], ["--limit", "-1"]):
        result = cru("session", "list", *wrong)
        assert result.exit_code == 2, wrong
        assert result.stdout == ""
        assert result.stderr.startswith("cru: ")


def test_an_empty_vault_is_an_empty_list(vault: Vault, cru: Cru) -> None:
    assert cru("session", "list", "--format", "json").stdout == "[]\n"
    assert cru("session", "list").exit_code == 0


def test_what_cannot_be_read_is_a_row_with_a_problem(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "2026-01-01-gone.md").symlink_to(vault.root / "nowhere.md")
    write(vault, "2026-01-02-bytes", b"---\nstatus: \xff\n")
    write(vault, "2026-01-03-bare", "no frontmatter")
    result = cru("session", "list", "--format", "json")
    rows = {row["id"]: row["problems"] for row in json.loads(result.stdout)}
    assert set(rows) == {"2026-01-01-gone", "2026-01-02-bytes", "2026-01-03-bare"}
    assert all(rows.values())
    assert "2026-01-01-gone" in result.stderr


def test_a_note_cannot_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    write(
        vault,
        "2026-01-02-evil",
        note("2026-01-02-evil", participants='["a\\e[2Jb\\a"]', status='"\\e[31mred"'),
    )
    for format_ in ("table", "toon", "paths"):
        assert "\x1b" not in cru("session", "list", "--format", format_).stdout
    assert "\\u001b[2J" in cru("session", "list", "--format", "json").stdout


def test_no_vault_says_how_to_get_one(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = bare_cru("session", "list")
    assert result.exit_code == 1
    assert "cru init" in result.stderr


def test_the_vault_is_named_by_the_environment_or_found_above(
    two: Vault, bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_environment = bare_cru("session", "list", env={"CRUCIBLE_VAULT": str(two.root)})
    assert "2026-11-21-limiter" in by_environment.stdout
    monkeypatch.chdir(two.root / "sessions" / "old")
    assert bare_cru("session", "list").stdout == by_environment.stdout


def test_an_unknown_setting_is_named_and_harmless(two: Vault, bare_cru: Cru) -> None:
    (two.root / ".crucible" / "config.toml").write_text("colour = 1\n")
    result = bare_cru("--vault", two.root, "session", "list")
    assert result.exit_code == 0
    assert "config.toml:1: unknown setting 'colour'" in result.stderr


_FORGED = "x\\n2026-01-01-fake  completed\\u2028y\\u0085z\\rw"


def test_a_note_cannot_forge_a_row_of_the_table(vault: Vault, cru: Cru) -> None:
    write(vault, "a", note("a", status=f'"{_FORGED}"', participants=f'["{_FORGED}"]'))
    shown = cru("session", "list").stdout
    assert len(shown.splitlines()) == 2
    assert "x⏎2026-01-01-fake" in shown


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_a_file_name_with_a_newline_forges_neither_a_row_nor_a_path(vault: Vault, cru: Cru) -> None:
    write(vault, "a\n2026-01-01-fake", note("a"))
    write(vault, "b", note("b"))
    assert len(cru("session", "list").stdout.splitlines()) == 3
    paths = cru("session", "list", "--format", "paths")
    assert paths.stdout == f"{vault.root / 'sessions' / 'b.md'}\n"
    assert (
        paths.stderr == "sessions/a⏎2026-01-01-fake.md:1: unprintable-path: left out, a line cannot hold it\n"
    )
    assert paths.exit_code == 3


@pytest.mark.parametrize("format_", ["table", "json", "paths"])
def test_a_sessions_folder_that_cannot_be_walked_is_named_and_exits_3(
    vault: Vault, cru: Cru, tmp_path: Path, format_: str
) -> None:
    (vault.root / "sessions").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (vault.root / "sessions").symlink_to(tmp_path / "elsewhere")
    result = cru("session", "list", "--format", format_)
    assert result.exit_code == 3
    assert "leads out of the vault" in result.stderr
    (vault.root / "sessions").unlink()
    (vault.root / "sessions").write_text("a file")
    assert cru("session", "list", "--format", format_).exit_code == 3


def test_a_note_that_cannot_be_read_leaves_the_exit_code_0(vault: Vault, cru: Cru) -> None:
    (vault.root / "sessions" / "gone.md").symlink_to(vault.root / "nowhere.md")
    assert cru("session", "list").exit_code == 0


def test_asking_for_colours_wins_over_no_color(two: Vault, bare_cru: Cru) -> None:
    for command in (["list"], ["show", "2026-11-21-limiter"]):
        result = bare_cru("--vault", two.root, "--color", "session", *command, env={"NO_COLOR": "1"})
        assert "\x1b[" in result.stdout


def test_an_empty_vault_option_is_refused(two: Vault, bare_cru: Cru, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two.root)
    result = bare_cru("--vault", "", "session", "list")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "'--vault': it is empty" in result.stderr


def test_a_file_is_no_vault_and_init_is_not_the_way_out(bare_cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = bare_cru("--vault", tmp_path / "file", "session", "list")
    assert result.exit_code == 1
    assert "cru init" not in result.stderr
