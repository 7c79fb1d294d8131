"""`cru workflow sessions` and `history`: the marker rows of all workflows, and the runs of one workflow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import click

from crucible.cli.id_arguments import WORKFLOW
from crucible.cli.options import Door, format_option, is_data, limit_option, since_option, until_option
from crucible.cli.output import PROBLEMS_FOUND, say, write_data
from crucible.cli.table_output import write_rows
from crucible.cli.workflow_list import UnreadableWorkflow, WorkflowFinder
from crucible.core.errors import UsageError, first_of
from crucible.core.text import counted
from crucible.documents.workflow.marker_rows import (
    MarkerFigures,
    MarkerQuery,
    MarkerRow,
    MarkerStats,
    Run,
    aggregate,
    parse_where,
    rows_of,
    runs_of,
    select_rows,
)
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.workflow_notes import WorkflowNote

_OURS = ("time", "workflow", "step")
_TABLE = (*_OURS, "agent", "channel", "status", "duration_s", "tokens")
_KNOWN = (
    *_OURS,
    "phase",
    "agent",
    "channel",
    "input",
    "output",
    "duration_s",
    "status",
    "tokens",
    "session",
)


_HEADS = {
    "count": "count",
    "success": "success",
    "failed": "failed",
    "skipped": "skipped",
    "timeout": "timeout",
    "failure_rate": "rate",
    "duration_min_s": "min s",
    "duration_average_s": "avg s",
    "duration_max_s": "max s",
    "tokens": "tokens",
}
"""Short column headings for statistics."""


class _PlacedRow(NamedTuple):
    """A marker row, and the path of its note for messages."""

    path: str
    row: MarkerRow


@click.command("sessions")
@click.option("--agent", metavar="NAME[@VERSION]", help="Only rows of this agent, in any version or this one.")
@click.option("--channel", metavar="NAME", help="Only rows on this channel.")
@click.option("--status", metavar="STATUS", help="Only rows with this status: success, failed, skipped, timeout.")
@click.option(
    "--step",
    "phase",
    metavar="NAME",
    help="Only rows of this step; characters other than letters and digits are ignored.",
)
@click.option(
    "--workflow",
    "workflows",
    type=WORKFLOW,
    multiple=True,
    metavar="FILE",
    help="Only rows of this workflow; repeatable.",
)
@since_option("Only rows since: 2026-11-21, today, 12h, 7d, 2w.")
@until_option("Only rows until this time; a date includes the whole day.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Only rows that match, on any column: 'host=mill', 'duration_ms > 5000', 'output ~ receipt'; repeatable.",
)
@click.option("--by", metavar="COLUMN", help="Group rows by the values of this column: step, agent, host.")
@limit_option("Only the first N rows.", least=0)
@format_option()
@click.pass_obj
def marker_rows(
    door: Door,
    /,
    *,
    workflows: tuple[str, ...],
    where: tuple[str, ...],
    by: str | None,
    limit: int | None,
    format_: str,
    **options: Any,
) -> int:
    """List runs of steps across all workflows, newest first.

    \b
    - A condition is COLUMN OPERATOR VALUE. The operators are = != < <= > >=
      ~ (contains) and !~. Every --where must match. A missing value matches
      only "= null".
    - Any column of the marker blocks can be used, also "workflow" and
      "step".
    - Rows without a start time match neither --since nor --until; stderr
      shows their number.
    - --by groups the rows: number, results, failure rate without skipped
      steps, duration in milliseconds, and tokens.
    - JSON has each row's workflow, path, line and all columns.

    Exit code: 3 if rows may be missing because a folder or note could not be read.

    \b
      cru workflow sessions --status failed --since 7d
      cru workflow sessions --agent ci --where 'duration_ms > 60000'
      cru workflow sessions --workflow release-checklist --by step
    """
    query = MarkerQuery(**options, where=tuple(map(parse_where, where)))
    shelf, complete = WorkflowFinder(door), True
    if workflows:
        notes: Sequence[WorkflowNote | UnreadableWorkflow] = list(
            {n.path: n for n in map(shelf.load, workflows)}.values()
        )
    else:
        notes, complete = shelf.every()
    complete &= not sum(map(_say_unread, notes))
    every = [
        _PlacedRow(note.shown, row)
        for note in notes
        if isinstance(note, WorkflowNote)
        for row in rows_of(note.workflow)
    ]
    named = [re.split("[=!<>~]", text, maxsplit=1)[0].strip().casefold() for text in where]
    _say_unknown([found.row for found in every], [*named, *([by.casefold()] if by else [])])
    _say_unknown_values([found.row for found in every], query)
    chosen = _matching(every, query)
    if by is None:
        _write_rows(chosen[:limit], named, format_, door)
    else:
        stats = aggregate([found.row for found in chosen], by.strip().casefold())
        _write_stats(stats._replace(groups=stats.groups[:limit]), format_, door)
    return 0 if complete else PROBLEMS_FOUND


def _say_unread(note: WorkflowNote | UnreadableWorkflow) -> bool:
    if isinstance(note, WorkflowNote):
        return False
    say(f"{note.shown}:1: unreadable-note: {note.error}", style="yellow")
    return True


def _say_unknown(rows: Sequence[MarkerRow], named: Iterable[str]) -> None:
    """Report unknown column names; otherwise a typo would look like an empty result."""
    known = {"workflow", "step", *(column for row in rows for column in row.columns)}
    for column in dict.fromkeys(named):
        if rows and column not in known:
            say(f"no row has a column {column!r}; known columns: {', '.join(sorted(known))}", style="yellow")


def _say_unknown_values(rows: Sequence[MarkerRow], query: MarkerQuery) -> None:
    """Report filter values that occur in no row."""
    for column in ("agent", "channel", "status", "phase"):
        value = getattr(query, column)
        if value and rows and not select_rows(rows, MarkerQuery(**{column: value})):
            known = sorted({text for row in rows if (text := row.text(column))})
            shown = first_of(known) or "none"
            say(f"no row has the {column} {value!r}; known values: {shown}", style="yellow")


def _matching(every: Sequence[_PlacedRow], query: MarkerQuery) -> list[_PlacedRow]:
    """Return the matching rows, newest first; report how many were excluded only because they have no time."""
    paths = {id(found.row): found.path for found in every}
    fitting = select_rows((found.row for found in every), query._replace(since=None, until=None))
    rows = select_rows(fitting, query)
    if query.since is not None or query.until is not None:
        timeless = sum(row.time is None for row in fitting)
        if timeless:
            say(f"{counted(timeless, 'row')} without a time skipped", style="yellow")
    # Sort by note, last rows first, then stably by time: rows with equal or unknown times keep this order.
    rows.sort(key=lambda row: (paths[id(row)], -row.at))
    rows.sort(key=lambda row: (row.time is not None, row.time.timestamp() if row.time else 0), reverse=True)
    return [_PlacedRow(paths[id(row)], row) for row in rows]


def _write_rows(found: Sequence[_PlacedRow], named: Sequence[str], format_: str, door: Door) -> None:
    if is_data(format_):
        write_data({"steps": [_export(one) for one in found]}, format_)
        return
    columns = list(dict.fromkeys([*_TABLE, *named]))
    rows = [_flat(one, columns) for one in found]
    texts = [column for column in columns if column not in ("time", "status", "duration_s", "tokens", "step")]
    write_rows(rows, columns, format_, "steps", door, texts=texts, names=("step",))


def _flat(found: _PlacedRow, columns: Iterable[str]) -> dict[str, Any]:
    row = found.row
    cells: dict[str, Any] = {column: row.cell(column) for column in columns}
    return {
        **cells,
        "time": utc(row.time) if row.time else None,
        "workflow": row.workflow,
        "step": row.step or None,
        "duration_s": _seconds(row.number("duration_ms")),
        "tokens": row.cell("tokens_used"),
    }


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds / 1000, 3)


def _export(found: _PlacedRow) -> dict[str, Any]:
    row = found.row
    cells = _flat(found, _KNOWN)
    ours = {column: cells.pop(column) for column in _OURS}
    return {
        **ours,
        "path": found.path,
        "line": row.marker.place.line,
        **cells,
        "columns": dict(row.marker.values),
    }


def _write_stats(stats: MarkerStats, format_: str, door: Door) -> None:
    if format_ == "text":
        # A column may have the same name as a statistic.
        name = f"{stats.by} " if stats.by in _HEADS.values() else str(stats.by)
        lines = [_figures_row(one, name) for one in (*stats.groups, replace(stats.total, name="total"))]
        write_rows(lines, [name, *_HEADS.values()], format_, "", door, texts=(name,))
        return
    total = _figures(stats.total)
    del total["name"]
    groups = [_figures(group) for group in stats.groups]
    write_data({"by": stats.by, "groups": groups, "total": total}, format_)


def _figures(figures: MarkerFigures) -> dict[str, Any]:
    """Return the figures under the names of our JSON, with durations in seconds."""
    known = asdict(figures)
    for old, new in (("min", "min"), ("avg", "average"), ("max", "max")):
        known[f"duration_{new}_s"] = _seconds(known.pop(f"duration_{old}_ms"))
    known["tokens"] = known.pop("tokens_used")
    return known


def _figures_row(figures: MarkerFigures, name: str) -> dict[str, Any]:
    cells = _figures(figures)
    if figures.failure_rate is not None:
        cells["failure_rate"] = f"{figures.failure_rate * 100:.1f} %"
    return {name: figures.name, **{head: cells[key] for key, head in _HEADS.items()}}


_HISTORY_TABLE = ("started", "status", "run", "steps", "failed", "duration_s", "tokens")
_HISTORY_COLUMNS = ("started", "status", "run", "steps", "success", "failed", "skipped", "timeout",
            "duration_s", "tokens", "failures", "names", "agents")  # fmt: skip
_PAGE = 20


@click.command
@click.argument("workflow", metavar="FILE", type=WORKFLOW)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    default=_PAGE,
    metavar="N",
    show_default=True,
    help="Number of runs per page.",
)
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="The page; 1 has the newest runs.")
@format_option()
@click.pass_obj
def history(door: Door, /, workflow: str, *, limit: int, page: int, format_: str) -> None:
    """List a workflow's runs, newest first: start, result, duration and tokens.

    \b
    - A run is all marker rows with the same "session" (or "run"); other
      rows are runs of their own.
    - "failed" counts steps that failed or timed out and were not repeated
      successfully.
    - The duration of a step includes the steps below it; tokens do not. "-"
      means unknown.
    - FILE is a workflow's name, a unique prefix of it, or a path. A path
      needs no vault.

    \b
      cru workflow history release-checklist
      cru workflow history release-checklist -n 50 --page 2
      cru workflow history release-checklist --format json
    """
    note = WorkflowFinder(door).load(workflow)
    runs = runs_of(note.workflow)
    pages = max(1, -(-len(runs) // limit))
    if page > pages:
        raise UsageError(f"there is no page {page}", f"the last one is {pages}")
    rows = [_run_row(run) for run in runs[(page - 1) * limit : page * limit]]
    if format_ == "text":
        columns: Sequence[str] = _HISTORY_TABLE
        rows = [{**row, "run": row["run"] or f"({', '.join(row['names'])})"} for row in rows]
    else:
        columns = _HISTORY_COLUMNS
    write_rows(rows, columns, format_, "runs", door, texts=("run",))
    if not runs:
        say("no runs yet")
    elif pages > 1:
        more = f"; older runs: --page {page + 1}" if page < pages else ""
        say(f"page {page} of {pages}, {len(runs):,} runs{more}")


def _run_row(run: Run) -> dict[str, Any]:
    figures, failures = run.figures, run.failures
    return {
        "started": utc(run.started) if run.started else None,
        "status": run.status,
        "run": run.name,
        "steps": len({row.step or row.marker.phase for row in run.rows}),
        "success": figures.success,
        "failed": len(failures),
        "skipped": figures.skipped,
        "timeout": figures.timeout,
        "duration_s": _seconds(run.duration_ms),
        "tokens": figures.tokens_used,
        "failures": list(dict.fromkeys(row.step or row.marker.phase for row in failures)),
        "names": list(dict.fromkeys(row.step or row.marker.phase for row in run.rows)),
        "agents": list(dict.fromkeys(text for row in run.rows if (text := row.text("agent")))),
    }
