"""`cru workflow run`: plan, check and run a workflow."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import click

from crucible.cli.environment import user_settings
from crucible.cli.id_arguments import WORKFLOW, PickedId
from crucible.cli.options import Door, PassingOn, client_arguments, flag, format_option
from crucible.cli.output import PROBLEMS_FOUND, clean_line, counted, say, say_error, warn
from crucible.cli.run_report import (
    ContinuedRun,
    find_continued_run,
    open_session,
    recording_run,
    watching,
    write_plan,
    write_report,
)
from crucible.cli.vault_access import here, open_vault
from crucible.cli.workflow_list import CheckedWorkflow, checked, say_diagnostics
from crucible.clients.launch.answering_process import Reins
from crucible.clients.launch.ask import Program
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.clients.launch.terminal import check_installed
from crucible.commands.run.jobs import Executors, Job, JobOutcome, Plan, RunInputs, Runner, RunReport, choose_executors
from crucible.commands.run.plan import is_frame, plan_run
from crucible.commands.run.scheduler import RunSetup, StopSignals, run_plan
from crucible.commands.run.step_prompt import Commands, commands_in, find_template, spelled
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.workflow.workflow_check import has_errors
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import find_workflow, read_workflow_note

_INTERRUPTED = 130
_ENDS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_MOST = 1 << 26
"""Maximum bytes that an agent may print in a step; some print every event."""


class _RunOptions(NamedTuple):
    """The options of the command."""

    named: tuple[str, ...]
    first: str
    jobs: int
    goes_on: bool
    inputs: tuple[str, ...]
    timeout: float | None
    allows_commands: bool
    more: tuple[str, ...]


@click.command("run", cls=PassingOn)
@click.argument("workflow", cls=PickedId, kind="workflow", metavar="[FILE]", type=WORKFLOW)
@click.option(
    "--with",
    "named",
    metavar="CLIENT",
    multiple=True,
    help="Who carries the steps out: claude, codex, opencode or a command line; AGENT=CLIENT for @AGENT's steps; repeatable.",
)
@click.option("--from", "first", metavar="STEP", default="", help="Only this step and all behind it.")
@flag("--dry-run", "Print the plan; start nothing, change nothing.")
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    help="How many steps at the same time at most; by default one.",
)
@flag(
    "--continue",
    "Go on with the newest run of this workflow; with --from, what stands behind STEP is done again.",
    "goes_on",
)
@click.option(
    "--input",
    "inputs",
    metavar="NAME=VALUE",
    multiple=True,
    help="What a step takes and nobody makes; repeatable.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="How long an agent may take for a step; by default as long as it likes.",
)
@flag("--allow-commands", "Run the commands of its conditions.", "allows_commands")
@format_option()
@click.pass_context
def run(ctx: click.Context, /, workflow: str, dry_run: bool, format_: str, **given: Any) -> None:
    """Carry a workflow's steps out in the folder that you stand in, each by an agent that you name.

    FILE is a workflow's name or path. Who carries its steps out only you say: --with, or agents.command in your settings. The
    agents run without a terminal; what they may do is for their own arguments to say, behind `--`.

    A step begins when those whose data it takes are done. When a critical one (!) fails the run halts, an optional one (?) is
    skipped over, any other keeps back what depends on it. A step with steps below it that makes
    nothing itself is only their frame. Conditions are put to the step's agent; those that are commands (If `make test`) run only
    with --allow-commands, or when you say yes. Each step becomes a phase of a new session, and a marker row in the workflow.

    --dry-run tells what no step makes and you have to give: with --input, or as a file of that name.

    Ctrl-C ends the agents; --continue goes on with the same run then, as after a failure: what was done is not done again.
    Exit codes: 0 all done, 1 a step failed, 3 the workflow has errors and was not run, 130 interrupted.

    \b
      cru workflow run release --dry-run
      cru workflow run release --with claude -- --allowedTools Bash,Read,Edit
      cru workflow run release --with codex --with reviewer=claude --jobs 2
      cru workflow run release --with claude --continue
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door)
    found = checked(read_workflow_note(vault, find_workflow(vault, workflow, here())))
    say_diagnostics(found)
    if has_errors(found.diagnostics):
        say_error("the workflow has errors, so it is not run")
        ctx.exit(PROBLEMS_FOUND)
    options = _RunOptions(more=client_arguments(ctx), **given)
    plan, folder = _plan(found, options)
    executors = _executors(found, options)
    if dry_run:
        write_plan(found, plan, executors, format_)
        return
    continued = find_continued_run(vault, found, plan, options.first) if options.goes_on else None
    _check(plan, executors, options, continued)
    report, session_id = _run(vault, found, plan, folder, executors, options, continued, door)
    write_report(found, report, session_id, format_)
    _say_how_to_continue(workflow, options, report)
    ctx.exit(_INTERRUPTED if report.stopped else 0 if report.is_done else 1)


def _plan(found: CheckedWorkflow, options: _RunOptions) -> tuple[Plan, RunInputs]:
    folder = here()
    if folder is None:
        raise CrucibleError("the working directory is gone", "go to the folder that the agents are to work in")
    given = RunInputs(str(folder), _values(options.inputs))
    # A continued run plans all steps: those from `first` on run again, the others only if they are not done.
    plan = plan_run(found.note.workflow, found.graph, given, first="" if options.goes_on else options.first)
    taken = {handed.datum.name.casefold() for job in plan.jobs for handed in job.inputs}
    unknown = [name for name in given.values if name not in taken]
    if unknown:
        hint = "it takes " + ", ".join(sorted(taken)[:20]) if taken else "it takes nothing"
        raise UsageError(f"--input {unknown[0]}: no step takes it", hint)
    return plan, given


def _values(inputs: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in inputs:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--input {text}: no NAME=VALUE", "--input order=order-17.json")
        found[name.strip().casefold()] = value
    return found


def _executors(found: CheckedWorkflow, options: _RunOptions) -> Executors:
    agents = [step.agent for step in found.graph.steps if step.agent and not is_frame(step)]
    roles = {name for agent in agents for name in (agent.name, str(agent))}
    return choose_executors(options.named, user_settings().agents.command, roles, options.more)


def _check(plan: Plan, executors: Executors, options: _RunOptions, continued: ContinuedRun | None) -> None:
    """Raise every error that can be found before anything is started or written."""
    if os.environ.get(OWN_ENVIRONMENT):
        raise UsageError("an agent of a run cannot run workflows itself", "its steps are for the run to carry out")
    jobs = tuple(job for job in plan.jobs if continued is None or job.index not in continued.earlier)
    executors.check(jobs)
    for executor in executors.used(jobs):
        check_installed(executor.words[0], os.environ, executor.hint)
    commands = commands_in(jobs)
    if commands and not options.allows_commands:
        _ask(commands)
    taken = {handed.datum.name.casefold() for job in jobs for handed in job.inputs}
    for datum in plan.missing:
        if datum.name.casefold() in taken:
            warn(f"nobody gives {datum.name}, so agents are told that it is missing")
            say(f"     --input {datum.name}=… gives it, or a file of that name")


def _ask(commands: Sequence[str]) -> None:
    say("The conditions of this workflow run commands:")
    for command in commands:
        say(f"  {spelled(command)}")
    asked = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not asked or not click.confirm("Run them when their turn comes?", err=True):
        raise UsageError(
            f"the conditions run {counted(len(commands), 'command')}",
            "look at them; --allow-commands lets them run",
        )


def _run(
    vault: Vault,
    found: CheckedWorkflow,
    plan: Plan,
    given: RunInputs,
    executors: Executors,
    options: _RunOptions,
    continued: ContinuedRun | None,
    door: Door,
) -> tuple[RunReport, str]:
    redact = redact_of(vault.settings.secrets)
    template = find_template(vault.settings)
    signals = StopSignals()
    with ExitStack() as stack:
        # Signals are handled as long as the session is open, so that it never stays active.
        stack.enter_context(_ending_on_signals(signals))
        recorder = open_session(vault, found, continued)
        record = stack.enter_context(recording_run(vault, found, recorder, redact))
        progress = stack.enter_context(watching(plan, door))
        reins = Reins(record.started)
        means = RunSetup(
            given,
            lambda job: _runner(job, executors, given, options, reins),
            template,
            Commands(given.folder, os.environ, options.timeout, reins),
            reins,
            redact,
            lambda: datetime.now(UTC),
            options.jobs,
        )
        earlier = continued.earlier if continued else {}
        report = run_plan(plan, means, [record, progress], earlier=earlier, signals=signals)
        record.report = report
    return report, recorder.id


def _runner(job: Job, executors: Executors, given: RunInputs, options: _RunOptions, reins: Reins) -> Runner:
    executor = executors.executor(job)
    assert executor is not None  # noqa: S101  checked before the run began
    program = Program(
        executor.words,
        os.environ,
        options.timeout,
        folder=given.folder,
        reins=reins,
        most=_MOST,
        may_be_silent=True,
    )
    return Runner(executor.agent, program)


@contextmanager
def _ending_on_signals(signals: StopSignals) -> Iterator[None]:
    """Stop the run cleanly on signals; ignored signals stay ignored, as `nohup` requires."""
    before = {}
    try:
        with suppress(ValueError):  # only the main thread may set handlers
            for number in _ENDS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    before[number] = signal.signal(number, lambda _number, _frame: signals.end())
        yield
    finally:
        for number, old in reversed(before.items()):
            signal.signal(number, old if old is not None else signal.SIG_DFL)


def _say_how_to_continue(workflow: str, options: _RunOptions, report: RunReport) -> None:
    if report.is_done:
        return
    if report.stopped:
        warn("interrupted")
    elif report.halted:
        say_error(f"halted: “{report.halted.step.name}” failed, and it is critical")
    else:
        failed = sum(outcome.outcome is JobOutcome.FAILED for outcome in report.outcomes)
        say_error(f"{counted(failed, 'step')} failed")
    words = [workflow, *(word for named in options.named for word in ("--with", named)), "--continue"]
    words += ["--", *options.more] if options.more else []
    say(f"     `cru workflow run {clean_line(shlex.join(words))}` goes on with this run")
