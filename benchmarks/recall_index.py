"""Recall on real transcripts: building its index, beside tantivy alone; a question, beside qmd and with a watcher."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.importing import imported_vault
from benchmarks.kept import cru, watched
from benchmarks.measuring import Figure, Ran, all_processes, good_run, in_turns, median_ratio, offline
from benchmarks.rivals import Missing, find_qmd
from crucible.search.embedded.documents import derive_notes

BUILD_BAR, MEMORY_BAR, QMD_BAR, WATCHED_BAR = 4.0, 250.0, 1.0, 2.2
ROUNDS, QUESTIONS = 3, 15
_QUESTION = "why do the tests fail"
_INDEX = Path(".crucible", "cache", "recall")

_TANTIVY = """
import json, sys, time, tantivy
with open(sys.argv[1], encoding="utf-8") as file:
    texts = json.load(file)
start, cpu = time.perf_counter(), time.process_time()
schema = tantivy.SchemaBuilder().add_text_field("text", tokenizer_name="en_stem", index_option="freq").build()
writer = tantivy.Index(schema, path=sys.argv[2]).writer(50_000_000, 1)
for text in texts:
    writer.add_document(tantivy.Document(text=text))
writer.commit()
writer.wait_merging_threads()
print(time.perf_counter() - start, time.process_time() - cpu)
"""
"""One thread, one field, stems and frequencies: the least that a search for words needs."""


def measure(scratch: Path) -> list[Figure]:
    vault = imported_vault(scratch)
    home = scratch / "recall-index"
    home.mkdir()
    return [*_building(vault, home), *_asking(vault, home)]


def _building(vault: Path, home: Path) -> list[Figure]:
    """The first question builds the index; a second one's processor time is taken off."""
    texts = _texts(vault, home / "texts.json")
    build, ask = (lambda: _build(vault, home).cpu), (lambda: good_run(_question(vault), home).cpu)
    actions = {"build": build, "ask": ask, "tantivy": lambda: _tantivy(texts, home)}
    times = {name: statistics.median(found) for name, found in in_turns(actions, ROUNDS).items()}
    ours = times["build"] - times["ask"]
    with all_processes() as most:
        ran = _build(vault, home)
    detail = f"processor {ours:.2f} s, {times['tantivy']:.2f} s"
    return [
        Figure("recall: its index over tantivy's own time", ours / times["tantivy"], BUILD_BAR, detail=detail),
        Figure("recall: memory of all processes that build it", (most() or ran.peak) / 1e6, MEMORY_BAR, "MB"),
    ]


def _texts(vault: Path, path: Path) -> Path:
    """Every text of our index, as we give it to tantivy."""
    paths = sorted(note.relative_to(vault).as_posix() for note in (vault / "sessions").rglob("*.md"))
    derived = [one for one in derive_notes(str(vault), paths) if one]
    texts = [part.text for one in derived for part in (*one.events, *([one.whole] if one.whole else []))]
    path.write_text(json.dumps(texts))
    return path


def _build(vault: Path, home: Path) -> Ran:
    shutil.rmtree(vault / _INDEX, ignore_errors=True)
    return good_run(_question(vault), home)


def _question(vault: Path) -> Sequence[str | Path]:
    return cru(vault, "recall", _QUESTION)


def _tantivy(texts: Path, home: Path) -> float:
    folder = home / "tantivy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return float(good_run([sys.executable, "-c", _TANTIVY, texts, folder], home).out.split()[1])


def _asking(vault: Path, home: Path) -> list[Figure]:
    actions = {"cru": _whole(_question(vault), home), "click": _whole([sys.executable, "-c", "import click"], home)}
    name = "recall: a question over qmd's, whole processes"
    try:
        qmd = find_qmd()
    except Missing as missing:
        figures = [Figure(name, 0, QMD_BAR, unmeasured=str(missing))]
    else:
        good_run([*offline(), *qmd.add(vault / "sessions")], home)
        times = _in_turns({**actions, "qmd": _whole(qmd.search(_QUESTION), home)})
        figures = [_over(name, times, "qmd", QMD_BAR)]
    with watched(vault, home):
        times = _in_turns(actions)
    return [*figures, _over("recall: a question with a watcher over `import click`", times, "click", WATCHED_BAR)]


def _whole(command: Sequence[str | Path], home: Path) -> Callable[[], float]:
    return lambda: good_run(command, home).cpu


def _in_turns(actions: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    in_turns(actions, 2)
    return in_turns(actions, QUESTIONS)


def _over(name: str, times: Mapping[str, Sequence[float]], theirs: str, bar: float) -> Figure:
    ours, other = (statistics.median(times[one]) * 1000 for one in ("cru", theirs))
    detail = f"processor {ours:.0f} ms, {other:.0f} ms"
    return Figure(name, median_ratio(times, "cru", theirs), bar, detail=detail)
