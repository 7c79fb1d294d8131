"""`cru import`: transcripts found, a bar on stderr, and what came of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.given import GivenPath
from crucible.cli.opening import open_vault
from crucible.cli.options import BEGIN, format_option
from crucible.cli.output import PROBLEMS_FOUND, given_width, say, write, write_json
from crucible.cli.surroundings import user_settings
from crucible.errors import TranscriptError
from crucible.importing.importing import import_transcripts
from crucible.importing.report import ImportOptions, ImportReport, UnreadableRow
from crucible.transcript.dialects import DIALECTS, Dialect

__all__ = ["claude_code"]


@click.command("claude-code")
@click.argument("paths", metavar="[PATH]...", type=GivenPath(path_type=Path), nargs=-1)
@click.option("--dry-run", is_flag=True, help="Say what would be done and write nothing.")
@click.option(
    "--since", type=BEGIN, metavar="WHEN", help="Only what was written to since: 2026-11-21, 12h, 7d, 2w."
)
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@format_option("table", "json")
@click.pass_context
def claude_code(
    ctx: click.Context,
    *,
    paths: tuple[Path, ...],
    dry_run: bool,
    since: datetime | None,
    project: str | None,
    format_: str,
) -> None:
    """Import Claude Code's transcripts: each session becomes a note, each subagent a linked note.

    PATH is a transcript, a session's or a project's folder, or the client's whole folder; without one, the client's own
    is read. Importing again adds only what is new and keeps what you edited. The exit code is 3 when something could
    not be read; everything else was imported all the same.

    \b
      cru import claude-code
      cru import claude-code ~/.claude/projects/-home-me-shop --since 7d
      cru import claude-code session.jsonl --dry-run --format json
    """
    vault = open_vault(ctx.ensure_object(Door))
    options = ImportOptions(
        now=datetime.now(UTC),
        dry_run=dry_run,
        since=since,
        only_project=project,
        projects=user_settings().projects,
    )
    dialect = DIALECTS["claude-code"]
    with _bar() as bar:
        report = import_transcripts(
            vault, dialect, paths or [_own_folder(dialect)], options=options, progress=bar
        )
    _WRITERS[format_](report, dry_run=dry_run)
    ctx.exit(PROBLEMS_FOUND if report.unreadable else 0)


def _own_folder(dialect: Dialect) -> Path:
    folder = dialect.default_folder(os.environ, Path.home())
    if not folder.exists():
        raise TranscriptError(
            f"{folder}: no such folder", "name the transcripts: cru import claude-code PATH"
        )
    return folder


@contextmanager
def _bar() -> Iterator[Callable[[int, int, str], None]]:
    """A bar on stderr when that is a terminal, gone when the work is done."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _name: None
        return
    # Late: a script that imports has no use for a bar, and rich takes as long to load as all the rest.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415  late, as above
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, width=given_width())
    columns = (TextColumn("importing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("importing", total=None)

        def show(done: int, total: int, _: str) -> None:
            progress.update(task, completed=done, total=total)

        yield show


def _write_table(report: ImportReport, *, dry_run: bool) -> None:
    """What could not be read goes to stderr, line by line; the last line on stdout counts."""
    for row in report.unreadable:
        say(f"{_place(row)}: unreadable: {row.reason}", style="yellow")
    for path in report.empty:
        say(f"{path}: nobody said a word in it; no note")
    for reason, count in report.left_out.items():
        say(f"{count} left out: {reason}")
    for kind, count in report.unknown_rows.items():
        say(f"{count} rows of the unknown type {kind!r} kept out of the notes")
    for word, ids in (("created", report.created), ("updated", report.updated)):
        for session_id in ids:
            write(f"{word}  {session_id}")
    counts = {name: len(getattr(report, name)) for name in ("created", "updated", "unchanged", "unreadable")}
    first = f" (first: {_place(report.unreadable[0])})" if report.unreadable else ""
    last = ", ".join(f"{count} {name}" for name, count in counts.items())
    if not any((*counts.values(), report.empty, report.left_out)):
        say(
            "no transcripts there; name a client's folder, a project's, or a file: cru import claude-code --help"
        )
    write(f"{'dry run, nothing written: ' if dry_run else ''}{last}{first}")


def _place(row: UnreadableRow) -> str:
    return f"{row.path}:{row.line}" if row.line else str(row.path)


def _write_json(report: ImportReport, *, dry_run: bool) -> None:
    """The shape is the same for a dry run: it says what would be."""
    del dry_run
    rows = [{"path": str(row.path), "line": row.line, "reason": row.reason} for row in report.unreadable]
    kept = {name: list(getattr(report, name)) for name in ("created", "updated", "unchanged")}
    write_json({**kept, "unreadable": rows})


_WRITERS: Mapping[str, Callable[..., None]] = {"table": _write_table, "json": _write_json}
