"""Corrections: the user stops a call or the agent, and says what to do instead.

These are refusals with a comment, refusals and interruptions that the next prompt explains, and words after which the agent
admits a mistake.  A prompt that only sounds like a correction does not count.
"""

from __future__ import annotations

from dataclasses import dataclass

from crucible.analysis.findings.observed_calls import ObservedCall
from crucible.analysis.findings.replies import concedes
from crucible.analysis.findings.text_layout import first_line, is_question, plan_of, statements
from crucible.analysis.findings.turns import Pattern, TurnHistory, Utterance
from crucible.clients.events import PromptKind
from crucible.core.text.sentences import cut_at_word
from crucible.core.text.words import long_words, overlap
from crucible.documents.recording.call_lines import relative
from crucible.documents.session.findings import Kind, Source
from crucible.documents.session.plain_text import SUMMARY, plain
from crucible.documents.session.session import Noted

REFUSED = Pattern("refusal with words", Source.REJECTION, 33, 37)
WORDLESS = Pattern("refusal, then a prompt", Source.REJECTION, 4, 5)
STOPPED = Pattern("interruption, then a prompt", Source.INTERRUPTION, 3, 4)
CONCEDED = Pattern("the agent concedes", Source.REPLY, 21, 23)

_THEN = 160
_MARKS = ".,:;!?'\"`()"
_SAME = 0.6
"""The share of a prompt's words that the next one repeats if the user only rephrased it."""
_LONGEST = 400
"""Maximum code points of a prompt that explains a refusal; a longer one, or one of many lines, is a new task."""


@dataclass(slots=True)
class _Found:
    pattern: Pattern
    words: str
    rows: list[str]
    what: str
    then: str = ""
    is_certain: bool = True
    """False for words that are a correction only if the agent admits a mistake."""


class Corrections:
    """Corrections of one session."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._found: list[_Found] = []
        self._unanswered: list[_Found] = []
        self._stopped: tuple[Pattern, str, str] | None = None
        """What was stopped, until the next prompt explains it."""

    def _add(self, pattern: Pattern, words: str, what: str, *rows: str, is_certain: bool = True) -> None:
        found = _Found(pattern, first_line(words, SUMMARY - 2), list(rows), what, is_certain=is_certain)
        self._unanswered.append(found)
        self._found.append(found)

    def refused(self, call: ObservedCall | None, words: str, row: str) -> None:
        """The user refused a call, with or without a comment."""
        what = f"refused: {_shown(call, self._story.roots)}" if call else "refused"
        if is_question(words):
            self._add(CONCEDED, words, what, row, is_certain=False)
        elif words:
            self._add(REFUSED, words, what, row)
        elif call:
            self._stopped = (WORDLESS, what, row)

    def sent_back(self, plan: str, row: str) -> None:
        """The next prompt sends a plan back that no call handed over."""
        self._stopped = (REFUSED, f"refused: plan {plan_of(plan).title}", row)

    def interrupted(self, row: str) -> None:
        """The user stopped the agent; an interruption that belongs to a refusal does not count twice."""
        turn = self._story.now
        if self._stopped is None and (turn.worked or turn.first.text):
            doing = first_line(turn.last.text, _THEN) if turn.last.text else "a call"
            self._stopped = (STOPPED, f"interrupted: {doing}", row)

    def steered(self, text: str, row: str) -> None:
        """The user said something while the agent worked."""
        if _is_short(text):
            self._add(CONCEDED, text, "said while it worked", row, is_certain=False)

    def prompted(self) -> None:
        """Take the prompt after a stop as the correction, unless it is a plan, a long text, or the stopped prompt again."""
        turn, stopped = self._story.now, self._stopped
        self._stopped, self._unanswered = None, []
        text, row = turn.prompt.text, turn.prompt.row
        if turn.kind is not PromptKind.TYPED or not _is_short(text):
            return
        if stopped and not is_question(text) and not self._is_rephrased(text):
            pattern, what, at = stopped
            named = {word.strip(_MARKS) for word in what.casefold().replace("_", " ").split()}
            is_certain = pattern is REFUSED or bool(long_words(text) & named)
            self._add(pattern, text, what, at, row, is_certain=is_certain)
        elif self._story.edited:
            self._add(CONCEDED, text, "", row, is_certain=False)

    def _is_rephrased(self, text: str) -> bool:
        """True if a prompt says the stopped one again."""
        before = self._story.before.prompt.text
        return text == before or overlap(long_words(before), long_words(text), "first") >= _SAME

    def went_on(self) -> None:
        """The agent continues: without a new prompt the stop stays unexplained."""
        self._stopped = None

    def replied(self, reply: Utterance) -> None:
        """The agent's reaction."""
        for found in self._unanswered:
            found.then = statements(reply.text, _THEN)
            found.rows.append(reply.row)
            found.is_certain |= concedes(reply.text)
        self._unanswered = []
        self._found = [found for found in self._found if found.is_certain]

    def noted(self) -> list[Noted]:
        """The corrections so far."""
        return [
            Noted(
                Kind.CORRECTION,
                f'"{found.words}"',
                _details(found) or None,
                found.pattern.on(*found.rows),
            )
            for found in self._found
            if found.is_certain
        ]


def _details(found: _Found) -> str:
    """What was stopped, then the agent's reaction; each ends like a sentence."""
    if not found.what or not found.then:
        return found.what or found.then
    what = found.what.rstrip(" :")
    return f"{what}{'' if what.endswith(('.', '!', '?', '…')) else '.'} Then: {found.then}"


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST and text.count("\n") < 4


def _shown(call: ObservedCall, roots: tuple[str, ...]) -> str:
    """A call in a few words: a plan or a command by its first line, paths relative to the project."""
    told = call.told.strip("# \n").partition("\n")[0]
    for root in roots:
        told = relative(told, root)
    return cut_at_word(plain(f"{call.tool} {told}"), _THEN)
