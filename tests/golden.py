"""Golden files: what was written down, compared with what is made now.  `CRUCIBLE_GOLDEN=1` writes them again."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from crucible.clients.events import Event


def check_file(path: Path, made: str | bytes) -> None:
    """`made` is what the file holds."""
    data = made.encode() if isinstance(made, str) else made
    if _is_renewed():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if isinstance(made, str):
        assert made == path.read_text(encoding="utf-8")
    assert isinstance(made, str) or made == path.read_bytes()


def check_notes(folder: Path, made: Mapping[str, str]) -> None:
    """The notes of a folder are `made`, by their paths in it, and no others."""
    if _is_renewed():
        for old in folder.rglob("*.md"):
            old.unlink()
        for name, text in made.items():
            check_file(folder / name, text)
    notes = folder.rglob("*.md")
    assert made == {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in notes}


def events_text(logs: Mapping[str, Iterable[Event]]) -> str:
    """The events of each log as JSON."""
    told = {
        log: [{"event": type(event).__name__, **dataclasses.asdict(event)} for event in events]
        for log, events in logs.items()
    }
    return json.dumps(told, ensure_ascii=False, indent=1, default=str) + "\n"


def _is_renewed() -> bool:
    return bool(os.environ.get("CRUCIBLE_GOLDEN"))
