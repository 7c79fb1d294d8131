"""The main job is done without the modules and functions that Windows lacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.paths import ROOT

TRANSCRIPTS = ROOT / "tests" / "data" / "transcripts"

WINDOWS_LIKE = """
import os, signal, subprocess, sys, types
import asyncio, multiprocessing.util, tempfile, shutil, concurrent.futures.process  # the library's own imports come first

MISSING = "fcntl grp pwd resource termios tty pty posix_ipc syslog"
sys.modules |= dict.fromkeys(MISSING.split())
for module, names in (
    (os, "chown fchmod fork forkpty geteuid getgid getuid killpg mkfifo nice posix_spawn setsid sysconf O_DIRECTORY O_NOFOLLOW O_NONBLOCK"),
    (signal, "SIGALRM SIGHUP SIGKILL SIGQUIT alarm setitimer"),
):
    for name in names.split():
        vars(module).pop(name, None)
os.supports_dir_fd.clear()
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK, msvcrt.locking = 2, lambda descriptor, mode, size: None
sys.modules["msvcrt"] = msvcrt

from crucible.cli.main import run
for line in sys.stdin.read().splitlines():
    sys.argv = ["cru", *line.split("\\t")]
    print("$", *sys.argv, flush=True)
    try:
        run()
    except SystemExit as end:
        if end.code:
            raise
"""


def test_a_vault_is_made_filled_and_read_without_what_only_unix_has(tmp_path: Path) -> None:
    commands = [
        "--version",
        "init\tnotes",
        f"--vault\tnotes\timport\tclaude-code\t{TRANSCRIPTS / 'claude-code'}",
        "--vault\tnotes\tsession\tlist",
        "--vault\tnotes\trecall\trate limiter",
        "--vault\tnotes\ttask\tlist",
        "--vault\tnotes\tknowledge\tadd\tpattern\tTabs\tUse tabs.",
        "--vault\tnotes\tindex\trebuild",
    ]
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONUTF8": "1", "CI": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WINDOWS_LIKE],
        input="\n".join(commands).encode(),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    assert done.stdout.count(b"$ cru") == len(commands)
    assert list((tmp_path / "notes" / "sessions").glob("*.md"))
