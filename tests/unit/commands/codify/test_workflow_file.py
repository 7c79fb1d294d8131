"""Where a workflow is written, and which files are never replaced."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.codify.workflow_file import is_untouched, save_workflow, save_workflow_as, sessions_of, stamped
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteChanged, NoteExists, OutsideVault, UsageError
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.vault.notes.vault import Vault


def made(body: str = "## One\n", *sessions: str) -> str:
    listed = "".join(f'  - "[[{name}]]"\n' for name in sessions or ("2026-11-21-add",))
    return stamped(f"---\ntype: workflow\nsessions:\n{listed}tags:\n  - workflow\n---\n\n# It\n\n{body}")


def files_of(vault: Vault) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in (vault.root / "workflows").glob("*")}


# --- the digest ------------------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_stamped_note_is_untouched_with_any_content(body: str) -> None:
    source = Source(made(body))
    assert is_untouched(source)
    assert find_frontmatter(source).values["type"] == "workflow"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.data())
def test_an_added_character_after_the_sessions_is_an_edit(more: str, data: st.DataObject) -> None:
    text = made("## One\n\nMake it.\n")
    at = data.draw(st.integers(text.index("tags:"), len(text)))
    changed = text[:at] + more + text[at:]
    if changed.replace("\r\n", "\n") != text:
        assert not is_untouched(Source(changed)) or _only_the_property_differs(changed, text)


def _only_the_property_differs(one: str, other: str) -> bool:
    """Blanks around a value do not belong to it."""
    kept = [[line for line in text.split("\n") if not line.startswith("codified:")] for text in (one, other)]
    return kept[0] == kept[1]


def test_a_renamed_session_is_no_edit() -> None:
    text = made().replace("[[2026-11-21-add]]", "[[2026-11-21-limit]]")
    assert is_untouched(Source(text))
    assert sessions_of(Source(text)) == {"2026-11-21-limit"}


def test_changed_line_ends_and_a_byte_order_mark_are_no_edit() -> None:
    data = made("## One\n\nText.\n").replace("\n", "\r\n").encode()
    assert is_untouched(Source.from_bytes(b"\xef\xbb\xbf" + data))


def test_a_note_without_a_valid_stamp_is_not_untouched() -> None:
    assert not is_untouched(Source("# It\n"))
    assert not is_untouched(Source("---\ntype: workflow\n---\n"))
    assert not is_untouched(Source("---\ncodified: 12\n---\n"))
    assert not is_untouched(Source("---\ncodified: ''\n---\n"))
    assert not is_untouched(Source("---\ncodified: [a\n---\n"))


def test_stamping_is_deterministic_and_idempotent() -> None:
    text = made()
    assert stamped(text) == text == made()


def test_sessions_are_read_from_links_with_paths_and_aliases_too() -> None:
    text = '---\nsessions:\n  - "[[sessions/2026/a.md|A]]"\n  - "[[b#phase]]"\n  - plain\n  - 3\n  - "[[]]"\n---\n'
    assert sessions_of(Source(text)) == {"a", "b"}
    assert sessions_of(Source('---\nsessions: "[[a]]"\n---\n')) == {"a"}
    assert sessions_of(Source('---\ntype: session\nsessions: ["[[a]]"]\n---\n')) == frozenset()
    assert sessions_of(Source("# It\n")) == frozenset()


# --- workflows/<slug>.md ---------------------------------------------------------------------------------------------


def test_a_note_is_created_in_the_folder_of_workflows(vault: Vault) -> None:
    kept = save_workflow(vault, made(), "it")
    assert kept.path == vault.root / "workflows" / "it.md"
    assert kept.changed
    assert kept.path.read_text("utf-8") == made()
    assert kept.path in vault.touched


def test_an_untouched_note_of_the_same_sessions_is_replaced_and_an_unchanged_one_not_written(
    vault: Vault,
) -> None:
    path = save_workflow(vault, made(), "it").path
    before = path.stat()
    assert save_workflow(vault, made(), "it") == (path, False)
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert save_workflow(vault, made("## Two\n"), "it") == (path, True)
    assert files_of(vault) == {"it.md": made("## Two\n")}


def test_an_edited_note_is_refused_and_stays_unless_forced(vault: Vault) -> None:
    path = save_workflow(vault, made(), "it").path
    path.write_text(made() + "\nA run's marker.\n", encoding="utf-8")
    with pytest.raises(NoteChanged) as refused:
        save_workflow(vault, made("## Two\n"), "it")
    assert "--force" in refused.value.hint
    assert "-o" in refused.value.hint
    assert files_of(vault) == {"it.md": made() + "\nA run's marker.\n"}
    assert save_workflow(vault, made("## Two\n"), "it", force=True) == (path, True)
    assert files_of(vault) == {"it.md": made("## Two\n")}


def test_a_name_taken_by_another_workflow_gets_a_number(vault: Vault) -> None:
    other, third = made("## Other\n", "other"), made("## Third\n", "other", "2026-11-21-add")
    for text, name in ((other, "it.md"), (third, "it-2.md"), (made(), "it-3.md")):
        assert save_workflow(vault, text, "it").path.name == name
    assert save_workflow(vault, made("## New\n"), "it") == (vault.root / "workflows" / "it-3.md", True)
    assert files_of(vault) == {"it.md": other, "it-2.md": third, "it-3.md": made("## New\n")}


def test_force_does_not_replace_another_workflow(vault: Vault) -> None:
    save_workflow(vault, made("## Other\n", "other"), "it")
    assert save_workflow(vault, made(), "it", force=True).path.name == "it-2.md"


def test_a_note_keeps_its_number_when_the_first_note_is_gone(vault: Vault) -> None:
    save_workflow(vault, made("", "other"), "it")
    save_workflow(vault, made(), "it")
    (vault.root / "workflows" / "it.md").unlink()
    assert save_workflow(vault, made("## New\n"), "it").path.name == "it-2.md"


def test_notes_with_other_slugs_are_ignored(vault: Vault) -> None:
    folder = vault.root / "workflows"
    folder.mkdir()
    for name in ("it-again.md", "it-0.md", "it-1.md", "it-02.md", "xit.md", "it.mdx"):
        (folder / name).write_text(made(), encoding="utf-8")
    assert save_workflow(vault, made("## New\n"), "it").path.name == "it.md"


def test_an_unreadable_note_is_not_replaced(vault: Vault) -> None:
    (vault.root / "workflows" / "it.md").mkdir(parents=True)
    assert save_workflow(vault, made(), "it").path.name == "it-2.md"


def test_a_symlink_out_of_the_vault_is_not_written_through(vault: Vault, tmp_path: Path) -> None:
    target = tmp_path / "target.md"
    folder = vault.root / "workflows"
    folder.mkdir()
    (folder / "it.md").symlink_to(target)
    for there in (False, True):
        if there:
            target.write_text(made("## Old\n"), encoding="utf-8")
        with pytest.raises(OutsideVault):
            save_workflow(vault, made(), "it", force=True)
    assert target.read_text("utf-8") == made("## Old\n")


def test_a_folder_of_workflows_that_leads_out_of_the_vault_is_refused(vault: Vault, tmp_path: Path) -> None:
    (vault.root / "workflows").symlink_to(tmp_path)
    with pytest.raises(OutsideVault):
        save_workflow(vault, made(), "it")
    assert not (tmp_path / "it.md").exists()


def test_concurrent_writers_create_one_note_for_a_workflow(vault: Vault) -> None:
    def keep(number: int) -> str:
        return save_workflow(Vault(vault.root), made("## One\n", f"s{number % 3}"), "it").path.name

    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(keep, range(24)))
    assert sorted(files_of(vault)) == ["it-2.md", "it-3.md", "it.md"]
    assert all(len({names[at] for at in range(24) if at % 3 == kind}) == 1 for kind in range(3))


_PROCESS = """
import sys
from pathlib import Path
from crucible.commands.codify.workflow_file import save_workflow
from crucible.vault.notes.vault import Vault
print(save_workflow(Vault(Path(sys.argv[1])), sys.stdin.read(), "it").path.name)
"""


def test_concurrent_processes_leave_one_complete_note(vault: Vault) -> None:
    save_workflow(vault, made(), "it")
    texts = [made(f"## Number {number}\n" * 2000) for number in range(4)]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", _PROCESS, str(vault.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in texts
    ]
    for process, text in zip(running, texts, strict=True):
        assert process.stdin
        process.stdin.write(text)
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0] * 4
    assert [process.stdout.read() for process in running if process.stdout] == ["it.md\n"] * 4
    for process in running:
        assert process.stdout
        process.stdout.close()
    (found,) = files_of(vault).values()
    assert found in texts


# --- -o FILE ---------------------------------------------------------------------------------------------------------


def test_a_named_file_may_lie_anywhere(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    assert save_workflow_as(vault, path, made()) == (path, True)
    assert save_workflow_as(vault, path, made()) == (path, False)
    assert save_workflow_as(vault, path, made("## Two\n")) == (path, True)
    assert path.read_text("utf-8") == made("## Two\n")
    assert not vault.touched


def test_a_named_file_in_the_vault_is_reported_to_the_index(vault: Vault) -> None:
    assert save_workflow_as(vault, vault.root / "mine.md", made()).changed
    assert vault.touched == {vault.root / "mine.md"}


@pytest.mark.parametrize("there", [made() + "more\n", made("", "other"), "# Mine\n", "\x00"])
def test_a_named_file_of_another_origin_is_refused_and_stays(vault: Vault, tmp_path: Path, there: str) -> None:
    path = tmp_path / "mine.md"
    path.write_text(there, encoding="utf-8")
    with pytest.raises((NoteExists, NoteChanged)) as refused:
        save_workflow_as(vault, path, made("## New\n"))
    assert "--force" in refused.value.hint
    assert path.read_text("utf-8") == there
    assert save_workflow_as(vault, path, made("## New\n"), force=True).changed
    assert path.read_text("utf-8") == made("## New\n")


def test_an_empty_file_is_replaced(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.touch()
    assert save_workflow_as(vault, path, made()).changed


def test_a_sessions_note_is_not_replaced_even_with_force(vault: Vault) -> None:
    path = vault.sessions / "a.md"
    path.write_text("---\ntype: session\n---\n", encoding="utf-8")
    with pytest.raises(NoteExists):
        save_workflow_as(vault, path, made(), force=True)
    assert path.read_text("utf-8") == "---\ntype: session\n---\n"


def test_a_named_symlink_is_followed_and_stays_a_symlink(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "link.md").symlink_to(tmp_path / "target.md")
    save_workflow_as(vault, tmp_path / "link.md", made())
    assert (tmp_path / "link.md").is_symlink()
    assert (tmp_path / "target.md").read_text("utf-8") == made()


def test_a_path_that_is_no_regular_file_is_refused(vault: Vault, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone" / "mine.md"):
        with pytest.raises(UsageError):
            save_workflow_as(vault, path, made())
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CrucibleError, match="not a regular file"):
        save_workflow_as(vault, tmp_path / "pipe", made())


def test_leftover_temporary_files_are_removed_when_a_file_is_replaced(vault: Vault) -> None:
    path = vault.root / "mine.md"
    save_workflow_as(vault, path, made("## One\n"))
    left = path.with_name(files._temporary_prefix(path) + "dead.tmp")
    left.write_text("half a no")
    save_workflow_as(vault, path, made("## Two\n"))
    assert "## Two" in path.read_text("utf-8")
    assert not left.exists()
