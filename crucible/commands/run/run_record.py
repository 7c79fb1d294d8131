"""Record a run as marker rows in the workflow's note, and read the rows to continue the run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from crucible.commands.run.jobs import EarlierResult, Job, JobResult
from crucible.core.errors import CrucibleError, LockTimeout, NoteChanged, VaultError, reason_of
from crucible.core.files import make_folders, read_settled, write_atomic
from crucible.core.locks import hold
from crucible.core.patterns import late_pattern
from crucible.core.secrets import Redact
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Decision, Phase, Prose, Session
from crucible.documents.workflow.workflow import Cell, Flow, Marker, RunStatus, Step, Workflow, key_of
from crucible.documents.workflow.workflow_markup import append_markers, phase_name
from crucible.documents.workflow.workflow_reader import read_workflow
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_ATTEMPTS = 20
"""Maximum retries when another program writes the note at the same time."""


class StepRef(NamedTuple):
    """A step reference that stays valid when the note is edited: the `number`-th step (from 0) with this key."""

    key: str
    number: int = 0


def step_ref(steps: Sequence[Step], index: int) -> StepRef:
    """Return the reference of the step at `index`."""
    key = _key(steps[index])
    return StepRef(key, sum(_key(step) == key for step in steps[:index]))


def row_of(outcome: JobResult, session_id: str, redact: Redact) -> Mapping[str, Cell]:
    """Return the marker row of a job, redacted."""
    step = outcome.job.step
    texts = {
        "phase": phase_name(step.name),
        "agent": str(outcome.agent or step.agent or "") or None,
        "channel": step.channel,
        "input": " ".join(each.datum.name for each in outcome.job.inputs),
        "output": " ".join(datum.name for datum in step.outputs()),
    }
    clean: dict[str, Cell] = {name: redact(text)[0] if text else None for name, text in texts.items()}
    return clean | {
        "duration_ms": outcome.duration_ms,
        "status": str(outcome.status),
        "tokens_used": outcome.tokens,
        "session": session_id,
        "started": format_time(outcome.started) if outcome.started else None,
    }


def add_marker(vault: Vault, path: Path, spot: StepRef, row: Mapping[str, Cell]) -> None:
    """Append a marker block with one row to the step. Raises `NoteChanged` if the step no longer exists."""

    def edits(source: Source) -> list[Edit]:
        workflow = read_workflow(source, note_name(path.name))
        return append_markers(source, workflow, _find(workflow, spot, path), [row])

    if path.is_relative_to(vault.root):
        vault.update(path, lambda note: edits(note.source), attempts=_ATTEMPTS)
    else:
        _update_elsewhere(vault, path, edits)


def _find(workflow: Workflow, spot: StepRef, path: Path) -> Step:
    found = [step for step in workflow.walk() if _key(step) == spot.key]
    if spot.number >= len(found):
        raise NoteChanged(
            f"{path.name}: the step was removed after the run began", "its phase is in the session's note"
        )
    return found[spot.number]


def _key(step: Step) -> str:
    return step.key or step.name


# --- a file outside the vault ----------------------------------------------------------------------------------------


def _update_elsewhere(vault: Vault, path: Path, edits: Callable[[Source], list[Edit]]) -> None:
    real = Path(os.path.realpath(path))
    with _locked(vault, real):
        for left in reversed(range(_ATTEMPTS)):
            data, _ = read_settled(real)
            source = Source.from_bytes(data)
            changed = apply_edits(source, edits(source)).to_bytes()
            try:
                write_atomic(real, changed, fsync=vault.settings.fsync, expected=data)
            except NoteChanged:
                if not left:
                    raise
            else:
                return


@contextmanager
def _locked(vault: Vault, real: Path) -> Iterator[None]:
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    folder = make_folders(vault.root, vault.root / ".crucible" / "cache" / "locks")
    seconds = vault.settings.lock_seconds
    try:
        with hold(folder / f"{name}.lock", seconds) as lock:
            if lock is None:
                raise LockTimeout(f"{real}: another process has held it for {seconds:g} s", "try again")
            yield
    except OSError as error:
        raise VaultError(f"{real}: cannot be locked: {reason_of(error)}") from error


LINK, DIGEST = "workflow", "workflow_digest"
"""Properties of a run's session: a link to the workflow, and the workflow's digest at the start of the run."""

_MOST_SEARCHED = 500
"""Maximum session notes to search, newest first, for a run without marker rows."""

_WIKILINK = late_pattern(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_LINE = late_pattern(r"Condition (\d{1,6}), (.*): (yes|no)", 16)  # re.DOTALL: a note may break a line


def find_run(vault: Vault, workflow: Workflow, link: str) -> Session | None:
    """Find the session of the workflow's newest run, by marker rows or by the property `workflow`.

    `link` is the value of that property. A session that links to another existing note belongs to another workflow: its
    marker rows were copied here.
    """
    markers = [marker for step in workflow.walk() for marker in step.markers]
    named = {_cell(marker, "session") for marker in markers} - {""}
    # Names begin with the date, so a reverse sort puts the newest first.
    paths = sorted(vault.session_paths(), key=lambda path: path.name, reverse=True)
    searched = [path for at, path in enumerate(paths) if at < _MOST_SEARCHED or note_name(path.name) in named]
    found: list[tuple[str, str, Session]] = []
    for path in searched:
        try:
            note = vault.read(path)
        except CrucibleError:
            continue
        if f"\n{DIGEST}:" not in note.source.text:
            continue
        session = note.session
        linked = session.properties.get(LINK)
        if linked == link or (session.id in named and not _is_of_another(vault, str(linked), link)):
            began = format_time(session.started) if session.started else ""
            found.append((began, path.name, session))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _is_of_another(vault: Vault, linked: str, link: str) -> bool:
    """True if a session links to another existing note. A missing note may be this one before it was moved."""
    target, own = _WIKILINK.fullmatch(linked), _WIKILINK.fullmatch(link)
    if not target:
        return False
    table = LinkTable(map(vault.relative, vault.note_paths()))
    found = table.resolve(target[1])
    if found.path is None or found.ambiguous:
        return False
    return not own or found.path != table.resolve(own[1]).path


def earlier_of(jobs: Iterable[Job], session: Session) -> dict[int, EarlierResult]:
    """Return the jobs that this session's run finished, by index, if all their conditions can be parsed."""
    found: dict[int, EarlierResult] = {}
    for job in jobs:
        rows = [marker for marker in job.step.markers if _cell(marker, "session") == session.id]
        if not rows or rows[-1].status != RunStatus.SUCCESS:
            continue
        phase = _phase_of(session.phases, job.step.key, _cell(rows[-1], "started"))
        held = _held(job, phase) if phase else {}
        if len(held) == len(job.conditions):
            found[job.index] = EarlierResult(_answer(phase) if phase else "", held)
    return found


def condition_lines(outcome: JobResult) -> list[str]:
    """Return a line for each condition decided after a step."""
    texts = [condition.text for condition in outcome.job.conditions]
    return [
        f"Condition {number}, {text}: {'yes' if outcome.held[text] else 'no'}"
        for number, text in enumerate(texts, 1)
        if text in outcome.held
    ]


def digest_of(workflow: Workflow) -> str:
    """Return a digest of the workflow's title, preamble and steps, without marker rows."""
    steps = [
        (
            step.name,
            str(step.agent or ""),
            step.channel,
            step.grade,
            step.prose,
            [_flow(flow) for flow in step.flows],
        )
        for step in workflow.walk()
    ]
    data = json.dumps([workflow.title, workflow.preamble, steps], ensure_ascii=True)
    return hashlib.sha256(data.encode()).hexdigest()[:16]


def _flow(flow: Flow) -> list[object]:
    stages = [[(datum.name, datum.type) for datum in stage] for stage in flow.stages]
    return [stages, flow.condition.text if flow.condition else None, flow.target]


def _cell(marker: Marker, column: str) -> str:
    value = marker.values.get(column)
    return "" if value is None else str(value)


def _phase_of(phases: Sequence[Phase], key: str, begun: str) -> Phase | None:
    """Return the last phase of a step that began at this time, else the step's last phase."""
    of_step = [phase for phase in phases if key_of(phase.name) == key]
    exact = [phase for phase in of_step if phase.started and format_time(phase.started) == begun]
    return next(iter([*exact[-1:], *of_step[-1:]]), None)


def _answer(phase: Phase) -> str:
    """Return the prose of a phase, which is the agent's answer; the prompt is a callout."""
    return "\n\n".join(entry.text for entry in phase.entries if isinstance(entry, Prose))


def _held(job: Job, phase: Phase) -> dict[str, bool]:
    lines = [_LINE.fullmatch(entry.text.strip()) for entry in phase.entries if isinstance(entry, Decision)]
    by_number = {int(line[1]): line[3] == "yes" for line in lines if line}
    return {
        condition.text: by_number[number] for number, condition in enumerate(job.conditions, 1) if number in by_number
    }
