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
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, say_error, warn
from crucible.cli.run_report import (
    ContinuedRun,
    find_continued_run,
    open_session,
    recording_run,
    watching,
    write_plan,
    write_report,
)
from crucible.cli.used_personas import name_personas, personas_of_steps
from crucible.cli.vault_access import here, open_vault
from crucible.cli.workflow_list import CheckedWorkflow, checked, say_diagnostics
from crucible.clients.launch.answering_process import Reins
from crucible.clients.launch.ask import Program
from crucible.clients.launch.session_marks import OWN_ENVIRONMENT
from crucible.clients.launch.terminal import check_installed
from crucible.clients.registry import STEP_CLIENTS
from crucible.commands.run.jobs import (
    Executors,
    Job,
    JobOutcome,
    PersonaAsker,
    Plan,
    RunInputs,
    Runner,
    RunReport,
    choose_executors,
)
from crucible.commands.run.plan import is_frame, plan_run
from crucible.commands.run.scheduler import RunSetup, StopSignals, run_plan
from crucible.commands.run.step_prompt import TEMPLATE, Commands, commands_in, spelled
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.text import counted
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
    help=f"The agent: {', '.join(STEP_CLIENTS)} or a command line; AGENT=CLIENT for @AGENT's steps; repeatable.",
)
@click.option("--from", "first", metavar="STEP", default="", help="Run only this step and all after it.")
@flag("--dry-run", "Print the plan; start and change nothing.")
@click.option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    default=1,
    help="Maximum number of parallel steps; by default one.",
)
@flag(
    "--continue",
    "Continue the newest run of this workflow; with --from, repeat everything from STEP.",
    "goes_on",
)
@click.option(
    "--input",
    "inputs",
    metavar="NAME=VALUE",
    multiple=True,
    help="An input that no step makes; repeatable.",
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    help="Time limit of a step; by default none.",
)
@flag("--allow-commands", "Allow commands in conditions.", "allows_commands")
@format_option()
@click.pass_context
def run(ctx: click.Context, /, workflow: str, dry_run: bool, format_: str, **given: Any) -> None:
    """Run a workflow's steps in the current folder, each by an agent that you choose.

    \b
    - FILE is a workflow's name or path. Choose agents with --with, or
      agents.command in your settings. Their permissions are set with their
      own arguments, after "--".
    - A step whose agent is the name of a persona that you accepted is run
      by that persona, unless --with names another agent for it.
    - A step starts when the steps whose data it takes are done. If a
      critical step (!) fails, the run halts. A failed optional step (?) is
      skipped. Other failures hold back dependent steps.
    - A step with sub-steps and no output of its own only groups them.
    - The step's agent decides conditions. Conditions that are commands
      (If `make test`) run only with --allow-commands, or after you agree.
    - Each step becomes a phase of a new session, and a marker row in the
      workflow.
    - --dry-run shows missing inputs: give them with --input, or as files
      with these names.
    - Ctrl-C stops the agents. --continue resumes the run, even after a
      failure; finished steps are not repeated.

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
        say_error("the workflow has errors and was not run")
        ctx.exit(PROBLEMS_FOUND)
    options = _RunOptions(more=client_arguments(ctx), **given)
    plan, folder = _plan(found, options)
    executors = _executors(vault, found, options)
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
        raise CrucibleError(
            "the current directory no longer exists", "change to the folder where the agents should work"
        )
    given = RunInputs(str(folder), _values(options.inputs))
    # A continued run plans all steps: those from `first` on run again, the others only if they are not done.
    plan = plan_run(found.note.workflow, found.graph, given, first="" if options.goes_on else options.first)
    taken = {handed.datum.name.casefold() for job in plan.jobs for handed in job.inputs}
    unknown = [name for name in given.values if name not in taken]
    if unknown:
        hint = "it takes " + ", ".join(sorted(taken)[:20]) if taken else "it has no inputs"
        raise UsageError(f"--input {unknown[0]}: not an input of any step", hint)
    return plan, given


def _values(inputs: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for text in inputs:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--input {text}: not NAME=VALUE", "--input order=order-17.json")
        found[name.strip().casefold()] = value
    return found


def _executors(vault: Vault, found: CheckedWorkflow, options: _RunOptions) -> Executors:
    agents = [step.agent for step in found.graph.steps if step.agent and not is_frame(step)]
    roles = {name for agent in agents for name in (agent.name, str(agent))}
    personas = personas_of_steps(vault, roles)
    return choose_executors(options.named, user_settings().agents.command, roles, options.more, personas)


def _check(plan: Plan, executors: Executors, options: _RunOptions, continued: ContinuedRun | None) -> None:
    """Raise every error that can be found before anything is started or written."""
    if os.environ.get(OWN_ENVIRONMENT):
        raise UsageError(
            "an agent of a run cannot run workflows itself", "carry out your step only; the run starts the others"
        )
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
            warn(f"missing input {datum.name}: agents will be told")
            say(f"     --input {datum.name}=… sets it, or a file with this name")


def _ask(commands: Sequence[str]) -> None:
    say("The conditions of this workflow run commands:")
    for command in commands:
        say(f"  {spelled(command)}")
    asked = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not asked or not click.confirm("Allow them?", err=True):
        raise UsageError(
            f"the conditions contain {counted(len(commands), 'command')}",
            "review them, then allow them with --allow-commands",
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
    template = TEMPLATE.of(vault.settings)
    signals = StopSignals()
    with ExitStack() as stack:
        # Signals are handled as long as the session is open, so that it never stays active.
        stack.enter_context(_ending_on_signals(signals))
        recorder = open_session(vault, found, continued)
        name_personas(vault, recorder.path, [one.name for one in executors.used(plan.jobs) if one.name])
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
    return Runner(executor.agent, PersonaAsker(program, executor.persona) if executor.persona else program)


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
    say(f'     "cru workflow run {clean_line(shlex.join(words))}" continues this run')
