"""Render knowledge items as notes and read them back: `read_item` returns the item that `render_item` wrote.

Users edit these notes, so reading never fails: each invalid part is a problem with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from crucible.core.errors import BadSessionId
from crucible.core.patterns import late_pattern
from crucible.documents.knowledge.items import Category, FailureCause, Item, ItemSource, ItemType, Origin, Verification
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain, fenced, format_of, uncontain
from crucible.documents.markdown.fences import contain_code, fenced_lines, uncontain_code, whole_fences
from crucible.documents.markdown.frontmatter import find_frontmatter, render_frontmatter
from crucible.documents.markdown.source import Problem, Source
from crucible.documents.markdown.wikilinks import LinkText, render_link
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.markup import render_title
from crucible.documents.session.note_entries import read_title
from crucible.documents.session.properties import Properties, property_of
from crucible.documents.session.property_values import link_to, linktext_of
from crucible.documents.session.session import SESSIONS
from crucible.documents.session.session_id import check_session_id, slugify

_ITEMS = "knowledge"
"""The folder of items."""
TEXT = "text"
"""The part of a note that has no heading."""

HEADINGS: Mapping[str, str] = {
    "root_cause": "Root cause",
    "preventable_with": "What would have prevented it",
    "resolution": "Resolution",
}
"""The level-2 headings of a note's parts, in order."""

_PARTS = {heading.lower(): part for part, heading in HEADINGS.items()}
_HEADING = late_pattern(r"(#{1,2})[ \t]+(.*?)[ \t]*")
_FENCE = late_pattern(r"(`{3,}|~{3,})text[ \t]*")


class Chunk(NamedTuple):
    """The lines of a part (`first` to `end`, from 0), without its heading and trailing blank lines."""

    part: str
    first: int
    end: int


class ItemBody(NamedTuple):
    """The body of a note.  `title` is None if there is no heading; `parts` has only non-empty parts."""

    title: str | None
    parts: Mapping[str, str]
    chunks: tuple[Chunk, ...]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_body(lines: Sequence[str], form: int = FORMAT) -> ItemBody:
    """Read the lines below the properties, which a user may have edited.  `form` is the note's `format`."""
    title, chunks = None, [Chunk(TEXT, 0, 0)]
    for at, level, words in _headings(lines):
        part = _PARTS.get(words.rstrip("# \t").lower(), "") if level == 2 else ""
        is_title = level == 1 and title is None
        chunks[-1] = _closed(chunks[-1], lines, at)
        if is_title:
            title = read_title(words, form)
        chunks.append(Chunk(part or TEXT, at + 1 if part or is_title else at, at + 1))
    chunks[-1] = _closed(chunks[-1], lines, len(lines))
    parts = {part: _joined(part, chunks, lines, form) for part in (TEXT, *HEADINGS)}
    return ItemBody(title, {part: text for part, text in parts.items() if text}, tuple(chunks))


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield position, level and text of each heading outside fences."""
    code = fenced_lines(lines)
    for at, line in enumerate(lines):
        if line[:1] == "#" and at not in code and (found := _HEADING.fullmatch(line)):
            yield at, len(found[1]), found[2]


def _closed(chunk: Chunk, lines: Sequence[str], end: int) -> Chunk:
    while end > chunk.first and not lines[end - 1].strip(" \t"):
        end -= 1
    return chunk._replace(end=max(end, chunk.first))


def _joined(part: str, chunks: Sequence[Chunk], lines: Sequence[str], form: int) -> str:
    texts = [_read_text(lines[one.first : one.end], form) for one in chunks if one.part == part]
    return "\n\n".join(text for text in texts if text)


def _read_text(lines: Sequence[str], form: int) -> str:
    first = next((at for at, line in enumerate(lines) if line.strip(" \t")), len(lines))
    text = "\n".join(lines[first:])
    # Text that could not be contained in any other way is in such a fence.
    if _FENCE.fullmatch(lines[first] if text else "") and whole_fences(text) == [(0, len(lines) - first)]:
        return uncontain_code("\n".join(lines[first + 1 : -1]), form)
    return uncontain(text, form=form)


# --- writing ---------------------------------------------------------------------------------------------------------


def render_body(title: str, parts: Mapping[str, str]) -> str:
    """Render the title and all non-empty parts."""
    blocks = [render_title(title), *_blocks(parts)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(parts: Mapping[str, str]) -> Iterator[str]:
    yield render_text(parts.get(TEXT, ""))
    for part, heading in HEADINGS.items():
        if parts.get(part):
            yield f"## {heading}\n\n{render_text(parts[part])}"


def render_text(text: str, form: int = FORMAT) -> str:
    """Render normalized text as a block of a note; "" for empty text.  `form` is the note's `format`."""
    shown = contain(text, form=form)
    # A heading below the text must still be read as a heading.
    after = f"{shown}\n\n## {HEADINGS['resolution']}\n\nx"
    if not text or read_body(after.split("\n"), form).parts == {TEXT: text, "resolution": "x"}:
        return shown
    return fenced(text if form < FORMAT else contain_code(text))


_KEYS = (
    "type", "title", "status", "scope", "project", "domain", "tags", "source", "session", "phase", "also_from", "merged", "category", "confidence",
    "verified", "verification", "verified_by", "verified_at", "failed_checks", "use_count", "useful_count", "last_used", "created", "updated", "retired",
    "retired_because",
)  # fmt: skip
_FIELDS = (
    "tags", "scope", "project", "domain", "use_count", "useful_count", "last_used", "created", "updated", "status", "retired", "retired_because",
    "failed_checks",
)  # fmt: skip
"""Properties with the same name as a field of an item."""
_PHASE = late_pattern(r"[A-Za-z0-9._-]{1,40}")


class ReadItem(NamedTuple):
    """The item in a note, or None, and the note's problems."""

    item: Item | None
    problems: tuple[Problem, ...] = ()


# --- writing ---------------------------------------------------------------------------------------------------------


def render_item(item: Item, folder: str = SESSIONS) -> str:
    """The text of an item's note.  `folder` is the folder of sessions, for links."""
    shown = {key: value for key, value in properties_of(item, folder).items() if value not in (None, "", [])}
    return render_frontmatter({**shown, "format": FORMAT}) + "\n" + render_body(item.title, parts_of(item))


def parts_of(item: Item) -> dict[str, str]:
    """The text of each part below the properties."""
    failure = item.failure
    return {TEXT: item.text, **{part: getattr(failure, part) for part in HEADINGS}}


def properties_of(item: Item, folder: str = SESSIONS) -> dict[str, Value]:
    """All properties in order; absent ones are None, "" or an empty list.  `folder` is that of sessions, for links."""
    source, proof = item.source, item.verification
    links: dict[str, Value] = {
        "session": source.session and link_to(source.session, folder),
        "phase": _phase_link(source, folder),
        "also_from": [link_to(one, folder) for one in item.also_from],
        "merged": [link_to(one, _ITEMS) for one in item.merged],
        "retired_because": item.retired_because,
    }
    parts = {
        "source": source.origin,
        "category": item.failure.category,
        "verified": proof.passed,
        "verification": proof.how,
        "verified_by": proof.by,
        "verified_at": proof.at,
    }
    shown = {key: parts[key] if key in parts else getattr(item, key) for key in _KEYS if key not in links}
    return {key: links[key] if key in links else property_of(shown[key]) for key in _KEYS}


def _phase_link(source: ItemSource, folder: str) -> str:
    if source.heading:
        place = f"{folder}/{source.session}" if folder else source.session
        return render_link(place, source.heading, source.phase or None)
    return source.phase


# --- reading ---------------------------------------------------------------------------------------------------------


def read_item(source: Source, name: str) -> ReadItem:
    """Read the item in a note.  `name` is the file's name without `.md`."""
    found = find_frontmatter(source)
    reader = _Links(source, found)
    if not found.present:
        reader.tell("no-frontmatter", "no properties, so it is not a knowledge item yet")
        return ReadItem(None, tuple(reader.problems))
    type_ = reader.word("type", ItemType)
    if type_ is None:
        if found.values.get("type") is None:
            reader.tell("no-type", f"type is missing: one of {', '.join(ItemType)}")
        return ReadItem(None, tuple(reader.problems))
    if reader.values.get("source") is None:
        reader.tell("no-source", f"source is missing: one of {', '.join(Origin)}")
    item = _read(type_, reader, read_body(source.lines[found.lines.end :], format_of(found.values)), name)
    return ReadItem(item, tuple(sorted(reader.problems, key=lambda one: one.line)))


def body_of(source: Source) -> ItemBody:
    """The body of a note; lines are counted from the end of the properties."""
    found = find_frontmatter(source)
    return read_body(source.lines[found.lines.end :], format_of(found.values))


def slug_of(title: str) -> str:
    """The file name, without `.md`, for an item with this title."""
    return slugify(title).replace("session", "item", 1) if _has_no_latin(title) else slugify(title)


def _has_no_latin(title: str) -> bool:
    # `slugify` returns `session-…` for a title without Latin letters.
    return "session" not in title.casefold() and slugify(title).startswith("session")


class _Links(Properties):
    def session(self, key: str, text: str) -> str:
        """The id of a session or an item, given as a link (to any folder) or as a bare id."""
        target = linktext_of(text).target.rpartition("/")[2]
        try:
            return check_session_id(target) if target else ""
        except BadSessionId:
            self.complain(key, "a link to a note")
            return ""

    def linked(self, key: str) -> tuple[str, ...]:
        """The names of the notes in a list of links."""
        return tuple(one for text in self.texts(key) if (one := self.session(key, text)))


def _read(type_: ItemType, reader: _Links, body: ItemBody, name: str) -> Item:
    parts: Mapping[str, Any] = {part: body.parts.get(part, "") for part in HEADINGS}
    return Item(
        type=type_,
        title=_title(reader, body.title, name),
        text=body.parts.get(TEXT, ""),
        source=_source(reader),
        confidence=reader.share("confidence"),
        failure=FailureCause(reader.word("category", Category), **parts),
        verification=_verification(reader),
        also_from=reader.linked("also_from"),
        merged=reader.linked("merged"),
        **reader.fields_of(Item, _FIELDS),
    )


def _title(reader: _Links, heading: str | None, name: str) -> str:
    """The title.  If property and heading differ, use the edited one: the one that does not match the file name."""
    title = reader.line("title")
    if not heading or not title or heading == title:
        return heading or title or name.replace("-", " ")
    message = "the property and the heading differ; the one that changed wins, else the heading"
    reader.tell("two-titles", message, reader.line_of("title"))
    return title if _names(heading, name) and not _names(title, name) else heading


def _names(title: str, name: str) -> bool:
    slug = slug_of(title)
    return name == slug or (name.startswith(f"{slug}-") and name[len(slug) + 1 :].isdecimal())


def _source(reader: _Links) -> ItemSource:
    origin = reader.word("source", Origin) or Origin.MANUAL
    session = reader.session("session", reader.line("session"))
    link = linktext_of(reader.line("phase"))
    if link.subpath is None and link.alias is None:  # a bare id
        link = LinkText("", None, link.target)
    phase = link.alias if link.alias and _PHASE.fullmatch(link.alias) else ""
    if link.alias and not phase and not link.subpath:
        reader.complain("phase", "a phase's id such as phase-2, or a link to its heading")
    return ItemSource(origin, session, phase, link.subpath or "")


def _verification(reader: _Links) -> Verification:
    return Verification(
        reader.flag("verified") is True,
        reader.line("verification"),
        reader.line("verified_by"),
        reader.time("verified_at"),
    )
