"""An item of knowledge as a note for Obsidian, and from it.

Owns the properties' names and order.  `read_item(render_item(item))` is the item again; of what a human made of a note every part is taken as it
stands, and what is not understood is told with its line.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from crucible.errors import BadSessionId
from crucible.knowledge.item_texts import HEADINGS, TEXT, Body, read_body, render_body
from crucible.knowledge.items import Failure, Item, ItemType, Origin, Provenance, Scope, Status, Verification
from crucible.knowledge.model import Category
from crucible.note.contain import FORMAT, format_of
from crucible.note.frontmatter import find_frontmatter, render_frontmatter
from crucible.note.scalars import Value
from crucible.note.source import Problem, Source
from crucible.note.wikilinks import LinkText, parse_linktext, render_link, with_links, without_links
from crucible.patterns import late_pattern
from crucible.session.fields import FieldReader, format_time
from crucible.session.identity import check_session_id
from crucible.vault.naming import slugify

__all__ = ["Read", "body_of", "parts_of", "properties_of", "read_item", "render_item", "slug_of"]

_PHASE = late_pattern(r"[A-Za-z0-9._-]{1,40}")
_E = TypeVar("_E", bound=StrEnum)


class Read(NamedTuple):
    """An item, None for a note that is none, and what is wrong with the note."""

    item: Item | None
    problems: tuple[Problem, ...] = ()


# --- writing ---------------------------------------------------------------------------------------------------------


def render_item(item: Item) -> str:
    """The whole note."""
    shown = {key: value for key, value in properties_of(item).items() if value not in (None, "", [])}
    return render_frontmatter({**shown, "format": FORMAT}) + "\n" + render_body(item.title, parts_of(item))


def parts_of(item: Item) -> dict[str, str]:
    """The texts below the properties, by part."""
    failure = item.failure
    return {TEXT: item.text, **{part: getattr(failure, part) for part in HEADINGS}}


def properties_of(item: Item) -> dict[str, Value]:
    """Every property in its order; None, "" or an empty list for one that is not there."""
    source, verification, category = item.source, item.verification, item.failure.category
    return {
        "type": item.type.value,
        "title": without_links(item.title),
        "status": item.status.value,
        "scope": item.scope.value,
        "project": without_links(item.project),
        "domain": without_links(item.domain),
        "tags": [*item.tags],
        "source": source.origin.value,
        "session": source.session and f"[[{source.session}]]",
        "phase": _phase_link(source),
        "also_from": [f"[[{one}]]" for one in item.also_from],
        "merged": [f"[[{one}]]" for one in item.merged],
        "category": category and category.value,
        "confidence": item.confidence,
        "verified": verification.passed,
        "verification": without_links(verification.how),
        "verified_by": without_links(verification.by),
        "verified_at": _shown(verification.at),
        "failed_checks": [*item.failed_checks],
        "use_count": item.use_count,
        "useful_count": item.useful_count,
        "last_used": _shown(item.last_used),
        "created": _shown(item.created),
        "updated": _shown(item.updated),
        "retired": _shown(item.retired),
        "retired_because": item.retired_because,
    }


def _phase_link(source: Provenance) -> str:
    if source.heading:
        return render_link(source.session, source.heading, source.phase or None)
    return source.phase


def _shown(time: datetime | None) -> str:
    return format_time(time) if time else ""


# --- reading ---------------------------------------------------------------------------------------------------------


def read_item(source: Source, name: str) -> Read:
    """The item of a note whose file is called `name`, without `.md`."""
    found = find_frontmatter(source)
    told = _Properties(source, found)
    if not found.present:
        told.problems.append(Problem("no-frontmatter", 1, "no properties, so it is no item of knowledge yet"))
        return Read(None, tuple(told.problems))
    type_ = told.word("type", ItemType)
    if type_ is None:
        if found.values.get("type") is None:
            told.problems.append(Problem("no-type", 1, f"type is missing: one of {', '.join(ItemType)}"))
        return Read(None, tuple(told.problems))
    if told.values.get("source") is None:
        told.problems.append(Problem("no-source", 1, f"source is missing: one of {', '.join(Origin)}"))
    item = _read(type_, told, read_body(source.lines[found.lines.end :], format_of(found.values)), name)
    return Read(item, tuple(sorted(told.problems, key=lambda one: one.line)))


def body_of(source: Source) -> Body:
    """What stands below the properties; its lines are counted from there."""
    found = find_frontmatter(source)
    return read_body(source.lines[found.lines.end :], format_of(found.values))


def slug_of(title: str) -> str:
    """The name of the note of an item with that title."""
    return slugify(title).replace("session", "item", 1) if _has_no_latin(title) else slugify(title)


def _has_no_latin(title: str) -> bool:
    # `slugify` makes names of sessions, and calls so what has no letter it knows.
    return "session" not in title.casefold() and slugify(title).startswith("session")


class _Properties(FieldReader):
    """The values of an item's note, each as what it should be; what it is not is told."""

    def word(self, key: str, words: type[_E]) -> _E | None:
        told = self.text(key)
        if told is None:
            return None
        try:
            return words(told.strip().lower())
        except ValueError:
            self.complain(key, "one of " + ", ".join(one.value for one in words))
            return None

    def line(self, key: str) -> str:
        return with_links(self.text(key) or "")

    def flag(self, key: str) -> bool:
        value = self.values.get(key)
        if value is not None and not isinstance(value, bool):
            self.complain(key, "true or false")
        return value is True

    def share(self, key: str) -> float | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
            return float(value)
        self.complain(key, "a number from 0 to 1")
        return None

    def session(self, key: str, told: str) -> str:
        """The session, or the item, that is meant: a link, in any folder, or an id alone."""
        target = _linktext(told).target.rpartition("/")[2]
        try:
            return check_session_id(target) if target else ""
        except BadSessionId:
            self.complain(key, "a link to a note")
            return ""

    def linked(self, key: str) -> tuple[str, ...]:
        """The notes that a list links to."""
        return tuple(one for text in self.texts(key) if (one := self.session(key, text)))


def _linktext(told: str) -> LinkText:
    inner = told.strip(" \t")
    if inner.startswith("[[") and inner.endswith("]]"):
        return parse_linktext(inner[2:-2])
    return LinkText(inner)


def _read(type_: ItemType, told: _Properties, body: Body, name: str) -> Item:
    parts: Mapping[str, Any] = {part: body.parts.get(part, "") for part in HEADINGS}
    return Item(
        type=type_,
        title=_title(told, body.title, name),
        text=body.parts.get(TEXT, ""),
        tags=told.texts("tags"),
        scope=told.word("scope", Scope) or Scope.PROJECT,
        project=told.line("project"),
        domain=told.line("domain"),
        source=_source(told),
        confidence=told.share("confidence"),
        failure=Failure(told.word("category", Category), **parts),
        verification=_verification(told),
        use_count=told.count("use_count") or 0,
        useful_count=told.count("useful_count") or 0,
        last_used=told.time("last_used"),
        created=told.time("created"),
        updated=told.time("updated"),
        status=told.word("status", Status) or Status.ACTIVE,
        retired=told.time("retired"),
        retired_because=told.line("retired_because"),
        also_from=told.linked("also_from"),
        merged=told.linked("merged"),
        failed_checks=told.texts("failed_checks"),
    )


def _title(told: _Properties, heading: str | None, name: str) -> str:
    """Where the property and the heading differ, the one counts that was changed: of which the note is not named."""
    said = told.line("title")
    if not heading or not said or heading == said:
        return heading or said or name.replace("-", " ")
    message = "the property and the heading are not the same; the changed one counts, else the heading"
    told.problems.append(Problem("two-titles", told.line_of("title"), message))
    return said if _names(heading, name) and not _names(said, name) else heading


def _names(title: str, name: str) -> bool:
    slug = slug_of(title)
    return name == slug or (name.startswith(f"{slug}-") and name[len(slug) + 1 :].isdecimal())


def _source(told: _Properties) -> Provenance:
    origin = told.word("source", Origin) or Origin.MANUAL
    session = told.session("session", told.line("session"))
    link = _linktext(told.line("phase"))
    if link.subpath is None and link.alias is None:  # an id alone
        link = LinkText("", None, link.target)
    phase = link.alias if link.alias and _PHASE.fullmatch(link.alias) else ""
    if link.alias and not phase and not link.subpath:
        told.complain("phase", "a phase's id such as phase-2, or a link to its heading")
    return Provenance(origin, session, phase, link.subpath or "")


def _verification(told: _Properties) -> Verification:
    return Verification(
        told.flag("verified"), told.line("verification"), told.line("verified_by"), told.time("verified_at")
    )
