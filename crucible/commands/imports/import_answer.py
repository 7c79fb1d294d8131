"""Answer an import of whole folders if nothing at all has changed, without reading a log or a note.

The table of answers is a cache, `.crucible/cache/import-answers.json`.  Imports little, as every import asks it first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from crucible.clients.registry import DIALECTS, Dialect
from crucible.commands.imports.import_result import ImportReport, Search, UnreadableRow
from crucible.core.errors import CrucibleError
from crucible.core.file_stamps import digest_below, digest_of, stamp_at
from crucible.core.files import inside, make_folders, write_atomic
from crucible.core.settings.settings import VaultSettings

_FORMAT = 2
"""Increase when the meaning of an answer changes."""
_MOST = 8
"""Maximum answers kept: imports of other folders replace the oldest."""
_MEMORY = ("deleted.jsonl", "resumes.jsonl", "renames.jsonl")
"""Memory files that decide which note a session belongs to."""

Shown = tuple[Sequence[tuple[Search, ImportReport]], Sequence[UnreadableRow]]
"""What an import shows: the report of each search, and the paths that no known client wrote."""


class Question(NamedTuple):
    """A plain import of folders: `key` names them, `logs` is the state of everything in them; see `ask`."""

    root: str
    settings: VaultSettings
    key: str
    logs: str
    version: str
    places: tuple[str, ...]


def ask(
    root: str, settings: VaultSettings, version: str, places: Iterable[tuple[Sequence[Dialect], Path]]
) -> Question | None:
    """Return the question that an import of these folders asks; None if it cannot be answered from stamps alone.

    A path to a file cannot: other files beside it may matter.
    """
    walked: list[str] = []
    names: list[tuple[str, ...]] = []
    for dialects, path in places:
        if not path.is_dir() or path.with_name(f"{path.name}.jsonl").exists():
            return None
        below = dialects[0].client.logs_below if len(dialects) == 1 else ()
        walked += [str(path / name) for name in below if (path / name).is_dir()] or [str(path)]
        names.append((str(path), *(dialect.name for dialect in dialects)))
    key, now = digest_of(os.getcwd(), names), time.time_ns()
    logs, settled = digest_below(walked)
    return Question(root, settings, key, logs, version, tuple(walked)) if settled < now else None


def state_of_vault(question: Question) -> str:
    """Return the state of all that decides the answer apart from the logs; "" if a later write might leave the same."""
    root, settings = question.root, question.settings
    folders = [os.path.join(root, settings.sessions), os.path.join(root, ".crucible", "spool")]
    now = time.time_ns()
    notes, settled = digest_below([folder for folder in folders if os.path.isdir(folder)])
    memory = [stamp_at(os.path.join(root, ".crucible", "memory", name)) for name in _MEMORY]
    return digest_of(_FORMAT, question.version, settings, notes, memory) if settled < now else ""


def answer(question: Question) -> Shown | None:
    """Return what the import shows; None if something has changed."""
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, CrucibleError):
        known = _load(question)[question.key]
        is_now = known["at"] <= time.time() < known["until"]
        if known["logs"] != question.logs or not is_now or known["state"] != state_of_vault(question):
            return None
        if all(list(stamp_at(path) or ()) == stamp for path, stamp in known["beside"].items()):
            searches = [(_search(*each), _report(report)) for *each, report in known["searches"]]
            return searches, _rows(known["unknown"])
    return None


def keep(
    question: Question, state: str, beside: Mapping[str, Sequence[int] | None], shown: Shown, *, until: float
) -> None:
    """Keep an answer for imports before the time `until`.  It may fail.

    `beside` has the stamps of other files that decide it.
    """
    path = Path(question.root, ".crucible", "cache", "import-answers.json")
    inside_places = tuple(f"{place}{os.sep}" for place in question.places)
    with suppress(OSError, TypeError, CrucibleError):
        try:
            answers = _load(question)
        except (OSError, ValueError):
            answers = {}
        answers.pop(question.key, None)
        answers[question.key] = {
            "logs": question.logs,
            "state": state,
            "at": time.time(),
            "until": until,
            "beside": {name: stamp or [] for name, stamp in beside.items() if not name.startswith(inside_places)},
            "searches": [
                (search.dialect.name, [*map(str, search.paths)], search.is_sniffed, _report_data(report))
                for search, report in shown[0]
            ],
            "unknown": [(str(row.path), row.line, row.reason) for row in shown[1]],
        }
        make_folders(Path(question.root), path.parent)
        kept = dict([*answers.items()][-_MOST:])
        write_atomic(inside(Path(question.root), path), orjson.dumps(kept), fsync=False)


def _load(question: Question) -> dict[str, Any]:
    with open(os.path.join(question.root, ".crucible", "cache", "import-answers.json"), "rb") as file:
        loaded: dict[str, Any] = orjson.loads(file.read())
    return loaded


def _search(name: str, paths: Iterable[str], is_sniffed: bool) -> Search:
    return Search(DIALECTS[name], tuple(map(Path, paths)), is_sniffed)


def _report_data(report: ImportReport) -> dict[str, Any]:
    return {
        "unchanged": report.unchanged,
        "subagents": sorted(report.subagents),
        "sessions": report.sessions,
        "empty": [*map(str, report.empty)],
        "unreadable": [(str(row.path), row.line, row.reason) for row in report.unreadable],
        "unknown_rows": dict(report.unknown_rows),
        "left_out": dict(report.left_out),
    }


def _report(data: dict[str, Any]) -> ImportReport:
    return ImportReport(
        unchanged=tuple(data["unchanged"]),
        subagents=frozenset(data["subagents"]),
        sessions=data["sessions"],
        empty=tuple(map(Path, data["empty"])),
        unreadable=_rows(data["unreadable"]),
        unknown_rows=data["unknown_rows"],
        left_out=data["left_out"],
    )


def _rows(rows: Iterable[tuple[str, int, str]]) -> tuple[UnreadableRow, ...]:
    return tuple(UnreadableRow(Path(path), line, reason) for path, line, reason in rows)
