"""A workflow note as a whole: upstream's examples, untidy notes, what is broken, and the time it takes."""

from __future__ import annotations

import time
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.markdown.source import Lines, Source
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Datum, Diagnostic, Flow, Grade, Place, Severity, Step, Workflow, key_of
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import BLOCKS, hostile_text
from tests.cases import fewer
from tests.paths import TESTS

DATA = TESTS / "data" / "workflow"


def load(name: str) -> Workflow:
    return read_workflow(Source.from_bytes((DATA / name).read_bytes()), name.removesuffix(".md"))


def read(text: str) -> Workflow:
    return read_workflow(Source.from_bytes(text.encode("utf-8", "surrogatepass")), "w")


def names(workflow: Workflow) -> list[str]:
    return [step.name for step in workflow.walk()]


def tree(step: Step) -> object:
    return (step.name, [tree(child) for child in step.children]) if step.children else step.name


def shown(flow: Flow) -> str:
    return " > ".join(",".join(f"{d.name}::{d.type}" if d.type else d.name for d in stage) for stage in flow.stages)


def problems(workflow: Workflow) -> list[tuple[str, int, int]]:
    return [(d.code, *d.place) for d in workflow.diagnostics]


# --- upstream's examples -----------------------------------------------------------------------------------------------

PIPELINE = [
    ("Load Data", "data-loader", "pipeline", "plain", "raw_data.csv > loaded_data::DataFrame", 3),
    ("Clean Data", "data-cleaner", "pipeline", "plain", "loaded_data > cleaned_data::DataFrame", 2),
    ("Transform Data", "transformer", "pipeline", "plain", "cleaned_data > transformed_data::DataFrame", 2),
    (
        "Export Results",
        "exporter",
        "pipeline",
        "critical",
        "transformed_data > success_confirmation::String",
        2,
    ),
]
ORDERS = [
    ("Receive Order", "order-api", "orders", "plain", "order_request::JSON > validated_order::Order", 5),
    ("Check Inventory", "inventory-service", "warehouse", "plain", "validated_order > inventory_check::InventoryResult", 4),
    ("Process Payment", "payment-service", "payments", "critical", "validated_order > payment_result::PaymentReceipt", 3),
    ("Reserve Inventory", "inventory-service", "warehouse", "critical", "inventory_check,payment_result > reservation::Reservation", 3),
    ("Create Shipment", "fulfillment-service", "warehouse", "plain", "reservation > tracking_number::String", 3),
    ("Notify Customer", "notification-service", "communications", "plain", "tracking_number,payment_result > notification_sent::Boolean", 3),
    ("Handle Failed Orders", None, None, "optional", "failed_orders > retry_scheduled::Boolean", 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows"), [("simple-pipeline.md", PIPELINE), ("ecommerce-order.md", ORDERS)])
def test_upstreams_examples_are_read_whole(name: str, rows: list[tuple[object, ...]]) -> None:
    workflow = load(name)
    told = [
        (s.name, s.agent and s.agent.name, s.channel, s.grade.value, shown(*s.flows), len(s.markers))
        for s in workflow.steps
    ]
    assert told == rows
    assert not workflow.diagnostics
    assert not workflow.marked
    assert all(key_of(marker.phase) == step.key for step in workflow.steps for marker in step.markers)


def test_every_cell_of_upstreams_markers_is_read() -> None:
    workflow = load("ecommerce-order.md")
    assert workflow.title == "E-Commerce Order Processing"
    assert workflow.preamble.startswith("This workflow handles customer orders")
    payment = workflow.steps[2].markers[1]
    assert dict(payment.values) == {
        "phase": "ProcessPayment",
        "agent": "payment-service",
        "channel": "payments",
        "input": "order_002",
        "output": "receipt_002",
        "duration_ms": 1580,
        "status": "success",
        "tokens_used": 580,
        "amount_usd": 145.5,
    }
    assert payment.place == Place(43, 2)
    assert [m.values["email_sent"] for m in workflow.steps[5].markers] == [True] * 3
    assert workflow.steps[2].prose == (
        "Critical: Charges customer's payment method.\n\n"
        "This step runs in parallel with inventory check for faster processing."
    )
    assert sum(len(step.markers) for step in workflow.walk()) == 23


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
@pytest.mark.parametrize("name", ["simple-pipeline.md", "ecommerce-order.md"])
def test_other_line_ends_and_a_byte_order_mark_change_nothing(name: str, ending: str) -> None:
    data = b"\xef\xbb\xbf" + (DATA / name).read_bytes().replace(b"\n", ending.encode())
    workflow, plain = read_workflow(Source.from_bytes(data), "x"), load(name)
    assert workflow == plain
    assert [s.place for s in workflow.walk()] == [s.place for s in plain.walk()]
    assert [m.place for s in workflow.walk() for m in s.markers] == [m.place for s in plain.walk() for m in s.markers]


# --- steps -------------------------------------------------------------------------------------------------------------


def test_levels_give_parent_and_child_and_what_is_skipped_is_no_matter() -> None:
    text = "# T\n## A\n#### A1\n### A2\n#### A21\n## B\n# C\n### C1\n## C2\n"
    workflow = read(text)
    assert [tree(step) for step in workflow.steps] == [
        ("A", ["A1", ("A2", ["A21"])]),
        "B",
        ("C", ["C1", "C2"]),
    ]
    assert [step.id for step in workflow.walk()] == [
        "step-1", "step-1.1", "step-1.2", "step-1.2.1", "step-2", "step-3", "step-3.1", "step-3.2",
    ]  # fmt: skip


def test_prose_sections_and_all_below_them_are_no_steps() -> None:
    text = "# T\n## Summary\na → b\n### Deep\n## A\n### Notes\n#### x @a\n### A1\n## Workflow graph\n```mermaid\nx\n```\n# Notes\n## No\n# Z"
    assert [tree(step) for step in read(text).steps] == [("A", ["A1"]), "Z"]


def test_a_prose_name_with_a_marker_is_a_step() -> None:
    assert names(read("## Summary @writer\n## Notes ?\n## Workflow check !\n## Summary\n")) == [
        "Summary", "Notes", "Workflow check",
    ]  # fmt: skip


def test_a_note_without_a_title_has_steps_and_a_preamble() -> None:
    workflow = read("Words.\n\n```py\n# no heading\na → b\n```\n\n## A\n")
    assert (workflow.title, workflow.preamble) == ("", "Words.\n\n```py\n# no heading\na → b\n```")
    assert names(workflow) == ["A"]


def test_headings_that_are_hidden_or_underlined_are_none() -> None:
    text = "## A\n%%\n## no\n%%\n<!--\n## no\n-->\n```\n## no\n```\n> ## no\n\n    ## no\n\nno\n---\n\n- ## no\n\n  ## no\n\n  text\n\n  ## no\n\n1. x\n\n  ## B ##\n"
    assert names(read(text)) == ["A", "B"]


def test_a_comment_that_begins_in_a_heading_hides_the_flow_behind_it() -> None:
    workflow = read("## S %%\n\na → b\n\n> quoted\n\nb → e\n\n## no %%\n\nc → d\n")
    assert names(workflow) == ["S %%"]
    assert [shown(flow) for flow in workflow.steps[0].flows] == ["c > d"]


def test_places_count_lines_and_columns_from_one() -> None:
    workflow = read("---\ntype: workflow\n---\n#  Títle\n\n  ##\tÄ 😀 @a\n\n## \n")
    assert workflow.title_place == Place(4, 4)
    assert [step.place for step in workflow.walk()] == [Place(6, 6), Place(8, 3)]
    assert problems(workflow) == [("unnamed-step", 8, 3)]


def test_a_steps_lines_and_the_end_of_its_body() -> None:
    workflow = read("# T\n\n## A\n\ntext\n\n---\n\n## B\n## Summary\nx\n")
    a, b = workflow.steps
    assert (a.lines, a.body_end) == (Lines(2, 8), 5)
    assert (b.lines, b.body_end) == (Lines(8, 9), 9)


def test_prose_is_what_is_neither_flow_nor_markers_nor_dashes() -> None:
    text = dedent("""\
        ## A

        First  \n        x → y

        - item
        - y → z

        ```session-toon
        execution[1]{phase,status}:
         A,success
        ```

        ***
        ```
        a → b
        ```
        ---

        Last


        two blank lines above
        """)
    (step,) = read(text).steps
    assert step.prose == "First  \n\n- item\n\n***\n```\na → b\n```\n\nLast\n\n\ntwo blank lines above"
    assert [shown(flow) for flow in step.flows] == ["x > y", "y > z"]
    assert len(step.markers) == 1


def test_repeated_markers_of_a_heading_are_told() -> None:
    workflow = read("## A @x @y\n")
    assert names(workflow) == ["A @x"]
    assert problems(workflow) == [("repeated-marker", 1, 4)]


# --- frontmatter -------------------------------------------------------------------------------------------------------


def test_frontmatter_says_the_type_and_the_sessions() -> None:
    text = '---\ntype: workflow\nsessions:\n  - "[[a/2025-01-01-x|X]]"\n  - "[[y.md#p]]"\n  - z\n  - 7\ncodified: q\n---\n# T\n'
    workflow = read(text)
    assert workflow.marked
    assert workflow.sessions == ("2025-01-01-x", "y", "z")
    assert workflow.properties["codified"] == "q"
    assert read('---\nsessions: "[[one]]"\n---\n').sessions == ("one",)
    assert read("---\nsessions: {a: b}\n---\n").sessions == ()


def test_a_broken_frontmatter_is_told() -> None:
    assert [code for code, *_ in problems(read("---\ntype: workflow\n## A\na → b\n"))] == ["unclosed-frontmatter"]


# --- markers -----------------------------------------------------------------------------------------------------------

BLOCK = "```session-toon\nexecution[1]{phase,status}:\n  A,success\n```\n"


def test_marker_blocks_outside_steps_go_to_the_step_that_their_rows_name() -> None:
    text = f"# T\n{BLOCK}\n## a\n{BLOCK}\n## B\n## Summary\n{BLOCK.replace('A,', 'B,')}{BLOCK.replace('A,', 'C,')}"
    workflow = read(text)
    assert [[m.place.line for m in step.markers] for step in workflow.steps] == [[10, 4], [17]]
    assert problems(workflow) == [("marker-without-step", 21, 3)]
    assert not workflow.preamble


def test_a_broken_block_is_told_and_the_rest_counts() -> None:
    text = f"# T\n## A\nx → y\n\n```session-toon\nexecution[3{{phase,status}}:\n A,success\n```\n\n{BLOCK}## B\ny → z\n{BLOCK}"
    workflow = read(text)
    assert [(len(s.flows), len(s.markers)) for s in workflow.steps] == [(1, 1), (1, 1)]
    (problem,) = workflow.diagnostics
    assert (problem.severity, problem.place) == (Severity.ERROR, Place(6, 12))
    assert "`]`" in problem.message


OPEN = BLOCK.removesuffix("```\n")


@pytest.mark.parametrize("gap", ["", "\n", "\n\n---\n\n"])
@pytest.mark.parametrize("tail", ["", "## Summary\ntext\n"])
def test_a_block_that_is_never_closed_does_not_take_the_steps_behind_it(gap: str, tail: str) -> None:
    text = f"## A\nx → y\n{OPEN}{gap}## B\ny → z\n{BLOCK}\n## C\nz → q\n{OPEN}{gap}## D\n`q` → r\n{OPEN}{tail}"
    workflow = read(text)
    assert names(workflow) == ["A", "B", "C", "D"]
    assert [(len(s.flows), len(s.markers)) for s in workflow.steps] == [(1, 1)] * 4
    assert [d.code for d in workflow.diagnostics] == ["unclosed-block"] * 3
    assert workflow.diagnostics[0].place == Place(6, 1)
    assert all("closing ``` is missing" in d.message for d in workflow.diagnostics)
    lines = text.split("\n")
    for step in workflow.walk():
        assert lines[step.place.line - 1] == f"## {step.name}"
        assert step.body_end <= step.lines.end
    for marker in (m for s in workflow.walk() for m in s.markers):
        assert lines[marker.place.line - 1] == "  A,success"


def test_a_block_that_is_never_closed_ends_before_prose() -> None:
    workflow = read(f"## A\n{OPEN}\nJust words.\nx → y\n\n## B\n")
    (step, _) = workflow.steps
    assert step.prose == "Just words."
    assert len(step.flows) == len(step.markers) == 1
    assert problems(workflow) == [("unclosed-block", 5, 1)]


def test_other_fences_that_are_never_closed_are_told_with_their_column() -> None:
    assert problems(read("## A\n\n  ```py\n## B\n")) == [("unclosed-fence", 3, 3)]
    assert problems(read("## A\n\n%% a %% 50 %% left\n")) == [("unclosed-comment", 3, 12)]


def test_steps_may_be_called_as_their_data_are() -> None:
    workflow = read("## Build\nsource → build\n## Report\nbuild → report\n## Mail\nreport → Archive\n## Archive\n")
    graph = build_graph(workflow)
    assert [(e.source, e.target, e.data) for e in graph.edges] == [
        (0, 1, ("build",)), (1, 2, ("report",)), (2, 3, ("report",))
    ]  # fmt: skip
    assert graph.inputs == (Datum("source"),)
    assert not check_workflow(workflow, graph)


def test_a_name_that_a_step_takes_and_a_step_has_feeds_the_one_and_leads_to_the_other() -> None:
    workflow = read("## Write\nidea → review\n## Review\nchecklist → marks\n## Print\nreview → paper\n")
    graph = build_graph(workflow)
    assert [(e.source, e.target, e.data) for e in graph.edges] == [(0, 1, ("review",)), (0, 2, ("review",))]
    assert read(render_workflow(workflow)).steps == workflow.steps


@pytest.mark.parametrize("comment", ["# by hand", " # by hand"])
def test_a_line_with_a_hash_among_rows_is_a_broken_row_and_ends_no_block(comment: str) -> None:
    rows = f"```session-toon\nexecution[2]{{phase,status}}:\n  A,success\n{comment}\n  A,failed\n{comment}\n```\n"
    workflow = read(f"## A\n\n{rows}\n## B\ny → z\n{BLOCK}")
    assert names(workflow) == ["A", "B"]
    assert [len(step.markers) for step in workflow.steps] == [2, 1]
    assert [code for code, _, _ in problems(workflow)] == ["wrong-count", "bad-row", "bad-row"]


# --- untidy notes ------------------------------------------------------------------------------------------------------


def test_a_note_of_teams_branches_and_lists() -> None:
    text = dedent("""\
        ---
        type: workflow
        tags: [workflow]
        ---

        # Code Review 👀

        Prose with a code fence:

        ```markdown
        ## Not a step @nobody
        a → b
        ```

        ## Backend Team

        The people behind it.

        ### Review Changes @reviewer@2.1 #review
        Takes pull_request → creates:
        - review_comments::Comment[]
        - `risk level`::Level

        ```session-toon
        execution[2]{phase,agent,status,note}:
          ReviewChanges,reviewer@2.1,success,"fine, ""
          ReviewChanges,reviewer@2.1,timeout,"a, b"
        ```

        If `risk level` is high → proceed to Security Review
        Otherwise → Merge

        ### Security Review @security !
        review_comments, `risk level` → verdict::Verdict → Merge

        ## Merge @bot ?
        \tverdict → merged

        verdict → merged::Commit

        ## Notes
        ### Nothing here @agent
        """)
    workflow = read(text)
    team, merge = workflow.steps
    review, security = team.children
    assert (team.agent, team.flows, merge.grade) == (None, (), Grade.OPTIONAL)
    assert [shown(flow) for flow in review.flows] == [
        "pull_request > review_comments::Comment[],risk level::Level",
        "",
        "",
    ]
    assert [(flow.condition and flow.condition.text, flow.target) for flow in review.flows] == [
        (None, ""), ("`risk level` is high", "Security Review"), ("", "Merge"),
    ]  # fmt: skip
    assert [marker.values["note"] for marker in review.markers] == ["a, b"]
    assert (shown(*security.flows), security.flows[0].target) == (
        "review_comments,risk level > verdict::Verdict",
        "Merge",
    )
    assert [shown(flow) for flow in merge.flows] == ["verdict > merged::Commit"]
    assert problems(workflow) == [("bad-row", 26, 46)]


@given(st.one_of(hostile_text(12), st.lists(st.sampled_from(
    (*BLOCKS, "## A @x !", "a → b", "`a → b", "x → creates:", "- y", "  - z", "If c → A", "→ go to A", *BLOCK.split("\n"), " A,success")
), max_size=14).map("\n".join)))  # fmt: skip
def test_reading_never_raises_and_every_place_stands_in_the_note(text: str) -> None:
    source = Source(text)
    workflow = read_workflow(source, "w")
    places = [d.place for d in workflow.diagnostics]
    for step in workflow.walk():
        places += [step.place, *(m.place for m in step.markers), *(f.place for f in step.flows)]
        places += [datum.place for flow in step.flows for stage in flow.stages for datum in stage]
        assert step.lines.first < step.body_end <= step.lines.end <= len(source.lines)
    for place in places:
        assert 1 <= place.line <= len(source.lines)
        assert 1 <= place.column <= len(source.lines[place.line - 1]) + 1
    assert list(workflow.diagnostics) == sorted(workflow.diagnostics, key=lambda d: d.place)


@fewer(2)
@given(hostile_text(6))
def test_what_stands_above_a_hostile_text_is_read_all_the_same(text: str) -> None:
    workflow = read(f"# T\n\n## A @x #y !\n\nin → out::T\n\n{BLOCK}\n## B\n\n{text}")
    step = workflow.steps[0]
    assert (step.name, str(step.agent), step.channel, step.grade) == ("A", "x", "y", Grade.CRITICAL)
    assert [shown(flow) for flow in step.flows] == ["in > out::T"]
    assert len(step.markers) >= 1


def _cpu(text: str, runs: int) -> float:
    best = float("inf")
    for _ in range(runs):
        started = time.process_time()
        read_workflow(Source(text), "w")
        best = min(best, time.process_time() - started)
    return best


def _steps(count: int) -> str:
    step = (
        "## Step {0} @agent #channel\n\n- Decided: `x` → y\n\na{0}, `b c` → a{1}::T\n\nIf a{0} → proceed to Step {1}\n\n"
        "```session-toon\nexecution[1]{{phase,status}}:\n  Step{0},success\n```\n\n---\n\n"
    )
    return "# T\n\n" + "".join(step.format(n, n + 1) for n in range(count))


SHAPES = {
    "steps": _steps,
    "untidy steps": lambda n: "<!-- x -->\n\n" + _steps(n),
    "open blocks": lambda n: "".join(f"## S{k}\na → b\n{OPEN}" for k in range(n)),
    "outputs": lambda n: "## S\n" + "x → creates:\n- several words\n  y → creates:\n" * n,
    "one line": lambda n: "## S\n" + "`a`, b, " * n + "c → " + "`d` → " * n + "e, otherwise → f" * n,
    "ticks": lambda n: "## S\n" + "".join(f"{'`' * (k % 90 + 1)} x " for k in range(n)) + " → b",
    "words": lambda n: "## " + "@a #b ! ? " * n + "\n" + "x " * n + "→ proceed to" + " \t" * n + "y",
    "row": lambda n: "## S\n```session-toon\nexecution[1]{phase,status}:\n" + ' "a","' * n + "\n" + "a," * n + "\n```\n",
}  # fmt: skip


@pytest.mark.timed
@pytest.mark.parametrize("shape", SHAPES)
def test_reading_takes_time_in_proportion_to_the_note(shape: str) -> None:
    """Ten times the note takes at most twenty times the processor: what is quadratic takes a hundred."""
    build = SHAPES[shape]
    small, large = _cpu(build(200), 2), _cpu(build(2000), 1)
    if large >= 20 * max(small, 0.002):  # somebody else was at work
        small, large = min(small, _cpu(build(200), 3)), _cpu(build(2000), 2)
    assert large < 20 * max(small, 0.002), f"{small:.4f} s, {large:.4f} s"


def test_a_diagnostic_is_told_once_and_in_order() -> None:
    workflow = read("## A\nb c → d e\n## B @x @y\n```session-toon\n```\n")
    assert problems(workflow) == [("unread-flow", 2, 1), ("repeated-marker", 3, 4), ("empty-block", 4, 1)]
    assert all(isinstance(d, Diagnostic) for d in workflow.diagnostics)
