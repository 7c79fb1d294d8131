"""Failures with resolutions: something failed, its cause was found, and it was mended.

Owns that one cause is one failure: the same command failing until it passes, also over phases, with the `[!error]` that tells of it; and what shows
that it was mended: a change after which the same command passes, another command of the same program, what an `[!error]` says, or a change
that the cause was told for.  That the same again went well, with nothing changed, is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from crucible.capture.causes import RED_FIRST, ROUTINE, UNKNOWN, cause_in
from crucible.capture.never import is_chance, is_of_environment
from crucible.capture.sentences import Sentence, content_words
from crucible.capture.steps import Step, commands_of
from crucible.capture.tries import (
    LOOKS,
    RUNNERS,
    TRIMS,
    USAGE,
    alike,
    is_answer,
    key_of,
    may_mend,
    plain_words_of,
)
from crucible.patterns import late_pattern
from crucible.session.model import Failure, Outcome, Prose

__all__ = ["Mended", "mended_in"]

_SOON = 8
"""Steps within which another command may do what the failed one was for."""
_FAR = 200
"""Steps behind a failure within which its cause is told."""
_MANY = 32
"""Failures that are waited for at a time: the last ones."""


@dataclass(slots=True)
class Mended:
    """One cause: its first and last try, the words and the error that tell why, what mended it, and whether that is certain.

    `passed` is the step that shows it, if any did.
    """

    first: Step
    key: tuple[object, ...] = ()
    last: Step | None = None
    cause: str = ""
    told: Failure | None = None
    passed: Step | None = None
    is_certain: bool = True
    is_void: bool = False
    is_luck: bool = False
    """Whether it was said to be of chance, or of the machine."""
    changed: Step | None = None
    cause_at: int = -99
    resolution: str = ""
    words: list[str] = field(default_factory=list)
    known: frozenset[str] = frozenset()
    """What a telling of its cause may speak of: the words of the message and the command."""

    @property
    def message(self) -> str:
        """What went wrong, in one line."""
        text = self.first.result if self.first.call else (self.told.text if self.told else "")
        lines = [line.strip() for line in text[-4000:].split("\n") if line.strip()]
        return next((line for line in lines if _TELLS.search(line[:300])), lines[0] if lines else "")[:300]


_IS_RED = late_pattern(
    r"\b(?:red|fail|fails|failing|rot|rouge|scheitert|scheitern|fehlschl\w+|échou\w+|échec)\b"
)
_ONCE_MORE = late_pattern(
    r"\b(?:fix\w*|again|still|if|whether|why|solved|repaired|should be|now works|behoben|noch|ob|warum|encore|si|pourquoi|corrigé)\b|\?"
)
_NOT_YET = late_pattern(
    r"(?i)not (?:there|implemented|written|done|built|supported|available|existing) ?(?:yet|so far)|not (?:yet )?implemented|notimplemented|unimplemented|\btodo!|\bto be implemented|missing implementation|noch nicht (?:da|vorhanden|umgesetzt)|pas encore (?:là|implémenté)"
)
_NOT_THERE = late_pattern(r"(?i)no such file|not found|does not exist|cannot access|is a directory")
_ALIKE = late_pattern(r"[\d.]+$|[-_](?:ng|next|cli|v)$|^\./|^.*/")
"""What a program's name has besides: `python3` is `python`."""
_SAME = 0.6
"""The share of a failed command's words that another program's must have to do the same."""
_TELLS = late_pattern(
    r"(?i:error|exception|fail|fatal|panic|cannot|can't|denied|no such|refused|undefined|missing|invalid|expected|unknown|not found|❌)"
)


def mended_in(steps: Sequence[Step], said: dict[int, list[Sentence]]) -> list[Mended]:
    """The failures of a session that were mended, by cause, in order; `said` are the sentences of the steps that are prose."""
    walk = _Walk(steps, said)
    for step in steps:
        walk.see(step)
    return [one for one in walk.found if _is_kept(one)]


def _is_kept(one: Mended) -> bool:
    if one.is_void:
        return False
    is_told = one.told is not None and not one.resolution
    if not (one.passed or one.resolution or (one.changed and one.cause and not is_told)):
        return False
    told = f"{one.told.text if one.told else ''}\n{one.resolution}\n{one.cause}"
    message = one.first.result if one.first.call else ""
    if one.is_luck and not one.cause and not one.resolution:
        return False
    if not one.cause and not one.resolution and _NOT_YET.search(message[-2000:]):
        return False  # a test that was there before its code
    return not (
        is_of_environment(message[-3000:]) or is_of_environment(told) or _is_chance(one, message, told)
    )


def _is_chance(one: Mended, message: str, told: str) -> bool:
    return is_chance(told) or (is_chance(message[-3000:]) and not (one.cause and one.passed and one.changed))


class _Walk:
    def __init__(self, steps: Sequence[Step], said: dict[int, list[Sentence]]) -> None:
        self.steps, self.said = steps, said
        self.found: list[Mended] = []
        self.open: list[Mended] = []
        self.changed = -1

    def see(self, step: Step) -> None:
        if isinstance(step.entry, Failure):
            self._tell(step, step.entry)
        elif isinstance(step.entry, Prose):
            self._say(step)
        elif step.outcome is Outcome.FAILED:
            self._fail(step)
        elif step.outcome is Outcome.OK:
            self._pass(step)

    def _fail(self, step: Step) -> None:
        key = key_of(step)
        if is_answer(step):
            return
        same = next((one for one in reversed(self.open) if one.key == key), None)
        if same is not None:
            same.last, same.cause, same.changed = step, "", None  # what was taken for the cause was none
            same.words.clear()
            return
        known = content_words(f"{step.result[-2000:]} {step.script[:500]}")
        one = Mended(step, key, step, known=known)
        one.is_void = self._is_red_first(step)
        self.found.append(one)
        self.open = [*self.open[1 - _MANY :], one]

    def _is_red_first(self, step: Step) -> bool:
        before = self.said.get(step.at - 1, [])[-3:]
        if any(RED_FIRST.search(one.plain) for one in before):
            return True
        return (
            bool(before)
            and _IS_RED.search(before[-1].plain) is not None
            and not _ONCE_MORE.search(before[-1].plain)
        )

    def _say(self, step: Step) -> None:
        """Words behind a failure may tell its cause."""
        if not self.open:
            return
        sentences = self.said.get(step.at, [])
        one = self.open[-1]
        at = (one.last or one.first).at
        if step.at - at == 1 and any(RED_FIRST.search(each.plain) for each in sentences[:3]):
            one.is_void = True
        if step.at - at <= _SOON and any(UNKNOWN.stands_in(each.plain) for each in sentences):
            if step.at - at <= 2:
                one.words.clear()
                self._forget(one)
            return
        if step.at - at > _FAR:
            return
        if step.at - at <= 2 and any(
            is_chance(each.plain) or is_of_environment(each.plain) for each in sentences
        ):
            one.is_luck = True
        one.words += [
            each.text for each in sentences if len(each.plain) >= 25 and not ROUTINE.match(each.plain)
        ]
        for each in self.open[-3:]:
            if cause := cause_in(sentences, each.known, step.at - (each.last or each.first).at):
                each.cause, each.cause_at = cause, step.at

    def _forget(self, one: Mended) -> None:
        """Nobody knows why: only the same command passing later shows that it was mended."""
        one.cause, one.changed = "", None

    def _tell(self, step: Step, entry: Failure) -> None:
        one = next((each for each in reversed(self.open) if self._is_of(each, step, entry)), None)
        one = one or next((each for each in self.found[-2:] if self._is_behind(each, step, entry)), None)
        if one is None:
            if entry.resolution:
                self.found.append(
                    Mended(step, ("told",), told=entry, resolution=entry.resolution, cause=entry.text)
                )
            return
        one.told = entry
        if entry.resolution:
            one.resolution = one.cause = entry.resolution

    def _is_of(self, one: Mended, step: Step, entry: Failure) -> bool:
        if one.told is not None:
            return False
        words = plain_words_of(entry.text)
        shared = len(words & plain_words_of(one.first.result[-3000:])) / max(1, len(words))
        distance = step.at - (one.last or one.first).at
        return (distance <= 2 and shared > 0) or (distance <= 12 and shared >= 0.5)

    def _is_behind(self, one: Mended, step: Step, entry: Failure) -> bool:
        """Whether an error is told of what was mended just now."""
        return (
            one.passed is not None
            and one.told is None
            and step.at - one.passed.at <= 2
            and bool(entry.resolution)
        )

    def _pass(self, step: Step) -> None:
        if step.changes:
            self.changed = step.at
            for one in self.open[-3:]:
                if (
                    one.changed is None
                    and step.at - one.cause_at == 1
                    and one.cause_at - (one.last or one.first).at <= 2
                ):
                    one.changed = step
        if not step.script:
            return
        key = key_of(step)
        for one in list(self.open):
            if one.key == key:
                self.open.remove(one)
                self._mend(one, step)
            elif self._does_otherwise(one, step):
                one.passed, one.is_certain = step, bool(one.cause)
                self.open.remove(one)

    def _mend(self, one: Mended, step: Step) -> None:
        """The same command passes: by a change since it last failed, else by chance."""
        last = (one.last or one.first).at
        since = [each for each in self.steps[last + 1 : step.at] if may_mend(each)]
        if since:
            one.passed, one.changed = step, one.changed or since[-1]
        else:
            one.is_void = True

    def _does_otherwise(self, one: Mended, step: Step) -> bool:
        """Whether another command of the same program does what the failed one was for, after its cause was told."""
        last = one.last or one.first
        if not last.script or step.at - last.at > _SOON or not (one.cause or one.words) or one.is_void:
            return False
        failed, passed = commands_of(last.script), commands_of(step.script)
        if not failed or not passed:
            return False
        first = next((words for words in failed if words[0] not in TRIMS), failed[0])
        later = next((words for words in passed if words[0] == first[0]), None)
        if later is None:
            return self._does_by_another(one, first, passed)
        if (
            first[0] in LOOKS
            and one.told is None
            and not ((one.cause or one.words) and not _NOT_THERE.search(last.result[-2000:]))
        ):
            return False
        if first[0] in RUNNERS and first[1:2] != later[1:2] and not USAGE.search(last.result[-2000:]):
            return False  # another task
        is_meant = alike(" ".join(first), " ".join(later)) >= (0.3 if one.cause else 0.6)
        one.cause = one.cause or (one.words[-1] if is_meant else "")
        return is_meant

    def _does_by_another(self, one: Mended, first: Sequence[str], passed: Sequence[Sequence[str]]) -> bool:
        """Whether another program does the same to the same, after its cause was told."""
        if not (one.cause or one.words) or first[0] in LOOKS or first[0] in TRIMS:
            return False
        one.cause = one.cause or one.words[-1]
        targets = {word for word in first[1:] if len(word) > 2 and not word.startswith("-")}
        best = max(
            (
                len(targets & {*words[1:]}) / max(1, len(targets))
                for words in passed
                if words[0] not in LOOKS | TRIMS
            ),
            default=0.0,
        )
        if any(
            alike(" ".join(first), " ".join(words)) >= _SAME and words[0] not in LOOKS for words in passed
        ):
            return True
        is_version = any(_ALIKE.sub("", words[0]) == _ALIKE.sub("", first[0]) for words in passed)
        return best >= _SAME or (is_version and best > 0)
