"""Which project a folder belongs to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.settings.settings import UserSettings
from crucible.vault.notes.known_projects import remember_project, with_known
from crucible.vault.notes.projects import folder_in_project, named_project_of, project_keys, project_of
from crucible.vault.notes.vault import Vault
from tests.cases import for_each
from tests.git_repositories import git

NOBODY = UserSettings()

USER = UserSettings(projects={"shop": ("/home/me/work", "D:\\code\\shop"), "inner": ("/home/me/work/libs/inner/",)})


@for_each(
    ("cwd", "project"),
    [
        ("/home/me/work", "shop"),
        ("/home/me/work/api", "shop"),
        ("/home/me/work/libs/inner/src", "inner"),
        ("/home/me/workshop", "workshop"),
        ("d:\\CODE\\shop\\api", "shop"),
        ("C:\\Users\\x\\My App", "My App"),
        ("\\\\server\\share\\repo", "repo"),
        ("/gone/elsewhere/project", "project"),
        ("/gone/elsewhere/project/", "project"),
        ("/gone/repo/.claude/worktrees/fix-1", "repo"),
        ("/gone/repo/.worktrees/fix-1/src", "repo"),
        ("/home/me/.claude", ".claude"),
        ("relative/folder", "folder"),
        ("/", ""),
        ("", ""),
        ("/gone/a\0b", "a\0b"),
    ],
)
def test_a_folder_of_another_machine_is_named_by_its_text(cwd: str, project: str) -> None:
    assert project_of(cwd, USER.projects) == project


@given(st.text(max_size=60))
def test_any_text_names_a_project_without_a_slash(cwd: str) -> None:
    assert "/" not in project_of("/nonexistent-place/" + cwd, {})


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "main-repo"
    path.mkdir()
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "x")
    return path


def test_a_repository_names_its_folders(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    assert project_of(str(repository / "src" / "deep"), NOBODY.projects) == "main-repo"


def test_a_worktree_has_the_name_of_its_main_repository(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", tmp_path / "elsewhere", "-b", "b")
    assert project_of(str(tmp_path / "elsewhere"), NOBODY.projects) == "main-repo"


def test_a_worktree_of_a_bare_repository_has_its_name(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", repository, tmp_path / "shop.git")
    git(tmp_path / "shop.git", "remote", "remove", "origin")
    git(tmp_path / "shop.git", "worktree", "add", "-q", tmp_path / "tree", "-b", "t")
    assert project_of(str(tmp_path / "tree"), NOBODY.projects) == "shop"
    (tmp_path / "site").mkdir()
    git(tmp_path, "clone", "-q", "--bare", repository, tmp_path / "site" / ".bare")
    git(tmp_path / "site" / ".bare", "remote", "remove", "origin")
    git(tmp_path / "site" / ".bare", "worktree", "add", "-q", tmp_path / "site" / "tree", "-b", "t")
    assert project_of(str(tmp_path / "site" / "tree"), NOBODY.projects) == "site"


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "submodule", "add", "-q", other, "vendored")
    assert project_of(str(repository / "vendored"), NOBODY.projects) == "vendored"


def test_relative_and_odd_git_files_are_read_by_their_text(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../repo/.git/worktrees/tree\n")
    assert project_of(str(tree), NOBODY.projects) == "repo"
    (tree / ".git").write_bytes(b"\xff nonsense")
    assert project_of(str(tree), NOBODY.projects) == "tree"


def test_a_vaults_folder_is_a_project_only_if_the_user_says_so(repository: Path, tmp_path: Path) -> None:
    inside = repository / "sessions"
    inside.mkdir()
    link = tmp_path / "link"
    link.symlink_to(repository)
    assert named_project_of(str(inside), {}) == "main-repo"
    for vault in (repository, link):
        assert named_project_of(str(inside), {}, str(vault)) == named_project_of(str(link), {}, str(vault)) == ""
    assert named_project_of(str(inside), {"notes": [str(repository)]}, str(repository)) == "notes"
    assert named_project_of(str(repository), {}, str(inside)) == "main-repo"


def test_a_folder_without_a_repository_has_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert project_of(str(tmp_path / "plain"), NOBODY.projects) == "plain"


def test_the_users_settings_win_over_git(repository: Path) -> None:
    user = UserSettings(projects={"mine": (str(repository.parent),)})
    assert project_of(str(repository), user.projects) == "mine"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@example.org:team/the-shop.git", "the-shop"),
        ("https://example.org/team/the-shop", "the-shop"),
        ("../the-shop.git/", "the-shop"),
    ],
)
def test_a_repository_is_called_as_its_origin_is(tmp_path: Path, url: str, name: str) -> None:
    (tmp_path / "here" / ".git").mkdir(parents=True)
    (tmp_path / "here" / "src").mkdir()
    config = f'[core]\n\tbare = false\n[remote "origin"]\n\tfetch = x\n\turl = {url}\n[branch "main"]\n'
    (tmp_path / "here" / ".git" / "config").write_text(config)
    assert project_of(str(tmp_path / "here" / "src"), {}) == name


# --- one project in several places -----------------------------------------------------------------------------------


def clone(folder: Path, url: str = "") -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n' if url else "[core]\n")
    return folder


def seen(vault: Vault, folder: Path, user: Mapping[str, Sequence[str]] = NOBODY.projects) -> str:
    """Import a session of this folder; return its project."""
    known = with_known(user, vault.root)
    name = project_of(str(folder), known)
    remember_project(vault.root, known, str(folder), name, fsync=False)
    assert project_of(str(folder), with_known(user, vault.root)) == name
    return name


def test_clones_of_one_origin_are_one_project_whatever_the_url_and_folder(vault: Vault, tmp_path: Path) -> None:
    urls = [
        "https://github.com/acme/shop.git",
        "git@github.com:acme/shop",
        "ssh://git@github.com:22/Acme/shop.git/",
        "https://user:token@GitHub.com/acme/shop",
        "git://github.com/acme/shop.git",
    ]
    folders = [clone(tmp_path / str(at), url) for at, url in enumerate(urls)]
    assert {seen(vault, folder) for folder in folders} == {"shop"}
    assert len({project_keys(str(folder), {})[0] for folder in folders}) == 1


def test_two_repositories_with_one_name_are_two_projects(vault: Vault, tmp_path: Path) -> None:
    ours = clone(tmp_path / "a" / "shop", "https://github.com/acme/shop")
    theirs = clone(tmp_path / "b" / "shop", "https://github.com/bob/shop")
    local = clone(tmp_path / "c" / "shop")
    other = clone(tmp_path / "other" / "c" / "shop")
    names = [seen(vault, folder) for folder in (ours, theirs, local, other)]
    assert names[:3] == ["shop", "shop-bob", "shop-c"]
    assert len({*names}) == 4
    assert [seen(vault, folder) for folder in (other, local, theirs, ours)] == names[::-1]
    moved = clone(tmp_path / "d", "git@github.com:bob/shop.git")
    assert seen(vault, moved) == "shop-bob"


def test_worktrees_are_one_project_also_without_an_origin(vault: Vault, repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", tmp_path / "elsewhere", "-b", "b")
    assert seen(vault, clone(tmp_path / "x" / "main-repo")) == "main-repo"
    name = seen(vault, tmp_path / "elsewhere")
    assert name != "main-repo"
    assert seen(vault, repository) == name


def test_a_folder_that_is_gone_keeps_its_project(vault: Vault, tmp_path: Path) -> None:
    folder = clone(tmp_path / "work", "https://github.com/acme/shop")
    assert seen(vault, folder) == "shop"
    folder.rename(tmp_path / "moved")
    known = with_known({}, vault.root)
    assert project_of(str(tmp_path / "work" / "src"), known) == "shop"
    assert project_of(str(tmp_path / "moved"), known) == "shop"
    assert project_of(str(tmp_path / "unknown"), known) == "unknown"


def test_the_users_settings_win_and_are_not_remembered(vault: Vault, tmp_path: Path) -> None:
    folder = clone(tmp_path / "mono", "https://github.com/acme/mono")
    (folder / "libs").mkdir()
    assert seen(vault, folder / "libs", {"inner": (str(folder / "libs"),)}) == "inner"
    assert seen(vault, folder) == "mono"


def test_the_vault_keeps_no_path_and_no_address(vault: Vault, tmp_path: Path) -> None:
    seen(vault, clone(tmp_path / "work", "https://user:token@example.org/acme/shop"))
    text = (vault.root / ".crucible/memory/projects.jsonl").read_text()
    assert not any(word in text for word in ("token", "example", "acme", str(tmp_path), "work"))


def test_a_damaged_file_of_projects_adds_nothing(vault: Vault) -> None:
    path = vault.root / ".crucible/memory/projects.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{"key":"git:1","project":"../x"}\n{"key":1}\nnonsense\n{"key":"git:2","project":"ok"}\n')
    assert with_known({}, vault.root).names == {"git:2": "ok"}


def test_a_strangers_repository_cannot_make_it_wait_or_read_a_device(tmp_path: Path) -> None:
    for name, target in (("pipe", None), ("device", "/dev/zero")):
        folder = clone(tmp_path / name)
        config = folder / ".git" / "config"
        config.unlink()
        os.mkfifo(config) if target is None else config.symlink_to(target)
        assert project_of(str(folder), {}) == name


def origin(folder: Path, config: str) -> str:
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "config").write_text(f'[remote "origin"]\n{config}\n')
    return str(folder)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://example.org/team/shop.git?access_token=tok1234", "shop"),
        ("https://example.org/team/shop#tok1234", "shop"),
        ("https://me:pa/tok1234@example.org", "example.org"),
        ("https://example.org/team/..", "here"),
        ("https://example.org/team/\x1b[31mred", "here"),
        (f"https://example.org/team/{'x' * 3000}", "here"),
    ],
)
def test_an_origin_gives_no_secret_and_no_name_that_is_none(tmp_path: Path, url: str, name: str) -> None:
    assert project_of(origin(tmp_path / "here", f"url = {url}"), {}) == name


@pytest.mark.parametrize("config", ["\n" * 60_000, f"url = {'/' * 60_000}x", f"url = {'@' * 60_000}x"])
def test_a_strangers_config_is_read_at_once(tmp_path: Path, config: str) -> None:
    began = perf_counter()
    project_of(origin(tmp_path / "here", config), {})
    assert perf_counter() - began < 5


def test_a_folder_or_git_file_that_the_system_rejects_raises_nothing(tmp_path: Path) -> None:
    long = "/" + "a" * 300
    assert project_of(long, {}) == long[1:]
    assert project_keys(long, {}) == ()
    assert folder_in_project(long, {}, long[1:]) is None
    (tmp_path / ".git").write_text("gitdir: \0/.git/worktrees/y")
    assert project_of(str(tmp_path), {}) == tmp_path.name
