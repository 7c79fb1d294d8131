"""`cru inbox`: what waits for a human."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.indexed import asked, open_index
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND, say, write
from crucible.cli.workflow_tables import write_cells
from crucible.errors import CrucibleError
from crucible.inbox.model import Item, Kind
from crucible.inbox.reading import places, read_items
from crucible.index.moments import utc
from crucible.index.schema import cell_of_path
from crucible.vault.store import Vault

__all__ = ["list_inbox"]

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
@click.option("--all", "everything", is_flag=True, help="What is answered, too.")
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
    """List what waits for a human, over all sessions, the newest session's first; `cru inbox` alone is the same.

    These are the callouts decision_needed, approval_required and task_complete that nobody answered, and errors
    without a resolution. The notes say so; nothing is stored beside them. The exit code is 3 when items may be missing.

    \b
      cru inbox
      cru inbox --project shop --kind decision_needed
      cru inbox --all --format json
    """
    door = ctx.ensure_object(Door)
    index = open_index(door)
    wanted = frozenset(map(Kind, kinds or Kind))
    found, now = asked(index, lambda view: [*places(view, project, wanted, answered=everything)])
    wrong: list[CrucibleError] = []
    items = (
        item
        for item in read_items(Vault(Path(index.root), index.settings), found, wrong.append)
        if item.kind in wanted and (everything or not item.answered)
    )
    _show(list(islice(items, limit)), format_, door, everything=everything)
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
    write(f"    {_says(item)}")
    if item.answered:
        write(f"    → {item.verdict}{': ' if item.answer else ''}{' '.join(item.answer.split())}")


def _says(item: Item) -> str:
    title, text = " ".join(item.title.split()), " ".join(item.text.split())
    return f"{title}{' ' if title[-1:] in '?!.:' else ': '}{text}".strip(" :")


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
