"""`cru case` as a user meets it."""

from __future__ import annotations

import json
import os
import pty
from dataclasses import replace
from pathlib import Path

import pytest

from crucible.commands.learn.case_folder import write_case_notes
from crucible.commands.learn.puzzle_files import puzzle_file_names, render_puzzle_file, render_solution_file
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import LIMITER, write
from tests.running import Cru, CruProcess
from tests.saying import program
from tests.unit.commands.learn.sample_cases import OPEN, PUZZLE, case_of, made_cases

GOOD = "The server resets it. Change app.py: each get is retried with backoff."


@pytest.fixture
def kept(vault: Vault) -> Path:
    write_case_notes(vault, made_cases())
    return vault.root / "cases"


@pytest.fixture
def puzzle(tmp_path: Path) -> Path:
    case = case_of(PUZZLE, "reset")
    names = puzzle_file_names(case)
    (tmp_path / names[0]).write_text(render_puzzle_file(case), encoding="utf-8")
    (tmp_path / names[1]).write_text(render_solution_file(case), encoding="utf-8")
    return tmp_path / names[0]


def answer(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "answer.md"
    path.write_text(text, encoding="utf-8")
    return path


# --- list ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("kept")
def test_cases_are_listed_the_newest_session_first(cru: Cru) -> None:
    result = cru("case", "list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["id", "type", "status", "difficulty", "about"]
    assert [line.split()[0] for line in lines[1:]] == [
        "workflow",  # it tells no time, so its session's name does
        "delegation",
        "choice",
        "rejected",
        "correction",
        "open",
        "puzzle",
    ]
    assert "ConnectionResetError" in lines[-1]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        (["--type", "puzzle"], ["open", "puzzle"]),
        (["--type", "puzzle", "--type", "decision"], ["choice", "open", "puzzle"]),
        (["--verified", "--type", "puzzle"], ["puzzle"]),
        (["--agent", "codex"], ["rejected"]),
        (["--session", "2026-05-05"], ["choice", "rejected"]),
        (["--tag", "#retry", "-n", "1"], ["workflow"]),
        (["--project", "none"], []),
        (["--status", "accepted"], []),
    ],
)
@pytest.mark.usefixtures("kept")
def test_filters_narrow_the_list(cru: Cru, options: list[str], ids: list[str]) -> None:
    rows = json.loads(cru("case", "list", "--format", "json", *options).stdout)["cases"]
    assert [row["id"] for row in rows] == ids


def test_every_format_tells_the_same(cru: Cru, kept: Path) -> None:
    rows = json.loads(cru("case", "list", "--format", "json", "--type", "correction").stdout)["cases"]
    assert rows[1]["about"] == "Never zero: keep a floor."
    assert rows[1]["path"] == "cases/correction.md"
    assert "cases[2]{id,type,status" in cru("case", "list", "--format", "toon", "--type", "correction").stdout
    paths = cru("case", "list", "--format", "paths", "-0", "--type", "correction").stdout.split("\0")
    assert paths == [str(kept / "rejected.md"), str(kept / "correction.md"), ""]


def test_a_vault_without_cases_says_how_to_get_some(cru: Cru) -> None:
    result = cru("case", "list")
    assert (result.exit_code, result.stdout.split()) == (0, [])
    assert "session learn" in result.stderr


def test_a_note_that_cannot_be_read_is_told(cru: Cru, kept: Path) -> None:
    (kept / "gone.md").symlink_to(kept / "nowhere")
    result = cru("case", "list")
    assert result.exit_code == 3
    assert "cases/nowhere: no such file" in result.stderr


# --- accept, reject --------------------------------------------------------------------------------------------------


def test_a_review_is_written_into_the_notes_and_nothing_else_is(cru: Cru, kept: Path) -> None:
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    result = cru("case", "accept", "puzzle", "cases/choice.md")
    assert (result.exit_code, result.stderr) == (0, "puzzle: accepted\nchoice: accepted\n")
    assert cru("case", "reject", "del").exit_code == 0
    after = {path.name: path.read_bytes() for path in kept.iterdir()}
    for name, status in {
        "puzzle.md": b"accepted",
        "choice.md": b"accepted",
        "delegation.md": b"rejected",
    }.items():
        assert after[name] == before[name].replace(b"status: proposed", b"status: " + status)
        before[name] = after[name]
    assert after == before
    assert "puzzle: accepted already" in cru("case", "accept", "puzzle").stderr


def test_nothing_is_written_when_one_of_them_is_not_there(cru: Cru, kept: Path) -> None:
    result = cru("case", "accept", "puzzle", "nope")
    assert result.exit_code == 1
    assert 'no case matches "nope"' in result.stderr
    assert b"status: proposed" in (kept / "puzzle.md").read_bytes()


def test_a_session_is_no_case(cru: Cru, vault: Vault) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    assert cru("case", "accept", "sessions/2026-11-21-limiter.md").exit_code == 2
    assert cru("case", "reject", "../answer.md").exit_code == 1


# --- check -----------------------------------------------------------------------------------------------------------


def test_sound_cases_have_no_problem(cru: Cru, vault: Vault) -> None:
    write(vault, "2026-11-21-limiter", LIMITER)
    write_case_notes(vault, [case_of(PUZZLE, session="2026-11-21-limiter")])
    result = cru("case", "check")
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        "no problem in 1 case\n".replace("problem", "problems"),
    )


def test_what_is_wrong_is_named_with_its_line(cru: Cru, kept: Path) -> None:
    path = kept / "choice.md"
    path.write_text(path.read_text().replace("status: proposed", "status: perhaps").replace("## Outcome", "## Out"))
    result = cru("case", "check", "choice")
    assert result.exit_code == 3
    lines = result.stdout.splitlines()
    assert lines[0].startswith(
        "cases/choice.md:5: bad-field: status: 'perhaps' is not one of proposed, accepted, rejected"
    )
    assert ": unknown-section: “Out” is not a section of a decision" in lines[1]
    assert lines[2].startswith("cases/choice.md:1: no-session: its session 2026-05-05-0900-limiter")
    rows = json.loads(cru("case", "check", "choice", "--format", "json").stdout)["problems"]
    assert [row["code"] for row in rows] == ["bad-field", "unknown-section", "no-session"]


# --- play ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "code", "last"), [(GOOD, 0, "met"), ("I do not know.", 3, "not met"), ("", 3, "not met")]
)
def test_an_answer_is_judged(bare_cru: Cru, tmp_path: Path, puzzle: Path, text: str, code: int, last: str) -> None:
    result = bare_cru("case", "play", puzzle, "--answer", answer(tmp_path, text))
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (code, last)


def test_the_verdict_is_told_as_json(bare_cru: Cru, tmp_path: Path, puzzle: Path) -> None:
    result = bare_cru("case", "play", puzzle, "--answer", answer(tmp_path, GOOD), "--format", "json")
    told = json.loads(result.stdout)
    assert (told["case"], told["met"], told["answer"]) == ("reset", True, GOOD)
    assert [check["check"] for check in told["checks"]] == ["files", "terms"]


def test_an_agent_is_asked_and_sees_no_answer(bare_cru: Cru, tmp_path: Path, puzzle: Path) -> None:
    script = f"open({str(tmp_path / 'asked')!r}, 'w').write(said)\nprint({GOOD!r})"
    result = bare_cru("case", "play", puzzle, "--with", program(tmp_path, script), "--hints", "1")
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "met")
    asked = (tmp_path / "asked").read_text()
    assert "ConnectionResetError: [Errno 104]" in asked
    assert "Look at the error's class." in asked
    assert "backoff" not in asked


def test_an_agent_that_fails_is_named(bare_cru: Cru, tmp_path: Path, puzzle: Path) -> None:
    result = bare_cru("case", "play", puzzle, "--with", program(tmp_path, "sys.exit(1)"))
    assert result.exit_code == 1
    assert "no answer" in result.stderr


def test_an_open_puzzle_is_not_judged(bare_cru: Cru, tmp_path: Path) -> None:
    path = tmp_path / "open.puzzle.md"
    path.write_text(render_puzzle_file(case_of(OPEN, "open")), encoding="utf-8")
    result = bare_cru("case", "play", path, "--answer", answer(tmp_path, "x"))
    assert (result.exit_code, result.stdout) == (0, "not judged: there is no solution\n")


def test_what_is_missing_or_no_puzzle_is_named(bare_cru: Cru, tmp_path: Path, puzzle: Path) -> None:
    solution = tmp_path / "reset.solution.md"
    assert "no puzzle file" in bare_cru("case", "play", solution, "--answer", answer(tmp_path, "x")).stderr
    solution.unlink()
    result = bare_cru("case", "play", puzzle, "--answer", answer(tmp_path, "x"))
    assert result.exit_code == 1
    assert "reset.solution.md" in result.stderr
    assert bare_cru("case", "play", tmp_path / "none.md", "--answer", answer(tmp_path, "x")).exit_code == 1
    assert bare_cru("case", "play", puzzle, "--answer", "x", "--with", "y").exit_code == 2


def test_an_answer_is_read_from_a_pipe(cru_process: CruProcess, puzzle: Path) -> None:
    done = cru_process("case", "play", puzzle, input=GOOD.encode() + b"\xff\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines()[-1] == "met"


def test_a_human_is_asked_on_the_terminal_and_may_have_a_hint(cru_process: CruProcess, tmp_path: Path) -> None:
    case = case_of(replace(PUZZLE, goal="Survive.\x1b[31mred"), "reset")
    for name, text in zip(puzzle_file_names(case), (render_puzzle_file(case), render_solution_file(case)), strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    main, side = pty.openpty()
    os.write(main, f"hint\nhint\n{GOOD}\n.\n".encode())
    done = cru_process("case", "play", tmp_path / "reset.puzzle.md", stdin=side)
    os.close(side)
    os.close(main)
    told = done.stderr.decode()
    assert done.returncode == 0, told
    assert "Survive." in told
    assert "\x1b[31m" not in told
    assert told.index('"hint" on a line') < told.index("Look at the error's class.") < told.index("No more hints.")
    assert done.stdout.decode().splitlines()[-1] == "met"
