"""One process at a time continues a session."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Timer

import pytest

from crucible.core.locks import hold
from crucible.vault.notes.session_lock import SessionHeld, hold_session, is_held
from crucible.vault.notes.vault import Vault
from tests.paths import ROOT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def lock_of(vault: Vault) -> Path:
    return vault.root / ".crucible" / "cache" / "resuming" / "x.lock"


def test_one_process_holds_a_session_and_others_learn_which(vault: Vault) -> None:
    assert not is_held(vault.root, "x")
    with hold_session(vault.root, "x", client="codex", now=NOW):
        assert is_held(vault.root, "x")
        told = f"x: held by codex, process {os.getpid()} on .+, since 2026-11-21T12:00:00Z"
        with pytest.raises(SessionHeld, match=told), hold_session(vault.root, "x", client="claude", now=NOW):
            pass
        with (
            pytest.raises(SessionHeld),
            hold_session(vault.root, "x", client="claude", now=NOW, force=True),
        ):
            pass
        with hold_session(vault.root, "y", client="claude", now=NOW):
            pass
    assert not is_held(vault.root, "x")
    with hold_session(vault.root, "x", client="claude", now=NOW):
        pass


def test_a_client_that_outlives_cru_holds_the_session_until_it_ends(vault: Vault) -> None:
    code = (
        "import sys, threading; from pathlib import Path; from datetime import datetime, UTC\n"
        "from crucible.vault.notes.session_lock import hold_session\n"
        "with hold_session(Path(sys.argv[1]), 'x', client='a b', now=datetime.now(UTC)) as held:\n"
        "    held.started(int(sys.argv[2])); print(flush=True); threading.Event().wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        command = [sys.executable, "-c", code, str(vault.root), str(client.pid)]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as holder:
            assert holder.stdout
            holder.stdout.readline()
            holder.kill()
        assert is_held(vault.root, "x")
        with (
            pytest.raises(SessionHeld, match=f"held by a-b, process {client.pid} on"),
            hold_session(vault.root, "x", client="c", now=NOW),
        ):
            pass
        client.kill()
        client.wait()
        assert not is_held(vault.root, "x")
    with hold_session(vault.root, "x", client="c", now=NOW):
        pass


def test_a_new_holder_is_waited_for_until_it_names_itself(vault: Vault) -> None:
    lock_of(vault).parent.mkdir(parents=True)
    with hold(lock_of(vault), 0.0) as lock:
        assert lock
        line = f"{os.uname().nodename} {os.getpid()} codex 2026-11-21T12:00:00Z 0 -\n"
        Timer(0.1, lock.leave, [line]).start()
        with (
            pytest.raises(SessionHeld, match="held by codex, process"),
            hold_session(vault.root, "x", client="c", now=NOW),
        ):
            pass


def test_a_holder_that_never_names_itself_is_waited_for_briefly(vault: Vault) -> None:
    lock_of(vault).parent.mkdir(parents=True)
    with (
        hold(lock_of(vault), 0.0),
        pytest.raises(SessionHeld, match="held by another process"),
        hold_session(vault.root, "x", client="c", now=NOW),
    ):
        pass


def test_reading_the_lock_does_not_hold_it(vault: Vault) -> None:
    with hold_session(vault.root, "x", client="c", now=NOW):
        pass
    lock_of(vault).write_text("")
    with ExitStack() as looking:
        looking.enter_context(hold(lock_of(vault), 0.0))
        Timer(0.1, looking.close).start()
        with hold_session(vault.root, "x", client="c", now=NOW):
            pass


@pytest.mark.parametrize(
    "left",
    [
        b"",
        b"\xff\xfe",
        b"host x y z 1 -\n",
        b"host 1 y z " + b"9" * 100 + b" -\n",
        b"host " + b"9" * 5000 + b" y z 1 -\n",
        b"a b\n",
        f"{os.uname().nodename} 1 c 2026 {os.getpid()} 12345\n".encode(),
    ],
    ids=[
        "empty",
        "no text",
        "words",
        "a huge number",
        "no number",
        "too few words",
        "a process of another start",
    ],
)
def test_foreign_content_in_the_lock_file_does_not_hold_it(vault: Vault, left: bytes) -> None:
    lock_of(vault).parent.mkdir(parents=True)
    lock_of(vault).write_bytes(left)
    assert not is_held(vault.root, "x")
    with hold_session(vault.root, "x", client="c", now=NOW):
        pass


def test_a_pipe_as_lock_file_does_not_block(vault: Vault) -> None:
    lock_of(vault).parent.mkdir(parents=True)
    os.mkfifo(lock_of(vault))
    assert not is_held(vault.root, "x")
    with hold_session(vault.root, "x", client="c", now=NOW):
        pass


def test_the_lock_never_leaves_the_vault(vault: Vault, tmp_path: Path) -> None:
    from crucible.core.errors import OutsideVault

    folder = lock_of(vault).parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(OutsideVault), hold_session(vault.root, "x", client="c", now=NOW):
        pass
    assert not (tmp_path / "x.lock").exists()
    assert not is_held(vault.root, "x")
