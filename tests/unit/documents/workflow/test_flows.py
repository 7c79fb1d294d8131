"""Data flow: which lines are some, what they say, where it stands, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.source import Source
from crucible.documents.workflow.flow_line import Names
from crucible.documents.workflow.flows import FlowReading, read_flows, render_flow
from crucible.documents.workflow.workflow import Condition, Datum, Flow, Place, key_of
from crucible.documents.workflow.workflow_reader import read_workflow
from samples.hostile_texts import hostile_line
from tests.cases import fewer, for_each

STEPS = {key_of(name) for name in ("Export Results", "Deploy", "Roll back", "C++ → Rust", "Step 3")}


def read(text: str, steps: set[str] = STEPS) -> FlowReading:
    return read_flows(list(enumerate(text.split("\n"), 1)), Names(steps))


def shown(flow: Flow) -> str:
    """A flow in one line, as a test writes it."""
    stages = " > ".join(", ".join(d.name + (f"::{d.type}" if d.type else "") for d in stage) for stage in flow.stages)
    condition = "" if flow.condition is None else f"[{flow.condition.text or 'otherwise'}] "
    return f"{condition}{stages}{' => ' + flow.target if flow.target else ''}"


@for_each(
    ("line", "flow"),
    [
        ("a → b", "a > b"),
        ("a→b", "a > b"),
        ("a -> b", "a > b"),
        ("a\t->\tb", "a > b"),
        ("raw_data.csv → loaded_data::DataFrame", "raw_data.csv > loaded_data::DataFrame"),
        ("a → b → c::T", "a > b > c::T"),
        ("a, b → c, d", "a, b > c, d"),
        ("a ,b→c,d", "a, b > c, d"),
        ("a → b::Report[]", "a > b::Report[]"),
        ("a → b::List[Report]", "a > b::List[Report]"),
        ("a → b::Map<String, Vec<Order>>, c", "a > b::Map<String, Vec<Order>>, c"),
        ("a::std::string → b", "a::std::string > b"),
        ("items[] → b", "items > b"),
        ("a → b.", "a > b"),
        ("a → b;", "a > b"),
        ("  a → b  ", "a > b"),
        ("a → b\\", "a > b"),
        ("- a → b", "a > b"),
        ("* a → b", "a > b"),
        ("12. a → b", "a > b"),
        ("- [x] a → b", "a > b"),
        ("`raw data` → `the → report`::Doc", "raw data > the → report::Doc"),
        ("``a`b`` → c", "a`b > c"),
        ("**a** → *b*", "a > b"),
        ("**a → b**", "a > b"),
        ("**/*.py → report", "**/*.py > report"),
        ("*.csv → merged.csv", "*.csv > merged.csv"),
        ("src/main.rs, C:/x → 数据::表", "src/main.rs, C:/x > 数据::表"),
        ("Takes input → creates out::T", "input > out::T"),
        ("takes: a, b → c", "a, b > c"),
        ("**Data flow:** a → b", "a > b"),
        ("Flow: a → b", "a > b"),
        ("Input: a → Output: b", "a > b"),
        ("takes, b → c", "takes, b > c"),
        ("a → Export Results", "a => Export Results"),
        ("a → export-results", "a => export-results"),
        ("a → b → Export Results", "a > b => Export Results"),
        ("a → deploy::Plan", "a > deploy::Plan"),
        ("a → `deploy`", "a > deploy"),
        ("a → deploy, b", "a > deploy, b"),
        ("a → proceed to Export Results.", "a => Export Results"),
        ("a → go to Nowhere at all", "a => Nowhere at all"),
        ("→ proceed to Deploy", " => Deploy"),
        ("→ proceed to C++ → Rust", " => C++ → Rust"),
        ("→ proceed to the Deploy step", " => Deploy"),
        ("→ proceed to step Deploy", " => Deploy"),
        ("→ proceed to Step 3", " => Step 3"),
        ('→ proceed to "Deploy"', " => Deploy"),
        ("→ proceed to **Deploy**", " => Deploy"),
        ("→ proceed to [[#Deploy]]", " => Deploy"),
        ("→ proceed to `Deploy`", " => Deploy"),
        ("→ proceed to Deploy (fast path)", " => Deploy"),
        ("If all tests pass → proceed to Deploy", "[all tests pass]  => Deploy"),
        ("If all tests pass, → Deploy", "[all tests pass]  => Deploy"),
        ("**If** it failed -> proceed to Roll back", "[it failed]  => Roll back"),
        ("- If `make test` → Deploy", "[`make test`]  => Deploy"),
        ("If `a → b` holds → c", "[`a → b` holds] c"),
        ("If x → a, b::T", "[x] a, b::T"),
        ("If x → a → b", "[x] a > b"),
        ("If x → a → proceed to Deploy", "[x] a => Deploy"),
        ("Else if y → Deploy", "[y]  => Deploy"),
        ("Otherwise → Roll back", "[otherwise]  => Roll back"),
        ("otherwise, → proceed to Roll back", "[otherwise]  => Roll back"),
        ("Else → report", "[otherwise] report"),
    ],
)
def test_a_line_that_is_a_flow(line: str, flow: str) -> None:
    found = read(line)
    assert [shown(one) for one in found.flows] == [flow]
    assert found.taken == {1}
    assert not found.diagnostics


@for_each(
    "line",
    [
        "We go from a -> b today.",
        "Turn a (old) → b",
        "Bumped 1.0 → 2.0",
        "From 60% → 75%",
        "a→",
        "→ b",
        "a, → b",
        "a → b,",
        "a->b",
        "x --> y",
        "a → b(really)",
        "We go from a → b (really)",
        "a → b (really) → c",
        "a → b (really",
        "a → b really)",
        "a → (really)",
        "x → creates: (these)",
        "Decided: a → b (why: it is so)",
        "`a → b (really)`",
        'He said "a → b"',
        "a | b → c",
        "a → [b](c)",
        "a → **b",
        "a → `b",
        "yes → no, or else!",
        "> a → b",
        "- > a → b",
        "a → b: what it is",
        "Decided: use a → b",
        "- Decided: a → b",
        'Asked: "take a → b"',
        "📥 → 📤",
        "<b>a</b> → b",
        "a → b::",
        "a :: T → b",
        "If → ",
        "a → ...",
        "[^1]: a → b",
        "no arrow at all",
    ],
)
def test_a_line_that_is_prose(line: str) -> None:
    found = read(line)
    assert not found.flows
    assert not found.taken
    assert not [d for d in found.diagnostics if d.code != "unread-flow"]


def test_what_was_probably_meant_as_a_flow_is_told_with_its_place() -> None:
    (problem,) = read("text\n  - user requirements → design doc").diagnostics
    assert (problem.code, problem.place) == ("unread-flow", Place(2, 5))
    assert [d.code for d in read("a, b->c::T\nSee x->y for that.").diagnostics] == ["unread-flow"]
    assert {d.code for d in read("If it fails (badly) → stop it all!").diagnostics} == {"unread-flow"}


@pytest.mark.parametrize(
    "line", ["We go from a → b today.", "Bump 1.0 → 2.0", "Asked: go a → b", "a b → c " * 20, "use (a) → b c"]
)
def test_prose_with_an_arrow_is_silent(line: str) -> None:
    assert not read(line).diagnostics


@pytest.mark.parametrize(
    ("line", "flow"),
    [
        ("a → b (really)", "a > b"),
        ("- a::CSV, c → b (the (new) one).", "a::CSV, c > b"),
        ("a → b (c → d)", "a > b"),
        ("a → b (see `f(`)", "a > b"),
        ("If it fails → b (again)", "[it fails] b"),
    ],
)
def test_words_in_parentheses_behind_a_flow_are_prose(line: str, flow: str) -> None:
    found = read(line)
    assert [shown(each) for each in found.flows] == [flow]
    assert (found.taken, found.diagnostics) == (frozenset(), ())


def test_words_in_parentheses_behind_a_flow_stay_in_the_steps_prose() -> None:
    workflow = read_workflow(Source("# T\n\n## A\n\na → b (as a file)\nc → d\n"), "t")
    assert [shown(flow) for flow in workflow.steps[0].flows] == ["a > b", "c > d"]
    assert workflow.steps[0].prose == "a → b (as a file)"


@pytest.mark.parametrize("line", ["a → b; c → d", "a → b; `c d` → e;", "- a->b; b->c", "a → b (x); c → d."])
def test_two_flows_in_a_line_are_told(line: str) -> None:
    found = read(line)
    assert not found.flows
    assert [problem.code for problem in found.diagnostics] == ["unread-flow"]


@pytest.mark.parametrize(
    "line",
    ["a → b; see below", "It is `a → b; c → d`.", "`;;` → b; and so, on!", "Well, a → b; or not: c → d!"],
)
def test_prose_with_a_semicolon_is_silent(line: str) -> None:
    assert read(line).diagnostics == ()


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("a → proceed to Nowhere", 16),
        ("- If x y → go to the **Nowhere**.", 18),
        ("Otherwise → proceed to `Nowhere`", 25),
    ],
)
def test_a_target_has_its_own_place(line: str, column: int) -> None:
    (flow,) = read(line).flows
    assert flow.target in ("Nowhere", "the **Nowhere**")
    assert flow.target_place == Place(1, column)


def test_places_are_lines_and_columns_that_count_code_points() -> None:
    found = read("😀 prose\n - 😀x, `b c`::T → d → proceed to Deploy")
    (flow,) = found.flows
    assert flow.place == Place(2, 4)
    assert [[datum.place.column for datum in stage] for stage in flow.stages] == [[4, 8], [19]]
    (listed,) = read("in → creates:\n\n  - [ ] out::T").flows
    assert listed.stages[1][0].place == Place(3, 9)


@pytest.mark.parametrize(
    ("line", "flow"),
    [
        ("a → deploy", "a > deploy"),
        ("a → b → Deploy", "a > b > Deploy"),
        ("a → deploy, x", "a > deploy, x"),
        ("If it fails → Deploy", "[it fails]  => Deploy"),
        ("a → proceed to Deploy", "a => Deploy"),
    ],
)
def test_an_output_with_the_name_of_its_own_step_is_data(line: str, flow: str) -> None:
    (found,) = read_flows([(1, line)], Names(STEPS, own="deploy")).flows
    assert shown(found) == flow


def test_a_last_name_that_a_step_takes_is_data_and_leads_to_the_step_of_that_name() -> None:
    names = Names(STEPS, taken={"deploy"})
    assert [shown(flow) for flow in read_flows([(1, "a → Deploy")], names).flows] == ["a > Deploy => Deploy"]
    both = read_flows([(1, "a → deploy, Export Results")], names).flows
    assert [shown(flow) for flow in both] == ["a > deploy => deploy", "a => Export Results"]
    assert shown(read_flows([(1, "Otherwise → deploy")], names).flows[0]) == "[otherwise] deploy => deploy"


def test_a_line_may_lead_to_two_steps_and_hold_both_branches() -> None:
    assert [shown(f) for f in read("a → Deploy, Roll back").flows] == ["a => Deploy", "a => Roll back"]
    both = read("If ok → proceed to Deploy, otherwise → Roll back.").flows
    assert [shown(f) for f in both] == ["[ok]  => Deploy", "[otherwise]  => Roll back"]
    assert [f.place.column for f in both] == [1, 28]


@for_each("head", ["x → creates:", "Takes x → creates:", "x → produces:", "x -> :", "x → **outputs:**"])
@for_each("blank", ["", "\n"])
def test_outputs_may_stand_in_the_list_below(head: str, blank: str) -> None:
    found = read(f"{head}{blank}\n- a::T\n- `b c`.\n* d::List<X, Y>\nprose")
    assert [shown(f) for f in found.flows] == ["x > a::T, b c, d::List<X, Y>"]
    assert max(found.taken) == 4 + len(blank)
    assert not found.diagnostics


def test_a_list_in_a_list_belongs_to_its_own_item() -> None:
    text = "- x → creates:\n  - a\n    - deeper than a\n  - b: what b is\n- y → c"
    found = read(text)
    assert [shown(f) for f in found.flows] == ["x > a, b", "y > c"]
    assert found.taken == {1, 2, 5}


def test_an_output_that_cannot_be_read_is_told_and_the_others_count() -> None:
    found = read("x → creates:\n- a\n- several words\n- b")
    assert [shown(f) for f in found.flows] == ["x > a, b"]
    (problem,) = found.diagnostics
    assert (problem.code, problem.place) == ("unread-output", Place(3, 3))
    assert 3 not in found.taken


def test_an_open_line_without_a_list_is_prose_and_told() -> None:
    found = read("x → creates:\nnothing")
    assert not found.flows
    assert not found.taken
    assert [(d.code, d.place) for d in found.diagnostics] == [("missing-outputs", Place(1, 1))]


def test_a_flow_below_outputs_ends_their_list() -> None:
    found = read("x → creates:\n- a\n- b → c")
    assert [shown(f) for f in found.flows] == ["x > a", "b > c"]


@for_each(
    "text",
    [
        "> a → b",
        "```\na → b\n```",
        "~~~text\na → b\n~~~",
        "    a → b",
        "\ta → b",
        "1. x\n\n   ```\n   a → b\n   ```",
        "<!--\na → b\n-->",
        "<div>\na → b\n</div>",
        "%%\na → b\n%%",
        "%% a → b %%",
        "`x\na → b\ny`",
        "$$\na → b\n$$",
        "| h |\n|---|\na → b",
        "| a → b |\n|---|",
        "a → b\n===",
        "a → b\n---",
        "**Tool calls:**\n- `x` → y\n- z → y",
    ],
)
def test_what_is_no_text_holds_no_flow(text: str) -> None:
    workflow = read_workflow(Source(f"# T\n\n## S\n\n{text}\n\n## U\nc → d\n"), "w")
    first, second = workflow.steps
    assert not first.flows
    assert len(second.flows) == 1


def test_a_flow_directly_above_dashes_is_told_to_be_a_heading() -> None:
    workflow = read_workflow(Source("## S\ntext\n\na → b\n---\n"), "w")
    assert [(d.code, d.place) for d in workflow.diagnostics] == [("unread-flow", Place(4, 1))]


# --- the way back -----------------------------------------------------------------------------------------------------

_WORD = st.sampled_from(
    ["a", "limiter.py", "Deploy", "export results", "Otherwise", "else", "If", "takes", "creates:", "x → y", "-> z", "a,b",
     "src/a b.py", "`t`", "b::T", "**/x", "**y", "z**", "*w*", "x.", "[[n]]", "%%", "<b>", "#y", "- q", "1.", "go to x", "*.py", "**", "数据", "~~~", "^id"]
)  # fmt: skip
_NAME = st.one_of(_WORD, hostile_line(), st.text(max_size=8)).map(normal_line).filter(bool)
_TYPE = st.none() | st.sampled_from(["T", "Report[]", "Map<String, Order>", "a::b", "List[X]", "Café"])
_STAGE = st.lists(st.builds(Datum, _NAME, _TYPE), min_size=1, max_size=5).map(tuple)
_CONDITION = st.sampled_from(["all tests pass", "`make test`", "x > 3", "`a → b`", "it's ok (mostly)"]).map(Condition)
_TARGET = st.one_of(st.sampled_from(["Deploy", "Export Results", "Roll back", "Nowhere", "C++ → Rust"]), _NAME)
_FLOW = st.one_of(
    st.builds(Flow, st.lists(_STAGE, min_size=2, max_size=4).map(tuple)),
    st.builds(Flow, st.lists(_STAGE, max_size=2).map(tuple), st.none(), _TARGET),
    st.builds(Flow, st.lists(_STAGE, min_size=1, max_size=2).map(tuple), _CONDITION | st.just(Condition())),
    st.builds(Flow, st.lists(_STAGE, max_size=1).map(tuple), _CONDITION | st.just(Condition()), _TARGET),
)


@for_each("name", ["Task:_", "Task:__", "Creates:*", "_otherwise_", "_else", "otherwise:_"])
@for_each("at", [0, 1])
def test_a_name_that_would_say_more_than_a_name_is_quoted(name: str, at: int) -> None:
    stages = [(Datum("a"),), (Datum("b"),)]
    stages[at] = (Datum(name),)
    assert read("\n".join(render_flow(Flow(tuple(stages)), STEPS))).flows == (Flow(tuple(stages)),)


@given(_FLOW)
@example(Flow(((Datum("a"),), (Datum("Roll"), Datum("back")))))
@example(Flow(((Datum("a"),), (Datum("Deploy"), Datum("Deploy")))))
@example(
    Flow((), Condition("it says <  % and stops"), "Deploy")
)  # two blanks are how `contain_line` writes one before a `%`
def test_every_flow_comes_back(flow: Flow) -> None:
    lines = render_flow(flow, STEPS)
    found = read("\n".join(lines))
    assert found.flows == (flow,)
    assert found.taken == set(range(1, len(lines) + 1))


@fewer(2)
@given(st.lists(_FLOW, min_size=1, max_size=3))
def test_flows_come_back_from_a_note_and_change_nothing_else_in_it(flows: list[Flow]) -> None:
    heads = "".join(f"## {name}\n\n" for name in ("Export Results", "Deploy", "Roll back", "C++ → Rust", "Step 3"))
    body = "\n\n".join("\n".join(render_flow(flow, STEPS)) for flow in flows)
    workflow = read_workflow(Source(f"# T\n\n## S\n\nProse.\n\n{body}\n\n{heads}"), "w")
    assert len(workflow.steps) == 6
    assert workflow.steps[0].flows == tuple(flows)
    assert workflow.steps[0].prose == "Prose."


@fewer(2)
@given(st.lists(hostile_line(), max_size=6), st.sampled_from(["", "→", " -> "]))
@example(["- `Bash ls` → ok\x1b"], "")
@example(["- `Bash\x1b ls` → ok::\x1bText"], "")
def test_what_is_read_from_any_lines_can_be_written_and_read_again(lines: list[str], arrow: str) -> None:
    found = read(f"{arrow}".join(lines)) if arrow else read("\n".join(lines))
    for flow in found.flows:
        assert read("\n".join(render_flow(flow, STEPS))).flows == (flow,)
