"""Digests of all files below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.core import file_stamps
from crucible.core.file_stamps import digest_below
from crucible.core.quick_imports import parse_json


@pytest.fixture(autouse=True)
def _hashed_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_stamps, "_MOST", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a/one", "a/b/two", "c/three", "four"):
        (tmp_path / "top" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "top" / name).write_text(name)
    return tmp_path / "top"


def digest(folder: Path) -> str:
    return digest_below([str(folder)])[0]


@pytest.mark.parametrize("name", ["a/one", "a/b/two", "c/three", "four"])
def test_a_changed_file_in_any_folder_changes_the_digest(folder: Path, name: str) -> None:
    before = digest(folder)
    assert digest(folder) == before
    with (folder / name).open("a") as file:
        file.write("more")
    assert digest(folder) != before


def test_a_new_empty_folder_changes_the_digest(folder: Path) -> None:
    before = digest(folder)
    (folder / "a" / "new").mkdir()
    assert digest(folder) != before


def test_a_folder_behind_a_symlink_is_included_and_a_circle_ends(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "five").write_text("5")
    (folder / "link").symlink_to(tmp_path / "beside")
    (folder / "a" / "b" / "up").symlink_to(folder)
    before = digest(folder)
    (tmp_path / "beside" / "five").write_text("55")
    assert digest(folder) != before


def test_json_with_a_lone_surrogate_is_parsed() -> None:
    assert parse_json(b'["\\udc80", 1]') == ["\udc80", 1]
