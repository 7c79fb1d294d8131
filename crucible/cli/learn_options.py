"""The options of `cru session learn`, and the sessions that they select.

Sessions are sorted oldest first, so that an export appends new ones at its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from crucible.cli.command_agent import with_option
from crucible.cli.index_access import query_from, query_index
from crucible.cli.options import GivenPath, limit_option, one_of, only_option, yes_option
from crucible.cli.vault_access import find_note, index_of
from crucible.commands.learn.case import CaseType
from crucible.commands.learn.selection import Dedupe, SessionRelations
from crucible.commands.learn.training_rows import Shape
from crucible.core.errors import UsageError
from crucible.vault.index.index import Index
from crucible.vault.index.query import select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name


@dataclass(frozen=True, slots=True)
class SelectedSessions:
    """The notes of the selected sessions, oldest first.

    `every` is True if all sessions are selected.  `known` are the ids of all sessions in the vault.  `complete` is
    False if a folder could not be read.
    """

    paths: Sequence[Path]
    every: bool
    known: frozenset[str]
    complete: bool
    index: Index


def select_sessions(vault: Vault, refs: Sequence[str], filters: Mapping[str, Any], *, every: bool) -> SelectedSessions:
    """Select sessions by id, or all that match the filters; raises `UsageError` for both or neither."""
    narrowed = any(value not in (None, False, ()) for value in filters.values())
    if refs and (every or narrowed):
        raise UsageError("session ids cannot be used with --all or filters", "use one of them")
    if not (refs or every or narrowed):
        raise UsageError("no sessions selected", "give ids, --all or a filter: --since 30d, --project shop")
    named = {vault.relative(find_note(vault, ref)) for ref in refs}
    query = query_from(filters)._replace(children=True, archived=True)
    index = index_of(vault)

    def question(view: View) -> tuple[list[Row], list[Row]]:
        rows = list(view.rows("sessions"))
        if refs:
            return rows, [row for row in rows if path_of_cell(str(row["path"])) in named]
        if every and not narrowed:  # including sessions that are subagents of each other
            return rows, rows
        known = {row["id"] for row in rows}
        # Subagents come with their parents.  One whose parent has a note is selected by itself only with `--children`.
        found = select(view, query)
        return rows, found if filters["children"] else [row for row in found if row["parent"] not in known]

    (rows, selected), now = query_index(index, question)
    found = _with_subagents(rows, selected)
    return SelectedSessions(
        [vault.root / path_of_cell(str(row["path"])) for row in found],
        every=every and not narrowed,
        known=frozenset(str(row["id"]) for row in rows),
        complete=not now.unwalked,
        index=index,
    )


def _with_subagents(rows: Iterable[Row], selected: Iterable[Row]) -> list[Row]:
    """Return the rows and those of all their subagents, without duplicates, oldest first."""
    below: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["parent"]:
            below[str(row["parent"])].append(row)
    found: dict[str, Row] = {}
    waiting = list(selected)
    while waiting:
        row = waiting.pop()
        if str(row["path"]) not in found:
            found[str(row["path"])] = row
            waiting += below.get(str(row["id"]), ())
    return sorted(found.values(), key=lambda row: (str(row["started"] or "~"), str(row["id"]), str(row["path"])))


def linked_sessions(chosen: SelectedSessions) -> list[SessionRelations]:
    """Return each session with the sessions that its frontmatter links to, which a split must keep together."""

    def question(view: View) -> list[SessionRelations]:
        ids = {str(row["path"]): str(row["id"]) for row in view.rows("sessions")}
        links: defaultdict[str, list[str]] = defaultdict(list)
        for row in view.rows("links"):
            target = note_name(str(row["target"] or "").rpartition("/")[2])
            if row["kind"] == "property" and target in chosen.known:
                links[str(row["path"])].append(target)
        return [SessionRelations(ids[path], tuple(others)) for path, others in links.items() if path in ids]

    return query_index(chosen.index, question)[0]


JSONL, MARKDOWN, PUZZLE = "jsonl", "markdown", "puzzle"
CHOICES = (
    only_option("--type", "types", CaseType),
    click.option("--min-tokens", type=click.IntRange(min=0), metavar="N", help="Only cases of N tokens or more."),
    click.option("--max-tokens", type=click.IntRange(min=0), metavar="N", help="Only cases of N tokens or fewer."),
    click.option("--verified", is_flag=True, help="Only cases with a confirmed outcome."),
    click.option("--accepted", is_flag=True, help='Only accepted cases; see "cru case accept".'),
    click.option(
        "--dedupe",
        type=one_of(Dedupe),
        help="Drop duplicates, or near duplicates, and keep the best.",
    ),
    limit_option("At most N cases: the first ones, or a sample with --seed."),
    click.option(
        "--seed",
        type=int,
        metavar="N",
        help="Make --limit and --split random; the same N gives the same result.",
    ),
)
WAYS = (
    click.option(
        "--export",
        type=click.Choice([JSONL, MARKDOWN, PUZZLE]),
        help="Write training rows, notes in cases/, or puzzle files; without it, cases are only counted.",
    ),
    click.option(
        "--shape",
        type=one_of(Shape),
        help="The shape of rows.  [default: messages]",
    ),
    click.option(
        "-o",
        "--output",
        metavar="OUT",
        type=GivenPath(),
        help="Where to write rows (a file or folder; by default stdout) or puzzles (a folder; by default exports/puzzles/).",
    ),
    click.option("--split", metavar="NAME=SHARE,…", help="Split rows by session: train=0.9,test=0.1."),
    click.option("--licence", metavar="NAME", help="The licence in every row, such as cc-by-4.0."),
    click.option("--no-metadata", is_flag=True, help="Omit the column with each row's origin."),
    click.option("--judge", is_flag=True, help="Let an agent judge the causes of failures, instead of built-in rules."),
    with_option,
    click.option(
        "--rules",
        is_flag=False,
        flag_value=".",
        metavar="[FILE]",
        type=GivenPath(),
        help="Propose recurring corrections as a diff to AGENTS.md or CLAUDE.md; export nothing.",
    ),
    click.option("--write", is_flag=True, help="With --rules: write the file, after asking."),
    yes_option("With --write: do not ask for confirmation."),
    click.option("--force", is_flag=True, help="Overwrite changed puzzle files."),
)
