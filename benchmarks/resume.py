"""Building a session's context: what is in it, how large it is, how it grows, and how long the whole command takes."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from random import Random

from markdown_it import MarkdownIt

from benchmarks.measuring import Figure, clock, in_turns, median_ratio, seconds_of
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Phase,
)
from samples.known_sessions import (
    BUDGET,
    Draw,
    context_of,
    known_session,
    made_phase,
    missing,
    without_what_is_always_there,
)
from samples.notes import sample_phases

SESSIONS = 2000


def measure(scratch: Path) -> list[Figure]:
    return [*_contents(), *_growth(), *_speed(scratch)]


def _contents() -> list[Figure]:
    wanted = absent = over = differing = tight = 0
    for seed in range(SESSIONS):
        known = known_session(seed)
        context = context_of(known.session)
        wanted += len(known.decisions) + len(known.tasks) + len(known.errors)
        absent += len(missing(known, context))
        over += context.tokens > BUDGET and without_what_is_always_there(context) > BUDGET
        differing += context_of(known_session(seed).session).text != context.text
        tight += context.is_tight
    detail = f"{wanted} of them in {SESSIONS} sessions, {tight} of which were tight at {BUDGET} tokens"
    share = 100 * (wanted - absent) / wanted
    return [
        Figure(
            "resume: decisions, open tasks and errors that are in the context",
            share,
            100,
            "%",
            at_least=True,
            detail=detail,
        ),
        Figure("resume: contexts over the budget but for those three", over, 0, ""),
        Figure("resume: contexts with other bytes on a second run", differing, 0, ""),
    ]


def _growth() -> list[Figure]:
    ratios = []
    for seed in range(5):
        short, long = (context_of(known_session(seed, phases).session, 8000) for phases in (100, 1000))
        ratios.append(without_what_is_always_there(long) / without_what_is_always_there(short))
    return [
        Figure(
            "resume: tokens of a context of 1,000 phases over one of 100",
            max(ratios),
            1.1,
            detail="the three aside, the worst of 5",
        )
    ]


def _speed(scratch: Path) -> list[Figure]:
    notes = {"as we write it": _tidy_note(), "that needs markdown-it": _untidy_note()}
    bars = (
        1.0,
        None,
    )  # a note that people made untidy costs a parse of its own before anything is known of it
    return [
        _speed_of(scratch / f"resume-{at}", name, text, bar)
        for at, ((name, text), bar) in enumerate(zip(notes.items(), bars, strict=True))
    ]


def _speed_of(vault: Path, name: str, text: str, bar: float | None) -> Figure:
    (vault / ".crucible").mkdir(parents=True)
    (vault / "sessions").mkdir()
    (vault / "sessions" / "2026-11-21-known.md").write_text(text, encoding="utf-8")
    command = ("cru", "--vault", vault, "session", "resume", "2026-11-21-known", "--print")
    ours = clock(command, vault)
    ours()
    parser = MarkdownIt("commonmark")
    found = in_turns({"ours": ours, "markdown-it": lambda: seconds_of(lambda: parser.parse(text), 1)}, 7)
    taken, theirs = (statistics.median(found[key]) * 1000 for key in ("ours", "markdown-it"))
    return Figure(
        f"resume: the context of 1,000 phases, whole process, over markdown-it's parse: a note {name}",
        median_ratio(found, "ours", "markdown-it"),
        bar,
        detail=f"{len(text.encode())} bytes: {taken:.0f} ms, {theirs:.0f} ms",
    )


def _tidy_note() -> str:
    return _note_of(sample_phases(1000))


def _untidy_note() -> str:
    draw = Draw(Random(1))
    phases = (made_phase(draw, at, (6, 6, 3, 1, 1, 1, 1)) for at in range(1000))
    return _note_of(tuple(replace(phase, entries=phase.entries[:3]) for phase in phases))


def _note_of(phases: tuple[Phase, ...]) -> str:
    session = known_session(1, 0).session
    return render_session(replace(session, phases=phases, resume_point=f"phase-{len(phases)}"))
