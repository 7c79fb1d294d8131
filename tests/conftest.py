"""What every test may ask for: a real vault, the command in this process, the command in its own process."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests import forks
from tests.running import Cru, CruProcess

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from crucible.vault.notes.vault import Vault

ROOT = Path(__file__).resolve().parent.parent

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
# As many as find a slip; `make soak` tries a thousand times as many.
settings.register_profile("dev", max_examples=16, deadline=None, suppress_health_check=_SLOW)
# The same examples for the same code: what lands is decided by the change, `make soak` looks for the rest.
settings.register_profile(
    "ci",
    max_examples=16,
    deadline=None,
    derandomize=True,
    suppress_health_check=_SLOW,
    print_blob=True,
)
settings.register_profile("soak", max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile(
    "mutants",
    max_examples=5,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def _use_memory_for_temporary_files() -> None:
    """Keep temporary files in memory where there is room: tests make and remove some 100,000 folders.

    On a disk that discards freed blocks, removing a folder takes 3 ms.  Set `TMPDIR` to choose another place.
    """
    with suppress(OSError, AttributeError):  # only Linux has it
        room = os.statvfs("/dev/shm")
        roomy = room.f_bavail * room.f_frsize >= 4 << 30
        if "TMPDIR" not in os.environ and roomy and not room.f_flag & os.ST_NOEXEC and os.access("/dev/shm", os.W_OK):
            os.environ["TMPDIR"] = tempfile.tempdir = "/dev/shm"


_use_memory_for_temporary_files()

# `nohup make test &` starts us with interrupts ignored, and every process that a test interrupts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _import_from_here_on(worker: str) -> None:
    """Import all tests, beginning elsewhere than the other workers, so that each compiles a part for all."""
    files = sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))
    begin = len(files) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for path in [*files[begin:], *files[:begin]]:
        with suppress(Exception, pytest.skip.Exception):  # collection tells
            importlib.import_module(".".join(path.with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """No cycles are looked for while tests are collected, and later as seldom as in the command itself.

    The tests are 700,000 objects that live to the end: looking through them took a third of the time of their
    collection, and a seventh of their own time.
    """
    gc.disable()
    try:
        worker = os.environ.get("PYTEST_XDIST_WORKER")
        if worker and not session.config.option.file_or_dir:
            _import_from_here_on(worker)
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(100_000, 10, 10)
        gc.enable()


_COSTLY = 1.0
"""Processor seconds, those of its processes included, above which a run names a test at its end."""
_began = pytest.StashKey[float]()


def _spent() -> float:
    return sum(os.times()[:4])


def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_began] = _spent()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("processor seconds", _spent() - item.stash.get(_began, _spent())))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the costliest tests: `make test` is to stay under 330 processor seconds."""
    ended = [(dict(report.user_properties), report.nodeid) for report in terminalreporter.stats.get("", ())]
    costs = sorted(((given["processor seconds"], name) for given, name in ended if "processor seconds" in given))
    costly = [f"{spent:6.1f} {name}" for spent, name in reversed(costs) if spent > _COSTLY]
    if costly:
        terminalreporter.section(f"tests above {_COSTLY:g} of {sum(spent for spent, _ in costs):.0f} processor seconds")
        terminalreporter.write("\n".join([*costly, ""]))


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for each test's home.  `mktemp` would look through all the others for the next free name."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch: pytest.MonkeyPatch, _homes: Iterator[Path]) -> None:
    """No test sees the user's own settings, vault, transcripts or colours."""
    home = next(_homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("CI", "1")  # no process in the background, except in tests of it
    for name in (
        "CRUCIBLE_VAULT",
        "CRUCIBLE_CONFIG",
        "XDG_CONFIG_HOME",
        "CLAUDE_CONFIG_DIR",
        "NO_COLOR",
        "FORCE_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """In this process.  What `os.fsync` is for, a test cannot see; that it is called, tests look at with one of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _forks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "_fork_exec", forks.fork)
        yield


@pytest.fixture
def new_interpreters(_forks: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every `cru` process is a new interpreter, for tests of how it starts."""
    monkeypatch.setattr(subprocess, "_fork_exec", forks.new_process)


@pytest.fixture(scope="session")
def _empty_vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, since thousands of tests begin with one."""
    # Imported here: tests of the text layer, run thousands of times by mutmut, need no vault.
    from crucible.vault.notes.init_vault import init_vault

    root = tmp_path_factory.mktemp("empty") / "vault"
    init_vault(root, obsidian=False)
    return root


@pytest.fixture
def vault(tmp_path: Path, _empty_vault: Path) -> Vault:
    """An empty vault, made as `cru init` makes one."""
    from crucible.vault.notes.vault import Vault

    return Vault(shutil.copytree(_empty_vault, tmp_path / "vault"))


@pytest.fixture
def cru(vault: Vault) -> Cru:
    """The command on the `vault` fixture's vault."""
    return Cru(vault)


@pytest.fixture
def bare_cru() -> Cru:
    """The command with no `--vault`."""
    return Cru()


@pytest.fixture
def cru_process(tmp_path: Path) -> CruProcess:
    """`cru` as a real process; further keywords go to `subprocess.run`.  Its working directory holds no vault."""

    def run(*args: str | Path, **more: Any) -> subprocess.CompletedProcess[bytes]:
        # Coverage of a child is not measured: its start-up would hide what `-X importtime` and the clock say.
        env = {**os.environ, "PYTHONPATH": str(ROOT), **more.pop("env", {})}
        more = {"cwd": tmp_path, "capture_output": True, "timeout": 60, **more}
        return subprocess.run([sys.executable, "-m", "crucible", *map(str, args)], env=env, check=False, **more)

    return run


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty home, beside the working directory's other folders."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository of a project, in which the user is."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder
