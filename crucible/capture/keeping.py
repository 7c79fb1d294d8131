"""What of a session is worth keeping: found, sorted, kept or asked about, and remembered.

Owns the order of it and what is put to a human when.  Each step has a module of its own: `detecting`, `routing`, `silent`, `friction`, `records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeAlias

from crucible.acts.evidence import Evidence, load_evidence
from crucible.bookmarks.keeping import load_bookmarks
from crucible.capture.asking import Answer, Ask, Offer, Proposal
from crucible.capture.detecting import detect
from crucible.capture.friction import Budget, Interaction, budget_of
from crucible.capture.model import Candidate
from crucible.capture.records import Known, Remembered, State, append_states, captures_of, load_known, spend
from crucible.capture.routing import FAILURES, Judge
from crucible.capture.saving import Kept, Saver
from crucible.capture.silent import keep_all
from crucible.capture.sorting import Sorted, deserves_question, minutes_of, sort_out, told_safely
from crucible.errors import BadSessionId, CrucibleError
from crucible.history.keeping import add_captures
from crucible.knowledge.adding import Choice
from crucible.knowledge.noise import Similar
from crucible.secrets.redacting import redact_of
from crucible.secrets.scanner import Redact
from crucible.session.identity import check_session_id
from crucible.session.model import Session
from crucible.vault.store import Note, Vault

__all__ = ["Captured", "Detect", "When", "capture_session"]

Detect: TypeAlias = "Callable[[Session, Evidence], Sequence[Candidate]]"


class When(StrEnum):
    """What gave rise to it: a session's end, a task's end, or somebody who asked for it."""

    END = "end"
    TASK = "task"
    ASKED = "asked"


@dataclass(frozen=True, slots=True)
class Captured:
    """What came of it.

    `kept` are the items that were made, or are there already (`said.state` says which).  `suggested` waits for an answer, the surest first; `unsure` of them
    are listed and never asked about.  `skipped` and `deferred` are this time's answers.  `silent` is what a dry run would have kept.
    `problems` are lines for the reader.
    """

    session: str
    budget: Budget
    kept: tuple[Kept, ...] = ()
    suggested: tuple[Proposal, ...] = ()
    unsure: frozenset[str] = frozenset()
    skipped: tuple[Proposal, ...] = ()
    deferred: tuple[Proposal, ...] = ()
    silent: tuple[Proposal, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def made(self) -> tuple[str, ...]:
        """The ids of the items that came of it; what was known before, or had no room, is none of them."""
        return tuple(one.said.item for one in self.kept if one.said.state is State.KEPT)


def capture_session(
    vault: Vault,
    note_path: Path,
    *,
    now: datetime,
    ask: Ask | None = None,
    judge: Judge | None = None,
    when: When = When.END,
    task: str = "",
    folder: Path | None = None,
    redact: Redact | None = None,
    similar: Similar | None = None,
    choice: Choice | None = None,
    free: bool = False,
    again: bool = False,
    dry: bool = False,
    find: Detect | None = None,
) -> Captured:
    """Keep of a session what needs no question, ask about the rest where that is due, and remember what became of each.

    `ask` asks a human (`cli.capturing_dialogue.terminal_ask`); None where there is none: then only what needs no question is kept.  It is called at most
    once, within the friction budget and the settings, and costs nothing when the answer is `free`, since the command line gave it.  `judge` says where
    failures come from (`routing.judge_of` for a model), by default rules do.  `task` is the id of the task that ended: only what was
    found since it began counts.  `folder` is where the session's project is on this machine: decision records are read there.  What was skipped
    counts `again` when that is wished; a `dry` run writes and asks nothing.

    What was answered is never asked again, what was kept is not kept twice, also by one that was killed.  Raises `CrucibleError` where the note cannot
    be read, the secrets not looked for, or what is remembered not read; what cannot be kept or noted is a line in `problems`.  `find` is who finds
    candidates, by default `detecting`.
    """
    note = vault.read(note_path)
    session = replace(note.session, id=_id_of(note))
    known = load_known(vault.root, session.id, session.project or "")
    marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
    lasted = minutes_of(session, now, marks, timedelta(minutes=vault.settings.idle_minutes))
    budget = budget_of(lasted, vault.settings.capture.friction)
    candidates = (find or detect)(session, load_evidence(vault.root, session.id))
    if not candidates:
        return Captured(session.id, _after(budget, known))
    redact = redact or redact_of(vault.settings.secrets)
    safe = told_safely(candidates, redact)
    found = sort_out(session, safe, known, vault.settings.capture, judge, task=task, now=now, again=again)
    if dry:
        silent = (*found.approved, *found.silent)
        return Captured(
            session.id, _after(budget, known), suggested=found.open, unsure=found.unsure, silent=silent
        )
    run = _Run(_Occasion(vault, session, now, when, task, free, budget), known)
    saver = Saver(vault, note, now, redact, folder, choice, similar)
    run.save(saver, found.approved, silent=False)
    run.save(saver, found.silent, silent=True)
    found = replace(found, listed=(*found.listed, *run.alike(found.silent)))
    answer = run.asked(ask, found)
    run.save(saver, run.approve(answer.chosen, redact), silent=False)
    return run.told(found, answer)


def _id_of(note: Note) -> str:
    """The session's id; its note's name where a human wrote what is none."""
    try:
        return check_session_id(note.session.id)
    except BadSessionId:
        return note.name


def _after(budget: Budget, known: Known) -> Budget:
    for one in known.spent:
        budget = budget.after(*one)
    return budget


class _Occasion(NamedTuple):
    """What one time through is about; `budget` is the session's before anything was spent."""

    vault: Vault
    session: Session
    now: datetime
    when: When
    task: str
    free: bool
    budget: Budget


class _Run:
    """One time through: what was kept so far, and what is remembered."""

    def __init__(self, here: _Occasion, known: Known) -> None:
        self._here = here
        self._states = dict(known.states)
        self._kept: dict[str, Kept] = {}
        self._problems: dict[str, None] = {}

    def save(self, saver: Saver, proposals: Iterable[Proposal], *, silent: bool) -> None:
        """Make items, and remember that they are there."""
        came = keep_all(saver, proposals, silent=silent)
        self._kept.update((one.proposal.key, one) for one in came.kept)
        self._problems.update(dict.fromkeys(came.problems))
        self._remember(one.said for one in came.kept)

    def alike(self, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
        """Those of them that were not kept because something like them is known: a human may see it otherwise."""
        for one in proposals:
            if one.key in self._kept and self._kept[one.key].said.state is State.ALIKE:
                yield one._replace(preselected=False)

    # --- asking --------------------------------------------------------------------------------------------------------

    def asked(self, ask: Ask | None, found: Sorted) -> Answer:
        """A human's answer, empty where nobody was to be asked."""
        here = self._here
        put = self._put(found)
        if ask is None or not put:
            return Answer()
        if not here.free:
            put = self._paid(put)
            self._remember(_said(one, State.ASKED) for one in put)
        if not put:
            return Answer()
        title = here.session.title or here.session.id
        return ask(Offer(here.session.id, title, put, here.task, self._budget().left))

    def _put(self, found: Sorted) -> tuple[Proposal, ...]:
        """What is put to a human: to one who asked for it all, else what is due."""
        settings = self._here.vault.settings
        match self._here.when:
            case When.ASKED:
                return found.open
            case When.END:
                return found.asked if settings.capture.prompt_on_end else ()
            case When.TASK:
                due = settings.tasks.capture_on_completion and deserves_question(found)
                return found.asked if due else ()

    def _paid(self, put: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
        """What the budget allows to put; at a task's end what it does not allow is put off."""
        here = self._here
        fsync = here.vault.settings.fsync
        for some, what in _ways_to_pay(put, here.when):
            try:
                if spend(here.vault.root, here.session.id, what, here.budget, at=here.now, fsync=fsync):
                    return some
            except CrucibleError as error:
                self._problems[f"nobody is asked, since that could not be noted: {error}"] = None
                return ()
        if here.when is When.TASK:
            self._remember(_said(one, State.DEFERRED) for one in put)
        return ()

    def approve(self, chosen: Sequence[Proposal], redact: Redact) -> list[Proposal]:
        """What a human chose, without secrets that he typed; remembered before anything is made of it."""
        clean = told_safely((one.candidate for one in chosen), redact, strict=False)
        made = [
            one._replace(candidate=candidate)
            for one, candidate in zip(chosen, clean, strict=True)
            if candidate.summary
        ]
        self._remember(_said(one, State.APPROVED) for one in made)
        return made

    # --- telling -------------------------------------------------------------------------------------------------------

    def told(self, found: Sorted, answer: Answer) -> Captured:
        """All that came of it; what nobody answered for is remembered as suggested, but at a task's end, since the session's follows."""
        shown = {one.key: one for one in found.open}
        skipped = tuple(shown[key] for key in answer.skipped if key in shown)
        deferred = tuple(shown[key] for key in answer.deferred if key in shown)
        alike = {key for key, one in self._kept.items() if one.said.state is State.ALIKE}
        gone = {*self._kept, *answer.skipped, *(one.key for one in answer.chosen)} - alike
        left = tuple(one for key, one in shown.items() if key not in gone)
        self._remember(_said(one, State.SKIPPED) for one in skipped)
        self._remember(_said(one, State.DEFERRED) for one in deferred)
        self._remember(_said(one, State.DROPPED) for one in found.dropped)
        if self._here.when is not When.TASK:
            self._remember(_said(one, State.SUGGESTED) for one in left if one.key not in self._states)
        if self._here.when is not When.END:
            self._tell_history()
        return Captured(
            self._here.session.id,
            self._budget(),
            tuple(self._kept.values()),
            left,
            found.unsure,
            skipped,
            deferred,
            problems=tuple(self._problems),
        )

    def _tell_history(self) -> None:
        """Have the history that an end wrote before list what became of each; the end that we are part of tells it itself."""
        vault, name = self._here.vault, self._here.session.id
        try:
            add_captures(vault, name, captures_of(vault.root, name))
        except CrucibleError as error:
            self._problems[f"the session's history does not list it: {error}"] = None

    def _budget(self) -> Budget:
        return _after(self._here.budget, load_known(self._here.vault.root, self._here.session.id))

    def _remember(self, states: Iterable[Remembered]) -> None:
        """Each once; where it cannot be written, the reader is told, and all else goes on."""
        here = self._here
        new = [one for one in states if self._states.get(one.key) != one]
        if not new:
            return
        self._states.update((one.key, one) for one in new)
        project, fsync = here.session.project or "", here.vault.settings.fsync
        try:
            append_states(here.vault.root, here.session.id, new, at=here.now, project=project, fsync=fsync)
        except CrucibleError as error:
            self._problems[f"it is not noted what became of each: {error}"] = None


def _ways_to_pay(
    put: tuple[Proposal, ...], when: When
) -> Iterator[tuple[tuple[Proposal, ...], tuple[Interaction, ...]]]:
    """What may be put, and what it costs, the most first: reviewing failures has its own price, so they may have to wait."""
    if when is When.TASK:
        yield put, (Interaction.MID_SESSION_PROMPT,)
        return
    failures = tuple(one for one in put if one.candidate.kind in FAILURES)
    others = tuple(one for one in put if one.candidate.kind not in FAILURES)
    if failures and others:
        yield put, (Interaction.CAPTURE_PROMPT, Interaction.FAILURE_REVIEW)
    if others:
        yield others, (Interaction.CAPTURE_PROMPT,)
    else:
        yield failures, (Interaction.FAILURE_REVIEW,)


def _said(one: Proposal, state: State) -> Remembered:
    candidate = one.candidate
    detail = candidate.detail if state is State.APPROVED else ""
    return Remembered(one.key, state, candidate.kind.value, candidate.summary, detail)
