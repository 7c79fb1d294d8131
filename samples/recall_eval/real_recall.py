"""Real sessions in a vault, asked with `cru recall` and with SQLite's FTS5."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner, Result

from crucible.cli.main import main as run_cru
from crucible.core.text import stop_words
from crucible.vault.notes.vault import Vault
from samples.recall_eval.real_measuring import DEPTH, UNSURE, Found, Shown
from samples.recall_eval.vault import documents

_SOURCES = re.compile(r"^sources:\n((?:  - .*\n)+)", re.MULTILINE)
_NUMBERED = re.compile(r"^\d+\. ", re.MULTILINE)
_HITS = 100
_COMMON = stop_words("search")


def import_real(root: Path, folder: Path) -> None:
    """Import all transcripts of a folder into a vault."""
    if not root.exists():
        cru(root, "init")
    cru(root, "import", "claude-code", folder.absolute())


class CruRecall:
    """`cru recall` in a vault, with its default options."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.natives = native_ids(root)

    def ask(self, text: str) -> Found:
        """Ask as a program, for what was found, and as a person, for what is shown."""
        answer = json.loads(cru(self._root, "recall", "--format", "json", text).stdout)
        printed = cru(self._root, "recall", text)
        hits = answer["hits"]
        shown = _NUMBERED.split(printed.stdout.partition("\nSessions\n")[0])[1:]
        return Found(
            self._sessions(answer["sessions"]),
            tuple(
                Shown(self._sessions([hit])[0], text, self._sessions(hit.get("also", ())))
                for hit, text in zip(hits, shown, strict=True)
            ),
            max((one["score"] for one in hits), default=0.0),
            unsure=UNSURE in printed.output.casefold(),
            passages=tuple(
                Shown(self._sessions([one])[0], one["passage"]["snippet"]["text"])
                for one in answer["sessions"]
                if one["passage"]
            ),
        )

    def _sessions(self, found: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
        return tuple(self.natives.get(one["session"], "") for one in found)


class _Main:
    """`main` in the shape that click's runner calls."""

    name = "cru"

    def main(self, args: Sequence[str], **_: Any) -> None:
        sys.exit(run_cru(args))


def cru(root: Path, *arguments: str | Path) -> Result:
    """Run a command in this process."""
    result = CliRunner().invoke(_Main(), ["--vault", str(root), *map(str, arguments)])  # type: ignore[arg-type]
    assert result.exit_code in {0, 3}, f"{arguments}: {result.output}"
    return result


def native_ids(root: Path) -> Mapping[str, str]:
    """Return the native id of each note's session; a subagent has its parent's."""
    found = {}
    for path in (root / "sessions").rglob("*.md"):
        if sources := _SOURCES.findall(path.read_text(encoding="utf-8")):
            found[path.stem] = sources[-1].split(":", 1)[1].split("\n")[0].partition("/")[0]
    return found


# --- SQLite's FTS5 ---------------------------------------------------------------------------------------------------


class Corpus(NamedTuple):
    """The vault at `root`, the transcripts in `folder` that it was made of, and each note's native session."""

    root: Path
    folder: Path
    natives: Mapping[str, str]


def telling(text: str) -> list[str]:
    """Return the words of a question without stop words, or all if there are no others."""
    words = re.findall(r"\w+", text)
    return [word for word in words if word.lower() not in _COMMON] or words


def any_of(text: str) -> str:
    """Return a question for any of its words, as FTS5 reads it."""
    return " OR ".join(f'"{word}"' for word in telling(text))


def best_of(hits: Sequence[Shown], score: float = 0.0) -> Found:
    sessions = dict.fromkeys(hit.session for hit in hits)
    return Found(tuple(sessions)[:DEPTH], tuple(hits[:DEPTH]), score)


def fts5(corpus: Corpus, texts: Sequence[str]) -> Iterator[tuple[str, list[Found]]]:
    """Ask SQLite about the events, and about each session's whole text."""
    natives = corpus.natives
    found = [document for document in documents(Vault(corpus.root)) if document.session in natives]
    events = [(natives[one.session], event.text) for one in found for event in one.events]
    whole = [(natives[one.session], "\n".join([one.title, *(event.text for event in one.events)])) for one in found]
    for name, rows, limit in (("events", events, _HITS), ("whole sessions", whole, DEPTH)):
        ask = _table(rows, limit)
        yield f"FTS5, {name}", [ask(text) for text in texts]


def _table(rows: Sequence[tuple[str, str]], limit: int) -> Callable[[str], Found]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE rows USING fts5(session UNINDEXED, text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO rows VALUES (?, ?)", rows)
    query = (
        "SELECT session, snippet(rows, 1, '', '', '…', 64), -rank FROM rows "
        f"WHERE rows MATCH ? ORDER BY rank LIMIT {limit}"
    )

    def ask(text: str) -> Found:
        hits = connection.execute(query, (any_of(text),)).fetchall()
        return best_of([Shown(session, shown) for session, shown, _ in hits], hits[0][2] if hits else 0.0)

    return ask
