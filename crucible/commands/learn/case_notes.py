"""Render a case as a note, and parse a note that the user may have edited.

`read_case` returns the case that `render_case` wrote. Unknown sections are reported as problems.
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
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain_line, cut, normal_line
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter, render_frontmatter
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.markdown.wikilinks import (
    render_link,
    strip_heading_for_link,
    unescape_links,
)
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.properties import Properties, property_of
from crucible.documents.session.property_values import link_to, linktext_of
from crucible.documents.session.session import SESSIONS
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
"""Frontmatter properties and the names of their fields in `Case`."""
STAMP, STAMP_BESIDES = "written", ("session", "status")
"""The property used to detect edits, and the properties that a session rename or a review may change."""
_ORIGIN_LINE = late_pattern(r"^From \[\[(?:(?!\]\]).)*\]\], line -?[0-9]+\.\n", re.MULTILINE)


class PartFormat(NamedTuple):
    """Functions that render and parse a section."""

    render: Callable[[Any], str]
    read: Callable[[Sequence[str]], object]


_TEXT, _EXACT = PartFormat(render_text, read_text), PartFormat(render_exact, read_text)
"""Text as prose where possible, and text that is always in a fence."""
_ITEMS, _TURNS = PartFormat(render_items, read_items), PartFormat(render_turns, read_turns)


class CaseSection(NamedTuple):
    """A level-2 heading, the corresponding field of the body, and the format of that field."""

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


def render_case(case: Case, heading: str = "", folder: str = SESSIONS) -> str:
    """Render the note. It links to `heading` in the session's note, or to the session if `heading` is "".

    `folder` is the folder of the session's note.
    """
    parts = [f"# {_title(case)}", _origin(case.place, heading, folder), *render_sections(sections_of(case.body))]
    text = render_frontmatter(_properties(case, folder)) + "\n" + "\n\n".join(parts) + "\n"
    return stamped(text, STAMP, STAMP_BESIDES, without_origin)


def without_origin(text: str) -> str:
    """Remove the line with the link to the session, unless the user added to it."""
    return _ORIGIN_LINE.sub("", text, count=1)


# --- writing ---------------------------------------------------------------------------------------------------------


def _properties(case: Case, folder: str) -> dict[str, Value]:
    """Return the non-empty properties of the frontmatter."""
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
    shown["session"] = link_to(place.session, folder) if _can_be_linked(place.session) else property_of(place.session)
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


def _origin(place: Place, heading: str, folder: str) -> str:
    if not _can_be_linked(place.session):
        return f"From line {place.line} of a session."
    link = f"From {link_to(place.session, folder)}"
    if heading:
        alias = strip_heading_for_link(normal_line(place.phase_name)) or None
        with suppress(EditRefused):  # then link to the session only
            link = "From " + render_link(
                linktext_of(link_to(place.session, folder)).target, strip_heading_for_link(heading), alias
            )
    return f"{link}, line {place.line}."


def sections_of(body: Body) -> dict[str, str]:
    """Return the rendered sections of a body by heading, "" for empty ones."""
    return {one.heading: one.form.render(getattr(body, one.field)) for one in SECTIONS[type_of(body)]}


def render_sections(sections: Mapping[str, str]) -> Iterator[str]:
    """Yield each non-empty section with its heading."""
    return (f"## {heading}\n\n{block}" for heading, block in sections.items() if block)


_LINK = late_pattern(r"\s*\[\[([^\[\]]+)\]\]\s*")
_UNCLEAR = frozenset({"broken-yaml", "yaml-too-large", "unclosed-frontmatter", "bad-turns"})
"""Problems that make the content of a note uncertain."""


class ParsedCase(NamedTuple):
    """A parsed case note.

    `case` is None for a note of another type (`says_case` is False), or if its content or review is uncertain. `id` and
    `session` are as stated in the note. `as_written` is True if the content is unchanged since extraction, even if the
    note was reviewed.
    """

    case: Case | None
    problems: tuple[Problem, ...]
    id: str
    session: str
    says_case: bool = False
    as_written: bool = False

    @property
    def is_edited(self) -> bool:
        """True if the user reviewed or changed the note."""
        return self.case is not None and (not self.as_written or self.case.review is not CaseStatus.PROPOSED)


def is_case(found: Frontmatter) -> bool:
    """True if a note with this frontmatter is a case."""
    return found.values.get("type") == "case"


def is_as_written(source: Source, found: Frontmatter | None = None) -> bool:
    """True if a note's content is unchanged since extraction; it may have been reviewed."""
    found = found or find_frontmatter(source)
    besides = [span for key, span in (*found.keys.items(), *found.repeats) if key in STAMP_BESIDES]
    # The stamp does not cover these properties, so check them for comments.
    remarked = any("#" in source.slice(span) for span in besides)
    return not remarked and is_stamped(source, STAMP, STAMP_BESIDES, without_origin, found)


def read_case(source: Source, name: str) -> ParsedCase:
    """Parse a case note. `name` is the file name without `.md`; it is used as the id if the note has none."""
    found = find_frontmatter(source)
    properties = Properties(source, found)
    ident, session = properties.line("case") or name, _session_of(properties)
    if not is_case(found):
        properties.tell("no-case", "its type is not case")
        return ParsedCase(None, tuple(properties.problems), name, session)
    case = _read_case(properties, found, ident, session)
    as_written = is_as_written(source, found)
    problems = tuple(sorted(properties.problems, key=lambda one: one.line))
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
    """True if the case or its review may be misread."""
    is_word = problem.code == "bad-field" and problem.message.startswith(("status:", "case_type:"))
    return is_word or problem.code in _UNCLEAR


def _session_of(properties: Properties) -> str:
    text = properties.text("session") or ""
    return linktext_of(text).target.rpartition("/")[2] if _LINK.fullmatch(text) else unescape_links(text)


def _counted(texts: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for one in map(unescape_links, texts):
        count, _, rule = one.partition(" ")
        if count.isascii() and count.isdecimal() and len(count) < 16:
            yield rule, int(count)


def _read_case(properties: Properties, found: Frontmatter, ident: str, session: str) -> Case | None:
    type_ = properties.word("case_type", CaseType)
    if type_ is None:
        if "case_type" not in found.values:  # an invalid value is reported already
            properties.tell("no-case-type", f"case_type is one of {', '.join(CaseType)}")
        return None
    body = _read_body(type_, properties, properties.source.text.replace("\r\n", "\n").split("\n"), found.lines.end)
    passed = properties.flag("verified") is not False
    return Case(
        id=ident,
        type=type_,
        place=Place(session, properties.line("phase"), properties.line("phase_name"), properties.count("line") or 0),
        body=body,
        verification=properties.line("verification") if passed else "",
        redactions=dict(_counted(properties.texts("redactions"))),
        review=properties.word("status", CaseStatus) or CaseStatus.PROPOSED,
        **properties.fields_of(Case, FIELDS),
    )


def _read_body(type_: CaseType, properties: Properties, lines: list[str], first: int) -> Body:
    parts: dict[str, NotePart] = {}
    known = {section.heading.lower() for section in SECTIONS[type_]}
    for part in parts_of(lines[first:], first + 1)[1:]:
        key, shown = part.title.lower(), f"“{part.title[:60]}”"
        if key not in known:
            properties.tell(
                "unknown-section",
                f"{shown} is not a section of a {type_.value}; it is kept, but not exported",
                part.line - 1,
            )
        elif key in parts:
            properties.tell("section-twice", f"{shown} is repeated; only the first counts", part.line - 1)
        else:
            parts[key] = part
    fields = {section.field: _read_section(section, parts, properties) for section in SECTIONS[type_]}
    if type_ is CaseType.PUZZLE:
        fields["attribution"] = _attribution(properties)
    if type_ is CaseType.DELEGATION:
        fields |= {"agent": properties.line("delegate"), "used": properties.flag("used")}
    return BODIES[type_](**fields)


def _read_section(section: CaseSection, parts: Mapping[str, NotePart], properties: Properties) -> Any:
    part = parts.get(section.heading.lower(), NO_PART)
    try:
        return section.form.read(part.lines)
    except UsageError as error:
        properties.tell("bad-turns", str(error), part.line)
        return ()


def _attribution(properties: Properties) -> Attribution | None:
    category = properties.word("category", Category)
    if category is None:
        return None
    fields = properties.fields_of(Attribution, ("root_cause", "preventable_with", "judge"))
    return Attribution(category, confidence=properties.share("confidence") or 0.0, **fields)
