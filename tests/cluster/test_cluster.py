"""`--on`: a real Dask cluster of two processes on loopback does what one core does, and loses nothing when parts of it die."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from crucible.core import cluster
from crucible.core.batches import Run, work_in_batches
from crucible.core.errors import ClusterFailed
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers, spread
from crucible.vault.notes.vault import Vault
from tests.buckets import copy_to_bucket, new_bucket, s3_server
from tests.running import Cru

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
# Dask opens sockets in threads, and closes some of them late.
pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore")]

ROOT = Path(__file__).parents[2]


@contextmanager
def _cluster(workers: int) -> Iterator[SimpleNamespace]:
    os.environ["PYTHONPATH"] = str(ROOT)  # workers import this module
    with distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as local:
        yield SimpleNamespace(address=local.scheduler_address, local=local)


@pytest.fixture(scope="module")
def running() -> Iterator[SimpleNamespace]:
    """A scheduler and two workers, replaced when they die."""
    with _cluster(2) as found:
        yield found


def _workers(running: SimpleNamespace) -> list[int]:
    return [one.pid for one in running.local.workers.values() if one.pid]


def _slow_lengths(paths: Sequence[Path]) -> list[int]:
    time.sleep(0.5)
    return [len(path.read_bytes()) for path in paths]


def _slow(_root: Path) -> Callable[[Sequence[Path]], list[int]]:
    return _slow_lengths


def _square(number: int) -> int:
    return number * number


def _fail(number: int) -> int:
    if number == 3:
        raise OSError(28, "No space left on device")
    return number


def _kill_worker(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize(
    "form", [("session", "learn", "--all", "--export", "jsonl", "-o", "-"), ("session", "check", "--json")]
)
def test_a_cluster_gives_the_same_bytes_as_one_process(
    running: SimpleNamespace, cru: Cru, form: tuple[str, ...]
) -> None:
    cru("import", "claude-code", str(ROOT / "tests/data/transcripts/claude-code"))
    alone, several, together = cru(*form), cru(*form, "--jobs", "2"), cru(*form, "--on", running.address)
    assert together.stdout == several.stdout == alone.stdout != ""
    assert together.exit_code == several.exit_code == alone.exit_code


def test_recalls_index_is_built_on_a_cluster(running: SimpleNamespace, cru: Cru) -> None:
    cru("import", "claude-code", str(ROOT / "tests/data/transcripts/claude-code"))
    question = ("recall", "rate limiter", "--json")
    before = cru(*question).stdout
    assert cru("index", "rebuild", "--recall", "--on", running.address).exit_code == 0
    assert cru(*question).stdout == before
    assert json.loads(before)["hits"]


def test_a_lake_exported_on_a_cluster_has_the_same_bytes(running: SimpleNamespace, cru: Cru, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    cru("import", "claude-code", str(ROOT / "tests/data/transcripts/claude-code"))
    for name, options in {"alone": ("--jobs", "1"), "together": ("--on", running.address)}.items():
        assert cru("lake", "export", str(tmp_path / name), "--contents", *options).exit_code == 0
    alone, together = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("alone", "together")
    )
    assert together == alone
    assert any(path.parts[0] == "calls" for path in alone)


def test_workers_take_the_notes_from_a_bucket(cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pytest.importorskip("moto.server", reason="moto is not installed")
    cru("import", "claude-code", str(ROOT / "tests/data/transcripts/claude-code"))
    form = ("session", "learn", "--all", "--export", "jsonl", "-o", "-")
    alone = cru(*form)
    with s3_server() as endpoint:
        address = copy_to_bucket(vault.root, new_bucket(endpoint, monkeypatch))
        with _cluster(1) as one:  # its worker has the credentials
            together = cru(*form, "--on", one.address, "--from", address)
    assert (together.stdout, together.exit_code) == (alone.stdout, alone.exit_code)
    assert alone.stdout != ""


def test_ten_killed_workers_lose_and_double_nothing(running: SimpleNamespace, tmp_path: Path) -> None:
    notes = [tmp_path / f"{number:05}.md" for number in range(10_000)]
    for number, path in enumerate(notes):
        path.write_bytes(b"x" * (number % 977))
    found: list[int] = []
    run = Run(tmp_path, "lengths", _slow, ValueTypes({}), Workers(scheduler=running.address))

    def collect() -> None:
        for some in work_in_batches(run, notes):
            found.extend(some)

    collecting = Thread(target=collect)
    collecting.start()
    killed = 0
    while killed < 10:
        for pid in _workers(running)[:1]:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        time.sleep(0.5)
    collecting.join(120)
    assert found == [number % 977 for number in range(10_000)]


def _dask(*words: str) -> subprocess.Popen[bytes]:
    """Start a program of Dask."""
    command = [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)


def test_a_restarted_scheduler_gets_the_rest_of_the_work(tmp_path: Path) -> None:
    notes = [tmp_path / f"{number:03}.md" for number in range(128)]
    for path in notes:
        path.write_bytes(path.name.encode())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    scheduler = ("dask_scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    worker = _dask(
        "dask_worker", f"tcp://127.0.0.1:{port}", "--no-dashboard", "--nthreads", "1", "--death-timeout", "60"
    )
    first = _dask(*scheduler)
    run = Run(tmp_path, "lengths", _slow, ValueTypes({}), Workers(scheduler=f"tcp://127.0.0.1:{port}"))
    results = work_in_batches(run, notes)
    found = [*next(results)]
    first.kill()
    first.wait()
    second = _dask(*scheduler)
    another = _dask(
        "dask_worker", f"tcp://127.0.0.1:{port}", "--no-dashboard", "--nthreads", "1", "--death-timeout", "60"
    )
    for some in results:
        found += some
    for one in (worker, another, second):
        one.kill()
        one.wait()
    assert found == [6] * 128


def test_errors_of_the_work_are_not_taken_for_a_lost_scheduler(running: SimpleNamespace) -> None:
    with pytest.raises(OSError, match="No space left"):
        [*spread(_fail, [*range(9)], Workers(scheduler=running.address))]


def test_a_batch_that_kills_its_workers_is_named(running: SimpleNamespace) -> None:
    with pytest.raises(ClusterFailed, match="keep dying on 3"):
        [*spread(_kill_worker, [*range(5)], Workers(scheduler=running.address))]


def test_a_cluster_that_loses_its_last_worker_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 2)
    with _cluster(1) as lonely:
        results = spread(_square, [*range(99)], Workers(scheduler=lonely.address))
        assert next(results) == 0
        lonely.local.scale(0)
        with pytest.raises(ClusterFailed, match="has no workers"):
            list(results)


def test_workers_of_another_version_do_nothing(running: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "version", lambda _: "99.0")
    with pytest.raises(ClusterFailed, match=r"your machine has Crucible 99\.0"):
        [*spread(_square, [1, 2, 3], Workers(scheduler=running.address))]


def test_no_scheduler_is_said_at_once_and_in_one_line() -> None:
    """In a process of its own: what Dask leaves behind speaks when the interpreter ends."""
    script = (
        "from crucible.core import cluster\n"
        "from crucible.core.processes import Workers, spread\n"
        "cluster._PATIENCE = 0.5\n"
        "try: [*spread(len, ['a'], Workers(scheduler='tls://127.0.0.1:9'))]\n"
        "except cluster.ClusterFailed as error: print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True, timeout=60
    )
    assert ran.stdout == "no scheduler answers at tls://127.0.0.1:9\n"
    assert ran.stderr == ""
