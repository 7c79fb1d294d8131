"""What a session's context is built from, looked up from where `cru` was called."""

from __future__ import annotations

import os
from pathlib import Path

from crucible.cli.environment import user_settings
from crucible.cli.output import warn
from crucible.cli.vault_access import here
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.note_sources import source_name
from crucible.commands.resume.continue_session import Native, find_native, folder_of
from crucible.commands.resume.resume_context import settled_context
from crucible.commands.resume.resume_material import Context, Material, find_extent
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Vault


def say_resume_problem(session: Session) -> None:
    """Warn if the note's `resume_point` is wrong."""
    if problem := find_extent(session).problem:
        warn(f"{session.id}: {problem}")


def native_of(session: Session, client: str) -> Native | None:
    """The client's newest own session that is folded into this one and is still on this machine."""
    dialect = DIALECTS.get(client)
    return find_native(session, dialect, os.environ, Path(os.path.expanduser("~")), source_name) if dialect else None


def folder_for(session: Session, native: Native | None) -> Path | None:
    """The folder to continue in; the working directory for a session without a project."""
    native_cwd = native.folder if native else None
    return folder_of(session, cwd=here(), projects=user_settings().projects, native_cwd=native_cwd)


def build_context(vault: Vault, material: Material, budget: int | None) -> Context:
    """The context, in at most `budget` tokens, by default as many as the vault's settings say."""
    return settled_context(vault.settings, material, budget=budget, tokenizer=user_settings().agents.tokenizer)
