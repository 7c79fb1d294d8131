"""`cru import`: bring clients' sessions into the vault."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crucible.cli.environment import user_settings
from crucible.cli.import_summary import Imported, found_something, import_data, write_summary
from crucible.cli.options import Door, GivenPath, flag, format_option, is_data, local_now, since_option
from crucible.cli.output import PROBLEMS_FOUND, bar, clean_line, say, write_data
from crucible.cli.session_stop import update_histories
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


def import_with_progress(vault: Vault, options: ImportOptions, searches: Sequence[Search]) -> Sequence[ImportReport]:
    """Import what the searches find, process the hooks' backlog, and update the histories of the sessions."""

    def say_stopped(reports: Sequence[ImportReport]) -> None:
        if not options.dry_run:
            created, updated = (sum(len(getattr(each, name)) for each in reports) for name in ("created", "updated"))
            say(f"stopped: {created} created, {updated} updated; import again for the rest")

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
@flag("--refresh", "Also upgrade notes of older versions; your edits stay.")
@flag("--dry-run", "Show what would be done and write nothing.")
@click.option("-v", "--verbose", is_flag=True, help="List every session.")
@format_option()
@click.pass_obj
def import_sessions(
    door: Door, /, *, named: tuple[Dialect | Path, ...], format_: str, verbose: bool, **given: Any
) -> int:
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
    vault, options = open_vault(door), import_options(**given)
    unknown: Sequence[UnreadableRow] = ()
    if dialects:
        imported = _import_client(vault, options, dialects[0], paths)
    else:
        imported, unknown = _import_found(vault, options, paths)
    if is_data(format_):
        write_data(import_data(imported, unknown), format_)
    else:
        write_summary(imported, unknown, verbose=verbose, dry_run=options.dry_run)
        _say_next(imported, unknown, paths, dry_run=options.dry_run)
    return PROBLEMS_FOUND if unknown or any(report.unreadable for _, report in imported) else 0


def _say_next(imported: Imported, unknown: Sequence[UnreadableRow], paths: Sequence[Path], *, dry_run: bool) -> None:
    """Say what to do next, once."""
    rows = [*unknown, *(row for _, report in imported for row in report.unreadable)]
    if any(not row.path.exists() for row in rows):
        say('Name a file or folder that exists, or no path for the clients\' own folders: "cru import --help".')
    elif not rows and not any(found_something(report) for _, report in imported):
        looked = paths or [each.default_folder(os.environ, Path.home()) for each in DIALECTS.values()]
        say(f"No sessions found. Looked in: {', '.join(map(str, looked))}")
    elif any(report.created for _, report in imported) and not dry_run:
        say('Run "cru session list" to see them, or "cru" for the status of this project.')


def _import_client(vault: Vault, options: ImportOptions, dialect: Dialect, paths: Sequence[Path]) -> Imported:
    """Import one client's sessions, and report files of other clients."""
    others = _rows_of_others(dialect, [path for path in paths if path.is_file()])
    theirs = {row.path for row in others}
    search = Search(dialect, tuple(path for path in paths or [_own_folder(dialect)] if path not in theirs))
    (report,) = import_with_progress(vault, options, [search])
    if not report.sessions:
        others += _rows_of_others(dialect, [path for path in paths if path.is_dir()])
    return [(search, replace(report, unreadable=(*others, *report.unreadable)))]


def _import_found(
    vault: Vault, options: ImportOptions, paths: Sequence[Path]
) -> tuple[Imported, Sequence[UnreadableRow]]:
    """Import all clients' sessions, on this machine or at the paths; also return paths that no known client wrote."""
    searches, unknown = searches_at(paths) if paths else (searches_here(os.environ, Path.home()), ())
    reports = import_with_progress(vault, options, searches)
    # If paths are given, list only clients that wrote something there.
    found = [
        (search, report)
        for search, report in zip(searches, reports, strict=True)
        if not search.is_sniffed or report.sessions or report.unreadable
    ]
    return found, unknown


def _rows_of_others(dialect: Dialect, paths: Iterable[Path]) -> list[UnreadableRow]:
    """Return a row for each file written by another client, with the command that imports it."""
    found = ((path, other_writer(dialect, path)) for path in paths)
    return [
        UnreadableRow(path, 0, f"this is {other.title}'s: cru import {other.name} {shlex.quote(str(path))}")
        for path, other in found
        if other is not None
    ]


def import_options(
    *, dry_run: bool = False, since: datetime | None = None, project: str | None = None, refresh: bool = False
) -> ImportOptions:
    """Return the options of an import that begins now."""
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
