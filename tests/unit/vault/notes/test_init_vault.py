"""A new vault is complete; a second `init` changes nothing, and git tracks the right files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crucible.core.errors import OutsideVault, VaultError
from crucible.core.settings.settings import VaultSettings, load_user_settings, load_vault_settings
from crucible.core.vault_folders import is_vault
from crucible.vault.notes.init_vault import OBSIDIAN_FILES, init_vault, set_user_settings
from tests.git_repositories import git


def tree(root: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def test_a_new_vault_has_its_files_and_default_settings(tmp_path: Path) -> None:
    root = tmp_path / "my vault"
    made = init_vault(root)
    names = [
        ".",
        ".crucible",
        ".crucible/.gitignore",
        ".crucible/config.toml",
        ".crucible/memory",
        ".crucible/tasks",
        ".crucible/templates",
        ".gitattributes",
        "sessions",
    ]
    assert {path.relative_to(root).as_posix() for path in made} == {*names, *OBSIDIAN_FILES}
    assert {".", *tree(root)} == {*names, *OBSIDIAN_FILES, ".obsidian", ".obsidian/snippets"}
    assert is_vault(str(root))
    assert load_vault_settings(root) == VaultSettings()


def test_a_second_init_changes_nothing(tmp_path: Path) -> None:
    init_vault(tmp_path)
    before = tree(tmp_path)
    assert init_vault(tmp_path) == []
    assert tree(tmp_path) == before


def test_what_exists_is_kept_and_git_attributes_are_extended(tmp_path: Path) -> None:
    (tmp_path / ".crucible").mkdir()
    (tmp_path / ".crucible/config.toml").write_text('[sessions]\nfolder = "Logs/agents"\n')
    (tmp_path / ".crucible/.gitignore").write_text("mine\n")
    (tmp_path / ".gitattributes").write_bytes(b"*.png binary\r\n.crucible/tasks/**/*.jsonl merge=union")
    made = init_vault(tmp_path)
    assert (tmp_path / ".crucible/config.toml").read_text() == '[sessions]\nfolder = "Logs/agents"\n'
    assert (tmp_path / ".crucible/.gitignore").read_text() == "mine\n"
    assert (tmp_path / ".gitattributes").read_bytes() == (
        b"*.png binary\r\n.crucible/tasks/**/*.jsonl merge=union\r\nLogs/agents/**/*.md -text\r\nworkflows/**/*.md -text\r\n"
        b"cases/**/*.md -text\r\nknowledge/**/*.md -text\r\nhistory/**/*.md -text\r\nprojects/**/*.md -text\r\n"
        b".crucible/memory/**/*.jsonl merge=union\r\n.crucible/flight/**/*.jsonl merge=union\r\n"
    )
    assert (tmp_path / "Logs/agents").is_dir()
    assert not (tmp_path / "sessions").exists()
    assert tmp_path / ".gitattributes" in made
    assert tmp_path / ".crucible/config.toml" not in made
    assert init_vault(tmp_path) == []


def test_line_ends_of_sessions_and_workflows_survive_a_checkout_whatever_git_is_set_to(
    tmp_path: Path,
) -> None:
    init_vault(tmp_path)
    notes = [tmp_path / name for name in ("sessions/2026/s.md", "workflows/w.md", "workflows/deep/w.md")]
    for note in notes:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_bytes(b"one\r\ntwo\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "core.autocrlf", "true")
    git(tmp_path, "add", ".")
    for note in notes:
        note.unlink()
    git(tmp_path, "checkout", "-q", "--", ".")
    assert {note.read_bytes() for note in notes} == {b"one\r\ntwo\n"}


def test_an_older_vault_gets_the_line_for_workflows_too(tmp_path: Path) -> None:
    init_vault(tmp_path)
    attributes = tmp_path / ".gitattributes"
    whole = attributes.read_text()
    attributes.write_text(whole.replace("workflows/**/*.md -text\n", ""))
    assert init_vault(tmp_path) == [attributes]
    assert sorted(attributes.read_text().split("\n")) == sorted(whole.split("\n"))


def fill(root: Path) -> None:
    for name in (
        "sessions/s.md",
        ".crucible/templates/t.md",
        ".crucible/memory/deep/m.jsonl",
        ".crucible/tasks/a.jsonl",
        ".crucible/flight/s/events.jsonl",
        ".crucible/archive/s.jsonl.zst",
        ".crucible/index/i.toon",
        ".crucible/cache/locks/l.lock",
        ".crucible/spool/x",
        ".crucible/log/x",
        ".crucible/other",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


TRACKED = {
    ".crucible/.gitignore",
    ".crucible/config.toml",
    ".crucible/memory/deep/m.jsonl",
    ".crucible/tasks/a.jsonl",
    ".crucible/templates/t.md",
    ".gitattributes",
    "sessions/s.md",
    *OBSIDIAN_FILES,
}


def test_a_vault_without_the_files_for_obsidian(tmp_path: Path) -> None:
    init_vault(tmp_path, obsidian=False)
    assert not any((tmp_path / name).exists() for name in (*OBSIDIAN_FILES, ".obsidian"))


def test_git_tracks_what_the_format_says_and_nothing_else(tmp_path: Path) -> None:
    init_vault(tmp_path)
    fill(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert set(git(tmp_path, "ls-files", "-z").split("\0")[:-1]) == TRACKED


def test_tracking_whole_events_is_a_setting(tmp_path: Path) -> None:
    init_vault(tmp_path)
    (tmp_path / ".crucible/config.toml").write_text("[events]\ntrack = true\n")
    assert init_vault(tmp_path) == [tmp_path / ".crucible/.gitignore"]
    fill(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert set(git(tmp_path, "ls-files", "-z").split("\0")[:-1]) == TRACKED | {".crucible/flight/s/events.jsonl"}


def test_append_only_files_merge_by_union(tmp_path: Path) -> None:
    init_vault(tmp_path)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.com")
    notes = tmp_path / ".crucible/memory/marks.jsonl"
    notes.write_text("base\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    git(tmp_path, "checkout", "-qb", "other")
    notes.write_text("base\ntheirs\n")
    git(tmp_path, "commit", "-qam", "theirs")
    git(tmp_path, "checkout", "-q", "main")
    notes.write_text("base\nours\n")
    git(tmp_path, "commit", "-qam", "ours")
    git(tmp_path, "merge", "-q", "other", "-m", "both")
    assert sorted(notes.read_text().split()) == ["base", "ours", "theirs"]


@pytest.mark.parametrize("name", [".crucible", "sessions", ".gitattributes", ".crucible/config.toml"])
def test_init_does_not_write_through_a_symlink_that_leaves(tmp_path: Path, name: str) -> None:
    root, outside = tmp_path / "vault", tmp_path / "outside"
    outside.mkdir()
    (root / name).parent.mkdir(parents=True)
    target = outside if "." not in Path(name).name[1:] and name != ".gitattributes" else outside / "file"
    (root / name).symlink_to(target)
    with pytest.raises(OutsideVault):
        init_vault(root)
    assert os.listdir(outside) == []


def test_a_vault_may_be_a_symlink(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert tmp_path / "real/sessions" in init_vault(tmp_path / "link")


def test_a_file_cannot_become_a_vault(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(VaultError, match="is a file"):
        init_vault(tmp_path / "f")
    with pytest.raises(VaultError, match="is a file"):
        init_vault(tmp_path / "f" / "below")


def test_broken_settings_stop_init_with_their_line(tmp_path: Path) -> None:
    (tmp_path / ".crucible").mkdir()
    (tmp_path / ".crucible/config.toml").write_text("[sessions\n")
    with pytest.raises(VaultError, match=r"config\.toml: not valid TOML"):
        init_vault(tmp_path)


def test_the_default_vault_is_written_beside_the_users_other_settings(tmp_path: Path) -> None:
    config = tmp_path / "config" / "crucible" / "config.toml"
    set_user_settings(config, {"default_vault": str(tmp_path / "one")})
    assert load_user_settings(config, tmp_path).default_vault == str(tmp_path / "one")
    config.write_text("# mine\n" + config.read_text() + '\n[projects]\nshop = ["/x"]\n')
    set_user_settings(config, {"default_vault": str(tmp_path / "two")})
    assert config.read_text() == f'# mine\ndefault_vault = "{tmp_path}/two"\n\n[projects]\nshop = ["/x"]\n'
    before = config.stat().st_mtime_ns
    set_user_settings(config, {"default_vault": str(tmp_path / "two")})
    assert config.stat().st_mtime_ns == before


def test_the_users_settings_may_be_a_symlink_into_their_dotfiles(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("")
    (tmp_path / "config.toml").symlink_to("dotfiles.toml")
    set_user_settings(tmp_path / "config.toml", {"default_vault": str(tmp_path)})
    assert (tmp_path / "config.toml").is_symlink()
    assert load_user_settings(tmp_path / "dotfiles.toml", tmp_path).default_vault == str(tmp_path)


def test_broken_user_settings_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xff")
    with pytest.raises(VaultError, match=r"c\.toml"):
        set_user_settings(tmp_path / "c.toml", {"default_vault": str(tmp_path)})
    assert (tmp_path / "c.toml").read_bytes() == b"\xff"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '[agents]\ncommand = "claude"\nat_end = true\n'),
        (
            '# mine\n[agents] # who\nmodel = "x"  # small\n\n[projects]\n',
            '# mine\n[agents] # who\nmodel = "x"  # small\ncommand = "claude"\nat_end = true\n\n[projects]\n',
        ),
        ('agents.model = "x"\n', 'agents.model = "x"\nagents.command = "claude"\nagents.at_end = true\n'),
        ('agents = {model = "x"}\n', 'agents = {model = "x",command = "claude",at_end = true}\n'),
    ],
)
def test_values_of_a_table_are_written_as_the_user_writes_it(before: str, after: str, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text(before)
    set_user_settings(config, {"agents.command": "claude", "agents.at_end": True})
    assert config.read_text() == after
    found = load_user_settings(config, tmp_path).agents
    assert (found.command, found.at_end) == ("claude", True)


def test_a_value_where_a_table_should_be_is_left_alone(tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text("agents = 3\n")
    with pytest.raises(VaultError, match="agents: expected a table"):
        set_user_settings(config, {"agents.at_end": True})
    assert config.read_text() == "agents = 3\n"
