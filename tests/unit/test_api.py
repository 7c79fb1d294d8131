"""The public API: its page runs, it is lazy, and it keeps the promises of the notes."""

from __future__ import annotations

import doctest
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import crucible
from tests.paths import DATA, ROOT

SECRET = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"
CHOICE = "2026-11-18-choose-a-search-index"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "vault-example", tmp_path / "vault-example")
    transcript = next((DATA / "transcripts/claude-code/retry/projects").glob("*/*.jsonl"))
    shutil.copy(transcript, tmp_path / "session.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vault(folder: Path) -> crucible.Vault:
    return crucible.open(folder / "vault-example")


def test_the_page_runs(folder: Path) -> None:
    found = doctest.testfile(str(ROOT / "docs/api.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 20
    assert found.failed == 0


def test_every_public_name_is_there_and_has_a_docstring() -> None:
    for name in crucible.__all__:
        assert getattr(crucible, name).__doc__, name
    assert not hasattr(crucible, "anything_else")


def test_the_page_names_every_public_name_and_only_attributes_that_exist() -> None:
    page = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    assert [
        name for name in crucible.__all__ if not re.search(rf"`(?:crucible\.)?{name}\b|crucible\.{name}\b", page)
    ] == []
    for names, attributes in re.findall(r"^\| (`[A-Z][^|]*) \| [^|]+ \| (.*) \|$", page, re.MULTILINE):
        values = [getattr(crucible, name) for name in re.findall(r"`(\w+)`", names)]
        set_in = ((*dir(value), *value.__annotations__, *value.__init__.__code__.co_names) for value in values)
        known = {each for names_of_one in set_in for each in names_of_one}
        assert set(re.findall(r"`(\w+)`", attributes)) - known == set(), names


def test_importing_loads_nothing_else() -> None:
    script = "import sys, crucible; print(*[m for m in sys.modules if m.startswith('crucible.')])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "\n"


def test_what_is_added_holds_no_secret(vault: crucible.Vault) -> None:
    phase = crucible.Phase("Deploy", entries=(crucible.Prose(f"the key is {SECRET}"),))
    note = vault.edit(CHOICE, crucible.add_phase(phase), crucible.set_property("note", [SECRET]))
    assert note.session.phases[-1].name == "Deploy"
    assert SECRET not in note.source.text


def test_an_edit_leaves_every_other_byte(vault: crucible.Vault) -> None:
    before = vault.note(CHOICE).data
    after = vault.edit(CHOICE, crucible.set_property("project", "library")).data
    changed = [(a, b) for a, b in zip(before.split(b"\n"), after.split(b"\n"), strict=True) if a != b]
    assert [b for _, b in changed] == [b"project: library"]


def test_foreign_text_stays_text(vault: crucible.Vault) -> None:
    note = vault.edit(CHOICE, crucible.add_entry(crucible.Prose("## Not a phase\n\n[[not a link]]")))
    assert "Not a phase" not in [phase.name for phase in note.session.phases]


def test_an_entry_without_a_phase_is_refused(vault: crucible.Vault) -> None:
    with crucible.record("Nothing yet", vault=vault) as work:
        with pytest.raises(crucible.CrucibleError, match="has no phases yet"):
            vault.edit(work.id, crucible.add_entry(crucible.Prose("x")))
        work.phase("First")


def test_a_refused_change_saves_none(vault: crucible.Vault) -> None:
    before = vault.note(CHOICE).data
    with pytest.raises(crucible.CrucibleError):
        vault.edit(CHOICE, crucible.set_property("project", "library"), crucible.add_entry(crucible.Prose("x"), "P99"))
    assert vault.note(CHOICE).data == before


def test_a_later_change_sees_the_earlier_ones(vault: crucible.Vault) -> None:
    phase, entry = crucible.Phase("Deploy"), crucible.Decision("At night")
    note = vault.edit(CHOICE, crucible.add_phase(phase), crucible.add_entry(entry))
    assert [e.text for e in note.session.phases[-1].entries if isinstance(e, crucible.Decision)] == ["At night"]
    assert note.data == note.path.read_bytes()


@pytest.mark.parametrize("use", [crucible.open, lambda path: crucible.record("Work", vault=path)])
def test_a_folder_without_a_vault_is_refused_and_left_alone(tmp_path: Path, use: Callable[[Path], object]) -> None:
    with pytest.raises(crucible.CrucibleError, match=r"not a vault \(it has no \.crucible folder\)"):
        use(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_transcript_is_named() -> None:
    with pytest.raises(crucible.CrucibleError, match="nowhere: no such file"):
        crucible.read_transcript("nowhere")


def test_a_session_is_attached_to_by_its_id(vault: crucible.Vault) -> None:
    with crucible.record("Fix it", vault=vault, agent="me@1") as work:
        work.phase("Look")
        crucible.attach(work.id, vault=vault).decision("Use a lock")
    assert "Use a lock" in vault.note(work.id).source.text


def test_a_file_that_is_no_transcript_is_named(folder: Path) -> None:
    (folder / "other.txt").write_text("hello")
    with pytest.raises(crucible.CrucibleError, match=r"other\.txt: no transcript of claude-code, cline, codex"):
        crucible.read_transcript(folder / "other.txt")


def test_a_session_that_is_not_in_the_transcript_is_named(folder: Path) -> None:
    with pytest.raises(crucible.CrucibleError, match="expected one session, found none"):
        crucible.read_transcript(folder / "session.jsonl", session="another")
