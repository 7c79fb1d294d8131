"""The name of a session's project."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.importing.projects import project_of


def test_the_user_s_own_folders_come_first_and_the_longest_wins() -> None:
    projects = {
        "all": ("/home/dev",),
        "shop": ("/home/dev/shop/", "/srv/shop"),
        "api": ("/home/dev/shop/api",),
    }
    assert project_of("/home/dev/shop/src", projects) == "shop"
    assert project_of("/srv/shop", projects) == "shop"
    assert project_of("/home/dev/shop/api/x", projects) == "api"
    assert project_of("/home/dev/shopping", projects) == "all"
    assert project_of("/home/device", projects) == "device"


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("", None),
        ("/", None),
        ("/nowhere/at/all/shop", "shop"),
        ("/nowhere/at/all/shop/", "shop"),
        ("C:\\Users\\me\\shop", "shop"),
        ("\\\\server\\share\\shop\\", "shop"),
    ],
)
def test_a_folder_of_another_machine_gives_its_last_part(cwd: str, name: str | None) -> None:
    assert project_of(cwd, {}) == name


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


def test_a_repository_without_an_origin_is_called_as_its_folder(tmp_path: Path) -> None:
    (tmp_path / "here" / ".git").mkdir(parents=True)
    (tmp_path / "here" / "src").mkdir()
    assert project_of(str(tmp_path / "here" / "src"), {}) == "here"


def test_a_worktree_belongs_to_its_main_repository(tmp_path: Path) -> None:
    (tmp_path / "main" / ".git" / "worktrees" / "fix").mkdir(parents=True)
    (tmp_path / "fix").mkdir()
    (tmp_path / "fix" / ".git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/fix\n")
    assert project_of(str(tmp_path / "fix"), {}) == "main"
