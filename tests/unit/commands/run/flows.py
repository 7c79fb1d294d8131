"""Small workflows for tests of their execution, and an asker that answers from a table."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.clients.client import Answer
from crucible.clients.launch.answering_process import Reins
from crucible.commands.run.jobs import Job, Plan, RunInputs, Runner, RunReport
from crucible.commands.run.plan import plan_run
from crucible.commands.run.scheduler import RunSetup, StopSignals, run_plan
from crucible.commands.run.step_prompt import TEMPLATE, Commands
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_reader import read_workflow

START = datetime(2026, 11, 22, 10, tzinfo=UTC)


class Clock:
    """A second later each time."""

    def __init__(self) -> None:
        self.at = START
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self.at += timedelta(seconds=1)
            return self.at


class Told:
    """Answers by the step's name, `done` where nothing is said; keeps what it was asked, in order."""

    def __init__(self, answers: Mapping[str, str | Callable[[str], Answer]] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[str] = []
        self.prompts: dict[str, str] = {}

    def ask(self, prompt: str) -> Answer:
        name = prompt.partition("\n")[0].removeprefix("# ")
        self.asked.append(name)
        self.prompts[name] = prompt
        said = self.answers.get(name, f"{name} is over.\nSTEP: done")
        return said(prompt) if callable(said) else Answer(said, "m", None, 10, 5)


def read(text: str) -> Workflow:
    return read_workflow(Source(text), "flow")


def graph_of(text: str) -> tuple[Workflow, Graph]:
    workflow = read(text)
    return workflow, build_graph(workflow)


def plan_of(text: str, folder: Path = Path("/nowhere"), first: str = "", **values: str) -> Plan:
    workflow, graph = graph_of(text)
    return plan_run(workflow, graph, RunInputs(str(folder), values), first=first)


def means(told: Told, folder: Path = Path("/nowhere"), jobs: int = 1, **values: str) -> RunSetup:
    return RunSetup(
        RunInputs(str(folder), values),
        lambda _: Runner(AgentRef("tester"), told),
        TEMPLATE,
        Commands(str(folder), {"PATH": "/usr/bin:/bin"}, 20),
        Reins(),
        lambda text: (text.replace("s3cret", "[gone]"), {}),
        Clock(),
        jobs,
    )


def play(text: str, told: Told, folder: Path = Path("/nowhere"), jobs: int = 1) -> RunReport:
    return run_plan(plan_of(text, folder), means(told, folder, jobs), signals=StopSignals())


def fates(report: RunReport) -> dict[str, str]:
    return {outcome.job.step.name: str(outcome.outcome) for outcome in report.outcomes}


def named(jobs: tuple[Job, ...]) -> list[str]:
    return [job.step.name for job in jobs]
