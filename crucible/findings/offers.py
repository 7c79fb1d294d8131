"""What an agent offers: the question at the end of a text, the options that it lists by letter or number, and a plan's choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from crucible.findings.texts import asks, plan_title
from crucible.patterns import late_pattern
from crucible.session.blocks import Part, blocks_of
from crucible.session.sentences import clipped, leads_on, plain, sentences

__all__ = ["Asked", "Option", "Options", "asked_in", "options", "plan_choice", "says_what"]

_REASON, _TWO = 300, 2


class Asked(NamedTuple):
    """A question, the question right before it in its paragraph, and the other sentences of the paragraph."""

    question: str
    first: str
    context: str


def asked_in(text: str) -> Asked | None:
    """The last question of the last paragraph; a list of what is offered may follow it."""
    blocks = blocks_of(_LETTERED.sub("- ", text))
    if blocks and blocks[-1].kind is Part.ITEM:  # a line right below an item belongs to it, unless it asks
        blocks += blocks_of(text.rstrip().rpartition("\n")[2])
    prose = [block.text for block in blocks if block.kind is Part.PROSE]
    told = sentences(prose[-1]) if prose else []
    at = max((at for at, one in enumerate(told) if asks(one)), default=-1)
    if at < 0:
        return None
    rest = [one for one in told if not asks(one) and not leads_on(one)]
    first = told[at - 1] if at and asks(told[at - 1]) else ""
    return Asked(told[at], first, clipped(" ".join(rest), _REASON))


_LETTERED = late_pattern(r"(?m)^[ \t]*\(?[A-H][.)][ \t]+")
_NAMING = late_pattern(r"\w[./_:]\w|[a-z][A-Z]|[^\W\d_]\d|\w\(|--\w")
_LONG, _MANY = r"\w{%d,}", 3


def says_what(text: str, long: int = 8) -> bool:
    """True if a text names something in the code, or has several long words: `do that` and `make this change` have not."""
    return bool(_NAMING.search(text)) or len(set(re.findall(_LONG % long, text))) >= _MANY


# --- options ---------------------------------------------------------------------------------------------------------

_OPTION = late_pattern(
    r"^[ \t]*(?P<lead>#+|[-*+•](?=[ \t])|\||)[ \t]*[*_`]*(?P<word>[^\W\d_]{3,}[ \t]+)?\(?#?(?P<mark>[A-H]|\d{1,2})(?![\w/-])"
    r"(?P<end>[*_`]*(?:[.):]+[*_`]*(?=\s)|[ \t]*\|)|[*_`]*(?=\s))",
    re.MULTILINE,
)
_GAP = late_pattern(r"\n[ \t]*(?:\n|```|~~~)")
_LABEL = late_pattern(r"(.{3,100}?)(?:\s+[-\u2013\u2014]+\s+|:\s+|\.\s+|[.:]?\Z)")
_DONE = late_pattern(r"[\u2705\u2611\u2713\u2714]|~~|\[[xX]\]")
"""How an item is marked as finished."""


class Option(NamedTuple):
    """An option that a text lists: its label, and what is said about it."""

    label: str
    said: str


class Options(NamedTuple):
    """A list of options; `is_last` if at most one paragraph follows it."""

    by_mark: Mapping[str, Option]
    is_last: bool


def options(text: str) -> Sequence[Options]:
    """The lists of options of a text by letter or number, the last one first; finished items are none."""
    lists: dict[tuple[str, bool], list[list[re.Match[str]]]] = {}
    for found in _OPTION.finditer(text):
        if not (found["word"] or found["end"].strip("*_` ")):
            continue
        same = lists.setdefault((f"{found['lead']}{found['word'] or ''}", found["mark"].isdigit()), [])
        if same and _order(found) > _order(same[-1][-1]):
            same[-1].append(found)
        else:
            same.append([found])
    runs = [run for same in lists.values() for run in same if len(run) > 1]
    runs.sort(key=lambda run: -run[-1].start())
    return [Options(dict(_options(text, run)), _is_last(text, run[-1].end())) for run in runs]


def _is_last(text: str, end: int) -> bool:
    rest = _GAP.search(text, end)
    return sum(block.kind is Part.PROSE for block in blocks_of(text[rest.end() :])) < _TWO if rest else True


def _order(found: re.Match[str]) -> tuple[int, str]:
    return len(found["mark"]), found["mark"]


def _options(text: str, run: Sequence[re.Match[str]]) -> Iterator[tuple[str, Option]]:
    for found, end in zip(run, [*(each.start() for each in run[1:]), len(text)], strict=True):
        whole = _GAP.split(text[found.end() : end])[0]
        if not _DONE.search(found[0] + whole.partition("\n")[0]):
            yield found["mark"], _option(whole, found["lead"])


def _option(text: str, lead: str) -> Option:
    head, _, rest = text.strip().partition("\n")
    if lead == "|":
        label, *cells = [told for cell in head.split("|") if (told := plain(cell))] or [""]
        return Option(clipped(label, 100), clipped("; ".join(cells), _REASON))
    if lead.startswith("#"):
        return Option(_bare(head), clipped(rest, _REASON))
    whole = _bare(text)
    found = _LABEL.match(whole)
    label = found[1] if found and _is_closed(found[1]) else clipped(whole, 100)
    more = whole[len(label) :].lstrip(" .:-\u2013\u2014") if whole.startswith(label) else whole
    return Option(label, clipped(more, _REASON))


def _bare(text: str) -> str:
    return plain(text).lstrip(" .:)-\u2013\u2014*").rstrip(" .:")


def _is_closed(text: str) -> bool:
    """True if a text closes all its parentheses and quotes."""
    return text.count("(") == text.count(")") and text.count('"') % 2 == 0


# --- plans -----------------------------------------------------------------------------------------------------------


def plan_choice(plan: str) -> str:
    """What a plan decides: its first sentence if that begins like its title or another heading, else its title and its steps.

    Steps are the last headings that are numbered.
    """
    title, blocks = plan_title(plan), blocks_of(plan[:_PLAN])
    at = next((at for at, block in enumerate(blocks) if block.kind is Part.HEADING), -1) + 1
    headings = [plain(block.text) for block in blocks[at:] if block.kind is Part.HEADING]
    begins = {_begins(_NUMBER.sub("", one)) for one in (title, *headings)}
    first = next((at for at, block in enumerate(blocks[at:], at) if block.kind is Part.PROSE), 0)
    said = next(iter(sentences(blocks[first].text)), "") if blocks else ""
    if _begins(said) in begins:
        items = (plain(one.text) for one in takewhile(lambda one: one.kind is Part.ITEM, blocks[first + 1 :]))
        said = f"{said} {'; '.join(items)}" if leads_on(said) else said
    else:
        said = "; ".join(_steps(headings))
    return clipped(said if _begins(said) == _begins(title) else f"{title}: {said}" if said else title)


def _steps(headings: Sequence[str]) -> Sequence[str]:
    """The last headings that are numbered from one, unless most of them only name a file."""
    steps: list[str] = []
    for one in headings:
        if number := _NUMBER.match(one):
            steps = [*(steps if number[1] != "1" else ()), one[number.end() :]]
    told = [one for one in steps if one.count(" ") > 1 and not _DONE.search(one)]
    return told if len(told) > len(steps) // 2 else ()


_PLAN = 20_000
_NUMBER = late_pattern(r"(\d{1,2})[.):]+[ \t]+")


def _begins(text: str) -> str:
    """The first word of a text."""
    return text.partition(" ")[0].casefold().rstrip(":")
