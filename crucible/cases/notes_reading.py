"""A case from its note, as a human may have edited it.

What is no part of a case is reported and left out; a note whose content was changed is measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from crucible.cases.note_blocks import (
    Part,
    parts_of,
    read_items,
    read_text,
    read_turns,
)
from crucible.cases.notes import LISTS, SECTIONS, STAMP, STAMP_BESIDES, TEXTS, Form, Section, without_origin
from crucible.errors import UsageError
from crucible.knowledge.model import Attribution, Category
from crucible.note.frontmatter import Frontmatter, find_frontmatter
from crucible.note.scalars import Value
from crucible.note.source import Problem, Source
from crucible.note.wikilinks import (
    parse_linktext,
    with_links,
)
from crucible.patterns import late_pattern
from crucible.vault.stamping import is_stamped

__all__ = ["Read", "is_as_written", "is_case", "read_case"]

_T = TypeVar("_T")
_E = TypeVar("_E", bound=StrEnum)

_LINK = late_pattern(r"\s*\[\[([^\[\]]+)\]\]\s*")
_WHOLE = "a whole number is wanted"
_BROKEN = frozenset({"broken-yaml", "yaml-too-large", "unclosed-frontmatter"})
"""Problems of a frontmatter of which not all could be read."""


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
    told = _Properties(source, found)
    ident, session = told.text("case") or name, told.get("session", _session_of, "")
    if not is_case(source, found):
        told.tell("no-case", "its type is not case")
        return Read(None, tuple(told.problems), ident, session)
    case = _read_case(told, source, found, ident, session)
    as_written = is_as_written(source, found)
    problems = tuple(sorted(told.problems, key=lambda one: one.line))
    if case and not as_written:
        case = measured(case)
    return Read(
        None if told.is_unclear else case, problems, ident, session, says_case=True, as_written=as_written
    )


class _Properties:
    """The values of a frontmatter, each as what it should be; what it is not is a problem."""

    def __init__(self, source: Source, found: Frontmatter) -> None:
        self.values = found.values
        self.problems = [*found.problems]
        self.is_unclear = any(one.code in _BROKEN for one in found.problems)
        self._source = source
        self._keys = found.keys

    def tell(self, code: str, message: str, line: int = 1) -> None:
        self.problems.append(Problem(code, line, message))

    def get(self, key: str, read: Callable[[Value], _T], default: _T, wanted: str = "") -> _T:
        """A value as `read` makes it; the default if it is empty, or not what is `wanted`."""
        value = self.values.get(key)
        if value in (None, "", []):
            return default
        try:
            return read(value)
        except (ValueError, TypeError):
            line = self._source.line_of(self._keys[key].start) + 1 if key in self._keys else 1
            self.tell("bad-value", f"{key}: {wanted}", line)
            self.is_unclear |= key in ("status", "case_type")
            return default

    def text(self, key: str) -> str:
        return self.get(key, _text, "", "a text is wanted")

    def texts(self, key: str) -> tuple[str, ...]:
        return self.get(key, _texts, ())

    def flag(self, key: str) -> bool | None:
        return self.get(key, _flag, None, "true or false is wanted")

    def word(self, key: str, words: type[_E]) -> _E | None:
        def read(value: Value) -> _E | None:
            return words(str(value).strip().lower())

        return self.get(key, read, None, f"one of {', '.join(words)}, not {str(self.values.get(key))[:40]!r}")


def _text(value: Value) -> str:
    if isinstance(value, list | dict):
        raise ValueError("text")  # noqa: TRY004  as every reader
    return with_links(str(value))


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else (_text(value),)


def _whole(value: Value) -> int:
    return int(str(value))


def _share(value: Value) -> float:
    return float(str(value))


def _flag(value: Value) -> bool | None:
    if not isinstance(value, bool):
        raise ValueError("flag")  # noqa: TRY004  as every reader
    return value


def _moment(value: Value) -> datetime | None:
    return datetime.fromisoformat(str(value).strip())


def _session_of(value: Value) -> str:
    link = _LINK.fullmatch(str(value))
    return parse_linktext(link[1]).target.rpartition("/")[2] if link else with_links(str(value))


def _counted(told: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    for one in told:
        count, _, rule = one.partition(" ")
        if count.isascii() and count.isdecimal() and len(count) < 16:
            yield rule, int(count)


def _read_case(
    told: _Properties, source: Source, found: Frontmatter, ident: str, session: str
) -> Case | None:
    type_ = told.word("case_type", CaseType)
    if type_ is None:
        if "case_type" not in found.values:  # else its line is a problem already
            told.tell("no-case-type", f"case_type is one of {', '.join(CaseType)}")
        return None
    lines = source.text.replace("\r\n", "\n").split("\n")
    body = _read_body(type_, told, lines[found.lines.end :], found.lines.end + 1)
    passed = told.flag("verified") is not False
    fields: dict[str, Any] = {
        **{name: told.text(name) for name in TEXTS},
        **{name: told.texts(name) for name in LISTS},
    }
    return Case(
        id=ident,
        type=type_,
        place=Place(
            session, told.text("phase"), told.text("phase_name"), told.get("line", _whole, 0, _WHOLE)
        ),
        body=body,
        started=told.get("started", _moment, None, "a time such as 2026-11-21T20:26:47Z is wanted"),
        difficulty=told.word("difficulty", Difficulty) or Difficulty.MEDIUM,
        tokens=told.get("tokens", _whole, 0, _WHOLE),
        fault=told.word("fault", Fault) or Fault.AGENT,
        verification=Verification(told.text("verification") if passed else ""),
        complete=told.flag("complete") is not False,
        redactions=dict(_counted(told.texts("redactions"))),
        review=told.word("status", Review) or Review.PROPOSED,
        **fields,
    )


def _read_body(type_: CaseType, told: _Properties, lines: list[str], line: int) -> Body:
    parts: dict[str, Part] = {}
    known = {section.heading.lower() for section in SECTIONS[type_]}
    for part in parts_of(lines, line)[1:]:
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
    fields: dict[str, Any] = {
        section.field: _read_section(
            section, parts.get(section.heading.lower(), Part(section.heading, [], 1)), told
        )
        for section in SECTIONS[type_]
    }
    if type_ is CaseType.PUZZLE:
        fields["attribution"] = _attribution(told)
    if type_ is CaseType.DELEGATION:
        fields |= {"agent": told.text("delegate"), "used": told.flag("used")}
    return BODIES[type_](**fields)


def _read_section(section: Section, part: Part, told: _Properties) -> object:
    if section.form is Form.ITEMS:
        return read_items(part.lines)
    if section.form is not Form.TURNS:
        return read_text(part.lines)
    try:
        return read_turns(part.lines)
    except UsageError as error:
        told.tell("bad-turns", str(error), part.line)
        told.is_unclear = True
        return ()


def _attribution(told: _Properties) -> Attribution | None:
    category = told.word("category", Category)
    if category is None:
        return None
    return Attribution(
        category,
        told.text("root_cause"),
        told.text("preventable_with"),
        told.get("confidence", _share, 0.0, "a number is wanted"),
        told.text("judge"),
    )
