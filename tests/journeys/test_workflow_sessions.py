from __future__ import annotations

import json
from pathlib import Path

import pytest
import toons

from crucible.vault.notes.vault import Vault
from tests.journeys.workflow_notes import BROKEN, PLAIN, RELEASE, put
from tests.running import Cru

KEYS = ["time", "workflow", "step", "path", "line", "phase", "agent", "channel", "input", "output"]
KEYS += ["duration_s", "status", "tokens", "session", "columns"]


@pytest.fixture
def two(vault: Vault) -> Vault:
    put(vault, "workflows/release.md", RELEASE)
    put(vault, "workflows/plain.md", PLAIN)
    return vault


def rows_of(cru: Cru, *options: str) -> list[dict[str, object]]:
    """The rows, as JSON has them."""
    rows: list[dict[str, object]] = json.loads(cru("workflow", "sessions", *options, "--format", "json").stdout)[
        "steps"
    ]
    return rows


def test_rows_of_all_workflows_come_newest_first(two: Vault, cru: Cru) -> None:
    result = cru("workflow", "sessions")
    assert (result.exit_code, result.stderr) == (0, "")
    head, *lines = result.stdout.splitlines()
    assert head.split() == [
        "time",
        "workflow",
        "step",
        "agent",
        "channel",
        "status",
        "duration_s",
        "tokens",
    ]
    assert [line.split()[:2] for line in lines] == [
        ["2026-11-21T10:05:00Z", "release"],
        ["2026-11-21T10:00:00Z", "release"],
        ["2026-11-20T10:00:00Z", "release"],
        ["-", "plain"],
    ]


def test_json_has_every_column_as_it_stands(two: Vault, cru: Cru) -> None:
    rows = rows_of(cru)
    assert [list(row) for row in rows] == [KEYS] * 4
    assert rows[2]["columns"] == {
        "phase": "RunTheTests",
        "agent": "ci@2.0",
        "channel": "release",
        "duration_ms": 84000,
        "status": "failed",
        "tokens_used": 1200,
        "session": "2026-11-20-release",
        "started": "2026-11-20T10:00:00Z",
        "host": "mill",
    }
    lines = RELEASE.split("\n")
    assert "mill" in lines[int(str(rows[2]["line"])) - 1]
    assert (rows[2]["step"], rows[2]["path"], rows[2]["input"]) == (
        "Run the tests",
        "workflows/release.md",
        None,
    )


def test_toon_has_the_same_rows_as_json(two: Vault, cru: Cru) -> None:
    rows = toons.loads(cru("workflow", "sessions", "--format", "toon").stdout)["steps"]
    assert len(rows) == 4
    assert [row["columns"].get("host") for row in rows] == [None, "dale", "mill", None]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--agent", "ci"], [80000, 84000]),
        (["--agent", "ci@2.0"], [84000]),
        (["--agent", "nobody"], []),
        (["--status", "success"], [5000, 80000, 12]),
        (["--status", "FAILED"], [84000]),
        (["--channel", "release"], [5000, 80000, 84000]),
        (["--channel", "#release"], [5000, 80000, 84000]),
        (["--since", "2026-11-21"], [5000, 80000]),
        (["--until", "2026-11-20"], [84000]),
        (["--since", "2026-11-20", "--until", "2026-11-20"], [84000]),
        (["--where", "host=mill"], [84000]),
        (["--where", "host = null"], [5000, 12]),
        (["--where", "duration_ms > 5000", "--where", "host ~ AL"], [80000]),
        (["--where", "step = Load"], [12]),
        (["--step", "run-the-tests"], [80000, 84000]),
        (["--workflow", "plain"], [12]),
        (["--workflow", "plain", "--workflow", "rel", "--workflow", "workflows/plain.md"], [5000, 80000, 84000, 12]),
        (["-n", "1"], [5000]),
        (["--limit", "0"], []),
    ],
    ids=lambda v: " ".join(v) if v and str(v[0]).startswith("-") else None,
)  # fmt: skip
def test_a_filter_narrows_the_rows(two: Vault, cru: Cru, options: list[str], found: list[int]) -> None:
    rows = rows_of(cru, *options)
    assert [row["duration_s"] for row in rows] == [milliseconds / 1000 for milliseconds in found]


def test_rows_without_a_time_are_counted_when_a_time_is_asked_for(two: Vault, cru: Cru) -> None:
    assert cru("workflow", "sessions", "--since", "2020-01-01").stderr == "1 row without a time skipped\n"
    assert cru("workflow", "sessions", "--until", "2026-12-01").stderr == "1 row without a time skipped\n"
    assert cru("workflow", "sessions", "--since", "2020-01-01", "--agent", "ci").stderr == ""


def test_what_is_asked_about_is_shown(two: Vault, cru: Cru) -> None:
    head, *lines = cru("workflow", "sessions", "--where", "host != null").stdout.splitlines()
    assert head.split()[-1] == "host"
    assert [line.split()[-1] for line in lines] == ["dale", "mill"]


def test_a_column_that_no_row_has_is_told(two: Vault, cru: Cru) -> None:
    for options in (["--where", "hots = mill"], ["--by", "hots"]):
        result = cru("workflow", "sessions", *options)
        assert result.exit_code == 0
        assert result.stderr.startswith(
            "no row has a column 'hots'; known columns: agent, channel, duration_ms, host, "
        )


def test_a_value_that_no_row_has_is_told(two: Vault, cru: Cru) -> None:
    result = cru("workflow", "sessions", "--status", "faild")
    assert result.exit_code == 0
    assert result.stderr.startswith("no row has the status 'faild'; known values: ")
    assert "failed" in result.stderr
    assert cru("workflow", "sessions", "--agent", "nobody").stderr.startswith("no row has the agent 'nobody'")
    assert cru("workflow", "sessions", "--status", "FAILED", "--agent", "ci").stderr == ""


def test_by_a_column_the_rows_are_counted(two: Vault, cru: Cru) -> None:
    head, *lines = cru("workflow", "sessions", "--by", "step").stdout.splitlines()
    assert head.split()[:6] == ["step", "count", "success", "failed", "skipped", "timeout"]
    assert lines[0].split() == [
        "Run",
        "the",
        "tests",
        "2",
        "1",
        "1",
        "0",
        "0",
        "50.0",
        "%",
        "80.0",
        "82.0",
        "84.0",
        "2300",
    ]
    assert [line.split()[0] for line in lines] == ["Run", "Load", "Write", "total"]
    assert lines[-1].split()[1:6] == ["4", "3", "1", "0", "0"]
    found = json.loads(cru("workflow", "sessions", "--by", "Agent", "--format", "json").stdout)
    assert (found["by"], found["total"]["count"]) == ("agent", 4)
    assert [(one["name"], one["count"], one["failure_rate"]) for one in found["groups"]] == [
        ("ci", 2, 0.5),
        ("writer", 1, 0.0),
        (None, 1, 0.0),
    ]
    assert toons.loads(cru("workflow", "sessions", "--by", "agent", "--format", "toon").stdout)["total"]["count"] == 4
    assert len(cru("workflow", "sessions", "--by", "status", "-n", "1").stdout.splitlines()) == 3


@pytest.mark.parametrize("column", ["count", "name", "status", "workflow"])
def test_any_column_can_be_counted_by(vault: Vault, cru: Cru, column: str) -> None:
    put(
        vault,
        "workflows/a.md",
        "# A\n\n## Go\n\n```session-toon\nexecution[1]{phase,status,count,name}:\n  Go,success,7,x\n```\n",
    )
    lines = cru("workflow", "sessions", "--by", column).stdout.splitlines()
    assert lines[0].split()[:2] == [column, "count"]
    assert lines[1].split()[:2] == [
        {"count": "7", "name": "x", "status": "success", "workflow": "a"}[column],
        "1",
    ]


def test_no_rows_are_an_empty_list(vault: Vault, cru: Cru) -> None:
    assert json.loads(cru("workflow", "sessions", "--json").stdout) == {"schema": 1, "steps": []}
    assert toons.loads(cru("workflow", "sessions", "--format", "toon").stdout) == {"schema": 1, "steps": []}
    assert cru("workflow", "sessions").stdout == ""
    assert cru("workflow", "sessions", "--by", "agent").exit_code == 0


def test_a_broken_block_costs_only_its_rows_and_a_note_that_cannot_be_read_is_named(two: Vault, cru: Cru) -> None:
    put(two, "workflows/broken.md", BROKEN)
    (two.root / "workflows" / "gone.md").symlink_to(two.root / "nowhere.md")
    result = cru("workflow", "sessions", "--format", "json")
    assert result.exit_code == 3
    assert len(json.loads(result.stdout)["steps"]) == 5
    assert result.stderr.startswith("workflows/gone.md:1: unreadable-note: ")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--where", "host"],
        ["--where", "= 5"],
        ["--since", "soon"],
        ["--limit", "-1"],
        ["--format", "paths"],
        ["--workflow", "missing"],
        ["--workflow", ""],
    ],
    ids=" ".join,
)
def test_bad_input_is_refused(two: Vault, cru: Cru, wrong: list[str]) -> None:
    result = cru("workflow", "sessions", *wrong)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")


def test_cells_of_any_bytes_are_shown_and_steer_nothing(vault: Vault, cru: Cru) -> None:
    row = b'  Go,success,"a\x1b[2J\\u001b[31m\xe2\x80\xa8b\xff",\xe6\x95\xb0\n'
    put(
        vault,
        "workflows/x.md",
        b"# X\n\n## Go\n\n```session-toon\nexecution[1]{phase,status,agent,host}:\n" + row + b"```\n",
    )
    for options in ([], ["--by", "agent"], ["--where", "host = \u6570"]):
        for format_ in ("text", "toon", "json"):
            result = cru("workflow", "sessions", *options, "--format", format_)
            assert result.exit_code == 0
            assert "\x1b" not in result.stdout
            assert "\ufffd" in result.stdout


def test_without_a_vault_only_named_files_are_asked(
    bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.md").write_text(RELEASE, encoding="utf-8")
    assert len(bare_cru("workflow", "sessions", "--workflow", "loose.md").stdout.splitlines()) == 4
    assert bare_cru("workflow", "sessions").exit_code == 1
