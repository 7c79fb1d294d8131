"""A stage for one test: a home, a project with git, a default vault, and `cru` on the PATH.

It calls the product as a user would (the program, in the project, with the stage's environment) and waits until all
processes that hooks started have ended.  `accounts` and `plain_notes` check the results.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from crucible.documents.session.session import Session
from crucible.integrations.hooks.client_hook import CLIENTS
from crucible.vault.events.spool_reader import load_spool
from crucible.vault.notes.vault import Vault
from samples.waiting import SECONDS, wait_until
from tests.clients.clients import quiet_environment
from tests.running import Cru

GIT = ("git", "-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "init.defaultBranch=main")


def cru_folder() -> str:
    """Where `cru` of this very checkout lies."""
    return str(Path(sys.executable).parent)


class Stage:
    """`root` holds all of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home, self.project, self.vault = root / "home", root / "project", root / "vault"
        self.more: dict[str, str] = {}
        self.said = ""
        """What the last `cru` said on standard error."""

    def env(self, url: str = "http://127.0.0.1:9") -> dict[str, str]:
        node = [str(Path(found).parent) for found in [shutil.which("node")] if found]
        path = list(dict.fromkeys([cru_folder(), *node, "/usr/local/bin", "/usr/bin", "/bin"]))
        return quiet_environment(self.home, self.project, path, url) | self.more

    def cru(self, *args: str | Path, code: int = 0, given: str | None = None) -> str:
        """Run `cru` in the project with this input; its standard output."""
        ran = subprocess.run(
            ["cru", *map(str, args)],
            cwd=self.project,
            env=self.env(),
            executable=os.path.join(cru_folder(), "cru"),
            input=given,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        self.said = ran.stderr
        told = f"cru {' '.join(map(str, args))} ended with {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        assert ran.returncode == code, told
        return ran.stdout

    def write(self, files: Mapping[str, str]) -> None:
        """Put files into the project."""
        for name, text in files.items():
            (self.project / name).parent.mkdir(parents=True, exist_ok=True)
            (self.project / name).write_text(text, encoding="utf-8")

    # --- what the product made ---------------------------------------------------------------------------------------

    def waiting(self) -> list[str]:
        """The sessions of which the spool holds more than the notes."""
        spooled = (each for client in CLIENTS for each in load_spool(self.vault, client))
        return [each.session for each in spooled if each.has_backlog]

    def settle(self) -> None:
        """Wait until the notes hold what the spool points at and nothing of ours runs."""
        wait_until(
            lambda: not self.waiting() and not self.running(),
            lambda: f"the spool waits for nothing: {self.waiting()} {self.running()}\n{self.log()}",
            pause=0.1,  # it looks at all processes
        )

    def running(self) -> list[str]:
        """Processes of ours that work on this vault."""
        return [told for told in _processes() if "crucible" in told and str(self.vault) in told]

    def log(self) -> str:
        """Return the errors that hooks and the background process logged."""
        logs = [path for path in sorted(self.vault.glob(".crucible/log/*")) if path.name != "asked.jsonl"]
        return "\n".join(path.read_text(errors="replace") for path in logs)

    def asked(self) -> list[dict[str, Any]]:
        """What the answers of agents took, a row each."""
        path = self.vault / ".crucible" / "log" / "asked.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def sessions(self) -> list[Session]:
        """Every session of the vault, by our own reading, the oldest first."""
        vault = Vault(self.vault)
        found = [vault.read(path).session for path in vault.session_paths()]
        return sorted(found, key=lambda s: (str(s.started), s.id))

    def mains(self) -> list[Session]:
        """Return the sessions that are not subagents."""
        return [session for session in self.sessions() if not session.parent]

    def note_path(self, session_id: str) -> Path:
        return next(p for p in Vault(self.vault).session_paths() if p.name == f"{session_id}.md")

    def note_text(self, session_id: str) -> str:
        return self.note_path(session_id).read_bytes().decode()

    def holding(self, needle: str) -> list[str]:
        """Return the vault's files with the needle in their bytes or name, ignoring case: names are in lower case."""
        wait_until(lambda: not any("recall_update" in told for told in self.running()), self.log, pause=0.1)
        files = [p for p in self.vault.rglob("*") if p.is_file()]
        data = needle.lower().encode()
        found = [p for p in files if data in p.read_bytes().lower() or needle.lower() in str(p).lower()]
        return [str(p.relative_to(self.vault)) for p in found]


def make_stage(root: Path, files: Mapping[str, str] | None = None) -> Stage:
    """A stage whose project holds these files, committed."""
    stage = Stage(root)
    for folder in (stage.home / "tmp", stage.project):
        folder.mkdir(parents=True)
    stage.write(files or {})
    for command in (["init", "-q", "."], ["add", "-A"], ["commit", "-qm", "Initial commit", "--allow-empty"]):
        subprocess.run([*GIT, *command], cwd=stage.project, check=True, env=stage.env())
    # Hundreds of stages begin with this, so it starts no process.
    made = Cru()("init", stage.vault, "--default", env=stage.env() | {"XDG_CONFIG_HOME": ""})
    assert made.exit_code == 0, made.output
    return stage


def _processes() -> Iterator[str]:
    """The command lines of what runs here; nothing where there is no `/proc`."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
