"""Learning: notes to cases to rows, stage by stage and as one command, against markdown-it parsing the same notes."""

from __future__ import annotations

import io
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import islice
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.kept import cru, kept_vault
from benchmarks.measuring import Figure, good_run, seconds_of
from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case_gathering import extract
from crucible.commands.learn.export import Export, export_stream
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.training_rows import Shape
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.core.settings.settings import SecretSettings
from crucible.documents.markdown.source import Source
from crucible.documents.session.session_reader import read_session
from samples.vaults import session_texts

_ROUNDS, _NOTES = 5, 60
_HOME = "/home/jane"


def measure(scratch: Path, *, sessions: int = 10_000, few: int = 1000) -> list[Figure]:
    notes = dict(islice(session_texts(10_000), _NOTES))
    return [_figure(notes), *_shapes(notes), *_command(scratch, sessions, few)]


# --- stage by stage --------------------------------------------------------------------------------------------------


def stages(notes: Mapping[str, str], shapes: Sequence[Shape] = (Shape.MESSAGES,)) -> dict[str, float]:
    """Seconds of each stage over all notes, which go through all of them one after the other, and of markdown-it."""
    redact = caching_redact(redact_of(SecretSettings()))
    scrubbers = {shape: Scrubber(redact, _HOME) for shape in shapes}
    parser = MarkdownIt("commonmark")
    taken: defaultdict[str, float] = defaultdict(float)
    for name, text in notes.items():
        with _clock(taken, "reading"):
            session = read_session(Source(text), name)
        with _clock(taken, "extracting"):
            cases = extract(session, {}, RecordedCalls(), redact)
        for shape, scrubber in scrubbers.items():
            with _clock(taken, shape.value):
                export_stream(cases, Export(shape), scrubber, io.BytesIO().writelines)
        with _clock(taken, "markdown-it"):
            parser.parse(text)
    return dict(taken)


@contextmanager
def _clock(taken: defaultdict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    taken[name] += time.perf_counter() - start


def _figure(notes: Mapping[str, str]) -> Figure:
    rounds = [stages(notes) for _ in range(_ROUNDS)]
    per_note = {key: statistics.median(one[key] for one in rounds) / len(notes) * 1000 for key in rounds[0]}
    ratios = [(sum(one.values()) - one["markdown-it"]) / one["markdown-it"] for one in rounds]
    told = ", ".join(f"{key} {value:.2f}" for key, value in per_note.items())
    return Figure(
        "learning over markdown-it's parse, reading to rows",
        statistics.median(ratios),
        None,
        detail=f"{len(notes)} notes; ms a note: {told}",
    )


def _shapes(notes: Mapping[str, str]) -> list[Figure]:
    """Each shape in a run of its own, so that none finds what another has scrubbed."""
    found = []
    for shape in Shape:
        rounds = [stages(notes, (shape,)) for _ in range(_ROUNDS)]
        ratio = statistics.median(one[shape.value] / one["markdown-it"] for one in rounds)
        found.append(Figure(f"learning: rows `{shape.value}` over markdown-it's parse", ratio, None))
    return found


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
            f"learning: {name} over markdown-it's parse, processor time",
            cpu / theirs,
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
