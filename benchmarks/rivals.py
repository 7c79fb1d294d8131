"""The two programs that imports are compared with, each in a virtual environment of its own.

Owns their exact versions and the commands that turn a whole projects folder into documents.  Both run without network.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["RIVALS", "Rival", "install"]

CACHE = Path(__file__).resolve().parents[1] / ".cache" / "bench"


@dataclass(frozen=True, slots=True)
class Rival:
    """One way to run one of them.

    `alike`: it does what our import does, a document for each session with its subagents' work.  The others do less,
    and stand here so that nobody has to wonder.  `documents` counts what it wrote for `sessions` sessions.
    """

    name: str
    package: str
    alike: bool
    command: Callable[[Path, Path, Path], Sequence[str | Path]]
    documents: Callable[[Path], int]


def _transcripts(*more: str) -> Callable[[Path, Path, Path], Sequence[str | Path]]:
    def command(binary: Path, projects: Path, out: Path) -> Sequence[str | Path]:
        return [binary / "claude-code-transcripts", "all", "--quiet", *more, "-s", projects, "-o", out]

    return command


def _log(*more: str) -> Callable[[Path, Path, Path], Sequence[str | Path]]:
    def command(binary: Path, projects: Path, out: Path) -> Sequence[str | Path]:
        return [
            binary / "claude-code-log",
            "--all-projects",
            *more,
            "--projects-dir",
            projects,
            "--output",
            out,
        ]

    return command


def _count(pattern: str) -> Callable[[Path], int]:
    return lambda out: sum(1 for _ in out.glob(pattern))


_TRANSCRIPTS, _LOG = "claude-code-transcripts==0.6", "claude-code-log==1.7.0"

RIVALS = (
    Rival(
        "claude-code-transcripts 0.6, all --include-agents",
        _TRANSCRIPTS,
        alike=True,
        command=_transcripts("--include-agents"),
        documents=_count("*/*/page-001.html"),
    ),
    Rival(
        "claude-code-transcripts 0.6, all (leaves subagents out)",
        _TRANSCRIPTS,
        alike=False,
        command=_transcripts(),
        documents=_count("*/*/page-001.html"),
    ),
    Rival(
        # With --no-cache, which would be faster, 1.7.0 writes no file for a session at all.
        "claude-code-log 1.7, Markdown, a file for each session",
        _LOG,
        alike=True,
        command=_log("--format", "md", "--combined", "no"),
        documents=_count("*/session-*.md"),
    ),
    Rival(
        "claude-code-log 1.7, Markdown, one file for all sessions, no cache",
        _LOG,
        alike=False,
        command=_log("--format", "md", "--combined", "only", "--no-cache"),
        documents=lambda out: sum(
            file.read_text(encoding="utf-8").count("No, jitter must never be zero. Add a floor.") > 0
            for file in out.glob("*/combined_transcripts*.md")
        ),
    ),
    Rival(
        "claude-code-log 1.7, as it comes (HTML, both)",
        _LOG,
        alike=False,
        command=_log(),
        documents=_count("*/session-*.html"),
    ),
)


def install(package: str) -> Path:
    """The folder of the commands of `name==version`, installed once."""
    home = CACHE / package.replace("==", "-")
    binary = home / ("Scripts" if sys.platform == "win32" else "bin")
    if not (home / ".installed").exists():
        print(f"installing {package} into {home.name} …", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        pip = [str(binary / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, package], check=True)
        (home / ".installed").touch()
    return binary
