"""Ask an agent what mattered in a session, check its answer, and keep what holds in the note.

The events are shown as a record within a budget of tokens; the note's own words are what a claim is held against as well.  Nothing here raises for what an
agent does or says: a fault is a line, and the note stays as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crucible.agents.asking import Asker
from crucible.agents.marks import OWN_MARK
from crucible.asking.answer import Claims, Said, read_answer
from crucible.asking.budget import BUDGET, Budget
from crucible.asking.lines import Placed, lines_of
from crucible.asking.loop import ask_checked, quoted, seen_by
from crucible.asking.merging import Detected, Earlier, Merged, Told, merged
from crucible.asking.note_lines import lines_of_note
from crucible.asking.record import Record, fit
from crucible.asking.rules import RULES
from crucible.errors import CrucibleError
from crucible.findings.detector import Detector
from crucible.findings.sources import short_row
from crucible.flight.entries import append_entry
from crucible.flight.events import events_of
from crucible.flight.reading import Record as Kept
from crucible.flight.reading import read_records
from crucible.note.contain import normal_line
from crucible.note.fencing import shorten
from crucible.note.source import Edit
from crucible.secrets import Redact
from crucible.session.merging_findings import merge_findings
from crucible.session.model import Decision, Failure, Noted, Session
from crucible.session.noted import read_noted, render_noted
from crucible.transcript.events import Prompted, Replied
from crucible.vault.store import Note, Vault
from crucible.vault.templates import load_template

__all__ = ["FINDINGS", "Material", "Review", "material_of", "review"]

FINDINGS = "findings"
"""The type of the entry of the event log that keeps what an agent said."""
_TEMPLATE = "findings.md.j2"
_VARIABLES = frozenset({"rules", "session", "record", "refused"})
_LEFT_FOR_REFUSAL = 150
"""Tokens."""
_LEAST_RECORD = 300
_LONGEST_MODEL = 40


class Review(NamedTuple):
    """What came of it: the model, how many findings it said that hold, how many did not; or the `problem`, one line.

    `is_known` says that nobody was asked, since nothing has happened since the last answer.
    """

    model: str = ""
    said: int = 0
    dropped: int = 0
    problem: str = ""
    is_known: bool = False

    @property
    def line(self) -> str:
        """`claude-haiku-4-5 found 12 things, 1 more did not hold`; "" if nobody was asked or nothing came of it."""
        if self.is_known or self.problem:
            return ""
        more = f", {self.dropped} more did not hold" if self.dropped else ""
        return f"{self.model or 'the agent'} found {self.said} thing{'' if self.said == 1 else 's'}{more}"


@dataclass(frozen=True, slots=True)
class Material:
    """All that is known of a session before an agent is asked: `digest` is that of the record that one answered about before."""

    events: tuple[Placed, ...] = ()
    detected: Detected = field(default_factory=Detected)
    digest: str = ""


def material_of(root: Path, session_id: str) -> Material:
    """Read the event log of a session."""
    kept = [*_records(root, session_id)]
    events = tuple(Placed(event, record.row or record.key, record.phase) for event, record in events_of(kept))
    detector = Detector()
    callouts: list[Decision | Failure] = []
    for placed in events:
        if not placed.event.at.agent:
            callouts += detector.add(placed.event)
    digest = str(_last_said(kept).get("record", ""))
    return Material(events, Detected(detector.noted(), callouts), digest)


def _last_said(kept: Sequence[Kept]) -> Mapping[str, object]:
    """The entry of the last answer; empty if there is none."""
    return next((record.values for record in reversed(kept) if record.type == FINDINGS), {})


def _earlier(root: Path, session_id: str) -> Earlier:
    """What an agent said before."""
    values = _last_said(_records(root, session_id))
    return Earlier(_told(values.get("said")), _items(values.get("left_out")))


def _records(root: Path, session_id: str) -> list[Kept]:
    try:
        return [*read_records(root, session_id)]
    except (CrucibleError, OSError):
        return []


def _items(value: object) -> tuple[Noted, ...]:
    """Items as an entry of the event log keeps them: each a text, as the note has it."""
    texts = value if isinstance(value, list) else []
    found = (read_noted(one.split("\n")) for one in texts if isinstance(one, str))
    return tuple(item for item in found if item)


def _told(value: object) -> tuple[Told, ...]:
    """What an agent said, each with what it stands for."""
    pairs = map(_items, value if isinstance(value, list) else [])
    return tuple(Told(*pair[:2]) for pair in pairs if pair)


def _texts(items: Iterable[Noted]) -> list[str]:
    return ["\n".join(render_noted(item)) for item in items]


def review(
    vault: Vault,
    ref: str | Path,
    asker: Asker,
    *,
    now: datetime,
    redact: Redact,
    budget: Budget = BUDGET,
    again: bool = True,
) -> Review:
    """Ask about the session whose note is `ref`, unless nothing is new and not `again`; raises only what reading the note raises.

    A subagent's session is not asked about: its parent's record has its report.
    """
    note = vault.read(vault.find(ref) if isinstance(ref, str) else ref)
    session = note.session
    if session.parent:
        return Review(is_known=True)
    material, seen = material_of(vault.root, session.id), seen_by(redact)
    try:
        record, prompt = _prompts(vault, session, material, seen, budget)
    except CrucibleError as error:
        return Review(problem=normal_line(str(error)))
    digest = sha256(record.text.encode("utf-8", "replace")).hexdigest()[:16]
    if not record.lines or (digest == material.digest and not again):
        return Review(is_known=True)
    said = Said(record.text, seen(note.source.text))
    came = ask_checked(
        asker, prompt, lambda text, _: read_answer(text, record, said, seen), seen, budget=budget
    )
    model = seen(came.answers[-1].model)[:_LONGEST_MODEL] if came.answers else ""
    if came.value is None:
        return Review(model, problem=came.problem)
    turns = {short_row(row): turn for row, turn in record.turns.items()}
    material = replace(material, detected=material.detected._replace(turns=turns))
    return _keep(vault, note, material, _Answer(came.value, model, digest), now)


def _prompts(
    vault: Vault, session: Session, material: Material, seen: Callable[[str], str], budget: Budget
) -> tuple[Record, Callable[[str], str]]:
    """The record, and the prompt with it, given what was refused; no prompt has more tokens than the budget."""
    count = budget.counter.count
    most = budget.tokens - count(f"{OWN_MARK}\n")  # what stands before each prompt
    template = load_template(vault.settings, _TEMPLATE, names=_VARIABLES, required=_VARIABLES)

    def filled(record: str, refused: str) -> str:
        return template.render(rules=RULES, session=session.id, record=quoted(record), refused=refused)

    room = most - count(filled("", "")) - _LEFT_FOR_REFUSAL
    if room < _LEAST_RECORD:
        raise CrucibleError("agents.budget_tokens leaves no room for the record", "raise it")
    is_whole = any(isinstance(placed.event, Prompted | Replied) for placed in material.events)
    lines = lines_of(material.events) if is_whole else lines_of_note(session)
    record = fit(lines, room, budget.counter, seen)
    # A fence is as long as what it holds demands, and a tokenizer need not count a whole as the sum of its parts.
    while record.lines and (over := count(filled(record.text, "")) + _LEFT_FOR_REFUSAL - most) > 0:
        room -= over
        record = fit(lines, room, budget.counter, seen)

    def prompt(refused: str) -> str:
        whole = filled(record.text, refused)
        left = len(refused)
        while count(whole) > most and left > _SMALLEST:
            left //= 2
            whole = filled(record.text, quoted(shorten(refused, left)))
        return whole

    return record, prompt


_SMALLEST = 100


class _Answer(NamedTuple):
    """What holds of an answer, the model that gave it, and the digest of the record that it was shown."""

    claims: Claims
    model: str
    digest: str


def _keep(vault: Vault, note: Note, material: Material, answer: _Answer, now: datetime) -> Review:
    """Merge the claims into the note as it is now, and remember what was said."""
    claims, model = answer.claims, answer.model
    source = f"model {model or 'unknown'} on {now:%Y-%m-%d}"
    found = Merged((), (), Earlier())

    def intention(there: Note) -> list[Edit]:
        nonlocal found
        # Somebody else may have asked meanwhile.
        session, earlier = there.session, _earlier(vault.root, there.session.id)
        if earlier.said and not session.findings:  # a human deleted the block
            found = Merged((), (), earlier)
            return []
        found = merged(session, claims.kept, material.detected, earlier, source)
        return merge_findings(there.source, session, session.findings, found.items)

    problem = "what it said was not kept"
    try:
        vault.update(note.path, intention)
        problem = "what it said is in the note, and counts as yours from now on"
        said = [_texts(filter(None, told)) for told in found.earlier.said]
        kept = {"said": said, "left_out": _texts(found.earlier.left_out)}
        values = {"model": model, "record": answer.digest, "dropped": claims.dropped, **kept}
        # Whole, whatever the vault's limit is: what is cut would not be known again.
        append_entry(vault.root, note.session.id, FINDINGS, values, now=now)
    except CrucibleError as error:
        return Review(model, problem=normal_line(f"{problem}: {error}"))
    return Review(model, len(found.said), claims.dropped)
