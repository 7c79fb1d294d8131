"""Merging several sessions into one workflow."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.alignment import align
from crucible.commands.codify.draft_steps import Branch, Draft, DraftStep, Remark, RemarkKind, StepRun
from crucible.commands.codify.workflow_assembly import assemble
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import AgentRef, Outcome
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Condition, Datum, Grade, RunStatus, key_of
from crucible.documents.workflow.workflow_check import check_workflow, has_errors
from crucible.documents.workflow.workflow_markup import render_workflow
from crucible.documents.workflow.workflow_reader import read_workflow


def _write(path: str) -> Act:
    return Act(Deed.WRITE, path, (), (Datum(path),))


def _edit(path: str) -> Act:
    return Act(Deed.EDIT, path, (Datum(path),), (Datum(path),))


def _test(path: str, outcome: Outcome = Outcome.OK) -> Act:
    return Act(Deed.TEST, f"python3 {path}", (Datum(path),), (Datum("test_results", "TestReport"),), outcome)


def _asked(words: str) -> Remark:
    return Remark(RemarkKind.ASKED, words)


def _draft(session: str, *steps: DraftStep) -> Draft:
    """A session whose steps have one run each."""
    return Draft(f"Title {session}", tuple(_ran(session, one) for one in steps), session)


def _ran(session: str, step: DraftStep) -> DraftStep:
    run = StepRun(session, RunStatus.SUCCESS, None, datetime(2026, 11, 21, tzinfo=UTC), 10, 5)
    return replace(step, runs=(run,), children=tuple(_ran(session, child) for child in step.children))


def _outline(steps: tuple[DraftStep, ...], depth: int = 0) -> list[str]:
    return [
        line
        for step in steps
        for line in [
            "  " * depth + step.name + " " + ",".join(run.session for run in step.runs),
            *_outline(step.children, depth + 1),
        ]
    ]


_WRITE = DraftStep("Write the limiter", acts=(_write("limiter.py"),))
_TEST = DraftStep("Test it", acts=(_test("test_limiter.py"),))
_FIX = DraftStep("Fix the window", remarks=(_asked("No, it must be 60 seconds"),), acts=(_edit("limiter.py"),))
_DOCS = DraftStep("Tell how", acts=(_write("README.md"),))


def test_one_session_stays_unchanged() -> None:
    draft = _draft("a", _WRITE, _TEST)
    assert align([draft]) is draft.steps
    assert align([draft, draft]) is draft.steps


def test_no_sessions_give_no_steps() -> None:
    assert align([]) == ()


def test_common_steps_are_merged_with_the_runs_of_all() -> None:
    merged = align([_draft("b", _WRITE, _TEST), _draft("a", _WRITE, _TEST), _draft("c", _WRITE, _TEST)])
    assert _outline(merged) == ["Write the limiter b,a,c", "Test it b,a,c"]
    assert all(step.branches == () for step in merged)
    assert merged[0].acts == _WRITE.acts


def test_steps_with_the_same_work_are_merged() -> None:
    other = replace(_WRITE, name="Implement rate limits")
    merged = align([_draft("a", _WRITE, _TEST), _draft("b", other, _TEST), _draft("c", other, _TEST)])
    assert _outline(merged) == ["Implement rate limits a,b,c", "Test it a,b,c"]


def test_steps_with_the_same_name_are_merged() -> None:
    other = DraftStep("Write the limiter", acts=(_write("src/limit.ts"),))
    merged = align([_draft("a", _WRITE), _draft("b", other)])
    assert _outline(merged) == ["Write the limiter a,b"]
    assert [act.what for act in merged[0].acts] == ["limiter.py", "src/limit.ts"]


def test_steps_with_different_work_are_not_merged() -> None:
    assert len(align([_draft("a", _WRITE), _draft("b", replace(_DOCS, name="Say so"))])) == 2


def test_a_branch_names_the_words_that_opened_it_and_its_sessions() -> None:
    merged = align([_draft("a", _WRITE, _TEST, _DOCS), _draft("b", _WRITE, _TEST, _FIX, _DOCS)])
    assert _outline(merged) == ["Write the limiter a,b", "Test it a,b", "Fix the window b", "Tell how a,b"]
    assert merged[1].branches == (Branch('the user says "No, it must be 60 seconds" (as in b)', "Fix the window"),)
    assert [step.branches for step in (merged[0], *merged[2:])] == [(), (), ()]


def test_a_branch_without_words_names_what_failed_before() -> None:
    failed = replace(_TEST, acts=(_test("test_limiter.py", Outcome.FAILED),))
    fix = replace(_FIX, remarks=())
    merged = align([_draft("a", _WRITE, _TEST), _draft("b", _WRITE, failed, fix), _draft("c", _WRITE, failed, fix)])
    assert merged[1].branches == (Branch('"python3 test_limiter.py" fails (as in b and c)', "Fix the window"),)


def test_a_branch_without_words_or_failure_names_its_step() -> None:
    drafts = [_draft(f"s{n}", _WRITE, _DOCS, _TEST) for n in range(5)] + [_draft("t", _WRITE, _TEST)]
    assert align(drafts)[0].branches == (Branch('"Tell how" is needed (as in s0, s1, s2 and 2 more)', "Tell how"),)


def test_every_step_of_a_variant_has_a_branch_but_not_its_children() -> None:
    group = DraftStep("Ask around", remarks=(_asked("Ask first"),), children=(DraftStep("Ask one"),))
    merged = align([_draft("a", _WRITE, group, _DOCS, _TEST), _draft("b", _WRITE, _TEST)])
    assert merged[0].branches == (
        Branch('the user says "Ask first" (as in a)', "Ask around"),
        Branch('the user says "Ask first" (as in a)', "Tell how"),
    )


def test_if_all_sessions_differ_the_most_frequent_branch_is_otherwise() -> None:
    other = DraftStep("Look it up", acts=(Act(Deed.FETCH, "https://x.y"),))
    merged = align(
        [
            _draft("a", _WRITE, _FIX, _TEST),
            _draft("b", _WRITE, other, _TEST),
            _draft("c", _WRITE, other, _TEST),
        ]
    )
    assert merged[0].branches == (
        Branch('the user says "No, it must be 60 seconds" (as in a)', "Fix the window"),
        Branch("", "Look it up"),
    )


def test_if_a_session_ended_there_is_no_otherwise() -> None:
    merged = align([_draft("a", _WRITE, _FIX), _draft("b", _WRITE, _TEST), _draft("c", _WRITE)])
    assert all(branch.condition for branch in merged[0].branches)
    assert {branch.target for branch in merged[0].branches} == {"Fix the window", "Test it"}


def test_a_variant_of_a_variant_branches_from_it() -> None:
    merged = align(
        [
            _draft("a", _WRITE, _FIX, _DOCS, _TEST),
            _draft("b", _WRITE, _FIX, _TEST),
            _draft("c", _WRITE, _TEST),
        ]
    )
    assert [branch.target for branch in merged[0].branches] == ["Fix the window"]
    assert merged[1].branches == (Branch('"Tell how" is needed (as in a)', "Tell how"),)


def test_the_first_child_of_a_step_branches_from_the_last_step_with_work() -> None:
    whole = DraftStep("Build", children=(_DOCS, _WRITE))
    part = DraftStep("Build", children=(_WRITE,))
    merged = align([_draft("a", _TEST, whole), _draft("b", _TEST, part)])
    assert [branch.target for branch in merged[0].branches] == ["Tell how"]


def test_a_step_never_branches_to_its_own_children() -> None:
    whole, part = DraftStep("Build", children=(_DOCS, _WRITE)), DraftStep("Build", children=(_WRITE,))
    later = DraftStep("Ship", children=(DraftStep("Pack", acts=(_write("a.zip"),)),))
    build, ship = align([_draft("a", whole, later), _draft("b", part)])
    assert build.branches == ()
    assert [branch.target for branch in build.children[1].branches] == ["Ship"]
    assert [child.remarks for child in build.children] == [(Remark(RemarkKind.ONLY_IN, "a"),), ()]
    assert ship.remarks == ()


def test_children_that_only_some_sessions_have_name_their_sessions() -> None:
    learned = Remark(RemarkKind.LEARNED, "pytest failed")
    run = Remark(RemarkKind.RUN, "pytest")
    alone = DraftStep(
        "Build", grade=Grade.CRITICAL, remarks=(_asked("Build it"), learned, run), acts=(_test("t.py"),),
        report=Datum("build_report", "Report"),
    )  # fmt: skip
    split = DraftStep("Build", remarks=(_asked("Build it"),), children=(_DOCS, replace(_FIX, remarks=(run,))))
    (build,) = align([_draft("a", alone), _draft("b", split)])
    assert (build.branches, build.grade, build.report) == ((), Grade.PLAIN, None)
    assert build.remarks == (_asked("Build it"),)
    only = [remark.text for child in build.children for remark in child.remarks if remark.kind is RemarkKind.ONLY_IN]
    assert sorted(only) == ["a", "b", "b"]
    tested = next(child for child in build.children if child.acts == alone.acts)
    assert (tested.grade, tested.report) == (Grade.CRITICAL, Datum("build_report", "Report"))
    assert {learned, run} < {*tested.remarks}


def test_a_group_does_not_repeat_its_childrens_remarks() -> None:
    alone = DraftStep("Build", remarks=(_asked("Now the docs"), _asked("Go")), acts=_WRITE.acts)
    split = DraftStep("Build", children=(_WRITE, replace(_DOCS, remarks=(_asked("Now  the docs"),))))
    (build,) = align([_draft("a", alone), _draft("b", split)])
    assert build.remarks == (_asked("Go"),)


def test_a_variant_without_a_step_before_it_names_its_sessions() -> None:
    group = replace(_DOCS, acts=(), children=(_DOCS,))
    merged = align([_draft("a", group, _WRITE), _draft("b", _WRITE)])
    assert merged[0].remarks == (Remark(RemarkKind.ONLY_IN, "a"),)
    assert merged[0].children[0].remarks == ()
    assert merged[1].remarks == ()
    assert assemble("T", merged, ["a", "b"]).steps[0].prose == "- Only in: a"


def test_a_single_step_beside_a_group_becomes_a_group() -> None:
    group = DraftStep("Build", children=(_WRITE, _TEST))
    alone = DraftStep("Build", AgentRef("x"), acts=(*_WRITE.acts, *_TEST.acts))
    merged = align([_draft("a", group), _draft("b", DraftStep("Build", children=(_WRITE, _DOCS, _TEST)))])
    assert _outline(merged) == ["Build a,b", "  Write the limiter a,b", "  Tell how b", "  Test it a,b"]
    assert [branch.target for branch in merged[0].children[0].branches] == ["Tell how"]
    merged = align([_draft("a", group), _draft("b", alone)])
    assert merged[0].acts == ()
    assert sum(len(child.acts) for child in merged[0].children) >= 2
    assert {run.session: run.tokens for run in merged[0].runs} == {"a": 5, "b": 5}
    assert [run.tokens for child in merged[0].children for run in child.runs if run.session == "b"] == [None]


def test_remarks_are_merged_and_the_most_careful_grade_wins() -> None:
    one = replace(_WRITE, remarks=(_asked("Write it"), Remark(RemarkKind.DECIDED, "Use a deque")))
    two = replace(
        _WRITE,
        grade=Grade.CRITICAL,
        remarks=(
            _asked("Write  it"),
            Remark(RemarkKind.DECIDED, "Use a deque", "it is quick"),
            _asked("Now"),
        ),
    )
    (step,) = align([_draft("a", replace(one, grade=Grade.OPTIONAL)), _draft("b", two)])
    assert step.remarks == (
        _asked("Write it"),
        Remark(RemarkKind.DECIDED, "Use a deque", "it is quick"),
        _asked("Now"),
    )
    assert step.grade is Grade.CRITICAL
    assert align([_draft("a", replace(one, grade=Grade.OPTIONAL)), _draft("b", one)])[0].grade is Grade.PLAIN


def test_each_run_keeps_its_agent() -> None:
    claude, codex = AgentRef("claude-code"), AgentRef("codex")
    drafts = [_draft("a", replace(_WRITE, agent=codex)), _draft("b", replace(_WRITE, agent=claude))]
    (step,) = align([*drafts, _draft("c", replace(_WRITE, agent=claude))])
    assert step.agent == claude
    assert [run.agent for run in step.runs] == [codex, claude, claude]


def test_a_renamed_report_is_an_input_by_its_new_name() -> None:
    def session(name: str, slug: str) -> tuple[DraftStep, ...]:
        report = Datum(f"{slug}_report", "Report")
        scout = DraftStep(name, acts=(Act(Deed.READ, "limiter.py", (Datum("limiter.py"),)),), report=report)
        return (scout, replace(_WRITE, takes=(report,)))

    scout, write = align([_draft("a", *session("Find it", "find")), _draft("b", *session("Look for it", "look"))])
    assert scout.report == Datum("find_report", "Report")
    assert write.takes == (scout.report,)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_sessions_only_affects_the_rows(seed: int) -> None:
    drafts = [
        _draft("a", _WRITE, _TEST, _DOCS),
        _draft("b", _DOCS, replace(_WRITE, name="Go"), _FIX, _TEST),
        _draft("c", _WRITE, _FIX, _TEST, replace(_FIX, name="Fix more")),
        _draft("d", _TEST, _WRITE),
    ]
    mixed = random.Random(seed).sample(drafts, len(drafts))
    assert _without_runs(align(mixed)) == _without_runs(align(drafts))
    at = [draft.session for draft in mixed]
    for step in align(mixed):
        assert [run.session for run in step.runs] == sorted((run.session for run in step.runs), key=at.index)


def _without_runs(steps: tuple[DraftStep, ...]) -> tuple[DraftStep, ...]:
    return tuple(replace(step, runs=(), children=_without_runs(step.children)) for step in steps)


# --- anything --------------------------------------------------------------------------------------------------------

_ACTS = st.sampled_from([
    _write("a.py"), _edit("a.py"), _write("b.md"), _test("t.py"), _test("t.py", Outcome.FAILED),
    Act(Deed.RUN, "echo → `x` -> y", (), (), Outcome.FAILED), Act(Deed.PLAN, "p"), Act(Deed.DELEGATE, "find"),
])  # fmt: skip
_WORDS = st.sampled_from([
    "No → stop", "a -> b", "use `x`", "`", "if so → proceed to Z", "Otherwise → b", "##", "[[x]]", "ends with :", "→",
    "x, otherwise → y", "<!-- ", "**Tool calls:**", "a\n\n# b", "", "%%", '"', "ends in a stop.", "日本",
])  # fmt: skip
_NAMES = st.sampled_from(
    ["Plan", "Build → it", "Test `it`", "Fix!", "Summary", "Ask @x", "Do #y", "日本語", "Step", "Otherwise"]
)


@st.composite
def _sessions(draw: st.DrawFn) -> list[Draft]:
    return [_draft(f"2026-11-2{n}-s", *_drawn(draw, 0, set())) for n in range(draw(st.integers(1, 4)))]


def _drawn(draw: st.DrawFn, depth: int, taken: set[str]) -> list[DraftStep]:
    steps = []
    for _ in range(draw(st.integers(0, 4 if depth == 0 else 2))):
        name = draw(_NAMES)
        while key_of(name) in taken:
            name += " 2"
        taken.add(key_of(name))
        children = tuple(_drawn(draw, depth + 1, taken)) if depth < 2 and draw(st.booleans()) else ()
        acts = () if children else tuple(draw(st.lists(_ACTS, max_size=3)))
        remarks = tuple(_asked(words) for words in draw(st.lists(_WORDS, max_size=2)))
        steps.append(DraftStep(name, remarks=remarks, acts=acts, children=children))
    return steps


@given(_sessions())
def test_any_sessions_give_a_valid_workflow(drafts: list[Draft]) -> None:
    merged = align(drafts)
    whole = [step for top in merged for step in top.walk()]
    names = [key_of(step.name) for step in whole]
    assert len(set(names)) == len(names)
    assert all(not (step.children and step.acts) for step in whole)
    assert all(key_of(branch.target) in names[at + 1 :] for at, step in enumerate(whole) for branch in step.branches)
    made = assemble("T", merged, [draft.session for draft in drafts])
    graph = build_graph(made)
    assert not graph.cycles
    assert not has_errors(check_workflow(made, graph))
    again = read_workflow(Source(render_workflow(made)), "t")
    led = [flow for step in again.walk() for flow in step.flows if flow.target]
    assert [flow.target for flow in led] == [branch.target for step in whole for branch in step.branches]
    assert [flow.condition == Condition() for flow in led] == [
        not branch.condition for step in whole for branch in step.branches
    ]
    for draft in drafts:
        had = sum(1 for top in draft.steps for _ in top.walk())
        kept = sum(run.session == draft.session for step in whole for run in step.runs)
        assert kept >= had


@pytest.mark.timed
@pytest.mark.parametrize("kind", ["the same", "one file", "nothing alike"])
def test_sessions_of_three_hundred_steps_are_aligned_within_a_second(kind: str) -> None:
    def path(session: str, n: int) -> str:
        return {"the same": f"f{n}.py", "one file": "main.py", "nothing alike": f"{session}{n}.py"}[kind]

    drafts = [
        _draft(s, *(DraftStep(f"{s}{n}", acts=(_edit(path(s, n)), _test(path(s, n)))) for n in range(300)))
        for s in ("aa", "bb")
    ]
    seconds: list[float] = []
    while len(seconds) < 3 and min(seconds, default=9.0) >= 1.0:  # others may be using the machine
        start = time.perf_counter()
        merged = align(drafts)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 1.0
    assert len(merged) == (600 if kind == "nothing alike" else 300)
