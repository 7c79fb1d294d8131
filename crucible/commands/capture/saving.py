"""Keep candidates as knowledge items. The only files read are decision records in the project's folder."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from crucible.commands.capture.candidates import FAILURES, Candidate, CandidateKind, CaptureProposal, Handling
from crucible.commands.capture.capture_log import CaptureState, Remembered, remembered
from crucible.commands.capture.detection import DecisionRecord, read_record
from crucible.core import files
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.scanner import Redact
from crucible.documents.knowledge.item_rules import Similar, similar_items
from crucible.documents.knowledge.items import (
    Attribution,
    FailureCause,
    Item,
    ItemScope,
    ItemSource,
    ItemType,
    Origin,
    Verification,
)
from crucible.documents.markdown.containment import cut, normal_line
from crucible.memory.knowledge.add_item import Added, AddOutcome, ItemWriter, SimilarChoice, item_writer, provenance_in
from crucible.memory.knowledge.knowledge_folder import items_by_id, load_items
from crucible.vault.logs.jsonl_store import is_inner_path
from crucible.vault.notes.vault import Note, Vault

KEPT_AS: Mapping[CandidateKind, ItemType] = {
    CandidateKind.ADR: ItemType.DECISION,
    CandidateKind.DECISION: ItemType.DECISION,
    CandidateKind.SELF_CORRECTION: ItemType.FAILURE,
    CandidateKind.FAILURE: ItemType.FAILURE,
    CandidateKind.PATTERN: ItemType.PATTERN,
    CandidateKind.EVIDENCE: ItemType.EVIDENCE,
    CandidateKind.CORRECTION: ItemType.FAILURE,
    CandidateKind.OBSERVATION: ItemType.OBSERVATION,
}
"""The type of item that each kind of candidate becomes."""
_TAGS = {
    CandidateKind.ADR: "adr",
    CandidateKind.SELF_CORRECTION: "self-correction",
    CandidateKind.CORRECTION: "correction",
}
UNASKED = "auto-captured"
"""The tag of items kept without asking."""

_LONGEST_RECORD = 256 * 1024
"""Maximum bytes of a decision record to read."""
_RECORDS = (".md", ".markdown", ".mdx", ".adoc", ".asciidoc", ".rst", ".txt", ".org")


class KeptCandidate(NamedTuple):
    """The result of keeping a candidate: its record for the log, the path of its note, and a line for the user."""

    proposal: CaptureProposal
    record: Remembered
    path: Path | None = None
    line: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Saver:
    """Keeps the candidates of a session.

    `folder` is the project's folder on this machine, if known. `choice` decides what to do about similar items;
    `similar` finds them (by words, by default).
    """

    vault: Vault
    note: Note
    now: datetime
    redact: Redact
    folder: Path | None = None
    choice: SimilarChoice | None = None
    similar: Similar | None = None

    def keep_all(self, proposals: Iterable[CaptureProposal], problems: dict[str, None]) -> Iterator[KeptCandidate]:
        """Keep each candidate. Failures are added to `problems`, and the others are still kept."""
        waiting = deque(proposals)
        while waiting:
            try:
                with item_writer(self.vault, self.now, self.redact) as writer:
                    while waiting:
                        kept = self._keep(waiting[0], writer)
                        problems.update(_problems_of(kept))
                        waiting.popleft()
                        yield kept
            except CrucibleError as error:
                problems[f"{waiting.popleft().candidate.summary}: not kept: {error}"] = None

    def _keep(self, proposal: CaptureProposal, writer: ItemWriter) -> KeptCandidate:
        """Keep a candidate. Raises the same errors as `ItemWriter.add`.

        If an interrupted run already created an equal item for the session, that item counts as kept.
        """
        choice = self.choice or (None if self.vault.settings.capture.deduplicate else SimilarChoice.KEEP_BOTH)
        added = writer.add(self._item(proposal), choice, self.similar)
        state, id_ = self._state_of(added, writer)
        path = added.path or (self.vault.root / "knowledge" / f"{id_}.md" if id_ else None)
        return KeptCandidate(proposal, remembered(proposal, state, id_), path, added.why, added.warnings)

    def repeats(self, candidate: Candidate) -> str:
        """Return the id of an equal or similar item, "" if there is none."""
        if not self.vault.settings.capture.deduplicate:
            return ""
        item = self._item(CaptureProposal("", candidate))
        # Compare by words only: recall is too slow for each candidate. It is queried when a candidate is kept.
        return next((one.id for one in similar_items(item, self._items, self.vault.settings.knowledge)), "")

    @cached_property
    def _items(self) -> Mapping[str, Item]:
        return items_by_id(load_items(self.vault))

    def _state_of(self, added: Added, writer: ItemWriter) -> tuple[CaptureState, str]:
        first = added.alike[0] if added.alike else None
        if added.outcome in (AddOutcome.ADDED, AddOutcome.MERGED):
            return CaptureState.KEPT, added.id
        if added.outcome is AddOutcome.FULL or first is None:
            return CaptureState.APPROVED, ""
        if not first.exact:
            return CaptureState.ALIKE, first.id
        found = items_by_id(writer.notes.values()).get(first.id)
        ours = found and (found.source.session, found.type) == (self.note.name, added.item.type)
        return (CaptureState.KEPT if ours else CaptureState.KNOWN), first.id

    # --- as an item --------------------------------------------------------------------------------------------------

    def _item(self, proposal: CaptureProposal) -> Item:
        candidate, session = proposal.candidate, self.note.session
        record = record_text(self.folder, candidate.file) if candidate.kind is CandidateKind.ADR else None
        project = normal_line(session.project or "")
        is_evidence = candidate.kind is CandidateKind.EVIDENCE
        how = cut(normal_line(candidate.source or candidate.detail), 200)
        proof = Verification(passed=True, how=how, by=session.id, at=session.ended or self.now)
        return Item(
            KEPT_AS[candidate.kind],
            record.title if record and record.title else candidate.summary,
            record.text if record else candidate.detail,
            tuple(filter(None, (_TAGS.get(candidate.kind), UNASKED if proposal.way is Handling.SILENT else ""))),
            ItemScope.PROJECT if project else ItemScope.GLOBAL,
            project,
            source=self._source(candidate, Origin.VERIFIED if is_evidence else Origin.SESSION),
            confidence=min(1.0, max(0.0, candidate.confidence)),
            failure=_failure(candidate, proposal.attribution),
            verification=proof if is_evidence else Verification(),
        )

    def _source(self, candidate: Candidate, origin: Origin) -> ItemSource:
        try:
            return provenance_in(self.note, candidate.phase, origin)
        except UsageError:  # the note was edited and no longer has the phase
            return ItemSource(origin, self.note.name)


def _problems_of(kept: KeptCandidate) -> Iterator[tuple[str, None]]:
    if kept.record.state is CaptureState.APPROVED:
        yield f"{kept.proposal.candidate.summary}: not kept: {kept.line}", None
    yield from ((warning, None) for warning in kept.warnings)


def _failure(candidate: Candidate, attribution: Attribution | None) -> FailureCause:
    """Return the category from the attribution, and the cause in the session's words."""
    if candidate.kind not in FAILURES:
        return FailureCause()
    return FailureCause(attribution.category if attribution else None, candidate.cause, "", candidate.fix)


def record_text(folder: Path | None, file: str) -> DecisionRecord | None:
    """Return the title and text of a decision record in the project's folder; None if it cannot be read safely.

    The path comes from a transcript and is untrusted: with symlinks resolved, it must be a text file in the folder.
    """
    if folder is None or not is_inner_path(file):
        return None
    try:
        top = folder.resolve(strict=True)
        path = files.inside(top, top / file)
        if not path.name.casefold().endswith(_RECORDS) or path.stat().st_size > _LONGEST_RECORD:
            return None
        text = files.read_bytes(path)[0].decode("utf-8")
    except (CrucibleError, OSError, UnicodeDecodeError, ValueError):
        return None
    return read_record(text, file)
