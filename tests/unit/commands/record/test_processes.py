"""Many recorders of one session, a human beside them, and processes that are killed: real ones, all of them."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crucible.commands import record
from crucible.documents.session.session import Decision, Session
from crucible.vault.events.event_reader import read_records
from crucible.vault.notes.vault import Vault
from samples.waiting import wait_until
from tests.paths import ROOT

SPAWN = multiprocessing.get_context("spawn")
# Forking starts hundreds at once; where there is none it takes longer.
FORK: Any = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")


def tell(root: str, session: str, number: int) -> None:
    record.open(session, vault=root).decision(f"number {number}.", rationale=f"because {number}")


def tell_for_ever(root: str, session: str, name: str, told: str) -> None:
    """Each entry that was written is acknowledged in the file `told`."""
    recorder = record.open(session, vault=root)
    descriptor = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(10**6):
        recorder.decision(f"{name} {number}.")
        os.write(descriptor, f"{name} {number}.\n".encode())


def begun(vault: Vault) -> record.Recorder:
    recorder = record.session("Many", vault=vault.root)
    recorder.phase("Work")
    return recorder


def decisions(session: Session) -> list[str]:
    assert not session.problems
    return [entry.text for phase in session.phases for entry in phase.all_entries() if isinstance(entry, Decision)]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking, where other tests left threads
def test_eighty_recorders_at_once_write_eighty_entries(vault: Vault) -> None:
    s = begun(vault)
    recorders = [FORK.Process(target=tell, args=(str(vault.root), s.id, n)) for n in range(80)]
    for one in recorders:
        one.start()
    for one in recorders:
        one.join(120)
    assert {one.exitcode for one in recorders} == {0}
    found = vault.load(s.id).session
    assert sorted(decisions(found)) == sorted(f"number {n}." for n in range(80))
    assert all(
        entry.rationale == f"because {entry.text[7:-1]}"
        for entry in found.phases[0].entries
        if isinstance(entry, Decision)
    )
    records = list(read_records(vault.root, s.id))
    assert [entry.seq for entry in records] == list(range(1, 82))


def test_commands_at_once_write_an_entry_each(vault: Vault) -> None:
    count = 12
    s = begun(vault)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CRU_SESSION": s.id, "CRUCIBLE_VAULT": str(vault.root)}
    command = [sys.executable, "-m", "crucible", "record", "decision"]
    running = [
        subprocess.Popen([*command, f"number {n}."], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for n in range(count)
    ]
    said = [process.communicate(timeout=300)[0] for process in running]
    assert ({process.returncode for process in running}, set(said)) == ({0}, {b""})
    assert sorted(decisions(vault.load(s.id).session)) == sorted(f"number {n}." for n in range(count))


def save_as_an_editor(path: Path, old: str, new: str) -> None:
    """Read, change, write back at once, without a lock: what others wrote in between is overwritten, as editors do."""
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def test_edits_of_the_user_meanwhile_are_kept(vault: Vault) -> None:
    s = begun(vault)
    s.prose("Here a human writes:")
    told = vault.root / "told"
    writer = SPAWN.Process(target=tell_for_ever, args=(str(vault.root), s.id, "one", str(told)))
    writer.start()
    words = [f"word{n}" for n in range(12)]
    try:
        wait_until(lambda: told.exists() and told.stat().st_size > 20)
        for word in words:
            size = told.stat().st_size
            save_as_an_editor(s.path, "human writes:", f"human writes: {word}")
            wait_until(lambda: told.stat().st_size > size)  # noqa: B023
        size = told.stat().st_size
        wait_until(lambda: told.stat().st_size > size + 40)
    finally:
        kill(writer)
    assert all(word in s.path.read_text(encoding="utf-8") for word in words)
    later = told.read_bytes()[size:].decode().split("\n")[1:-1]
    assert later
    assert set(later) <= set(decisions(vault.load(s.id).session))


@contextmanager
def writers(vault: Vault, session: str, names: tuple[str, ...]) -> Iterator[None]:
    running = [
        FORK.Process(target=tell_for_ever, args=(str(vault.root), session, name, str(vault.root / f"told-{name}")))
        for name in names
    ]
    for one in running:
        one.start()
    try:
        yield
    finally:
        for one in running:
            kill(one)


def kill(process: Any) -> None:
    process.kill()
    process.join(30)


def all_there(paths: list[Path]) -> bool:
    return all(path.exists() for path in paths)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kill -9 is a thing of Unix")
def test_whatever_was_acknowledged_is_in_the_note_after_kill_9(vault: Vault) -> None:
    s = begun(vault)
    rng = random.Random(9)
    for round_ in range(15):
        names = (f"a{round_}", f"b{round_}")
        with writers(vault, s.id, names):
            told = [vault.root / f"told-{name}" for name in names]
            wait_until(partial(all_there, told))
            enough = sum(path.stat().st_size for path in told) + rng.randrange(20)
            wait_until(lambda: sum(path.stat().st_size for path in told) >= enough)  # noqa: B023
    acknowledged = [line for path in vault.root.glob("told-*") for line in path.read_text().split("\n") if line]
    found = decisions(vault.load(s.id).session)
    assert acknowledged
    assert set(acknowledged) <= set(found)
    assert len(found) == len(set(found)) <= len(acknowledged) + 30
    s.milestone("and on it goes")
    assert not [path for path in vault.sessions.iterdir() if path.name.startswith(".crucible-")]
    assert len({entry.seq for entry in read_records(vault.root, s.id)}) >= len(acknowledged)
