"""The text of a brief: sections of items within a word limit, extended from findings without a model.

Users edit briefs, so parsing is lenient: a line outside all sections is kept as their own text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from crucible.core.patterns import late_pattern
from crucible.documents.session.findings import (
    Finding,
    Kind,
    Source,
    cut_at_sentence,
    findings_by_phase,
    findings_of,
    without_guesses,
)
from crucible.documents.session.session import Phase, Prose, Session
from crucible.memory.summary.brief import (
    MOST_WORDS,
    Brief,
    count_covered,
    count_words,
    covering,
    cut_words,
    milestones,
    phase_at,
    phase_number,
    questions_in,
)

SECTIONS = ("Decisions", "Results", "Fixed", "Reports", "Preferences", "Open questions")
"""The sections in order."""

_TURNS = (
    (1000, ("Decisions", "Preferences", "Results", "Open questions", "Decisions", "Results")),
    (3, ("Fixed", "Reports")),
)
"""Groups of sections, with the maximum items per section.  Within a group, sections take turns in keeping their newest
items."""
_OWN_SHARE = 0.6
"""Maximum share of the user's own text in a brief with sections."""
_ITEM_WORDS = 60
"""Maximum words of an item; only items that users wrote may be longer."""
_FRAME_WORDS = 8
"""Maximum words of a section's heading and its line about older items."""
_WIDEST = 30
"""Code points per word; in longer text, each run of blanks is replaced with one blank."""
_READ = 50_000
"""Maximum code points of a brief to read."""
_COMPARABLE, _ALIKE = 15, 60
"""Minimum letters and digits of a text to search for in others, and how many of them to compare, since the end of the
text may be cut off."""

_HEAD = late_pattern(r"[ \t]*\*\*(.+?):?\*\*:?[ \t]*$")
_MARK = late_pattern(r"[ \t]*[-*+][ \t]+")
_EARLIER = late_pattern(r"… and (\d{1,9}) earlier$")
_BLANKS = late_pattern(r"\s+")
_NO_WORD = late_pattern(r"[\W_]+")


class ShownTexts:
    """Text that has been shown, compared by letters and digits only."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = dict.fromkeys(map(bare, texts))
        self._all = "\n".join(self._texts)

    def has(self, text: str) -> bool:
        """Return whether the text has been shown, alone or (unless it is short) as part of a longer text."""
        words = bare(text)
        return words in self._texts or (len(words) >= _COMPARABLE and words in self._all)

    def is_in(self, text: str) -> bool:
        """Return whether the text has been shown, or contains the beginning of a shown text that is not short."""
        words = bare(text)
        return words in self._texts or any(len(one) >= _COMPARABLE and one[:_ALIKE] in words for one in self._texts)

    def add(self, text: str) -> bool:
        """Add a text; return False if it has already been shown or is empty."""
        if self.has(text) or not (words := bare(text)):
            return False
        self._texts[words] = None
        self._all += f"\n{words}"
        return True


def bare(text: str) -> str:
    """Return the letters and digits of a text in lower case, or the text itself if it has none."""
    return _NO_WORD.sub("", text).casefold() or text.strip()


@dataclass(slots=True)
class BriefDigest:
    """A parsed brief: the user's own text, the items of each section, oldest first, and the number of omitted ones."""

    own: str = ""
    items: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    earlier: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SECTIONS, 0))


def read_digest(text: str) -> BriefDigest:
    """Parse a brief's text."""
    digest, own, section, joins = BriefDigest(), list[str](), "", False
    for line in text[:_READ].split("\n"):
        head, item = _HEAD.match(line), _MARK.sub("", line, 1).strip(" \t")
        if head:
            section = next((name for name in SECTIONS if name.casefold() == head[1].casefold()), "")
        items = digest.items.get(section, own)
        if items is own:
            own.append(line)
        elif omitted := _EARLIER.match(item):
            digest.earlier[section] += int(omitted[1])
        elif joins and not _MARK.match(line):
            items[-1] += f" {item}" if item else ""
        elif item and not head:
            items.append(item)
        joins = bool(items is not own and items and item and not head)
    digest.own = "\n".join(own).strip("\n")
    return digest


def render_digest(digest: BriefDigest, limit: int) -> str:
    """Render the brief in at most `limit` words: the newest items, and the number of older ones in each section."""
    filled = [name for name in SECTIONS if digest.items[name] or digest.earlier[name]]
    own = digest.own if len(digest.own) <= limit * _WIDEST else _BLANKS.sub(" ", digest.own)
    own = cut_words(own, round(limit * _OWN_SHARE) if filled else limit)
    kept = _kept(digest, limit - count_words(own) - _FRAME_WORDS * len(filled))
    parts = [own] if own else []
    for name in filled:
        left = digest.earlier[name] + len(digest.items[name]) - len(kept[name])
        lines = [f"… and {left} earlier"] if left else []
        parts.append("\n".join((f"**{name}**", *(f"- {line}" for line in (*lines, *kept[name])))))
    return cut_words("\n\n".join(parts), limit)


def _kept(digest: BriefDigest, room: int) -> dict[str, list[str]]:
    """Return the items that fit into `room` words: sections take turns, newest items first."""
    kept: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for most, group in _TURNS:
        turns = deque(group)
        while turns:
            name = turns.popleft()
            at = len(digest.items[name]) - len(kept[name]) - 1
            item = cut_words(digest.items[name][at], _ITEM_WORDS) if at >= 0 else ""
            size = 1 + count_words(item)
            if item and size <= room and len(kept[name]) < most:
                room -= size
                kept[name].insert(0, item)
                turns.append(name)
    return kept


# --- extending --------------------------------------------------------------------------------------------------------

_DECISIONS, _RESULTS, _FIXED, _REPORTS, _PREFERENCES, _QUESTIONS = SECTIONS
_LAST_READ = 2000
"""Maximum code points to read at the end of a text for its last paragraph."""
_HEAD_WORDS = 3
"""The words of `[!abstract] Brief`, plus one."""


def room_for(covers: str) -> int:
    """Return the number of words available for a brief's text in a callout of `MOST_WORDS`."""
    return MOST_WORDS - count_words(f"Covers: {covers}") - _HEAD_WORDS


def extend_brief(session: Session, old: Brief | None, until: str) -> Brief:
    """Add the phases after `old.covers`, up to and including the phase id `until`, to the brief.

    The result is deterministic and has at most `MOST_WORDS`.  The text of `old` is kept, except for questions that have
    been answered.  Raises `UsageError` for an unknown phase id.
    """
    digest, covers = extend_digest(session, old, until)
    return Brief(render_digest(digest, room_for(covers)), covers)


def extend_digest(session: Session, old: Brief | None, until: str) -> tuple[BriefDigest, str]:
    """Like `extend_brief`, but before shortening; also returns the value of `covers`."""
    end = phase_number(session, until)
    digest, covers = read_digest(old.text if old else ""), old.covers if old else ""
    start = count_covered(session, covers)
    if start >= end:
        return digest, covers
    asked = [one for one in _asked(session) if one[0] < end]
    settled = ShownTexts(item for _, item, is_settled in asked if is_settled)
    digest.items[_QUESTIONS][:] = [one for one in digest.items[_QUESTIONS] if not settled.has(one)]
    known = ShownTexts(item for items in digest.items.values() for item in items)
    questions = ((_QUESTIONS, item, item) for at, item, is_settled in asked if at >= start and not is_settled)
    for section, key, item in (*_news(session, start, end), *questions):
        if known.add(key):
            digest.items[section].append(item)
    if not digest.own and not any(digest.items.values()):
        phases = reversed(session.phases[: end - session.above.phases])
        digest.items[_RESULTS] += islice((text for phase in phases for text in _last_paragraph(phase)), 1)
    return digest, covering(phase_at(session, end))


def _news(session: Session, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    """Yield the new items of these phases: the section, the text that identifies the item, and the item."""
    found, above = _placed(session), session.above.phases
    for phase in session.phases[start - above : end - above]:
        own = [one for part in (phase, *phase.subphases) for one in found.get(part.id, ())]
        items = [(*_item_of(one), one.summary) for one in own]
        items += ((_RESULTS, text, text) for text in map(cut_at_sentence, milestones(phase.all_entries())))
        if not session.sources and not any(section == _RESULTS for section, _, _ in items):
            items += ((_RESULTS, text, text) for text in _last_paragraph(phase))
        yield from ((section, key, item) for section, item, key in items)


def _placed(session: Session) -> dict[str, list[Finding]]:
    """Return the findings by phase.  One without a phase joins the next finding of its kind, else the last phase."""
    quoted = findings_by_phase(session)
    phases = {one.id: phase for phase, found in quoted.items() for one in found}
    after: dict[str, str] = {}
    placed: dict[str, list[Finding]] = {}
    for one in reversed(without_guesses(findings_of(session))):
        if one.kind == Kind.INSTRUCTION:  # the prompts are in the note
            continue
        after[one.kind] = phases[one.id] or after.get(one.kind) or session.phases[-1].id
        placed.setdefault(after[one.kind], []).insert(0, one)
    return placed


# --- items -----------------------------------------------------------------------------------------------------------


_SECTION = {
    Kind.DECISION.value: _DECISIONS,
    Kind.CORRECTION.value: _PREFERENCES,
    Kind.OPEN_END.value: _QUESTIONS,
    Kind.REPORT.value: _REPORTS,
}
"""The section for each kind of finding; other kinds are results."""


def _item_of(one: Finding) -> tuple[str, str]:
    """Return the section for a finding, and its item."""
    item = one.summary
    if one.kind == Kind.FAILURE:
        cause = f" (cause: {cut_at_sentence(one.cause)})" if one.cause else ""
        fixed = f"{item}{cause}" + (f" → {cut_at_sentence(one.resolution)}" if one.resolution else "")
        # A failed check matters less than a failure reported by a user or agent.
        return (_FIXED, fixed) if one.source == Source.FIX else (_RESULTS, f"Fixed: {fixed}")
    if one.kind == Kind.REPORT:
        item = f"{one.by.partition('@')[0]}: {item}"
    elif one.kind == Kind.DECISION:
        why = cut_at_sentence(one.details)
        made = "; ".join(filter(None, (one.by, why and f"why: {why}")))
        item = f"{item} ({made})" if made else item
    return _SECTION.get(one.kind, _RESULTS), item


def _last_paragraph(phase: Phase) -> Iterator[str]:
    """Yield the last paragraph of a phase, for phases without findings."""
    text = next((one.text for one in reversed([*phase.all_entries()]) if isinstance(one, Prose)), "")
    if last := cut_at_sentence(text[-_LAST_READ:].rstrip().rpartition("\n\n")[2]):
        yield f"{cut_at_sentence(phase.name)}: {last}"


def _asked(session: Session) -> Iterator[tuple[int, str, bool]]:
    """Yield questions and errors in the phases: the index of the phase, the item, and whether it is settled."""
    phases = enumerate(session.phases, session.above.phases)
    placed = [(at, entry) for at, phase in phases for entry in phase.all_entries()]
    for one in questions_in((entry for _, entry in placed), session):
        label = "Unresolved" if one.kind == "error" else "Asked"
        yield placed[one.at][0], f"{label}: {cut_at_sentence(one.text)}", one.is_settled
