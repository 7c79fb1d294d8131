"""`cru recall`: search all sessions and knowledge."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import click

from crucible.cli.environment import human_is_there
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import Door, flag, format_option, local_now, since_option, until_option
from crucible.cli.output import ReadingLine, clean_line, say, warn
from crucible.cli.recall_engine import ALL_PROJECTS, OpenedRecall, RecallScope, open_recall
from crucible.cli.recall_output import write_answer
from crucible.core.errors import AmbiguousSession, CrucibleError, UnknownId, UsageError
from crucible.core.patterns import late_pattern
from crucible.search.recall import MOST, USUAL, Answer, EventKind, Hit, Question, Snippet
from crucible.vault.notes.vault import Vault

_LONG = 100
"""Minimum number of notes for which progress is shown; recall reads notes more slowly than a list does."""
_EVENT = late_pattern(r"[^\s#]+#[0-9a-f]{8}")


class _Recall(click.Command):
    """`cru recall`; a `-word` among the query's words is no option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Explain how to exclude a word."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name.startswith("--"):
                raise
            raise UsageError(
                f"no option {error.option_name}",
                f"To exclude a word, quote the query: {ctx.command_path} 'retry -jitter'. "
                f'For options, run "{ctx.command_path} --help".',
            ) from None


@click.command("recall", cls=_Recall)
@click.argument("query", nargs=-1)
@click.option(
    "--type",
    "kinds",
    multiple=True,
    metavar="TYPE",
    type=click.Choice([*(one.value for one in EventKind), "failure", "report"]),
    help=f"Only these types, and the sessions that contain them; repeatable: {', '.join(EventKind)}; failure means error, report means subagent.",
)
@click.option(
    "--session",
    metavar="ID",
    type=SESSION,
    default="",
    help="Only events of this session, or of sessions with this prefix.",
)
@click.option(
    "--agent",
    metavar="NAME[@VERSION]",
    default="",
    help="Only events with this agent, in any version or this one.",
)
@click.option("--channel", metavar="NAME", default="", help="Only events on this channel.")
@click.option(
    "--project",
    metavar="NAME",
    help="Only events of this project and knowledge visible to it.",
)
@ALL_PROJECTS
@flag("--archived", "Search archived sessions too; --session finds one without it.")
@since_option("Only events since: 2026-11-21, today, 12h, 7d, 2w.")
@until_option("Only events until this time; a date includes the whole day.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MOST),
    default=USUAL,
    show_default=True,
    metavar="N",
    help=f"Maximum number of events and of sessions, up to {MOST}.",
)
@click.option(
    "--context",
    type=click.IntRange(0, 10),
    default=2,
    show_default=True,
    metavar="N",
    help="Number of events to show before and after each.",
)
@flag("--here", "Search this vault, even if a team's server is set.")
@flag("--explain", "Show the parts of each score.")
@format_option("paths")
@click.pass_obj
def recall(
    door: Door,
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
    """Search everything that was said, decided and learned.

    \b
    - QUERY is a question, or terms, "phrases", -not, FIELD:VALUE (session,
      type, agent, channel, project, phase, tag, file).
    - Shows the best events with their context, then the best sessions.
      Without QUERY, shows the newest events that match the options.
    - Knowledge items are also ranked by type, age and usefulness.
    - An event's id as QUERY shows that event in full, with --context events
      around it.
    - Nothing leaves this machine, unless your settings name a team's
      server.

    \b
      cru recall what did we decide about the retry policy
      cru recall '"token bucket" -sliding' --type decision --since 30d
      cru recall --type error --since 7d
      cru recall TokenBucket --project shop --format json
      cru recall 2026-11-21-add-rate-limiter-project#9c8b7a61 --context 4
    """
    project = given.pop("project")
    asker = RecallScope(project, everything).checked()
    question = Question(
        " ".join(query),
        kinds=frozenset(map(EventKind, kinds)) or frozenset(EventKind),
        project=project or "",
        **given,
    )
    if not query and not question.narrows:
        raise UsageError("no query", "give words, or a filter: --type decision, --since 7d, --session ID, …")
    is_id = bool(_EVENT.fullmatch(question.text))
    with ReadingLine(_LONG) as reading:
        opened = open_recall(door, asker, reading.show, embedded=here)
        answer = _event_by_id(opened, question) if is_id else opened.recall.ask(question, local_now())
    if not (answer.hits or answer.sessions):
        _check_ids(opened.vault, question, is_event=is_id)
    write_answer(opened.vault.root, question, answer, format_, door, explain=explain, whole=is_id)
    if format_ == "text" and not (answer.hits or answer.sessions):
        say(_nothing_found(question, opened.viewer.project))
    if format_ == "paths" and any(not hit.path for hit in answer.hits):
        say("results of a team's server are not files here; use --here to search this vault")
    warn(*answer.notes)
    items = [hit for hit in answer.hits if hit.event.kind is EventKind.KNOWLEDGE]
    if items and door.terminal:
        _ask_whether_it_helped(door, opened.vault, items[0])


def _check_ids(vault: Vault, question: Question, *, is_event: bool) -> None:
    """Raise `UnknownId` if nothing was found because the event or session does not exist."""
    if is_event:
        session = question.text.partition("#")[0]
        raise UnknownId(
            f'no event matches "{question.text}"',
            f'An event gets another id if its text changes. Run "cru recall --session {session}" to see ids.',
        )
    if question.session:
        with suppress(AmbiguousSession):
            vault.find(question.session)


def _event_by_id(opened: OpenedRecall, question: Question) -> Answer:
    """Return the event with this id and its neighbours."""
    events = opened.recall.around(question.text, question.context, question.context)
    at = next((n for n, event in enumerate(events) if event.id == question.text), None)
    if at is None:
        return Answer()
    event, path = events[at], ""
    with suppress(CrucibleError):  # a note found on a server may not exist in this vault
        path = opened.vault.relative(opened.vault.find(event.session))
    return Answer((Hit(event, 0.0, {}, Snippet(event.text), events[:at], events[at + 1 :], path),))


def _nothing_found(question: Question, viewer: str) -> str:
    """Return the message for an empty result, with suggestions."""
    other = "try fewer or other words; " if question.text.strip() else ""
    more = f'{other}"cru session list" shows the sessions'
    if question.session:
        return f'nothing found in sessions with the prefix {question.session}; "cru session list" shows ids'
    if question.project:
        return f"nothing found for project {question.project}; --all-projects searches all"
    elsewhere = question.agent or question.channel
    if not viewer or elsewhere or EventKind.KNOWLEDGE not in question.kinds:
        return f"nothing found; {more}"
    if question.kinds == {EventKind.KNOWLEDGE}:
        return f"nothing found for this folder's project {viewer}; --all-projects also shows others' knowledge"
    return f"nothing found (knowledge limited to project {viewer}; --all-projects shows all); {more}"


def _ask_whether_it_helped(door: Door, vault: Vault, hit: Hit) -> None:
    """Occasionally ask for feedback on an item, as often as the settings allow; Enter gives none."""
    from crucible.memory.knowledge.item_status import count_use, should_ask  # noqa: PLC0415  slow and rarely needed

    item = hit.event
    if not should_ask(vault, vault.settings.knowledge.ask_one_in):
        return
    if not (hit.path and human_is_there(door)):
        say(f"Did “{item.title}” help? cru knowledge feedback {item.id} --useful, or --not-useful")
        return
    question = f"Did “{clean_line(item.title)}” help? [y/n, Enter skips]"
    with suppress(click.Abort):
        typed = str(click.prompt(question, default="", show_default=False, prompt_suffix=" ", err=True)).strip().lower()
        if typed[:1] in ("y", "n"):
            count_use(vault, vault.root / hit.path, local_now(), useful=typed[0] == "y")
