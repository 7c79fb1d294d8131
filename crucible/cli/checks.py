"""`cru session check`."""

from __future__ import annotations

import click

from crucible.checking.checking import check_sessions
from crucible.cli.door import Door
from crucible.cli.opening import find_note, open_vault
from crucible.cli.output import PROBLEMS_FOUND, say, write
from crucible.cli.session_ref import SESSION

__all__ = ["check"]


@click.command
@click.argument("sessions", metavar="[ID]...", type=SESSION, nargs=-1)
@click.pass_context
def check(ctx: click.Context, sessions: tuple[str, ...]) -> None:
    """Name every problem as `path:line: code: message`; exit code 3 when there is one.

    Without an ID every session note is checked: what does not parse, broken and ambiguous links, ids that are not the
    file's name, ids that two notes share, subagents and parents that do not name each other.

    \b
      cru session check
      cru session check 2026-11-21-add-rate-limiter
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door)
    findings = check_sessions(vault, [find_note(vault, s) for s in sessions])
    for finding in findings:
        problem = finding.problem
        write(f"{vault.relative(finding.path)}:{problem.line}: {problem.code}: {problem.message}")
    say(f"{len(findings) or 'no'} {'problem' if len(findings) == 1 else 'problems'}")
    ctx.exit(PROBLEMS_FOUND if findings else 0)
