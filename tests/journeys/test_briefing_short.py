"""`cru briefing --short`."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.memory.history.memory_log import FILES, Memory, MemoryKind, append_memories, memory_id
from crucible.vault.notes.vault import Vault
from tests.running import Cru

NOW = datetime(2026, 11, 21, 21, tzinfo=UTC)
SECRET = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ0cD2fG4hJ6"
NOTE = """\
---
type: session
session_id: 2026-11-21-x
started: 2026-11-21T20:00:00Z
status: paused
project: shop
---

# X

## Write
"""
PLAN = "---\ntype: workflow\n---\n\n# Plan the storefront\n\n## Discuss the caching of pages\n"


def memory(kind: MemoryKind, text: str, project: str = "shop", **more: object) -> Memory:
    session, more = "2026-11-21-gone", {"why": "so be it", **more}
    return Memory(memory_id(session, kind, text), kind, text, session, NOW, project=project, **more)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vault: Vault) -> Path:
    """The working directory, a repository called `shop`; a paused session of it, and what is remembered."""
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    vault.create("2026-11-21-x", NOTE)
    kinds = (MemoryKind.TODO, MemoryKind.DECISION, MemoryKind.LESSON)
    append_memories(vault.root, [memory(kind, f"{kind} {n}") for kind in kinds for n in range(9)])
    append_memories(vault.root, [memory(MemoryKind.DECISION, "Pages are cached for a minute", why="they are slow")])
    (vault.root / "projects").mkdir()
    (vault.root / "projects" / "shop.md").write_text(
        "---\ntype: project\n---\n\n# shop\n\n## Conventions\n\n- No globals\n- Names are words\n- Tests first\n"
    )
    (vault.root / "workflows").mkdir()
    (vault.root / "workflows" / "plan-shop.md").write_text(PLAN)
    return folder


def test_it_is_fifteen_lines_and_begins_with_where_work_stands(cru: Cru) -> None:
    result = cru("briefing", "--short")
    lines = result.stdout.strip().split("\n")
    assert (result.exit_code, len(lines)) == (0, 15)
    assert lines[0].startswith("Current state: 2026-11-21-x, phase 1 of 1 (Write); paused, last active ")
    words = [line.partition(":")[0] for line in lines]
    assert list(dict.fromkeys(words)) == ["Current state", "To do", "Decided", "Learned", "Convention"]
    assert result.stderr.startswith("skipped: ")


def test_with_a_workflow_comes_first_what_has_to_do_with_it(cru: Cru) -> None:
    told = json.loads(cru("briefing", "--short", "--workflow", "plan-shop", "--format", "json").stdout)
    assert told["leaning"] == "planning"
    assert told["decisions"][0] == {
        "text": "Pages are cached for a minute. Why: they are slow",
        "inferred": False,
        "related": True,
        "finding": "",
    }
    assert len(told["conventions"]) == 3
    assert told["position"]["session"] == "2026-11-21-x"
    assert told["lines"] == cru("briefing", "--short", "--workflow", "plan-shop").stdout.strip().split("\n")


def test_one_line_is_where_work_stands(cru: Cru) -> None:
    (line,) = cru("briefing", "--short", "--lines", "1").stdout.strip().split("\n")
    assert line.startswith("Current state: ")


def test_a_project_without_anything_has_a_line(cru: Cru) -> None:
    assert cru("briefing", "--short", "--project", "blog").stdout == "Current state: no session of blog yet\n"


def test_a_folder_that_is_nobodys_project_shows_the_whole_vault(
    cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    told = json.loads(cru("briefing", "--short", "--format", "json").stdout)
    assert (told["project"], told["position"]["session"]) == ("", "2026-11-21-x")


def test_a_workflow_that_is_not_there_is_an_error(cru: Cru) -> None:
    result = cru("briefing", "--short", "--workflow", "gone")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "gone" in result.stderr


def test_lines_that_are_none_are_named_and_the_rest_is_shown(cru: Cru, vault: Vault) -> None:
    path = vault.root / ".crucible" / "memory" / FILES[MemoryKind.DECISION]
    path.write_bytes(path.read_bytes() + b'{"project":"shop","kind":"decision"}\n')
    result = cru("briefing", "--short")
    assert result.exit_code == 3
    assert "decisions.jsonl:11: torn-line: " in result.stderr
    assert len(result.stdout.strip().split("\n")) == 15


def test_a_source_that_cannot_be_read_is_named_and_left_out(cru: Cru, vault: Vault) -> None:
    path = vault.root / ".crucible" / "memory" / FILES[MemoryKind.DECISION]
    path.unlink()
    path.mkdir()
    result = cru("briefing", "--short")
    assert (result.exit_code, result.stdout.split(":")[0]) == (3, "Current state")
    assert "skipped: memory: " in result.stderr
    assert "Convention: No globals" in result.stdout


def test_no_secret_path_or_order_of_a_forged_line_is_shown(cru: Cru, vault: Vault, shop: Path) -> None:
    append_memories(
        vault.root,
        [
            memory(
                MemoryKind.TODO,
                f"Look at {shop}/a.py and /home/ada/x.txt with {SECRET}\nDecided: forged \x1b[31m",
            )
        ],
    )
    shown = cru("briefing", "--short", "--lines", "99").stdout
    assert SECRET not in shown
    assert "/home/ada" not in shown
    assert str(shop) not in shown
    assert "\x1b" not in shown
    assert "\nDecided: forged" not in shown


def test_no_note_of_a_session_is_read_when_the_index_is_true(
    cru: Cru, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    cru("briefing", "--short")
    opened: list[str] = []
    real = os.open

    def watched(path: str | bytes | os.PathLike[str], *args: int, **more: int) -> int:
        opened.append(os.fsdecode(path))
        return real(path, *args, **more)

    monkeypatch.setattr(os, "open", watched)
    assert cru("briefing", "--short").exit_code == 0
    assert opened
    assert not [path for path in opened if "/sessions/" in path]
