"""Three-way merge of the findings block: add what is new in the transcript, keep what a human changed.

Items are matched by their texts, or else by kind and first row.  Each edit touches the lines of one item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.source import NOWHERE, Edit, Source, Span
from crucible.documents.session.append_shown import check_shown
from crucible.documents.session.edits import insert_line, insert_lines, preamble_end, replace_lines
from crucible.documents.session.findings_block import findings_title, normal_noted, render_findings, render_noted
from crucible.documents.session.session import Noted, Session


def merge_findings(source: Source, note: Session, base: Sequence[Noted], now: Sequence[Noted]) -> list[Edit]:
    """Edits that bring the block from `base` to `now`; a block that a human deleted stays deleted."""
    base, now = _as_noted(base), _as_noted(now)
    block = note.findings_lines
    if block is NOWHERE:
        if base or not now:
            return []
        edits = insert_lines(source, note, preamble_end(source, note), render_findings(now, note.format))
        return check_shown(source, edits, replace(note, findings=now))
    fates = _fates(note.findings, base, now)
    wanted = fates.wanted(note.findings)
    if wanted == note.findings:
        return []
    is_empty = not wanted and _is_all_ours(note)
    edits = _removed_block(source, note) if is_empty else [*_edits(source, note, fates, len(wanted))]
    return check_shown(source, edits, replace(note, findings=wanted))


def _as_noted(items: Sequence[Noted]) -> tuple[Noted, ...]:
    return tuple(told for item in items if (told := normal_noted(item)).text)


# --- what becomes of each item ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Fates:
    """The changes to the note's items, by position (None: removed).

    `added` items are inserted after the item at that position; -1 means before the first one.
    """

    changed: dict[int, Noted | None]
    added: dict[int, list[Noted]]

    def wanted(self, note: Sequence[Noted]) -> tuple[Noted, ...]:
        """The items after the merge."""
        found = list(self.added.get(-1, ()))
        for at, item in enumerate(note):
            kept = self.changed.get(at, item)
            found += [*([kept] if kept else ()), *self.added.get(at, ())]
        return tuple(found)


def _fates(note: Sequence[Noted], base: Sequence[Noted], now: Sequence[Noted]) -> _Fates:
    there, became = _paired(base, note), _paired(base, now)
    changed: dict[int, Noted | None] = {}
    for at, place in there.items():
        new = now[became[at]] if at in became else None
        if _is_untouched(note[place], base[at]) and new != base[at]:
            changed[place] = new
    was = {then: at for at, then in became.items()}
    own = [item for place, item in enumerate(note) if place not in there.values()]
    added: dict[int, list[Noted]] = {}
    above = -1
    for then, item in enumerate(now):
        if then in was:
            above = there.get(was[then], above)
        elif not any(_is_same(item, other) for other in own):
            added.setdefault(above, []).append(item)
    return _Fates(changed, added)


def _is_untouched(item: Noted, base: Noted) -> bool:
    """True if an item is as it was written.  An item without its parentheses is a human's."""
    return _texts(item) == _texts(base) and (item.grounds is None) == (base.grounds is None)


def _is_same(item: Noted, other: Noted) -> bool:
    """True if the note already has this item, from another transcript or from a human."""
    return (item.kind, item.text) == (other.kind, other.text) or _key(item) == _key(other)


def _texts(item: Noted) -> tuple[str, str, str, str | None, str | None, tuple[str, ...]]:
    return item.kind, item.also, item.text, item.details, item.evidence, item.points


def _key(item: Noted) -> tuple[str, str]:
    """The kind and the first row, or the text if there are no rows."""
    return item.kind, item.grounds.rows[0] if item.grounds and item.grounds.rows else f"\n{item.text}"


def _paired(ones: Sequence[Noted], others: Sequence[Noted]) -> dict[int, int]:
    """Match items by position: by texts first, then by key."""
    pairs: dict[int, int] = {}
    for like in (_texts, _key):
        free = {place: like(item) for place, item in enumerate(others) if place not in pairs.values()}
        for at, item in enumerate(ones):
            place = next((place for place, key in free.items() if key == like(item)), None)
            if at not in pairs and place is not None:
                pairs[at] = place
                del free[place]
    return pairs


# --- edits -----------------------------------------------------------------------------------------------------------

_COUNT = late_pattern(r"( {0,3}>[ \t]?\[![^\]]*\][+-]?[ \t]+)\d+ findings?[ \t]*$")
_ORPHAN = late_pattern(r" {0,3}>[ \t]?(?:[ ]{2}|[ ]{0,3}\t)")
"""An indented item whose head a human deleted: without a blank line it would become a point of what is inserted above it."""


def _edits(source: Source, note: Session, fates: _Fates, count: int) -> Iterator[Edit]:
    """One edit per item.  A title that a human wrote stays."""
    block = note.findings_lines
    if head := _COUNT.match(source.lines[block.first]):
        yield from replace_lines(source, block.first, block.first + 1, head[1] + findings_title(count))
    for at, new in fates.changed.items():
        lines = note.findings[at].lines
        if new is None:
            yield Edit(source.span_of(lines), "")
        else:
            text = source.newline.join(render_noted(new, note.format))
            yield from replace_lines(source, lines.first, lines.end, text)
    top = note.findings[0].lines.first if note.findings else block.end
    for at, items in fates.added.items():
        told = [line for item in items for line in render_noted(item, note.format)]
        line = note.findings[at].lines.end if at >= 0 else top
        if line < block.end and _ORPHAN.match(source.lines[line]):
            told.append(">")
        yield from insert_line(source, line, source.newline.join(told))


def _is_all_ours(note: Session) -> bool:
    """True if the block has only its head and items."""
    held = 1 + sum(item.lines.end - item.lines.first for item in note.findings)
    return held == note.findings_lines.end - note.findings_lines.first


def _removed_block(source: Source, note: Session) -> list[Edit]:
    """Remove the whole callout and the blank line after it."""
    block = note.findings_lines
    span = source.span_of(block)
    above = source.lines[block.first - 1].strip(" \t") if block.first else ""
    below = source.lines[block.end] if block.end < len(source.lines) - 1 else "x"
    if not above and not below.strip(" \t"):
        span = Span(span.start, source.starts[block.end + 1])
    return [Edit(span, "")]
