"""The layout of an agent's text: sentences, sections with lists, options, the closing question, and plans."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.recording.report_lines import Block, Part, blocks_of
from crucible.documents.session.findings import SUMMARY, cut_at_sentence, is_introduction, meaningful, plain, sentences

_HEAD, _TAIL = 9000, 5000
"""Code points to keep from the start and the end of a text."""
_ENOUGH_FIRST_SENTENCES = 60
"""Minimum code points in a text that needs no list to complete it."""

_FENCED = late_pattern(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_BULLET = late_pattern(r"(?:\A|[ \t,;:.]*\n)\s*[-*+•][ \t]+")
_NAMES = late_pattern(r"\w[./_:]\w|[a-z][A-Z]|\w\(")
_WORD = late_pattern(r"\w{4,}")
_MANY = 3


def trimmed(text: str) -> str:
    """Return a text without its middle if it is too long to keep."""
    return text.strip() if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD].strip()}\n\n…\n\n{text[-_TAIL:].strip()}"


def first_line(text: str, limit: int) -> str:
    """Return a text's first sentences, without code blocks and list marks, on a line of at most `limit` code points."""
    return cut_at_sentence(_BULLET.sub("; ", _FENCED.sub("\n", text).strip()).removeprefix("; "), limit)


def names_code(text: str) -> bool:
    """True if a text names something in the code."""
    return bool(_NAMES.search(text))


def says_what(text: str, long: int = 8) -> bool:
    """True if a text names something in the code or has several long words; `do that` and `make this change` do not."""
    return names_code(text) or sum(len(word) >= long for word in set(_WORD.findall(text))) >= _MANY


def statements(text: str, limit: int) -> str:
    """Return the sentences of a text, except those that only introduce a list or a call."""
    parts = [one for one in prose(text) if not is_introduction(one)]
    if sum(map(len, meaningful(parts))) < _ENOUGH_FIRST_SENTENCES:
        items = "; ".join(plain(block.text) for block in blocks_of(text) if block.kind is Part.ITEM)
        parts = [*parts, *[items] * (items not in parts)]
    return cut_at_sentence(" ".join(meaningful(parts)), limit)


def prose(text: str) -> list[str]:
    """Return the sentences in a text's paragraphs, or in its list if it has no paragraphs."""
    blocks = blocks_of(text)
    kinds = [kind for kind in (Part.PROSE, Part.ITEM) if any(block.kind is kind for block in blocks)]
    return [one for block in blocks if block.kind in kinds[:1] for one in sentences(block.text)]


def is_question(text: str) -> bool:
    """True if a text ends with a question, even if other marks follow it."""
    return text.rstrip("\n\t *`_)").endswith(("?", "\uff1f"))


def join_fitting(mark: str, parts: Sequence[str], limit: int = SUMMARY) -> tuple[str, Sequence[str]]:
    """Join as many parts as fit on one line, at least one.  Return the line and the remaining parts."""
    head, count = "", 0
    while count < len(parts) and (not count or len(head) + len(mark) + len(parts[count]) <= limit):
        head = f"{head}{mark if count else ''}{parts[count]}"
        count += 1
    return head, parts[count:]


FEW = 3
"""Maximum spaces in a text that is too short on its own."""
_REASON, _ENOUGH = 300, 60
"""Maximum and minimum code points in a reason."""
_MARKED = late_pattern(
    r"\s*[*_`]*(?P<word>[^\W\d_]{3,}[ \t]+)?\(?#?(?P<mark>[A-H]|\d{1,2})(?![\w/-])"
    r"(?P<end>[*_`]*(?:[.):]+[*_`]*(?=\s)|[ \t]*\|)|[*_`]*(?=\s))"
)
"""The start of a heading, bullet, row or paragraph with a number or letter: `Option A:`, `**2.**`."""


def _marked(block: Block) -> tuple[str, str, str]:
    """Return the word and the number or letter that mark a block, and the text after them.  The mark may be ""."""
    if block.mark.isalnum():
        return "", block.mark, block.text
    found = _MARKED.match(block.text)
    if not found or not (found["word"] or found["end"].strip("*_` ")):
        return "", "", block.text
    return found["word"] or "", found["mark"], block.text[found.end() :]


def _cells(row: str) -> Sequence[str]:
    return [text for cell in row.split("|") if (text := plain(cell))]


# --- sections --------------------------------------------------------------------------------------------------------

_BOLD = late_pattern(r"\*\*[^*\n]+\*\*:?\Z")
"""A paragraph that looks like a heading."""
_ENTRY = late_pattern(r"\*\*[^*\n]+\*\*\W")
"""A paragraph that looks like an item."""
_NUMBER = late_pattern(r"\d{1,2}[.)]\s+")
_UNDER_BOLD, _LEAD, _OUTER = 7, 8, -9


@dataclass(slots=True, eq=False)
class TextSection:
    """A label, the sentences of its paragraphs, and its list.  The first section in a text has no label.

    `rank` is the level of a heading, 7 for a bold line, or 8 for a sentence that ends in a colon.
    """

    label: str = ""
    rank: int = 0
    said: list[str] = field(default_factory=list)
    items: list[Block] = field(default_factory=list)
    is_apart: bool = False
    """True if the label is a separate paragraph."""

    @property
    def is_titled(self) -> bool:
        """True if the label is a heading."""
        return 0 < self.rank < _UNDER_BOLD

    @property
    def is_led(self) -> bool:
        """True if the label is a sentence that ends in a colon."""
        return self.rank == _LEAD

    @property
    def is_of(self) -> Part | None:
        """Return the kind of list: items, rows, or paragraphs that begin with a bold name.  None without a list."""
        return self.items[0].kind if self.items else None

    def points(self) -> list[str]:
        """Return the rows or top-level items of the list.  An item that only introduces others includes them."""
        items = [item for item in self.items if item.kind is not Part.ROW or item.kind is self.is_of]
        top = min((item.indent for item in items), default=0)
        parts: list[list[str]] = []
        for item in items:
            is_inner = item.indent > top + 1 or (items[0].mark.isdecimal() and not item.mark.isdecimal())
            if not parts or not is_inner:
                parts.append([])
            parts[-1].append(" \u2013 ".join(_cells(item.text)) if item.kind is Part.ROW else plain(item.text))
        return [_joined(part) for part in parts]


def sections(text: str) -> list[TextSection]:
    """Return the sections of a text."""
    found = [TextSection()]
    for block in blocks_of(text):
        if block.kind is Part.HEADING:
            found.append(TextSection(_NUMBER.sub("", plain(block.text), 1), len(block.mark)))
        elif block.kind in (Part.ITEM, Part.ROW):
            found[-1].items.append(block)
        elif block.kind is Part.PROSE:
            _add(found, block)
    return found


def _add(found: list[TextSection], block: Block) -> None:
    """Add a paragraph: a label, an item, part of an item, or the sentences before its questions."""
    now = found[-1]
    if _BOLD.match(block.text):
        found.append(TextSection(_NUMBER.sub("", plain(block.text), 1), _UNDER_BOLD))
    elif _ENTRY.match(block.text) and (now.label or now.said or now.items):
        now.items.append(block._replace(indent=_OUTER))
    elif not (block.indent and now.items):
        asserted = list(takewhile(lambda one: not is_question(one), sentences(block.text)))
        if now.items:
            now = TextSection()
            found.append(now)
        if asserted and is_introduction(asserted[-1]):
            label = asserted.pop()
            found.append(TextSection(label, _LEAD, is_apart=not asserted))
        now.said += asserted


def labelled(label: str, items: Sequence[str]) -> str:
    """Return a label with its items."""
    return ": ".join(filter(None, (label.rstrip(":"), "; ".join(items))))


def _joined(parts: Sequence[str]) -> str:
    """Return an item, with its sub-items if it only introduces them: it ends in a colon or is a name."""
    if len(parts) == 1 or not (is_introduction(parts[0]) or parts[0].count(" ") <= FEW):
        return parts[0]
    return labelled(parts[0], parts[1:])


# --- options ---------------------------------------------------------------------------------------------------------

_LABEL = late_pattern(r"(.{3,100}?)(?:\s+[-\u2013\u2014]+\s+|:\s+|\.\s+|[.:]?\Z)")
_DONE = late_pattern(r"[\u2705\u2611\u2713\u2714]|~~|\[[xX]\]")
"""Marks of a finished item."""
_TWO = 2


class Option(NamedTuple):
    """An option that a text lists: its label and its description."""

    label: str
    description: str


class Options(NamedTuple):
    """A list of options by their marks.  `is_last` is True if at most one paragraph follows the list."""

    by_mark: Mapping[str, Option]
    is_last: bool


def options(text: str) -> Sequence[Options]:
    """Return a text's lists of options with letters or numbers, last list first.  Finished items do not count."""
    blocks = blocks_of(text)
    lists: dict[tuple[str, str, bool], list[dict[str, int]]] = {}
    for at, block in enumerate(blocks):
        word, mark, _ = _marked(block)
        if mark:
            lead = "" if block.mark.isalnum() else block.mark
            same = lists.setdefault((lead, word, mark.isdigit()), [{}])
            if any((len(mark), mark) <= (len(one), one) for one in same[-1]):
                same.append({})
            same[-1][mark] = at
    runs = [run for same in lists.values() for run in same if len(run) > 1]
    return [_options(blocks, run) for run in sorted(runs, key=lambda run: -max(run.values()))]


def _options(blocks: Sequence[Block], run: Mapping[str, int]) -> Options:
    below = [
        list(takewhile(lambda one: not one.is_apart, blocks[at + 1 : end]))
        for at, end in pairwise([*run.values(), len(blocks)])
    ]
    by_mark = {
        mark: _option(blocks[at], more)
        for (mark, at), more in zip(run.items(), below, strict=True)
        if not _DONE.search(blocks[at].text)
    }
    rest = blocks[max(run.values()) + 1 + len(below[-1]) :]
    return Options(by_mark, sum(block.kind is Part.PROSE for block in rest) < _TWO)


def _option(block: Block, below: Sequence[Block]) -> Option:
    _, _, text = _marked(block)
    more = [_bare(one.text) for one in below]
    if block.kind is Part.ROW:
        label, *more = _cells(text) or [""]
        return Option(cut_at_sentence(label, 100), cut_at_sentence("; ".join(more), _REASON))
    whole = _bare(text)
    found = None if block.kind is Part.HEADING else _LABEL.match(whole)
    label = cut_at_sentence(found[1] if found and _is_closed(found[1]) else whole, 100)
    rest = whole[len(label) :].lstrip(" .:-\u2013\u2014") if whole.startswith(label) else whole
    return Option(label, cut_at_sentence("; ".join(filter(None, (rest, *more))), _REASON))


def _bare(text: str) -> str:
    return plain(text).lstrip(" .:)-\u2013\u2014*").rstrip(" .:")


def _is_closed(text: str) -> bool:
    """True if a text closes all its parentheses and quotes."""
    return text.count("(") == text.count(")") and text.count('"') % 2 == 0


# --- questions -------------------------------------------------------------------------------------------------------


class ClosingQuestion(NamedTuple):
    """A question, the question right before it in its paragraph, and the other sentences in the paragraph."""

    question: str
    first: str
    near: Sequence[str]

    @property
    def context(self) -> str:
        """Return the rest of the paragraph."""
        return cut_at_sentence(" ".join(self.near), _REASON)


def closing_question(text: str) -> ClosingQuestion | None:
    """Return the last question in the last paragraph, or the list of questions at the end.

    A list of offers may follow.
    """
    blocks = blocks_of(text)
    if blocks and blocks[-1].kind is Part.ITEM:  # a line directly below an item is part of it, unless it is a question
        blocks += [one for one in blocks_of(text.rstrip().rpartition("\n")[2]) if one.kind is Part.PROSE]
    last = max((at for at, block in enumerate(blocks) if block.kind is Part.PROSE), default=-1)
    paragraph = sentences(blocks[last].text) if last >= 0 else []
    listed = [plain(block.text) for block in blocks[last + 1 :]]
    if paragraph and is_introduction(paragraph[-1]) and any(map(is_question, listed)):
        questions = listed if all(map(is_question, listed)) else ()
        return ClosingQuestion(" ".join((paragraph[-1], *questions)), "", paragraph[:-1])
    at = max((at for at, one in enumerate(paragraph) if is_question(one)), default=-1)
    if at < 0:
        return None
    near = [one for one in paragraph if not is_question(one) and not is_introduction(one)]
    first = paragraph[at - 1] if at and is_question(paragraph[at - 1]) else ""
    return ClosingQuestion(paragraph[at], first, near)


# --- plans -----------------------------------------------------------------------------------------------------------

_PLAN = 20_000
_PLAN_WORD = late_pattern(r"(?i)(?:Implementation )?Plan[ \t]*[:\u2013\u2014-][ \t]*(?=\S)")


class Plan(NamedTuple):
    """A plan: its title, its decision, and its reason."""

    title: str
    choice: str
    reason: str


def plan_of(text: str) -> Plan:
    """Read a plan.

    The decision is the first sentence if it begins like the title or another heading; otherwise it is the title and the
    steps.  The reason is the first long paragraph.
    """
    blocks = blocks_of(text[:_PLAN])
    headings = [block for block in blocks if block.kind is Part.HEADING]
    title = headings[0].text if headings else text.strip().partition("\n")[0]
    blocks = blocks[blocks.index(headings[0]) if headings else 0 :]
    first = next((at for at, block in enumerate(blocks) if block.kind is Part.PROSE), len(blocks))
    title = cut_at_sentence(_PLAN_WORD.sub("", title, 1) if _PLAN_WORD.match(title) else title, 160)
    paragraphs = [statements(block.text, _REASON) for block in blocks[first:] if block.kind is Part.PROSE]
    choice = next(iter(sentences(blocks[first].text)), "") if paragraphs else ""
    if _begins(choice) in {_begins(title), *(_begins(_marked(one)[2]) for one in headings[1:])}:
        items = (plain(one.text) for one in takewhile(lambda one: one.kind is Part.ITEM, blocks[first + 1 :]))
        choice = f"{choice} {'; '.join(items)}" if is_introduction(choice) else choice
    else:
        choice = "; ".join(_steps(headings[1:]))
    if _begins(choice) != _begins(title):
        choice = f"{title}: {choice}" if choice else title
    return Plan(title, cut_at_sentence(choice), next((one for one in paragraphs if len(one) > _ENOUGH), ""))


def _steps(headings: Sequence[Block]) -> Sequence[str]:
    """Return the last headings that are numbered from one, unless most of them only name a file."""
    steps: list[str] = []
    for one in headings:
        word, mark, rest = _marked(one)
        if mark and not word:
            steps = [*(steps if mark != "1" else ()), plain(rest)]
    named = [one for one in steps if one.count(" ") > 1 and not _DONE.search(one)]
    return named if len(named) > len(steps) // 2 else ()


def _begins(text: str) -> str:
    """Return the first word in a text."""
    return plain(text).partition(" ")[0].casefold().rstrip(":")
