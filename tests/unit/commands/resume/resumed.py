"""A vault, a project and a fake client for tests of resuming a session; each command is a real process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault
from tests.paths import ROOT

PAUSED = "2026-11-21-add-limiter"


def paused_note(name: str = PAUSED, project: str = "shop", status: str = "paused", more: str = "") -> str:
    return f"""---
type: session
session_id: {name}
started: 2026-11-21T20:26:47Z
status: {status}
project: {project}
resume_point: phase-2
pause_reason: lunch
{more}tags:
  - session
---

# Add a rate limiter

```tasks
[
  {{"id": "1", "content": "Write it", "status": "completed", "priority": "medium"}},
  {{"id": "2", "content": "Test it", "status": "in_progress", "priority": "medium"}},
  {{"id": "3", "content": "Ship it", "status": "pending", "priority": "medium"}}
]
```

## Write it @claude-code@2.1.197

started:: 2026-11-21T20:26:47Z

> [!user]
> "Add a rate limiter"

> [!decision]
> Token bucket.
> Rationale: constant memory.

## Tests @claude-code@2.1.197

started:: 2026-11-21T20:30:00Z

It fails.
"""


@dataclass
class Scene:
    """`env` is what every command of the scene gets."""

    root: Path
    vault: Vault
    env: dict[str, str] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.root / "shop"

    def write(self, text: str, name: str = PAUSED) -> Path:
        path = self.vault.sessions / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def session(self, name: str = PAUSED) -> Session:
        return Vault(self.vault.root).load(name).session

    def text(self, name: str = PAUSED) -> str:
        return (self.vault.sessions / f"{name}.md").read_text()

    def start(self, *args: str, **more: Any) -> subprocess.Popen[bytes]:
        """`cru session resume` in the project, running."""
        env = self.env | more.pop("env", {})
        pipes: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        command = [
            sys.executable,
            "-m",
            "crucible",
            "--vault",
            str(self.vault.root),
            "session",
            "resume",
            *args,
        ]
        return subprocess.Popen(command, cwd=more.pop("cwd", self.project), env=env, **(pipes | more))

    def resume(self, *args: str, **more: Any) -> tuple[int, str, str]:
        """The same, to its end: exit code, stdout, stderr."""
        process = self.start(*args, **more)
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    def log(self) -> list[dict[str, Any]]:
        """What the client was given, each time."""
        path = Path(self.env["FAKE_LOG"])
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def put(self, name: str, script: str) -> None:
        """A program on PATH."""
        path = self.root / "bin" / name
        path.write_text(script)
        path.chmod(0o755)


def make_scene(root: Path, vault: Vault) -> Scene:
    """A project that is a folder `shop`, and `claude` on PATH."""
    scene = Scene(root, vault)
    for folder in (scene.project, root / "bin"):
        folder.mkdir()
    fake = Path(__file__).with_name("fake_claude.py")
    scene.put("claude", f'#!/bin/sh\nexec {sys.executable} {fake} "$@"\n')
    scene.env = {
        "HOME": os.environ["HOME"],
        "PATH": f"{root / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "FAKE_LOG": str(root / "fake.log"),
    }
    return scene
