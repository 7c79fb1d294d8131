"""Session notes of four kilobytes, each mostly of one kind, written by the package's own `render_session`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)

SIZE = 4096
UPSTREAM = Path(__file__).resolve().parents[1] / "tests/data/upstream/feature-implementation-session.md"

_AGENT = AgentRef("claude-code", "2.1.197")
_START = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)

_PROSE = """\
The limiter keeps one bucket for the whole process, so a busy customer starves all the others. I read `limiter.py`, its \
three tests and the two places in the web layer that call `allow()`; none of them passes a key.
=====
A sliding log would be exact, but it needs memory for every request. A token bucket needs two numbers a key, and the \
*burst* it allows is what the product asked for anyway: "a page with twenty images must not be refused".
=====
Two things are left:

- the buckets of users who are gone are never dropped
- `time.time()` goes backwards when the clock is set, so `last` must come from `time.monotonic()`
=====
The change is small:

```python
bucket = self._buckets.setdefault(key, Bucket(self.rate, self.burst))
return bucket.take(self._clock())
```

The lock stays around both lines, since `setdefault` alone is not enough.
=====
All tests pass now (23 of them, two new). I left the public signature as it was and gave `key` a default, so that callers \
outside this repository keep working; the changelog says that the default will go in 3.0."""
_PARAGRAPHS = _PROSE.split("\n=====\n")
_CALLS = (
    ("Read /home/dev/project/limiter.py", "118 lines", Outcome.OK),
    ("Bash python3 -m pytest tests/test_limiter.py -q", "3 failed, 20 passed in 1.42s", Outcome.FAILED),
    ("Grep allow( --glob *.py", "web/views.py:41, web/middleware.py:17", Outcome.OK),
    ("Edit limiter.py", "+4 -2", Outcome.OK),
    ("Write tests/test_per_user.py", "created, 46 lines", Outcome.OK),
    (
        "Bash git push --force origin main",
        "The user doesn't want to proceed with this tool use",
        Outcome.REJECTED,
    ),
    ("WebFetch https://docs.python.org/3/library/time.html", "200 OK, 61 kB", Outcome.OK),
    ("Bash sleep 600 && ./deploy.sh", "", Outcome.INTERRUPTED),
    ("TaskUpdate 2 completed", "Updated task #2 status", Outcome.OK),
)


def _prose(at: int) -> tuple[Entry, ...]:
    return (Prose("\n\n".join(_PARAGRAPHS[(at + n) % len(_PARAGRAPHS)] for n in range(2))), _calls(at, 1))


def _calls(at: int, length: int) -> ToolCalls:
    return ToolCalls(tuple(ToolCall(*_CALLS[(at + n) % len(_CALLS)]) for n in range(length)))


def _tools(at: int) -> tuple[Entry, ...]:
    return (Prose(_PARAGRAPHS[at % 2]), _calls(at, 8))


def _callouts(at: int) -> tuple[Entry, ...]:
    return (
        Intervention("It must be per user, not global, and the first request may never be refused", "a key is needed."),
        Decision("Token bucket over a sliding log.", "it needs constant memory per key."),
        Failure(
            "The third test failed because `last` starts at 0.",
            "start from `time.monotonic()`." if at % 3 else None,
        ),
        Subagent(
            AgentRef("general-purpose"),
            "claude-opus-4-8",
            link=f"2026-11-21-limiter-clock-{at}",
            summary="Use it.",
        ),
        _calls(at, 1),
    )


_KINDS: Mapping[str, Callable[[int], tuple[Entry, ...]]] = {
    "mostly prose": _prose,
    "mostly tool lists": _tools,
    "mostly callouts": _callouts,
}


def _session() -> Session:
    return Session(
        id="2026-11-21-add-rate-limiter",
        started=_START,
        ended=_START + timedelta(hours=2),
        status=Status.COMPLETED,
        project="shop",
        branch="main",
        participants=(_AGENT,),
        model="claude-opus-4-8",
        tokens_used=19440,
        tokens_cached=606000,
        sources=("claude-code:e70837d4-3e31-41c1-b03b-523de090f5e0",),
        synced_to=("claude-code:1277ab6e-3e31-41c1-b03b-523de090f5e0",),
        tags=("session",),
        title="Add a rate limiter to this project",
        tasks=(
            Task("1", "Write the token bucket", "completed"),
            Task("2", "Test it", "in_progress", "high", ("1",)),
        ),
        summary="The limiter counts per user now; callers that pass no key share one bucket until 3.0.",
    )


def _phase(at: int, entries: tuple[Entry, ...]) -> Phase:
    started = _START + timedelta(minutes=7 * at)
    said = Intervention(f"Now part {at + 1}: the same for the web layer")
    name = f"The same for the web layer, part {at + 1}"
    return Phase(name, _AGENT, "dev", started, started + timedelta(minutes=6), 1620 + at, (said, *entries))


def _grown(entries_of: Callable[[int], tuple[Entry, ...]]) -> str:
    """Entries are added until the note is as long as wanted; a new phase every five of them."""
    session = _session()
    for at in count():
        found = entries_of(at)
        for length in range(1, len(found) + 1):
            phases = (*session.phases, _phase(at, found[:length]))
            text = render_session(replace(session, phases=phases))
            if len(text.encode()) >= SIZE:
                return text
        session = replace(session, phases=phases)
    raise AssertionError


def sample_notes() -> dict[str, str]:
    """The upstream example and one generated note of each kind."""
    upstream = UPSTREAM.read_bytes().decode("utf-8")
    return {"upstream example": upstream, **{name: _grown(entries_of) for name, entries_of in _KINDS.items()}}


def sample_phases(count: int) -> tuple[Phase, ...]:
    """So many phases, of each kind in turn, about a kilobyte each."""
    kinds = list(_KINDS.values())
    return tuple(_phase(at, kinds[at % 3](at) + kinds[(at + 1) % 3](at)) for at in range(count))
