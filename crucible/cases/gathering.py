"""From sessions' notes to cases: each session with its subagents and its parent, and what a human said of its cases since.

Owns which notes and records a session's cases are made from, and whose word counts.  A case's note in `cases/` that a human reviewed or
changed is the case, whatever its session says by now; so is one that was refined.  A note that nobody touched counts for nothing but
who judged its failure, so a case is as its session is today.  Memory holds a handful of sessions, never all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from crucible.acts.evidence import load_evidence
from crucible.cases.extracting import extract
from crucible.cases.keeping import load_case
from crucible.cases.model import Case, CaseType, Place, Puzzle, Review
from crucible.cases.notes_reading import is_as_written
from crucible.errors import CrucibleError
from crucible.patterns import late_pattern
from crucible.secrets.scanner import Redact
from crucible.session.model import Session, Subagent
from crucible.vault.store import Note, Vault
from crucible.vault.walk import CASES, find_notes, note_name

__all__ = ["REFINED", "Gathered", "Gatherer", "Wanted"]

REFINED = "refined"
"""The tag of a case whose wording a model tightened."""

_HELD = 16
"""Sessions in memory: a parent and its subagents are asked for one after the other."""
_CASE_ID = late_pattern(r"(?P<session>.+)-(?:" + "|".join(CaseType) + r")-[0-9a-f]{8}(?:-[0-9]+)?")


class Wanted(NamedTuple):
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
            and (not self.verified or case.verification.verified)
            and (not self.accepted or case.review is Review.ACCEPTED)
        )


class Gathered(NamedTuple):
    """The cases of a session, in the order of its note; `problems` are what kept some from being read."""

    session: str
    cases: tuple[Case, ...] = ()
    problems: tuple[CrucibleError, ...] = ()


class Gatherer:
    """Makes the cases of a vault's sessions, one session after the other."""

    def __init__(self, vault: Vault, redact: Redact, wanted: Wanted) -> None:
        self._vault = vault
        self._redact = redact
        self._wanted = wanted
        self._paths = {note_name(path.name): path for path in vault.session_paths()}
        self._kept = _kept(vault)
        self._note = lru_cache(_HELD)(vault.read)

    @property
    def reviewed(self) -> Collection[str]:
        """The sessions of which there are notes in `cases/`, whether or not they are in the vault themselves."""
        return self._kept.keys()

    def gather(self, path: Path) -> Gathered:
        """The wanted cases of the session at `path`; a note that cannot be read is a problem, and has none."""
        name = note_name(path.name)
        made: tuple[Case, ...] = ()
        problems: list[CrucibleError] = []
        if not self._wanted.accepted:  # what a human accepted is a note
            try:
                made = self._extracted(self._note(path).session)
            except CrucibleError as error:
                problems.append(error)
        return self._gathered(name, made, problems)

    def kept_only(self, session: str) -> Gathered:
        """The wanted cases of a session that is gone: those that a human said something of."""
        return self._gathered(session, (), [])

    def heading(self, place: Place) -> str:
        """The heading of a phase as its session's note has it, to link to; "" where that is gone, or would tell a secret."""
        path = self._paths.get(place.session)
        try:
            heading = _heading_of(self._note(path), place.phase) if path else ""
        except CrucibleError:
            return ""
        return "" if self._redact(heading)[1] else heading

    def text(self, session: str) -> str:
        """All that a session's note says; "" where it is gone."""
        path = self._paths.get(session)
        try:
            return self._note(path).source.text if path else ""
        except CrucibleError:
            return ""

    def _gathered(self, name: str, made: tuple[Case, ...], problems: list[CrucibleError]) -> Gathered:
        found = self._settled(name, made, problems) if name in self._kept else made
        return Gathered(name, tuple(filter(self._wanted.wants, found)), tuple(problems))

    # --- from the session ---------------------------------------------------------------------------------------------

    def _known(self, name: str) -> Session | None:
        """A session by its id, or by a link to it; None where its note is gone or cannot be read."""
        path = self._paths.get(note_name(name.rpartition("/")[2]))
        try:
            return self._note(path).session if path else None
        except CrucibleError:
            return None

    def _extracted(self, session: Session) -> tuple[Case, ...]:
        links = {entry.link for entry in session.all_entries() if isinstance(entry, Subagent) and entry.link}
        children = {link: self._known(link) for link in links}
        parent = self._known(session.parent) if session.parent else None
        return extract(session, children, partial(load_evidence, self._vault.root), self._redact, parent)

    # --- from its cases' notes ----------------------------------------------------------------------------------------

    def _settled(self, name: str, made: Iterable[Case], problems: list[CrucibleError]) -> Iterator[Case]:
        """Each case as it counts, then those that only notes tell of."""
        notes = dict(self._noted(self._kept[name], problems))
        for case in made:
            noted, touched = notes.pop(case.id, (None, False))
            yield _settled(case, noted, touched=touched)
        yield from (case for case, touched in notes.values() if touched)

    def _noted(
        self, paths: Iterable[Path], problems: list[CrucibleError]
    ) -> Iterator[tuple[str, tuple[Case, bool]]]:
        """The cases of notes by the files' names, and whether each is a human's word, or was refined."""
        for path in paths:
            try:
                one = load_case(self._vault, path)
            except CrucibleError as error:
                problems.append(error)
                continue
            if one.case is None:
                at = f"{self._vault.relative(path)}:{one.problems[0].line}" if one.problems else path
                problems.append(
                    CrucibleError(f"{at}: a case that is not understood", "`cru cases check` says why")
                )
                continue
            touched = (
                one.case.review is not Review.PROPOSED
                or REFINED in one.case.tags
                or not is_as_written(one.note.source)
            )
            yield one.id, (replace(one.case, id=one.id), touched)


def _heading_of(note: Note, phase: str) -> str:
    """The text of a phase's heading, "" for a phase that is not there."""
    phases = (each for top in note.session.phases for each in (top, *top.subphases))
    line = next((each.lines.first for each in phases if each.id == phase), -1)
    return note.source.lines[line].strip().lstrip("#").strip() if line >= 0 else ""


def _kept(vault: Vault) -> Mapping[str, list[Path]]:
    """The notes in `cases/` by their session, which a name tells; what has another name is read."""
    found: defaultdict[str, list[Path]] = defaultdict(list)
    for folder, names in find_notes(vault.root, vault.root / CASES):
        for name in sorted(names):
            told = _CASE_ID.fullmatch(note_name(name))
            session = told["session"] if told else _session_in(vault, folder / name)
            if session:
                found[session].append(folder / name)
    return found


def _session_in(vault: Vault, path: Path) -> str:
    """The session of a note that a human named; "" for what is no case, which `cru cases check` names."""
    with suppress(CrucibleError):
        case = load_case(vault, path).case
        return case.place.session if case else ""
    return ""


def _settled(case: Case, noted: Case | None, *, touched: bool) -> Case:
    if noted is None:
        return case
    if touched:
        return noted
    told = noted.body.attribution if isinstance(noted.body, Puzzle) else None
    if isinstance(case.body, Puzzle) and told and not told.judge.startswith("rules"):
        return replace(case, body=replace(case.body, attribution=told))
    return case
