"""The folder of a session's project on this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.commands.resume.material_gathering import folder_of
from crucible.documents.session.session import Session


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def test_the_working_directory_is_used_if_it_belongs_to_the_project(shop: Path, tmp_path: Path) -> None:
    inner = shop / "api"
    inner.mkdir()
    session = Session("s", project="shop")
    projects = {"shop": (str(shop),)}
    assert folder_of(session, cwd=inner, projects=projects, native_cwd=tmp_path) == inner


def test_otherwise_the_clients_first_folder_is_used(shop: Path, tmp_path: Path) -> None:
    session = Session("s", project="shop")
    assert folder_of(session, cwd=tmp_path, projects={}, native_cwd=shop) == shop


def test_missing_folders_are_passed_over_for_the_settings_folder(shop: Path, tmp_path: Path) -> None:
    projects = {"shop": (str(tmp_path / "old"), str(shop))}
    found = folder_of(Session("s", project="shop"), cwd=None, projects=projects, native_cwd=tmp_path / "gone")
    assert found == shop


def test_a_session_without_a_project_uses_the_working_directory(shop: Path) -> None:
    assert folder_of(Session("s"), cwd=shop, projects={}) == shop
    assert folder_of(Session("s"), cwd=shop, projects={}, native_cwd=shop) == shop


def test_another_projects_working_directory_is_not_used(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    assert folder_of(Session("s", project="shop"), cwd=other, projects={}) is None
