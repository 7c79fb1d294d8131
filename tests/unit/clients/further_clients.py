"""The recorded sessions of the clients that have no tests of their own, and how to change their logs."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crucible.clients.events import Event
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS
from tests.unit.clients.building import DATA

Row = dict[str, Any]


class Recorded(NamedTuple):
    """One recording: a client's folder with one session."""

    client: str
    name: str

    @property
    def folder(self) -> Path:
        return DATA / self.client / self.name

    def transcript(self) -> Transcript:
        (found,) = DIALECTS[self.client].find(self.folder)
        return found

    def events(self, agent: str = "") -> list[Event]:
        return list(DIALECTS[self.client].read(self.transcript(), agent))

    def copy(self, to: Path) -> Path:
        """Copy the session; the path of its log."""
        log = self.transcript().path
        shutil.copytree(self.folder, to / self.name)
        return to / self.name / log.relative_to(self.folder)

    def copied(self, folders: pytest.TempPathFactory) -> Path:
        """A copy of the log that is made once, for tests that write another each time."""
        return _copied(self, folders.getbasetemp() / f"{self.client}-{self.name}")


@cache
def _copied(recorded: Recorded, to: Path) -> Path:
    return recorded.copy(to)


RECORDED = [
    Recorded("copilot", "limiter"),
    Recorded("copilot", "refused"),
    Recorded("pi", "limiter"),
    Recorded("pi", "compacted"),
    Recorded("qwen-code", "limiter"),
    Recorded("qwen-code", "refused"),
    Recorded("cline", "agents"),
]
IDS = [f"{each.client}-{each.name}" for each in RECORDED]


def rows_of(log: Path) -> list[Row]:
    """The rows of JSON lines, or the messages of a document."""
    if log.suffix == ".jsonl":
        return [json.loads(line) for line in log.read_bytes().splitlines()]
    rows: list[Row] = json.loads(log.read_bytes())["messages"]
    return rows


def write_rows(log: Path, rows: list[Any]) -> None:
    """Put other rows into a log."""
    if log.suffix == ".jsonl":
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        document = json.loads(log.read_bytes())
        log.write_text(json.dumps({**document, "messages": rows}), encoding="utf-8")


def told(event: Event) -> str:
    """An event in one line, with what is not empty."""
    fields = dataclasses.asdict(event)
    at = fields.pop("at")
    plain = {key: value for key, value in fields.items() if value not in (None, "", (), {}, False, 0)}
    where = f"{at['line']} {at['row'][:8]}" + (f" {at['agent']}" if at["agent"] else "")
    return f"{where} {type(event).__name__} {json.dumps(plain, ensure_ascii=False, default=str)}"


def golden(recorded: Recorded) -> str:
    agents = ("", *(file.agent for file in recorded.transcript().subagents))
    return "".join(f"{told(event)}\n" for agent in agents for event in recorded.events(agent))


def leaves(value: object, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The place of every value in a row."""
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, Mapping):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    for key, each in inside:
        yield (*at, key)
        yield from leaves(each, (*at, key))
