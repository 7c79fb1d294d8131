"""Importing: 200 transcripts into a fresh vault, side by side with the two rivals.

Every run is a whole process on a fresh copy of the transcripts, writes into a fresh folder, and nothing is deleted before
the last one has ended: ext4 takes several times as long to create a file while many were deleted just before.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

from benchmarks.measuring import Figure, Ran, environment, in_turns, offline, run
from benchmarks.rivals import RIVALS, Rival, install
from samples.transcripts import copy_sessions

BAR = 5.0
COPIES = 100
SESSIONS = 2 * COPIES
ROUNDS = 3
CRU = Path(sys.executable).with_name("cru")


def cru_import(vault: Path, projects: Path, log: Path, prefix: tuple[str, ...] = ()) -> Ran:
    """One import by the installed command into a new vault, which is made first and not measured."""
    home = log.parent
    subprocess.run([CRU, "init", vault], check=True, capture_output=True, env=environment(home))
    return run([*prefix, CRU, "--vault", vault, "import", "claude-code", projects], home=home, log=log)


def measure(scratch: Path) -> list[Figure]:
    template = scratch / "transcripts"
    written = copy_sessions(template, COPIES)
    assert written == SESSIONS
    binaries = {package: install(package) for package in {rival.package for rival in RIVALS}}
    runs: dict[str, list[Ran]] = {}
    numbers = count()
    prefix = tuple(offline())

    def place() -> tuple[Path, Path]:
        """A folder of its own for a run, with the transcripts in it."""
        folder = scratch / f"run-{next(numbers)}"
        shutil.copytree(template, folder / "projects")
        return folder, folder / "projects"

    def ours() -> float:
        folder, projects = place()
        ran = cru_import(folder / "vault", projects, folder / "log", prefix)
        assert ran.code == 0, ran
        assert f"{5 * COPIES} created, 0 updated, 0 unchanged, 0 unreadable" in ran.out, ran
        runs.setdefault("ours", []).append(ran)
        return ran.seconds

    def theirs(rival: Rival) -> Callable[[], float]:
        def action() -> float:
            folder, projects = place()
            command = rival.command(binaries[rival.package], projects, folder / "out")
            ran = run([*prefix, *command], home=folder, log=folder / "log")
            documents = rival.documents(folder / "out")
            assert ran.code == 0, f"{rival.name}: {ran}"
            assert documents >= (SESSIONS if rival.alike else 1), f"{rival.name}: {documents} documents"
            runs.setdefault(rival.name, []).append(ran)
            return ran.seconds

        return action

    times = in_turns({"ours": ours} | {rival.name: theirs(rival) for rival in RIVALS}, ROUNDS)
    return _figures(times, runs)


def _figures(times: dict[str, list[float]], runs: dict[str, list[Ran]]) -> list[Figure]:
    own = statistics.median(times["ours"])
    own_cpu = statistics.median(ran.cpu for ran in runs["ours"])
    figures = [Figure("`cru import claude-code`", own, None, "s", detail=f"processor {own_cpu:.2f} s")]
    for rival in RIVALS:
        wall = statistics.median(times[rival.name])
        cpu = statistics.median(ran.cpu for ran in runs[rival.name])
        figures.append(
            Figure(
                f"times faster than {rival.name}",
                wall / own,
                BAR if rival.alike else None,
                at_least=True,
                detail=f"{wall:.2f} s, processor {cpu:.2f} s",
            )
        )
    return figures
