"""What `cru import` reports: a summary for each client, and with `-v` every session."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from crucible.cli.output import say, write
from crucible.commands.imports.import_result import ImportReport, Search, UnreadableRow
from crucible.core.text import counted

_COUNTS = ("created", "updated", "unchanged", "unreadable")
_WORDS = {"created": "new", "updated": "updated", "unchanged": "unchanged"}
_SKIPPED = {
    "own": "started by cru itself",
    "since": "older than --since",
    "project": "other projects",
    "copy": "copies of another log",
    "deleted": 'deleted with "cru session delete"',
}
"""Reasons for skipped sessions, in words."""
_LABEL = 10
"""Width of the words before the counts."""
_FEW = 10
"""Maximum unreadable rows to report without `-v`."""

Imported = Sequence[tuple[Search, ImportReport]]
"""What was searched for, with the report; one for each client."""


def write_summary(imported: Imported, unknown: Sequence[UnreadableRow], *, verbose: bool, dry_run: bool) -> None:
    """Write what was imported to stdout, and what could not be read to stderr.

    `unknown` are paths that no known client wrote.
    """
    rows = [*unknown, *(row for _, report in imported for row in report.unreadable)]
    for row in rows if verbose else rows[:_FEW]:
        say(f"{_place(row)}: unreadable: {row.reason}", style="yellow")
    if len(rows) > _FEW and not verbose:
        say(f"{len(rows) - _FEW} more unreadable; -v shows them", style="yellow")
    if dry_run:
        write("Dry run: nothing is written.")
    for search, report in imported:
        write(search.dialect.title)
        for line in _lines(report, verbose=verbose):
            write(f"  {line}")
        _say_details(report, verbose=verbose)
    if unknown:
        write(f"{len(unknown)} unreadable")


def found_something(report: ImportReport) -> bool:
    """True if the client had sessions or unreadable files."""
    return bool(any(getattr(report, name) for name in _COUNTS) or report.empty or report.left_out)


def import_data(imported: Imported, unknown: Sequence[UnreadableRow]) -> dict[str, Any]:
    """Return the reports as JSON: all ids, unreadable rows, and counts for each client."""
    total = {name: [one for _, report in imported for one in getattr(report, name)] for name in _COUNTS}
    rows = [{"path": str(row.path), "line": row.line, "reason": row.reason} for row in [*unknown, *total["unreadable"]]]
    return {**total, "unreadable": rows, "clients": [_client(search, report) for search, report in imported]}


def _lines(report: ImportReport, *, verbose: bool) -> Iterable[str]:
    for name, word in _WORDS.items():
        ids = getattr(report, name)
        if ids:
            yield f"{word:<{_LABEL}}  {_counted(ids, report.subagents)}"
            yield from (f"  {one}" for one in ids if verbose)
    skipped = {_SKIPPED.get(reason, reason): count for reason, count in report.left_out.items()}
    if report.empty:
        skipped["empty"] = len(report.empty)
    yield from (f"{'skipped':<{_LABEL}}  {count}: {why}" for why, count in skipped.items())
    if report.unreadable:
        yield f"{'unreadable':<{_LABEL}}  {len(report.unreadable)}"
    if not found_something(report):
        yield "no sessions"


def _counted(ids: Collection[str], subagents: Collection[str]) -> str:
    """Count sessions and subagents apart: `12 sessions and 10 subagents`."""
    below = sum(one in subagents for one in ids)
    parts = [counted(len(ids) - below, "session") if len(ids) > below else "", counted(below, "subagent")]
    return " and ".join(filter(None, parts if below else parts[:1]))


def _say_details(report: ImportReport, *, verbose: bool) -> None:
    for path in report.empty if verbose else ():
        say(f"{path}: empty session, skipped")
    for kind, count in report.unknown_rows.items():
        say(f"{counted(count, 'row')} of unknown type {kind!r} skipped")
    if report.redacted:
        count, (first, *others) = sum(report.redacted.values()), sorted(report.redacted)
        more = f" and {len(others)} more" if others else ""
        say(f"{counted(count, 'secret')} redacted in the notes; the transcript still has them: {first}{more}")


def _place(row: UnreadableRow) -> str:
    return f"{row.path}:{row.line}" if row.line else str(row.path)


def _client(search: Search, report: ImportReport) -> Mapping[str, Any]:
    counts = {name: len(getattr(report, name)) for name in _COUNTS}
    folders = [*map(str, search.paths)]
    return {"client": search.dialect.name, "folders": folders, "sessions": report.sessions, **counts}
