"""`cru events list`, `show` and `prune`: sessions' event logs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, flag, format_option, is_data, local_now
from crucible.cli.output import (
    PROBLEMS_FOUND,
    clean_line,
    room_of,
    say,
    short_number,
    write,
    write_data,
    write_json_line,
)
from crucible.cli.table_output import GAP, Tier, cut_to, table_lines
from crucible.cli.vault_access import find_note, open_vault
from crucible.core.errors import AmbiguousSession, SessionNotFound
from crucible.core.text import counted
from crucible.documents.recording.call_lines import one_line
from crucible.vault.events.event_files import EVENTS, TOOL_TYPES, TOOLS, archive_path, flight_folder, may_have_records
from crucible.vault.events.event_lines import cut_mark, record_line, type_word
from crucible.vault.events.event_reader import EventRecord, load_meta, read_records
from crucible.vault.events.event_retention import (
    KeptEvents,
    PurgedEvents,
    archived_ids,
    flight_ids,
    purge,
)
from crucible.vault.events.event_summary import last_time
from crucible.vault.index.time_filters import utc
from crucible.vault.logs.jsonl_store import time_text
from crucible.vault.notes.session_notes import status_lookup
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_LONGEST = 160
"""The maximum length of a record in the table, in code points."""
_NARROW = 120
"""On a terminal narrower than this, lines omit the year and the prefix `phase-`."""
_TORN_SHOWN = 10


def _phase_id(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Convert a phase to the form in records: `2.1` becomes `phase-2.1`."""
    if value is None:
        return None
    number = value.strip().removeprefix("phase-")
    if not all(part.isascii() and part.isdigit() for part in number.split(".")):
        raise click.BadParameter(f"{value!r} is not a phase; use 2, 2.1 or phase-2.1")
    return f"phase-{number}"


@click.command("show")
@click.argument("session", cls=PickedId, kind="events", metavar="[ID]", type=SESSION)
@click.option(
    "--type",
    "types",
    metavar="TYPE",
    multiple=True,
    help="Only events of this type: decision, tool, prompted; repeatable.",
)
@click.option(
    "--phase", callback=_phase_id, metavar="N", help="Only events of this phase: 2 (with its sub-phases), or 2.1."
)
@click.option("--tools", "of_tools", flag_value=True, default=None, type=bool, help="Only tool calls and results.")
@click.option("--events", "of_tools", flag_value=False, type=bool, help="Everything but tool calls and results.")
@click.option("-n", "--limit", type=click.IntRange(min=0), metavar="N", help="Only the last N events.")
@format_option("jsonl")
@click.pass_obj
def show_events(door: Door, /, session: str, limit: int | None, format_: str, **chosen_types: Any) -> None:
    """Show a session's event log: everything that its note shortens or omits.

    \b
    - Each line has the number, time, phase, type and text, cut to the
      terminal's width. JSON has full arguments and results.
    - Text that was too long to store shows its size in bytes.
    - ID is a session's id, a unique prefix of it, or a path. Archived
      events are shown too.

    \b
      cru events show 2026-11-21-add-rate-limiter
      cru events show 2026-11-21-add --tools -n 20
      cru events show 2026-11-21-add --type decision --type error --format jsonl
    """
    vault = open_vault(door)
    session_id = _flight_of(vault, session)
    torn: list[tuple[Path, int]] = []
    _say_source(vault, session_id)
    seen: set[tuple[str, str]] = set()
    found = _chosen(read_records(vault.root, session_id, lambda *at: torn.append(at)), seen, **chosen_types)
    records: Iterable[EventRecord] = found if limit is None else deque(found, maxlen=limit)
    if is_data(format_):
        meta = load_meta(vault.root, session_id)
        exported = [_exported(one) for one in records]
        write_data({"session": session_id, "meta": dict(meta), "events": exported}, format_)
        count = len(exported)
    else:
        count = _write_records(records, format_, room_of(door))
    _say_torn(vault, torn)
    if not count and limit != 0:
        _say_none(seen)


@click.command("list")
@format_option()
@click.pass_obj
def list_events(door: Door, /, format_: str) -> None:
    """List sessions with an event log: its length, size, age and place.

    \b
    - "live" is .crucible/flight/, "archive" is .crucible/archive/, where
      the events of ended sessions are compressed, "both" is archived
      events with newer ones beside them.
    - "size" is the size of the files. "last" is the day of the last event.
    - JSON has all details of each session.

    \b
      cru events list
      cru events list --format json
    """
    vault = open_vault(door)
    live, archived = set(flight_ids(vault.root)), set(archived_ids(vault.root))
    rows: list[dict[str, object]] = []
    for session_id in sorted(live | archived):
        where = "both" if session_id in live & archived else "live" if session_id in live else "archive"
        meta = load_meta(vault.root, session_id)
        sizes = _sizes(vault, session_id, meta.get("last") or meta.get("ended"))
        rows.append({"id": session_id, "where": where, **meta, **sizes, "session_id": session_id})
    if is_data(format_):
        write_data({"sessions": rows}, format_)
    else:
        _write_table(rows, room_of(door))


@click.command
@flag("--dry-run", "Show what would be done, and write nothing.")
@click.option(
    "--older-than", type=click.IntRange(min=0), metavar="DAYS", help="Use this age instead of events.retention_days."
)
@format_option()
@click.pass_obj
def prune(door: Door, /, *, dry_run: bool, older_than: int | None, format_: str) -> int:
    """Archive or delete old event logs, according to events.after in the settings.

    \b
    - Sessions are old if their last event is older than
      events.retention_days.
    - Active and paused sessions, and sessions without a note, are kept and
      listed.
    - Sessions that end are archived at once; this archives the others.
      Archived events can still be shown.
    - An archive is verified before anything is removed, and the next prune
      finishes an interrupted one.

    Exit code: 3 if a session's events could not be archived or deleted.

    \b
      cru events prune --dry-run
      cru events prune --older-than 7
    """
    vault = open_vault(door)
    settings = vault.settings.events
    if older_than is not None:
        settings = settings._replace(retention_days=older_than)
    report = purge(
        vault.root,
        settings,
        vault.session_ids(),
        local_now(),
        status_of=status_lookup(vault),
        dry_run=dry_run,
        lock_seconds=vault.settings.lock_seconds,
    )
    outcomes: list[PurgedEvents | KeptEvents] = sorted((*report.purged, *report.kept), key=lambda one: one.session_id)
    if is_data(format_):
        write_data(
            {"dry_run": dry_run, "after": report.after, "sessions": [_purge_row(one) for one in outcomes]}, format_
        )
    else:
        _write_purge(outcomes, report.after, dry_run=dry_run)
    return PROBLEMS_FOUND if report.failed else 0


# --- finding the session ----------------------------------------------------------------------------------------------


def _flight_of(vault: Vault, ref: str) -> str:
    """Find a session by its note or, without a note, by its event log or archive."""
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
    if not may_have_records(vault.root, session_id):
        say(f"{session_id}: no event log; see the note")


# --- records ----------------------------------------------------------------------------------------------------------


def _chosen(
    records: Iterable[EventRecord],
    seen: set[tuple[str, str]],
    types: Sequence[str],
    phase: str | None,
    of_tools: bool | None,
) -> Iterator[EventRecord]:
    """Yield the matching records; `seen` collects the type and phase of every record."""
    chosen_types = {type_word(one) for one in types}
    for record in records:
        seen.add((record.type, record.phase))
        if (
            (not chosen_types or not chosen_types.isdisjoint((type_word(record.type), record.type.lower())))
            and (of_tools is None or (record.type in TOOL_TYPES) is of_tools)
            and (phase is None or f"{record.phase}.".startswith(f"{phase}."))
        ):
            yield record


def _say_none(seen: Collection[tuple[str, str]]) -> None:
    """Report that nothing matched, and which types and phases exist."""
    if not seen:
        return
    phases = sorted({phase.removeprefix("phase-") for _, phase in seen if phase}, key=_by_number)
    types = f"types here: {', '.join(sorted({type_word(type_) for type_, _ in seen}))}"
    say(f"no matching events; {types}" + (f"; phases: {', '.join(phases)}" if phases else ""))


def _by_number(phase: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part) if part.isdecimal() else 0, part) for part in phase.split("."))


def _write_records(records: Iterable[EventRecord], format_: str, room: int | None) -> int:
    """Write each record as soon as it is read; returns the number of records."""
    count = 0
    for count, one in enumerate(records, 1):  # noqa: B007  the last value is used
        if format_ == "text":
            write(_row(one, room))
        else:
            write_json_line(_exported(one))
    return count


def _row(one: EventRecord, room: int | None) -> str:
    """Format a record in fixed-width columns, so that it can be written as soon as it is read."""
    time = utc(one.time) if one.time else "-"
    phase = one_line(one.phase, 12) or "-"
    if room is None or room >= _NARROW:
        cells = [f"{one.seq:>6}", f"{time:<20}", f"{phase:<10}", f"{one_line(type_word(one.type), 20):<17}"]
    else:
        day = time[5:-1].replace("T", " ")
        cells = [f"{one.seq:>4}", f"{day:<14}", f"{phase.removeprefix('phase-'):<4}"]
        cells.append(f"{one_line(type_word(one.type), 20):<14}")
    head, mark = GAP.join(cells) + GAP, cut_mark(one)
    told = clean_line(one_line(record_line(one), _LONGEST))
    if room is not None:
        told = cut_to(told, room - len(head) - (len(mark) + 1 if mark else 0))
    line = f"{head}{told} {mark}".rstrip()
    return line if room is None else cut_to(line, room)


def _exported(record: EventRecord) -> dict[str, object]:
    """Return a record as stored in its file, without empty fields about its source."""
    time = None if record.time is None else time_text(record.time)
    head = {"seq": record.seq, "key": record.key, "time": time}
    head |= {"phase": record.phase, "type": record.type, "source": record.source}
    place = {"line": record.line, "row": record.row, "agent": record.agent}
    known = {name: value for name, value in place.items() if value}
    return {**head, **known, **record.values, **({"cut": dict(record.cut)} if record.cut else {})}


def _say_torn(vault: Vault, torn: list[tuple[Path, int]]) -> None:
    for path, line in torn[:_TORN_SHOWN]:
        say(f"{vault.relative(path)}:{line}: torn-line: not a record, skipped", style="yellow")
    if len(torn) > _TORN_SHOWN:
        say(f"and {len(torn) - _TORN_SHOWN} more broken lines", style="yellow")


# --- purging ----------------------------------------------------------------------------------------------------------


def _purge_row(one: PurgedEvents | KeptEvents) -> dict[str, object]:
    row: dict[str, object] = {"id": one.session_id, "outcome": "purged", "last": one.last and one.last.isoformat()}
    if isinstance(one, PurgedEvents):
        return {**row, "bytes": one.size}
    return {**row, "outcome": "failed" if one.failed else "kept", "reason": one.reason}


def _write_purge(outcomes: Sequence[PurgedEvents | KeptEvents], after: str, *, dry_run: bool) -> None:
    done = after if dry_run else {"archive": "archived", "delete": "deleted"}[after]
    lines: list[tuple[str, str, str]] = []
    kept: Counter[str] = Counter()
    for one in outcomes:
        last = f"last {one.last.date().isoformat() if one.last else '-'}"
        if isinstance(one, PurgedEvents):
            lines.append((done, one.session_id, f"{last}, {counted(one.size, 'byte')}"))
        elif one.failed:
            say(f"{one.session_id}: {one.reason}", style="red")
        else:
            kept[one.reason] += 1
            if one.reason != "recent":
                lines.append(("keep" if dry_run else "kept", one.session_id, f"{last}, {_REASONS[one.reason]}"))
    for line in table_lines([*zip(*lines, strict=True)]):
        write(line)
    purged = sum(isinstance(one, PurgedEvents) for one in outcomes)
    told = ", ".join(f"{count} kept: {_REASONS[reason]}" for reason, count in sorted(kept.items()))
    say(f"{purged} {'to ' if dry_run else ''}{done}" + (f"; {told}" if told else ""))


_REASONS = {
    "recent": "not old enough",
    "no-note": "no note",
    "no-records": "no records",
    "active": "still active",
    "paused": "paused",
    "unreadable": "unreadable note",
}


# --- the list ---------------------------------------------------------------------------------------------------------


def _sizes(vault: Vault, session_id: str, archived_last: object) -> dict[str, object]:
    """Return the size of all files and the time of the last event."""
    folder, archive = flight_folder(vault.root, session_id), archive_path(vault.root, session_id)
    files = [path for path in (folder / EVENTS, folder / TOOLS, archive) if path.is_file()]
    last = last_time(folder)
    return {"last": time_text(last) if last else archived_last, "bytes": sum(path.stat().st_size for path in files)}


_HEADS = {"id": "id", "where": "where", "events_count": "events", "tools_count": "calls"}


def _write_table(rows: Sequence[dict[str, object]], room: int | None) -> None:
    """Write a table with the id first; a narrow terminal cuts ids."""
    columns = [[head, *(_cell(row.get(key)) for row in rows)] for key, head in _HEADS.items()]
    columns.append(["size", *(f"{short_number(int(str(row['bytes'])))}B" for row in rows)])
    columns += [[key, *(_cell(row.get(key))[:10] for row in rows)] for key in ("started", "last")]
    for line in table_lines(columns, room, [Tier([0], _LEAST_ID, in_middle=True)]):
        write(line)


_LEAST_ID = 20


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else clean_line(str(value))
