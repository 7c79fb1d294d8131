"""Sentences in which an agent settles something: what it chose, over what, and why.

Owns their patterns, which are English.  A choice is somebody's own ("I chose", "we'll go with", "Decision:") and made: what is still open, is
another's, or is no more than the next step ("I'll use grep to find it") is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from crucible.acts.needled import Needled, holds, lowered
from crucible.acts.words import gist
from crucible.patterns import late_pattern

__all__ = ["Settled", "settled_in"]

_READ = 6000
"""Code points of a text that are looked at."""


class Settled(NamedTuple):
    """What was settled: `sentence` is that of the text, `before` what stands before it; `over` and `why` may be empty."""

    sentence: str
    before: str
    choice: str
    over: str = ""
    why: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that were named, in their order; none where there is but one."""
        if not self.over:
            return ()
        text = self.sentence.casefold()
        first = text.find(self.over.casefold()) < text.find(self.choice.casefold())
        return (self.over, self.choice) if first else (self.choice, self.over)


# fmt: off
_HINTS = (
    "decid", "decis", "chose", "choos", "choice", "opt ", "opted ", "opting ", "settl", "go with", "going with", "went with", "prefer", "pick", "approach",
    "option", "instead of", "rather than", "beats", "solution",
)
# fmt: on
_HINT = Needled(late_pattern(r" it is\b|\bnot\b", re.IGNORECASE), " it is", "not")
_SENTENCE = late_pattern(r"(?<=[.!?])[ \n]+(?=\S)|\n+")
_ME = r"\b(?:i|we)"
_NOW = r"(?:['’]m| am|['’]re| are|['’]ll| will)(?: going to)?(?: be)?(?: just| simply| therefore| now)?"
_CHOSE = Needled(
    late_pattern(
        _ME + r"(?:['’]ve| have)?(?: finally| just| then| therefore| deliberately)? "
        r"(?:decided (?:on|for|in favou?r of|to (?:use|go with|take|make|keep|do|store|write|put|build)|to|that)\b|(?:chose|chosen)(?: to use| to)?\b|opted (?:for|to)\b"
        r"|settled (?:on|for)\b|picked(?! up)\b|went with\b|ended up (?:choosing|picking|with|using|going with)\b)"
        r"|"
        + _ME
        + _NOW
        + r" (?:choos(?:e|ing)|pick(?:ing)?(?! up)|opt(?:ing)? for|settl(?:e|ing) (?:on|for)|go(?:ing)? with(?! (?:you|me|him|her|them|it)\b))\b"
        r"|\blet['’]?s (?:go with|use|take|pick(?! up)|choose|settle on)\b(?=.*\b(?:because|since|over|rather than|instead of)\b)"
        r"|" + _ME + r" (?:(?:clearly |much )?prefer|favou?r|choose|opt for|settle on|go with)\b"
        r"|^(?:decided|decision|choice|chosen|verdict) ?: ?(?:to )?(?:use|go with|take)?"
        r"|^(?:chose|decided (?:on|for|to)|opted for|settled on|went with|picked(?! up)|going with)\b"
        r"|\b(?:my|our) (?:choice|decision|pick|preference)(?: here)?(?: is| was| falls on|:)"
        r"|\bthe (?:better|best) (?:approach|option|choice|solution|design|fit|way)(?: here| for this| by far)?(?: is| would be|:)(?: to(?: use)?)?(?= )",
        re.IGNORECASE,
    ),
    "decid",
    "decis",
    "cho",
    "opt",
    "settl",
    "pick",
    "went with",
    "ended up",
    "go with",
    "going with",
    "lets",
    "let's",
    "let’s",
    "prefer",
    "favo",
    "verdict",
    "the better",
    "the best",
)
"""What stands before the choice."""
_AGAINST = Needled(
    late_pattern(_ME + r"(?:['’]ve| have)? decided against\b", re.IGNORECASE),
    "decided against",
)
_BECOMES = late_pattern(
    r"(?:so|instead|therefore|hence|then|thus),? (?:it(?: becomes|['’]s| is| will be)|(?:i|we)(?:['’]ll| will|['’]m| am)? (?:use|using|take|taking|do|go with|going with)) ",
    re.IGNORECASE,
)
_USES = Needled(
    late_pattern(
        _ME
        + _NOW
        + r" (?:us(?:e|ing)|tak(?:e|ing)|stick(?:ing)? (?:with|to)|stay(?:ing)? with|stor(?:e|ing) (?:it |them )?(?:in|as)|switch(?:ing)? to|implement(?:ing)?"
        r"|build(?:ing)?|mak(?:e|ing) it|keep(?:ing)?)\b",
        re.IGNORECASE,
    ),
    "'m",
    "’m",
    " am",
    "'re",
    "’re",
    " are",
    "'ll",
    "’ll",
    " will",
)
"""What stands before a choice where it is one over another."""
_IT_IS = Needled(
    late_pattern(
        r"^(?:so |then |ok,? )?(.{2,120}?) it is[,:;. –—-]+(?=because|since|as\b|given)", re.IGNORECASE
    ),
    " it is",
)
_BEATS = Needled(
    late_pattern(
        r"^(.{2,120}?) (?:beats|wins over|wins against|is (?:a |the )?(?:better (?:\w+ )?than|preferable to))\s(.{2,120}?)(?: here)?(?:,|;|:| because| since)",
        re.IGNORECASE,
    ),
    "beats",
    "wins over",
    "wins against",
    "better",
    "preferable to",
)
_BEST = Needled(
    late_pattern(
        r"^(?:after [^,]{2,120}, )?(.{2,80}?) is (?:clearly )?the (?:better|best|right|simplest|safest|cleanest) (?:choice|option|fit|approach|solution|way)(?: here| for this)?[,;:]"
        r"|^the (?:right|simplest|safest|cleanest) (?:choice|option|approach|solution|way)(?: here)? is (?:to use )?(.{2,80}?)[,;:] (?=so |therefore |hence )",
        re.IGNORECASE,
    ),
    "the better",
    "the best",
    "the right",
    "the simplest",
    "the safest",
    "the cleanest",
)
"""What is best: a choice where who says so acts on it."""
_SO_I = late_pattern(r"\b(?:so|hence|therefore)[, ]+(?:i|we|it)(?:\b|['’])", re.IGNORECASE)
_FIRST = late_pattern(
    r"\b(?:weighing|comparing) (.{2,120}?) (?:against|and|compared (?:to|with)) (.{2,120}?),|\bbetween (.{2,120}?) and (.{2,120}?)(?:,|"
    + _ME
    + r"\b)|"
    + _ME
    + r" (?:considered|thought about|looked at) (.{2,120}?), but (.{2,300}?), so\b|\b(?:rather than|instead of) (.{2,120}?),? (?=(?:i|we)\b)",
    re.IGNORECASE,
)
"""What stands before who chooses: what was weighed."""
_GIVEN = late_pattern(r"^(?:given that|since|because|as) (.{2,300}?), (?=(?:i|we)\b)", re.IGNORECASE)
_OVER = late_pattern(
    r"(?:,| and)? (?:over|rather than|instead of|and not|(?<=,) ?not) |, not | \(not (?=[^)]{2,120}\))",
    re.IGNORECASE,
)
_WHY = late_pattern(
    r"[,;]? (?:because|since|given that|given|due to|so that)\b|(?:;|:| [–—-]) (?!\w+:)", re.IGNORECASE
)
_BECAUSE = late_pattern(r"[,;]? (?:because|since|given that)\b", re.IGNORECASE)
_PROGRAM = late_pattern(
    r" (?:the )?`?(?:grep|rg|sed|awk|cat|find|ls|head|tail|curl|wget|git|jq|bash|read|glob|task|subagent|a subagent|python3?|node)\b",
    re.IGNORECASE,
)
"""What is used for the next step alone."""
_AS = late_pattern(r",? as ", re.IGNORECASE)
_REASON = late_pattern(r"(?:reason|rationale|why|because) ?: ?", re.IGNORECASE)
_EMPTY = late_pattern(r"(?:to (?:use )?|use |with |on |for |that |in |it |the following\b)+", re.IGNORECASE)
_TAIL = late_pattern(r"(?: here| for (?:this|it|now)| instead|[ .,;:!)*_])+$", re.IGNORECASE)
_LOOKS = late_pattern(
    r"\bto (?:find|look|see|search|check|list|show|locate|read|inspect|run)\b", re.IGNORECASE
)
_OPEN = late_pattern(
    r"\b(?:later|whether|at random|which (?:one|of)|if (?:you|it|that)|unless you)\b", re.IGNORECASE
)


def settled_in(prose: str) -> Iterator[Settled]:
    """Each choice that an agent's words tell, in their order."""
    return iter(_all_in(prose[:_READ]))


@lru_cache(maxsize=64)
def _all_in(text: str) -> tuple[Settled, ...]:
    """What was said just before, and what was asked for, is asked about again for the next choice."""
    low = lowered(text)
    if not holds(low, _HINTS) and not _HINT.search(text, low):
        return ()
    return tuple(_each_in(text))


def _each_in(text: str) -> Iterator[Settled]:
    sentences = [one.strip() for one in _SENTENCE.split(text)]
    for at, sentence in enumerate(sentences):
        plain = sentence.replace("**", "").replace("__", "").lstrip("-*>#• ").strip()
        if plain.endswith("?") or not plain:
            continue
        found = _settled(plain, sentences[at + 1 : at + 2])
        if found and found[0]:
            yield Settled(sentence, " ".join(sentences[:at]), *found)


def _settled(sentence: str, then: Sequence[str]) -> tuple[str, str, str] | None:
    """The choice, over what, and why."""
    low = lowered(sentence)
    if against := _AGAINST.search(sentence, low):
        over, why = _parted(sentence[against.end() :])
        becomes = _BECOMES.match(then[0]) if then else None
        choice = _clean(_parted(then[0][becomes.end() :])[0]) if becomes else f"not {_clean(over)}"
        return choice, _clean(over), gist(why)
    if beats := _BEATS.match(sentence, low):
        if _SO_I.search(sentence, beats.end()):
            why = _SO_I.split(sentence[beats.end() :])[0]
            return _clean(beats[1]), _clean(beats[2]), _told(why)
        return None
    if (best := _BEST.match(sentence, low)) and _SO_I.search(sentence, best.end() - 1):
        return _clean(best[1] or best[2]), "", ""
    if becomes := _IT_IS.match(sentence, low):
        return _clean(becomes[1]), "", _told(_parted(" " + sentence[becomes.end() :])[1])
    begins = _CHOSE.search(sentence, low)
    uses = None if begins else _USES.search(sentence, low)
    found = begins or uses
    if found is None or _OPEN.search(sentence, found.start(), found.end() + 60):
        return None
    return _weighed(sentence, found, then, must_part=uses is not None)


def _weighed(
    sentence: str, found: re.Match[str], then: Sequence[str], *, must_part: bool
) -> tuple[str, str, str] | None:
    """A choice behind what says that it is one."""
    head, rest = sentence[: found.start()], sentence[found.end() :]
    given, first = _GIVEN.match(sentence), _FIRST.search(sentence)
    chosen, why = _parted(rest)
    parts = _OVER.split(chosen, 1)
    choice, over = _clean(parts[0]), _clean(parts[1]) if len(parts) > 1 else ""
    if first and first.start() <= found.start():
        named = [_clean(one) for one in first.groups() if one]
        if first[5]:
            over, why = named[0], why or first[6]
        else:
            over = over or next((one for one in named if one.casefold() != choice.casefold()), "")
    if must_part and (_LOOKS.search(rest) or not (over or _is_reasoned(chosen, rest))):
        return None
    if given and not why:
        why = given[1]
    if not why and then and (reason := _REASON.match(then[0])):
        why = then[0][reason.end() :]
    elif not why and then and not head and found[0].rstrip().endswith(":"):
        why = then[0]
    return choice, over, _told(why)


def _is_reasoned(chosen: str, rest: str) -> bool:
    """Whether a reason is given for using something that is no program to look with."""
    return bool(_BECAUSE.match(rest[len(chosen) :]) and not _PROGRAM.match(chosen))


def _parted(rest: str) -> tuple[str, str]:
    """What was chosen, and why."""
    why = _WHY.search(rest, 1 if rest[:1] in ":;" else 0)
    if why is None and (over := _OVER.search(rest)):
        why = _AS.search(rest, over.end())
    return (rest[: why.start()], rest[why.end() :]) if why else (rest, "")


def _told(why: str) -> str:
    told = gist(why).strip(" ,;:")
    return told.removeprefix("because ").removeprefix("since ").removeprefix("as ")


def _clean(text: str) -> str:
    words = gist(text).strip(" ,;:")
    begins = _EMPTY.match(words)
    return _TAIL.sub("", words[begins.end() :] if begins else words).strip()
