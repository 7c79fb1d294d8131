"""Ask an agent what mattered in a session, check its answer, and keep the supported claims in the note.

The prompt shows the events as a record within a token budget.  Claims are checked against the record and the note.
Agents never cause an error here: a failure is reported in one line, and the note does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crucible.analysis.findings.detector import Detector
from crucible.analysis.review.agent_questions import BUDGET, Budget, ask_checked, quoted_data, text_cleaner
from crucible.analysis.review.record_lines import ReviewEvent, lines_of
from crucible.analysis.review.review_answer import RULES, Claims, KnownText, read_answer
from crucible.analysis.review.review_merge import AgentItem, Detected, MergedFindings, merge_claims
from crucible.analysis.review.review_record import RecordLine, ReviewRecord, Tag, fit
from crucible.clients.events import Prompted, Replied
from crucible.clients.launch.ask import Asker
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.clients.redact import redactor_of
from crucible.core.errors import CrucibleError
from crucible.core.secrets import Redact
from crucible.core.templates import OwnTemplate
from crucible.core.text import counted
from crucible.documents.markdown.containment import normal_line, shorten
from crucible.documents.markdown.source import Edit
from crucible.documents.session.findings_block import read_item_lines, render_item
from crucible.documents.session.merge_head import merge_findings
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    FindingItem,
    Intervention,
    Outcome,
    Prose,
    Session,
    Subagent,
    ToolCalls,
)
from crucible.vault.events.append_entry import append_entry
from crucible.vault.events.event_reader import EventRecord as Kept
from crucible.vault.events.event_reader import read_records
from crucible.vault.events.event_recorder import events_of
from crucible.vault.notes.vault import Note, Vault

_SAID = (1200, 800, 500, 300, 160)
_TEXT = (700, 450, 280, 150, 0)
_CALL = (300, 160, 0)


def lines_of_note(session: Session) -> list[RecordLine]:
    """Return the lines for a session without events, from its note.

    Their rows are phase ids: a note has no row ids.
    """
    lines = [
        RecordLine(Tag.NOTED, one, ("start",), worth, caps) for _, one, worth, caps in _entry_lines(session.preamble)
    ]
    for turn, phase in enumerate(session.all_phases(), 1):
        row = phase.id.replace(".", "-")
        lines.append(RecordLine(Tag.PHASE, phase.name, (row,), 60, (200, 100), turn, phase.id))
        lines += [
            RecordLine(tag, text, (row,), worth, caps, turn, phase.id)
            for tag, text, worth, caps in _entry_lines(phase.entries)
        ]
    last = session.phases[-1].id.replace(".", "-") if session.phases else "start"
    if session.summary:
        lines.append(RecordLine(Tag.CLOSING, session.summary, (last,), 93, _SAID, len(session.phases)))
    tasks = [task.content for task in session.tasks if task.status not in ("completed", "cancelled")]
    state = "; ".join([f"the session is {session.status}", *(f"task not done: {task}" for task in tasks[:20])])
    return [*lines, RecordLine(Tag.END, state, (last,), 99, (900, 500), len(session.phases))] if lines else []


def _entry_lines(entries: tuple[Entry, ...]) -> Iterator[tuple[Tag, str, int, tuple[int, ...]]]:
    for entry in entries:
        match entry:
            case Intervention(words=words, note=note):
                yield Tag.PROMPT, "\n".join(filter(None, (words, note))), 95, _SAID
            case Prose(text=text):
                yield Tag.TEXT, text, 50, _TEXT
            case Decision():
                parts = (
                    entry.text,
                    entry.rationale,
                    entry.alternatives and f"instead of {entry.alternatives}",
                )
                yield Tag.NOTED, f"decision: {'; '.join(filter(None, parts))}", 92, _SAID
            case Failure():
                parts = (entry.text, entry.cause, entry.resolution and f"fixed: {entry.resolution}")
                yield Tag.NOTED, f"failure: {'; '.join(filter(None, parts))}", 90, _SAID
            case Subagent(summary=str(summary)) if summary:
                yield Tag.SUBAGENT, f"{entry.agent}: {summary}", 58, _SAID
            case Callout(text=text) if text or entry.title:
                yield Tag.NOTED, f"{entry.kind}: {entry.title} {text}", 80, _SAID
            case ToolCalls(calls=calls):
                for call in calls:
                    if call.outcome is not Outcome.OK:
                        yield Tag.FAIL, f"`{call.call}` -> {call.result}", 62, _CALL
            case _:
                pass


FINDINGS = "findings"
"""The type of the event-log entry that stores an agent's answer."""
TEMPLATE = OwnTemplate("findings.md.j2", {"rules", "session", "record", "refused"})
_LEFT_FOR_REFUSAL = 150
"""Tokens to leave for the refusal of an answer."""
_LEAST_RECORD = 300
_LONGEST_MODEL = 40


class ReviewResult(NamedTuple):
    """The model and the numbers of kept and dropped findings, or a one-line `problem`.

    `is_known` is True if no agent was asked: the session is a subagent's or empty, or has no new events since the last
    answer.
    """

    model: str = ""
    kept: int = 0
    dropped: int = 0
    problem: str = ""
    is_known: bool = False

    @property
    def line(self) -> str:
        """Return `claude-haiku-4-5 found 12 things, 1 more was dropped`; "" after a problem or if nothing was asked."""
        if self.is_known or self.problem:
            return ""
        more = f", {self.dropped} more {'was' if self.dropped == 1 else 'were'} dropped" if self.dropped else ""
        return f"{self.model or 'the agent'} found {counted(self.kept, 'thing')}{more}"


@dataclass(frozen=True, slots=True)
class ReviewMaterial:
    """What is known about a session before a review.

    `digest` is the hash of the record in the last review's prompt.
    """

    events: tuple[ReviewEvent, ...] = ()
    detected: Detected = field(default_factory=Detected)
    digest: str = ""


def material_of(root: Path, session_id: str) -> ReviewMaterial:
    """Read a session's event log."""
    kept = [*_records(root, session_id)]
    events = tuple(ReviewEvent(event, record.row or record.key, record.phase) for event, record in events_of(kept))
    detector = Detector()
    callouts: list[Decision | Failure] = []
    for placed in events:
        if not placed.event.at.agent:
            callouts += detector.add(placed.event)
    digest = str(_last_review(kept).get("record", ""))
    return ReviewMaterial(events, Detected(detector.noted(), callouts), digest)


def _last_review(kept: Sequence[Kept]) -> Mapping[str, object]:
    """Return the event log's entry for the last review; empty if there is none."""
    return next((record.values for record in reversed(kept) if record.type == FINDINGS), {})


def _earlier(root: Path, session_id: str) -> list[AgentItem]:
    """Return the items from the last review."""
    stored = _last_review(_records(root, session_id)).get("items")
    pairs = map(_items, stored if isinstance(stored, list) else [])
    return [AgentItem(*pair[:2]) for pair in pairs if pair]


def _records(root: Path, session_id: str) -> list[Kept]:
    try:
        return [*read_records(root, session_id)]
    except (CrucibleError, OSError):
        return []


def _items(value: object) -> tuple[FindingItem, ...]:
    """Parse the items in an entry of the event log, where each is a string as in the note."""
    texts = value if isinstance(value, list) else []
    found = (read_item_lines(one.split("\n")) for one in texts if isinstance(one, str))
    return tuple(item for item in found if item)


def _texts(items: Iterable[FindingItem]) -> list[str]:
    return ["\n".join(render_item(item)) for item in items]


def review(
    vault: Vault,
    ref: str | Path,
    asker: Asker,
    *,
    now: datetime,
    redact: Redact,
    budget: Budget = BUDGET,
    again: bool = True,
) -> ReviewResult:
    """Review the session whose note is `ref`.  Without `again`, only if it has new events.

    Subagents' sessions are not reviewed, since the parent's record includes their reports.  Raises only what reading
    the note raises.
    """
    note = vault.read(vault.find(ref) if isinstance(ref, str) else ref)
    session = note.session
    is_deleted = not session.findings and bool(_earlier(vault.root, session.id))  # a user deleted the block
    if session.parent or is_deleted:
        return ReviewResult(is_known=True)
    material, seen = material_of(vault.root, session.id), text_cleaner(redact)
    try:
        record, prompt = _prompts(vault, session, material, seen, budget)
    except CrucibleError as error:
        return ReviewResult(problem=normal_line(str(error)))
    digest = sha256(record.text.encode("utf-8", "replace")).hexdigest()[:16]
    if not record.lines or (digest == material.digest and not again):
        return ReviewResult(is_known=True)
    known = KnownText(record.text, seen(note.source.text))
    result = ask_checked(asker, prompt, lambda text, _: read_answer(text, record, known, seen), seen, budget=budget)
    model = seen(result.answers[-1].model)[:_LONGEST_MODEL] if result.answers else ""
    if result.value is None:
        return ReviewResult(model, problem=result.problem)
    return _keep(vault, note, material, _Answer(result.value, model, digest), now)


def _prompts(
    vault: Vault, session: Session, material: ReviewMaterial, seen: Callable[[str], str], budget: Budget
) -> tuple[ReviewRecord, Callable[[str], str]]:
    """Return the record, and a function that builds the prompt for a refusal within the token budget."""
    count = budget.counter.count
    most = budget.tokens - count(f"{OWN_MARK}\n")  # the mark is put before each prompt
    template = TEMPLATE.of(vault.settings)

    def filled(record: str, refused: str) -> str:
        return template.render(rules=RULES, session=session.id, record=quoted_data(record), refused=refused)

    room = most - count(filled("", "")) - _LEFT_FOR_REFUSAL
    if room < _LEAST_RECORD:
        raise CrucibleError("agents.budget_tokens is too small for the record", "raise it")
    is_whole = any(isinstance(placed.event, Prompted | Replied) for placed in material.events)
    clean = redactor_of(vault.settings.secrets)  # redact before shortening: a cut may hide a secret
    events = (replace(placed, event=clean(placed.event)[0]) for placed in material.events)
    lines = lines_of(events) if is_whole else lines_of_note(session)
    record = fit(lines, room, budget.counter, seen)
    # A fence grows with its content, and a tokenizer may count a text differently from the sum of its parts.
    while record.lines and (over := count(filled(record.text, "")) + _LEFT_FOR_REFUSAL - most) > 0:
        room -= over
        record = fit(lines, room, budget.counter, seen)

    def prompt(refused: str) -> str:
        whole = filled(record.text, refused)
        left = len(refused)
        while count(whole) > most and left > _SMALLEST:
            left //= 2
            whole = filled(record.text, quoted_data(shorten(refused, left)))
        return whole

    return record, prompt


_SMALLEST = 100


class _Answer(NamedTuple):
    """The claims in an answer, its model, and the digest of the record in the prompt."""

    claims: Claims
    model: str
    digest: str


def _keep(vault: Vault, note: Note, material: ReviewMaterial, answer: _Answer, now: datetime) -> ReviewResult:
    """Merge the claims into the note as it is now, and store them in the event log."""
    claims, model = answer.claims, answer.model
    source = f"model {model or 'unknown'} on {now:%Y-%m-%d}"
    found = MergedFindings(())

    def intention(current: Note) -> list[Edit]:
        nonlocal found
        # Another process may have reviewed the session in the meantime.
        session, earlier = current.session, _earlier(vault.root, current.session.id)
        if earlier and not session.findings:  # a user deleted the block
            found = MergedFindings((), (), tuple(earlier))
            return []
        found = merge_claims(session, claims.kept, material.detected, earlier, source)
        return merge_findings(current.source, session, session.findings, found.items)

    problem = "the answer was not stored"
    try:
        vault.update(note.path, intention)
        problem = "the answer is in the note, but counts as written by you"
        items = [_texts(filter(None, pair)) for pair in (*found.from_agent, *found.gone)]
        values = {"model": model, "record": answer.digest, "dropped": claims.dropped, "items": items}
        # Not truncated to the vault's limit, since a truncated item could not be matched later.
        append_entry(vault.root, note.session.id, FINDINGS, values, now=now)
    except CrucibleError as error:
        return ReviewResult(model, problem=normal_line(f"{problem}: {error}"))
    return ReviewResult(model, len(found.from_agent), claims.dropped)
