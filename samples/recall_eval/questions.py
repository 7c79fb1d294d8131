"""The questions with their graded answers: `questions.jsonl`, a question a line.

    {"kind": "decision", "split": "open", "asks": "how are tiles stored?", "since": "2026-07-01", "until": …,
     "answers": [{"session": "2026-07-16-atlas-pmtiles", "says": "PMTiles replaces RocksDB", "grade": 2},
                 {"item": "show-a-read-only-file-swap-it-by-a-rename", "grade": 1}]}

`kinds` are asked for alone, as `--kind` does; kind `mixed` asks what `knowledge` asks among everything.  Grade 2 is what was asked for, grade 1 helps too.  An answer is every event of the session that says these words; `*` in a session
stands for anything.  `split` parts the questions in two: what is tried for ranking is tried on `open`, and told of both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from crucible.search.recall import Document, Event, EventKind, Question

FILE = Path(__file__).with_name("questions.jsonl")


class Wanted(NamedTuple):
    """One answer: what the events say, or an item's id."""

    grade: int
    session: str = ""
    says: str = ""
    item: str = ""


class Asked(NamedTuple):
    """A question as it stands in the file."""

    kind: str
    split: str
    text: str
    answers: tuple[Wanted, ...]
    since: datetime | None = None
    until: datetime | None = None
    kinds: frozenset[EventKind] = frozenset(EventKind)

    def question(self, limit: int) -> Question:
        """As it is put to recall."""
        return Question(self.text, self.kinds, limit=limit, context=0, since=self.since, until=self.until)


class Graded(NamedTuple):
    """A question with the grades of the events and of the sessions that answer it, by their ids."""

    asked: Asked
    events: Mapping[str, int]
    sessions: Mapping[str, int]


def read_questions(path: Path = FILE) -> list[Asked]:
    """All of them."""
    return [_asked(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def _asked(row: Mapping[str, Any]) -> Asked:
    until = _day(row.get("until"))
    return Asked(
        row["kind"],
        row["split"],
        row["asks"],
        tuple(Wanted(**answer) for answer in row["answers"]),
        _day(row.get("since")),
        until and until + timedelta(days=1, seconds=-1),
        frozenset(map(EventKind, row.get("kinds", EventKind))),
    )


def _day(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def grade_all(asked: Iterable[Asked], documents: Iterable[Document]) -> list[Graded]:
    """Find what answers each.  Raises `AssertionError` for an answer that nobody gave."""
    all_documents = list(documents)
    return [_graded(one, all_documents) for one in asked]


def _graded(asked: Asked, documents: Iterable[Document]) -> Graded:
    events: dict[str, int] = {}
    sessions: dict[str, int] = {}
    for answer in asked.answers:
        found = [event for document in documents for event in document.events if _fits(answer, event)]
        assert found, f"{asked.text!r}: nothing is {answer}"
        for event in found:
            events[event.id] = max(answer.grade, events.get(event.id, 0))
            if answer.session:
                sessions[event.session] = max(answer.grade, sessions.get(event.session, 0))
    return Graded(asked, events, sessions)


def _fits(answer: Wanted, event: Event) -> bool:
    if answer.item:
        return event.id == answer.item
    return fnmatchcase(event.session, answer.session) and answer.says.casefold() in event.text.casefold()
