"""A brief without a model: a selection of the session's findings, and what waits for the user.

A finding is shown with its summary as it is.  Everything is reported as something that was said or done, never as an instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from crucible.brief.covering import count_covered, covering, phase_number
from crucible.brief.digest import SECTIONS, Digest, Known, bare, read_digest, render_digest
from crucible.brief.model import MOST_WORDS, Brief, count_words
from crucible.session.findings import Finding, Kind, Source, findings_by_phase, findings_of
from crucible.session.model import Callout, Phase, Prose, Session
from crucible.session.sentences import clipped
from crucible.session.waiting import DONE, Answers, wanted_of

__all__ = ["extend_brief", "extend_digest", "room_for"]

_DECISIONS, _RESULTS, _FIXED, _REPORTS, _WISHES, _QUESTIONS = SECTIONS
_READ = 2000
"""Code points of a text of which the last paragraph is taken."""
_DONE = ("milestone", DONE)
_HEAD_WORDS = 3
"""Words of `[!abstract] Brief`, and one to spare."""


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
    if not digest.own and not any(digest.items.values()):
        said = (text for phase in reversed(session.phases[:end]) for text in _last_words(phase))
        digest.items[_RESULTS] += islice(said, 1)
    return digest, covering(session.phases[end - 1])


def _news(session: Session, start: int, end: int) -> Iterator[tuple[str, str, str]]:
    """The items of these phases: the section, the text by which an item is recognized, and the item."""
    found = _placed(session)
    for phase in session.phases[start:end]:
        own = [one for part in (phase, *phase.subphases) for one in found.get(part.id, ())]
        items = [(*_told(one), one.summary) for one in own]
        items += ((_RESULTS, text, text) for text in _reached(phase))
        if not session.sources and not any(section == _RESULTS for section, _, _ in items):
            items += ((_RESULTS, text, text) for text in _last_words(phase))
        yield from ((section, key, item) for section, item, key in items)


def _placed(session: Session) -> dict[str, list[Finding]]:
    """The findings by phase; one that no phase quotes belongs to the phase of the next one of its kind, or to the last phase."""
    quoted = findings_by_phase(session)
    phases = {one.id: phase for phase, found in quoted.items() for one in found}
    after: dict[str, str] = {}
    placed: dict[str, list[Finding]] = {}
    for one in reversed(findings_of(session)):
        if one.kind == Kind.INSTRUCTION:  # the prompts say them
            continue
        after[one.kind] = phases[one.id] or after.get(one.kind) or session.phases[-1].id
        placed.setdefault(after[one.kind], []).insert(0, one)
    return placed


# --- items -----------------------------------------------------------------------------------------------------------


def _told(one: Finding) -> tuple[str, str]:
    """The section of a finding, and its line."""
    told = one.summary
    match one.kind:
        case Kind.DECISION:
            # Of a long text the summary is the beginning, and the details are all of it.
            why = "" if bare(one.details).startswith(bare(told)) else clipped(one.details)
            made = "; ".join(filter(None, (one.by, why and f"why: {why}")))
            return _DECISIONS, f"{told} ({made})" if made else told
        case Kind.CORRECTION:
            return _WISHES, told
        case Kind.OPEN_END:
            return _QUESTIONS, told
        case Kind.FAILURE:
            cause = f" (cause: {clipped(one.cause)})" if one.cause else ""
            fixed = f"{told}{cause} → {clipped(one.resolution)}"
            # What a check found in passing matters less than what a person reported or recorded.
            return (_FIXED, fixed) if one.source == Source.FIX else (_RESULTS, f"Fixed: {fixed}")
        case Kind.REPORT:
            return _REPORTS, f"{one.by.partition('@')[0]}: {told}"
        case _:
            return _RESULTS, told


def _reached(phase: Phase) -> Iterator[str]:
    for entry in phase.all_entries():
        if isinstance(entry, Callout) and entry.kind in _DONE:
            yield clipped(": ".join(filter(None, (entry.title, entry.text))))


def _last_words(phase: Phase) -> Iterator[str]:
    """The last paragraph of a phase: of a recorded one, in which nothing could be detected, or if there is nothing else."""
    said = next((one.text for one in reversed([*phase.all_entries()]) if isinstance(one, Prose)), "")
    if last := clipped(said[-_READ:].rstrip().rpartition("\n\n")[2]):
        yield f"{clipped(phase.name)}: {last}"


def _asked(session: Session) -> Iterator[tuple[int, str, bool]]:
    """Questions and errors of the phases: the place of the phase, the item, and whether it is answered or fixed."""
    placed = [(at, entry) for at, phase in enumerate(session.phases) for entry in phase.all_entries()]
    answers = Answers([entry for _, entry in placed], logged=bool(session.sources))
    for number in answers.names:
        at, entry = placed[number]
        kind, words = wanted_of(entry) or (DONE, "")
        if kind != DONE:
            label = "Unresolved" if kind == "error" else "Asked"
            yield at, f"{label}: {clipped(words)}", answers.settles(number)
