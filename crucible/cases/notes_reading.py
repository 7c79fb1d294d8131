"""A case from its note, as a human may have edited it.

Owns the reading of what `notes` writes: every part is taken as it stands, what is no part of a case is left out and told.  A note whose
content was changed is measured again: its digest and its tokens are of what it says now.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from crucible.cases.making import measured
from crucible.cases.model import (
    BODIES,
    Body,
    Case,
    CaseType,
    Difficulty,
    Fault,
    Place,
    Review,
    Verification,
)
from crucible.cases.note_blocks import Part, parts_of, read_items, read_text, read_turns
from crucible.cases.sections import (
    SECTIONS,
    STAMP,
    STAMP_BESIDES,
    Form,
    Section,
    without_origin,
)
from crucible.knowledge.model import Attribution, Category
from crucible.note.contain import format_of
from crucible.note.frontmatter import Frontmatter, find_frontmatter
from crucible.note.scalars import Value
from crucible.note.source import Problem, Source
from crucible.note.wikilinks import parse_linktext, with_links
from crucible.patterns import late_pattern
from crucible.vault.stamping import is_stamped

__all__ = ["Read", "is_as_written", "is_case", "read_case"]

_LINK = late_pattern(r"\s*\[\[([^\[\]]+)\]\]\s*")
_E = TypeVar("_E", bound=StrEnum)
_BROKEN = frozenset({"broken-yaml", "yaml-too-large", "unclosed-frontmatter"})
"""Problems of a frontmatter of which not all could be read."""


class Read(NamedTuple):
    """A case, None for a note that is none, and what is wrong with the note.

    `says_case` tells whether a note says that it is one, `told` and `session` the ids that it tells.  `as_written` says that the content is as it
    was extracted, reviewed or not; `clear` that nothing a human may have said of it, least of all his review, is lost in what is not understood.
    """

    case: Case | None
    problems: tuple[Problem, ...] = ()
    told: str = ""
    session: str = ""
    says_case: bool = False
    as_written: bool = False
    clear: bool = False


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
    problems = [*found.problems]
    reader = _Properties(source, found, problems)
    told, session = reader.text("case"), _session_of(reader.text("session", whole=True))
    if not is_case(source, found):
        return Read(None, (*problems, Problem("no-case", 1, "its type is not case")), told, session)
    type_ = reader.word("case_type", CaseType)
    if type_ is None:
        if "case_type" not in found.values:  # else its line was told already
            problems.append(Problem("no-case-type", 1, f"case_type is one of {_named(CaseType)}"))
        return Read(None, tuple(problems), told, session, says_case=True)
    lines = source.text.replace("\r\n", "\n").split("\n")
    body = _read_body(type_, reader, lines[found.lines.end :], found.lines.end + 1)
    case = _read_known(type_, body, reader, told or name, session)
    as_written = is_as_written(source, found)
    problems.sort(key=lambda one: one.line)
    return Read(
        case if as_written else measured(case),
        tuple(problems),
        told,
        session,
        says_case=True,
        as_written=as_written,
        clear=reader.status_clear and not any(one.code in _BROKEN for one in found.problems),
    )


# --- frontmatter -----------------------------------------------------------------------------------------------------


class _Properties:
    """The values of a frontmatter, each as what it should be; what it is not is told."""

    def __init__(self, source: Source, found: Frontmatter, problems: list[Problem]) -> None:
        self.values: Mapping[str, Value] = found.values
        self.problems = problems
        self.status_clear = True
        self._source = source
        self._keys = found.keys

    def tell(self, code: str, message: str, line: int) -> None:
        self.problems.append(Problem(code, line, message))

    def _refuse(self, key: str, wanted: str) -> None:
        line = self._source.line_of(self._keys[key].start) + 1 if key in self._keys else 1
        self.tell("bad-value", f"{key}: {wanted}", line)

    def text(self, key: str, *, whole: bool = False) -> str:
        """A value as a text; `whole` leaves a link one."""
        value = self.values.get(key)
        if isinstance(value, str):
            return value if whole else with_links(value)
        if value is None or isinstance(value, list | dict):
            return ""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.values.get(key)
        if isinstance(value, list):
            return tuple(
                with_links(str(one)) for one in value if one is not None and not isinstance(one, list | dict)
            )
        return (self.text(key),) if self.text(key) else ()

    def number(self, key: str) -> int:
        value = self.values.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if value is not None:
            self._refuse(key, "a whole number is wanted")
        return 0

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self._refuse(key, "true or false is wanted")
        return value if isinstance(value, bool) else None

    def word(self, key: str, words: type[_E]) -> _E | None:
        value = self.values.get(key)
        told = (str(value) if isinstance(value, list | dict) and value else self.text(key)).strip().lower()
        if not told:
            return None
        try:
            return words(told)
        except ValueError:
            self._refuse(key, f"one of {_named(words)}, not {told[:40]!r}")
            return None

    def review(self) -> Review:
        """What a human said; what is not understood is not clear."""
        told = self.word("status", Review)
        self.status_clear = told is not None or self.values.get("status") in (None, "")
        return told or Review.PROPOSED

    def moment(self, key: str) -> datetime | None:
        told = self.text(key)
        try:
            return datetime.fromisoformat(told.strip()) if told else None
        except ValueError:
            self._refuse(key, "a time such as 2026-11-21T20:26:47Z is wanted")
            return None


def _named(words: type[StrEnum]) -> str:
    return ", ".join(one.value for one in words)


def _read_known(type_: CaseType, body: Body, told: _Properties, id_: str, session: str) -> Case:
    phase = (told.text("phase"), told.text("phase_name"), told.number("line"))
    passed = told.flag("verified") is not False
    return Case(
        id=id_,
        type=type_,
        place=Place(session, *phase),
        body=body,
        title=told.text("title"),
        finding=told.text("finding"),
        agent=told.text("agent"),
        model=told.text("model"),
        channel=told.text("channel"),
        project=told.text("project"),
        started=told.moment("started"),
        tools=told.texts("tools"),
        tags=told.texts("tags"),
        difficulty=told.word("difficulty", Difficulty) or Difficulty.MEDIUM,
        tokens=told.number("tokens"),
        fault=told.word("fault", Fault) or Fault.AGENT,
        verification=Verification(told.text("verification") if passed else ""),
        digest=told.text("digest"),
        complete=told.flag("complete") is not False,
        problems=told.texts("problems"),
        redactions=dict(_counted(told.texts("redactions"))),
        review=told.review(),
    )


def _session_of(told: str) -> str:
    link = _LINK.fullmatch(told)
    return parse_linktext(link[1]).target.rpartition("/")[2] if link else with_links(told)


def _counted(told: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for one in told:
        count, _, rule = one.partition(" ")
        if count.isascii() and count.isdecimal() and len(count) < 16:
            yield rule, int(count)


# --- the text --------------------------------------------------------------------------------------------------------


def _read_body(type_: CaseType, told: _Properties, lines: list[str], line: int) -> Body:
    parts: dict[str, Part] = {}
    known = {section.heading.lower() for section in SECTIONS[type_]}
    for part in parts_of(lines, 2, line)[1:]:
        key = part.title.lower()
        if key not in known:
            what = f"“{part.title[:60]}” is no part of a {type_.value}; it is kept, and not exported"
            told.tell("unknown-section", what, part.line - 1)
        elif key in parts:
            told.tell(
                "section-twice",
                f"“{part.title[:60]}” stands here again; only the first counts",
                part.line - 1,
            )
        else:
            parts[key] = part
    fields: dict[str, Any] = {
        section.field: _read_section(section, parts.get(section.heading.lower()), told)
        for section in SECTIONS[type_]
    }
    return BODIES[type_](**fields, **_of_body(type_, told))


def _read_section(section: Section, part: Part | None, told: _Properties) -> object:
    form = format_of(told.values)
    if section.form is Form.TURNS:
        found: list[tuple[int, str]] = []
        turns = read_turns(part.lines, part.line, found, form) if part else ()
        for line, message in found:
            told.tell("bad-turn", message, line)
        return turns
    if section.form is Form.ITEMS:
        return read_items(part.lines, form) if part else ()
    return read_text(part.lines, form) if part else ""


def _of_body(type_: CaseType, told: _Properties) -> dict[str, Any]:
    if type_ is CaseType.PUZZLE:
        return {"attribution": _attribution(told)}
    if type_ is CaseType.DELEGATION:
        return {"agent": told.text("delegate"), "used": told.flag("used")}
    return {}


def _attribution(told: _Properties) -> Attribution | None:
    category = told.word("category", Category)
    if category is None:
        return None
    confidence = told.values.get("confidence")
    return Attribution(
        category,
        told.text("root_cause"),
        told.text("preventable_with"),
        float(confidence) if isinstance(confidence, int | float) and 0 <= confidence <= 1 else 0.0,
        told.text("judge"),
    )
