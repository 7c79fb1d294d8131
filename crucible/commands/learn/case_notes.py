"""A case as a note for Obsidian: what is known of it in the frontmatter, its parts under headings, a link to where it comes from.

Owns the form; `notes_reading.read_case(render_case(case))` is the case again, whatever its texts are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from crucible.commands.learn.case import Body, Case, CaseType, Delegation, Place, Puzzle, type_of
from crucible.commands.learn.case_texts import names_of
from crucible.commands.learn.note_blocks import (
    read_items,
    read_text,
    read_turns,
    render_exact,
    render_items,
    render_text,
    render_turns,
)
from crucible.core.errors import BadSessionId, EditRefused
from crucible.core.patterns import late_pattern
from crucible.documents.knowledge.items import Attribution
from crucible.documents.knowledge.typed_properties import property_of
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.frontmatter import render_frontmatter
from crucible.documents.markdown.wikilinks import (
    render_link,
    strip_heading_for_link,
)
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session_id import check_session_id
from crucible.vault.notes.note_folder import stamped

_TITLE = 80
_KEYS = (
    "type", "case", "case_type", "status", "session", "phase", "phase_name", "line", "title", "finding", "agent", "model", "channel", "project", "digest",
    "tools", "tags", "problems", "started", "difficulty", "tokens", "fault", "verified", "verification", "complete", "category", "root_cause",
    "preventable_with", "confidence", "judge", "delegate", "used", "redactions", "format",
)  # fmt: skip
FIELDS = (
    "title", "finding", "agent", "model", "channel", "project", "digest", "tools", "tags", "problems", "started", "difficulty", "tokens", "fault", "complete",
)  # fmt: skip
"""Properties with the same name as their field of a case."""
STAMP, STAMP_BESIDES = "written", ("session", "status")
"""The property by which an edit is known, and those that change when a session is renamed, and when the case is reviewed."""
_ORIGIN = "From [["
_ORIGIN_LINE = late_pattern(r"^From \[\[(?:(?!\]\]).)*\]\], line -?[0-9]+\.\n", re.MULTILINE)


class Form(NamedTuple):
    """How a part is written and parsed."""

    render: Callable[[Any], str]
    read: Callable[[Sequence[str]], object]


_TEXT, _EXACT = Form(render_text, read_text), Form(render_exact, read_text)
"""Prose where that can be, and never."""
_ITEMS, _TURNS = Form(render_items, read_items), Form(render_turns, read_turns)


class Section(NamedTuple):
    """A level-2 heading, the field of the case's body under it, and its form."""

    heading: str
    field: str
    form: Form = _TEXT


SECTIONS: Mapping[CaseType, tuple[Section, ...]] = {
    CaseType.PUZZLE: (
        Section("Goal", "goal"),
        Section("State", "state"),
        Section("Tried", "tried", _TURNS),
        Section("Failure", "failure", _EXACT),
        Section("Hints", "hints", _ITEMS),
        Section("Expected", "expected"),
        Section("Solution", "solution", _TURNS),
    ),
    CaseType.CORRECTION: (
        Section("Goal", "goal"),
        Section("What the agent did", "did", _TURNS),
        Section("Rejected", "rejected", _EXACT),
        Section("The user's words", "words"),
        Section("What followed", "then", _TURNS),
    ),
    CaseType.DECISION: (
        Section("Situation", "situation"),
        Section("Options", "options", _ITEMS),
        Section("Choice", "choice"),
        Section("Rationale", "rationale"),
        Section("Outcome", "outcome"),
    ),
    CaseType.DELEGATION: (
        Section("Task", "task"),
        Section("Result", "result"),
        Section("Evidence", "evidence"),
    ),
    CaseType.WORKFLOW: (Section("Goal", "goal"), Section("Turns", "turns", _TURNS)),
}


def render_case(case: Case, heading: str = "") -> str:
    """The whole note.  `heading` is that of the phase as its session's note has it, to link to; without one the session is linked."""
    parts = [f"# {_title(case)}", _origin(case.place, heading), *render_sections(sections_of(case.body))]
    text = render_frontmatter(_properties(case)) + "\n" + "\n\n".join(parts) + "\n"
    return stamped(text, STAMP, STAMP_BESIDES, without_origin)


def without_origin(text: str) -> str:
    """The note without the line that links to where it comes from, as long as that says nothing else."""
    return _ORIGIN_LINE.sub("", text, count=1)


# --- writing ---------------------------------------------------------------------------------------------------------


def _properties(case: Case) -> dict[str, Value]:
    """What is empty is left out."""
    place, body = case.place, case.body
    parts: dict[str, Any] = {
        "type": "case",
        "case": case.id,
        "case_type": case.type,
        "status": case.review,
        "phase": place.phase,
        "phase_name": place.phase_name,
        "line": place.line,
        "verified": bool(case.verification),
        "redactions": tuple(f"{count} {rule}" for rule, count in case.redactions.items()),
        "format": FORMAT,
    }
    if isinstance(body, Puzzle) and body.attribution:
        parts |= {name: getattr(body.attribution, name) for name in names_of(Attribution)}
    if isinstance(body, Delegation):
        parts |= {"delegate": body.agent, "used": body.used}
    shown = {key: property_of(parts[key] if key in parts else getattr(case, key, None)) for key in _KEYS}
    shown["session"] = f"[[{place.session}]]" if _can_be_linked(place.session) else property_of(place.session)
    return {key: value for key, value in shown.items() if value not in (None, "", [])}


def _can_be_linked(session: str) -> bool:
    try:
        return check_session_id(session) == session
    except BadSessionId:
        return False


# --- the text --------------------------------------------------------------------------------------------------------


def _title(case: Case) -> str:
    line = contain_line(cut(normal_line(case.title[:1000]), _TITLE))
    return f"{case.type.value.capitalize()}: {line}" if line else case.type.value.capitalize()


def _origin(place: Place, heading: str) -> str:
    if not _can_be_linked(place.session):
        return f"From line {place.line} of a session."
    link = f"{_ORIGIN}{place.session}]]"
    if heading:
        alias = strip_heading_for_link(normal_line(place.phase_name)) or None
        with suppress(EditRefused):  # the session alone is a place too
            link = "From " + render_link(place.session, strip_heading_for_link(heading), alias)
    return f"{link}, line {place.line}."


def sections_of(body: Body) -> dict[str, str]:
    """The blocks of a body by their headings, "" for what is empty."""
    return {one.heading: one.form.render(getattr(body, one.field)) for one in SECTIONS[type_of(body)]}


def render_sections(sections: Mapping[str, str]) -> Iterator[str]:
    """Each block under its heading."""
    return (f"## {heading}\n\n{block}" for heading, block in sections.items() if block)
