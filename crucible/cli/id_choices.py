"""What a picker offers where a command's id was left out, newest first and this project's before others'.

Loaded only then.  A pipe gets an error that names the first ids instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

from crucible.cli.environment import cwd_and_projects, human_is_there
from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import Door
from crucible.cli.picker import Choice, pick
from crucible.commands.resume.choose_session import newest_first, paused_rows
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.text import age_words
from crucible.memory.bookmarks.bookmark import load_bookmarks
from crucible.vault.events.event_files import may_have_records
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, matching
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.index.time_filters import last_active
from crucible.vault.notes.note_heads import read_head
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS, find_notes, note_name

_MOST = 5000
"""Maximum things to offer."""
_NAMED = 10
"""Maximum ids in the error for a pipe."""
_PREVIEW = 40
"""Maximum lines of a note to read for its preview."""
_NO_PROSE = ("```", "[", "]", "{", "<!--", "started::", "ended::", "tokens::", "status::")
"""Beginnings of lines that a preview leaves out."""
_OVER = ("completed", "cancelled", "deleted")

_FIELD = late_pattern(r"(?m)^(title|type|case_type|status):[ \t]*[\"']?(.*?)[\"']?[ \t]*\r?$")

Offered = Callable[[Index, View, str], Iterable[Choice]]
"""Yields the choices in a vault's index; the last argument is the project of the working directory."""


def choose_id(door: Door, kind: str, *, optional: bool = False) -> str:
    """Let the user choose one of a kind in `OFFERED`.

    Without a terminal or with nothing to choose, returns "" if the choice is `optional`, else raises `UsageError`.
    Raises `click.Abort` if the user chooses none.
    """
    is_there = human_is_there(door)
    if optional and not is_there:
        return ""
    index = open_index(door)
    project = project_of(*cwd_and_projects(index.root))
    what, command, offered = OFFERED[kind]
    choices, _ = query_index(index, lambda view: [*islice(offered(index, view, project), _MOST)])
    if not choices:
        if optional:
            return ""
        raise UsageError(f"no {what} given, and the vault has none", f'Run "{command}" to see all.')
    if not is_there:
        some = ", ".join(one.id for one in choices[:_NAMED]) + (", …" if len(choices) > _NAMED else "")
        raise UsageError(f"no {what} given", f'Name one: {some}. Run "{command}" to see all.')
    return pick(choices, what)


# --- sessions --------------------------------------------------------------------------------------------------------


def _sessions(index: Index, view: View, project: str, keep: Callable[[Row], bool] = lambda _: True) -> Iterator[Choice]:
    rows = [row for row in islice(matching(view, SessionQuery()), _MOST) if keep(row)]
    return _session_choices(index, rows, project)


def _session_choices(index: Index, rows: Iterable[Row], project: str) -> Iterator[Choice]:
    """Yield the sessions of the project before the others, each in the given order."""
    now = datetime.now(UTC)
    for row in sorted(rows, key=lambda row: str(row["project"] or "").lower() != project.lower()):
        at = last_active(row)
        facts = (str(row["project"] or ""), age_words(now - at) if at else "", str(row["status"] or ""))
        path = os.path.join(index.root, path_of_cell(str(row["path"])))
        yield Choice(str(row["id"]), str(row["title"] or row["id"]), _joined(facts), partial(_preview, path))


def _to_resume(index: Index, view: View, project: str) -> Iterator[Choice]:
    """Yield paused sessions; the first is the one that would be resumed unasked."""
    rows = {str(row["id"]): row for row in matching(view, SessionQuery(status="paused"))}
    first = newest_first(paused_rows(view, project), load_bookmarks(Path(index.root)).found)
    ids = dict.fromkeys([*(one.id for one in first), *rows])
    return _session_choices(index, [rows[name] for name in ids if name in rows], project)


def _archived(index: Index, view: View, project: str) -> Iterator[Choice]:
    rows = [row for row in matching(view, SessionQuery(archived=True)) if row["archived"]]
    return _session_choices(index, rows[:_MOST], project)


def _to_end(index: Index, view: View, project: str) -> Iterator[Choice]:
    return _sessions(index, view, project, lambda row: row["status"] in ("active", "paused"))


def _with_history(index: Index, view: View, project: str) -> Iterator[Choice]:
    names = {note_name(name).removesuffix("-history") for name in _names_in(index.root, "history")}
    return _sessions(index, view, project, lambda row: row["id"] in names)


def _with_events(index: Index, view: View, project: str) -> Iterator[Choice]:
    return _sessions(index, view, project, lambda row: may_have_records(Path(index.root), str(row["id"])))


# --- other things ----------------------------------------------------------------------------------------------------


def _tasks(index: Index, view: View, project: str) -> Iterator[Choice]:
    """Yield open tasks, those in progress first, then those of this project and of the newest sessions."""
    rows = {row["path"]: row for row in islice(matching(view, SessionQuery()), _MOST)}
    places = {path: at for at, path in enumerate(rows)}
    tasks = [row for row in view.rows("tasks") if row["path"] in rows and row["status"] not in _OVER]

    def order(row: Row) -> tuple[bool, bool, int]:
        of = str(rows[row["path"]]["project"] or "").lower()
        return row["status"] != "in_progress", of != project.lower(), places[row["path"]]

    for row in sorted(tasks, key=order):
        session = rows[row["path"]]
        facts = (str(session["project"] or ""), str(row["status"] or "").replace("_", " "))
        path = os.path.join(index.root, path_of_cell(str(row["path"])))
        name = f"{session['id']}.{row['task_id']}"
        yield Choice(name, str(row["content"] or name), _joined(facts), partial(_preview, path))


def _notes_of(folder: str, index: Index, _: View, __: str, *, status: str = "") -> Iterator[Choice]:
    """Yield the notes in a folder, those that changed last first; with `status`, only those that have it."""
    root = Path(index.root)
    paths = [place / name for place, names in find_notes(root, root / folder) for name in names]
    for path in sorted(paths, key=_modified, reverse=True):
        head = ""
        with suppress(OSError):
            head = read_head(str(path)).decode("utf-8", "replace")
        fields = dict(_FIELD.findall(head))
        if not status or fields.get("status") == status:
            name = note_name(path.name)
            facts = (fields.get("case_type") or fields.get("type", ""), fields.get("status", ""))
            yield Choice(name, fields.get("title") or name, _joined(facts), partial(_preview, str(path)))


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _names_in(root: str, folder: str) -> Iterator[str]:
    return (name for _, names in find_notes(Path(root), Path(root, folder)) for name in names)


def _joined(facts: Iterable[str]) -> str:
    return " · ".join(filter(None, facts))


def _preview(path: str) -> Sequence[str]:
    """Return the first lines of a note below its properties; none if it cannot be read."""
    try:
        head = len(read_head(path))
        with open(path, "rb") as file:
            file.seek(head)
            lines = [file.readline(2000).decode("utf-8", "replace").strip() for _ in range(_PREVIEW)]
    except OSError:
        return []
    return [line for line in lines if line and not line.startswith(_NO_PROSE)]


OFFERED: dict[str, tuple[str, str, Offered]] = {
    "session": ("session", "cru session list", _sessions),
    "session to resume": ("session", "cru session list --status paused", _to_resume),
    "session to end": ("session", "cru session list --status active", _to_end),
    "archived session": ("session", "cru session list --archived", _archived),
    "history": ("session", "cru history list", _with_history),
    "events": ("session", "cru events list", _with_events),
    "task": ("task", "cru task list", _tasks),
    "case": ("case", "cru case list", partial(_notes_of, CASES, status="proposed")),
    "item": ("item", "cru knowledge list", partial(_notes_of, KNOWLEDGE)),
    "workflow": ("workflow", "cru workflow list", partial(_notes_of, WORKFLOWS)),
}
"""Kinds of things to choose from: their name, the command that lists them all, and what is offered."""
