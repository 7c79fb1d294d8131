"""Install the real clients with npm into a cache: versions, folders, and reasons for a failure.

The cache is `.cache/clients` in the checkout, or `CRUCIBLE_CLIENTS_CACHE`; a cache of these versions is used as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from filelock import FileLock

from tests.paths import ROOT

VERSIONS = {
    "@anthropic-ai/claude-code": "2.1.197",
    "@openai/codex": "0.169.0",
    "opencode-ai": "1.18.33",
    "@github/copilot": "1.0.102",
    "@qwen-code/qwen-code": "0.15.10",
    "@mariozechner/pi-coding-agent": "0.73.1",
    "cline": "3.0.65",
    "@google/gemini-cli": "0.61.0",
}
"""No lock file: it would name the registry that it was made with."""

PROGRAMS = {
    "claude-code": "claude",
    "codex": "codex",
    "opencode": "opencode",
    "copilot": "copilot",
    "qwen-code": "qwen",
    "pi": "pi",
    "cline": "cline",
    "gemini": "gemini",
}
CHECKOUT = ROOT
SECONDS = 600
HOME = os.environ.get("HOME") or os.path.expanduser("~")
"""The user's own, read before a test puts another in its place: npm's settings lie there."""


class Unavailable(Exception):
    """The clients cannot be had here; the text says why."""


def client_program(client: str) -> Path:
    """Return the program of a client, installed when it is not there yet.

    It is not started: whether it runs, the tests that play with it find out.
    """
    return _installed() / "node_modules" / ".bin" / PROGRAMS[client]


@cache
def _installed() -> Path:
    folder = Path(os.environ.get("CRUCIBLE_CLIENTS_CACHE") or CHECKOUT / ".cache" / "clients").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "installing.lock"):
        if not _is_whole(folder):
            _install(folder)
    return folder


def _is_whole(folder: Path) -> bool:
    stamp = folder / "installed.json"
    there = all((folder / "node_modules" / ".bin" / program).exists() for program in PROGRAMS.values())
    return there and stamp.exists() and json.loads(stamp.read_text()) == VERSIONS


def _install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    wanted = [f"{name}@{version}" for name, version in VERSIONS.items()]
    command = [
        npm,
        "install",
        "--no-audit",
        "--no-fund",
        "--fetch-retries=1",
        "--prefix",
        str(folder),
        *wanted,
    ]
    env = {**os.environ, "HOME": HOME}
    try:
        ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"npm did not end within {SECONDS} s") from None
    if ran.returncode:
        raise Unavailable(f"npm ended with {ran.returncode}: {ran.stderr.strip()[-600:]}")
    (folder / "installed.json").write_text(json.dumps(VERSIONS))
