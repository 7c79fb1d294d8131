"""`cru case play`: ask the user or an agent a puzzle, and judge the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar

import click

from crucible.analysis.review.agent_questions import text_cleaner
from crucible.cli.command_agent import agent_named, as_agent, say_spent
from crucible.cli.environment import absolute_path, user_settings, vault_root
from crucible.cli.options import Door, GivenPath, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, clean, say, say_lines, write, write_data
from crucible.commands.learn.puzzle_files import (
    PuzzleFile,
    SolutionFile,
    Verdict,
    judge_answer,
    prompt_of,
    prompt_parts,
    read_puzzle_file,
    read_solution_file,
)
from crucible.commands.learn.rubric import CheckKind, CheckResult
from crucible.core.errors import AgentFailed, NoteUnreadable, UsageError, VaultNotFound
from crucible.core.files import read_bytes
from crucible.core.secrets.redaction import redact_of
from crucible.documents.markdown.source import Source

_KINDS = {
    CheckKind.FILES: "names the files",
    CheckKind.COMMANDS: "names a command to run",
    CheckKind.TERMS: "states the expected result",
    CheckKind.GONE: "does not repeat the failure's message",
}
_LONGEST = 1_000_000
_File = TypeVar("_File", PuzzleFile, SolutionFile)


class _PlayOptions(NamedTuple):
    """The agent that answers, if any, and the number of hints to show."""

    named: str | None
    answer: str | None
    hints: int


@click.command
@click.argument("file", metavar="FILE", type=GivenPath())
@click.option(
    "--with",
    "named",
    metavar="COMMAND",
    help="Ask an agent: claude, codex, opencode or a command line.",
)
@click.option("--answer", metavar="FILE", type=GivenPath(), help="Judge the answer in this file; `-` is stdin.")
@click.option("--hints", type=click.IntRange(min=0), default=0, metavar="N", help="Give the first N hints at once.")
@format_option()
@click.pass_obj
def play(door: Door, /, file: str, format_: str, **given: Any) -> int:
    """Play a puzzle and judge the answer.

    \b
    - FILE is a puzzle written by "cru session learn --type puzzle --export
      puzzle". Its solution is in the same folder.
    - Answer on the terminal: the line "hint" shows the next hint, the line
      "." ends your answer. --with asks an agent instead.
    - The solution's checks judge the answer: the files it names, and words
      that only the solution has. Nothing in the files or the answer is run.

    Exit code: 0 if the answer passes or cannot be judged, 3 if it fails.

    \b
      cru case play puzzles/limiter.puzzle.md
      cru case play limiter.puzzle.md --with claude --hints 1
      cru case play limiter.puzzle.md --answer mine.md --format json
    """
    options = _PlayOptions(**given)
    if options.named is not None and options.answer is not None:
        raise UsageError("--with and --answer cannot be used together", "remove one of them")
    path = Path(absolute_path(file))
    puzzle = _named(path, read_puzzle_file)
    solution = _solution(path, puzzle)
    answer = _answer(puzzle, options, door)
    verdict = judge_answer(solution, answer)
    _write_verdict(puzzle, solution, answer, verdict, format_)
    return PROBLEMS_FOUND if verdict.met is False else 0


def _solution(path: Path, puzzle: PuzzleFile) -> SolutionFile | None:
    try:
        return _named(path.with_name(puzzle.solution), read_solution_file) if puzzle.solution else None
    except NoteUnreadable as error:
        raise NoteUnreadable(str(error), error.hint or "it must be in the puzzle's folder") from error


def _named(path: Path, read: Callable[[Source], _File]) -> _File:
    try:
        return read(Source.from_bytes(read_bytes(path)[0]))
    except UsageError as error:
        raise UsageError(f"{path}: {error}", error.hint) from error


# --- the answer ------------------------------------------------------------------------------------------------------


def _answer(puzzle: PuzzleFile, options: _PlayOptions, door: Door) -> str:
    if options.named is not None:
        say("asking for an answer …")
        return _agent_answer(puzzle, options, door)
    if options.answer not in (None, "-"):
        return read_bytes(Path(absolute_path(str(options.answer))))[0].decode("utf-8", "replace")
    if options.answer == "-" or not sys.stdin.isatty():
        return _stdin().read(_LONGEST)
    click.echo("\n".join(_puzzle_lines(puzzle, options.hints)), err=True)
    return "\n".join(_typed_lines(puzzle, options.hints))


def _stdin() -> TextIO:
    """Return standard input, with invalid bytes replaced."""
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure:
        reconfigure(errors="replace")
    return sys.stdin


def _agent_answer(puzzle: PuzzleFile, options: _PlayOptions, door: Door) -> str:
    """Return the agent's answer, unredacted: it is judged, not stored."""
    agent = as_agent(agent_named(options.named, "--with", "answer it"), _vault(door), "puzzle")
    seen = text_cleaner(redact_of(user_settings().secrets))
    try:
        answer = agent.ask(seen(prompt_of(puzzle, options.hints))).text
    except AgentFailed as error:
        raise AgentFailed(f"no answer: {error}", error.hint) from error
    say_spent(agent)
    return answer


def _vault(door: Door) -> Path | None:
    """Return the vault that records the cost of the answer, if any; puzzles need none."""
    try:
        return Path(vault_root(door, user_settings()))
    except VaultNotFound:
        return None


def _typed_lines(puzzle: PuzzleFile, given: int) -> Iterator[str]:
    """Yield the lines of an answer, up to the end of input or a line with a single dot."""
    say('Type your answer. "hint" on a line shows a hint, "." ends the answer.')
    hints = iter(puzzle.puzzle.hints[given:])
    for line in _stdin():
        word = line.strip().lower()
        if word == ".":
            return
        if word == "hint":
            say_lines(next(hints, "No more hints."))
        else:
            yield line.rstrip("\r\n")


def _puzzle_lines(puzzle: PuzzleFile, hints: int) -> Iterator[str]:
    """Yield the puzzle's parts for a terminal, ending with the question."""
    parts = prompt_parts(puzzle, hints)
    for head, text in (
        *((name, parts[name]) for name in parts if name != "question"),
        ("question", parts["question"]),
    ):
        yield click.style(head.capitalize(), bold=True)
        yield clean(text.strip("\n")) + "\n"


# --- the verdict -----------------------------------------------------------------------------------------------------


def _write_verdict(
    puzzle: PuzzleFile, solution: SolutionFile | None, answer: str, verdict: Verdict, format_: str
) -> None:
    if is_data(format_):
        write_data(_export(puzzle, answer, verdict), format_)
        return
    for result in verdict.results:
        write(_line(result))
    if verdict.met is None:
        why = "there is no solution" if solution is None else "the solution has no checks"
        write(f"not judged: {why}")
    else:
        write("met" if verdict.met else "not met")


def _line(result: CheckResult) -> str:
    check = result.check
    mark = "✓" if result.is_met else "✗"
    if check.kind is CheckKind.GONE:
        return f"{mark} {_KINDS[check.kind]}"
    counts = f"{len(result.found)} of {len(check.wants)} found, {check.least} required"
    return f"{mark} {_KINDS[check.kind]}: {counts}"


def _export(puzzle: PuzzleFile, answer: str, verdict: Verdict) -> dict[str, Any]:
    return {
        "case": puzzle.case,
        "met": verdict.met,
        "checks": [
            {
                "check": one.check.kind.value,
                "met": one.is_met,
                "wants": [*one.check.wants],
                "least": one.check.least,
                "found": [*one.found],
            }
            for one in verdict.results
        ],
        "answer": answer,
    }
