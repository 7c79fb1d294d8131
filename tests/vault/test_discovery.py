"""Which vault is meant, and which project a folder belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.errors import VaultNotFound
from crucible.settings import UserSettings
from crucible.vault.discovery import find_vault, is_vault, project_of

NOBODY = UserSettings(Path("/home/me/config.toml"))


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    names = ("explicit", "env", "near/deep/er", "default", "nowhere")
    made = {name.split("/")[0]: tmp_path / name for name in names}
    for name, path in made.items():
        path.mkdir(parents=True)
        if name != "nowhere":
            (tmp_path / name / ".crucible").mkdir()
    return made


def test_the_option_wins_then_the_environment_then_the_nearest_then_the_default(
    places: dict[str, Path],
) -> None:
    user = UserSettings(None, places["default"])
    env = {"CRUCIBLE_VAULT": str(places["env"])}
    near = places["near"]
    assert find_vault(places["explicit"], env, near, user) == places["explicit"]
    assert find_vault(None, env, near, user) == places["env"]
    assert find_vault("", {"CRUCIBLE_VAULT": ""}, near, user) == near.parents[1]
    assert find_vault(None, {}, places["nowhere"], user) == places["default"]


def test_relative_names_are_seen_from_the_working_directory(places: dict[str, Path], tmp_path: Path) -> None:
    assert find_vault("explicit", {}, tmp_path, NOBODY) == places["explicit"]
    assert find_vault(None, {"CRUCIBLE_VAULT": "env"}, tmp_path, NOBODY) == places["env"]


def test_a_vault_behind_a_symlink_has_its_real_path(places: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(places["explicit"])
    assert find_vault(tmp_path / "link", {}, tmp_path, NOBODY) == places["explicit"]


def test_without_any_vault_the_next_step_is_said(places: dict[str, Path]) -> None:
    with pytest.raises(VaultNotFound, match=r"no vault in .*nowhere or above") as caught:
        find_vault(None, {}, places["nowhere"], NOBODY)
    assert "cru init" in caught.value.hint


def test_a_named_place_that_is_no_vault_is_an_error_and_not_skipped(
    places: dict[str, Path], tmp_path: Path
) -> None:
    near = places["near"]
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultNotFound, match=r"gone: no such folder \(from --vault\)"):
        find_vault("gone", {}, near, NOBODY)
    with pytest.raises(VaultNotFound, match=r"file: a file, no vault"):
        find_vault(tmp_path / "file", {}, near, NOBODY)
    with pytest.raises(VaultNotFound, match=r"nowhere: no vault .*CRUCIBLE_VAULT") as caught:
        find_vault(None, {"CRUCIBLE_VAULT": str(places["nowhere"])}, near, NOBODY)
    assert "cru init" in caught.value.hint
    with pytest.raises(VaultNotFound, match=r"default_vault in .*c\.toml"):
        find_vault(None, {}, places["nowhere"], UserSettings(Path("/c.toml"), tmp_path / "gone"))


def test_a_folder_inside_a_vault_points_to_the_vault(places: dict[str, Path]) -> None:
    with pytest.raises(VaultNotFound) as caught:
        find_vault(places["near"], {}, Path("/"), NOBODY)
    assert caught.value.hint == f"did you mean {places['near'].parents[1]}?"


def test_a_file_named_like_the_settings_folder_makes_no_vault(tmp_path: Path) -> None:
    (tmp_path / ".crucible").write_text("")
    assert not is_vault(tmp_path)


USER = UserSettings(
    projects={"shop": ("/home/me/work", "D:\\code\\shop"), "inner": ("/home/me/work/libs/inner/",)}
)


@pytest.mark.parametrize(
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
@settings(max_examples=100)
def test_any_text_names_a_project_without_a_slash(cwd: str) -> None:
    assert "/" not in project_of("/nonexistent-place/" + cwd, {})


def git(*words: str | Path, at: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=at, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "main-repo"
    path.mkdir()
    git("init", "-q", at=path)
    git("commit", "-q", "--allow-empty", "-m", "x", at=path)
    return path


def test_a_repository_names_its_folders(repository: Path) -> None:
    (repository / "src" / "deep").mkdir(parents=True)
    assert project_of(str(repository / "src" / "deep"), NOBODY.projects) == "main-repo"


def test_a_worktree_has_the_name_of_its_main_repository(repository: Path, tmp_path: Path) -> None:
    git("worktree", "add", "-q", tmp_path / "elsewhere", "-b", "b", at=repository)
    assert project_of(str(tmp_path / "elsewhere"), NOBODY.projects) == "main-repo"


def test_a_worktree_of_a_bare_repository_has_its_name(repository: Path, tmp_path: Path) -> None:
    git("clone", "-q", "--bare", repository, tmp_path / "shop.git", at=tmp_path)
    git("remote", "remove", "origin", at=tmp_path / "shop.git")
    git("worktree", "add", "-q", tmp_path / "tree", "-b", "t", at=tmp_path / "shop.git")
    assert project_of(str(tmp_path / "tree"), NOBODY.projects) == "shop"
    (tmp_path / "site").mkdir()
    git("clone", "-q", "--bare", repository, tmp_path / "site" / ".bare", at=tmp_path)
    git("remote", "remove", "origin", at=tmp_path / "site" / ".bare")
    git("worktree", "add", "-q", tmp_path / "site" / "tree", "-b", "t", at=tmp_path / "site" / ".bare")
    assert project_of(str(tmp_path / "site" / "tree"), NOBODY.projects) == "site"


def test_a_submodule_is_a_project_of_its_own(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "lib"
    other.mkdir()
    git("init", "-q", at=other)
    git("commit", "-q", "--allow-empty", "-m", "x", at=other)
    git("submodule", "add", "-q", other, "vendored", at=repository)
    assert project_of(str(repository / "vendored"), NOBODY.projects) == "vendored"


def test_relative_and_odd_git_files_are_read_by_their_text(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text("gitdir: ../repo/.git/worktrees/tree\n")
    assert project_of(str(tree), NOBODY.projects) == "repo"
    (tree / ".git").write_bytes(b"\xff nonsense")
    assert project_of(str(tree), NOBODY.projects) == "tree"


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
