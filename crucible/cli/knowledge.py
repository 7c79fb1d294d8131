"""`cru knowledge list`, `show`, `search`, `stats` and `check`: commands that read items."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.id_arguments import ITEM, PickedId
from crucible.cli.options import NULL_OPTION, Door, check_null, flag, format_option, is_data, limit_option, only_option
from crucible.cli.output import (
    PROBLEMS_FOUND,
    clean_line,
    room_of,
    say,
    say_problems,
    times,
    warn,
    write_data,
    write_document,
    write_problems,
)
from crucible.cli.recall_command import recall
from crucible.cli.recall_engine import ALL_PROJECTS, RecallScope
from crucible.cli.table_output import write_paths, write_rows
from crucible.cli.vault_access import here, open_vault
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.text import counted
from crucible.documents.knowledge.item_rules import EVERYTHING, Audience
from crucible.documents.knowledge.items import ItemScope, ItemType
from crucible.memory.knowledge.knowledge_folder import (
    ItemFilter,
    ItemRow,
    KnowledgeStats,
    check_items,
    find_item,
    list_items,
    load_item,
    load_items,
    stats_of,
)
from crucible.search.recall import EventKind
from crucible.vault.index.schema import cell_of_path
from crucible.vault.notes.walk import KNOWLEDGE

_TABLE = ("id", "type", "scope", "weight", "used", "title")
_ROOM, _LITTLE_ROOM = 64, 48
"""The minimum terminal widths for all columns, and for the type column."""
_COLUMNS = (
    *_TABLE,
    "useful",
    "status",
    "project",
    "domain",
    "tags",
    "session",
    "confidence",
    "verified",
    "to_verify",
    "created",
    "updated",
    "last_used",
    "category",
    "path",
)


# --- list ------------------------------------------------------------------------------------------------------------


@click.command("list")
@only_option("--type", "types", ItemType)
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only items with this tag; repeatable.")
@click.option(
    "--project",
    metavar="NAME",
    help="Items visible to this project: its own, its domain's and global ones; by default this folder's project.",
)
@ALL_PROJECTS
@click.option("--domain", metavar="NAME", help="Items visible to this domain; with --project, the project's domain.")
@flag("--global", "Only global items.", "everybody")
@flag("--retired", "List retired items instead.")
@flag("--to-verify", "Only old items that were never verified, or failed verification.")
@limit_option()
@format_option("paths")
@NULL_OPTION
@click.pass_obj
def list_knowledge(door: Door, /, *, format_: str, null: bool, limit: int | None, **wishes: Any) -> int:
    """List knowledge items, highest weight in recall first.

    \b
    - In a project's folder, only items that its recall can find are listed.
      --all-projects lists all, as in the vault's folder.
    - --to-verify lists items that were not verified for 180 days
      (verify_after_days) or failed verification.

    Exit code: 3 if items may be missing.

    \b
      cru knowledge list --type decision --project shop
      cru knowledge list --to-verify
      cru knowledge list --retired --format json
    """
    check_null(format_, null=null)
    vault = open_vault(door)
    wrong: list[CrucibleError] = []
    notes = list(load_items(vault, wrong.append))
    now, settings = datetime.now(UTC), vault.settings.knowledge
    query = _query(vault.root, **wishes)
    found = list_items(vault, notes, query, now, settings)
    hidden = len(list_items(vault, notes, query._replace(viewer=EVERYTHING), now, settings)) - len(found)
    complete = _say_missing(wrong, sum(one.item is None for one in notes))
    rows = [_export(row) for row in found[:limit]]
    if format_ == "paths":
        complete &= write_paths(str(vault.root), KNOWLEDGE, rows, null=null, terminal=door.terminal)
    else:
        columns = _fitting(room_of(door)) if format_ == "text" else _COLUMNS
        write_rows(rows, columns, format_, "knowledge", door, texts=("title",), names=("id",))
        if format_ == "text":
            named = any(wishes[name] for name in ("project", "domain", "everybody"))
            _say_hidden(query.viewer, len(rows), hidden, named=named, any_=any(one.item for one in notes))
    return 0 if complete else PROBLEMS_FOUND


def _fitting(room: int | None) -> Sequence[str]:
    """Return the columns that fit the terminal."""
    if room is None or room >= _ROOM:
        return _TABLE
    return ("id", "type", "title") if room >= _LITTLE_ROOM else ("id", "title")


def _say_hidden(viewer: Audience, shown: int, hidden: int, *, named: bool, any_: bool) -> None:
    """Report how many items are hidden; if the viewer was `named`, only when none are shown."""
    whom = " ".join(filter(None, (viewer.scope, viewer.name))) if viewer.name else "everybody"
    if not shown and not hidden:
        say("no matching items" if any_ else 'No knowledge items yet. Run "cru knowledge add" to add one.')
    elif not shown:
        say(f"no items visible to {whom}; {hidden} from other projects hidden (--all-projects)")
    elif hidden and not named:
        say(f"visible to {whom}; {hidden} from other projects hidden (--all-projects)")


def _query(root: Path, *, project: str | None, domain: str | None, everything: bool, **wishes: Any) -> ItemFilter:
    named = project is not None or domain is not None
    if wishes["everybody"] and (named or everything):
        raise UsageError("--global cannot be used with --project, --domain or --all-projects", "remove one of them")
    if everything and domain:
        raise UsageError("--domain and --all-projects cannot be used together", "remove one of them")
    asker = RecallScope(project, everything).checked()
    if wishes["everybody"]:
        viewer = Audience(ItemScope.GLOBAL.value)
    elif domain and not project:
        viewer = Audience(ItemScope.DOMAIN.value, "", domain)
    else:
        viewer = asker.viewer(root)
        viewer = viewer._replace(domain=domain) if domain else viewer
    return ItemFilter(
        frozenset(map(ItemType, wishes["types"])),
        frozenset(tag.removeprefix("#") for tag in wishes["tags"]),
        viewer,
        retired=wishes["retired"],
        to_verify=wishes["to_verify"],
    )


def _say_missing(wrong: Sequence[CrucibleError], unread: int) -> bool:
    """Report notes that could not be read or parsed; returns True if there are none."""
    warn(*wrong)
    if unread:
        are = "is" if unread == 1 else "are"
        warn(f'{counted(unread, "note")} {are} not valid; see "cru knowledge check"')
    return not wrong and not unread


def _export(row: ItemRow) -> dict[str, Any]:
    item = row.item
    return {
        "id": row.id,
        "type": item.type.value,
        "scope": item.scope.value,
        "weight": round(row.weight.total, 3),
        "used": item.use_count,
        "useful": item.useful_count,
        "title": item.title,
        "status": item.status.value,
        "project": item.project or None,
        "domain": item.domain or None,
        "tags": [*item.tags],
        "session": item.source.session or None,
        "confidence": item.confidence,
        "verified": item.verification.passed,
        "to_verify": row.to_verify,
        "created": item.created.isoformat() if item.created else None,
        "updated": item.updated.isoformat() if item.updated else None,
        "last_used": item.last_used.isoformat() if item.last_used else None,
        "category": item.failure.category.value if item.failure.category else None,
        "path": cell_of_path(row.path),
    }


# --- show and search -------------------------------------------------------------------------------------------------


@click.command("show")
@click.argument("item", cls=PickedId, kind="item", metavar="[ID]", type=ITEM)
@click.pass_obj
def show_knowledge(door: Door, /, item: str) -> None:
    """Show a knowledge item's note. Problems in it are reported on stderr.

    \b
      cru knowledge show retry-with-jitter
    """
    vault = open_vault(door)
    one = load_item(vault, find_item(vault, item, here()))
    write_document(one.note.data, door)
    say_problems(vault.relative(one.note.path), one.problems)


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--project", metavar="NAME", help="Items visible to this project; by default this folder's project.")
@ALL_PROJECTS
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 20),
    default=5,
    show_default=True,
    metavar="N",
    help="Maximum number of items.",
)
@flag("--explain", "Show the parts of each score.")
@format_option("paths")
@click.pass_context
def search(ctx: click.Context, /, query: tuple[str, ...], **given: Any) -> None:
    """Find knowledge items by words: "cru recall --type knowledge" in this vault only.

    \b
      cru knowledge search how are retries done
    """
    ctx.invoke(
        recall,
        query=query,
        kinds=(EventKind.KNOWLEDGE.value,),
        context=0,
        session="",
        agent="",
        channel="",
        here=True,
        **given,
    )


# --- stats and check -------------------------------------------------------------------------------------------------


@click.command("stats")
@format_option()
@click.pass_obj
def stats(door: Door, /, format_: str) -> int:
    """Show which knowledge items are used, unhelpful or old, and how full each scope is.

    \b
      cru knowledge stats
      cru knowledge stats --format json
    """
    vault = open_vault(door)
    wrong: list[CrucibleError] = []
    found = stats_of(vault, load_items(vault, wrong.append), datetime.now(UTC), vault.settings.knowledge)
    if is_data(format_):
        write_data(_export_stats(found), format_)
    else:
        _write_stats(found)
    return 0 if _say_missing(wrong, found.unread) else PROBLEMS_FOUND


_LISTS = {
    "used": "Most used",
    "never_useful": "Used but never helpful",
    "never_used": "Never used",
    "stale": "To verify",
}
_SHOWN = 10


def _export_stats(found: KnowledgeStats) -> dict[str, Any]:
    numbers = {name: getattr(found, name) for name in ("active", "retired", "unread", "uses", "useful")}
    counts = {name: dict(getattr(found, name)) for name in ("by_type", "by_scope")}
    rows = {name: [_export(row) for row in getattr(found, name)] for name in _LISTS}
    return {**numbers, **counts, **rows, "rooms": [room._asdict() for room in found.rooms]}


def _write_stats(found: KnowledgeStats) -> None:
    lines = [
        f"{found.active} active, {found.retired} retired; used {times(found.uses)}, useful {times(found.useful)}",
        "  ".join(f"{name} {count}" for name, count in found.by_type.items()),
    ]
    for name, title in _LISTS.items():
        rows = getattr(found, name)
        if rows:
            lines += ["", f"{title} ({len(rows)})"]
            lines += [f"  {row.id}  {_uses(row)}{row.item.title}" for row in rows[:_SHOWN]]
            lines += [f"  … and {len(rows) - _SHOWN} more"] if len(rows) > _SHOWN else []
    for line in filter(None, lines) if not found.active else lines:
        click.echo(clean_line(line))


def _uses(row: ItemRow) -> str:
    item = row.item
    return f"{item.useful_count} of {item.use_count} useful  " if item.use_count else ""


@click.command("check")
@format_option()
@click.pass_obj
def check_knowledge(door: Door, /, format_: str) -> int:
    """Show problems in knowledge items: unknown properties, missing sources, repeated names.

    Each line is "path:line: code: message".

    Exit code: 3 if there is a problem.

    \b
      cru knowledge check
    """
    vault = open_vault(door)
    rows = [{"path": one.path, **one.problem._asdict()} for one in check_items(vault)]
    write_problems(rows, format_)
    say(counted(len(rows), "problem", zero="no"))
    return PROBLEMS_FOUND if rows else 0
