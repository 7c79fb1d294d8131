"""Which steps a run has, in which order, and what is missing for it."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

from crucible.commands.run.jobs import Job, JobOutcome, Link, LinkGroup, RunInputs
from crucible.commands.run.plan import file_of, plan_run
from crucible.commands.run.scheduler import decide
from crucible.core.errors import UsageError
from crucible.documents.workflow.workflow import Step
from tests.unit.commands.run.flows import graph_of, named, plan_of

GROUPS = """# T

## Make
Words for all below.
If all is well → proceed to Use

### One
da → dm

### Two
dm → db

## Use
db → dc
"""

WORKING = """# T

## First
seed → da

## Make
da → db

### One
dx → dm

### Two

## Use
db → dc
"""


def test_a_step_with_children_and_no_data_of_its_own_is_a_frame_and_runs_nothing() -> None:
    plan = plan_of(GROUPS)
    assert named(plan.jobs) == ["One", "Two", "Use"]
    assert [step.name for step in plan.jobs[0].within] == ["Make"]


def test_a_step_that_makes_something_runs_before_the_steps_in_it() -> None:
    plan = plan_of(WORKING)
    assert named(plan.jobs) == ["First", "Make", "One", "Two", "Use"]
    first, make, one, two, use = plan.jobs
    assert [link.source for link in make.links] == [first.index]
    assert one.inside == two.inside == make.index
    assert [handed.datum.name for handed in one.inputs] == ["dx"]
    assert [link.source for link in use.links] == [make.index]
    assert [handed.makers for handed in use.inputs] == [(make.index,)]
    assert named(plan_of(WORKING, first="make").jobs) == ["Make", "One", "Two", "Use"]


def test_a_step_that_takes_output_of_its_children_runs_after_them() -> None:
    plan = plan_of("# T\n\n## Sum up\ndb, dc → whole\n\n### B\nda → db\n\n### C\nda → dc\n\n### D\n")
    assert named(plan.jobs) == ["B", "C", "Sum up", "D"]
    b, c, whole, d = plan.jobs
    assert {link.source for link in whole.links} == {b.index, c.index}
    assert (b.inside, c.inside, d.inside) == (None, None, whole.index)
    assert (b.links, c.links) == ((), ())


@pytest.mark.parametrize(
    ("around", "become"),
    [
        (JobOutcome.DONE, None),
        (JobOutcome.PASSED_OVER, None),
        (JobOutcome.FAILED, JobOutcome.HELD),
        (JobOutcome.HELD, JobOutcome.HELD),
        (JobOutcome.UNMET, JobOutcome.UNMET),
    ],
)
def test_a_part_of_a_step_goes_with_it(around: JobOutcome, become: JobOutcome | None) -> None:
    job = Job(2, Step("Part"), links=(Link(0),), inside=1)
    decision = decide(job, {0: JobOutcome.DONE, 1: around}, lambda *_: True, str)
    assert decision is not None
    assert decision.outcome is become


@pytest.mark.parametrize("around", [JobOutcome.LEFT, JobOutcome.STOPPED])
def test_a_part_of_a_step_waits_for_it(around: JobOutcome) -> None:
    job = Job(2, Step("Part"), inside=1)
    assert (decide(job, {1: around}, lambda *_: True, str) is None) is (around is JobOutcome.LEFT)


def test_waiting_for_a_frame_is_waiting_for_all_its_steps() -> None:
    plan = plan_of("# T\n\n## Make\n\nproceed → proceed to Use\n\n### One\n\n### Two\n\n## Use\ndb → dc\n")
    one, two, use = plan.jobs
    assert {link.source for link in use.links} == {one.index, two.index}


def test_steps_in_a_frame_take_what_the_frame_takes() -> None:
    plan = plan_of("# T\n\n## First\nseed → db\n\n## Frame\ndb → proceed to Last\n\n### Inner\n\n## Last\n")
    inner = plan.jobs[1]
    assert inner.step.name == "Inner"
    assert "db" in [handed.datum.name for handed in inner.inputs]
    assert [link.source for link in inner.links] == [plan.jobs[0].index]


def test_data_beat_the_order_of_the_note() -> None:
    plan = plan_of("# T\n\n## Late\ndb → dc\n\n## Early\nda → db\n")
    assert named(plan.jobs) == ["Early", "Late"]


def test_data_without_a_maker_or_a_value_is_missing(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1")
    text = "# T\n\n## A\nthere.csv, gone.csv, Given → dx\n\n## B\ndx → dy\n"
    plan = plan_of(text, tmp_path, given="1")
    assert [datum.name for datum in plan.missing] == ["gone.csv"]


def test_a_plan_from_a_step_has_that_step_and_all_after_it() -> None:
    text = "# T\n\n## A\nda → db\n\n## B\ndb → dc\n\n## Other\ndz → dw\n\n## C\ndc → dd\n"
    plan = plan_of(text, first="b")
    assert named(plan.jobs) == ["B", "C"]
    assert [datum.name for datum in plan.missing] == ["db"]
    assert named(plan_of(GROUPS, first="make").jobs) == ["One", "Two", "Use"]


def test_from_a_step_that_is_not_there_or_not_the_only_one_is_refused() -> None:
    with pytest.raises(UsageError, match="no step 'X'") as caught:
        plan_of(GROUPS, first="X")
    assert "One" in caught.value.hint
    with pytest.raises(UsageError, match="2 steps") as caught:
        plan_of("# T\n\n## A\n\n## A\n", first="a")
    assert "lines 3, 5" in caught.value.hint


def test_a_workflow_without_steps_is_refused() -> None:
    with pytest.raises(UsageError, match="no steps"):
        plan_of("# T\n\nWords.\n")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "", "a\0b", "gone", "link", "."])
def test_a_file_outside_of_the_folder_is_no_input(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    assert file_of(name, str(folder)) == ""


def test_a_file_in_the_folder_is_called_as_it_is_seen_from_there(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.csv").write_text("x")
    assert file_of("a/b.csv", str(tmp_path)) == "a/b.csv"
    assert file_of(str(tmp_path / "a" / "b.csv"), str(tmp_path)) == "a/b.csv"
    assert file_of("a", str(tmp_path)) == "a"


@pytest.mark.timed
def test_a_name_of_two_thousand_makers_and_takers_makes_no_product() -> None:
    makers = "".join(f"## M{n}\nin → x, m{n}\n\n" for n in range(2_000))
    takers = "".join(f"## T{n}\nx → t{n}\n\n" for n in range(2_000))
    workflow, graph = graph_of(f"# T\n\n{takers}{makers}")
    before = time.process_time()
    plan = plan_run(workflow, graph, RunInputs("/"))
    last = plan_run(workflow, graph, RunInputs("/"), first="M1999")
    assert time.process_time() - before < 1.5
    first, second = plan.jobs[2_000:2_002]
    assert first.inputs[0].makers == tuple(range(2_000, 4_000))
    assert first.inputs[0].makers is second.inputs[0].makers
    assert [link.source for link in first.waits()] == list(range(2_000, 4_000))
    assert len(last.jobs) == 2_001


@pytest.mark.timed
def test_frames_of_many_steps_wait_for_each_other_without_a_product() -> None:
    def frame(name: str, flow: str) -> str:
        return f"## {name}\n{flow}\n\n" + "".join(f"### {name}{n}\n\n" for n in range(1_500))

    workflow, graph = graph_of("# T\n\n" + frame("A", "in → proceed to B") + frame("B", ""))
    before = time.process_time()
    plan = plan_run(workflow, graph, RunInputs("/"))
    assert time.process_time() - before < 1.5
    assert len(list(plan.jobs[1_500].waits())) == 1_500


def test_a_crowd_is_waited_for_as_each_of_it_would_be() -> None:
    grouped = Job(99, Step("Use"), groups=(LinkGroup((0, 1, 2)),))
    links = Job(99, Step("Use"), links=(Link(0), Link(1), Link(2)))
    for fates in itertools.product(JobOutcome, repeat=3):
        told = dict(enumerate(fates))
        assert decide(grouped, told, lambda *_: True, str) == decide(links, told, lambda *_: True, str)
