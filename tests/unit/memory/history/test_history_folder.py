"""The folder of histories: notes are written, updated, listed, searched and pruned."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.core.errors import BadSessionId, CrucibleError, EditRefused
from crucible.memory.history.history import Capture, Captures, HistoryEntry, HistoryLine
from crucible.memory.history.history_folder import (
    HistoryFilter,
    keep_entry,
    list_entries,
    load_entries,
    prune,
    search_entries,
    too_many,
)
from crucible.vault.notes.vault import Vault

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def entry(day: int, **more: object) -> HistoryEntry:
    started = NOW - timedelta(days=day)
    return HistoryEntry(f"{started:%Y-%m-%d}-s{day}", started=started, **more)  # type: ignore[arg-type]


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    (tmp_path / ".crucible").mkdir()
    return Vault(tmp_path.resolve())


def names(vault: Vault, wish: HistoryFilter) -> list[str]:
    return [
        one.note.name.removesuffix("-history").rpartition("-")[2] for one in list_entries(load_entries(vault), wish)
    ]


def test_an_entry_is_a_note_and_then_brought_up_to_date(place: Vault) -> None:
    path = keep_entry(place, entry(1, tokens=7))
    assert path == place.root / "history" / "2026-11-21-s1-history.md"
    path.write_text(path.read_text().replace("<!-- crucible", "## Open Questions\n\n- Mine\n\n<!-- crucible"))
    keep_entry(place, entry(1, tokens=9, questions=(HistoryLine("Retry?"),)))
    [one] = load_entries(place)
    assert one.entry == entry(1, tokens=9, questions=(HistoryLine("Mine"), HistoryLine("Retry?")))


def test_a_note_of_another_kind_is_not_written_over(place: Vault) -> None:
    path = place.root / "history" / "2026-11-21-s1-history.md"
    path.parent.mkdir()
    path.write_text("# Mine\n")
    with pytest.raises(EditRefused):
        keep_entry(place, entry(1))
    assert path.read_text() == "# Mine\n"


def test_an_id_that_leads_elsewhere_writes_nothing(place: Vault) -> None:
    with pytest.raises(BadSessionId):
        keep_entry(place, replace(entry(1), session_id="../x"))


def test_a_file_in_place_of_the_folder_is_reported(place: Vault) -> None:
    (place.root / "history").write_text("")
    with pytest.raises(CrucibleError):
        keep_entry(place, entry(1))


def test_a_vault_without_history_has_none(place: Vault) -> None:
    assert list(load_entries(place)) == []


def test_entries_are_listed_by_time_agent_project_and_captures(place: Vault) -> None:
    kept = Captures(approved=(Capture("decision"),))
    for one in (entry(1, agent="codex@1"), entry(5, project="shop"), entry(3, captures=kept)):
        keep_entry(place, one)
    assert names(place, HistoryFilter()) == ["s1", "s3", "s5"]
    assert names(place, HistoryFilter(limit=2)) == ["s1", "s3"]
    assert names(place, HistoryFilter(since=NOW - timedelta(days=3))) == ["s1", "s3"]
    assert names(place, HistoryFilter(until=NOW - timedelta(days=3))) == ["s5"]
    assert names(place, HistoryFilter(agent="Codex")) == ["s1"]
    assert names(place, HistoryFilter(agent="codex@2")) == []
    assert names(place, HistoryFilter(project="Shop")) == ["s5"]
    assert names(place, HistoryFilter(captures=True)) == ["s3"]
    assert names(place, HistoryFilter(captures=False)) == ["s1", "s5"]


def test_a_search_finds_entries_with_every_word(place: Vault) -> None:
    keep_entry(place, entry(1, decisions=(HistoryLine("Token bucket", "Constant memory"),)))
    keep_entry(place, entry(2, decisions=(HistoryLine("Token list"),)))
    found = search_entries(load_entries(place), "MEMORY token")
    assert [one.note.name.removesuffix("-history") for one in found] == ["2026-11-21-s1"]


def test_beyond_the_limits_are_those_too_old_and_those_too_many_the_oldest_first(place: Vault) -> None:
    for day in (1, 2, 3, 400):
        keep_entry(place, entry(day))
    (place.root / "history" / "2020-01-01-odd.md").write_text("# Mine\n")

    def beyond(*limits: int) -> list[str]:
        return [
            one.note.name.removesuffix("-history")[-4:].rpartition("-")[2]
            for one in too_many(load_entries(place), NOW, *limits)
        ]

    assert beyond(100, 365) == ["s400"]
    assert beyond(2, 365) == ["s400", "s3"]
    assert beyond(0, 0) == []


def test_pruning_keeps_notes_that_changed_meanwhile(place: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("send2trash.send2trash", lambda path: Path(path).unlink())
    for day in (1, 2):
        keep_entry(place, entry(day))
    notes = [*load_entries(place)]
    changed = notes[0].note.path
    changed.write_text(changed.read_text() + "\nMine.\n")
    gone, wrong = list[Path](), list[CrucibleError]()
    prune(place, notes, lambda path, _: gone.append(path), wrong.append)
    assert (gone, wrong) == ([notes[1].note.path], [])
    assert (changed.exists(), notes[1].note.path.exists()) == (True, False)


def test_any_number_of_days_works_and_undated_notes_stay(place: Vault) -> None:
    for day in (1, 400):
        keep_entry(place, entry(day))
    keep_entry(place, HistoryEntry("limiter"))

    def beyond(days: int) -> list[str]:
        return [one.note.name.removesuffix("-history") for one in too_many(load_entries(place), NOW, 0, days)]

    assert beyond(10**12) == beyond(800_000) == []
    assert beyond(365) == ["2025-10-18-s400"]


def test_the_note_leads_to_the_session_and_not_to_itself(place: Vault) -> None:
    text = keep_entry(place, entry(1), place="sessions/deep/2026-11-21-s1.md").read_text()
    assert "From [[sessions/deep/2026-11-21-s1|2026-11-21-s1]]." in text
    odd = keep_entry(place, entry(2), place="sessions/a]]b/2026-11-20-s2.md").read_text()
    assert "From [[sessions/2026-11-20-s2|2026-11-20-s2]]." in odd


def test_a_note_that_is_refused_is_named(place: Vault) -> None:
    path = place.root / "history" / "2026-11-21-s1-history.md"
    path.parent.mkdir()
    path.write_text("Mine.")
    with pytest.raises(EditRefused, match=r"history/2026-11-21-s1-history\.md: line 1"):
        keep_entry(place, entry(1))
