"""`cru import`: bring clients' sessions into the vault."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crucible.cli.environment import user_settings
from crucible.cli.options import Door, GivenPath, flag, format_option, is_data, local_now, since_option
from crucible.cli.output import PROBLEMS_FOUND, bar, clean_line, room_of, say, write, write_data
from crucible.cli.session_stop import update_histories
from crucible.cli.table_output import Tier, table_lines
from crucible.cli.vault_access import open_vault
from crucible.clients.registry import CLIENTS, DIALECTS, Dialect, client_of
from crucible.commands.imports.import_report import ImportOptions, ImportReport, UnreadableRow
from crucible.commands.imports.imports import (
    Search,
    import_all,
    other_writer,
    searches_at,
    searches_here,
)
from crucible.core.errors import TranscriptError, UsageError
from crucible.integrations.hooks.sync import has_backlog, write_down
from crucible.vault.notes.vault import Vault

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _ClientOrPath(GivenPath):
    """A client's name, which becomes its `Dialect`, or a path to a file or folder, which may be missing.

    Pipes are refused, since they can be read only once.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Look up the client, or check the file type; a path without a name, such as `.`, is made absolute."""
        client = client_of(value, CLIENTS) if isinstance(value, str) else None
        if client:
            return DIALECTS[client.name]
        path = super().convert(value, param, ctx)
        if path.exists() and not (path.is_file() or path.is_dir()):
            self.fail(f"{clean_line(str(path))}: neither a file nor a folder", param, ctx)
        if _is_mistyped(value, path):
            self.fail(f"{clean_line(value)}: neither a client ({_CLIENTS}) nor a path", param, ctx)
        path = path if path.name else Path(os.path.abspath(path))
        if not path.name:
            self.fail(f"{path}: name a folder in it", param, ctx)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete client names, otherwise files."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only needed for shell completion

        names = [] if ctx.params.get(param.name or "") else [name for name in DIALECTS if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or super().shell_complete(ctx, param, incomplete)


_CLIENTS = ", ".join(DIALECTS)


def _is_mistyped(value: object, path: Path) -> bool:
    """True for a plain word that is no path; it is more likely a client's name than a missing file."""
    return isinstance(value, str) and value.replace("-", "").isalnum() and not path.exists()


def _import(vault: Vault, options: ImportOptions, searches: Sequence[Search]) -> Sequence[ImportReport]:
    """Import what the searches find, process the hooks' backlog, and update the histories of the sessions."""

    def say_stopped(reports: Sequence[ImportReport]) -> None:
        if not options.dry_run:
            created, updated = (sum(len(getattr(each, name)) for each in reports) for name in ("created", "updated"))
            say(f"stopped: {created} created, {updated} updated so far, and whole; import again for the rest")

    with bar("importing") as show:
        reports = import_all(vault, searches, options=options, progress=show, on_stop=say_stopped)
    if not options.dry_run:
        # Some facts come only from hooks: transcripts do not record how a session ended.
        if has_backlog(vault.root):
            write_down(vault.root)
        update_histories(vault, (name for report in reports for name in report.updated))
    return reports


@click.command("import")
@click.argument("named", metavar="[CLIENT] [PATH]...", type=_ClientOrPath(path_type=Path), nargs=-1)
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@since_option("Only what was written since: 2026-11-21, 12h, 7d, 2w.")
@flag("--refresh", "Also bring notes of older versions up to date; your edits stay.")
@flag("--dry-run", "Show what would be done and write nothing.")
@format_option()
@click.pass_obj
def import_sessions(door: Door, /, *, named: tuple[Dialect | Path, ...], format_: str, **given: Any) -> int:
    """Import sessions: each becomes a note, each subagent a linked note.

    \b
    - Without CLIENT, every client found on this machine is imported.
    - CLIENT is claude-code, codex, gemini or opencode: only its sessions.
    - PATH is a log, or a folder of them. Without CLIENT, the files say who wrote
      them. `./codex` is a path, `codex` the client.

    Importing again adds only what is new and keeps your edits.

    Exit codes: 3 when something could not be read (the rest is imported), 1 when a named client has no sessions here.

    \b
      cru import
      cru import --since 7d --project shop
      cru import codex --dry-run
      cru import claude-code ~/.claude/projects/-home-me-shop
      cru import ~/backup/agents --format json
    """
    dialects = [one for one in named if isinstance(one, Dialect)]
    paths = tuple(one for one in named if isinstance(one, Path))
    if len(dialects) > 1 or (dialects and named[0] is not dialects[0]):
        raise UsageError("CLIENT is one name, before the paths", "cru import codex PATH")
    vault, options = open_vault(door), _import_options(**given)
    if dialects:
        return _import_client(vault, options, dialects[0], paths, format_)
    return _import_found(door, vault, options, paths, format_)


def _import_client(vault: Vault, options: ImportOptions, dialect: Dialect, paths: Sequence[Path], format_: str) -> int:
    """Import one client's sessions, and report files of other clients."""
    others = _rows_of_others(dialect, [path for path in paths if path.is_file()])
    theirs = {row.path for row in others}
    own = [path for path in paths or [_own_folder(dialect)] if path not in theirs]
    (report,) = _import(vault, options, [Search(dialect, tuple(own))])
    if not report.sessions:
        others += _rows_of_others(dialect, [path for path in paths if path.is_dir()])
    report = replace(report, unreadable=(*others, *report.unreadable))
    _write_one(report, format_, dry_run=options.dry_run)
    return PROBLEMS_FOUND if report.unreadable else 0


def _import_found(door: Door, vault: Vault, options: ImportOptions, paths: Sequence[Path], format_: str) -> int:
    """Import all clients' sessions, on this machine or at the paths."""
    searches, unknown = searches_at(paths) if paths else (searches_here(os.environ, Path.home()), ())
    reports = _import(vault, options, searches)
    total = _total(reports, unknown)
    # If paths are given, list only clients that wrote something there.
    clients = [
        _client(search, report)
        for search, report in zip(searches, reports, strict=True)
        if not search.is_sniffed or report.sessions or report.unreadable
    ]
    if is_data(format_):
        write_data({**_exported(total), "clients": clients}, format_)
    else:
        for row in unknown:
            _say_unreadable(row)
        for report in reports:
            _write_report(report)
        _write_clients(clients, room_of(door))
        if not any(client["sessions"] for client in clients):
            looked = paths or [each.default_folder(os.environ, Path.home()) for each in DIALECTS.values()]
            say(f"no client's sessions found; looked in: {', '.join(map(str, looked))}")
        write(_last_line(total, dry_run=options.dry_run))
    return PROBLEMS_FOUND if total["unreadable"] else 0


def _rows_of_others(dialect: Dialect, paths: Iterable[Path]) -> list[UnreadableRow]:
    """Return a row for each file written by another client, with the command that imports it."""
    found = ((path, other_writer(dialect, path)) for path in paths)
    return [
        UnreadableRow(path, 0, f"this is {other.title}'s: cru import {other.name} {shlex.quote(str(path))}")
        for path, other in found
        if other is not None
    ]


def _import_options(*, dry_run: bool, since: datetime | None, project: str | None, refresh: bool) -> ImportOptions:
    return ImportOptions(
        now=local_now(),
        dry_run=dry_run,
        since=since,
        only_project=project,
        refresh=refresh,
        projects=user_settings().projects,
    )


def _own_folder(dialect: Dialect) -> Path:
    folder = dialect.default_folder(os.environ, Path.home())
    if not folder.exists():
        raise TranscriptError(
            f"{folder}: no such folder; {dialect.title} left nothing there",
            f"name the transcripts: cru import {dialect.name} PATH",
        )
    return folder


# --- output ----------------------------------------------------------------------------------------------------------

_COUNTS = ("created", "updated", "unchanged", "unreadable")
_FOLDER = 12
"""The minimum width of the folder column on a narrow terminal."""


def _write_one(report: ImportReport, format_: str, *, dry_run: bool) -> None:
    """Write the report of one client's import."""
    total = _total([report])
    if is_data(format_):
        write_data(_exported(total), format_)
        return
    _write_report(report)
    if any(not row.path.exists() for row in report.unreadable):
        say("name what is there, or no path for the client's own folder: cru import --help")
    if not any((*total.values(), report.empty, report.left_out)):
        say("no transcripts there; name a client's folder, a project's, or a file: cru import --help")
    write(_last_line(total, dry_run=dry_run))


def _write_report(report: ImportReport) -> None:
    """Report what was not imported on stderr, then write the ids of imported sessions to stdout."""
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
    for word, ids in (("created", report.created), ("updated", report.updated)):
        for session_id in ids:
            write(f"{word}  {session_id}")


def _say_unreadable(row: UnreadableRow) -> None:
    say(f"{_place(row)}: unreadable: {row.reason}", style="yellow")


def _place(row: UnreadableRow) -> str:
    return f"{row.path}:{row.line}" if row.line else str(row.path)


def _client(search: Search, report: ImportReport) -> dict[str, Any]:
    """Return a table row for a client: the folders searched, and how many sessions were found."""
    counts = {name: len(getattr(report, name)) for name in _COUNTS}
    folders = [*map(str, search.paths)]
    return {"client": search.dialect.name, "folders": folders, "sessions": report.sessions, **counts}


def _write_clients(clients: Sequence[Mapping[str, Any]], room: int | None) -> None:
    if not clients:
        return
    headings = ("client", "folder", *[*clients[0]][2:])
    rows = [
        [clean_line(", ".join(cell)) if isinstance(cell, list) else str(cell) for cell in client.values()]
        for client in clients
    ]
    columns = [*zip(headings, *rows, strict=True)]
    for line in table_lines(columns, room, [Tier([headings.index("folder")], _FOLDER)]):
        write(line)


def _total(reports: Sequence[ImportReport], unknown: Iterable[UnreadableRow] = ()) -> dict[str, list[Any]]:
    """Merge all reports; `unknown` are paths that no known client wrote."""
    total = {name: [one for report in reports for one in getattr(report, name)] for name in _COUNTS}
    return {**total, "unreadable": [*unknown, *total["unreadable"]]}


def _exported(total: Mapping[str, list[Any]]) -> dict[str, object]:
    rows = [{"path": str(row.path), "line": row.line, "reason": row.reason} for row in total["unreadable"]]
    return {**total, "unreadable": rows}


def _last_line(total: Mapping[str, list[Any]], *, dry_run: bool) -> str:
    counts = ", ".join(f"{len(found)} {name}" for name, found in total.items())
    rows = total["unreadable"]
    first = f" (first: {_place(rows[0])})" if rows else ""
    return f"{'dry run, nothing written: ' if dry_run else ''}{counts}{first}"
