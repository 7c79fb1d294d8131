"""A fake client that writes a transcript and calls our hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

from crucible.documents.session.session import Session
from crucible.integrations.hooks.sync import sync_vault
from crucible.vault.events.spool import append, spool_folder
from crucible.vault.notes.vault import Vault
from tests.trusting import user_of_test
from tests.unit.clients.building import Row, assistant, result, text, use, user
from tests.unit.commands.imports.places import notes_of, write_rows

SESSION = "11111111-2222-3333-4444-555555555555"
OTHER = "99999999-2222-3333-4444-555555555555"
GONE = 2**22 + 1
"""A number that no process has: Linux gives none above 2 ** 22."""


class Client:
    """One session: `say` writes rows, `call` puts what a hook would into the spool, `hook` runs a real one."""

    def __init__(self, root: Path, home: Path, session: str = SESSION, pid: int | None = None) -> None:
        self.root = root
        self.session = session
        self.pid = os.getpid() if pid is None else pid
        self.transcript = home / ".claude" / "projects" / "-home-dev-project" / f"{session}.jsonl"
        self.rows: list[Row] = []
        self._time = time.time()

    def say(self, *rows: Row) -> None:
        """Add rows to the transcript, each later than those before."""
        for row in rows:
            self.rows.append(
                {
                    **row,
                    "sessionId": self.session,
                    "uuid": f"{len(self.rows):08x}-row",
                    **_stamp(len(self.rows)),
                }
            )
        write_rows(self.transcript, self.rows)

    def age(self, seconds: float) -> None:
        """Let what is called now have been called long ago."""
        self._time -= seconds

    def call(self, event: str, said: str = "", **pointers: Any) -> None:
        """A line in the spool."""
        self._time += 0.001
        line = {"time": self._time, "pid": self.pid, "event": event, "session": self.session}
        line |= {"transcript": str(self.transcript), **pointers}
        if said:
            line["said"] = f"{len(said.encode())}:{crc32(said.encode())}"
        append(spool_folder(str(self.root), "claude-code"), self.session, json.dumps(line).encode())

    def payload(self, event: str, **more: Any) -> dict[str, Any]:
        """What the client would send."""
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.root),
            "hook_event_name": event,
            **more,
        }

    def hook(self, event: str, env: dict[str, str] | None = None, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """A real hook."""
        return run_hook(json.dumps(self.payload(event, **more)).encode(), env)


def run_hook(
    payload: bytes, env: dict[str, str] | None = None, client: str = "claude-code"
) -> subprocess.CompletedProcess[bytes]:
    """`cru hook` as a process of its own."""
    command = [sys.executable, "-m", "crucible", "hook", client]
    return subprocess.run(
        command,
        input=payload,
        capture_output=True,
        env={**os.environ, **(env or {})},
        check=False,
        timeout=60,
    )


def spool_lines(root: Path, session: str = SESSION) -> list[dict[str, Any]]:
    path = root / ".crucible" / "spool" / "claude-code" / f"{session}.jsonl"
    return [json.loads(line) for line in path.read_text().split("\n") if line] if path.exists() else []


def log_of(root: Path) -> str:
    path = root / ".crucible" / "log" / "hooks.log"
    return path.read_text() if path.exists() else ""


def files_of(folder: Path) -> Iterable[Path]:
    return (path for path in folder.rglob("*") if path.is_file())


def _stamp(number: int) -> Row:
    return {"timestamp": f"2026-11-21T20:{number // 60:02}:{number % 60:02}.000Z"}


def sync(client: Client) -> None:
    """What a hook starts, in this process."""
    sync_vault(client.root, user_of_test(), {})


def the_note(client: Client) -> Session:
    """The only note of the vault."""
    (note,) = notes_of(Vault(client.root)).values()
    return note.session


def turn(prompt: str, answer: str, *calls: str) -> list[Row]:
    """A prompt, tool calls that went well, and the answer."""
    rows = [user(prompt)]
    for call in calls:
        rows += [assistant(use("Bash", call=call, command=call)), result("ok", call=call)]
    return [*rows, assistant(text(answer), stop="end_turn")]
