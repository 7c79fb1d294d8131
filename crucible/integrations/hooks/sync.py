"""Import sessions from the spool into notes, in one background process per vault.

A hook starts it when a phase ends.  Errors go to `.crucible/log/hooks.log`; the next start tries the session again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson

from crucible.clients.log_files import Wanted, source_name
from crucible.clients.log_folders import is_database, log_folder, session_logs
from crucible.clients.registry import DIALECTS
from crucible.commands.delete.delete import finish_deletion
from crucible.commands.idle.idle_check import look
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import ImportReport, Search
from crucible.commands.imports.imports import import_all
from crucible.commands.rename.rename import finish_rename
from crucible.core.errors import CrucibleError, VaultError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import UserSettings, load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.core.settings.trust import ignored_warnings
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.client_hook import CLAUDE_CODE, CLIENTS
from crucible.integrations.hooks.client_state import LONGEST, is_running, wait_for_tail
from crucible.integrations.hooks.hook_log import LOG, log_fault
from crucible.integrations.hooks.session_end import (
    ImportedSession,
    StoppedSession,
    ask_all,
    end_all,
    mark_stop,
    stopped_now,
)
from crucible.memory.summary.brief_updates import update_briefs
from crucible.search.background_update import update_later
from crucible.vault.events.event_retention import is_due, purge
from crucible.vault.events.spool import append, spool_folder, syncing
from crucible.vault.events.spool_reader import Spooled, SpoolLine, load_spool, retire, save_state
from crucible.vault.index.index import Index
from crucible.vault.notes.session_notes import status_lookup
from crucible.vault.notes.vault import Vault

_CONTINUING_SOURCES = frozenset(("clear", "fork"))


def session_before(spooled: Spooled, others: Iterable[Spooled]) -> str:
    """Return the native id of the session that this one continues; "" if there is none.

    Only Claude Code's hooks tell; other clients' logs do not say it either.
    """
    if not spooled.lines or spooled.client != CLAUDE_CODE:
        return ""
    first = next((line for line in spooled.lines if line.event == "SessionStart"), spooled.lines[0])
    if first.pid <= 1:
        return ""
    if first.event != "SessionStart":
        return _forked_from(spooled.session, first, others)
    ends = [
        (line.time, other.session)
        for other in others
        for line in other.lines
        if line.pid == first.pid and line.time <= first.time and other.session != spooled.session
    ]
    return max(ends, default=(0.0, ""))[1] if first.source in _CONTINUING_SOURCES else ""


def _forked_from(session: str, first: SpoolLine, others: Iterable[Spooled]) -> str:
    """Return the forked session: a fork from the command line logs its start as the last event of that session."""
    for other in others:
        lines = [line for line in other.lines if line.pid == first.pid]
        opened = lines[-1:] and lines[-1].event == "SessionStart" and lines[-1].source == "resume"
        if other.session != session and opened and lines[-1].time <= first.time:
            return other.session
    return ""


_STATE_NAMES = {Client.RUNNING: "running", Client.ENDED: "ended", Client.DIED: "died"}
_EVENTS_WITHOUT_TEXT = frozenset(("SessionStart", "SessionEnd"))
_QUIET_SECONDS = 60.0
"""Seconds after an ended session's last event until it is checked a final time."""
_GIVEN_UP_SECONDS = 86400.0
"""Seconds after a session's last event until its missing transcript is no longer expected."""
_MISSING = "missing"
"""The state of a session that has no transcript."""
_MARKS = frozenset(("SessionStart", "PreCompact", "Stop", "StopFailure", "SessionEnd"))
"""Events whose hooks the client waits for, so they are in order in the spool."""
_LONGEST_EXIT, _PAUSE = 30.0, 0.1
"""Maximum seconds from a client's last turn to its exit, and the seconds between two looks."""
_MAX_LOGGED = 5
"""Maximum unreadable rows to log per session."""


def write_down(root: Path) -> None:
    """Import the sessions waiting in the spool, unless another process does so; then ask the agent about ended ones."""
    tried: dict[str, int] = {}
    stopped: list[StoppedSession] = []
    home = Path.home()
    user = load_user_settings(user_settings_path(os.environ, home), home)
    while True:
        with syncing(str(root)) as lock:
            if not lock.held:
                break
            os.utime(root / ".crucible" / "spool" / "lock")  # shows `cru doctor` that the hooks work
            stopped += sync_vault(root, user, tried)
            _purge_events(root, user)
        # A hook that found the lock taken has not started a process, so check for its lines again.
        if not any(_waits(each, tried) for each in _spool(root)) and not _add_missing_ends(root):
            break
    if stopped:
        vault = Vault(root, load_vault_settings(root, user))
        ask_all(vault, user, stopped)
        _refresh(vault)
        update_later(str(root), user.recall, os.environ)


def _add_missing_ends(root: Path) -> bool:
    """Add the end of clients that call no hook when they end with their turn; return whether there were any."""
    now, found = time.time(), False
    running = [each for each in _spool(root) if _ends_silently(each, now)]
    while running and time.time() < now + _LONGEST_EXIT:
        for each in (each for each in running if not is_running(each)):
            line = {"time": time.time(), "event": "SessionEnd", "session": each.session, "transcript": each.transcript}
            append(spool_folder(str(root), each.client), each.session, orjson.dumps(line))
            found = True
        running = [each for each in running if is_running(each)]
        time.sleep(_PAUSE)
    return found


def _ends_silently(spooled: Spooled, now: float) -> bool:
    """Return whether a client has just answered, and ends without a hook: Qwen Code with `-p`, where none starts it."""
    last = spooled.lines[-1] if spooled.lines else SpoolLine("")
    has_start = any(line.event == "SessionStart" and line.pid == last.pid for line in spooled.lines)
    is_answered = last.event == "Stop" and now - last.time < _LONGEST_EXIT and spooled.left == "running"
    return is_answered and not has_start and spooled.client != CLAUDE_CODE


def has_backlog(root: Path) -> bool:
    """Return whether the spool has lines that are not imported yet."""
    return any(each.has_backlog for each in _spool(root))


def _purge_events(root: Path, user: UserSettings) -> None:
    """Once a day, archive or delete old event logs, as the settings say."""
    now = datetime.now(UTC)
    try:
        if not is_due(root, now):
            return
        vault = Vault(root, load_vault_settings(root, user))
        report = purge(root, vault.settings.events, vault.session_ids(), now, status_of=status_lookup(vault))
        for kept in report.failed:
            log_fault(str(root), "purge", VaultError(f"{kept.session_id}: {kept.reason}"))
    except CrucibleError as error:
        log_fault(str(root), "purge", error)


def sync_vault(root: Path, user: UserSettings, tried: dict[str, int]) -> list[StoppedSession]:
    """Import every session waiting in the spool; if a session has started, also check those that ended or died.

    Then pause sessions that have been idle too long.  Returns the sessions whose clients have ended.
    `tried` maps a session to its spooled size at the last try, so that a failure is not retried immediately.
    """
    vault, stopped = Vault(root, load_vault_settings(root, user)), list[StoppedSession]()
    for line in ignored_warnings(vault.settings.asks):
        if line not in _log_of(vault):
            log_fault(str(root), "trust", VaultError(line))
    try:
        _finish_interrupted(vault)
        seen_start = False
        while waiting := [each for each in _spool(root) if _waits(each, tried)]:
            seen_start = seen_start or any(_has_new_start(each) for each in waiting)
            for each in waiting:
                _try(vault, user, each, tried, stopped)
        if seen_start:
            for each in _spool(root):
                _finish(vault, user, each, tried, stopped)
    finally:
        if vault.touched:
            _bring_briefs_up_to_date(vault)
        end_all(vault, user, stopped)
        _refresh(vault)
        # The working directory of this process is the client's.
        look(Index(vault.root, vault.settings), datetime.now(UTC), lambda: (_working_directory(), user.projects))
    return stopped


def _refresh(vault: Vault) -> None:
    if vault.to_index:
        with suppress(CrucibleError):  # otherwise the next query refreshes the index
            Index(vault.root, vault.settings).refresh(vault.to_index)


def _finish_interrupted(vault: Vault) -> None:
    """Finish an interrupted rename or deletion first: a file written in between would block moving another one."""
    try:
        finish_deletion(vault, datetime.now(UTC))
        finish_rename(vault)
    except CrucibleError as error:
        log_fault(str(vault.root), "rename", error)


def _bring_briefs_up_to_date(vault: Vault) -> None:
    """Update the briefs of all changed notes."""
    root = str(vault.root)
    try:
        redact = redact_of(vault.settings.secrets)
        for problem in update_briefs(vault, set(vault.touched), redact=redact):
            if problem not in _log_of(vault):
                log_fault(root, "brief", VaultError(problem))
    except CrucibleError as error:
        log_fault(root, "brief", error)


def _working_directory() -> str:
    with suppress(OSError):
        return os.getcwd()
    return ""


def _spool(root: Path) -> Iterator[Spooled]:
    for client in CLIENTS:
        yield from load_spool(root, client)


def _waits(spooled: Spooled, tried: dict[str, int]) -> bool:
    return spooled.has_backlog and tried.get(spooled.session, -1) < spooled.size


def _has_new_start(spooled: Spooled) -> bool:
    return spooled.left not in ("running", _MISSING) or any(
        line.event == "SessionStart" for line in spooled.lines[-20:]
    )


def _finish(
    vault: Vault, user: UserSettings, spooled: Spooled, tried: dict[str, int], stopped: list[StoppedSession]
) -> None:
    """Mark a session whose client died; check an ended one a final time, since rows may arrive after its end."""
    client = client_state(spooled)
    if client is Client.RUNNING or _ends_silently(spooled, time.time()):
        return
    age = time.time() - max((line.time for line in spooled.lines), default=0.0)
    if spooled.has_backlog:
        if spooled.left == _MISSING and age > _GIVEN_UP_SECONDS:
            retire(vault.root, spooled)
        return
    is_quiet = age > _QUIET_SECONDS
    if client is Client.ENDED and not is_quiet and not _has_late_rows(vault.root, spooled):
        return
    if _try(vault, user, spooled, tried, stopped) and is_quiet:
        retire(vault.root, spooled)


def _has_late_rows(root: Path, spooled: Spooled) -> bool:
    """Return whether the transcript has changed since its last import."""
    state = Path(spool_folder(str(root), spooled.client)) / f"{spooled.session}.state"
    with suppress(OSError):
        return any(log.stat().st_mtime_ns >= state.stat().st_mtime_ns for log in _logs_of(spooled))
    return True


def _try(
    vault: Vault, user: UserSettings, spooled: Spooled, tried: dict[str, int], stopped: list[StoppedSession]
) -> bool:
    """Import a session and return whether that succeeded; if its client has ended, append the session to `stopped`."""
    tried[spooled.session] = spooled.size
    try:
        client = client_state(spooled)
        if not _write_down(vault, user, spooled, client, stopped):
            return False
        save_state(vault.root, spooled, _STATE_NAMES[client])
    except Exception as error:  # noqa: BLE001  the error of one session must not stop the others
        log_fault(str(vault.root), f"sync {spooled.client} {spooled.session}", error)
        return False
    return True


def client_state(spooled: Spooled) -> Client:
    """Return the state of a session's client, as the hooks reported it."""
    if spooled.has_ended:
        return Client.ENDED
    return Client.RUNNING if is_running(spooled) else Client.DIED


def _write_down(
    vault: Vault, user: UserSettings, spooled: Spooled, client: Client, stopped: list[StoppedSession]
) -> bool:
    """Import one session; return whether its notes are complete."""
    logs = _logs_of(spooled)
    if not logs:
        # The client creates the transcript with its first answer.
        is_empty = all(line.event in _EVENTS_WITHOUT_TEXT for line in spooled.lines)
        return is_empty or client is Client.RUNNING or _log_missing(vault, spooled)
    whole_turns = client is Client.RUNNING and vault.settings.hooks.save == "phase" and not _is_urgent(spooled)
    for log in logs:
        _wait_for_last_rows(log, spooled)
    before = session_before(spooled, load_spool(vault.root, spooled.client))
    met, now = ImportedSession(), datetime.now(user.zone)
    options = ImportOptions(
        now=now,
        projects=user.projects,
        client=client,
        whole_turns=whole_turns,
        follows=source_name(spooled.client, before) if before else "",
        met=met.take,
    )
    wanted = None if spooled.client == CLAUDE_CODE else Wanted(spooled.session)
    search = Search(DIALECTS[spooled.client], tuple(logs), wanted=wanted)
    report = import_all(vault, [search], options=options)[0]
    _log_unreadable(vault, spooled, report)
    mark_stop(vault, spooled, client, met, now)
    stopped += stopped_now(vault, spooled, client, met)
    return _is_done(vault, report)


def _log_missing(vault: Vault, spooled: Spooled) -> bool:
    """Log once that the transcript is missing, as some users configure; return False, because it may still appear."""
    if spooled.left != _MISSING:
        error = FileNotFoundError(f"no transcript of {spooled.session}")
        log_fault(str(vault.root), f"sync {spooled.client} {spooled.session}", error)
        save_state(vault.root, replace(spooled, size=spooled.synced), _MISSING)
    return False


def _is_done(vault: Vault, report: ImportReport) -> bool:
    """Return whether an import is complete: no note was damaged or locked.  Damaged rows do not count as missing."""
    did_import = report.created or report.updated or report.unchanged or report.empty or report.left_out
    refused = any(not row.line and row.path.is_relative_to(vault.sessions) for row in report.unreadable)
    return bool(did_import or all(row.line for row in report.unreadable)) and not refused


def _wait_for_last_rows(transcript: Path, spooled: Spooled) -> None:
    """Wait for the last rows, counting from the hook's call: rows still missing long after it never arrive."""
    if is_database(str(transcript)):
        return  # the client writes to it before it calls a hook
    *before, last = [line for line in spooled.lines if line.said and not line.agent] or [SpoolLine("")]
    since = last.time or max((line.time for line in spooled.lines), default=0.0)
    # An earlier answer may have the same text, such as "Done.".
    after = max((line.time for line in before if line.said == last.said), default=0.0)
    wait_for_tail(transcript, last.said, max(0.0, since + LONGEST - time.time()), after)


def _is_urgent(spooled: Spooled) -> bool:
    """Return whether the client is about to compact, perhaps in the middle of a turn."""
    return [line.event for line in spooled.lines if line.event in _MARKS][-1:] == ["PreCompact"]


def _logs_of(spooled: Spooled) -> list[Path]:
    """Return the files that have the session: its transcript, or a client's databases."""
    if spooled.client != CLAUDE_CODE:
        folder = log_folder(DIALECTS[spooled.client], os.environ, Path.home())
        return session_logs(folder, spooled.session, spooled.transcript)
    transcript = _transcript_of(spooled)
    return [transcript] if transcript else []


def _transcript_of(spooled: Spooled) -> Path | None:
    """Return Claude Code's transcript; if the client moved it, look in the folders of other projects."""
    name = f"{spooled.session}.jsonl"
    paths = [Path(line.transcript) for line in reversed(spooled.lines) if line.transcript]
    for path in dict.fromkeys(paths):
        if path.name == name and path.is_absolute():
            if path.is_file():
                return path
            found = sorted(other for other in path.parent.parent.glob(f"*/{name}") if other.is_file())
            if found:
                return found[0]
    return None


def _log_unreadable(vault: Vault, spooled: Spooled, report: ImportReport) -> None:
    """Log each unreadable row once: a damaged row is read again in every turn of its session."""
    logged = _log_of(vault)
    for row in report.unreadable[:_MAX_LOGGED]:
        error = ValueError(f"{row.path}:{row.line}: {row.reason}")
        if not row.line or f"{error}\n" not in logged:
            log_fault(str(vault.root), f"sync {spooled.client} {spooled.session}", error)


def _log_of(vault: Vault) -> str:
    with suppress(OSError):
        return (vault.root / LOG).read_text(encoding="utf-8", errors="replace")
    return ""
