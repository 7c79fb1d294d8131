"""Several processes at one index: one writes, nobody waits for it, and a killed one leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from crucible.recall.keeping import Store
from tests.recall.vaults import ask, flat, recall, session_of, vault_of, write

_REFRESH = """
import sys
from pathlib import Path
from crucible.recall.embedded import open_embedded
from crucible.settings import VaultSettings
print("begun", flush=True)
open_embedded(Path(sys.argv[1]), VaultSettings()).refresh(patience=30)
"""


def _start(root: Path) -> subprocess.Popen[bytes]:
    begun = subprocess.Popen([sys.executable, "-c", _REFRESH, str(root)], stdout=subprocess.PIPE)
    assert begun.stdout
    assert begun.stdout.readline() == b"begun\n"
    begun.stdout.close()
    return begun


def test_two_writers_write_one_after_the_other(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", *(session_of(f"s{n}", f"question {n}", f"answer {n}") for n in range(12)))
    writers = [_start(root) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert recall(root).refresh().changed == 0
    assert len(ask(root, "question answer", limit=20).hits) == 20


def test_a_question_waits_for_no_writer_and_says_what_it_did_not_see(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"))
    assert ask(root, "token").hits
    write(root, session_of("two", "bucket"))
    with Store(root / ".crucible" / "cache" / "recall").locked(0) as is_ours:
        assert is_ours
        start = time.monotonic()
        answer = ask(root, "token")
        assert time.monotonic() - start < 5
        assert answer.hits
        assert "1 changed notes" in answer.notes[0]
    assert ask(root, "bucket").hits


def test_questions_are_answered_while_another_process_writes(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", *(session_of(f"s{n}", f"token {n}") for n in range(10)))
    ask(root, "token")
    for turn in range(4):
        for n in range(10, 20):
            write(root, session_of(f"s{n}", f"token {turn} {n}"))
        writer = _start(root)
        while writer.poll() is None:
            assert ask(root, "token").hits
        assert writer.returncode == 0
    assert not ask(root, "token").notes


def test_a_killed_writer_costs_nothing_but_time(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", *(session_of(f"s{n}", f"token {n}", f"bucket {n}") for n in range(30)))
    for wait in (0.05, 0.1, 0.15, 0.2, 0.3):
        writer = _start(root)
        time.sleep(wait)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    killed = flat(ask(root, "token bucket", limit=20))
    fresh = vault_of(tmp_path / "w", *(session_of(f"s{n}", f"token {n}", f"bucket {n}") for n in range(30)))
    assert killed == flat(ask(fresh, "token bucket", limit=20))
