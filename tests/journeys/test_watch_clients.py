"""`cru watch --clients`: logs that grow become notes, without the client's help."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from samples.waiting import is_gone, wait_until
from tests.journeys.test_watch import Watching
from tests.paths import DATA

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals")
CAUGHT_UP = "all logs are imported; new rows follow within seconds"
Start = Callable[..., Watching]


@pytest.fixture
def start(vault: Vault) -> Iterator[Start]:
    """Starts `cru watch --clients`, and waits until it has caught up; ended when the test ends."""
    started: list[Watching] = []

    def begin() -> Watching:
        started.append(Watching(vault, "--clients"))
        wait_until(lambda: CAUGHT_UP in started[-1].said, lambda: str(started[-1].said))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.end()


def log_rows(to: Path) -> tuple[Path, list[bytes]]:
    """The path of a session's log in a client's folder, and the rows that belong into it."""
    (trunk,) = (DATA / "transcripts" / "pi" / "limiter").rglob("*.jsonl")
    path = to / ".pi" / "agent" / trunk.relative_to(DATA / "transcripts" / "pi" / "limiter")
    return path, trunk.read_bytes().splitlines(keepends=True)


def append(path: Path, *rows: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(b"".join(rows))


def told(vault: Vault) -> str:
    return "".join(vault.read(path).source.text for path in vault.session_paths())


def test_a_session_is_a_note_while_it_runs_and_a_killed_watcher_catches_up(vault: Vault, start: Start) -> None:
    watching = start()
    path, rows = log_rows(Path.home())
    (half,) = [number for number, row in enumerate(rows) if b"Several things at once" in row]
    append(path, *rows[:4], rows[4][:20])
    wait_until(lambda: "following the logs of Pi" in watching.said)
    append(path, rows[4][20:], *rows[5 : half + 1])
    wait_until(lambda: "The first prompt is answered" in told(vault), watching.said.__str__)
    assert "Several things at once" not in told(vault)
    children = Path(f"/proc/{watching.process.pid}/task/{watching.process.pid}/children")
    importing = [int(child) for child in children.read_text().split()] if children.exists() else []
    watching.process.kill()
    assert watching.end() == -signal.SIGKILL
    wait_until(lambda: all(map(is_gone, importing)))
    append(path, *rows[half + 1 :])
    assert start().end() == 0
    assert len(vault.session_paths()) == 1
    for text in ("The first prompt is answered", "Several things at once", "Everything is finished"):
        assert told(vault).count(f"\n{text}") == 1
