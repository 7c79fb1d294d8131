"""Failures: a failed command, the agent's explanation, the edits, and the same command passing again.

All failed runs of a command before it passes count as one failure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from crucible.analysis.findings.corrections import announced, narrates
from crucible.analysis.findings.observed_calls import (
    ObservedCall,
    base_name,
    is_log,
    is_red,
    keys_of,
    log_lines,
    red_in,
    red_lines,
    reports_error,
    signature,
)
from crucible.analysis.findings.text_layout import first_line, is_question, prose
from crucible.analysis.findings.turns import NOTHING, Pattern, SessionTurn, TurnHistory, Utterance
from crucible.clients.events import CallEnd, PromptKind, ToolReturned
from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word
from crucible.documents.recording.call_lines import one_line
from crucible.documents.recording.result_lines import result_line
from crucible.documents.session.findings import SUMMARY, Source, cut_at_sentence, is_introduction
from crucible.documents.session.session import Failure, Outcome

FIXED = Pattern("red, edit, green", Source.FIX, 38, 40)
PIPED = Pattern("red by its lines, edit, green", Source.FIX, 24, 25)
CONFLICT = Pattern("conflict, then edits", Source.EDITS, 7, 7)
REMOTE = Pattern("red run elsewhere, then edits", Source.EDITS, 2, 2)
PASTED = Pattern("pasted log, then edits", Source.EDITS, 14, 19)
_NO_RERUN = (CONFLICT, REMOTE, PASTED)

_MOST = 40
"""Maximum number of failures without a fix to keep."""
_CONFLICT = late_pattern(r"^CONFLICT \(.*$", re.MULTILINE)
_REMOTE = late_pattern(r"^\S[^\n]{0,300}?Z[ \t]+(--- FAIL.*|FAIL\b.*|##\[error\].*|E  .*)$", re.MULTILINE)


@dataclass(slots=True, eq=False)
class _Run:
    """A failed command: its first output, and the explanations and edits since then."""

    pattern: Pattern
    key: str
    text: str
    row: str
    signature: frozenset[str] = frozenset()
    parts: frozenset[str] = frozenset()
    """The tests that failed, or the files with a conflict."""
    turn: SessionTurn = field(default_factory=SessionTurn)
    runs: int = 1
    cause: Utterance = NOTHING
    thought: Utterance = NOTHING
    """The cause in the agent's text, and the cause in its first reasoning."""
    change: str = ""
    """The agent's text right before its first edit."""
    files: dict[str, None] = field(default_factory=dict)
    is_over: bool = False
    """True if the command failed differently after the edits, so later text and edits belong to the new failure."""


class Failures:
    """The failures of one session.  Each is returned when it is fixed."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._open: list[_Run] = []

    def replied(self, reply: Utterance) -> None:
        """Look for the cause in the agent's text before the first edit; the longest one counts."""
        for run in self._open:
            if self._is_open(run) and len(why := _why(reply.text, run)) >= max(len(run.cause.text), 1):
                run.cause = Utterance(why, reply.row)

    def _is_open(self, run: _Run) -> bool:
        """True if the agent's next text may state the cause."""
        return not run.files and run.turn is self._story.now

    def reasoned(self, text: str, row: str) -> None:
        """Keep the first reasoning about a failure."""
        for run in self._open:
            if self._is_open(run) and not run.thought.row:
                run.thought = Utterance(_why(text[:4000], run), row)

    def edited(self, call: ObservedCall) -> list[Failure]:
        """Record changed files, and settle failures that have no command to run again."""
        for run in self._open:
            if run.is_over:
                continue
            run.change = run.change or call.approach
            names = dict.fromkeys(map(base_name, call.files[: _MOST - len(run.files)]))
            run.files |= {name: None for name in names if run.pattern is not CONFLICT or name in run.parts}
        return self._settle([run for run in self._open if run.pattern in _NO_RERUN and run.parts <= run.files.keys()])

    def prompted(self) -> None:
        """Look for a log in the prompt, and drop failures without a command that the previous turn did not settle."""
        self._open = [run for run in self._open if run.pattern not in _NO_RERUN]
        turn = self._story.now
        for run in self._open:
            if not run.files and not turn.answers.text.endswith("?"):  # the previous turn changed nothing
                run.cause = NOTHING
        if turn.kind is PromptKind.TYPED and is_log(turn.prompt.text):
            self._add(_Run(PASTED, "", _pasted(turn.prompt.text), turn.prompt.row))

    def returned(self, call: ObservedCall, result: ToolReturned) -> list[Failure]:
        """Process the result of a shell command."""
        settled = self._settle([run for run in self._open if run.pattern is CONFLICT]) if call.commits else []
        self._look_elsewhere(call, result)
        failed = result.end is CallEnd.FAILED
        red = failed or is_red(result.text)
        if result.end not in (CallEnd.OK, CallEnd.FAILED):
            return settled
        if not red:
            return settled + self._settle(self._of(keys_of(call)) if self._open else [])
        key, passed = red_in(call, result.text)
        settled += self._settle(self._of(passed))
        if key:
            self._red(call, key, result)
        return settled

    def _of(self, keys: Sequence[str]) -> list[_Run]:
        return [run for run in self._open if run.key in keys]

    def _red(self, call: ObservedCall, key: str, result: ToolReturned) -> None:
        same, lines = self._of([key]), red_lines(result.text)
        marks = signature(lines)
        if not self._story.now.edits:
            self._story.now.red = True
        for run in same:
            run.runs, run.change = run.runs + 1, ""  # the announced change did not fix it
        if all(map(_SUMS_UP.match, lines)):
            return  # another run shows what failed
        tests = frozenset(_TEST.findall(result.text))
        if any(run.signature & marks or (run.parts & tests and not run.files) for run in self._open):
            return
        if _BY_SHELL.match(result.text):
            return  # the command did not even start
        for run in same:
            run.is_over = True
        pattern = FIXED if result.end is CallEnd.FAILED else PIPED
        text = f"{key}: {_verdict(call, result.text)}"
        self._add(_Run(pattern, key, text, result.at.row, marks, tests))

    def _look_elsewhere(self, call: ObservedCall, result: ToolReturned) -> None:
        """Look for merge conflicts, and for the log of a run on another machine."""
        text = result.text[-60_000:]
        if "CONFLICT (" in text and (found := _CONFLICT.findall(text)):
            files = dict.fromkeys(map(_conflicting, found))
            text = f"merge conflict in {', '.join(files)}"
            self._add(_Run(CONFLICT, "merge", text, result.at.row, parts=frozenset(files)))
        elif "gh " in call.script and (found := _REMOTE.findall(text)):
            self._add(_Run(REMOTE, "remote run", f"remote run: {_tidy(found[0])}", result.at.row))

    def _add(self, run: _Run) -> None:
        run.turn = self._story.now
        self._open.append(run)
        del self._open[:-_MOST]

    def _settle(self, runs: list[_Run]) -> list[Failure]:
        self._open = [run for run in self._open if run not in runs]
        return [_failure(run) for run in runs if run.files]


_SUMS_UP = late_pattern(r"(?:FAIL|ok|exit status|\d+ issues:|\* \w+: \d+)(?=\s|\Z)")
"""Lines that report a failure without naming what failed."""
_BY_SHELL = late_pattern(
    r"\s*(?:Error: )?(?:Exit code:? -?\d+\s+)?(?:\(eval\)|(?:\S*/)?(?:ba|z|da|k)?sh)(?::[\w-]*)?:(?: line)? ?\d+: "
)
"""A shell's own errors: no such folder, no such command, or an open quote."""
_TEMPORARY = late_pattern(r"(?<![\w.])(?:/private)?/(?:tmp|var/folders)/\S*/(?=[^\s/])")
_TIMING = late_pattern(r"[ \t]*\(?\b\d+\.\d+ ?m?s\b\)?|\b\d{4}[-/]\d\d[-/]\d\d[T ][\d:.Z]+[ \t]*")
_PATH = late_pattern(r"\S+[/.]\S+")


def _verdict(call: ObservedCall, text: str) -> str:
    """Return the call's result line as in the note, without parts that differ from run to run."""
    return _tidy(result_line(f"Bash {one_line(call.script, 2000)}", text, Outcome.FAILED, limit=2 * SUMMARY))


_TEST = late_pattern(r"^[ \t]*(?:--- FAIL:|FAILED|\u2715)[ \t]+(\S+)", re.MULTILINE)


def _tidy(text: str) -> str:
    """Return a line without temporary folders, times and colours."""
    return _TIMING.sub("", _TEMPORARY.sub("", " ".join(text.split()))).strip(" :;")


def _conflicting(found: str) -> str:
    """Return the file that is named last in a line from `git merge`."""
    named = _PATH.findall(found)
    return base_name(named[-1].rstrip(".")) if named else found


def _pasted(prompt: str) -> str:
    """Return the user's own words, and the first line of the log that names an error."""
    log = log_lines(prompt)
    own = [one for one in prompt.split("\n") if one.strip() and one not in log]
    wrong = next((one for one in log if reports_error(one)), "")
    if not own or not wrong:
        return first_line("\n".join(own) or _tidy(wrong) or prompt, SUMMARY)
    return f"{first_line(own[0], SUMMARY // 2).rstrip(':')}: {_tidy(wrong)}"


def _failure(run: _Run) -> Failure:
    cause = run.cause if run.cause.text else run.thought
    files = ", ".join(list(run.files)[:6])
    if run.pattern in (FIXED, PIPED):
        fix = f"{_announced(run)}fixed in {files}; {run.key} passed after {run.runs + 1} runs"
    else:  # except after a merge, nothing proves the fix
        fix = f"fixed in {files}" if run.pattern is CONFLICT else f"changed {files}"
    return Failure(
        cut_at_word(run.text, SUMMARY),
        fix,
        cause.text or None,
        run.pattern.on(run.row, cause.row if cause.text else ""),
    )


def _announced(run: _Run) -> str:
    """Return the fix that the agent announced, if it names something in the failure or the code."""
    actions = (_CLAUSE.split(announced(one), 1)[0] for one in prose(run.change))
    return next((f"{what}; " for what in actions if what and _is_about(what, run)), "")


def _why(text: str, run: _Run) -> str:
    """Return the sentences of a text, except the agent's next action; "" if none is about the failure."""
    found = [_CLAUSE.split(one, 1)[-1] if narrates(one) else one for one in prose(text)]
    found = [
        one
        for one in found
        if one.count(" ") >= _FEW and not (is_introduction(one) or is_question(one) or announced(one))
    ]
    found = [one for one in found if _known(one, run) or not narrates(one)]
    return cut_at_sentence(" ".join(found), _CAUSE) if any(_is_about(one, run) for one in found) else ""


def _is_about(sentence: str, run: _Run) -> bool:
    """True if a sentence adds something and names part of the code or the failure; `I fix both issues` does not."""
    known = _known(sentence, run)
    return bool(known or _NAMED.search(sentence)) and bool(_stems(sentence) - known - _VERDICTS)


def _known(sentence: str, run: _Run) -> frozenset[str]:
    """Return the stems that a sentence shares with the failure or its files."""
    about = " ".join((run.text.removeprefix(f"{run.key}: "), *run.signature, *run.files))
    return _stems(sentence) & _stems(about) - _VERDICTS


@lru_cache(maxsize=128)
def _stems(text: str) -> frozenset[str]:
    """Return the stems of the words in a text, including the parts of identifiers."""
    return frozenset(one[:_STEM].casefold() for one in _PARTS.findall(text))


_STEM = 5
_PARTS = late_pattern(r"[A-Z]?[^\W\d_A-Z]{4,}|[A-Z]{3,}|\d{2,}|(?<!\S)[^\w\s]{2,}(?!\S)")
_CAUSE, _FEW = 300, 3
_VERDICTS = frozenset({"error", "fail", "faile", "issue", "lint", "test", "tests", "build", "merge", "confl"})
"""Stems that every failure report contains."""
_CLAUSE = late_pattern(r"(?: [-\u2013\u2014]|:) ")
_NAMED = late_pattern(r"\w[._/]\w|[a-z][A-Z]|\w\(")
"""Signs of a name in the code."""
