"""`cru inbox`: what waits for a human."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.indexed import asked, open_index
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND, say, write
from crucible.cli.workflow_tables import write_cells
from crucible.core.errors import CrucibleError
from crucible.memory.inbox.pending import Item, Kind, once, places, read_items
from crucible.vault.index.schema import cell_of_path
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.vault import Vault

_RECENT = timedelta(days=30)
"""How long after its end a session's items are listed."""

_COLUMNS = (
    "id",
    "kind",
    "project",
    "at",
    "title",
    "text",
    "answered",
    "verdict",
    "answer",
    "session",
    "phase",
    "line",
    "path",
)


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is answered, and what old sessions left.")
@click.option("--project", metavar="NAME", default="", help="Only of this project's sessions.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice([one.value for one in Kind]),
    help="Only these; may be repeated.",
)
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Only the newest N.")
@format_option("text", "json", "toon")
@click.pass_context
def list_inbox(
    ctx: click.Context,
    /,
    *,
    everything: bool,
    project: str,
    kinds: tuple[str, ...],
    limit: int | None,
    format_: str,
) -> None:
    """List what waits for you, over all sessions, newest session first; `cru inbox` alone does the same.

    These are the callouts decision_needed, approval_required and task_complete without an answer, and errors without a
    resolution. What was asked twice is listed once, what a session left that ended more than 30 days ago only with --all.
    The exit code is 3 if items may be missing.

    \b
      cru inbox
      cru inbox --project shop --kind decision_needed
      cru inbox --all --format json
    """
    door = ctx.ensure_object(Door)
    index = open_index(door)
    wanted = frozenset(map(Kind, kinds or Kind))
    found, now = asked(index, lambda view: [*places(view, project, wanted, answered=everything)])
    since = (datetime.now(UTC) - _RECENT).isoformat()
    shown = [place for place in found if everything or not place.ended or place.ended >= since]
    wrong: list[CrucibleError] = []
    items = (
        item
        for item in read_items(Vault(Path(index.root), index.settings), shown, wrong.append)
        if item.kind in wanted and (everything or not item.answered)
    )
    _show(list(islice(items if everything else once(items), limit)), format_, door, everything=everything)
    if len(shown) < len(found):
        say(f"cru: {len(found) - len(shown)} more in sessions that ended long ago: cru inbox --all")
    for error in wrong:
        say(f"cru: {error}", style="yellow")
    ctx.exit(PROBLEMS_FOUND if wrong or now.unwalked else 0)


def _show(items: Sequence[Item], format_: str, door: Door, *, everything: bool) -> None:
    if format_ != "text":
        write_cells([_told(item) for item in items], _COLUMNS, format_, "inbox", door)
    elif items:
        for item in items:
            _write_item(item)
    else:
        say("nothing is there" if everything else "nothing waits")


def _write_item(item: Item) -> None:
    """Its whole id, to be answered by, and what it says below; a terminal breaks long lines, so that nothing is cut."""
    at = f"{item.at:%Y-%m-%d %H:%M}" if item.at else ""
    write("  ".join(filter(None, (item.id, item.kind.value, item.project, at))))
    for line in _lines(item):
        write(f"    {line}")
    if item.answered:
        write(f"    → {item.verdict}{': ' if item.answer else ''}{' '.join(item.answer.split())}")


def _lines(item: Item) -> list[str]:
    """Its title and its lines, as the note breaks them; a text of one line stands behind its title."""
    title = " ".join(item.title.split())
    lines = [line.rstrip() for line in item.text.split("\n") if line.strip()]
    if title and len(lines) == 1:
        return [f"{title}{' ' if title[-1] in '?!.:' else ': '}{lines[0].strip()}"]
    return [*filter(None, (title,)), *lines]


def _told(item: Item) -> dict[str, Any]:
    return {
        **item._asdict(),
        "kind": item.kind.value,
        "at": utc(item.at) if item.at else None,
        "phase": item.phase or None,
        "project": item.project or None,
        "path": cell_of_path(item.path),
        "answer": item.answer or None,
        "verdict": item.verdict or None,
    }
