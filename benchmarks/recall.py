"""Recall: a question over many events against SQLite's FTS5 on the same ones in the same run, the index's size, one session more, a whole process.

`python -m benchmarks.recall [EVENTS]` prints the figures; `python -m benchmarks.run recall` holds them to their bars.  The vault is generated, the
same for the same seed: words come as often as in a language, by Zipf's rule, in every session the same ones.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.kept import cru
from benchmarks.measuring import Figure, clock, in_turns, median_ratio
from crucible.core.settings.settings import VaultSettings
from crucible.core.text import stop_words
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Question
from crucible.vault.notes.init_vault import init_vault

_COMMON = stop_words("search")
EVENTS = 300_000
_IN_SESSION = 140
_VOCABULARY = 60_000
_STREAM = 2_000_000
_STARTED = datetime(2025, 1, 1, 9, tzinfo=UTC)
_NOW = datetime(2026, 11, 22, tzinfo=UTC)
_ASKED = 100
_PROCESSES = 15


class Measured(NamedTuple):
    """Seconds by question, of ours and of FTS5; the same of ten words without stop words.

    Bytes of text and of the index; seconds to build, and to add one session.
    """

    ours: Sequence[float]
    theirs: Sequence[float]
    telling: Sequence[float]
    their_telling: Sequence[float]
    text: int
    size: int
    build: float
    added: float
    rewritten: int
    """Bytes of the index that were there before, and are not any more, after one session was added."""


class _Words:
    """A stream of words, from which texts are cut."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        common = sorted(_COMMON, key=lambda word: (len(word), word))
        made = {_word(self._random) for _ in range(_VOCABULARY + _VOCABULARY // 4)}
        vocabulary = [*common, *sorted(made - _COMMON, key=lambda _: self._random.random())]
        weights = list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))
        self._stream = self._random.choices(vocabulary, cum_weights=weights, k=_STREAM)

    def text(self, words: int) -> str:
        """So many words that follow each other somewhere."""
        start = self._random.randrange(_STREAM - words)
        return " ".join(self._stream[start : start + words])

    def length(self) -> int:
        """Of a prompt, of prose or of a decision: most are short, some are long; a hundred words in the mean.  A call is cut where notes cut it."""
        return min(int(self._random.expovariate(1 / 100)) + 4, 900)

    def question(self, *, as_said: bool = True) -> str:
        """Ten words that follow each other somewhere, or ten that are no stop words."""
        found: dict[str, None] = {}
        while len(found) < 10:
            start = self._random.randrange(_STREAM - 40)
            some = self._stream[start : start + (10 if as_said else 40)]
            found.update((word, None) for word in some if as_said or word not in _COMMON)
        return " ".join(list(found)[:10])


def _word(random: Random) -> str:
    return "".join(random.choice("bcdfglmnprstvz") + random.choice("aeiou") for _ in range(random.randint(2, 4)))


def session_text(words: _Words, number: int, events: int) -> str:
    """One session as it is written: prompts, prose, calls and decisions."""
    started = _STARTED + timedelta(minutes=19 * number)
    parts = [
        (
            f"---\ntype: session\nsession_id: {started:%Y-%m-%d}-work-{number}\nstarted: {started:%Y-%m-%dT%H:%M:%SZ}\n"
            f"status: completed\nproject: shop\nparticipants:\n  - claude-code@2.1.197\n---\n\n# {words.text(6)}\n\n"
        )
    ]
    for at in range(events):
        if at % 20 == 0:
            parts.append(f"## {words.text(4)} @claude-code@2.1.197 #dev\n\nstarted:: {started:%Y-%m-%dT%H:%M:%SZ}\n\n")
        told = words.text(words.length())
        if at % 10 == 0:
            parts.append(f'> [!user]\n> "{told}"\n\n')
        elif at % 10 == 5:
            parts.append(f"> [!decision]\n> {told}\n> Rationale: it is simpler.\n\n")
        elif at % 2:
            parts.append(f"{told}\n\n")
        else:
            parts.append(f"**Tool calls:**\n- `Bash {told[:190]}` → {words.text(12)[:90]}\n\n")
    return "".join(parts)


def generate(root: Path, events: int, seed: int = 8) -> _Words:
    """A vault of about so many events: whole sessions of 140, at least one."""
    init_vault(root, obsidian=False)
    words = _Words(seed)
    for number in range(max(events // _IN_SESSION, 1)):
        _write(root, words, number)
    return words


def _write(root: Path, words: _Words, number: int, events: int = _IN_SESSION) -> None:
    started = _STARTED + timedelta(minutes=19 * number)
    folder = root / "sessions" / f"{started:%Y-%m}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{started:%Y-%m-%d}-work-{number}.md").write_text(session_text(words, number, events))


def questions(words: _Words, count: int = _ASKED, *, as_said: bool = True) -> list[str]:
    """Questions of ten words."""
    return [words.question(as_said=as_said) for _ in range(count)]


def against_fts5(scratch: Path, events: int = EVENTS, asked: int = _ASKED) -> Measured:
    """Both in turns."""
    root = scratch / "recall"
    words = generate(root, events)
    recall = EmbeddedRecall(root, VaultSettings())
    build = _seconds(recall.refresh)
    figures = recall.figures()
    rival = _fts5(scratch / "fts5.db", _texts(root))
    times: dict[str, list[float]] = {name: [] for name in Measured._fields[:4]}
    for question in questions(words, asked):
        times["theirs"].append(_seconds(partial(_ask_fts5, rival, question)))
        times["ours"].append(_seconds(partial(recall.ask, Question(question), _NOW)))
    for question in questions(words, asked, as_said=False):
        times["telling"].append(_seconds(partial(recall.ask, Question(question), _NOW)))
        times["their_telling"].append(_seconds(partial(_ask_fts5, rival, question)))
    rival.close()
    before = _files(root)
    _write(root, words, 900_000)
    added = _seconds(recall.refresh)
    after = _files(root)
    rewritten = sum(size for name, size in before.items() if name not in after and not name.endswith(".json"))
    timed = [times[name] for name in Measured._fields[:4]]
    return Measured(timed[0], timed[1], timed[2], timed[3], figures.text, figures.size, build, added, rewritten)


def _files(root: Path) -> dict[str, int]:
    folder = root / ".crucible" / "cache" / "recall"
    return {str(path): path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def _texts(root: Path) -> Iterator[str]:
    """Every event's text, as it was indexed."""
    from crucible.search.embedded.documents import derive_note  # noqa: PLC0415

    for path in sorted((root / "sessions").rglob("*.md")):
        derived = derive_note(str(root), path.relative_to(root).as_posix())
        for event in derived.events if derived else ():
            yield event.text


def _fts5(path: Path, texts: Iterator[str]) -> sqlite3.Connection:
    found = sqlite3.connect(path)
    found.execute("create virtual table events using fts5(text, tokenize = 'porter unicode61')")
    found.executemany("insert into events(text) values (?)", ((text,) for text in texts))
    found.commit()
    found.execute("insert into events(events) values ('optimize')")
    found.commit()
    return found


def _ask_fts5(connection: sqlite3.Connection, question: str) -> list[tuple[int, float]]:
    terms = " OR ".join(f'"{word}"' for word in question.split())
    sql = "select rowid, bm25(events) from events where events match ? order by bm25(events) limit 5"
    return connection.execute(sql, (terms,)).fetchall()


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _at(share: float, seconds: Sequence[float]) -> float:
    return sorted(seconds)[min(int(len(seconds) * share), len(seconds) - 1)]


def measure(scratch: Path) -> list[Figure]:
    """The bars."""
    found = against_fts5(scratch, int(os.environ.get("RECALL_EVENTS", EVENTS)))
    ours, theirs = _at(0.95, found.ours), _at(0.95, found.theirs)
    detail = f"{ours * 1000:.1f} ms, FTS5 {theirs * 1000:.1f} ms"
    return [
        Figure("recall: a question, 95th of 100", ours / theirs, 1 / 20, detail=detail),
        Figure(
            "recall: ten words without stop words",
            _at(0.95, found.telling) / _at(0.95, found.their_telling),
            None,
        ),
        _whole_process(scratch),
        Figure("recall: the index against its text", found.size / found.text, 0.5),
        Figure("recall: written again for one session more", float(found.rewritten), 0, "bytes"),
        Figure("recall: one session more", found.added * 1000, None, "ms"),
        Figure("recall: built", found.build, None, "s"),
    ]


def _whole_process(scratch: Path) -> Figure:
    """The command, in the vault that was measured."""
    words = _Words(9)
    recall = clock(cru(scratch / "recall", "recall", words.question()), scratch)
    times = {"recall": recall, "click": clock([sys.executable, "-c", "import click"], scratch)}
    in_turns(times, 2)
    found = in_turns(times, _PROCESSES)
    mine, click = (statistics.median(found[name]) * 1000 for name in ("recall", "click"))
    return Figure(
        "recall: `cru recall` over `python -c 'import click'`",
        median_ratio(found, "recall", "click"),
        4,
        detail=f"{mine:.0f} ms, {click:.0f} ms",
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure recall.")
    parser.add_argument("events", nargs="?", type=int, default=EVENTS)
    with tempfile.TemporaryDirectory() as folder:
        found = against_fts5(Path(folder), parser.parse_args().events)
    for name in Measured._fields[:4]:
        seconds = getattr(found, name)
        print(f"{name}: p50 {_at(0.5, seconds) * 1000:.2f} ms, p95 {_at(0.95, seconds) * 1000:.2f} ms")
    for ours, theirs in (("ours", "theirs"), ("telling", "their_telling")):
        ratio = _at(0.95, getattr(found, theirs)) / _at(0.95, getattr(found, ours))
        print(f"p95 of {theirs} over {ours}: {ratio:.1f}")
    print(f"index {found.size / 1e6:.1f} MB of {found.text / 1e6:.1f} MB text: {found.size / found.text:.3f}")
    print(
        f"built in {found.build:.1f} s; one session more {found.added * 1000:.0f} ms, {found.rewritten} bytes replaced"
    )


if __name__ == "__main__":
    main()
