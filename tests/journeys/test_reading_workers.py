"""Workers only read the vault: it may be a bucket that is mounted read-only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.core import processes
from tests.paths import TESTS
from tests.running import Cru

unix = pytest.mark.skipif(sys.platform != "linux", reason="needs fork")
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = (
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.utime",
    "os.chmod",
)
_LOCKS = ("fcntl.flock", "fcntl.lockf")


@unix
@pytest.mark.parametrize(
    "form",
    [
        ("session", "learn", "--all", "--export", "jsonl", "-o", "-"),
        ("session", "check"),
        ("index", "rebuild", "--recall"),
        ("lake", "export", "lake", "--contents"),
    ],
    ids=lambda form: form[0] + " " + form[1],
)
def test_a_worker_opens_files_of_the_vault_for_reading_only(
    cru: Cru, form: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cru("import", "claude-code", str(TESTS / "data/transcripts/claude-code"))
    log, real = tmp_path / "worker.log", processes._begin_worker
    descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def begin(own: Callable[[], None] | None) -> None:
        os.write(descriptor, b"begun\n")
        sys.addaudithook(_watch(descriptor))
        real(own)

    monkeypatch.setattr(processes, "_begin_worker", begin)
    given = [str(tmp_path / word) if word == "lake" and at else word for at, word in enumerate(form)]
    assert cru(*given, "--jobs", "2").exit_code in (0, 3)
    lines = log.read_text().splitlines()
    assert set(lines) == {"begun", "read"}


def _watch(descriptor: int) -> Callable[[str, tuple[object, ...]], None]:
    """Note whether the vault's notes or events are read, and everything that is more than reading."""
    seen = False

    def note(event: str, given: tuple[object, ...]) -> None:
        nonlocal seen
        if event == "open" and isinstance(given[2], int):
            name = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
            if given[2] & _WRITES:
                os.write(descriptor, f"written {name}\n".encode())
            elif not seen and name.endswith((".md", ".jsonl", ".zst")):
                seen = True
                os.write(descriptor, b"read\n")
        elif event in _CHANGES or event in _LOCKS:
            os.write(descriptor, f"{event} {given}\n".encode())

    return note
