"""`cru record`: record events while an agent works.  Each command adds an entry, a call or a number to the note.

Keep imports light and do not update the index: agents wait for these commands, and the next query reads the note.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.environment import vault_place
from crucible.cli.options import TEXT, Door, GivenPath, standard_input
from crucible.cli.output import write
from crucible.cli.record_options import (
    at_option,
    named_session,
    noted_time,
    recording_place,
    say_warnings,
    session_option,
)
from crucible.commands import record
from crucible.commands.record import InlineWork, Recorder
from crucible.core.errors import UsageError, reason_of
from crucible.vault.notes.vault import Vault

_COUNT = click.IntRange(min=0)


def _logs(
    *params: click.Parameter, text: str = "", short: bool = True, **settings: Any
) -> Callable[[Callable[..., str | None]], click.Command]:
    """Turn a method of `Recorder` or a similar function into a command with `params` and the common options.

    The function returns the id of its phase.  `text` is the help (default: the docstring).  `short` adds `-v`.
    """

    def command(call: Callable[..., str | None]) -> click.Command:
        @click.pass_obj
        def run(door: Door, /, session: str | None, at: datetime | None, verbose: bool, **given: Any) -> None:
            name = named_session(session)
            root, vault_settings = vault_place(door)
            recorder = record.open(name, vault=Vault(Path(root), vault_settings), **recording_place())
            phase = call(recorder, **given, at=noted_time(at, recorder))
            if verbose and phase:
                write(phase)
            say_warnings(recorder)

        names = ["-v", "--verbose"] if short else ["--verbose"]
        verbose = click.Option(names, is_flag=True, help="Print the id of the phase.")
        help_text = inspect.cleandoc(text or call.__doc__ or "")
        made = click.Command(call.__name__, callback=run, params=[*params, verbose], help=help_text, **settings)
        at_option(made)
        session_option(made)
        return made

    return command


def _option(names: str, help_text: str, metavar: str = "TEXT", **more: Any) -> click.Option:
    return click.Option(names.split(), help=help_text, metavar=metavar, **more)


_TEXT = click.Argument(["text"], type=TEXT)
_MAYBE_TEXT = click.Argument(["text"], type=TEXT, default="")
_NAME = click.Argument(["name"])
_MODEL = _option("--model", "The model; the session's where it has none.", "NAME", default="")
_TOKENS = _option("--tokens", "What it used.", "N", type=_COUNT)

# --- entries ---------------------------------------------------------------------------------------------------------

prose = _logs(
    _TEXT,
    text="""What the agent said: Markdown, which stays text of its phase whatever it holds. TEXT may be - for stdin.

    \b
      cru record prose "The test fails because the clock starts at 0."
      cat answer.md | cru record prose -
    """,
)(Recorder.prose)

decision = _logs(
    _TEXT,
    _option("--rationale", "Why.", type=TEXT),
    text="""What was chosen, and why. TEXT may be - for stdin.

    \b
      cru record decision "Token bucket" --rationale "constant memory per key"
    """,
)(Recorder.decision)

error = _logs(
    _TEXT,
    _option("--resolution", "How it was fixed; without one the phase has failed.", type=TEXT),
    text="""What went wrong and how it was fixed. TEXT may be - for stdin.

    \b
      cru record error "Race in the token refresh" --resolution "a mutex"
    """,
)(Recorder.error)

user = _logs(
    click.Argument(["words"], metavar="TEXT", type=TEXT),
    _option("--note", "What was made of them.", type=TEXT),
    text="""A human's exact words, quoted. TEXT may be - for stdin.

    \b
      cru record user "It must be per user" --note "a bucket for each user id"
    """,
)(Recorder.user)

milestone = _logs(
    _TEXT,
    text="""Significant progress. TEXT may be - for stdin.

    \b
      cru record milestone "All tests of the payment module pass"
    """,
)(Recorder.milestone)

observation = _logs(
    _TEXT,
    _option("--tag", "What it is: parallel-discovery is shown to other tasks' agents.", "WORD", default=""),
    _option("--task", "The task that it was found in.", "ID", default=""),
    _option("--applies-to", "What it is good to know for; may be repeated.", "WORD", multiple=True),
    text="""Something worth remembering. TEXT may be - for stdin.

    \b
      cru record observation "The auth service slows down under load"
      cru record observation "429 has Retry-After" --tag parallel-discovery
    """,
)(Recorder.observation)

checkpoint = _logs(
    _MAYBE_TEXT,
    text="""A mark to come back to: an observation called Checkpoint. TEXT may be - for stdin.

    \b
      cru record checkpoint "before the migration"
    """,
)(Recorder.checkpoint)

agent_switch = _logs(
    _MAYBE_TEXT,
    _option("--from from_agent", "Who was at work: name or name@version.", "AGENT", required=True),
    _option("--to to_agent", "Who goes on.", "AGENT", required=True),
    text="""Another agent, or another mode of it, goes on. Phases that name no agent are its from now on.

    \b
      cru record agent-switch --from architect --to coder "the design is agreed"
    """,
)(Recorder.agent_switch)

decision_needed = _logs(
    _TEXT,
    _option("--option options", "One of the choices; repeatable.", multiple=True),
    text="""A human is to choose. TEXT may be - for stdin.

    \b
      cru record decision-needed "Which store?" --option SQLite --option Postgres
    """,
)(Recorder.decision_needed)

approval_required = _logs(
    _TEXT,
    text="""Something waits for a human's yes. TEXT may be - for stdin.

    \b
      cru record approval-required "Drop the old table?"
    """,
)(Recorder.approval_required)

task_complete = _logs(
    _TEXT,
    _option("--task", "Complete the task with this id.", "ID", default=""),
    text="""A task is done and may be looked at. TEXT may be - for stdin.

    \b
      cru record task-complete "The limiter is in, with tests" --task 1
    """,
)(Recorder.task_complete)

# --- phases, calls, tokens and tasks ---------------------------------------------------------------------------------

phase = _logs(
    _NAME,
    _option("--agent", "name or name@version; by default who is at work.", "AGENT", default=""),
    _MODEL,
    _option("--channel", "The phase's channel.", "NAME", default=""),
    _TOKENS,
    text="""Begin a phase; the one before ends.

    \b
      cru record phase Research --agent my-agent@1.2 --channel dev
    """,
)(Recorder.phase)


# Unknown options belong to the recorded call: `cru record tool pytest -q`.  Our own options have no short form, which
# click would take out of `grep -rnv`.
@_logs(
    _NAME,
    click.Argument(["args"], nargs=-1, type=click.UNPROCESSED),
    _option("--file-path path", "The file that it reads or changes.", "FILE", default=""),
    _option("--result", "What came back; - for stdin.", type=TEXT, default=""),
    click.Option(["--failed"], is_flag=True, help="It failed."),
    click.Option(["--rejected"], is_flag=True, help="The user rejected it."),
    click.Option(["--interrupted"], is_flag=True, help="It was stopped."),
    _option("--exit-code", "Other than 0 it failed.", "N", type=int),
    _option("--duration-ms", "How long it took.", "N", type=_COUNT),
    short=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
def tool(
    recorder: Recorder, name: str, args: tuple[str, ...], failed: bool, rejected: bool, interrupted: bool, **given: Any
) -> str:
    """A tool call with its arguments and its result, in one line of the note; both whole in the event log.

    Options that are the tool's own are taken as arguments; behind `--` all of them are.

    \b
      cru record tool pytest -q --result "3 passed" --duration-ms 812
      cru record tool file_write --file-path src/limiter.py
      cru record tool Bash "make test" --exit-code 2 --result - < log.txt
    """
    outcomes = {"failed": failed, "rejected": rejected, "interrupted": interrupted}
    said = [outcome for outcome, is_so in outcomes.items() if is_so]
    if len(said) > 1:
        raise UsageError(f"--{' and --'.join(said)}: a call ends one way", "give one of them")
    return recorder.tool(name, *args, outcome=said[0] if said else None, **given)


@_logs(
    _option("--used", "Tokens sent afresh, and those that were generated.", "N", type=_COUNT),
    _option("--generated", "How many of --used were generated.", "N", type=_COUNT, default=0),
    _option("--cached", "Tokens read from the cache.", "N", type=_COUNT),
    _MODEL,
)
def tokens(recorder: Recorder, used: int | None, cached: int | None, generated: int, **given: Any) -> str:
    """Count tokens: they are added to the session, its usage by day and model and its phase, and a subagent's to its parent's list too.

    Without --generated, all of --used count as input in the usage.

    \b
      cru record tokens --used 1620 --generated 420 --cached 6000
    """
    if used is None and cached is None:
        raise UsageError("no tokens: neither --used nor --cached", "cru record tokens --used 1620 --cached 6000")
    return recorder.tokens(used or 0, cached=cached or 0, output=generated, **given)


@_logs(
    _option("--file path", "Read the whole list from a JSON file.", "FILE", type=GivenPath()),
    _option("--add", "One more task; repeatable.", multiple=True),
    _option("--start", "A task is in progress now; repeatable.", "ID", multiple=True),
    _option("--done", "A task is completed now; repeatable.", "ID", multiple=True),
)
def tasks(
    recorder: Recorder,
    path: str | None,
    add: tuple[str, ...],
    start: tuple[str, ...],
    done: tuple[str, ...],
    at: datetime | None,
) -> str:
    """The session's task list: a whole one as JSON from a file or stdin, or changes to the one that is there.

    An item has `content`, and perhaps `id`, `status` (pending, in_progress, completed), `priority` and `depends_on`.

    \b
      echo '[{"content": "Write it", "status": "in_progress"}]' | cru record tasks
      cru record tasks --add "Test it" --done 1
    """
    if not (add or start or done):
        return recorder.tasks(_items(path), at=at)
    if path:
        raise UsageError("--file is the whole list, and --add, --start and --done change it", "give one of them")
    phases = [recorder.add_tasks(*add, at=at)] if add else []
    phases += [recorder.start_task(task, at=at) for task in start]
    phases += [recorder.finish_task(task, at=at) for task in done]
    return phases[-1]


def _items(path: str | None) -> list[Mapping[str, object]]:
    where = path or "standard input"
    if not path and sys.stdin and sys.stdin.isatty():
        raise UsageError(
            "no tasks: no --add, --start, --done or --file, and nobody pipes a list in",
            'cru record tasks --add "Test it"; or pipe a JSON list, as `cru record tasks --help` shows',
        )
    try:
        items = json.loads(Path(path).read_bytes() if path else standard_input())
    except OSError as error:
        raise UsageError(f"{where}: {reason_of(error)}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: not JSON: {error}", 'a list of {"content": "…", "status": "pending"}') from error
    if not isinstance(items, list):
        raise UsageError(f"{where}: not a JSON list", 'a list of {"content": "…", "status": "pending"}')
    return items


@_logs(
    _NAME,
    _option("--model", "Its model.", "NAME", default=""),
    click.Option(
        ["--mode"],
        type=click.Choice(["link", "embed", "inline"]),
        help="How it is kept; by default the vault's setting.",
    ),
    _option("--task", "What it is to do; - for stdin.", type=TEXT, default=""),
    _option("--summary", "What it came to; - for stdin.", type=TEXT, default=""),
    _option("--work", "What it said or did, as Markdown; - for stdin.", type=TEXT, default=""),
    _TOKENS,
)
def subagent(
    recorder: Recorder, name: str, mode: str | None, work: str, at: datetime | None, **given: Any
) -> str | None:
    """Work that goes to a subagent; prints the id of its own session, to log to with --session and to end.

    With --mode inline there is no other session: the whole work stands in a callout, so it is told when it is done.

    \b
      child=$(cru record subagent researcher@2 --task "Find the clock")
      cru record tool grep -rn monotonic --result "3 matches" --session $child
      cru session end $child --summary "Use time.monotonic()."
    """
    child = recorder.subagent(name, mode=mode or "", **given, at=at)
    if work:
        child.prose(work, at=at)
    if isinstance(child, InlineWork):
        return child.close(at=at)
    write(child.id)
    return None
