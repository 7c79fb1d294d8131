"""`cru session brief` as a user meets it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crucible.vault.notes.vault import Vault
from tests.paths import TESTS
from tests.running import Cru, CruProcess

ID = "2026-11-21-add"
NOTE = f"""---
type: session
session_id: {ID}
started: 2026-11-21T20:00:00Z
status: active
---

# Add a limiter

## One @claude-code

> [!user]
> "Add a limiter, without a new dependency"

> [!decision]
> Token bucket.

It works.

---

## Two @claude-code

Still at it.
"""
TEXT = """**Decisions**
- Token bucket.

**Results**
- One: It works.
"""


@pytest.fixture
def path(vault: Vault) -> Path:
    path = vault.sessions / f"{ID}.md"
    path.write_text(NOTE, encoding="utf-8")
    return path


def test_a_brief_is_written_and_printed_and_written_once(cru: Cru, path: Path) -> None:
    first = cru("session", "brief", "2026-11-21")
    assert (first.exit_code, first.stdout, first.stderr) == (0, TEXT, "")
    written = path.read_text(encoding="utf-8")
    assert '# Add a limiter\n\n> [!abstract] Brief\n> Covers: phase-1 "One"\n>\n> **Decisions**\n' in written
    assert cru("session", "brief", ID).stdout == TEXT
    assert path.read_text(encoding="utf-8") == written


def test_print_shows_what_stands_there_and_changes_nothing(cru: Cru, path: Path) -> None:
    before = cru("session", "brief", ID, "--print")
    assert (before.exit_code, before.stdout) == (0, "")
    assert "no brief" in before.stderr
    assert path.read_text(encoding="utf-8") == NOTE
    cru("session", "brief", ID)
    assert cru("session", "brief", ID, "--print").stdout == TEXT


def test_the_session_may_come_from_the_environment(cru: Cru, path: Path) -> None:
    assert cru("session", "brief", env={"CRU_SESSION": ID}).stdout == TEXT
    none = cru("session", "brief")
    assert none.exit_code == 2
    assert "Name one: " in none.stderr


def test_json_tells_how_far_it_reaches(cru: Cru, path: Path) -> None:
    told = json.loads(cru("session", "brief", ID, "--format", "json").stdout)
    assert told == {
        "schema": 1,
        "session": ID,
        "brief": TEXT.rstrip("\n"),
        "covers": 'phase-1 "One"',
        "phases_covered": 1,
        "phases": 2,
        "changed": True,
    }


def test_a_vaults_settings_cannot_name_a_program(cru: Cru, path: Path, vault: Vault) -> None:
    asked = path.with_suffix(".asked")
    (vault.root / ".crucible" / "config.toml").write_text(f'[agents]\ncommand = "touch {asked}"\n')
    assert cru("session", "brief", ID).stdout == TEXT
    assert not asked.exists()


def test_a_session_without_phases_or_that_is_not_there(cru: Cru, path: Path) -> None:
    path.write_text(NOTE.partition("## One")[0])
    empty = cru("session", "brief", ID)
    assert (empty.exit_code, empty.stdout) == (0, "")
    assert "no brief" in empty.stderr
    assert cru("session", "brief", "nowhere").exit_code == 1


def test_as_a_process_of_its_own(cru_process: CruProcess, vault: Vault, path: Path) -> None:
    done = cru_process("--vault", vault.root, "session", "brief", ID)
    assert (done.returncode, done.stdout, done.stderr) == (0, TEXT.encode(), b"")


def test_several_at_once_and_an_editor_leave_one_brief(cru_process: CruProcess, vault: Vault, path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(cru_process, "--vault", vault.root, "session", "brief", ID) for _ in range(4)]
        logged = pool.submit(cru_process, "--vault", vault.root, "record", "prose", "And more.", "--session", ID)
    assert [run.result().returncode for run in runs] == [0] * 4
    assert logged.result().returncode == 0
    text = path.read_text(encoding="utf-8")
    assert text.count("> [!abstract] Brief") == text.count("And more.") == 1


TRUNK = next((TESTS / "data/transcripts/claude-code/limiter").rglob("dc14014e-*.jsonl"))


def test_an_import_leaves_the_brief_alone_and_goes_on_below_it(cru: Cru, vault: Vault, tmp_path: Path) -> None:
    rows = TRUNK.read_bytes().splitlines(keepends=True)
    log = tmp_path / TRUNK.name
    log.write_bytes(b"".join(rows))
    whole = _imported(cru, vault, log)
    expected = whole.read_bytes()
    whole.unlink()
    asked = [at for at, row in enumerate(rows) if b'"type":"user"' in row]
    log.write_bytes(b"".join(rows[: asked[-1]]))
    note = _imported(cru, vault, log)
    cru("session", "brief", note.stem)
    brief = _brief_lines(note)
    assert brief, "all but the end of the log has a whole phase"
    log.write_bytes(b"".join(rows))
    assert _imported(cru, vault, log) == note
    assert _brief_lines(note) == brief
    told = note.read_bytes().replace(b"\n".join(brief) + b"\n\n", b"", 1)
    assert told.partition(b"\n# ")[2] == expected.partition(b"\n# ")[2]
    before = note.read_bytes()
    _imported(cru, vault, log)
    assert note.read_bytes() == before
    cru("session", "brief", note.stem)
    after = note.read_bytes()
    _imported(cru, vault, log)
    assert note.read_bytes() == after


def _imported(cru: Cru, vault: Vault, log: Path) -> Path:
    assert cru("import", "claude-code", log).exit_code in (0, 3)
    return min(vault.sessions.rglob("*.md"), key=lambda path: len(path.name))


def _brief_lines(note: Path) -> list[bytes]:
    lines = note.read_bytes().split(b"\n")
    if b"> [!abstract] Brief" not in lines:
        return []
    first = lines.index(b"> [!abstract] Brief")
    return lines[first : lines.index(b"", first)]
