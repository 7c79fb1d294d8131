"""A case as a note for Obsidian: what is known of it in the frontmatter, its parts under headings, a link to where it comes from.

Owns the writing; `notes_reading.read_case(render_case(case))` is the case again, whatever its texts are.  Foreign text stands there contained.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from crucible.cases.model import Body, Case, Choice, Correction, Delegation, Place, Puzzle
from crucible.cases.note_blocks import render_exact, render_items, render_text, render_turns
from crucible.cases.sections import (
    ORIGIN,
    SECTIONS,
    STAMP,
    STAMP_BESIDES,
    Form,
    Section,
    without_origin,
)
from crucible.errors import BadSessionId, EditRefused
from crucible.knowledge.model import Attribution
from crucible.note.contain import FORMAT, contain_line, cut, normal_line
from crucible.note.frontmatter import render_frontmatter
from crucible.note.scalars import Value
from crucible.note.wikilinks import render_link, strip_heading_for_link, without_links
from crucible.session.identity import check_session_id
from crucible.vault.stamping import stamped

__all__ = ["NOTE_TYPE", "render_case"]

NOTE_TYPE = "case"
_TITLE = 80


def render_case(case: Case, heading: str = "") -> str:
    """The whole note.  `heading` is that of the phase as its session's note has it, to link to; without one the session is linked."""
    parts = [f"# {_title(case)}", _origin(case.place, heading), *_sections(case)]
    text = render_frontmatter(_properties(case)) + "\n" + "\n\n".join(parts) + "\n"
    return stamped(text, STAMP, STAMP_BESIDES, without_origin)


# --- frontmatter -----------------------------------------------------------------------------------------------------


def _properties(case: Case) -> dict[str, Value]:
    """What is empty is left out."""
    found: dict[str, Value] = {
        "type": NOTE_TYPE,
        "case": case.id,
        "case_type": case.type.value,
        "title": case.title,
        "finding": case.finding,
        "status": case.review.value,
        "session": _session_link(case.place.session),
        "phase": case.place.phase,
        "phase_name": case.place.phase_name,
        "line": case.place.line,
        "agent": case.agent,
        "model": case.model,
        "channel": case.channel,
        "project": case.project,
        "started": case.started.isoformat().replace("+00:00", "Z") if case.started else "",
        "tools": [*case.tools],
        "difficulty": case.difficulty.value,
        "tokens": case.tokens,
        "fault": case.fault.value,
        "verified": case.verification.verified,
        "verification": case.verification.command,
        "complete": case.complete,
        **_of_body(case.body),
        "problems": [*case.problems],
        "redactions": [f"{count} {rule}" for rule, count in case.redactions.items()],
        "tags": [*case.tags],
        "digest": case.digest,
        "format": FORMAT,
    }
    told = {key: value for key, value in found.items() if value not in ("", [])}
    return {key: value if key == "session" else _no_link(value) for key, value in told.items()}


def _no_link(value: Value) -> Value:
    """Foreign text leads nowhere."""
    if isinstance(value, list):
        return [_no_link(one) for one in value]
    return without_links(value) if isinstance(value, str) else value


def _session_link(session: str) -> str:
    return f"[[{session}]]" if _can_be_linked(session) else without_links(session)


def _can_be_linked(session: str) -> bool:
    try:
        return check_session_id(session) == session
    except BadSessionId:
        return False


def _of_body(body: Body) -> dict[str, Value]:
    """The parts of a case that are no text of their own."""
    if isinstance(body, Puzzle):
        return _of_attribution(body.attribution) if body.attribution else {}
    if isinstance(body, Delegation):
        return {"delegate": body.agent, **({} if body.used is None else {"used": body.used})}
    return {}


def _of_attribution(found: Attribution) -> dict[str, Value]:
    return {
        "category": found.category.value,
        "root_cause": found.root_cause,
        "preventable_with": found.preventable_with,
        "confidence": float(found.confidence),
        "judge": found.judge,
    }


# --- the text --------------------------------------------------------------------------------------------------------


def _title(case: Case) -> str:
    line = contain_line(cut(normal_line((case.title or _subject(case.body))[:1000]), _TITLE))
    return f"{case.type.value.capitalize()}: {line}" if line else case.type.value.capitalize()


def _subject(body: Body) -> str:
    if isinstance(body, Choice):
        return body.choice
    if isinstance(body, Delegation):
        return body.task
    return (body.words or body.goal) if isinstance(body, Correction) else body.goal


def _origin(place: Place, heading: str) -> str:
    if not _can_be_linked(place.session):
        return f"From line {place.line} of a session."
    link = f"{ORIGIN}{place.session}]]"
    if heading:
        alias = strip_heading_for_link(normal_line(place.phase_name)) or None
        with suppress(EditRefused):  # the session alone is a place too
            link = "From " + render_link(place.session, strip_heading_for_link(heading), alias)
    return f"{link}, line {place.line}."


def _sections(case: Case) -> Iterator[str]:
    for section in SECTIONS[case.type]:
        block = _block(section, getattr(case.body, section.field))
        if block:
            yield f"## {section.heading}\n\n{block}"


def _block(section: Section, value: object) -> str:
    if section.form is Form.TURNS:
        return render_turns(value)  # type: ignore[arg-type]  # the table says which field holds what
    if section.form is Form.ITEMS:
        return render_items(section.item, value)  # type: ignore[arg-type]
    assert isinstance(value, str)  # noqa: S101  the table says so
    if not value:
        return ""
    return render_exact(value) if section.form is Form.EXACT else render_text(value)
