"""What the helps tell users to type."""

from __future__ import annotations

import re
import shlex

import pytest

from crucible.cli.command_table import COMMANDS, GROUPS
from crucible.vault.index.schema import TABLES
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.journeys.notes import CLOCK, LIMITER, write
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
        assert done.exit_code == 0, example
        notes = [line for line in done.stderr.splitlines() if not line.startswith("List prices of ")]
        assert notes in ([], ["No sessions match."]), example


@pytest.mark.parametrize("command", ["session list", "session stats", "index show"])
def test_the_help_names_every_column(vault: Vault, cru: Cru, command: str) -> None:
    words = set(re.findall(r"\w+", cru(*command.split(), "--help").stdout.partition("\n  Columns ")[2]))
    for table, columns in TABLES.items():
        if table == "sessions" or command == "index show":
            assert words >= set(columns)


def test_a_table_without_rows_tells_its_columns(vault: Vault, cru: Cru) -> None:
    for table, columns in TABLES.items():
        shown = cru("index", "show", table, "--format", "toon").stdout
        assert shown == f"schema: 1\n{table}[0]{{{','.join(columns)}}}:\n"


def _every_help() -> list[str]:
    return ["", *GROUPS, *COMMANDS]


@for_each("command", _every_help())
def test_no_line_of_a_help_is_wider_than_a_terminal(bare_cru: Cru, command: str) -> None:
    shown = bare_cru(*command.split(), "--help", env={"COLUMNS": "80"}).stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("group", [name for name in GROUPS if name != "hook"])
def test_the_help_of_a_group_shows_how_to_use_it(bare_cru: Cru, group: str) -> None:
    assert f"\n    cru {group} " in bare_cru(group, "--help").stdout


@pytest.mark.parametrize("start", ["import", "install claude-code", "doctor", "recall"])
def test_the_first_help_says_how_to_begin(bare_cru: Cru, start: str) -> None:
    assert f"\n    cru {start} " in bare_cru("--help").stdout


def test_what_is_wrong_with_an_option_points_to_the_commands_own_help(cru: Cru) -> None:
    result = cru("record", "tool", "ls", "--session")
    assert result.exit_code == 2
    assert 'Run "cru record tool --help" for help.' in result.stderr
