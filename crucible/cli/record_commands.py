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
_MODEL = _option("--model", "The model; by default the session's.", "NAME", default="")
_TOKENS = _option("--tokens", "The tokens used.", "N", type=_COUNT)

# --- entries ---------------------------------------------------------------------------------------------------------

prose = _logs(
    _TEXT,
    text="""Record the agent's words, as Markdown. TEXT can be - for stdin.

    \b
      cru record prose "The test fails because the clock starts at 0."
      cat answer.md | cru record prose -
    """,
)(Recorder.prose)

decision = _logs(
    _TEXT,
    _option("--rationale", "Why.", type=TEXT),
    text="""Record a decision and its reason. TEXT can be - for stdin.

    \b
      cru record decision "Token bucket" --rationale "constant memory per key"
    """,
)(Recorder.decision)

error = _logs(
    _TEXT,
    _option("--resolution", "How it was fixed; without it, the phase counts as failed.", type=TEXT),
    text="""Record an error and its fix. TEXT can be - for stdin.

    \b
      cru record error "Race in the token refresh" --resolution "a mutex"
    """,
)(Recorder.error)

user = _logs(
    click.Argument(["words"], metavar="TEXT", type=TEXT),
    _option("--note", "A note on what they led to.", type=TEXT),
    text="""Record the user's exact words. TEXT can be - for stdin.

    \b
      cru record user "It must be per user" --note "a bucket for each user id"
    """,
)(Recorder.user)

milestone = _logs(
    _TEXT,
    text="""Record significant progress. TEXT can be - for stdin.

    \b
      cru record milestone "All tests of the payment module pass"
    """,
)(Recorder.milestone)

observation = _logs(
    _TEXT,
    _option("--tag", "A tag: parallel-discovery is shown to other tasks' agents.", "WORD", default=""),
    _option("--task", "The task in which it was found.", "ID", default=""),
    _option("--applies-to", "Where it applies; repeatable.", "WORD", multiple=True),
    text="""Record an observation. TEXT can be - for stdin.

    \b
      cru record observation "The auth service slows down under load"
      cru record observation "429 has Retry-After" --tag parallel-discovery
    """,
)(Recorder.observation)

checkpoint = _logs(
    _MAYBE_TEXT,
    text="""Record a checkpoint to return to. TEXT can be - for stdin.

    \b
      cru record checkpoint "before the migration"
    """,
)(Recorder.checkpoint)

agent_switch = _logs(
    _MAYBE_TEXT,
    _option("--from from_agent", "The previous agent: name or name@version.", "AGENT", required=True),
    _option("--to to_agent", "The next agent.", "AGENT", required=True),
    text="""Record that another agent continues. Later phases without an agent belong to it.

    \b
      cru record agent-switch --from architect --to coder "the design is agreed"
    """,
)(Recorder.agent_switch)

decision_needed = _logs(
    _TEXT,
    _option("--option options", "An option to choose from; repeatable.", multiple=True),
    text="""Ask the user to choose. TEXT can be - for stdin.

    \b
      cru record decision-needed "Which store?" --option SQLite --option Postgres
    """,
)(Recorder.decision_needed)

approval_required = _logs(
    _TEXT,
    text="""Ask the user for approval. TEXT can be - for stdin.

    \b
      cru record approval-required "Drop the old table?"
    """,
)(Recorder.approval_required)

task_complete = _logs(
    _TEXT,
    _option("--task", "Complete the task with this id.", "ID", default=""),
    text="""Record that a task is ready for review. TEXT can be - for stdin.

    \b
      cru record task-complete "The limiter is in, with tests" --task 1
    """,
)(Recorder.task_complete)

# --- phases, calls, tokens and tasks ---------------------------------------------------------------------------------

phase = _logs(
    _NAME,
    _option("--agent", "The agent: name or name@version; by default the current one.", "AGENT", default=""),
    _MODEL,
    _option("--channel", "The phase's channel.", "NAME", default=""),
    _TOKENS,
    text="""Begin a phase and end the previous one.

    \b
      cru record phase Research --agent my-agent@1.2 --channel dev
    """,
)(Recorder.phase)


# Unknown options belong to the recorded call: `cru record tool pytest -q`.  Our own options have no short form, which
# click would take out of `grep -rnv`.
@_logs(
    _NAME,
    click.Argument(["args"], nargs=-1, type=click.UNPROCESSED),
    _option("--file-path path", "The file that the call reads or changes.", "FILE", default=""),
    _option("--result", "The result; - for stdin.", type=TEXT, default=""),
    click.Option(["--failed"], is_flag=True, help="The call failed."),
    click.Option(["--rejected"], is_flag=True, help="The user rejected the call."),
    click.Option(["--interrupted"], is_flag=True, help="The call was interrupted."),
    _option("--exit-code", "The exit code; other than 0 means that the call failed.", "N", type=int),
    _option("--duration-ms", "The call's duration.", "N", type=_COUNT),
    short=False,
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
)
def tool(
    recorder: Recorder, name: str, args: tuple[str, ...], failed: bool, rejected: bool, interrupted: bool, **given: Any
) -> str:
    """Record a tool call and its result, in one line of the note. The event log has both in full.

    \b
      cru record tool pytest -q --result "3 passed" --duration-ms 812
      cru record tool file_write --file-path src/limiter.py
      cru record tool Bash "make test" --exit-code 2 --result - < log.txt
    """
    outcomes = {"failed": failed, "rejected": rejected, "interrupted": interrupted}
    said = [outcome for outcome, is_so in outcomes.items() if is_so]
    if len(said) > 1:
        raise UsageError(f"--{' and --'.join(said)}: a call has one outcome", "use one of them")
    return recorder.tool(name, *args, outcome=said[0] if said else None, **given)


@_logs(
    _option("--used", "Uncached input tokens and generated tokens.", "N", type=_COUNT),
    _option("--generated", "Generated tokens, included in --used.", "N", type=_COUNT, default=0),
    _option("--cached", "Tokens read from the cache.", "N", type=_COUNT),
    _MODEL,
)
def tokens(recorder: Recorder, used: int | None, cached: int | None, generated: int, **given: Any) -> str:
    """Record tokens: adds them to the session and phase, and for a subagent to its parent.

    \b
      cru record tokens --used 1620 --generated 420 --cached 6000
    """
    if used is None and cached is None:
        raise UsageError("no tokens: --used or --cached is missing", "cru record tokens --used 1620 --cached 6000")
    return recorder.tokens(used or 0, cached=cached or 0, output=generated, **given)


@_logs(
    _option("--file path", "Read the whole list from a JSON file.", "FILE", type=GivenPath()),
    _option("--add", "Add a task; repeatable.", multiple=True),
    _option("--start", "Mark a task as in progress; repeatable.", "ID", multiple=True),
    _option("--done", "Mark a task as completed; repeatable.", "ID", multiple=True),
)
def tasks(
    recorder: Recorder,
    path: str | None,
    add: tuple[str, ...],
    start: tuple[str, ...],
    done: tuple[str, ...],
    at: datetime | None,
) -> str:
    """Set or change the session's task list: a full list as JSON from a file or stdin, or changes to it.

    \b
      echo '[{"content": "Write it", "status": "in_progress"}]' | cru record tasks
      cru record tasks --add "Test it" --done 1
    """
    if not (add or start or done):
        return recorder.tasks(_items(path), at=at)
    if path:
        raise UsageError("--file sets the whole list, but --add, --start and --done change it", "use one of them")
    phases = [recorder.add_tasks(*add, at=at)] if add else []
    phases += [recorder.start_task(task, at=at) for task in start]
    phases += [recorder.finish_task(task, at=at) for task in done]
    return phases[-1]


def _items(path: str | None) -> list[Mapping[str, object]]:
    where = path or "standard input"
    if not path and sys.stdin and sys.stdin.isatty():
        raise UsageError(
            "no tasks: give --add, --start, --done or --file, or a list on stdin",
            'cru record tasks --add "Test it"; or pipe a JSON list, as "cru record tasks --help" shows',
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
    _option("--model", "The subagent's model.", "NAME", default=""),
    click.Option(
        ["--mode"],
        type=click.Choice(["link", "embed", "inline"]),
        help="How its work appears; by default the vault's setting.",
    ),
    _option("--task", "The subagent's task; - for stdin.", type=TEXT, default=""),
    _option("--summary", "A summary of its work; - for stdin.", type=TEXT, default=""),
    _option("--work", "Its work, as Markdown; - for stdin.", type=TEXT, default=""),
    _TOKENS,
)
def subagent(
    recorder: Recorder, name: str, mode: str | None, work: str, at: datetime | None, **given: Any
) -> str | None:
    """Record work given to a subagent, and print the id of its session, for use with --session.

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
