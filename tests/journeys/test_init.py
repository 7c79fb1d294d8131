from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.running import Cru


def test_a_new_vault_has_its_settings_and_git_files(bare_cru: Cru, tmp_path: Path) -> None:
    result = bare_cru("init", tmp_path / "notes")
    assert result.exit_code == 0
    for name in (".crucible/config.toml", ".crucible/.gitignore", ".gitattributes", "sessions"):
        assert (tmp_path / "notes" / name).exists()
        assert str(tmp_path / "notes" / name) in result.stdout
    assert (tmp_path / "notes" / "Sessions.base").exists()
    assert " import: " in result.stderr
    assert "cru install claude-code: " in result.stderr


def test_a_second_init_changes_nothing_and_says_so(bare_cru: Cru, tmp_path: Path) -> None:
    bare_cru("init", tmp_path)
    (tmp_path / ".crucible" / "config.toml").write_text("# mine\n")
    result = bare_cru("init", tmp_path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "already a complete vault" in result.stderr
    assert (tmp_path / ".crucible" / "config.toml").read_text() == "# mine\n"


def test_the_files_for_obsidian_can_be_left_out(bare_cru: Cru, tmp_path: Path) -> None:
    result = bare_cru("init", tmp_path / "notes", "--no-obsidian")
    assert result.exit_code == 0
    assert not [*(tmp_path / "notes").glob("*.base"), *(tmp_path / "notes").glob(".obsidian")]


def test_without_a_folder_this_one_becomes_the_vault(
    bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bare_cru("init")
    assert (tmp_path / ".crucible").is_dir()


def test_the_default_vault_is_used_from_everywhere(
    bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_cru("init", tmp_path / "notes", "--default")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert bare_cru("session", "list").exit_code == 0


def test_a_file_is_no_folder_for_a_vault(bare_cru: Cru, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert bare_cru("init", tmp_path / "file").exit_code == 2
    assert bare_cru("init", tmp_path / "file" / "below").exit_code == 1


def test_the_default_is_set_though_nobody_reads_what_was_made(tmp_path: Path) -> None:
    """`cru init --default | head -1` is not asked to do half of it."""
    config = tmp_path / "config.toml"
    command = [sys.executable, "-m", "crucible", "init", str(tmp_path / "notes"), "--default"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CRUCIBLE_CONFIG": str(config)}
    read, to_nobody = os.pipe()
    os.close(read)
    subprocess.run(command, env=env, stdout=to_nobody, stderr=subprocess.PIPE, check=False)
    os.close(to_nobody)
    assert str(tmp_path / "notes") in config.read_text()


@pytest.mark.parametrize("kind", ["folder", "fifo", "bytes", "broken", "below a file"])
def test_a_default_that_cannot_be_written_is_one_line_and_makes_nothing(
    bare_cru: Cru, tmp_path: Path, kind: str
) -> None:
    config = tmp_path / "config.toml"
    if kind == "folder":
        config.mkdir()
    elif kind == "fifo":
        if not hasattr(os, "mkfifo"):
            pytest.skip("no named pipes")
        os.mkfifo(config)
    elif kind == "below a file":
        config.write_text("")
        config = config / "config.toml"
    else:
        config.write_bytes(b"\xff" if kind == "bytes" else b"[")
    result = bare_cru("init", tmp_path / "notes", "--default", env={"CRUCIBLE_CONFIG": str(config)})
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {config}: ")
    assert "Errno" not in result.stderr
    assert "codec" not in result.stderr
    assert not (tmp_path / "notes").exists()


def test_an_empty_folder_name_is_refused(bare_cru: Cru, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert bare_cru("init", "").exit_code == 2
    assert bare_cru("--vault", "", "init").exit_code == 2
    assert not (tmp_path / ".crucible").exists()


def test_a_default_that_has_no_place_is_one_line_that_names_it(bare_cru: Cru, tmp_path: Path) -> None:
    config = tmp_path / ("x" * 300) / "config.toml"
    result = bare_cru("init", tmp_path / "notes", "--default", env={"CRUCIBLE_CONFIG": str(config)})
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error: {config}: ")
    assert "Errno" not in result.stderr
