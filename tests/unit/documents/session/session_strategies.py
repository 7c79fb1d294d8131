"""Sessions with hostile text in every field, already in the normal form in which a note keeps them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from random import Random

from hypothesis import strategies as st

from crucible.documents.markdown.containment import cut, normal, normal_line, slug
from crucible.documents.session.findings import Kind, Source
from crucible.documents.session.findings_block import normal_grounds
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Grounds,
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
from samples.hostile_texts import BLOCKS, INLINE

# A session holds dozens of texts.  Each is drawn as one number, which seeds a generator: fifty times faster than a draw
# for every piece.  `test_contain` draws piece by piece, where shrinking matters.  Strategies are made once: Hypothesis
# looks into every new one, which took longer than drawing.
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


@cache
def _slug(kind: str) -> st.SearchStrategy[str]:
    words = st.sampled_from(["claude-code", "2.1.197", "general-purpose", "dev", "a/b", "claude-opus-4-8[1m]", "é"])
    return st.one_of(words, lines).map(lambda text: slug(text, kind)).filter(bool)  # type: ignore[arg-type]


agents = st.builds(AgentRef, _slug("agent"), st.none() | _slug("version"))


def _one_line(limit: int) -> st.SearchStrategy[str]:
    return lines.map(lambda text: cut(text.replace("\n", "⏎"), limit)).map(normal_line)


_calls = st.builds(ToolCall, _one_line(200).filter(bool), _one_line(100), st.sampled_from(Outcome))
optional = st.none() | blocks
_models = st.none() | _slug("model")
_callout_kinds = st.sampled_from(
    [
        "milestone",
        "observation",
        "agent_switch",
        "plan",
        "tool",
        "decision_needed",
        "approval_required",
        "task_complete",
    ]
)
_rows = st.lists(st.one_of(st.sampled_from(["5ad1908e", "msg_01", "-x"]), lines), max_size=3).map(tuple)
grounds = st.none() | st.builds(
    Grounds,
    st.sampled_from([*map(str, Source), "model gpt-5.1 on 2026-11-23"]) | lines,
    st.floats(0, 1),
    _rows,
    st.sampled_from(["", "phase-2", "phase-2.1", "phase-x"]),
).map(normal_grounds)
"""What a finding stands on, in the form in which a note keeps it."""

_kinds = st.sampled_from(list(map(str, Kind)))


def _of_two_kinds(item: FindingItem) -> FindingItem:
    return replace(item, also="") if item.also == item.kind else item


_points = st.lists(full_lines, max_size=3).map(tuple)
findings = st.lists(
    st.builds(
        FindingItem,
        _kinds,
        full_lines,
        st.none() | full_lines,
        grounds,
        _points,
        also=st.just("") | _kinds,
        evidence=st.none() | full_lines,
    ).map(_of_two_kinds),
    max_size=4,
).map(tuple)
_linked = st.one_of(
    st.builds(Subagent, agents, _models, st.just(Mode.LINK), st.none() | ids, blocks, optional),
    st.builds(Subagent, agents, _models, st.just(Mode.EMBED), ids, blocks, optional),
)
_leaves: st.SearchStrategy[Entry] = st.one_of(
    st.builds(Prose, full_blocks),
    st.builds(ToolCalls, st.lists(_calls, min_size=1, max_size=3).map(tuple)),
    st.builds(Decision, blocks, optional, optional, optional, grounds),
    st.builds(Failure, blocks, optional, optional, grounds),
    st.builds(Intervention, blocks, st.none() | full_blocks),
    st.builds(Callout, _callout_kinds, lines, blocks, fold=st.sampled_from(["", "-", "+"])),
    _linked,
)


def _apart(found: list[Entry]) -> tuple[Entry, ...]:
    """Adjacent prose is one entry and adjacent calls are one list: keep the first of each run."""
    kept: list[Entry] = []
    for entry in found:
        if not (kept and type(kept[-1]) is type(entry) and isinstance(entry, (Prose, ToolCalls))):
            kept.append(entry)
    return tuple(kept)


_inner = st.lists(_leaves, max_size=3).map(_apart)
_inline = st.builds(Subagent, agents, _models, st.just(Mode.INLINE), st.none(), blocks, optional, optional, _inner)
_eighths = st.integers(0, 7)


@st.composite
def _entries(draw: st.DrawFn) -> Entry:
    return draw(_inline) if draw(_eighths) == 0 else draw(_leaves)


entries = _entries()
entry_lists = st.lists(entries, max_size=4).map(_apart)


def _name(text: str) -> str:
    return text if text.casefold() != "summary" else "A summary"


@cache
def phases(depth: int = 1) -> st.SearchStrategy[Phase]:
    return st.builds(
        Phase,
        full_lines.map(_name),
        st.none() | agents,
        st.none() | _slug("channel"),
        st.none() | times,
        st.none() | times,
        st.none() | counts,
        entry_lists,
        st.lists(phases(depth=0), max_size=2).map(tuple) if depth else st.just(()),
    )


_task_ids = st.one_of(st.sampled_from(["1", "2", "2.1", "a_b", "-", "in progress", "é"]), ids, full_lines)
_task_times = st.none() | times.map(lambda t: t.isoformat()) | full_lines
_extra = st.dictionaries(full_lines | st.just("owner"), lines | counts | st.lists(st.lists(lines)), max_size=2)
_OWN = frozenset({"id", "content", "status", "priority", "depends_on", "started", "completed"})


def _read_back(task: Task) -> Task:
    """The task as reading gives it: only a completed one has the time of that."""
    is_open = task.status in ("pending", "in_progress", "cancelled")
    extra = {key: value for key, value in task.extra.items() if key not in _OWN}
    return replace(task, completed=None if is_open else task.completed, extra=extra)


@cache
def tasks() -> st.SearchStrategy[tuple[Task, ...]]:
    one = st.builds(
        Task,
        _task_ids,
        lines,
        st.sampled_from(["pending", "in_progress", "completed", "cancelled"]),
        st.sampled_from(["high", "medium", "low"]),
        st.lists(_task_ids, max_size=2).map(tuple),
        _task_times,
        _task_times,
        _extra,
    ).map(_read_back)
    return st.lists(one, max_size=3, unique_by=lambda t: t.id).map(tuple)


texts = full_lines | st.sampled_from(
    ["no", "12:30", "0123", "12e03", "~", "null", "- a", "a: b", "#x", "[[x]]", "2025-12-05"]
)


@cache
def sessions() -> st.SearchStrategy[Session]:
    some_text, some_count = st.none() | texts, st.none() | counts
    subagent = st.builds(SubagentRef, ids, some_text, some_text, some_count)
    return st.builds(
        Session,
        id=ids,
        started=times,
        status=st.sampled_from(Status),
        ended=st.none() | times,
        project=some_text,
        branch=some_text,
        channel=some_text,
        participants=st.lists(agents, max_size=2).map(tuple),
        model=some_text,
        tokens_used=some_count,
        tokens_cached=some_count,
        usage=st.lists(texts, max_size=2).map(tuple),
        subagents=st.lists(subagent, max_size=2).map(tuple),
        parent=st.none() | ids,
        resume_point=st.none() | st.just("phase-1"),
        pause_reason=some_text,
        sources=st.lists(texts, max_size=2).map(tuple),
        tags=st.lists(st.sampled_from(["session", "a/b", "é"]), max_size=2).map(tuple),
        title=full_lines,
        preamble=entry_lists,
        tasks=tasks(),
        findings=findings,
        phases=st.lists(phases(), max_size=3).map(tuple),
        summary=optional,
    )
