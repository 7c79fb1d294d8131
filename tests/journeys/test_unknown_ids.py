"""An id that nothing has is an error everywhere, with what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click
import pytest

from crucible.cli.command_table import COMMANDS
from crucible.cli.group import load_command
from crucible.cli.id_arguments import IdType
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.journeys.notes import LIMITER, write
from tests.running import Cru

UNKNOWN = "2099-01-01-nobody"
KNOWN = "2026-11-21-limiter"
KNOWN_ITEM = "known"
NEEDED = {
    "task annotate": ["--discovery", "x"],
    "knowledge feedback": ["--useful"],
    "record tokens": ["--used", "1"],
    "record tasks": ["--add", "x"],
    "record agent-switch": ["--from", "codex", "--to", "codex"],
    "knowledge add": ["--phase", "phase-1"],
}
"""Arguments that a command needs beside what the table says."""


class Case(NamedTuple):
    command: str
    parameter: str
    arguments: tuple[str, ...]


def _cases() -> Iterator[Case]:
    """One for every parameter of every command that takes an id."""
    for name, entry in COMMANDS.items():
        params = load_command(entry.target).params
        for asked in params:
            if isinstance(asked.type, IdType) or (isinstance(asked, click.Argument) and "ID" in (asked.metavar or "")):
                yield Case(name, str(asked.name), tuple(_arguments(name, params, asked)))


def _arguments(name: str, params: list[click.Parameter], asked: click.Parameter) -> Iterator[str]:
    if isinstance(asked, click.Option):
        yield from (asked.opts[0], UNKNOWN)
    yield from NEEDED.get(name, [])
    for param in params:
        if param is asked and isinstance(asked, click.Argument):
            yield UNKNOWN
            yield from ["2026-01-01-new"] if name == "session rename" else []
        elif isinstance(param, click.Argument) and isinstance(param.type, IdType) and param.required:
            yield KNOWN_ITEM
        elif isinstance(param, click.Argument) and param.required:
            yield param.type.choices[0] if isinstance(param.type, click.Choice) else "x"


ALL = [*_cases()]


@for_each("case", ALL)
def test_an_unknown_id_is_an_error_that_says_what_to_do(vault: Vault, cru: Cru, case: Case) -> None:
    write(vault, KNOWN, LIMITER)
    cru("knowledge", "add", "decision", "Known", "x")
    result = cru(*case.command.split(), *case.arguments)
    assert result.exit_code == 1, result.output
    first = result.stderr.splitlines()[0]
    assert f'matches "{UNKNOWN}"' in first
    assert 'Run "cru ' in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("recall", f"{KNOWN}#00000000"),
        ("session", "show", "--bookmarks", UNKNOWN),
        ("session", "delete", "--undo", UNKNOWN),
        ("session", "rename", UNKNOWN, "2026-01-01-new"),
        ("task", "pick", UNKNOWN),
        ("task", "\udcff"),  # a byte that is not UTF-8
        ("workflow", "check", UNKNOWN, UNKNOWN),
    ],
)
def test_other_ids_are_checked_too(vault: Vault, cru: Cru, arguments: tuple[str, ...]) -> None:
    write(vault, KNOWN, LIMITER)
    result = cru(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "matches" in result.stderr


def test_every_unknown_id_among_several_is_named(vault: Vault, cru: Cru) -> None:
    write(vault, KNOWN, LIMITER)
    for command in (("session", "show"), ("session", "check"), ("session", "delete"), ("workflow", "check")):
        result = cru(*command, "2099-01-01-a", "2099-01-01-b")
        assert result.exit_code == 1, command
        assert '"2099-01-01-a"' in result.stderr, command


def test_a_command_that_takes_one_id_refuses_a_second(cru: Cru) -> None:
    result = cru("task", "pick", "a", "b")
    assert (result.exit_code, "b" in result.stderr) == (2, True)


def test_the_nearest_ids_are_named(vault: Vault, cru: Cru) -> None:
    write(vault, KNOWN, LIMITER)
    result = cru("session", "show", "2026-11-21-limter")
    assert result.exit_code == 1
    assert f'Nearest: {KNOWN}. Run "cru session list" to see ids.' in result.stderr
