"""`cru task add`: add a task, or let an agent break a description into several."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from crucible.analysis.review.agent_questions import Agent
from crucible.cli.command_agent import agent_named, as_agent, say_spent, user_budget
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import TEXT, Door, flag, format_option, is_data, yes_option
from crucible.cli.output import say, warn, write, write_data
from crucible.cli.recall_engine import RecallScope, open_recall
from crucible.cli.record_options import recording_place
from crucible.cli.task_commands import counted, say_circles, task_json
from crucible.cli.task_lookup import find_session, our_session
from crucible.cli.vault_access import open_vault
from crucible.commands.record.tasks import NewTask, TaskWriter
from crucible.core.errors import CrucibleError, UsageError, VaultError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.documents.session.session import Session
from crucible.documents.session.task_block import PRIORITIES
from crucible.memory.tasks.readiness import circles_of
from crucible.memory.tasks.task import OpenTask, Recalled, Ref, tasks_of
from crucible.memory.tasks.task_breakdown import TEMPLATE, Breakdown, Piece, break_down
from crucible.memory.tasks.task_knowledge import annotate_new
from crucible.memory.tasks.task_pickup import RecallCounts, recalled_ids
from crucible.vault.notes.vault import Vault


@click.command("add")
@click.argument("text", type=TEXT)
@click.option(
    "--session",
    metavar="ID",
    type=SESSION,
    envvar="CRU_SESSION",
    help="The session [environment: CRU_SESSION].",
)
@click.option(
    "--depends-on",
    metavar="TASK",
    multiple=True,
    help="A task of the session that must be done first; repeatable.",
)
@click.option(
    "--priority", type=click.Choice(PRIORITIES), default="medium", show_default=True, help="The task's priority."
)
@flag("--break-down", "Let the agent in your settings break it into tasks.", "breaks")
@yes_option("Add the agent's tasks without confirmation.")
@format_option()
@click.pass_obj
def add(
    door: Door,
    /,
    text: str,
    session: str | None,
    depends_on: tuple[str, ...],
    priority: str,
    format_: str,
    *,
    breaks: bool,
    yes: bool,
) -> None:
    """Add a task, or let an agent break a description into tasks. Prints their ids.

    \b
    - Without --session, adds it to the newest active or paused session of
      this project.
    - Recall is searched once for related knowledge, which is stored with
      the task.
    - --break-down shows the agent's tasks and asks before adding them.
      Without a terminal, use --yes.
    - If the agent's answer cannot be used, one task is added.

    \b
      cru task add "Test the limiter" --depends-on 2
      cru task add "Bill with Stripe, with retries and a report" --break-down
    """
    if not text.strip():
        raise UsageError("the task is empty", "describe the task")
    vault, now = open_vault(door), datetime.now(UTC).replace(microsecond=0)
    redact = redact_of(vault.settings.secrets)
    name = find_session(vault, session)
    note = vault.read(vault.find(name)).session
    pieces = _pieces(door, vault, note, text, redact, breaks=breaks, yes=yes)
    writer = TaskWriter(vault, name, now=now, redact=redact, ours=name == our_session(), **recording_place())
    needs = [one.rpartition(f"{name}.")[2] for one in depends_on]
    made = writer.add([NewTask(one.content, one.after, () if one.after else tuple(needs), priority) for one in pieces])
    listed = tasks_of(replace(note, tasks=(*note.tasks, *made)))
    new = [task for task in listed if task.ref.id in {one.id for one in made}]
    known = _annotate(door, vault, note, new, now, redact)
    for task in made:
        writer.log_created(task, len(recalled_ids(known.get(Ref(name, task.id), Recalled()))))
    warn(*writer.warnings)
    _write_made(new, known, format_)
    say_circles(circles_of(listed))


def _annotate(
    door: Door, vault: Vault, session: Session, tasks: Sequence[OpenTask], now: datetime, redact: Redact
) -> dict[Ref, Recalled]:
    """Search recall for each task; `cru task pick` tries again if that fails."""
    try:
        recall = open_recall(door, RecallScope(session.project or "")).recall
        made = annotate_new(vault, tasks, recall, now=now, redact=redact)
    except CrucibleError as error:
        warn(f"recall was not searched: {error}")
        return {}
    for ref, why in made.failed:
        warn(f"{ref}: recall was not searched: {why}")
    return dict(made.asked)


def _write_made(tasks: Sequence[OpenTask], known: dict[Ref, Recalled], format_: str) -> None:
    counts = {ref: RecallCounts(len(one.patterns), len(one.failures), len(one.decisions)) for ref, one in known.items()}
    if is_data(format_):
        rows = [
            {**task_json(task), "annotations": counts[task.ref]._asdict() if task.ref in counts else None}
            for task in tasks
        ]
        write_data({"tasks": rows}, format_)
        return
    for task in tasks:
        write(str(task.ref))
        if task.ref in counts and any(counts[task.ref]):
            say(f'recall knows {counted(counts[task.ref])} for it; "cru task pick" shows them')


# --- breaking tasks down ----------------------------------------------------------------------------------------------


def _pieces(
    door: Door,
    vault: Vault,
    session: Session,
    text: str,
    redact: Redact,
    *,
    breaks: bool,
    yes: bool,
) -> tuple[Piece, ...]:
    """Return the tasks to add: one or, with `breaks`, the agent's proposal if the user accepts it."""
    unbroken = (Piece(text),)
    if not breaks:
        return unbroken
    # An agent may also have a terminal.
    may_ask = door.terminal and bool(sys.stdin) and sys.stdin.isatty() and "CLAUDECODE" not in os.environ
    agent = as_agent(
        agent_named(None, "--break-down", "break it down", has_with=False), vault.root, "tasks", session.id
    )
    broken = _break_down(vault, session, text, agent, redact)
    say_spent(agent)
    if broken.problem:
        warn(f"the agent's answer could not be used; added as one task: {broken.problem}")
        return unbroken
    if len(broken.pieces) == 1:
        return broken.pieces
    for number, piece in enumerate(broken.pieces, 1):
        after = f"  (after {', '.join(str(at + 1) for at in piece.after)})" if piece.after else ""
        say(f"  {number}. {piece.content}{after}")
    if yes or (may_ask and click.confirm("Add these tasks?", default=True, err=True)):
        return broken.pieces
    if may_ask:
        say("nothing was added")
        raise click.Abort
    raise UsageError(
        "nothing was added: no terminal to confirm the tasks",
        "add them with --yes, or remove --break-down to add one task",
    )


def _break_down(vault: Vault, session: Session, text: str, agent: Agent, redact: Redact) -> Breakdown:
    """Ask the agent for tasks, with the vault's template or, if that is invalid, the built-in one."""
    there, budget = tasks_of(session), user_budget()
    try:
        template = TEMPLATE.of(vault.settings)
        return break_down(text, there, asker=agent, redact=redact, template=template, budget=budget)
    except VaultError as error:
        warn(f"{error}; the built-in template is used")
        return break_down(text, there, asker=agent, redact=redact, template=TEMPLATE, budget=budget)
