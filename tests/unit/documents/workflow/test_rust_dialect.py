"""What we write for the Rust Crucible, read by a reader of its own that its conformance cases pin."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from hypothesis import given

from crucible.documents.markdown.source import Source
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.rust_dialect import name_outputs, render_crucible, render_name, side_by_side
from crucible.documents.workflow.workflow import Datum, Grade, Step, Workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from tests.cases import fewer, for_each
from tests.paths import TESTS
from tests.unit.documents.workflow.rust_reader import Document, RustStep, read_document, read_heading, read_step
from tests.unit.documents.workflow.sample_workflows import flow, leading, step, workflow
from tests.unit.documents.workflow.workflow_strategies import NAMES, workflows

DATA = TESTS / "data" / "workflow"
CASES = [json.loads(line) for line in (DATA / "workflow_crucible.jsonl").read_text(encoding="utf-8").splitlines()]


def _tree(steps: list[RustStep]) -> list[Any]:
    return [[one.title, *_tree(one.children)] for one in steps]


def _facts(document: Document) -> dict[str, Any]:
    return {
        "steps": len(document.steps),
        "goals": [list(goal) for goal in document.goals],
        "goals_count": len(document.goals),
        "validations": [list(check) for check in document.validations],
        "tree": _tree(document.steps),
        "order": [one.title for one in document.walk()],
        "warnings": document.warnings,
        "preamble_gates": document.preamble_gates,
        "step_gates": [one.gates for one in document.walk()],
        "parallel": [one.title for one in document.walk() if one.parallel],
    }


@for_each("case", CASES)
def test_our_reader_of_the_rust_markup_answers_every_case_as_the_rust_parser_does(
    case: dict[str, Any],
) -> None:
    expected = case["expected"]
    if case["op"] == "heading_suffix":
        assert read_heading(case["input"])._asdict() == expected
    elif case["op"] == "step":
        found = read_step(case["input"])
        assert {key: getattr(found, key) for key in expected} == expected
    else:
        document = read_document(case["input"])
        facts = document and _facts(document)
        counts = {key for key, value in (expected or {}).items() if isinstance(value, int)}
        got = facts and {
            key: len(facts[key]) if key in counts and isinstance(facts[key], list) else facts[key] for key in expected
        }
        assert got == expected


def _read(made: Workflow) -> Document:
    document = read_document(render_crucible(made))
    assert document is not None
    return document


def test_a_public_example_is_the_same_pipeline_in_the_other_markup() -> None:
    text = (DATA / "simple-pipeline.md").read_text(encoding="utf-8")
    document = _read(read_workflow(Source(text), "simple-pipeline"))
    assert document.title == "Simple Data Pipeline"
    assert [(one.title, one.agent, one.output, one.gates) for one in document.walk()] == [
        ("Load Data", "data-loader", "loaded_data", 0),
        ("Clean Data", "data-cleaner", "cleaned_data", 0),
        ("Transform Data", "transformer", "transformed_data", 0),
        ("Export Results", "exporter", "success_confirmation", 1),
    ]
    assert document.steps[3].attrs == {"channel": "pipeline", "on_error": "halt"}
    assert not any(one.parallel for one in document.walk())


# --- names -----------------------------------------------------------------------------------------------------------


def _bare(text: str) -> str:
    """What a human reads of a name: no escapes, blanks of any kind as one."""
    text = text.replace("\\", "").replace("&#35;", "#").replace("&#91;", "[")
    text = re.sub(r"[\s\x85]+", " ", re.sub("[\x1c-\x1f]", "", text)).strip()
    return re.sub("(?<=<) (?=%)|(?<=:) (?=:)", "", text)


def _shape(name: str) -> str:
    text = _bare(name) or "Untitled"
    if text[:1] == "[" and not {"]", ":"} & set(text):
        text += "]"
    return re.sub(r"^(Goals|Validation|#) \(step\)$", r"\1", text)


def _wanted(one: Step) -> tuple[Any, ...]:
    below = sorted(_wanted(child) for child in one.children)
    agent = str(one.agent) if one.agent else ""
    error = {Grade.CRITICAL: "halt", Grade.OPTIONAL: "skip", Grade.PLAIN: ""}[one.grade]
    gates = (one.grade is Grade.CRITICAL) + one.prose.split("\n").count("> [!gate]")
    return (_shape(one.name), agent, one.channel or "", error, gates, bool(one.outputs()), below)


def _got(one: RustStep) -> tuple[Any, ...]:
    attrs = dict(one.attrs)
    agent, channel, error = (
        attrs.pop("agent", one.agent or ""),
        attrs.pop("channel", ""),
        attrs.pop("on_error", ""),
    )
    assert not attrs
    assert bool(agent) == bool(one.agent)
    below = sorted(_got(child) for child in one.children)
    return (_shape(one.title), agent, channel, error, one.gates, one.output is not None, below)


@fewer(2)
@given(workflows())
def test_every_step_reads_back_with_its_name_agent_channel_grade_and_place_in_the_tree(
    made: Workflow,
) -> None:
    document = _read(made)
    assert not document.warnings
    assert sorted(map(_got, document.steps)) == sorted(map(_wanted, made.steps))


@for_each("name", NAMES)
@for_each("agent", [None, AgentRef("dev")])
def test_nothing_of_a_name_is_read_as_a_mark(name: str, agent: AgentRef | None) -> None:
    document = _read(workflow(Step(name, agent=agent)))
    (found,) = document.steps
    assert (found.agent, found.output, found.attrs, found.parallel) == (agent and "dev", None, {}, False)
    assert not found.section
    assert _shape(found.title) == _shape(name)
    assert not document.goals


def test_nothing_leaves_the_brackets_of_an_attribute() -> None:
    (found,) = _read(workflow(Step("A", AgentRef("x] -> y [a:: b", "1]"), "c] @d"))).steps
    assert (found.title, found.output, set(found.attrs)) == ("A", None, {"agent", "channel"})


def test_a_tidy_name_is_written_as_it_is() -> None:
    for name in (
        "Fix A & B",
        "Run (parallel) builds",
        "Parse RFC 5322 @example.com addresses",
        "C++ -> Rust port",
    ):
        assert render_name(name) == name


def test_the_title_stands_in_the_frontmatter_and_is_no_step() -> None:
    document = _read(Workflow(title="Deploy: it's #1", steps=(Step("A"),)))
    assert document.title == "Deploy: it's #1"
    assert [one.title for one in document.walk()] == ["A"]


# --- outputs ---------------------------------------------------------------------------------------------------------


def test_the_output_is_the_one_that_most_steps_take_and_the_rest_is_said() -> None:
    made = workflow(
        step("Plan", "idea -> notes, code.py::Python"),
        step("Test", "code.py -> results"),
        step("Ship", "code.py, results -> done"),
    )
    document = _read(made)
    assert [one.output for one in document.steps] == ["code_py", "results", "done"]
    assert "Gives `notes`, **code_py** (`code.py::Python`)." in document.steps[0].body
    assert "Takes **code_py** (`code.py`), **results** (`results`)." in document.steps[2].body


@fewer(2)
@given(workflows())
def test_one_output_name_stands_for_one_datum(made: Workflow) -> None:
    steps = build_graph(made).steps
    names = name_outputs(steps)
    assert len(set(map(str.lower, names.known.values()))) == len(names.known)
    for one, name in zip(steps, names.steps, strict=True):
        assert (name != "") == bool(one.outputs())
        assert name in {"", *(names.known.get(datum.name.casefold()) for datum in one.outputs())}
        assert not name or re.fullmatch("[a-zA-Z_][a-zA-Z0-9_-]*", name)


def test_names_that_come_to_the_same_letters_are_numbered() -> None:
    steps = [Step(str(n), flows=(flow(f"x -> {name}"),)) for n, name in enumerate(("a.b", "a_b", "A-b", "a.b", "A_B"))]
    assert name_outputs(steps).steps == ("a_b", "a_b_2", "A-b", "a_b", "a_b_2")


# --- order and rows --------------------------------------------------------------------------------------------------


def test_what_does_not_wait_for_each_other_runs_side_by_side() -> None:
    made = workflow(
        step("Receive", "request -> order"),
        step("Stock", "order -> stock"),
        step("Pay", "order -> receipt"),
        step("Ship", "stock, receipt -> parcel"),
    )
    assert [one.parallel for one in _read(made).steps] == [False, True, True, False]


def test_two_rows_in_a_row_are_kept_apart_by_a_step_without_a_mark() -> None:
    made = workflow(
        *(step(name, flows) for name, flows in (("A", "x -> a"), ("B", "x -> b"), ("C", "a -> c"), ("D", "b -> d")))
    )
    assert [one.parallel for one in _read(made).steps] == [True, True, False, False]


def test_a_gate_a_condition_and_unknown_data_run_alone() -> None:
    first = step("A", "x -> a")
    for second in (
        Step("B", grade=Grade.CRITICAL, flows=(flow("x -> b"),)),
        Step("B", prose="> [!gate]\n> Ask.", flows=(flow("x -> b"),)),
        Step("B"),
        Step("B", flows=(flow("x -> b"),), children=(Step("B1", grade=Grade.CRITICAL),)),
    ):
        assert not any(one.parallel for one in _read(workflow(first, second)).walk())
    led = workflow(Step("Z", flows=(leading("B", "it fails"),)), first, step("B", "x -> b"))
    assert not any(one.parallel for one in _read(led).walk())


def test_steps_stand_in_the_order_in_which_they_must_run() -> None:
    made = workflow(step("Ship", "tested -> done"), step("Test", "code -> tested"), step("Write", "idea -> code"))
    assert [one.title for one in _read(made).steps] == ["Write", "Test", "Ship"]


@fewer(2)
@given(workflows())
def test_steps_in_a_row_never_wait_for_each_other(made: Workflow) -> None:
    graph = build_graph(made)
    marked = side_by_side(graph)
    tops = [at for at, parent in enumerate(graph.parents) if parent < 0]
    under = {at: max(top for top in tops if top <= at) for at in range(len(graph.steps))}
    named = Counter(one.title for one in _read(made).walk() if one.parallel)
    assert sum(named.values()) == len(marked)
    rank = {at: place for place, at in enumerate(graph.order)}
    if set(tops) <= set(rank) and not any(graph.parents[at] >= 0 for at in range(len(graph.steps))):
        written = sorted(tops, key=lambda at: rank[at])
        for edge in graph.edges:
            a, b = written.index(under[edge.source]), written.index(under[edge.target])
            between = written[min(a, b) : max(a, b) + 1]
            assert edge.source == edge.target or not set(between) <= marked


# --- prose, goals, checks --------------------------------------------------------------------------------------------


@fewer(2)
@given(workflows())
def test_prose_is_kept_but_for_escapes(made: Workflow) -> None:
    bodies = ["\n".join(one.body).replace("\\", "") for one in _read(made).walk()]
    for one in made.walk():
        assert any(one.prose.replace("\\", "") in body for body in bodies)


@for_each(
    "prose",
    [
        "```\n```python\n## Forged\n```",
        "<!--\n## Forged\n-->",
        "$$\n# Forged\n$$",
        "    ```\n\n## Forged",
        "~~~~ x\n\ntext",
        "```a`b",
        "#\u2003Forged",
        "````\n## kept\n```\n## kept too\n````",
    ],
)
def test_no_line_of_prose_becomes_a_step_or_hides_the_next(prose: str) -> None:
    document = _read(workflow(Step("A", prose=prose), Step("B")))
    assert [one.title for one in document.walk()] == ["A", "B"]


def test_open_tasks_are_goals_and_else_what_was_asked() -> None:
    tasks = Workflow(
        "T",
        preamble="- [ ] Ship CSV [id:: g1]\n- [x] Ship JSON\n\nMore.",
        steps=(Step("A", prose='- Asked: "Do it"'),),
    )
    assert _read(tasks).goals == [("Ship CSV [id:\\: g1]", "pending"), ("Ship JSON", "done")]
    asked = Workflow("T", steps=(Step("A", prose='- Asked: "Do it"\n- Asked: "Again"'), Step("B")))
    assert _read(asked).goals == [("Do it", "pending")]


def test_commands_are_checks_and_part_of_a_command_is_never_one() -> None:
    prose = "- Check: `pytest -q`\n- Check: `` echo `date` ``\n- Check: `pytest -q`\n- Run: `nothing`"
    assert _read(workflow(Step("A", prose=prose))).validations == [
        ("succeeds", "pytest -q"),
        ("By hand: echo 'date'", None),
    ]


@fewer(2)
@given(workflows())
def test_no_command_is_forged(made: Workflow) -> None:
    told = {
        line[9:].strip("` ") for one in made.walk() for line in one.prose.split("\n") if line.startswith("- Check: ")
    }
    for words, command in _read(made).validations:
        assert command is None or (words == "succeeds" and _bare(command) in {_bare(one) for one in told})


def test_a_critical_step_has_a_gate_and_a_datum_may_be_called_anything() -> None:
    made = Step("A", grade=Grade.CRITICAL, flows=(flow("x -> y"), flow("y -> z")))
    (found,) = _read(workflow(made)).steps
    assert found.gates == 1
    odd = Datum("> [!gate]`\n## X", "T")
    assert render_crucible(workflow(Step("A", flows=(flow("a -> b").__class__(((odd,), (odd,))),)))).count("\n## ") == 1
