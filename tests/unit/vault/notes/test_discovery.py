"""How the vault of a command is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crucible.core import vault_folders
from crucible.core.errors import VaultNotFound
from crucible.core.settings.settings import UserSettings
from crucible.core.vault_folders import is_vault, nearest_vault
from crucible.vault.notes.discovery import find_vault

NOBODY = UserSettings("/home/me/config.toml")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    names = ("explicit", "env", "near/deep/er", "default", "nowhere")
    made = {name.split("/")[0]: tmp_path / name for name in names}
    for name, path in made.items():
        path.mkdir(parents=True)
        if name != "nowhere":
            (tmp_path / name / ".crucible").mkdir()
    return {name: str(path) for name, path in made.items()}


def test_the_option_wins_then_the_environment_then_the_nearest_then_the_default(
    places: dict[str, str],
) -> None:
    user = UserSettings(None, places["default"])
    env = {"CRUCIBLE_VAULT": places["env"]}
    near = places["near"]
    assert find_vault(places["explicit"], env, near, user) == places["explicit"]
    assert find_vault(None, env, near, user) == places["env"]
    assert find_vault("", {"CRUCIBLE_VAULT": ""}, near, user) == os.path.dirname(os.path.dirname(near))
    assert find_vault(None, {}, places["nowhere"], user) == places["default"]


def test_relative_names_are_seen_from_the_working_directory(places: dict[str, str], tmp_path: Path) -> None:
    assert find_vault("explicit", {}, str(tmp_path), NOBODY) == places["explicit"]
    assert find_vault(None, {"CRUCIBLE_VAULT": "env"}, str(tmp_path), NOBODY) == places["env"]


def test_a_symlinked_vault_has_its_real_path(places: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(places["explicit"])
    assert find_vault(str(tmp_path / "link"), {}, str(tmp_path), NOBODY) == places["explicit"]


def test_without_any_vault_the_error_says_what_to_do(places: dict[str, str]) -> None:
    with pytest.raises(VaultNotFound, match=r"no vault in .*nowhere or its parent folders") as caught:
        find_vault(None, {}, places["nowhere"], NOBODY)
    assert "cru init" in caught.value.hint


def test_a_named_place_that_is_no_vault_is_an_error_and_not_skipped(places: dict[str, str], tmp_path: Path) -> None:
    near = places["near"]
    (tmp_path / "file").write_text("")
    with pytest.raises(VaultNotFound, match=r"gone: no such folder \(from --vault\)"):
        find_vault("gone", {}, near, NOBODY)
    with pytest.raises(VaultNotFound, match=r"file: a file, not a vault"):
        find_vault(str(tmp_path / "file"), {}, near, NOBODY)
    with pytest.raises(VaultNotFound, match=r"nowhere: not a vault .*CRUCIBLE_VAULT") as caught:
        find_vault(None, {"CRUCIBLE_VAULT": places["nowhere"]}, near, NOBODY)
    assert "cru init" in caught.value.hint
    with pytest.raises(VaultNotFound, match=r"default_vault in .*c\.toml"):
        find_vault(None, {}, places["nowhere"], UserSettings("/c.toml", str(tmp_path / "gone")))


def test_a_folder_inside_a_vault_points_to_the_vault(places: dict[str, str]) -> None:
    with pytest.raises(VaultNotFound) as caught:
        find_vault(places["near"], {}, "/", NOBODY)
    assert caught.value.hint == f"did you mean {os.path.dirname(os.path.dirname(places['near']))}?"


def test_a_file_named_like_the_settings_folder_makes_no_vault(tmp_path: Path) -> None:
    (tmp_path / ".crucible").write_text("")
    assert not is_vault(str(tmp_path))


def test_a_folder_of_endless_depth_takes_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def no_vault(folder: str) -> bool:
        asked.append(folder)
        return False

    monkeypatch.setattr(vault_folders, "is_vault", no_vault)
    assert nearest_vault("/a" * 200_000) == ""
    assert max(map(len, asked)) <= 1 << 15


@pytest.mark.skipif(os.name != "posix", reason="users and modes")
@pytest.mark.parametrize(("mode", "is_found"), [(0o755, True), (0o1777, False), (0o777, False)])
def test_a_vault_that_another_user_planted_where_all_may_write_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, is_found: bool
) -> None:
    work = tmp_path / "shared" / "work"
    work.mkdir(parents=True)
    (work.parent / ".crucible").mkdir()
    work.parent.chmod(mode)
    assert nearest_vault(str(work)) == str(work.parent)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert nearest_vault(str(work)) == (str(work.parent) if is_found else "")
