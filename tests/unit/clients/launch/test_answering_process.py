"""Programs with `Reins`: in the user's folder, without a time-out, all stopped at once."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from crucible.clients.launch.answering_process import Exited, Reins, Stopped, TimedOut, run_program
from samples.waiting import IDLE, is_gone, wait_until

ENV = {"PATH": os.environ["PATH"]}


def words(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def test_it_runs_in_the_folder_that_is_named_and_leaves_it_there(tmp_path: Path) -> None:
    script = "import os; open('made', 'w'); print(os.getcwd(), os.environ['PWD'])"
    said = run_program(words(script), b"", ENV, None, folder=str(tmp_path)).decode().split()
    assert [os.path.realpath(each) for each in said] == [os.path.realpath(tmp_path)] * 2
    assert (tmp_path / "made").exists()


def test_an_exit_with_an_error_has_its_code_and_output() -> None:
    with pytest.raises(Exited, match="exit code 7: bad") as caught:
        run_program(words("import sys; print('half'); sys.stderr.write('bad'); sys.exit(7)"), b"", ENV, None)
    assert (caught.value.code, caught.value.output) == (7, b"half\n")


def test_late_is_not_the_same_as_failed() -> None:
    with pytest.raises(TimedOut):
        run_program(words(IDLE), b"", ENV, 0.3)


@pytest.mark.parametrize("polite", [True, False])
def test_all_running_programs_are_ended_at_once_with_their_children(tmp_path: Path, polite: bool) -> None:
    ignores = "" if polite else "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    script = (
        f"{ignores}import os, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {IDLE!r}])\n"
        "open('part', 'w').write(f'{os.getpid()} {child.pid}')\nos.rename('part', 'pids')\n" + IDLE
    )
    told: list[int] = []
    reins = Reins(told.append)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            run_program(words(script), b"", ENV, None, folder=str(tmp_path), reins=reins)
        except Stopped as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    wait_until((tmp_path / "pids").exists)
    reins.stop()
    if not polite:
        reins.stop(at_once=True)
    thread.join(20)
    assert len(ended) == 1
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert told == pids[:1]
    wait_until(lambda: all(is_gone(pid) for pid in pids))


def test_a_program_that_exits_with_0_when_stopped_was_stopped(tmp_path: Path) -> None:
    script = (
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
        "open('ready', 'w')\nprint('STEP: done', flush=True)\n" + IDLE
    )
    reins = Reins()

    def stop() -> None:
        wait_until((tmp_path / "ready").exists)
        reins.stop()

    threading.Thread(target=stop, daemon=True).start()
    with pytest.raises(Stopped):
        run_program(words(script), b"", ENV, None, folder=str(tmp_path), reins=reins)


def test_nothing_is_started_after_the_end(tmp_path: Path) -> None:
    reins = Reins()
    reins.stop()
    with pytest.raises(Stopped, match="could not be started"):
        run_program(words("open('made', 'w')"), b"", ENV, None, folder=str(tmp_path), reins=reins)
    assert not (tmp_path / "made").exists()
