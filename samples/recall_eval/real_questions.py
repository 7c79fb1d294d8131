"""Questions about real sessions: `real_questions.jsonl`, one a line.  The sessions are not in this repository.

    {"kind": "why", "asks": "why did …", "answers": [{"session": "<native id>", "rows": ["<uuid>", …]}, …]}

Each of the sessions answers the question, in the rows of its transcript that are named.  Kind `none` asks for something
that no session answers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("real_questions.jsonl")
NONE = "none"
_RUN, _FEWEST = 12, 5
"""A passage shows a row if it has this many consecutive words of it, or all of a shorter row; tiny rows never count."""


class RealAnswer(NamedTuple):
    """A session by its native id, and the rows that answer."""

    session: str
    rows: tuple[str, ...]


class RealQuestion(NamedTuple):
    """A question, and all its answers."""

    kind: str
    text: str
    answers: tuple[RealAnswer, ...] = ()

    @property
    def split(self) -> str:
        """The half: authors of the ranking look at "open" questions and never at "held" ones."""
        return "held" if sha256(self.text.encode()).digest()[0] % 2 else "open"

    @property
    def sessions(self) -> frozenset[str]:
        """The native ids of the sessions that answer."""
        return frozenset(one.session for one in self.answers)


def read_real_questions(path: Path = FILE) -> list[RealQuestion]:
    """Return all questions."""
    return [_question(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _question(row: Mapping[str, Any]) -> RealQuestion:
    answers = (RealAnswer(one["session"], tuple(one["rows"])) for one in row["answers"])
    return RealQuestion(row["kind"], row["asks"], tuple(answers))


class AnswerTexts:
    """The texts that answer, from the transcripts in a folder."""

    def __init__(self, folder: Path, questions: Iterable[RealQuestion]) -> None:
        wanted: dict[str, set[str]] = {}
        for answer in (answer for one in questions for answer in one.answers):
            wanted.setdefault(answer.session, set()).update(answer.rows)
        paths = {path.stem: path for path in sorted(folder.rglob("*.jsonl"))}
        self._runs = {
            (session, row): _runs(text)
            for session, rows in wanted.items()
            if session in paths
            for row, text in _texts(paths[session], rows)
        }
        self._sessions = wanted.keys() & paths.keys()

    def has(self, question: RealQuestion) -> bool:
        """Return whether a session that answers is in the folder; true for a question without an answer."""
        return not question.answers or not question.sessions.isdisjoint(self._sessions)

    def are_in(self, session: str, passage: str, question: RealQuestion) -> bool:
        """Return whether a passage of this session shows a row that answers."""
        shown = f" {_plain(passage)} "
        rows = ((one.session, row) for one in question.answers if one.session == session for row in one.rows)
        return any(run in shown for key in rows for run in self._runs.get(key, ()))


def _texts(path: Path, rows: set[str]) -> Iterator[tuple[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("uuid") in rows:
            yield row["uuid"], "\n".join(_strings((row.get("message") or {}).get("content", "")))


def _strings(content: object) -> Iterator[str]:
    """Yield the text of a row: of messages, of results, and of plans."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield from _strings(block.get("text") or block.get("content") or (block.get("input") or {}).get("plan"))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _runs(text: str) -> tuple[str, ...]:
    words = _plain(text).split()
    if len(words) < _FEWEST:
        return ()
    return tuple(f" {' '.join(words[at : at + _RUN])} " for at in range(max(1, len(words) - _RUN + 1)))
