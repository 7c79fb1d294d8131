"""Choose and show the newest entries of a session.

The window begins with a user message.  If the message that its oldest entry answers is further back, the window grows
to it; if that is too far, the message comes first, with the number of entries between.  An entry is shown in full or
cut in its middle, and a tool call always with its result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple, assert_never

from crucible.commands.resume.resume_material import Extent, Placed
from crucible.core.tokens import Counter
from crucible.documents.markdown.containment import labelled, quote_line
from crucible.documents.session.note_entries import MARKS
from crucible.documents.session.session import (
    Callout,
    Decision,
    Failure,
    Intervention,
    Phase,
    Prose,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.memory.summary.brief_text import ShownTexts

_LONGEST, _SHORTEST = 1500, 80
_NEWEST = 2
"""The last entries, which may be twice as long as the others."""
_CALL, _RESULT = 200, 100
_SHARE = 5
"""One entry may take at most one fifth of the window."""


class Window(NamedTuple):
    """The newest entries as quoted and labelled `blocks`.

    No entry from index `start` on is missing.  `opener` is the index of an earlier user message to begin with, or None.
    """

    blocks: tuple[str, ...] = ()
    start: int = 0
    opener: int | None = None


def choose_window(extent: Extent, most: int, allowance: int, counter: Counter, request: str = "") -> Window:
    """Choose the newest entries that fit `allowance` tokens: at most `most`, extended back to a user message.

    `request` is the user message that the goal shows in full.
    """
    entries = extent.entries
    # The oldest entry that may be shown is a user message, unless it is more than a window away.
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
    """The blocks of the entries at these indexes, with the heads of their phases and a mark for each gap."""
    for number, at in enumerate(places):
        if number and (missing := at - places[number - 1] - 1):
            yield f"[… {missing:,} {'entry' if missing == 1 else 'entries'} left out …]"
        if (not number or phases[number] != phases[number - 1]) and heads[phases[number]]:
            yield heads[phases[number]]
        yield block(at)


def _opener(entries: Sequence[Placed], at: int) -> int | None:
    """The index of the last user message up to an entry."""
    return next((n for n in range(at, -1, -1) if isinstance(entries[n].entry, Intervention)), None)


def _head(phase: Phase) -> str:
    return "" if is_named_by_words(phase) else f"[{phase.id} begins]\n  {phase_line(phase)}"


# --- one entry -------------------------------------------------------------------------------------------------------


def is_named_by_words(phase: Phase) -> bool:
    """True if the phase's name repeats the user message that begins it."""
    first = next((entry.words for entry in phase.entries if isinstance(entry, Intervention)), "")
    return bool(first) and ShownTexts((first,)).has(phase.name)


def phase_line(phase: Phase) -> str:
    """A phase's name and agent, quoted, in one line."""
    name = quote_line(phase.name, 120)
    return f"{name} @{quote_line(str(phase.agent), 60)}" if phase.agent else name


def _render(placed: Placed, limit: int) -> Iterator[str]:
    """The blocks of one entry; only Crucible's labels begin a line, all other text is indented."""
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
    """The newest calls that fit in `limit` characters; at least the last one."""
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
    """A call, an arrow, its outcome's mark and its result, quoted, in one line."""
    mark = MARKS.get(call.outcome, "")
    parts = ("- " + quote_line(call.call, _CALL), "→", mark, quote_line(call.result, _RESULT))
    return " ".join(filter(None, parts))


def subagent_line(entry: Subagent, limit: int) -> str:
    """The subagent's name, model, note and result, quoted, in one line."""
    who = f"@{quote_line(str(entry.agent), 60)}"
    model = f"({quote_line(entry.model, 60)})" if entry.model else ""
    link = f"[[{quote_line(entry.link, 140)}]]" if entry.link else ""
    result = quote_line(entry.summary or entry.text or entry.task or "", limit)
    return " ".join(filter(None, (who, model, link, result)))
