"""Going on with a run: which one it was, what it did well, and whether the workflow changed since.

Owns how a run is read back: by the markers in the workflow, which name their session, and by that session's note, whose phases hold the
answers.  A step is known again by its markers, which stand below its heading.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence

from crucible.commands.run.run_model import Earlier, Job, Outcome
from crucible.core.errors import CrucibleError
from crucible.core.patterns import late_pattern
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Decision, Phase, Prose, Session
from crucible.documents.workflow.workflow import Flow, Marker, RunStatus, Workflow, key_of
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

LINK, DIGEST = "workflow", "workflow_digest"
"""Properties of a run's session: its workflow, and what that asked for when the run began."""

_LOOKED = 500
"""Session notes that are looked at, newest first, for a run that left no marker."""

_WIKILINK = late_pattern(r"\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_LINE = late_pattern(r"Condition (\d{1,6}), (.*): (yes|no)", 16)  # re.DOTALL: a note may break a line


def find_run(vault: Vault, workflow: Workflow, link: str) -> Session | None:
    """The newest run of the workflow that the vault knows: by the markers, or by its property where a run left none yet.

    `link` is how a run's session names the workflow.  A session that names another note, which is there, is no run of this one, whatever
    its markers say: they may have been copied.
    """
    markers = [marker for step in workflow.walk() for marker in step.markers]
    named = {_cell(marker, "session") for marker in markers} - {""}
    # Names begin with the day, so the last ones are the newest.
    paths = sorted(vault.session_paths(), key=lambda path: path.name, reverse=True)
    looked = [path for at, path in enumerate(paths) if at < _LOOKED or note_name(path.name) in named]
    found: list[tuple[str, str, Session]] = []
    for path in looked:
        try:
            note = vault.read(path)
        except CrucibleError:
            continue  # of what cannot be read nothing can go on
        if f"\n{DIGEST}:" not in note.source.text:
            continue
        session = note.session
        told = session.properties.get(LINK)
        if told == link or (session.id in named and not _is_of_another(vault, str(told), link)):
            began = format_time(session.started) if session.started else ""
            found.append((began, path.name, session))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _is_of_another(vault: Vault, told: str, link: str) -> bool:
    """Whether a run's session names a note of the vault that is not this one; a note that was moved may be any."""
    meant, own = _WIKILINK.fullmatch(told), _WIKILINK.fullmatch(link)
    if not meant:
        return False
    table = LinkTable(map(vault.relative, vault.note_paths()))
    found = table.resolve(meant[1])
    if found.path is None or found.ambiguous:
        return False
    return not own or found.path != table.resolve(own[1]).path


def earlier_of(jobs: Iterable[Job], session: Session) -> dict[int, Earlier]:
    """The jobs that the run of this session carried out well, by their index.

    One whose conditions cannot be read back is not among them: nobody knows which way it went.
    """
    found: dict[int, Earlier] = {}
    for job in jobs:
        rows = [marker for marker in job.step.markers if _cell(marker, "session") == session.id]
        if not rows or rows[-1].status != RunStatus.SUCCESS:
            continue
        phase = _phase_of(session.phases, job.step.key, _cell(rows[-1], "started"))
        held = _held(job, phase) if phase else {}
        if len(held) == len(job.conditions):
            found[job.index] = Earlier(_answer(phase) if phase else "", held)
    return found


def condition_lines(outcome: Outcome) -> list[str]:
    """What is written down of the conditions behind a step, a text for each."""
    texts = [condition.text for condition in outcome.job.conditions]
    return [
        f"Condition {number}, {text}: {'yes' if outcome.held[text] else 'no'}"
        for number, text in enumerate(texts, 1)
        if text in outcome.held
    ]


def digest_of(workflow: Workflow) -> str:
    """What it asks for in a few letters: equal for a workflow that differs in markers and blank lines alone."""
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
    """The step's phase: that which began when the marker says, else the last one."""
    mine = [phase for phase in phases if key_of(phase.name) == key]
    exact = [phase for phase in mine if phase.started and format_time(phase.started) == begun]
    return next(iter([*exact[-1:], *mine[-1:]]), None)


def _answer(phase: Phase) -> str:
    """All that is prose: what was asked stands in a callout."""
    return "\n\n".join(entry.text for entry in phase.entries if isinstance(entry, Prose))


def _held(job: Job, phase: Phase) -> dict[str, bool]:
    told = [_LINE.fullmatch(entry.text.strip()) for entry in phase.entries if isinstance(entry, Decision)]
    by_number = {int(line[1]): line[3] == "yes" for line in told if line}
    return {
        condition.text: by_number[number] for number, condition in enumerate(job.conditions, 1) if number in by_number
    }
