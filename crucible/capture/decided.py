"""Decisions: a question of this work that was settled, by the agent in a sentence or by the user in words of his own.

Owns how the marks of a sentence, and of the one behind it, add up; a `[!decision]` needs none.  What is open, denied, hypothetical or another's is
`unsettled`'s to tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crucible.capture.deciding_words import AGENT, USER
from crucible.capture.marks import weigh
from crucible.capture.never import is_of_environment
from crucible.capture.sentences import Sentence
from crucible.capture.unsettled import is_void
from crucible.patterns import late_pattern

__all__ = ["EXPLAINS", "Told", "decided_by_agent", "decided_by_user"]

_ENOUGH, _HALF = 2.0, 1.25
_SHORT = 20
"""Code points in which nothing is settled."""
_LEAST = 1.75
"""What a choice weighs that is told without a word for choosing."""
_CHANGES = {"acts", "becomes", "now", "against", "rejects", "weighed", "names", "does"}
_ASKED = 1.75
"""What a user's words must weigh: he says less of what need not be said."""
_REASONED = 2.4
"""From here on more than the bare choice was told: what against, or why."""


_STEPS = late_pattern(
    r"^i (?:can't|cannot|won't|couldn't|could not|was unable)\b|\btests? (?:first|before the code)\b|^(?:i|we) (?:chose|picked|selected|used|took) (?:a|the|an) (?:wrong|bad|poor)\b|^(?:i(?:'ve| have|'ll| will|'m)?|we(?:'ll| will|'ve| have)?|let me|let's) (?:just )?(?:decided? to |going to |first |now |also |then |want to |need to |have to )*(?:open|look|read|check|see|list|show|run|re-?run|search|grep|find|inspect|view|try|start|stop|wait|rename|reformat|fix|pick up|commit|push|(?:use|using) (?:the )?(?:code|grep|rg|sed|awk|cat|find|ls|curl|git|jq|bash|read|glob|task|a? ?subagents?))\b(?!.{0,120}\b(?:instead of|rather than|over the|and not)\b)"
)
"""The next step of the work, whatever words it is told in."""
_NAMED = late_pattern(
    r"^(?:(?:yes|yep|ok|okay|then|fine|sure|ja|oui|d'accord)[,.:! ]+)*(?:(?!(?:thanks?|thank|sorry|good|great|nice|wait|ready|look\w*|same|now|and|but|not|no|next|also|tests?|danke|merci|gut|weiter|maintenant|jetzt|ensuite|puis|two|one more|asking)\b)[\w'@+./-]+ ){1,9}(?:for|für|pour|para|per|voor|dla) [^,.;:?!]{3,60}[.!]?$"
)
"""The bare choice: `integer cents for money amounts`."""
_VERBS = late_pattern(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|add|write|fix|review|port|document|make|implement|create|rename|remove|refactor|run|check|update|explain|show|test|tests|extend|move|clean|handle|improve|need|needs|find|read|see|help|tell|give|prepare|generate|build|set|get|put|try|start|stop|continue|search|search|list|print|log|commit|push|merge|open|close|change|replace|convert|split|support|cover|wait|thanks?|fail\w*|docs|documentation|example|examples|script|tool|bug|issue|ticket"
    r"|schreibe?|ergänze|füge|mach|prüfe|lies|zeige?|teste?|baue?|erstelle|écris|ajoute|relis|documente|corrige|crée|montre|fais|lis|teste|ist|sind|war|hat|est|sont|était)\b"
)
EXPLAINS = late_pattern(
    r"(?:(?:so|and|aha|ah)[,.! ]+)?(?:(?:that|this|which|it)(?:'s| is| was)? (?:why|explains?|fail(?:s|ed)|because|comes from|comes down)|found(?: it)?\b|the (?:culprit|cause|reason|root|bug|problem|fault|fix follows|output points)\b|root cause|what happens\b|diagnosis|cause:|culprit:)|(?:trouvé|voilà pourquoi|la cause|le coupable|la raison)\b|(?:gefunden|daran liegt|die ursache|der grund|das erklärt|der fehler)\b"
)
"""How a sentence begins that tells why something failed."""
_FAULT = late_pattern(
    r"\b(?:fail\w*|errors?|bugs?|broke\w*|crash\w*|wrong|missing|exception|returns?|returned|expect\w*|raises?|throws?|warns?|warning|lacks?|undefined|null|none|mismatch|stale|passes|passed)\b|\b(?:fehl\w*|fehler|kaputt|falsch|liefert)\b|\b(?:échou\w*|erreur|faux|manque|renvoie)\b"
)
_TOGETHER: tuple[set[str], ...] = (
    {"does", "against"},
    {"does", "why"},
    {"acts", "against", "why"},
    {"acts", "against", "now"},
    {"now", "why", "acts"},
    {"weighed", "why"},
    {"against", "becomes", "why"},
    {"against", "becomes", "topic"},
    {"becomes", "why", "topic"},
)
"""What makes a choice of a sentence that has no word for choosing."""


class Told(NamedTuple):
    """A sentence that tells something worth keeping, how sure that is, and the sentence behind it that belongs to it."""

    sentence: Sentence
    confidence: float
    behind: str = ""
    is_sure: bool = True
    """Whether it is told in words that say just that, and is no other kind's as well."""


def decided_by_agent(sentences: Sequence[Sentence], *, is_led: bool = False) -> Iterator[Told]:
    """The choices in an agent's words; of neighbours in a paragraph that tell one, the first.

    Right behind a failed call (`is_led`) only words for choosing count: what else is said there tells why it failed.
    """
    taken = (-1, -9)
    marks = [weigh(one.plain, AGENT) if len(one.plain) >= _SHORT else {} for one in sentences]
    for place, one in enumerate(sentences):
        found = _by_agent(sentences, marks, place, is_led=is_led)
        if found is None:
            continue
        distance = one.at - taken[1] if taken[0] == one.paragraph else 9
        taken = (one.paragraph, one.at)
        if distance > 2 or (distance == 2 and found.is_sure):
            yield found


def _behind(sentences: Sequence[Sentence], place: int) -> Sentence | None:
    """The next sentence of the same paragraph."""
    after = sentences[place + 1] if place + 1 < len(sentences) else None
    return after if after and after.paragraph == sentences[place].paragraph else None


def _by_agent(
    sentences: Sequence[Sentence], marks: Sequence[dict[str, float]], place: int, *, is_led: bool
) -> Told | None:
    one, found, behind = sentences[place], marks[place], _behind(sentences, place)
    more = marks[place + 1] if behind is not None else {}
    if not found or not _settles(one, found, found | more, is_led=is_led) or _is_none(sentences, place):
        return None
    if behind is not None and is_void(behind):
        behind, more = None, {}
        if not _settles(one, found, found, is_led=is_led):
            return None
    joined = found | more
    is_reasoned = "why" in joined or {"colon", "against"} <= {*joined}
    confidence = 0.75 if _sum_of(joined) >= _REASONED and is_reasoned else 0.65
    is_chosen = bool({"settles", "rejects"} & {*found}) or {"names", "against"} <= {*found}
    return Told(
        one, confidence, behind.text if behind and joined != found else "", is_chosen and len(found) > 2
    )


def _settles(one: Sentence, found: dict[str, float], joined: dict[str, float], *, is_led: bool) -> bool:
    own = _sum_of(found)
    if own >= _ENOUGH or (own >= _HALF and _sum_of(joined) >= _ENOUGH + 0.75):
        return True
    return not is_led and _is_contrast(one, found, joined)


def _is_none(sentences: Sequence[Sentence], place: int) -> bool:
    """Whether a sentence settles nothing, whatever words stand in it: the next step, a cause, what this machine cannot do."""
    one, behind = sentences[place], _behind(sentences, place)
    before = sentences[place - 1] if place else one
    is_left_out = before.paragraph == one.paragraph and is_of_environment(before.plain)
    is_other = bool(_STEPS.match(one.plain) or EXPLAINS.match(one.plain))
    return is_other or is_left_out or is_of_environment(one.plain) or is_void(one, [behind] if behind else [])


def _is_contrast(one: Sentence, found: dict[str, float], joined: dict[str, float]) -> bool:
    """Whether one is set against another, or becomes so, and a reason given, and it tells of no fault."""
    here, both = {*found}, {*joined}
    if _FAULT.search(one.plain) or not _CHANGES & here or not {"why", "colon"} & both:
        return False
    is_set_apart = bool({"against", "rejects", "weighed"} & both) and len(both) >= 4 and "why" in both
    is_now = len(_CHANGES & here) >= 2 and "why" in both and "topic" in both
    is_named = "names" in here
    return (is_set_apart or is_now or is_named) and sum(joined.values()) >= _LEAST


def _sum_of(found: dict[str, float]) -> float:
    """The weights together, where one of them is a choice's own."""
    has = {*found}
    anchors = {"settles", "names", "rejects"} & has
    if not anchors and not any(each <= has for each in _TOGETHER):
        return 0.0
    if anchors == {"rejects"} and not {"against", "weighed", "now", "acts", "does"} & has:
        return 0.0
    return sum(found.values())


def decided_by_user(sentences: Sequence[Sentence]) -> Told | None:
    """The surest choice in a user's words."""
    best, most = None, 0.0
    for place, one in enumerate(sentences):
        near = sentences[max(0, place - 1) : place + 2]
        if is_void(one, [each for each in near if each is not one]):
            continue
        found = weigh(one.plain, USER)
        behind = _behind(sentences, place)
        more = weigh(behind.plain, USER) if behind and not is_void(behind) else {}
        own, both = _user_sum(found, one.plain), _user_sum(found | more)
        is_whole = "settles" not in more or (behind is not None and len(behind.plain) < 16)
        is_told = own >= _ASKED or (sum(found.values()) >= 0.5 and both >= _ENOUGH and is_whole)
        weight = own if own >= _ASKED else both / 2
        if is_told and weight > most:
            best, most = Told(one, 0.85, behind.text if behind else ""), weight
    return best


def _user_sum(found: dict[str, float], plain: str = "") -> float:
    has = {*found}
    is_said = bool({"settles", "rejects", "against"} & has) or {"acts", "why"} <= has
    if {"acts", "please", "topic"} <= has and not _VERBS.search(plain):
        is_said = True
    if not is_said or len(has) < 2:
        return _ASKED if _NAMED.match(plain) and not _VERBS.search(plain) else 0.0
    return sum(found.values()) + (0.25 if "topic" in has and {"rejects", "against"} & has else 0.0)
