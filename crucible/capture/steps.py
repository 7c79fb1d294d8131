"""A session as one line of steps, in the order of its note, with what its event log knows of each call.

Owns what every finder walks along: each entry a step, each tool call one of its own.  What an inline subagent did is its own and no step here, nor is
a note's preamble.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crucible.acts.evidence import Evidence
from crucible.acts.model import Act
from crucible.acts.reading import Files, acts_of
from crucible.session.model import Entry, Outcome, Session, ToolCall, ToolCalls

__all__ = ["Step", "steps_of"]

_SHELLS = frozenset(
    [
        "bash",
        "shell",
        "exec_command",
        "run_shell_command",
        "shell_command",
        "local_shell",
        "local_shell_call",
        "container.exec",
        "powershell",
        "execute_command",
        "run_command",
        "run_in_terminal",
        "terminal",
    ]
)
"""Tools that run commands, in any client; their names in lower case."""
_SCRIPTS = ("command", "cmd", "script")


class Step(NamedTuple):
    """One entry, or one call of a list of calls; `at` is its place from 0, `line` the note's from 1.

    `result` is a call's whole text where it was recorded, else as the note cuts it; `script` the command of a shell's call, "" of any other.
    """

    at: int
    phase: str
    line: int
    entry: Entry
    call: ToolCall | None = None
    acts: tuple[Act, ...] = ()
    arguments: Mapping[str, object] | None = None
    result: str = ""
    script: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """How its call ended; None of any other step."""
        return self.call.outcome if self.call else None


def steps_of(session: Session, evidence: Evidence) -> list[Step]:
    """Every step of every phase."""
    files = Files(evidence.roots, names_only=True)
    return [step._replace(at=at) for at, step in enumerate(_walk(session, evidence, files))]


def _walk(session: Session, evidence: Evidence, files: Files) -> Iterator[Step]:
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, ToolCalls):
                for call in entry.calls:
                    yield _called(phase.id, entry, call, evidence, files)
            else:
                yield Step(0, phase.id, entry.lines.first + 1, entry)


def _called(phase: str, entry: ToolCalls, call: ToolCall, evidence: Evidence, files: Files) -> Step:
    arguments, whole = evidence.arguments(call), evidence.result(call)
    acts = acts_of(call, evidence, files)
    return Step(
        0, phase, call.lines.first + 1, entry, call, acts, arguments, call.result if whole is None else whole, _script(call, arguments),
    )  # fmt: skip


def _script(call: ToolCall, arguments: Mapping[str, object] | None) -> str:
    for name in _SCRIPTS:
        value = (arguments or {}).get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value:
            return " ".join(map(str, value[2:] if len(value) == 3 else value))  # `bash -lc SCRIPT`
    if call.tool.casefold() not in _SHELLS:
        return ""
    return call.call.partition(" ")[2].replace("⏎", "\n")
