"""Several processes use one index: one writes, no reader waits, and killed writers do no harm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from pathlib import Path
from unittest import mock

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded import index_update as refreshing
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.recall import Question
from samples.waiting import wait_for_file_clock, wait_until
from tests.unit.search.vaults import NOW, ask, flat, recall, session_of, vault_of, write

INDEX = Path(".crucible", "cache", "recall")

_REFRESH = """
import sys
from pathlib import Path
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.core.settings.settings import VaultSettings
print("begun", flush=True)
EmbeddedRecall(Path(sys.argv[1]), VaultSettings()).refresh(patience=30)
"""


def _start(root: Path) -> subprocess.Popen[bytes]:
    begun = subprocess.Popen([sys.executable, "-c", _REFRESH, str(root)], stdout=subprocess.PIPE)
    assert begun.stdout
    assert begun.stdout.readline() == b"begun\n"
    begun.stdout.close()
    return begun


def test_concurrent_writers_take_turns(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", *(session_of(f"s{n}", f"question {n}", f"answer {n}") for n in range(12)))
    writers = [_start(root) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert recall(root).refresh().changed == 0
    assert len(ask(root, "question answer", limit=20).hits) == 20


def test_a_question_does_not_wait_for_a_writer_and_reports_missing_notes(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"))
    assert ask(root, "token").hits
    write(root, session_of("two", "bucket"))
    with RecallStore(root / ".crucible" / "cache" / "recall").locked(0) as is_ours:
        assert is_ours
        start = time.monotonic()
        answer = ask(root, "token")
        assert time.monotonic() - start < 30
        assert answer.hits
        assert "1 changed notes" in answer.notes[0]
    assert ask(root, "bucket").hits


def test_a_question_waits_while_another_process_builds_the_first_index(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"), session_of("two", "bucket"))
    reports: list[tuple[int, int]] = []
    asker = EmbeddedRecall(root, VaultSettings(), progress=lambda *given: reports.append(given))
    with ExitStack() as held:
        held.enter_context(RecallStore(root / INDEX).locked(0))
        with ThreadPoolExecutor(1) as others:
            # The other process ends once we have waited.
            others.submit(_give_up, held, reports)
            answer = asker.ask(Question("token"), NOW)
    assert answer.hits
    assert not answer.notes
    assert reports[0] == (0, 2)


@pytest.mark.parametrize(("kept", "remark"), [(False, "2 of 2 notes"), (True, "1 of 2 notes")])
def test_after_the_lock_timeout_the_unfinished_first_index_is_searched(kept: bool, remark: str, tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "token"), session_of("two", "token"))
    if kept:
        # The state of a build between two batches.
        with mock.patch.object(refreshing, "_batches", _first_only), suppress(RuntimeError):
            recall(root).refresh()
    with RecallStore(root / INDEX).locked(0):
        start = time.monotonic()
        answer = EmbeddedRecall(root, VaultSettings(lock_seconds=0.3)).ask(Question("token"), NOW)
        assert 0.3 <= time.monotonic() - start < 30
    assert len(answer.hits) == kept
    assert remark in answer.notes[0]
    assert "building the index" in answer.notes[0]


def _first_only(derived: Iterator[object]) -> Iterator[list[object]]:
    yield [next(derived)]
    raise RuntimeError


def _give_up(held: ExitStack, reports: list[tuple[int, int]]) -> None:
    wait_until(lambda: reports)
    held.close()


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


def test_a_killed_writer_leaves_a_usable_index(tmp_path: Path) -> None:
    root = vault_of(tmp_path / "v", *(session_of(f"s{n}", f"token {n}", f"bucket {n}") for n in range(30)))
    for name in ("", "lock", "building", "events/meta.json", "index.json"):
        writer = _start(root)
        wait_until(lambda: (root / INDEX / name).exists() or writer.poll() is not None)  # noqa: B023
        writer.kill()
        writer.wait()
    killed = flat(ask(root, "token bucket", limit=20))
    fresh = vault_of(tmp_path / "w", *(session_of(f"s{n}", f"token {n}", f"bucket {n}") for n in range(30)))
    assert killed == flat(ask(fresh, "token bucket", limit=20))


_ASK = """
import sys
from pathlib import Path
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Question
from crucible.core.settings.settings import VaultSettings
from tests.unit.search.vaults import NOW
recall = EmbeddedRecall(Path(sys.argv[1]), VaultSettings(lock_seconds=0.1))
for line in sys.stdin:
    print(len(recall.ask(Question(line.strip()), NOW).hits), flush=True)
"""


@pytest.mark.parametrize("is_written", [False, True], ids=["alone", "beside a writer"])
def test_a_reader_survives_truncated_index_files(is_written: bool, tmp_path: Path) -> None:
    # Several pages of each file: reading past the end of a truncated mapped file kills the process.
    texts = [f"token {' '.join(f'w{n}x{m}' for m in range(300))}" for n in range(12)]
    root = vault_of(tmp_path / "v", session_of("one", *texts), session_of("two", "token"))
    recall(root).refresh()
    with subprocess.Popen(
        [sys.executable, "-c", _ASK, str(root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as asker:
        assert _hit_count(asker, "token w3x7") == "5"
        _wait_for_tantivy(asker.pid)
        names = sorted(path for path in (root / INDEX).rglob("*") if path.suffix in _SEGMENT)
        for name in names:
            if name.exists():  # a damaged part is removed with all its files
                os.truncate(name, 0)
        with RecallStore(root / INDEX).locked(0) if is_written else nullcontext():
            count = _hit_count(asker, "token w5x7")
        assert count == ("0" if is_written else "5")
        assert _hit_count(asker, "token w5x7") == "5"
        assert asker.stdin
        asker.stdin.close()
        assert asker.wait(10) == 0


def _wait_for_tantivy(pid: int) -> None:
    """Wait for the thread in which tantivy opens an index once more: nothing can check the files for it."""
    tasks = Path(f"/proc/{pid}/task")
    idle = 0

    def are_idle() -> bool:
        nonlocal idle
        states = set()
        for task in tasks.iterdir():
            with suppress(OSError):  # the thread has just ended
                states.add((task / "stat").read_text().rpartition(")")[2].split()[0])
        idle = idle + 1 if states == {"S"} else 0
        return idle > 10

    if tasks.exists():
        wait_until(are_idle)


_SEGMENT = (".idx", ".term", ".store", ".fast", ".fieldnorm")


def _hit_count(asker: subprocess.Popen[str], question: str) -> str:
    assert asker.stdin
    assert asker.stdout
    asker.stdin.write(f"{question}\n")
    asker.stdin.flush()
    return asker.stdout.readline().strip()


_COMMAND = """
import sys
sys.argv = ["cru", "--vault", sys.argv[1], "recall", "token"]
import os

def print_modules(code):
    print(*sys.modules, file=sys.stderr, flush=True)
    end(code)

end, os._exit = os._exit, print_modules
from crucible.__main__ import run
run()
print_modules(0)
"""


def test_a_question_over_a_current_index_loads_few_modules(
    tmp_path: Path,
) -> None:
    root = vault_of(tmp_path / "v", session_of("one", "a token bucket"))
    for _ in range(2):
        # A note written within the current tick of the file clock is read again.
        wait_for_file_clock()
        ask(root, "token")
    env = {**os.environ, "HOME": str(tmp_path)}
    env.pop("CRUCIBLE_RECALL_BACKEND", None)
    asked = subprocess.run(
        [sys.executable, "-c", _COMMAND, str(root)], capture_output=True, check=True, text=True, env=env
    )
    assert "a token bucket" in asked.stdout
    loaded = set(asked.stderr.split())
    assert "crucible.search.embedded.tantivy_search" in loaded
    left_out = {
        "crucible.search.embedded.documents",
        "crucible.documents.session.session",
        "crucible.vault.index.index",
        # These take longer to load than the index takes to search.
        "crucible.documents.knowledge.items",
        "crucible.vault.events.event_reader",
        "logging",
        "markdown_it",
        "socket",
        "subprocess",
        "tempfile",
        "yaml",
        "secrets",
    }
    assert not {name for name in loaded if name in left_out or name.startswith("crucible.search.team.team_recall")}
    # Counted, since a process's time depends on the machine: each module takes a third of a millisecond.
    assert len({name for name in loaded if name.startswith("crucible.")}) <= 80
