"""The brief of a session: its callout in the note, the phase it covers, and its length in words.

A phase is found by name, then by id, since ids change when a phase above is added or removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal, normal_line
from crucible.documents.markdown.source import Edit, Source
from crucible.documents.session.callout_edits import find_brief_callout, set_brief_callout
from crucible.documents.session.session import Callout, Entry, Intervention, Phase, Prose, Session, Status
from crucible.documents.session.task_block import is_task_news
from crucible.documents.session.waiting import DONE, Answers, wanted_of

MOST_WORDS = 300
"""Words that a brief holds at most, by `count_words`."""

_LONGEST = 24
"""Code points of a word; a longer run counts once for each of them."""

# Scripts that are written without blanks: Thai to Khmer, kana, ideographs, hangul beside them, and what is wide.
_WORD = late_pattern(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    "\U0001b000-\U0001b2ff\U00020000-\U0003ffff]"
    "|[^\\s\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff01-\uffef"
    f"\U0001b000-\U0001b2ff\U00020000-\U0003ffff]{{1,{_LONGEST}}}"
)


@dataclass(frozen=True, slots=True)
class Brief:
    """`text` is decoded Markdown; `covers` names the last phase covered, such as `phase-12 "Tests"`, or "".

    The name counts too, since ids are ordinal and people add, remove and rename phases: `covering.covered` finds it
    again.
    """

    text: str
    covers: str


@dataclass(frozen=True, slots=True)
class BriefUpdate:
    """The result of an update.

    `brief` is the brief in the note now, or None; `problem` says why a due update was not written, or "".
    """

    brief: Brief | None
    changed: bool = False
    problem: str = ""


def count_words(text: str) -> int:
    """Count words: runs without blanks, one for each 24 code points; letters of scripts without blanks count singly."""
    return sum(1 for _ in _WORD.finditer(text))


def cut_words(text: str, limit: int) -> str:
    """At most `limit` words; a text that was cut ends in `…`."""
    end = 0
    for number, found in enumerate(_WORD.finditer(text), 1):
        if number > limit:
            return text[:end] + "…" if limit else ""
        if number < limit:  # the mark may be a word of its own
            end = found.end()
    return text


_NAME_LIMIT, _NAME_READ = 60, 1000
"""Code points of a phase's name that a brief repeats, and that are looked at."""

_REACHED = frozenset(("milestone", DONE))
_COVERS = late_pattern(r"Covers:[ \t]*(.*)")
_NAMED = late_pattern(r'(?:phase-)?(\d{1,9})(?:\.\d+)?\b[ \t]*(?:"(.*)")?$')


def covering(phase: Phase) -> str:
    """The text for a brief that covers everything up to this phase: `phase-12 "Tests"`."""
    return f'{phase.id.partition(".")[0]} "{_short(phase)}"'


def _short(phase: Phase) -> str:
    return cut(normal_line(phase.name[:_NAME_READ]), _NAME_LIMIT)


def count_covered(session: Session, covers: str) -> int:
    """The number of phases that a brief covers.

    A phase whose name is gone was renamed or removed: one phase may then be repeated, none is missed.
    """
    named = _NAMED.match(covers)
    number, name = (int(named[1]), named[2]) if named else (len(session.phases), covers.strip('" \t'))
    if name is None:
        return min(number, len(session.phases))
    found = [at for at, phase in enumerate(session.phases, 1) if name and _short(phase) == name]
    if found:
        return min(found, key=lambda at: (abs(at - number), at))
    return min(number - 1, len(session.phases)) if named and number else 0


def phase_number(session: Session, phase_id: str) -> int:
    """The number of a phase, from 1; of a sub-phase, its phase's; 0 for "".  `UsageError` if unknown."""
    if not phase_id:
        return 0
    ids = [phase.id for phase in session.phases]
    if (whole := phase_id.partition(".")[0]) in ids:
        return ids.index(whole) + 1
    raise UsageError(f"{session.id} has no {phase_id}", f"it has {len(ids)} phases")


def due_phase(session: Session, covers: str) -> str:
    """The id of the last phase that is whole and that the brief does not cover, "" when it is up to date.

    The last phase of a session that has not ended is the running one, or where it goes on.
    """
    ended = session.status in (Status.COMPLETED, Status.FAILED)
    whole = len(session.phases) - (0 if ended else 1)
    return session.phases[whole - 1].id if whole > count_covered(session, covers) else ""


def find_brief(session: Session) -> Brief | None:
    """The brief before the note's first phase, with a user's edits.

    Without the line that names a phase a user wrote it: it covers none, and is extended.
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
    """Set the note's brief: replace its callout, or add one under the title; no edits if it is unchanged.

    Raises `EditRefused` as `set_brief_callout` does.
    """
    first = f"Covers: {normal_line(brief.covers)}".rstrip(" ")
    text = normal(brief.text)
    return set_brief_callout(source, session, f"{first}\n\n{text}" if text else first)


def stated_goal(session: Session) -> str:
    """The text above the first phase, "" for none."""
    return "\n\n".join(entry.text for entry in session.preamble if isinstance(entry, Prose))


def milestones(entries: Iterable[Entry]) -> Iterator[str]:
    """Milestones and finished tasks, without our own messages about the task list."""
    for entry in entries:
        if isinstance(entry, Callout) and entry.kind in _REACHED and not is_task_news(entry.text):
            yield ": ".join(filter(None, (entry.title, entry.text)))


class OpenQuestion(NamedTuple):
    """A question to a human, or an error: its place in the entries, its inbox name, and whether it is settled."""

    at: int
    name: str
    kind: str
    text: str
    is_settled: bool


def asked_in(entries: Iterable[Entry], session: Session) -> Iterator[OpenQuestion]:
    """The questions and errors of these entries that wait for a human."""
    found = [*entries]
    answers = Answers(found, logged=bool(session.sources))
    for at, name in answers.names.items():
        kind, text = wanted_of(found[at]) or (DONE, "")
        if kind != DONE:
            yield OpenQuestion(at, name, kind, text, answers.settles(at))


def first_request(session: Session) -> tuple[str, str]:
    """The user's first words and the id of their phase, "" and "" if they never spoke."""
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, Intervention) and entry.words.strip():
                return entry.words, phase.id
    return "", ""
