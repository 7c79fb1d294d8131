"""A real PostgreSQL server for tests: Debian's, in a temporary folder, as a user without rights, reached by a socket only.

Owns how it is found, started and ended, and that a test is skipped, with the reason, only where there is none.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from crucible.search.postgres.address import Server
from samples.waiting import wait_until

ADMIN = "admin"
"""The superuser of a server for tests."""
GUARDED = "carol"
"""Who is asked for a password; everybody else is let in."""

_SETTINGS = (
    "listen_addresses=",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "shared_buffers=64MB",
    "max_connections=60",
    "autovacuum=off",
    "logging_collector=off",
)


class NoServer(Exception):
    """Why there is none."""


class Running(NamedTuple):
    """A server: the folder of its socket, and the process to be ended or stopped."""

    folder: Path
    process: subprocess.Popen[bytes]

    def address(self, role: str = ADMIN, database: str = "postgres") -> str:
        """How a role reaches it."""
        return f"postgresql://{role}@/{database}?host={self.folder}"


class Team:
    """A database, as several people reach it."""

    def __init__(self, running: Running, database: str) -> None:
        self.running = running
        self.database = database
        self._open: dict[str, Server] = {}

    def address(self, role: str = "owner") -> str:
        return self.running.address(role, self.database)

    def run(self, query: str, given: Any = None, *, role: str = "owner") -> list[tuple[Any, ...]]:
        """The rows of a statement, as a role."""
        server = self._open.setdefault(role, Server(self.address(role)))
        return server.run(query, given)

    def psql(self, role: str, *queries: str) -> subprocess.CompletedProcess[str]:
        """What a person gets who asks the server without us; one connection for all."""
        return subprocess.run(
            ["psql", "-X", "-A", "-t", "-d", self.address(role)],
            input="\n".join(queries),
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def close(self) -> None:
        for server in self._open.values():
            server.close()


def programs() -> Path:
    """The folder with `initdb` and `postgres`.  Raises `NoServer`."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    by_version = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda name: int(name.split("/")[4]))
    if not by_version:
        raise NoServer("PostgreSQL is not installed: `apt-get install postgresql`")
    return Path(by_version[-1]).parent


def _nobody() -> dict[str, Any]:
    """The server refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": entry.pw_uid, "group": entry.pw_gid}
    raise NoServer("this is root, there is no user postgres or nobody, and PostgreSQL refuses to run as root")


@contextmanager
def running_server(*settings: str) -> Iterator[Running]:
    """A server of its own, gone at the end with all that is in it."""
    # A socket's path may have 107 bytes: pytest's folders are too deep.
    folder = Path(tempfile.mkdtemp(prefix="cru-pg-"))
    owner = _nobody()
    try:
        if owner:
            os.chown(folder, owner["user"], owner["group"])
        folder.chmod(0o755)
        data = _data(folder, owner)
        process = _started(folder, data, owner, settings)
        try:
            yield Running(folder, process)
        finally:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGQUIT)
            process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _data(folder: Path, owner: dict[str, Any]) -> Path:
    data = folder / "data"
    command: list[str | Path] = [
        programs() / "initdb",
        "-D",
        data,
        "-U",
        ADMIN,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--locale=C",
        "--no-sync",
    ]
    done: subprocess.CompletedProcess[bytes] = subprocess.run(
        command, check=False, capture_output=True, cwd=folder, timeout=120, **owner
    )
    if done.returncode:
        raise NoServer(f"initdb failed: {done.stderr.decode(errors='replace').strip()[-300:]}")
    rules = data / "pg_hba.conf"
    rules.write_text(f"local all {GUARDED} scram-sha-256\n{rules.read_text()}")
    return data


def _started(folder: Path, data: Path, owner: dict[str, Any], settings: tuple[str, ...]) -> subprocess.Popen[bytes]:
    given = [
        part for setting in (*_SETTINGS, f"unix_socket_directories={folder}", *settings) for part in ("-c", setting)
    ]
    with (folder / "log").open("wb") as log:
        process: subprocess.Popen[bytes] = subprocess.Popen(
            [programs() / "postgres", "-D", data, *given], stdout=log, stderr=log, cwd=folder, **owner
        )

    def is_ready() -> bool:
        if process.poll() is not None:
            raise NoServer(f"PostgreSQL did not start: {(folder / 'log').read_text(errors='replace')[-300:]}")
        return subprocess.run([programs() / "pg_isready", "-q", "-h", folder], check=False).returncode == 0

    try:
        wait_until(is_ready)
    except AssertionError:
        process.kill()
        raise NoServer("PostgreSQL did not start in time") from None
    return process
