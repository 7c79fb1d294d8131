"""What is written once a session has stopped: captures, its history, decisions for its tasks, memory.

`after_stop` is the one place for it: an end, a pause, a client that is gone, a run of a workflow, and an import of more rows all call it.  A step that
fails is a line, and the next one is taken all the same.  The caller says who may be asked: a person, a model, recall.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from crucible.agents.asking import Asker
from crucible.capture.asking import Ask
from crucible.capture.keeping import Captured, capture_session
from crucible.capture.records import captures_of
from crucible.errors import CrucibleError
from crucible.history.keeping import entry_path, load_entries, prune, too_many
from crucible.history.making import Made, make_history
from crucible.history.memories import remember
from crucible.history.model import NO_CAPTURES, Captures
from crucible.recall.model import Recall
from crucible.secrets import Redact
from crucible.secrets.redacting import redact_of, remembering
from crucible.tasks.creating import annotate_new
from crucible.tasks.flowing import hand_on
from crucible.tasks.model import Stage
from crucible.tasks.reading import tasks_of
from crucible.vault.store import Note, Vault

__all__ = ["Ended", "Helpers", "after_stop"]

_Result = TypeVar("_Result")

OpenRecall: TypeAlias = "Callable[[], Recall]"


class Helpers(NamedTuple):
    """Who may be asked: a model that tells the history, a human what is worth keeping, recall what is known for new tasks.

    None is asked where it is None.  `folder` is where the session's project is on this machine, `roots` are all of its folders there.
    """

    asker: Asker | None = None
    ask: Ask | None = None
    recall: OpenRecall | None = None
    folder: Path | None = None
    roots: Sequence[str] = ()


class Ended(NamedTuple):
    """What came of it; `history` is None where none could be written.

    `said` are lines on what was done beside it, such as what was pruned, `problems` lines on what could not be done.
    """

    history: Made | None = None
    captured: Captured | None = None
    said: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


NOBODY = Helpers()
_MOST_ASKED = 50
"""Tasks for which recall is asked at a session's end; it is asked for any other when that is picked up."""


def after_stop(
    vault: Vault, path: Path, *, now: datetime, helpers: Helpers = NOBODY, updates: bool = False
) -> Ended:
    """Take every step for the session whose note is at `path`; never raises for what one of them comes to.

    It may be repeated at any time: nothing is stored twice, and a person's edits stay.  With `updates` a session without a history is left alone, and
    nothing is captured: an import brings rows of many sessions, and what they came to is composed when somebody asks.  Nothing is done
    for a subagent's session: its parent's history covers it.
    """
    if updates and not _has_history(vault, path):
        return Ended()
    steps = _Steps()
    redact = steps.take("secrets", lambda: remembering(redact_of(vault.settings.secrets)))
    note = steps.take("the session's note", lambda: _read(vault, path))
    if redact is None or note is None:  # nothing may be written then, or nothing is known
        return Ended(problems=tuple(steps.problems))
    if note.session.parent and _is_there(vault, note.session.parent):
        return Ended()
    work = _Work(vault, note, now, redact, helpers)
    captured = None if updates else steps.take("capture", lambda: _capture(work))
    captures = (
        steps.take("what was captured", lambda: captures_of(vault.root, note.session.id)) or NO_CAPTURES
    )
    made = steps.take("history", lambda: _make(work, captures))
    steps.take("tasks", lambda: steps.problems.extend(_hand_on(work)))
    steps.take("memory", lambda: remember(vault, note.session, now=now, redact=redact, roots=helpers.roots))
    pruned: list[str] = []
    if not updates:
        steps.take("pruning", lambda: pruned.extend(_prune(vault, now, steps.problems)))
    told = [*(captured.problems if captured else ()), *(made.problems if made else ())]
    problems = tuple(dict.fromkeys([*told, *steps.problems]))
    return Ended(made, captured, tuple(pruned), problems)


class _Work(NamedTuple):
    """What every step is given."""

    vault: Vault
    note: Note
    now: datetime
    redact: Redact
    helpers: Helpers


class _Steps:
    """What went wrong so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def take(self, what: str, step: Callable[[], _Result]) -> _Result | None:
        """The step's result, None for one that failed."""
        try:
            return step()
        except CrucibleError as error:
            self.problems.append(f"{what}: {error}{f' ({error.hint})' if error.hint else ''}")
        except Exception as error:  # noqa: BLE001  the session has ended, whatever comes after it
            line = " ".join(str(error).split())[:200]
            self.problems.append(f"{what}: {type(error).__name__}: {line}")
        return None


def _read(vault: Vault, path: Path) -> Note:
    note = vault.read(path)
    _ = note.session  # understood now, so that what keeps it from that is told once
    return note


def _has_history(vault: Vault, path: Path) -> bool:
    """The id is the name of the note."""
    with suppress(CrucibleError):
        return entry_path(vault, path.stem).is_file()
    return False


def _is_there(vault: Vault, session_id: str) -> bool:
    try:
        return vault.find(session_id).is_file()
    except CrucibleError:
        return False


def _capture(work: _Work) -> Captured:
    vault, note, now, redact, helpers = work
    return capture_session(
        vault, note.path, now=now, ask=helpers.ask, asker=helpers.asker, folder=helpers.folder, redact=redact
    )


def _make(work: _Work, captures: Captures) -> Made:
    vault, note, now, redact, helpers = work
    return make_history(
        vault, note, now=now, redact=redact, asker=helpers.asker, captures=captures, roots=helpers.roots
    )


def _hand_on(work: _Work) -> Iterable[str]:
    vault, session = work.vault, work.note.session
    yield from hand_on(vault, session, now=work.now, redact=work.redact)
    tasks = [task for task in tasks_of(session) if task.stage not in (Stage.COMPLETED, Stage.DROPPED)]
    del tasks[_MOST_ASKED:]
    if work.helpers.recall and tasks:
        made = annotate_new(vault, tasks, work.helpers.recall(), now=work.now, redact=work.redact)
        yield from (f"task {ref.id}: {why}" for ref, why in made.failed)


def _prune(vault: Vault, now: datetime, problems: list[str]) -> list[str]:
    """What goes because the settings say so, each with where it can be found."""
    settings = vault.settings.history
    if settings.prune != "at_end":
        return []
    said: list[str] = []
    gone = too_many(load_entries(vault), now, settings.max_entries, settings.max_age_days)
    prune(
        vault,
        gone,
        lambda path, where: said.append(f"history: pruned {path.name}: {where}"),
        lambda error: problems.append(str(error)),
    )
    return said
