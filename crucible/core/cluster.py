"""Spread work over a Dask cluster.  Its workers see the vault under the same path, on a shared file system."""

from __future__ import annotations

import logging
import os
import platform
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from ipaddress import ip_address
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from crucible.core.command_lines import DISTRIBUTION, install_command
from crucible.core.errors import ClusterFailed, UsageError

if TYPE_CHECKING:
    from distributed import Client, Future

_PATIENCE = 30
"""Seconds to wait for a scheduler, for its first worker, and for a result before its workers are counted again."""
_GONE = 3
"""Seconds to try to fetch a result from a worker that may be dead, before the scheduler is asked for another one."""
_AHEAD = 4
"""Chunks per worker that are queued ahead of the consumer."""
_ATTEMPTS = 2
"""Maximum submissions of a chunk (Dask gives up after four dead workers), and attempts to find a scheduler."""

_Chunk = TypeVar("_Chunk")
_Result = TypeVar("_Result")


def check_scheduler(address: str) -> str:
    """Return the address of a scheduler.  Raises `UsageError` unless it is encrypted or on this machine."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or port is None or parts.scheme not in ("tcp", "tls") or parts.username is not None:
        raise UsageError("--on: not the address of a scheduler", "write tls://host:8786")
    if parts.scheme == "tcp" and not _is_loopback(host):
        raise UsageError(
            f"--on {address}: the connection would not be encrypted", f"set up TLS, and write tls://{host}:{port}"
        )
    return address


def spread_on_cluster(
    work: Callable[[_Chunk], _Result],
    chunks: Sequence[_Chunk],
    address: str,
    begin: Callable[[], None] | None,
) -> Generator[_Result, None, None]:
    """Yield the result of `work` for each chunk, in order; arguments as in `spread`.

    Chunks of a dead worker go to another one.  If the scheduler restarts, the remaining chunks are submitted again.  Raises
    `ClusterFailed`, and whatever `work` raises.
    """
    check_scheduler(address)
    task = _Task(os.urandom(8), _versions(), work, begin)
    done = vain = 0
    while done < len(chunks):
        before = done
        with _connected(address) as client:
            for result in _results(client, task, chunks[done:]):
                yield result
                done += 1
        vain = 0 if done > before else vain + 1
        if vain == _ATTEMPTS:
            raise ClusterFailed(f"the scheduler at {address} keeps losing its tasks", "check its log")


class _Task(NamedTuple, Generic[_Chunk, _Result]):
    """What a worker does: `begin` once in a `run`, then `work`; only with the same versions as the client."""

    run: bytes
    versions: str
    work: Callable[[_Chunk], _Result]
    begin: Callable[[], None] | None


_BEGUN: list[bytes] = []
"""The run of the last task in this worker, as the only item."""
_TURN = Lock()
"""Held while a worker works: `work` may keep caches, and a worker may have several threads."""


def _perform(task: _Task[_Chunk, _Result], chunk: _Chunk) -> _Result:
    here = _versions()
    if here != task.versions:
        raise ClusterFailed(
            f"a worker has {here}, but your machine has {task.versions}", "install the same versions on both"
        )
    with _TURN:
        if task.begin and [task.run] != _BEGUN:
            task.begin()
            _BEGUN[:] = [task.run]
        return task.work(chunk)


def _versions() -> str:
    return f"Crucible {version(DISTRIBUTION)} on Python {'.'.join(platform.python_version_tuple()[:2])}"


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Connect to a scheduler that has at least one worker."""
    library = _library()

    class Quiet(library.Client):  # type: ignore[misc, name-defined]
        def __del__(self) -> None:
            """Do nothing: closing a client that never connected would take a minute."""

    try:
        client = Quiet(address, timeout=_PATIENCE, set_as_default=False, name="crucible", direct_to_workers=True)
    except (OSError, TypeError, ValueError) as error:
        raise ClusterFailed(f"no scheduler answers at {address}", _tls_hint(address)) from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
        yield client
    except TimeoutError:
        raise ClusterFailed(f"the scheduler at {address} has no workers", "start some: dask worker") from None
    finally:
        client.close()


def _tls_hint(address: str) -> str:
    if not address.startswith("tls:"):
        return "start one: dask scheduler"
    return "check that it runs, and name your certificates in Dask's settings, distributed.comm.tls"


def _results(client: Client, task: _Task[_Chunk, _Result], chunks: Sequence[_Chunk]) -> Iterator[_Result]:
    """Yield results in order; stops early if the scheduler is lost."""
    from concurrent.futures import CancelledError  # noqa: PLC0415  as slow as the library

    left = iter(chunks)
    pending: deque[tuple[_Chunk, Future[_Result]]] = deque()

    def submit() -> None:
        for chunk in left:
            pending.append((chunk, _submitted(client, task, chunk)))
            return

    workers = len(client.ncores())  # type: ignore[no-untyped-call]
    for _ in range(_AHEAD * max(1, workers)):
        submit()
    try:
        while pending:
            chunk, future = pending.popleft()
            result = _result_of(client, task, chunk, future)
            submit()
            yield result
    except (CancelledError, _library().comm.CommClosedError):
        return


def _result_of(client: Client, task: _Task[_Chunk, _Result], chunk: _Chunk, future: Future[_Result]) -> _Result:
    """Wait for a chunk's result.  A chunk is tried again if its workers died, since it may not be the cause."""
    killed = _library().KilledWorker
    for _ in range(_ATTEMPTS):
        try:
            return _awaited(client, future)
        except killed:
            future = _submitted(client, task, chunk)
    raise ClusterFailed(f"workers keep dying on {_named(chunk)}", "check their logs; they may need more memory")


def _awaited(client: Client, future: Future[_Result]) -> _Result:
    """Wait for a result as long as the cluster has workers.  Raises `TimeoutError` if it has none, and what `work` raises."""
    while True:
        try:
            result: _Result = future.result(timeout=_PATIENCE)
        except TimeoutError:
            if future.done():  # type: ignore[no-untyped-call]
                raise
            client.wait_for_workers(1, timeout=_PATIENCE)
        else:
            return result


def _submitted(client: Client, task: _Task[_Chunk, _Result], chunk: _Chunk) -> Future[_Result]:
    future: Future[_Result] = client.submit(_perform, task, chunk, pure=False)
    return future


def _named(chunk: object) -> str:
    """Describe a chunk: the first and the last item of a list, or the text of any other chunk."""
    chunk = getattr(chunk, "chunk", chunk)
    return f"{chunk[0]} … {chunk[-1]}" if isinstance(chunk, list) and chunk else str(chunk)


def _library() -> Any:
    """Import Dask's library, which takes a second.  Raises `ClusterFailed` if it is not installed."""
    try:
        import dask.config  # noqa: PLC0415
        import distributed  # noqa: PLC0415
    except ImportError:
        raise ClusterFailed(
            "--on requires Dask, which is not installed", f"Run: {install_command('cluster')}"
        ) from None
    dask.config.set({"distributed.comm.timeouts.connect": _GONE})
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its warnings repeat what our errors say
    return distributed


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
