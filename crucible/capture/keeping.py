"""What of a session is worth keeping: found, sorted, kept or asked about, and remembered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias

from crucible.acts.evidence import Evidence, load_evidence
from crucible.agents.asking import Asker
from crucible.bookmarks.keeping import load_bookmarks
from crucible.capture.asking import Answer, Ask, Offer
from crucible.capture.detecting import detect
from crucible.capture.friction import Budget, Interaction, budget_of
from crucible.capture.model import FAILURES, Candidate, Proposal
from crucible.capture.records import Remembered, State, append_states, captures_of, load_known, spend
from crucible.capture.routing import Judge, judge_of
from crucible.capture.saving import Kept, Saver
from crucible.capture.sorting import Sorted, deserves_question, minutes_of, phases_of, sort_out, told_safely
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

    `kept` are the items that were made, or are there already (`said.state` says which).  `suggested` waits for an answer, the surest first; those of
    `unsure` (keys) are listed and never asked about.  `skipped` and `deferred` are this time's answers.  `silent` is what a dry run would have
    kept.  `problems` are lines for the reader.
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
    asker: Asker | None = None,
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
    judge: Judge | None = None,
) -> Captured:
    """Keep of a session what needs no question, ask about the rest if that is due, and remember what became of each.

    `ask` asks a human (`cli.capturing_dialogue.terminal_ask`), at most once, within the friction budget and the settings; an answer that is `free`,
    since the command line gave it, costs nothing.  `asker` is the model that says where failures come from; without one the rule does.  `task`
    is the id of the task that ended: only what was found since it began counts.  `folder` is where the session's project is on this machine:
    decision records are read there.  What was skipped counts `again` if wished; a `dry` run writes and asks nothing.

    What was answered is never asked again, what was kept is not kept twice, also after a kill.  Raises `CrucibleError` if the note, the secrets'
    rules or what is remembered cannot be read; what cannot be kept or noted is a line in `problems`.  `find` and `judge` replace the detector and
    the judge.
    """
    note = vault.read(note_path)
    session = replace(note.session, id=_id_of(note))
    run = _Run(vault, session, now, when)
    candidates = (find or detect)(session, load_evidence(vault.root, session.id))
    if not candidates:
        return Captured(session.id, run.budget())
    redact = redact or redact_of(vault.settings.secrets)
    saver = Saver(vault, note, now, redact, folder, choice, similar)
    phases = phases_of(session, task, now) if task else None
    found = sort_out(
        told_safely((one for one in candidates if phases is None or one.phase in phases), redact),
        run.known,
        vault.settings.capture,
        judge or judge_of(asker, vault.settings, redact),
        saver.repeats,
        again=again,
    )
    if dry:
        return run.told(found, silent=(*found.approved, *found.silent))
    run.save(saver, found.approved, silent=False)
    run.save(saver, found.silent, silent=True)
    found = replace(found, listed=(*found.listed, *run.alike(found.silent)))
    answer = run.asked(ask, found, task, free=free)
    run.save(saver, run.approve(answer.chosen, redact), silent=False)
    return run.answered(found, answer)


def _id_of(note: Note) -> str:
    """The session's id; its note's name if a human wrote what is none."""
    try:
        return check_session_id(note.session.id)
    except BadSessionId:
        return note.name


class _Run:
    """One time through: what was kept so far, and what is remembered."""

    def __init__(self, vault: Vault, session: Session, now: datetime, when: When) -> None:
        self._vault, self._session, self._now, self._when = vault, session, now, when
        self.known = load_known(vault.root, session.id, session.project or "")
        self._states = dict(self.known.states)
        self._kept: dict[str, Kept] = {}
        self._problems: dict[str, None] = {}
        marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
        lasted = minutes_of(session, now, marks, timedelta(minutes=vault.settings.idle_minutes))
        self._whole = budget_of(lasted, vault.settings.capture.friction)

    def budget(self) -> Budget:
        """What is left of the session's budget, whoever spent it."""
        budget = self._whole
        for one in load_known(self._vault.root, self._session.id).spent:
            budget = budget.after(*one)
        return budget

    def save(self, saver: Saver, proposals: Iterable[Proposal], *, silent: bool) -> None:
        """Make items, and remember that they are there."""
        kept = [*saver.keep_all(proposals, self._problems, silent=silent)]
        self._kept.update((one.proposal.key, one) for one in kept)
        self._remember(one.said for one in kept)

    def alike(self, proposals: Iterable[Proposal]) -> Iterator[Proposal]:
        """Those that were not kept because something like them is known: a human may see it otherwise."""
        for one in proposals:
            kept = self._kept.get(one.key)
            if kept and kept.said.state is State.ALIKE:
                yield one._replace(preselected=False, repeats=kept.said.item)

    # --- asking --------------------------------------------------------------------------------------------------------

    def asked(self, ask: Ask | None, found: Sorted, task: str, *, free: bool) -> Answer:
        """A human's answer, empty if nobody was to be asked."""
        put = self._put(found) if ask else ()
        if put and not free:
            put = self._paid(put)
            self._remember(_said(one, State.ASKED) for one in put)
        if not put or ask is None:
            return Answer()
        name, title = self._session.id, self._session.title or self._session.id
        return ask(Offer(name, title, put, task, self.budget().left))

    def _put(self, found: Sorted) -> tuple[Proposal, ...]:
        """What is put to a human: to one who asked for it all, else what is due."""
        settings = self._vault.settings
        match self._when:
            case When.ASKED:
                return found.open
            case When.END:
                return found.asked if settings.capture.prompt_on_end else ()
            case When.TASK:
                due = settings.tasks.capture_on_completion and deserves_question(found)
                return found.asked if due else ()

    def _paid(self, put: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
        """What the budget allows to put; at a task's end what it does not allow is put off."""
        root, fsync = self._vault.root, self._vault.settings.fsync
        for some, what in _ways_to_pay(put, self._when):
            try:
                if spend(root, self._session.id, what, self._whole, at=self._now, fsync=fsync):
                    return some
            except CrucibleError as error:
                self._problems[f"nobody is asked, since that could not be noted: {error}"] = None
                return ()
        if self._when is When.TASK:
            self._remember(_said(one, State.DEFERRED) for one in put)
        return ()

    def approve(self, chosen: Sequence[Proposal], redact: Redact) -> list[Proposal]:
        """What a human chose, without secrets that they typed; remembered before anything is made of it."""
        clean = told_safely((one.candidate for one in chosen), redact, strict=False)
        pairs = zip(chosen, clean, strict=True)
        made = [one._replace(candidate=candidate) for one, candidate in pairs if candidate.summary]
        self._remember(_said(one, State.APPROVED) for one in made)
        return made

    # --- telling -------------------------------------------------------------------------------------------------------

    def answered(self, found: Sorted, answer: Answer) -> Captured:
        """All that came of it; what nobody answered for is remembered as suggested, except at a task's end, since the session's follows."""
        shown = {one.key: one for one in found.open}
        skipped = tuple(shown[key] for key in answer.skipped if key in shown)
        deferred = tuple(shown[key] for key in answer.deferred if key in shown)
        alike = {key for key, one in self._kept.items() if one.said.state is State.ALIKE}
        gone = {*self._kept, *answer.skipped, *(one.key for one in answer.chosen)} - alike
        left = tuple(one for key, one in shown.items() if key not in gone)
        self._remember(_said(one, State.SKIPPED) for one in skipped)
        self._remember(_said(one, State.DEFERRED) for one in deferred)
        self._remember(_said(one, State.DROPPED) for one in found.dropped)
        if self._when is not When.TASK:
            self._remember(_said(one, State.SUGGESTED) for one in left if one.key not in self._states)
        if self._when is not When.END:
            self._tell_history()
        told = self.told(found)
        return replace(told, suggested=left, skipped=skipped, deferred=deferred)

    def told(self, found: Sorted, silent: tuple[Proposal, ...] = ()) -> Captured:
        """What came of it so far."""
        return Captured(
            self._session.id,
            self.budget(),
            tuple(self._kept.values()),
            found.open,
            frozenset(one.key for one in found.listed),
            silent=silent,
            problems=tuple(self._problems),
        )

    def _tell_history(self) -> None:
        """Have the history that an end wrote before list what became of each; the end that we are part of writes it itself."""
        name = self._session.id
        try:
            add_captures(self._vault, name, captures_of(self._vault.root, name))
        except CrucibleError as error:
            self._problems[f"the session's history does not list it: {error}"] = None

    def _remember(self, states: Iterable[Remembered]) -> None:
        """Each once; if it cannot be written, the reader is told, and all else goes on."""
        new = [one for one in states if self._states.get(one.key) != one]
        if not new:
            return
        self._states.update((one.key, one) for one in new)
        root, session, fsync = self._vault.root, self._session, self._vault.settings.fsync
        try:
            append_states(root, session.id, new, at=self._now, project=session.project or "", fsync=fsync)
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
