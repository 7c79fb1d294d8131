"""Change a knowledge item: count a use, verify, retire, restore or merge it.

Each change edits only its own lines, under the note's lock, so that no count or user edit is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from crucible.core import files
from crucible.core.errors import EditRefused, UsageError
from crucible.core.secrets.scanner import Redact
from crucible.documents.knowledge.item_notes import HEADINGS, body_of, parts_of, properties_of, read_item, render_text
from crucible.documents.knowledge.item_rules import normal_title
from crucible.documents.knowledge.items import FailureCause, Item, ItemStatus, Verification
from crucible.documents.markdown.containment import format_of
from crucible.documents.markdown.frontmatter import find_frontmatter, remove_key, set_key
from crucible.documents.markdown.source import Edit, Problem, Source, apply_edits
from crucible.documents.session.edits import insert_lines
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Session
from crucible.vault.notes.vault import Note, Vault


def merged(old: Item, new: Item, now: datetime) -> Item:
    """Merge the new item into the old one, and return the result, which is active.

    The old title, type and scope are kept.  New text is added after the old text, preceded by the new title if it
    differs.  Tags are joined and counters added; the higher confidence, the earlier creation and the later use are
    kept.
    """
    words = "" if normal_title(old.title) == normal_title(new.title) else new.title
    sessions = (*old.also_from, new.source.session, *new.also_from)
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
        status=ItemStatus.ACTIVE,
        retired=None,
        retired_because="",
        also_from=tuple(one for one in sessions if one and one != old.source.session),
        merged=(*old.merged, *new.merged),
        failed_checks=(*old.failed_checks, *new.failed_checks),
    )


def _failures(old: FailureCause, new: FailureCause) -> FailureCause:
    texts = {part: _both(getattr(old, part), getattr(new, part)) for part in HEADINGS}
    return FailureCause(old.category or new.category, **texts)


def _both(old: str, new: str) -> str:
    return old if _has(old, new) else "\n\n".join(filter(None, (old, new)))


def _has(text: str, part: str) -> bool:
    """Return whether the text contains the part, ignoring differences in spacing."""
    return not part or f" {' '.join(part.split())} " in f" {' '.join(text.split())} "


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time), default=None)


# --- edits -----------------------------------------------------------------------------------------------------------


def merge_edits(source: Source, name: str, new: Item, now: datetime) -> list[Edit]:
    """Return edits that merge an item into the note's item.  Raises `EditRefused` if the result is not readable."""
    old = read_item(source, name).item
    if old is None:
        raise EditRefused(f"{name}: not a knowledge item", '"cru knowledge check" says what is wrong with it')
    after = merged(old, new, now)
    edits = [*change_edits(source, old, after), *_added_texts(source, old, after)]
    if not _shows(source, edits, name, after):
        raise EditRefused(f"{name}: the merged note could not be parsed again", "fix the note in an editor first")
    return edits


def change_edits(source: Source, old: Item, new: Item) -> list[Edit]:
    """Return edits for the properties in which two items differ, one edit per property."""
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
    """Insert new text after the last line of its part; new parts are added at the end, with headings."""
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


_COUNTERS = ("use_count", "useful_count")


def count_use(vault: Vault, path: Path, now: datetime, *, useful: bool) -> Item:
    """Count a use and whether it helped, and return the item.  Edits only the counters and `last_used`.

    Raises `EditRefused`, with the line, if a counter is not a number.
    """

    def used(item: Item) -> Item:
        count = item.useful_count + 1 if useful else item.useful_count
        return replace(item, use_count=item.use_count + 1, useful_count=count, last_used=now)

    return _changed(vault, path, used, _COUNTERS)


def verify_item(vault: Vault, path: Path, now: datetime, verification: Verification, redact: Redact) -> Item:
    """Record a verification: how, by whom, when (`now` by default), and whether it passed.

    If it passed, the item's age is reset; if it failed, it stays recorded in `failed_checks`.
    """
    how, by = redact(verification.how)[0], redact(verification.by)[0]
    shown = Verification(verification.passed, how, by, verification.at or now)

    def verified(item: Item) -> Item:
        if shown.passed:
            return replace(item, verification=shown, updated=now)
        return replace(item, verification=shown, failed_checks=(*item.failed_checks, _failed(shown)))

    return _changed(vault, path, verified)


def _failed(shown: Verification) -> str:
    """Return a failed verification as a line: when, by whom and how."""
    when = format_time(shown.at) if shown.at else ""
    head = " by ".join(filter(None, (when, shown.by)))
    return ": ".join(filter(None, (head, shown.how)))


def retire_item(vault: Vault, path: Path, now: datetime, because: str = "", redact: Redact | None = None) -> Item:
    """Exclude the item from recall.  Its note is kept, with the time and the reason."""
    reason = redact(because)[0] if redact else because

    def retired(item: Item) -> Item:
        return replace(item, status=ItemStatus.RETIRED, retired=now, retired_because=reason) if item.active else item

    return _changed(vault, path, retired)


def restore_item(vault: Vault, path: Path) -> Item:
    """Make a retired item available to recall again."""
    return _changed(vault, path, lambda item: replace(item, status=ItemStatus.ACTIVE, retired=None, retired_because=""))


def _changed(vault: Vault, path: Path, change: Callable[[Item], Item], numbers: tuple[str, ...] = ()) -> Item:
    """Change an item and return it.  `numbers` are properties that must be numbers."""
    after: Item | None = None

    def edits(note: Note) -> list[Edit]:
        nonlocal after
        item, problems = read_item(note.source, note.name)
        if item is None:
            raise _no_item(note, problems)
        wrong = next((one for one in problems if one.message.partition(":")[0] in numbers), None)
        if wrong:
            raise EditRefused(f"{path}:{wrong.line}: {wrong.message}", "fix the note in an editor first")
        after = change(item)
        return change_edits(note.source, item, after)

    vault.update(path, edits)
    assert after is not None  # noqa: S101  `update` called `edits`
    return after


def _no_item(note: Note, problems: tuple[Problem, ...]) -> UsageError:
    line, why = (problems[-1].line, problems[-1].message) if problems else (1, "its type is not a type of knowledge")
    return UsageError(f"{note.path}:{line}: not a knowledge item: {why}", "fix the note in an editor")


# --- feedback --------------------------------------------------------------------------------------------------------


def should_ask(vault: Vault, one_in: int) -> bool:
    """Return whether to ask if an item helped: every `one_in`-th use, counted in the vault's cache; never if 0."""
    if one_in <= 0:
        return False
    folder = files.make_folders(vault.root, vault.root / ".crucible" / "cache")
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(folder / "knowledge-uses", flags, 0o666)
    except OSError:
        return False
    try:
        os.write(descriptor, b".")
        # The position after our own byte, even if another process is writing.
        return os.lseek(descriptor, 0, os.SEEK_CUR) % one_in == 0
    except OSError:
        return False
    finally:
        os.close(descriptor)
