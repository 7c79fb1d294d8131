"""`cru doctor --fix format` counts and converts notes of an older format without changing what they say."""

from __future__ import annotations

import json

from crucible.documents.markdown.source import Source
from crucible.documents.session.session_reader import read_session
from crucible.vault.notes.vault import Vault
from tests.running import Cru

OLD = """---
type: session
session_id: {id}
started: 2026-11-21T20:26:47Z
status: completed
---

# Fix it

## Fix it

See [the other](2026-11-20-other.md), \\#tag, #todo and [[2026-11-20-other]].

**Tool calls:**
- `Bash ls` → <% x %>
"""
HISTORY = """---
type: history
session_id: s1
---

# Fix it

## What We Did

- Renamed `= x` to #y
"""


def _formats(cru: Cru) -> dict[str, object]:
    found = json.loads(cru("doctor", "--format", "json").stdout)["checks"]
    return next(each for each in found if each["topic"] == "format")


def test_old_notes_are_counted_converted_and_say_the_same(cru: Cru, vault: Vault) -> None:
    old = {"s1": OLD.format(id="s1"), "s2": OLD.format(id="s2") + "\n## B\n\nSummary: \\= x\n"}
    for name, text in old.items():
        vault.create(name, text)
    history = vault.root / "history/s1.md"
    history.parent.mkdir(exist_ok=True)
    history.write_text(HISTORY, "utf-8")
    assert _formats(cru)["fix"] == "cru doctor --fix format"

    done = cru("doctor", "--fix", "format", "--yes")
    assert "format: fixed 3 files" in done.stderr
    assert _formats(cru)["state"] == "good"
    for name, text in old.items():
        new = vault.load(name).source
        assert read_session(new, name) == read_session(Source(text), name)
        assert "[the other]\\(2026-11-20-other.md), \\\\\\#tag, \\#todo and [[2026-11-20-other]]." in new.text
        assert "<%" not in new.text
    assert "`\\= x` to \\#y" in history.read_text("utf-8")
    assert "format: nothing to fix" in cru("doctor", "--fix", "format").stderr


def test_links_of_an_agent_are_no_broken_links(cru: Cru, vault: Vault) -> None:
    vault.create("s1", OLD.format(id="s1").replace(" and [[2026-11-20-other]]", ""))
    assert "2026-11-20-other" not in cru("session", "check", "s1").stdout
    cru("doctor", "--fix", "format", "--yes")
    assert "2026-11-20-other" not in cru("session", "check", "s1").stdout
    person = vault.load("s1").source.text + "\nMine: [see](nowhere.md)\n"
    vault.load("s1").path.write_text(person, "utf-8")
    assert "broken-link" in cru("session", "check", "s1").stdout


def test_what_a_project_is_called_is_no_link(cru: Cru) -> None:
    assert cru("record", "start", "M", "--project", "[[nowhere]]", "--agent", "a@1").exit_code == 0
    assert cru("session", "check").exit_code == 0
    assert json.loads(cru("session", "list", "--format", "json").stdout)["sessions"][0]["project"] == "[[nowhere]]"
