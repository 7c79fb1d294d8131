"""Codifying complete sessions: real ones of three clients, random and hostile ones, secrets, and speed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crucible.analysis.tools.recorded_calls import load_recorded_calls
from crucible.clients.registry import DIALECTS
from crucible.commands.codify.codify_sessions import RecordedSession, codify
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import AgentRef, Decision, Intervention, Session
from crucible.documents.session.session_reader import read_session
from crucible.documents.workflow.graph import Graph
from crucible.documents.workflow.workflow import Step, Workflow
from crucible.documents.workflow.workflow_reader import gc_paused
from samples.codified_sessions import (
    Work,
    calls,
    codify_one,
    flow_of,
    linked,
    no_secrets,
    phase,
    read_back,
    session,
    step_called,
    tree,
    written,
)
from samples.notes import sample_phases
from tests.cases import fewer
from tests.unit.commands.imports.places import DATA, LATER, make_vault, notes_of
from tests.unit.documents.session.session_strategies import sessions as hostile_sessions

CLIENTS = ("claude-code", "codex", "opencode")


def codify_real(folder: Path, client: str, name: str) -> Workflow:
    """Codify a real session, imported from its client's own files."""
    vault = make_vault(folder / client)
    import_transcripts(vault, DIALECTS[client], [DATA / "transcripts" / client / name], options=ImportOptions(LATER))
    notes = {known: note.session for known, note in notes_of(vault).items()}
    (trunk,) = (one for one in notes.values() if one.parent is None)
    return codify([RecordedSession(trunk, notes, lambda known: load_recorded_calls(vault.root, known))], no_secrets)


def likeness(workflow: Workflow) -> list[object]:
    """A workflow without agents' names and figures."""

    def facts_of(step: Step) -> object:
        prose = re.sub(r"\b([a-z]+)-\w+\)", r"\1-ID)", step.prose)  # ids come from the client's rows
        prose = re.sub(r"^- Did: .*$", "- Did", prose, flags=re.MULTILINE)  # and edits by a program are no outcome
        return [step.name, step.channel, step.grade, prose, step.flows, *map(facts_of, step.children)]

    return [workflow.title, workflow.preamble, *map(facts_of, workflow.steps)]


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    names = [step.name for step in graph.steps]
    return {(names[e.source], names[e.target], datum) for e in graph.edges for datum in e.data}


# --- real sessions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["limiter", "retry"])
def test_three_clients_give_the_same_workflow_of_one_session(name: str, tmp_path: Path) -> None:
    first, *others = (codify_real(tmp_path, client, name) for client in CLIENTS)
    for other in others:
        assert likeness(other)[1:] == likeness(first)[1:]  # OpenCode has titles of its own


@pytest.mark.parametrize("client", CLIENTS)
def test_the_limiter_flows_from_its_author_to_its_tester(client: str, tmp_path: Path) -> None:
    found = codify_real(tmp_path, client, "limiter")
    back, _, diagnostics = read_back(written(found))
    assert back == found
    assert diagnostics == ()
    assert tree(found) == ["Add a rate limiter to this project"], "a task that names code is of this one time"
    assert flow_of(found.steps[0]) == "request → changes, test_results"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_that_names_a_file_is_an_input_and_its_correction_no_rule(client: str, tmp_path: Path) -> None:
    found = codify_real(tmp_path, client, "retry")
    assert tree(found) == [
        [
            "Carry out the request",
            "Find how retries are done in this repository and report",
            "Make the changes",
        ],
    ]
    assert found.steps[0].prose == '- Asked: "{{request}}"'
    assert "such as `Fix the retry bug in app.py`" in found.preamble
    flow = flow_of(step_called(found, "Make the changes"))
    assert flow == "find_how_retries_done_report → changes"


def test_a_session_without_records_gives_the_same_tree(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    path = DATA / "transcripts" / "claude-code" / "limiter"
    import_transcripts(vault, DIALECTS["claude-code"], [path], options=ImportOptions(LATER))
    notes = {known: note.session for known, note in notes_of(vault).items()}
    (trunk,) = (one for one in notes.values() if one.parent is None)
    found = codify([RecordedSession(trunk, notes)], no_secrets)
    assert tree(found) == tree(codify_real(tmp_path, "claude-code", "limiter"))


# --- any session -----------------------------------------------------------------------------------------------------


def check(found: Workflow, again: Workflow) -> None:
    """Check what holds for every codified workflow."""
    text = written(found)
    assert written(again) == text
    back, graph, diagnostics = read_back(text)
    assert back == found
    assert graph.cycles == ()
    assert all(edge.source < edge.target for edge in graph.edges)
    assert {diagnostic.code for diagnostic in diagnostics} <= {"no-steps"}
    assert len({marker.phase.casefold() for step in found.walk() for marker in step.markers}) == len(graph.steps)


@given(st.integers(0, 2**48))
@fewer(3)
def test_a_random_session_reads_back_the_same_without_a_circle_or_a_problem(seed: int) -> None:
    work = Work(Random(seed))
    one = work.session()
    check(codify_one(one, work.children), codify_one(one, work.children))


@given(hostile_sessions())
@fewer(3)
def test_a_hostile_session_reads_back_the_same(one: Session) -> None:
    check(codify_one(one, {one.id: one}), codify_one(one, {one.id: one}))


def test_several_sessions_make_one_workflow_with_a_row_each() -> None:
    phases = (phase("Write it", calls("Write a.py")), phase("Test it", calls("Read a.py", "Bash pytest")))
    found = codify([RecordedSession(session(*phases, name=name)) for name in ("one", "two")], no_secrets)
    assert found.sessions == ("one", "two")
    assert tree(found) == ["Write it", "Test it"]
    assert [[marker.values["session"] for marker in step.markers] for step in found.walk()] == [["one", "two"]] * 2


@given(st.integers(0, 2**48))
def test_random_sessions_that_share_steps_make_a_workflow_without_a_circle_or_a_problem(seed: int) -> None:
    random = Random(seed)
    work = Work(random)
    one = work.session()
    phases = random.sample(one.phases, random.randrange(len(one.phases) + 1))
    two = replace(work.session(), id="two")
    recorded = [
        RecordedSession(each, work.children) for each in (one, replace(one, id="other", phases=tuple(phases)), two)
    ]
    check(codify(recorded, no_secrets), codify(recorded, no_secrets))


def test_no_session_gives_no_step() -> None:
    assert codify([], no_secrets).steps == ()


# --- secrets ---------------------------------------------------------------------------------------------------------


def test_a_workflow_has_no_secret_of_its_session() -> None:
    secret = "ghp_" + "x7Kq2Lm9Zt4Rv8Wb1Nc6Yd3Fg5Hj0PsQa2Ue"
    entries = (
        Intervention(f"Use {secret} for it"),
        calls(f"Write {secret}.py", f"Bash pytest --token {secret}"),
        Decision(f"Keep {secret}", f"since {secret} works"),
    )
    agent = AgentRef(f"bot-{secret}", secret)
    own = replace(phase("Ask", *entries), agent=agent, channel=secret)
    one = session(phase(f"Use {secret}", *entries), phase(f"Use {secret} again", *entries), own)
    redact = redact_of(VaultSettings().secrets)
    found = codify([RecordedSession(replace(one, title=secret))], redact)
    text = written(found)
    assert secret not in text
    assert "REDACTED" in text
    assert read_back(text)[0] == found


# --- how long it takes -----------------------------------------------------------------------------------------------


def seconds(work: Callable[[], object]) -> float:
    """Return the shortest of three runs after a first one, which compiles patterns; the garbage collector is off."""
    work()
    taken = []
    with gc_paused():
        for _ in range(3):
            started = time.process_time()
            work()
            taken.append(time.process_time() - started)
    return min(taken)


@pytest.mark.timed
def test_codifying_takes_less_than_twice_what_markdown_it_takes_for_the_text() -> None:
    text = render_session(session(*sample_phases(150)))
    redact = redact_of(VaultSettings().secrets)

    def codified_text() -> str:
        return written(codify([RecordedSession(read_session(Source(text), "one"))], redact))

    assert "{{request}}" in codified_text()
    assert seconds(codified_text) <= 2 * seconds(lambda: MarkdownIt("commonmark").parse(text))


@pytest.mark.timed
def test_phases_with_one_name_take_linear_time() -> None:
    few, many = (
        session(*(phase("Same", linked("x"), calls("Edit a.py", "Bash pytest")) for _ in range(count)))
        for count in (60, 600)
    )
    assert seconds(lambda: codify_one(many)) <= 20 * seconds(lambda: codify_one(few))


def test_equal_names_get_numbers() -> None:
    found = codify_one(session(*(phase("Same", calls("Write a.py")) for _ in range(3))))
    assert tree(found) == ["Same", "Same 2", "Same 3"]
    assert re.findall(r"^## .*$", written(found), re.MULTILINE)[:2] == [
        "## Same @claude-code@2.1.197",
        "## Same 2 @claude-code@2.1.197",
    ]
