"""The words of a request that name a kind of work, and those that apply only once: a part of the code, a pasted text, a choice."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from crucible.analysis.tools.tool_calls import SHELLS
from crucible.commands.codify.draft_steps import Remark, RemarkKind
from crucible.commands.codify.parameters import in_words, unfilled
from crucible.commands.codify.step_titles import tidy_name
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.titles import UNTITLED, prompt_name

_LONGEST_LINE = 120
LONGEST = 200
"""Code points of a request that names a kind of work; a longer one describes the work itself."""
_SPECIFIC = late_pattern(
    r"`[^`]+`|\"[^\"]{3,}\"|(?<!\w)(?!Git(?:Hub|Lab))\w*[a-z0-9][A-Z]|\w_\w|\w\(|\b(?!e\.g|i\.e)\w+\.(?!(?:md|txt|ya?ml|toml|json)\b)[a-z]{1,4}\b"
    r"|\b\d+(?:[-,.:]\d+)*\b|::|=>?"
)
"""Names of a part of the code, or of a numbered item: another run has others."""
_HEADING = late_pattern(r"(?m)^#{1,6} ")
_LOGGED = late_pattern(r"(?m)\w\.\w+:\d+(?::\d+)?\b|^\s*(?:---|[A-Z]\w*Error:|error:|FAIL)|Exit code \d")
_ITEM = late_pattern(r"(?m)^\s*(?:[-*+•]|\d+[.)])\s")
_ENDS = late_pattern(r"[:.!?](?=\s)")
_GIVEN = late_pattern(r"\A(?:\{\{\w+\}\}\s+)+(?=\w)")
_REFUSED = late_pattern(r"refused: (\w+)")


class Input(NamedTuple):
    """A parameter that replaces a text of the user."""

    name: str
    meaning: str


REQUEST = Input("request", "the work to do")
_PLAN = Input("plan", "the plan to carry out")
LOG = Input("log", "the output that shows the problem")
_POINTS = Input("points", "the points to work through")
_DETAILS = Input("details", "the rest of the request")
INPUTS = frozenset(one.name for one in (REQUEST, _PLAN, LOG, _POINTS, _DETAILS))


class Words(NamedTuple):
    """A request: the words that name the kind of work ("" if none), and the parameter for the rest, if any."""

    lead: str
    given: Input | None
    rest: str


def is_specific(text: str) -> bool:
    """True if a text names a part of the code, or something by its number."""
    return bool(_SPECIFIC.search(unfilled(text)))


def parted(words: str) -> Words:
    """Split a request into its kind of work and its pasted or detailed text."""
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
    """The remarks of a step that apply to its next run."""
    if one.kind not in (RemarkKind.CONSTRAINT, RemarkKind.DECIDED, RemarkKind.DID, RemarkKind.LEARNED):
        return one
    if one.kind is RemarkKind.DID or one.kind is RemarkKind.LEARNED:
        return one if one.finding.startswith("environment") else None
    refused = _REFUSED.search(one.why) if one.kind is RemarkKind.CONSTRAINT else None
    if refused:  # a refused command says how to work, a refused edit what this code should be
        is_command = refused[1].casefold() in SHELLS and len(one.text) <= _LONGEST_LINE
        return replace(one, why=one.why.partition(". Then: ")[0]) if is_command else None
    text = one.text.strip('" ')
    if is_one_off or is_specific(text) or "?" in text:
        return None
    return replace(one, why="") if is_specific(one.why) else one


def name_of(lead: str) -> str:
    """A step's name from the words of its request; "" if they give none."""
    name = prompt_name(in_words(_GIVEN.sub("", lead))) if lead else ""
    return tidy_name(name) if name != UNTITLED else ""
