"""What the helps tell users to type."""

from __future__ import annotations

import re
import shlex

import pytest

from crucible.index.schema import TABLES
from crucible.vault.store import Vault
from tests.cli.notes import CLOCK, LIMITER, write
from tests.running import Cru


@pytest.mark.parametrize("command", ["session list", "session stats", "index show", "index rebuild"])
def test_every_command_of_the_help_runs(vault: Vault, cru: Cru, command: str) -> None:
    write(vault, "2026-11-21-add", LIMITER)
    write(vault, "2026-11-21-clock", CLOCK)
    shown = cru(*command.split(), "--help").stdout
    examples = re.findall(rf"^ +cru ({command}.*)$", shown, re.MULTILINE)
    assert examples
    for example in examples:
        # What follows is another program's.
        done = cru(*shlex.split(example.partition(" | ")[0]))
        assert (done.exit_code, done.stderr) == (0, ""), example


@pytest.mark.parametrize("command", ["session list", "session stats", "index show"])
def test_the_help_names_every_column(vault: Vault, cru: Cru, command: str) -> None:
    words = set(re.findall(r"\w+", cru(*command.split(), "--help").stdout.partition("\n  Columns ")[2]))
    for table, columns in TABLES.items():
        if table == "sessions" or command == "index show":
            assert words >= set(columns)


def test_a_table_without_rows_tells_its_columns(vault: Vault, cru: Cru) -> None:
    for table, columns in TABLES.items():
        shown = cru("index", "show", table, "-n", "0", "--format", "toon").stdout
        assert shown == f"{table}[0]{{{','.join(columns)}}}:\n"
