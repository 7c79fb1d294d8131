"""`cru doctor --fix`: show what would change, ask, and change it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from crucible.cli.import_run import import_options, import_with_progress
from crucible.cli.options import Door
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_result import Search
from crucible.core.errors import UsageError
from crucible.core.text import counted
from crucible.integrations.doctor.fixes import Fix, FixContext, Found, apply_fix, difference, find_faults
from crucible.integrations.doctor.note_fixes import FIXES
from crucible.integrations.doctor.transcript_checks import ClientSession
from crucible.vault.notes.vault import Vault

TRANSCRIPTS = "transcripts"
"""The name of the fix that imports sessions without a note."""
_EXAMPLES = 3
"""Differences shown by a dry run without `--all`."""


def fix_faults(setup: FixContext, names: Sequence[str], door: Door, *, dry_run: bool, yes: bool, whole: bool) -> int:
    """Fix what the named checks find; returns the exit code."""
    left = 0
    for fix in FIXES:
        if fix.name in names or "all" in names:
            context = FixContext(setup.vault, setup.zone)  # an earlier fix may have moved notes
            found = find_faults(context, [fix])[fix.name]
            if dry_run:
                _show(context, fix, found, door, whole=whole)
                left += len(found.left)
            else:
                left += _fix(context, fix, found, yes=yes)
    return PROBLEMS_FOUND if left else 0


def _show(context: FixContext, fix: Fix, found: Found, door: Door, *, whole: bool) -> None:
    say(f"{fix.name}: {counted(len(found.paths), 'file')} would change")
    _say_left(found.left)
    for name in found.paths if whole else found.paths[:_EXAMPLES]:
        before, after, target = difference(context, fix, name)
        lines = difflib.unified_diff(before.split("\n"), after.split("\n"), name, target, lineterm="", n=1)
        for line in [f"rename {name} to {target}"] if before == after else lines:
            shown = clean_line(line)
            write(click.style(shown, fg=_HUES.get(line[:1])) if door.terminal else shown)
    _say_hidden(0 if whole else len(found.paths) - _EXAMPLES)


_HUES = {"+": "green", "-": "red"}


def _fix(context: FixContext, fix: Fix, found: Found, *, yes: bool) -> int:
    """Fix after asking; returns how many files could not be fixed."""
    _say_left(found.left)
    if not found.paths:
        say(f"{fix.name}: nothing to fix")
        return len(found.left)
    count = counted(len(found.paths), "file")
    if not (yes or _is_confirmed(fix.name, f"{count} to fix", f"change {count}")):
        say(f"{fix.name}: nothing changed")
        return len(found.left)
    results = list(apply_fix(context, fix, found.paths))
    failed = [f"{name}: {reason}" for name, reason in results if reason]
    say(f"{fix.name}: fixed {counted(len(results) - len(failed), 'file')}")
    _say_left(failed)
    return len(found.left) + len(failed)


def _is_confirmed(name: str, work: str, question: str) -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        hint = f'Add --yes, or run "cru doctor --fix {name} --dry-run" to see the changes.'
        raise UsageError(f"{work}, and no terminal to ask on", hint)
    return click.confirm(f"{name}: {question}?", err=True)


def import_missing(vault: Vault, missing: Sequence[ClientSession], *, dry_run: bool, yes: bool, whole: bool) -> int:
    """Import the sessions that have no note, after asking; returns the exit code."""
    count = counted(len(missing), "session")
    if not missing:
        say(f"{TRANSCRIPTS}: nothing to fix")
        return 0
    if dry_run:
        say(f"{TRANSCRIPTS}: {count} would be imported")
        for native in missing if whole else missing[:_EXAMPLES]:
            write(clean_line(str(native.transcript.path)))
        _say_hidden(0 if whole else len(missing) - _EXAMPLES)
        return 0
    if not (yes or _is_confirmed(TRANSCRIPTS, f"{count} to import", f"import {count}")):
        say(f"{TRANSCRIPTS}: nothing changed")
        return 0
    paths: dict[str, list[Path]] = {}
    for native in missing:
        paths.setdefault(native.dialect.name, []).append(native.transcript.path)
    searches = [Search(DIALECTS[name], tuple(dict.fromkeys(found))) for name, found in paths.items()]
    reports = import_with_progress(vault, import_options(), searches)
    say(f"{TRANSCRIPTS}: {counted(sum(len(report.created) for report in reports), 'note')} created")
    left = [f"{row.path}: {row.reason}" for report in reports for row in report.unreadable]
    _say_left(left)
    return PROBLEMS_FOUND if left else 0


def _say_hidden(count: int) -> None:
    if count > 0:
        say(f"{count} more; add --all to see them")


def _say_left(lines: Sequence[str]) -> None:
    for line in lines:
        say(f"not fixed: {clean_line(line)}", style="yellow")
