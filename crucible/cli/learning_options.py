"""The options of `cru session learn`: which cases, and where they go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from crucible.cli.asked_findings import with_option
from crucible.cli.given import GivenPath
from crucible.commands.learn.case import CaseType
from crucible.commands.learn.selection import Dedupe
from crucible.commands.learn.shapes import Shape

JSONL, MARKDOWN, PUZZLE = "jsonl", "markdown", "puzzle"
CHOICES = (
    click.option(
        "--type",
        "types",
        multiple=True,
        type=click.Choice([one.value for one in CaseType]),
        help="Only these; may be repeated.",
    ),
    click.option("--min-tokens", type=click.IntRange(min=0), metavar="N", help="Only cases of N tokens or more."),
    click.option("--max-tokens", type=click.IntRange(min=0), metavar="N", help="Only cases of N tokens or fewer."),
    click.option("--verified", is_flag=True, help="Only those whose outcome something showed to be right."),
    click.option("--accepted", is_flag=True, help="Only those that were accepted: see `cru cases accept`."),
    click.option(
        "--dedupe",
        type=click.Choice([one.value for one in Dedupe]),
        help="Of those that say the same, or nearly, only the best.",
    ),
    click.option(
        "-n",
        "--limit",
        type=click.IntRange(min=1),
        metavar="N",
        help="At most N cases: the first ones, or with --seed a sample.",
    ),
    click.option(
        "--seed",
        type=int,
        metavar="N",
        help="Draw --limit and --split by chance, the same way for the same N.",
    ),
)
WAYS = (
    click.option(
        "--export",
        type=click.Choice([JSONL, MARKDOWN, PUZZLE]),
        help="Rows for training, notes in the vault's cases/, or puzzle files. Without it only counts are told.",
    ),
    click.option(
        "--shape",
        type=click.Choice([one.value for one in Shape]),
        help="How rows are laid out.  [default: messages]",
    ),
    click.option(
        "-o",
        "--output",
        metavar="OUT",
        type=GivenPath(),
        help="Where rows go (a file or a folder; by default stdout), or puzzles (a folder; by default the vault's exports/puzzles/).",
    ),
    click.option("--split", metavar="NAME=SHARE,…", help="Part rows by session: train=0.9,test=0.1."),
    click.option("--licence", metavar="NAME", help="The licence that every row tells, such as cc-by-4.0."),
    click.option("--no-metadata", is_flag=True, help="Rows without the column that tells where they come from."),
    click.option("--judge", is_flag=True, help="Have an agent say where failures come from; without one, rules do."),
    with_option,
    click.option(
        "--rules",
        is_flag=False,
        flag_value=".",
        metavar="[FILE]",
        type=GivenPath(),
        help="Propose corrections that recur as a diff to AGENTS.md or CLAUDE.md; nothing is exported.",
    ),
    click.option("--write", is_flag=True, help="With --rules: write the file, after a question."),
    click.option("--yes", is_flag=True, help="With --write: do not ask."),
    click.option("--force", is_flag=True, help="Write puzzle files also over what was changed there."),
)


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    """Add options to a command, in their order."""

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add
