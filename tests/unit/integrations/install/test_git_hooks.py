from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import NoteExists, VaultError
from crucible.integrations.install.git_hooks import (
    Hook,
    _found,
    _with_block,
    find_hook,
    install_hook,
    is_installed,
    uninstall_hook,
)
from tests.git_repositories import git

COMMAND = ["/nowhere/cru"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    (root / ".crucible").mkdir(parents=True)
    git(root, "init", "-q")
    return root


def _script(path: Path, data: bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
    return path


def _runs(hook: Path, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([hook], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False)


def _stub(folder: Path, code: int) -> list[str]:
    """A `cru` that says how it was called, and ends so."""
    path = _script(folder / "stub" / "cru", f'#!/bin/sh\necho "called $*"\nexit {code}\n'.encode())
    return [str(path)]


def test_a_hook_that_was_not_there_is_made_to_run_and_goes_again(root: Path) -> None:
    hook = find_hook(root)
    assert hook.path == root / ".git" / "hooks" / "pre-commit"
    assert not is_installed(hook)
    assert install_hook(hook, COMMAND)
    assert is_installed(hook)
    assert uninstall_hook(hook)
    assert not hook.path.exists()
    assert not uninstall_hook(hook)


def test_twice_changes_nothing(root: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    before = (hook.path.read_bytes(), hook.path.stat().st_mtime_ns, hook.path.stat().st_ino)
    assert not install_hook(hook, COMMAND)
    assert (hook.path.read_bytes(), hook.path.stat().st_mtime_ns, hook.path.stat().st_ino) == before


def test_another_command_takes_the_place_of_the_old_one(root: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    assert install_hook(hook, ["/else/where/cru"])
    assert hook.path.read_bytes().count(b"# >>> crucible") == 1
    assert b"/nowhere/cru" not in hook.path.read_bytes()


def test_a_hook_without_permission_to_run_is_installed_again(root: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    hook.path.chmod(0o644)
    assert not is_installed(hook)
    assert install_hook(hook, COMMAND)
    assert is_installed(hook)


@pytest.mark.parametrize(
    "script",
    [
        b"#!/bin/sh\necho hello\nexit 0\n",
        b"#!/usr/bin/env bash\nset -euo pipefail\nexec true",
        b"#! /bin/dash -e\n\xff\xfe not utf-8\n",
        b"#!/usr/bin/env -S bash -e\n\n\n",
        b"#!/bin/sh",
        b"#!/bin/sh\n",
    ],
)
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_shell_script_keeps_its_lines_and_mode_and_gets_its_bytes_back(root: Path, script: bytes, mode: int) -> None:
    hook = find_hook(root)
    _script(hook.path, script, mode)
    assert install_hook(hook, COMMAND)
    assert not install_hook(hook, COMMAND)
    assert is_installed(hook)
    inside = hook.path.read_bytes()
    assert inside.startswith(script.split(b"\n")[0] + b"\n# >>> crucible")
    assert stat.S_IMODE(hook.path.stat().st_mode) == mode
    assert install_hook(hook, ["/other"])
    assert uninstall_hook(hook)
    assert hook.path.read_bytes() == script
    assert stat.S_IMODE(hook.path.stat().st_mode) == mode


@given(st.binary(max_size=60))
def test_our_block_comes_out_of_any_script_as_it_went_in(tail: bytes) -> None:
    from crucible.integrations.install.git_hooks import _block, _without_block

    hook = Hook(Path("/x/pre-commit"), Path("/x"), "./no\nte[s")
    script = b"#!/bin/bash" + tail if tail.startswith(b"\n") else b"#!/bin/bash\n" + tail
    inside = _with_block(script, _block(hook, COMMAND))
    found = _found(inside, hook)
    assert found
    assert _without_block(inside, found) == script


def test_a_block_runs_before_the_script_and_lets_it_run(root: Path, tmp_path: Path) -> None:
    hook = find_hook(root)
    _script(hook.path, b"#!/bin/sh -e\necho theirs\nexit 7\n")
    install_hook(hook, _stub(tmp_path, 0))
    done = _runs(hook.path, root)
    assert (done.returncode, done.stdout) == (7, "theirs\n")
    assert done.stderr == "called --vault . session check --secrets --staged\n"


@pytest.mark.parametrize("code", [1, 2, 3, 70])
def test_any_error_refuses_the_commit_and_runs_nothing_else(root: Path, tmp_path: Path, code: int) -> None:
    hook = find_hook(root)
    _script(hook.path, b"#!/bin/sh\necho theirs\n")
    install_hook(hook, _stub(tmp_path, code))
    done = _runs(hook.path, root)
    assert (done.returncode, done.stdout) == (1, "")
    assert ("problems above" in done.stderr) == (code == 3)
    assert "nothing was committed" in done.stderr


def test_without_cru_the_commit_is_refused_and_says_so(root: Path, tmp_path: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("git", "sh"):
        found = subprocess.run(["which", tool], capture_output=True, text=True, check=True).stdout.strip()
        (tools / tool).symlink_to(found)
    done = _runs(hook.path, root, PATH=str(tools))
    assert done.returncode == 1
    assert "cru was not found" in done.stderr


def test_a_cru_on_the_path_serves_when_the_old_one_is_gone(root: Path, tmp_path: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    stub = Path(_stub(tmp_path, 0)[0]).parent
    done = _runs(hook.path, root, PATH=f"{stub}{os.pathsep}{os.environ['PATH']}")
    assert (done.returncode, done.stderr) == (0, "called --vault . session check --secrets --staged\n")


@pytest.mark.parametrize(
    ("program", "mode"),
    [(b"#!/usr/bin/env python3\nprint('theirs')\n", 0o755), (b"\x7fELF\0\0", 0o755), (b"#!/bin/sh\n", 0o644)],
    ids=["python", "binary", "switched off"],
)
def test_a_hook_that_is_no_script_is_renamed_and_restored(root: Path, program: bytes, mode: int) -> None:
    hook = find_hook(root)
    _script(hook.path, program, mode)
    inode = hook.path.stat().st_ino
    install_hook(hook, COMMAND)
    assert not install_hook(hook, COMMAND)
    assert hook.path.with_name("pre-commit.before-crucible").read_bytes() == program
    assert uninstall_hook(hook)
    assert [p.name for p in hook.path.parent.iterdir() if "crucible" in p.name] == []
    assert (hook.path.read_bytes(), hook.path.stat().st_ino) == (program, inode)
    assert stat.S_IMODE(hook.path.stat().st_mode) == mode


def test_a_program_that_was_moved_is_run_after_ours_with_its_own_end(root: Path, tmp_path: Path) -> None:
    hook = find_hook(root)
    _script(hook.path, f"#!{sys.executable}\nimport sys\nprint('theirs')\nsys.exit(5)\n".encode())
    install_hook(hook, _stub(tmp_path, 0))
    done = _runs(hook.path, root)
    assert (done.returncode, done.stdout) == (5, "theirs\n")
    install_hook(hook, _stub(tmp_path, 3))
    assert _runs(hook.path, root).stdout == ""


def test_a_hook_that_was_switched_off_stays_so(root: Path, tmp_path: Path) -> None:
    hook = find_hook(root)
    _script(hook.path, b"#!/bin/sh\necho theirs\n", 0o644)
    install_hook(hook, _stub(tmp_path, 0))
    assert (_runs(hook.path, root).returncode, _runs(hook.path, root).stdout) == (0, "")


def test_a_link_to_a_script_is_renamed_and_its_target_untouched(root: Path) -> None:
    target = _script(root / "scripts" / "check", b"#!/bin/sh\necho theirs\n")
    hook = find_hook(root)
    hook.path.parent.mkdir(exist_ok=True)
    hook.path.symlink_to("../../scripts/check")
    install_hook(hook, COMMAND)
    assert target.read_bytes() == b"#!/bin/sh\necho theirs\n"
    uninstall_hook(hook)
    assert str(hook.path.readlink()) == "../../scripts/check"


def test_lines_that_were_added_to_our_file_stay_when_ours_go(root: Path) -> None:
    hook = find_hook(root)
    install_hook(hook, COMMAND)
    hook.path.write_bytes(hook.path.read_bytes() + b"echo mine\n")
    uninstall_hook(hook)
    left = hook.path.read_bytes()
    assert b"echo mine\n" in left
    assert b"crucible_check" not in left


def test_an_install_that_was_killed_half_way_is_finished_or_undone(root: Path) -> None:
    hook = find_hook(root)
    program = b"#!/usr/bin/env python3\n"
    before = _script(hook.path.with_name("pre-commit.before-crucible"), program)
    assert install_hook(hook, COMMAND)
    hook.path.unlink()
    assert uninstall_hook(hook)
    assert hook.path.read_bytes() == program
    assert not before.exists()


def test_nothing_is_overwritten_when_both_names_are_taken(root: Path) -> None:
    hook = find_hook(root)
    for path in (hook.path, hook.path.with_name("pre-commit.before-crucible")):
        _script(path, b"#!/usr/bin/env python3\n# " + path.name.encode())
    with pytest.raises(NoteExists):
        install_hook(hook, COMMAND)
    assert hook.path.read_bytes().endswith(b"# pre-commit")


# --- where the hook lies ---------------------------------------------------------------------------------------------


def test_a_vault_in_a_subfolder_uses_its_repositorys_hook(tmp_path: Path) -> None:
    inner = tmp_path / "code" / "my 'notes'"
    (inner / ".crucible").mkdir(parents=True)
    git(tmp_path / "code", "init", "-q")
    hook = find_hook(inner)
    assert (hook.path, hook.folder) == (tmp_path / "code/.git/hooks/pre-commit", "./my 'notes'")
    install_hook(hook, _stub(tmp_path, 0))
    assert "--vault ./my 'notes' session" in _runs(hook.path, tmp_path / "code").stderr


def test_two_vaults_of_one_repository_each_have_their_block(tmp_path: Path) -> None:
    top = tmp_path / "code"
    for name in ("a", "b"):
        (top / name / ".crucible").mkdir(parents=True)
    git(top, "init", "-q")
    first, second = find_hook(top / "a"), find_hook(top / "b")
    install_hook(first, _stub(tmp_path, 0))
    install_hook(second, _stub(tmp_path, 0))
    called = _runs(first.path, top).stderr.splitlines()
    assert sorted(line.split()[2] for line in called) == ["./a", "./b"]
    uninstall_hook(first)
    assert is_installed(second)
    uninstall_hook(second)
    assert not first.path.exists()


@pytest.mark.parametrize("inner", ["", "notes"])
def test_a_hooks_path_of_the_repository_is_seen_from_its_top(root: Path, inner: str) -> None:
    git(root, "config", "core.hooksPath", "own hooks")
    (root / inner / ".crucible").mkdir(parents=True, exist_ok=True)
    hook = find_hook(root / inner)
    assert hook.path == root / "own hooks" / "pre-commit"
    assert not hook.is_shared
    install_hook(hook, COMMAND)
    assert is_installed(hook)


def test_a_shared_hooks_folder_does_nothing_without_a_vault(root: Path, tmp_path: Path) -> None:
    git(root, "config", "core.hooksPath", str(tmp_path / "all"))
    hook = find_hook(root)
    assert (hook.path, hook.is_shared) == (tmp_path / "all" / "pre-commit", True)
    install_hook(hook, _stub(tmp_path, 3))
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    assert _runs(hook.path, other).returncode == 0
    assert _runs(hook.path, root).returncode == 1


def test_a_worktree_has_the_hook_of_its_repository(root: Path, tmp_path: Path) -> None:
    (root / ".crucible" / "config.toml").write_text("")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    git(root, "worktree", "add", "-q", str(tmp_path / "tree"))
    hook = find_hook(tmp_path / "tree")
    assert hook.path == root / ".git" / "hooks" / "pre-commit"
    assert not hook.is_shared


def test_a_vault_whose_folder_is_gone_but_tracked_is_still_looked_at(root: Path, tmp_path: Path) -> None:
    (root / ".crucible" / "config.toml").write_text("")
    git(root, "add", ".")
    hook = find_hook(root)
    install_hook(hook, _stub(tmp_path, 1))
    (root / ".crucible" / "config.toml").unlink()
    (root / ".crucible").rmdir()
    assert _runs(hook.path, root).returncode == 1


def test_a_folder_that_is_in_no_repository_is_an_error_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(VaultError) as raised:
        find_hook(tmp_path)
    assert "git init" in raised.value.hint


def test_a_hooks_path_that_is_no_folder_is_an_error(root: Path) -> None:
    git(root, "config", "core.hooksPath", "/dev/null")
    with pytest.raises(VaultError, match="pre-commit"):
        install_hook(find_hook(root), COMMAND)
