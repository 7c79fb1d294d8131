from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.workflow_notes import BROKEN, PLAIN, RELEASE, put
from tests.running import Cru


@pytest.fixture
def release(vault: Vault) -> Vault:
    put(vault, "workflows/release.md", RELEASE)
    return vault


def test_a_reader_sees_steps_agents_flows_and_the_last_figures(release: Vault, cru: Cru) -> None:
    result = cru("workflow", "show", "release")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert "Release checklist" in lines[0]
    first = lines.index("1 Run the tests @ci@2.1 #release critical")
    assert lines[first + 1 : first + 4] == [
        "source → test_results::TestReport",
        "1 failed, 1 success; last: success, 80,000 ms, 1,100 tokens",
        "The whole suite.",
    ]
    assert "  2.1 Check the links optional" in lines
    assert "If `test -s receipt` → proceed to Check the links" in lines
    shown = "\n".join(lines)
    assert "2026-11-20-release, 2026-11-21-release" in shown
    assert "inputs    source" in shown
    assert "2, last: success 2026-11-21T10:00:00Z" in shown
    assert "How a version goes out." in shown
    assert "session-toon" not in shown


def test_markdown_is_the_notes_own_bytes(vault: Vault, cru: Cru) -> None:
    data = b"\xef\xbb\xbf# T\r\n\r\n## A @x\r\n\xff \xe2\x86\x92 b\r\n\x1b[31m"
    put(vault, "workflows/odd.md", data)
    assert cru("workflow", "show", "odd", "--format", "markdown").stdout_bytes == data


def test_json_has_all_of_it(release: Vault, cru: Cru) -> None:
    found = json.loads(cru("workflow", "show", "release", "--format", "json").stdout)["workflows"][0]
    assert (found["name"], found["title"], found["path"]) == (
        "release",
        "Release checklist",
        "workflows/release.md",
    )
    assert found["sessions"] == ["2026-11-20-release", "2026-11-21-release"]
    assert [step["name"] for step in found["steps"]] == ["Run the tests", "Write the notes", "Publish"]
    assert found["steps"][0]["markers"][1]["host"] == "dale"
    assert found["steps"][1]["steps"][0]["grade"] == "optional"
    assert found["edges"]
    assert found["diagnostics"] == []


def test_what_is_wrong_is_named_on_stderr_and_the_exit_code_stays_0(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    for format_ in ("text", "json", "markdown"):
        result = cru("workflow", "show", "broken", "--format", format_)
        assert result.exit_code == 0
        assert "workflows/broken.md:7:4: error: cycle: " in result.stderr
        assert "Third again" in result.stdout


def test_of_many_problems_the_first_are_named(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/many.md", "# T\n\n" + "".join(f"## S{n}\nx → y\n\n" for n in range(50)))
    said = cru("workflow", "show", "many").stderr.splitlines()
    assert len(said) == 11
    assert "cru workflow check" in said[-1]


def test_a_marker_counts_for_the_step_it_names_wherever_it_stands(vault: Vault, cru: Cru) -> None:
    text = "# T\n\n## A\n\n## B\n\n```session-toon\nexecution[2]{phase,status}:\n  a,failed\n  Other,success\n```\n"
    put(vault, "workflows/t.md", text)
    lines = [line.rstrip() for line in cru("workflow", "show", "t").stdout.splitlines()]
    assert lines[lines.index("1 A") + 1] == "1 failed; last: failed"
    assert lines.index("2 B") == len(lines) - 1


def test_a_note_cannot_steer_the_terminal(vault: Vault, cru: Cru) -> None:
    text = "# T\x1b[2J\u2028t\n\nsee \x1b]8;;evil\x07\n\n## A\x1b[31m [bold]x[/bold] @a\n\x1b[1mprose\u202e\n\n`a\x1b[2J` → b\n\n## \u6570\u636e ☃\n"
    put(vault, "workflows/evil.md", text.encode() + b"\xff\n")
    shown = cru("workflow", "show", "evil").stdout
    assert not {"\x1b", "\x07", "\u2028", "\u202e"} & set(shown)
    assert "[bold]x[/bold]" in shown
    assert "\u6570\u636e ☃" in shown


def test_colours_are_for_those_who_want_them(release: Vault, bare_cru: Cru) -> None:
    assert "\x1b[" in bare_cru("--vault", release.root, "--color", "workflow", "show", "release").stdout
    assert "\x1b[" not in bare_cru("--vault", release.root, "workflow", "show", "release").stdout
    without = bare_cru("--vault", release.root, "workflow", "show", "release", env={"NO_COLOR": "1"})
    assert "\x1b[" not in without.stdout


def test_a_file_needs_no_vault(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.md").write_text(PLAIN, encoding="utf-8")
    result = bare_cru("workflow", "show", "loose.md")
    assert result.exit_code == 0
    assert "Simple pipeline" in result.stdout


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("missing", 'no workflow matches "missing"'),
        ("2026-11-21-limiter", "a session, not a workflow"),
        ("sessions/2026-11-21-limiter.md", "a session, not a workflow"),
        ("sessions", "a folder"),
        ("", "does not name a workflow"),
        ("relaese", "Nearest: release."),
        ("../no/such.md", "no workflow"),
    ],
)
def test_bad_input_says_what_to_do_next(release: Vault, cru: Cru, ref: str, said: str) -> None:
    write(release, "2026-11-21-limiter", note("2026-11-21-limiter"))
    result = cru("workflow", "show", ref)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 2


def test_a_name_that_fits_several_names_them(release: Vault, cru: Cru) -> None:
    put(release, "workflows/release-two.md", PLAIN)
    put(release, "workflows/other.md", PLAIN)
    assert cru("workflow", "show", "release").exit_code == 0
    result = cru("workflow", "show", "rel")
    assert result.exit_code == 2
    assert "workflows/release-two.md" in result.stderr
    assert cru("workflow", "show", "simple-pipeline").exit_code == 2
