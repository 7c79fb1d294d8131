"""Case notes in their folder: written once, replaced only if the user did not touch them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crucible.commands.learn.case import CaseStatus
from crucible.commands.learn.case_folder import WrittenCases, find_case, load_cases, review_case, write_case_notes
from crucible.core.errors import CrucibleError, OutsideVault, UnknownId, UsageError, VaultError
from crucible.documents.markdown import frontmatter
from crucible.documents.markdown.frontmatter_values import read_properties
from crucible.documents.markdown.yaml_nodes import Reading
from crucible.vault.notes.vault import Vault
from tests.unit.commands.learn.sample_cases import CHOICE, case_of, made_cases


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path)


def note(vault: Vault, id_: str = "c1") -> Path:
    return vault.root / "cases" / f"{id_}.md"


def edit(path: Path, old: str, new: str) -> bytes:
    data = path.read_bytes()
    assert old.encode() in data
    path.write_bytes(data.replace(old.encode(), new.encode()))
    return path.read_bytes()


def test_cases_are_written_and_read_back(vault: Vault) -> None:
    cases = made_cases()
    kept = write_case_notes(vault, cases)
    assert [path.name for path in kept.new] == [f"{case.id}.md" for case in cases]
    assert sorted(one.read.id for one in load_cases(vault)) == sorted(case.id for case in cases)
    assert {one.read.case.id: one.read.case for one in load_cases(vault) if one.read.case} == {
        case.id: case for case in cases
    }
    assert vault.touched == set(kept.new)


def test_properties_are_read_once_a_note(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def counted(text: str, start: int, end: int) -> Reading:
        read.append(start)
        return read_properties(text, start, end)

    monkeypatch.setattr(frontmatter, "read_properties", counted)
    for step in (lambda: write_case_notes(vault, made_cases()), lambda: [*load_cases(vault)]):
        read.clear()
        step()
        assert len(read) == len(made_cases())


def test_writing_the_same_cases_again_writes_nothing(vault: Vault) -> None:
    write_case_notes(vault, made_cases())
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in (vault.root / "cases").iterdir()}
    kept = write_case_notes(vault, made_cases())
    assert len(kept.same) == len(made_cases())
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before


def test_an_untouched_note_is_replaced_when_its_case_changed(vault: Vault) -> None:
    write_case_notes(vault, [case_of(CHOICE)])
    kept = write_case_notes(vault, [case_of(replace(CHOICE, outcome="Quiet."))])
    assert kept == WrittenCases(replaced=(note(vault),))
    assert "Quiet." in note(vault).read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [("It spreads them.", "It spreads."), ("status: proposed", "status: accepted"), ("difficulty: easy", "difficulty: hard"), ("\n## Choice", "\nmine\n\n## Choice")],
)  # fmt: skip
def test_a_note_that_the_user_edited_or_reviewed_is_not_replaced(vault: Vault, old: str, new: str) -> None:
    write_case_notes(vault, [case_of(CHOICE)])
    mine = edit(note(vault), old, new)
    assert write_case_notes(vault, [case_of(replace(CHOICE, outcome="Quiet."))]) == WrittenCases(left=(note(vault),))
    assert note(vault).read_bytes() == mine


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", line 42.\n", ", line 42. Ask Bob first.\n"),
        (", line 42.\n", ", line 42.\nFrom [[Bob]], line 42.\n"),
        ("status: proposed\n", "status: proposed # ask Bob first\n"),
    ],
)
def test_a_comment_at_an_unstamped_property_counts_as_an_edit(vault: Vault, old: str, new: str) -> None:
    write_case_notes(vault, [case_of(CHOICE)])
    edited = edit(note(vault), old, new)
    assert write_case_notes(vault, [case_of(replace(CHOICE, outcome="Quiet."))]) == WrittenCases(left=(note(vault),))
    assert note(vault).read_bytes() == edited


def test_a_file_that_is_no_case_is_not_replaced(vault: Vault) -> None:
    note(vault).parent.mkdir()
    note(vault).write_text("# Mine\n")
    assert write_case_notes(vault, [case_of(CHOICE)]).left == (note(vault),)
    assert note(vault).read_text() == "# Mine\n"
    assert not [*load_cases(vault)]


@pytest.mark.parametrize("id_", ["../x", "a/b", "", ".hidden", "a\nb", "x" * 201])
def test_an_id_that_is_no_file_name_is_refused(vault: Vault, id_: str) -> None:
    with pytest.raises(VaultError, match="not a case id"):
        write_case_notes(vault, [case_of(CHOICE, id_)])
    assert not [*(vault.root / "cases").iterdir()]


def test_a_folder_that_leaves_the_vault_is_refused(vault: Vault, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (vault.root / "cases").symlink_to(outside)
    with pytest.raises(OutsideVault):
        write_case_notes(vault, [case_of(CHOICE)])
    assert not [*outside.iterdir()]


def test_no_cases_create_no_folder(vault: Vault) -> None:
    assert write_case_notes(vault, []) == WrittenCases()
    assert not (vault.root / "cases").exists()
    assert not [*load_cases(vault)]


def test_a_review_changes_only_the_status_line(vault: Vault) -> None:
    write_case_notes(vault, [case_of(CHOICE)])
    before = edit(note(vault), "\n## Outcome", "\nmy words  \r\n## Outcome")
    assert review_case(vault, note(vault), CaseStatus.REJECTED)
    assert note(vault).read_bytes() == before.replace(b"status: proposed", b"status: rejected")
    assert not review_case(vault, note(vault), CaseStatus.REJECTED)
    (one,) = load_cases(vault)
    assert one.read.case
    assert one.read.case.review is CaseStatus.REJECTED


def test_a_note_that_is_no_case_is_not_reviewed(vault: Vault) -> None:
    other = vault.root / "a.md"
    other.write_text("---\ntype: session\n---\n")
    with pytest.raises(UsageError, match="not a case"):
        review_case(vault, other, CaseStatus.ACCEPTED)
    assert other.read_text() == "---\ntype: session\n---\n"


def test_a_case_is_found_by_id_path_or_prefix(vault: Vault) -> None:
    write_case_notes(vault, [case_of(CHOICE, "alpha-1"), case_of(CHOICE, "alpha-12"), case_of(CHOICE, "beta")])
    for ref in ("alpha-1", "cases/alpha-1.md", "alpha-1.md", str(note(vault, "alpha-1"))):
        assert find_case(vault, ref) == note(vault, "alpha-1")
    assert find_case(vault, "be") == note(vault, "beta")
    with pytest.raises(UsageError, match="matches 2 cases"):
        find_case(vault, "alpha")
    for ref in ("gamma", "", "../x"):
        with pytest.raises(UnknownId):
            find_case(vault, ref)


def test_unreadable_notes_are_reported(vault: Vault) -> None:
    write_case_notes(vault, [case_of(CHOICE)])
    (vault.root / "cases" / "dir.md").symlink_to(vault.root / "nowhere")
    errors: list[CrucibleError] = []
    assert [one.read.id for one in load_cases(vault, errors.append)] == ["c1"]
    assert len(errors) == 1
