"""Failures: a command that failed, what the agent said about it, the edits, and the same command passing again.

All failed runs of a command are one failure, until the command passes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from crucible.findings.calls import (
    Call,
    base_name,
    is_log,
    is_red,
    is_wrong,
    keys_of,
    log_lines,
    red_lines,
    signature,
)
from crucible.findings.sources import Pattern
from crucible.findings.story import NOTHING, Said, Story
from crucible.findings.texts import line, prose
from crucible.patterns import late_pattern
from crucible.session.calls import one_line
from crucible.session.findings import Source
from crucible.session.model import Failure, Outcome
from crucible.session.results import result_line
from crucible.session.sentences import SUMMARY, clipped, meaningful
from crucible.session.titles import shortened
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
    text: str
    row: str
    keys: tuple[str, ...]
    """Those of its command; without any, edits alone are the fix."""
    signature: frozenset[str]
    turn: int
    runs: int = 1
    cause: Said = NOTHING
    thought: Said = NOTHING
    change: str = ""
    """What the agent said right before its first edit."""
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
            run.change = run.change or (call.approach if not run.files else "")
            if len(run.files) < _MOST:
                run.files.update(dict.fromkeys(base_name(path) for path in call.files))
        return self._settle([run for run in self._open if not run.keys])

    def prompted(self) -> None:
        """Look for a log in the prompt; drop failures of the previous turn that still wait for an edit."""
        self._open = [run for run in self._open if run.keys]
        turn = self._story.now
        if turn.kind is PromptKind.TYPED and is_log(turn.prompt.text):
            self._add(PASTED, _pasted(turn.prompt.text), turn.prompt.row)

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
            self._red(call, keys, same, result)
        return self._settle([] if red else same)

    def _red(self, call: Call, keys: tuple[str, ...], same: list[_Run], result: ToolReturned) -> None:
        said = signature(red_lines(result.text))
        pattern = FIXED if result.end is CallEnd.FAILED else PIPED
        if not self._story.now.edits:
            self._story.now.red = True
        for run in same:
            run.runs += 1
        if any(run.signature & said for run in self._open) or (same and not same[-1].files):
            return
        if _BY_SHELL.match(result.text) and not is_red(result.text):
            return  # the command did not even start
        self._add(pattern, f"{keys[-1]}: {_verdict(call, result.text)}", result.at.row, keys, said)

    def _look_elsewhere(self, call: Call, result: ToolReturned) -> None:
        """Look for merge conflicts, and for the log of a run on another machine."""
        text = result.text[-60_000:]
        if "CONFLICT (" in text and (found := _CONFLICT.findall(text)):
            files = ", ".join(dict.fromkeys(map(_conflicting, found[:6])))
            self._add(CONFLICT, f"merge conflict in {files}", result.at.row)
        elif "gh " in call.script and (found := _REMOTE.findall(text)):
            self._add(REMOTE, f"remote run: {_tidy(found[0])}", result.at.row)

    def _add(
        self,
        pattern: Pattern,
        text: str,
        row: str,
        keys: tuple[str, ...] = (),
        said: frozenset[str] = frozenset(),
    ) -> None:
        self._open.append(_Run(pattern, text, row, keys, said, self._story.now.number))
        del self._open[:-_MOST]

    def _settle(self, runs: list[_Run]) -> list[Failure]:
        self._open = [run for run in self._open if run not in runs]
        return [_told(run) for run in runs if run.files]


_BY_SHELL = late_pattern(
    r"\s*(?:Error: )?(?:Exit code:? -?\d+\s+)?(?:\(eval\)|(?:\S*/)?(?:ba|z|da|k)?sh)(?::[\w-]*)?:(?: line)? ?\d+: "
)
"""How a shell reports that it found no folder, no command or no end of a quote."""
_TEMPORARY = late_pattern(r"(?<![\w.])(?:/private)?/(?:tmp|var/folders)/\S*/(?=[^\s/])")
_TIMING = late_pattern(r"[ \t]*\(?\b\d+\.\d+ ?m?s\b\)?|\b\d{4}[-/]\d\d[-/]\d\d[T ][\d:.Z]+[ \t]*")
_PATH = late_pattern(r"\S+[/.]\S+")


def _verdict(call: Call, text: str) -> str:
    """What the call's line in the note says, without what differs from run to run."""
    told = _tidy(result_line(f"Bash {one_line(call.script, 2000)}", text, Outcome.FAILED, limit=2 * SUMMARY))
    named = next((one for one in red_lines(text) if " " in one and ":" in one), "")
    return told if ": " in told or not named else f"{told}: {_tidy(named)}"


def _tidy(text: str) -> str:
    """A line without temporary folders, times and colours."""
    return _TIMING.sub("", _TEMPORARY.sub("", " ".join(text.split()))).strip(" :;")


def _conflicting(found: str) -> str:
    """The file that a line of `git merge` names last."""
    named = _PATH.findall(found)
    return base_name(named[-1].rstrip(".")) if named else found


def _pasted(prompt: str) -> str:
    """The user's own words, and the first line of the log that names an error."""
    log = log_lines(prompt)
    own = [one for one in prompt.split("\n") if one.strip() and one not in log]
    wrong = next((one for one in log if is_wrong(one)), "")
    if not own or not wrong:
        return line("\n".join(own) or _tidy(wrong) or prompt, SUMMARY)
    return f"{line(own[0], SUMMARY // 2).rstrip(':')}: {_tidy(wrong)}"


def _told(run: _Run) -> Failure:
    cause = run.cause if len(run.cause.text) >= 40 or not run.thought.text else run.thought
    files = ", ".join(list(run.files)[:6])
    passed = f"; {run.keys[-1]} passed after {run.runs + 1} runs" if run.keys else ""
    why = _why(cause.text)
    said = [one for one in prose(run.change)[-1:] if _NAMED.search(one) and one not in why]
    change = f". {said[0].rstrip(':')}" if said else ""
    return Failure(
        shortened(run.text, SUMMARY),
        f"fixed in {files}{passed}{change}",
        why or None,
        run.pattern.on(run.row, cause.row),
    )


def _why(text: str) -> str:
    """The cause that a text tells: without its last sentence, which says what the agent does next."""
    told = prose(text)
    told = meaningful(told[:-1] if len(told) > 1 else told, few=4)
    return clipped(" ".join(told), _CAUSE).rstrip(":")


_CAUSE = 300
_NAMED = late_pattern(r"\w[._/]\w|[a-z][A-Z]|\w\(")
"""What a sentence says only if it names something in the code."""
