"""Two items that say the same made one, in the note of one of them.

Owns what a merge does to texts, tags and counters, and that everything else in the note, a human's own words among it, stays to the byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from crucible.core.errors import EditRefused
from crucible.documents.knowledge.item_notes import body_of, parts_of, properties_of, read_item
from crucible.documents.knowledge.item_texts import HEADINGS, render_text
from crucible.documents.knowledge.items import Failure, Item, Status
from crucible.documents.knowledge.novelty import normal_title
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import find_frontmatter, remove_key, set_key
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.edits import insert_lines
from crucible.documents.session.session import Session


def merged(old: Item, new: Item, now: datetime) -> Item:
    """What the old item says once it knows the new one too.

    Its own title, type and scope stay; texts that it does not have yet come behind its own, a title of other words before them.  Tags come
    together, counters add up, the higher confidence, the earlier beginning and the later use count.  A retired one is active again.
    """
    words = "" if normal_title(old.title) == normal_title(new.title) else new.title
    came = (*old.also_from, new.source.session, *new.also_from)
    confidence = [one for one in (old.confidence, new.confidence) if one is not None]
    return replace(
        old,
        text=_both(_both(old.text, words), new.text),
        tags=(*old.tags, *new.tags),
        domain=old.domain or new.domain,
        failure=_failures(old.failure, new.failure),
        verification=new.verification if new.verification.passed > old.verification.passed else old.verification,
        confidence=max(confidence, default=None),
        use_count=old.use_count + new.use_count,
        useful_count=old.useful_count + new.useful_count,
        last_used=_latest(old.last_used, new.last_used),
        created=min((one for one in (old.created, new.created) if one), default=now),
        updated=now,
        status=Status.ACTIVE,
        retired=None,
        retired_because="",
        also_from=tuple(one for one in came if one and one != old.source.session),
        merged=(*old.merged, *new.merged),
        failed_checks=(*old.failed_checks, *new.failed_checks),
    )


def _failures(old: Failure, new: Failure) -> Failure:
    texts = {part: _both(getattr(old, part), getattr(new, part)) for part in HEADINGS}
    return Failure(old.category or new.category, **texts)


def _both(old: str, new: str) -> str:
    return old if _has(old, new) else "\n\n".join(filter(None, (old, new)))


def _has(text: str, part: str) -> bool:
    """Whether the text has the part's lines already, however their blanks are."""
    return not part or f" {' '.join(part.split())} " in f" {' '.join(text.split())} "


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time), default=None)


# --- edits -----------------------------------------------------------------------------------------------------------


def merge_edits(source: Source, name: str, new: Item, now: datetime) -> list[Edit]:
    """Edits of the note that make its item the merged one; `EditRefused` where they would not show."""
    old = read_item(source, name).item
    if old is None:
        raise EditRefused(f"{name}: no item of knowledge", "`cru knowledge check` says what is wrong with it")
    after = merged(old, new, now)
    edits = [*change_edits(source, old, after), *_added_texts(source, old, after)]
    if not _shows(source, edits, name, after):
        raise EditRefused(f"{name}: what is merged would not read back", "fix the note in an editor first")
    return edits


def change_edits(source: Source, old: Item, new: Item) -> list[Edit]:
    """Edits of the properties in which two items differ, each by its own lines."""
    found = find_frontmatter(source)
    before, after = properties_of(old), properties_of(new)
    edits: list[Edit] = []
    for key, value in after.items():
        if value == before[key]:
            continue
        gone = value in (None, "", [])
        edits += remove_key(source, found, key) if gone else set_key(source, found, key, value)
    return edits


def _shows(source: Source, edits: Sequence[Edit], name: str, expected: Item) -> bool:
    try:
        return read_item(apply_edits(source, edits), name).item == expected
    except EditRefused:
        return False


def _added_texts(source: Source, old: Item, new: Item) -> list[Edit]:
    """What a text has more than before is put behind the last line of its part; parts that are new come last, with their headings."""
    found, chunks = find_frontmatter(source), body_of(source).chunks
    before, edits = parts_of(old), list[Edit]()
    added = {part: text for part, text in parts_of(new).items() if text != before[part]}
    for part in sorted(added, key=lambda part: all(chunk.part != part for chunk in chunks)):
        block = render_text(added[part].removeprefix(before[part]).lstrip("\n"), format_of(found.values))
        own = [chunk for chunk in chunks if chunk.part == part]
        full = [chunk for chunk in own if chunk.end > chunk.first] or own or chunks
        heading = [] if own else [f"## {HEADINGS[part]}", ""]
        line = found.lines.end + full[-1].end
        edits += insert_lines(source, Session(""), line, [*heading, *block.split("\n")])
    return edits
