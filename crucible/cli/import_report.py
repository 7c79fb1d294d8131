"""What an import came to, on stdout and stderr: one client's, or that of all clients found.

Owns the lines and the JSON; what happened is in the reports.  What could not be read goes to stderr line by line, the last
line on stdout counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from crucible.cli.aligning import GAP, Tier, fitted
from crucible.cli.output import clean_line, say, write, write_json
from crucible.commands.imports.import_report import ImportReport, UnreadableRow
from crucible.commands.imports.transcript_search import Search

_WORDS = ("created", "updated", "unchanged")
_COUNTS = (*_WORDS, "unreadable")


class Part(NamedTuple):
    """One client of several: where was looked, and what was there."""

    search: Search
    report: ImportReport


def tell_stop(*, dry_run: bool) -> Callable[[Sequence[ImportReport]], None]:
    """Told of an import that stops in the middle: a line on stderr about what is written all the same."""

    def tell(reports: Sequence[ImportReport]) -> None:
        created = sum(len(report.created) for report in reports)
        updated = sum(len(report.updated) for report in reports)
        if not dry_run:
            say(f"stopped: {created} created, {updated} updated so far, and whole; import again for the rest")

    return tell


def write_one(client: str, report: ImportReport, format_: str, *, dry_run: bool) -> None:
    """One client's import as `table` or `json`; the JSON of a dry run says what would be."""
    if format_ == "json":
        write_json(_totals([report], ()))
        return
    _talk(report)
    _write_ids(report)
    if any(not row.path.exists() for row in report.unreadable):
        say(f"name what is there, or no path for the client's own folder: cru import {client} --help")
    if not any((*(getattr(report, name) for name in _COUNTS), report.empty, report.left_out)):
        say(f"no transcripts there; name a client's folder, a project's, or a file: cru import {client} --help")
    write(_last_line([report], report.unreadable, dry_run=dry_run))


def write_all(
    parts: Sequence[Part],
    unknown: Sequence[UnreadableRow],
    looked: Iterable[Path],
    format_: str,
    *,
    dry_run: bool,
    room: int | None = None,
) -> None:
    """The import of all clients found; `unknown` are paths that nobody wrote, `looked` where was looked.

    On a terminal of `room` columns the folders are cut to fit.
    """
    reports = [part.report for part in parts]
    if format_ == "json":
        found = [_client(part) for part in parts if _is_there(part)]
        write_json({**_totals(reports, unknown), "clients": found})
        return
    for row in unknown:
        _say_unreadable(row)
    for report in reports:
        _talk(report)
        _write_ids(report)
    there = [part for part in parts if _is_there(part)]
    if there:
        _write_clients(there, room)
    if not any(part.report.sessions for part in there):
        say(f"no client's sessions found; looked in: {', '.join(map(str, looked))}")
    rows = [*unknown, *(row for report in reports for row in report.unreadable)]
    write(_last_line(reports, rows, dry_run=dry_run))


def _is_there(part: Part) -> bool:
    """A path that was asked about is told of only where this client wrote something there."""
    return bool(not part.search.is_sniffed or part.report.sessions or part.report.unreadable)


# --- lines -----------------------------------------------------------------------------------------------------------


def _talk(report: ImportReport) -> None:
    for row in report.unreadable:
        _say_unreadable(row)
    for path in report.empty:
        say(f"{path}: nobody said a word in it; no note")
    for reason, count in report.left_out.items():
        say(f"{count} left out: {reason}")
    for kind, count in report.unknown_rows.items():
        say(f"{count} {'row' if count == 1 else 'rows'} of the unknown type {kind!r} kept out of the notes")
    if report.redacted:
        count, (first, *others) = sum(report.redacted.values()), sorted(report.redacted)
        more = f" and {len(others)} more" if others else ""
        say(f"{count} secret{'' if count == 1 else 's'} redacted; still in the transcript: {first}{more}")


def _say_unreadable(row: UnreadableRow) -> None:
    say(f"{_place(row)}: unreadable: {row.reason}", style="yellow")


def _place(row: UnreadableRow) -> str:
    return f"{row.path}:{row.line}" if row.line else str(row.path)


def _write_ids(report: ImportReport) -> None:
    for word, ids in (("created", report.created), ("updated", report.updated)):
        for session_id in ids:
            write(f"{word}  {session_id}")


def _write_clients(parts: Sequence[Part], room: int | None) -> None:
    heads = ("client", "folder", "sessions", *_COUNTS)
    rows = [[str(value) for value in _line(part)] for part in parts]
    columns = [[head, *cells] for head, cells in zip(heads, zip(*rows, strict=True), strict=True)]
    for cells in zip(*fitted(columns, room, [Tier([heads.index("folder")], _FOLDER)]), strict=True):
        write(GAP.join(cells).rstrip())


_FOLDER = 12
"""Columns that a narrow terminal leaves of the folders at least."""


def _line(part: Part) -> tuple[str | int, ...]:
    folder = clean_line(", ".join(map(str, part.search.paths)))
    counts = (len(getattr(part.report, name)) for name in _COUNTS)
    return (part.search.dialect.NAME, folder, part.report.sessions, *counts)


def _last_line(reports: Sequence[ImportReport], rows: Sequence[UnreadableRow], *, dry_run: bool) -> str:
    counts = {name: sum(len(getattr(report, name)) for report in reports) for name in _WORDS}
    told = ", ".join(f"{count} {name}" for name, count in {**counts, "unreadable": len(rows)}.items())
    first = f" (first: {_place(rows[0])})" if rows else ""
    return f"{'dry run, nothing written: ' if dry_run else ''}{told}{first}"


# --- JSON ------------------------------------------------------------------------------------------------------------


def _totals(reports: Sequence[ImportReport], unknown: Sequence[UnreadableRow]) -> dict[str, object]:
    rows = [*unknown, *(row for report in reports for row in report.unreadable)]
    kept = {name: [one for report in reports for one in getattr(report, name)] for name in _WORDS}
    told = [{"path": str(row.path), "line": row.line, "reason": row.reason} for row in rows]
    return {**kept, "unreadable": told}


def _client(part: Part) -> dict[str, object]:
    counts = {name: len(getattr(part.report, name)) for name in _COUNTS}
    folders = list(map(str, part.search.paths))
    return {
        "client": part.search.dialect.NAME,
        "folders": folders,
        "sessions": part.report.sessions,
        **counts,
    }
