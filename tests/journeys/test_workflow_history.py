from __future__ import annotations

import json
from pathlib import Path

import pytest
import toons

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.workflow_notes import PLAIN, RELEASE, put
from tests.running import Cru

COLUMNS = ["started", "status", "run", "steps", "success", "failed", "skipped", "timeout"]
COLUMNS += ["duration_s", "tokens", "failures", "names", "agents"]


def many_runs(count: int) -> str:
    """A workflow that ran so often, a minute apart."""
    rows = "".join(f"  Go,success,{n},run-{n},2026-11-21T10:{n:02}:00Z\n" for n in range(count))
    head = f"execution[{count}]{{phase,status,duration_ms,run,started}}:\n"
    return f"# Many\n\n## Go\nx → y\n\n```session-toon\n{head}{rows}```\n"


def test_runs_come_newest_first_with_what_they_took(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/release.md")
    result = cru("workflow", "history", "release")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [line.split() for line in result.stdout.splitlines()] == [
        ["started", "status", "run", "steps", "failed", "duration_s", "tokens"],
        ["2026-11-21T10:00:00Z", "success", "2026-11-21-release", "2", "0", "85.0", "2000"],
        ["2026-11-20T10:00:00Z", "failed", "2026-11-20-release", "1", "1", "84.0", "1200"],
    ]


def test_json_and_toon_have_all_columns(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/release.md")
    runs = json.loads(cru("workflow", "history", "release", "--format", "json").stdout)["runs"]
    assert [list(run) for run in runs] == [COLUMNS, COLUMNS]
    assert runs[1]["failures"] == ["Run the tests"]
    assert runs[0]["names"] == ["Run the tests", "Write the notes"]
    assert runs[0]["agents"] == ["ci@2.1", "writer"]
    table = toons.loads(cru("workflow", "history", "release", "--format", "toon").stdout)["runs"]
    assert [row["run"] for row in table] == ["2026-11-21-release", "2026-11-20-release"]


def test_pages_follow_each_other(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/many.md", many_runs(45))
    seen = []
    for page, count in ((1, 20), (2, 20), (3, 5)):
        result = cru("workflow", "history", "many", "--page", str(page), "--format", "json")
        runs = [run["run"] for run in json.loads(result.stdout)["runs"]]
        assert len(runs) == count
        seen += runs
        assert result.stderr.startswith(f"page {page} of 3, 45 runs")
        assert (f"--page {page + 1}" in result.stderr) is (page < 3)
    assert seen == [f"run-{n}" for n in reversed(range(45))]
    assert len(cru("workflow", "history", "many", "-n", "7").stdout.splitlines()) == 8
    beyond = cru("workflow", "history", "many", "--page", "4")
    assert (beyond.exit_code, beyond.stdout) == (2, "")
    assert "The last one is 3." in beyond.stderr


def test_the_time_of_a_step_holds_that_of_those_below_it_and_its_tokens_do_not(vault: Vault, cru: Cru) -> None:
    rows = "  Whole,success,100,10,r\n  PartA,success,60,6,r\n  PartB,success,30,4,r\n  Other,success,5,1,r\n"
    head = "execution[4]{phase,status,duration_ms,tokens_used,run}:\n"
    text = f"# T\n\n## Whole\n\n### Part A\n\n### Part B\n\n## Other\n\n```session-toon\n{head}{rows}```\n"
    put(vault, "workflows/deep.md", text)
    (run,) = json.loads(cru("workflow", "history", "deep", "--format", "json").stdout)["runs"]
    assert (run["steps"], run["duration_s"], run["tokens"]) == (4, 0.105, 21)


def test_a_workflow_that_never_ran_says_so(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/new.md", "# New\n\n## Go\nx → y\n")
    result = cru("workflow", "history", "new")
    assert (result.exit_code, result.stderr) == (0, "no runs yet\n")
    assert result.stdout == ""
    assert json.loads(cru("workflow", "history", "new", "--json").stdout) == {"schema": 1, "runs": []}


def test_a_row_that_names_no_run_is_one(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/plain.md", PLAIN)
    (run,) = json.loads(cru("workflow", "history", "plain", "--format", "json").stdout)["runs"]
    assert (run["started"], run["run"], run["status"], run["duration_s"]) == (None, None, "success", 0.012)
    assert run["tokens"] is None
    assert cru("workflow", "history", "plain").stdout.splitlines()[1].split()[:3] == [
        "-",
        "success",
        "(Load)",
    ]


@pytest.mark.parametrize(
    "wrong", [["missing"], ["2026-11-21-limiter"], ["release", "-n", "0"], ["release", "--page", "0"], []]
)
def test_bad_input_is_refused(vault: Vault, cru: Cru, wrong: list[str]) -> None:
    put(vault, "workflows/release.md")
    write(vault, "2026-11-21-limiter", note("2026-11-21-limiter"))
    result = cru("workflow", "history", *wrong)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")


def test_a_file_needs_no_vault(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.md").write_text(RELEASE, encoding="utf-8")
    assert len(bare_cru("workflow", "history", "loose.md").stdout.splitlines()) == 3


def test_cells_cannot_steer_the_terminal_and_colours_are_for_those_who_want_them(vault: Vault, bare_cru: Cru) -> None:
    put(vault, "workflows/evil.md", many_runs(1).replace("run-0", '"x\\u001b[2J\x1b[31my\u2028z"'))
    shown = bare_cru("--vault", vault.root, "workflow", "history", "evil").stdout
    assert not {"\x1b", "\u2028"} & set(shown)
    coloured = bare_cru("--vault", vault.root, "--color", "workflow", "history", "evil").stdout
    assert "\x1b[32msuccess" in coloured
