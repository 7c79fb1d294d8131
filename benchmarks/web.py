"""The live pages: the real `cru web` over 10,000 sessions and a session of 1,000 phases, asked by a plain HTTP client.

The overview and the list are compared with `cru session list`, whole process, in the same run.
"""

from __future__ import annotations

import http.client
import re
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import NamedTuple

from benchmarks.kept import cru, kept_vault
from benchmarks.measuring import Figure, clock, environment
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Session
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from samples.notes import sample_phases

SESSIONS, PHASES = 10_000, 1_000
LIST_BAR, SESSION_BAR, FIRST_BAR, MEMORY_BAR = 5.0, 400.0, 150.0, 120.0
ROUNDS = 9
NAME = "2026-11-21-long"
OWN_SIZE, SIZE_BAR = 60_000, 1.5
PATIENCE = 600
"""Seconds for an answer: the first question waits until recall's index is built, and other work may slow that down."""


class Answer(NamedTuple):
    """An answer: seconds to its first byte and to its last, and its text."""

    first: float
    last: float
    text: str


class Server:
    """A running `cru web`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", process.stdout.readline())
        assert found
        self.process, self.port, self.token = process, int(found[1]), found[2]

    def get(self, address: str) -> Answer:
        """Ask for a page by a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        started = time.perf_counter()
        connection.request("GET", address, headers={"Cookie": f"cru-{self.port}={self.token}"})
        response = connection.getresponse()
        start = response.read(1)
        first = time.perf_counter() - started
        text = (start + response.read()).decode()
        assert response.status == 200, (address, response.status)
        return Answer(first, time.perf_counter() - started, text)

    def megabytes(self) -> float:
        """The most that the server had in memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else 0.0


@contextmanager
def serving(vault: Path, home: Path) -> Iterator[Server]:
    """Run `cru web` until the block ends."""
    command = cru(vault, "web", "--no-open")
    with subprocess.Popen(command, env=environment(home), stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.terminate()


def measure(scratch: Path) -> list[Figure]:
    vault = kept_vault(scratch.parent / "vaults", SESSIONS)
    listing = clock(cru(vault, "session", "list"), scratch)
    listing()
    with serving(vault, scratch) as server:
        cold = {address: server.get(address) for address in ("/", "/sessions")}
        warm = {address: [server.get(address) for _ in range(ROUNDS)] for address in cold}
        seconds = statistics.median(listing() for _ in range(5))
        search = server.get("/sessions?q=limiter+bucket")
        figures = [figure for at, one in cold.items() for figure in _page(at, one, warm[at], seconds)]
        figures.append(
            Figure(f"`cru web`, recall over {SESSIONS:,} sessions, first question", search.last * 1000, None, "ms")
        )
        figures += [_memory(server, f"{SESSIONS:,} sessions")]
    return figures + _long_session(scratch)


def _page(address: str, cold: Answer, warm: list[Answer], seconds: float) -> list[Figure]:
    again = statistics.median(one.last for one in warm)
    detail = f"first {cold.last * 1000:.0f} ms, then {again * 1000:.0f} ms; list {seconds * 1000:.0f} ms"
    return [
        Figure(
            f"`cru web` {address}, {SESSIONS:,} sessions, over `session list`",
            cold.last / seconds,
            LIST_BAR,
            detail=detail,
        ),
        _size(f"`cru web` {address}", cold.text),
    ]


def _long_session(scratch: Path) -> list[Figure]:
    root = scratch / "web"
    root.mkdir()
    init_vault(root, obsidian=False)
    session = Session(NAME, started=datetime(2026, 11, 21, tzinfo=UTC), phases=sample_phases(PHASES))
    Vault(root).create(NAME, render_session(session))
    with serving(root, scratch) as server:
        server.get("/")
        answers = [server.get(f"/sessions/{NAME}") for _ in range(ROUNDS)]
        last = statistics.median(one.last for one in answers) * 1000
        first = statistics.median(one.first for one in answers) * 1000
        rest = sum(server.get(f"/sessions/{NAME}?first={at}&last={at + 399}").last for at in range(201, PHASES, 400))
        name = f"`cru web`, a session of {PHASES:,} phases"
        return [
            Figure(
                name,
                last,
                SESSION_BAR,
                "ms",
                detail=f"with 200 phases; the others come after {rest * 1000:.0f} ms more",
            ),
            Figure(f"{name}, first byte", first, FIRST_BAR, "ms"),
            _size(name, answers[0].text),
            _memory(server, f"a session of {PHASES:,} phases"),
        ]


def _memory(server: Server, what: str) -> Figure:
    return Figure(f"`cru web` at its largest, {what}", server.megabytes(), MEMORY_BAR, "MB")


def _size(name: str, html: str) -> Figure:
    return Figure(f"{name}, size over its text", size_over_text(html), SIZE_BAR, detail=f"{len(html.encode()):,} bytes")


def size_over_text(html: str) -> float:
    """The bytes of a page, less 60 KB, over those of the text that it shows."""
    shown = len(unescape(re.sub(r"<[^>]+>", "", html)).encode())
    return max(0, len(html.encode()) - OWN_SIZE) / shown
