"""The newest entries of a session, told in full.

Owns which entries those are and how one is shown.  A window begins with a human's words: where those that its oldest entry answers
lie further back, it grows to them, or, when that is too far, begins with them and says how much lies between.  An entry is shown
whole or cut in its middle; a tool call always stands with its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, assert_never

from crucible.brief.digest import Known
from crucible.note.fencing import labelled, quote_line
from crucible.resume.extent import Extent, Placed
from crucible.resume.tokens import Counter
from crucible.session.entries import MARKS
from crucible.session.model import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Phase,
    Prose,
    Subagent,
    ToolCall,
    ToolCalls,
)

__all__ = ["Window", "choose_window", "is_named_by_words", "phase_line", "render_call", "subagent_line"]

_LONGEST, _SHORTEST = 1500, 80
_NEWEST = 2
"""So many entries at the end may be twice as long as the others."""
_CALL, _RESULT = 200, 100
_SHARE = 5
"""An entry may have this part of what the window may have, so that several fit."""


class Window(NamedTuple):
    """Entries as quoted and labelled `blocks`.

    From the place `start` on none is missing; `opener` is the place of the human's words they begin with, when those lie
    further back, else None.
    """

    blocks: tuple[str, ...] = ()
    start: int = 0
    opener: int | None = None


def choose_window(
    extent: Extent, most: int, allowance: int, counter: Counter, request: Intervention | None = None
) -> Window:
    """At most the newest `most` entries and those back to the user's, in at most `allowance` tokens; the newest first of all.

    `request` are the words that the goal shows in full.
    """
    entries = extent.entries
    limit = max(_SHORTEST, min(_LONGEST, allowance * 7 // 2 // _SHARE))
    for short in dict.fromkeys((limit, min(limit, 300), _SHORTEST)):
        drawn = _Drawing(extent, counter, short, request)
        start = drawn.oldest_that_fits(_floor(entries, drawn.openers, most), allowance)
        if start < len(entries):
            opener = drawn.openers[start]
            return Window(drawn.blocks(start), start, opener if opener not in {start, None} else None)
    return Window((), len(entries))


def _floor(entries: Sequence[Placed], openers: Sequence[int | None], most: int) -> int:
    """The oldest entry that the window may show without a gap."""
    start = max(0, len(entries) - most)
    opener = openers[start] if entries else None
    return opener if opener is not None and start - opener <= most else start


class _Drawing:
    """Blocks of entries, each made once, and what they cost."""

    def __init__(self, extent: Extent, counter: Counter, limit: int, request: Intervention | None) -> None:
        self._request = request
        self.entries = extent.entries
        self.openers = _openers(extent.entries)
        self._phases = {phase.id: phase for phase in extent.session.all_phases()}
        self._counter = counter
        self._limit = limit
        self._made: dict[int, str] = {}

    def oldest_that_fits(self, floor: int, allowance: int) -> int:
        """The place from which on all entries fit, with the words they answer; `len` of them when none does."""
        start, spent, phase = len(self.entries), 0, None
        for at in range(len(self.entries) - 1, floor - 1, -1):
            spent += self._cost(self._block(at))
            if self.entries[at].phase != phase:
                phase = self.entries[at].phase
                spent += self._cost(self._head(phase))
            if spent + self._cost_of_opener(at) > allowance:
                break
            start = at
        return start

    def blocks(self, start: int) -> tuple[str, ...]:
        """What is shown when the window starts there."""
        opener, shown = self.openers[start], list[str]()
        places = list(range(start, len(self.entries)))
        if opener is not None and opener < start:
            places.insert(0, opener)
        phase = None
        for at in places:
            if self.entries[at].phase != phase:
                phase = self.entries[at].phase
                shown += filter(None, (self._head(phase),))
            shown.append(self._block(at))
            if at == opener and start - at > 1:
                shown.append(_gap(start - at - 1))
        return tuple(shown)

    def _cost_of_opener(self, at: int) -> int:
        opener = self.openers[at]
        if opener is None or opener == at:
            return 0
        head = self._head(self.entries[opener].phase)
        return sum(map(self._cost, (head, self._block(opener), _gap(at - opener))))

    def _cost(self, block: str) -> int:
        return self._counter.count(block + "\n")

    def _block(self, at: int) -> str:
        if at not in self._made:
            limit = self._limit * 2 if len(self.entries) - at <= _NEWEST else self._limit
            placed = self.entries[at]
            is_goal = placed.entry is self._request is not None
            lines = [f"[{placed.phase} user: see Goal]"] if is_goal else _render(placed, limit)
            self._made[at] = "\n".join(lines)
        return self._made[at]

    def _head(self, phase: str) -> str:
        found = self._phases[phase]
        return "" if is_named_by_words(found) else f"[{phase} begins]\n  {phase_line(found)}"


def _openers(entries: Sequence[Placed]) -> list[int | None]:
    """For each entry the place of the last human's words up to it."""
    found: list[int | None] = []
    last: int | None = None
    for at, placed in enumerate(entries):
        if isinstance(placed.entry, Intervention):
            last = at
        found.append(last)
    return found


def _gap(count: int) -> str:
    return f"[… {count:,} {'entry' if count == 1 else 'entries'} left out …]"


# --- one entry -------------------------------------------------------------------------------------------------------


def is_named_by_words(phase: Phase) -> bool:
    """True if the phase's name is taken from the user's words that begin it."""
    first = next((entry.words for entry in phase.entries if isinstance(entry, Intervention)), "")
    return bool(first) and Known((first,)).has(phase.name)


def phase_line(phase: Phase) -> str:
    """A phase's name and who worked in it, quoted, in one line."""
    name = quote_line(phase.name, 120)
    return f"{name} @{quote_line(str(phase.agent), 60)}" if phase.agent else name


def _render(placed: Placed, limit: int) -> Iterator[str]:
    """The blocks of one entry; every label is ours, every other line is indented."""
    at, entry = placed
    for label, text in _texts(entry):
        yield labelled(f"{at} {label}", text, limit)
    if isinstance(entry, ToolCalls):
        yield from (f"[{at} tools]", *_calls(entry.calls, limit))
    elif isinstance(entry, Subagent):
        yield f"[{at} subagent]\n  {subagent_line(entry, limit)}"


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    match entry:
        case Prose():
            yield "agent", entry.text
        case Intervention():
            yield "user", entry.words
            if entry.note:
                yield "note", entry.note
        case Decision():
            yield "decision: see Decisions", ""
        case Failure(resolution=str(how)) if how.strip():
            cause = f"\ncause: {entry.cause}" if entry.cause else ""
            yield "fixed", f"{entry.text}{cause}\nfixed by: {how}"
        case Failure():
            yield "error: see Unresolved errors", ""
        case Callout():
            yield "callout", f"{entry.kind}: {entry.title}\n{entry.text}"
        case ToolCalls() | Subagent():
            return
        case _:
            assert_never(entry)


def _calls(calls: Sequence[ToolCall], limit: int) -> Iterator[str]:
    """The newest calls that fit, each whole; at least the last one."""
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
    """Who it was, where its note is and what came of it, quoted, in one line."""
    who = f"@{quote_line(str(entry.agent), 60)}"
    model = f"({quote_line(entry.model, 60)})" if entry.model else ""
    link = f"[[{quote_line(entry.link, 140)}]]" if entry.link else ""
    told = quote_line(entry.summary or entry.text or entry.task or "", limit)
    return " ".join(filter(None, (who, model, link, told)))
