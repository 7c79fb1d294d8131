"""Whether agents' clients start `cru mcp`, and whether what they start is there.

Owns that a client which is not on this machine is no more than named: nobody misses it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.integrations.doctor.check_results import Finding, State
from crucible.integrations.install.claude_code_settings import missing_program
from crucible.integrations.install.mcp_servers import TITLES, Part, Registered, find_registered

_TOPIC = "mcp"


class Looked(NamedTuple):
    """A client's file of servers, and the command that puts ours into it."""

    client: str
    servers: Part
    mend: str


def check_servers(places: Iterable[Looked], used: Collection[str], search: str | None = None) -> Iterator[Finding]:
    """`used` are the clients that are on this machine, `search` the `PATH` on which a command without a path is found."""
    left: dict[str, str] = {}
    told: set[str] = set()
    for client, servers, mend in places:
        left.setdefault(client, mend)
        try:
            found = find_registered(servers)
        except CrucibleError as error:
            yield Finding(_TOPIC, State.NOTE, str(error), "mend the file by hand")
            told.add(client)
            continue
        if found:
            told.add(client)
            yield _registered(client, found, mend, search)
    for client in (each for each in left if each in used and each not in told):
        what = f"{TITLES[client]} is not told of `cru mcp`: its agent cannot ask recall"
        yield Finding(_TOPIC, State.NOTE, what, left[client])
    if rest := [TITLES[client] for client in left if client not in told and client not in used]:
        yield Finding(_TOPIC, State.NOTE, f"not on this machine, so not told of `cru mcp`: {', '.join(rest)}")


def _registered(client: str, found: Registered, mend: str, search: str | None) -> Finding:
    where = f"{found.path}: {TITLES[client]}"
    if not found.words:
        what = f"{found.path}: the server called crucible is another program's"
        return Finding(_TOPIC, State.NOTE, what, "give it another name, then: " + mend)
    if gone := missing_program(shlex.join(found.words), search):
        return Finding(_TOPIC, State.BAD, f"{where} starts a program for recall that cannot be run", mend, (gone,))
    if found.vault and not Path(found.vault).is_dir():
        what = f"{where} starts `cru mcp` on a vault that is not there"
        return Finding(_TOPIC, State.BAD, what, mend, (found.vault,))
    return Finding(_TOPIC, State.GOOD, f"{where} starts `cru mcp`")
