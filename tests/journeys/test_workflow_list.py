from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import toons

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import on_a_terminal
from tests.journeys.workflow_notes import BROKEN, PLAIN, RELEASE, put
from tests.running import Cru, CruProcess

COLUMNS = [
    "name",
    "title",
    "steps",
    "runs",
    "last_run",
    "last_status",
    "problems",
    "errors",
    "sessions",
    "path",
]


@pytest.fixture
def two(vault: Vault) -> Vault:
    put(vault, "workflows/release.md", RELEASE)
    put(vault, "workflows/plain.md", PLAIN)
    write(vault, "2026-11-20-release", note("2026-11-20-release"))
    return vault


def rows_of(cru: Cru) -> list[dict[str, object]]:
    """The list, as JSON has it."""
    rows: list[dict[str, object]] = json.loads(cru("workflow", "list", "--format", "json").stdout)["workflows"]
    return rows


def test_the_table_has_a_line_for_each_workflow_by_name(two: Vault, cru: Cru) -> None:
    result = cru("workflow", "list")
    assert (result.exit_code, result.stderr) == (0, "")
    head, plain, release = result.stdout.splitlines()
    assert head.split() == COLUMNS[:7]
    assert plain.split() == ["plain", "Simple", "pipeline", "2", "1", "-", "success", "0"]
    assert release.split()[:5] == ["release", "Release", "checklist", "4", "2"]
    assert release.split()[5:] == ["2026-11-21T10:00:00Z", "success", "0"]


def test_json_and_toon_have_all_columns(two: Vault, cru: Cru) -> None:
    rows = rows_of(cru)
    assert [list(row) for row in rows] == [COLUMNS, COLUMNS]
    assert rows[1] == {
        "name": "release",
        "title": "Release checklist",
        "steps": 4,
        "runs": 2,
        "last_run": "2026-11-21T10:00:00Z",
        "last_status": "success",
        "problems": 0,
        "errors": 0,
        "sessions": ["2026-11-20-release", "2026-11-21-release"],
        "path": "workflows/release.md",
    }
    table = toons.loads(cru("workflow", "list", "--format", "toon").stdout)["workflows"]
    assert [row["name"] for row in table] == ["plain", "release"]


def test_no_workflows_are_an_empty_list_and_say_how_to_get_one(vault: Vault, cru: Cru) -> None:
    assert json.loads(cru("workflow", "list", "--json").stdout) == {"schema": 1, "workflows": []}
    assert cru("workflow", "list", "--format", "toon").stdout == f"schema: 1\nworkflows[0]{{{','.join(COLUMNS)}}}:\n"
    assert cru("workflow", "list", "--format", "paths").stdout == ""
    result = cru("workflow", "list")
    assert result.exit_code == 0
    assert "cru session codify" in result.stderr


def test_paths_are_files_that_are_there(two: Vault, cru: Cru) -> None:
    paths = cru("workflow", "list", "--format", "paths").stdout.splitlines()
    assert [Path(path).name for path in paths] == ["plain.md", "release.md"]
    assert all(Path(path).is_file() for path in paths)
    ended = cru("workflow", "list", "--format", "paths", "-0").stdout_bytes
    assert ended.decode().split("\0") == [*paths, ""]
    assert cru("workflow", "list", "-0").exit_code == 2


def test_problems_are_counted_and_a_note_that_cannot_be_read_is_a_row(two: Vault, cru: Cru) -> None:
    put(two, "workflows/broken.md", BROKEN)
    (two.root / "workflows" / "gone.md").symlink_to(two.root / "nowhere.md")
    result = cru("workflow", "list", "--format", "json")
    rows = {row["name"]: row for row in json.loads(result.stdout)["workflows"]}
    assert rows["broken"]["errors"] >= 4
    assert rows["broken"]["problems"] > rows["broken"]["errors"]
    assert (rows["gone"]["problems"], rows["gone"]["steps"], rows["gone"]["title"]) == (1, None, None)
    assert result.stderr.startswith("workflows/gone.md:1: unreadable-note: ")
    assert result.exit_code == 0


def test_a_folder_that_cannot_be_walked_is_named_and_exits_3(two: Vault, cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (two.root / "linked").symlink_to(tmp_path / "elsewhere")
    result = cru("workflow", "list")
    assert result.exit_code == 3
    assert "points outside the vault" in result.stderr
    assert len(result.stdout.splitlines()) == 3


def test_what_is_no_utf8_is_listed_all_the_same(vault: Vault, cru: Cru) -> None:
    put(
        vault,
        "workflows/latin.md",
        b"---\ntype: workflow\n---\n# Caf\xe9\n\n## Br\xfche\na \xe9 \xe2\x86\x92 b\n",
    )
    for format_ in ("text", "json", "toon"):
        result = cru("workflow", "list", "--format", format_)
        assert result.exit_code == 0
        assert "latin" in result.stdout
    assert rows_of(cru)[0]["title"] == "Caf\ufffd"


def test_a_title_cannot_steer_the_terminal_or_forge_a_row(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/evil.md", "# a\x1b[2Jb\u2028forged  row\x85x\u202ey\n\n## s\n")
    for format_ in ("text", "toon"):
        shown = cru("workflow", "list", "--format", format_).stdout
        assert not {"\x1b", "\x85", "\u202e"} & set(shown)
        assert shown.count("\n") == 2 + (format_ == "toon")
    assert "\u2028" not in cru("workflow", "list").stdout


@pytest.mark.skipif(os.name == "nt", reason="no such file names")
def test_a_file_name_cannot_either(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/a\nforged\x1b[31m.md", PLAIN)
    shown = cru("workflow", "list").stdout
    assert len(shown.splitlines()) == 2
    assert "\x1b" not in shown
    paths = cru("workflow", "list", "--format", "paths")
    assert (paths.exit_code, paths.stdout) == (3, "")


def test_colours_are_for_those_who_want_them(two: Vault, bare_cru: Cru) -> None:
    assert "\x1b[" in bare_cru("--vault", two.root, "--color", "workflow", "list").stdout
    assert "\x1b[" not in bare_cru("--vault", two.root, "workflow", "list").stdout


@pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals")
def test_a_narrow_terminal_cuts_titles_first(two: Vault, cru_process: CruProcess) -> None:
    put(two, "workflows/long.md", RELEASE.replace("Release checklist", "A title " * 20))
    for columns in (90, 80):
        lines = on_a_terminal(cru_process, two, columns, "workflow", "list")
        assert max(map(len, lines)) <= columns
        assert "…" in "\n".join(lines)
        assert "2026-11-21 10:00  success" in "\n".join(lines)
        assert lines[-1].endswith("release")
    assert max(map(len, on_a_terminal(cru_process, two, 40, "workflow", "list"))) <= 40


def test_without_a_vault_there_is_nothing_to_list(
    bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = bare_cru("workflow", "list")
    assert result.exit_code == 1
    assert "cru init" in result.stderr


def test_listing_pauses_no_session_and_writes_nothing(two: Vault, cru: Cru) -> None:
    write(two, "2026-01-01-old", note("2026-01-01-old", status="active"))
    before = {path: path.read_bytes() for path in two.root.rglob("*.md")}
    cru("workflow", "list")
    assert {path: path.read_bytes() for path in two.root.rglob("*.md")} == before
