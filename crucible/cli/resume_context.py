"""A session's context as the command line asks for it: its material looked up, its size as the settings say."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from crucible.cli.opening import here
from crucible.cli.surroundings import user_settings
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.note_sources import source_name
from crucible.commands.resume.continue_session import Native, find_native, folder_of, last_client
from crucible.commands.resume.extent import find_extent
from crucible.commands.resume.resume_context import find_material, settled_context
from crucible.commands.resume.resume_material import Context, Drift, Material
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault


class Asked(NamedTuple):
    """The size of a context in tokens, None for the setting, and what the session is resumed for."""

    budget: int | None
    goal: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A context and what it was built for."""

    session: Session
    drift: Drift | None
    context: Context

    @property
    def warning(self) -> str:
        """What is wrong with the note's `resume_point`, or ""."""
        return resume_problem(self.session)

    def values(self) -> dict[str, Any]:
        """For JSON."""
        phase = find_extent(self.session).phase
        return {
            "session": self.session.id,
            "phase": phase.id if phase else None,
            "tokens": self.context.tokens,
            "is_tight": self.context.is_tight,
            "left_out": [asdict(each) for each in self.context.left_out],
            "drift": asdict(self.drift) if self.drift else None,
            "text": self.context.text,
        }


def tell_context(vault: Vault, session: Session, asked: Asked) -> Told:
    """The context of a session as it is now, seen from the working directory."""
    folder = place_of(session, native_of(session, last_client(session)))
    material = find_material(vault, session, folder, datetime.now(UTC), goal=asked.goal)
    return Told(session, material.drift, build(vault, material, asked))


def resume_problem(session: Session) -> str:
    """What is wrong with a note's `resume_point`, or ""."""
    problem = find_extent(session).problem
    return f"{session.id}: {problem}" if problem else ""


def native_of(session: Session, client: str) -> Native | None:
    """The newest session of a client's own that is folded into this one and is still on this machine."""
    dialect = DIALECTS.get(client)
    return find_native(session, dialect, os.environ, Path(os.path.expanduser("~")), source_name) if dialect else None


def place_of(session: Session, native: Native | None) -> Path | None:
    """The folder to go on in; a session that names no project is of the folder that we stand in."""
    return folder_of(
        session,
        cwd=here(),
        projects=user_settings().projects,
        native_cwd=native.folder if native else None,
    )


def build(vault: Vault, material: Material, asked: Asked) -> Context:
    """The context, by the vault's settings and the user's tokenizer."""
    tokenizer = user_settings().agents.tokenizer
    return settled_context(vault.settings, material, budget=asked.budget, tokenizer=tokenizer)
