"""Make a briefing for a command: find the project, open the sources, apply the settings."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from crucible.cli.environment import user_settings, vault_place
from crucible.cli.index_access import asked
from crucible.cli.options import Door
from crucible.cli.output import say, warn
from crucible.cli.recall_engine import RecallScope, has_server, open_own_index, open_recall
from crucible.cli.vault_access import claude_folder, here, index_of
from crucible.commands.briefing.briefing_parts import Briefing, Quoter
from crucible.commands.briefing.build_briefing import BriefingRequest, BriefingSources, brief
from crucible.commands.briefing.facts import has_sessions
from crucible.commands.briefing.position import find_position
from crucible.commands.briefing.project_profile import PROJECTS, profile_path, propose, write_profile
from crucible.commands.briefing.relevance import Aim, aim_of
from crucible.commands.briefing.sections import Type, types_on
from crucible.commands.resume.choose_session import paused_rows
from crucible.core.errors import CrucibleError, IndexBroken, NoteExists
from crucible.core.secrets.redaction import redact_of
from crucible.core.tokens import counter_of
from crucible.documents.knowledge.item_weight import EVERYTHING, Audience
from crucible.integrations.hooks.paused_notice import ClientStart, tell
from crucible.memory.history.history import shortener
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.recall import Recall
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.notes.projects import named_project_of, project_folder, project_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import find_workflow, read_workflow_note


class BriefingOptions(NamedTuple):
    """Options of a briefing; None means the working directory's project, the settings' budget, no workflow."""

    project: str | None = None
    budget: int | None = None
    workflow: str | None = None


class MadeBriefing(NamedTuple):
    """A briefing, its vault, its budget, the project's folder (None if it is not here) and the workflow's name."""

    vault: Vault
    briefing: Briefing
    budget: int
    folder: Path | None
    workflow: str


class _Place(NamedTuple):
    """The vault, the working directory ("" if it is gone), and what removes secrets and paths from texts."""

    vault: Vault
    cwd: str
    folder: Path | None
    quoter: Quoter
    redact: Callable[[str], str]


def make_briefing(door: Door, wanted: BriefingOptions) -> MadeBriefing:
    """Make the briefing, after proposing the project's profile if there is none."""
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    place = _place(vault, wanted.project)
    aim, name = aim_named(vault, wanted.workflow) if wanted.workflow else (None, "")
    budget = wanted.budget or settings.briefing.budget

    def answer(view: View | None, broken: str = "") -> Briefing:
        project = project_here(view, vault.root) if wanted.project is None else wanted.project.strip()
        folder = place.folder if _is_here(place, project) else None
        if folder and settings.briefing.sources.profile:
            _propose(place, project, folder)
        now = datetime.now(UTC)
        notice = _notice(place, view, project, now) if view else ""
        return brief(
            vault,
            BriefingRequest(project, now, budget, folder, notice, workflow=name, aim=aim),
            BriefingSources(view, broken, _recall_of(door, vault, project), claude_folder()),
            quoter=place.quoter,
            counter=counter_of(user_settings().agents.tokenizer),
            on_error=warn,
        )

    try:
        found, _ = asked(index_of(vault), answer)
    except IndexBroken as error:
        found = answer(None, str(error))
    return MadeBriefing(vault, found, budget, place.folder, name)


_RECENT = 5
"""Sessions that `--with` asks about."""


def recent_paths(door: Door, project: str | None) -> list[Path]:
    """The notes of the latest sessions that a briefing covers."""
    root, settings = vault_place(door)

    def answer(view: View) -> list[Row]:
        name = project_here(view, Path(root)) if project is None else project.strip()
        return select(view, SessionQuery(project=name or None, limit=_RECENT))

    rows, _ = asked(Index(Path(root), settings), answer)
    return [Path(root) / path_of_cell(str(row["path"])) for row in rows]


def _place(vault: Vault, project: str | None) -> _Place:
    cwd = here()
    projects = user_settings().projects
    name = project_of(str(cwd or ""), projects) if project is None else project
    folder = project_folder(cwd, projects, name) if cwd else None
    roots = [str(one) for one in dict.fromkeys((folder, cwd, vault.root)) if one]
    shorten = shortener(roots, os.path.expanduser("~"))
    redact = redact_of(vault.settings.secrets)
    return _Place(vault, str(cwd or ""), folder, Quoter(redact, shorten), lambda text: shorten(redact(text)[0]))


def project_here(view: View | None, root: Path) -> str:
    """The working directory's project; a folder's mere name counts only if sessions have that project."""
    cwd, projects = str(here() or ""), user_settings().projects
    named = named_project_of(cwd, projects, str(root))
    if named or not cwd or Path(cwd).is_relative_to(root):
        return named
    name = project_of(cwd, projects)
    return name if view and has_sessions(view, name) else ""


def _is_here(place: _Place, project: str) -> bool:
    """True if the working directory belongs to the project and is not in the vault."""
    if not project or not place.cwd or Path(place.cwd).is_relative_to(place.vault.root):
        return False
    return project_of(place.cwd, user_settings().projects).casefold() == project.casefold()


def aim_named(vault: Vault, ref: str) -> tuple[Aim, str]:
    """The aim of a workflow, and its name."""
    note = read_workflow_note(vault, find_workflow(vault, ref, here()))
    return aim_of(note.workflow), note.name


def _propose(place: _Place, project: str, folder: Path) -> None:
    """Write the project's note if there is none; it is never overwritten."""
    try:
        path = profile_path(place.vault.root, project)
        proposal = None if os.path.lexists(path) else propose(folder, project, place.redact)
        if proposal:
            write_profile(place.vault.root, project, proposal.text, fsync=place.vault.settings.fsync)
            say(f"wrote {PROJECTS}/{path.name}, proposed from {', '.join(proposal.sources)}: it is yours from now on")
    except NoteExists:  # somebody was faster
        pass
    except CrucibleError as error:
        warn(f"the project's note cannot be written: {error}")


# --- what the rooms below cannot know --------------------------------------------------------------------------------


def _notice(place: _Place, view: View, project: str, now: datetime) -> str:
    """The notice of the project's paused session, if that is the project's latest position."""
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
