"""A run is known again by its markers and by its session's property, and read back from that session's note."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from crucible.commands.run.jobs import JobOutcome, JobResult, RunInputs
from crucible.commands.run.plan import plan_run
from crucible.commands.run.run_record import (
    add_marker,
    condition_lines,
    digest_of,
    earlier_of,
    find_run,
    row_of,
    step_ref,
)
from crucible.core.errors import NoteChanged
from crucible.documents.session.session import AgentRef, Decision, Entry, Phase, Prose, Session
from crucible.documents.workflow.workflow import Workflow
from crucible.vault.notes.vault import Vault
from tests.unit.commands.run.flows import START, graph_of, read

TEXT = """# T

## Look
If it rains → proceed to Wait
If it snows → proceed to Wait

## Wait

## Again

## Again
"""


def outcome_of(workflow: Workflow, name: str, fate: JobOutcome = JobOutcome.DONE, **more: object) -> JobResult:
    graph = graph_of(TEXT)[1]
    job = next(j for j in plan_run(workflow, graph, RunInputs("/")).jobs if j.step.name == name)
    times = {"started": START, "ended": START + timedelta(seconds=2.5)}
    return JobResult(job, fate, agent=AgentRef("a"), **times, **more)  # type: ignore[arg-type]


def marked(vault: Vault, name: str, fate: JobOutcome = JobOutcome.DONE) -> Path:
    path = vault.root / "flow.md"
    if not path.exists():
        path.write_text(TEXT)
    workflow, graph = graph_of(path.read_text())
    outcome = outcome_of(workflow, name, fate)
    row = row_of(outcome, "2026-11-22-run", lambda text: (text.replace("Look", "[gone]"), {}))
    add_marker(vault, path, step_ref(graph.steps, outcome.job.index), row)
    return path


def session(held: tuple[str, ...]) -> Session:
    entries: tuple[Entry, ...] = (Prose("The answer."), *(Decision(line) for line in held), Prose("Its end."))
    return Session("2026-11-22-run", phases=(Phase("Look", started=START, entries=entries),))


def test_what_was_decided_is_read_back_as_it_was_written(vault: Vault) -> None:
    lines = condition_lines(outcome_of(read(TEXT), "Look", held={"it rains": True, "it snows": False}))
    workflow, graph = graph_of(marked(vault, "Look").read_text())
    jobs = plan_run(workflow, graph, RunInputs("/")).jobs
    found = earlier_of(jobs, session(tuple(lines)))
    assert [(each.answer, each.held) for each in found.values()] == [
        ("The answer.\n\nIts end.", {"it rains": True, "it snows": False})
    ]
    assert earlier_of(jobs, session(tuple(lines[:1]))) == {}, "nobody knows which way it went"
    assert earlier_of(jobs, replace(session(tuple(lines)), id="another")) == {}


def test_what_failed_or_was_tried_again_and_failed_is_not_done(vault: Vault) -> None:
    marked(vault, "Wait")
    workflow, graph = graph_of(marked(vault, "Wait", JobOutcome.FAILED).read_text())
    assert earlier_of(plan_run(workflow, graph, RunInputs("/")).jobs, session(())) == {}


def test_a_row_is_redacted_and_tells_how_long_it_took(vault: Vault) -> None:
    row = read(marked(vault, "Look").read_text()).steps[0].markers[-1].values
    assert (row["phase"], row["duration_ms"], row["started"]) == ("[gone]", 2500, "2026-11-22T10:00:00Z")


def test_of_two_steps_of_one_name_the_right_one_is_marked_also_when_the_note_was_edited(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crucible.vault.notes.vault._SETTLE_SECONDS", 0.001)
    path = vault.root / "flow.md"
    path.write_text(TEXT)
    graph = graph_of(TEXT)[1]
    assert [step_ref(graph.steps, at).number for at in range(4)] == [0, 0, 0, 1]
    path.write_text("# New\n\n## More\n" + TEXT)
    row = {"phase": "Again", "status": "success"}
    add_marker(vault, path, step_ref(graph.steps, 3), row)
    steps = [step for step in read(path.read_text()).walk() if step.name == "Again"]
    assert [len(step.markers) for step in steps] == [0, 1]
    path.write_text("# T\n\n## Other\n")
    with pytest.raises(NoteChanged, match="was removed"):
        add_marker(vault, path, step_ref(graph.steps, 3), row)
    assert path.read_text() == "# T\n\n## Other\n"


def test_a_workflow_is_the_same_when_only_markers_were_added(vault: Vault) -> None:
    assert digest_of(read(marked(vault, "Look").read_text())) == digest_of(read(TEXT))
    for changed in (TEXT.replace("rains", "pours"), TEXT.replace("## Wait", "## Wait !"), TEXT + "\nMore.\n"):
        assert digest_of(read(changed)) != digest_of(read(TEXT))


def test_sessions_that_a_workflow_was_made_of_are_no_runs_of_it(vault: Vault) -> None:
    path = marked(vault, "Look")
    note = "---\ntype: session\nsession_id: 2026-11-22-run\nstarted: 2026-11-22T10:00:00Z\n{more}---\n\n# Run\n"
    vault.create("2026-11-22-run", note.format(more=""))
    assert find_run(vault, read(path.read_text()), "[[flow]]") is None
    (vault.sessions / "2026-11-22-run.md").write_text(note.format(more="workflow_digest: x\n"))
    found = find_run(vault, read(path.read_text()), "[[flow]]")
    assert found
    assert found.id == "2026-11-22-run"
    assert find_run(vault, read(TEXT), "[[flow]]") is None, "no marker, and it does not name a workflow"
    (vault.sessions / "2026-11-22-run.md").write_text(note.format(more="workflow_digest: x\nworkflow: '[[flow]]'\n"))
    assert find_run(vault, read(TEXT), "[[flow]]")


@pytest.mark.parametrize(
    ("told", "copy", "is_there"),
    [
        ("[[flow]]", "copy", False),
        ("[[flow|The flow]]", "copy", False),
        ("[[gone]]", "copy", True),
        ("elsewhere.md", "copy", True),
        ("[[FLOW]]", "flow", True),
    ],
)
def test_the_run_of_another_note_that_is_there_is_none_of_its_copy(
    vault: Vault, told: str, copy: str, is_there: bool
) -> None:
    text = marked(vault, "Look").read_text()
    (vault.root / "copy.md").write_text(text)
    vault.create(
        "2026-11-22-run",
        "---\ntype: session\nsession_id: 2026-11-22-run\nstarted: 2026-11-22T10:00:00Z\n"
        f"workflow_digest: x\nworkflow: '{told}'\n---\n\n# Run\n",
    )
    assert bool(find_run(vault, read(text), f"[[{copy}]]")) is is_there
    assert bool(find_run(vault, read(text), "copy.md")) is (is_there and told != "[[FLOW]]")
