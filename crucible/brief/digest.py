"""The text of a brief as sections of items, and fitting them into a number of words.

Owns the form: what anybody wrote freely first, then decisions, results, the user's wishes and open questions, each a line.
Read leniently, since people correct it: a line in no section is their own words and stays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from crucible.brief.model import count_words, cut_words
from crucible.patterns import late_pattern

__all__ = ["SECTIONS", "Digest", "Said", "read_digest", "render_digest"]

SECTIONS = ("Decisions", "Results", "Preferences", "Open questions")
"""In the order in which they stand and are kept when it gets tight."""

_SHARES = {"Decisions": 0.5, "Results": 0.2, "Preferences": 0.15, "Open questions": 0.15}
_OWN_SHARE = 0.6
"""What free words may take of a brief that has sections too."""
_STEPS = (24, 16, 11, 7)
"""Words to which items are cut, one step after the other, before the oldest are left out."""
_WIDEST = 30
"""Code points a word may take, blanks with it; in longer texts every run of blanks is one."""

_READ = 50_000
"""Code points of a brief that are looked at: many times what fits."""

_HEAD = late_pattern(r"[ \t]*\*\*(.+?):?\*\*:?[ \t]*$")
_ITEM = late_pattern(r"[ \t]*[-*+][ \t]+(.*)")
_EARLIER = late_pattern(r"… and (\d{1,9}) earlier$")
_BLANKS = late_pattern(r"\s+")


class Said:
    """Items, to ask whether one of them says what another item says, as far as either was cut.  Thousands cost no more than one."""

    def __init__(self, items: Iterable[str]) -> None:
        self._items = sorted({item.casefold() for item in items})
        self._whole = frozenset(self._items)
        self._cut = frozenset(item[:-1] for item in self._items if item.endswith("…"))
        self._lengths = sorted({len(item) for item in self._cut})

    def has(self, item: str) -> bool:
        """Whether it is said already."""
        one = item.casefold()
        if one in self._whole or any(one[:length] in self._cut for length in self._lengths):
            return True
        if not one.endswith("…"):
            return False
        at = bisect_left(self._items, one[:-1])
        return at < len(self._items) and self._items[at].startswith(one[:-1])


@dataclass(slots=True)
class Digest:
    """`own` is free text.  `items` has a list for each of `SECTIONS`, oldest first; `earlier` counts those left out."""

    own: str = ""
    items: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in SECTIONS})
    earlier: dict[str, int] = field(default_factory=dict)
    _read: dict[str, Said] = field(default_factory=dict)
    _added: set[str] = field(default_factory=set)

    def add(self, section: str, item: str) -> None:
        """A new last item, when nothing says the same."""
        if section not in self._read:
            self._read[section] = Said(self.items[section])
        if not item or item in self._added or self._read[section].has(item):
            return
        self._added.add(item)
        self.items[section].append(item)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_digest(text: str) -> Digest:
    """The sections of a brief's text."""
    digest, own, section, joins = Digest(), list[str](), "", False
    for line in text[:_READ].split("\n"):
        head = _HEAD.match(line)
        if head:
            section = next((name for name in SECTIONS if name.casefold() == head[1].casefold()), "")
        if not section:
            own.append(line)
        elif not head:
            joins = _take(digest, section, line, joins)
    digest.own = "\n".join(own).strip("\n")
    return digest


def _take(digest: Digest, section: str, line: str, joins: bool) -> bool:
    """A line of a section; whether the next one may go on with its item."""
    items, item = digest.items[section], _ITEM.match(line)
    said = (item[1] if item else line).strip(" \t")
    if not said:
        return False
    if not item and joins and items:
        items[-1] += f" {said}"
    elif left := _EARLIER.match(said):
        digest.earlier[section] = digest.earlier.get(section, 0) + int(left[1])
        return False
    else:
        items.append(said)
    return True


# --- writing ---------------------------------------------------------------------------------------------------------


def render_digest(digest: Digest, limit: int) -> str:
    """The text, in at most `limit` words: items are cut first, then the oldest left out and counted."""
    filled = [name for name in SECTIONS if digest.items[name] or digest.earlier.get(name)]
    own = cut_words(_narrow(digest.own, limit), round(limit * _OWN_SHARE) if filled else limit)
    whole = {name: _lines(name, digest.items[name], digest.earlier.get(name, 0)) for name in filled}
    needed = {name: _size(lines) for name, lines in whole.items()}
    room = _rooms(needed, limit - count_words(own))
    parts = [own] if own else []
    for name in filled:
        lines = whole[name] if needed[name] <= room[name] else _fitted(digest, name, room[name])
        if lines:
            parts.append("\n".join(lines))
    return cut_words("\n\n".join(parts), limit)


def _narrow(text: str, limit: int) -> str:
    return _BLANKS.sub(" ", text) if len(text) > limit * _WIDEST else text


def _lines(name: str, items: Sequence[str], earlier: int) -> list[str]:
    left = [f"- … and {earlier} earlier"] if earlier else []
    return [f"**{name}**", *left, *(f"- {item}" for item in items)]


def _size(lines: Sequence[str]) -> int:
    return sum(map(count_words, lines))


def _rooms(needed: dict[str, int], room: int) -> dict[str, int]:
    """Words for each section: first its share, then what others leave of theirs, in the order of the sections."""
    total = sum(_SHARES[name] for name in needed)
    given = {name: min(need, int(room * _SHARES[name] / total)) for name, need in needed.items()}
    left = room - sum(given.values())
    for name, need in needed.items():
        more = min(left, need - given[name])
        given[name] += more
        left -= more
    return given


def _fitted(digest: Digest, name: str, room: int) -> list[str]:
    every, earlier = digest.items[name], digest.earlier.get(name, 0)
    items = _newest(every, max(room, 0), least=2)  # a mark and a word: more cannot fit
    earlier += len(every) - len(items)
    for words in _STEPS:
        short = [_cut_item(item, words) for item in items]
        if _size(lines := _lines(name, short, earlier)) <= room:
            return lines
    kept = _newest(short, room - _size(_lines(name, (), len(items) + earlier)))
    return _lines(name, kept, earlier + len(items) - len(kept)) if kept else []


def _cut_item(item: str, words: int) -> str:
    """Fewer words; what is in quotes stays so."""
    short = cut_words(item, words)
    return f'{short}"' if short != item and item[:1] == '"' == item[-1:] else short


def _newest(items: Sequence[str], room: int, least: int = 0) -> list[str]:
    """The newest items that fit; with `least`, each counts as that many words instead of its own."""
    first = len(items)
    while first and (room := room - (least or 1 + count_words(items[first - 1]))) >= 0:
        first -= 1
    return list(items[first:])
