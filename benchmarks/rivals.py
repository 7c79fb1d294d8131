"""The programs that imports and queries are compared with: from PyPI and npm in folders of their own, ripgrep as found.

Owns their exact versions and their commands.  All run without network.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "bench"


class Missing(Exception):
    """A rival that is not here; the message says how to install it."""


_AGENTSVIEW, _LOG = "agentsview==0.46.1", "claude-code-log==1.7.0"


def find_agentsview() -> Path:
    """agentsview, which reads the logs below `~/.claude/projects` into a database."""
    return _install_pip(_AGENTSVIEW) / "agentsview"


def find_claude_code_log() -> Path:
    """claude-code-log, which writes a document for each session."""
    return _install_pip(_LOG) / "claude-code-log"


def _install_pip(package: str) -> Path:
    """The folder of the commands of `name==version`, installed once."""
    home = CACHE / package.replace("==", "-")
    binary = home / ("Scripts" if sys.platform == "win32" else "bin")
    if not (home / ".installed").exists():
        print(f"installing {package} into {home.name} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        pip = [str(binary / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        if subprocess.run([*pip, package], check=False).returncode:
            raise Missing(f"pip install {package} failed, see above; it needs the network once")
        (home / ".installed").touch()
    return binary


# --- queries ---------------------------------------------------------------------------------------------------------

_QMD, _BUN = "@tobilu/qmd@2.8.3", "bun@1.4.5"


class Qmd:
    """qmd under bun, with its index and settings in a home of its own, the one that it is run with."""

    def __init__(self, start: Sequence[Path]) -> None:
        self._start = start

    def add(self, folder: Path) -> list[str | Path]:
        """Index the Markdown of a folder; for full-text search only."""
        return [*self._start, "collection", "add", folder]

    def search(self, *words: str) -> list[str | Path]:
        """The best few notes for the words."""
        return [*self._start, "search", " ".join(words)]

    def script(self, script: Path, *arguments: Path) -> list[str | Path]:
        """Run a script under bun; its first argument is the path of qmd's library."""
        bun, qmd = self._start
        return [bun, script, qmd.parents[1] / "index.js", *arguments]

    @staticmethod
    def forget(home: Path) -> None:
        """As if nothing had ever been indexed; what bun has compiled stays."""
        for folder in (".cache/qmd", ".config/qmd"):
            shutil.rmtree(home / folder, ignore_errors=True)


def find_ripgrep() -> Path:
    """`rg` as the user's shell finds it."""
    found = shutil.which("rg")
    if found is None:
        raise Missing("rg is not on PATH: apt-get install ripgrep")
    return Path(found)


def find_qmd() -> Qmd:
    """The newest qmd and the bun that runs it, installed once.

    qmd's launcher starts node, which starts bun: it is left out.  So are the libraries of its models, 0.7 GB that full
    text has no use for; with them it takes the same time.
    """
    qmd = _install_npm(_QMD, "--omit=optional") / "@tobilu/qmd/dist/cli/qmd.js"
    bun = next(_install_npm(_BUN).glob("@oven/bun-*/bin/bun*"), None)
    if bun is None:
        raise Missing(f"npm has no {_BUN} for this machine")
    return Qmd((bun, qmd))


def _install_npm(package: str, *options: str) -> Path:
    """The `node_modules` of `name@version`; no script of a package is run."""
    home = CACHE / package.removeprefix("@").replace("/", "-").replace("@", "-")
    if not (home / ".installed").exists():
        npm = shutil.which("npm")
        if npm is None:
            raise Missing(f"npm is not on PATH, and it brings {package}: apt-get install npm")
        print(f"installing {package} into {home.name} …", flush=True)
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true}\n')
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
        if subprocess.run([npm, "install", *quiet, *options, package], cwd=home, check=False).returncode:
            raise Missing(f"npm install {package} failed, see above; it needs the network once")
        (home / ".installed").touch()
    return home / "node_modules"
