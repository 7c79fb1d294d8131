"""A candidate as an item of knowledge: which type it has, what it says, where it comes from; and keeping it.

Owns that only a decision record inside the project's folder is read.  Whether there is room, whether the same is known and what is a secret is
`knowledge.adding`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from crucible.bookmarks.fields import is_inner_path
from crucible.capture.asking import Proposal
from crucible.capture.model import Candidate, Kind
from crucible.capture.records import Remembered, State
from crucible.capture.routing import FAILURES
from crucible.errors import CrucibleError, UsageError
from crucible.knowledge.adding import Added, Choice, Outcome, add_item, provenance_in
from crucible.knowledge.items import Failure, Item, ItemType, Origin, Provenance, Scope, Verification
from crucible.knowledge.keeping import load_item
from crucible.knowledge.model import Attribution
from crucible.knowledge.noise import Similar
from crucible.note.contain import cut, normal, normal_line
from crucible.patterns import late_pattern
from crucible.secrets.scanner import Redact
from crucible.vault import files
from crucible.vault.store import Note, Vault

__all__ = ["KEPT_AS", "UNASKED", "Kept", "Saver", "record_text"]

KEPT_AS: Mapping[Kind, ItemType] = MappingProxyType(
    {
        Kind.ADR: ItemType.DECISION,
        Kind.DECISION: ItemType.DECISION,
        Kind.SELF_CORRECTION: ItemType.FAILURE,
        Kind.FAILURE: ItemType.FAILURE,
        Kind.PATTERN: ItemType.PATTERN,
        Kind.EVIDENCE: ItemType.EVIDENCE,
        Kind.CORRECTION: ItemType.FAILURE,
        Kind.OBSERVATION: ItemType.OBSERVATION,
    }
)
"""The type of item that each kind of candidate becomes."""

UNASKED = "auto-captured"
"""The tag of what nobody was asked about."""

_LONGEST_RECORD = 256 * 1024
"""Bytes; a decision record is a page or two."""
_SHOWN = 20_000
"""Code points of a record that are kept; the rest stands in the file."""
_RECORDS = (".md", ".markdown", ".mdx", ".adoc", ".asciidoc", ".rst", ".txt", ".org")
_TITLE = late_pattern(r"(?m)^(?:#|=) +(\S.*?)[ \t#]*$")
_PROPERTIES = late_pattern(r"(?s)\A---[ \t]*\n.*?\n---[ \t]*\n")


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of keeping a candidate: `said` is to be remembered, `path` the note that says it now, `line` a word for the reader."""

    proposal: Proposal
    said: Remembered
    outcome: Outcome
    path: Path | None = None
    line: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Saver:
    """All that keeping the candidates of a session needs; `folder` is where its project is on this machine, None where nobody knows."""

    vault: Vault
    note: Note
    now: datetime
    redact: Redact
    folder: Path | None = None
    choice: Choice | None = None
    similar: Similar | None = None

    def keep(self, proposal: Proposal, *, silent: bool = False) -> Kept:
        """Make it an item.  What the same session has kept before is that item: who was killed in between keeps nothing twice.

        Raises what `add_item` does.
        """
        item = self._item(proposal, silent=silent)
        choice = self.choice or (None if self.vault.settings.capture.deduplicate else Choice.KEEP_BOTH)
        added = add_item(self.vault, item, self.now, self.redact, choice=choice, similar=self.similar)
        return self._told(proposal, added, silent=silent)

    def _told(self, proposal: Proposal, added: Added, *, silent: bool) -> Kept:
        state, id_ = _came_of(added)
        if state is State.KNOWN and self._is_ours(added):
            state = State.KEPT
        candidate = proposal.candidate
        said = Remembered(proposal.key, state, candidate.kind.value, candidate.summary, "", id_, silent)
        path = added.path
        if path is None and id_:
            path = self.vault.root / "knowledge" / f"{id_}.md"
        if state is State.APPROVED:
            said = said._replace(detail=candidate.detail)
        return Kept(proposal, said, added.outcome, path, added.why, added.warnings)

    def _is_ours(self, added: Added) -> bool:
        """Whether what says the same comes from this very session."""
        path = self.vault.root / "knowledge" / f"{added.alike[0].id}.md"
        try:
            found = load_item(self.vault, path).item
        except CrucibleError:
            return False
        return found is not None and found.source.session == self.note.name and found.type is added.item.type

    # --- as an item ----------------------------------------------------------------------------------------------------

    def _item(self, proposal: Proposal, *, silent: bool) -> Item:
        candidate = proposal.candidate
        title, text = candidate.summary, candidate.detail
        if candidate.kind in FAILURES:  # its detail is the root cause
            text = "" if candidate.error == title else candidate.error
        if candidate.kind is Kind.ADR and (told := record_text(self.folder, candidate.file)):
            title, text = told[0] or title, told[1]
        project = normal_line(self.note.session.project or "")
        evidence = candidate.kind is Kind.EVIDENCE
        failure = _failure(candidate, proposal.attribution)
        return Item(
            KEPT_AS[candidate.kind],
            title,
            text,
            _tags(candidate, silent=silent),
            Scope.PROJECT if project else Scope.GLOBAL,
            project,
            source=self._source(candidate, Origin.VERIFIED if evidence else Origin.SESSION),
            confidence=min(1.0, max(0.0, candidate.confidence)),
            failure=failure,
            verification=self._verification(candidate) if evidence else Verification(),
        )

    def _source(self, candidate: Candidate, origin: Origin) -> Provenance:
        try:
            return provenance_in(self.note, candidate.phase, origin)
        except UsageError:  # the note was edited since, and has no such phase any more
            return Provenance(origin, self.note.name)

    def _verification(self, candidate: Candidate) -> Verification:
        session = self.note.session
        how = cut(normal_line(candidate.source or candidate.detail), 200)
        return Verification(passed=True, how=how, by=session.id, at=session.ended or self.now)


def _came_of(added: Added) -> tuple[State, str]:
    first = added.alike[0] if added.alike else None
    match added.outcome:
        case Outcome.ADDED | Outcome.MERGED:
            return State.KEPT, added.id
        case Outcome.FULL:
            return State.APPROVED, ""
        case _:
            exact = first is not None and first.exact
            return (State.KNOWN if exact else State.ALIKE), first.id if first else ""


def _tags(candidate: Candidate, *, silent: bool) -> tuple[str, ...]:
    told = (
        "adr" if candidate.kind is Kind.ADR else "",
        candidate.kind.value.replace("_", "-")
        if candidate.kind in (Kind.SELF_CORRECTION, Kind.CORRECTION)
        else "",
        UNASKED if silent else "",
    )
    return tuple(filter(None, told))


def _failure(candidate: Candidate, attribution: Attribution | None) -> Failure:
    """The cause in the session's words; a model's where one was asked."""
    if candidate.kind not in FAILURES:
        return Failure()
    if attribution is None:
        return Failure(root_cause=candidate.detail, resolution=candidate.resolution)
    told = candidate.detail if attribution.judge == "rules" else ""
    cause = told or attribution.root_cause
    return Failure(attribution.category, cause, attribution.preventable_with, candidate.resolution)


def record_text(folder: Path | None, file: str) -> tuple[str, str] | None:
    """The title and the text of a decision record in the project's folder; None where it cannot be read safely.

    The path was written by anybody: it must lead to a regular text file below the folder, every symlink followed.
    """
    if folder is None or not is_inner_path(file) or not file.casefold().endswith(_RECORDS):
        return None
    try:
        top = folder.resolve(strict=True)
        path = files.inside(top, top / file)
        if not path.name.casefold().endswith(_RECORDS) or path.stat().st_size > _LONGEST_RECORD:
            return None
        text = files.read_bytes(path)[0].decode("utf-8")
    except (CrucibleError, OSError, UnicodeDecodeError, ValueError):
        return None
    text = _PROPERTIES.sub("", normal(text.removeprefix("\ufeff")))
    found = _TITLE.search(text)
    body = text[: found.start()] + text[found.end() :] if found else text
    left = "" if len(body) <= _SHOWN else f"\n\nThe rest stands in {file}."
    return (found[1] if found else ""), cut(body.strip(), _SHOWN) + left
