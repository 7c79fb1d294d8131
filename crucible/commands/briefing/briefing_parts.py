"""The parts of a briefing, the rank by which items are cut, and the quoting of foreign text."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.quoting import fence, quote_line
from crucible.vault.index.schema import CALLOUT_LENGTH


class Rank(IntEnum):
    """The order of cutting: the lowest first.  The position is no item, and never cut."""

    CONVENTION = 0
    LESSON = 1
    DECISION = 2
    TODO = 3

    @property
    def word(self) -> str:
        """The plural."""
        return f"{self.name.lower()}s"


class Item(NamedTuple):
    """A quoted line of a section; `group` is the label above it, `finding` the id of its finding, "" for none.

    `related` is true if it concerns the workflow that is about to run.
    """

    text: str
    rank: Rank
    group: str = ""
    related: bool = False
    finding: str = ""


class Section(NamedTuple):
    """Items under a heading; of one rank the first is kept longest.  `more` counts items that are not listed."""

    name: str
    title: str
    items: tuple[Item, ...] = ()
    more: int = 0

    @property
    def text(self) -> str:
        """The items in a fence, below their labels."""
        lines, group = list[str](), ""
        for item in self.items:
            if item.group not in ("", group):
                lines.append(f"[{item.group}]")
            group = item.group
            lines.append(f"- {item.text}")
        return fence(lines)


class Source(NamedTuple):
    """A source that could not be read, by its name in the settings, and the reason in a line."""

    name: str
    failure: str


class Cut(NamedTuple):
    """The number of items of a rank that did not fit."""

    what: str
    count: int  # type: ignore[assignment]  # hides a method of tuples


class Briefing(NamedTuple):
    """The text of a briefing and its parts; `tokens` is the size of `text`."""

    project: str
    text: str
    tokens: int
    position: str = ""
    sections: tuple[Section, ...] = ()
    failed: tuple[Source, ...] = ()
    left_out: tuple[Cut, ...] = ()
    explained: str = ""

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to show."""
        return not (self.position or self.sections or self.left_out)


LONG = 300
"""Characters of a line."""
_LOOKED_AT = 4_000
"""Longest text to scan; far less of it is shown."""


class Quoter:
    """Quotes foreign text: redacts it as a whole, then shortens absolute paths, then cuts it."""

    def __init__(self, redact: Redact, shorten: Callable[[str], str]) -> None:
        self._redact = redact
        self._shorten = shorten

    def line(self, text: str, limit: int = LONG) -> str:
        """The text in one line of at most `limit` characters; "" for a blank one."""
        if len(text) > _LOOKED_AT:
            text = text[:_LOOKED_AT].rpartition(" ")[0] + " …"
        return quote_line(self._shorten(self._redact(text)[0]), limit)

    def whole(self, text: str) -> str:
        """Redact a text before it is split, since keys span lines; each line still goes through `line`."""
        return self._redact(text)[0]

    def short(self, text: str) -> str:
        """Shorten the paths of a redacted text."""
        return self._shorten(text)


def whole_words(cell: object) -> str:
    """A cell of the index, which cuts long texts, without a half word at its end: it could be part of a secret."""
    text = str(cell or "")
    if len(text) < CALLOUT_LENGTH:
        return text
    head, blank, _ = text.rpartition(" ")
    return f"{head} …" if blank else "…"
