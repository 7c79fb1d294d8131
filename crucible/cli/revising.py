"""The reader's side of `--interactive`: the editor of the environment, and the questions."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import say
from crucible.cli.surroundings import working_directory
from crucible.clients.launch.terminal import check_installed, ending_of, run_client
from crucible.commands.codify.edit_draft import Choice
from crucible.core.errors import UsageError
from crucible.documents.workflow.workflow import Diagnostic
from crucible.documents.workflow.workflow_check import has_errors

__all__ = ["TerminalDesk", "check_terminal", "tell_kept"]

_CHOICES = {"e": Choice.EDIT, "s": Choice.SAVE, "q": Choice.QUIT}


def check_terminal(door: Door) -> None:
    """An editor needs one on all sides; `UsageError` where there is none."""
    if not (door.terminal and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--interactive needs a terminal", "leave it out, and edit the note that is written")


class TerminalDesk:
    """Who sits at the terminal, with the editor of VISUAL or EDITOR, else vi."""

    def edit(self, path: Path) -> str:
        """Run the editor on the file; an editor that is not there raises `CrucibleError`."""
        name = "VISUAL" if os.environ.get("VISUAL", "").strip() else "EDITOR"
        try:
            words = shlex.split(os.environ.get(name, "")) or ["vi"]
        except ValueError as error:
            raise UsageError(f"{name}: {error}", "mend its quotes") from error
        program = check_installed(words[0], os.environ, "set VISUAL or EDITOR to your editor")
        folder = Path(working_directory() or path.parent)
        ended = ending_of(run_client(program, [*words, str(path)], folder, os.environ))
        return f"{words[0]}: {ended}; what stands in the file counts" if ended else ""

    def tell(self, line: str) -> None:
        """On stderr."""
        say(line, style="yellow")

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        """One letter; only a yes saves what has errors."""
        errors = sum(has_errors([one]) for one in problems)
        if sure:
            asked = f"Save it with {errors} error{'' if errors == 1 else 's'}?"
            return Choice.SAVE if click.confirm(asked, default=False, err=True) else self.choose(problems, sure=False)
        found = f"{len(problems)} problem{'' if len(problems) == 1 else 's'}" if problems else "no problems"
        asked = f"{found}: [e]dit again, [s]ave, [q]uit without saving"
        letters = click.Choice([*_CHOICES], case_sensitive=False)
        letter = click.prompt(asked, type=letters, default="e" if errors else "s", show_choices=False, err=True)
        return _CHOICES[letter]


def tell_kept(path: Path) -> None:
    """Where a draft is that was not saved."""
    say(f"the draft is kept: {path}")
