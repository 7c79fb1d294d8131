"""A case as a note, and the case of a note that a user may have edited.

`read_case` returns the same case that `render_case` wrote. Unknown parts are reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from crucible.commands.learn.case import (
    BODIES,
    Body,
    Case,
    CaseStatus,
    CaseType,
    Delegation,
    Place,
    Puzzle,
    field_names,
    type_of,
    with_digest,
)
from crucible.commands.learn.note_blocks import (
    NO_PART,
    NotePart,
    parts_of,
    read_items,
    read_text,
    read_turns,
    render_exact,
    render_items,
    render_text,
    render_turns,
)
from crucible.core.errors import BadSessionId, EditRefused, UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.knowledge.items import Attribution, Category
from crucible.documents.knowledge.typed_properties import Properties, linktext_of, property_of
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, render_frontmatter
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.markdown.wikilinks import (
    render_link,
    strip_heading_for_link,
    with_links,
)
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session_id import check_session_id
from crucible.vault.notes.note_folder import is_stamped, stamped

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


class PartFormat(NamedTuple):
    """How a part is written and parsed."""

    render: Callable[[Any], str]
    read: Callable[[Sequence[str]], object]


_TEXT, _EXACT = PartFormat(render_text, read_text), PartFormat(render_exact, read_text)
"""Prose where that can be, and never."""
_ITEMS, _TURNS = PartFormat(render_items, read_items), PartFormat(render_turns, read_turns)


class CaseSection(NamedTuple):
    """A level-2 heading, the field of the case's body under it, and its form."""

    heading: str
    field: str
    form: PartFormat = _TEXT


SECTIONS: Mapping[CaseType, tuple[CaseSection, ...]] = {
    CaseType.PUZZLE: (
        CaseSection("Goal", "goal"),
        CaseSection("State", "state"),
        CaseSection("Tried", "tried", _TURNS),
        CaseSection("Failure", "failure", _EXACT),
        CaseSection("Hints", "hints", _ITEMS),
        CaseSection("Expected", "expected"),
        CaseSection("Solution", "solution", _TURNS),
    ),
    CaseType.CORRECTION: (
        CaseSection("Goal", "goal"),
        CaseSection("What the agent did", "did", _TURNS),
        CaseSection("Rejected", "rejected", _EXACT),
        CaseSection("The user's words", "words"),
        CaseSection("What followed", "then", _TURNS),
    ),
    CaseType.DECISION: (
        CaseSection("Situation", "situation"),
        CaseSection("Options", "options", _ITEMS),
        CaseSection("Choice", "choice"),
        CaseSection("Rationale", "rationale"),
        CaseSection("Outcome", "outcome"),
    ),
    CaseType.DELEGATION: (
        CaseSection("Task", "task"),
        CaseSection("Result", "result"),
        CaseSection("Evidence", "evidence"),
    ),
    CaseType.WORKFLOW: (CaseSection("Goal", "goal"), CaseSection("Turns", "turns", _TURNS)),
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
        parts |= {name: getattr(body.attribution, name) for name in field_names(Attribution)}
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


_LINK = late_pattern(r"\s*\[\[([^\[\]]+)\]\]\s*")
_UNCLEAR = frozenset({"broken-yaml", "yaml-too-large", "unclosed-frontmatter", "bad-turns"})
"""Problems of a note that could not be read completely."""


class ParsedCase(NamedTuple):
    """The case of a note, and what is wrong with the note.

    `case` is None for a note that is no case, or where a part or what a human said of it is not understood.  `says_case` tells whether the note says
    that it is one, `id` and `session` what it names; `as_written` that the content is as it was extracted, reviewed or not.
    """

    case: Case | None
    problems: tuple[Problem, ...]
    id: str
    session: str
    says_case: bool = False
    as_written: bool = False

    @property
    def is_edited(self) -> bool:
        """Whether it is a human's word: he reviewed it, or changed it."""
        return self.case is not None and (not self.as_written or self.case.review is not CaseStatus.PROPOSED)


def is_case(source: Source, found: Frontmatter | None = None) -> bool:
    """Whether a note says that it is a case; `found` is its frontmatter, where that is known."""
    return (found or find_frontmatter(source)).values.get("type") == "case"


def is_as_written(source: Source, found: Frontmatter | None = None) -> bool:
    """Whether a case's content is as it was extracted; it may have been reviewed."""
    found = found or find_frontmatter(source)
    besides = [span for key, span in (*found.keys.items(), *found.repeats) if key in STAMP_BESIDES]
    # What is besides the stamp may hold a remark.
    remarked = any("#" in source.slice(span) for span in besides)
    return not remarked and is_stamped(source, STAMP, STAMP_BESIDES, without_origin, found)


def read_case(source: Source, name: str) -> ParsedCase:
    """The case of a note; `name` is the file's without `.md`, its id where it tells none."""
    found = find_frontmatter(source)
    told = Properties(source, found)
    ident, session = told.line("case") or name, _session_of(told)
    if not is_case(source, found):
        told.tell("no-case", "its type is not case")
        return ParsedCase(None, tuple(told.problems), name, session)
    case = _read_case(told, found, ident, session)
    as_written = is_as_written(source, found)
    problems = tuple(sorted(told.problems, key=lambda one: one.line))
    if case and not as_written:
        case = with_digest(case)
    return ParsedCase(
        None if any(map(_is_unclear, problems)) else case,
        problems,
        ident,
        session,
        says_case=True,
        as_written=as_written,
    )


def _is_unclear(problem: Problem) -> bool:
    """True if a case, or a human's verdict on it, may be misread."""
    is_word = problem.code == "bad-field" and problem.message.startswith(("status:", "case_type:"))
    return is_word or problem.code in _UNCLEAR


def _session_of(told: Properties) -> str:
    text = told.text("session") or ""
    return linktext_of(text).target.rpartition("/")[2] if _LINK.fullmatch(text) else with_links(text)


def _counted(told: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for one in map(with_links, told):
        count, _, rule = one.partition(" ")
        if count.isascii() and count.isdecimal() and len(count) < 16:
            yield rule, int(count)


def _read_case(told: Properties, found: Frontmatter, ident: str, session: str) -> Case | None:
    type_ = told.word("case_type", CaseType)
    if type_ is None:
        if "case_type" not in found.values:  # else its line is a problem already
            told.tell("no-case-type", f"case_type is one of {', '.join(CaseType)}")
        return None
    body = _read_body(type_, told, told.source.text.replace("\r\n", "\n").split("\n"), found.lines.end)
    passed = told.flag("verified") is not False
    return Case(
        id=ident,
        type=type_,
        place=Place(session, told.line("phase"), told.line("phase_name"), told.count("line") or 0),
        body=body,
        verification=told.line("verification") if passed else "",
        redactions=dict(_counted(told.texts("redactions"))),
        review=told.word("status", CaseStatus) or CaseStatus.PROPOSED,
        **told.fields_of(Case, FIELDS),
    )


def _read_body(type_: CaseType, told: Properties, lines: list[str], first: int) -> Body:
    parts: dict[str, NotePart] = {}
    known = {section.heading.lower() for section in SECTIONS[type_]}
    for part in parts_of(lines[first:], first + 1)[1:]:
        key, shown = part.title.lower(), f"“{part.title[:60]}”"
        if key not in known:
            told.tell(
                "unknown-section",
                f"{shown} is no part of a {type_.value}; it is kept, and not exported",
                part.line - 1,
            )
        elif key in parts:
            told.tell("section-twice", f"{shown} stands here again; only the first counts", part.line - 1)
        else:
            parts[key] = part
    fields = {section.field: _read_section(section, parts, told) for section in SECTIONS[type_]}
    if type_ is CaseType.PUZZLE:
        fields["attribution"] = _attribution(told)
    if type_ is CaseType.DELEGATION:
        fields |= {"agent": told.line("delegate"), "used": told.flag("used")}
    return BODIES[type_](**fields)


def _read_section(section: CaseSection, parts: Mapping[str, NotePart], told: Properties) -> Any:
    part = parts.get(section.heading.lower(), NO_PART)
    try:
        return section.form.read(part.lines)
    except UsageError as error:
        told.tell("bad-turns", str(error), part.line)
        return ()


def _attribution(told: Properties) -> Attribution | None:
    category = told.word("category", Category)
    if category is None:
        return None
    told_of = told.fields_of(Attribution, ("root_cause", "preventable_with", "judge"))
    return Attribution(category, confidence=told.share("confidence") or 0.0, **told_of)
