"""The brief of a session: its callout in the note, the last phase it covers, and its length in words.

A phase is found by name, then by id: ids change when an earlier phase is added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crucible.core.errors import UsageError
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.markdown.source import Edit, Source
from crucible.documents.session.callout_edits import find_brief_callout, set_brief_callout
from crucible.documents.session.session import Callout, Entry, Intervention, Phase, Prose, Session, Status
from crucible.documents.session.task_block import is_task_milestone
from crucible.documents.session.waiting import DONE, Answers, inbox_words

MOST_WORDS = 300
"""Maximum words of a brief, as counted by `count_words`."""

_LONGEST = 24
"""Maximum code points of a word; longer runs count as several words."""

# Scripts without blanks between words: Thai to Khmer, kana, ideographs, hangul, and wide forms.
_WORD = late_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    "\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
    "|[^\\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    f"\U0001b000-\U0001b2ff\U00020000-\U0003ffff]{{1,{_LONGEST}}}"
)


@dataclass(frozen=True, slots=True)
class Brief:
    """A brief: decoded Markdown, and the last phase it covers, such as `phase-12 "Tests"`, or "".

    `covers` includes the phase's name because ids change when users add or remove phases; see `count_covered`.
    """

    text: str
    covers: str


@dataclass(frozen=True, slots=True)
class BriefUpdate:
    """The result of an update.

    `brief` is the brief now in the note, or None.  `problem` says why a necessary update was not written, or is "".
    """

    brief: Brief | None
    changed: bool = False
    problem: str = ""


def count_words(text: str) -> int:
    """Count words.  Long runs count one word per 24 code points; in scripts without blanks, each letter is a word."""
    return sum(1 for _ in _WORD.finditer(text))


def cut_words(text: str, limit: int) -> str:
    """Cut text to at most `limit` words; cut text ends in `…`."""
    end = 0
    for number, found in enumerate(_WORD.finditer(text), 1):
        if number > limit:
            return text[:end] + "…" if limit else ""
        if number < limit:  # `…` may count as a word
            end = found.end()
    return text


_NAME_LIMIT, _NAME_READ = 60, 1000
"""Maximum code points of a phase's name in a brief, and of the name to read."""

_REACHED = frozenset(("milestone", DONE))
_COVERS = late_pattern(r"Covers:[ \t]*(.*)")
_NAMED = late_pattern(r'(?:phase-)?(\d{1,9})(?:\.\d+)?\b[ \t]*(?:"(.*)")?$')


def covering(phase: Phase) -> str:
    """Return the value of `covers` for a brief up to this phase: `phase-12 "Tests"`."""
    return f'{phase.id.partition(".")[0]} "{_short(phase)}"'


def _short(phase: Phase) -> str:
    return cut(normal_line(phase.name[:_NAME_READ]), _NAME_LIMIT)


def count_covered(session: Session, covers: str) -> int:
    """Return the number of phases that a brief covers.

    If the phase's name is gone, the phase was renamed or removed.  Then a phase may be covered twice, but none is
    missed.
    """
    named = _NAMED.match(covers)
    count = count_phases(session)
    number, name = (int(named[1]), named[2]) if named else (count, covers.strip('" \t'))
    if name is None:
        return min(number, count)
    phases = enumerate(session.phases, session.above.phases + 1)
    found = [at for at, phase in phases if name and _short(phase) == name]
    if found:
        return min(found, key=lambda at: (abs(at - number), at))
    return min(number - 1, count) if named and number else 0


def count_phases(session: Session) -> int:
    """Return the number of phases, including those that were not read."""
    return session.above.phases + len(session.phases)


def phase_at(session: Session, number: int) -> Phase:
    """Return a phase by its number, from 1."""
    return session.phases[number - session.above.phases - 1]


def covers_shown(session: Session, covers: str) -> bool:
    """Return whether a brief covers a phase that was read, which still has its name and number."""
    named = _NAMED.match(covers)
    if named is None:
        return False
    at = int(named[1]) - session.above.phases - 1
    return 0 <= at < len(session.phases) and _short(session.phases[at]) == named[2]


def phase_number(session: Session, phase_id: str) -> int:
    """Return the number (from 1) of a phase, or of the phase that contains a sub-phase; 0 for "".

    Raises `UsageError` for an unknown id.
    """
    if not phase_id:
        return 0
    ids = [phase.id for phase in session.phases]
    if (whole := phase_id.partition(".")[0]) in ids:
        return session.above.phases + ids.index(whole) + 1
    raise UsageError(f"{session.id} has no {phase_id}", f"it has {count_phases(session)} phases")


def due_phase(session: Session, covers: str) -> str:
    """Return the id of the last finished phase if the brief does not cover it, else "".

    In a session that has not ended, the last phase is not finished.
    """
    ended = session.status in (Status.COMPLETED, Status.FAILED)
    finished = count_phases(session) - (0 if ended else 1)
    return phase_at(session, finished).id if finished > count_covered(session, covers) else ""


def find_brief(session: Session) -> Brief | None:
    """Return the brief before the note's first phase, including edits by users.

    A brief without a `Covers:` line was written by a user: it covers no phase, and will be extended.
    """
    callout = find_brief_callout(session)
    if callout is None:
        return None
    first, _, rest = callout.text.partition("\n")
    named = _COVERS.match(first)
    if named is None:
        return Brief(callout.text, "")
    return Brief(rest.strip("\n"), named[1].rstrip(" \t"))


def set_brief(source: Source, session: Session, brief: Brief) -> list[Edit]:
    """Return edits that replace the brief's callout, or add it below the title; none if the brief is unchanged.

    Raises `EditRefused` like `set_brief_callout`.
    """
    first = f"Covers: {normal_line(brief.covers)}".rstrip(" ")
    text = normal(brief.text)
    return set_brief_callout(source, session, f"{first}\n\n{text}" if text else first)


def stated_goal(session: Session) -> str:
    """Return the text above the first phase, or ""."""
    return "\n\n".join(entry.text for entry in session.preamble if isinstance(entry, Prose))


def milestones(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield milestones and finished tasks, without Crucible's own messages about the task list."""
    for entry in entries:
        if isinstance(entry, Callout) and entry.kind in _REACHED and not is_task_milestone(entry.text):
            yield ": ".join(filter(None, (entry.title, entry.text)))


class OpenQuestion(NamedTuple):
    """A question to the user, or an error: its index in the entries, its inbox name, and whether it is settled."""

    at: int
    name: str
    kind: str
    text: str
    is_settled: bool


def questions_in(entries: Iterable[Entry], session: Session) -> Iterator[OpenQuestion]:
    """Yield the questions to the user and the errors in these entries."""
    found = [*entries]
    answers = Answers(found, logged=bool(session.sources))
    for at, name in answers.names.items():
        kind, text = inbox_words(found[at]) or (DONE, "")
        if kind != DONE:
            yield OpenQuestion(at, name, kind, text, answers.settles(at))


def first_request(session: Session) -> tuple[str, str]:
    """Return the user's first prompt and the id of its phase, or "" and ""."""
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, Intervention) and entry.words.strip():
                return entry.words, phase.id
    return "", ""
