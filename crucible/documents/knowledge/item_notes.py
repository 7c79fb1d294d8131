"""Render an item of knowledge as a note, and read it back: `read_item(render_item(item))` is the item again.

Users edit these notes, so reading never fails: an invalid part is a problem with its line.
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
from crucible.documents.session.properties import Properties, linktext_of, property_of
from crucible.documents.session.session_id import check_session_id, slugify

TEXT = "text"
"""The part without a heading."""

HEADINGS: Mapping[str, str] = {
    "root_cause": "Root cause",
    "preventable_with": "What would have prevented it",
    "resolution": "Resolution",
}
"""Parts of a note, in order, and their level-2 headings."""

_PARTS = {heading.lower(): part for part, heading in HEADINGS.items()}
_HEADING = late_pattern(r"(#{1,2})[ \t]+(.*?)[ \t]*")
_FENCE = late_pattern(r"(`{3,}|~{3,})text[ \t]*")


class Chunk(NamedTuple):
    """Lines `first` to `end`, from 0, of a part, without its heading and trailing blank lines."""

    part: str
    first: int
    end: int


class ItemBody(NamedTuple):
    """The body of a note; `title` is None without a heading, `parts` has no empty ones."""

    title: str | None
    parts: Mapping[str, str]
    chunks: tuple[Chunk, ...]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_body(lines: Sequence[str], form: int = FORMAT) -> ItemBody:
    """The lines below the properties, which the user may have edited; `form` is the note's `format`."""
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
    """Place, level and words of each heading outside of fences."""
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
    # A text that could not be contained otherwise is in such a fence.
    if _FENCE.fullmatch(lines[first] if text else "") and whole_fences(text) == [(0, len(lines) - first)]:
        return uncontain_code("\n".join(lines[first + 1 : -1]), form)
    return uncontain(text, form=form)


# --- writing ---------------------------------------------------------------------------------------------------------


def render_body(title: str, parts: Mapping[str, str]) -> str:
    """The title and every non-empty part."""
    blocks = [render_title(title), *_blocks(parts)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(parts: Mapping[str, str]) -> Iterator[str]:
    yield render_text(parts.get(TEXT, ""))
    for part, heading in HEADINGS.items():
        if parts.get(part):
            yield f"## {heading}\n\n{render_text(parts[part])}"


def render_text(text: str, form: int = FORMAT) -> str:
    """A text in normal form as a block of a note; `form` is its `format`.  "" for ""."""
    shown = contain(text, form=form)
    # A heading after the text must still read as a heading.
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
"""Properties with the same name as their field of an item."""
_PHASE = late_pattern(r"[A-Za-z0-9._-]{1,40}")


class ReadItem(NamedTuple):
    """The item of a note, None if it has none, and the note's problems."""

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
    """All properties in order; None, "" or an empty list for an absent one."""
    source, proof = item.source, item.verification
    links: dict[str, Value] = {
        "session": source.session and f"[[{source.session}]]",
        "phase": _phase_link(source),
        "also_from": [f"[[{one}]]" for one in item.also_from],
        "merged": [f"[[{one}]]" for one in item.merged],
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


def _phase_link(source: ItemSource) -> str:
    if source.heading:
        return render_link(source.session, source.heading, source.phase or None)
    return source.phase


# --- reading ---------------------------------------------------------------------------------------------------------


def read_item(source: Source, name: str) -> ReadItem:
    """The item of a note whose file is called `name`, without `.md`."""
    found = find_frontmatter(source)
    reader = _Links(source, found)
    if not found.present:
        reader.tell("no-frontmatter", "no properties, so it is no item of knowledge yet")
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
    """The body of a note; its lines count from the end of the properties."""
    found = find_frontmatter(source)
    return read_body(source.lines[found.lines.end :], format_of(found.values))


def slug_of(title: str) -> str:
    """The name of the note of an item with that title."""
    return slugify(title).replace("session", "item", 1) if _has_no_latin(title) else slugify(title)


def _has_no_latin(title: str) -> bool:
    # `slugify` names such a title `session-…`.
    return "session" not in title.casefold() and slugify(title).startswith("session")


class _Links(Properties):
    def session(self, key: str, text: str) -> str:
        """The id of the session or item that a link, in any folder, or a bare id names."""
        target = linktext_of(text).target.rpartition("/")[2]
        try:
            return check_session_id(target) if target else ""
        except BadSessionId:
            self.complain(key, "a link to a note")
            return ""

    def linked(self, key: str) -> tuple[str, ...]:
        """The notes that a list links to."""
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
    """The title; if property and heading differ, the changed one, which does not match the file name."""
    title = reader.line("title")
    if not heading or not title or heading == title:
        return heading or title or name.replace("-", " ")
    message = "the property and the heading are not the same; the changed one counts, else the heading"
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
