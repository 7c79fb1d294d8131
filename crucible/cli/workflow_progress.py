"""How a run goes, told on stderr while it does: lines, and on a terminal also what is being done just now, and for how long."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from crucible.cli.door import Door
from crucible.cli.output import clean_line, given_width, say
from crucible.commands.run.run_model import Fate, Job, Outcome, Plan, Runner, Witness

_STYLES = {Fate.DONE: "green", Fate.FAILED: "red", Fate.PASSED_OVER: "yellow", Fate.STOPPED: "yellow"}
FATE_WORDS = {
    Fate.DONE: "done",
    Fate.FAILED: "failed",
    Fate.PASSED_OVER: "failed, skipped over",
    Fate.UNMET: "left out",
    Fate.HELD: "held back",
    Fate.STOPPED: "stopped",
    Fate.LEFT: "not begun",
}
"""What became of a step, as a reader is told it."""


def duration_words(ms: int | None) -> str:
    """`3.2 s`, `4 min 10 s`; "" for an unknown one."""
    if ms is None:
        return ""
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"


def _ended(outcome: Outcome) -> str:
    took = duration_words(outcome.duration_ms)
    told = FATE_WORDS[outcome.fate] + (f" in {took}" if took else "")
    return told + (f": {outcome.reason}" if outcome.reason else "")


class _Lines:
    """A line for every beginning and end."""

    def __init__(self, plan: Plan) -> None:
        self.number = {job.index: at for at, job in enumerate(plan.jobs, 1)}

    def name(self, job: Job) -> str:
        """`[2/4] Clean Data`."""
        return f"[{self.number[job.index]}/{len(self.number)}] {clean_line(job.step.name)}"

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """It is at work."""
        say(f"{self.name(job)}: {runner.agent} begins")

    def ended(self, outcome: Outcome) -> None:
        """It is over."""
        say(f"{self.name(outcome.job)}: {_ended(outcome)}", style=_STYLES.get(outcome.fate, ""))


class _Running(NamedTuple):
    job: Job
    agent: str
    since: datetime


class _OnTerminal(_Lines):
    """Lines for what is over, and below them what is being done."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(plan)
        self._console = console
        self._running: dict[int, _Running] = {}
        self.refresh: Callable[[], None] = lambda: None

    def began(self, job: Job, runner: Runner, when: datetime) -> None:
        """It stands among those that are being done."""
        self._running[job.index] = _Running(job, str(runner.agent), when)
        self.refresh()

    def ended(self, outcome: Outcome) -> None:
        """It is over."""
        self._running.pop(outcome.job.index, None)
        line = clean_line(f"{self.name(outcome.job)}: {_ended(outcome)}")
        self._console.print(Text(line, style=_STYLES.get(outcome.fate, "")))

    def __rich__(self) -> Text:
        now = datetime.now(UTC)
        lines = (
            f"{self.name(each.job)}: {each.agent}, {duration_words(int((now - each.since).total_seconds()) * 1000)}"
            for each in [*self._running.values()]
        )
        return Text("\n".join(map(clean_line, lines)), style="cyan")


@contextmanager
def watching(plan: Plan, door: Door) -> Iterator[Witness]:
    """Who tells the user of a run."""
    if not sys.stderr.isatty():
        yield _Lines(plan)
        return
    console = Console(stderr=True, highlight=False, width=given_width(), no_color=door.color is False or None)
    shown = _OnTerminal(plan, console)
    with Live(shown, console=console, refresh_per_second=2, transient=True, redirect_stdout=False) as live:
        shown.refresh = live.refresh
        yield shown
