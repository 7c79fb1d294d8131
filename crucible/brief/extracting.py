"""A brief without a model: a selection of the session's findings, and what waits for the user.

A finding is shown with its summary as it is.  Everything is reported as something that was said or done, never as an instruction.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.brief.covering import count_covered, covering, phase_number
from crucible.brief.digest import Digest, Known, read_digest, render_digest
from crucible.brief.model import MOST_WORDS, Brief, count_words, cut_words
from crucible.note.contain import normal_line, whole_fences
from crucible.patterns import late_pattern
from crucible.session.findings import Finding, Kind, findings_by_phase
from crucible.session.model import Callout, Phase, Prose, Session
from crucible.session.waiting import DONE, Answers, wanted_of

__all__ = ["extend_brief", "extend_digest", "room_for"]

_DECISIONS, _RESULTS, _WISHES, _QUESTIONS = "Decisions", "Results", "Preferences", "Open questions"
_READ = 2000
"""Code points of a text that are looked at."""
_WORDS = 40
"""Words of a text that people wrote and of a reason; summaries are shorter."""
_DONE = ("milestone", DONE)
_HEAD_WORDS = 3
"""Words of `[!abstract] Brief`, and one to spare."""

_MARK = late_pattern(r"(?:[ \t]*(?:#{1,6}|[-*+]|\d{1,9}[.)]|>)[ \t]+)+")
_PARAGRAPH = late_pattern(r"\n[ \t]*\n")
_LETTER = late_pattern(r"\w")


def room_for(covers: str) -> int:
    """Words left for a brief's text, so that the whole callout has at most `MOST_WORDS`."""
    return MOST_WORDS - count_words(f"Covers: {covers}") - _HEAD_WORDS


def extend_brief(session: Session, old: Brief | None, until: str) -> Brief:
    """Add the phases after `old.covers`, up to and including phase id `until`, to the brief.

    At most `MOST_WORDS`, and the same for the same session.  The text of `old` stays, whoever wrote it; a question that was
    answered since goes.  `UsageError` for a phase id that does not exist.
    """
    digest, covers = extend_digest(session, old, until)
    return Brief(render_digest(digest, room_for(covers)), covers)


def extend_digest(session: Session, old: Brief | None, until: str) -> tuple[Digest, str]:
    """The same before anything is left out, and what it covers."""
    end = phase_number(session, until)
    digest, covers = read_digest(old.text if old else ""), old.covers if old else ""
    start = count_covered(session, covers)
    if start >= end:
        return digest, covers
    asked = [one for one in _asked(session) if one[0] < end]
    settled = Known(item for _, item, is_settled in asked if is_settled)
    digest.items[_QUESTIONS][:] = [one for one in digest.items[_QUESTIONS] if not settled.has(one)]
    known = Known(item for items in digest.items.values() for item in items)
    waits = ((_QUESTIONS, item, item) for at, item, done in asked if at >= start and not done)
    for section, key, item in (*_news(session, start, end), *waits):
        if known.add(key):
            digest.items[section].append(item)
    return digest, covering(session.phases[end - 1])


def _news(session: Session, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    """The items of these phases: the section, the text by which an item is recognized, and the item."""
    found = findings_by_phase(session)
    for at in range(start, end):
        phase = session.phases[at]
        own = [one for part in (phase, *phase.subphases) for one in found.get(part.id, ())]
        own += found.get("", ()) if at + 1 == len(session.phases) else ()
        items = [(*_told(one), one.summary) for one in own]
        items += ((_RESULTS, text, text) for text in _reached(phase))
        if not session.sources and not any(section == _RESULTS for section, _, _ in items):
            items += ((_RESULTS, text, text) for text in _last_words(phase))
        yield from ((section, key, item) for section, item, key in items)


# --- items -----------------------------------------------------------------------------------------------------------


def _told(one: Finding) -> tuple[str, str]:
    """The section of a finding, and its line."""
    told = _line(one.summary)
    match one.kind:
        case Kind.DECISION:
            why = f"why: {_line(one.details)}" if one.details else ""
            made = "; ".join(filter(None, (one.by, why)))
            return _DECISIONS, f"{told} ({made})" if made else told
        case Kind.CORRECTION:
            return _WISHES, told
        case Kind.OPEN_END:
            return _QUESTIONS, told
        case Kind.FAILURE:
            cause = f" (cause: {_line(one.cause)})" if one.cause else ""
            return _RESULTS, f"Fixed: {told}{cause} → {_line(one.resolution)}"
        case Kind.REPORT:
            return _RESULTS, f"{one.by.partition('@')[0]}: {told}"
        case _:
            return _RESULTS, told


def _reached(phase: Phase) -> Iterator[str]:
    for entry in phase.all_entries():
        if isinstance(entry, Callout) and entry.kind in _DONE:
            yield _line(": ".join(filter(None, (entry.title, entry.text))))


def _last_words(phase: Phase) -> Iterator[str]:
    """The last paragraph of a recorded phase: without a transcript, nothing could be detected in it."""
    said = next((one.text for one in reversed([*phase.all_entries()]) if isinstance(one, Prose)), "")
    for part in reversed(_PARAGRAPH.split(_without_fences(said[-_READ:]))):
        if _LETTER.search(part):
            yield f"{_line(phase.name)}: {_line(part)}"
            return


def _asked(session: Session) -> Iterator[tuple[int, str, bool]]:
    """Questions and errors of the phases: the place of the phase, the item, and whether it is answered or fixed."""
    placed = [(at, entry) for at, phase in enumerate(session.phases) for entry in phase.all_entries()]
    answers = Answers([entry for _, entry in placed])
    for number in answers.names:
        at, entry = placed[number]
        kind, words = wanted_of(entry) or (DONE, "")
        if kind != DONE:
            label = "Unresolved" if kind == "error" else "Asked"
            yield at, f"{label}: {_line(words)}", answers.settles(number)


# --- one line --------------------------------------------------------------------------------------------------------


def _line(text: str) -> str:
    """A text in one line, without code blocks and the marks before its first word."""
    line = normal_line(_without_fences(text[:_READ])) or normal_line(text[:_READ])
    mark = _MARK.match(line)
    return cut_words(line[mark.end() :] if mark else line, _WORDS)


def _without_fences(text: str) -> str:
    lines = text.split("\n")
    for first, end in reversed(whole_fences(text)):
        lines[first:end] = [""]
    return "\n".join(lines)
