"""`cru history`: what sessions came to, listed, shown, found, and removed where it can be brought back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.memory.history.history import Capture, Captures, HistoryEntry, HistoryLine
from crucible.memory.history.history_folder import keep_entry
from crucible.vault.notes.vault import Vault
from tests.git_repositories import commit, git
from tests.journeys.notes import note
from tests.running import Cru

NOW = datetime.now(UTC)


def kept(vault: Vault, days: int, **more: object) -> str:
    started = NOW - timedelta(days=days)
    entry = HistoryEntry(f"{started:%Y-%m-%d}-s{days}", started=started, **more)  # type: ignore[arg-type]
    keep_entry(vault, entry)
    return entry.session_id


@pytest.fixture
def names(vault: Vault) -> list[str]:
    captures = Captures(approved=(Capture("decision", "token-bucket", "Token bucket"),))
    return [
        kept(
            vault,
            1,
            agent="coder@1",
            project="shop",
            decisions=(HistoryLine("Token bucket", "Constant memory", ("See the ADR",)),),
        ),
        kept(
            vault,
            3,
            agent="codex",
            captures=captures,
            questions=(HistoryLine("Retry?"),),
            files_modified=("src/a.py",),
        ),
        kept(vault, 400, title="Long ago"),
    ]


@pytest.fixture
def trash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The system's trash, in a folder."""
    folder = tmp_path / "trash"
    folder.mkdir()
    monkeypatch.setattr("send2trash.send2trash", lambda path: Path(path).rename(folder / Path(path).name))
    return folder


def listed(cru: Cru, *words: str) -> list[str]:
    ran = cru("history", *words, "--format", "json")
    assert ran.exit_code == 0, ran.output
    return [row["id"] for row in json.loads(ran.stdout)["histories"]]


def test_it_is_listed_newest_first_and_narrowed(cru: Cru, names: list[str]) -> None:
    assert listed(cru, "list") == names
    assert listed(cru, "list", "--since", "30d") == names[:2]
    assert listed(cru, "list", "--until", "2d") == names[1:]
    assert listed(cru, "list", "--agent", "coder") == names[:1]
    assert listed(cru, "list", "--captures") == [names[1]]
    assert listed(cru, "list", "--no-captures", "-n", "1") == names[:1]
    assert listed(cru, "list", "--project", "shop") == names[:1]


def test_a_table_has_counts(cru: Cru, names: list[str]) -> None:
    rows = cru("history", "list").stdout.split("\n")
    assert rows[0].split() == [
        "started",
        "id",
        "agent",
        "duration",
        "done",
        "decided",
        "open",
        "captures",
        "title",
    ]
    assert rows[2].split()[1:] == [names[1], "codex", "-", "0", "0", "1", "1", names[1]]


def test_a_vault_without_history_says_so(cru: Cru) -> None:
    ran = cru("history", "list")
    assert (ran.exit_code, "No matching history" in ran.stderr) == (0, True)
    assert listed(cru, "search", "x") == []
    assert cru("history", "prune", "--yes").exit_code == 0
    shown = cru("history", "show", "2026-01-01-x")
    assert (shown.exit_code, 'no history or session matches "2026-01-01-x"' in shown.stderr) == (1, True)


def test_a_search_finds_every_word(cru: Cru, names: list[str]) -> None:
    assert listed(cru, "search", "CONSTANT", "bucket") == names[:1]
    assert listed(cru, "search", "bucket") == names[:2]
    assert listed(cru, "search", "a.py", "-n", "1") == [names[1]]


def test_one_is_shown_as_it_is_and_as_facts(cru: Cru, vault: Vault, names: list[str]) -> None:
    note = (vault.root / "history" / f"{names[0]}-history.md").read_bytes()
    shown = cru("history", "show", names[0][:-1]).stdout_bytes
    assert note.startswith(shown.removesuffix(b"\n"))
    assert note[len(shown) :].startswith(b"\n<!-- crucible wrote: ")
    told = json.loads(cru("history", "show", names[0], "--format", "json").stdout)["histories"][0]
    assert told["decisions_made"] == [
        {"text": "Token bucket", "why": "Constant memory", "points": ["See the ADR"], "finding": None}
    ]
    assert told["agent"] == "coder@1"


def test_a_note_that_is_none_is_named(cru: Cru, vault: Vault, names: list[str]) -> None:
    (vault.root / "history" / "mine.md").write_text("# Mine\n")
    ran = cru("history", "list", "--format", "json")
    assert (ran.exit_code, len(json.loads(ran.stdout)["histories"])) == (3, len(names))
    assert "history/mine.md:1: no-history: type is not `history`" in ran.stderr


def test_what_would_go_is_named_and_nobody_is_asked_without_a_terminal(
    cru: Cru, vault: Vault, names: list[str]
) -> None:
    ran = cru("history", "prune", "--dry-run")
    assert (ran.exit_code, ran.stdout) == (0, f"history/{names[2]}-history.md\n")
    asked = cru("history", "prune")
    assert (asked.exit_code, "--yes" in asked.stderr) == (2, True)
    assert len(list((vault.root / "history").iterdir())) == 3


def test_without_git_it_goes_into_the_trash(cru: Cru, vault: Vault, names: list[str], trash: Path) -> None:
    ran = cru("history", "prune", "--yes", "--max-entries", "1")
    assert ran.exit_code == 0
    assert "removed 2 histories: 2 in the trash" in ran.stderr
    assert sorted(path.stem for path in trash.iterdir()) == sorted(f"{name}-history" for name in names[1:])
    assert [path.stem for path in (vault.root / "history").iterdir()] == [f"{names[0]}-history"]


def test_what_git_has_is_removed_and_what_was_changed_since_goes_into_the_trash(
    cru: Cru, vault: Vault, names: list[str], trash: Path
) -> None:
    git(vault.root, "init", "-q")
    commit(vault.root)
    changed = vault.root / "history" / f"{names[1]}-history.md"
    changed.write_text(changed.read_text() + "\nMine.\n")
    ran = cru("history", "prune", "--yes", "--max-entries", "1")
    assert "removed 2 histories: 1 still in git, 1 in the trash" in ran.stderr
    assert [path.stem for path in trash.iterdir()] == [f"{names[1]}-history"]
    git(vault.root, "checkout", "-q", "--", "history")
    assert len(list((vault.root / "history").iterdir())) == 3


def test_what_nobody_could_bring_back_stays(
    cru: Cru, vault: Vault, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("send2trash.send2trash", full)
    ran = cru("history", "prune", "--yes")
    assert ran.exit_code == 3
    assert (
        f"{names[2]}-history.md: not removed: it is not in git, and moving it to the trash failed: Permission denied"
        in ran.stderr
    )
    assert len(list((vault.root / "history").iterdir())) == 3


def test_a_session_without_a_history_is_composed_and_nothing_is_written(cru: Cru, vault: Vault) -> None:
    vault.create("2026-11-21-queue", note("2026-11-21-queue", "## A\n\n> [!decision]\n> Use Postgres\n"))
    shown = cru("history", "show", "2026-11-21-q")
    assert (shown.exit_code, "- **Use Postgres**\n" in shown.stdout) == (0, True)
    assert "<!-- crucible" not in shown.stdout
    told = json.loads(cru("history", "show", "2026-11-21-queue", "--format", "json").stdout)["histories"][0]
    assert [one["text"] for one in told["decisions_made"]] == ["Use Postgres"]
    assert not (vault.root / "history").exists()


def test_a_history_of_edi_is_shown_listed_found_and_pruned(cru: Cru, vault: Vault, trash: Path) -> None:
    path = vault.root / "history" / "2026-01-24-a1b2c3d4.md"
    path.parent.mkdir(parents=True)
    path.write_text(
        "---\nsession_id: a1b2c3d4\ndate: 2026-01-24\nstart_time: '09:15:00'\nagent: coder\n---\n\n"
        "# Session Summary\n\n## What We Did\n\n1. **Implemented user profile API** (task-001)\n"
    )
    assert cru("history", "show", "a1b2c3d4").stdout_bytes == path.read_bytes()
    assert listed(cru, "list", "--since", "2026-01-24", "--until", "2026-01-24") == ["a1b2c3d4"]
    assert listed(cru, "search", "profile", "task-001") == ["a1b2c3d4"]
    assert cru("history", "prune", "--yes", "--older-than", "1").exit_code == 0
    assert not path.exists()
