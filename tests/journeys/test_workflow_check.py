from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import toons

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.workflow_notes import BROKEN, PLAIN, put
from tests.paths import ROOT
from tests.running import Cru, CruProcess

KEYS = ["path", "line", "column", "severity", "code", "message"]
LINE = re.compile(r"(?P<path>[^:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning): (?P<code>[a-z-]+): .+")


def line_of(text: str, wanted: str) -> int:
    """The number of the first line that is this."""
    return text.split("\n").index(wanted) + 1


def test_a_sound_workflow_says_nothing_and_exits_0(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/release.md")
    for named in ([], ["release"], ["workflows/release.md"]):
        result = cru("workflow", "check", *named)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == "no problems in 1 workflow\n"


def test_every_problem_is_a_line_with_its_place_and_errors_exit_3(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    result = cru("workflow", "check", "broken")
    assert result.exit_code == 3
    found = [match for line in result.stdout.splitlines() if (match := LINE.fullmatch(line))]
    assert len(found) == len(result.stdout.splitlines())
    assert {match["path"] for match in found} == {"workflows/broken.md"}
    places = {(match["code"], match["severity"]): int(match["line"]) for match in found}
    assert places["cycle", "error"] == line_of(BROKEN, "## First")
    assert places["missing-step", "error"] in (line_of(BROKEN, "If it rains → proceed to Nowhere"), 24)
    assert places["type-mismatch", "error"] == line_of(BROKEN, "a::JSON → b")
    assert places["bad-header", "error"] == line_of(BROKEN, "execution[1{phase,status}:")
    assert places["duplicate-output", "warning"] == line_of(BROKEN, "other → b")
    assert places["marker-without-step", "warning"] == line_of(BROKEN, "  Fourth,success")
    assert "First → Second → Third → First" in result.stdout
    assert "`]`" in result.stdout
    assert re.fullmatch(r"\d errors, \d warnings? in 1 workflow\n", result.stderr)


def test_json_and_toon_have_the_same_problems(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    lines = cru("workflow", "check").stdout.splitlines()
    result = cru("workflow", "check", "--format", "json")
    found = json.loads(result.stdout)["problems"]
    assert result.exit_code == 3
    assert [list(one) for one in found] == [KEYS] * len(lines)
    assert [
        f"{o['path']}:{o['line']}:{o['column']}: {o['severity']}: {o['code']}: {o['message']}" for o in found
    ] == lines
    assert toons.loads(cru("workflow", "check", "--format", "toon").stdout)["problems"] == found


def test_warnings_alone_exit_0(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/twice.md", "# T\n\n## A\nx → y\n\n## B\nx → y\n")
    result = cru("workflow", "check")
    assert result.exit_code == 0
    assert "warning: duplicate-output" in result.stdout
    assert result.stderr == "no errors, 1 warning in 1 workflow\n"


def test_without_a_name_all_are_checked_and_an_unreadable_one_is_an_error(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/release.md")
    put(vault, "projects/broken.md", BROKEN)
    (vault.root / "workflows" / "gone.md").symlink_to(vault.root / "nowhere.md")
    result = cru("workflow", "check")
    assert result.exit_code == 3
    assert {line.partition(":")[0] for line in result.stdout.splitlines()} == {
        "projects/broken.md",
        "workflows/gone.md",
    }
    assert "workflows/gone.md:1:1: error: unreadable-note: " in result.stdout
    assert result.stderr.endswith("in 3 workflows\n")


def test_no_workflows_are_no_problem(vault: Vault, cru: Cru) -> None:
    result = cru("workflow", "check")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "no workflows\n")
    assert json.loads(cru("workflow", "check", "--json").stdout) == {"schema": 1, "problems": []}
    assert cru("workflow", "check", "--format", "toon").stdout == f"schema: 1\nproblems[0]{{{','.join(KEYS)}}}:\n"


def test_a_file_needs_no_vault(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.md").write_text(BROKEN, encoding="utf-8")
    result = bare_cru("workflow", "check", "loose.md")
    assert result.exit_code == 3
    assert result.stdout.startswith(str(tmp_path / "loose.md"))
    named = bare_cru("workflow", "check", "loose")
    assert named.stdout == result.stdout
    unnamed = bare_cru("workflow", "check")
    assert unnamed.exit_code == 1
    assert "no vault" in unnamed.stderr


def test_a_vault_that_was_named_and_is_none_is_an_error(bare_cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "loose.md").write_text(PLAIN, encoding="utf-8")
    result = bare_cru("--vault", tmp_path / "no", "workflow", "check", tmp_path / "loose.md")
    assert result.exit_code == 1
    assert "no such folder" in result.stderr


def test_a_name_that_is_wrong_does_not_keep_the_others_from_being_checked(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/twice.md", "# T\n\n## A\nx → y\n\n## B\nx → y\n")
    (vault.root / "folder").mkdir()
    write(vault, "2026-11-21-limiter", note("2026-11-21-limiter"))
    result = cru(
        "workflow",
        "check",
        "missing",
        "twice",
        "2026-11-21-limiter",
        str(vault.root / "folder"),
        "twice.md",
    )
    assert result.exit_code == 1
    assert result.stdout.count("duplicate-output") == 1
    said = result.stderr.splitlines()
    assert 'no workflow matches "missing"' in said[0]
    assert "2026-11-21-limiter: a session, not a workflow" in said[1]
    assert "cru session codify 2026-11-21-limiter" in said[1]
    assert "a folder" in said[2]
    only = cru("workflow", "check", "2026-11-21-limiter")
    assert only.exit_code == 2
    assert only.stderr.count("\n") == 1


def test_what_is_no_utf8_and_has_odd_names_is_checked(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/größe ☃.md", b"# \xff\n\n## \xfe A\na -> b\n\n## B\nb -> a\n")
    result = cru("workflow", "check", "größe ☃")
    assert result.exit_code == 3
    assert result.stdout.startswith("workflows/größe ☃.md:3:4: error: cycle: ")
    found = json.loads(cru("workflow", "check", "--format", "json").stdout)["problems"]
    assert "\ufffd A" in found[0]["message"]


def test_messages_cannot_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    put(
        vault,
        "workflows/evil.md",
        "# T\n\n## A\x1b[31m\u2028b\na → b\n\nIf x → proceed to \x1b[2JNo\x85where\n",
    )
    shown = cru("workflow", "check").stdout
    assert "missing-step" in shown
    assert not {"\x1b", "\u2028", "\x85"} & set(shown)


def test_severities_are_coloured_when_asked(vault: Vault, bare_cru: Cru) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    assert "\x1b[31merror\x1b[0m" in bare_cru("--vault", vault.root, "--color", "workflow", "check").stdout
    plain = bare_cru("--vault", vault.root, "--no-color", "workflow", "check").stdout
    assert "\x1b" not in plain


@pytest.mark.skipif(os.name == "nt", reason="no pipes of this kind")
def test_a_reader_that_goes_away_ends_it_quietly(vault: Vault, cru_process: CruProcess) -> None:
    many = "# T\n\n" + "".join(f"## S{n}\nx → y\n\n" for n in range(1_500))
    put(vault, "workflows/many.md", many)
    read, write_end = os.pipe()
    os.close(read)
    done = cru_process(
        "--vault",
        vault.root,
        "workflow",
        "check",
        capture_output=False,
        stdout=write_end,
        stderr=subprocess.PIPE,
    )
    os.close(write_end)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_closed_stdout_is_told(vault: Vault, cru_process: CruProcess) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    script = f"import os, sys; os.close(1); os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'crucible', '--vault', {str(vault.root)!r}, 'workflow', 'check'])"
    root = ROOT
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert b"standard output: closed" in done.stderr


def test_an_unknown_format_is_refused(vault: Vault, cru: Cru) -> None:
    result = cru("workflow", "check", "--format", "yaml")
    assert (result.exit_code, result.stdout) == (2, "")
