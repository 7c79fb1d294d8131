"""`cru task list` and `cru task show`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.id_arguments import SESSION, TASK, PickedId
from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import Door, flag, format_option, is_data, limit_option
from crucible.cli.output import (
    PROBLEMS_FOUND,
    clean_line,
    in_color,
    room_of,
    say,
    warn,
    write,
    write_data,
    write_marked,
    write_text,
)
from crucible.cli.table_output import Tier, broadest, cut_to, table_lines
from crucible.cli.task_lookup import OpenedTask, broken_blocks, client_here, open_task, scope_of
from crucible.cli.vault_access import open_vault
from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.markdown.source import Problem
from crucible.memory.tasks.annotations import AnnotationFolder, annotation_path, read_annotation, values_of
from crucible.memory.tasks.overview import Overview, TaskScope, overview, shown_tasks
from crucible.memory.tasks.readiness import ListedTask
from crucible.memory.tasks.task import Annotation, OpenTask, Recalled, Ref
from crucible.memory.tasks.task_pickup import RecallCounts, recalled_ids
from crucible.search.recall import Event
from crucible.vault.notes.vault import Vault

_LEAST_TEXT, _INDENTED = 24, 4
"""The minimum width of the text column on a narrow terminal, and the width of the indent and the gap."""
_CIRCLES, _IN_CIRCLE = 5, 8
"""The maximum number of cycles to list, and of tasks in each."""
_HUES = {"In progress": "cyan", "Ready": "green", "Blocked": "yellow", "Recently completed": ""}
"""The colour of each group's heading."""
_STATUS_HUES = {"in_progress": "cyan", "completed": "green", "cancelled": "yellow"}
_STATE = {"in_progress": "in progress", "pending": "not started"}


def write_overview(result: Overview, door: Door, titles: Mapping[Ref, Sequence[str]]) -> None:
    """Write counts, then the tasks by state; `titles` are the titles of recalled items."""
    status = result.status
    write(f"{status.completed} completed, {status.in_progress_count} in progress, {status.pending} pending")
    groups = {
        "In progress": status.in_progress,
        "Ready": status.ready,
        "Blocked": status.blocked,
        "Recently completed": tuple(ListedTask(task) for task in status.recent),
    }
    rows = {name: [_cells(one, result.recall) for one in standings] for name, standings in groups.items()}
    columns = [list(column) for column in zip(*(row for each in rows.values() for row in each), strict=True)]
    lines = _lines(columns, room_of(door)) if columns else iter(())
    for name, standings in groups.items():
        if standings:
            write()
            write_marked(name, _HUES[name], "", door)
        for one in standings:
            write_text(f"  {next(lines)}")
            for title in titles.get(one.task.ref, ()):
                write(f"      {title}")
    if status.left_out:
        say(f'{status.left_out} more; list all with "cru task list --all"')
    if result.older:
        say(f'{result.older} open in older sessions; list them with "cru task list --all"')


def _lines(columns: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """Yield a line for each task; on a narrow terminal the id, which is always whole, is on a line below the text."""
    ids, texts = columns
    if room is None or broadest(ids) + _LEAST_TEXT + _INDENTED <= room:
        return table_lines(columns, None if room is None else room - 2, [Tier([1], _LEAST_TEXT)])
    return (f"{cut_to(text, room - 2)}\n    {ident}" for ident, text in zip(ids, texts, strict=True))


def _cells(one: ListedTask, recall: Mapping[Ref, RecallCounts]) -> list[str]:
    words = [one.task.content]
    if one.waits_for:
        waits = (f"{other.ref.id} ({_STATE.get(other.stage, other.stage)})" for other in one.waits_for[:_IN_CIRCLE])
        words.append(f"waits for {', '.join(waits)}")
    if one.task.held:
        words.append("blocked in its list")
    if one.unknown:
        words.append(f"needs {', '.join(one.unknown[:_IN_CIRCLE])}, not in its list")
    counts = counted(recall.get(one.task.ref, RecallCounts()))
    known = f" ({counts})" if counts else ""
    return [clean_line(str(one.task.ref)), clean_line("; ".join(words)) + known]


def counted(counts: RecallCounts) -> str:
    """Describe counts, for example `2 patterns, 1 failure`; "" for none."""
    return ", ".join(
        f"{number} {name if number > 1 else name.removesuffix('s')}"
        for name, number in counts._asdict().items()
        if number
    )


def say_circles(circles: Iterable[Sequence[OpenTask]]) -> None:
    """Report each cycle of tasks on one line."""
    found = list(circles)
    for ring in found[:_CIRCLES]:
        names = [task.ref.id for task in ring[:_IN_CIRCLE]]
        more = [f"… {len(ring) - len(names)} more"] if len(ring) > len(names) else []
        way = " → ".join([*names, *more, names[0]])
        warn(f"{ring[0].ref.session}: circular dependency: {way}")
    if len(found) > _CIRCLES:
        warn(f"{len(found) - _CIRCLES} more circular dependencies")


def _export(result: Overview, titles: Mapping[Ref, Sequence[str]]) -> dict[str, object]:
    status = result.status
    groups: Mapping[str, Iterable[ListedTask]] = {
        "in_progress": status.in_progress,
        "ready": status.ready,
        "blocked": status.blocked,
        "completed": map(ListedTask, status.recent),
    }
    return {
        "tasks": [
            {"state": state, **_standing_json(one, result, titles)} for state, each in groups.items() for one in each
        ],
        "counts": {
            "completed": status.completed,
            "in_progress": status.in_progress_count,
            "pending": status.pending,
            "omitted": status.left_out,
            "older": result.older,
        },
        "cycles": [[str(task.ref) for task in ring] for ring in status.circles],
    }


def _standing_json(one: ListedTask, result: Overview, titles: Mapping[Ref, Sequence[str]]) -> dict[str, object]:
    counts = result.recall.get(one.task.ref)
    owner = result.owners.get(one.task.ref.session)
    more = {"recalled": list(titles[one.task.ref])} if one.task.ref in titles else {}
    return {
        **task_json(one.task),
        "project": (owner.project if owner else "") or None,
        "waits_for": [task.ref.id for task in one.waits_for],
        "unknown": list(one.unknown),
        "annotations": counts._asdict() if counts else None,
        **more,
    }


def task_json(task: OpenTask) -> dict[str, object]:
    """Return a task for JSON."""
    return {
        "id": str(task.ref),
        "session": task.ref.session,
        "task": task.ref.id,
        "content": task.content,
        "status": task.stage.value,
        "priority": task.priority,
        "depends_on": list(task.needs),
        "started": task.started,
        "completed": task.completed,
    }


def titles_of(recalled: Recalled, events: Iterable[Event]) -> tuple[str, ...]:
    """Return a line for each recalled item that still exists."""
    kinds = {"pattern": recalled.patterns, "failure": recalled.failures, "decision": recalled.decisions}
    names = {name: kind for kind, ids in kinds.items() for name in ids}
    return tuple(f"{names.get(one.id, 'item')}: {one.title or one.text.split(chr(10), 1)[0][:200]}" for one in events)


# --- one task ---------------------------------------------------------------------------------------------------------


def write_task(opened: OpenedTask, note: Annotation | None, file: str, door: Door) -> None:
    """Write a task and its annotation, one field per line; recalled items are shown by id."""
    task = opened.task
    write(str(task.ref))
    facts = [
        ("task", task.content),
        ("status", task.stage.replace("_", " ") + (", blocked in its list" if task.held else "")),
        ("priority", task.priority if task.priority != "medium" else ""),
        ("started", task.started or ""),
        ("completed", task.completed or ""),
        ("note", opened.owner.path),
        *(("waits for", _named(one)) for one in opened.waits_for),
        *(("before", _named(one)) for one in opened.tasks if task.ref.id in one.needs),
    ]
    facts += list(_noted(note, file)) if note else []
    for name, text in facts:
        if name == "status":
            hue = "yellow" if opened.waits_for or task.held else _STATUS_HUES.get(task.stage, "")
            write(f"  {name:<10} ", end=False)
            write_marked(text, hue, "", door)
        elif text:
            write(f"  {name:<10} {text}")
    if note is None:
        say('No annotations yet. Run "cru task pick" to search recall.', color=in_color(door))


def _named(task: OpenTask) -> str:
    return f"{task.ref.id} ({task.stage.replace('_', ' ')}): {task.content}"


def _noted(note: Annotation, file: str) -> Iterator[tuple[str, str]]:
    yield "annotation", file
    for name, ids in (
        ("patterns", note.recalled.patterns),
        ("failures", note.recalled.failures),
        ("decisions", note.recalled.decisions),
    ):
        yield name, ", ".join(ids)
    for one in note.inherited:
        yield "inherited", f"{one.decision} (from task {one.from_task_id})"
    for choice in note.choices:
        mark = {True: ", goes to dependents", False: ", stays here"}.get(bool(choice.propagate), "")
        kind = f" [{choice.kind.value}]" if choice.kind else ""
        yield "decided", choice.summary + kind + (mark if choice.propagate is not None else "")
    for text in note.discoveries:
        yield "found", text
    yield "captured", ", ".join(note.captured_to)


@click.command("list")
@click.option("--project", metavar="NAME", help="Only tasks of this project; by default this folder's.")
@click.option("--session", metavar="ID", type=SESSION, help="Only tasks of this session, of any age.")
@flag("--all", "List all tasks of all projects and sessions.", "everything")
@limit_option("Maximum number of tasks; the default setting is 10.", least=0)
@format_option()
@click.pass_obj
def list_tasks(
    door: Door,
    /,
    *,
    project: str | None,
    session: str | None,
    everything: bool,
    limit: int | None,
    format_: str,
) -> int:
    """List tasks: in progress, ready, blocked and recently completed.

    \b
    - Tasks come from session notes and Claude Code's lists.
    - By default, lists tasks of this folder's project, or of all projects,
      in sessions of the last 30 days.
    - Brackets show how many knowledge items are known for a task; "cru task
      pick" shows them.
    - "cru task" alone does the same.

    Exit code: 3 if something could not be read.

    \b
      cru task
      cru task list --project shop -n 30
      cru task list --session 2026-11-21-add --format json
    """
    if session and (project or everything):
        raise UsageError("--session cannot be used with --project or --all", "remove one of them")
    index = open_index(door)
    root, settings = Path(index.root), index.settings.tasks
    days = index.settings.briefing.history_days
    scope = (
        TaskScope(session=session)
        if session
        else scope_of(root, project, days, datetime.now(UTC).replace(microsecond=0), everything=everything)
    )
    most = limit if limit is not None or everything else settings.max_tasks_shown
    shelf = AnnotationFolder(root, settings.annotations_dir)
    client = client_here(root, scope.project)
    result, now = query_index(index, lambda view: overview(view, scope, shelf, client, most))
    broken = broken_blocks(Vault(root, index.settings), result.owners.values())
    result = result._replace(troubles=(*result.troubles, *broken))
    if not settings.show_recall_summary:
        result = result._replace(recall={})
    titles = _titles(door, shelf, result) if settings.eager_recall_loading else {}
    if is_data(format_):
        write_data(_export(result, titles), format_)
    else:
        write_overview(result, door, titles)
        if not (result.owners or result.older or session or everything):
            say('No recent tasks here. Run "cru task --all" to see those of older sessions and other projects.')
    say_circles(result.status.circles)
    warn(*result.troubles)
    return PROBLEMS_FOUND if result.troubles or now.unwalked else 0


def _titles(door: Door, shelf: AnnotationFolder, result: Overview) -> Mapping[Ref, tuple[str, ...]]:
    """Return the titles of recalled items for each shown task; used with `eager_recall_loading`."""
    # Imported late: few vaults use it, and it loads slowly.
    from crucible.cli.recall_engine import RecallScope, open_recall  # noqa: PLC0415  as above

    found: dict[Ref, tuple[str, ...]] = {}
    recall = open_recall(door, RecallScope(everything=True)).recall
    for task in shown_tasks(result.status):
        if not any(result.recall.get(task.ref, ())):
            continue
        note, _ = read_annotation(shelf, task.ref)
        if note:
            known = note.recalled
            found[task.ref] = titles_of(known, recall.get(recalled_ids(known)))
    return found


@click.command("show")
@click.argument("task", cls=PickedId, kind="task", type=TASK)
@format_option()
@click.pass_obj
def show_task(door: Door, /, task: str, format_: str) -> int:
    """Show a task, its dependencies and annotations, and the ids of related knowledge.

    TASK is SESSION.TASK as in "cru task list", or a unique prefix. Within CRU_SESSION, the task's own id is enough.

    \b
      cru task show 2026-11-21-add.3
    """
    vault = open_vault(door)
    opened = open_task(vault, task)
    shelf = AnnotationFolder(vault.root, vault.settings.tasks.annotations_dir)
    note: Annotation | None = None
    problems: list[Problem] = []
    try:
        note, problems = read_annotation(shelf, opened.task.ref)
    except CrucibleError as error:
        warn(error)
    file = annotation_path(shelf, opened.task.ref).relative_to(vault.root).as_posix()
    if is_data(format_):
        more = {
            "path": opened.owner.path or None,
            "waits_for": [one.ref.id for one in opened.waits_for],
            "before": [one.ref.id for one in opened.tasks if opened.task.ref.id in one.needs],
            "annotation": values_of(note) if note else None,
        }
        write_data({"tasks": [{**task_json(opened.task), **more}]}, format_)
    else:
        write_task(opened, note, file, door)
    for one in problems:
        say(f"{file}:{one.line}: {one.code}: {one.message}", style="yellow")
    return PROBLEMS_FOUND if problems else 0
