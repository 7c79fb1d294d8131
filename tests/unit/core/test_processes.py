"""Work spread over processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from crucible.core.processes import Workers, cores, spread
from samples.waiting import is_gone, wait_until
from tests.cases import for_each
from tests.paths import ROOT

CHUNKS = [*range(40)]
_BEGUN: list[str] = []


def _square(chunk: int) -> int:
    return chunk * chunk


def _begun(chunk: int) -> tuple[int, list[str]]:
    return chunk, [*_BEGUN]


def _begin(name: str) -> None:
    _BEGUN[:] = [name]


def _die_once(flag: Path, chunk: int) -> int:
    """As the system ends a process for want of memory."""
    if chunk == 7:
        try:
            flag.touch(exist_ok=False)
        except FileExistsError:
            return chunk
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk


def _fail(chunk: int) -> int:
    if chunk == 5:
        raise ValueError("five")
    return chunk


@for_each("processes", [1, 2, 3])
@for_each("count", [0, 1, 5, 40])
def test_results_come_in_the_order_of_their_chunks(processes: int, count: int) -> None:
    assert list(spread(_square, CHUNKS[:count], Workers(processes))) == [n * n for n in CHUNKS[:count]]


@pytest.mark.parametrize("processes", [1, 2])
def test_every_process_that_works_was_begun(processes: int) -> None:
    found = list(spread(_begun, CHUNKS, Workers(processes), partial(_begin, "ready")))
    assert found == [(n, ["ready"]) for n in CHUNKS]


def test_what_a_process_that_died_left_undone_is_done_here(tmp_path: Path) -> None:
    assert list(spread(partial(_die_once, tmp_path / "died"), CHUNKS, Workers(2))) == CHUNKS
    assert (tmp_path / "died").exists()


def test_an_error_of_the_work_is_the_callers() -> None:
    with pytest.raises(ValueError, match="five"):
        list(spread(_fail, CHUNKS, Workers(2)))


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_a_consumer_that_stops_leaves_no_process() -> None:
    before = _children()
    results = spread(_square, CHUNKS, Workers(2))
    assert next(results) == 0
    assert len(_children() - before) >= 2
    results.close()
    assert not _children() - before


def _children() -> set[str]:
    """Processes that this thread began, another test's too."""
    return {*Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text().split()}


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
def test_no_process_outlives_us(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from tests.unit.core.test_processes import first_only\n"
        "from crucible.core.processes import Workers, spread\n"
        "for pid in spread(first_only, list(range(8)), Workers(2)): print(pid, flush=True)\n"
    )
    root = ROOT
    env = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=env, cwd=tmp_path) as run:
        assert run.stdout
        worker = int(run.stdout.readline())
        run.kill()
    wait_until(lambda: is_gone(worker))


def first_only(chunk: int) -> int:
    """Return the process id for the first chunk; never end for another."""
    if chunk:
        threading.Event().wait()
    return os.getpid()


def test_we_have_a_core() -> None:
    assert cores() >= 1
