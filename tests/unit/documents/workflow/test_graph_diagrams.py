"""Drawings: what they show, and that no name becomes anything but text in them."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.graph_diagrams import dot_text, mermaid_text, render_dot, render_mermaid
from crucible.documents.workflow.graph_listing import render_lines
from crucible.documents.workflow.workflow import Condition, Datum, Flow, Grade, Step
from samples.hostile_texts import hostile_line
from tests.cases import fewer, for_each
from tests.unit.documents.workflow.sample_workflows import flow, leading, step, workflow

_ORDER = (
    Step("Receive", AgentRef("api"), "orders", flows=(flow("request::JSON -> order"),)),
    Step("Check stock", flows=(flow("order -> stock"), leading("Ask", "none is left"), leading("Ship", ""))),
    Step("Pay", AgentRef("pay", "2"), None, Grade.CRITICAL, flows=(flow("order -> receipt"),)),
    Step(
        "Ship",
        flows=(flow("stock, receipt -> parcel"),),
        children=(step("Pack", "parcel -> box"), Step("Post")),
    ),
    Step("Ask", None, None, Grade.OPTIONAL),
)

_MERMAID = """\
flowchart TD
  s1["Receive<br/>#64;api #35;orders"]
  s2["Check stock"]
  s3["Pay<br/>#64;pay#64;2"]
  subgraph g4["Ship"]
    s4["Ship"]
    s5["Pack"]
    s6["Post"]
  end
  s7["Ask"]
  s1 -->|"order"| s2
  s1 -->|"order"| s3
  s2 -->|"stock"| s4
  s2 -.->|"Otherwise"| s4
  s2 -.->|"If none is left"| s7
  s3 -->|"receipt"| s4
  s4 -->|"parcel"| s5
  classDef critical stroke-width:3px
  class s3 critical
  classDef optional stroke-dasharray:4 3
  class s7 optional"""

_DOT = """\
digraph workflow {
  node [shape=box, style="rounded"];
  s1 [label="Receive\\n@api #orders"];
  s2 [label="Check stock"];
  s3 [label="Pay\\n@pay@2", penwidth=3];
  subgraph cluster_g4 {
    label="Ship";
    s4 [label="Ship"];
    s5 [label="Pack"];
    s6 [label="Post"];
  }
  s7 [label="Ask", style="rounded,dashed"];
  s1 -> s2 [label="order"];
  s1 -> s3 [label="order"];
  s2 -> s4 [label="stock"];
  s2 -> s4 [label="Otherwise", style=dashed];
  s2 -> s7 [label="If none is left", style=dashed];
  s3 -> s4 [label="receipt"];
  s4 -> s5 [label="parcel"];
}"""

_LINES = """\
takes request::JSON

1
  Receive  @api #orders
    ─ order → Check stock, Pay
2  side by side
  Check stock
    ─ stock → Ship
    ╌ If none is left → Ask
    ╌ Otherwise → Ship
  Pay  @pay@2 !
    ─ receipt → Ship
3  side by side
  Ship
    ─ parcel → Pack
  Ask  ?
4  side by side
  (Ship)
    Pack
      ─ box →
    Post"""


def _graph(*steps: Step) -> Graph:
    return build_graph(workflow(*steps))


def test_a_workflow_drawn_three_ways() -> None:
    graph = _graph(*_ORDER)
    assert render_mermaid(graph) == _MERMAID
    assert render_dot(graph) == _DOT
    assert "\n".join(render_lines(graph, 80)) == _LINES


def test_a_group_that_no_arrow_touches_has_no_node_of_its_own() -> None:
    graph = _graph(Step("Group", children=(Step("A"), Step("B", children=(Step("C"),)))), Step("D"))
    assert render_mermaid(graph).split("\n")[1:] == [
        '  subgraph g1["Group"]', '    s2["A"]', '    subgraph g3["B"]', '      s4["C"]', "    end", "  end", '  s5["D"]',
    ]  # fmt: skip


def test_a_file_changed_again_and_again_is_a_chain_and_no_web() -> None:
    graph = _graph(step("A", "in -> f"), *(step(f"S{n}", "f -> f") for n in range(4)), step("T", "f, in -> t"))
    arrows = [line.strip() for line in render_mermaid(graph).split("\n") if "-->" in line]
    assert arrows == [f's{n} -->|"f"| s{n + 1}' for n in range(1, 6)]
    assert "    ─ f → S0" in render_lines(graph, 80)


# --- foreign names ---------------------------------------------------------------------------------------------

_NASTY = (
    'a" --> b["x', "]", '"]; click s1 "javascript:x"', "%% gone", "%%{init: {}}%%", "```", "`**x**`", "end", "subgraph x",
    "<b onclick=x>", "<br/>", "&lt;", "&quot;", "#quot;", "#35;", "fa:fa-x", "style x:#fff;", "classDef x y:#f;z", "1. one",
    "- one", "# one", "---", "$$x$$", "a\\", '\\"', "\\N \\G", "s1 --> s2", "a\nb", "a\r\nend\n", "\u2028x", "ﬂ°34¶ß", "🙈👩‍👩‍👧",
    "日本語", "x | y", "{x}", "(((x)))", "@{ shape: x }", "www.example.com", "http://x.y", "a@b.c", "__init__.py", "\x1b[31mx",
    "\ud800", "\u202egpj.exe", "click s1 call x()", "accTitle: x", "direction LR", "e1@-->", "~~~", "title: x",
)  # fmt: skip


def _steps(names: Sequence[str]) -> tuple[Step, ...]:
    """Groups, conditions, targets and agents, with six names in every place that a name can have."""
    a, b, c, d, e, f = names
    return (
        Step(a, AgentRef(b), c, Grade.CRITICAL, flows=(Flow(((Datum(d),), (Datum(e, f),))),)),
        Step(b, flows=(Flow(condition=Condition(c), target=f), Flow(condition=Condition(), target=d)), children=(
            Step(c, flows=(Flow(((Datum(e),), (Datum(f),))),)), Step(d, None, None, Grade.OPTIONAL),
        )),
        Step(e, flows=(Flow(((Datum(a), Datum(f)), (Datum(b),))),)),
        Step(f),
    )  # fmt: skip


_HARMLESS = _graph(*_steps(["one", "two", "three", "four", "five", "six"]))
_NAMES = st.lists(st.one_of(st.sampled_from(_NASTY), hostile_line(), st.text(max_size=8)), min_size=6, max_size=6).map(
    lambda names: [f"{name}{at}z" for at, name in enumerate(names)]
)
"""Six names that do not match each other; what begins a line or ends one is tried by the labels' own test."""


def _mermaid_structure(text: str) -> list[str]:
    """As Mermaid's lexer takes it: a string is from a double quote to the next one, but `direction LR` makes a line its own."""
    assert text.count('"') % 2 == 0
    assert not re.search(r"direction\s", text, re.IGNORECASE)
    return re.sub(r'"[^"]*"', '""', text).split("\n")


def _dot_structure(text: str) -> list[str]:
    """As Graphviz's lexer takes it: in a string a backslash takes the next character with it."""
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text, flags=re.DOTALL).split("\n")


@fewer(2)
@given(_NAMES)
@example([f"{name}{at}z" for at, name in enumerate(['x" --> y', "```", "]", "a\nend", "%%{x}%%", "style:#1;"])])
def test_names_change_nothing_of_a_drawing_but_the_labels(names: list[str]) -> None:
    graph = _graph(*_steps(names))
    assert [e[:2] for e in graph.edges] == [e[:2] for e in _HARMLESS.edges]
    drawn = render_mermaid(graph)
    assert _mermaid_structure(drawn) == _mermaid_structure(render_mermaid(_HARMLESS))
    assert "`" not in drawn
    assert "~~~" not in drawn
    assert _dot_structure(render_dot(graph)) == _dot_structure(render_dot(_HARMLESS))
    drawn.encode()
    render_dot(graph).encode()


@fewer(2)
@given(st.one_of(st.sampled_from(_NASTY), hostile_line(), st.text()))
def test_a_mermaid_label_holds_only_what_is_harmless_and_says_the_same(text: str) -> None:
    label = mermaid_text(text, 10_000)
    bare = re.sub(r"#\d+;", "", label)
    assert not re.search(r"""["`<>&#;:%$*(){}\[\]|\\~=@!?'^°¶]|[\x00-\x1f\x7f-\x9f\u2028\u2029]""", bare)
    assert not re.match(r"[-+.]|\d+\.(\s|$)", bare)
    shown = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), label)
    assert shown == (normal_line(re.sub("[\u2028\u2029]", " ", text)) or "\xa0")


@for_each("text", _NASTY)
def test_a_dot_label_says_the_same(text: str) -> None:
    label = dot_text(text)
    assert re.fullmatch(r'(?:\\[\\"]|[^"\\\n])*', label)
    assert html.unescape(re.sub(r"\\(.)", r"\1", label)) == normal_line(re.sub("[\u2028\u2029]", " ", text))


def test_plain_names_stay_readable_in_the_source() -> None:
    assert mermaid_text("src/limiter.py, test_results ✓ naïve re-run") == "src/limiter.py, test_results ✓ naïve re-run"
    assert mermaid_text("1. Fix (now): it's 100%") == "1#46; Fix #40;now#41;#58; it#39;s 100#37;"


# --- size ------------------------------------------------------------------------------------------------------


def test_what_is_too_large_for_mermaid_is_drawn_by_its_outermost_steps() -> None:
    groups = [
        Step(f"G{n}", children=tuple(step(f"G{n}P{m}", f"in -> {'x' * 60}{n}n{m}") for m in range(60)))
        for n in range(10)
    ]
    linked = step("Last", ", ".join(f"{'x' * 60}{n}n{m}" for n in range(10) for m in range(60)) + " -> end")
    drawn = render_mermaid(_graph(*groups, linked))
    assert drawn.count("\n") == 21
    assert "G0P0" not in drawn
    assert len(re.findall("-->", drawn)) == 10


def test_of_too_many_outermost_steps_the_first_are_drawn() -> None:
    drawn = render_mermaid(_graph(*(step(f"S{n}", f"d{n} -> d{n + 1}") for n in range(2_000))))
    assert len(drawn) <= 50_000
    assert 's1["S0"]' in drawn
    assert 'more["and 1800 more"]' in drawn


def test_a_bundle_is_one_joint_in_each_drawing() -> None:
    makers = [step(f"M{n}", f"in -> x, m{n}") for n in range(100)]
    graph = _graph(*makers, *(step(f"T{n}", f"x -> t{n}") for n in range(100)))
    assert '  d1(["x"])' in render_mermaid(graph)
    assert render_dot(graph).count("-> d1") == 100
    assert "    ─ x → 100 steps" in render_lines(graph, 80)


# --- the terminal ----------------------------------------------------------------------------------------------


def _cells(line: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@fewer(2)
@given(_NAMES, st.integers(0, 60))
def test_no_line_is_wider_than_the_terminal_and_none_holds_a_control(names: list[str], width: int) -> None:
    for line in render_lines(_graph(*_steps(names)), width):
        assert sum(_cells(c) for c in line if unicodedata.category(c) not in ("Cf", "Mn", "Me")) <= max(width, 24)
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", line)


def test_long_names_go_on_in_the_next_line_deeper() -> None:
    graph = _graph(step("Write everything down that was said", "in -> a"), step("B", "a -> b"))
    assert render_lines(graph, 24)[3:6] == ["  Write everything down", "      that was said", "    ─ a → B"]


def test_circles_and_what_waits_for_them_are_told() -> None:
    graph = _graph(step("A", "b -> a"), step("B", "a -> b"), step("C", "b -> c"))
    assert render_lines(graph, 80) == ["", "in a circle: A → B → A", "", "never begin: A, B, C"]


def test_a_step_for_thousands_names_a_few() -> None:
    lines = render_lines(
        _graph(step("A", "in -> a"), *(Step(f"S{n}", flows=(flow("a -> b"),)) for n in range(900))), 60
    )
    assert "892 more" in " ".join(lines[3:6])


def test_an_empty_workflow_draws_empty() -> None:
    assert render_mermaid(_graph()) == "flowchart TD"
    assert render_dot(_graph()).endswith("}")
    assert render_lines(_graph(), 80) == []
