"""`cru lake export` and `cru lake query`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import toons

from crucible.commands.lake.lake_query import question_names
from crucible.vault.notes.vault import Vault
from tests.paths import ROOT
from tests.running import Cru
from tests.unit.commands.lake.exported_vaults import SAID, files_with, write_session


@pytest.fixture
def lake(cru: Cru, vault: Vault, tmp_path: Path) -> Path:
    write_session(vault, "a", SAID)
    write_session(vault, "b", SAID, project="ledger")
    done = cru("lake", "export", tmp_path / "lake")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "2 sessions, 2 partitions written, 0 unchanged" in done.stderr
    return tmp_path / "lake"


def test_an_export_reports_what_it_wrote(cru: Cru, lake: Path) -> None:
    report = json.loads(cru("lake", "export", lake, "--json").stdout)
    assert (report["written"], report["unchanged"], report["rows"]["calls"], report["problems"]) == (0, 2, 2, [])


def test_a_query_prints_a_table_json_toon_or_csv(bare_cru: Cru, lake: Path) -> None:
    ask = ("lake", "query", "--lake", lake, "SELECT tool, count(*) AS n FROM calls GROUP BY tool")
    assert bare_cru(*ask).stdout == "tool  n\nBash  2\n"
    assert json.loads(bare_cru(*ask, "--json").stdout)["rows"] == [{"tool": "Bash", "n": 2}]
    assert toons.loads(bare_cru(*ask, "--format", "toon").stdout)["rows"] == [{"tool": "Bash", "n": 2}]
    assert bare_cru(*ask, "--format", "csv").stdout == "tool,n\nBash,2\n"


def test_the_lake_may_be_named_in_the_environment(bare_cru: Cru, lake: Path) -> None:
    done = bare_cru("lake", "query", "--question", "failures-by-tool", "-n", "1", env={"CRUCIBLE_LAKE": str(lake)})
    assert done.stdout.split() == [
        "tool",
        "calls",
        "failed",
        "failed_percent",
        "rejected",
        "median_ms",
        "Bash",
        "2",
        "0",
        "0.0",
        "0",
        "1000.0",
    ]


def test_a_list_of_deletions_has_comments_and_one_id_a_line(cru: Cru, lake: Path, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# asked for on Monday\n\na\n  claude-code:id-b \n")
    assert "0 sessions" in cru("lake", "export", lake, "--delete-list", tmp_path / "list").stderr
    assert list(lake.rglob("*.parquet")) == []
    assert files_with(lake, "id-b") == []


def test_a_damaged_log_is_named_and_the_exit_code_is_3(cru: Cru, vault: Vault, lake: Path) -> None:
    (vault.root / ".crucible" / "archive" / "a.jsonl.zst").write_bytes(b"nothing")
    done = cru("lake", "export", lake)
    assert (done.exit_code, done.stderr.partition(":")[0]) == (3, "a")


def test_a_query_needs_sql_or_a_question(bare_cru: Cru, lake: Path) -> None:
    done = bare_cru("lake", "query", "--lake", lake)
    assert (done.exit_code, "failures-by-tool" in done.stderr) == (2, True)


def test_every_question_and_column_is_documented(bare_cru: Cru) -> None:
    from crucible.commands.lake.lake_tables import TABLES, VERSION

    page = (ROOT / "docs" / "lake.md").read_text(encoding="utf-8")
    assert [name for name in question_names() if f"| `{name}` |" not in page] == []
    assert f"The tables have version {VERSION}." in page
    for table, columns in TABLES.items():
        section = page.partition(f"**{table}**")[2].partition("\n**")[0]
        known = "costs.md index session seq time phase subagent model tokens input output" + section
        missing = [name for name in columns if name not in known and table != "costs"]
        assert missing == [], table


@pytest.mark.parametrize("command", [("export", "lake"), ("query", "--lake", "lake", "SELECT 1")])
def test_without_the_extra_the_command_that_adds_it_is_named(
    cru: Cru, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def without(name: str) -> object:
        return None if name == "pyarrow" else find_spec(name)

    monkeypatch.setattr("crucible.cli.lake_commands.find_spec", without)
    done = cru("lake", *command)
    assert (done.exit_code, 'needs the extra "lake"' in done.stderr) == (1, True)
    assert "[lake]" in done.stderr
