"""What a closing text says was done: a head of one line, and the items of the list that belongs to it.

A text is read as sections.  Headings, bold lines and sentences that end in a colon are their labels.  Only the first list can belong
to the head, and later ones whose label names an edited file: any other may be what is left to do, or where something was found.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import NamedTuple

from crucible.findings.calls import base_name
from crucible.findings.texts import filled, words_in
from crucible.patterns import late_pattern
from crucible.session.blocks import Block, Part, blocks_of
from crucible.session.sentences import SUMMARY, clipped, leads_on, plain, sentences

__all__ = ["Told", "key_of", "told"]

_POINT, _BRIEF = 160, 40
"""Code points of a point, and of one that says little without its label."""
_BOLD = late_pattern(r"\*\*[^*\n]+\*\*:?\Z")
"""A paragraph that is a heading by its looks."""
_ENTRY = late_pattern(r"\*\*[^*\n]+\*\*\W")
"""A paragraph that is an item by its looks."""
_NAMES = late_pattern(r"\w[./_:]\w|[a-z][A-Z]|\w\(")
"""What a sentence has only if it names something in the code."""
_TITLED = late_pattern(r"\w+(?: \w+)?:\s")
_NAME = late_pattern(r"\w[\w./-]{5,}\w")
_RULER = late_pattern(r"[\s|:-]+\Z")
_UNDER_BOLD, _LEAD, _OUTER = 7, 8, -9
_FEW, _SHORT = 3, 5
_NUMBER = late_pattern(r"\d{1,2}[.)]\s+")


class Told(NamedTuple):
    """What was done, in one line, and its parts."""

    head: str = ""
    points: Sequence[str] = ()


@dataclass(slots=True)
class _Section:
    """A label, the sentences of its paragraphs, and its list; the first section of a text has no label.

    `rank` is the level of a heading, 7 for a bold line, 8 for a sentence that ends in a colon.
    """

    label: str = ""
    rank: int = 0
    said: list[str] = field(default_factory=list)
    items: list[Block] = field(default_factory=list)
    is_apart: bool = False
    """True if the label is a paragraph of its own."""

    def points(self) -> list[str]:
        """The rows or items of the list, those of the top level; one that only introduces others takes them along."""
        if self.items and self.items[0].kind is Part.TABLE:
            return list(_rows(self.items))
        items = [item for item in self.items if item.kind is Part.ITEM]
        top = min((item.indent for item in items), default=0)
        parts: list[list[str]] = []
        for item in items:
            is_inner = item.indent > top + 1 or (items[0].is_numbered and not item.is_numbered)
            if not parts or not is_inner:
                parts.append([])
            parts[-1].append(plain(item.text))
        return [_joined(part) for part in parts]


def told(
    text: str,
    files: Collection[str],
    asked: str = "",
    known: Collection[str] = (),
    *,
    written: str = "",
    goes_on: bool = False,
) -> Told:
    """What a text says was done to `files`, without its questions, the words of the prompt and the points that are `known`.

    What names something that was `written` is what was done rather than what was wrong.  If the agent went on after the text (`goes_on`), its last sentence says with what.
    """
    read = _Text(text, files, asked, written, goes_on=goes_on)
    found = [clipped(one, _POINT) for one in read.points()]
    points = [one for one in found if key_of(one) not in known]
    read.words |= words_in(" ".join(points))
    said = [one for one in read.first.said if _tells(one) and one.rstrip(".") not in plain(asked)]
    is_short = read.main in read.sections[:1] and (
        read.main.items[0].kind is Part.TABLE or 0 < len("".join(points[:1])) < _BRIEF
    )
    lead = [one.label for one in read.sections[:1] if one.rank == _LEAD and not read.first.items]
    lead = [one for one in lead if is_short or read.is_about(one)]
    best = (*filter(read.is_about, said), *lead, "")[0]
    if best in said:
        return Told(best, points or said[said.index(best) + 1 :])
    if best:
        return Told(*filled("; ", (f"{best} {points[0]}", *points[1:]))) if points else Told(f"{best[:-1]}.")
    if points:
        return Told(*filled("; ", points))
    titles = [one.label for one in read.sections if one.rank < _UNDER_BOLD and read.is_about(one.label)]
    if len(titles) == 1:
        return Told(titles[0])
    more = [one for section in read.sections for one in section.said if _tells(one)]
    telling = [*filter(read.is_written, more), *filter(read.is_about, more)]
    if not telling and read.main and 0 < read.main.rank < _LEAD:
        items = read.main.points()
        return Told(*filled("; ", (_labelled(read.main.label, items[:1]), *items[1:])))
    head, *rest = telling[:1] or said or more[:1] or [""]
    return Told(head, rest)


def key_of(point: str) -> str:
    """The first words of a point, by which it is known again."""
    return plain(point).casefold()[:60]


def _tells(one: str) -> bool:
    return not leads_on(one) and (one.count(" ") >= _FEW or _names(one))


def _names(one: str) -> bool:
    return bool(_NAMES.search(one))


class _Text:
    """A closing text: its sections, the names of the edited files, and the words that its turn is about."""

    def __init__(self, text: str, files: Collection[str], asked: str, written: str, *, goes_on: bool) -> None:
        self.first, *self.sections = _sections(text, goes_on=goes_on)
        self._names = [name for path in files if len(name := base_name(path)) > _FEW]
        self.main = next((one for one in (self.first, *self.sections) if one.points()), None)
        self._written = written
        self._asked = words_in(asked) if len(asked) < SUMMARY else set[str]()
        self.words = words_in(" ".join(self._names)) | self._asked

    def is_about(self, one: str) -> bool:
        """True if a sentence names something in the code, or has words of the turn."""
        words = words_in(one)
        return (
            _names(one)
            or len(words & self.words) > 1
            or any(len(word) > _SHORT for word in words & self._asked)
        )

    def points(self) -> list[str]:
        """The items of the list that belongs to the head, and each other section whose label names an edited file as one point."""
        main, is_lead = self.main, self.main in self.sections[:1] and self.main.rank == _LEAD
        named = [
            one
            for one in self.sections
            if self._has_file(one.label)
            and (one.items or (one.rank < _UNDER_BOLD and one.label.count(" ") > _FEW))
        ]
        if main is None or not self._is_own(main) or (main in named and len(named) > 1 and not is_lead):
            return [_labelled(one.label, self._items(one)) for one in named]
        told = self._items(main)
        if (main.rank == _LEAD and main is not self.sections[0]) or (main in named and main.rank < _LEAD):
            told[0] = _labelled(main.label, told[:1])
        return [*told, *(_labelled(one.label, self._items(one)) for one in named if one is not main)]

    def _items(self, section: _Section) -> list[str]:
        """The items of a section; of paragraphs about a problem and its fix those that name what was written."""
        told = section.points()
        if not section.items or section.items[0].indent != _OUTER:
            return told
        return [one for one in told if not _TITLED.match(one) or self.is_written(one)] or told

    def is_written(self, one: str) -> bool:
        """True if a sentence names an edited file, or something in its new lines."""
        named = (name for name in _NAME.findall(one) if _names(name))
        return self._has_file(one) or any(name in self._written for name in named)

    def _has_file(self, text: str) -> bool:
        return any(name in text for name in self._names)

    def _is_own(self, main: _Section) -> bool:
        """True if nothing else is said between the first sentences and a list, and no other section may be what was done."""
        if main is self.first or self._has_file(main.label):
            return True
        above = self.sections[: self.sections.index(main)]
        ranks = [one.rank for one in (*above, main) if one.rank < _LEAD]
        if any(one.said for one in above) or any(a >= b for a, b in pairwise(ranks)):
            return False
        if main.rank == _LEAD:
            is_first = not above and not (main.is_apart and any(map(self.is_about, self.first.said)))
            return bool(ranks) or is_first
        later = self.sections[len(above) + 1 :]
        return not any(one.label and one.rank < _LEAD for one in later) or any(
            self._has_file(item.text) for item in main.items
        )


# --- sections --------------------------------------------------------------------------------------------------------


def _sections(text: str, *, goes_on: bool) -> list[_Section]:
    found = [_Section()]
    for block in blocks_of(text):
        now = found[-1]
        if block.kind is Part.HEADING:
            found.append(_Section(_NUMBER.sub("", plain(block.text), 1), block.indent))
        elif block.kind in (Part.ITEM, Part.TABLE):
            now.items.append(block)
        elif block.kind is Part.PROSE:
            _add(found, block)
    if goes_on and found[-1].rank == _LEAD and not found[-1].items:
        del found[-1]
    elif goes_on and not found[-1].items:
        del found[-1].said[-1:]
    return found


def _add(found: list[_Section], block: Block) -> None:
    """Add a paragraph: a label, an item, a part of an item, or sentences."""
    now = found[-1]
    if _BOLD.match(block.text):
        found.append(_Section(_NUMBER.sub("", plain(block.text), 1), _UNDER_BOLD))
    elif _ENTRY.match(block.text) and (now.label or now.said or now.items):
        now.items.append(Block(Part.ITEM, block.text, _OUTER))
    elif not (block.indent and now.items):
        told = list(takewhile(lambda one: not one.endswith("?"), sentences(block.text)))
        if now.items:
            now = _Section()
            found.append(now)
        if told and leads_on(told[-1]):
            label = told.pop()
            found.append(_Section(label, _LEAD, is_apart=not told))
        now.said += told


def _labelled(label: str, items: Sequence[str]) -> str:
    return ": ".join(filter(None, (label.rstrip(":"), "; ".join(items))))


def _joined(parts: Sequence[str]) -> str:
    """An item with those below it if it only introduces them: it ends in a colon, or is a name."""
    if len(parts) == 1 or not (leads_on(parts[0]) or parts[0].count(" ") <= _FEW):
        return parts[0]
    return _labelled(parts[0], parts[1:])


def _rows(blocks: Sequence[Block]) -> Iterator[str]:
    """The rows of tables without their heads."""
    rows = [block.text if block.kind is Part.TABLE else "" for block in blocks]
    for row, below in pairwise([*rows, ""]):
        if row and not _RULER.match(row) and not (below and _RULER.match(below)):
            yield " \u2013 ".join(cell for part in row.strip("|").split("|") if (cell := plain(part)))
