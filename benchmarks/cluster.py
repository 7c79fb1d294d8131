"""A Dask cluster of two processes beside a pool of two: the same pure function over the same batches of 10,000 notes.

Both read and parse them; starting the cluster and the pool's processes is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.kept import kept_vault
from benchmarks.measuring import Figure, in_turns, median_ratio
from crucible.core.batches import batches_of
from crucible.core.processes import Workers, spread
from crucible.vault.notes.vault import Vault

NOTES, BAR, ROUNDS = 10_000, 1.25, 3


def measure(within: Path) -> list[Figure]:
    """Ratio of the seconds between the first result and the last."""
    import distributed  # noqa: PLC0415  an extra, and slow

    vault = Vault(kept_vault(within.parent / "vaults", NOTES))
    paths = [*vault.session_paths()]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as local:
        places = {"pool": Workers(2), "Dask": Workers(scheduler=local.scheduler_address)}
        actions: dict[str, Callable[[], float]] = {
            name: partial(_seconds, partial(_read, vault), batches_of(paths), workers)
            for name, workers in places.items()
        }
        times = in_turns(actions, ROUNDS)
    detail = ", ".join(f"{name} {min(some):.1f} s" for name, some in times.items())
    ratio = median_ratio(times, "Dask", "pool")
    return [Figure(f"{NOTES:,} notes on a cluster of two over a pool of two", ratio, BAR, detail=detail)]


def _read(vault: Vault, paths: Sequence[Path]) -> int:
    return sum(len(vault.read(path).session.phases) for path in paths)


def _seconds(work: Callable[[Sequence[Path]], int], batches: Sequence[Sequence[Path]], workers: Workers) -> float:
    results = spread(work, batches, workers)
    assert next(results) > 0
    start = time.perf_counter()
    assert sum(results) > 0
    return time.perf_counter() - start
