"""Failures: a command that failed, what the agent said about it, the edits, and the same command passing again.

All failed runs of a command are one failure, until the command passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crucible.findings.calls import Call, base_name, is_log, is_red, keys_of, red_lines, signature
from crucible.findings.sources import Pattern
from crucible.findings.story import NOTHING, Said, Story
from crucible.findings.texts import line
from crucible.patterns import late_pattern
from crucible.session.findings import Source
from crucible.session.model import Failure
from crucible.transcript.events import CallEnd, PromptKind, ToolReturned

__all__ = ["Failures"]

FIXED = Pattern("red, edit, green", Source.FIX, 28, 29)
PIPED = Pattern("red by its lines, edit, green", Source.FIX, 22, 24)
CONFLICT = Pattern("conflict, then edits", Source.EDITS, 8, 8)
REMOTE = Pattern("red run elsewhere, then edits", Source.EDITS, 2, 2)
PASTED = Pattern("pasted log, then edits", Source.EDITS, 16, 20)

_MOST = 40
"""The most failures that are kept while they wait for a fix."""
_CONFLICT = late_pattern(r"^CONFLICT \(.*$", re.MULTILINE)
_REMOTE = late_pattern(r"^\S[^\n]{0,300}?Z[ \t]+(--- FAIL.*|FAIL\b.*|##\[error\].*|E  .*)$", re.MULTILINE)


@dataclass(slots=True)
class _Run:
    """A command that failed: its first output, and what was said and edited since."""

    pattern: Pattern
    keys: tuple[str, ...]
    lines: list[str]
    row: str
    signature: frozenset[str]
    turn: int
    runs: int = 1
    cause: Said = NOTHING
    thought: Said = NOTHING
    files: dict[str, None] = field(default_factory=dict)


class Failures:
    """Failures of one session, each reported when it is fixed."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._open: list[_Run] = []

    def replied(self, said: Said) -> None:
        """The agent's longest text before the first edit is the cause."""
        for run in self._open:
            fresh = not run.files and run.turn == self._story.now.number
            if not run.cause.text or (fresh and len(said.text) >= len(run.cause.text)):
                run.cause = said

    def reasoned(self, text: str, row: str) -> None:
        """Keep the first thought about a failure."""
        for run in self._open:
            if not run.files and not run.thought.text:
                run.thought = Said(text[:4000], row)

    def edited(self, call: Call) -> list[Failure]:
        """Files changed; this fixes the failures that have no command to rerun."""
        for run in self._open:
            if len(run.files) < _MOST:
                run.files.update(dict.fromkeys(base_name(path) for path in call.files))
        return self._settle([run for run in self._open if run.pattern in (CONFLICT, REMOTE, PASTED)])

    def prompted(self) -> None:
        """Look for a log in the prompt; drop failures of the previous turn that still wait for an edit."""
        self._open = [run for run in self._open if run.pattern not in (CONFLICT, REMOTE, PASTED)]
        turn = self._story.now
        if turn.kind is PromptKind.TYPED and is_log(turn.prompt.text):
            self._add(
                _Run(
                    PASTED,
                    (),
                    [line(turn.prompt.text, 250)],
                    turn.prompt.row,
                    frozenset(),
                    self._story.now.number,
                )
            )

    def returned(self, call: Call, result: ToolReturned) -> list[Failure]:
        """Take the result of a shell command."""
        self._look_elsewhere(call, result)
        failed = result.end is CallEnd.FAILED
        red = failed or is_red(result.text)
        if result.end not in (CallEnd.OK, CallEnd.FAILED) or not (red or self._open):
            return []
        keys = keys_of(call)
        same = [run for run in self._open if set(run.keys) & set(keys)]
        if keys and red:
            self._red(keys, same, result, FIXED if failed else PIPED)
        return self._settle([] if red else same)

    def _red(self, keys: tuple[str, ...], same: list[_Run], result: ToolReturned, pattern: Pattern) -> None:
        lines = red_lines(result.text)
        said = signature(lines)
        if not self._story.now.edits:
            self._story.now.red = True
        for run in same:
            run.runs += 1
        if any(run.signature & said for run in self._open) or (same and not same[-1].files):
            return
        self._add(_Run(pattern, keys, lines, result.at.row, said, self._story.now.number))

    def _look_elsewhere(self, call: Call, result: ToolReturned) -> None:
        """Look for merge conflicts, and for the log of a run on another machine."""
        text = result.text[-60_000:]
        if "CONFLICT (" in text and (found := _CONFLICT.findall(text)):
            self._add(
                _Run(CONFLICT, ("merge",), found[:4], result.at.row, frozenset(), self._story.now.number)
            )
        elif "gh " in call.script and (found := _REMOTE.findall(text)):
            self._add(
                _Run(REMOTE, ("remote run",), found[:4], result.at.row, frozenset(), self._story.now.number)
            )

    def _add(self, run: _Run) -> None:
        self._open.append(run)
        del self._open[:-_MOST]

    def _settle(self, runs: list[_Run]) -> list[Failure]:
        self._open = [run for run in self._open if run not in runs]
        return [_told(run) for run in runs if run.files]


def _told(run: _Run) -> Failure:
    key = run.keys[-1] if run.keys else ""
    cause = run.cause if len(run.cause.text) >= 40 or not run.thought.text else run.thought
    files = ", ".join(list(run.files)[:6])
    passed = f"; passed after {run.runs + 1} runs" if run.pattern in (FIXED, PIPED) else ""
    what = line(" / ".join(run.lines), 300)
    return Failure(
        f"{key}: {what}" if key else what,
        f"fixed in {files}{passed}",
        line(cause.text, 400) or None,
        run.pattern.on(run.row, cause.row),
    )
