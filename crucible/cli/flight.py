"""`cru flight list`, `cru flight show` and `cru flight purge`."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import click

from crucible.cli.aligning import aligned
from crucible.cli.door import Door
from crucible.cli.opening import find_note, open_vault
from crucible.cli.options import format_option, local_now
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write, write_json
from crucible.cli.session_ref import SESSION
from crucible.errors import AmbiguousSession, SessionNotFound
from crucible.flight.place import TOOL_TYPES, archive_path
from crucible.flight.reading import Record, load_meta, read_records
from crucible.flight.retention import Kept, Purged, PurgeReport, archived_ids, flight_ids, purge
from crucible.flight.telling import cut_mark, record_line
from crucible.session.calls import one_line
from crucible.vault.store import Vault
from crucible.vault.walk import note_name

__all__ = ["list_flights", "purge_flights", "show_flight"]

_LONGEST = 160
"""Code points of a record in the table."""
_TORN_SHOWN = 10


@click.command("show")
@click.argument("session", metavar="ID", type=SESSION)
@click.option(
    "--type", "types", metavar="TYPE", multiple=True, help="Only these: decision, tool, Prompted; repeatable."
)
@click.option("--phase", metavar="N", help="Only of this phase: 2 (and its sub-phases), or 2.1.")
@click.option(
    "--tools", "of_tools", flag_value=True, default=None, type=bool, help="Only calls and what they gave."
)
@click.option("--events", "of_tools", flag_value=False, type=bool, help="Only what is no call.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Only the last N.")
@format_option("table", "json", "jsonl")
@click.pass_context
def show_flight(ctx: click.Context, /, session: str, limit: int | None, format_: str, **wanted: Any) -> None:
    """Show the whole events of a session: what its note leaves out or shortens.

    A line has the number, the time, the phase, the type, and what was said or done; arguments and results are whole
    in JSON. A text that was too long to be kept says how many bytes it had.

    ID is a session's id, a path, or a beginning of an id that only one session has. Events that were put into the
    archive are shown from there.

    \b
      cru flight show 2026-11-21-add-rate-limiter
      cru flight show 2026-11-21-add --tools -n 20
      cru flight show 2026-11-21-add --type decision --type error --format jsonl
    """
    vault = open_vault(ctx.ensure_object(Door))
    session_id = _flight_of(vault, session)
    torn: list[tuple[Path, int]] = []
    _say_source(vault, session_id)
    found = (
        r for r in read_records(vault.root, session_id, lambda *at: torn.append(at)) if _fits(r, **wanted)
    )
    records: Iterable[Record] = found if limit is None else deque(found, maxlen=limit)
    if format_ == "json":
        meta = load_meta(vault.root, session_id)
        write_json({"session": session_id, "meta": dict(meta), "records": [_flat(one) for one in records]})
    for one in records if format_ != "json" else ():
        if format_ == "table":
            write(_row(one))
        else:
            write_json(_flat(one), indent=False)
    _say_torn(vault, torn)


@click.command("list")
@format_option("table", "json")
@click.pass_context
def list_flights(ctx: click.Context, /, format_: str) -> None:
    """List the sessions that have whole events: how many, how old, and where.

    `live` is `.crucible/flight/`, `archive` is `.crucible/archive/`, `both` has newer events beside archived ones. In
    JSON are all facts of each session's summary.

    \b
      cru flight list
      cru flight list --format json
    """
    vault = open_vault(ctx.ensure_object(Door))
    live, archived = set(flight_ids(vault.root)), set(archived_ids(vault.root))
    rows: list[dict[str, object]] = []
    for session_id in sorted(live | archived):
        where = "both" if session_id in live & archived else "live" if session_id in live else "archive"
        rows.append(
            {"id": session_id, "where": where, **load_meta(vault.root, session_id), "session_id": session_id}
        )
    if format_ == "json":
        write_json(rows)
    else:
        columns = ("id", "where", "events_count", "tools_count", "started")
        _write_table(
            ("ID", "WHERE", "EVENTS", "CALLS", "STARTED"), [[r.get(c) for c in columns] for r in rows]
        )


@click.command("purge")
@click.option("--dry-run", is_flag=True, help="Only tell what would be done; write nothing.")
@click.option(
    "--older-than", type=click.IntRange(min=0), metavar="DAYS", help="Instead of flight.retention_days."
)
@format_option("table", "json")
@click.pass_context
def purge_flights(ctx: click.Context, /, *, dry_run: bool, older_than: int | None, format_: str) -> None:
    """Put old whole events away: into the archive, or delete them, as `flight.after` in the settings says.

    Old is a session whose last event is older than `flight.retention_days`. One that has no note is kept, and named.
    What was archived can be shown as before. An archive is read back before anything is removed; what was
    interrupted is finished by the next purge. The exit code is 3 when a session could not be put away.

    \b
      cru flight purge --dry-run
      cru flight purge --older-than 7
    """
    vault = open_vault(ctx.ensure_object(Door))
    settings = vault.settings.flight
    if older_than is not None:
        settings = settings._replace(retention_days=older_than)
    lock = vault.settings.lock_seconds
    report = purge(vault.root, settings, vault.session_ids(), local_now(), dry_run=dry_run, lock_seconds=lock)
    if format_ == "json":
        write_json(
            {
                "dry_run": dry_run,
                "after": report.after,
                "sessions": [_purge_row(r) for r in _outcomes(report)],
            }
        )
    else:
        _tell_purge(report, dry_run=dry_run)
    ctx.exit(PROBLEMS_FOUND if report.failed else 0)


# --- which session -------------------------------------------------------------------------------------------------------


def _flight_of(vault: Vault, ref: str) -> str:
    """A session by its note; else by a folder or an archive that has no note, or none any more."""
    try:
        return note_name(find_note(vault, ref).name)
    except SessionNotFound:
        ids = {*flight_ids(vault.root), *archived_ids(vault.root)}
        found = [ref] if ref in ids else sorted(name for name in ids if name.startswith(ref))
        if not found:
            raise
        if len(found) > 1:
            raise AmbiguousSession(ref, found) from None
        say(f"{found[0]}: has no note")
        return found[0]


def _say_source(vault: Vault, session_id: str) -> None:
    path = archive_path(vault.root, session_id)
    if path.is_file():
        say(f"{session_id}: read from its archive, {vault.relative(path)}")
    elif session_id not in flight_ids(vault.root):
        say(f"{session_id}: no whole events are kept; what there is stands in the note")


# --- records ---------------------------------------------------------------------------------------------------------------


def _fits(record: Record, types: Sequence[str], phase: str | None, of_tools: bool | None) -> bool:
    if types and record.type.lower() not in {one.lower() for one in types}:
        return False
    if of_tools is not None and (record.type in TOOL_TYPES) is not of_tools:
        return False
    if phase is None:
        return True
    wanted = f"phase-{phase.removeprefix('phase-')}"
    return record.phase == wanted or record.phase.startswith(f"{wanted}.")


def _row(one: Record) -> str:
    """In columns of one width, so that a record can be written as soon as it is read."""
    time = one.time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if one.time else "-"
    type_ = one_line(one.type, 20)
    return f"{one.seq:>6}  {time:<20}  {one_line(one.phase, 12) or '-':<10}  {type_:<16}  {_told(one)}"


def _told(record: Record) -> str:
    return f"{one_line(record_line(record), _LONGEST)} {cut_mark(record)}".rstrip()


def _flat(record: Record) -> dict[str, object]:
    """A record as it lies in its file."""
    head = {
        name: getattr(record, name)
        for name in ("seq", "time", "phase", "type", "source", "line", "row", "agent")
    }
    head["time"] = None if record.time is None else record.time.isoformat()
    return {**head, **record.values, **({"cut": dict(record.cut)} if record.cut else {})}


def _say_torn(vault: Vault, torn: list[tuple[Path, int]]) -> None:
    for path, line in torn[:_TORN_SHOWN]:
        say(f"{vault.relative(path)}:{line}: torn: no record, skipped", style="yellow")
    if len(torn) > _TORN_SHOWN:
        say(f"and {len(torn) - _TORN_SHOWN} more lines that are no records", style="yellow")


# --- purging ---------------------------------------------------------------------------------------------------------------


def _outcomes(report: PurgeReport) -> list[Purged | Kept]:
    return sorted((*report.purged, *report.kept), key=lambda one: one.session_id)


def _purge_row(one: Purged | Kept) -> dict[str, object]:
    last = one.last.isoformat() if one.last else None
    if isinstance(one, Purged):
        return {"id": one.session_id, "outcome": "purged", "last": last, "bytes": one.size}
    return {
        "id": one.session_id,
        "outcome": "failed" if one.failed else "kept",
        "last": last,
        "reason": one.reason,
    }


def _tell_purge(report: PurgeReport, *, dry_run: bool) -> None:
    done = (
        {"archive": "archive", "delete": "delete"}
        if dry_run
        else {"archive": "archived", "delete": "deleted"}
    )
    for one in _outcomes(report):
        day = one.last.date().isoformat() if one.last else "-"
        if isinstance(one, Purged):
            write(f"{done[report.after]:<8}  {one.session_id}  last {day}, {one.size} bytes")
        elif one.failed:
            say(f"{one.session_id}: {one.reason}", style="red")
        elif one.reason != "recent":
            write(f"{'keep' if dry_run else 'kept':<8}  {one.session_id}  last {day}, {_REASONS[one.reason]}")
    kept = Counter(one.reason for one in report.kept if not one.failed)
    told = ", ".join(f"{count} kept: {_REASONS[reason]}" for reason, count in sorted(kept.items()))
    say(
        f"{len(report.purged)} {'to ' if dry_run else ''}{done[report.after]}" + (f"; {told}" if told else "")
    )


_REASONS = {"recent": "not old enough", "no-note": "no note", "no-records": "no records"}


def _write_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    texts = [[*head], *([clean_line("-" if c is None or c == "" else str(c)) for c in row] for row in rows)]
    for cells in zip(*(aligned(column) for column in zip(*texts, strict=True)), strict=True):
        write("  ".join(cells).rstrip())
