"""`cru import`: bring clients' sessions into the vault.

Most imports find nothing new, and these import next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from crucible import __version__
from crucible.cli.environment import vault_place
from crucible.cli.import_summary import Imported, found_something, import_data, write_summary
from crucible.cli.options import Door, GivenPath, flag, format_option, is_data, since_option
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write_data
from crucible.clients.registry import CLIENTS, DIALECTS, Dialect, client_of
from crucible.commands.idle.idle_check import is_due
from crucible.commands.imports.import_answer import Question, Shown, answer, ask
from crucible.commands.imports.import_result import UnreadableRow
from crucible.core.errors import UsageError
from crucible.core.settings.settings import VaultSettings

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class _ClientOrPath(GivenPath):
    """A client's name, which becomes its `Dialect`, or a path to a file or folder, which may be missing.

    Pipes are refused, since they can be read only once.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Look up the client, or check the file type; a path without a name, such as `.`, is made absolute."""
        client = client_of(value, CLIENTS) if isinstance(value, str) else None
        if client:
            return DIALECTS[client.name]
        path = super().convert(value, param, ctx)
        if path.exists() and not (path.is_file() or path.is_dir()):
            self.fail(f"{clean_line(str(path))}: neither a file nor a folder", param, ctx)
        if _is_mistyped(value, path):
            self.fail(f"{clean_line(value)}: neither a client ({_CLIENTS}) nor a path", param, ctx)
        path = path if path.name else Path(os.path.abspath(path))
        if not path.name:
            self.fail(f"{path}: name a folder in it", param, ctx)
        return path

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete client names, otherwise files."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only needed for shell completion

        names = [] if ctx.params.get(param.name or "") else [name for name in DIALECTS if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or super().shell_complete(ctx, param, incomplete)


_CLIENTS = ", ".join(DIALECTS)


def _is_mistyped(value: object, path: Path) -> bool:
    """True for a plain word that is no path; it is more likely a client's name than a missing file."""
    return isinstance(value, str) and value.replace("-", "").isalnum() and not path.exists()


@click.command("import")
@click.argument("named", metavar="[CLIENT] [PATH]...", type=_ClientOrPath(path_type=Path), nargs=-1)
@click.option("--project", metavar="NAME", help="Only sessions of this project.")
@since_option("Only what was written since: 2026-11-21, 12h, 7d, 2w.")
@flag("--refresh", "Also upgrade notes of older versions; your edits stay.")
@flag("--whole-turns", "Skip a turn that has not ended, unless its log has not changed for a minute.")
@flag("--dry-run", "Show what would be done and write nothing.")
@click.option("-v", "--verbose", is_flag=True, help="List every session.")
@format_option()
@click.pass_obj
def import_sessions(
    door: Door, /, *, named: tuple[Dialect | Path, ...], format_: str, verbose: bool, **given: Any
) -> int:
    """Import sessions: each becomes a note, each subagent a linked note.

    \b
    - Without CLIENT, every client found on this machine is imported.
    - CLIENT is claude-code, cline, codex, copilot, cursor, gemini, goose,
      kilo, opencode, pi, qwen-code or zed: only its sessions.
    - PATH is a log, or a folder of them. Without CLIENT, the client is
      detected. "./codex" is a path, "codex" a client.

    Importing again adds only what is new and keeps your edits.

    Exit codes: 3 when something could not be read (the rest is imported), 1 when a named client has no sessions here.

    \b
      cru import
      cru import --since 7d --project shop
      cru import codex --dry-run
      cru import claude-code ~/.claude/projects/-home-me-shop
      cru import ~/backup/agents --format json
    """
    dialects = [one for one in named if isinstance(one, Dialect)]
    paths = tuple(one for one in named if isinstance(one, Path))
    if len(dialects) > 1 or (dialects and named[0] is not dialects[0]):
        raise UsageError("CLIENT is one name, before the paths", "cru import codex PATH")
    imported, unknown = _import(door, dialects, paths, given)
    if is_data(format_):
        write_data(import_data(imported, unknown), format_)
    else:
        write_summary(imported, unknown, verbose=verbose, dry_run=given["dry_run"])
        _say_next(imported, unknown, paths, dry_run=given["dry_run"])
    return PROBLEMS_FOUND if unknown or any(report.unreadable for _, report in imported) else 0


def _import(door: Door, dialects: Sequence[Dialect], paths: Sequence[Path], given: dict[str, Any]) -> Shown:
    """Import, unless nothing has changed since the last import of the same folders."""
    root, settings = vault_place(door)
    is_plain = not any(value for name, value in given.items() if name != "whole_turns")
    question = None if not is_plain else _question(root, settings, dialects, paths)
    if question and not is_due(root, settings) and (known := answer(question)):
        return known
    from crucible.cli.import_run import run_import  # noqa: PLC0415  imports five times as much

    return run_import(root, settings, dialects, paths, question, given)


def _question(
    root: str, settings: VaultSettings, dialects: Sequence[Dialect], paths: Sequence[Path]
) -> Question | None:
    dialects = dialects or [*DIALECTS.values()]
    if paths:
        return ask(root, settings, __version__, [(dialects, path) for path in paths])
    folders = [((dialect,), dialect.default_folder(os.environ, Path.home())) for dialect in dialects]
    return ask(root, settings, __version__, [(each, folder) for each, folder in folders if folder.exists()])


def _say_next(imported: Imported, unknown: Sequence[UnreadableRow], paths: Sequence[Path], *, dry_run: bool) -> None:
    """Say what to do next, once."""
    rows = [*unknown, *(row for _, report in imported for row in report.unreadable)]
    if any(not row.path.exists() for row in rows):
        say('Name a file or folder that exists, or no path for the clients\' own folders: "cru import --help".')
    elif not rows and not any(found_something(report) for _, report in imported):
        looked = paths or [each.default_folder(os.environ, Path.home()) for each in DIALECTS.values()]
        say(f"No sessions found. Looked in: {', '.join(map(str, looked))}")
    elif any(report.created for _, report in imported) and not dry_run:
        say('Run "cru session list" to see them, or "cru" for the status of this project.')
