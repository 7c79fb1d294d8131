"""Sessions and contexts for the tests of resuming."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from crucible.commands.resume.resume_context import TEMPLATE, build_context
from crucible.commands.resume.resume_material import Context, Material
from crucible.core.tokens import Estimate
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Entry, Intervention, Phase, Prose, Session
from crucible.documents.session.session_reader import read_session

START = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
NOW = START + timedelta(days=1)


def phase(name: str, *entries: Entry, subphases: tuple[Phase, ...] = ()) -> Phase:
    return Phase(name, AgentRef("codex"), started=START, entries=entries, subphases=subphases)


def session(*phases: Phase, **fields: Any) -> Session:
    """The session as read back from its note, so that phases have their ids."""
    made = Session(id="2026-11-21-it", started=START, phases=phases, **{"title": "It", **fields})
    return as_read(made)


def as_read(made: Session) -> Session:
    return read_session(Source(render_session(made)), made.id)


def turn(number: int) -> tuple[Entry, ...]:
    return (Intervention(f"question {number}"), Prose(f"answer {number}"))


def context(made: Session, budget: int = 8000, window: int = 15, **material: Any) -> Context:
    return build_context(
        Material(made, material.pop("now", NOW), **material),
        window=window,
        budget=budget,
        counter=Estimate(),
        template=TEMPLATE,
    )


def parts(text: str) -> Mapping[str, str]:
    """The text under each heading of ours."""
    found = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    return {one.partition("\n")[0]: one.partition("\n")[2] for one in found}
