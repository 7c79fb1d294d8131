"""How the vault of a command is found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crucible.core.errors import VaultNotFound
from crucible.core.settings.settings import UserSettings
from crucible.vault.notes.discovery import find_vault, is_vault

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
