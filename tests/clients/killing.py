"""kill -9 at random moments (a hook, its background process, the client), the next start, and a check of the notes.

The expectation is read from the transcripts with only `json`: each text and each call is in the note, once, with its
end if it has one.  That is more than is promised for rows after the last hook that returned, but at the next start
the client is dead, and all that it wrote can be read.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from crucible.documents.session.session import Session, Status
from samples.waiting import SECONDS, is_gone, wait_until
from tests.clients.playing import Rows
from tests.clients.stage import Stage, make_stage

TARGETS = ("hook", "sync", "client")
CLIENT = Path(__file__).with_name("simulated_client.py")
A_VAULT = 25
"""Sessions per vault, so that a vault stays as large as a day's work."""


@dataclass
class Toll:
    """What was killed, how often; `missed` counts sessions that ended before their turn."""

    killed: Counter[str] = field(default_factory=Counter)
    missed: int = 0
    rows: float = 20.0
    """A session is hit within its first rows; fewer after each session that ended before its turn."""

    def __str__(self) -> str:
        return f"{sum(self.killed.values())} kills {dict(self.killed)}, {self.missed} came too late"


class Player:
    """One simulated client, running.  `wait_started` returns when its SessionStart hook has."""

    def __init__(self, stage: Stage, seed: int) -> None:
        self.killed = ""
        self.session = str(uuid.UUID(int=Random(seed).getrandbits(128), version=4))
        command = [
            sys.executable,
            str(CLIENT),
            self.session,
            str(seed),
            str(stage.project),
            "cru hook claude-code",
        ]
        self.process = subprocess.Popen(
            command, env=stage.env(), cwd=stage.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.transcript = stage.home / ".claude" / "projects" / "-project" / f"{self.session}.jsonl"

    def wait_started(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"started\n"

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def close(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def kill_at_random(root: Path, kills: int, seed: int, tell: Callable[[Toll], None] = lambda _: None) -> Toll:
    """Play sessions and kill until that many have been killed; fail on the first note that is not whole."""
    random, toll, number = Random(seed), Toll(), 0
    while sum(toll.killed.values()) < kills:
        number += 1
        _one_vault(root / f"{number}", random, toll, kills)
        tell(toll)
    return toll


def _one_vault(root: Path, random: Random, toll: Toll, kills: int) -> None:
    stage = make_stage(root)
    played: Player | None = None
    for _ in range(A_VAULT):
        player = Player(stage, random.getrandbits(32))
        player.wait_started()
        stage.settle()
        if played is not None:
            _check(stage, played)
        played = None
        if sum(toll.killed.values()) >= kills:
            player.process.kill()
            player.close()
            break
        player.go()
        _kill_one(stage, player, random, toll)
        player.close()
        played = player
    if played is not None:
        last = Player(stage, random.getrandbits(32))
        last.wait_started()
        stage.settle()
        _check(stage, played)
        last.process.kill()
        last.close()
    stage.settle()


def _kill_one(stage: Stage, player: Player, random: Random, toll: Toll) -> None:
    """Wait for a random number of rows, then for the next process of a random kind, and kill it."""
    target, rows = random.choice(TARGETS), random.randrange(int(toll.rows) + 1)
    wait_until(lambda: player.process.poll() is not None or _rows(player) >= rows)
    found: list[int] = []

    def has_target() -> bool:
        found[:] = [player.process.pid] if target == "client" else _processes(target, stage, player)
        return bool(found) or player.process.poll() is not None

    wait_until(has_target)
    if player.process.poll() is not None or not found:
        toll.missed += 1
        toll.rows = max(4.0, toll.rows * 0.8)
        return
    # A random amount of processor time, so that it is killed in the middle of its work.
    ticks = _ticks(found[0]) + random.randrange(20 if target == "sync" else 3)
    wait_until(lambda: is_gone(found[0]) or _ticks(found[0]) >= ticks)
    with suppress(ProcessLookupError):
        if found[0] != player.process.pid or player.process.poll() is None:
            os.kill(found[0], signal.SIGKILL)
            toll.killed[target] += 1
            toll.rows = min(30.0, toll.rows * 1.1)
            player.killed = target


def _rows(player: Player) -> int:
    return player.transcript.read_bytes().count(b"\n") if player.transcript.exists() else 0


def _ticks(pid: int) -> int:
    """The processor time that a process has used, in clock ticks; 0 for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _processes(target: str, stage: Stage, player: Player) -> Iterator[int]:
    """The hooks of this client, or what writes this vault's notes."""
    told = (
        b"hook\0claude-code" if target == "hook" else f"crucible.integrations.hooks.background\0{stage.vault}".encode()
    )
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            if told in (process / "cmdline").read_bytes():
                parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
                if target == "sync" or parent == player.process.pid:
                    yield int(process.name)


def _check(stage: Stage, player: Player) -> None:
    """The notes of this session and of its subagents hold what their transcripts hold."""
    if not player.transcript.exists() or not Rows(player.transcript).said:
        return
    by_source = {source: s for s in stage.sessions() for source in s.sources}
    told = f"{player.session} after a kill of {player.killed or 'nothing'}\n{stage.log()}\n{_spool(stage, player)}"
    main = by_source.get(f"claude-code:{player.session}")
    assert main is not None, f"no note of {told}"
    assert main.status in {Status.PAUSED, Status.COMPLETED}, f"{main.status}: {told}"
    _holds(stage, main, Rows(player.transcript), told)
    for path in player.transcript.with_suffix("").glob("subagents/*.jsonl"):
        agent = path.stem.removeprefix("agent-")
        rows = Rows(path)
        if rows.said:
            _holds(stage, by_source[f"claude-code:{player.session}/{agent}"], rows, told)
    sources = [source for s in stage.sessions() for source in s.sources]
    assert len(sources) == len(set(sources)), f"two notes of one session: {told}"


def _spool(stage: Stage, player: Player) -> str:
    """What the spool has of a session, for a fault's report."""
    files = sorted(stage.vault.glob(f".crucible/spool/*/{player.session}.*"))
    return "\n".join(f"{path.suffix}: {path.read_text(errors='replace')[-1500:]}" for path in files)


def _holds(stage: Stage, session: Session, rows: Rows, told: str) -> None:
    lines = stage.note_text(session.id).split("\n")
    for said in rows.said:
        first = said.split("\n")[0]
        assert lines.count(first) == 1, f"{lines.count(first)} times {first!r} in {told}"
    calls = Counter(call.outcome.value if call.outcome != "pending" else "none" for call in session.calls())
    ends = Counter({True: "ok", False: "failed", None: "none"}[rows.ended.get(n)] for n in rows.plain_calls)
    assert calls == ends, f"{calls} calls, not {ends}, in {told}"
