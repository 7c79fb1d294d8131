"""Find tasks by scope or by name, in notes and in the client's own lists.

Keep imports light: listing tasks reads no notes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from crucible.cli.environment import working_directory
from crucible.cli.index_access import query_index
from crucible.cli.vault_access import claude_folder, index_of, newest_session, project_here
from crucible.core.errors import CrucibleError, UnknownId, UsageError, VaultError
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.memory.tasks.overview import ClientLists, FoundTasks, Owner, TaskScope, tasks_with_prefix, with_stores
from crucible.memory.tasks.task import OpenTask, find_task, session_prefix, tasks_of
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault

if TYPE_CHECKING:
    from crucible.documents.session.session import Session


_MOST_OPENED = 20
"""Maximum notes with problems to search for a broken tasks block."""
_NO_LETTER = late_pattern(r"[^a-zA-Z0-9]")
_NOT_IN_LIST = late_pattern(r"[^a-zA-Z0-9_-]")
_LIST_ID = "CLAUDE_CODE_TASK_LIST_ID"


class OpenedTask(NamedTuple):
    """A task, its list, its session and the session's note; `note` is None if only the client has the list."""

    task: OpenTask
    tasks: tuple[OpenTask, ...]
    owner: Owner
    session: Session | None
    note: Path | None

    @property
    def is_ours(self) -> bool:
        """True if the task belongs to the current session."""
        return self.owner.id == our_session()

    @property
    def waits_for(self) -> tuple[OpenTask, ...]:
        """The unfinished tasks in the same list that this task depends on."""
        needs = set(self.task.needs) - {self.task.ref.id}
        return tuple(one for one in self.tasks if one.ref.id in needs and one.stage in ("pending", "in_progress"))

    def check_noted(self) -> Path:
        """Return the note with the task; raises `VaultError` if only the client has it: its lists are read-only."""
        if self.note is None or self.session is None:
            raise VaultError(
                f"{self.task.ref}: its session has not been imported", '"cru import claude-code" imports it'
            )
        if all(task.id != self.task.ref.id for task in self.session.tasks):
            raise VaultError(
                f"{self.task.ref}: it has not been imported yet",
                '"cru import claude-code" adds it to the note',
            )
        return self.note


def our_session() -> str:
    """Return the session named by CRU_SESSION, or ""."""
    return os.environ.get("CRU_SESSION", "")


def scope_of(root: Path, project: str | None, days: int, now: datetime, *, everything: bool) -> TaskScope:
    """Return the scope: everything, or one project's recent sessions (default: the working directory's project)."""
    if everything:
        return TaskScope(project or "")
    since = now - timedelta(days=min(days, 100_000))
    return TaskScope(project_here(root) if project is None else project, "", since)


def client_here(root: Path, project: str) -> ClientLists:
    """Return Claude Code's task lists; with a project, lists without a note count only if they began in its folder."""
    folder = claude_folder()
    if not project:
        return ClientLists(folder)
    here = working_directory() if project == project_here(root) else None
    names: set[str] = set()
    if here:
        with suppress(OSError):
            began = os.listdir(folder / "projects" / _NO_LETTER.sub("-", os.path.realpath(here)))
            names = {name.removesuffix(".jsonl") for name in began if name.endswith(".jsonl")}
        names |= _shared_list(folder)
    return ClientLists(folder, names)


def _shared_list(folder: Path) -> set[str]:
    """Return the list that Claude Code's sessions share, by its variable or by the user's settings of Claude Code."""
    named: object = os.environ.get(_LIST_ID)
    if not named:
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            named = json.loads((folder / "settings.json").read_bytes())["env"].get(_LIST_ID)
    # Claude Code replaces unusual characters in the folder's name.
    return {named, _NOT_IN_LIST.sub("-", named)} if isinstance(named, str) and named else set()


def open_task(vault: Vault, called: str) -> OpenedTask:
    """Find a task by name and read its note; raises the errors of `find_task` and of reading a note."""
    own = our_session()
    beginning = session_prefix(called)

    def is_wanted(name: str) -> bool:
        return bool(beginning) and name.startswith(beginning)

    def question(view: View) -> FoundTasks:
        found = tasks_with_prefix(view, beginning)
        if own and own not in found.owners:
            more = tasks_with_prefix(view, own)
            found = FoundTasks((*found.tasks, *more.tasks), {**found.owners, **more.owners})
        return with_stores(view, found, vault.root, claude_folder(), is_wanted=is_wanted)[0]

    found, _ = query_index(index_of(vault), question)
    try:
        named = find_task(called, found.tasks, own)
    except UnknownId:
        meant = [one for one in found.owners.values() if one.id == own or called.startswith(f"{one.id}.")]
        for line in broken_blocks(vault, meant):
            raise VaultError(line, "fix its JSON and try again") from None
        raise
    owner = found.owners[named.ref.session]
    listed = tuple(one for one in found.tasks if one.ref.session == owner.id)
    if not owner.path:
        return OpenedTask(named, listed, owner, None, None)
    note = vault.read(vault.root / owner.path)
    tasks = _with_full_texts(listed, tasks_of(note.session))
    task = next((one for one in tasks if one.ref == named.ref), named)
    return OpenedTask(task, tasks, owner, note.session, note.path)


def broken_blocks(vault: Vault, owners: Iterable[Owner]) -> Iterator[str]:
    """Yield a line for each broken tasks block in these sessions; only notes with problems are opened."""
    for owner in islice((one for one in owners if one.problems and one.path), _MOST_OPENED):
        with suppress(CrucibleError):
            note = vault.read(vault.root / owner.path)
            wrong = note.session.problems if "tasks" in note.source.text else ()
            yield from (f"{owner.id}:{one.line}: {one.message}" for one in wrong if one.code == "broken-tasks")


def _with_full_texts(listed: Sequence[OpenTask], noted: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """Return the tasks with their full text from the note, since the index shortens it."""
    words = {task.ref: task.content for task in noted}
    return tuple(replace(one, content=words.get(one.ref, one.content)) for one in listed)


def find_session(vault: Vault, named: str | None) -> str:
    """Return the session to add tasks to: the named one, or the newest open one of this project."""
    if named:
        return vault.read(vault.find(named)).name
    if found := newest_session(vault, project_here(vault.root), ("active", "paused")):
        return found
    raise UsageError(
        "no session: --session and CRU_SESSION are not set, and this project has no active or paused session",
        'export CRU_SESSION=$(cru record start "Fix it")',
    )
