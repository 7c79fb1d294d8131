"""Decisions: a question of this work that was settled, by the agent in a sentence or by the user in words of his own.

Owns from where on a sentence is one; how much it leans there is `leanings`' to say.  A `[!decision]` needs no such words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.capture.leanings import Leaning, Told
from crucible.capture.never import is_of_environment
from crucible.capture.sentences import Sentence
from crucible.capture.unsettled import is_anothers, is_hypothetical, is_open, is_void
from crucible.patterns import late_pattern

__all__ = ["decided_by_agent", "decided_by_user"]

_ENOUGH, _BARE, _PLAIN, _SURE = 0.45, 0.6, 0.75, 0.7
"""Chances from which on a sentence settles something: anywhere; without a mark of a choice; where something speaks against it; surely so."""
_AGAINST = frozenset({"could", "open", "others", "dropped", "step", "explains"})
"""Marks of what settles nothing."""
_BEARS = frozenset({"settles", "names", "does", "acts", "becomes", "rejects", "against"})
"""Marks of which one is borne by nearly everything that settles something."""
_CHOICE = frozenset({"settles", "against", "why"})
"""Marks without which a user's words are a wish for work, unless they are plainly a choice."""
_RULE = late_pattern(
    r"\b(?:from (?:now|today) on|as of now)\b"
    r"|^(?:(?:ok(?:ay)?|then|so|yes|fine|right|good),? )*(?:let's|let us|we'll|we will|i'll) (?:go|stick|stay) with\b"
    r"|^no (?:new|more|other|extra|further|external|additional) \w+"
    r"|\b(?:keep|leave) \S+(?: \S+){0,4} as (?:it|they|that) (?:is|are|was|were)\b"
)
"""How a user sets a rule for what comes, in a few words."""
_FOREIGN = late_pattern("[\u0400-\u04ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FIRST = late_pattern(r"(?:so |then |ok(?:ay)?,? |in the end,? |therefore,? )?(?:i|we)(?:'ve|'ll|'m|'re)? ")
_SHORT = 10
"""Code points in which nothing is settled."""


def decided_by_agent(leanings: Sequence[Leaning], *, is_doubtful: bool = False) -> Iterator[Told]:
    """The choices in an agent's words; of neighbours in a paragraph that tell one, the first.

    Right behind a failed call or before a question (`is_doubtful`) only what is plainly a choice counts: what else is said there tells why it failed, or
    what there is to choose from.
    """
    taken = (-1, -9)
    for one in leanings:
        said = one.sentence
        if not _settles(one, is_doubtful=is_doubtful) or is_of_environment(said.plain):
            continue
        distance = said.at - taken[1] if taken[0] == said.paragraph else 9
        taken = (said.paragraph, said.at)
        if distance > 2:
            yield _told(one)


def _settles(one: Leaning, *, is_doubtful: bool = False) -> bool:
    is_against = bool(_AGAINST & one.marks) or bool({"others", "dropped"} & one.behind_marks)
    least = _PLAIN if is_doubtful or is_against else _ENOUGH if _BEARS & one.marks else _BARE
    if len(one.sentence.plain) < _SHORT or is_void(one.sentence):
        return False
    return one.chances.choice >= max(least, one.chances.way) or _is_told_in_marks(one)


def _is_told_in_marks(one: Leaning) -> bool:
    """Whether it bears all marks of a choice (that it is one, against what, why), in the first person or in letters of whose words the weights know little."""
    plain = one.sentence.plain
    return (
        {"settles", "against", "why"} <= one.marks
        and (_FIRST.match(plain) or _FOREIGN.search(plain)) is not None
        and not (is_open(plain) or is_hypothetical(plain) or is_anothers(plain))
    )


def _told(one: Leaning) -> Told:
    """A choice; the surer where a reason, or what was not taken, was told with it."""
    marks = one.marks | one.behind_marks
    is_reasoned = "why" in marks or {"colon", "against"} <= marks
    behind = one.behind.text if one.behind and _belongs(one) else ""
    return Told(one.sentence, 0.75 if is_reasoned else 0.65, behind, one.chances.choice >= _SURE)


def _belongs(one: Leaning) -> bool:
    """Whether the sentence behind a choice says more of it: why, or what was not taken."""
    return bool({"why", "against", "rejects", "weighed"} & one.behind_marks)


def _is_rule(said: Sentence) -> bool:
    plain = said.plain
    return bool(_RULE.search(plain)) and not (is_void(said) or is_open(plain) or is_hypothetical(plain))


def decided_by_user(leanings: Sequence[Leaning]) -> Told | None:
    """The rule that a user sets, else the surest choice in his words."""
    told = [
        one
        for one in leanings
        if _settles(one, is_doubtful=not _CHOICE & one.marks) or _is_rule(one.sentence)
    ]
    best = max(told, key=lambda one: (_is_rule(one.sentence), one.chances.choice), default=None)
    return (
        Told(best.sentence, 0.85, best.behind.text if best.behind and _belongs(best) else "")
        if best
        else None
    )
