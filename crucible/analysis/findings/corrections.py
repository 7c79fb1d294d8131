"""Corrections: the user stops a call or the agent, refuses with a comment, or makes the agent admit a mistake.

Holds the tables of words for reading replies.  In a language that the tables lack, findings that depend on words are
lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from crucible.analysis.findings.observed_calls import ObservedCall
from crucible.analysis.findings.text_layout import first_line, is_question, plan_of, statements
from crucible.analysis.findings.turns import Pattern, TurnHistory, Utterance
from crucible.clients.events import PromptKind
from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word, long_words, overlap
from crucible.documents.recording.call_lines import shorten_paths
from crucible.documents.session.findings import SUMMARY, Kind, Source, plain
from crucible.documents.session.session import FindingItem

_TWO, _FEW = 2, 3
_PUNCTUATION = ".,:;!"

_YES = "yes y yeah yep yup ok okay sure please go do agreed correct right exactly  ja jawohl klar gerne bitte mach  oui vas  si sí  sim  да  はい  好 是"
_NO = frozenset(["no", "n", "nope", "nein", "non", "não", "нет", "いいえ", "不"])
_GO_AHEAD = _NO | frozenset(_YES.split())
"""First words of a reply that accept or reject an offer."""
_CONCEDES = late_pattern(
    r"\W*(?:(?:you(?:'|\u2019| a)re (?:absolutely |completely |totally )?right(?! to )|my mistake|I was wrong)"
    r"|du hast recht|sie haben recht|(?:tu as|vous avez) raison|tienes raz[o\u00f3]n|hai ragione|voc\u00ea tem raz\u00e3o|masz racj\u0119"
    r"|\u0442\u044b \u043f\u0440\u0430\u0432|\u0432\u044b \u043f\u0440\u0430\u0432\u044b|\u4f60\u8bf4\u5f97\u5bf9|\u304a\u3063\u3057\u3083\u308b\u901a\u308a)",
    re.IGNORECASE,
)
"""Phrases with which an agent begins its answer to a correction."""
_OFFER = late_pattern(
    r"(?:(?:(?:do|would) you )?(?:want|like) (?:me|us) to|(?:shall|should|can|may) (?:i|we)|soll(?:en)? (?:ich|wir))\s+",
    re.IGNORECASE,
)
"""Phrases with which an agent offers to do something."""
_BEFORE = r"(?:(?:\w{1,9}[,.!]|now|first|next|then|so)\s+)*"
_NARRATES = late_pattern(
    rf"{_BEFORE}(?:let(?:['\u2019]s| me| us)?\b|i(?:\b|['\u2019])|(?:we )?need to\b|ich\b|lass)",
    re.IGNORECASE,
)
"""Phrases in which an agent talks about itself, not about the code."""
_ANNOUNCES = late_pattern(
    rf"{_BEFORE}(?:let me|let['\u2019]s|i(?:['\u2019]ll| will| need to| should| have to|['\u2019]m going to)|(?:we )?need to)"
    r"\s+(?:(?:also|just|now)\s+)?",
    re.IGNORECASE,
)
_OR = late_pattern(r"(?i)(?<!and)[^\w](?:or|oder|ou|o|или|または|还是)\b")
_ALL = frozenset({"all", "both", "alle", "beide", "beides", "tous", "todos", "ambos"})
_WORD = late_pattern(r"\w+")
_RANGE = late_pattern(r"\b(\d{1,2})\s*(?:[-\u2013\u2026]|\.\.|to|bis|through)\s*(\d{1,2})\b")
_MARK = late_pattern(r"(?<![\w/.`(-])#?([A-H]|\d{1,2})(?![\w/`:]|[.-]\w)")
_ARTICLE = late_pattern(r"A\s+[a-z]")
_POINT = late_pattern(r"(?m)^[ \t]*\(?([A-Ha-h]|\d{1,2})[.):][ \t]*(.*)$")
_BEGINS, _ENDS = late_pattern(r"\s*(?:[^\w\s.]|\.(?!\s+[a-z])|\Z)"), late_pattern(r"(?:[^\w\s']|\A)\s*\Z")
_BETWEEN = 6
"""Maximum code points between two marks that are named together."""
SHORT, LONG = 60, 200
"""Maximum code points in a short reply, and in a reply that may name an option."""


def is_go_ahead(text: str) -> bool:
    """True if a reply begins with yes or no."""
    return _first(text) in _GO_AHEAD


def is_no(text: str) -> bool:
    """True if a reply begins with no."""
    return _first(text) in _NO


def _first(text: str) -> str:
    found = _WORD.search(text)
    return found[0].casefold() if found else ""


def beyond_yes(text: str) -> str:
    """Return the words of a reply, except those that accept or reject."""
    return " ".join(word for word in text.split() if word.strip(_PUNCTUATION).casefold() not in _GO_AHEAD)


def is_bare(text: str) -> bool:
    """True if a reply contains little more than yes or no."""
    return sum(len(word) > _FEW for word in _WORD.findall(beyond_yes(text))) < _TWO


def offered_in(question: str) -> str:
    """Return the offer in a question as a request: `Shall I add a test?` gives `Add a test`; "" without an offer."""
    return _request(_OFFER, question, " ?\uff1f")


def has_alternatives(question: str) -> bool:
    """True if a question names several things, so that answering yes is ambiguous."""
    return bool(_OR.search(question))


def narrates(sentence: str) -> bool:
    """True if a sentence is about the agent itself: `I see the failing tests now`."""
    return bool(_NARRATES.match(sentence))


def announced(sentence: str) -> str:
    """Return the next action that an agent announces, as a request; "" if there is none."""
    return _request(_ANNOUNCES, sentence, " .:")


def _request(before: re.Pattern[str], sentence: str, marks: str) -> str:
    found = before.match(sentence)
    what = sentence[found.end() :].rstrip(marks) if found else ""
    return what[:1].upper() + what[1:]


def concedes(text: str) -> bool:
    """True if an answer begins by admitting a mistake."""
    return bool(_CONCEDES.match(text))


def _expanded(found: re.Match[str]) -> str:
    """Return all numbers in a range such as `1-4`."""
    return ", ".join(str(number) for number in range(int(found[1]), int(found[2]) + 1)) or found[0]


def one_by_one(text: str) -> dict[str, str]:
    """Return a reply's words about each option, by mark, if it answers several; otherwise empty."""
    found = {mark.upper(): words.strip() for mark, words in _POINT.findall(text)}
    return found if len(found) > 1 else {}


def picked(text: str, marks: Collection[str]) -> list[str]:
    """Return the options (`A`, `2`) that a reply names first.  `A` before a word is an article.

    A reply that answers the options one by one picks none.
    """
    head = text.strip().partition("\n")[0][:LONG]
    if head.rstrip().endswith("?") or one_by_one(text):
        return []
    if len(head.strip(" .)")) == 1:
        head = head.upper()
    line, named, start, end = _RANGE.sub(_expanded, head), list[str](), 0, 0
    for found in _MARK.finditer(line):
        if found[1] not in marks or (found[1] == "A" and not found.start() and _ARTICLE.match(line)):
            continue
        if named and found.start() - end > _BETWEEN:
            break
        start, end = start if named else found.start(), found.end()
        named.append(found[1])
    is_apart = _ENDS.search(line[:start]) or _BEGINS.match(line, end)
    return list(dict.fromkeys(named)) if is_apart or len(line) <= SHORT else []


def takes_all(text: str, count: int) -> bool:
    """True if a short reply accepts all `count` offers."""
    words = {word.casefold() for word in _WORD.findall(text)}
    return (
        len(text) <= SHORT
        and not text.endswith("?")
        and bool(_ALL & words)
        and all(word == str(count) for word in words if word.isdecimal())
    )


REFUSED = Pattern("refusal with words", Source.REJECTION, 33, 37)
WORDLESS = Pattern("refusal, then a prompt", Source.REJECTION, 4, 5)
STOPPED = Pattern("interruption, then a prompt", Source.INTERRUPTION, 3, 4)
CONCEDED = Pattern("the agent concedes", Source.REPLY, 21, 23)

_THEN = 160
_MARKS = ".,:;!?'\"`()"
_SAME = 0.6
"""Minimum share of the previous prompt's words that the next prompt repeats if the user only rephrased it."""
_LONGEST = 400
"""Maximum code points in a prompt that explains a refusal.  A longer one, or one with many lines, is a new task."""


@dataclass(slots=True)
class _Found:
    pattern: Pattern
    words: str
    rows: list[str]
    what: str
    then: str = ""
    is_certain: bool = True
    """False for words that count as a correction only if the agent admits a mistake."""


class Corrections:
    """The corrections of one session."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._found: list[_Found] = []
        self._unanswered: list[_Found] = []
        self._stopped: tuple[Pattern, str, str] | None = None
        """The stopped call or turn, kept until the next prompt explains it."""

    def _add(self, pattern: Pattern, words: str, what: str, *rows: str, is_certain: bool = True) -> None:
        found = _Found(pattern, first_line(words, SUMMARY - 2), list(rows), what, is_certain=is_certain)
        self._unanswered.append(found)
        self._found.append(found)

    def refused(self, call: ObservedCall | None, words: str, row: str) -> None:
        """Record that the user refused a call, with or without a comment."""
        what = f"refused: {_shown(call, self._story.roots)}" if call else "refused"
        if is_question(words):
            self._add(CONCEDED, words, what, row, is_certain=False)
        elif words:
            self._add(REFUSED, words, what, row)
        elif call:
            self._stopped = (WORDLESS, what, row)

    def sent_back(self, plan: str, row: str) -> None:
        """Record a rejected plan that was not part of a call; the next prompt is the correction."""
        self._stopped = (REFUSED, f"refused: plan {plan_of(plan).title}", row)

    def interrupted(self, row: str) -> None:
        """Record that the user stopped the agent.  An interruption that is part of a refusal does not count again."""
        turn = self._story.now
        if self._stopped is None and (turn.worked or turn.first.text):
            doing = first_line(turn.last.text, _THEN) if turn.last.text else "a call"
            self._stopped = (STOPPED, f"interrupted: {doing}", row)

    def steered(self, text: str, row: str) -> None:
        """Record a message that the user sent while the agent was working."""
        if _is_short(text):
            self._add(CONCEDED, text, "said while it worked", row, is_certain=False)

    def prompted(self) -> None:
        """Take the prompt after a stop as the correction, unless it is a plan, is long, or repeats the stopped one."""
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
        """True if a prompt repeats the stopped one in the same or other words."""
        before = self._story.before.prompt.text
        return text == before or overlap(long_words(before), long_words(text), "first") >= _SAME

    def went_on(self) -> None:
        """Record that the agent continued without a new prompt, so the stop has no explanation."""
        self._stopped = None

    def replied(self, reply: Utterance) -> None:
        """Keep the agent's reaction, and drop words that turn out not to be a correction."""
        for found in self._unanswered:
            found.then = statements(reply.text, _THEN)
            found.rows.append(reply.row)
            found.is_certain |= concedes(reply.text)
        self._unanswered = []
        self._found = [found for found in self._found if found.is_certain]

    def noted(self) -> list[FindingItem]:
        """Return the corrections so far."""
        return [
            FindingItem(
                Kind.CORRECTION,
                f'"{found.words}"',
                _details(found) or None,
                found.pattern.on(*found.rows),
            )
            for found in self._found
            if found.is_certain
        ]


def _details(found: _Found) -> str:
    """Return the stopped call or turn, then the agent's reaction, as sentences."""
    if not found.what or not found.then:
        return found.what or found.then
    what = found.what.rstrip(" :")
    return f"{what}{'' if what.endswith(('.', '!', '?', '…')) else '.'} Then: {found.then}"


def _is_short(text: str) -> bool:
    return len(text) <= _LONGEST and text.count("\n") < 4


def _shown(call: ObservedCall, roots: tuple[str, ...]) -> str:
    """Return a call in a few words: the first line of a plan or command, with paths relative to the project."""
    line = call.summary.strip("# \n").partition("\n")[0]
    for root in roots:
        line = shorten_paths(line, root)
    return cut_at_word(plain(f"{call.tool} {line}"), _THEN)
