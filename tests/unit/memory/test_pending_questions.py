"""Pending items are found in the index and read from their notes."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from crucible.memory.pending_questions import (
    PendingItem,
    PendingKind,
    items_of,
    notes_with_items,
    read_items,
    without_repeats,
)
from crucible.vault.index.index import Index
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Note, Vault

NOTE = """\
---
type: session
started: {day}T20:26:47Z
project: {project}
status: active
---

> [!decision_needed] Now?

# A title

## One

> [!error]
> {text}

### Part

started:: {day}T21:00:00Z

> [!task_complete] All in
> With **tests**.
"""


def note(vault: Vault, name: str, project: str = "shop", text: str = "No disk.") -> None:
    vault.create(name, NOTE.format(day=name[:10], project=project, text=text))


def view(vault: Vault) -> View:
    return Index(vault.root, vault.settings).refresh().view


def waiting(vault: Vault, seen: View, *, project: str = "", limit: int | None = None) -> list[PendingItem]:
    items = read_items(vault, notes_with_items(seen, project), lambda _: None)
    return list(islice(without_repeats(one for one in items if not one.answered), limit))


def test_an_item_has_its_phase_and_line(vault: Vault) -> None:
    note(vault, "2026-11-21-add")
    first, error, done = waiting(vault, view(vault))
    assert (first.kind, first.title, first.phase) == (PendingKind.DECISION, "Now?", "")
    assert (error.kind, error.text, error.phase, error.line) == (PendingKind.ERROR, "No disk.", "phase-1", 14)
    assert (done.title, done.text, done.phase) == ("All in", "With **tests**.", "phase-1.1")
    assert (done.at and done.at.isoformat(), done.project) == ("2026-11-21T21:00:00+00:00", "shop")
    assert {one.path for one in (first, error, done)} == {"sessions/2026-11-21-add.md"}


def test_a_limit_opens_no_more_notes_than_it_asks_for(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    for day in range(10, 20):
        note(vault, f"2026-11-{day}-add", project="blog" if day == 15 else "shop")
    seen = view(vault)
    read = Vault.read
    opened: list[str] = []

    def noted(self: Vault, path: Path) -> Note:
        opened.append(path.name)
        return read(self, path)

    monkeypatch.setattr(Vault, "read", noted)
    assert [one.session for one in waiting(vault, seen, limit=4)] == ["2026-11-19-add"] * 3 + ["2026-11-18-add"]
    assert len(opened) == 2
    assert {one.session for one in waiting(vault, seen, project="BLOG")} == {"2026-11-15-add"}
    assert len(opened) == 3


def test_a_note_that_changed_since_is_read_as_it_is_now(vault: Vault) -> None:
    for name in ("2026-11-21-add", "2026-11-22-gone", "2026-11-23-mended"):
        note(vault, name)
    seen = view(vault)
    vault.find("2026-11-22-gone").unlink()
    path = vault.find("2026-11-23-mended")
    path.write_text(path.read_text().replace("No disk.", "No disk.\n> Resolution: one more."))
    found = waiting(vault, seen)
    assert {one.session for one in found} == {"2026-11-21-add", "2026-11-23-mended"}
    assert sum(one.kind is PendingKind.ERROR for one in found) == 1


def test_index_and_notes_agree_on_pending_items(vault: Vault) -> None:
    note(vault, "2026-11-21-add", text='a,error,1,"b'.replace("\n", " "))
    note(vault, "2026-11-22-add", text="No disk.\n> Resolution: one more.")
    rows = [row for row in view(vault).rows("callouts") if row["waits"] is not None]
    told = {
        (one.path, one.line): int(not one.answered)
        for name in ("2026-11-21-add", "2026-11-22-add")
        for one in items_of(vault.load(name), f"sessions/{name}.md")
    }
    assert {(row["path"], row["line"]): row["waits"] for row in rows} == told
