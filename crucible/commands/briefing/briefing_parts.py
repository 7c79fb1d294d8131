"""The parts of a briefing, their relevance to a workflow, and the quoting of untrusted text.

Relevance is the number of words shared with the workflow, weighted by rarity and normalized by length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from enum import IntEnum, StrEnum
from math import log, sqrt
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact
from crucible.core.text import WORD, stem, stop_words
from crucible.documents.markdown.containment import fence, quote_line
from crucible.documents.workflow.workflow import Workflow
from crucible.vault.index.schema import CALLOUT_LENGTH


class Rank(IntEnum):
    """The order in which items are cut, lowest rank first; the position is never cut."""

    CONVENTION = 0
    LESSON = 1
    DECISION = 2
    TODO = 3

    @property
    def word(self) -> str:
        """The plural of the name."""
        return f"{self.name.lower()}s"


class Item(NamedTuple):
    """A quoted line of a section. `group` is the label above it; `finding` is its finding's id, "" if it has none.

    `related` is True if it is relevant to the workflow about to run.
    """

    text: str
    rank: Rank
    group: str = ""
    related: bool = False
    finding: str = ""


class Section(NamedTuple):
    """Items under a heading. Within a rank, the last item is cut first. `more` is the number of items not listed."""

    name: str
    title: str
    items: tuple[Item, ...] = ()
    more: int = 0

    @property
    def text(self) -> str:
        """Return the items in a fence, grouped under their labels."""
        lines, group = list[str](), ""
        for item in self.items:
            if item.group not in ("", group):
                lines.append(f"[{item.group}]")
            group = item.group
            lines.append(f"- {item.text}")
        return fence(lines)


class Source(NamedTuple):
    """A source that could not be read: its name in the settings, and the reason in one line."""

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
"""Maximum characters in a line."""
_MOST_READ = 4_000
"""Maximum characters of text to process; far fewer are shown."""


class Quoter:
    """Quotes untrusted text: redacts it as a unit, shortens absolute paths, then cuts it."""

    def __init__(self, redact: Redact, shorten: Callable[[str], str]) -> None:
        self._redact = redact
        self._shorten = shorten

    def line(self, text: str, limit: int = LONG) -> str:
        """Quote the text in one line of at most `limit` characters; "" for blank text."""
        if len(text) > _MOST_READ:
            text = text[:_MOST_READ].rpartition(" ")[0] + " …"
        return quote_line(self._shorten(self._redact(text)[0]), limit)

    def whole(self, text: str) -> str:
        """Redact text before it is split, since a private key spans lines. Each line must still go through `line`."""
        return self._redact(text)[0]

    def short(self, text: str) -> str:
        """Shorten the paths in redacted text."""
        return self._shorten(text)


def whole_words(cell: object) -> str:
    """Return the text of an index cell without a partial word at its end, which could be a truncated secret."""
    text = str(cell or "")
    if len(text) < CALLOUT_LENGTH:
        return text
    head, blank, _ = text.rpartition(" ")
    return f"{head} …" if blank else "…"


class Leaning(StrEnum):
    """The purpose of a workflow."""

    PLANNING = "planning"
    EXECUTING = "executing"
    NEITHER = "neither"


class Aim(NamedTuple):
    """A workflow's stems and purpose."""

    words: frozenset[str]
    leaning: Leaning


_HUMP = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "er", "ed", "es", "s", "e", "y")
_SHORTEST = 3
_READ = 20_000
_LEAST = 0.25
"""Minimum score of relevant text, as a share of the best score."""
_PLANNING_WORDS = """
plan design research discuss spec specify specification explore propose proposal brainstorm outline scope
draft architect architecture roadmap rfc requirement requirements estimate investigate
"""

_EXECUTING_WORDS = """
execute run build implement fix release deploy ship migrate test refactor add write publish upgrade debug
repair install remove update
"""


def aim_of(workflow: Workflow) -> Aim:
    """Return the aim of a workflow, from its name, title, preamble, tags and steps."""
    steps = list(workflow.walk())
    tags = workflow.properties.get("tags")
    named = [workflow.name, workflow.title, *(map(str, tags) if isinstance(tags, list) else [])]
    prose = [workflow.preamble, *(text for step in steps for text in (step.name, step.prose))]
    data = [datum.name for step in steps for datum in (*step.inputs(), *step.outputs())]
    words = stems(" ".join((*named, *prose, *data))[:_READ])
    return Aim(words - stems("workflow"), _leaning(named, [step.name for step in steps]))


def _leaning(named: Sequence[str], steps: Sequence[str]) -> Leaning:
    """Compare how many names suggest planning and how many execution; the workflow's own names count three times."""
    plans, executes = stems(_PLANNING_WORDS), stems(_EXECUTING_WORDS)
    words = [stems(text) for text in (*named, *named, *named, *steps)]
    more = sum(bool(one & plans) - bool(one & executes) for one in words)
    return Leaning.NEITHER if not more else Leaning.PLANNING if more > 0 else Leaning.EXECUTING


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without stop words; `RerunIntegrationTests` has three."""
    separated = text if text.islower() else _HUMP.sub(" ", text).casefold()
    found = {*WORD.findall(separated)} - stop_words("workflows")
    return frozenset(stem(word, _ENDINGS) for word in found if len(word) >= _SHORTEST)


def rank_alike(texts: Sequence[str], aim: Aim | None) -> list[tuple[int, bool]]:
    """Return each text's index and whether it is relevant, relevant texts first, by score."""
    if aim is None or not aim.words:
        return [(at, False) for at in range(len(texts))]
    words = [stems(text) for text in texts]
    frequency = Counter(word for one in words for word in one & aim.words)
    weights = {word: log(1 + len(texts) / count) for word, count in frequency.items()}
    scores = [sum(weights[word] for word in one & aim.words) / sqrt(len(one)) if one else 0.0 for one in words]
    least = _LEAST * max(scores, default=0.0)
    related = [score > 0 and score >= least for score in scores]
    order = sorted(range(len(texts)), key=lambda at: (not related[at], -scores[at] if related[at] else 0.0, at))
    return [(at, related[at]) for at in order]


# --- a briefing for a workflow ---------------------------------------------------------------------------------------

_EXPLAINED = {
    Leaning.PLANNING: "which plans work: all sections are shown",
    Leaning.EXECUTING: "which carries out work: unrelated conventions are omitted",
    Leaning.NEITHER: "which may plan or carry out work: all sections are shown",
}


def aimed(sections: Sequence[Section], aim: Aim) -> list[Section]:
    """Mark relevant items. For a workflow that executes, drop the other conventions."""
    texts = [item.text for section in sections for item in section.items]
    related = {texts[at] for at, is_related in rank_alike(texts, aim) if is_related}

    def kept(item: Item) -> bool:
        is_needed = aim.leaning is not Leaning.EXECUTING or item.rank is not Rank.CONVENTION
        return is_needed or item.text in related

    marked = (
        [item._replace(related=item.text in related) for item in section.items if kept(item)] for section in sections
    )
    return [section._replace(items=tuple(items)) for section, items in zip(sections, marked, strict=True) if items]


def explain(aim: Aim, name: str) -> str:
    """Return the line that explains the selection; `name` is the workflow's name, quoted."""
    return f"For the workflow `{name}`, {_EXPLAINED[aim.leaning]}. Related items are dropped last."
