"""Rows on stdout, where a console journey cannot stand: a terminal, and what is quick."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crucible.cli.tables import write_paths, write_rows, write_table
from crucible.index.query import COLUMNS
from crucible.index.schema import TABLES, Row

ROW: Row = {**dict.fromkeys(TABLES["sessions"]), "id": "a", "path": "a.md", "status": "failed", "users": 0}


def test_a_terminal_gets_no_path_that_it_would_obey(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    rows = [ROW, {**ROW, "path": "\x1b[31mred.md"}]
    assert write_paths(tmp_path, rows, null=True, terminal=False)
    assert capfdbinary.readouterr().out.count(b"\0") == 2
    assert not write_paths(tmp_path, rows, null=True, terminal=True)
    done = capfdbinary.readouterr()
    assert done.out == bytes(tmp_path / "a.md") + b"\0"
    assert done.err == b"red.md:1: unprintable-path: left out, a line cannot hold it\n"


def test_nothing_is_a_dash_and_zero_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    write_table([ROW, {**ROW, "id": "", "users": 12}], ["id", "users", "title"])
    assert capsys.readouterr().out == "id  users  title\na   0      -\n-   12     -\n"


def test_colours_do_not_move_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [ROW, {**ROW, "status": "completed"}, {**ROW, "status": "odd"}]
    write_table(rows, ["status", "id"])
    plain = capsys.readouterr().out
    write_table(rows, ["status", "id"], color=True)
    # Click takes the colours out again, for this is no terminal.
    assert capsys.readouterr().out == plain


@pytest.mark.parametrize("format_", ["table", "json", "toon"])
def test_ten_thousand_rows_are_written_in_a_moment(format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**ROW, "id": f"2026-11-21-{n}", "participants": "claude-code@2, codex"} for n in range(10_000)]
    start = time.perf_counter()
    write_rows(
        rows, ["id", "status", "users", "participants"] if format_ == "table" else COLUMNS, format_, "s"
    )
    assert time.perf_counter() - start < 3
    assert capsys.readouterr().out.count("2026-11-21-") == 10_000
