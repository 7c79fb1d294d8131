"""Capture what is worth keeping from a session: detect candidates, keep or ask, and log what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from crucible.analysis.tools.recorded_calls import load_recorded_calls
from crucible.commands.capture.candidates import FAILURES, Candidate, CaptureProposal, Handling
from crucible.commands.capture.capture_log import (
    CaptureState,
    Remembered,
    append_states,
    captures_of,
    load_known,
    remembered,
    spend,
)
from crucible.commands.capture.detection import detect
from crucible.commands.capture.question import Ask, Interaction, Offer, OfferAnswer, QuestionBudget, budget_of
from crucible.commands.capture.saving import KeptCandidate, Saver
from crucible.commands.capture.selection import deserves_question, minutes_of, phases_of, redact_candidates, sort_out
from crucible.core.errors import BadSessionId, CrucibleError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.documents.knowledge.item_rules import Similar
from crucible.documents.session.session import Session
from crucible.documents.session.session_id import check_session_id
from crucible.memory.bookmarks.bookmark import load_bookmarks
from crucible.memory.history.history_folder import add_captures
from crucible.memory.knowledge.add_item import SimilarChoice
from crucible.memory.tasks.decision_flow import task_findings
from crucible.vault.notes.vault import Note, Vault


class Occasion(StrEnum):
    """When a capture takes place: at a session's end, at a task's end, or by a command."""

    END = "end"
    TASK = "task"
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Captured:
    """The result of a capture.

    - `kept`: items that were created or existed already; `record.state` shows which
    - `suggested`: candidates without an answer, highest confidence first, including those that are only listed
    - `skipped`, `deferred`: the user's answers in this capture
    - `silent`: what a dry run would have kept without asking
    - `problems`: messages for the user
    """

    session: str
    budget: QuestionBudget
    kept: tuple[KeptCandidate, ...] = ()
    suggested: tuple[CaptureProposal, ...] = ()
    skipped: tuple[CaptureProposal, ...] = ()
    deferred: tuple[CaptureProposal, ...] = ()
    silent: tuple[CaptureProposal, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def made(self) -> tuple[str, ...]:
        """The ids of the items that this capture created."""
        return tuple(one.record.item for one in self.kept if one.record.state is CaptureState.KEPT)


def capture_session(
    vault: Vault,
    note_path: Path,
    *,
    now: datetime,
    ask: Ask | None = None,
    when: Occasion = Occasion.END,
    task: str = "",
    folder: Path | None = None,
    redact: Redact | None = None,
    similar: Similar | None = None,
    choice: SimilarChoice | None = None,
    free: bool = False,
    again: bool = False,
    dry: bool = False,
) -> Captured:
    """Keep the candidates that need no question, ask about the others if a question is due, and log each state.

    - `ask`: asks the user, at most once, within the question budget and the settings
    - `free`: the answer comes from the command line, so nobody was asked
    - `task`: the id of the task that ended; only its findings and the evidence from its phases count
    - `folder`: the project's folder on this machine, for reading decision records
    - `again`: propose skipped candidates again
    - `dry`: write and ask nothing

    Nothing is asked or kept twice, even after an interrupted run. Raises `CrucibleError` if the note, the rules for
    secrets or the log cannot be read; other failures are added to `problems`.
    """
    note = vault.read(note_path)
    session = replace(note.session, id=_id_of(note))
    run = _CaptureRun(vault, session, now, when)
    candidates = detect(session, load_recorded_calls(vault.root, session.id))
    if not candidates:
        return Captured(session.id, run.budget())
    redact = redact or redact_of(vault.settings.secrets)
    saver = Saver(vault, note, now, redact, folder, choice, similar)
    found = sort_out(
        redact_candidates(_of_task(vault, session, task, candidates, now) if task else candidates, redact),
        run.known,
        vault.settings.capture,
        saver.repeats,
        again=again,
    )
    unasked = [one for way in (Handling.APPROVED, Handling.SILENT) for one in found if one.way is way]
    waiting = [one for way in (Handling.ASK, Handling.LIST) for one in found if one.way is way]
    if dry:
        return run.result(suggested=tuple(waiting), silent=tuple(unasked))
    run.save(saver, unasked)
    waiting += run.alike(unasked)
    answer = run.ask_user(ask, run.due(found, waiting), task, free=free)
    run.save(saver, run.approve(answer.chosen, redact))
    return run.finish(waiting, answer)


def _id_of(note: Note) -> str:
    """Return the session's id, or its note's name if the id is invalid."""
    try:
        return check_session_id(note.session.id)
    except BadSessionId:
        return note.name


def _of_task(
    vault: Vault, session: Session, task: str, candidates: Iterable[Candidate], now: datetime
) -> Iterator[Candidate]:
    """Yield a task's candidates: its findings and those of its phases, or all if its times are unknown."""
    phases = phases_of(session, task, now)
    if phases is None:
        yield from candidates
        return
    found = task_findings(vault.root, session).get(task, ())
    ours = frozenset(one.id for one in found)
    yield from (one for one in candidates if (one.finding in ours if one.finding else one.phase in phases))


class _CaptureRun:
    """The state of one capture: what is kept so far, and what the log contains."""

    def __init__(self, vault: Vault, session: Session, now: datetime, when: Occasion) -> None:
        self._vault, self._session, self._now, self._when = vault, session, now, when
        self.known = load_known(vault.root, session.id, session.project or "")
        self._states = dict(self.known.states)
        self._kept: dict[str, KeptCandidate] = {}
        self._problems: dict[str, None] = {}
        marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
        minutes = minutes_of(session, now, marks, timedelta(minutes=vault.settings.idle_minutes))
        self._whole = budget_of(minutes, vault.settings.capture.friction)

    def budget(self) -> QuestionBudget:
        """The session's remaining budget, counting the prompts of all processes."""
        return self._whole.after(*load_known(self._vault.root, self._session.id).spent)

    def save(self, saver: Saver, proposals: Iterable[CaptureProposal]) -> None:
        """Keep candidates as items and log them."""
        kept = [*saver.keep_all(proposals, self._problems)]
        self._kept.update((one.proposal.key, one) for one in kept)
        self._log(one.record for one in kept)

    def alike(self, proposals: Iterable[CaptureProposal]) -> Iterator[CaptureProposal]:
        """Yield candidates that were not kept because a similar item exists; they are listed for the user."""
        for one in proposals:
            kept = self._kept.get(one.key)
            if one.way is Handling.SILENT and kept and kept.record.state is CaptureState.ALIKE:
                yield one._replace(way=Handling.LIST, preselected=False, repeats=kept.record.item)

    # --- asking ------------------------------------------------------------------------------------------------------

    def ask_user(self, ask: Ask | None, due: Sequence[CaptureProposal], task: str, *, free: bool) -> OfferAnswer:
        """Return the user's answer, empty if the user is not asked."""
        if ask is None or not due:
            return OfferAnswer()
        # The budget limits questions at a session's or task's end, not those of a command.
        offered = tuple(due) if free or self._when is Occasion.ASKED else self._paid(due)
        if not offered:
            return OfferAnswer()
        if not free:
            self.remember(offered, CaptureState.ASKED)
        name, title = self._session.id, self._session.title or self._session.id
        return ask(Offer(name, title, offered, task, self.budget().left))

    def due(self, found: Sequence[CaptureProposal], waiting: Sequence[CaptureProposal]) -> Sequence[CaptureProposal]:
        """Return the candidates to ask about: all for a command, else those that justify a question now."""
        settings = self._vault.settings
        if self._when is Occasion.ASKED:
            return waiting
        if self._when is Occasion.END:
            is_due = settings.capture.prompt_on_end
        else:
            is_due = settings.tasks.capture_on_completion and deserves_question(found)
        return [one for one in waiting if is_due and one.way is Handling.ASK]

    def _paid(self, due: Sequence[CaptureProposal]) -> tuple[CaptureProposal, ...]:
        """Pay for a prompt; returns the candidates that the budget covers.

        At a task's end, all are deferred if it covers none.
        """
        root, fsync = self._vault.root, self._vault.settings.fsync
        for affordable, what in _priced_sets(due, self._when):
            try:
                if spend(root, self._session.id, what, self._whole, at=self._now, fsync=fsync):
                    return tuple(affordable)
            except CrucibleError as error:
                self._problems[f"no question was asked because the capture log cannot be written: {error}"] = None
                return ()
        if self._when is Occasion.TASK:
            self.remember(due, CaptureState.DEFERRED)
        return ()

    def approve(self, chosen: Sequence[CaptureProposal], redact: Redact) -> list[CaptureProposal]:
        """Redact the chosen candidates and log them as approved, before any is kept."""
        clean = redact_candidates((one.candidate for one in chosen), redact, strict=False)
        pairs = zip(chosen, clean, strict=True)
        made = [
            one._replace(candidate=candidate, way=Handling.APPROVED) for one, candidate in pairs if candidate.summary
        ]
        self.remember(made, CaptureState.APPROVED)
        return made

    # --- the result---------------------------------------------------------------------------------------------------

    def finish(self, waiting: Sequence[CaptureProposal], answer: OfferAnswer) -> Captured:
        """Log the answers and return the result.

        Candidates without an answer are logged as suggested, except at a task's end.
        """
        skipped = tuple(one for one in waiting if one.key in answer.skipped)
        deferred = tuple(one for one in waiting if one.key in answer.deferred)
        alike = {key for key, one in self._kept.items() if one.record.state is CaptureState.ALIKE}
        settled = {*self._kept, *answer.skipped, *(one.key for one in answer.chosen)} - alike
        left = tuple(one for one in waiting if one.key not in settled)
        self.remember(skipped, CaptureState.SKIPPED)
        self.remember(deferred, CaptureState.DEFERRED)
        if self._when is not Occasion.TASK:
            self.remember((one for one in left if one.key not in self._states), CaptureState.SUGGESTED)
        if self._when is not Occasion.END:
            self._update_history()
        return self.result(suggested=left, skipped=skipped, deferred=deferred)

    def result(self, **groups: tuple[CaptureProposal, ...]) -> Captured:
        """Return the result so far."""
        kept, problems = tuple(self._kept.values()), tuple(self._problems)
        return Captured(self._session.id, self.budget(), kept, problems=problems, **groups)

    def _update_history(self) -> None:
        """List the captures in an existing history. At a session's end, the history is written later."""
        name = self._session.id
        try:
            add_captures(self._vault, name, captures_of(self._vault.root, name))
        except CrucibleError as error:
            self._problems[f"not added to the session's history: {error}"] = None

    def remember(self, proposals: Iterable[CaptureProposal], state: CaptureState) -> None:
        """Log the state of each candidate."""
        self._log(remembered(one, state) for one in proposals)

    def _log(self, states: Iterable[Remembered]) -> None:
        """Append changed records to the log. A failure is added to the problems."""
        new = [one for one in states if self._states.get(one.key) != one]
        if not new:
            return
        self._states.update((one.key, one) for one in new)
        root, session, fsync = self._vault.root, self._session, self._vault.settings.fsync
        try:
            append_states(root, session.id, new, at=self._now, project=session.project or "", fsync=fsync)
        except CrucibleError as error:
            self._problems[f"the answers could not be recorded: {error}"] = None


def _priced_sets(
    due: Sequence[CaptureProposal], when: Occasion
) -> Iterator[tuple[Sequence[CaptureProposal], tuple[Interaction, ...]]]:
    """Yield sets of candidates with their cost, the largest first. Failures cost extra, so a smaller set omits them."""
    if when is Occasion.TASK:
        yield due, (Interaction.MID_SESSION_PROMPT,)
        return
    others = [one for one in due if one.candidate.kind not in FAILURES]
    if others and len(others) < len(due):
        yield due, (Interaction.CAPTURE_PROMPT, Interaction.FAILURE_REVIEW)
    yield others or due, (Interaction.CAPTURE_PROMPT if others else Interaction.FAILURE_REVIEW,)
