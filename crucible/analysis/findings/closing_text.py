"""The work that a closing text reports: a head of one line, and the items of its list.

Only the first list can belong to the head, and later ones whose label names an edited file: any other may list remaining work or
places of problems.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from crucible.analysis.findings.first_sentences import filled, names
from crucible.analysis.findings.layout import FEW, Section, labelled, sections
from crucible.analysis.findings.observed_calls import base_name
from crucible.core.patterns import late_pattern
from crucible.core.text.words import long_words
from crucible.documents.recording.report_lines_blocks import Part
from crucible.documents.session.plain_text import SUMMARY, clipped, leads_on, plain

_POINT, _BRIEF = 160, 40
"""Most code points of a point, and of one that needs its label."""
_TITLED = late_pattern(r"\w+(?: \w+)?:\s")
_NAME = late_pattern(r"\w[\w./-]{5,}\w")
_SHORT = 5


def told(
    text: str,
    files: Collection[str],
    asked: str = "",
    known: Collection[str] = (),
    *,
    written: str = "",
    goes_on: bool = False,
) -> tuple[str, Sequence[str]]:
    """The reported work on `files`, and its parts, without questions, the prompt's words and the `known` points.

    A sentence that names something `written` is about the fix rather than the problem.  If the agent continued after the text (`goes_on`), its last sentence announces the next work.
    """
    read = _Text(text, files, asked, written, goes_on=goes_on)
    found = [clipped(one, _POINT) for one in read.points()]
    points = [one for one in found if key_of(one) not in known]
    read.words |= long_words(" ".join(points))
    said = [one for one in read.first.said if _tells(one) and one.rstrip(".") not in plain(asked)]
    head = next(filter(read.is_about, said), "")
    if head:
        return head, points or said[said.index(head) + 1 :]
    if lead := read.lead(points):
        points = [f"{lead} {points[0]}", *points[1:]] if points else [f"{lead[:-1]}."]
    if points:
        return filled("; ", points)
    more = [one for section in read.sections for one in section.said]
    telling = [*filter(read.is_written, more), *filter(read.is_about, more)]
    if not telling and read.main.label and not read.main.is_led:
        items = read.main.points()
        return filled("; ", (labelled(read.main.label, items[:1]), *items[1:]))
    head, *rest = telling[:1] or said or more[:1] or [""]
    return head, rest


def key_of(point: str) -> str:
    """The first words of a point, which identify it."""
    return plain(point).casefold()[:60]


def _tells(one: str) -> bool:
    return not leads_on(one) and (one.count(" ") >= FEW or names(one))


class _Text:
    """A closing text: its sections, the names of the edited files, and the words of its turn."""

    def __init__(self, text: str, files: Collection[str], asked: str, written: str, *, goes_on: bool) -> None:
        found = sections(text)
        if goes_on and not found[-1].items:
            del (found if found[-1].is_led else found[-1].said)[-1:]
        self.first, *self.sections = found
        self.main = next((one for one in found if one.points()), Section())
        self._names = [name for path in files if len(name := base_name(path)) > FEW]
        self._written = written
        self._asked = long_words(asked) if len(asked) < SUMMARY else set[str]()
        self.words = long_words(" ".join(self._names)) | self._asked

    def is_about(self, one: str) -> bool:
        """True if a sentence names something in the code or shares words with the turn."""
        words = long_words(one)
        return names(one) or len(words & self.words) > 1 or any(len(word) > _SHORT for word in words & self._asked)

    def lead(self, points: Sequence[str]) -> str:
        """The sentence that leads on to the first list, if it is about the turn, or if the list says little without it."""
        after = next(iter(self.sections), Section())
        is_short = after is self.main and (after.is_of is Part.ROW or 0 < len("".join(points[:1])) < _BRIEF)
        is_lead = after.is_led and not self.first.items and (is_short or self.is_about(after.label))
        return after.label if is_lead else ""

    def points(self) -> list[str]:
        """The items of the list that belongs to the head, and each other section whose label names an edited file as one point."""
        main, is_lead = self.main, self.main.is_led and self.main is self.sections[0]
        named = [
            one
            for one in self.sections
            if self._has_file(one.label) and (one.items or (one.is_titled and one.label.count(" ") > FEW))
        ]
        if not self._is_own(main) or (main in named and len(named) > 1 and not is_lead):
            return [labelled(one.label, self._items(one)) for one in named]
        told = self._items(main)
        if not is_lead and (main.is_led or main in named):
            told[0] = labelled(main.label, told[:1])
        return [*told, *(labelled(one.label, self._items(one)) for one in named if one is not main)]

    def _items(self, section: Section) -> list[str]:
        """The items of a section; of paragraphs about a problem and its fix those that name what was written."""
        told = section.points()
        if section.is_of is not Part.PROSE:
            return told
        return [one for one in told if not _TITLED.match(one) or self.is_written(one)] or told

    def is_written(self, one: str) -> bool:
        """True if a sentence names an edited file, or something in its new lines."""
        named = (name for name in _NAME.findall(one) if names(name))
        return self._has_file(one) or any(name in self._written for name in named)

    def _has_file(self, text: str) -> bool:
        return any(name in text for name in self._names)

    def _is_own(self, main: Section) -> bool:
        """True if nothing is between the first sentences and a list, and no other section may report the work."""
        if main not in self.sections or self._has_file(main.label):
            return bool(main.items)
        at = self.sections.index(main)
        above, later = self.sections[:at], self.sections[at + 1 :]
        ranks = [one.rank for one in (*above, main) if not one.is_led]
        if any(one.said for one in above) or any(a >= b for a, b in pairwise(ranks)):
            return False
        if main.is_led:
            return bool(ranks) or not (above or (main.is_apart and any(map(self.is_about, self.first.said))))
        return not any(one.label and not one.is_led for one in later) or any(
            self._has_file(item.text) for item in main.items
        )
