"""Workflows for tests, in short: `step("Build", "plan -> code, notes::Text")`."""

from __future__ import annotations

from crucible.documents.workflow.workflow import Condition, Datum, Flow, Step, Workflow


def flow(text: str, target: str = "") -> Flow:
    """A flow of stages between ` -> `, data between commas, types behind `::`."""
    stages = (stage.split(",") for stage in text.split(" -> "))
    return Flow(tuple(tuple(_datum(one.strip()) for one in stage) for stage in stages), target=target)


def leading(target: str, condition: str | None = None) -> Flow:
    """`If condition → proceed to target`; "" is `Otherwise`, None is neither."""
    return Flow(condition=None if condition is None else Condition(condition), target=target)


def step(name: str, *flows: str) -> Step:
    """A step of such flows."""
    return Step(name, flows=tuple(flow(text) for text in flows))


def workflow(*steps: Step) -> Workflow:
    """A workflow of these steps."""
    return Workflow(title="Made", steps=steps)


def _datum(text: str) -> Datum:
    name, _, kind = text.partition("::")
    return Datum(name, kind or None)
