"""The cases of sessions, extracted from their notes and event logs or read from `cases/`.

A case note that a user reviewed or edited replaces what its session says; from an untouched one only a model's
attribution is kept. One that cannot be parsed keeps its case from being exported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, assert_never

from crucible.analysis.tools.recorded_calls import RecordedCalls, load_recorded_calls
from crucible.commands.learn.case import (
    CUT,
    Body,
    Case,
    CaseStatus,
    CaseTurn,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Place,
    Puzzle,
    Role,
    Trajectory,
    texts_of,
    with_digest,
    with_unique_ids,
)
from crucible.commands.learn.case_finders import find_choices, find_delegations, find_trajectories
from crucible.commands.learn.case_folder import load_case
from crucible.commands.learn.case_notes import ParsedCase
from crucible.commands.learn.correction_cases import find_corrections
from crucible.commands.learn.puzzle_cases import find_puzzles
from crucible.commands.learn.rubric import is_gradable
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.timeline import (
    Timeline,
    build_timeline,
)
from crucible.core.errors import CrucibleError
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact
from crucible.documents.session.findings import Source, findings_of
from crucible.documents.session.session import Session, Subagent
from crucible.vault.notes.session_notes import heading_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES, find_notes, note_name

_HELD = 16
"""Sessions in memory: a parent and its subagents are asked for one after the other."""
_CASE_ID = late_pattern(r"(?P<session>.+)-(?P<what>(?:" + "|".join(CaseType) + r")-[0-9a-f]{8}(?:-[0-9]+)?)")


class CaseFilter(NamedTuple):
    """Which cases.  Tokens are those of a case; `accepted` leaves out what no human accepted."""

    types: Collection[CaseType] = frozenset(CaseType)
    least: int | None = None
    most: int | None = None
    verified: bool = False
    accepted: bool = False

    def wants(self, case: Case) -> bool:
        """Whether a case is one of them."""
        return (
            case.type in self.types
            and (self.least is None or case.tokens >= self.least)
            and (self.most is None or case.tokens <= self.most)
            and (not self.verified or bool(case.verification))
            and (not self.accepted or case.review is CaseStatus.ACCEPTED)
        )


class SessionCases(NamedTuple):
    """The cases of a session, in the order of its note.

    `problems` are what kept some from being read, `places` the notes of those that have one, by their ids; `edited` are the ids of those
    whose note is a human's word, which is never written over.
    """

    session: str
    cases: tuple[Case, ...]
    problems: tuple[CrucibleError, ...]
    places: Mapping[str, Path]
    edited: frozenset[str] = frozenset()


class Gatherer:
    """Makes the cases of a vault's sessions, one session after the other."""

    def __init__(self, vault: Vault, redact: Redact, wanted: CaseFilter) -> None:
        self._vault = vault
        self._redact = redact
        self.wanted = wanted
        self._paths: dict[str, Path] = {}
        for path in vault.session_paths():  # of two of one name the first one counts
            self._paths.setdefault(note_name(path.name), path)
        self._kept = _kept(vault, self._paths.keys())
        self._note = lru_cache(_HELD)(vault.read)

    @property
    def reviewed(self) -> Collection[str]:
        """The sessions of which there are notes in `cases/`, whether or not they are in the vault themselves."""
        return self._kept.keys()

    def gather(self, path: Path) -> SessionCases:
        """The wanted cases of the session at `path`.

        A note that cannot be read is a problem, and has none; so is one whose name another one has before it, since both would
        have cases of the same ids.
        """
        name = note_name(path.name)
        first = self._paths.get(name, path)
        if first != path:
            message = f"{self._vault.relative(path)}: {self._vault.relative(first)} has the same name, and its cases alone are taken"
            return SessionCases(
                name, (), (CrucibleError(message, "`cru session rename` gives one of them another"),), {}
            )
        made: tuple[Case, ...] = ()
        problems: list[CrucibleError] = []
        if not self.wanted.accepted:  # what a human accepted is a note
            try:
                session = self._note(path).session
                children = self._children(session)
                calls = load_recorded_calls(self._vault.root, session.id)
                # The file name is the session's id everywhere; its events are stored under the id in the note.
                made = extract(replace(session, id=name), children, calls, self._redact)
            except CrucibleError as error:
                problems.append(error)
        return self._gathered(name, made, problems)

    def kept_only(self, session: str) -> SessionCases:
        """The wanted cases of a session that is gone: those that a human said something of."""
        return self._gathered(session, (), [])

    def heading(self, place: Place) -> str:
        """The heading of a phase as its session's note has it, to link to; "" where that is gone, or would tell a secret."""
        path = self._paths.get(place.session)
        try:
            heading = heading_of(self._note(path), place.phase) if path else ""
        except CrucibleError:
            return ""
        return "" if self._redact(heading)[1] else heading

    def _gathered(self, name: str, made: tuple[Case, ...], problems: list[CrucibleError]) -> SessionCases:
        places: dict[str, Path] = {}
        edited: set[str] = set()
        found: Iterable[Case] = made
        if name in self._kept:
            notes = self._noted(self._kept[name], problems)
            settled = [*_settled_all(made, notes)]
            places = {case.id: one.path for case, one in settled if one}
            edited = {case.id for case, one in settled if one and one.read.is_edited}
            found = (case for case, _ in settled)
        return SessionCases(name, tuple(filter(self.wanted.wants, found)), tuple(problems), places, frozenset(edited))

    # --- from the session ---------------------------------------------------------------------------------------------

    def _session(self, name: str) -> Session | None:
        """A session by its id, or by a link to it; None where its note is gone or cannot be read."""
        path = self._paths.get(note_name(name.rpartition("/")[2]))
        try:
            return self._note(path).session if path else None
        except CrucibleError:
            return None

    def _children(self, session: Session) -> Mapping[str, Session | None]:
        """Return the sessions of a session's subagents by the links to them."""
        links = {entry.link for entry in session.all_entries() if isinstance(entry, Subagent) and entry.link}
        return {link: self._session(link) for link in links}

    # --- from its cases' notes ----------------------------------------------------------------------------------------

    def _noted(self, paths: Iterable[Path], problems: list[CrucibleError]) -> list[_Noted]:
        """What the notes say: those that are somebody's word first, then those that are not understood."""
        found = []
        for path in paths:
            try:
                read = load_case(self._vault, path).read
            except CrucibleError as error:
                problems.append(error)
                read = ParsedCase(None, (), note_name(path.name), "")
            else:
                if read.case is None:
                    at = f"{self._vault.relative(path)}:{read.problems[0].line if read.problems else 1}"
                    message = f"{at}: a case that cannot be read; skipped"
                    problems.append(CrucibleError(message, "`cru cases check` says why"))
            found.append(_Noted(path, read))
        return sorted(found, key=lambda one: (not one.read.is_edited, one.read.case is not None))


class _Noted(NamedTuple):
    """A case's note."""

    path: Path
    read: ParsedCase


def _what(ident: str) -> str:
    """What of an id stays when its session gets another name."""
    told = _CASE_ID.fullmatch(ident)
    return told["what"] if told else ident


def _kept(vault: Vault, sessions: Collection[str]) -> Mapping[str, list[Path]]:
    """The notes in `cases/` by their session, which a name tells; a note is read where it tells none of `sessions`."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for folder, names in find_notes(vault.root, vault.root / CASES):
        for name in sorted(names):
            told = _CASE_ID.fullmatch(note_name(name))
            session = told["session"] if told else ""
            if session not in sessions:  # it got another name, or is gone
                linked = _session_in(vault, folder / name)
                session = linked if linked in sessions else session or linked
            if session:
                found[session].append(folder / name)
    return found


def _session_in(vault: Vault, path: Path) -> str:
    """The session that a note tells; "" for what is no case, which `cru cases check` names."""
    with suppress(CrucibleError):
        read = load_case(vault, path).read
        return read.session if read.says_case else ""
    return ""


def _settled_all(made: Iterable[Case], notes: Iterable[_Noted]) -> Iterator[tuple[Case, _Noted | None]]:
    """Each case as it counts, with its note, then those that only notes have; none whose note is not understood."""
    known: dict[str, _Noted] = {}
    for one in notes:
        known.setdefault(_what(one.read.id), one)
    for case in made:
        noted = known.pop(_what(case.id), None)
        if noted is None:
            yield case, None
        elif noted.read.case is not None:
            yield _settled(case, noted.read.case, edited=noted.read.is_edited), noted
    for one in known.values():
        if one.read.case and one.read.is_edited:
            yield one.read.case, one


def _settled(case: Case, noted: Case, *, edited: bool) -> Case:
    """The case as it counts by its note, which keeps its id when the session is renamed."""
    # Whole events are put away some day, and a clone never had them.
    if edited or (noted.complete and not case.complete):
        return noted
    case = replace(case, id=noted.id)
    told = noted.body.attribution if isinstance(noted.body, Puzzle) else None
    if isinstance(case.body, Puzzle) and told and not told.judge.startswith("rules"):
        return replace(case, body=replace(case.body, attribution=told))
    return case


def extract(
    session: Session,
    children: Mapping[str, Session | None],
    calls: RecordedCalls,
    redact: Redact,
) -> tuple[Case, ...]:
    """The cases of a session: the same ones in the same order for the same note and records.

    `children` are its subagents' sessions by id, None where a note is gone.  `evidence` gives what the records of a
    session say, by its id, anew each time.
    """
    timeline = build_timeline(session, calls)
    scrubber = Scrubber(redact, personal=False)
    told = {one.id for one in findings_of(session) if one.source == Source.CALLOUT}
    found = [case for case in _found(timeline, children) if is_teachable(case.body, told=case.finding in told)]
    found = [case for case in found if case.type in _UNGRADED or is_gradable(case.body)]
    found.sort(key=lambda case: case.place.line)  # a stable order within a line
    return tuple(map(with_digest, map(scrubber.clean, with_unique_ids(found))))


_UNGRADED = (CaseType.WORKFLOW, CaseType.DELEGATION)
"""Types of cases without an answer to grade."""


def _found(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    yield from find_puzzles(timeline)
    yield from find_corrections(timeline)
    yield from find_choices(timeline)
    yield from find_delegations(timeline, children)
    yield from find_trajectories(timeline)


_ASKED, _CHOSEN, _TASK, _FOUND = 3, 3, 6, 15
"""Least words of a request, a choice, a task and a result."""


_NAME = late_pattern(r"\w+\.[A-Za-z]{1,4}\b|[A-Za-z]\w*[a-z][A-Z]\w*|[A-Za-z]+_\w+")


def is_teachable(body: Body, *, told: bool = False) -> bool:
    """True for a case with a question that can be understood alone and an answer that can be checked against it.

    A callout that a person or an agent wrote (`told`) needs no proof by calls.
    """
    match body:
        case Puzzle():
            return bool(body.goal) and (_is_fix(body) or (told and bool(body.expected)))
        case Correction():
            return (
                bool(body.did)
                and bool(body.then)
                and (told or (_is_long(body.words, _ASKED) and any(_good(body.then)) and _is_whole(body.then)))
            )
        case Choice():
            is_weighed = len(body.options) > 1 or (bool(body.rationale) if told else _is_long(body.choice, _CHOSEN))
            return bool(body.situation) and is_weighed
        case Delegation():
            return body.used is True and (told or (_is_long(body.task, _TASK) and _is_long(body.result, _FOUND)))
        case Trajectory():
            return _is_long(body.goal, _ASKED) and any(_good(body.turns))
        case _:
            assert_never(body)


def _is_long(text: str, least: int) -> bool:
    return len(text.split()) >= least


def _is_fix(body: Puzzle) -> bool:
    """True if a change is shown that touches something the failure names."""
    made = [call for turn in body.solution for call in turn.calls]
    return bool(made) and bool(_names([body.failure]) & _names(texts_of(made))) and _is_whole(body.solution)


def _is_whole(turns: Iterable[CaseTurn]) -> bool:
    """True if no call was shortened."""
    return not any(CUT in text for turn in turns for text in texts_of(turn.calls))


def _names(texts: Iterable[str]) -> set[str]:
    """Names in the code and of files, without folders: words with an extension, a `_` or an inner capital."""
    return {name for text in texts for name in _NAME.findall(text)}


def _good(turns: Iterable[CaseTurn]) -> Iterator[CaseTurn]:
    """The calls that have a result and did not fail."""
    good = {turn.answers for turn in turns if turn.role is Role.TOOL and not turn.failed}
    return (turn for turn in turns if any(call.id in good for call in turn.calls))
