"""Run `cru import`: read the transcripts, then bring what depends on them up to date."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from crucible import __version__
from crucible.cli.environment import user_settings
from crucible.cli.options import local_now
from crucible.cli.output import bar, say
from crucible.cli.session_stop import update_histories
from crucible.cli.vault_access import open_place
from crucible.clients.registry import Dialect
from crucible.commands.imports.import_answer import Question, Shown, keep, state_of_vault
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport, Search, UnreadableRow
from crucible.commands.imports.imports import import_all
from crucible.commands.imports.known_logs import KnownLogs
from crucible.commands.imports.transcript_search import other_writer, searches_at, searches_here
from crucible.core.errors import TranscriptError
from crucible.core.settings.settings import VaultSettings
from crucible.integrations.hooks.sync import has_backlog, write_down
from crucible.search.background_update import update_later
from crucible.vault.notes.vault import Vault

_GROWING = timedelta(minutes=1)
"""The time since its last write after which an unfinished turn is imported, also with `--whole-turns`."""

Show = Callable[[Sequence[ImportReport]], Shown]
"""Returns what the reports of the searches show."""


def run_import(
    root: str,
    settings: VaultSettings,
    dialects: Sequence[Dialect],
    paths: Sequence[Path],
    question: Question | None,
    given: Mapping[str, Any],
) -> Shown:
    """Import; if the import asks a `question`, its answer is kept for the next one."""
    vault, options = open_place(root, settings), import_options(**given)
    searches, show = _of_client(dialects[0], paths) if dialects else _of_all(paths)
    is_plain = not (options.since or options.only_project or options.refresh)
    known = KnownLogs(vault, options.now, __version__) if is_plain else None
    reports = import_with_progress(vault, options, searches, known)
    if known and question and not options.dry_run and not has_backlog(vault.root):
        state = state_of_vault(question)
        confirmed = known.confirm() if state else None
        if confirmed is not None:
            keep(question, state, known.files(), show(confirmed), until=known.until())
    return show(reports)


def import_with_progress(
    vault: Vault, options: ImportOptions, searches: Sequence[Search], known: KnownLogs | None = None
) -> Sequence[ImportReport]:
    """Import what the searches find, process the hooks' backlog, and update the histories of the sessions."""

    def say_stopped(reports: Sequence[ImportReport]) -> None:
        if not options.dry_run:
            created, updated = (sum(len(getattr(each, name)) for each in reports) for name in ("created", "updated"))
            say(f"stopped: {created} created, {updated} updated; import again for the rest")

    with bar("importing") as show:
        reports = import_all(vault, searches, options=options, progress=show, on_stop=say_stopped, known=known)
    if not options.dry_run:
        # Some facts come only from hooks: transcripts do not record how a session ended.
        if has_backlog(vault.root):
            write_down(vault.root)
        update_histories(vault, (name for report in reports for name in report.updated))
        if any(report.created or report.updated for report in reports):
            update_later(str(vault.root), user_settings().recall, os.environ)
    return reports


def import_options(
    *,
    dry_run: bool = False,
    since: datetime | None = None,
    project: str | None = None,
    refresh: bool = False,
    whole_turns: bool = False,
) -> ImportOptions:
    """Return the options of an import that begins now."""
    now = local_now()
    return ImportOptions(
        now=now,
        growing_since=now - _GROWING if whole_turns else None,
        dry_run=dry_run,
        since=since,
        only_project=project,
        refresh=refresh,
        projects=user_settings().projects,
    )


def _of_client(dialect: Dialect, paths: Sequence[Path]) -> tuple[Sequence[Search], Show]:
    """Search for one client's sessions, and report files of other clients."""
    others = _rows_of_others(dialect, [path for path in paths if path.is_file()])
    theirs = {row.path for row in others}
    search = Search(dialect, tuple(path for path in paths or [_own_folder(dialect)] if path not in theirs))

    def show(reports: Sequence[ImportReport]) -> Shown:
        (report,) = reports
        more = [] if report.sessions else _rows_of_others(dialect, [path for path in paths if path.is_dir()])
        return [(search, report._replace(unreadable=(*others, *more, *report.unreadable)))], ()

    return [search], show


def _of_all(paths: Sequence[Path]) -> tuple[Sequence[Search], Show]:
    """Search for all clients' sessions, on this machine or at the paths; report paths that no known client wrote."""
    searches, unknown = searches_at(paths) if paths else (searches_here(os.environ, Path.home()), ())

    def show(reports: Sequence[ImportReport]) -> Shown:
        # If paths are given, list only clients that wrote something there.
        found = [
            (search, report)
            for search, report in zip(searches, reports, strict=True)
            if not search.is_sniffed or report.sessions or report.unreadable
        ]
        return found, unknown

    return searches, show


def _rows_of_others(dialect: Dialect, paths: Iterable[Path]) -> list[UnreadableRow]:
    """Return a row for each file written by another client, with the command that imports it."""
    found = ((path, other_writer(dialect, path)) for path in paths)
    return [
        UnreadableRow(path, 0, f"this is {other.title}'s: cru import {other.name} {shlex.quote(str(path))}")
        for path, other in found
        if other is not None
    ]


def _own_folder(dialect: Dialect) -> Path:
    folder = dialect.default_folder(os.environ, Path.home())
    if not folder.exists():
        raise TranscriptError(
            f"{folder}: no such folder, so there are no sessions of {dialect.title}",
            f"name the transcripts: cru import {dialect.name} PATH",
        )
    return folder
