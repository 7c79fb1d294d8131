"""`cru session codify`: load sessions with their evidence, make a workflow, and write it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from crucible.analysis.review.agent_questions import Agent
from crucible.analysis.tools.recorded_calls import RecordedCalls, load_recorded_calls
from crucible.cli.command_agent import agent_named, as_agent, ask_first, say_spent, user_budget, with_option
from crucible.cli.environment import absolute_path, working_directory
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, GivenPath, flag, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, data_text, say, say_error, write, write_data, write_document
from crucible.cli.vault_access import find_note, load_note, newest_here_named, open_vault
from crucible.clients.launch.terminal import check_installed, ending_of, run_client
from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.commands.codify.refine import TEMPLATE, refine
from crucible.commands.codify.refine_check import errors_of
from crucible.commands.codify.workflow_file import (
    Choice,
    SavedWorkflow,
    edit_draft,
    place_draft,
    save_workflow,
    save_workflow_as,
    stamped,
)
from crucible.commands.resume.material_gathering import load_children
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.core.text import counted
from crucible.documents.session.session import Session, ToolCalls
from crucible.documents.session.session_id import slugify
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.graph_diagrams import render_mermaid
from crucible.documents.workflow.rust_dialect import render_crucible
from crucible.documents.workflow.workflow import Diagnostic, Workflow
from crucible.documents.workflow.workflow_check import check_workflow, has_errors
from crucible.documents.workflow.workflow_json import export_workflow
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.vault.notes.vault import Vault

_CHOICES = {"e": Choice.EDIT, "s": Choice.SAVE, "q": Choice.QUIT}


def check_terminal(door: Door) -> None:
    """Raise `UsageError` unless stdin, stdout and stderr are terminals."""
    if not (door.terminal and sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("--interactive needs a terminal", "remove it, and edit the note afterwards")


class TerminalEditor:
    """The user at the terminal, with the editor named by VISUAL or EDITOR, or else vi."""

    def edit(self, path: Path) -> str:
        """Open the file in the editor; raises `CrucibleError` if the editor is not installed."""
        name = "VISUAL" if os.environ.get("VISUAL", "").strip() else "EDITOR"
        try:
            words = shlex.split(os.environ.get(name, "")) or ["vi"]
        except ValueError as error:
            raise UsageError(f"{name}: {error}", "fix its quotes") from error
        program = check_installed(words[0], os.environ, "set VISUAL or EDITOR to your editor")
        folder = Path(working_directory() or path.parent)
        ended = ending_of(run_client(program, [*words, str(path)], folder, os.environ))
        return f"{words[0]}: {ended}; the file's content is used" if ended else ""

    def tell(self, line: str) -> None:
        """Write a line to stderr."""
        say(line, style="yellow")

    def choose(self, problems: Sequence[Diagnostic], *, sure: bool) -> Choice:
        """Ask what to do next; saving a workflow with errors requires confirmation."""
        errors = sum(has_errors([one]) for one in problems)
        if sure:
            asked = f"Save it with {counted(errors, 'error')}?"
            return Choice.SAVE if click.confirm(asked, default=False, err=True) else self.choose(problems, sure=False)
        found = counted(len(problems), "problem", zero="no")
        asked = f"{found}: [e]dit again, [s]ave, [q]uit without saving"
        letters = click.Choice([*_CHOICES], case_sensitive=False)
        letter = click.prompt(asked, type=letters, default="e" if errors else "s", show_choices=False, err=True)
        return _CHOICES[letter]


def say_draft_kept(path: Path) -> None:
    """Report where the unsaved draft is."""
    say(f"the draft is kept: {path}")


_STDOUT = "-"


class _Target(NamedTuple):
    """The options for the workflow's destination and format; None if not specified."""

    output: str | None
    format: str | None
    dialect: str | None
    interactive: bool
    force: bool

    @property
    def prints(self) -> bool:
        """True if the workflow is written to stdout: with `-o -`, or with a format and no file."""
        return self.output == _STDOUT or (self.output is None and self.format is not None)


@click.command
@click.argument(
    "sessions",
    cls=PickedId,
    kind="session",
    unless=["refine", "interactive"],
    metavar="[ID]...",
    type=SESSION,
    nargs=-1,
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=GivenPath(),
    help="Write to this file, - for stdout; by default to a note in workflows/.",
)
@format_option("markdown", "mermaid", default=None, help_="Output format, for stdout or -o; text is markdown.")
@click.option(
    "--dialect",
    type=click.Choice(["crucible"]),
    help="Write the syntax of the Rust tool `crucible`, a different program.",
)
@flag("--refine", "Let an agent refine names, types and conditions.")
@with_option
@flag("--interactive", "Edit the draft before it is saved.")
@flag("--force", "Overwrite a workflow that was changed.")
@click.pass_obj
def codify_sessions(
    door: Door,
    /,
    sessions: tuple[str, ...],
    named: str | None,
    format_: str | None,
    *,
    refine: bool,
    **given: Any,
) -> int:
    """Turn sessions into a workflow: a note with one step for each request.

    \b
    - Several sessions make one workflow. Steps that only some of them have
      get a condition.
    - Subagents' sessions are included with their parent's.
    - The note's path is printed; "cru workflow run" runs it. A workflow of
      the same sessions is replaced unless it was edited or run.
    - Without ID, --refine and --interactive use the newest session of this
      project.
    - --with first asks an agent what mattered. With --refine, the agent
      edits the draft instead; after two rejected answers the draft is kept.

    Exit code: 3 if the draft could not be refined.

    \b
      cru session codify 2026-11-21-add-rate-limiter
      cru session codify 2026-11-21-add 2026-11-22-add -o limiter.md
      cru session codify 2026-11-21-add --with claude
      cru session codify 2026-11-21-add --refine --with claude
      cru session codify 2026-11-21-add --format mermaid
    """
    target = _Target(format=format_, **given)
    _check(target, door)
    vault = open_vault(door)
    sessions = sessions or (newest_here_named(vault),)
    if not refine:
        ask_first(vault, [find_note(vault, ref) for ref in sessions], named)
    found = _load(vault, sessions)
    redact = redact_of(vault.settings.secrets)
    program = agent_named(named, "--refine", "refine it") if refine else None
    workflow = codify([_recorded(vault, session) for session in found], redact)
    _check_work(workflow, found)
    slug = slugify(next(session.title for session in found if session.id in workflow.sessions))
    good = True
    if program:
        agent = as_agent(program, vault.root, "workflow", found[0].id if len(found) == 1 else "")
        workflow, good = _refined(vault, workflow, found, agent, redact)
    for error in errors_of(workflow):
        good = False
        say_error(error)
    _deliver(vault, workflow, slug, target, door)
    return 0 if good else PROBLEMS_FOUND


def _check(target: _Target, door: Door) -> None:
    if target.dialect and target.format in ("json", "toon", "mermaid"):
        raise UsageError(f"--dialect requires Markdown, not {target.format}", "remove one of them")
    if target.interactive:
        if target.prints or target.format in ("json", "toon", "mermaid"):
            raise UsageError("--interactive saves a note and prints nothing", "remove --format and -o -")
        check_terminal(door)


def _check_work(workflow: Workflow, sessions: Sequence[Session]) -> None:
    """Raise an error if the workflow has no steps; report sessions that contributed none."""
    if not workflow.steps:
        names = ", ".join(session.id for session in sessions)
        raise CrucibleError(
            f"{names}: nothing to codify: no phase has repeatable work",
            'run "cru session show" to see its phases',
        )
    for session in sessions:
        if session.id not in workflow.sessions:
            say(f"{session.id}: skipped, nothing to codify")


# --- loading ---------------------------------------------------------------------------------------------------------


def _load(vault: Vault, refs: Sequence[str]) -> list[Session]:
    """Load each session once, skipping subagents whose parent is loaded."""
    notes = {note.path: note.session for note in (load_note(vault, ref) for ref in refs)}
    ids = {session.id for session in notes.values()}
    found = [session for session in notes.values() if session.parent not in ids]
    for session in notes.values():
        if session.parent in ids:
            say(f"{session.id}: included as a subagent of {session.parent}")
    return found or [*notes.values()]


def _recorded(vault: Vault, session: Session) -> RecordedSession:
    children = _family(vault, session)
    evidence = cache(partial(load_recorded_calls, vault.root))
    say(f"{session.id}: made from {_source([session, *children.values()], evidence)}")
    return RecordedSession(session, children, evidence)


def _family(vault: Vault, session: Session) -> dict[str, Session | None]:
    """Load the sessions of all subagents, recursively."""
    found: dict[str, Session | None] = {}
    waiting: list[Session] = [session]
    while waiting:
        more = load_children(vault, waiting.pop())
        waiting += (child for name, child in more.items() if child and name not in found and name != session.id)
        found = {**more, **found}
    return found


def _source(family: Sequence[Session | None], evidence: Callable[[str], RecordedCalls]) -> str:
    """Describe the records from which the workflow is made."""
    complete = [evidence(each.id).whole for each in family if each and _has_calls(each)]
    if None in family:
        return "the notes; a subagent's note is missing"
    if all(complete):
        return "its note and event log"
    return "its note and part of its event log" if any(complete) else "its note only, where calls are shortened"


def _has_calls(session: Session) -> bool:
    return any(isinstance(entry, ToolCalls) for entry in session.all_entries())


# --- refining --------------------------------------------------------------------------------------------------------


def _refined(
    vault: Vault, draft: Workflow, sessions: Sequence[Session], agent: Agent, redact: Redact
) -> tuple[Workflow, bool]:
    template, budget = TEMPLATE.of(vault.settings), user_budget()
    say("asking for a refined workflow …")
    found = refine(draft, sessions, asker=agent, template=template, redact=redact, budget=budget)
    if found.problem:
        say_error(f"not refined, kept the draft: {found.problem}")
    elif found.answers[-1].model:
        say(f"refined by {found.answers[-1].model}")
    say_spent(agent)
    return found.workflow, not found.problem


# --- output ----------------------------------------------------------------------------------------------------------


def _deliver(vault: Vault, workflow: Workflow, slug: str, target: _Target, door: Door) -> None:
    if target.prints:
        _print(workflow, target, door, vault.settings.sessions)
        return
    # Both formats of a workflow may share a folder, so their names must differ.
    slug = f"{slug}-{target.dialect}" if target.dialect else slug
    text = _text(workflow, target, vault.settings.sessions)
    kept = _edited(vault, text, slug, target) if target.interactive else _keep(vault, text, slug, target)
    if not kept.changed:
        say(f"{kept.path}: nothing to change")
    write(str(kept.path))
    if not (target.dialect or target.output):
        say(f'Run "cru workflow run {shlex.quote(kept.path.stem)} --dry-run" to see its plan.')


def _print(workflow: Workflow, target: _Target, door: Door, folder: str) -> None:
    if is_data(target.format):
        write_data(_export(workflow), str(target.format))
        return
    text = _text(workflow, target, folder)
    write_document(text, door)


def _text(workflow: Workflow, target: _Target, folder: str) -> str:
    """Return the text to write; `folder` is the sessions folder, for links."""
    if is_data(target.format):
        return data_text(_export(workflow), str(target.format)) + "\n"
    drawn = render_mermaid(build_graph(workflow))
    if target.format == "mermaid":
        return drawn.removesuffix("\n") + "\n"
    return stamped(
        render_crucible(workflow)
        if target.dialect
        else render_workflow(workflow, drawn, "" if folder == "." else folder)
    )


def _export(workflow: Workflow) -> dict[str, Any]:
    graph = build_graph(workflow)
    return dict(export_workflow(workflow, graph, check_workflow(workflow, graph)))


def _keep(vault: Vault, text: str, slug: str, target: _Target) -> SavedWorkflow:
    if target.output is None:
        return save_workflow(vault, text, slug, force=target.force)
    kept = save_workflow_as(vault, Path(absolute_path(target.output)), text, force=target.force)
    return kept._replace(path=Path(target.output))


def _edited(vault: Vault, text: str, slug: str, target: _Target) -> SavedWorkflow:
    """Let the user edit the draft; the draft file is deleted only after the note is written."""
    draft = place_draft(vault, slug, text)
    try:
        saved = edit_draft(draft, text, TerminalEditor())
        kept = None if saved is None else _keep(vault, saved, slug, target)
    except BaseException:
        say_draft_kept(draft)
        raise
    if kept is None:
        say_draft_kept(draft)
        raise click.exceptions.Exit(1)
    draft.unlink(missing_ok=True)
    return kept
