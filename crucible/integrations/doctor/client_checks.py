"""Check that hooks, MCP servers and services are installed and run, that clients' logs are understood, and agents' cost.

Hooks work if one was called, or their background process ran, after the client last wrote a transcript.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.analysis.review.agent_questions import spent_text
from crucible.clients.client import printable
from crucible.clients.events import ContextSeen, Unknown
from crucible.clients.hook_settings import Installed, find_installed, missing_program
from crucible.clients.launch.ask import program_of
from crucible.clients.log_files import read_file
from crucible.clients.redact import scanner_of
from crucible.clients.registry import DIALECTS, HOOKS, TITLES, Dialect
from crucible.clients.row_shapes import count_kinds, known_shapes, unknown_in
from crucible.core.errors import CrucibleError, TranscriptError
from crucible.core.settings.settings import AgentSettings, SecretSettings
from crucible.core.text import counted
from crucible.integrations.doctor import CheckResult, bad, good, notice
from crucible.integrations.doctor.transcript_checks import ClientSession
from crucible.integrations.install.mcp_servers import Part, Registered, find_registered, missing_library
from crucible.integrations.install.service import Machine, installed_services
from crucible.vault.logs.spending import spent_since

_LATE = 300.0
"""Maximum seconds by which a transcript's last write may follow the last hook call before hooks count as broken."""
_LOG_LINES = 5
_PLACE = re.compile(r" \([\w.]+\.py:\d+\)$")
"""The source location at the end of a logged error, which is useless to users and not shown."""
_FAULT = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (?:sync [\w-]+ (?P<session>[\w.-]+)|\w+): ", re.ASCII)


def check_hooks(
    places: Iterable[tuple[str, Path]], root: Path, last_written: datetime | None, search: str | None = None
) -> Iterator[CheckResult]:
    """Check that hooks are installed and called.

    `places` pairs each option of `cru install claude-code` with its settings file.  `last_written` is when a transcript
    of this vault's sessions was last written.  `search` is the `PATH` for commands without a path.
    """
    installed: list[float] = []
    for option, path in places:
        try:
            found = find_installed(HOOKS["claude-code"], path)
        except CrucibleError as error:
            yield bad("hooks", str(error), "fix the file by hand")
            continue
        if found.events:
            yield from _entries(found, f"cru install claude-code {option}", search)
            installed.append(path.stat().st_mtime)
    if not installed:
        what = "Claude Code's hooks are not installed: its sessions are not recorded automatically"
        yield notice("hooks", what, "cru install claude-code")
    else:
        # Transcripts written before the hooks were installed prove nothing.
        late = last_written is not None and last_written.timestamp() > min(installed)
        yield from _check_calls(root, last_written if late else None)


def check_other_hooks(places: Iterable[tuple[str, Path]], search: str | None = None) -> Iterator[CheckResult]:
    """Check the hooks of other clients, where they are installed; `places` are the user's settings of each."""
    for client, path in places:
        try:
            found = find_installed(HOOKS[client], path)
        except CrucibleError as error:
            yield notice("hooks", str(error), "fix the file by hand")
            continue
        if found.events:
            yield from _entries(found, f"cru install {client} --hooks", search)


def _entries(found: Installed, fix: str, search: str | None) -> Iterator[CheckResult]:
    """Check that a settings file has all of our hooks, and that the programs they call exist."""
    gone = tuple(filter(None, (missing_program(command, search) for command in found.commands)))
    if gone:
        what = f"{found.path}: hooks call a program that cannot be run, so nothing is recorded"
        yield bad("hooks", what, fix, gone)
    if found.lacking:
        what = f"{found.path}: some hooks are missing or changed"
        yield bad("hooks", what, fix, found.lacking)
    if not (gone or found.lacking):
        yield good("hooks", f"{found.path}: all hooks are installed")


def _check_calls(root: Path, last_written: datetime | None) -> Iterator[CheckResult]:
    fired = _last_fired(root)
    if last_written is None or (fired is not None and fired > last_written.timestamp() - _LATE):
        text = f"they were last called {_ago(fired)}" if fired else "no session has run yet"
        yield good("hooks", text)
        return
    when = f"last {_ago(fired)}" if fired else "never"
    what = f"a session was written to at {last_written:%Y-%m-%d %H:%M} UTC, but hooks were called {when}"
    fix = 'restart the client, which loads hooks at startup; "claude --debug" shows why one does not run'
    yield bad("hooks", what, fix)


def _last_fired(root: Path) -> float | None:
    """Return when a hook was last called in this vault, in seconds since 1970, judging by the spool."""
    spool = root / ".crucible" / "spool"
    times = [path.stat().st_mtime for path in (spool / "lock", *spool.glob("*/*.jsonl")) if path.exists()]
    return max(times, default=None)


def last_run(root: Path) -> float | None:
    """Return when the process that writes notes last started, in seconds since 1970; None if it never ran."""
    try:
        return (root / ".crucible" / "spool" / "lock").stat().st_mtime
    except OSError:
        return None


def _ago(time: float | None) -> str:
    return f"at {datetime.fromtimestamp(time).astimezone():%Y-%m-%d %H:%M}" if time else "never"


def check_log(log: Path, since: datetime, waiting: Collection[str], ran: float | None) -> Iterator[CheckResult]:
    """Report unresolved hook errors since a time.

    `waiting` are the sessions not yet imported; `ran` is when the background process last ran, in seconds since 1970.
    A session's error is resolved once that session is imported, any other error once the process has run again.
    """
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    recent = [line for line in lines if line[:20] >= f"{since:%Y-%m-%dT%H:%M:%SZ}"]
    faults = tuple(_PLACE.sub("", line) for line in recent if not _is_resolved(line, waiting, ran))
    if faults:
        what = counted(len(faults), "fault") + f" of hooks in {log}"
        fix = f"fix the cause; the next session clears this, or run: rm {shlex.quote(str(log))}"
        yield bad("hooks", what, fix, faults[-_LOG_LINES:])


def _is_resolved(line: str, waiting: Collection[str], ran: float | None) -> bool:
    entry = _FAULT.match(line)
    if entry is None:
        return False
    if entry["session"]:
        return entry["session"] not in waiting
    # The log has whole seconds, and a run is recorded before its errors.
    return ran is not None and ran > datetime.fromisoformat(entry["time"]).timestamp() + 1.0


_TOPIC = "mcp"


class ServersToCheck(NamedTuple):
    """A client's file of MCP servers, and the command that registers our server in it."""

    client: str
    servers: Part
    fix: str


def check_servers(
    places: Iterable[ServersToCheck], used: Collection[str], search: str | None = None
) -> Iterator[CheckResult]:
    """Check that our MCP server is registered with each client and can run.

    `used` are the clients on this machine; `search` is the `PATH` for commands without a path.
    """
    unregistered: dict[str, str] = {}
    registered: set[str] = set()
    for client, servers, fix in places:
        unregistered.setdefault(client, fix)
        try:
            found = find_registered(servers)
        except CrucibleError as error:
            yield notice(_TOPIC, str(error), "fix the file by hand")
            registered.add(client)
            continue
        if found:
            registered.add(client)
            yield _registered(client, found, fix, search)
    for client in (each for each in unregistered if each in used and each not in registered):
        what = f'{TITLES[client]} does not use "cru mcp": its agent cannot search your sessions'
        library = missing_library()
        what += '; this needs the extra "mcp"' if library else ""
        yield notice(_TOPIC, what, f"{library} && {unregistered[client]}" if library else unregistered[client])
    if rest := [TITLES[client] for client in unregistered if client not in registered and client not in used]:
        yield notice(_TOPIC, f"clients not found on this machine: {', '.join(rest)}")


def _registered(client: str, found: Registered, fix: str, search: str | None) -> CheckResult:
    where = f"{found.path}: {TITLES[client]}"
    if not found.words:
        what = f"{found.path}: the server named crucible belongs to another program"
        return notice(_TOPIC, what, "rename that server, then: " + fix)
    if gone := missing_program(shlex.join(found.words), search):
        return bad(_TOPIC, f"{where} starts a recall server that cannot be run", fix, (gone,))
    if command := missing_library():
        return bad(_TOPIC, f'{where} starts "cru mcp", which needs the extra "mcp"', command)
    if found.vault and not Path(found.vault).is_dir():
        what = f'{where} starts "cru mcp" with a vault that does not exist'
        return bad(_TOPIC, what, fix, (found.vault,))
    return good(_TOPIC, f'{where} starts "cru mcp"')


def check_services(machine: Machine) -> Iterator[CheckResult]:
    """Check that the program and the vault of each service that we installed still exist."""
    for path, command, stop in installed_services(machine):
        program = command[:1]
        root = command[command.index("--vault") + 1 :][:1] if "--vault" in command else []
        if not (program and root):
            yield bad("service", f"{path}: it has no command that cru knows", "cru install service")
        elif not Path(root[0]).is_dir():
            what = f"{path}: the vault of this service is gone"
            yield bad("service", what, f"{stop}; rm {shlex.quote(str(path))}", (root[0],))
        elif not os.access(program[0], os.X_OK):
            fix = f"cru --vault {shlex.quote(root[0])} install service, and start it again as it says"
            yield bad("service", f"{path}: the program of this service is gone, so it cannot start", fix, (program[0],))
        else:
            yield good("service", f"{path}: its program and vault exist")


_AGENTS = "agents"


def check_agents(root: Path, settings: AgentSettings, env: Mapping[str, str], now: datetime) -> Iterator[CheckResult]:
    """Report the configured agent, whether it can be started, and the cost of its answers this month (UTC)."""
    yield _configured(settings, env)
    try:
        spent = spent_since(root, now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    except CrucibleError as error:
        yield notice(_AGENTS, f"the log of agents' costs cannot be read: {error}")
        return
    if spent.count:
        text = f"agents asked this month: {counted(spent.count, 'answer')}, {spent_text(spent)}"
        yield good(_AGENTS, text)


def _configured(settings: AgentSettings, env: Mapping[str, str]) -> CheckResult:
    name, error = _agent_name(settings, env)
    if not name:
        if settings.at_end:
            fix = "set agents.command or agents.model in your settings"
            return notice(_AGENTS, "agents.at_end is set, but no agent is configured", fix)
        return good(_AGENTS, "no agent is configured; agents are asked only with --with")
    if error:
        return bad(_AGENTS, error, "fix agents.command in your settings")
    when = "at each session's end, and on demand" if settings.at_end else "on demand only (agents.at_end is off)"
    return good(_AGENTS, f"{name} is asked {when}")


def _agent_name(settings: AgentSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """Return the name of the program or model ("" for none), and the reason why it cannot be started ("" if it can).

    Arguments are not shown, because they may contain a key.
    """
    if not settings.command.strip():
        return settings.model.strip(), ""
    try:
        program = program_of(settings.command, "agents.command", env, None).words[0]
    except CrucibleError as error:
        return "agents.command", str(error)
    name = os.path.basename(program)
    is_there = shutil.which(program, path=env.get("PATH"))
    return name, "" if is_there else f"{name}: no such program (agents.command)"


Show = Callable[[int, int], None]
"""Called with the number of sessions checked so far, and the total."""
_FORMATS = "formats"


def check_tested(natives: Iterable[ClientSession]) -> Iterator[CheckResult]:
    """Yield the clients with sessions whose readers were never tested with the real program."""
    used = {native.dialect.name for native in natives}
    titles = [dialect.title for name, dialect in DIALECTS.items() if name in used and not dialect.client.tested]
    if titles:
        what = f"import is not tested with the real program: {', '.join(titles)}"
        yield notice(_FORMATS, what, "compare a note with its session, and please report what is missing")


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
    where = f"{dialect.title}{f' {version}' if version else ''} ({counted(sessions, 'session')}, {tested})"
    if not unknown:
        return good(_FORMATS, f"{where}: no unknown rows or fields")
    items = tuple(f"{what}: {count}" for what, count in sorted(unknown.items(), key=lambda each: (-each[1], each[0])))
    rows = sum(what.startswith("row ") for what in unknown)
    kinds = [counted(rows, "kind of row", "kinds of rows")] if rows else []
    kinds += [counted(len(unknown) - rows, "field")] if len(unknown) > rows else []
    fix = "update Crucible; if it is up to date, please report these"
    return notice(_FORMATS, f"{where}: {' and '.join(kinds)} that Crucible does not know", fix, items)
