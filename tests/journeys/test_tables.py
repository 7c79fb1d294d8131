"""Rows on stdout, where a console journey cannot stand: a terminal, an endless cell, a damaged row."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import toons
from rich.cells import cell_len

from crucible.cli.options import Door
from crucible.cli.output import write_data
from crucible.cli.table_output import write_index_rows, write_paths
from crucible.vault.index.query import COLUMNS
from crucible.vault.index.schema import TABLES, Row, cell_of_path, join_list
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.paths import ROOT
from tests.running import CruProcess

ROW: Row = {
    **dict.fromkeys(TABLES["sessions"]),
    "id": "a",
    "path": "sessions/a.md",
    "status": "failed",
    "users": 0,
}


def test_a_terminal_gets_no_path_that_it_would_obey(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    rows = [ROW, {**ROW, "path": "sessions/\x1b[31mred.md"}]
    assert write_paths(str(tmp_path), "sessions", rows, null=True, terminal=False)
    assert capfdbinary.readouterr().out.count(b"\0") == 2
    assert not write_paths(str(tmp_path), "sessions", rows, null=True, terminal=True)
    done = capfdbinary.readouterr()
    assert done.out == bytes(tmp_path / "sessions" / "a.md") + b"\0"
    assert done.err == "sessions/␛[31mred.md:1: unprintable-path: skipped, it contains a line break\n".encode()


def test_nothing_is_a_dash_and_zero_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    write_index_rows([ROW, {**ROW, "id": "", "users": 12}], ["id", "users", "title"], "text", "s", Door())
    assert capsys.readouterr().out == "id  users  title\na   0      -\n-   12     -\n"


def test_colours_do_not_move_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [ROW, {**ROW, "status": "completed"}, {**ROW, "status": "odd"}]
    write_index_rows(rows, ["status", "id"], "text", "s", Door())
    plain = capsys.readouterr().out
    write_index_rows(rows, ["status", "id"], "text", "s", Door(color=True))
    # Click takes the colours out again, for this is no terminal.
    assert capsys.readouterr().out == plain


class _Counted(io.BytesIO):
    """Standard output as the system sees it."""

    writes = 0

    def write(self, data: Any) -> int:
        self.writes += 1
        return super().write(data)


@pytest.mark.parametrize("format_", ["text", "json", "toon"])
def test_ten_thousand_rows_are_one_write(format_: str) -> None:
    rows = [{**ROW, "id": f"2026-11-21-{n}", "participants": "claude-code@2, codex"} for n in range(10_000)]
    columns = ["id", "status", "users", "participants"] if format_ == "text" else COLUMNS
    counted = _Counted()
    stdout = io.TextIOWrapper(counted, encoding="utf-8")
    with redirect_stdout(stdout):
        write_index_rows(rows, columns, format_, "s", Door())
    assert counted.getvalue().count(b"2026-11-21-") == 10_000
    # The line end may follow by itself, and what was before is flushed.
    assert counted.writes <= 3


@pytest.mark.parametrize("letter", ["x", "日", "\u0301"])
def test_an_endless_cell_does_not_widen_every_line(letter: str, capsys: pytest.CaptureFixture[str]) -> None:
    endless = {**ROW, "title": letter * 1_000_000, "project": "after"}
    write_index_rows([ROW, endless, ROW], ["id", "title", "project"], "text", "s", Door())
    head, one, cut, _ = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, (head, one, cut))) <= len("id  ") + 200 + len("  project")
    assert re.search(r"…\s+after$", cut)


def test_wide_letters_do_not_move_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    write_index_rows(
        [{**ROW, "id": id_} for id_ in ("日本語", "e\u0301", "🦀", "plain")],
        ["id", "status", "users"],
        "text",
        "s",
        Door(),
    )
    lines = capsys.readouterr().out.splitlines()
    places = {cell_len(line[: line.index(word)]) for line, word in zip(lines, ["status", *["failed"] * 4], strict=True)}
    assert places == {len("日本語") * 2 + 2}


def test_only_a_table_with_wide_letters_waits_for_the_widths_of_all(cru_process: CruProcess, vault: Vault) -> None:
    write(vault, "a", note("a", project="plain"))
    arguments = ["--vault", vault.root, "session", "list", "--where", "project != null"]
    run = [sys.executable, "-X", "importtime", "-m", "crucible", *map(str, arguments)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    cru_process(*arguments)
    assert b"rich" not in subprocess.run(run, env=env, capture_output=True, check=True).stderr
    write(vault, "a", note("a", project="日本語"))
    cru_process(*arguments)
    assert b"rich.cells" in subprocess.run(run, env=env, capture_output=True, check=True).stderr


def test_a_toon_table_without_rows_tells_its_columns(capsys: pytest.CaptureFixture[str]) -> None:
    write_index_rows([], ["id", "status"], "toon", "sessions", Door())
    text = capsys.readouterr().out
    assert text == "schema: 1\nsessions[0]{id,status}:\n"
    assert toons.loads(text) == {"schema": 1, "sessions": []}


def test_toon_has_a_cell_as_the_index_holds_it_and_json_its_items(capsys: pytest.CaptureFixture[str]) -> None:
    row: Row = {**ROW, "tags": join_list(["a, b", "c"]), "path": cell_of_path("by\udcffte.md")}
    write_index_rows([row], ["tags", "path"], "toon", "sessions", Door())
    assert toons.loads(capsys.readouterr().out)["sessions"] == [{"tags": '"a, b", c', "path": "by\ufffdFFte.md"}]
    write_index_rows([row], ["tags", "path"], "json", "sessions", Door())
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        "sessions": [{"tags": ["a, b", "c"], "path": "by\ufffdte.md"}],
    }
    write_index_rows([row], ["tags"], "text", "s", Door())
    assert capsys.readouterr().out == "tags\na, b, c\n"


@pytest.mark.parametrize(
    "foreign",
    [
        "../x.md",
        "/etc/passwd",
        "sessions/../../x.md",
        "sessions/..",
        "notes/x.md",
        "sessions",
        "sessionsx/x.md",
        "",
        "sessions/a\0/etc/passwd",
    ],
)
@pytest.mark.parametrize("null", [True, False])
def test_a_row_that_names_a_file_elsewhere_is_left_out(
    foreign: str, null: bool, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = [{**ROW, "path": foreign}, {**ROW, "path": "sessions/a..b.md"}]
    assert not write_paths(str(tmp_path), "sessions", rows, null=null, terminal=False)
    done = capfdbinary.readouterr()
    assert done.out == bytes(tmp_path / "sessions" / "a..b.md") + (b"\0" if null else b"\n")
    assert b":1: foreign-path: skipped" in done.err
    assert done.err.count(b"\n") == 1


def test_a_vault_that_is_all_sessions_has_paths_too(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    rows = [{**ROW, "path": "a.md"}, {**ROW, "path": "/a.md"}, {**ROW, "path": "../a.md"}]
    assert not write_paths(str(tmp_path), ".", rows, null=False, terminal=False)
    assert capfdbinary.readouterr().out == bytes(tmp_path / "a.md") + b"\n"


@pytest.mark.parametrize("more", [{}, {"number": 10**30}], ids=["orjson", "json"])
def test_json_has_what_steers_a_terminal_as_escapes(more: dict[str, int], capsys: pytest.CaptureFixture[str]) -> None:
    value = {"id": "a\x9b31m\x85b\x7f\u202ec\u2028\u2066\x1bü日", **more}
    write_data(value)
    text = capsys.readouterr().out
    assert json.loads(text) == {"schema": 1, **value}
    assert r"a\u009b31m\u0085b\u007f\u202ec\u2028\u2066\u001bü日" in text
