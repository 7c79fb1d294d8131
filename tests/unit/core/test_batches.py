"""Work in batches whose results are kept: what a killed run has done is not done again, and nothing else changes."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import rmtree

import pytest

from crucible.core import batches
from crucible.core.batches import Run, work_in_batches
from crucible.core.cluster import check_scheduler
from crucible.core.errors import UsageError
from crucible.core.files import write_atomic
from crucible.core.pickled_values import ValueTypes
from crucible.core.processes import Workers

PLAIN = ValueTypes({}, expected=list[int])


def _make(log: Path, fails: str, _root: Path) -> Callable[[Sequence[Path]], list[int]]:
    return partial(_lengths, log, fails)


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


def _nothing(_path: Path) -> Iterable[Path]:
    return ()


def _run(
    notes: Sequence[Path],
    log: Path,
    *,
    fails: str = "",
    processes: int = 1,
    basis: str = "",
    others: Callable[[Path], Iterable[Path]] = _nothing,
) -> list[int]:
    make = partial(_make, log, fails)
    run = Run(notes[0].parent, "lengths", make, PLAIN, Workers(processes), basis, others)
    return [one for some in work_in_batches(run, notes) for one in some]


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


class _Called:
    def __init__(self, function: Callable[..., object], values: tuple[object, ...]) -> None:
        self._call = function, values

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return self._call


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


@pytest.mark.parametrize("forged", [(timedelta, (10**18,)), (bytearray, (10**15,))])
def test_a_forged_result_of_an_impossible_size_is_made_again(
    notes: list[Path], tmp_path: Path, forged: tuple[Callable[..., object], tuple[object, ...]]
) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    body = pickle.dumps(_Called(*forged))
    for path in _kept(notes):
        path.write_bytes(sha256(body).digest() + body)
    assert _run(notes, tmp_path / "second") == [*range(200)]


@pytest.mark.parametrize("forged", [7, "text", [1, "2"], {1: 2}, None])
def test_a_result_of_another_type_is_made_again(notes: list[Path], tmp_path: Path, forged: object) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    body = pickle.dumps(forged)
    for path in _kept(notes):
        path.write_bytes(sha256(body).digest() + body)
    assert _run(notes, tmp_path / "second") == [*range(200)]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_in_place_of_a_result_is_not_waited_for(notes: list[Path], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    first = _kept(notes)[0]
    first.unlink()
    os.mkfifo(first)
    assert _run(notes, tmp_path / "second") == [*range(200)]


def test_a_folder_among_the_results_is_left(notes: list[Path], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _run(notes, tmp_path / "first", fails="150.md")
    (_kept(notes)[0].parent / "stray").mkdir()
    assert _run(notes, tmp_path / "second") == [*range(200)]


def test_a_result_is_outdated_when_its_basis_or_another_file_has_changed(notes: list[Path], tmp_path: Path) -> None:
    other = tmp_path / "events"
    for basis, text in (("old", "1"), ("new", "1"), ("new", "22")):
        other.write_text(text)
        before = {*_kept(notes)} if basis == "new" else set()
        with pytest.raises(RuntimeError):
            _run(notes, tmp_path / "log", fails="150.md", basis=basis, others=lambda _: (other,))
        assert _kept(notes)
        assert before.isdisjoint(_kept(notes))


def test_the_end_of_another_run_of_the_same_work_does_no_harm(
    notes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Path] = []

    def write(path: Path, data: bytes, *, fsync: bool) -> None:
        if path.suffix != ".json" and not ended:
            ended.append(path)
            rmtree(path.parent)
        write_atomic(path, data, fsync=fsync)

    monkeypatch.setattr(batches, "write_atomic", write)
    assert _run(notes, tmp_path / "log") == [*range(200)]
    assert ended


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
