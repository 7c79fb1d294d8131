"""Real transcripts: import them from nothing and again with nothing new, side by side with agentsview and claude-code-log.

The transcripts are those in the folder that `REAL` names, or generated ones.  Every run is a whole process; nothing is
deleted before the last one has ended, since ext4 takes several times as long to create files after many were deleted.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

from benchmarks.kept import cru
from benchmarks.measuring import Figure, Ran, all_processes, environment, good_run, in_turns, offline
from benchmarks.rivals import Missing, find_agentsview, find_claude_code_log
from samples.transcripts import write_many

AGENTSVIEW_BAR, ONE_CORE_BAR, LOG_BAR, NOTHING_BAR = 1.0, 1.8, 0.2, 0.6
MEMORY_BAR, MEMORY_BAR_OF_A_CORE = 250.0, 90.0
EVENTS_BAR, CASES_BAR = 0.12, 0.05
ROUNDS = 3

Command = Sequence[str | Path]
_ONE_CORE = ("taskset", "-c", "0")


def transcripts(scratch: Path) -> Path:
    """The folder that `REAL` names, or generated transcripts, which stay until the end of the run."""
    if folder := os.environ.get("REAL"):
        return Path(folder).resolve()
    made = scratch / "transcripts"
    if not made.exists():
        write_many(made)
    return made


def new_vault(folder: Path) -> Path:
    """A vault without sessions, which is made by the command and not measured."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(cru(folder, "init", str(folder)), check=True, capture_output=True, env=environment(folder.parent))
    return folder


def import_command(vault: Path, projects: Path) -> Command:
    """The import of Claude Code's transcripts."""
    return cru(vault, "import", "claude-code", str(projects))


def imported_vault(scratch: Path) -> Path:
    """A vault with all transcripts, imported once a run."""
    vault = scratch / "imported"
    if not vault.exists():
        good_run(import_command(new_vault(vault), transcripts(scratch)), scratch)
    return vault


def size_of(folder: Path, pattern: str = "*") -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


class _Turns:
    """Runs of each program by name; every run that begins from nothing gets a folder of its own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch / "importing"
        self.projects = transcripts(scratch)
        self.ran: defaultdict[str, list[Ran]] = defaultdict(list)
        self._numbers = count()
        self._offline = offline()

    def home(self) -> Path:
        """A new folder; the transcripts lie in it where Claude Code puts them."""
        home = self.scratch / str(next(self._numbers))
        (home / ".claude").mkdir(parents=True)
        (home / ".claude" / "projects").symlink_to(self.projects)
        return home

    def action(self, name: str, command: Command, home: Path) -> float:
        """Run it and remember what it took."""
        self.ran[name].append(good_run([*self._offline, *command], home))
        return self.ran[name][-1].seconds

    def ours(self, *prefix: str) -> Callable[[], float]:
        """Import from nothing."""

        def action() -> float:
            home = self.home()
            command = import_command(new_vault(home / "vault"), self.projects)
            return self.action(" ".join(("cru", *prefix)), [*prefix, *command], home)

        return action

    def agentsview(self, *prefix: str) -> Callable[[], float]:
        """Read everything into a new database."""
        sync = [*prefix, *agentsview_sync("--full")]
        return lambda: self.action(" ".join(("agentsview", *prefix)), sync, self.home())

    def log(self) -> float:
        """Write a document for each session, with its own copy of the transcripts, beside which it puts a cache."""
        home = self.home()
        copy = shutil.copytree(self.projects, home / "copy")
        options = ("--all-projects", "--format", "md", "--combined", "no", "--projects-dir", copy)
        return self.action("claude-code-log", [find_claude_code_log(), *options, "--output", home / "out"], home)


def agentsview_sync(*options: str) -> Command:
    """Agentsview's import; without a daemon, which would answer for it."""
    return ["env", "AGENTSVIEW_NO_DAEMON=1", find_agentsview(), "sync", *options]


def measure(scratch: Path) -> list[Figure]:
    """All figures; without a rival its bars say how to install it."""
    turns = _Turns(scratch)
    return [
        *_from_nothing(turns),
        *_one_core(turns),
        _memory(turns),
        *_nothing_new(turns),
        *_on_disk(turns.projects, imported_vault(scratch), scratch),
    ]


def _from_nothing(turns: _Turns) -> list[Figure]:
    in_turns({"cru": turns.ours(), **_if_here("agentsview", turns.agentsview)}, ROUNDS)
    # A single run: it takes as long as a dozen of ours.
    in_turns(_if_here("claude-code-log", lambda: turns.log), 1)
    return [
        _over(turns, "import from nothing", "cru", "agentsview", AGENTSVIEW_BAR),
        _over(turns, "import from nothing", "cru", "claude-code-log", LOG_BAR),
    ]


def _one_core(turns: _Turns) -> list[Figure]:
    if not shutil.which(_ONE_CORE[0]):
        return [Figure("import on one core over agentsview", 0, ONE_CORE_BAR, unmeasured="no taskset here")]
    ours, theirs = (" ".join((name, *_ONE_CORE)) for name in ("cru", "agentsview"))
    actions = {ours: turns.ours(*_ONE_CORE), **_if_here(theirs, lambda: turns.agentsview(*_ONE_CORE))}
    in_turns(actions, ROUNDS)
    return [_over(turns, "import on one core", ours, theirs, ONE_CORE_BAR)]


def _memory(turns: _Turns) -> Figure:
    """A run by itself, since looking takes time too."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with all_processes() as most:
        turns.ours()()
    peak = most() or turns.ran["cru"][-1].peak
    bar = MEMORY_BAR + max(cores - 2, 0) * MEMORY_BAR_OF_A_CORE
    return Figure(f"import from nothing: memory of all processes on {cores} cores", peak / 1e6, bar, "MB")


def _nothing_new(turns: _Turns) -> list[Figure]:
    home = turns.home()
    command = import_command(new_vault(home / "vault"), turns.projects)
    good_run(command, home)
    actions: dict[str, Callable[[], float]] = {"cru again": lambda: turns.action("cru again", command, home)}

    def again() -> Callable[[], float]:
        good_run(agentsview_sync("--full"), home)
        return lambda: turns.action("agentsview again", agentsview_sync(), home)

    actions |= _if_here("agentsview again", again)
    in_turns(actions, 3 * ROUNDS)
    return [_over(turns, "import with nothing new", "cru again", "agentsview again", NOTHING_BAR)]


def _if_here(name: str, make: Callable[[], Callable[[], float]]) -> dict[str, Callable[[], float]]:
    """The action by name, or nothing if the rival cannot be installed."""
    try:
        {"agentsview": find_agentsview, "claude-code-log": find_claude_code_log}[name.split(maxsplit=1)[0]]()
    except Missing:
        return {}
    return {name: make()}


def _over(turns: _Turns, what: str, ours: str, theirs: str, bar: float) -> Figure:
    name = f"{what} over {theirs.split(maxsplit=1)[0]}"
    if theirs not in turns.ran:
        return Figure(name, 0, bar, unmeasured="could not be installed, see above")
    wall, cpu = (
        [statistics.median(getattr(ran, unit) for ran in turns.ran[one]) for one in (ours, theirs)]
        for unit in ("seconds", "cpu")
    )
    detail = f"{wall[0]:.2f} s, {wall[1]:.2f} s; processor {cpu[0]:.2f} s, {cpu[1]:.2f} s: {cpu[0] / cpu[1]:.2f} ×"
    return Figure(name, wall[0] / wall[1], bar, detail=detail)


def _on_disk(projects: Path, vault: Path, home: Path) -> list[Figure]:
    """What is kept beside the notes, over the bytes of the transcripts."""
    given = size_of(projects, "*.jsonl")
    events = sum(size_of(vault / ".crucible" / name) for name in ("flight", "archive"))
    good_run(cru(vault, "session", "learn", "--all", "--export", "markdown"), home)
    cases = size_of(vault / "cases")
    return [
        Figure(
            f"disk: {what} over the transcripts",
            size / given,
            bar,
            "",
            detail=f"{size / 1e6:.1f} of {given / 1e6:.1f} MB",
        )
        for what, size, bar in (("events", events, EVENTS_BAR), ("cases", cases, CASES_BAR))
    ]
