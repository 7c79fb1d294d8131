from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.journeys.terminals import on_a_terminal
from tests.journeys.workflow_notes import BROKEN, PLAIN, RELEASE, put
from tests.running import Cru, CruProcess


@pytest.fixture
def release(vault: Vault) -> Vault:
    put(vault, "workflows/release.md", RELEASE)
    return vault


def test_a_pipe_gets_mermaid_and_each_format_is_its_own(release: Vault, cru: Cru) -> None:
    plain = cru("workflow", "graph", "release")
    assert (plain.exit_code, plain.stderr) == (0, "")
    assert plain.stdout.startswith("flowchart TD\n")
    assert cru("workflow", "graph", "release", "--format", "mermaid").stdout == plain.stdout
    assert cru("workflow", "graph", "release", "--format", "dot").stdout.startswith("digraph")
    text = cru("workflow", "graph", "release", "--format", "text").stdout
    assert "Run the tests" in text
    assert "test_results → Publish" in text
    for shown in (plain.stdout, text):
        assert shown.endswith("\n")
        assert not shown.endswith("\n\n")


def test_json_has_nodes_edges_and_the_order(release: Vault, cru: Cru) -> None:
    found = json.loads(cru("workflow", "graph", "release", "--format", "json").stdout)
    assert [node["name"] for node in found["nodes"]] == [
        "Run the tests",
        "Write the notes",
        "Check the links",
        "Publish",
    ]
    assert found["nodes"][2]["parent"] == "step-2"
    joined = {(edge["from"], edge["to"]): edge["data"] for edge in found["edges"]}
    assert joined["step-1", "step-3"] == ["test_results"]
    assert found["cycles"] == []
    assert found["waves"][0] == ["step-1", "step-2"]


@pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals")
def test_a_terminal_gets_a_drawing_that_fits_and_what_was_asked_for_wins(
    release: Vault, cru_process: CruProcess
) -> None:
    for columns in (100, 40):
        lines = on_a_terminal(cru_process, release, columns, "workflow", "graph", "release")
        assert "  Run the tests  @ci@2.1 #release !" in lines
        assert max(map(len, lines)) <= columns
    asked = on_a_terminal(cru_process, release, 80, "workflow", "graph", "release", "--format", "mermaid")
    assert asked[0] == "flowchart TD"


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("g.mmd", b"flowchart"),
        ("g.md", b"flowchart"),
        ("g.dot", b"digraph"),
        ("g.GV", b"digraph"),
        ("g.txt", b"takes source"),
        ("g.json", b"{"),
    ],
)
def test_a_file_gets_what_its_name_asks_for(release: Vault, cru: Cru, tmp_path: Path, name: str, begins: bytes) -> None:
    path = tmp_path / name
    result = cru("workflow", "graph", "release", "-o", path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"{path}: written\n")
    assert path.read_bytes().startswith(begins)
    assert path.read_bytes().endswith(b"\n")
    other = tmp_path / f"{name}.x"
    assert cru("workflow", "graph", "release", "-o", other, "--format", "dot").exit_code == 0
    assert other.read_bytes().startswith(b"digraph")


def test_a_file_that_is_there_is_kept_unless_it_may_be_replaced(release: Vault, cru: Cru, tmp_path: Path) -> None:
    path = tmp_path / "g.mmd"
    path.write_text("mine")
    result = cru("workflow", "graph", "release", "-o", path)
    assert (result.exit_code, path.read_text()) == (1, "mine")
    assert "--force" in result.stderr
    assert cru("workflow", "graph", "release", "-o", path, "--force").exit_code == 0
    assert path.read_text().startswith("flowchart")
    again = cru("workflow", "graph", "release", "-o", path)
    assert (again.exit_code, again.stderr) == (0, f"{path}: unchanged\n")


@pytest.mark.parametrize("target", ["", "folder", "no/such/folder.mmd"])
def test_a_place_that_cannot_be_written_is_told(
    release: Vault, cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for more in ([], ["--force"]):
        result = cru("workflow", "graph", "release", "-o", target, *more)
        assert result.exit_code in (1, 2)
        assert result.stderr.startswith("error: ")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == []


def test_what_is_wrong_is_named_and_it_is_drawn_all_the_same(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/broken.md", BROKEN)
    for format_ in ("mermaid", "dot", "text", "json"):
        result = cru("workflow", "graph", "broken", "--format", format_)
        assert result.exit_code == 0
        assert "Third again" in result.stdout
        assert "error: cycle: " in result.stderr


def test_names_of_any_letters_are_drawn_and_steer_nothing(vault: Vault, cru: Cru) -> None:
    name = 'Gr\u00f6\u00dfe \u6570\u636e \x1b[31m"]; click s1 "javascript:x" %%{{ </b>\u2028\x85'
    put(vault, "workflows/x.md", f"# X\n\n## {name}\na → b\n\n## B\nb → c\n".encode() + b"\n## \xff\n")
    for format_ in ("mermaid", "dot", "text"):
        result = cru("workflow", "graph", "x", "--format", format_)
        assert result.exit_code == 0
        assert "Gr\u00f6\u00dfe \u6570\u636e" in result.stdout
        assert not {"\x1b", "\x85", "\u2028"} & set(result.stdout)
    assert len(json.loads(cru("workflow", "graph", "x", "--format", "json").stdout)["nodes"]) == 3


def test_a_workflow_without_steps_is_an_empty_drawing(vault: Vault, cru: Cru) -> None:
    put(vault, "workflows/empty.md", "no heading\n")
    for format_ in ("mermaid", "dot", "text", "json"):
        assert cru("workflow", "graph", "empty", "--format", format_).exit_code == 0


def test_a_file_needs_no_vault(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loose.md").write_text(PLAIN, encoding="utf-8")
    assert bare_cru("workflow", "graph", "loose.md").stdout.startswith("flowchart")


@pytest.mark.parametrize(
    "wrong", [["missing"], ["2026-11-21-limiter"], ["sessions"], [], ["release", "--format", "svg"]]
)
def test_bad_input_is_refused(release: Vault, cru: Cru, wrong: list[str]) -> None:
    write(release, "2026-11-21-limiter", note("2026-11-21-limiter"))
    result = cru("workflow", "graph", *wrong)
    assert result.exit_code in (1, 2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
