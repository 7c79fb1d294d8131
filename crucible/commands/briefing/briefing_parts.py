"""What a briefing is made of, as frozen values.

Owns the order in which things give way under a tight budget: conventions, then lessons, then decisions, then todos; where the work stands is no
item and never gives way.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.quoting import fence, quote_line
from crucible.vault.index.schema import CALLOUT_LENGTH


class Rank(IntEnum):
    """How long an item is kept: the lowest goes first."""

    CONVENTION = 0
    LESSON = 1
    DECISION = 2
    TODO = 3

    @property
    def word(self) -> str:
        """As a reader is told of several."""
        return f"{self.name.lower()}s"


class Item(NamedTuple):
    """A line of a section, already quoted; `group` is the label above it, "" for none.

    `related` is true if it concerns the workflow that is about to run.  `finding` is the id of the finding that it shows, "" for none.
    """

    text: str
    rank: Rank
    group: str = ""
    related: bool = False
    finding: str = ""


class Section(NamedTuple):
    """Items under a heading; of items of one rank the first is kept longest.  `more` counts those that it could have shown, too."""

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
    """A source that could not be read, by its name in the settings, and why, in a line."""

    name: str
    failure: str


class Cut(NamedTuple):
    """How many items of a rank did not fit."""

    what: str
    count: int  # type: ignore[assignment]  # a tuple's method of that name, which nobody calls here


class Briefing(NamedTuple):
    """What is told: the whole `text` and its parts.  `tokens` is the size of `text` by the counter it was fitted with."""

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
        """Whether there is nothing to tell."""
        return not (self.position or self.sections or self.left_out)


LONG = 300
"""Characters of a line."""
_LOOKED_AT = 4_000
"""Characters of a text that are looked at: what is shown of it is far less."""


class Quoter:
    """Makes lines of texts; `redact` takes secrets out, `shorten` absolute paths."""

    def __init__(self, redact: Redact, shorten: Callable[[str], str]) -> None:
        self._redact = redact
        self._shorten = shorten

    def line(self, text: str, limit: int = LONG) -> str:
        """The text in at most `limit` characters; "" for a blank one."""
        if len(text) > _LOOKED_AT:
            text = text[:_LOOKED_AT].rpartition(" ")[0] + " …"
        return quote_line(self._shorten(self._redact(text)[0]), limit)

    def whole(self, text: str) -> str:
        """A text of many lines without the secrets that stand on several of them, as keys do; a line of it still goes through `line`."""
        return self._redact(text)[0]

    def short(self, text: str) -> str:
        """A text that holds no secrets any more, with its paths shortened."""
        return self._shorten(text)


def whole_words(cell: object) -> str:
    """A text of the index, which cuts long ones: without the half word at its end, of which nobody could say whether it is a secret's."""
    text = str(cell or "")
    if len(text) < CALLOUT_LENGTH:
        return text
    head, blank, _ = text.rpartition(" ")
    return f"{head} …" if blank else "…"
