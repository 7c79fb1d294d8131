"""`cru import --refresh`: notes that an older version wrote get what this one writes; what a human did stays.

`tests/data/recording1` holds the notes of the two real transcripts as the version before `recording: 2` wrote them.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from crucible.documents.session.session import RECORDING, Decision
from crucible.vault.notes.vault import Vault
from tests.unit.commands.imports.places import DATA, REAL, bytes_of, make_vault, notes_of, run_import

OLD = DATA / "recording1"
NAMES = sorted(path.stem for path in OLD.glob("*.md"))


@pytest.fixture
def old(tmp_path: Path) -> Vault:
    vault = make_vault(tmp_path / "old")
    for path in OLD.glob("*.md"):
        shutil.copy(path, vault.sessions / path.name)
    return vault


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> Vault:
    vault = make_vault(tmp_path_factory.mktemp("new") / "vault")
    run_import(vault, REAL)
    return vault


def blocks_of(text: str) -> list[str]:
    """The note in pieces: what stands above the phases, then each phase."""
    return re.split(r"(?m)^(?=## )", text)


def test_untouched_notes_say_afterwards_what_a_first_import_writes(old: Vault, new: Vault) -> None:
    report = run_import(old, REAL, refresh=True)
    assert sorted(report.updated) == NAMES
    assert {n: note.session for n, note in notes_of(old).items()} == {
        n: note.session for n, note in notes_of(new).items()
    }


def test_without_the_option_nothing_changes(old: Vault) -> None:
    before = bytes_of(old)
    report = run_import(old, REAL)
    assert (report.updated, len(report.unchanged)) == ((), len(NAMES))
    assert {name: text for name, text in bytes_of(old).items() if name in before} == before


def test_a_second_refresh_changes_no_byte(old: Vault) -> None:
    run_import(old, REAL, refresh=True)
    before = bytes_of(old)
    report = run_import(old, REAL, refresh=True)
    assert report.updated == ()
    assert bytes_of(old) == before


def test_a_dry_run_says_what_would_be_refreshed_and_writes_nothing(old: Vault) -> None:
    before = bytes_of(old)
    assert sorted(run_import(old, REAL, refresh=True, dry_run=True).updated) == NAMES
    assert bytes_of(old) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_phase_that_a_human_edited_keeps_its_bytes(old: Vault, name: str) -> None:
    path = old.sessions / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    for at, block in enumerate(blocks_of(text)):
        if not at:
            continue
        for line in (line for line in block.split("\n")[1:] if re.search(r"[a-z]{3}", line) and "::" not in line):
            if re.match(r"> (\[!|mode:|\[\[)", line) or line == "**Tool calls:**":
                continue
            edited = block.replace(line, f"{line} by me", 1)
            path.write_text(text.replace(block, edited), encoding="utf-8")
            run_import(old, REAL, refresh=True)
            assert blocks_of(path.read_text(encoding="utf-8"))[at] == edited


@pytest.mark.parametrize("name", NAMES)
def test_what_a_human_deleted_does_not_come_back(old: Vault, name: str) -> None:
    path = old.sessions / f"{name}.md"
    text = path.read_text(encoding="utf-8")
    blocks = blocks_of(text)
    for at, block in enumerate(blocks):
        if not at:
            continue
        for part in block.split("\n\n")[2:]:
            if not part.strip() or part.strip() == "---" or part.startswith("started::"):
                continue
            path.write_text(text.replace(part, "", 1), encoding="utf-8")
            run_import(old, REAL, refresh=True)
            assert part.strip() not in blocks_of(path.read_text(encoding="utf-8"))[at]
    path.write_text("".join(blocks[:-1]), encoding="utf-8")
    run_import(old, REAL, refresh=True)
    assert len(blocks_of(path.read_text(encoding="utf-8"))) <= len(blocks[:-1])


def test_a_decision_that_was_deleted_after_a_refresh_stays_out(old: Vault) -> None:
    run_import(old, REAL, refresh=True)
    for path in old.session_paths():
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(?m)^> \[!decision\]\n(?:>.*\n)+\n?", "", text), encoding="utf-8")
    run_import(old, REAL, refresh=True)
    entries = [entry for note in notes_of(old).values() for entry in note.session.all_entries()]
    assert not [entry for entry in entries if isinstance(entry, Decision)]


def test_a_refreshed_note_and_a_new_one_say_how_they_were_recorded(old: Vault, new: Vault) -> None:
    run_import(old, REAL, refresh=True)
    for vault in (old, new):
        assert {note.session.properties.get("recording") for note in notes_of(vault).values()} == {RECORDING}
