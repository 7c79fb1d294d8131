"""`cru doctor --fix`: shows, asks, changes, and says what it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.running import Cru

OLD = """---
type: session
session_id: s1
started: 2026-11-21T20:26:47Z
status: completed
sources:
  - claude-code:a
format: 2
---

# Fix it
"""


@pytest.fixture
def note(vault: Vault) -> Path:
    return vault.create("s1", OLD).path


def test_a_dry_run_shows_the_difference_and_changes_nothing(cru: Cru, note: Path) -> None:
    ran = cru("doctor", "--fix", "properties", "--dry-run")
    assert (ran.exit_code, note.read_text()) == (0, OLD)
    assert "+title: Fix it\n" in ran.stdout
    assert "-sources:\n" in ran.stdout
    assert "properties: 1 file would change\n" in ran.stderr


def test_without_a_terminal_it_wants_a_yes(cru: Cru, note: Path) -> None:
    ran = cru("doctor", "--fix", "properties")
    assert (ran.exit_code, note.read_text()) == (2, OLD)
    assert "--dry-run" in ran.stderr


def test_a_yes_changes_and_says_how_many(cru: Cru, note: Path) -> None:
    assert "cru doctor --fix properties" in cru("doctor").stdout
    ran = cru("doctor", "--fix", "all", "--yes")
    assert (ran.exit_code, "properties: fixed 1 file\n" in ran.stderr) == (0, True)
    assert note.read_text().endswith("<!-- crucible\nsources:\n  - claude-code:a\n-->\n")
    again = cru("doctor", "--fix", "all", "--yes")
    assert (again.exit_code, "fixed" in again.stderr) == (0, False)
    assert cru("session", "list", "--format", "paths").stdout.endswith("sessions/s1.md\n")


def test_what_cannot_be_fixed_is_named_and_is_a_problem(cru: Cru, note: Path) -> None:
    text = OLD + "\n<!-- crucible\nsources:\n  - claude-code:b\n-->\n"
    note.write_text(text)
    ran = cru("doctor", "--fix", "properties", "--yes")
    assert (ran.exit_code, note.read_text()) == (3, text)
    assert "sessions/s1.md: 'sources' is in the frontmatter and at the end, with two values" in ran.stderr
