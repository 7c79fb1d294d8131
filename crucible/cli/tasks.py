"""`cru task list` and `cru task show`: tasks over all sessions, and one of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.indexed import asked, open_index
from crucible.cli.opening import open_vault
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND, say, write_json
from crucible.cli.session_ref import SESSION
from crucible.cli.task_opening import broken_blocks, client_here, open_task, scope_of
from crucible.cli.task_ref import TASK
from crucible.cli.task_showing import (
    say_circles,
    task_json,
    titles_of,
    write_overview,
    write_overview_json,
    write_task,
)
from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.markdown.source import Problem
from crucible.memory.tasks.annotations import Shelf, annotation_path, read_annotation, values_of
from crucible.memory.tasks.overview import Overview, overview, shown_tasks
from crucible.memory.tasks.pick import recalled_ids
from crucible.memory.tasks.task import Annotation, Ref
from crucible.memory.tasks.task_index import Scope
from crucible.vault.notes.vault import Vault


@click.command("list")
@click.option("--project", metavar="NAME", help="Only of this project; by default of the folder's that we are in.")
@click.option("--session", metavar="ID", type=SESSION, help="Only of this session, however old.")
@click.option("--all", "everything", is_flag=True, help="Of every project and session, all of them.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="At most so many; the setting has 10.")
@format_option("table", "json")
@click.pass_context
def list_tasks(
    ctx: click.Context,
    /,
    *,
    project: str | None,
    session: str | None,
    everything: bool,
    limit: int | None,
    format_: str,
) -> None:
    """List tasks: in progress, ready, blocked, and done; `cru task` alone is the same.

    They come from the notes' tasks blocks and from the lists of Claude Code, which may be ahead of them. Without options those of the
    project whose folder we are in, or of every project, in sessions of the last 30 days. In brackets is how much is known for a task;
    `cru task pick` tells it. The exit code is 3 when something could not be read.

    \b
      cru task
      cru task list --project shop -n 30
      cru task list --session 2026-11-21-add --format json
    """
    if session and (project or everything):
        raise UsageError("--session excludes --project and --all", "leave one of them out")
    door = ctx.ensure_object(Door)
    index = open_index(door)
    root, settings = Path(index.root), index.settings.tasks
    days = index.settings.briefing.history_days
    scope = (
        Scope(session=session)
        if session
        else scope_of(root, project, days, datetime.now(UTC).replace(microsecond=0), everything=everything)
    )
    most = limit if limit is not None or everything else settings.max_tasks_shown
    shelf = Shelf(root, settings.annotations_dir)
    client = client_here(root, scope.project)
    told, now = asked(index, lambda view: overview(view, scope, shelf, client, most))
    broken = broken_blocks(Vault(root, index.settings), told.owners.values())
    told = told._replace(troubles=(*told.troubles, *broken))
    if not settings.show_recall_summary:
        told = told._replace(recall={})
    titles = _titles(door, shelf, told) if settings.eager_recall_loading else {}
    if format_ == "json":
        write_overview_json(told, titles)
    else:
        write_overview(told, door, titles)
    say_circles(told.status.circles)
    for line in told.troubles:
        say(f"cru: {line}", style="yellow")
    ctx.exit(PROBLEMS_FOUND if told.troubles or now.unwalked else 0)


def _titles(door: Door, shelf: Shelf, told: Overview) -> Mapping[Ref, tuple[str, ...]]:
    """What recall found for each task that is shown, a line each, for a vault that wishes so."""
    from crucible.cli.recall_opening import Asker, open_asked  # noqa: PLC0415  few vaults wish so, and it takes long to import

    found: dict[Ref, tuple[str, ...]] = {}
    recall = open_asked(door, Asker(everything=True), lambda *_: None, embedded=False).recall
    for task in shown_tasks(told.status):
        if not any(told.recall.get(task.ref, ())):
            continue
        note, _ = read_annotation(shelf, task.ref)
        if note:
            known = note.recalled
            found[task.ref] = titles_of(known, recall.get(recalled_ids(known)))
    return found


@click.command("show")
@click.argument("task", type=TASK)
@format_option("text", "json")
@click.pass_context
def show_task(ctx: click.Context, /, task: str, format_: str) -> None:
    """Show a task, what it waits for, and what is noted of it; what recall found by its ids alone.

    TASK is SESSION.TASK, as `cru task list` tells it, or a beginning that fits no other; the task's own id will do in the session that
    CRU_SESSION names.

    \b
      cru task show 2026-11-21-add.3
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door)
    opened = open_task(vault, task)
    shelf = Shelf(vault.root, vault.settings.tasks.annotations_dir)
    note: Annotation | None = None
    problems: list[Problem] = []
    try:
        note, problems = read_annotation(shelf, opened.task.ref)
    except CrucibleError as error:
        say(f"cru: {error}", style="yellow")
    file = annotation_path(shelf, opened.task.ref).relative_to(vault.root).as_posix()
    if format_ == "json":
        more = {
            "path": opened.owner.path or None,
            "waits_for": [one.ref.id for one in opened.waits_for],
            "before": [one.ref.id for one in opened.tasks if opened.task.ref.id in one.needs],
            "annotation": values_of(note) if note else None,
        }
        write_json({**task_json(opened.task), **more})
    else:
        write_task(opened, note, file, door)
    for one in problems:
        say(f"{file}:{one.line}: {one.code}: {one.message}", style="yellow")
    ctx.exit(PROBLEMS_FOUND if problems else 0)
