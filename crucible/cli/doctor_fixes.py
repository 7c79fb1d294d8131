"""`cru doctor --fix`: show what would change, ask, and change it."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence

import click

from crucible.cli.options import Door
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write
from crucible.core.errors import UsageError
from crucible.integrations.doctor import numbered
from crucible.integrations.doctor.fixes import Fix, FixContext, Found, apply_fix, difference, find_faults
from crucible.integrations.doctor.note_fixes import FIXES

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
    say(f"{fix.name}: {numbered(len(found.paths), 'file')} would change")
    _say_left(found.left)
    for name in found.paths if whole else found.paths[:_EXAMPLES]:
        before, after, target = difference(context, fix, name)
        lines = difflib.unified_diff(before.split("\n"), after.split("\n"), name, target, lineterm="", n=1)
        for line in [f"rename {name} to {target}"] if before == after else lines:
            shown = clean_line(line)
            write(click.style(shown, fg=_HUES.get(line[:1])) if door.terminal else shown)
    hidden = 0 if whole else len(found.paths) - _EXAMPLES
    if hidden > 0:
        say(f"{hidden} more; add --all to see them")


_HUES = {"+": "green", "-": "red"}


def _fix(context: FixContext, fix: Fix, found: Found, *, yes: bool) -> int:
    """Fix after asking; returns how many files could not be fixed."""
    _say_left(found.left)
    if not found.paths:
        say(f"{fix.name}: nothing to fix")
        return len(found.left)
    if not (yes or _is_confirmed(fix, found)):
        say(f"{fix.name}: nothing changed")
        return len(found.left)
    results = list(apply_fix(context, fix, found.paths))
    failed = [f"{name}: {reason}" for name, reason in results if reason]
    say(f"{fix.name}: fixed {numbered(len(results) - len(failed), 'file')}")
    _say_left(failed)
    return len(found.left) + len(failed)


def _is_confirmed(fix: Fix, found: Found) -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        hint = f'Add --yes, or run "cru doctor --fix {fix.name} --dry-run" to see the changes.'
        raise UsageError(f"{numbered(len(found.paths), 'file')} to fix, and no terminal to ask on", hint)
    return click.confirm(f"{fix.name}: change {numbered(len(found.paths), 'file')}?", err=True)


def _say_left(lines: Sequence[str]) -> None:
    for line in lines:
        say(f"not fixed: {clean_line(line)}", style="yellow")
