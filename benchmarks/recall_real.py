"""How well recall answers questions about real sessions, which are not in this repository, and beside it other searches.

    make recall-eval REAL=FOLDER                          by kind, with 95 % intervals
    make recall-eval REAL=FOLDER RECALL_EVAL=--rivals     SQLite's FTS5, qmd and agentsview over the same sessions, too
    make recall-eval REAL=FOLDER RECALL_EVAL=--misses     and the open questions that failed
    make recall-eval REAL=FOLDER RECALL_EVAL="--near F"   with near words from the word vectors in a folder

FOLDER holds Claude Code's transcripts.  The questions are in `samples/recall_eval`, and are asked with `cru recall` as it
comes.  A subagent's note counts for its parent.  FTS5 has the same events as recall, qmd the same notes; agentsview reads the
transcripts itself.  Those that want every word of a question are asked once more, in their own syntax or without stop words.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.parse import urlencode
from urllib.request import urlopen

from benchmarks.measuring import environment, good_run, offline
from benchmarks.recall_qmd import plain_notes
from benchmarks.rivals import Missing, find_agentsview, find_qmd
from crucible.vault.notes.vault import Vault
from samples.recall_eval.real_measuring import (
    DEPTH,
    Found,
    RealOutcome,
    Shown,
    changes,
    figures_of,
    groups_by,
    judge,
    misses,
    report,
    table,
)
from samples.recall_eval.real_questions import FILE, NONE, AnswerTexts, read_real_questions
from samples.recall_eval.real_recall import Corpus, CruRecall, any_of, best_of, fts5, import_real, telling

_HITS = 100
_PATIENCE = 60
_QMD = """
import { readFileSync, writeFileSync } from "node:fs";
const [library, db, folder, asked, told] = process.argv.slice(2);
const { createStore, extractSnippet } = await import(library);
const store = await createStore({ dbPath: db, config: { collections: { notes: { path: folder, pattern: "**/*.md" } } } });
await store.update();
const found = [];
for (const question of JSON.parse(readFileSync(asked, "utf8"))) {
  const hits = await store.searchLex(question, { limit: LIMIT });
  found.push(hits.map((hit) => [hit.displayPath ?? hit.filepath, hit.score, extractSnippet(hit.body ?? "", question, 500).snippet]));
}
writeFileSync(told, JSON.stringify(found));
await store.close();
""".replace("LIMIT", str(DEPTH))


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description="Measure how well recall answers questions about real sessions.")
    parser.add_argument("folder", type=Path, help="Claude Code's transcripts")
    parser.add_argument("--questions", type=Path, default=FILE, help="another file of questions")
    parser.add_argument("--vault", type=Path, help="import into this folder and keep it for the next run")
    parser.add_argument("--misses", action="store_true", help="show the open questions whose session is not found")
    parser.add_argument("--rivals", action="store_true", help="ask SQLite's FTS5, qmd and agentsview, too")
    parser.add_argument("--near", type=Path, help="a folder of word vectors for near words")
    parser.add_argument("--save", type=Path, help="write the figures of each question into this file")
    parser.add_argument("--against", type=Path, help="show the changes since the run that wrote this file")
    chosen = parser.parse_args()
    questions = read_real_questions(chosen.questions)
    texts = AnswerTexts(chosen.folder, questions)
    asked = [one for one in questions if texts.has(one)]
    print(f"{len(asked)} questions, {len(questions) - len(asked)} skipped whose sessions are not in this folder")
    with tempfile.TemporaryDirectory() as scratch:
        # Nobody's own settings change what is measured; with CI, no import leaves a process in the background.
        os.environ |= {"HOME": scratch, "CRUCIBLE_CONFIG": str(Path(scratch, "settings.toml")), "CI": "1"}
        if chosen.near:
            near = json.dumps(str(chosen.near.absolute()))
            Path(scratch, "settings.toml").write_text(f"[recall]\nnear = {near}\n", encoding="utf-8")
        root = (chosen.vault or Path(scratch, "vault")).absolute()
        import_real(root, chosen.folder)
        recall = CruRecall(root)
        outcomes = [judge(one, recall.ask(one.text), texts) for one in asked]
        print(*report(outcomes), sep="\n")
        if chosen.against:
            print(*changes(outcomes, json.loads(chosen.against.read_text())), sep="\n")
        if chosen.save:
            chosen.save.write_text(json.dumps({one.question.text: figures_of(one) for one in outcomes}))
        if chosen.misses:
            print("\n".join(misses(outcomes)))
        if chosen.rivals:
            _report_rivals(outcomes, texts, Corpus(root, chosen.folder, recall.natives), Path(scratch))


def _report_rivals(outcomes: Sequence[RealOutcome], texts: AnswerTexts, corpus: Corpus, scratch: Path) -> None:
    questions = [one.question for one in outcomes]
    rows = [("cru recall", list(groups_by(outcomes, lambda one: one.kind))[-1][1])]
    for name, found in rivals(corpus, scratch, [one.text for one in questions]):
        judged = [judge(one, each, texts) for one, each in zip(questions, found, strict=True)]
        rows.append((name, [one for one in judged if one.question.kind != NONE]))
        empty = sum(not one.found.sessions for one in rows[-1][1])
        print(f"{name}: nothing found for {empty} of {len(rows[-1][1])}")
    print("", *table("search", rows), sep="\n")


def rivals(corpus: Corpus, scratch: Path, texts: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    """Yield each search with what it found for the texts; one that cannot be installed is reported and skipped."""
    yield from fts5(corpus, texts)
    for ask in (_qmd, _agentsview):
        try:
            yield from ask(corpus, scratch, texts)
        except (Missing, subprocess.CalledProcessError, OSError) as error:
            print(f"{ask.__name__[1:]}: {error}")


# --- qmd -------------------------------------------------------------------------------------------------------------


def _qmd(corpus: Corpus, scratch: Path, texts: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    qmd = find_qmd()
    home = scratch / "qmd"
    home.mkdir()
    notes = plain_notes(Vault(corpus.root), home / "notes")
    script, asked, told = home / "ask.mjs", home / "asked.json", home / "told.json"
    script.write_text(_QMD)
    forms = {"as asked": texts, "without stop words": [" ".join(telling(text)) for text in texts]}
    asked.write_text(json.dumps([text for form in forms.values() for text in form]))
    good_run([*offline(), *qmd.script(script, home / "library.sqlite", notes, asked, told)], home)
    rows: list[list[tuple[str, float, str]]] = json.loads(told.read_text())
    found = [
        best_of([Shown(corpus.natives[Path(path).stem], shown) for path, _, shown in hits], hits[0][1] if hits else 0.0)
        for hits in rows
    ]
    for at, name in enumerate(forms):
        yield f"qmd, {name}", found[at * len(texts) : (at + 1) * len(texts)]


# --- agentsview ------------------------------------------------------------------------------------------------------


def _agentsview(corpus: Corpus, scratch: Path, texts: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    program = find_agentsview()
    with _serving(program, corpus.folder, scratch / "agentsview") as address:
        for name, form in (("as asked", str), ("any word", any_of)):
            yield f"agentsview, {name}", [_ask_agentsview(address, form(text)) for text in texts]


@contextmanager
def _serving(program: Path, folder: Path, home: Path) -> Iterator[str]:
    """Run agentsview's server on a free port of this machine, with all sessions read."""
    home.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = environment(home) | {"CLAUDE_PROJECTS_DIR": str(folder.absolute())}
    alone = settings | {"AGENTSVIEW_NO_DAEMON": "1"}
    subprocess.run([program, "sync"], env=alone, check=True, capture_output=True, cwd=home)
    server = subprocess.Popen(
        [program, "serve", "--host", "127.0.0.1", "--port", str(port), "--no-browser"],
        env=settings,
        cwd=home,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}/api/v1/search/content"
        for _ in range(_PATIENCE):
            with suppress(URLError):
                _ask_agentsview(address, "ready")
                break
            time.sleep(1)
        yield address
    finally:
        server.terminate()
        server.wait()


def _ask_agentsview(address: str, text: str) -> Found:
    more = {"include_children": "true", "include_one_shot": "true", "include_automated": "true"}
    query = urlencode({"pattern": text, "mode": "fts", "limit": _HITS, **more})
    with urlopen(f"{address}?{query}", timeout=_PATIENCE) as answer:
        matches: list[Mapping[str, Any]] = json.load(answer).get("matches") or []
    return best_of([Shown(one["session_id"].partition("/")[0], one["snippet"]) for one in matches])


if __name__ == "__main__":
    main()
