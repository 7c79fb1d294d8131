"""What a user calls a task: `SESSION.TASK`, or a beginning of that which fits no other; in a session's own surroundings the task's id alone.

Owns what such a name means.  A session's id may hold dots, and a task's anything, so each dot (and `#`, as links write it) is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.core.errors import UsageError, VaultError
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.memory.tasks.task import OpenTask

_MARK = late_pattern(r"[.#]")
_SHOWN = 10
"""Tasks that a message names."""


def beginning_of(called: str) -> str:
    """With what the id of the session begins, whichever dot is meant."""
    return _MARK.split(called, maxsplit=1)[0]


def find_task(called: str, tasks: Sequence[OpenTask], session: str = "") -> OpenTask:
    """The task that is called so, of all in whose session's id `beginning_of` it stands and those of `session`, the one we are in.

    Raises `VaultError` where there is none, and `UsageError` with the candidates where there are several.
    """
    own = [task for task in tasks if session and task.ref == (session, called)]
    exact = own or [task for task in tasks if str(task.ref) == called.replace("#", ".", 1)]
    found = exact[:1] or list(_of_split(called, tasks)) or [t for t in tasks if str(t.ref).startswith(called)]
    if not called or not found:
        raise VaultError(f"no task {normal_line(called)[:80]!r}", "`cru task list --all` tells what there is")
    if len(found) > 1:
        names = ", ".join(str(task.ref) for task in found[:_SHOWN])
        more = " …" if len(found) > _SHOWN else ""
        raise UsageError(f"{called!r} fits {len(found)} tasks", f"one of: {names}{more}")
    return found[0]


def _of_split(called: str, tasks: Sequence[OpenTask]) -> Iterator[OpenTask]:
    """The tasks with exactly this id in sessions that begin so; the longest beginning of a session counts."""
    for mark in reversed(list(_MARK.finditer(called))):
        session, ident = called[: mark.start()], called[mark.end() :]
        found = [t for t in tasks if t.ref.id == ident and t.ref.session.startswith(session)]
        if session and ident and found:
            exact = [task for task in found if task.ref.session == session]
            yield from exact[:1] or found
            return
