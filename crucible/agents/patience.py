"""Asking a program several things while somebody waits: all answers together take no longer than one may.

Owns how the time is shared.  What is asked, and that work goes on without an answer, is the callers'.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crucible.agents.asking import Answer, Program
from crucible.agents.running import TimedOut
from crucible.errors import AgentFailed

__all__ = ["Patience", "TimeUsedUp"]


class TimeUsedUp(AgentFailed):
    """A program was not asked, since what it was asked before took all the time that there is."""


class Patience:
    """An asker that gives each question what earlier ones left of the program's one time-out.

    Only the time in which the program is at work counts, by `clock`, in seconds: a human may be asked something in between.
    """

    def __init__(self, program: Program, clock: Callable[[], float]) -> None:
        self._program, self._clock = program, clock
        self._left = program.timeout_seconds

    def ask(self, prompt: str) -> Answer:
        """The answer; `TimedOut` names the whole time, once, and whatever is asked after it is `TimeUsedUp`."""
        if self._left is None:
            return self._program.ask(prompt)
        if self._left <= 0:
            raise TimeUsedUp("it was not asked, since agents.timeout_seconds was used up")
        begun = self._clock()
        try:
            return replace(self._program, timeout_seconds=self._left).ask(prompt)
        except TimedOut as error:
            name, whole = self._program.words[0].rpartition("/")[2], self._program.timeout_seconds
            self._left = 0
            raise TimedOut(f"{name}: no answer within {whole:g} seconds in all", error.hint) from error
        finally:
            self._left -= self._clock() - begun
