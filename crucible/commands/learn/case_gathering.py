"""Gather the cases of sessions: extract them from notes and event logs, and merge them with the notes in `cases/`.

A case note that the user reviewed or edited replaces the extracted case; from other notes, only an agent's attribution
is used. If a case note cannot be parsed, its case is not exported.
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
from crucible.documents.session.findings import Source
from crucible.documents.session.session import Session, Subagent
from crucible.vault.notes.session_notes import heading_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES, find_notes, note_name

_HELD = 16
"""Number of notes to cache: a parent and its subagents are requested one after the other."""
_CASE_ID = late_pattern(r"(?P<session>.+)-(?P<what>(?:" + "|".join(CaseType) + r")-[0-9a-f]{8}(?:-[0-9]+)?)")


class CaseFilter(NamedTuple):
    """Conditions on a case: type, tokens (`least` to `most`), and whether it is verified or accepted by the user."""

    types: Collection[CaseType] = frozenset(CaseType)
    least: int | None = None
    most: int | None = None
    verified: bool = False
    accepted: bool = False

    def matches(self, case: Case) -> bool:
        """True if a case meets all conditions."""
        return (
            case.type in self.types
            and (self.least is None or case.tokens >= self.least)
            and (self.most is None or case.tokens <= self.most)
            and (not self.verified or bool(case.verification))
            and (not self.accepted or case.review is CaseStatus.ACCEPTED)
        )


class SessionCases(NamedTuple):
    """The cases of a session, in note order.

    `problems` lists errors of notes that could not be read. `places` has the paths of existing case notes by case id.
    `edited` has the ids of cases whose notes the user reviewed or changed; these must not be overwritten.
    """

    session: str
    cases: tuple[Case, ...]
    problems: tuple[CrucibleError, ...]
    places: Mapping[str, Path]
    edited: frozenset[str] = frozenset()


class Gatherer:
    """Gathers the cases of a vault, session by session."""

    def __init__(self, vault: Vault, redact: Redact, case_filter: CaseFilter) -> None:
        self.vault = vault
        self._redact = redact
        self.case_filter = case_filter
        self._paths: dict[str, Path] = {}
        for path in vault.session_paths():  # the first of several notes with the same name counts
            self._paths.setdefault(note_name(path.name), path)
        self._kept = _kept(vault, self._paths.keys())
        self._note = lru_cache(_HELD)(vault.read)

    @property
    def reviewed(self) -> Collection[str]:
        """The ids of sessions that have notes in `cases/`, including deleted sessions."""
        return self._kept.keys()

    def gather(self, path: Path) -> SessionCases:
        """Return the matching cases of the session at `path`.

        A note that cannot be read is reported as a problem. So is the second of two notes with the same name, since
        their cases would have the same ids.
        """
        name = note_name(path.name)
        first = self._paths.get(name, path)
        if first != path:
            message = (
                f"{self.vault.relative(path)}: {self.vault.relative(first)} has the same name; only its cases are used"
            )
            return SessionCases(name, (), (CrucibleError(message, 'rename one of them with "cru session rename"'),), {})
        made: tuple[Case, ...] = ()
        problems: list[CrucibleError] = []
        if not self.case_filter.accepted:  # accepted cases are always notes
            try:
                session = self._note(path).session
                children = self._children(session)
                calls = load_recorded_calls(self.vault.root, session.id)
                # Cases use the file name as the session's id; its events are stored under the id in the note.
                made = extract(replace(session, id=name), children, calls, self._redact)
            except CrucibleError as error:
                problems.append(error)
        return self._gathered(name, made, problems)

    def reviewed_only(self, session: str) -> SessionCases:
        """Return the matching cases of a deleted session: those whose notes the user reviewed or changed."""
        return self._gathered(session, (), [])

    def linked(self, name: str) -> Path | None:
        """Return the note of a session by its id or by a link to it, None if there is none."""
        return self._paths.get(note_name(name.rpartition("/")[2]))

    def case_notes(self, session: str) -> Iterable[Path]:
        """Return the notes in `cases/` of a session."""
        return self._kept.get(session, ())

    def heading(self, place: Place) -> str:
        """Return the heading of the phase in its session's note, "" if it no longer exists or contains a secret."""
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
        return SessionCases(
            name, tuple(filter(self.case_filter.matches, found)), tuple(problems), places, frozenset(edited)
        )

    # --- from the session ---------------------------------------------------------------------------------------------

    def _session(self, name: str) -> Session | None:
        """Return a session by its id or by a link to it, None if its note does not exist or cannot be read."""
        path = self.linked(name)
        try:
            return self._note(path).session if path else None
        except CrucibleError:
            return None

    def _children(self, session: Session) -> Mapping[str, Session | None]:
        """Return the sessions of a session's subagents, by the links to them."""
        links = {entry.link for entry in session.all_entries() if isinstance(entry, Subagent) and entry.link}
        return {link: self._session(link) for link in links}

    # --- from case notes --------------------------------------------------------------------------------------------

    def _noted(self, paths: Iterable[Path], problems: list[CrucibleError]) -> list[_Noted]:
        """Parse case notes: first those that the user reviewed or changed, then those that could not be parsed."""
        found = []
        for path in paths:
            try:
                read = load_case(self.vault, path).read
            except CrucibleError as error:
                problems.append(error)
                read = ParsedCase(None, (), note_name(path.name), "")
            else:
                if read.case is None:
                    at = f"{self.vault.relative(path)}:{read.problems[0].line if read.problems else 1}"
                    message = f"{at}: skipped a case that cannot be parsed"
                    problems.append(CrucibleError(message, 'run "cru case check" for the reason'))
            found.append(_Noted(path, read))
        return sorted(found, key=lambda one: (not one.read.is_edited, one.read.case is not None))


class _Noted(NamedTuple):
    """A parsed case note."""

    path: Path
    read: ParsedCase


def _what(ident: str) -> str:
    """Return the part of a case's id that stays the same when its session is renamed."""
    match = _CASE_ID.fullmatch(ident)
    return match["what"] if match else ident


def _kept(vault: Vault, sessions: Collection[str]) -> Mapping[str, list[Path]]:
    """Return the notes in `cases/` by session, from the file name or, if that names none, from the note."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for folder, names in find_notes(vault.root, vault.root / CASES):
        for name in sorted(names):
            match = _CASE_ID.fullmatch(note_name(name))
            session = match["session"] if match else ""
            if session not in sessions:  # renamed or deleted
                linked = _session_in(vault, folder / name)
                session = linked if linked in sessions else session or linked
            if session:
                found[session].append(folder / name)
    return found


def _session_in(vault: Vault, path: Path) -> str:
    """Return the session that a case note names, "" for other notes; `cru case check` reports those."""
    with suppress(CrucibleError):
        read = load_case(vault, path).read
        return read.session if read.says_case else ""
    return ""


def _settled_all(made: Iterable[Case], notes: Iterable[_Noted]) -> Iterator[tuple[Case, _Noted | None]]:
    """Yield each case merged with its note, then the cases that exist only as reviewed or changed notes.

    Unreadable notes are skipped.
    """
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
    """Merge a case with its note. The note's id is kept, since it does not change when the session is renamed."""
    # The note is more complete if the events were archived, or in a clone, which has none.
    if edited or (noted.complete and not case.complete):
        return noted
    case = replace(case, id=noted.id)
    known = noted.body.attribution if isinstance(noted.body, Puzzle) else None
    if isinstance(case.body, Puzzle) and known and not known.judge.startswith("rules"):
        return replace(case, body=replace(case.body, attribution=known))
    return case


def extract(
    session: Session,
    children: Mapping[str, Session | None],
    calls: RecordedCalls,
    redact: Redact,
) -> tuple[Case, ...]:
    """Extract the redacted cases of a session, in note order.

    `children` are the sessions of its subagents by link, None if a note is missing; `calls` are its recorded calls.
    """
    timeline = build_timeline(session, calls)
    scrubber = Scrubber(redact, personal=False)
    noted = {one.id for one in timeline.findings if one.source == Source.CALLOUT}
    found = [case for case in _found(timeline, children) if is_teachable(case.body, is_noted=case.finding in noted)]
    found = [case for case in found if case.type in _UNGRADED or is_gradable(case.body)]
    found.sort(key=lambda case: case.place.line)  # a stable order within a line
    return tuple(map(with_digest, map(scrubber.clean, with_unique_ids(found))))


_UNGRADED = (CaseType.WORKFLOW, CaseType.DELEGATION)
"""Types of case whose answers need not be gradable."""


def _found(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    yield from find_puzzles(timeline)
    yield from find_corrections(timeline)
    yield from find_choices(timeline)
    yield from find_delegations(timeline, children)
    yield from find_trajectories(timeline)


_ASKED, _CHOSEN, _TASK, _FOUND = 3, 3, 6, 15
"""Minimum words of a request, of a choice, of a task and of a result."""


_NAME = late_pattern(r"\w+\.[A-Za-z]{1,4}\b|[A-Za-z]\w*[a-z][A-Z]\w*|[A-Za-z]+_\w+")


def is_teachable(body: Body, *, is_noted: bool = False) -> bool:
    """True if the question makes sense on its own and the answer can be trusted.

    If a user or an agent wrote the finding as a callout (`is_noted`), no proof by calls is required.
    """
    match body:
        case Puzzle():
            return bool(body.goal) and (_is_fix(body) or (is_noted and bool(body.expected)))
        case Correction():
            return (
                bool(body.did)
                and bool(body.then)
                and (is_noted or (_is_long(body.words, _ASKED) and any(_good(body.then)) and _is_whole(body.then)))
            )
        case Choice():
            is_weighed = len(body.options) > 1 or (bool(body.rationale) if is_noted else _is_long(body.choice, _CHOSEN))
            return bool(body.situation) and is_weighed
        case Delegation():
            return body.used is True and (is_noted or (_is_long(body.task, _TASK) and _is_long(body.result, _FOUND)))
        case Trajectory():
            return _is_long(body.goal, _ASKED) and any(_good(body.turns))
        case _:
            assert_never(body)


def _is_long(text: str, least: int) -> bool:
    return len(text.split()) >= least


def _is_fix(body: Puzzle) -> bool:
    """True if an uncut change touches a file or name from the failure message."""
    made = [call for turn in body.solution for call in turn.calls]
    return bool(made) and bool(_names([body.failure]) & _names(texts_of(made))) and _is_whole(body.solution)


def _is_whole(turns: Iterable[CaseTurn]) -> bool:
    """True if no call's arguments were cut."""
    return not any(CUT in text for turn in turns for text in texts_of(turn.calls))


def _names(texts: Iterable[str]) -> set[str]:
    """Return the file names and identifiers in texts: words with an extension, a `_` or an inner capital."""
    return {name for text in texts for name in _NAME.findall(text)}


def _good(turns: Iterable[CaseTurn]) -> Iterator[CaseTurn]:
    """Yield the turns whose call has a result and did not fail."""
    good = {turn.answers for turn in turns if turn.role is Role.TOOL and not turn.failed}
    return (turn for turn in turns if any(call.id in good for call in turn.calls))
