"""Recall beside qmd's keyword search: the same notes, the same questions, one run.

The notes and the questions are those of `samples/recall_eval`.  Only questions about sessions are put, as they are asked and once more without
their stop words, since qmd wants every word of a question to be in a note.  Timed are whole processes, and the two libraries in a process each, over the
questions that qmd finds anything for.
"""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.kept import cru, kept_vault
from benchmarks.measuring import Figure, clock, good_run, in_turns, median_ratio, offline
from benchmarks.rivals import Missing, Qmd, find_qmd
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.question_words import read_question
from crucible.search.recall import Question
from crucible.vault.notes.vault import Vault
from samples.recall_eval.measuring import DEPTH, NOW, score
from samples.recall_eval.questions import Graded, grade_all, read_questions
from samples.recall_eval.vault import build_vault, documents

_RECALL = "recall@5 of sessions less qmd's"
_TIME = "a question over qmd's, library beside library"
_THIRD = 1 / 3
_ROUNDS, _PROCESSES = 3, 15
_MORE = (0, 2_000)
"""Generated notes beside those that the questions are about."""

_THEIRS = """
import { readFileSync, writeFileSync } from "node:fs";
const [library, db, folder, asked, told] = process.argv.slice(2);
const { createStore } = await import(library);
const store = await createStore({ dbPath: db, config: { collections: { notes: { path: folder, pattern: "**/*.md" } } } });
await store.update();
const found = [];
for (const question of JSON.parse(readFileSync(asked, "utf8"))) {
  const start = performance.now();
  const hits = await store.searchLex(question, { limit: LIMIT });
  found.push({ seconds: (performance.now() - start) / 1000, paths: hits.map((hit) => hit.displayPath ?? hit.filepath) });
}
writeFileSync(told, JSON.stringify(found));
await store.close();
""".replace("LIMIT", str(DEPTH))


class _Told(NamedTuple):
    """What came of each question: the ids of sessions, best first, and seconds."""

    sessions: Sequence[Sequence[str]]
    seconds: Sequence[float]

    def recall(self, questions: Sequence[Graded]) -> float:
        """The mean of recall at 5."""
        both = zip(self.sessions, questions, strict=True)
        return statistics.fmean(score(found, one.sessions).r5 for found, one in both)

    def median(self, which: Sequence[int]) -> float:
        """Seconds of these questions, over all rounds."""
        count = len(self.sessions)
        rounds = range(0, len(self.seconds), count)
        return statistics.median(self.seconds[first + at] for first in rounds for at in which)


def measure(scratch: Path) -> list[Figure]:
    """Both, in turns.  Without qmd every bar says how to install it."""
    try:
        qmd = find_qmd()
    except Missing as missing:
        return [
            Figure(_RECALL, 0, 0, "", at_least=True, unmeasured=str(missing)),
            Figure(_TIME, 0, _THIRD, unmeasured=str(missing)),
        ]
    return [figure for more in _MORE for figure in _beside(qmd, scratch / f"with-{more}", more)]


def _beside(qmd: Qmd, within: Path, more: int) -> list[Figure]:
    """Everything, over the questions' own notes and so many generated ones."""
    home = within / "home"
    home.mkdir(parents=True)
    vault = build_vault(within / "vault")
    graded = [one for one in grade_all(read_questions(), documents(vault)) if _is_of_sessions(one)]
    if more:
        kept = kept_vault(within.parents[1] / "vaults", more)
        shutil.copytree(kept / "sessions", vault.root / "sessions", dirs_exist_ok=True)
    folder = plain_notes(vault, within / "notes")
    measured = [
        *_libraries(vault, folder, home, qmd, graded),
        *_processes(vault, folder, home, qmd, graded),
    ]
    return [replace(one, name=f"{one.name}, {len(list(folder.iterdir())):,} notes") for one in measured]


def _is_of_sessions(one: Graded) -> bool:
    """No dates: qmd knows none."""
    return bool(one.sessions) and not (one.asked.since or one.asked.until)


def plain_notes(vault: Vault, folder: Path) -> Path:
    """The sessions' notes by their ids, and nothing else."""
    folder.mkdir()
    for document in documents(vault):
        if document.path.startswith("sessions/"):
            (folder / f"{document.session}.md").write_bytes((vault.root / document.path).read_bytes())
    return folder


def _libraries(vault: Vault, folder: Path, home: Path, qmd: Qmd, graded: Sequence[Graded]) -> list[Figure]:
    as_asked = [one.asked.text for one in graded]
    told_words = [" ".join(read_question(text).words) for text in as_asked]
    found = {"as asked": as_asked, "without stop words": told_words}
    theirs = {name: _ask_qmd(qmd, folder, home, texts) for name, texts in found.items()}
    open_ = EmbeddedRecall(vault.root, VaultSettings())
    ours = {name: _ask_ours(open_, texts) for name, texts in found.items()}
    return [_recall(name, ours[name], theirs[name], graded) for name in found] + [
        *(_time(name, ours[name], theirs[name], _THIRD) for name in found),
    ]


def _recall(name: str, ours: _Told, theirs: _Told, graded: Sequence[Graded]) -> Figure:
    mine, their = ours.recall(graded), theirs.recall(graded)
    empty = sum(not found for found in theirs.sessions)
    detail = f"{100 * mine:.1f} %, {100 * their:.1f} %; qmd finds nothing for {empty} of {len(graded)}"
    return Figure(f"{_RECALL}, {name}", 100 * (mine - their), 0, "points", at_least=True, detail=detail)


def _time(name: str, ours: _Told, theirs: _Told, bar: float | None) -> Figure:
    """Over the questions that qmd finds anything for: an empty answer costs nothing."""
    answered = [at for at, found in enumerate(theirs.sessions) if found]
    mine, their = ours.median(answered), theirs.median(answered)
    detail = f"{mine * 1000:.2f} ms, {their * 1000:.2f} ms"
    return Figure(f"{_TIME}, {name}", mine / their, bar, detail=detail)


def _ask_ours(recall: EmbeddedRecall, texts: Sequence[str]) -> _Told:
    recall.refresh()
    sessions: list[list[str]] = []
    seconds: list[float] = []
    for _ in range(_ROUNDS):
        sessions.clear()
        for text in texts:
            start = time.perf_counter()
            answer = recall.ask(Question(text, limit=DEPTH, context=0), NOW)
            seconds.append(time.perf_counter() - start)
            sessions.append([one.session for one in answer.sessions])
    return _Told(sessions, seconds)


def _ask_qmd(qmd: Qmd, folder: Path, home: Path, texts: Sequence[str]) -> _Told:
    script, asked, told = home / "ask.mjs", home / "asked.json", home / "told.json"
    script.write_text(_THEIRS)
    asked.write_text(json.dumps(list(texts)))
    good_run([*offline(), *qmd.script(script, home / "library.sqlite", folder, asked, told)], home)
    rows: list[Mapping[str, Any]] = json.loads(told.read_text())
    sessions = [[Path(path).stem for path in row["paths"]] for row in rows]
    return _Told(sessions, [row["seconds"] for row in rows])


def _processes(vault: Vault, folder: Path, home: Path, qmd: Qmd, graded: Sequence[Graded]) -> list[Figure]:
    good_run([*offline(), *qmd.add(folder)], home)
    question = graded[len(graded) // 2].asked.text
    commands = {
        "ours": clock(cru(vault.root, "recall", question), home),
        "qmd": clock(qmd.search(question), home),
    }
    in_turns(commands, 1)  # bun compiles qmd in its first run, Python what is new of ours
    times = in_turns(commands, _PROCESSES)
    ours, theirs = (statistics.median(times[name]) for name in ("ours", "qmd"))
    detail = f"{ours * 1000:.0f} ms, {theirs * 1000:.0f} ms"
    name = "`cru recall` over `qmd search`, whole processes"
    return [Figure(name, median_ratio(times, "ours", "qmd"), _THIRD, detail=detail)]
