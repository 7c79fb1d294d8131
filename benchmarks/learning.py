"""Learning: notes to cases to rows, stage by stage and as one command, against markdown-it parsing the same notes."""

from __future__ import annotations

import io
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from benchmarks.kept import cru, kept_vault
from benchmarks.measuring import Figure, good_run, seconds_of
from benchmarks.vaults import session_texts
from crucible.acts.evidence import Evidence, evidence_of
from crucible.cases.card import Tally
from crucible.cases.exporting import export_stream
from crucible.cases.extracting import extract
from crucible.cases.hiding import leaks
from crucible.cases.model import Case, Puzzle
from crucible.cases.rows import Export, lines_of
from crucible.cases.scrubbing import Scrubber
from crucible.cases.shapes import Shape
from crucible.flight.reading import Record
from crucible.note.source import Source
from crucible.secrets.redacting import redact_of, remembering
from crucible.session.markup import render_session
from crucible.session.model import Session
from crucible.session.reading import read_session
from crucible.settings import SecretSettings
from tests.cases.extracted import extract_all
from tests.cases.planted import generate_many, score

__all__ = ["Family", "corpora", "measure", "stages"]

_ROUNDS = 5
_HOME = "/home/jane"


class Family(NamedTuple):
    """A session with its subagents: their notes, and their records where they have any, by id."""

    texts: Mapping[str, str]
    records: Mapping[str, Sequence[Record]] = {}


def corpora() -> Iterator[tuple[str, list[Family]]]:
    """What cases are made of, by name."""
    yield "planted, notes alone", [Family(one.texts) for one in _planted(1, 150)]
    yield "planted, with records", list(_planted(2, 80))
    yield "vaults'", [Family({name: text}) for name, text in islice(session_texts(10_000), 60)]


def _planted(seed: int, count: int) -> Iterator[Family]:
    for one in generate_many(seed, count):
        texts = {ident: render_session(session) for ident, session in one.sessions.items()}
        yield Family(texts, {ident: list(one.records(ident)) for ident in texts})


def measure(scratch: Path, *, sessions: int = 10_000, few: int = 1000) -> list[Figure]:
    found = [_figure(name, families) for name, families in corpora()]
    return [*found, *_shapes(), *_found_again(), *_command(scratch, sessions, few)]


# --- stage by stage --------------------------------------------------------------------------------------------------


def stages(families: Sequence[Family], shapes: Sequence[Shape] = (Shape.MESSAGES,)) -> dict[str, float]:
    """Seconds of each stage over all families, which go through all of them one after the other, and of markdown-it."""
    redact = remembering(redact_of(SecretSettings()))
    scrubbers = {shape: Scrubber(redact, _HOME) for shape in shapes}
    parser = MarkdownIt("commonmark")
    taken: defaultdict[str, float] = defaultdict(float)
    for family in families:
        with _clock(taken, "reading"):
            notes = {ident: read_session(Source(text), ident) for ident, text in family.texts.items()}
        with _clock(taken, "extracting"):
            cases = list(_extracted(notes, family, redact))
        for shape, scrubber in scrubbers.items():
            with _clock(taken, shape.value):
                tally = Tally()
                export_stream(lines_of(cases, Export(shape), scrubber, tally), tally, io.BytesIO().writelines)
        with _clock(taken, "markdown-it"):
            for text in family.texts.values():
                parser.parse(text)
    return dict(taken)


@contextmanager
def _clock(taken: defaultdict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    taken[name] += time.perf_counter() - start


def _extracted(
    notes: Mapping[str, Session], family: Family, redact: Callable[[str], tuple[str, Mapping[str, int]]]
) -> Iterator[Case]:
    def evidence(ident: str) -> Evidence:
        return evidence_of(family.records.get(ident, ()))

    for session in notes.values():
        yield from extract(session, notes, evidence, redact, notes.get(session.parent or ""))


def _figure(name: str, families: Sequence[Family]) -> Figure:
    stages(families[:20])
    rounds = [stages(families) for _ in range(_ROUNDS)]
    notes = sum(len(family.texts) for family in families)
    per_note = {key: statistics.median(one[key] for one in rounds) / notes * 1000 for key in rounds[0]}
    ratios = [(sum(one.values()) - one["markdown-it"]) / one["markdown-it"] for one in rounds]
    told = ", ".join(f"{key} {value:.2f}" for key, value in per_note.items())
    return Figure(
        f"learning over markdown-it's parse, reading to rows: {name}",
        statistics.median(ratios),
        None,
        detail=f"{notes} notes; ms a note: {told}",
    )


def _shapes() -> list[Figure]:
    """Each shape in a run of its own, so that none finds what another has scrubbed."""
    families = [Family(one.texts) for one in _planted(1, 60)]
    found = []
    for shape in Shape:
        rounds = [stages(families, (shape,)) for _ in range(_ROUNDS)]
        ratio = statistics.median(one[shape.value] / one["markdown-it"] for one in rounds)
        found.append(Figure(f"learning: rows `{shape.value}` over markdown-it's parse", ratio, None))
    return found


# --- what was planted ------------------------------------------------------------------------------------------------

_SEED, _SESSIONS = 73_100_000, 2000
"""Of sessions that nothing was made with."""


def _found_again() -> list[Figure]:
    """The lower of precision and recall by type, and the puzzles that hold eight words in a row of their solution."""
    planted = [(one, extract_all(one)) for one in generate_many(_SEED, _SESSIONS)]
    scores = score(planted)
    puzzles = [case.body for _, cases in planted for case in cases if isinstance(case.body, Puzzle)]
    leaking = sum(bool(leaks(puzzle)) for puzzle in puzzles)
    return [
        *(
            Figure(
                f"learning: {type_} of {_SESSIONS:,} planted sessions",
                min(found.precision, found.recall),
                0.98,
                "",
                at_least=True,
                detail=f"precision {found.precision:.4f}, recall {found.recall:.4f} of {len(found.found):,}",
            )
            for type_, found in scores.items()
        ),
        Figure("learning: puzzles that hold their solution", leaking, 0, "", detail=f"of {len(puzzles):,}"),
    ]


# --- the command -----------------------------------------------------------------------------------------------------


def _command(scratch: Path, sessions: int, few: int) -> list[Figure]:
    """The whole process, twice, and once on fewer sessions; markdown-it's time is without reading the files."""
    vault = kept_vault(scratch.parent / "vaults", sessions)
    parser = MarkdownIt("commonmark")
    texts = [path.read_text(encoding="utf-8") for path in sorted((vault / "sessions").glob("*.md"))]
    theirs = seconds_of(lambda: [parser.parse(text) and None for text in texts], 1)
    texts.clear()
    rows = [scratch / "once.jsonl", scratch / "again.jsonl"]
    ran = [good_run(_learn(vault, path), scratch) for path in rows]
    same = len({sha256(path.read_bytes()).digest() for path in rows}) == 1
    little = good_run(_learn(kept_vault(scratch.parent / "vaults", few), scratch / "few.jsonl"), scratch)
    name = f"`learn --all --export jsonl` of {sessions:,} sessions"
    seconds, cpu = (min(getattr(one, key) for one in ran) for key in ("seconds", "cpu"))
    size = rows[0].stat().st_size / 1e6
    return [
        Figure(
            f"learning: {name} over markdown-it's parse on one core",
            seconds / theirs,
            1,
            detail=f"{seconds:.1f} s, processor {cpu:.1f} s, {theirs:.1f} s; {size:.0f} MB of rows",
        ),
        Figure(
            f"learning: {name}: the largest process",
            ran[0].peak / 1e6,
            500,
            "MB",
            detail=f"of {few:,} sessions {little.peak / 1e6:.0f} MB",
        ),
        Figure(f"learning: {name}: runs with other bytes", float(not same), 0, ""),
    ]


def _learn(vault: Path, rows: Path) -> list[str | Path]:
    return [*cru(vault, "session", "learn", "--all", "--export", "jsonl", "-o"), rows]
