"""A brief without a model: the results of phases, from the session's findings.

Owns which findings are told and in which few words.  Everything is told as something that was said or done, never as
something to do: a brief is for reference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.brief.covering import count_covered, covering, phase_number
from crucible.brief.digest import Digest, Said, read_digest, render_digest
from crucible.brief.model import MOST_WORDS, Brief, count_words, cut_words
from crucible.note.contain import cut, normal_line, whole_fences
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, findings_by_phase
from crucible.session.model import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    ToolCalls,
)

__all__ = ["extend_brief", "room_for"]

_DECISIONS, _RESULTS, _WISHES, _QUESTIONS = "Decisions", "Results", "Preferences", "Open questions"
_READ = 2000
"""Code points of a text that are looked at."""
_ASKS = frozenset(("decision_needed", "approval_required"))
_DONE = frozenset(("milestone", "task_complete"))
_HEAD_WORDS = 3
"""Of `[!abstract] Brief`, and one to spare."""

_MARK = late_pattern(r"(?:[ \t]*(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)[ \t]+)+")
_PARAGRAPH = late_pattern(r"\n[ \t]*\n")
_LETTER = late_pattern(r"\w")
_TASKS = late_pattern(r"Tasks: \d+ of \d+ done")


def room_for(covers: str) -> int:
    """Words left for a brief's text, so that the whole callout holds no more than `MOST_WORDS`."""
    return MOST_WORDS - count_words(f"Covers: {covers}") - _HEAD_WORDS


def extend_brief(session: Session, old: Brief | None, until: str) -> Brief:
    """The brief with the phases after `old.covers` up to and including phase id `until` told.

    At most `MOST_WORDS`, the same for the same session.  What stands in `old` is built upon, whoever wrote it; what it
    covers already is not told again, and a question that was answered meanwhile goes.  `UsageError` for a phase id that is not there.
    """
    end = phase_number(session, until)
    start = count_covered(session, old.covers) if old else 0
    digest = read_digest(old.text if old else "")
    if start >= end:
        covers = old.covers if old else ""
        return Brief(render_digest(digest, room_for(covers)), covers)
    answer = _last_answer(session)
    _settle(session, digest, end, answer)
    found = findings_by_phase(session)
    for at in range(start, end):
        phase = session.phases[at]
        own = [one for part in (phase, *phase.subphases) for one in found.get(part.id, ())]
        rest = found.get("", ()) if at + 1 == len(session.phases) else ()
        for section, item in _told(phase, [*own, *rest], answered_later=at < answer):
            digest.add(section, item)
    _add_tasks(session, digest)
    covers = covering(session.phases[end - 1])
    return Brief(render_digest(digest, room_for(covers)), covers)


# --- what a phase tells ----------------------------------------------------------------------------------------------


def _told(phase: Phase, found: Sequence[Finding], *, answered_later: bool) -> Iterator[tuple[str, str]]:
    """A phase's items and their sections: what was found in it, what is open, and of one without a result its last words."""
    entries = list(phase.all_entries())
    answer = len(entries) if answered_later else _last_answering(entries)
    items = [item for one in found if (item := _finding_told(one))]
    yield from items
    for number, entry in enumerate(entries):
        section, text = _entry_told(entry)
        if section and not (_asks(entry) and number < answer):
            yield section, text
    is_told = any(section == _RESULTS for section, _ in items)
    if not is_told and (outcome := _outcome(phase, entries)):
        yield _RESULTS, outcome


def _finding_told(one: Finding) -> tuple[str, str] | None:
    match one.kind:
        case Kind.DECISION:
            why = f" (why: {_gist(one.details, 14)})" if one.details else ""
            return _DECISIONS, _gist(one.summary, 24) + why
        case Kind.FAILURE:
            return _RESULTS, f"Fixed: {_gist(one.summary, 14)} → {_gist(one.resolution, 14)}"
        case Kind.REPORT:
            return _RESULTS, f"{one.by.partition('@')[0]}: {_gist(one.summary, 20)}"
        case Kind.OUTCOME | Kind.ENVIRONMENT:
            return _RESULTS, _gist(one.summary, 24)
        case Kind.CORRECTION:
            words = one.summary.strip("\"“”'")
            return _WISHES, f'"{_gist(words, 20)}"'
        case Kind.OPEN_END:
            return _QUESTIONS, _gist(one.summary, 20)
        case _:
            return None


def _entry_told(entry: Entry) -> tuple[str, str]:
    match entry:
        case Failure(resolution=None | ""):
            return _QUESTIONS, _unresolved(entry)
        case Callout() if entry.kind in _ASKS:
            return _QUESTIONS, f"Asked: {_titled(entry)}"
        case Callout() if entry.kind in _DONE:
            return _RESULTS, _titled(entry)
        case _:
            return "", ""


def _titled(entry: Callout) -> str:
    return _gist(": ".join(part for part in (entry.title, entry.text) if part), 20)


def _unresolved(entry: Failure) -> str:
    return f"Unresolved: {_gist(entry.text, 20)}"


def _outcome(phase: Phase, entries: Sequence[Entry]) -> str:
    """The last words of a phase, or what it did where nothing was said; "" where its other entries tell.

    Told only of a phase without a result among its findings: of a recorded session, whose transcript nobody has.
    """
    name = _gist(phase.name, 10)
    said = next((_last_paragraph(e.text) for e in reversed(entries) if isinstance(e, Prose)), "")
    if said:
        return f"{name}: {_gist(said, 24)}"
    calls = [call for entry in entries if isinstance(entry, ToolCalls) for call in entry.calls]
    if not calls:
        told = any(not isinstance(entry, Intervention) for entry in entries)
        return "" if told else f"{name}: nothing was said"
    ended = "" if calls[-1].outcome is Outcome.OK else f", {calls[-1].outcome}"
    count = f"{len(calls)} call{'' if len(calls) == 1 else 's'}"
    return f"{name}: {count}, the last {_gist(cut(calls[-1].call, 60), 10)}{ended}"


def _add_tasks(session: Session, digest: Digest) -> None:
    """One line on the task list, in place of the one before."""
    if not session.tasks:
        return
    results = digest.items[_RESULTS]
    results[:] = [item for item in results if not _TASKS.match(item)]
    done = [task for task in session.tasks if task.status == "completed"]
    last = f", the last: {_gist(done[-1].content, 12)}" if done else ""
    results.append(f"Tasks: {len(done)} of {len(session.tasks)} done{last}")


# --- questions -------------------------------------------------------------------------------------------------------


def _asks(entry: Entry) -> bool:
    return isinstance(entry, Callout) and entry.kind in _ASKS


def _answers(entry: Entry) -> bool:
    return isinstance(entry, Intervention | Decision)


def _last_answer(session: Session) -> int:
    """The place of the last phase in which a human spoke or something was decided, -1 for none."""
    phases = range(len(session.phases) - 1, -1, -1)
    return next((at for at in phases if any(map(_answers, session.phases[at].all_entries()))), -1)


def _last_answering(entries: Sequence[Entry]) -> int:
    return next((at for at in range(len(entries) - 1, -1, -1) if _answers(entries[at])), -1)


def _settle(session: Session, digest: Digest, end: int, answer: int) -> None:
    """Take out questions that stand in the note and are answered, errors that are mended.  What people asked themselves stays."""
    questions = digest.items[_QUESTIONS]
    if not questions:
        return
    settled = Said(
        item for at in range(end) for item in _settled(session.phases[at], answered_later=at < answer)
    )
    questions[:] = [item for item in questions if not settled.has(item)]


def _settled(phase: Phase, *, answered_later: bool) -> Iterator[str]:
    entries = list(phase.all_entries())
    answer = len(entries) if answered_later else _last_answering(entries)
    for number, entry in enumerate(entries):
        if isinstance(entry, Failure) and entry.resolution:
            yield _unresolved(entry)
        elif _asks(entry) and number < answer:
            yield _entry_told(entry)[1]


# --- few words -------------------------------------------------------------------------------------------------------


def _gist(text: str, words: int) -> str:
    """The first words of a text on one line, without fences and the marks before its first word."""
    head = text[:_READ]
    line = normal_line(_without_fences(head)) or normal_line(head)
    mark = _MARK.match(line)
    short = cut_words(line[mark.end() :] if mark else line, words)
    return f"{short}…" if len(text) > _READ and not short.endswith("…") else short


def _last_paragraph(text: str) -> str:
    """The last paragraph with a word in it, fences left out."""
    tail = text[-_READ:]
    for part in reversed(_PARAGRAPH.split(_without_fences(tail))):
        if _LETTER.search(part):
            return part.strip(" \t\n")
    return ""


def _without_fences(text: str) -> str:
    fences = whole_fences(text)
    if not fences:
        return text
    lines = text.split("\n")
    for first, end in reversed(fences):
        lines[first:end] = [""]
    return "\n".join(lines)
