"""`cru doctor`: run the checks, and print each result with the command that fixes it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import click

from crucible.cli.doctor_fixes import TRANSCRIPTS, fix_faults, import_missing
from crucible.cli.environment import settings_path as user_settings_file
from crucible.cli.environment import user_settings, vault_root
from crucible.cli.install_hooks import project_folder
from crucible.cli.options import Door, flag, format_option, is_data, yes_option
from crucible.cli.output import PROBLEMS_FOUND, bar, clean_line, write, write_data, write_marked
from crucible.clients.hook_settings import hooks_path
from crucible.clients.registry import HOOKS, MCP_SETTINGS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.imports.note_sources import SourceTable
from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import AgentSettings, UserSettings, VaultSettings, load_vault_settings
from crucible.core.settings.trust import accepted_in
from crucible.core.text import counted
from crucible.integrations.doctor import CheckResult, CheckState, bad, good
from crucible.integrations.doctor.client_checks import (
    ServersToCheck,
    check_agents,
    check_formats,
    check_hooks,
    check_log,
    check_other_hooks,
    check_servers,
    check_services,
    check_tested,
    last_run,
)
from crucible.integrations.doctor.fixes import FixContext, report_faults
from crucible.integrations.doctor.note_fixes import FIXES
from crucible.integrations.doctor.transcript_checks import (
    ClientSession,
    check_client_secrets,
    check_transcripts,
    find_missing,
    find_native,
    last_written,
    report_lagging,
)
from crucible.integrations.doctor.vault_checks import (
    check_archives,
    check_git_hooks,
    check_notes,
    check_personas,
    check_prices,
    check_renames,
    check_sessions,
    check_settings,
    check_spool,
    check_trust,
    check_writable,
    fix_of_os_error,
    known_until,
)
from crucible.integrations.hooks.client_hook import CLIENTS
from crucible.integrations.hooks.hook_log import LOG
from crucible.integrations.install.mcp_servers import clients_with_servers, is_used, parts_of
from crucible.integrations.install.service import Machine
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select, unreadable_rows
from crucible.vault.index.schema import View
from crucible.vault.notes.persona_notes import persona_notes
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_LAG = timedelta(minutes=5)
"""How much newer than its note a transcript may be: clients also write rows that are not imported."""
_FRESH = timedelta(minutes=2)
"""A file modified more recently than this may still be growing."""
_LOOKED_AT = 20
"""Maximum transcripts to compare with their notes by a trial import."""


def _lagging(
    vault: Vault,
    notes: Mapping[ClientSession, Path],
    rows: Collection[Mapping[str, object]],
    waiting: Collection[str],
    now: datetime,
) -> Iterator[CheckResult]:
    """Report notes that an import would update; sessions `waiting` in the spool are reported separately."""
    known = {str(row["id"]): known_until(row) for row in rows}
    late = [
        native
        for native, note in notes.items()
        if (until := known.get(note_name(note.name)))
        and native.written
        and native.transcript.native_id not in waiting
        and now - native.written >= _FRESH
        and native.written - until > _LAG
    ]
    yield from report_lagging([native for native in late[:_LOOKED_AT] if _would_change(vault, native, now)])


def _would_change(vault: Vault, native: ClientSession, now: datetime) -> bool:
    options = ImportOptions(now=now, dry_run=True)
    report = import_transcripts(vault, native.dialect, [native.transcript.path], options=options)
    return bool(report.updated or report.created)


_T = TypeVar("_T")
_SHOWN = 5
_LOG_AGE = timedelta(days=7)
_MARKS = {CheckState.GOOD: ("ok", "green"), CheckState.NOTE: ("note", "yellow"), CheckState.BAD: ("bad", "red")}


@click.command
@flag("--all", "List all items, not just the first few.", "whole")
@flag("--secrets", "Also count secrets in clients' logs, by kind and file; values are not shown.")
@flag("--formats", "Also list unknown rows and fields in clients' logs, by client and version.")
@click.option(
    "--fix",
    "fixes",
    multiple=True,
    type=click.Choice([*(fix.name for fix in FIXES), TRANSCRIPTS, "all"]),
    metavar="CHECK",
    help=f"Fix what a check found, after asking: {', '.join(fix.name for fix in FIXES)}, {TRANSCRIPTS} or all.",
)
@flag("--dry-run", "With --fix: show changes without making them.")
@yes_option("With --fix: do not ask for confirmation.")
@format_option()
@click.pass_obj
def doctor(
    door: Door,
    *,
    whole: bool,
    secrets: bool,
    formats: bool,
    fixes: Sequence[str],
    dry_run: bool,
    yes: bool,
    format_: str,
) -> int:
    """Check the setup, the vault and its notes, and show how to fix each problem.

    \b
    - Checks settings, permissions, hooks, MCP, agents and their cost,
      transcripts, the spool, sessions and the index.
    - Names sessions without a note, first those that their client is about
      to delete. --fix transcripts imports them.
    - Changes nothing without --fix.

    Exit code: 3 if there is a problem that was not fixed.

    \b
      cru doctor
      cru doctor --secrets
      cru doctor --formats --all
      cru doctor --fix links --dry-run
      cru doctor --fix all
      cru doctor --all --format json
    """
    setup = _setup(door)
    if fixes:
        code = fix_faults(FixContext(setup.vault, setup.zone), fixes, door, dry_run=dry_run, yes=yes, whole=whole)
        if {TRANSCRIPTS, "all"} & {*fixes}:
            settled = partial(_is_settled, SourceTable(setup.vault))
            missing = find_missing(find_native(os.environ, Path.home()), settled)
            code = max(code, import_missing(setup.vault, missing, dry_run=dry_run, yes=yes, whole=whole))
        return code
    results = list(_results(setup, datetime.now(UTC), secrets=secrets, formats=formats))
    if is_data(format_):
        write_data({"checks": [_exported(result) for result in results]}, format_)
    else:
        for result in results:
            _write(result, door, whole=whole)
    return PROBLEMS_FOUND if any(result.state is CheckState.BAD for result in results) else 0


class _Setup(NamedTuple):
    """The vault, the agent settings, and the problems in both settings files; defaults replace unreadable settings."""

    vault: Vault
    zone: tzinfo
    agents: AgentSettings
    faults: tuple[CrucibleError, ...]
    warnings: tuple[str, ...]
    prices: str


def _setup(door: Door) -> _Setup:
    user, unread = _or_default(user_settings, UserSettings(user_settings_file()))
    root = vault_root(door, user)
    settings, broken = _or_default(lambda: load_vault_settings(root, user), VaultSettings())
    warnings = (*user.warnings, *settings.warnings)
    return _Setup(Vault(Path(root), settings), user.zone, user.agents, (*unread, *broken), warnings, user.prices)


def _or_default(load: Callable[[], _T], default: _T) -> tuple[_T, tuple[CrucibleError, ...]]:
    try:
        return load(), ()
    except CrucibleError as error:
        return default, (error,)


def _results(setup: _Setup, now: datetime, *, secrets: bool, formats: bool) -> Iterator[CheckResult]:
    vault, home = setup.vault, Path.home()
    yield from check_settings(setup.faults, setup.warnings)
    if not setup.faults:
        root = os.path.realpath(vault.root)
        accepts = accepted_in(user_settings().trusted, root)
        personas = list(persona_notes(root, accepts, redact_of(vault.settings.secrets)))
        yield from check_trust([*vault.settings.asks, *(one.ask for one in personas)])
        yield from check_personas(personas)
    yield from check_prices(setup.prices, now.astimezone(setup.zone).date())
    yield from check_writable(vault.root, (vault.sessions,))
    yield from check_git_hooks(vault.root)
    yield from check_renames(vault)
    yield from report_faults(FixContext(vault, setup.zone), FIXES)
    natives = list(find_native(os.environ, home))
    table = SourceTable(vault)
    notes = {native: note for native in natives if (note := table.find(_source(native)))}
    waiting = _waiting(vault.root)
    yield from _of_hooks(vault.root, home, last_written(notes, "claude-code"), waiting, now)
    yield from _of_servers(vault.root, home)
    yield from check_services(Machine(os.environ, home, sys.platform))
    yield from check_agents(vault.root, setup.agents, os.environ, now)
    yield from check_transcripts(natives, partial(_is_settled, table), now=now, env=os.environ, home=home)
    yield from check_tested(natives)
    if formats:
        with bar("clients' logs") as show:
            yield from check_formats(natives, vault.settings.secrets, show)
    if secrets:
        with bar("clients' logs") as show:
            yield from check_client_secrets(natives, vault.settings.secrets, show)
    yield from check_spool(vault.root, CLIENTS, now)
    yield from _of_notes(vault, notes, waiting, now)


def _of_hooks(
    root: Path, home: Path, last: datetime | None, waiting: Collection[str], now: datetime
) -> Iterator[CheckResult]:
    # Check the project of the vault as well as the current one.  In the home folder, project and user settings are
    # the same file, which is reported as --user.
    claude = HOOKS["claude-code"]
    places = {hooks_path(claude, os.environ, home, at): "--project" for at in (project_folder(), root)}
    places |= {hooks_path(claude, os.environ, home, None): "--user"}
    search = os.environ.get("PATH")
    yield from check_hooks([(option, path) for path, option in reversed(places.items())], root, last, search)
    others = [(client, hooks_path(each, os.environ, home, None)) for client, each in HOOKS.items() if each != claude]
    yield from check_other_hooks(others, search)
    yield from check_log(root / LOG, now - _LOG_AGE, waiting, last_run(root))


def _of_servers(root: Path, home: Path) -> Iterator[CheckResult]:
    places: dict[Path, ServersToCheck] = {}
    for client in MCP_SETTINGS:
        # In the order of the report: the user's settings, the vault's project, the current project.
        for at in (at for at in (None, root, project_folder()) if client in clients_with_servers(at)):
            servers = parts_of(client, ("cru", "mcp"), os.environ, home, at)[0]
            option = " --project" if at else ""
            places.setdefault(servers.path, ServersToCheck(client, servers, f"cru install {client} --mcp{option}"))
    used = [client for client in MCP_SETTINGS if is_used(client, os.environ, home)]
    yield from check_servers(places.values(), used, os.environ.get("PATH"))


def _waiting(root: Path) -> set[str]:
    """Return sessions in the spool that are not imported yet; `check_spool` reports a spool that cannot be read."""
    try:
        return {s.session for client in CLIENTS for s in load_spool(root, client) if s.has_backlog}
    except CrucibleError:
        return set()


def _is_settled(table: SourceTable, native: ClientSession) -> bool:
    """Return whether a session has a note, or its note was deleted."""
    source = _source(native)
    return table.find(source) is not None or table.deleted.has(source, native.transcript.path)


def _source(native: ClientSession) -> str:
    return native.transcript.source


def _of_notes(
    vault: Vault, notes: Mapping[ClientSession, Path], waiting: Collection[str], now: datetime
) -> Iterator[CheckResult]:
    idle = timedelta(minutes=vault.settings.idle_minutes)

    def question(view: View) -> tuple[Sequence[Mapping[str, object]], Sequence[Mapping[str, object]]]:
        return select(view, SessionQuery(children=True, archived=True)), unreadable_rows(view)

    try:
        (rows, unreadable), refreshed = Index(vault.root, vault.settings).ask(question)
    except CrucibleError as error:
        yield bad("index", str(error), "cru index rebuild")
        return
    yield from _lagging(vault, notes, rows, waiting, now)
    yield from check_sessions(rows, now, idle)
    yield from check_notes(vault.root, unreadable, vault.session_ids())
    yield from check_archives(vault.root)
    for reason in refreshed.unwalked:
        yield bad("index", reason, "grant yourself permission to read it")
    if refreshed.unsaved:
        fix = fix_of_os_error(refreshed.unsaved, "cru index rebuild")
        yield bad("index", f"the index cannot be saved: {refreshed.unsaved}", fix)
    else:
        yield good("index", f"index up to date ({counted(len(rows), 'session')})")


def _exported(result: CheckResult) -> dict[str, object]:
    return {
        "topic": result.topic,
        "state": str(result.state),
        "text": result.text,
        "fix": result.fix or None,
        "items": list(result.items),
    }


def _write(result: CheckResult, door: Door, *, whole: bool) -> None:
    word, hue = _MARKS[result.state]
    write_marked(word, hue, f"{'':<{5 - len(word)}} {result.topic:<13} {clean_line(result.text)}", door)
    few = 0 if result.state is CheckState.GOOD else _SHOWN
    shown = result.items if whole else result.items[:few]
    for item in shown:
        write(f"{'':<19} - {clean_line(item)}")
    left = len(result.items) - len(shown)
    if left and shown:
        write(f"{'':<19} - {left} more; see --all")
    if result.fix:
        write(f"{'':<19} → {clean_line(result.fix)}")
