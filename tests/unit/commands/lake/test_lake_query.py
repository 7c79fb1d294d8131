from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from crucible.commands.lake.lake_manifest import LakeManifest, all_manifests
from crucible.commands.lake.lake_query import Lake, query_lake, question_names, question_sql
from crucible.commands.lake.lake_store import LakeStore, open_store
from crucible.commands.lake.lake_tables import TABLES
from crucible.core.errors import UsageError, VaultError
from crucible.vault.notes.vault import Vault
from tests.unit.commands.lake.exported_vaults import SAID, call, export, rows, write_session


@pytest.fixture
def lake(vault: Vault, tmp_path: Path) -> Path:
    edit = call("Edit", ident="c5", path="a.py")
    failed = call("Bash", "failed", ident="c2", command="make")
    write_session(vault, "a", [*SAID, *failed, *call("Bash", ident="c3", command="make"), *edit])
    write_session(vault, "b", [*SAID, SAID[0]], project="ledger")
    write_session(vault, "a-child", SAID, parent="a")
    export(vault, tmp_path / "lake")
    return tmp_path / "lake"


def test_every_documented_question_is_answered(lake: Path) -> None:
    opened = Lake(open_store(str(lake)))
    first = {name: opened.ask(question_sql(name)).rows[0] for name in question_names()}
    opened.close()
    assert len(first) == 12
    assert first["failures-by-tool"] == {
        "tool": "Bash",
        "calls": 5,
        "failed": 1,
        "failed_percent": 20.0,
        "rejected": 0,
        "median_ms": 1000.0,
    }
    assert first["retried-calls"] == {"tool": "Bash", "failed": 1, "retried": 1, "then_ok": 1, "then_ok_percent": 100.0}
    assert first["recurring-corrections"]["sessions"] == 3
    assert first["interventions"]["interventions"] == 1
    assert first["time-to-first-edit"]["median_s"] == 7.0
    assert first["subagents-share"]["subagents_percent"] == 33.3
    assert first["cache-share"]["cached_percent"] == 83.3
    assert first["cost-by-project-and-week"]["week"] == "2026-11-16"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM sniff_csv('{file}')",
        "SELECT * FROM read_parquet('s3://bucket/x.parquet')",
        "SELECT * FROM read_json('http://127.0.0.1:9/')",
        "SELECT * FROM secret",
        "SELECT * FROM vault",
        "SELECT getenv('HOME')",
        "COPY (SELECT 1) TO '{file}'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'",
        "ATTACH '{file}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA enable_external_access = true",
        "CREATE TABLE t AS SELECT 1",
        "DROP VIEW calls",
        "DELETE FROM calls",
        "SELECT 1; SELECT 2",
        "",
        "SELEC",
    ],
)
def test_a_query_reaches_nothing_but_the_lake(lake: Path, tmp_path: Path, sql: str) -> None:
    secret = pa.table({"x": [1]})
    file = tmp_path / "secret.csv"
    file.write_text("x\nsecret\n")
    with pytest.raises(UsageError):
        rows(lake, sql.format(file=file))
    assert secret.num_rows == 1
    assert file.read_text() == "x\nsecret\n"


def test_a_query_cannot_write_the_files_of_the_lake(lake: Path) -> None:
    file = min(lake.glob("calls/*/*/*.parquet"))
    before = file.read_bytes()
    for sql in ("COPY (SELECT 1) TO '{file}'", "EXPLAIN ANALYZE COPY (SELECT 1) TO '{file}'", "ATTACH '{file}' AS x"):
        with pytest.raises(UsageError):
            rows(lake, sql.format(file=file))
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", ["it's a [lake]*", "it's \u00e9"])
def test_a_lake_may_have_any_name(vault: Vault, tmp_path: Path, name: str) -> None:
    write_session(vault, "a", SAID)
    export(vault, tmp_path / name)
    assert rows(tmp_path / name, "SELECT month, tool FROM calls") == [{"month": "2026-11", "tool": "Bash"}]


def test_a_lake_without_rows_of_a_table_still_has_the_table(lake: Path) -> None:
    assert rows(lake, "SELECT count(*) AS n FROM cases") == [{"n": 0}]
    assert {row["column_name"] for row in rows(lake, "DESCRIBE cases")} == {*TABLES["cases"], "month", "project"}


def test_cells_are_json_values_and_columns_have_names_of_their_own(lake: Path) -> None:
    sql = "SELECT 1 AS a, 2 AS a, 10::HUGEINT ** 30 AS b, 0.5::DECIMAL(3, 1) AS c, 'nan'::FLOAT AS d, DATE '2026-11-21' AS e, [1] AS f, NULL AS g"
    (row,) = rows(lake, sql)
    assert row == {"a": 1, "a_2": 2, "b": 1e30, "c": 0.5, "d": None, "e": "2026-11-21", "f": [1], "g": None}


def test_a_query_during_an_export_reads_the_manifest_again(
    lake: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crucible.commands.lake import lake_query

    load, calls = all_manifests, list[int]()

    def stale(store: LakeStore) -> list[LakeManifest]:
        found = load(store)
        if not calls:
            write_session(vault, "a", SAID)
            export(vault, lake)
        calls.append(1)
        return found

    monkeypatch.setattr(lake_query, "all_manifests", stale)
    assert query_lake(open_store(str(lake)), "SELECT count(*) AS n FROM calls").rows == [{"n": 3}]
    assert len(calls) == 2


def test_a_place_without_a_lake_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="not a lake"):
        rows(tmp_path / "none", "SELECT 1")


def test_a_manifest_that_names_a_file_outside_the_lake_is_refused(lake: Path) -> None:
    (manifest,) = (lake / "manifests").iterdir()
    manifest.write_text(manifest.read_text().replace('"calls/month', '"calls/../../month'))
    with pytest.raises(VaultError, match="damaged"):
        rows(lake, "SELECT 1")
