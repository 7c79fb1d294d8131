"""Workflows: how validating grows, what codifying a long session takes, what is true of every workflow that it makes, and lists."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from markdown_it import MarkdownIt

from benchmarks.measuring import Figure, clock, in_turns, median_ratio, seconds_of
from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import SecretSettings
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Session, Status
from crucible.documents.session.session_reader import read_session
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.graph_diagrams import render_mermaid
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.codified_sessions import Work
from samples.known_sessions import known_session
from samples.notes import sample_phases
from samples.random_sessions import random_session

SESSIONS = 2000
_PHASES = 1000
_STARTED = datetime(2026, 11, 21, 9, 0, 0, tzinfo=UTC)
_LISTED, _WORKFLOWS = 5000, 200


def measure(scratch: Path) -> list[Figure]:
    return [*_growth(scratch), *_codifying(scratch), *_generated(), *_lists(scratch)]


# --- validating ------------------------------------------------------------------------------------------------------


def chain(steps: int) -> str:
    """Each step takes what the one before it made, and says a word; every tenth has run."""
    parts = []
    for at in range(steps):
        rows = f"```session-toon\nexecution[1]{{phase,status,duration_ms}}:\n  Step{at},success,{at}\n```\n\n"
        parts.append(
            f"## Step {at} @agent #dev\n\nSays a word.\n\nd{at}::T → d{at + 1}::T\n\n{rows if at % 10 == 0 else ''}"
        )
    return "# Chain\n\n" + "".join(parts)


def web(steps: int) -> str:
    """Every step takes what many made, half of them by one name, and branches: the hardest that people could write."""
    parts = []
    for at in range(steps):
        level = "##" + "#" * (at % 4)
        lines = f"shared, d{at // 2}, d{at * 7 % (at + 1)} → d{at + 1}, shared, r{at % 50}\n\n"
        branch = f"If r{at % 50} fails → proceed to Step {min(at + 3, steps - 1)}\n\n" if at % 5 == 0 else ""
        parts.append(f"{level} Step {at} !\n\n{lines}{branch}")
    return "# Web\n\n" + "".join(parts)


def validate(text: str) -> int:
    """How many problems; all that `cru workflow check` does with a note's text."""
    workflow = read_workflow(Source(text), "w")
    return len(check_workflow(workflow, build_graph(workflow)))


def _growth(scratch: Path) -> list[Figure]:
    return [figure for name, made in (("a chain", chain), ("a web", web)) for figure in _growth_of(scratch, name, made)]


def _growth_of(scratch: Path, name: str, made: Callable[[int], str]) -> list[Figure]:
    texts = {"few": made(1_000), "many": made(10_000)}
    validate(texts["few"])
    found = in_turns({key: lambda text=text: seconds_of(lambda: validate(text), 1) for key, text in texts.items()}, 5)  # type: ignore[misc]
    few, many = (statistics.median(found[key]) * 1000 for key in ("few", "many"))
    folder = scratch / f"validate-{name.rsplit(maxsplit=1)[-1]}"
    folder.mkdir()
    for key, text in texts.items():
        (folder / f"{key}.md").write_text(text, encoding="utf-8")
    clocks = {key: clock(("cru", "workflow", "check", folder / f"{key}.md"), folder) for key in texts}
    whole = in_turns(clocks, 3)
    return [
        Figure(
            f"workflows: validating {name} of 10,000 steps over one of 1,000",
            median_ratio(found, "many", "few"),
            15,
            detail=f"{many:.0f} ms, {few:.0f} ms",
        ),
        Figure(
            f"workflows: the same, whole processes, {name}",
            median_ratio(whole, "many", "few"),
            15,
            detail=f"{statistics.median(whole['many']) * 1000:.0f} ms, {statistics.median(whole['few']) * 1000:.0f} ms",
        ),
    ]


# --- codifying -------------------------------------------------------------------------------------------------------


def long_session(phases: int) -> str:
    """A session's note as we write it."""
    session = Session(
        id="2026-11-21-long",
        started=_STARTED,
        status=Status.COMPLETED,
        participants=(AgentRef("claude-code", "2.1.197"),),
        title="A long session",
        phases=sample_phases(phases),
    )
    return render_session(session)


def _written(workflow: Workflow) -> str:
    return render_workflow(workflow, render_mermaid(build_graph(workflow)))


def _codify_text(text: str) -> str:
    redact = redact_of(SecretSettings())
    return _written(codify([RecordedSession(read_session(Source(text), "2026-11-21-long"))], redact))


def _codifying(scratch: Path) -> list[Figure]:
    text = long_session(_PHASES)
    vault = scratch / "codify"
    (vault / ".crucible").mkdir(parents=True)
    (vault / "sessions").mkdir()
    (vault / "sessions" / "2026-11-21-long.md").write_text(text, encoding="utf-8")
    command = (
        "cru",
        "--vault",
        vault,
        "session",
        "codify",
        "2026-11-21-long",
        "-o",
        vault / "long.md",
        "--force",
    )
    parser = MarkdownIt("commonmark")
    process = clock(command, vault)
    process()
    found = in_turns(
        {
            "function": lambda: seconds_of(lambda: _codify_text(text), 1),
            "process": process,
            "markdown-it": lambda: seconds_of(lambda: parser.parse(text), 1),
        },
        7,
    )
    theirs = statistics.median(found["markdown-it"]) * 1000
    return [
        Figure(
            f"workflows: codifying a session of 1,000 phases over markdown-it's parse, {name}",
            median_ratio(found, key, "markdown-it"),
            2,
            detail=f"{len(text.encode())} bytes: {statistics.median(found[key]) * 1000:.0f} ms, {theirs:.0f} ms",
        )
        for key, name in (("function", "reading to writing"), ("process", "the whole process"))
    ]


# --- what is true of every workflow ------------------------------------------------------------------------------------


def generated(seed: int) -> RecordedSession:
    """A session with real work and hostile words in it, its subagents beside it; some of every eight are of other kinds."""
    random = Random(seed)
    if seed % 8 == 6:
        return RecordedSession(random_session(random))
    if seed % 8 == 7:
        return RecordedSession(known_session(seed, random.choice((0, 1, 5, 20))).session)
    work = Work(random)
    return RecordedSession(work.session(), work.children)


def check_generated(seed: int) -> list[str]:
    """What does not hold of the workflow of one session: `other` model when read back, a `cycle`, a `problem`, other `bytes` again."""
    redact = redact_of(SecretSettings())
    workflow = codify([generated(seed)], redact)
    text = _written(workflow)
    read = read_workflow(Source(text), "w")
    graph = build_graph(read)
    wrong = ["other"] if read != replace(workflow, name=read.name) else []
    if graph.cycles or build_graph(workflow).cycles:
        wrong.append("cycle")
    if {diagnostic.code for diagnostic in check_workflow(read, graph)} - {"no-steps"}:
        wrong.append("problem")
    if _written(codify([generated(seed)], redact)) != text:
        wrong.append("bytes")
    return wrong


def _generated() -> list[Figure]:
    found = {seed: check_generated(seed) for seed in range(SESSIONS)}
    figures = []
    for word, name in (
        ("other", "that parse back to another model"),
        ("cycle", "whose graph has a cycle"),
        ("problem", "in which something is wrong"),
        ("bytes", "with other bytes on a second run"),
    ):
        seeds = [seed for seed, wrong in found.items() if word in wrong]
        detail = f"of {SESSIONS} generated sessions" + (f", seeds {seeds[:5]}" if seeds else "")
        figures.append(Figure(f"workflows: codified {name}", len(seeds), 0, "", detail=detail))
    return figures


# --- lists -----------------------------------------------------------------------------------------------------------


def _lists(scratch: Path) -> list[Figure]:
    vault = scratch / "listing"
    for folder in (".crucible", "sessions", "workflows"):
        (vault / folder).mkdir(parents=True)
    note = long_session(4)
    for at in range(_LISTED):
        (vault / "sessions" / f"2026-11-21-s{at}.md").write_text(note, encoding="utf-8")
    for at in range(_WORKFLOWS):
        (vault / "workflows" / f"w{at}.md").write_text(chain(10), encoding="utf-8")
    names = ("list", "sessions")
    clocks = {name: clock(("cru", "--vault", vault, "workflow", name), vault) for name in names}
    clocks["click"] = clock((sys.executable, "-c", "import click"), vault)
    for one in clocks.values():
        one()
    found = in_turns(clocks, 7)
    what = f"{_WORKFLOWS} workflows of 10 steps beside {_LISTED} sessions"
    return [
        Figure(
            f"workflows: `cru workflow {name}`, whole process, over `import click`",
            median_ratio(found, name, "click"),
            15,
            detail=f"{what}: {statistics.median(found[name]) * 1000:.0f} ms",
        )
        for name in names
    ]
