"""Whether the clients' hooks and servers are installed and run, and which agent is asked at what cost.

Hooks run if one was called, or its process ran, after the client last wrote a transcript.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.analysis.review.agent_questions import spent_text
from crucible.clients.claude_code.hook_settings import EVENTS, Installed, find_installed, missing_program
from crucible.clients.launch.ask import program_of
from crucible.clients.registry import TITLES
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import AgentSettings
from crucible.integrations.doctor import CheckResult, bad, good, notice, numbered
from crucible.integrations.install.mcp_servers import Part, Registered, find_registered
from crucible.vault.logs.spending import spent_since

_LATE = 300.0
"""Seconds between the client's last row and our last hook beyond which hooks do not seem to fire."""
_LOG_LINES = 5
_PLACE = re.compile(r" \([\w.]+\.py:\d+\)$")
"""Where in our code a fault was met: for us, and not for who is to mend it."""
_FAULT = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (?:sync [\w-]+ (?P<session>[\w.-]+)|\w+): ", re.ASCII)


def check_hooks(
    places: Iterable[tuple[str, Path]], root: Path, last_written: datetime | None, search: str | None = None
) -> Iterator[CheckResult]:
    """`places` are settings files with the option of `cru install claude-code` that means each.

    `last_written` is when a transcript of a session that belongs to this vault was last written to, `search` the `PATH`
    on which a command without a path is found.
    """
    installed: list[float] = []
    for option, path in places:
        try:
            found = find_installed(path)
        except CrucibleError as error:
            yield bad("hooks", str(error), "mend the file by hand")
            continue
        if found.events:
            yield from _entries(found, option, search)
            installed.append(path.stat().st_mtime)
    if not installed:
        what = "Claude Code's hooks are not installed: its sessions are not written down by themselves"
        yield notice("hooks", what, "cru install claude-code")
    else:
        # What was written before they were installed says nothing about them.
        late = last_written is not None and last_written.timestamp() > min(installed)
        yield from _firing(root, last_written if late else None)


def _entries(found: Installed, option: str, search: str | None) -> Iterator[CheckResult]:
    """Whether all entries of a settings file are there, and what they call is there, too."""
    mend = f"cru install claude-code {option}"
    gone = tuple(filter(None, (missing_program(command, search) for command in found.commands)))
    if gone:
        what = f"{found.path}: hooks call a program that cannot be run, so nothing is written down"
        yield bad("hooks", what, mend, gone)
    if found.lacking:
        what = f"{found.path}: {len(found.lacking)} of {len(EVENTS)} hooks are missing or changed"
        yield bad("hooks", what, mend, found.lacking)
    if not (gone or found.lacking):
        yield good("hooks", f"{found.path}: all hooks are installed")


def _firing(root: Path, last_written: datetime | None) -> Iterator[CheckResult]:
    fired = _last_fired(root)
    if last_written is None or (fired is not None and fired > last_written.timestamp() - _LATE):
        told = f"they were last called {_ago(fired)}" if fired else "nothing has run since they were installed"
        yield good("hooks", told)
        return
    when = f"last {_ago(fired)}" if fired else "never"
    what = f"a session was written to at {last_written:%Y-%m-%d %H:%M} UTC, and hooks were called {when}"
    mend = "start the client anew; hooks are read at its start, and `claude --debug` shows why one does not run"
    yield bad("hooks", what, mend)


def _last_fired(root: Path) -> float | None:
    """When a hook was last called in this vault, in seconds since 1970, as far as the spool tells."""
    spool = root / ".crucible" / "spool"
    times = [path.stat().st_mtime for path in (spool / "lock", *spool.glob("*/*.jsonl")) if path.exists()]
    return max(times, default=None)


def last_run(root: Path) -> float | None:
    """When the process that writes notes last began, in seconds since 1970; None for never."""
    try:
        return (root / ".crucible" / "spool" / "lock").stat().st_mtime
    except OSError:
        return None


def _ago(time: float | None) -> str:
    return f"at {datetime.fromtimestamp(time).astimezone():%Y-%m-%d %H:%M}" if time else "never"


def check_log(log: Path, since: datetime, waiting: Collection[str], ran: float | None) -> Iterator[CheckResult]:
    """Faults of hooks that were noted since then, and are no history yet.

    `waiting` are the sessions that are not written down, `ran` when a hook's process last ran, in seconds since 1970: a fault
    of a session is over when that session is written down, any other when something ran after it.
    """
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return
    recent = [line for line in lines if line[:20] >= f"{since:%Y-%m-%dT%H:%M:%SZ}"]
    faults = tuple(_PLACE.sub("", line) for line in recent if not _is_over(line, waiting, ran))
    if faults:
        what = numbered(len(faults), "fault") + f" of hooks in {log}"
        mend = f"mend the cause; the next session clears this, and so does: rm {shlex.quote(str(log))}"
        yield bad("hooks", what, mend, faults[-_LOG_LINES:])


def _is_over(line: str, waiting: Collection[str], ran: float | None) -> bool:
    told = _FAULT.match(line)
    if told is None:
        return False
    if told["session"]:
        return told["session"] not in waiting
    # A log tells whole seconds, and a run is noted before it comes to its fault.
    return ran is not None and ran > datetime.fromisoformat(told["time"]).timestamp() + 1.0


_TOPIC = "mcp"


class Looked(NamedTuple):
    """A client's file of servers, and the command that puts ours into it."""

    client: str
    servers: Part
    mend: str


def check_servers(places: Iterable[Looked], used: Collection[str], search: str | None = None) -> Iterator[CheckResult]:
    """`used` are the clients that are on this machine, `search` the `PATH` on which a command without a path is found."""
    left: dict[str, str] = {}
    told: set[str] = set()
    for client, servers, mend in places:
        left.setdefault(client, mend)
        try:
            found = find_registered(servers)
        except CrucibleError as error:
            yield notice(_TOPIC, str(error), "mend the file by hand")
            told.add(client)
            continue
        if found:
            told.add(client)
            yield _registered(client, found, mend, search)
    for client in (each for each in left if each in used and each not in told):
        what = f"{TITLES[client]} is not told of `cru mcp`: its agent cannot ask recall"
        yield notice(_TOPIC, what, left[client])
    if rest := [TITLES[client] for client in left if client not in told and client not in used]:
        yield notice(_TOPIC, f"not on this machine, so not told of `cru mcp`: {', '.join(rest)}")


def _registered(client: str, found: Registered, mend: str, search: str | None) -> CheckResult:
    where = f"{found.path}: {TITLES[client]}"
    if not found.words:
        what = f"{found.path}: the server called crucible is another program's"
        return notice(_TOPIC, what, "give it another name, then: " + mend)
    if gone := missing_program(shlex.join(found.words), search):
        return bad(_TOPIC, f"{where} starts a program for recall that cannot be run", mend, (gone,))
    if found.vault and not Path(found.vault).is_dir():
        what = f"{where} starts `cru mcp` on a vault that is not there"
        return bad(_TOPIC, what, mend, (found.vault,))
    return good(_TOPIC, f"{where} starts `cru mcp`")


_AGENTS = "agents"


def check_agents(root: Path, settings: AgentSettings, env: Mapping[str, str], now: datetime) -> Iterator[CheckResult]:
    """The configured agent, whether it can be started, and what answers took since the month began (UTC)."""
    yield _configured(settings, env)
    try:
        spent = spent_since(root, now.replace(day=1, hour=0, minute=0, second=0, microsecond=0))
    except CrucibleError as error:
        yield notice(_AGENTS, f"the cost of agents cannot be read: {error}")
        return
    if spent.count:
        told = f"agents asked this month: {numbered(spent.count, 'answer')}, {spent_text(spent)}"
        yield good(_AGENTS, told)


def _configured(settings: AgentSettings, env: Mapping[str, str]) -> CheckResult:
    who, wrong = _who(settings, env)
    if not who:
        if settings.at_end:
            mend = "set agents.command or agents.model in your settings"
            return notice(_AGENTS, "agents.at_end is set, but no agent is configured", mend)
        return good(_AGENTS, "no agent is configured; one is asked only with `--with`")
    if wrong:
        return bad(_AGENTS, wrong, "fix agents.command in your settings")
    when = "at each session's end, and on demand" if settings.at_end else "on demand only (agents.at_end is off)"
    return good(_AGENTS, f"{who} is asked {when}")


def _who(settings: AgentSettings, env: Mapping[str, str]) -> tuple[str, str]:
    """The name of the program or model, "" for none, and why it cannot be started.  Arguments are not shown, since they may hold a key."""
    if not settings.command.strip():
        return settings.model.strip(), ""
    try:
        program = program_of(settings.command, "agents.command", env, None).words[0]
    except CrucibleError as error:
        return "agents.command", str(error)
    name = os.path.basename(program)
    is_there = shutil.which(program, path=env.get("PATH"))
    return name, "" if is_there else f"{name}: no such program (agents.command)"
