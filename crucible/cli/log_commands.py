"""`cru log decision|error|user|…`: what an agent says, each one entry of the note."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from crucible.cli.options import GivenPath
from crucible.cli.output import write
from crucible.cli.record_options import SAID, Logged, logs, standard_input
from crucible.commands.record import InlineWork
from crucible.core.errors import UsageError, reason_of


@click.command
@click.argument("text", type=SAID)
@logs
def prose(logged: Logged, text: str) -> str:
    """What the agent said: Markdown, which stays text of its phase whatever it holds. TEXT may be - for stdin.

    \b
      cru log prose "The test fails because the clock starts at 0."
      cat answer.md | cru log prose -
    """
    return logged.recorder.prose(text, at=logged.at)


@click.command
@click.argument("text", type=SAID)
@click.option("--rationale", metavar="TEXT", type=SAID, help="Why.")
@logs
def decision(logged: Logged, text: str, rationale: str | None) -> str:
    """What was chosen, and why. TEXT may be - for stdin.

    \b
      cru log decision "Token bucket" --rationale "constant memory per key"
    """
    return logged.recorder.decision(text, rationale=rationale, at=logged.at)


@click.command
@click.argument("text", type=SAID)
@click.option("--resolution", metavar="TEXT", type=SAID, help="How it was fixed; without one the phase has failed.")
@logs
def error(logged: Logged, text: str, resolution: str | None) -> str:
    """What went wrong and how it was fixed. TEXT may be - for stdin.

    \b
      cru log error "Race in the token refresh" --resolution "a mutex around it"
    """
    return logged.recorder.error(text, resolution=resolution, at=logged.at)


@click.command
@click.argument("words", metavar="TEXT", type=SAID)
@click.option("--note", metavar="TEXT", type=SAID, help="What was made of them.")
@logs
def user(logged: Logged, words: str, note: str | None) -> str:
    """A human's exact words, quoted. TEXT may be - for stdin.

    \b
      cru log user "It must be per user" --note "a bucket for each user id"
    """
    return logged.recorder.user(words, note=note, at=logged.at)


@click.command
@click.argument("text", type=SAID)
@logs
def milestone(logged: Logged, text: str) -> str:
    """Significant progress. TEXT may be - for stdin.

    \b
      cru log milestone "All tests of the payment module pass"
    """
    return logged.recorder.milestone(text, at=logged.at)


@click.command
@click.argument("text", type=SAID)
@click.option(
    "--tag",
    metavar="WORD",
    default="",
    help="What it is: parallel-discovery is shown to other tasks' agents.",
)
@click.option("--task", metavar="ID", default="", help="The task that it was found in.")
@click.option("--applies-to", metavar="WORD", multiple=True, help="What it is good to know for; may be repeated.")
@logs
def observation(logged: Logged, text: str, tag: str, task: str, applies_to: tuple[str, ...]) -> str:
    """Something worth remembering. TEXT may be - for stdin.

    \b
      cru log observation "The auth service slows down under load"
      cru log observation "429 has Retry-After" --tag parallel-discovery --task 4
    """
    more = {"tag": tag, "task": task}
    return logged.recorder.observation(text, **more, applies_to=applies_to, at=logged.at)


@click.command
@click.argument("text", type=SAID, default="")
@logs
def checkpoint(logged: Logged, text: str) -> str:
    """A mark to come back to: an observation called Checkpoint. TEXT may be - for stdin.

    \b
      cru log checkpoint "before the migration"
    """
    return logged.recorder.checkpoint(text, at=logged.at)


@click.command("agent_switch")
@click.argument("text", type=SAID, default="")
@click.option("--from", "from_agent", metavar="AGENT", required=True, help="Who was at work: name or name@version.")
@click.option("--to", "to_agent", metavar="AGENT", required=True, help="Who goes on.")
@logs
def agent_switch(logged: Logged, text: str, from_agent: str, to_agent: str) -> str:
    """Another agent, or another mode of it, goes on. Phases that name no agent are its from now on.

    \b
      cru log agent_switch --from architect --to coder "the design is agreed"
    """
    return logged.recorder.agent_switch(from_agent, to_agent, text, at=logged.at)


@click.command("decision_needed")
@click.argument("text", type=SAID)
@click.option("--option", "options", metavar="TEXT", multiple=True, help="One of the choices; repeatable.")
@logs
def decision_needed(logged: Logged, text: str, options: tuple[str, ...]) -> str:
    """A human is to choose. TEXT may be - for stdin.

    \b
      cru log decision_needed "Which store?" --option SQLite --option Postgres
    """
    return logged.recorder.decision_needed(text, options=options, at=logged.at)


@click.command("approval_required")
@click.argument("text", type=SAID)
@logs
def approval_required(logged: Logged, text: str) -> str:
    """Something waits for a human's yes. TEXT may be - for stdin.

    \b
      cru log approval_required "Drop the old table?"
    """
    return logged.recorder.approval_required(text, at=logged.at)


@click.command("task_complete")
@click.argument("text", type=SAID)
@click.option("--task", metavar="ID", default="", help="Its id in the tasks block, where it becomes completed.")
@logs
def task_complete(logged: Logged, text: str, task: str) -> str:
    """A task is done and may be looked at. TEXT may be - for stdin.

    \b
      cru log task_complete "The limiter is in, with tests" --task 1
    """
    return logged.recorder.task_complete(text, task=task, at=logged.at)


_MODEL = click.option("--model", metavar="NAME", default="", help="The model; the session's where it has none.")
_COUNT = click.IntRange(min=0)


@click.command
@click.argument("name")
@click.option("--agent", metavar="AGENT", default="", help="name or name@version; by default who is at work.")
@_MODEL
@click.option("--channel", metavar="NAME", default="", help="The phase's channel.")
@click.option("--tokens", metavar="N", type=_COUNT, help="What it used.")
@logs
def phase(logged: Logged, name: str, agent: str, model: str, channel: str, tokens: int | None) -> str:
    """Begin a phase; the one before ends.

    \b
      cru log phase Research --agent my-agent@1.2 --channel dev
    """
    given = {"agent": agent, "model": model, "channel": channel}
    return logged.recorder.phase(name, **given, tokens=tokens, at=logged.at)


# What is no option of ours belongs to the call that is told: `cru log tool pytest -q`.  None of ours is one letter, or it
# would be taken out of `grep -rnv`.
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("name")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.option("--file-path", "path", metavar="FILE", default="", help="The file that it reads or changes.")
@click.option("--result", metavar="TEXT", type=SAID, default="", help="What came back; - for stdin.")
@click.option("--failed", is_flag=True, help="It failed.")
@click.option("--rejected", is_flag=True, help="The user rejected it.")
@click.option("--interrupted", is_flag=True, help="It was stopped.")
@click.option("--exit-code", metavar="N", type=int, help="Other than 0 it failed.")
@click.option("--duration-ms", metavar="N", type=_COUNT, help="How long it took.")
@partial(logs, verbose=["--verbose"])
def tool(
    logged: Logged,
    name: str,
    args: tuple[str, ...],
    path: str,
    result: str,
    exit_code: int | None,
    duration_ms: int | None,
    **ends: bool,
) -> str:
    """A tool call with its arguments and its result, in one line of the note; both whole in the flight recorder.

    Options that are the tool's own are taken as arguments; behind `--` all of them are.

    \b
      cru log tool pytest -q --result "3 passed" --duration-ms 812
      cru log tool file_write --file-path src/limiter.py
      cru log tool Bash "make test" --exit-code 2 --result - < log.txt
    """
    more = {"exit_code": exit_code, "duration_ms": duration_ms}
    said = [name for name, is_so in ends.items() if is_so]
    if len(said) > 1:
        raise UsageError(f"--{' and --'.join(said)}: a call ends one way", "give one of them")
    outcome = said[0] if said else None
    return logged.recorder.tool(name, *args, path=path, result=result, outcome=outcome, **more, at=logged.at)


@click.command
@click.option("--used", metavar="N", type=_COUNT, help="Tokens sent afresh, and those that were generated.")
@click.option("--output", metavar="N", type=_COUNT, default=0, help="How many of --used were generated.")
@click.option("--cached", metavar="N", type=_COUNT, help="Tokens read from the cache.")
@_MODEL
@logs
def tokens(logged: Logged, used: int | None, cached: int | None, output: int, model: str) -> str:
    """Count tokens: they are added to the session, its usage by day and model and its phase, and a subagent's to its parent's list too.

    Without --output, all of --used count as input in the usage.

    \b
      cru log tokens --used 1620 --output 420 --cached 6000
    """
    if used is None and cached is None:
        raise UsageError("no tokens: neither --used nor --cached", "cru log tokens --used 1620 --cached 6000")
    return logged.recorder.tokens(used or 0, cached=cached or 0, output=output, model=model, at=logged.at)


@click.command
@click.option("--file", "path", metavar="FILE", type=GivenPath(), help="Read the whole list from a JSON file.")
@click.option("--add", metavar="TEXT", multiple=True, help="One more task; repeatable.")
@click.option("--start", metavar="ID", multiple=True, help="A task is in progress now; repeatable.")
@click.option("--done", metavar="ID", multiple=True, help="A task is completed now; repeatable.")
@logs
def tasks(logged: Logged, path: str | None, add: tuple[str, ...], start: tuple[str, ...], done: tuple[str, ...]) -> str:
    """The session's task list: a whole one as JSON from a file or stdin, or changes to the one that is there.

    An item has `content`, and perhaps `id`, `status` (pending, in_progress, completed), `priority` and `depends_on`.

    \b
      echo '[{"content": "Write it", "status": "in_progress"}]' | cru log tasks
      cru log tasks --add "Test it" --done 1
    """
    recorder, at = logged
    changes = add or start or done
    if changes and path:
        raise UsageError("--file is the whole list, and --add, --start and --done change it", "give one of them")
    last = recorder.tasks(_items(path), at=at) if not changes else ""
    if add:
        last = recorder.add_tasks(*add, at=at)
    for task in start:
        last = recorder.start_task(task, at=at)
    for task in done:
        last = recorder.finish_task(task, at=at)
    return last


def _items(path: str | None) -> list[Mapping[str, object]]:
    where = path or "standard input"
    if not path and sys.stdin and sys.stdin.isatty():
        raise UsageError(
            "no tasks: no --add, --start, --done or --file, and nobody pipes a list in",
            'cru log tasks --add "Test it"; or pipe a JSON list, as `cru log tasks --help` shows',
        )
    try:
        items = json.loads(Path(path).read_bytes() if path else standard_input())
    except OSError as error:
        raise UsageError(f"{where}: {reason_of(error)}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: no JSON: {error}", 'a list of {"content": "…", "status": "pending"}') from error
    if not isinstance(items, list):
        raise UsageError(f"{where}: no JSON list", 'a list of {"content": "…", "status": "pending"}')
    return items


@click.command
@click.argument("name")
@click.option("--model", metavar="NAME", default="", help="Its model.")
@click.option(
    "--mode",
    type=click.Choice(["link", "embed", "inline"]),
    help="How it is kept; by default the vault's setting.",
)
@click.option("--task", metavar="TEXT", type=SAID, default="", help="What it is to do; - for stdin.")
@click.option("--summary", metavar="TEXT", type=SAID, default="", help="What it came to; - for stdin.")
@click.option("--work", metavar="TEXT", type=SAID, default="", help="What it said or did, as Markdown; - for stdin.")
@click.option("--tokens", metavar="N", type=_COUNT, help="What it used.")
@logs
def subagent(
    logged: Logged,
    name: str,
    model: str,
    mode: str | None,
    task: str,
    summary: str,
    work: str,
    tokens: int | None,
) -> str | None:
    """Work that goes to a subagent; prints the id of its own session, to log to with --session and to end.

    With --mode inline there is no other session: the whole work stands in a callout, so it is told when it is done.

    \b
      child=$(cru log subagent researcher@2 --model small --task "Find the clock")
      cru log tool grep -rn monotonic --result "3 matches" --session $child
      cru session end --session $child --summary "Use time.monotonic()."
    """
    given = {"model": model, "mode": mode or "", "task": task, "summary": summary}
    child = logged.recorder.subagent(name, **given, tokens=tokens, at=logged.at)
    if work:
        child.prose(work, at=logged.at)
    if isinstance(child, InlineWork):
        return child.close(at=logged.at)
    write(child.id)
    return None
