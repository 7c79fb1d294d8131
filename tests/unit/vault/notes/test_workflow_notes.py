from __future__ import annotations

import os
from pathlib import Path

import pytest

from crucible.core.errors import CrucibleError, NoteUnreadable, OutsideVault, UsageError, WorkflowNotFound
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.workflow_notes import find_workflow, read_workflow_note, workflow_paths

STEPS = "# Release checklist\n\n## Build @ci\nsource → binary\n\n## Ship @ops !\nbinary → receipt\n"
MARKED = f"---\ntype: workflow\n---\n\n{STEPS}"
SESSION = "---\ntype: session\nsession_id: 2026-11-21-limiter\n---\n\n# Add a limiter\n"


def put(vault: Vault, path: str, text: str | bytes = MARKED) -> Path:
    """A note at a path of the vault."""
    whole = vault.root / path
    whole.parent.mkdir(parents=True, exist_ok=True)
    whole.write_bytes(text if isinstance(text, bytes) else text.encode())
    return whole


def listed(vault: Vault) -> list[str]:
    """The paths of all workflows, seen from the vault."""
    return [vault.relative(path) for path in workflow_paths(vault)]


def test_a_note_is_a_workflow_by_its_type_anywhere_and_in_its_folder_without_one(vault: Vault) -> None:
    put(vault, "workflows/plain.md", STEPS)
    put(vault, "workflows/deep/er.md", "no heading at all")
    put(vault, "workflows/a-session.md", SESSION)
    put(vault, "workflows/idea.md", "---\ntype: idea\n---\n# Idea\n")
    put(vault, "projects/shop/release.md")
    put(vault, "sessions/odd.md")
    put(vault, "sessions/2026-11-21-limiter.md", SESSION)
    put(vault, "notes/plain.md", STEPS)
    put(vault, ".trash/gone.md")
    assert listed(vault) == [
        "projects/shop/release.md",
        "sessions/odd.md",
        "workflows/deep/er.md",
        "workflows/plain.md",
    ]


@pytest.mark.parametrize(
    "top",
    [
        "---\ntype: workflow\n---\n",
        "\ufeff---\r\ntype: workflow\r\n---\r\n",
        '--- \n"type": "workflow"\n---\n',
        "---\ntitle: x\ntype:   'Workflow'  # ours\n---\n",
        "---\ntype:\n  - workflow\n---\n",
        "---\ntype: [note, Workflow]\n---\n",
        "---\nnotes: |\n  type: session\ntype: workflow\n---\n",
        "---\n" + "".join(f"key{n}: {'x' * 90}\n" for n in range(500)) + "type: workflow\n---\n",
    ],
)
def test_the_type_is_what_the_properties_say_however_they_are_written(vault: Vault, top: str) -> None:
    path = put(vault, "a.md", top + STEPS)
    assert listed(vault) == ["a.md"]
    assert read_workflow_note(vault, path).workflow.marked


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        "---\ntype: session\n---\n# Of type: workflow\n",
        "---\ntype: workflow\n# never closed\n",
        "---\nsubtype: workflow\n---\n",
        "---\ntags: [type, workflow]\n---\n",
        "---\nabout: |\n  type: workflow\n---\n",
        " ---\ntype: workflow\n---\n",
        "```\n---\ntype: workflow\n---\n```\n",
    ],
)
def test_no_other_note_is_a_workflow(vault: Vault, text: str) -> None:
    put(vault, "a.md", text)
    assert listed(vault) == []


def test_a_vault_without_workflows_has_none(vault: Vault) -> None:
    assert listed(vault) == []
    with pytest.raises(WorkflowNotFound):
        find_workflow(vault, "any")


@pytest.mark.skipif(os.name == "nt", reason="no pipes, no symlinks for everybody")
def test_irregular_files_never_block_and_are_workflows_only_in_their_folder(vault: Vault) -> None:
    (vault.root / "workflows").mkdir()
    os.mkfifo(vault.root / "workflows" / "pipe.md")
    os.mkfifo(vault.root / "pipe.md")
    (vault.root / "workflows" / "gone.md").symlink_to(vault.root / "nowhere.md")
    (vault.root / "workflows" / "folder.md").mkdir()
    assert listed(vault) == ["workflows/gone.md", "workflows/pipe.md"]
    for path in workflow_paths(vault):
        with pytest.raises(NoteUnreadable):
            read_workflow_note(vault, path)


@pytest.mark.skipif(os.name == "nt", reason="no symlinks for everybody")
def test_a_link_out_of_the_vault_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text(MARKED)
    (vault.root / "workflows").mkdir()
    (vault.root / "workflows" / "leak.md").symlink_to(tmp_path / "outside" / "secret.md")
    (vault.root / "linked").symlink_to(tmp_path / "outside")
    for ref in ("leak", "workflows/leak.md", "linked/secret.md", "linked/secret"):
        with pytest.raises(OutsideVault):
            read_workflow_note(vault, find_workflow(vault, ref, vault.root))
    errors: list[CrucibleError] = []
    assert [path.name for path in workflow_paths(vault, errors.append)] == ["leak.md"]
    assert [type(error) for error in errors] == [OutsideVault]


def test_a_path_seen_from_the_vault_does_not_climb_out_of_it(vault: Vault) -> None:
    (vault.root.parent / "beside.md").write_text(MARKED)
    with pytest.raises(OutsideVault):
        find_workflow(vault, "../beside.md", vault.root / "sessions")
    assert find_workflow(vault, "../beside.md", vault.root) == vault.root.parent / "beside.md"


@pytest.mark.parametrize(
    "ref",
    [
        "release",
        "release.md",
        "rel",
        "Release",
        "release-checklist",
        "workflows/shop/release.md",
        "workflows/shop/release",
        "shop/release.md",
        "./workflows/shop/release.md",
    ],
)
def test_a_workflow_has_many_names(vault: Vault, ref: str) -> None:
    path = put(vault, "workflows/shop/release.md")
    put(vault, "workflows/other.md", "# Something else\n")
    put(vault, "sessions/release-notes.md", SESSION)
    assert find_workflow(vault, ref, vault.root / "sessions") == path
    assert find_workflow(vault, str(path)) == path


def test_a_path_is_seen_from_here_first(vault: Vault, tmp_path: Path) -> None:
    put(vault, "workflows/release.md")
    own = tmp_path / "project"
    own.mkdir()
    (own / "release.md").write_text(STEPS)
    assert find_workflow(vault, "release.md", own) == own / "release.md"
    assert find_workflow(vault, "./release", own) == own / "release.md"
    assert find_workflow(vault, "release", own) == vault.root / "workflows" / "release.md"
    assert find_workflow(None, "release", own) == own / "release.md"


def test_a_full_name_wins_over_a_title_and_a_title_over_a_prefix(vault: Vault) -> None:
    names = [put(vault, f"workflows/{name}.md", f"# {title}\n") for name, title in (
        ("order", "One"), ("order-two", "Two"), ("x", "Order"), ("y", "Ord"), ("ord-er", "Three"),
    )]  # fmt: skip
    assert find_workflow(vault, "order") == names[0]
    assert find_workflow(vault, "ord") == names[3]
    assert find_workflow(vault, "ord-") == names[4]


def test_what_fits_several_names_them(vault: Vault) -> None:
    put(vault, "workflows/a/same.md")
    put(vault, "workflows/b/same.md")
    put(vault, "workflows/saved.md", "# Saved\n")
    with pytest.raises(UsageError, match="matches 2 workflows") as found:
        find_workflow(vault, "same")
    assert found.value.hint == "one of: workflows/a/same.md, workflows/b/same.md"
    with pytest.raises(UsageError, match="matches 3 workflows"):
        find_workflow(vault, "sa")


def test_a_session_is_none_by_name_or_by_path(vault: Vault) -> None:
    put(vault, "sessions/2026-11-21-limiter.md", SESSION)
    for ref in ("2026-11-21-limiter", "sessions/2026-11-21-limiter.md"):
        with pytest.raises(UsageError, match="a session, not a workflow") as found:
            find_workflow(vault, ref, vault.root)
        assert "cru session codify 2026-11-21-limiter" in found.value.hint


def test_a_note_without_the_type_is_read_when_it_is_named(vault: Vault) -> None:
    path = put(vault, "notes/plain.md", STEPS)
    note = read_workflow_note(vault, find_workflow(vault, "notes/plain.md"))
    assert (note.path, note.shown, note.name) == (path, "notes/plain.md", "plain")
    assert [step.name for step in note.workflow.steps] == ["Build", "Ship"]


def test_a_file_needs_no_vault(tmp_path: Path) -> None:
    path = tmp_path / "loose.markdown"
    path.write_text(STEPS)
    note = read_workflow_note(None, find_workflow(None, "loose.markdown", tmp_path))
    assert (note.path, note.shown) == (path, str(path))
    assert note.source.text == STEPS
    with pytest.raises(WorkflowNotFound) as found:
        find_workflow(None, "tight", tmp_path)
    assert "--vault" in found.value.hint


@pytest.mark.parametrize("ref", ["folder", "folder.md", "./folder"])
def test_a_folder_is_no_workflow(vault: Vault, ref: str) -> None:
    (vault.root / Path(ref).name).mkdir()
    with pytest.raises(NoteUnreadable, match="a folder"):
        find_workflow(vault, ref, vault.root)


@pytest.mark.parametrize("ref", ["", "a\0b", "x" * 5000, "no/such.md", "no such", "../../../../nothing"])
def test_an_unknown_reference_is_reported(vault: Vault, ref: str) -> None:
    with pytest.raises((UsageError, WorkflowNotFound)) as found:
        find_workflow(vault, ref, vault.root)
    assert found.value.hint


def test_what_is_hidden_is_no_workflow(vault: Vault) -> None:
    put(vault, ".trash/gone.md")
    with pytest.raises(UsageError, match="hidden"):
        find_workflow(vault, ".trash/gone.md", vault.root)


def test_a_slip_is_answered_with_the_near_ones(vault: Vault) -> None:
    put(vault, "workflows/release.md")
    with pytest.raises(WorkflowNotFound) as found:
        find_workflow(vault, "relaese")
    assert found.value.hint == 'Nearest: release. Run "cru workflow list" to see ids.'


def test_names_are_the_same_in_both_forms_of_unicode(vault: Vault) -> None:
    path = put(vault, "workflows/gro\u0308ße.md")
    assert find_workflow(vault, "größe") == path
    assert find_workflow(vault, "GRÖ") == path


def test_of_a_session_only_the_properties_are_looked_at(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vault, "workflows/release.md")
    for number in range(20):
        put(vault, f"sessions/{number}.md", SESSION.encode() + b"text\n" * 20_000)
    taken: list[int] = []
    read = os.read

    def counted(descriptor: int, size: int) -> bytes:
        data = read(descriptor, size)
        taken.append(len(data))
        return data

    monkeypatch.setattr(os, "read", counted)
    assert listed(vault) == ["workflows/release.md"]
    assert max(taken) <= 4096
    assert 21 <= len(taken) <= 23


@pytest.mark.parametrize("top", ["dialect: crucible", 'dialect:   "Crucible"\r', "dialect: 'crucible'\ntags: [x]"])
def test_a_workflow_for_the_rust_crucible_is_none_of_ours(vault: Vault, top: str) -> None:
    foreign = f"---\ntype: workflow\n{top}\n---\n\n{STEPS}"
    put(vault, "workflows/release.md")
    path = put(vault, "workflows/release-crucible.md", foreign)
    put(vault, "notes/far.md", foreign)
    assert listed(vault) == ["workflows/release.md"]
    assert find_workflow(vault, "rel").name == "release.md"
    for ref in ("release-crucible", "release-cru", "far", "workflows/release-crucible.md", str(path)):
        with pytest.raises(UsageError, match="written for the Rust Crucible"):
            find_workflow(vault, ref)
    with pytest.raises(UsageError, match="written for the Rust Crucible"):
        find_workflow(None, str(path), vault.root)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntype: workflow\ndialect: other\n---\n",
        "---\ntype: workflow\n---\ndialect: crucible\n",
        "---\ntype: workflow\nmy-dialect: crucible\n---\n",
    ],
)
def test_another_dialect_is_ours(vault: Vault, text: str) -> None:
    put(vault, "workflows/release.md", text)
    assert listed(vault) == ["workflows/release.md"]
