"""Which steps a run has, in which order, and what is missing for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.errors import UsageError
from crucible.execution.planning import file_of
from tests.execution.flows import named, plan_of

GROUPS = """# T

## Make
Words for all below.
da → db

### One
da → dm

### Two
dm → db

## Use
db → dc
"""


def test_a_step_with_children_is_a_frame_and_runs_nothing() -> None:
    plan = plan_of(GROUPS)
    assert named(plan.jobs) == ["One", "Two", "Use"]
    assert [step.name for step in plan.jobs[0].within] == ["Make"]


def test_who_waits_for_a_frame_waits_for_all_in_it() -> None:
    plan = plan_of("# T\n\n## Make\ndx → db\n\n### One\n\n### Two\n\n## Use\ndb → dc\n")
    one, two, use = plan.jobs
    assert {link.source for link in use.links} == {one.index, two.index}
    assert [handed.makers for handed in use.inputs] == [(one.index, two.index)]


def test_steps_in_a_frame_take_what_the_frame_takes() -> None:
    plan = plan_of("# T\n\n## First\nseed → db\n\n## Frame\ndb → dc\n\n### Inner\n")
    inner = plan.jobs[-1]
    assert inner.step.name == "Inner"
    assert "db" in [handed.datum.name for handed in inner.inputs]
    assert [link.source for link in inner.links] == [plan.jobs[0].index]


def test_data_beat_the_order_of_the_note() -> None:
    plan = plan_of("# T\n\n## Late\ndb → dc\n\n## Early\nda → db\n")
    assert named(plan.jobs) == ["Early", "Late"]


def test_what_nobody_makes_and_nobody_gives_is_missing(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1")
    text = "# T\n\n## A\nthere.csv, gone.csv, Given → dx\n\n## B\ndx → dy\n"
    plan = plan_of(text, tmp_path, given="1")
    assert [datum.name for datum in plan.missing] == ["gone.csv"]


def test_from_a_step_are_that_step_and_all_behind_it() -> None:
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
