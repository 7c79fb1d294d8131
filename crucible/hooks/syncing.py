"""What hooks pointed at, folded into notes: a process that nobody waits for, one at a time in a vault.

A hook starts it at the end of a phase, through `starting`.  Owns when a transcript is whole
enough to be read, which sessions have died, and when the spool is done with one; what a transcript comes to is
`importing`'s.  A fault is a line in `.crucible/log/hooks.log`, and its session is tried again at the next start.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from crucible.errors import CrucibleError
from crucible.flight.retention import is_due, purge
from crucible.flight.spool import syncing
from crucible.flight.spooled import Spooled, load_spool, retire, save_state
from crucible.hooks.lineage import session_before
from crucible.hooks.liveness import is_running
from crucible.hooks.log import complain
from crucible.hooks.tails import LONGEST, wait_for_tail
from crucible.importing.importing import import_transcripts
from crucible.importing.report import ImportOptions, ImportReport
from crucible.importing.sources import source_name
from crucible.index.store import Index
from crucible.session.standing import Client
from crucible.settings import UserSettings, load_user_settings
from crucible.tidy_toml import user_settings_path
from crucible.transcript.dialects import DIALECTS
from crucible.vault.store import Vault

__all__ = ["sync_vault", "write_down"]

_CLIENTS = ("claude-code",)
_WORDS = {Client.RUNNING: "running", Client.ENDED: "ended", Client.DIED: "died"}
_WORDLESS = frozenset(("SessionStart", "SessionEnd"))
_QUIET_SECONDS = 60.0
"""Age of a session's last event after which its last look is taken."""
_COMPLAINTS = 5
"""Unreadable rows of one session that are named in the log."""


def write_down(root: Path) -> None:
    """Write down all that waits; returns at once when another process is at it."""
    tried: dict[str, int] = {}
    with suppress(OSError, AttributeError):
        os.nice(10)  # the agent's own work comes first
    home = Path.home()
    user = load_user_settings(user_settings_path(os.environ, home), home)
    while True:
        with syncing(str(root)) as lock:
            if not lock.held:
                return
            os.utime(root / ".crucible" / "spool" / "lock")  # `cru doctor` sees from it that hooks fire
            sync_vault(root, user, tried)
            _put_away(root)
        # A hook that found the lock taken started nobody, so what it put in is looked for once more.
        if not any(_waits(each, tried) for each in _spool(root)):
            return


def _put_away(root: Path) -> None:
    """Once a day, whole events that are older than the settings want."""
    now = datetime.now(UTC)
    if not is_due(root, now):
        return
    vault = Vault(root)
    try:
        purge(root, vault.settings.flight, vault.session_ids(), now)
    except CrucibleError as error:
        complain(str(root), "purge", error)


def sync_vault(root: Path, user: UserSettings, tried: dict[str, int]) -> None:
    """Write down every session of the spool that waits; after a session's start also those that died or have ended.

    `tried` holds how much of a session was there when it failed, so that it is not tried again at once.
    """
    vault = Vault(root)
    try:
        seen_start = False
        while waiting := [each for each in _spool(root) if _waits(each, tried)]:
            seen_start = seen_start or any(_has_new_start(each) for each in waiting)
            for each in waiting:
                _try(vault, user, each, tried)
        if seen_start:
            for each in _spool(root):
                _finish(vault, user, each, tried)
    finally:
        if vault.touched:
            with suppress(CrucibleError):  # what cannot be done now is done by the next query
                Index(vault.root, vault.settings).refresh(vault.touched)


def _spool(root: Path) -> Iterator[Spooled]:
    for client in _CLIENTS:
        yield from load_spool(root, client)


def _waits(spooled: Spooled, tried: dict[str, int]) -> bool:
    return spooled.has_backlog and tried.get(spooled.session, -1) < spooled.size


def _has_new_start(spooled: Spooled) -> bool:
    return spooled.left != "running" or any(line.event == "SessionStart" for line in spooled.lines[-20:])


def _finish(vault: Vault, user: UserSettings, spooled: Spooled, tried: dict[str, int]) -> None:
    """Mark a session that died; look at one that is over a last time, since rows may come in behind its end."""
    client = _client_of(spooled)
    if spooled.has_backlog or client is Client.RUNNING:
        return
    late = time.time() - max((line.time for line in spooled.lines), default=0.0) > _QUIET_SECONDS
    if _try(vault, user, spooled, tried) and late:
        retire(vault.root, spooled)


def _try(vault: Vault, user: UserSettings, spooled: Spooled, tried: dict[str, int]) -> bool:
    """Write one session down; whether that went well."""
    tried[spooled.session] = spooled.size
    try:
        client = _client_of(spooled)
        _write_down(vault, user, spooled, client)
        save_state(vault.root, spooled, _WORDS[client])
    except (CrucibleError, OSError, ValueError) as error:
        complain(str(vault.root), f"sync {spooled.client} {spooled.session}", error)
        return False
    return True


def _client_of(spooled: Spooled) -> Client:
    if spooled.has_ended:
        return Client.ENDED
    return Client.RUNNING if is_running(spooled) else Client.DIED


def _write_down(vault: Vault, user: UserSettings, spooled: Spooled, client: Client) -> None:
    transcript = _transcript_of(spooled)
    if transcript is None:
        # The client makes the file with its first answer.
        if client is not Client.RUNNING and any(line.event not in _WORDLESS for line in spooled.lines):
            raise FileNotFoundError(f"no transcript {spooled.session}.jsonl")
        return
    whole_turns = (
        client is Client.RUNNING and vault.settings.capture.save == "phase" and not _is_urgent(spooled)
    )
    _wait_for_last_rows(transcript, spooled)
    before = session_before(spooled, load_spool(vault.root, spooled.client))
    options = ImportOptions(
        now=datetime.now(UTC),
        projects=user.projects,
        client=client,
        whole_turns=whole_turns,
        follows=source_name(spooled.client, before) if before else "",
    )
    report = import_transcripts(vault, DIALECTS[spooled.client], [transcript], options=options)
    _tell(vault, spooled, report)


def _wait_for_last_rows(transcript: Path, spooled: Spooled) -> None:
    """Give the client its time from when it called, not from now: what it has not written long after, it never will."""
    calls = [line for line in spooled.lines if line.said and not line.agent]
    since = calls[-1].time if calls else spooled.lines[-1].time if spooled.lines else 0.0
    wait_for_tail(transcript, calls[-1].said if calls else "", max(0.0, since + LONGEST - time.time()))


def _is_urgent(spooled: Spooled) -> bool:
    """Whether the client is about to compact, in the middle of a turn perhaps."""
    return any(line.event == "PreCompact" for line in spooled.lines[-3:])


def _transcript_of(spooled: Spooled) -> Path | None:
    """The session's file: where a hook said, or in another project's folder when the client moved it."""
    name = f"{spooled.session}.jsonl"
    told = [Path(line.transcript) for line in reversed(spooled.lines) if line.transcript]
    for path in dict.fromkeys(told):
        if path.name == name and path.is_absolute():
            if path.is_file():
                return path
            found = sorted(path.parent.parent.glob(f"*/{name}"))
            if found:
                return found[0]
    return None


def _tell(vault: Vault, spooled: Spooled, report: ImportReport) -> None:
    for row in report.unreadable[:_COMPLAINTS]:
        complain(
            str(vault.root),
            f"sync {spooled.client} {spooled.session}",
            ValueError(f"{row.path}:{row.line}: {row.reason}"),
        )
