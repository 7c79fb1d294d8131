"""`cru briefing`: what to know before work begins."""

from __future__ import annotations

from typing import Any

import click

from crucible.cli.asked_findings import ask_first, with_option
from crucible.cli.briefing_context import Asked, Told, recent_paths, tell_briefing
from crucible.cli.door import Door
from crucible.cli.opening import open_vault
from crucible.cli.options import format_option
from crucible.cli.output import say, write_document, write_json
from crucible.cli.workflow_ref import WORKFLOW
from crucible.commands.briefing.briefing_parts import Briefing


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
@click.pass_context
def briefing(
    ctx: click.Context,
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
    door = ctx.ensure_object(Door)
    if named is not None:
        ask_first(open_vault(door, looks=False), recent_paths(door, project), named)
    told = tell_briefing(door, Asked(project, budget, workflow))
    found = told.briefing
    for source in found.failed:
        say(f"cru: left out: {source.name}: {source.failure}", style="yellow")
    if format_ == "json":
        write_json(_plain(told))
    elif found.is_empty:
        of = f" of project {found.project}" if found.project else ""
        say(f"nothing is known{of} yet; `cru import auto` brings sessions in")
    else:
        write_document(found.text, door)


def _plain(told: Told) -> dict[str, Any]:
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
