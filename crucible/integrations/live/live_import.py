"""Import the logs that a watcher names: one line of JSON with jobs on standard input, one with the result on output.

Sessions that a client's hooks report are left to the hooks, which see how a session ends.  Only what they have not
imported after a minute is imported here.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.log_files import Transcript, Wanted
from crucible.clients.registry import DIALECTS
from crucible.commands.capture.after_stop import StopHelpers, after_stop
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport, Search
from crucible.commands.imports.imports import import_all
from crucible.commands.imports.note_sources import SourceTable
from crucible.core.background import run_after_others
from crucible.core.errors import CrucibleError, reason_of
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import UserSettings, VaultSettings, load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.client_hook import CLIENTS as HOOKED
from crucible.integrations.hooks.hook_log import log_fault
from crucible.integrations.hooks.sync import client_state
from crucible.memory.history.history_folder import entry_path
from crucible.memory.summary.brief_updates import update_briefs
from crucible.vault.events.spool_reader import Spooled, load_spool
from crucible.vault.notes.vault import Vault


class _Part(NamedTuple):
    """Logs that are imported with the same options."""

    client: str
    paths: tuple[Path, ...]
    since: datetime | None
    state: Client
    whole_turns: bool


class LiveImport:
    """Imports logs into one vault; keeps the table of its notes from job to job."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._settings: VaultSettings | None = None
        self._table: SourceTable | None = None
        self._imported: dict[tuple[Any, ...], Transcript] = {}
        """The sessions of databases as they were when they were imported, by what else decides the outcome."""

    def run(self, jobs: Sequence[Mapping[str, Any]]) -> str:
        """Import, and return why something could not be imported, or ""."""
        home = Path.home()
        user = load_user_settings(user_settings_path(os.environ, home), home)
        settings = load_vault_settings(self._root, user)
        vault = Vault(self._root, settings)
        if self._table is None or settings != self._settings:
            self._table, self._settings = SourceTable(vault), settings
        faults = []
        for part in [part for job in jobs for part in _parts(vault, job)]:
            report = self._import(vault, user, part)
            faults += [f"{row.path}: {row.reason}" for row in report.unreadable if not row.line]
        _update_dependents(vault, user)
        return next(iter(faults), "")

    def _import(self, vault: Vault, user: UserSettings, part: _Part) -> ImportReport:
        options = ImportOptions(
            now=datetime.now(user.zone),
            since=part.since,
            projects=user.projects,
            client=part.state,
            whole_turns=part.whole_turns,
        )
        found: dict[tuple[Any, ...], Transcript] = {}

        def is_new(one: Transcript) -> bool:
            key = one.path, one.native_id, part.state, part.whole_turns
            found[key] = one
            return one.last is None or self._imported.get(key) != one

        paths = tuple(path for path in part.paths if path.exists())
        search = Search(DIALECTS[part.client], paths, wanted=Wanted(since=part.since), is_new=is_new)
        report = import_all(vault, [search], options=options, table=self._table)[0]
        if all(row.line for row in report.unreadable):
            self._imported |= found
        return report


def _parts(vault: Vault, job: Mapping[str, Any]) -> Iterator[_Part]:
    """Split a job by the state of the sessions' clients."""
    client, is_last = job["client"], job["is_last"]
    paths = [Path(path) for path in job["paths"]]
    since = None if job["since"] is None else datetime.fromtimestamp(job["since"], UTC)
    by_phase = vault.settings.hooks.save == "phase"
    hooked = {each.session: each for each in load_spool(vault.root, client)} if client in HOOKED else {}
    known = {path: each for path in paths if (each := _spooled(path, hooked))}
    others = tuple(path for path in paths if path not in known)
    if others:
        yield _Part(client, others, since, Client.UNKNOWN, by_phase and not is_last)
    for path, spooled in known.items() if is_last else ():
        state = client_state(spooled)
        yield _Part(client, (path,), since, state, by_phase and state is Client.RUNNING)


def _spooled(path: Path, hooked: Mapping[str, Spooled]) -> Spooled | None:
    """Return what hooks reported of the session of a log, which may be a subagent's; None if they did not."""
    names = (path.stem, *(folder.name for folder in path.parents))
    named = next((each for each in hooked.values() if each.transcript == str(path)), None)
    return named or next((hooked[name] for name in names if name in hooked), None)


def _update_dependents(vault: Vault, user: UserSettings) -> None:
    """Update the briefs of the changed notes, and the histories of sessions that have one."""
    if not vault.touched:
        return
    touched = sorted(vault.touched)
    root, roots = str(vault.root), [path for paths in user.projects.values() for path in paths]
    try:
        for problem in update_briefs(vault, touched, redact=redact_of(vault.settings.secrets)):
            log_fault(root, "brief", CrucibleError(problem))
        for path in touched:
            if entry_path(vault, path.stem).is_file():
                after_stop(vault, path, now=datetime.now(UTC), helpers=StopHelpers(roots=roots), updates=True)
    except CrucibleError as error:
        log_fault(root, "watch", error)


def _result(live: LiveImport, line: bytes) -> dict[str, object]:
    began = time.process_time()
    try:
        fault = live.run(orjson.loads(line))
    except OSError as error:
        fault = reason_of(error)
    except CrucibleError as error:
        fault = str(error)
    return {"seconds": time.process_time() - began, "fault": fault}


def main(root: str) -> None:
    """Import until standard input ends."""
    run_after_others()
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the watcher, and then the input
    live, out = LiveImport(Path(root)), sys.stdout.buffer
    for line in sys.stdin.buffer:
        out.write(orjson.dumps(_result(live, line)) + b"\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
