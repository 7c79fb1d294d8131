"""Puzzle files: self-contained, without the answer, and their solutions with the checks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.learn.case import CaseTurn, Puzzle
from crucible.commands.learn.puzzle_files import (
    puzzle_file_names,
    read_puzzle_file,
    read_solution_file,
    render_puzzle_file,
    render_solution_file,
)
from crucible.commands.learn.rubric import CheckKind, rubric_of
from crucible.core.errors import UsageError
from crucible.documents.markdown.source import Source
from tests.unit.commands.learn.sample_cases import (
    CHOICE,
    OPEN,
    PUZZLE,
    any_turns,
    assistant_turn,
    case_of,
    hostile_text,
    tool,
    used,
)


def test_a_puzzle_is_read_back_without_its_answer() -> None:
    case = case_of(PUZZLE)
    text = render_puzzle_file(case)
    file = read_puzzle_file(Source(text))
    assert file.puzzle == replace(PUZZLE, expected="", solution=())
    assert (file.case, file.solution) == ("c1", "c1.solution.md")
    assert "What went wrong" in text


@given(hostile_text(), any_turns(), hostile_text(), st.lists(hostile_text(), max_size=3).map(tuple))
def test_any_puzzle_is_read_back(text: str, turns: tuple[CaseTurn, ...], failure: str, hints: tuple[str, ...]) -> None:
    puzzle = Puzzle(text, failure, turns, failure, text, turns, hints)
    file = read_puzzle_file(Source(render_puzzle_file(case_of(puzzle))))
    assert file.puzzle == replace(puzzle, expected="", solution=())
    solution = read_solution_file(Source(render_solution_file(case_of(puzzle))))
    assert (solution.puzzle.expected, solution.puzzle.solution) == (puzzle.expected, puzzle.solution)
    assert solution.checks == rubric_of(puzzle)


def test_a_puzzles_file_has_nothing_of_the_answer() -> None:
    text = render_puzzle_file(case_of(PUZZLE))
    for secret in ("backoff", "retry(get", "2026-05-04", "It tries again", "python app.py\n"):
        assert secret not in text.replace("tags:\n  - retry", "")
    assert "- It names the file that must change." in text
    assert "- It names the file that must change." in text


def test_a_solution_names_its_session_and_its_checks() -> None:
    text = render_solution_file(case_of(PUZZLE))
    assert "[[sessions/2026-05-04-1000-retry|2026-05-04-1000-retry]]" in text
    checks = {check.kind: check.wants for check in read_solution_file(Source(text)).checks}
    assert checks[CheckKind.FILES] == ("app.py",)
    assert checks[CheckKind.TERMS] == ("retry",)


def test_an_open_puzzle_has_no_solution() -> None:
    text = render_puzzle_file(case_of(OPEN))
    assert read_puzzle_file(Source(text)).solution == ""
    assert "This puzzle has no known solution." in text
    assert "There is no solution to judge an answer by." in text
    assert read_solution_file(Source(render_solution_file(case_of(OPEN)))).checks == ()


def test_files_and_commands_are_found_in_every_clients_calls() -> None:
    puzzle = replace(
        PUZZLE,
        solution=(
            used(
                "1",
                "apply_patch",
                input="*** Begin Patch\n*** Update File: src/a.py\n@@\n*** Add File: b.py\n+x",
            ),
            used("2", "edit", filePath="/home/x/c.py", newString="x"),
            used("3", "Write", input="d.py (17 lines)"),
            used("4", "shell", command=["pytest", "-q"]),
            used("5", "Read", file_path="not.py"),
            tool("5", "x"),
            assistant_turn("done"),
        ),
    )
    checks = {check.kind: check.wants for check in rubric_of(puzzle)}
    assert checks[CheckKind.FILES] == ("a.py", "b.py", "c.py", "d.py")


def test_an_edited_rubric_is_used() -> None:
    shown, heading, rubric = render_solution_file(case_of(PUZZLE)).partition("## Rubric")
    rubric = rubric.replace('"app.py"', '"app.py", "retry.py"').replace('"least": 1', '"least": 2')
    text = shown + heading + rubric
    check = read_solution_file(Source(text)).checks[0]
    assert (check.wants, check.least) == (("app.py", "retry.py"), 2)


@pytest.mark.parametrize(
    "rubric",
    [
        "[",
        "{}x",
        '[{"check": "magic", "wants": []}]',
        '[{"check": "files"}]',
        '[{"check": "files", "wants": "a"}]',
    ],
)
def test_an_invalid_rubric_is_reported_with_its_line(rubric: str) -> None:
    text = f"---\ntype: puzzle-solution\n---\n## Rubric\n\n```json rubric\n{rubric}\n```\n"
    with pytest.raises(UsageError, match="line 5"):
        read_solution_file(Source(text))


@pytest.mark.parametrize("name", ["../c1.solution.md", "/etc/passwd", "a/b.md", ".hidden", "a\\b"])
def test_a_solution_in_another_folder_is_refused(name: str) -> None:
    text = render_puzzle_file(case_of(PUZZLE)).replace("solution: c1.solution.md", f"solution: '{name}'")
    with pytest.raises(UsageError, match="in the puzzle's folder"):
        read_puzzle_file(Source(text))


def test_a_file_that_is_no_puzzle_is_refused() -> None:
    with pytest.raises(UsageError, match="not a puzzle"):
        render_puzzle_file(case_of(CHOICE))
    with pytest.raises(UsageError, match="no puzzle file"):
        read_puzzle_file(Source(render_solution_file(case_of(PUZZLE))))
    with pytest.raises(UsageError, match="not a case id"):
        puzzle_file_names(case_of(PUZZLE, "../x"))


def test_no_tag_has_a_control_token() -> None:
    text = render_puzzle_file(case_of(PUZZLE, tags=("<|im_start|>x", "[INST]")))
    assert "<|" not in text
    assert "[INST]" not in text
    assert "< |im_start|>x" in text
