"""Decisions: a question of this work that the agent or the user settled.

Owns where they are told (a callout, a sentence of the agent's, a user's choice among options that the agent named) and that one that is told
twice is one.  The situation never says what was chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from crucible.acts.choosing import Settled, settled_in
from crucible.acts.words import answers_in, is_question, said, untagged
from crucible.cases.corrections import is_asking
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Choice
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.verifying import verification_after
from crucible.cases.wordlike import alike, content_words
from crucible.patterns import late_pattern
from crucible.session.model import Decision, Intervention, Outcome, Prose

__all__ = ["find_choices"]

_NEAR = 8
"""Moments within which a choice that is told again is the same."""
_ASKS = frozenset({"askuserquestion", "question", "ask_user", "request_user_input"})


class _Found(NamedTuple):
    """A choice and the moment at which it was told."""

    moment: Moment
    choice: Choice
    words: frozenset[str]


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """The decisions of a session, in the order of its note."""
    found: list[_Found] = []
    for moment in timeline.moments:
        for choice in _choices_at(timeline, moment):
            one = _Found(moment, choice, content_words(choice.choice))
            same = next((n for n, other in enumerate(found) if _is_same(other, one)), None)
            if same is None:
                found.append(one)
            else:
                found[same] = found[same]._replace(choice=_joined(found[same].choice, choice))
    for one in found:
        at = one.moment.at
        verification = verification_after(timeline, at)
        body = replace(one.choice, outcome=_outcome(timeline, one, verification.command))
        yield make_case(
            timeline, CaseType.DECISION, one.moment, body, one.choice.choice, verification=verification
        )


def _is_same(one: _Found, other: _Found) -> bool:
    near = other.moment.at - one.moment.at <= _NEAR
    return near and alike(one.words, other.words) >= _ALIKE


_ALIKE = 0.6


def _joined(one: Choice, again: Choice) -> Choice:
    return replace(one, options=one.options or again.options, rationale=one.rationale or again.rationale)


def _choices_at(timeline: Timeline, moment: Moment) -> Iterator[Choice]:
    match moment.entry:
        case Decision() as entry:
            yield _of_callout(timeline, moment, entry)
        case Prose() as entry:
            for one in settled_in(entry.text):
                if _NOTHING.match(one.choice):
                    continue
                situation = _situation(timeline, moment, one.before)
                options = one.options or _options_before(entry.text.partition(one.sentence)[0], one.choice)
                yield Choice(situation, options, one.choice, one.why)
        case Intervention() as entry:
            yield from _of_user(timeline, moment, untagged(entry.words))
        case _:
            if moment.call and moment.outcome is Outcome.OK and moment.name.casefold() in _ASKS:
                yield from _of_question(timeline, moment)


def _of_callout(timeline: Timeline, moment: Moment, entry: Decision) -> Choice:
    text, options = _without_options(entry.text)
    told = next(settled_in(f"Decision: {text}"), Settled("", "", text))
    why = entry.rationale or (told.why if _is_reason(told.why, text) else "")
    return Choice(_situation(timeline, moment), options or told.options, text, why)


_NOTHING = late_pattern(r"(?:stop|pause)(?: here| now| for now| there)?$|(?:none|nothing)\b", re.IGNORECASE)
"""What is chosen when nothing is."""
_NAMED = late_pattern(
    r"^[ \t]*\**(?:options?|alternatives?|candidates?|considered)(?: (?:were|considered|named))?\**:\**[ \t]*([^\n]*(?:\n[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t][^\n]*)*)\n?",
    re.MULTILINE | re.IGNORECASE,
)
_PARTED = late_pattern(r"[,;/]? +(?:or|vs\.?|versus|and) +|[,;] +", re.IGNORECASE)
_COULD = late_pattern(
    r"\b(?:could|can|may|might) (?:use |take |do |be |go with )?([^.?!:;\n]{2,200}?),? or ([^.?!:;,\n]{2,80})[.?!;]",
    re.IGNORECASE,
)
_REASONED = late_pattern(
    r"\b(?:because|since|as|given(?: that)?|so that|due to|in order to)[ \t]+$|[^\n]: ?$|[^\n] [–—-] ?$",
    re.IGNORECASE,
)


_NEAR_TEXT = 2000


def _without_options(text: str) -> tuple[str, tuple[str, ...]]:
    """A callout's text without the line, or the list, that names the options, and these."""
    found = _NAMED.search(text)
    if not found:
        return text, ()
    line, _, items = found[1].partition("\n")
    told = [*_PARTED.split(line.strip(" ."))] if line.strip() else _ITEM.findall(items)
    options = tuple(said(one).strip(" *.") for one in told if one.strip(" *."))
    rest = f"{text[: found.start()].rstrip()}\n{text[found.end() :]}".strip()
    return (rest, options) if rest and len(options) > 1 else (text, ())


def _is_reason(why: str, text: str) -> bool:
    """Whether a text gives something as its reason, and does not merely say it next."""
    at = text.find(why) if why else -1
    return at > 0 and bool(_REASONED.search(text[:at]))


def _options_before(before: str, choice: str) -> tuple[str, ...]:
    """The options that a list or a sentence right before names, if the choice is one of them."""
    before = before[-_NEAR_TEXT:]
    could = next(reversed(list(_COULD.finditer(before))), None)
    spoken = tuple(one.strip() for one in [*_PARTED.split(could[1]), could[2]]) if could else ()
    for options in (tuple(said(item).strip(" *.") for item in _ITEM.findall(before)), spoken):
        if len(options) > 1 and any(one.casefold() == choice.casefold() for one in options):
            return options
    return ()


def _situation(timeline: Timeline, moment: Moment, before: str = "") -> str:
    """The goal, and what the agent said just before, where that settles nothing itself."""
    parts = [timeline.goal_of(moment.phase)]
    earlier = timeline.moments[moment.at - 1].entry if moment.at else None
    if isinstance(earlier, Prose):
        parts.append(earlier.text)
    parts.append(before)
    return "\n\n".join(part for part in parts if part.strip() and next(settled_in(part), None) is None)


# --- the user's --------------------------------------------------------------------------------------------------------

_ITEM = late_pattern(
    r"^[ \t]*(?:[-*+]|(?:option )?[0-9a-zA-Z][.):])[ \t]+(.+?)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_EITHER = late_pattern(
    r"((?:[^\s,?.;:]+ ){0,9}?[^\s,?.;:]+),? or (?:with |use |using |by |via |as )?([^,?.;:\n]{2,80})[?.]",
    re.IGNORECASE,
)
_LEADS = late_pattern(r"^.*?\b(?:with|use|using|either|between|prefer|via)\s+", re.IGNORECASE)
_AUXILIARY = late_pattern(r"(?:should|shall|do|does|would|will|can|could|may|is|are)\b", re.IGNORECASE)
_NTH = (("first", "former", "option 1", "option a", "number 1", "#1", "1"), ("second", "latter", "option 2", "option b", "number 2", "#2", "2"),
    ("third", "option 3", "option c", "number 3", "#3", "3"), ("fourth", "option 4", "option d", "number 4", "#4", "4"))  # fmt: skip
_BECAUSE = late_pattern(r"(?:,| because| since| as|:|;|-|–|—) (.{4,300})$", re.IGNORECASE | re.DOTALL)


def _of_user(timeline: Timeline, moment: Moment, words: str) -> Iterator[Choice]:
    """What the user chose of the options that the agent had just named."""
    before = timeline.moments[moment.at - 1] if moment.at else None
    if before is None or not isinstance(before.entry, Prose) or not is_asking(before):
        return
    text = before.entry.text
    options = _options_in(text.rpartition("\n\n")[2]) or _options_in(text)
    chosen = _chosen(options, words)
    if chosen and not is_question(words):
        why = _BECAUSE.search(words)
        reason = why[1].strip(" .!") if why and chosen.casefold() not in why[1].casefold() else ""
        yield Choice("\n\n".join([timeline.goal_of(before.phase), text]), options, chosen, reason)


def _options_in(text: str) -> tuple[str, ...]:
    """The options of a question: its list's items, or what stands on both sides of an "or"."""
    items = tuple(said(item).strip(" *.") for item in _ITEM.findall(text))
    if len(items) > 1:
        return items
    either = _EITHER.search(text)
    if not either:
        return ()
    first, second = _LEADS.sub("", either[1]).strip(), either[2].strip()
    if _AUXILIARY.match(first):  # "Should it go up or down?": as many words as the other one has
        first = " ".join(first.split()[-len(second.split()) :])
    return first, second


def _chosen(options: tuple[str, ...], words: str) -> str:
    """The option that words name, by its place or by its own words; "" where that is not plain."""
    plain = f" {words.casefold().strip(' .!')} ".replace(",", " ").replace(".", " ")
    named = [one for one in options if one.casefold() in plain]
    if len(named) == 1:
        return named[0]
    nth = [at for at, names in enumerate(_NTH[: len(options)]) if any(f" {name} " in plain for name in names)]
    if len(nth) == 1:
        return options[nth[0]]
    shares = sorted(((alike(content_words(one), content_words(plain)), one) for one in options), reverse=True)
    is_plain = shares and shares[0][0] > 0 and (len(shares) == 1 or shares[1][0] < shares[0][0])
    return shares[0][1] if is_plain else ""


def _of_question(timeline: Timeline, moment: Moment) -> Iterator[Choice]:
    """What the user answered to a tool that asks."""
    questions = moment.arguments.get("questions") if moment.arguments else None
    asked = [one for one in questions if isinstance(one, dict)] if isinstance(questions, list) else []
    line = moment.call.call.partition(" ")[2] if moment.call else ""
    found = _ANSWERS.findall(moment.result[:8000])
    if not found:
        found = [(line, answer) for answer in answers_in("", moment.result)]
    for question, answer in found:
        one = next((one for one in asked if str(one.get("question", "")).strip() == question.strip()), {})
        labels = one.get("options", [])
        options = tuple(
            str(each["label"]) for each in labels if isinstance(each, dict) and "label" in each
        ) if isinstance(labels, list) else ()  # fmt: skip
        goal = timeline.goal_of(moment.phase)
        yield Choice(f"{goal}\n\n{question}".strip(), options, answer)


_ANSWERS = late_pattern(r'"([^"\n]{1,300})"\s*=\s*"([^"\n]{1,300})"')


# --- what came of it ---------------------------------------------------------------------------------------------------


def _outcome(timeline: Timeline, found: _Found, command: str) -> str:
    """What the user, or the agent, said of it later, and which command passed; "" for nothing."""
    words = found.words | content_words(found.choice.rationale)
    parts = []
    for moment in timeline.moments[found.moment.at + 1 :]:
        if isinstance(moment.entry, Intervention) and content_words(moment.entry.words) & words:
            parts.append(f'The user said later: "{said(moment.entry.words)}"')
            break
    if command:
        parts.append(f"`{said(command)}` passed afterwards.")
    return " ".join(parts)
