"""Work in batches whose results are kept: what a killed run has done is not done again, and nothing else changes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from crucible.core.batches import Run, work_in_batches
from crucible.core.cluster import check_scheduler
from crucible.core.errors import UsageError
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers

PLAIN = ValueTypes({})


def _lengths(log: Path, fails: str, paths: Sequence[Path]) -> list[int]:
    with log.open("a") as file:
        file.writelines(f"{path.name}\n" for path in paths)
    if any(path.name == fails for path in paths):
        raise RuntimeError(fails)
    return [len(path.read_bytes()) for path in paths]


@pytest.fixture
def notes(tmp_path: Path) -> list[Path]:
    """Two hundred files in `vault`, each longer by a byte than the one before; they make 67 batches."""
    (tmp_path / "vault").mkdir()
    paths = [tmp_path / "vault" / f"{number:03}.md" for number in range(200)]
    for number, path in enumerate(paths):
        path.write_bytes(b"x" * number)
    return paths


def _run(notes: Sequence[Path], log: Path, *, fails: str = "", processes: int = 1) -> list[int]:
    run = Run(notes[0].parent, "lengths", PLAIN, Workers(processes))
    return [one for some in work_in_batches(run, partial(_lengths, log, fails), notes) for one in some]


def _kept(notes: Sequence[Path]) -> list[Path]:
    return sorted(notes[0].parent.glob(".crucible/cache/batches/*/*[!.json]"))


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order_and_leave_nothing_behind(notes: list[Path], tmp_path: Path, processes: int) -> None:
    assert _run(notes, tmp_path / "log", processes=processes) == [*range(200)]
    assert _kept(notes) == []


def test_a_run_that_failed_is_continued(notes: list[Path], tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    with pytest.raises(RuntimeError):
        _run(notes, first, fails="150.md")
    done = {*first.read_text().split()} - {path.name for path in notes[150:153]}
    assert _run(notes, second) == [*range(200)]
    assert {*second.read_text().split()} == {path.name for path in notes} - done


def test_a_note_that_changed_meanwhile_is_read_again(notes: list[Path], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    notes[7].write_bytes(b"x" * 700)
    assert _run(notes, tmp_path / "second") == [700 if number == 7 else number for number in range(200)]


class _Hostile:
    def __init__(self, target: Path) -> None:
        self._target = target

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self._target),)


@pytest.mark.parametrize("damage", ["cut", "empty", "hostile"])
def test_a_damaged_or_forged_result_is_made_again(notes: list[Path], tmp_path: Path, damage: str) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    forged = pickle.dumps(_Hostile(tmp_path / "hacked"))
    for path in _kept(notes):
        whole = path.read_bytes()
        path.write_bytes({"cut": whole[:-3], "empty": b"", "hostile": sha256(forged).digest() + forged}[damage])
    assert _run(notes, tmp_path / "second") == [*range(200)]
    assert not (tmp_path / "hacked").exists()


def test_a_folder_of_results_outside_the_vault_is_refused(notes: list[Path], tmp_path: Path) -> None:
    (notes[0].parent / ".crucible").mkdir()
    (tmp_path / "outside").mkdir()
    (notes[0].parent / ".crucible/cache").symlink_to(tmp_path / "outside")
    with pytest.raises(Exception, match="outside"):
        _run(notes, tmp_path / "log")
    assert [*(tmp_path / "outside").iterdir()] == []


def test_only_an_encrypted_or_a_local_scheduler_is_used() -> None:
    for address in ("tls://cluster.example:8786", "tcp://127.0.0.1:8786", "tcp://[::1]:8786", "tcp://localhost:1"):
        assert check_scheduler(address) == address
    refused = "tcp://10.0.0.1:8786", "tcp://cluster:8786", "cluster:8786", "tls://cluster", "ws://localhost:1", "tls://"
    for address in (*refused, "tls://me:word@host:1", "tcp://localhost.example:1", "inproc://1", "", "tls://host:x"):
        with pytest.raises(UsageError):
            check_scheduler(address)
