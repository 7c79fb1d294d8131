"""Starting a client: its input and environment, and the handling of signals."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from crucible.clients.launch.terminal import protect_finish, run_client
from samples.waiting import wait_until

LATER = """exec 3<&0
(read _ < go; cat <&3 > part; mv part got) &
"""


def test_a_client_in_the_background_does_not_block_and_gets_its_whole_input(tmp_path: Path) -> None:
    text = b"a context\n" * 100_000
    os.mkfifo(tmp_path / "go")
    assert run_client("/bin/sh", ["sh", "-c", LATER], tmp_path, dict(os.environ), stdin=text) == 0
    assert not (tmp_path / "got").exists()
    (tmp_path / "go").write_text("go\n")
    wait_until((tmp_path / "got").exists)
    assert (tmp_path / "got").read_bytes() == text


def test_signals_for_the_client_do_not_interrupt_the_work_after_it() -> None:
    with protect_finish() as client_is_gone:
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        client_is_gone()
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.raise_signal(number)


def test_a_request_to_end_raises_so_that_callers_clean_up() -> None:
    with protect_finish() as client_is_gone:
        client_is_gone()
        with pytest.raises(SystemExit) as end:
            signal.raise_signal(signal.SIGTERM)
    assert end.value.code == 128 + signal.SIGTERM


def test_a_key_long_after_the_clients_end_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    with protect_finish() as client_is_gone:
        client_is_gone()
        then = time.monotonic() + 60
        monkeypatch.setattr("crucible.clients.launch.terminal.time.monotonic", lambda: then)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_ignored_signals_stay_ignored_for_the_client_too_as_with_nohup(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with protect_finish():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert run_client("/bin/sh", ["sh", "-c", "kill -HUP $$"], tmp_path, dict(os.environ)) == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
