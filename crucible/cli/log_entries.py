"""`cru log decision|error|user|…`: what an agent says, each one entry of the note."""

from __future__ import annotations

import click

from crucible.cli.log_options import SAID, Logged, logs


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
