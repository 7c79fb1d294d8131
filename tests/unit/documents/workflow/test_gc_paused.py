"""Long workflows are read, joined and checked without the cycle collector, which is as it was afterwards."""

from __future__ import annotations

import gc

import pytest

from crucible.documents.markdown.source import Source
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_reader import gc_paused, read_workflow

NOTE = "# T\n\n" + "".join(f"## S{n}\n\nd{n // 2}, x → d{n + 1}::T, x\n\n" for n in range(400))


def test_nothing_is_collected_while_a_workflow_is_read_joined_and_checked() -> None:
    seen: list[str] = []

    def look(phase: str, _: object) -> None:
        seen.append(phase)

    usual = gc.get_threshold()
    gc.collect()
    gc.callbacks.append(look)
    gc.set_threshold(700, 10, 10)  # as often as Python does it of itself, or there would be nothing to see
    try:
        workflow = read_workflow(Source(NOTE), "t")
        graph = build_graph(workflow)
        check_workflow(workflow, graph)
        while_working = len(seen)
        gc.collect()
    finally:
        gc.set_threshold(*usual)
        gc.callbacks.remove(look)
    # Between two of them one may be due.
    assert while_working <= 6
    assert len(seen) > while_working, "it is looked at all"


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("was_on", [False, True])
def test_afterwards_it_is_on_when_it_was(was_on: bool, fails: bool) -> None:
    def work() -> None:
        with gc_paused():
            assert not gc.isenabled()
            with gc_paused():
                assert not gc.isenabled()
            assert not gc.isenabled()
            if fails:
                raise ValueError

    if not was_on:
        gc.disable()
    try:
        if fails:
            with pytest.raises(ValueError):
                work()
        else:
            work()
        assert gc.isenabled() is was_on
    finally:
        gc.enable()
