"""Check that the sessions of this machine's clients have notes, and find secrets in the clients' own logs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.clients.events import Prompted, Replied, ToolUsed
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.clients.log_files import Transcript
from crucible.clients.redact import redactor_of
from crucible.clients.registry import DIALECTS, Dialect
from crucible.core.errors import TranscriptError, reason_of
from crucible.core.secrets.redaction import PRIVATE
from crucible.core.settings.settings import SecretSettings
from crucible.core.text import counted
from crucible.integrations.doctor import CheckResult, bad, good, notice

_WARNING = timedelta(days=7)
_WORDS = Prompted | Replied | ToolUsed
_LOOKED_AT = 200
"""Maximum events to search for the first text; a session without text in them counts as empty."""


@dataclass(frozen=True, slots=True)
class ClientSession:
    """A client's session: when it was last written, and the `reason` why it cannot be read ("" if it can)."""

    dialect: Dialect
    transcript: Transcript
    written: datetime | None
    reason: str = ""


def find_native(env: Mapping[str, str], home: Path) -> Iterator[ClientSession]:
    """Yield every session of every client on this machine."""
    for dialect in DIALECTS.values():
        folder = dialect.default_folder(env, home)
        if not folder.exists():
            continue
        try:
            for transcript in dialect.find(folder):
                yield _native(dialect, transcript)
        except (TranscriptError, OSError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            yield ClientSession(dialect, Transcript(dialect.name, "", folder), None, reason)


def _native(dialect: Dialect, transcript: Transcript) -> ClientSession:
    try:
        written = dialect.last_written(transcript)
        readable = os.access(transcript.path, os.R_OK)
    except (TranscriptError, OSError) as error:
        return ClientSession(dialect, transcript, None, reason_of(error) if isinstance(error, OSError) else str(error))
    return ClientSession(dialect, transcript, written, "" if readable else "permission denied")


def last_written(natives: Iterable[ClientSession], client: str) -> datetime | None:
    """Return when a client last wrote to any of these sessions."""
    return max((n.written for n in natives if n.written and client == n.dialect.name), default=None)


def find_missing(natives: Iterable[ClientSession], is_archived: Callable[[ClientSession], bool]) -> list[ClientSession]:
    """Return the sessions without a note that an import would give one."""
    return [native for native in natives if not native.reason and not is_archived(native) and _has_words(native)]


def check_transcripts(
    natives: Sequence[ClientSession],
    is_archived: Callable[[ClientSession], bool],
    *,
    now: datetime,
    env: Mapping[str, str],
    home: Path,
) -> Iterator[CheckResult]:
    """Report sessions without notes, grouped by client, then transcripts that cannot be read."""
    unread = [f"{native.transcript.path}: {native.reason}" for native in natives if native.reason]
    missing = find_missing(natives, is_archived)
    for dialect in DIALECTS.values():
        yield from _missing(dialect, [n for n in missing if n.dialect.name == dialect.name], now, env, home)
    if unread:
        what = counted(len(unread), "transcript") + " cannot be read"
        yield bad("transcripts", what, "grant yourself permission to read them", tuple(unread))
    if not (unread or missing):
        yield good("transcripts", "every client session on this machine has a note")


def _missing(
    dialect: Dialect, missing: list[ClientSession], now: datetime, env: Mapping[str, str], home: Path
) -> Iterator[CheckResult]:
    days = dialect.retention_days(env, home)
    # As a number of days, since users keep logs forever with one too large for a timedelta.
    soon = [] if days is None else [n for n in missing if (_age(n, now) + _WARNING) / timedelta(days=1) > days]
    rest = [native for native in missing if native not in soon]
    fix = f"cru import {dialect.name}"
    if soon:
        what = counted(len(soon), f"session of {dialect.title} has", f"sessions of {dialect.title} have")
        what += f" no note and will soon be deleted by the client (it keeps files for {days} days)"
        yield bad("transcripts", what, "cru doctor --fix transcripts", tuple(str(n.transcript.path) for n in soon))
    if rest:
        what = counted(len(rest), f"session of {dialect.title} has", f"sessions of {dialect.title} have") + " no note"
        yield notice("transcripts", what, fix, tuple(_name(n) for n in rest))


def report_lagging(natives: Iterable[ClientSession]) -> Iterator[CheckResult]:
    """Report sessions whose notes end before their transcripts do."""
    by_client: dict[str, list[ClientSession]] = {}
    for native in natives:
        by_client.setdefault(native.dialect.name, []).append(native)
    for name, late in by_client.items():
        what = counted(len(late), "note is", "notes are") + f" older than {late[0].dialect.title}'s logs"
        items = tuple(_name(native) for native in late)
        yield notice("transcripts", what, f"cru import {name}", items)


def _name(native: ClientSession) -> str:
    return f"{native.transcript.native_id} ({native.transcript.path})"


def _age(native: ClientSession, now: datetime) -> timedelta:
    """Return the time since the file was last modified, which clients use to decide what to delete."""
    try:
        return now - datetime.fromtimestamp(native.transcript.path.stat().st_mtime, UTC)
    except OSError:
        return timedelta()


def _has_words(native: ClientSession) -> bool:
    """Return whether an import would create a note: it has text, and `cru` did not start it to ask an agent."""
    try:
        for number, event in enumerate(native.dialect.read(native.transcript)):
            if isinstance(event, _WORDS):
                return not (isinstance(event, Prompted) and OWN_MARK in event.text)
            if number > _LOOKED_AT:
                break
    except (TranscriptError, OSError):
        return True
    return False


Show = Callable[[int, int], None]
"""Called with the number of sessions checked so far, and the total."""
_FIX = 'revoke these secrets, then delete the sessions in the client; "cru" never changes a client\'s logs'


def check_client_secrets(
    natives: Iterable[ClientSession], settings: SecretSettings, show: Show
) -> Iterator[CheckResult]:
    """Yield one finding for each client with logs.  Only one event is in memory at a time."""
    readable = [native for native in natives if not native.reason]
    looked = Counter(native.dialect.name for native in readable)
    found: dict[str, dict[Path, Counter[str]]] = {}
    for done, native in enumerate(readable):
        show(done, len(readable))
        for path, kinds in _counted(native, settings):
            if kinds:
                found.setdefault(native.dialect.name, {}).setdefault(path, Counter()).update(kinds)
    show(len(readable), len(readable))
    for name, sessions in looked.items():
        yield _finding(DIALECTS[name].title, sessions, found.get(name, {}))


def _counted(native: ClientSession, settings: SecretSettings) -> Iterator[tuple[Path, Counter[str]]]:
    """Yield each file of a session with its secrets counted by rule."""
    redact = redactor_of(settings)
    transcript = native.transcript
    for agent in ("", *(file.agent for file in transcript.subagents)):
        kinds: Counter[str] = Counter()
        try:
            for event in native.dialect.read(transcript, agent):
                kinds.update(redact(event)[1])
        except TranscriptError:
            pass  # removed or damaged since it was found; `check_transcripts` reports it
        del kinds[PRIVATE]  # the user marked these, so they are not reported
        yield transcript.path_of(agent), kinds


def _finding(title: str, sessions: int, files: dict[Path, Counter[str]]) -> CheckResult:
    total: Counter[str] = Counter()
    for kinds in files.values():
        total.update(kinds)
    of = counted(sessions, "session")
    if not total:
        return good("secrets", f"no secrets in {title}'s logs ({of})")
    worst = sorted(files.items(), key=lambda each: (-each[1].total(), str(each[0])))
    what = f"{title}'s logs ({of}) contain {counted(total.total(), 'secret')} in {counted(len(files), 'file')}: {_counts_text(total)}"
    items = tuple(f"{path}: {_counts_text(kinds)}" for path, kinds in worst)
    return notice("secrets", what, _FIX, items)


def _counts_text(kinds: Counter[str]) -> str:
    """Return counts such as `3 github-token, 1 password`, the most frequent first."""
    return ", ".join(f"{count} {rule}" for rule, count in sorted(kinds.items(), key=lambda each: (-each[1], each[0])))
