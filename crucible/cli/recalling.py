"""`cru recall`: what was said, decided and learned, found by words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.options import BEGIN, END, format_option
from crucible.cli.output import say
from crucible.cli.recall_opening import ALL_PROJECTS, Asker, Reading, open_asked
from crucible.cli.recall_showing import write_answer
from crucible.cli.session_ref import SESSION
from crucible.errors import UsageError
from crucible.recall.model import MOST, USUAL, Event, Kind, Question
from crucible.vault.store import Vault

__all__ = ["recall"]


@click.command("ask")
@click.argument("query", nargs=-1)
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    metavar="KIND",
    type=click.Choice([one.value for one in Kind]),
    help=f"Only these, and the sessions in which such were found; may be repeated: {', '.join(Kind)}.",
)
@click.option(
    "--session",
    metavar="ID",
    type=SESSION,
    default="",
    help="Only of this session, or of those whose id begins so.",
)
@click.option(
    "--agent",
    metavar="NAME[@VERSION]",
    default="",
    help="Only with this agent, in any version or in this one.",
)
@click.option("--channel", metavar="NAME", default="", help="Only on this channel.")
@click.option(
    "--project",
    metavar="NAME",
    help="Only of this project, and the knowledge that it may see; in a project's folder, its knowledge by default.",
)
@ALL_PROJECTS
@click.option("--since", type=BEGIN, metavar="WHEN", help="Only since: 2026-11-21, today, 12h, 7d, 2w.")
@click.option("--until", type=END, metavar="WHEN", help="Only until then; a day counts to its end.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST),
    default=USUAL,
    show_default=True,
    metavar="N",
    help=f"At most so many, of events and of sessions; {MOST} is the most.",
)
@click.option(
    "--context",
    type=click.IntRange(0, 10),
    default=2,
    show_default=True,
    metavar="N",
    help="Events that are shown before and after each.",
)
@click.option("--here", is_flag=True, help="Ask this vault's own index, also where a team's server is set.")
@click.option("--explain", is_flag=True, help="Show what each score is made of.")
@format_option("table", "json", "toon", "paths")
@click.pass_context
def recall(
    ctx: click.Context,
    /,
    query: tuple[str, ...],
    kinds: tuple[str, ...],
    format_: str,
    *,
    explain: bool,
    here: bool,
    everything: bool,
    **given: Any,
) -> None:
    """Find what was said, decided and learned, over every session.

    QUERY is a question as you would ask it, or terms, "phrases", -not, FIELD:VALUE (session, kind, agent, channel, project, phase, tag, file). The
    best events come first, each with those before and after it in its session, then the best sessions. Without QUERY, what --kind, --session
    and the like leave is shown, the newest first. Knowledge counts by its type, by how fresh it is, and by how useful it proved to be. Nothing
    leaves this machine, unless your settings name a team's server, which is asked instead then.

    A query that begins with a word like feedback is asked with `cru recall ask feedback …`.

    \b
      cru recall what did we decide about the retry policy
      cru recall '"token bucket" -sliding' --kind decision --since 30d
      cru recall --kind error --since 7d
      cru recall TokenBucket --project shop --format json
      cru recall feedback retry-with-jitter --useful
    """
    door = ctx.ensure_object(Door)
    project = given.pop("project")
    asker = Asker(project, everything).checked()
    question = Question(
        " ".join(query),
        kinds=frozenset(map(Kind, kinds)) or frozenset(Kind),
        project=project or "",
        **given,
    )
    if not query and not _narrows(question):
        raise UsageError(
            "nothing is asked for", "ask with words, or narrow: --kind decision, --since 7d, --session ID, …"
        )
    with Reading() as reading:
        opened = open_asked(door, asker, reading.show, embedded=here)
        answer = opened.recall.ask(question, datetime.now(UTC))
    write_answer(opened.vault.root, question, answer, format_, door, explain=explain)
    if format_ == "table" and not (answer.hits or answer.sessions):
        say(_nothing(question, opened.viewer.project))
    for note in answer.notes:
        say(f"cru: {note}", style="yellow")
    items = [hit.event for hit in answer.hits if hit.event.kind is Kind.KNOWLEDGE]
    if items and door.terminal:
        _ask_whether_it_helped(opened.vault, items[0])


def _narrows(question: Question) -> bool:
    """Whether there is something to be shown without a word."""
    return question != Question(question.text, limit=question.limit, context=question.context)


def _nothing(question: Question, viewer: str) -> str:
    """That nothing was found, and what may find something: other projects' knowledge is seen by none but them."""
    other = "fewer or other words may, and " if question.text.strip() else ""
    more = f"{other}`cru session list` tells what there is"
    if question.project:
        return f"nothing found for project {question.project}; --all-projects asks every one"
    elsewhere = question.session or question.agent or question.channel
    if not viewer or elsewhere or Kind.KNOWLEDGE not in question.kinds:
        return f"nothing found; {more}"
    if question.kinds == {Kind.KNOWLEDGE}:
        return f"nothing found for project {viewer}, whose folder this is; --all-projects shows the others' knowledge, too"
    return f"nothing found, of knowledge for project {viewer} only (--all-projects); {more}"


def _ask_whether_it_helped(vault: Vault, item: Event) -> None:
    """Now and then, as the settings say."""
    from crucible.knowledge.changing import asks  # noqa: PLC0415  few questions come to it, and it takes long to import

    if asks(vault, vault.settings.knowledge.ask_one_in):
        say(f"Did “{item.title}” help? cru recall feedback {item.id} --useful, or --not-useful")
