"""Corrections: a human said that what the agent did, or was about to do, is to be otherwise.

Owns which words are one: those that came with a rejected call, and those that take something back, by what they or the agent's answer say.  Behind a
rejected call, and where the agent was stopped, also those that speak of what it was about to do, or lead it to do that otherwise.  The first
prompt, a question, an answer to the agent's own question, plain "go on" and what asks for something else are none.  A rejected call is one with the
words that are of it, without any where the agent then went another way; a call that nothing followed tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crucible.acts.words import is_chatter, is_conceded, is_correction, is_question, untagged
from crucible.cases.attempts import attempt_of, does_otherwise, is_again
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Correction
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after
from crucible.cases.wordlike import content_words
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
    stopped: Moment | None = None
    last: Moment | None = None
    earlier: tuple[str, int] | None = None
    """The goal before this one, and since when."""


class _Told(NamedTuple):
    """Where a correction stands.  What is before the moment `end` was done, what is after it, or after the moment `since`, is what followed."""

    moment: Moment
    end: int
    words: str
    rejected: str = ""
    since: int = 0


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
            walk.stopped = moment if moment.call else walk.stopped or walk.last or moment
        elif not _is_idle(moment):
            yield from _refused(timeline, walk)
            walk.stopped, walk.worked, walk.last = None, True, moment
    if _given(walk):
        yield from _refused(timeline, walk)


def _is_stop(moment: Moment) -> bool:
    if moment.outcome is Outcome.INTERRUPTED:
        return True
    return isinstance(moment.entry, Callout) and moment.entry.title.casefold().startswith("interrupted")


def _is_idle(moment: Moment) -> bool:
    """Whether nothing was done by the agent: a client's notice, a change of the agent."""
    return isinstance(moment.entry, Callout)


def _said(timeline: Timeline, walk: _Walk, moment: Moment, entry: Intervention) -> Iterator[Case]:
    words = untagged(entry.words)
    if walk.refused and _is_of_refused(timeline, walk, moment, words):
        yield from _refused(timeline, walk, moment)
    elif walk.worked and not walk.refused and _is_correcting(timeline, walk, moment, words):
        yield _case(timeline, walk, _Told(moment, moment.at, entry.words))
        walk.since = moment.at + 1
    else:
        goes_on = bool(walk.refused) and _goes_another_way(timeline, walk, moment, words)
        if goes_on or _given(walk):
            yield from _refused(timeline, walk, goes_on=moment if goes_on else None)
        if not is_chatter(words):
            walk.earlier = walk.goal, walk.since
            walk.goal, walk.since = words, moment.at
    walk.refused, walk.stopped = [], None
    walk.last = None


def _is_correcting(timeline: Timeline, walk: _Walk, moment: Moment, words: str) -> bool:
    """Whether words are a correction of what was done, or of what the agent was stopped at."""
    if is_taken_back(words, walk.last, _reply(timeline, moment.at)):
        return True
    if walk.stopped is None or is_chatter(words) or is_question(words) or not _is_otherwise(words):
        return False
    return _is_about([walk.stopped], words) or _is_done_otherwise(timeline, [walk.stopped], moment)


def is_taken_back(words: str, before: Moment | None, reply: str) -> bool:
    """Whether words correct the agent: `before` is what it did last, `reply` how it answers."""
    if is_chatter(words) or (before is not None and is_asking(before)):
        return False
    text = normal_line(words[:_READ]).casefold()
    if _DECLINES.match(text):
        return False
    if is_correction(words) or _TAKES_BACK.search(text):
        return True
    if is_question(words):
        return False
    return is_conceded(reply, words) or bool(_OWNS_UP.match(reply[:80].strip().casefold()))


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


def _given(walk: _Walk) -> str:
    """The words that the note says came with a rejected call."""
    return next((one.call.result for one in walk.refused if one.call and one.call.result.strip()), "")


def _is_of_refused(timeline: Timeline, walk: _Walk, moment: Moment, words: str) -> bool:
    """Whether words that follow rejected calls say what is wrong with them."""
    if _is_same(_given(walk), words) or is_taken_back(words, None, _reply(timeline, moment.at)):
        return True
    if is_chatter(words) or not _is_otherwise(words):
        return False
    if _is_about(walk.refused, words):
        return True
    return not _given(walk) and not is_question(words) and _is_done_otherwise(timeline, walk.refused, moment)


def _is_same(given: str, words: str) -> bool:
    """Whether words are those that came with a call, which a note may have cut."""
    cut, whole = normal_line(given), normal_line(words)
    return bool(cut) and (cut == whole or (cut.endswith("…") and whole.startswith(cut[:-1])))


def _words_of(given: str, said: str) -> str:
    """The words that came with a call and those that followed, each once."""
    return said if not given or _is_same(given, said) else f"{given}\n\n{said}"


def _goes_another_way(timeline: Timeline, walk: _Walk, moment: Moment, words: str) -> bool:
    """Whether the agent, sent on, did anything but to make the same call again; something else that it is asked to do is no such way."""
    if not is_chatter(words) and _is_otherwise(words):
        return False
    then = [one for one in _what_followed(timeline, moment.at) if not _is_idle(one)]
    made = next((one.call.call for one in then if one.call), "")
    return bool(then) and all(one.call is None or one.call.call != made for one in walk.refused)


def _refused(
    timeline: Timeline, walk: _Walk, said: Moment | None = None, goes_on: Moment | None = None
) -> Iterator[Case]:
    """The correction that rejected calls are: with the words `said` of them, else those that came with them.

    `goes_on` are other words, behind which the agent went on.
    """
    if not walk.refused:
        return
    first, last = walk.refused[0], walk.refused[-1]
    words = _given(walk)
    if said and isinstance(said.entry, Intervention):
        words = _words_of(words, said.entry.words)
    end = said.at if said else last.at
    line = first.call.call if first.call else ""
    yield _case(timeline, walk, _Told(first, end, words, line, goes_on.at if goes_on else end))
    walk.refused, walk.since = [], (goes_on.at if goes_on else end) + 1


def _is_about(stopped: Sequence[Moment], words: str) -> bool:
    """Whether words speak of what the agent was about to do: they point at it, ask for less of it, or say what its call names."""
    if _POINTS.match(normal_line(words[:_READ]).casefold()):
        return True
    told = content_words(" ".join(_told(one) for one in stopped))
    both = [word for word in content_words(words) & told if len(word) >= _LONG]
    return len(both) >= (1 if any(one.call for one in stopped) else _SEVERAL)


_LONG, _SEVERAL = 3, 2
"""Letters of a word that counts (`py` does not); how many of an agent's own words are needed, since it says much."""
_POINTS = late_pattern(
    r"(?:(?:please|bitte|but|and|because),? )*(?:(?:only|just|at most|nur|seulement|solo)\b|(?:that|this|it|those|these|they|das|es|ça|c)(?:['’]\w+| \w))"
)


def _told(moment: Moment) -> str:
    """What a moment says, without a tool's or a program's name."""
    if moment.call is None:
        return moment.entry.text if isinstance(moment.entry, Prose) else ""
    scripts = attempt_of(moment).commands
    return (
        " ".join(word for words in scripts for word in words[1:])
        if scripts
        else moment.call.call.partition(" ")[2]
    )


def _is_done_otherwise(timeline: Timeline, stopped: Sequence[Moment], said: Moment) -> bool:
    """Whether the first thing that the agent did then is what it was kept from, done in another way."""
    then = next((one for one in _what_followed(timeline, said.at) if one.call), None)
    if then is None or then.outcome is not Outcome.OK:
        return False
    kept = [attempt_of(one) for one in stopped if one.outcome in (Outcome.REJECTED, Outcome.INTERRUPTED)]
    way = attempt_of(then)
    return any(does_otherwise(way, one) and not is_again(way, one) for one in kept)


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
    then = _what_followed(timeline, max(end, told.since))
    body = Correction(goal, turns_of(did), words, turns_of(then), rejected)
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
