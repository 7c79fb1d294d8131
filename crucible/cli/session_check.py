"""`cru session check`: report problems in session notes, or secrets in the vault."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from crucible.cli.environment import absolute_path
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import WORKERS, Door, flag, format_option, with_options, workers_of
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write_problems
from crucible.cli.vault_access import find_note, open_vault
from crucible.commands.check.check_secrets import Found, Progress, check_secrets, check_staged
from crucible.commands.check.check_vault import check_sessions
from crucible.core.errors import UsageError
from crucible.core.processes import Workers
from crucible.core.text import counted
from crucible.vault.notes.vault import Vault


@click.command
@flag("--secrets", "Look for secrets in the whole vault instead.")
@flag("--staged", "With --secrets: check only lines that the next git commit adds.")
@with_options(WORKERS)
@format_option()
@click.argument("sessions", metavar="[ID]...", type=SESSION, nargs=-1)
@click.pass_obj
def check(
    door: Door,
    sessions: tuple[str, ...],
    *,
    secrets: bool,
    staged: bool,
    jobs: int | None,
    scheduler: str | None,
    copy: str | None,
    format_: str,
) -> int:
    """Check session notes, or look for secrets in the vault.

    \b
    - Without ID, checks every note for parse errors, broken and ambiguous
      links, wrong or repeated ids, and subagents without a parent.
    - --secrets searches notes, settings, templates, memory, tasks, the
      spool and events, also archived ones. It names the rule that matched,
      never the secret.
    - For false positives, add a pattern to "allow" under [secrets] in the
      vault's settings.
    - Each line is "path:line: code: message".

    Exit code: 3 if there is a problem.

    \b
      cru session check
      cru session check 2026-11-21-add-rate-limiter
      cru session check --secrets
    """
    if staged and (sessions or not secrets):
        raise UsageError("--staged requires --secrets and no ID", "cru session check --secrets --staged")
    workers = workers_of(jobs, scheduler, copy)
    if secrets and workers:
        raise UsageError("--secrets works in one process", "remove --jobs and --on")
    vault = open_vault(door, looks=not staged)
    if staged:
        found = check_staged(vault, _git_folder(vault))
    else:
        found = _secrets(vault, sessions) if secrets else _problems(vault, sessions, workers)
    write_problems([one._asdict() for one in found], format_)
    _sum_up(found, "secret" if secrets else "problem")
    if staged and found:
        _say_what_to_do(vault)
    return PROBLEMS_FOUND if found else 0


def _problems(vault: Vault, sessions: tuple[str, ...], workers: Workers | None) -> list[Found]:
    findings = check_sessions(vault, [find_note(vault, s) for s in sessions], workers)
    names = {path: vault.relative(path) for path in {f.path for f in findings}}
    return [Found(names[f.path], f.problem.line, f.problem.code, f.problem.message) for f in findings]


def _secrets(vault: Vault, sessions: tuple[str, ...]) -> list[Found]:
    notes = [find_note(vault, session) for session in sessions]
    with _counting() as progress:
        return check_secrets(vault, notes, progress)


def _git_folder(vault: Vault) -> Path:
    """Return the folder to run git in: paths that git passes to a hook are relative to its working directory."""
    in_hook = "GIT_INDEX_FILE" in os.environ or "GIT_DIR" in os.environ
    return Path(absolute_path(".")) if in_hook else vault.root


def _sum_up(found: list[Found], what: str) -> None:
    unread = sum(one.code == "unreadable" for one in found)
    number = len(found) - unread
    say(counted(number, what, zero="no") + (f", {unread} unreadable" if unread else ""))


def _say_what_to_do(vault: Vault) -> None:
    config = clean_line(str(vault.root / ".crucible" / "config.toml"))
    say('to fix it: replace the secret with `[REDACTED:rule]`, then "git add" the file;')
    say("     if others may have seen it, revoke it")
    say(f"to allow it: add a regular expression that matches it to `allow` under `[secrets]` in {config}")


@contextmanager
def _counting() -> Iterator[Progress]:
    """Show a progress line on a terminal's stderr, and erase it at the end."""
    shown = sys.stderr.isatty()

    def show(done: int, total: int) -> None:
        if shown:
            click.echo(f"\rlooking for secrets: {done:,} of {total:,} files", err=True, nl=False)

    try:
        yield show
    finally:
        if shown:
            click.echo("\r\x1b[K", err=True, nl=False)
