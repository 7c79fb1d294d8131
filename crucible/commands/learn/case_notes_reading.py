"""A case from its note, as a human may have edited it.

What is no part of a case is reported and left out; a note whose content was changed is measured again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from crucible.commands.learn.case import (
    BODIES,
    Body,
    Case,
    CaseType,
    Place,
    Review,
)
from crucible.commands.learn.case_making import measured
from crucible.commands.learn.case_notes import FIELDS, SECTIONS, STAMP, STAMP_BESIDES, Section, without_origin
from crucible.commands.learn.note_blocks import NO_PART, Part, parts_of
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.knowledge.items import Attribution, Category
from crucible.documents.knowledge.typed_properties import Properties, linktext_of
from crucible.documents.markdown.frontmatter import Frontmatter, find_frontmatter
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.markdown.wikilinks import with_links
from crucible.vault.notes.note_folder import is_stamped

_LINK = late_pattern(r"\s*\[\[([^\[\]]+)\]\]\s*")
_UNCLEAR = frozenset({"broken-yaml", "yaml-too-large", "unclosed-frontmatter", "bad-turns"})
"""Problems of a note that could not be read completely."""


class Read(NamedTuple):
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
        return self.case is not None and (not self.as_written or self.case.review is not Review.PROPOSED)


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


def read_case(source: Source, name: str) -> Read:
    """The case of a note; `name` is the file's without `.md`, its id where it tells none."""
    found = find_frontmatter(source)
    told = Properties(source, found)
    ident, session = told.line("case") or name, _session_of(told)
    if not is_case(source, found):
        told.tell("no-case", "its type is not case")
        return Read(None, tuple(told.problems), name, session)
    case = _read_case(told, found, ident, session)
    as_written = is_as_written(source, found)
    problems = tuple(sorted(told.problems, key=lambda one: one.line))
    if case and not as_written:
        case = measured(case)
    return Read(
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
        review=told.word("status", Review) or Review.PROPOSED,
        **told.fields_of(Case, FIELDS),
    )


def _read_body(type_: CaseType, told: Properties, lines: list[str], first: int) -> Body:
    parts: dict[str, Part] = {}
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


def _read_section(section: Section, parts: Mapping[str, Part], told: Properties) -> Any:
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
