"""Sessions with hostile text in every field, already in the normal form in which a note keeps them."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random

from hypothesis import strategies as st

from crucible.note.contain import cut, normal, normal_line, slug
from crucible.session.model import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    SubagentRef,
    Task,
    ToolCall,
    ToolCalls,
)
from tests.strategies_hostile import BLOCKS, INLINE

__all__ = ["agents", "entries", "entry_lists", "phases", "sessions", "tasks"]


# A session holds dozens of texts.  Each is drawn as one number, which seeds a generator: fifty times faster than a draw
# for every piece.  `test_contain` draws piece by piece, where shrinking matters.
_INDENTS = ("", "", "", "", " ", "  ", "   ", "    ", "\t", "> ", "\\")


def _random_line(random: Random) -> str:
    start = random.choice(BLOCKS) if random.random() < 0.5 else ""
    pieces = random.choices(INLINE, k=random.randrange(5))
    return random.choice(_INDENTS) + start + "".join(pieces)


def _random_text(random: Random) -> str:
    lines: list[str] = []
    for _ in range(random.choice((0, 1, 1, 1, 2, 3, 6))):
        if random.random() < 0.1:
            indent, fence = " " * random.choice((0, 0, 2, 4)), random.choice(("```", "~~~", "````"))
            inner = [indent + _random_line(random) for _ in range(random.randrange(3))]
            lines += [
                random.choice(("", "- ")) + indent + fence + random.choice(("", "py", "tasks")),
                *inner,
                indent + fence,
            ]
        lines.append(_random_line(random) if random.random() < 0.9 else "")
    return "\n".join(lines)


_seeds = st.integers(0, 2**48)


@st.composite
def _blocks(draw: st.DrawFn) -> str:
    return normal(_random_text(Random(draw(_seeds))))


@st.composite
def _lines(draw: st.DrawFn) -> str:
    return normal_line(_random_line(Random(draw(_seeds))))


blocks = _blocks()
full_blocks = blocks.filter(bool)
lines = _lines()
full_lines = lines.filter(bool)
times = st.integers(1_577_836_800, 1_893_456_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))
counts = st.integers(0, 10**15)
ids = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,20}", fullmatch=True)


def _slug(kind: str) -> st.SearchStrategy[str]:
    words = st.sampled_from(
        ["claude-code", "2.1.197", "general-purpose", "dev", "a/b", "claude-opus-4-8[1m]", "é"]
    )
    return st.one_of(words, _lines()).map(lambda text: slug(text, kind)).filter(bool)  # type: ignore[arg-type]


@st.composite
def agents(draw: st.DrawFn) -> AgentRef:
    return AgentRef(draw(_slug("agent")), draw(st.none() | _slug("version")))


def _one_line(limit: int) -> st.SearchStrategy[str]:
    return lines.map(lambda text: cut(text.replace("\n", "⏎"), limit)).map(normal_line)


calls = st.builds(ToolCall, _one_line(200).filter(bool), _one_line(100), st.sampled_from(Outcome))
optional = st.none() | blocks


def _other_callout() -> st.SearchStrategy[Callout]:
    kinds = [
        "milestone",
        "observation",
        "agent_switch",
        "decision_needed",
        "approval_required",
        "task_complete",
    ]
    return st.builds(Callout, st.sampled_from(kinds), lines, blocks)


@st.composite
def _linked(draw: st.DrawFn) -> Subagent:
    mode = draw(st.sampled_from([Mode.LINK, Mode.EMBED]))
    link = draw(ids) if mode is Mode.EMBED else draw(st.none() | ids)
    model = draw(st.none() | _slug("model"))
    return Subagent(draw(agents()), model, mode, link, draw(blocks), draw(optional))


@st.composite
def _inline(draw: st.DrawFn, depth: int) -> Subagent:
    task, summary = draw(optional), draw(optional)
    model = draw(st.none() | _slug("model"))
    inner = _apart(draw(st.lists(_entries(depth - 1), max_size=3)))
    return Subagent(draw(agents()), model, Mode.INLINE, None, draw(blocks), summary, task, inner)


def _leaves() -> st.SearchStrategy[Entry]:
    return st.one_of(
        st.builds(Prose, full_blocks),
        st.builds(ToolCalls, st.lists(calls, min_size=1, max_size=3).map(tuple)),
        st.builds(Decision, blocks, optional),
        st.builds(Failure, blocks, optional),
        st.builds(Intervention, blocks, st.none() | full_blocks),
        _other_callout(),
        _linked(),
    )


def _apart(found: list[Entry]) -> tuple[Entry, ...]:
    """Adjacent prose is one entry and adjacent calls are one list: keep the first of each run."""
    kept: list[Entry] = []
    for entry in found:
        if not (kept and type(kept[-1]) is type(entry) and isinstance(entry, (Prose, ToolCalls))):
            kept.append(entry)
    return tuple(kept)


@st.composite
def _entries(draw: st.DrawFn, depth: int = 1) -> Entry:
    if depth and draw(st.integers(0, 7)) == 0:
        return draw(_inline(depth))
    return draw(_leaves())


entries = _entries()
entry_lists = st.lists(entries, max_size=4).map(_apart)


def _name(text: str) -> str:
    return text if text.casefold() != "summary" else "A summary"


@st.composite
def phases(draw: st.DrawFn, depth: int = 1) -> Phase:
    return Phase(
        draw(full_lines.map(_name)),
        draw(st.none() | agents()),
        draw(st.none() | _slug("channel")),
        draw(st.none() | times),
        draw(st.none() | times),
        draw(st.none() | counts),
        draw(entry_lists),
        tuple(draw(st.lists(phases(depth=0), max_size=2))) if depth else (),
    )


@st.composite
def tasks(draw: st.DrawFn) -> tuple[Task, ...]:
    one = st.builds(
        Task,
        ids,
        lines,
        st.sampled_from(["pending", "in_progress", "completed"]),
        st.sampled_from(["high", "medium", "low"]),
        st.lists(ids, max_size=2).map(tuple),
        st.none() | times.map(lambda t: t.isoformat()),
    )
    return tuple(draw(st.lists(one, max_size=3, unique_by=lambda t: t.id)))


texts = full_lines | st.sampled_from(
    ["no", "12:30", "0123", "12e03", "~", "null", "- a", "a: b", "#x", "[[x]]", "2025-12-05"]
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    subagent = st.builds(SubagentRef, ids, st.none() | texts, st.none() | texts, st.none() | counts)
    return Session(
        id=draw(ids),
        started=draw(times),
        status=draw(st.sampled_from(Status)),
        ended=draw(st.none() | times),
        project=draw(st.none() | texts),
        branch=draw(st.none() | texts),
        channel=draw(st.none() | texts),
        participants=tuple(draw(st.lists(agents(), max_size=2))),
        model=draw(st.none() | texts),
        tokens_used=draw(st.none() | counts),
        tokens_cached=draw(st.none() | counts),
        subagents=tuple(draw(st.lists(subagent, max_size=2))),
        parent=draw(st.none() | ids),
        resume_point=draw(st.none() | st.just("phase-1")),
        pause_reason=draw(st.none() | texts),
        sources=tuple(draw(st.lists(texts, max_size=2))),
        tags=tuple(draw(st.lists(st.sampled_from(["session", "a/b", "é"]), max_size=2))),
        title=draw(full_lines),
        preamble=draw(entry_lists),
        tasks=draw(tasks()),
        phases=tuple(draw(st.lists(phases(), max_size=3))),
        summary=draw(optional),
    )
