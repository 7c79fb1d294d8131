"""Report what clients' logs hold that their readers do not know, and clients that were not tested with the real program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from crucible.clients.client import printable
from crucible.clients.events import ContextSeen, Unknown
from crucible.clients.log_files import read_file
from crucible.clients.redact import scanner_of
from crucible.clients.registry import DIALECTS, Dialect
from crucible.clients.row_shapes import count_kinds, known_shapes, unknown_in
from crucible.core.errors import TranscriptError
from crucible.core.settings.settings import SecretSettings
from crucible.integrations.doctor import CheckResult, good, notice, numbered
from crucible.integrations.doctor.transcript_checks import ClientSession

Show = Callable[[int, int], None]
"""Called with the number of sessions checked so far, and the total."""
_TOPIC = "formats"


def check_tested(natives: Iterable[ClientSession]) -> Iterator[CheckResult]:
    """Yield the clients with sessions whose readers were never tested with the real program."""
    used = {native.dialect.name for native in natives}
    titles = [dialect.title for name, dialect in DIALECTS.items() if name in used and not dialect.client.tested]
    if titles:
        what = f"import is not tested with the real program: {', '.join(titles)}"
        yield notice(_TOPIC, what, "compare a note with its session, and please report what is missing")


def check_formats(natives: Iterable[ClientSession], settings: SecretSettings, show: Show) -> Iterator[CheckResult]:
    """Yield one result for each client and version with logs; names from the logs are redacted."""
    redact = scanner_of(settings).redact
    readable = [native for native in natives if not native.reason]
    sessions: Counter[tuple[str, str]] = Counter()
    found: dict[tuple[str, str], Counter[str]] = {}
    for done, native in enumerate(readable):
        show(done, len(readable))
        version, unknown = _unknown(native)
        key = native.dialect.name, printable(redact(version)[0])
        sessions[key] += 1
        names = found.setdefault(key, Counter())
        for what, count in unknown.items():
            count_kinds(names, {redact(what)[0]: count})
    show(len(readable), len(readable))
    for (name, version), unknown in sorted(found.items()):
        yield _result(DIALECTS[name], version, sessions[name, version], unknown)


def _unknown(native: ClientSession) -> tuple[str, Counter[str]]:
    """Return the version of the client that wrote a session, and how often each unknown row or field occurs in its logs."""
    dialect, transcript = native.dialect, native.transcript
    version, unknown = "", Counter[str]()
    paths = dict.fromkeys([transcript.path, *(file.path for file in transcript.subagents)])
    shapes = known_shapes(dialect.name)
    try:
        for event in dialect.read(transcript):
            if isinstance(event, ContextSeen):
                version = event.version or version
            elif isinstance(event, Unknown) and not shapes:
                unknown[f"row {event.type}"] += 1
        for path in paths if shapes else ():
            unknown.update(_unknown_rows(dialect.name, path))
    except TranscriptError:
        pass  # removed or damaged since it was found; `check_transcripts` reports it
    return version, unknown


def _unknown_rows(client: str, path: Path) -> Iterator[str]:
    if path.suffix == ".jsonl":
        known = known_shapes(client)
        for record in read_file(path):
            if record.value is not None:
                yield from unknown_in(record.value, known)


def _result(dialect: Dialect, version: str, sessions: int, unknown: Counter[str]) -> CheckResult:
    known = dialect.client.tested
    tested = f"tested with {known}" if known else "not tested"
    where = f"{dialect.title}{f' {version}' if version else ''} ({numbered(sessions, 'session')}, {tested})"
    if not unknown:
        return good(_TOPIC, f"{where}: no unknown rows or fields")
    items = tuple(f"{what}: {count}" for what, count in sorted(unknown.items(), key=lambda each: (-each[1], each[0])))
    rows = sum(what.startswith("row ") for what in unknown)
    kinds = [numbered(rows, "kind of row", "kinds of rows")] if rows else []
    kinds += [numbered(len(unknown) - rows, "field")] if len(unknown) > rows else []
    fix = "update Crucible; if it is up to date, please report these"
    return notice(_TOPIC, f"{where}: {' and '.join(kinds)} that Crucible does not know", fix, items)
