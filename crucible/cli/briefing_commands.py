"""`cru briefing` and `cru memory digest`: what to know before work begins."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.briefing_context import (
    BriefingOptions,
    MadeBriefing,
    aim_named,
    make_briefing,
    project_here,
    recent_paths,
)
from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.environment import user_settings
from crucible.cli.id_arguments import WORKFLOW
from crucible.cli.index_access import asked
from crucible.cli.options import Door, format_option
from crucible.cli.output import PROBLEMS_FOUND, say, say_problems, warn, write, write_document, write_json
from crucible.cli.vault_access import here, index_of, open_vault
from crucible.commands.briefing.briefing_parts import Briefing, Item, Quoter, Rank
from crucible.commands.briefing.digest import LINES, Digest, DigestRequest, DigestResult, digest_of
from crucible.commands.briefing.position import Position
from crucible.commands.briefing.relevance import Aim
from crucible.core.secrets.redaction import redact_of
from crucible.memory.history.history import shortener
from crucible.memory.history.memory_log import FILES
from crucible.vault.index.schema import View
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.projects import folder_in_project


@click.command("briefing")
@click.option("--project", metavar="NAME", help="Of this project; by default the working directory's.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="How long it may be; by default the setting.",
)
@click.option(
    "--workflow",
    type=WORKFLOW,
    metavar="NAME",
    help="A workflow that is about to run: what concerns it is kept longest.",
)
@with_option
@format_option("markdown", "json")
@click.pass_obj
def briefing(
    door: Door,
    /,
    project: str | None,
    budget: int | None,
    workflow: str | None,
    named: str | None,
    format_: str,
) -> None:
    """Say what to know before work begins.

    Standing corrections and facts of the project, where the work stands, decisions, tasks, what waits for a human and
    what was left open, recent sessions, what is recalled, and the project's profile. When the budget is tight
    conventions from files are left out first, then lessons, decisions and todos; where the work stands is always shown.
    A source that cannot be read is named and left out. In a folder without a project it is about the whole vault.

    --with first asks an agent what mattered in the last five sessions.

    The first briefing in a project's folder writes the profile, projects/NAME.md, from its README and manifests; from
    then on it is yours and is never written again.

    \b
      cru briefing
      cru briefing --project shop --budget 800
      cru briefing --with claude
      cru briefing --workflow release --format json
    """
    if named is not None:
        ask_first(open_vault(door, looks=False), recent_paths(door, project), named)
    told = make_briefing(door, BriefingOptions(project, budget, workflow))
    found = told.briefing
    for source in found.failed:
        warn(f"left out: {source.name}: {source.failure}")
    if format_ == "json":
        write_json(_export(told))
    elif found.is_empty:
        of = f" of project {found.project}" if found.project else ""
        say(f"nothing is known{of} yet; `cru import auto` brings sessions in")
    else:
        write_document(found.text, door)


def _export(told: MadeBriefing) -> dict[str, Any]:
    found = told.briefing
    return {
        "project": found.project,
        "workflow": told.workflow or None,
        "budget": told.budget,
        "tokens": found.tokens,
        "position": found.position,
        "explained": found.explained,
        "sections": _sections(found),
        "left_out": {one.what: one.count for one in found.left_out},
        "failed": {one.name: one.failure for one in found.failed},
        "text": "" if found.is_empty else found.text,
    }


def _sections(found: Briefing) -> list[dict[str, Any]]:
    return [
        {
            "name": section.name,
            "title": section.title,
            "more": section.more,
            "items": [
                {
                    "text": one.text,
                    "rank": one.rank.word,
                    "group": one.group,
                    "related": one.related,
                    "finding": one.finding,
                }
                for one in section.items
            ],
        }
        for section in found.sections
    ]


@click.command("digest")
@click.option(
    "--workflow",
    type=WORKFLOW,
    metavar="NAME",
    help="A workflow that is about to run: what concerns it comes first.",
)
@click.option("--project", metavar="NAME", help="Of this project; by default the working directory's.")
@click.option(
    "--lines",
    type=click.IntRange(1, 1000),
    default=LINES,
    show_default=True,
    metavar="N",
    help="At most N lines.",
)
@format_option("text", "json")
@click.pass_obj
def digest(door: Door, /, workflow: str | None, project: str | None, lines: int, format_: str) -> int:
    """Show in a dozen lines what a session should begin with.

    First where the work stands, then what is to do, what was decided and learned in earlier sessions, and the project's
    conventions. When lines are few, conventions are left out first, then lessons, decisions and todos. With --workflow
    what concerns it comes first; one that plans gets more conventions, one that carries something out more decisions.
    In a folder without a project it is about the whole vault.

    \b
      cru memory digest
      cru memory digest --workflow release --lines 10
    """
    vault = open_vault(door, looks=False)
    aim = aim_named(vault, workflow)[0] if workflow else None

    def answer(view: View) -> tuple[str, DigestResult]:
        name = project_here(view, vault.root) if project is None else project
        folder = _folder(name)
        shorten = shortener([str(folder)] if folder else [])
        quoter = Quoter(redact_of(vault.settings.secrets), shorten)
        return name, digest_of(vault, view, DigestRequest(datetime.now(UTC), name, folder, aim, lines), quoter)

    (name, found), _ = asked(index_of(vault), answer)
    if format_ == "json":
        write_json(_export_digest(name, workflow, aim, found))
    else:
        _write(found.digest)
    return _complain(found)


def _folder(project: str) -> Path | None:
    """The working directory, if it belongs to the project."""
    return folder_in_project(str(here() or ""), user_settings().projects, project) if project else None


def _write(digest: Digest) -> None:
    for line in digest.lines:
        write(line)
    if digest.left_out:
        counts = ", ".join(f"{one.count:,} {one.what}" for one in reversed(digest.left_out))
        say(f"left out: {counts}; --lines shows more")


def _complain(found: DigestResult) -> int:
    """Report what could not be read; returns the exit code."""
    for source in found.failed:
        warn(f"left out: {source.name}: {source.failure}")
    for kind, problem in found.problems:
        say_problems(f".crucible/memory/{FILES[kind]}", (problem,))
    return PROBLEMS_FOUND if found.failed or found.problems else 0


def _export_digest(project: str, workflow: str | None, aim: Aim | None, found: DigestResult) -> dict[str, object]:
    digest = found.digest
    return {
        "project": project,
        "workflow": workflow,
        "leaning": str(aim.leaning) if aim else None,
        "position": _export_position(found.position) if found.position else None,
        **{rank.word: _items(digest.items, rank) for rank in sorted(Rank, reverse=True)},
        "left_out": {one.what: one.count for one in digest.left_out},
        "lines": list(digest.lines),
        "failed": {one.name: one.failure for one in found.failed},
    }


def _items(items: Iterable[Item], rank: Rank) -> list[dict[str, object]]:
    return [
        {
            "text": one.text,
            "inferred": one.group.endswith("(inferred)"),
            "related": one.related,
            "finding": one.finding,
        }
        for one in items
        if one.rank is rank
    ]


def _export_position(one: Position) -> dict[str, object]:
    return one._asdict() | {"at": utc(one.at) if one.at else None, "blockers": list(one.blockers)}
