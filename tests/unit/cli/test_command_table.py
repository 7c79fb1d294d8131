"""The tree of commands: its sections, its size, and where it points."""

from __future__ import annotations

import click
import pytest

from crucible.cli.command_table import COMMANDS, GROUPS, SECTIONS, SEE_ALSO
from crucible.cli.group import build_root, load_command
from tests.cases import for_each
from tests.running import Cru

MOST_VISIBLE = 72
"""Leaves that the help of `cru` leads to."""
OTHER_VERBS = {"validate", "lint", "purge", "clean", "remove", "rm", "new", "create", "ls", "view", "find"}
"""Ours are check, prune, delete, add, list, show and search."""
OTHER_OPTIONS = {"--kind", "--because", "--why", "--comment", "--message", "--after", "--before", "--filter"} | {
    "--order", "--order-by", "--max", "--count", "--top", "--out", "--max-age-days", "--verified-by",
}  # fmt: skip
"""Ours are --type, --reason, --note, --since, --until, --where, --sort, --limit, --output, --older-than and --how."""


def test_each_command_is_in_one_section_in_the_order_of_the_table() -> None:
    in_sections = [name for section in SECTIONS for name in section.commands]
    assert in_sections == list(dict.fromkeys(name.split()[0] for name in COMMANDS))


def test_the_help_shows_the_visible_sections_in_order(bare_cru: Cru) -> None:
    shown = bare_cru("--help").stdout
    titles = [line[:-1] for line in shown.splitlines() if line.endswith(":") and not line.startswith((" ", "Options"))]
    assert titles == ["Every day", "Review", "Set up"]
    for section in SECTIONS:
        for name in section.commands:
            assert (f"\n  {name} " in shown) is not section.hidden, name


@pytest.mark.parametrize("name", [name for section in SECTIONS if section.hidden for name in section.commands])
def test_a_hidden_command_still_has_help(bare_cru: Cru, name: str) -> None:
    shown = bare_cru(name, "--help")
    assert (shown.exit_code, f"Usage: cru {name}" in shown.stdout) == (0, True)


def test_there_are_few_commands_to_learn() -> None:
    hidden = {name for section in SECTIONS if section.hidden for name in section.commands}
    assert len([name for name in COMMANDS if name.split()[0] not in hidden]) <= MOST_VISIBLE


def test_every_command_and_group_names_related_ones_that_exist() -> None:
    known = {*COMMANDS, *GROUPS}
    assert set(SEE_ALSO) == known
    for name, related in SEE_ALSO.items():
        assert related, name
        assert set(related) <= known - {name}, name
        assert len(set(related)) == len(related), name


@for_each("name", [*GROUPS, *COMMANDS])
def test_a_help_ends_with_related_commands(bare_cru: Cru, name: str) -> None:
    shown = bare_cru(*name.split(), "--help", env={"COLUMNS": "100"}).stdout
    assert shown.splitlines()[-1].startswith("  See also: cru ")


def test_a_verb_has_one_word() -> None:
    assert not {word for name in COMMANDS for word in name.split()} & OTHER_VERBS


def test_an_option_has_one_word_and_the_same_short_form_everywhere() -> None:
    forms: dict[str, set[tuple[str, ...]]] = {}
    for entry in COMMANDS.values():
        for param in load_command(entry.target).params:
            if isinstance(param, click.Option):
                long = max(param.opts, key=len)
                forms.setdefault(long, set()).add(tuple(sorted({*param.opts} - {long})))
    assert not forms.keys() & OTHER_OPTIONS
    # The arguments of a recorded tool may have -v themselves.
    assert [long for long, short in forms.items() if len(short) > 1] == ["--verbose"]


def test_the_root_builds_every_command() -> None:
    root = build_root()
    assert root.list_commands(click.Context(root)) == [name for section in SECTIONS for name in section.commands]
