"""`cru launch`: start a client with a briefing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from uuid import uuid4

import click

from crucible.cli.briefing_commands import MadeBriefing, make_briefing
from crucible.cli.id_arguments import WORKFLOW
from crucible.cli.options import Door, PassingOn, client_arguments
from crucible.cli.output import say, warn
from crucible.cli.used_personas import accepted_persona, recording_persona
from crucible.cli.vault_access import here
from crucible.clients.client import (
    LONGEST_ARGUMENT,
    Launch,
    choice_options,
    session_options,
    start_with_context,
)
from crucible.clients.launch.session_marks import BRIEFED_ENVIRONMENT, started_mark
from crucible.clients.launch.terminal import (
    ClientFailed,
    ClientMissing,
    check_installed,
    context_file,
    ending_of,
    run_client,
)
from crucible.clients.registry import LAUNCHABLE, client_of
from crucible.commands.resume.choose_session import newest_rows
from crucible.commands.resume.continue_session import Chosen, named_program
from crucible.core.errors import UsageError
from crucible.documents.personas import Persona
from crucible.vault.index.index import Index
from crucible.vault.index.schema import split_list
from crucible.vault.notes.vault import Vault

_PLACE = "{briefing}"
"""The placeholder for the briefing in the user's command line."""
_NAMES = ", ".join(LAUNCHABLE)


@click.command(cls=PassingOn)
@click.option(
    "--with",
    "named",
    metavar="CLIENT",
    help=f"The client: {_NAMES} or a command line; by default the last one used.",
)
@click.option("--as", "persona", metavar="NAME", help="Start as this persona, a note in agents/.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Maximum tokens of the briefing; the default is in the settings.",
)
@click.option(
    "--workflow",
    type=WORKFLOW,
    metavar="NAME",
    help="Drop items related to this workflow last.",
)
@click.pass_context
def launch(
    ctx: click.Context, /, named: str | None, persona: str | None, budget: int | None, workflow: str | None
) -> None:
    """Start a new session of a client, with a briefing.

    \b
    - The client starts in the current directory with the output of "cru
      briefing" beside its own instructions. No prompt is sent on your
      behalf, and its hooks do not brief it again.
    - Without --with, uses the last client of this project, or an installed
      one. Outside a project there is no briefing.
    - A command line gets the briefing in place of {briefing}, or on its
      standard input.
    - A persona sets the client, model, tools and instructions. You must
      accept it with "cru trust" first. The session's note names it.
    - Arguments after -- go to the client.

    Exit code: 1 if the client failed.

    \b
      cru launch
      cru launch --with codex --workflow release
      cru launch --with claude -- --model opus
      cru launch --as reviewer
      cru launch --with 'my-agent --context {briefing}'
    """
    door = ctx.ensure_object(Door)
    told = make_briefing(door, None, budget, workflow)
    role = accepted_persona(told.vault, persona) if persona is not None else None
    named = named if named is not None else (role and role.client) or None
    chosen = named_program(named, LAUNCHABLE) if named is not None else None
    for source in told.briefing.failed:
        warn(f"skipped: {source.name}: {source.failure}")
    chosen = chosen or _last_used(told)
    program = check_installed(chosen.program, os.environ, chosen.hint(LAUNCHABLE))
    _run(told, chosen, program, client_arguments(ctx), role)


def _last_used(told: MadeBriefing) -> Chosen:
    """Return the installed client last used in the project's newest sessions, or else the first one installed."""
    rows, _ = Index(told.vault.root, told.vault.settings).ask(lambda view: newest_rows(view, told.briefing.project))
    names = [name.partition("@")[0] for row in rows for name in split_list(str(row["participants"] or ""))]
    for name in (*names, *LAUNCHABLE):
        known = client_of(name, LAUNCHABLE)
        if known and shutil.which(known.program, path=os.environ.get("PATH", os.defpath)):
            return Chosen(known)
    raise ClientMissing(
        f"none of {_NAMES} is installed and on PATH",
        f'"npm install -g {LAUNCHABLE["claude"].package}" installs one; or pass a command with --with',
    )


def _run(told: MadeBriefing, chosen: Chosen, program: str, more: Sequence[str], role: Persona | None) -> None:
    briefing = told.briefing.text if _gets_briefing(told) else ""
    ident = str(uuid4())
    text = "\n\n".join(filter(None, (_told_persona(chosen, role, ident), briefing)))
    if role and chosen.client:
        options = choice_options(chosen.client, role.model, role.tools, more)
        more = (*options, *session_options(chosen.client, ident, more), *more)
    with context_file(text, chosen.client.context_file if chosen.client else "") as file:
        beginning, stdin = _launch(chosen, text, file, more)
        if not beginning.fits:
            raise UsageError(
                f"the briefing is {beginning.longest // 1024} KB, more than an argument can hold ({LONGEST_ARGUMENT // 1024} KB)",
                "lower --budget",
            )
        say(_start_line(told, chosen, role))
        env = {**_environment(told.vault, briefed=bool(briefing)), **beginning.env}
        folder_of_work = here() or told.vault.root
        with recording_persona(told.vault, chosen.client, role, folder_of_work, ident):
            code = run_client(program, beginning.command, folder_of_work, env, stdin=stdin)
    fault = ending_of(code)
    if fault:
        raise ClientFailed(f"{chosen.name} {fault}", 'its work is in its own log; run "cru import"')


def _told_persona(chosen: Chosen, role: Persona | None, ident: str) -> str:
    """Return the persona's instructions, with what the client has no option for."""
    if not role:
        return ""
    text = role.text(with_tools=not (chosen.client and chosen.client.tools_option))
    return f"{text}\n\n{started_mark(ident)}" if chosen.client and chosen.client.context_logged else text


def _launch(chosen: Chosen, text: str, file: str, more: Sequence[str]) -> tuple[Launch, bytes | None]:
    """Return the command to launch and its standard input; None means that the client inherits the user's."""
    if chosen.client:
        return start_with_context(chosen.client, text, file, os.environ, more), None
    said = text.replace("\0", "").encode("utf-8", "replace")
    filled = tuple(word.replace(_PLACE, said.decode()) for word in chosen.command)
    is_placed = filled != chosen.command or any(_PLACE in word for word in chosen.command)
    longest = max((len(os.fsencode(word)) for word in filled), default=0)
    return Launch((*filled, *more), {}, longest), said if said and not is_placed else None


def _gets_briefing(told: MadeBriefing) -> bool:
    """True if the client gets the briefing; without a project it covers all projects, which only helps a user."""
    return bool(told.briefing.project) and not told.briefing.is_empty


def _start_line(told: MadeBriefing, chosen: Chosen, role: Persona | None) -> str:
    """Return the line shown before a client starts."""
    who = f"{chosen.name} as {role.name}" if role else chosen.name
    if not told.briefing.project:
        return f"Starting {who} without a briefing: this folder has no project"
    if not _gets_briefing(told):
        return f"Starting {who} without a briefing: nothing is known yet"
    prompted = ", as its first prompt" if chosen.client and chosen.client.prompted else ""
    return (
        f"Starting {who} with a briefing on {told.briefing.project} of about {told.briefing.tokens:,} tokens{prompted}"
    )


def _environment(vault: Vault, *, briefed: bool) -> dict[str, str]:
    """Return the client's environment: it selects this vault and, if `briefed`, keeps hooks from briefing again."""
    told = {**os.environ, "CRUCIBLE_VAULT": str(vault.root)}
    told.pop("CRU_SESSION", None)  # it may name a different session
    return told | ({BRIEFED_ENVIRONMENT: "1"} if briefed else {})
