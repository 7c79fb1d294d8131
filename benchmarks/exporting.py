"""A static site of real sessions, beside the HTML that claude-code-log writes of the same transcripts in the same run.

The vault is imported before; one figure has the time of the import and the export together.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

from benchmarks.importing import import_command, imported_vault, new_vault, transcripts
from benchmarks.kept import cru
from benchmarks.measuring import Figure, Ran, good_run, in_turns, offline
from benchmarks.rivals import Missing, find_claude_code_log
from benchmarks.web import OWN_SIZE, SIZE_BAR, size_over_text

LOG_BAR = 3.0
ROUNDS = 3


class _Turns:
    """Runs of both programs, by name; each run writes to a folder of its own."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch / "exporting"
        self.scratch.mkdir()
        self.projects = transcripts(scratch)
        self.vault = imported_vault(scratch)
        self.ran: defaultdict[str, list[Ran]] = defaultdict(list)
        self.sites: list[Path] = []
        self._prefix = offline()

    def export(self) -> float:
        """Write a new site."""
        self.sites.append(self.scratch / f"site-{len(self.sites)}")
        return self.again()

    def again(self) -> float:
        """Write the last site, which may be there already."""
        command = cru(self.vault, "web", "--export", str(self.sites[-1]), "--yes")
        return self._run("cru", [*self._prefix, *command])

    def log(self) -> float:
        """Write a page for each session, from a copy of the transcripts, beside which the program puts a cache."""
        copy = shutil.copytree(self.projects, self.scratch / "copy")
        options: tuple[str | Path, ...] = (
            "--all-projects",
            "--format",
            "html",
            "--combined",
            "no",
            "--projects-dir",
            copy,
        )
        command: list[str | Path] = [find_claude_code_log(), *options, "--output", self.scratch / "out"]
        return self._run("claude-code-log", [*self._prefix, *command])

    def imports(self) -> float:
        """Import the transcripts into a new vault."""
        command = import_command(new_vault(self.scratch / "home" / "vault"), self.projects)
        return self._run("import", [*self._prefix, *command])

    def _run(self, name: str, command: list[str | Path]) -> float:
        self.ran[name].append(good_run(command, self.scratch))
        return self.ran[name][-1].seconds


def measure(scratch: Path) -> list[Figure]:
    """All figures; without the rival its bar says how to install it."""
    turns = _Turns(scratch)
    name = "static site, claude-code-log 1.7's time over ours"
    in_turns({"cru": turns.export}, ROUNDS)
    ours = sorted(turns.ran["cru"], key=lambda ran: ran.seconds)[ROUNDS // 2]
    in_turns({"import": turns.imports}, 1)
    imported = turns.ran["import"][0]
    try:
        find_claude_code_log()
    except Missing as missing:
        ratio = Figure(name, 0, LOG_BAR, at_least=True, unmeasured=str(missing))
    else:
        # A single run: it takes as long as several of ours.
        in_turns({"claude-code-log": turns.log}, 1)
        log = turns.ran["claude-code-log"][0]
        detail = (
            f"{ours.seconds:.1f} s, {ours.cpu:.1f} s of a processor; claude-code-log {log.seconds:.1f} s, {log.cpu:.1f} s; "
            f"with our import {log.seconds / (ours.seconds + imported.seconds):.1f}×"
        )
        ratio = Figure(name, log.seconds / ours.seconds, LOG_BAR, at_least=True, detail=detail)
    again = turns.again()
    pages = [page.read_text(encoding="utf-8") for page in turns.sites[-1].rglob("*.html")]
    return [
        ratio,
        Figure("static site, an export with nothing new", again, None, "s"),
        Figure("static site, its largest process", ours.peak / 1024 / 1024, None, "MB"),
        Figure(
            f"static site, largest page less {OWN_SIZE // 1000} KB over its text",
            max(map(size_over_text, pages)),
            SIZE_BAR,
            detail=f"{len(pages)} pages, {sum(map(len, pages)):,} characters",
        ),
    ]
