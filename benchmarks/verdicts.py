"""Random runs of tests, checks and builds of real sessions, with the line that a note shows of each, to be read by a person.

`python -m benchmarks.verdicts FOLDER` prints 100 of the Claude Code transcripts in a folder, always the same for a `--seed`: the call,
its line, the ends of its output.  What no line may hold (a banner, a tag, a frame) is counted over all runs.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from crucible.analysis.tools.file_kinds import kind_of, plain_words
from crucible.clients.claude_code import logs as claude_code
from crucible.clients.events import CallEnd, ToolReturned, ToolUsed
from crucible.documents.recording.call_lines import call_line
from crucible.documents.recording.entry_texts import OUTCOMES
from crucible.documents.recording.result_lines import result_line
from crucible.documents.session.session import Outcome

_FIRST, _LAST = 3, 9
_UNWANTED = re.compile(
    r"^\[[\w:.-]+\] (?:\$|ERROR)|^> \S+@|cwd was reset|</?[a-z]+[-_]|^[=\-*_ ]+$|^Finished in|^$|^\? "
)


class Run(NamedTuple):
    """One run, its line in a note and all that it printed."""

    call: str
    line: str
    outcome: Outcome
    text: str


def main() -> int:
    """Print a sample and the figures of all runs."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--number", type=int, default=100)
    asked = parser.parse_args()
    runs = [run for run in _runs(asked.folder) if run.outcome in (Outcome.OK, Outcome.FAILED)]
    for number, run in enumerate(Random(asked.seed).sample(runs, min(asked.number, len(runs))), 1):
        lines = run.text.rstrip("\n").split("\n")
        cut = lines if len(lines) <= _FIRST + _LAST else [*lines[:_FIRST], f"({len(lines)} lines)", *lines[-_LAST:]]
        sys.stdout.write(f"\n{number}. {run.outcome}  {run.call}\n   → {run.line}\n")
        sys.stdout.writelines(f"      | {line[:150]}\n" for line in cut)
    unwanted = [run.line for run in runs if _UNWANTED.search(run.line)]
    sys.stdout.write(f"\n{len(runs)} runs, {len(unwanted)} lines with a banner, a tag or a frame: {unwanted[:5]}\n")
    return 1 if unwanted else 0


def _runs(folder: Path) -> Iterator[Run]:
    for transcript in claude_code.find(folder):
        for agent in ("", *(file.agent for file in transcript.subagents)):
            calls: dict[str, str] = {}
            for event in claude_code.read(transcript, agent):
                if isinstance(event, ToolUsed) and _is_run(str(event.arguments.get("command", ""))):
                    calls[event.call] = call_line(event.name, event.arguments)
                elif isinstance(event, ToolReturned) and event.call in calls and event.end is not CallEnd.REJECTED:
                    call, outcome = calls[event.call], OUTCOMES[event.end]
                    yield Run(call, result_line(call, event.text, outcome, event.details), outcome, event.text)


def _is_run(command: str) -> bool:
    """Whether one of the commands in a line tests, checks or builds; a project's own tasks count by their names."""
    for part in re.split(r"&&|\|\|?|[;\n]", command):
        words = part.split()
        if words[:2] in (["mise", "run"], ["mise", "r"]):
            words = ["make", *words[2:]]
        if words and kind_of(plain_words(words)):
            return True
    return False


if __name__ == "__main__":
    raise SystemExit(main())
