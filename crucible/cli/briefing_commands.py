"""`cru briefing`: what to know before work begins."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click

from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.environment import cwd_and_projects, user_settings, vault_place
from crucible.cli.id_arguments import WORKFLOW
from crucible.cli.index_access import query_index
from crucible.cli.options import Door, flag, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, say, say_problems, warn, write, write_data, write_document
from crucible.cli.recall_engine import RecallScope, has_server, open_own_index, open_recall
from crucible.cli.vault_access import claude_folder, here, index_of, open_vault, project_here
from crucible.commands.briefing.briefing_parts import Aim, Briefing, Item, Quoter, Rank, aim_of
from crucible.commands.briefing.build_briefing import BriefingRequest, BriefingSources, brief
from crucible.commands.briefing.digest import LINES, Digest, DigestRequest, DigestResult, digest_of
from crucible.commands.briefing.facts import has_sessions
from crucible.commands.briefing.position import Position, find_position
from crucible.commands.briefing.project_profile import propose, write_profile
from crucible.commands.briefing.sections import Type, types_on
from crucible.commands.resume.choose_session import paused_rows
from crucible.core.errors import CrucibleError, IndexBroken, NoteExists, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.tokens import counter_of
from crucible.documents.knowledge.item_rules import EVERYTHING, Audience
from crucible.integrations.hooks.paused_notice import ClientStart, tell
from crucible.memory.history.history import shortener
from crucible.memory.history.memory_log import FILES
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.recall import Recall
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.index.time_filters import utc
from crucible.vault.notes.note_homes import PROJECTS, profile_path
from crucible.vault.notes.projects import folder_in_project, project_folder, project_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import find_workflow, read_workflow_note


class MadeBriefing(NamedTuple):
    """A briefing with its vault, token budget, the project's folder (None if unknown) and the workflow's name."""

    vault: Vault
    briefing: Briefing
    budget: int
    folder: Path | None
    workflow: str


class _Place(NamedTuple):
    """Where a briefing is made: vault, working directory ("" if deleted), project folder, and redaction functions."""

    vault: Vault
    cwd: str
    folder: Path | None
    quoter: Quoter
    redact: Callable[[str], str]


def make_briefing(
    door: Door,
    project: str | None = None,
    budget: int | None = None,
    workflow: str | None = None,
    *,
    profile: bool = False,
) -> MadeBriefing:
    """Make a briefing; with `profile`, first write a proposed profile if the project has none.

    By default, use the working directory's project, the budget from the settings, and no workflow.
    """
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    place = _place(vault, project)
    aim, name = aim_named(vault, workflow) if workflow else (None, "")
    most = budget or settings.briefing.budget

    def answer(view: View | None, broken: str = "") -> Briefing:
        about = _project_with_sessions(view, vault.root) if project is None else project.strip()
        folder = place.folder if _is_here(place, about) else None
        if profile and folder:
            _propose(place, about, folder)
        now = datetime.now(UTC)
        notice = _notice(place, view, about, now) if view else ""
        return brief(
            vault,
            BriefingRequest(about, now, most, folder, notice, workflow=name, aim=aim),
            BriefingSources(view, broken, _recall_of(door, vault, about), claude_folder()),
            quoter=place.quoter,
            counter=counter_of(user_settings().agents.tokenizer),
            on_error=warn,
        )

    try:
        found, _ = query_index(index_of(vault), answer)
    except IndexBroken as error:
        found = answer(None, str(error))
    return MadeBriefing(vault, found, most, place.folder, name)


_RECENT = 5
"""The maximum number of sessions that `--with` asks about."""


def recent_paths(door: Door, project: str | None) -> list[Path]:
    """Return the notes of the latest sessions that a briefing covers."""
    root, settings = vault_place(door)

    def answer(view: View) -> list[Row]:
        name = _project_with_sessions(view, Path(root)) if project is None else project.strip()
        return select(view, SessionQuery(project=name or None, limit=_RECENT))

    rows, _ = query_index(Index(Path(root), settings), answer)
    return [Path(root) / path_of_cell(str(row["path"])) for row in rows]


def _place(vault: Vault, project: str | None) -> _Place:
    cwd = here()
    projects = cwd_and_projects(vault.root)[1]
    name = project_of(str(cwd or ""), projects) if project is None else project
    folder = project_folder(cwd, projects, name) if cwd else None
    roots = [str(one) for one in dict.fromkeys((folder, cwd, vault.root)) if one]
    shorten = shortener(roots, os.path.expanduser("~"))
    redact = redact_of(vault.settings.secrets)
    return _Place(vault, str(cwd or ""), folder, Quoter(redact, shorten), lambda text: shorten(redact(text)[0]))


def _project_with_sessions(view: View | None, root: Path) -> str:
    """Return the working directory's project; a mere folder name counts only if the index has sessions for it."""
    named, (cwd, projects) = project_here(root), cwd_and_projects(root)
    if named or not cwd or Path(cwd).is_relative_to(root):
        return named
    name = project_of(cwd, projects)
    return name if view and has_sessions(view, name) else ""


def _is_here(place: _Place, project: str) -> bool:
    """True if the working directory belongs to the project and is outside the vault."""
    if not project or not place.cwd or Path(place.cwd).is_relative_to(place.vault.root):
        return False
    return project_of(place.cwd, cwd_and_projects(place.vault.root)[1]).casefold() == project.casefold()


def aim_named(vault: Vault, ref: str) -> tuple[Aim, str]:
    """Return a workflow's aim and name."""
    note = read_workflow_note(vault, find_workflow(vault, ref, here()))
    return aim_of(note.workflow), note.name


def _propose(place: _Place, project: str, folder: Path) -> None:
    """Write the project's profile note unless one exists."""
    try:
        path = profile_path(place.vault.root, project)
        proposal = None if os.path.lexists(path) else propose(folder, project, place.redact)
        if proposal:
            write_profile(place.vault.root, project, proposal.text, fsync=place.vault.settings.fsync)
            say(f"wrote {PROJECTS}/{path.name}, proposed from {', '.join(proposal.sources)}; cru will not overwrite it")
    except NoteExists:  # another process wrote it first
        pass
    except CrucibleError as error:
        warn(f"the project's note cannot be written: {error}")


def _notice(place: _Place, view: View, project: str, now: datetime) -> str:
    """Return the notice about a paused session if the project's work last stopped there, otherwise ""."""
    settings = place.vault.settings
    stands = find_position(view, place.vault.root, project)
    rows = [row for row in paused_rows(view, project) if stands and row["id"] == stands.session]
    if not rows:
        return ""
    short = settings._replace(resume=settings.resume._replace(at_start="notice"))
    start = ClientStart("", place.cwd, project, now)
    return tell(str(place.vault.root), short, user_settings(), rows, start, quoter=place.quoter)


def _recall_of(door: Door, vault: Vault, project: str) -> Callable[[], tuple[Recall, Type]]:
    def opened() -> tuple[Recall, Type]:
        viewer = Audience("project", project) if project else EVERYTHING
        types = types_on(ItemShelf(vault, viewer))
        if has_server():
            asker = RecallScope(project or None, not project)
            return open_recall(door, asker).recall, types
        return open_own_index(vault, viewer), types

    return opened


@click.command("briefing")
@click.option("--project", metavar="NAME", help="The project; by default the current directory's.")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Maximum tokens; the default is in the settings.",
)
@click.option(
    "--workflow",
    type=WORKFLOW,
    metavar="NAME",
    help="Drop items related to this workflow last.",
)
@flag("--profile", "First write the project's profile, projects/NAME.md, if there is none.")
@flag("--short", "A digest of a dozen lines: current state, todos, decisions, lessons.")
@click.option("--lines", type=click.IntRange(1, 1000), metavar="N", help=f"With --short, at most N lines [{LINES}].")
@with_option
@format_option("markdown")
@click.pass_obj
def briefing(
    door: Door,
    /,
    project: str | None,
    budget: int | None,
    workflow: str | None,
    lines: int | None,
    named: str | None,
    format_: str,
    *,
    profile: bool,
    short: bool,
) -> int:
    """Show what to know before work begins.

    \b
    - Shows your corrections, the project's facts and state, decisions,
      tasks, questions for you, open ends, recent sessions and knowledge.
    - If the budget is tight, conventions are dropped first, then lessons,
      decisions and todos. The current state always remains.
    - Outside a project, the briefing covers the whole vault.
    - --with first asks an agent what mattered in the last five sessions.
    - --profile writes a profile, projects/NAME.md, from the project's README
      and manifests. Later briefings show it and never change it.

    Exit code: 3 if a source could not be read; it is reported and skipped.

    \b
      cru briefing
      cru briefing --profile
      cru briefing --project shop --budget 800
      cru briefing --with claude
      cru briefing --workflow release --format json
      cru briefing --short --lines 10
    """
    if lines is not None and not short:
        raise UsageError("--lines is for --short", "use --budget without --short")
    if short and budget is not None:
        raise UsageError("--budget is for a full briefing", "--lines limits --short")
    if named is not None:
        ask_first(open_vault(door, looks=False), recent_paths(door, project), named)
    if short:
        return _show_digest(door, project, workflow, lines or LINES, format_)
    made = make_briefing(door, project, budget, workflow, profile=profile)
    found = made.briefing
    for source in found.failed:
        warn(f"skipped: {source.name}: {source.failure}")
    if is_data(format_):
        write_data(_export(made), format_)
    elif found.is_empty:
        of = f" of project {found.project}" if found.project else ""
        say(f'No sessions{of} yet. Run "cru import" to import them.')
    else:
        write_document(found.text, door)
    return 0


def _export(made: MadeBriefing) -> dict[str, Any]:
    found = made.briefing
    return {
        "project": found.project,
        "workflow": made.workflow or None,
        "budget": made.budget,
        "tokens": found.tokens,
        "position": found.position,
        "explained": found.explained,
        "sections": _sections(found),
        "left_out": {one.what: one.count for one in found.left_out},
        "failed": {one.name: one.failure for one in found.failed},
        "text": "" if found.is_empty else found.text,
    }


def _sections(found: Briefing) -> list[dict[str, Any]]:
    return [
        {
            "name": section.name,
            "title": section.title,
            "more": section.more,
            "items": [one._asdict() | {"rank": one.rank.word} for one in section.items],
        }
        for section in found.sections
    ]


def _show_digest(door: Door, project: str | None, workflow: str | None, lines: int, format_: str) -> int:
    """Show the digest of a project; returns the exit code, 3 if a source could not be read."""
    vault = open_vault(door, looks=False)
    aim = aim_named(vault, workflow)[0] if workflow else None

    def answer(view: View) -> tuple[str, DigestResult]:
        name = _project_with_sessions(view, vault.root) if project is None else project
        folder = folder_in_project(*cwd_and_projects(vault.root), name) if name else None
        shorten = shortener([str(folder)] if folder else [])
        quoter = Quoter(redact_of(vault.settings.secrets), shorten)
        return name, digest_of(vault, view, DigestRequest(datetime.now(UTC), name, folder, aim, lines), quoter)

    (name, found), _ = query_index(index_of(vault), answer)
    if is_data(format_):
        write_data(_export_digest(name, workflow, aim, found), format_)
    else:
        _write(found.digest)
    return _complain(found)


def _write(digest: Digest) -> None:
    for line in digest.lines:
        write(line)
    if digest.left_out:
        counts = ", ".join(f"{one.count:,} {one.what}" for one in reversed(digest.left_out))
        say(f"skipped: {counts}; raise --lines to see more")


def _complain(found: DigestResult) -> int:
    """Report what could not be read; returns the exit code, 3 if anything is missing."""
    for source in found.failed:
        warn(f"skipped: {source.name}: {source.failure}")
    for kind, problem in found.problems:
        say_problems(f".crucible/memory/{FILES[kind]}", (problem,))
    return PROBLEMS_FOUND if found.failed or found.problems else 0


def _export_digest(project: str, workflow: str | None, aim: Aim | None, found: DigestResult) -> dict[str, object]:
    digest = found.digest
    return {
        "project": project,
        "workflow": workflow,
        "leaning": str(aim.leaning) if aim else None,
        "position": _export_position(found.position) if found.position else None,
        **{rank.word: _items(digest.items, rank) for rank in sorted(Rank, reverse=True)},
        "left_out": {one.what: one.count for one in digest.left_out},
        "lines": list(digest.lines),
        "failed": {one.name: one.failure for one in found.failed},
    }


def _items(items: Iterable[Item], rank: Rank) -> list[dict[str, object]]:
    return [
        {
            "text": one.text,
            "inferred": one.group.endswith("(inferred)"),
            "related": one.related,
            "finding": one.finding,
        }
        for one in items
        if one.rank is rank
    ]


def _export_position(one: Position) -> dict[str, object]:
    return one._asdict() | {"at": utc(one.at) if one.at else None, "blockers": list(one.blockers)}
