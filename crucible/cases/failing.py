"""Failures followed through a session: which calls and errors are tries at one cause, and what mended it, if anything did.

Owns that failures of one cause are one: the same command failing until it passes, also over phases, and an `[!error]` that tells of it.
What is made of one is `puzzles`'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from crucible.acts.model import Deed
from crucible.acts.needled import Needled
from crucible.cases.attempts import (
    Attempt,
    attempt_of,
    does_otherwise,
    is_again,
    is_same,
    mends,
    signature_of,
)
from crucible.cases.faults import fault_of, fault_told
from crucible.cases.model import Fault
from crucible.cases.red_first import is_first_red
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.wordlike import content_words
from crucible.patterns import late_pattern
from crucible.session.model import Failure, Intervention, Outcome, Prose, Subagent

__all__ = ["Trouble", "follow", "gives_up", "mend_by"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SOON = 8
"""Moments within which another command may do what the failed one was for."""
_FAR = 400
"""Moments of a parent that are looked through for what mended a subagent's failure."""
_MANY = 32
"""Failures that are waited for at a time: the last ones."""
_READ = 4000
_CHANGES = (Deed.EDIT, Deed.WRITE, Deed.DELETE)


@dataclass(slots=True)
class Trouble:
    """One cause: its tries, in order, the errors that tell of it, and where it was mended.

    `passed` is the moment that shows it, `changed` the last change that was made for it where nothing does.  `mender` is the timeline of
    both where that is another than the failure's own: a parent's.
    """

    first: Moment
    fault: Fault = Fault.AGENT
    tries: list[Attempt] = field(default_factory=list)
    told: list[Moment] = field(default_factory=list)
    signature: str = ""
    passed: Moment | None = None
    changed: Moment | None = None
    is_certain: bool = True
    mender: Timeline | None = None

    @property
    def last(self) -> Moment:
        """The last try, or the error where nothing was tried."""
        return self.tries[-1].moment if self.tries else self.first

    @property
    def resolution(self) -> str:
        """What an `[!error]` says mended it."""
        found = (one.entry.resolution for one in self.told if isinstance(one.entry, Failure))
        return next((words for words in found if words), "")

    @property
    def is_mended(self) -> bool:
        """Whether something did, or was said to."""
        return bool(self.passed or self.changed or self.resolution)


def follow(timeline: Timeline, known: Iterable[str] = ()) -> list[Trouble]:
    """All failures of a session by cause, in order; those of others' fault too.  `known` are messages that were told elsewhere."""
    follower = _Follower(timeline, [text.casefold() for text in known if text])
    for moment in timeline.moments:
        follower.see(moment)
    for trouble in follower.troubles:
        if not trouble.is_mended and trouble.tries:
            trouble.changed = _changed(timeline.walk(trouble.last.at + 1), trouble)
    return [one for one in follower.troubles if not _is_passed_over(one, timeline)]


class _Follower:
    def __init__(self, timeline: Timeline, known: Sequence[str]) -> None:
        self.troubles: list[Trouble] = []
        self._moments = timeline.moments
        self._known = known
        self._red: set[tuple[object, ...]] = set()
        self._open: list[Trouble] = []
        self._last_work = -1
        self._gone: list[tuple[int, str]] = []

    def see(self, moment: Moment) -> None:
        if isinstance(moment.entry, Failure):
            self._tell(moment)
        elif moment.call is not None and moment.outcome is Outcome.OK:
            self._pass(moment)
            self._gone += [(moment.at, act.what) for act in moment.acts if act.deed is Deed.DELETE]
        elif moment.call is not None and moment.outcome is not Outcome.PENDING:
            self._fail(moment)
        if moment.call is not None or isinstance(moment.entry, Subagent):
            self._last_work = moment.at

    def _fail(self, moment: Moment) -> None:
        attempt = attempt_of(moment)
        fault = fault_of(moment.result, moment.call, moment.outcome, attempt.script)
        if fault is None:
            return
        if attempt.key in self._red or is_first_red(self._moments, attempt):
            self._red.add(attempt.key)
            return
        signature = signature_of(moment.result)
        same = self._same(attempt, signature, fault)
        if same is None:
            same = Trouble(moment, fault, signature=signature)
            self.troubles.append(same)
            self._open = [*self._open[1 - _MANY :], same]
        same.tries.append(attempt)

    def _same(self, attempt: Attempt, signature: str, fault: Fault) -> Trouble | None:
        for one in reversed(self._open):
            if one.fault is not fault or not one.tries:
                continue
            if is_same(attempt, one.tries[-1]) or is_same(attempt, one.tries[0]):
                return one
            is_near = attempt.at - one.last.at <= _SOON
            if is_near and signature and signature == one.signature and _resembles(attempt, one.tries[-1]):
                return one
        return None

    def _pass(self, moment: Moment) -> None:
        if not self._open and not self._red:
            return
        attempt = attempt_of(moment)
        self._red.discard(attempt.key)
        left: list[Trouble] = []
        for one in self._open:
            if not one.tries:
                left.append(one)
            elif any(mends(attempt, tried) for tried in one.tries[-1:] + one.tries[:1]):
                if attempt.key in (one.tries[0].key, one.tries[-1].key) or not self._dodges(one):
                    self._mend(one, moment, is_again(attempt, one.tries[-1]))
                else:
                    left.append(one)
            elif (
                one.passed is None
                and moment.at - one.last.at <= _SOON
                and does_otherwise(attempt, one.tries[-1])
            ):
                one.passed, one.is_certain = moment, False
                left.append(one)
            else:
                left.append(one)
        self._open = left

    def _dodges(self, one: Trouble) -> bool:
        """Whether what failed was taken away since: that nothing fails then shows nothing."""
        return any(at > one.last.at and _is_of(what, one) for at, what in self._gone)

    def _mend(self, one: Trouble, moment: Moment, again: bool) -> None:
        """A call that passes when it is simply made again was a matter of chance."""
        if again and self._last_work <= one.last.at and not one.resolution:
            one.fault = Fault.TRANSIENT
        if one.passed is None or one.is_certain:
            one.passed = moment

    def _tell(self, moment: Moment) -> None:
        entry = moment.entry
        assert isinstance(entry, Failure)  # noqa: S101  # `see` knows
        text = entry.text.strip()
        for one in reversed(self.troubles[-_MANY:]):
            if (
                _tells_of(text, one)
                or _tells_soon(text, moment, one)
                or (one.last.at >= self._last_work and one in self._open and one.fault is Fault.AGENT)
            ):
                one.told.append(moment)
                return
        fault = fault_told(text)
        if any(_plain(text) in known for known in self._known):
            return
        trouble = Trouble(moment, fault, told=[moment], signature=signature_of(text))
        self.troubles.append(trouble)
        self._open = [*self._open[1 - _MANY :], trouble]


# --- what belongs together -------------------------------------------------------------------------------------------


def _resembles(one: Attempt, other: Attempt) -> bool:
    """Whether two failed calls are of one program or tool."""
    if one.commands and other.commands:
        return one.commands[0][0] == other.commands[0][0]
    return one.key[:2] == other.key[:2]


_WORD = late_pattern(r"\w+")
_COMMON = _words(
    "the a an and or is are was of to in it for on with at by not no that this i we could my as be fails failed fail error mend mended"
)
_SHORT = 12


def _tells_of(text: str, trouble: Trouble) -> bool:
    """Whether an error's words are of this failure: they quote its message or its command, or say mostly the same."""
    told = _plain(text)
    if not trouble.tries:
        return told == _plain(trouble.first.entry.text) if isinstance(trouble.first.entry, Failure) else False
    for tried in (trouble.tries[0], trouble.tries[-1]):
        message = _plain(tried.moment.result[:_READ] + tried.moment.result[_READ:][-_READ:])
        line = _plain(tried.script or (tried.moment.call.call if tried.moment.call else ""))
        if len(told) >= _SHORT and told in message:
            return True
        if any(len(part) >= _SHORT and part in told for part in (line[:60].strip(), trouble.signature[:80])):
            return True
        if _shared(told, f"{message[-2000:]} {line}"):
            return True
    return False


_GENERIC = _words(
    "error errors fatal failed failure module named missing cannot could found files lines tests exception traceback object value values undefined expected unexpected "
    "invalid python import imports after before there which because their should would still other first build check about again command"
)


def _tells_soon(text: str, moment: Moment, one: Trouble) -> bool:
    """Whether an error soon behind a failure, of which none has told yet, tells it: it says what mended it right behind what passed, or shares a name with its message, or two words that are no program's usual ones."""
    since = moment.at - (one.passed or one.last).at
    if one.told or not one.tries or since > _SOON or one.last.phase != moment.phase:
        return False
    is_behind = one.passed and since == 1 and isinstance(moment.entry, Failure) and moment.entry.resolution
    if is_behind and content_words(text) & content_words(f"{one.signature} {one.tries[-1].script}"):
        return True
    asked = {word for tried in one.tries for word in _WORD.findall(tried.script.casefold())}
    message = set(_WORD.findall(one.signature)) - _GENERIC - asked
    words = {word for word in _WORD.findall(text) if len(word) >= 4 and word.casefold() in message}
    names = [
        word for word in words
        if word[1:] != word[1:].lower() or any(not letter.isalpha() for letter in word)
    ]  # fmt: skip
    plain = {word.casefold() for word in words if len(word) > 4}
    return any(not name.casefold().endswith(("error", "exception")) for name in names) or len(plain) > 1


def _shared(told: str, other: str) -> bool:
    """Whether nearly all words that mean something are said there."""
    words = {word for word in _WORD.findall(told) if word not in _COMMON and len(word) > 1}
    there = set(_WORD.findall(other))
    return len(words) >= 3 and len(words & there) * 4 >= 3 * len(words)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


# --- mended without a proof ------------------------------------------------------------------------------------------

_GIVES_UP = Needled(
    late_pattern(
        r"\b(?:could|can|did|do|does)(?: not|n['’]t) (?:find|solve|fix|mend|see|know|tell|reproduce|work out|figure|explain)\b|\bno idea\b|\b(?:leave|leaving|left) (?:it|this|that)\b"
        r"|\b(?:remains?|stays?|still) (?:open|broken|failing|unsolved|unresolved|as it is)\b|\bgiv(?:e|ing) up\b|\bunresolved\b|\bskip(?:ping)? (?:it|this|that)\b|\bdon['’]t know why\b"
        r"|\bsomebody (?:else )?(?:who|should)\b|\bshall i\b|\bfor (?:another day|a follow-up)\b|\bnot work yet\b",
        re.IGNORECASE,
    ),
    "not",
    "n't",
    "n’t",
    "no idea",
    "leav",
    "left",
    "remain",
    "stay",
    "still",
    "giv",
    "unresolved",
    "skip",
    "somebody",
    "shall",
    "another day",
    "follow-up",
)
_CLAIMS = late_pattern(
    r"\W*(?:(?:all|that['’]?s?|it['’]?s?|this|everything|now|and|is|are) ){0,3}(?:done|corrected|fixed|changed|updated|finished|mended|adjusted|applied|renamed|moved|added|removed|settled|complete)\b",
    re.IGNORECASE,
)
_TROUBLED = late_pattern(
    r"\b(?:fail\w*|error\w*|broke\w*|wrong|unknown|not|problem|again|instead|because|cause\w*|did ?n.t)\b",
    re.IGNORECASE,
)


def gives_up(text: str) -> bool:
    """Whether an agent says that it leaves something as it is, for now or for good."""
    return bool(_GIVES_UP.search(text))


def _is_of(path: str, trouble: Trouble) -> bool:
    """Whether a file is what a failed command was asked to look at, such as its test."""
    return bool(path) and any(path in tried.script for tried in (trouble.tries[0], trouble.tries[-1]))


def _changed(moments: Iterable[Moment], trouble: Trouble) -> Moment | None:
    """The last of the changes that were made right after a failure, before anything else was begun; None when the agent gave up.

    Who takes away what failed has mended nothing.
    """
    changed: Moment | None = None
    for moment in moments:
        if isinstance(moment.entry, Intervention | Failure) or (
            moment.call and moment.outcome is not Outcome.OK
        ):
            break
        if isinstance(moment.entry, Prose):
            if gives_up(moment.entry.text):
                break
            if changed:
                return changed
        deeds = {act.deed for act in moment.acts}
        if any(act.deed is Deed.DELETE and _is_of(act.what, trouble) for act in moment.acts):
            break
        if deeds & {*_CHANGES}:
            changed = moment
        elif deeds - {Deed.READ, Deed.SEARCH, Deed.PLAN, Deed.FETCH}:
            break
    return changed


def _is_passed_over(trouble: Trouble, timeline: Timeline) -> bool:
    """Whether an agent took no notice that a change failed: it said right away that it is done, and never came back to it.

    There is nobody who was puzzled, then, and what is said would teach that it went well.
    """
    if trouble.is_mended or len(trouble.tries) != 1 or trouble.told:
        return False
    acts = trouble.last.acts
    after = next((one.entry for one in timeline.walk(trouble.last.at + 1)), None)
    if not acts or any(act.deed not in _CHANGES for act in acts) or not isinstance(after, Prose):
        return False
    return bool(_CLAIMS.match(after.text)) and not _TROUBLED.search(after.text)


# --- mended by somebody else -----------------------------------------------------------------------------------------


def mend_by(trouble: Trouble, parent: Timeline, since: int) -> None:
    """Look for what mended a subagent's failure in what its parent did from the moment `since` on."""
    changed: Moment | None = None
    speaks = fails = False
    for moment in parent.walk(since, since + _FAR):
        if isinstance(moment.entry, Prose):
            speaks = speaks or _shares_subject(moment.entry.text, trouble, by_name=fails)
        fails = fails or moment.outcome is Outcome.FAILED
        if moment.call is None or moment.outcome is not Outcome.OK:
            continue
        attempt = attempt_of(moment)
        is_otherwise = speaks and moment.at - since <= _SOON and does_otherwise(attempt, trouble.tries[-1])
        if mends(attempt, trouble.tries[-1]) or is_otherwise:
            trouble.passed, trouble.mender = moment, parent
            return
        if speaks and changed is None and any(act.deed in _CHANGES for act in moment.acts):
            changed = moment
    if changed is not None:
        trouble.changed, trouble.mender = changed, parent


_FAILS = late_pattern(r"\b(?:fail\w*|error\w*|broke\w*|broken|red|crash\w*|exception)\b", re.IGNORECASE)


def _shares_subject(text: str, trouble: Trouble, *, by_name: bool) -> bool:
    """Whether a parent speaks of a failure; once something of its own has failed, only its message shows that."""
    if not by_name and _FAILS.search(text):
        return True
    return bool(trouble.signature and trouble.signature[:60] in text.casefold())


def children_told(troubles: Iterable[Trouble]) -> Iterator[str]:
    """The messages of failures, for those who only tell of them."""
    for one in troubles:
        yield _plain(one.first.result[:_READ])
