"""Corrections: a human said that what the agent did, or was about to do, is to be otherwise.

Owns which words are one: with a rejected call, after the agent was stopped, or by what they or the agent's answer say.  The first prompt, a
question, an answer to the agent's own question and plain "go on" are none.  A rejected call and the words that follow it are one correction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from crucible.acts.words import is_chatter, is_conceded, is_correction, is_question, untagged
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Correction
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after
from crucible.note.contain import normal_line
from crucible.patterns import late_pattern
from crucible.session.model import Callout, Intervention, Outcome, Prose

__all__ = ["find_corrections", "is_asking", "is_taken_back"]

_DID, _THEN = 16, 40
"""Moments that are told of before and after."""
_ASKS = frozenset({"askuserquestion", "question", "ask_user", "request_user_input"})


@dataclass
class _Walk:
    """What is known so far.  `refused` are rejected calls, or the notice that the user stopped the agent, that nothing was done after."""

    goal: str
    since: int = 0
    worked: bool = False
    refused: list[Moment] = field(default_factory=list)
    stopped: bool = False
    last: Moment | None = None
    earlier: tuple[str, int] | None = None
    """The goal before this one, and since when."""


class _Told(NamedTuple):
    """Where a correction stands.  What is before the moment `end` was done, what is after it is what followed."""

    moment: Moment
    end: int
    words: str
    rejected: str = ""


def find_corrections(timeline: Timeline) -> Iterator[Case]:
    """The corrections of a session, in the order of its note."""
    moments = timeline.moments
    walk = _Walk(timeline.goal_of(moments[0].phase) if moments else "")
    for moment in moments:
        if isinstance(moment.entry, Intervention):
            yield from _said(timeline, walk, moment, moment.entry)
        elif moment.outcome is Outcome.REJECTED:
            if moment.name.casefold() not in _ASKS:
                walk.refused.append(moment)
            walk.worked = True
        elif _is_stop(moment):
            walk.stopped = True
        elif not _is_idle(moment):
            yield from _refused(timeline, walk, None)
            walk.stopped, walk.worked, walk.last = False, True, moment
    yield from _refused(timeline, walk, None)


def _is_stop(moment: Moment) -> bool:
    if moment.outcome is Outcome.INTERRUPTED:
        return True
    return isinstance(moment.entry, Callout) and moment.entry.title.casefold().startswith("interrupted")


def _is_idle(moment: Moment) -> bool:
    """Whether nothing was done by the agent: a client's notice, a change of the agent."""
    return isinstance(moment.entry, Callout)


def _said(timeline: Timeline, walk: _Walk, moment: Moment, entry: Intervention) -> Iterator[Case]:
    words = untagged(entry.words)
    if walk.refused:
        if is_chatter(words) and not _is_told(walk, words):
            yield from _refused(timeline, walk, None)
        else:
            yield from _refused(timeline, walk, moment)
        walk.since = moment.at + 1
    elif walk.worked and is_taken_back(words, walk.last, _reply(timeline, moment.at), stopped=walk.stopped):
        yield _case(timeline, walk, _Told(moment, moment.at, entry.words))
        walk.since = moment.at + 1
    elif not is_chatter(words):
        walk.earlier = walk.goal, walk.since
        walk.goal, walk.since = words, moment.at
    walk.refused, walk.stopped = [], False
    walk.last = None


def is_taken_back(words: str, before: Moment | None, reply: str, *, stopped: bool = False) -> bool:
    """Whether words correct the agent: `before` is what it did last, `reply` how it answers, `stopped` whether it was stopped."""
    if is_chatter(words) or (before is not None and is_asking(before)):
        return False
    text = normal_line(words[:_READ]).casefold()
    if _DECLINES.match(text):
        return False
    if is_correction(words) or _TAKES_BACK.search(text):
        return True
    if is_question(words):
        return False
    is_owned = is_conceded(reply, words) or bool(_OWNS_UP.match(reply[:80].strip().casefold()))
    return is_owned or (stopped and _is_otherwise(words))


_READ = 2000
_DECLINES = late_pattern(
    r"(?:no|nein|nee|nö|non),? (?:danke|merci|gracias|passt|alles gut|kein problem|keine (?:fragen|eile))\b"
)
_TAKES_BACK = late_pattern(
    r"\b(?:can|could|would|will) you\b[^.!?]*\brather than\b"
    r"|^not an? (?!problem|big|bad|issue|bug|blocker|must|priority|fan|concern)\w"
    r"|^(?:nee|nö|non|falsch|stopp|halt)\b|\bdas (?:ist|war|stimmt) (?:so )?(?:falsch|nicht(?: (?:richtig|was|so|das)\b|[,.!]|$))"
    r"|\b(?:kein(?:e[nrs]?)?|nicht)\b[^.!?]{1,80}, sondern\b|^(?:bitte )?nicht (?:so|mit|in|als|auf|das|die|den|der)\b"
    r"|\brückgängig\b|^(?:bitte )?(?:nimm|mach|verwende|benutze?|nutze?|schreib|setz|leg)\w*\b[^.!?]{1,120}\bstatt\b"
    r"|^ich (?:wollte|meinte|sagte|hatte (?:doch )?gesagt|habe? (?:doch )?gesagt)\b|^pas (?:une?|comme|ça|cela)\b"
)
"""What takes something back in words that `is_correction` does not know: courteous, curt, or German and a little French."""
_OWNS_UP = late_pattern(
    r"(?:oh|ja|ah|oui)?[,.! ]*(?:du hast recht|sie haben recht|stimmt\b|entschuldig|tut mir leid|mein fehler|verzeihung|(?:tu as|vous avez) raison|désolée?\b)"
)


_GOES_ON = ("continue", "go on", "carry on", "proceed", "keep going", "resume", "go ahead", "wrong window", "by accident", "accidentally", "mistake", "my bad")  # fmt: skip


def _is_otherwise(words: str) -> bool:
    """Whether words to an agent that was stopped do more than to send it on."""
    text = words.casefold()
    return not any(one in text for one in _GOES_ON)


def is_asking(moment: Moment) -> bool:
    """Whether the agent's own words end with a question, so that what the user says next is an answer."""
    return isinstance(moment.entry, Prose) and moment.entry.text.rstrip(" \n*_)\"'").endswith(("?", "？"))


def _reply(timeline: Timeline, at: int) -> str:
    """What the agent says next, before it does anything."""
    after = timeline.moments[at + 1 : at + 2]
    return after[0].entry.text if after and isinstance(after[0].entry, Prose) else ""


# --- rejected calls --------------------------------------------------------------------------------------------------


def _is_told(walk: _Walk, words: str) -> bool:
    """Whether the note says that these words came with the call."""
    return any(normal_line(one.call.result) == normal_line(words) for one in walk.refused if one.call)


def _refused(timeline: Timeline, walk: _Walk, said: Moment | None) -> Iterator[Case]:
    """The correction that rejected calls are, with the words that came with them or after."""
    if not walk.refused:
        return
    first, last = walk.refused[0], walk.refused[-1]
    with_it = next((one.call.result for one in walk.refused if one.call and one.call.result.strip()), "")
    words = said.entry.words if said and isinstance(said.entry, Intervention) else with_it
    end = said.at if said else last.at
    line = first.call.call if first.call else ""
    yield _case(timeline, walk, _Told(first, end, words, line))
    walk.refused, walk.since = [], end + 1


def _case(timeline: Timeline, walk: _Walk, told: _Told) -> Case:
    end, words, rejected = told.end, told.words, told.rejected
    moments = timeline.moments
    until = end if isinstance(moments[end].entry, Intervention) else end + 1
    goal, since = walk.goal, walk.since
    if walk.earlier and not any(one.call for one in moments[since:until]):
        goal, since = walk.earlier  # since then it only spoke: what is taken back was done before
    did = moments[max(since, until - _DID) : until]
    if did and isinstance(did[0].entry, Intervention):
        did = did[1:]
    body = Correction(goal, turns_of(did), words, turns_of(_what_followed(timeline, end)), rejected)
    anchor = f"{words}\n{rejected}" if rejected else words
    found = verification_after(timeline, end)
    return make_case(timeline, CaseType.CORRECTION, told.moment, body, anchor, verification=found)


def _what_followed(timeline: Timeline, end: int) -> list[Moment]:
    """What the agent did then, up to the next words of the user, to the next rejected call, or the end of the phase."""
    top = timeline.moments[end].phase.partition(".")[0]
    then: list[Moment] = []
    for moment in timeline.moments[end + 1 : end + 1 + _THEN]:
        is_other = moment.phase.partition(".")[0] != top
        if is_other or isinstance(moment.entry, Intervention) or moment.outcome is Outcome.REJECTED:
            break
        then.append(moment)
    return then
