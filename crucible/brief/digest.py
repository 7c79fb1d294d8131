"""The text of a brief as sections of items, and fitting them into a number of words.

Read leniently, since people correct it: a line in no section is their own text and stays.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from crucible.brief.model import count_words, cut_words
from crucible.patterns import late_pattern

__all__ = ["SECTIONS", "Digest", "Known", "bare", "read_digest", "render_digest"]

SECTIONS = ("Decisions", "Results", "Fixed", "Reports", "Preferences", "Open questions")
"""In the order in which they are printed."""

_TURNS = (
    (1000, ("Decisions", "Preferences", "Results", "Open questions", "Decisions", "Results")),
    (3, ("Fixed", "Reports")),
)
"""Sections take turns until the words run out, the second group after the first: a turn keeps the newest item that is not kept yet.
The number is how many items a section may have."""
_OWN_SHARE = 0.6
"""The part of a brief that its own text may take when there are sections too."""
_ITEM_WORDS = 60
"""Words of an item: a summary with its reason fits whole; only what people write may be longer."""
_FRAME_WORDS = 8
"""Words of a section's heading and of its line about older items, at most."""
_WIDEST = 30
"""Code points per word; in longer texts every run of blanks becomes one."""
_READ = 50_000
"""Code points of a brief that are read: many times what fits."""
_TELLING, _ALIKE = 15, 60
"""Letters and digits from which on a text may be part of another one, and those that decide: its end may be cut."""

_HEAD = late_pattern(r"[ \t]*\*\*(.+?):?\*\*:?[ \t]*$")
_MARK = late_pattern(r"[ \t]*[-*+][ \t]+")
_EARLIER = late_pattern(r"… and (\d{1,9}) earlier$")
_TASKS = late_pattern(r"Tasks: \d+ of \d+ done")
"""Written by earlier versions; the task list says it."""
_BLANKS = late_pattern(r"\s+")
_NO_WORD = late_pattern(r"[\W_]+")


class Known:
    """Texts that were shown, compared by letters and digits alone."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = dict.fromkeys(map(bare, texts))
        self._all = "\n".join(self._texts)

    def has(self, text: str) -> bool:
        """True if the text was shown: alone, or in a longer one if it is not too short to tell."""
        words = bare(text)
        return words in self._texts or (len(words) >= _TELLING and words in self._all)

    def is_in(self, text: str) -> bool:
        """True if one of the texts is in this one and not too short to tell, or begins like a part of them."""
        words = bare(text)
        return words in self._texts or any(
            len(one) >= _TELLING and one[:_ALIKE] in words for one in self._texts
        )

    def add(self, text: str) -> bool:
        """Add a text; False if it was shown before or says nothing."""
        if self.has(text) or not (words := bare(text)):
            return False
        self._texts[words] = None
        self._all += f"\n{words}"
        return True


def bare(text: str) -> str:
    """The letters and digits of a text; what has none is itself."""
    return _NO_WORD.sub("", text).casefold() or text.strip()


@dataclass(slots=True)
class Digest:
    """`own` is free text, `items` has a list for each of `SECTIONS`, oldest first; `earlier` counts those left out."""

    own: str = ""
    items: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    earlier: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SECTIONS, 0))


def read_digest(text: str) -> Digest:
    """The sections of a brief's text."""
    digest, own, section, joins = Digest(), list[str](), "", False
    for line in text[:_READ].split("\n"):
        head, said = _HEAD.match(line), _MARK.sub("", line, 1).strip(" \t")
        if head:
            section = next((name for name in SECTIONS if name.casefold() == head[1].casefold()), "")
        items = digest.items.get(section, own)
        if items is own:
            own.append(line)
        elif left := _EARLIER.match(said):
            digest.earlier[section] += int(left[1])
        elif joins and not _MARK.match(line):
            items[-1] += f" {said}" if said else ""
        elif said and not head and not _TASKS.match(said):
            items.append(said)
        joins = bool(items is not own and items and said and not head)
    digest.own = "\n".join(own).strip("\n")
    return digest


def render_digest(digest: Digest, limit: int) -> str:
    """The text in at most `limit` words: the newest items whole, and how many older ones each section has."""
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


def _kept(digest: Digest, room: int) -> dict[str, list[str]]:
    """The items that fit, the newest of each section first of all."""
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
