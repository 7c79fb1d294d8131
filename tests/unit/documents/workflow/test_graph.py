"""Who feeds whom, in what order, side by side, and in circles."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.workflow.graph import Bundle, Edge, Graph, build_graph
from crucible.documents.workflow.workflow import Condition, Datum, Flow, Place, Step, Workflow
from tests.cases import fewer
from tests.unit.documents.workflow.sample_workflows import flow, leading, step, workflow


def _graph(*steps: Step) -> Graph:
    return build_graph(workflow(*steps))


def _pairs(graph: Graph) -> set[tuple[str, str]]:
    return {(graph.steps[e.source].name, graph.steps[e.target].name) for e in graph.edges}


def _names(graph: Graph, numbers: Iterable[int]) -> str:
    return " ".join(graph.steps[at].name for at in numbers)


def test_an_output_feeds_every_step_that_takes_its_name_in_any_case() -> None:
    graph = _graph(step("A", "in -> Report"), step("B", "REPORT -> b"), step("C", "report, b -> c"))
    assert graph.edges == (Edge(0, 1, ("Report",)), Edge(0, 2, ("Report",)), Edge(1, 2, ("b",)))
    assert graph.inputs == (Datum("in"),)


def test_names_that_fold_to_one_are_one() -> None:
    assert _pairs(_graph(step("A", "in -> straße"), step("B", "STRASSE -> b"))) == {("A", "B")}


def test_a_later_maker_feeds_an_earlier_taker_and_the_order_says_so() -> None:
    graph = _graph(step("A", "plan -> a"), step("B", "in -> plan"))
    assert _pairs(graph) == {("B", "A")}
    assert _names(graph, graph.order) == "B A"


def test_two_makers_both_feed_and_one_pair_has_one_edge_for_all_its_data() -> None:
    graph = _graph(step("A", "in -> x, y"), step("B", "in -> y"), step("C", "y, x -> c"))
    assert graph.edges == (Edge(0, 2, ("x", "y")), Edge(1, 2, ("y",)))


def test_a_step_that_changes_a_name_feeds_only_what_stands_behind_it() -> None:
    graph = _graph(
        step("A", "in -> f"),
        step("Early", "f -> e"),
        step("B", "f -> f"),
        step("C", "f -> f"),
        step("D", "f -> d"),
    )
    assert _pairs(graph) == {
        ("A", "Early"), ("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D")
    }  # fmt: skip
    assert graph.cycles == ()
    stale = {(_names(graph, e[:1]), _names(graph, e[1:2])) for e in graph.edges if e.is_stale}
    assert stale == {("A", "C"), ("A", "D"), ("B", "D")}


def test_a_change_that_may_not_happen_makes_nothing_stale() -> None:
    graph = _graph(
        step("A", "in -> f"),
        Step("B", flows=(flow("f -> b"), Flow(((Datum("f"),),), Condition("it fails")))),
        step("C", "f -> c"),
    )
    assert Edge(0, 2, ("f",)) in graph.edges
    assert Edge(1, 2, ("f",), Condition("it fails")) in graph.edges


def test_what_is_made_under_a_condition_and_anyway_is_made_anyway() -> None:
    both = Step("A", flows=(Flow(((Datum("r"),),), Condition("x")), flow("in -> r")))
    assert _graph(both, step("B", "r -> b")).edges == (Edge(0, 1, ("r",)),)


def test_a_target_is_an_edge_with_its_condition_and_what_stands_before_it_passes() -> None:
    graph = _graph(
        Step("A", flows=(leading("C", "it fails"), leading("B", ""), flow("in -> a", "D"))),
        Step("B"),
        Step("C"),
        step("D", "A -> d"),
    )
    assert graph.edges == (
        Edge(0, 1, (), Condition("")),
        Edge(0, 2, (), Condition("it fails")),
        Edge(0, 3, ("a",)),
    )


def test_what_is_only_handed_on_is_taken_unless_the_step_makes_it_itself() -> None:
    graph = _graph(
        Step("Ship", flows=(flow("report", "Archive"),)),
        step("Write", "in -> report"),
        Step("Both", flows=(flow("x", "Archive"), flow("in -> x"))),
        step("Archive"),
    )
    assert _pairs(graph) == {("Write", "Ship"), ("Ship", "Archive"), ("Both", "Archive")}
    assert [datum.name for datum in graph.inputs] == ["in"]


def test_targets_match_by_letters_and_digits_and_the_next_of_several_is_meant() -> None:
    graph = _graph(Step("Re-run Tests"), Step("A", flows=(leading("rerunTESTS"),)), Step("Rerun tests!"))
    assert _pairs(graph) == {("A", "Rerun tests!")}
    only_before = _graph(Step("B"), Step("B"), Step("A", flows=(leading("b"),)))
    assert only_before.edges == (Edge(2, 0),)


def test_a_name_without_letters_is_no_wildcard() -> None:
    graph = _graph(Step("A", flows=(leading("???"), leading("!!"))), Step("!!"), Step("…"))
    assert [m.target for m in graph.missing] == ["???"]
    assert _pairs(graph) == {("A", "!!")}


def test_a_target_that_names_no_step_is_told_with_its_place() -> None:
    lost = Flow(target="Nowhere", place=Place(7, 3))
    assert _graph(Step("A", flows=(lost,))).missing[0] == (0, "Nowhere", Place(7, 3))


def test_a_circle_is_shown_from_its_first_step_by_the_shortest_way() -> None:
    graph = _graph(
        step("Z", "in -> z"),
        step("A", "z, c -> a"),
        step("B", "a, d -> b"),
        step("C", "b -> c, x"),
        step("D", "x -> d"),
        step("After", "d -> e"),
        step("Free", "z -> f"),
    )
    assert [_names(graph, c) for c in graph.cycles] == ["A B C"]
    assert _names(graph, graph.order) == "Z Free"
    assert [_names(graph, w) for w in graph.waves] == ["Z", "Free"]


def test_each_knot_is_one_circle_and_a_step_may_be_its_own() -> None:
    graph = _graph(
        step("A", "b -> a"), step("B", "a -> b"), Step("Self", flows=(leading("Self"),)), step("C", "d -> c"),
        step("D", "c -> d"),
    )  # fmt: skip
    assert [_names(graph, c) for c in graph.cycles] == ["A B", "Self", "C D"]


def test_parallel_branches_share_a_wave_and_order_is_that_of_the_note() -> None:
    graph = _graph(
        step("Join", "b, c -> d"),
        step("C", "a -> c"),
        step("B", "a -> b"),
        step("A", "in -> a"),
        step("Alone", "in -> z"),
    )
    assert [_names(graph, w) for w in graph.waves] == ["A Alone", "C B", "Join"]
    assert _names(graph, graph.order) == "A C B Join Alone"


def test_a_parent_comes_before_its_children_unless_data_says_otherwise() -> None:
    waiting = Step("Group", flows=(flow("late -> g"),), children=(Step("Child", children=(Step("Grandchild"),)),))
    graph = _graph(waiting, step("Late", "in -> late"))
    assert _names(graph, graph.order) == "Late Group Child Grandchild"
    assert graph.parents == (-1, 0, 1, -1)
    assert _pairs(graph) == {("Late", "Group")}
    turned = _graph(Step("Group", flows=(flow("part -> g"),), children=(step("Child", "in -> part"), Step("Other"))))
    assert _names(turned, turned.order) == "Child Group Other"
    assert turned.cycles == ()


def test_a_child_of_a_step_in_a_circle_is_not_behind_it() -> None:
    group = Step("A", flows=(flow("b -> a"),), children=(Step("Child"),))
    graph = _graph(group, step("B", "a -> b"))
    assert _names(graph, graph.order) == "Child"


def test_inputs_are_what_nobody_made_for_a_step() -> None:
    graph = _graph(
        step("Early", "f -> e"),
        step("Change", "f::Python -> f"),
        step("Late", "f -> l"),
        step("Use", "a::Text, l -> u"),
    )
    assert graph.inputs == (Datum("f", "Python"), Datum("a", "Text"))


def test_an_empty_workflow_is_an_empty_graph() -> None:
    assert build_graph(Workflow()) == Graph()


def test_a_chain_of_ten_thousand_steps_is_ordered_and_may_be_one_circle() -> None:
    steps = [step(f"S{n}", f"d{n} -> d{n + 1}") for n in range(10_000)]
    graph = _graph(*steps)
    assert graph.order == tuple(range(10_000))
    assert len(graph.waves) == 10_000
    round_about = _graph(*steps[:-1], step("S9999", "d9999 -> d0"))
    assert round_about.cycles == (tuple(range(10_000)),)


def test_one_step_feeds_five_thousand() -> None:
    graph = _graph(step("A", "in -> a"), *(step(f"S{n}", f"a -> d{n}") for n in range(5_000)))
    assert len(graph.edges) == 5_000
    assert [len(wave) for wave in graph.waves] == [1, 5_000]


def test_five_thousand_makers_and_takers_of_one_name_are_one_bundle() -> None:
    makers = [step(f"M{n}", f"in -> x, m{n}") for n in range(5_000)]
    takers = [step(f"T{n}", f"x -> t{n}") for n in range(5_000)]
    graph = _graph(*takers, *makers)
    assert graph.edges == ()
    assert graph.bundles == (Bundle("x", tuple(range(5_000, 10_000)), tuple(range(5_000))),)
    assert [len(wave) for wave in graph.waves] == [5_000, 5_000]
    assert graph.order[:5_000] == tuple(range(5_000, 10_000))


def test_a_circle_through_a_bundle_shows_only_steps() -> None:
    makers = [step(f"M{n}", f"back{n} -> x") for n in range(100)]
    takers = [step(f"T{n}", f"x -> back{n}") for n in range(100)]
    graph = _graph(*makers, *takers)
    assert graph.bundles
    assert [_names(graph, c) for c in graph.cycles] == ["M0 T0"]
    assert graph.order == ()


def test_a_file_that_every_step_changes_makes_a_chain_not_a_square() -> None:
    graph = _graph(*(step(f"S{n}", f"main.py -> main.py, d{n}") for n in range(2_000)))
    assert [e[:2] for e in graph.edges] == [(n, n + 1) for n in range(1_999)]
    assert graph.order == tuple(range(2_000))


_SOME = st.lists(st.sampled_from("abcde"), max_size=2, unique=True)


@st.composite
def _workflows(draw: st.DrawFn) -> Workflow:
    """Small workflows with many circles, changes, conditions and groups."""
    count = draw(st.integers(0, 9))
    steps: list[Step] = []
    for n in range(count):
        flows = [Flow((_data(draw(_SOME)) or (Datum("in"),), _data(draw(_SOME)) or (Datum(f"out{n}"),)))]
        if draw(st.booleans()):
            condition = draw(st.sampled_from([None, Condition("x"), Condition("")]))
            flows.append(Flow(condition=condition, target=f"S{draw(st.integers(0, count))}"))
        made = Step(f"S{n}", flows=tuple(flows))
        if steps and draw(st.integers(0, 3)) == 0:
            made = Step(made.name, flows=made.flows, children=(steps.pop(),))
        steps.append(made)
    return Workflow(steps=tuple(steps))


def _data(names: list[str]) -> tuple[Datum, ...]:
    return tuple(map(Datum, names))


@fewer(2)
@given(_workflows())
def test_order_waves_and_circles_agree_with_the_edges(made: Workflow) -> None:
    graph = build_graph(made)
    pairs = {(e.source, e.target) for e in graph.edges}
    reached = _reach(len(graph.steps), pairs)
    stuck = {b for b in range(len(graph.steps)) if any((a, a) in reached and (a, b) in reached for a in range(9))}
    assert set(graph.order) == set(range(len(graph.steps))) - stuck
    place = {at: n for n, at in enumerate(graph.order)}
    assert all(place[a] < place[b] for a, b in pairs if b in place)
    wave = {at: n for n, some in enumerate(graph.waves) for at in some}
    assert sorted(wave) == sorted(place)
    assert all(wave[a] < wave[b] for a, b in pairs if b in wave)
    knots = {frozenset(b for b in range(9) if {(a, b), (b, a)} <= reached) for a in range(9) if (a, a) in reached}
    assert sorted(min(knot) for knot in knots) == [circle[0] for circle in graph.cycles]
    for circle in graph.cycles:
        assert set(zip(circle, (*circle[1:], circle[0]), strict=True)) <= pairs
    family = [(p, c) for c, p in enumerate(graph.parents) if p in place and c in place]
    if not any((c, p) in reached for p, _ in family for _, c in family):
        assert all(place[p] < place[c] and wave[p] < wave[c] for p, c in family)


def _reach(count: int, pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    reached = set(pairs)
    for via in range(count):
        reached |= {(a, b) for a in range(count) for b in range(count) if {(a, via), (via, b)} <= reached}
    return reached


@pytest.mark.timed
def test_ten_times_the_steps_take_at_most_fifteen_times_as_long() -> None:
    small, large = (_shuffled(n) for n in (600, 6_000))
    assert _seconds(large) <= 15 * _seconds(small) + 0.06


def _shuffled(count: int) -> Workflow:
    """Each step takes from three earlier ones, changes one of ten shared files and every tenth is a group."""
    steps = [step(f"S{n}", f"d{n // 2}, d{n // 3}, d{n - 1}, f{n % 10} -> d{n}, f{n % 10}") for n in range(1, count)]
    return workflow(*steps)


def _seconds(made: Workflow) -> float:
    """Of this process alone, without the collector, which also walks what other tests left behind."""
    best = 9.0
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):
            start = time.process_time()
            build_graph(made)
            best = min(best, time.process_time() - start)
    finally:
        gc.enable()
    return best
