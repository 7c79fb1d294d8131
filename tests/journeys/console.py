"""What every visible command prints on terminals of 80 and 40 columns and in a pipe, as text for golden files.

`python -m tests.journeys.console` writes it to stdout, as an object of file names and texts.  The clock stands still,
and the home folder is made anew for every run: the example vault, a project and Claude Code's transcripts.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import gc
import importlib
import json
import os
import pty
import re
import select
import shutil
import struct
import sys
import tempfile
import termios
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

# Before the clock is replaced: its modules in C look at the size of a `datetime`.
import crucible.commands.lake.lake_export  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
LIMITER, AVATARS = "2026-11-21-add-rate-limiter-project", "2026-11-20-move-avatars-to-object-storage"
WORKFLOW, ITEM = "add-a-rate-limiter-to-this-project", "the-small-servers-python-has-no-fts5"
PUZZLE = "2026-11-19-upgrade-the-database-puzzle-dc8b3ecf.puzzle.md"
_PREPARED = (
    ("init", "~/notes", "--default", "--no-obsidian"),
    ("session", "learn", "--all", "--type", "puzzle", "--export", "puzzle", "-o", "~/puzzles"),
)

CONSOLE: Mapping[str, tuple[str, ...]] = {
    "": (),
    "session list": ("session",),
    "session show": ("session", "show", "2026-11-16", "--phase", "1"),
    "session stats": ("session", "stats", "--by", "agent"),
    "session resume": ("session", "resume", LIMITER, "--budget", "400"),
    "session pause": ("session", "pause", AVATARS, "--reason", "Lunch."),
    "session end": ("session", "end", AVATARS, "--summary", "All moved."),
    "session codify": ("session", "codify", LIMITER, "--output", "-"),
    "session learn": ("session", "learn", "--all"),
    "session brief": ("session", "brief", LIMITER),
    "session check": ("session", "check"),
    "session rename": ("session", "rename", AVATARS, "2026-11-20-avatars"),
    "session archive": ("session", "archive", "2026-11-18-choose-a-search-index"),
    "session delete": ("session", "delete", AVATARS, "--yes"),
    "recall": ("recall", "must", "the", "retry", "wait", "never", "be", "zero", "--limit", "2"),
    "inbox list": ("inbox",),
    "inbox answer": ("inbox", "answer", "ae9a6f", "They are in the safe."),
    "briefing": ("briefing", "--project", "bookshelf"),
    "report": ("report", "--since", "2026-11-18", "--project", "bookshelf"),
    "launch": ("launch", "--with", "claude"),
    "web": ("web", "--port", "70000"),
    "share": ("share", LIMITER, "--level", "talk", "--yes", "--output", "~/limiter.html"),
    "task list": ("task", "--all"),
    "task show": ("task", "show", f"{AVATARS}.1"),
    "task add": ("task", "add", "Move the old thumbnails", "--session", AVATARS),
    "task pick": ("task", "pick", f"{AVATARS}.3"),
    "task annotate": ("task", "annotate", f"{AVATARS}.3", "--discovery", "The old names are unique."),
    "task done": ("task", "done", f"{AVATARS}.2"),
    "knowledge add": ("knowledge", "add", "decision", "Retry with jitter", "At most five times."),
    "knowledge list": ("knowledge", "--all-projects"),
    "knowledge show": ("knowledge", "show", ITEM),
    "knowledge search": ("knowledge", "search", "fts5", "--all-projects"),
    "knowledge retire": ("knowledge", "retire", ITEM),
    "knowledge merge": ("knowledge", "merge", ITEM, "fts5-finds-a-word-in-40-000-books-in-4-ms"),
    "knowledge verify": ("knowledge", "verify", ITEM),
    "knowledge feedback": ("knowledge", "feedback", ITEM, "--useful"),
    "knowledge capture": ("knowledge", "capture", LIMITER),
    "knowledge stats": ("knowledge", "stats"),
    "knowledge check": ("knowledge", "check"),
    "case list": ("case",),
    "case show": ("case", "show", "2026-11-16-import-books-from-csv-decision-b01b0210"),
    "case accept": ("case", "accept", "2026-11-16-import-books-from-csv-decision-b01b0210"),
    "case reject": ("case", "reject", "2026-11-16-import-books-from-csv-decision-b01b0210"),
    "case check": ("case", "check"),
    "case play": ("case", "play", f"~/puzzles/{PUZZLE}", "--answer", f"~/puzzles/{PUZZLE}"),
    "history list": ("history",),
    "history show": ("history", "show", "2026-11-18-choose-a-search-index"),
    "history search": ("history", "search", "index"),
    "history prune": ("history", "prune"),
    "workflow list": ("workflow",),
    "workflow show": ("workflow", "show", WORKFLOW),
    "workflow check": ("workflow", "check"),
    "workflow graph": ("workflow", "graph", WORKFLOW),
    "workflow run": ("workflow", "run", WORKFLOW, "--dry-run"),
    "workflow history": ("workflow", "history", WORKFLOW),
    "workflow sessions": ("workflow", "sessions"),
    "init": ("init", "~/new", "--default"),
    "trust": ("trust",),
    "import": ("import", "~/transcripts"),
    "install": ("install", "claude-code", "--dry-run"),
    "doctor": ("doctor",),
    "team push": ("team", "push"),
    "team sync": ("team", "sync"),
    "team status": ("team", "status"),
    "team setup": ("team", "setup"),
    "team prune": ("team", "prune"),
    "lake export": ("lake", "export", "~/lake"),
    "lake query": ("lake", "query", "--lake", "~/lake"),
    "completion": ("completion", "klingon"),
}
"""The arguments to show each visible command with; the first is `cru` alone."""

_SECTIONS = (("80 columns", 80), ("40 columns", 40), ("pipe", None))
_HOME = "/tmp/cru-00000000"
"""Stands in the files for the home folder, which has a name of the same length: columns and line breaks stay."""
_CURSOR = re.compile(r"(\n|\r|\x1b\[1A|\x1b\[2?K|\x1b\[\?\d+[hl])")
"""How progress bars are drawn and erased."""
_GIT = shutil.which("git") or "/usr/bin/git"
_DATETIME = dt.datetime
_NOW = _DATETIME(2026, 11, 22, 9, 30, tzinfo=dt.UTC)


def golden_name(command: str) -> str:
    """The golden file's name of a command."""
    return f"{command.replace(' ', '-') or 'cru'}.txt"


class _AnyMoment(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _DATETIME)


class _Then(dt.datetime, metaclass=_AnyMoment):
    """A clock that stands still; its values are plain ones, as compiled modules want them."""

    def __new__(cls, *parts: Any, **named: Any) -> dt.datetime:  # type: ignore[misc]
        return _DATETIME(*parts, **named)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
        return _NOW.astimezone(tz) if tz else _NOW.replace(tzinfo=None)


class Recorder:
    """Runs commands in forks of this process, each in a home folder made anew."""

    def __init__(self, home: Path) -> None:
        self.home, self._kept = home, home.with_name(f"{home.name}-kept")
        self._make_home()

    def _make_home(self) -> None:
        """Set up the home folder and keep a copy of it, with an index."""
        shutil.copytree(ROOT / "vault-example", self.home / "notes", ignore=shutil.ignore_patterns("index", "cache"))
        shutil.copytree(ROOT / "tests/data/transcripts/claude-code", self.home / "transcripts")
        (self.home / "shop").mkdir()
        (self.home / "bin").mkdir()  # without the agents of this machine
        (self.home / "bin" / "git").symlink_to(_GIT)
        for args in _PREPARED:
            self._run(args, None)
        shutil.copytree(self.home, self._kept, symlinks=True)
        self._restore()

    def _restore(self) -> None:
        """Make the home folder anew."""
        shutil.rmtree(self.home)
        shutil.copytree(self._kept, self.home, symlinks=True)
        self._files = self._look()

    def _look(self) -> frozenset[tuple[str, int]]:
        """All files but caches, with their times of change."""
        found: list[tuple[str, int]] = []
        for folder, names, files in os.walk(self.home):
            names[:] = [name for name in names if name not in ("cache", "index")]
            paths = [os.path.join(folder, name) for name in files]
            found += [(path, os.stat(path).st_mtime_ns) for path in paths]
        return frozenset(found)

    def golden_text(self, args: Sequence[str]) -> str:
        """Run a command in each surrounding; returns the sections of its golden file."""
        return "\n".join(self._section(title, columns, args) for title, columns in _SECTIONS)

    def _section(self, title: str, columns: int | None, args: Sequence[str]) -> str:
        code, shown = self._run(args, columns)
        if self._look() != self._files:
            self._restore()
        lines = shown.replace(str(self.home), _HOME).split("\n")
        called = " ".join(f'"{word}"' if " " in word else word for word in ("cru", *args))
        return "\n".join((f"== {title} ==", f"$ {called}", *map(str.rstrip, lines), f"[exit {code}]", ""))

    def _run(self, args: Sequence[str], columns: int | None) -> tuple[int, str]:
        """Return the exit code, and what was written: by time on a terminal, else stdout before stderr."""
        words = [word.replace("~", str(self.home), 1) if word.startswith("~/") else word for word in args]
        pairs = [pty.openpty()] if columns else [os.pipe(), os.pipe()]
        if columns:
            fcntl.ioctl(pairs[0][1], termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        child = os.fork()
        if child == 0:
            self._become(words, pairs[0][1], pairs[-1][1])
        for _, side in pairs:
            os.close(side)
        parts = _read_all([side for side, _ in pairs])
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        self._import_what_was()
        said = "".join(f"2> {line}\n" for line in parts[-1].splitlines()) if not columns else ""
        return code, (_as_seen(parts[0]) if columns else parts[0]) + said

    def _become(self, words: list[str], out: int, err: int) -> NoReturn:
        """Run `cru` in this fork, as its console script does."""
        try:
            nothing = os.open(os.devnull, os.O_RDONLY)
            for at, number in enumerate((nothing, out, err)):
                os.dup2(number, at)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", 1), open(2, "w", 1)  # noqa: SIM115
            sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
            os.chdir(self.home / "shop")
            from crucible.cli.main import main as cru  # after the clock has stopped

            code = cru(words)
            sys.stderr.flush()
            Path(f"{self.home}-modules").write_text("\n".join(sys.modules))
        except BaseException:  # noqa: BLE001  nothing may come back into the parent's loop
            traceback.print_exc()
            code = 99
        os._exit(code)

    def _import_what_was(self) -> None:
        """Import what the last command imported late, so that the next forks have it."""
        with suppress(FileNotFoundError):
            for name in Path(f"{self.home}-modules").read_text().splitlines():
                if name not in sys.modules:
                    with suppress(Exception):
                        importlib.import_module(name)
        gc.freeze()  # a fork then copies less


def _read_all(sides: Sequence[int]) -> list[str]:
    """Read from each until its other side is closed."""
    parts = dict.fromkeys(sides, b"")
    left = {*sides}
    while left:
        for side in select.select([*left], [], [])[0]:
            data = b""
            with suppress(OSError):  # Linux says so when a terminal's other side is closed
                data = os.read(side, 65_536)
            parts[side] += data
            if not data:
                left.remove(side)
                os.close(side)
    return [parts[side].decode("utf-8", "replace") for side in sides]


def _as_seen(text: str) -> str:
    """What a terminal shows in the end, where a progress bar was drawn over and over and erased."""
    lines, row, column = [""], 0, 0
    for part in _CURSOR.split(text):
        if part == "\n":
            row, column = row + 1, 0
            lines += [""] * (row == len(lines))
        elif part == "\r":
            column = 0
        elif part == "\x1b[1A":
            row -= 1
        elif part in ("\x1b[K", "\x1b[2K"):
            lines[row] = lines[row][:column] if part == "\x1b[K" else " " * column
        elif not part.startswith("\x1b"):
            lines[row] = lines[row][:column] + part + lines[row][column + len(part) :]
            column += len(part)
    return "\n".join(lines)


def main(wanted: Sequence[str]) -> None:
    """Write the texts of all golden files, or of the commands named."""
    import tantivy  # noqa: F401  compiled modules take the clock at hand, and want a real one

    with suppress(ImportError):
        importlib.import_module("pandas")  # pyarrow loads it where it is installed

    dt.datetime = _Then  # type: ignore[misc]
    in_memory = tempfile.gettempdir() == "/dev/shm"  # a name as long as that of `_HOME` in either place
    home = Path(tempfile.mkdtemp(prefix="" if in_memory else "cru-", dir="/dev/shm" if in_memory else "/tmp")).resolve()
    os.environ.clear()
    os.environ.update(
        HOME=str(home), PATH=str(home / "bin"), LANG="C.UTF-8", TERM="xterm-256color", NO_COLOR="1", TZ="UTC"
    )
    try:
        recorder = Recorder(home)
        named = {name: args for name, args in CONSOLE.items() if not wanted or name in wanted}
        json.dump({golden_name(name): recorder.golden_text(args) for name, args in named.items()}, sys.stdout)
    finally:
        for path in home.parent.glob(f"{home.name}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
