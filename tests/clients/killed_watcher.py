"""kill -9 of a watcher at random moments, while the logs of all clients grow, and a check of what it wrote.

Each recording is written row by row; in every other vault the clients call our hooks too.  In the end the notes and
the event logs must be those of an import of the finished logs, with the same hooks.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from crucible.integrations.hooks.client_hook import CLIENTS as HOOKED
from crucible.vault.events.event_reader import read_records
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.clients.replaying import PLACES, Step, replay
from tests.clients.stage import Stage, make_stage
from tests.unit.clients.test_opencode_growing import story

_LINES = re.compile(r"lines=Lines\([^)]*\)")
"""Places in a note's file, which a brief above them moves."""
CAUGHT_UP = "all logs are imported"


class Watcher:
    """`cru watch --clients` in a group of its own."""

    def __init__(self, stage: Stage) -> None:
        self.log = stage.root / "watch.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "crucible", "--vault", str(stage.vault), "watch", "--clients"],
                env=stage.env() | {"CI": "1"},
                cwd=stage.project,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def wait_caught_up(self) -> None:
        wait_until(lambda: CAUGHT_UP in self.said() or self.process.poll() is not None, self.said)
        assert self.process.poll() is None, self.said()

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def kill(self, *, with_worker: bool) -> None:
        """Kill it, and the process that imports for it."""
        with suppress(ProcessLookupError):
            (os.killpg if with_worker else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.said()


@dataclass
class WatchToll:
    """How often a watcher was killed; how many sessions were compared."""

    kills: int = 0
    sessions: int = 0

    def __str__(self) -> str:
        return f"{self.kills} kills of a watcher, {self.sessions} notes compared"


def kill_watchers(
    root: Path,
    kills: int,
    seed: int,
    tell: Callable[[WatchToll], None] = lambda _: None,
    clients: Sequence[str] = tuple(PLACES),
) -> WatchToll:
    """Play all recordings until that many watchers were killed; fail on the first difference."""
    random, toll, number = Random(seed), WatchToll(), 0
    while toll.kills < kills:
        number += 1
        _one_vault(root / f"{number}", random, toll, kills, clients, hooked=number % 2 == 1)
        tell(toll)
    return toll


def _one_vault(
    root: Path, random: Random, toll: WatchToll, kills: int, clients: Sequence[str], *, hooked: bool
) -> None:
    stage = make_stage(root)
    told: list[_Call] = []
    steps = _mixed(stage, random, clients, told if hooked else None)
    watcher, ends = Watcher(stage), time.monotonic() + random.uniform(0, 3)
    for step in steps:
        step()
        time.sleep(random.choice((0.0, 0.0, 0.01, 0.05, 0.3)) if random.random() < 0.5 else 0.0)
        if time.monotonic() >= ends and toll.kills < kills:
            watcher.kill(with_worker=random.random() < 0.5)
            toll.kills += 1
            watcher, ends = Watcher(stage), time.monotonic() + random.uniform(0.3, 4)
    watcher.kill(with_worker=True)
    last = Watcher(stage)
    last.wait_caught_up()
    last.end()
    stage.settle()
    toll.sessions += _compare(stage, told)


_Call = tuple[str, str, str, Path]
"""A call of a hook: the client, the event, the id of the session, and its log."""


def _call_hook(stage: Stage, client: str, event: str, session: str, log: Path) -> None:
    """Call our hook as a client does."""
    payload = {"session_id": session, "hook_event_name": event, "cwd": str(stage.project), "reason": "other"}
    if client != "opencode":
        payload["transcript_path"] = str(log)
    stage.cru("hook", client, given=json.dumps(payload))


def _mixed(stage: Stage, random: Random, clients: Sequence[str], told: list[_Call] | None) -> list[Step]:
    """Return the steps of all recordings, mixed; each client writes one session after the other.

    The clients with hooks call them, which is noted in `told`; None if no client does.
    """
    queues = []
    for client in clients:

        def hook(event: str, session: str, log: Path, client: str = client) -> None:
            if told is not None and client in HOOKED:
                told.append((client, event, session, log))
                _call_hook(stage, *told[-1])

        names = PLACES[client][1]
        names = names[:1] if client == "opencode" else names
        queues.append([step for name in names for step in replay(client, name, stage.home, random, hook)])
    order = [number for number, queue in enumerate(queues) for _ in queue]
    random.shuffle(order)
    taken = [iter(queue) for queue in queues]
    return [next(taken[number]) for number in order]


def _compare(stage: Stage, told: Sequence[_Call]) -> int:
    """Compare the vault with one that an import of the finished logs makes, after the same calls of hooks."""
    whole = make_stage(stage.root / "whole")
    whole.home = stage.home
    whole.cru("init", whole.vault, "--default")
    for call in told:
        _call_hook(whole, *call)
    whole.settle()
    whole.cru("--vault", whole.vault, "import")
    ours, theirs = _told(stage), _told(whole)
    assert sorted(ours) == sorted(theirs), f"{sorted(ours)} {sorted(theirs)}\n{stage.log()}"
    for source, expected in theirs.items():
        for found, wanted in zip(ours[source], expected, strict=True):
            assert found == wanted, f"{source}: {_difference(found, wanted)}"
    return len(theirs)


def _told(stage: Stage) -> dict[str, tuple[object, object]]:
    """Return what each session's note tells, and its events, by its source."""
    vault = Vault(stage.vault)
    found: dict[str, tuple[object, object]] = {}
    for path in vault.session_paths():
        session = vault.read(path).session
        for source in session.sources:
            assert source not in found, f"two notes of {source}"
            records = [*read_records(vault.root, session.id)]
            events = [(one.type, one.agent, one.row, one.line, repr(one.values)) for one in records]
            # A database's title has no row of its own: it comes again with the last row so far.
            found[source] = _LINES.sub("", repr(story(session))), [event for event in events if event[0] != "Titled"]
    return found


def _difference(found: object, wanted: object) -> str:
    if isinstance(found, list) and isinstance(wanted, list):
        ours, theirs = Counter(map(str, found)), Counter(map(str, wanted))
        order = "" if ours != theirs else "the order differs\n"
        return f"{order}doubled or new: {[*(ours - theirs)][:5]}\nmissing: {[*(theirs - ours)][:5]}"
    at = next(at for at, pair in enumerate(zip(f"{found}\0", f"{wanted}\0", strict=False)) if len({*pair}) > 1)
    return f"…{str(found)[max(0, at - 300) : at + 300]}\n\n…{str(wanted)[max(0, at - 300) : at + 300]}"
