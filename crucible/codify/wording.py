"""What a user's words say of a kind of work, and what they say of this one time: a part of the code, a text that was pasted, a choice."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from crucible.acts.reading import SHELLS
from crucible.codify.model import Remark, RemarkKind
from crucible.codify.parameters import in_words, unfilled
from crucible.codify.titling import tidy_name
from crucible.note.contain import normal_line
from crucible.patterns import late_pattern
from crucible.session.titles import UNTITLED, prompt_name

__all__ = [
    "INPUTS",
    "LOG",
    "LONGEST",
    "REQUEST",
    "Input",
    "Words",
    "held",
    "is_specific",
    "name_of",
    "parted",
]

_LONGEST_LINE = 120
LONGEST = 200
"""Code points of a request that says the kind of work; a longer one says the work itself."""
_SPECIFIC = late_pattern(
    r"`[^`]+`|\"[^\"]{3,}\"|(?<!\w)(?!Git(?:Hub|Lab))\w*[a-z0-9][A-Z]|\w_\w|\w\(|\b(?!e\.g|i\.e)\w+\.(?!(?:md|txt|ya?ml|toml|json)\b)[a-z]{1,4}\b"
    r"|\b\d+(?:[-,.:]\d+)*\b|::|=>?"
)
"""What names a part of the code, or one of things that were counted up: another run has others."""
_HEADING = late_pattern(r"(?m)^#{1,6} ")
_LOGGED = late_pattern(r"(?m)\w\.\w+:\d+(?::\d+)?\b|^\s*(?:---|[A-Z]\w*Error:|error:|FAIL)|Exit code \d")
_ITEM = late_pattern(r"(?m)^\s*(?:[-*+•]|\d+[.)])\s")
_ENDS = late_pattern(r"[:.!?](?=\s)")
_GIVEN = late_pattern(r"\A(?:\{\{\w+\}\}\s+)+(?=\w)")
_REFUSED = late_pattern(r"refused: (\w+)")


class Input(NamedTuple):
    """A parameter that stands for a text of the user's."""

    name: str
    meaning: str


REQUEST = Input("request", "what is to be done")
_PLAN = Input("plan", "the plan to carry out")
LOG = Input("log", "the output that shows what is wrong")
_POINTS = Input("points", "the points to work through")
_DETAILS = Input("details", "what the request goes on to say")
INPUTS = frozenset(one.name for one in (REQUEST, _PLAN, LOG, _POINTS, _DETAILS))


class Words(NamedTuple):
    """A request: the words that say the kind of work, "" if there are none, and what stands for the rest of it, if anything."""

    lead: str
    given: Input | None
    rest: str


def is_specific(text: str) -> bool:
    """True if a text names a part of the code, or something by its number."""
    return bool(_SPECIFIC.search(unfilled(text)))


def parted(words: str) -> Words:
    """A request as its kind of work and what was pasted or told in detail."""
    text = words.strip()
    lead, _, rest = text.partition("\n")
    if len(text) <= LONGEST:
        lead, rest = normal_line(text), ""
    elif len(lead) > LONGEST:
        ends = (found.end() for found in _ENDS.finditer(text[:LONGEST]))
        end = next((end for end in ends if text.count("`", 0, end) % 2 == 0), 0)
        lead, rest = text[:end], text[end:]
    lead, rest = normal_line(lead), rest.strip()
    given = _input_of(rest) if rest else None
    return Words("" if is_specific(lead) else lead, given, rest)


def _input_of(text: str) -> Input:
    if len(_HEADING.findall(text)) > 1:
        return _PLAN
    if _LOGGED.search(text):
        return LOG
    return _POINTS if len(_ITEM.findall(text)) > 1 else _DETAILS


def held(one: Remark, *, is_one_off: bool) -> Remark | None:
    """What was said or found in a step, as far as it holds for the next run of it."""
    if one.kind not in (RemarkKind.CONSTRAINT, RemarkKind.DECIDED, RemarkKind.DID, RemarkKind.LEARNED):
        return one
    if one.kind is RemarkKind.DID or one.kind is RemarkKind.LEARNED:
        return one if one.finding.startswith("environment") else None
    refused = _REFUSED.search(one.why) if one.kind is RemarkKind.CONSTRAINT else None
    if refused:  # of a command it says how to go about it, of an edit what this code should be
        is_command = refused[1].casefold() in SHELLS and len(one.text) <= _LONGEST_LINE
        return replace(one, why=one.why.partition(". Then: ")[0]) if is_command else None
    text = one.text.strip('" ')
    if is_one_off or is_specific(text) or "?" in text:
        return None
    return replace(one, why="") if is_specific(one.why) else one


def name_of(lead: str) -> str:
    """A step's name by the words of its request; "" if they make none."""
    name = prompt_name(in_words(_GIVEN.sub("", lead))) if lead else ""
    return tidy_name(name) if name != UNTITLED else ""
