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


TASKS = """```tasks
[
  {"id": "1", "content": "Write it", "status": "completed", "priority": "high", "completed": "2026-11-21T20:27:00Z"},
  {"id": "a_b", "content": "Test it", "status": "pending", "depends_on": ["1"], "owner": "me"}
]
```
"""


def test_tasks_as_json_become_a_list_and_nothing_else_changes(cru: Cru, vault: Vault) -> None:
    text = OLD.replace("# Fix it\n", f"# Fix it\n\nMine, ```tasks``` too.\n\n{TASKS}\n## Work\n\n- [ ] mine\n")
    note = vault.create("s1", text)
    dry = cru("doctor", "--fix", "tasks", "--dry-run")
    assert (dry.exit_code, note.path.read_text()) == (0, text)
    assert "+- Pending: Test it (id a_b, after 1, `" in dry.stdout
    assert cru("doctor", "--fix", "tasks", "--yes").exit_code == 0
    fixed = vault.load("s1")
    assert fixed.session == note.session
    assert fixed.source.text.partition("### Tasks")[0] == text.partition("```tasks\n")[0]
    assert fixed.source.text.endswith("\n\n## Work\n\n- [ ] mine\n")
    assert "tasks: nothing to fix" in cru("doctor", "--fix", "tasks", "--yes").stderr


def test_an_open_checkbox_in_an_ended_session_is_taken_away(cru: Cru, vault: Vault) -> None:
    note = vault.create("s1", OLD + "\n### Tasks\n\n- [ ] Test it (in progress) ^task-1\n")
    assert "cru doctor --fix tasks" in cru("doctor").stdout
    assert cru("doctor", "--fix", "tasks", "--yes").exit_code == 0
    assert note.path.read_text() == OLD + "\n### Tasks\n\n- In progress: Test it ^task-1\n"


def test_json_stays_where_the_settings_want_it(cru: Cru, vault: Vault) -> None:
    note = vault.create("s1", OLD + f"\n{TASKS}")
    (vault.root / ".crucible" / "config.toml").write_text('[sessions]\ntasks = "json"\n')
    assert "tasks: nothing to fix" in cru("doctor", "--fix", "tasks", "--yes").stderr
    assert note.path.read_text() == OLD + f"\n{TASKS}"


def test_tasks_that_are_no_json_are_left_and_named(cru: Cru, vault: Vault) -> None:
    vault.create("s1", OLD + "\n```tasks\n[{]\n```\n")
    ran = cru("doctor", "--fix", "tasks", "--yes")
    assert (ran.exit_code, "sessions/s1.md: " in ran.stderr) == (3, True)
