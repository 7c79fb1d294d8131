"""The steps after a session stops: review, capture, history, decisions for its tasks, and memory.

They run after an end, a pause, a client's exit, a workflow run or an import. If a step fails, one line reports it and
the next step still runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from crucible.analysis.review.agent_questions import BUDGET, Budget
from crucible.analysis.review.session_review import review
from crucible.clients.launch.ask import Asker
from crucible.commands.capture.capture import Captured, capture_session
from crucible.commands.capture.capture_log import captures_of
from crucible.commands.capture.question import Ask
from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.core.secrets.scanner import Redact
from crucible.documents.session.session import Session
from crucible.memory.history.history import NO_CAPTURES
from crucible.memory.history.history_folder import entry_path, load_entries, prune, too_many
from crucible.memory.history.history_update import MadeHistory, make_history
from crucible.memory.history.memory_log import remember
from crucible.memory.tasks.decision_flow import pass_on_decisions
from crucible.memory.tasks.task import Stage, tasks_of
from crucible.memory.tasks.task_knowledge import annotate_new
from crucible.search.recall import Recall
from crucible.vault.notes.vault import Note, Vault

_Result = TypeVar("_Result")

OpenRecall: TypeAlias = "Callable[[], Recall]"


class StopHelpers(NamedTuple):
    """Optional helpers: an agent that reviews the session, a question to the user, and recall for new tasks.

    A helper that is None is not used. `folder` is the project's folder on this machine; `roots` lists all its folders.
    """

    asker: Asker | None = None
    budget: Budget = BUDGET
    ask: Ask | None = None
    recall: OpenRecall | None = None
    folder: Path | None = None
    roots: Sequence[str] = ()


class StopResult(NamedTuple):
    """The results of the steps; `history` is None if none was written.

    `done` has lines about other work, such as pruning; `problems` has a line for each failed step.
    """

    history: MadeHistory | None = None
    captured: Captured | None = None
    done: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


NOBODY = StopHelpers()
_MOST_ASKED = 50
"""Maximum tasks for which recall is queried at a session's end; for others it is queried when they are picked."""


def after_stop(
    vault: Vault, path: Path, *, now: datetime, helpers: StopHelpers = NOBODY, updates: bool = False
) -> StopResult:
    """Run every step for the session whose note is at `path`; never raises if a step fails.

    Running it again stores nothing twice and keeps the user's edits. With `updates`, as after an import, nothing is
    captured and sessions without a history are skipped. Subagents' sessions are always skipped, since the parent's
    history covers them.
    """
    if updates and not _exists(lambda: entry_path(vault, path.stem)):  # the note's name is the session's id
        return StopResult()
    steps = _Steps()
    redact = steps.take("secrets", lambda: caching_redact(redact_of(vault.settings.secrets)))
    note = steps.take("the session's note", lambda: _read(vault, path))
    if redact is None or note is None:  # redaction is unavailable, or the note cannot be read
        return StopResult(problems=tuple(steps.problems))
    roots, lines = helpers.roots, list[str]()
    parent = note.session.parent or ""
    if parent and _exists(lambda: vault.find(parent)):
        return StopResult()
    if helpers.asker and not updates:
        asker = helpers.asker
        reviewed = steps.take(
            "what mattered",
            lambda: review(vault, path, asker, now=now, redact=redact, budget=helpers.budget, again=False),
        )
        lines += [reviewed.line] if reviewed and reviewed.line else []
        steps.problems += [f"what mattered: {reviewed.problem}"] if reviewed and reviewed.problem else []
        note = steps.take("the session's note", lambda: _read(vault, path)) or note
    session = note.session
    captured = made = None
    if not updates:
        captured = steps.take(
            "capture",
            lambda: capture_session(vault, path, now=now, ask=helpers.ask, folder=helpers.folder, redact=redact),
        )
    captures = steps.take("what was captured", lambda: captures_of(vault.root, session.id)) or NO_CAPTURES
    made = steps.take(
        "history",
        lambda: make_history(vault, note, redact=redact, captures=captures, roots=roots),
    )
    steps.take("tasks", lambda: steps.problems.extend(_hand_on(vault, session, now, redact, helpers.recall)))
    steps.take("memory", lambda: remember(vault, session, now=now, redact=redact, roots=roots))
    pruned = None if updates else steps.take("pruning", lambda: _prune(vault, now, steps.problems))
    problems = captured.problems if captured else ()
    return StopResult(made, captured, (*lines, *(pruned or ())), tuple(dict.fromkeys([*problems, *steps.problems])))


class _Steps:
    """Runs steps and collects their problems."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def take(self, what: str, step: Callable[[], _Result]) -> _Result | None:
        """Return the step's result, None if it failed."""
        try:
            return step()
        except CrucibleError as error:
            self.problems.append(f"{what}: {error}{f' ({error.hint})' if error.hint else ''}")
        except Exception as error:  # noqa: BLE001  the session has ended, so the other steps must still run
            line = " ".join(str(error).split())[:200]
            self.problems.append(f"{what}: {type(error).__name__}: {line}")
        return None


def _read(vault: Vault, path: Path) -> Note:
    note = vault.read(path)
    _ = note.session  # parsed here, so that a problem is reported only once
    return note


def _exists(place: Callable[[], Path]) -> bool:
    with suppress(CrucibleError):
        return place().is_file()
    return False


def _hand_on(vault: Vault, session: Session, now: datetime, redact: Redact, recall: OpenRecall | None) -> Iterable[str]:
    yield from pass_on_decisions(vault, session, now=now, redact=redact)
    tasks = [task for task in tasks_of(session) if task.stage not in (Stage.COMPLETED, Stage.DROPPED)]
    if recall and tasks:
        made = annotate_new(vault, tasks[:_MOST_ASKED], recall(), now=now, redact=redact)
        yield from (f"task {ref.id}: {why}" for ref, why in made.failed)


def _prune(vault: Vault, now: datetime, problems: list[str]) -> list[str]:
    """Prune histories by the settings; returns a line for each pruned one."""
    settings = vault.settings.history
    if settings.prune != "at_end":
        return []
    lines: list[str] = []
    surplus = too_many(load_entries(vault), now, settings.max_entries, settings.max_age_days)
    prune(
        vault,
        surplus,
        lambda path, where: lines.append(f"history: pruned {path.name}: {where}"),
        lambda error: problems.append(str(error)),
    )
    return lines
