"""The parts of a resume context as fenced text: decisions, errors, tasks, goal, blockers, subagents, recent entries.

Recent entries begin with a user message, if necessary an earlier one, with the number of omitted entries after it.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import NamedTuple, assert_never

from crucible.commands.resume.resume_material import Extent, Material, Placed
from crucible.core.patterns import late_pattern
from crucible.core.text import counted
from crucible.core.tokens import Counter
from crucible.documents.markdown.containment import fence, labelled, quote_line
from crucible.documents.session.findings import Finding, Kind, cut_at_sentence, findings_by_phase
from crucible.documents.session.note_entries import MARKS
from crucible.documents.session.properties import parse_time
from crucible.documents.session.session import (
    Callout,
    Decision,
    Failure,
    Intervention,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.waiting import QUESTIONS, Answers
from crucible.memory.bookmarks.bookmark import Bookmark, NumberedTask, open_tasks
from crucible.memory.summary.brief import first_request, stated_goal
from crucible.memory.summary.brief_text import ShownTexts, bare
from crucible.vault.notes.walk import note_name

_LONGEST, _SHORTEST = 1500, 80
_NEWEST = 2
"""Number of last entries that may be twice as long as the others."""
_CALL, _RESULT = 200, 100
_SHARE = 5
"""An entry may take at most one fifth of the window."""


class Window(NamedTuple):
    """The newest entries as quoted and labelled `blocks`.

    `blocks` holds every entry from index `start` on. `opener` is the index of an earlier user message shown first, or
    None.
    """

    blocks: tuple[str, ...] = ()
    start: int = 0
    opener: int | None = None


def choose_window(extent: Extent, most: int, allowance: int, counter: Counter, request: str = "") -> Window:
    """Choose the newest entries that fit into `allowance` tokens: `most` entries, or more to reach a user message.

    `request` is the user message that the goal shows in full.
    """
    entries = extent.entries
    # Begin with a user message, unless that would more than double the number of entries.
    oldest = max(0, len(entries) - most)
    asked = _opener(entries, oldest) if entries else None
    oldest = asked if asked is not None and oldest - asked <= most else oldest
    heads = {phase.id: _head(phase) for phase in extent.session.all_phases()}
    cost = cache(lambda block: counter.count(block + "\n"))
    limit = max(_SHORTEST, min(_LONGEST, allowance * 7 // 2 // _SHARE))
    for short in dict.fromkeys((limit, min(limit, 300), _SHORTEST)):

        @cache
        def block(at: int, short: int = short) -> str:
            phase, entry = entries[at]
            if request and isinstance(entry, Intervention) and entry.words == request:
                return f"[{phase} user: see Goal]"
            return "\n".join(_render(entries[at], short * 2 if len(entries) - at <= _NEWEST else short))

        for start in range(oldest, len(entries)):
            asked = _opener(entries, start)
            opener = asked if asked != start else None
            places = [*(() if opener is None else (opener,)), *range(start, len(entries))]
            shown = [*_shown([entries[at].phase for at in places], places, heads, block)]
            if sum(map(cost, shown)) <= allowance:
                return Window(tuple(shown), start, opener)
    return Window((), len(entries))


def _shown(
    phases: Sequence[str], places: Sequence[int], heads: Mapping[str, str], block: Callable[[int], str]
) -> Iterator[str]:
    """Yield the blocks of the entries at these indexes, with phase headings and a mark for each gap."""
    for number, at in enumerate(places):
        if number and (missing := at - places[number - 1] - 1):
            yield f"[… {counted(missing, 'entry', 'entries')} left out …]"
        if (not number or phases[number] != phases[number - 1]) and heads[phases[number]]:
            yield heads[phases[number]]
        yield block(at)


def _opener(entries: Sequence[Placed], at: int) -> int | None:
    """Return the index of the last user message at or before an entry."""
    return next((n for n in range(at, -1, -1) if isinstance(entries[n].entry, Intervention)), None)


def _head(phase: Phase) -> str:
    return "" if is_named_by_words(phase) else f"[{phase.id} begins]\n  {phase_line(phase)}"


# --- one entry -------------------------------------------------------------------------------------------------------


def is_named_by_words(phase: Phase) -> bool:
    """True if the phase's name repeats the user message that begins the phase."""
    first = next((entry.words for entry in phase.entries if isinstance(entry, Intervention)), "")
    return bool(first) and ShownTexts((first,)).has(phase.name)


def phase_line(phase: Phase) -> str:
    """Return a phase's name and agent, quoted, in one line."""
    name = quote_line(phase.name, 120)
    return f"{name} @{quote_line(str(phase.agent), 60)}" if phase.agent else name


def _render(placed: Placed, limit: int) -> Iterator[str]:
    """Yield the blocks of one entry. Only Crucible's labels begin a line; all other text is indented."""
    at, entry = placed
    match entry:
        case Prose():
            yield labelled(f"{at} agent", entry.text, limit)
        case ToolCalls():
            yield from (f"[{at} tools]", *_calls(entry.calls, limit))
        case Intervention():
            yield labelled(f"{at} user", entry.words, limit)
            if entry.note:
                yield labelled(f"{at} note", entry.note, limit)
        case Subagent():
            yield f"[{at} subagent]\n  {subagent_line(entry, limit)}"
        case Decision():
            yield f"[{at} decision: see Decisions]"
        case Failure(resolution=str(how)) if how.strip():
            cause = f"\ncause: {entry.cause}" if entry.cause else ""
            yield labelled(f"{at} fixed", f"{entry.text}{cause}\nresolution: {how}", limit)
        case Failure():
            yield f"[{at} error: see Unresolved errors]"
        case Callout():
            yield labelled(
                f"{at} callout", f"{': '.join(filter(None, (entry.kind, entry.title)))}\n{entry.text}", limit
            )
        case _:
            assert_never(entry)


def _calls(calls: Sequence[ToolCall], limit: int) -> Iterator[str]:
    """Yield the newest calls that fit in `limit` characters, at least the last one."""
    kept, spent = list[str](), 0
    for call in reversed(calls):
        line = f"  {render_call(call)}"
        spent += len(line)
        if kept and spent > limit:
            break
        kept.append(line)
    if len(kept) < len(calls):
        yield f"[… {len(calls) - len(kept):,} calls left out …]"
    yield from reversed(kept)


def render_call(call: ToolCall) -> str:
    """Render a call in one line, quoted: the call, an arrow, the outcome's mark and the result."""
    mark = MARKS.get(call.outcome, "")
    parts = ("- " + quote_line(call.call, _CALL), "→", mark, quote_line(call.result, _RESULT))
    return " ".join(filter(None, parts))


def subagent_line(entry: Subagent, limit: int) -> str:
    """Render a subagent in one line, quoted: name, model, note and result."""
    who = f"@{quote_line(str(entry.agent), 60)}"
    model = f"({quote_line(entry.model, 60)})" if entry.model else ""
    link = f"[[{quote_line(entry.link, 140)}]]" if entry.link else ""
    result = quote_line(entry.summary or entry.text or entry.task or "", limit)
    return " ".join(filter(None, (who, model, link, result)))


_OPEN_END = 20
"""Skip an open end with at most this many letters besides the tasks that it lists."""


class PlacedText(NamedTuple):
    """Text and the id of its phase, "" if unknown."""

    phase: str
    text: str


class OpenWork(NamedTuple):
    """What an agent must know before it continues; each tuple is in note order.

    `decisions` end with the user's corrections that no decision repeats.
    """

    decisions: tuple[tuple[str, Finding], ...]
    tasks: tuple[NumberedTask, ...]
    errors: tuple[tuple[str, Failure], ...]
    questions: tuple[PlacedText, ...]
    blockers: tuple[PlacedText, ...]

    def texts(self) -> Iterator[str]:
        """Yield all text in these parts, so that no other part repeats it."""
        yield from (one.summary for _, one in self.decisions)
        yield from (one.task.content for one in self.tasks)
        yield from (failure.text for _, failure in self.errors)
        yield from (one.text for one in (*self.questions, *self.blockers))


def find_open_work(extent: Extent, bookmark: Bookmark | None) -> OpenWork:
    """Find everything that is open where the session is resumed."""
    failures = list(extent.of(Failure))
    fixed = {failure.text for _, failure in failures if (failure.resolution or "").strip()}
    errors = [(phase, one) for phase, one in failures if not (one.resolution or "").strip()]
    blockers = tuple(PlacedText(bookmark.phase, text) for text in bookmark.blockers) if bookmark else ()
    tasks = open_tasks(extent.session)
    return OpenWork(
        tuple(_binding(extent)),
        tasks,
        tuple(one for one in errors if one[1].text not in fixed),
        tuple(_questions(extent, tasks)),
        blockers,
    )


def _binding(extent: Extent) -> Iterator[tuple[str, Finding]]:
    """Yield decisions, then corrections; if later phases are left out, only those of the shown phases."""
    found = findings_by_phase(extent.session)
    phases = [phase for phase in ("", *(one.id for one in extent.session.all_phases())) if phase in found]
    decided = [(at or "start", one) for at in phases for one in found[at] if one.kind == Kind.DECISION]
    yield from decided
    known = ShownTexts(one.summary for _, one in decided)
    for at in phases:
        for one in found[at]:
            if one.kind == Kind.CORRECTION and (at or not extent.later) and known.add(one.summary):
                yield at or "start", one


def _questions(extent: Extent, tasks: tuple[NumberedTask, ...]) -> Iterator[PlacedText]:
    """Yield unanswered questions. If no phase is left out, also yield open ends that do more than list open tasks."""
    placed = (*extent.head, *extent.entries)
    answers = Answers([one.entry for one in placed], logged=bool(extent.session.sources))
    for at in answers.names:
        phase, entry = placed[at]
        if isinstance(entry, Callout) and entry.kind in QUESTIONS and not answers.settles(at):
            yield PlacedText(phase, "\n".join(filter(None, (entry.title, entry.text))))
    last = extent.phase.id if extent.phase else ""
    for one in () if extent.later else extent.session.findings:
        if Kind.OPEN_END in (one.kind, one.also) and len(_without(one.text, tasks)) > _OPEN_END:
            yield PlacedText(last, one.text)


def _without(text: str, tasks: tuple[NumberedTask, ...]) -> str:
    """Return the letters of a text after removing the tasks that it mentions."""
    rest = bare(text)
    for _, task in tasks:
        rest = rest.replace(bare(task.content), "")
    return rest


_WHOLE = 10**9
_LINE = 400
_LABEL = 20
"""Characters reserved for the label of a reason. A reason is shown only if more than this remains for its text."""
_NAME = late_pattern(r"[A-Za-z][\w@.-]{0,39}")
_PHASE = late_pattern(r"phase-[0-9]{1,6}(?:\.[0-9]{1,6})?")
_STATUSES = {"pending": "open", "in_progress": "in progress"}


# --- always there ----------------------------------------------------------------------------------------------------


def decisions_part(work: OpenWork, limit: int | None) -> str:
    """Render every decision and correction with its reason: in full, or in one line of at most `limit` characters."""
    blocks: list[str] = []
    for phase, one in work.decisions:
        # If the details begin with the summary, they are the decision's full text rather than a reason.
        full_text = one.details if bare(one.details).startswith(bare(one.summary)) else ""
        why = "" if full_text else one.details
        if limit is not None:
            room = limit - len(one.summary) - _LABEL
            reason = f" ({_WHY[one.kind]}: {cut_at_sentence(why, room)})" if why and room > _LABEL else ""
            blocks.append(f"- {phase}: {quote_line(f'{one.summary}{reason}', limit)}")
            continue
        by = f" by {one.by}" if _NAME.fullmatch(one.by) else ""
        blocks.append(labelled(f"{phase} {one.kind}{by}", full_text or one.summary, _WHOLE))
        blocks += [labelled(_WHY[one.kind], why, _WHOLE)] if why else []
    return fence(blocks)


_WHY: Mapping[str, str] = {Kind.DECISION: "rationale", Kind.CORRECTION: "of what"}


def errors_part(work: OpenWork, limit: int | None) -> str:
    """Render every unresolved error: up to 1,000 characters each, or one line of at most `limit` characters."""
    if limit is not None:
        return fence(f"- {phase}: {quote_line(failure.text, limit)}" for phase, failure in work.errors)
    return fence(labelled(f"{phase} error", failure.text, 1000) for phase, failure in work.errors)


def tasks_part(work: OpenWork, extent: Extent, limit: int | None) -> str:
    """Render every open task in one line, with its number and, if known, the phase in which it started."""
    count = len(extent.session.tasks)
    begun = sorted((phase.started, phase.id) for phase in extent.session.all_phases() if phase.started)
    return fence(f"- {_task(one, count, begun, limit or _LINE)}" for one in work.tasks)


def _task(one: NumberedTask, count: int, begun: Sequence[tuple[datetime, str]], limit: int) -> str:
    number, task = one
    started = parse_time(task.started or "")
    at = bisect(begun, started, key=itemgetter(0)) if started else 0
    facts = (
        f"{number} of {count}",
        f"begun in {begun[at - 1][1]}" if at else "",
        _STATUSES.get(task.status) or quote_line(task.status, 20),
        quote_line(task.priority, 20) if task.priority != "medium" else "",
        "" if task.id == str(number) else f"id {quote_line(task.id, 40)}",
        f"needs {quote_line(', '.join(task.depends_on), 60)}" if task.depends_on else "",
    )
    return f"{', '.join(filter(None, facts))}: {quote_line(task.content, limit)}"


# --- cut to what fits ------------------------------------------------------------------------------------------------


def goal_part(material: Material, extent: Extent, limit: int) -> str:
    """Render the goal of this resume, the title, preamble and first user message, each up to `limit` characters."""
    session = extent.session
    words, phase = first_request(session)
    texts = [
        ("goal of this resume", material.goal),
        ("title", "" if ShownTexts((words,)).has(session.title) else session.title[:300]),
        ("preamble", stated_goal(session)),
        (f"{phase} first words of the user", words),
    ]
    return fence(labelled(label, text, limit) for label, text in texts if text)


def stopped_part(material: Material, extent: Extent, known: ShownTexts, limit: int) -> str:
    """Render the phase, the reason for the pause, the bookmark's note, and the summary of an ended session.

    Leaves out text in `known`, and a phase name that repeats the user's words.
    """
    session, bookmark, phase = extent.session, material.bookmark, extent.phase
    texts = [
        ("paused because", session.pause_reason or ""),
        ("note left for you", bookmark.note if bookmark else ""),
        ("summary", "" if extent.later else session.summary or ""),
        ("problem", extent.problem),
    ]
    blocks = [f"[{phase.id}]\n  {phase_line(phase)}"] if phase and not is_named_by_words(phase) else []
    blocks += [
        labelled(label, text, limit) for label, text in texts if text and not known.has(text.partition(": ")[2] or text)
    ]
    return fence(blocks)


def text_lines(found: Sequence[PlacedText]) -> list[str]:
    """Render questions or blockers, one line each with its phase."""
    # Anyone may have written the bookmark's file, so its phase is shown only if it has the form `phase-N`.
    return [
        f"- {one.phase if _PHASE.fullmatch(one.phase) else 'start'}: {quote_line(one.text, _LINE)}" for one in found
    ]


def subagent_lines(extent: Extent, children: Mapping[str, Session | None]) -> list[str]:
    """Render one line per subagent, ordered by last mention, so that the list only grows at the end."""
    found: dict[object, str] = {}
    for at, (phase, entry) in enumerate(extent.of(Subagent)):
        key: object = entry.link or at
        found.pop(key, None)
        name = note_name((entry.link or "").rpartition("/")[2])  # a link may contain a path and end in `.md`
        known = name in children and name != extent.session.id
        child = children[name] if known else None
        gone = " (its note is gone or cannot be read)" if known and not child else ""
        found[key] = f"- {phase}: {subagent_line(_with_note(entry, child), 240)}{gone}"
    return list(found.values())


def _with_note(entry: Subagent, child: Session | None) -> Subagent:
    """Add the model and a short summary from the subagent's own note. Does not follow embeds in that note."""
    summary = entry.summary or entry.text or (child and (child.summary or child.title)) or entry.task or ""
    return replace(entry, model=entry.model or (child.model if child else None), summary=cut_at_sentence(summary))
