"""A digest of a vault's memory: what is read for it, and what of it may be missing.

Owns that a source that cannot be read is named and the rest is told.  Only files of memory, rows of the index, the project's note and named files are
read; no session's note is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from crucible.briefing.digest import LINES, Digest, build_digest, conventions_in, digest_items, position_lines
from crucible.briefing.likeness import Aim, Leaning
from crucible.briefing.memory import Held, Position, find_position, load_held
from crucible.briefing.model import Source
from crucible.briefing.profile import conventions
from crucible.briefing.quoting import Quoter
from crucible.errors import CrucibleError
from crucible.index.view import View
from crucible.vault.store import Vault

__all__ = ["Digested", "Wanted", "digest_of"]

_Value = TypeVar("_Value")


class Wanted(NamedTuple):
    """What a digest is to be about.

    `project` is "" for the whole vault, `folder` the project's where it is here.  `aim` is the workflow's that is about to run.  `but` is a session that
    only just begins.  `now` is aware.
    """

    now: datetime
    project: str = ""
    folder: Path | None = None
    aim: Aim | None = None
    lines: int = LINES
    but: str = ""


class Digested(NamedTuple):
    """A digest, the position that it tells, what memory holds, and the sources that could not be read."""

    digest: Digest
    position: Position | None
    held: Held
    failed: tuple[Source, ...] = ()


def digest_of(vault: Vault, view: View, wanted: Wanted, quoter: Quoter) -> Digested:
    """The digest; `view` are the tables of an index that is true."""
    failed: list[Source] = []
    position = _tried(
        "position", failed, lambda: find_position(view, vault.root, wanted.project, but=wanted.but), None
    )
    held = _tried("memory", failed, lambda: load_held(vault.root, wanted.project), Held())
    profile: tuple[str, ...] = ()
    if wanted.project:
        profile = _tried("profile", failed, lambda: conventions(vault.root, wanted.project, quoter.whole), ())
    included = tuple(conventions_in(wanted.folder, vault.settings.briefing.include_files))
    told = (*profile, *included)
    first = position.session if position else ""
    items = digest_items(held, told, quoter, aim=wanted.aim, first=first, most=wanted.lines)
    place = position_lines(position, wanted.project, wanted.now, quoter)
    leaning = wanted.aim.leaning if wanted.aim else Leaning.NEITHER
    return Digested(build_digest(place, items, wanted.lines, leaning), position, held, tuple(failed))


def _tried(name: str, failed: list[Source], read: Callable[[], _Value], without: _Value) -> _Value:
    try:
        return read()
    except CrucibleError as error:
        failed.append(Source(name, str(error)))
        return without
