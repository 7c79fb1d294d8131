"""`cru workflow history`: the runs of one workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.options import format_option
from crucible.cli.output import say
from crucible.cli.workflow_opening import Shelf
from crucible.cli.workflow_ref import WORKFLOW
from crucible.cli.workflow_tables import write_cells
from crucible.core.errors import UsageError
from crucible.documents.workflow.run_query import Run, runs_of
from crucible.vault.index.time_filters import utc

_TABLE = ("started", "status", "run", "steps", "failed", "duration_ms", "tokens_used")
_COLUMNS = ("started", "status", "run", "steps", "success", "failed", "skipped", "timeout",
            "duration_ms", "tokens_used", "failures", "names", "agents")  # fmt: skip
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
    help="Runs on a page.",
)
@click.option("--page", type=click.IntRange(min=1), default=1, metavar="N", help="Which page; 1 has the newest runs.")
@format_option("table", "json", "toon")
@click.pass_context
def history(ctx: click.Context, /, workflow: str, *, limit: int, page: int, format_: str) -> None:
    """List a workflow's runs, newest first: when, how they ended, and what they took.

    A run is what the marker rows of one `session` (or `run`) tell; a row that names none is a run by itself. "failed" are steps that
    failed or ran out of time and were not made good in the run. Time and tokens are the steps' added up; the time of a
    step holds that of the steps below it, its tokens do not. "-" where no row knows.

    FILE is a workflow's name, a path, or a beginning of a name that only one workflow has. A path needs no vault.

    \b
      cru workflow history release-checklist
      cru workflow history release-checklist -n 50 --page 2
      cru workflow history release-checklist --format json
    """
    door = ctx.ensure_object(Door)
    note = Shelf(door).load(workflow)
    runs = runs_of(note.workflow)
    pages = max(1, -(-len(runs) // limit))
    if page > pages:
        raise UsageError(f"there is no page {page}", f"the last one is {pages}")
    rows = [_told(run) for run in runs[(page - 1) * limit : page * limit]]
    if format_ == "table":
        columns: Sequence[str] = _TABLE
        rows = [{**row, "run": row["run"] or f"({', '.join(row['names'])})"} for row in rows]
    else:
        columns = _COLUMNS
    write_cells(rows, columns, format_, "runs", door, texts=("run",))
    if not runs:
        say("no runs yet")
    elif pages > 1:
        more = f"; --page {page + 1} has older ones" if page < pages else ""
        say(f"page {page} of {pages}, {len(runs):,} runs{more}")


def _told(run: Run) -> dict[str, Any]:
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
        "duration_ms": run.duration_ms,
        "tokens_used": figures.tokens_used,
        "failures": list(dict.fromkeys(row.step or row.marker.phase for row in failures)),
        "names": list(dict.fromkeys(row.step or row.marker.phase for row in run.rows)),
        "agents": list(dict.fromkeys(text for row in run.rows if (text := row.text("agent")))),
    }
