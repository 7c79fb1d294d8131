"""`cru log phase|tool|tokens|tasks|subagent`: the work itself, what it used, and who did it."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click

from crucible.cli.given import GivenPath
from crucible.cli.log_options import SAID, Logged, logs, standard_input
from crucible.cli.output import write
from crucible.commands.record import InlineWork
from crucible.core.errors import UsageError, reason_of

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
