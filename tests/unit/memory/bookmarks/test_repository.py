from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core import git as repository
from crucible.core.git import (
    UNREADABLE,
    WHOLE,
    Repository,
    digest_of,
    is_commit,
    read_repository,
    run_git,
)
from tests.git_repositories import commit, git, made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return made(tmp_path / "shop")


def test_a_repository_has_its_top_branch_and_head(repo: Path) -> None:
    head = commit(repo, a__py="1")
    (repo / "src" / "deep").mkdir(parents=True)
    assert read_repository(repo / "src" / "deep") == Repository(repo, "main", head)


def test_an_empty_repository_has_a_branch_and_no_head(repo: Path) -> None:
    assert read_repository(repo) == Repository(repo, "main", "")


def test_a_detached_head_has_no_branch(repo: Path) -> None:
    head = commit(repo, a__py="1")
    git(repo, "checkout", "-q", "--detach")
    assert read_repository(repo) == Repository(repo, "", head)


def test_a_branch_whose_name_is_a_tags_too_has_its_own_name(repo: Path) -> None:
    head = commit(repo, a__py="1")
    git(repo, "checkout", "-qb", "feature/x")
    git(repo, "tag", "feature/x")
    assert read_repository(repo) == Repository(repo, "feature/x", head)


def test_a_worktree_is_its_own_top_with_its_own_branch(repo: Path, tmp_path: Path) -> None:
    head = commit(repo, a__py="1")
    git(repo, "worktree", "add", "-q", "-b", "other", str(tmp_path / "beside"))
    assert read_repository(tmp_path / "beside") == Repository(tmp_path / "beside", "other", head)


def test_a_shallow_clone_is_known(repo: Path, tmp_path: Path) -> None:
    commit(repo, a__py="1")
    head = commit(repo, a__py="2")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "clone")
    assert read_repository(tmp_path / "clone") == Repository(tmp_path / "clone", "main", head, is_shallow=True)


def test_a_repository_of_sha256_has_its_long_head(tmp_path: Path) -> None:
    (tmp_path / "long").mkdir()
    git(tmp_path / "long", "init", "-q", "-b", "main", "--object-format=sha256")
    head = commit(tmp_path / "long", a__py="1")
    found = read_repository(tmp_path / "long")
    assert found
    assert found.head == head
    assert len(head) == 64
    assert is_commit(head)


@pytest.mark.parametrize("name", ["a\nb", " blanks ", "-rf", "é\u2028", "'quoted\""])
def test_a_top_with_any_name_is_found(tmp_path: Path, name: str) -> None:
    repo = made(tmp_path / name)
    assert read_repository(repo) == Repository(repo, "main", "")


def test_a_symlink_to_the_repository_leads_to_its_real_top(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repo)
    assert read_repository(tmp_path / "link") == Repository(repo, "main", "")


def test_there_is_none_outside_git_inside_dot_git_in_a_bare_one_and_where_no_folder_is(
    repo: Path, tmp_path: Path
) -> None:
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path, repo / ".git", tmp_path / "bare.git", tmp_path / "gone", tmp_path / "file"):
        assert read_repository(folder) is None, folder


def test_without_git_the_top_is_known_and_nothing_else(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / "src").mkdir()
    monkeypatch.setenv("PATH", str(repo / "nowhere"))
    assert read_repository(repo / "src") == Repository(repo, refusal="git is not installed")
    assert read_repository(repo.parent) is None
    assert run_git(repo, "rev-parse", "HEAD") is None


def test_a_folder_with_an_untrusted_owner_is_reported(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(repo, a__py="1")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(repository, "_KEPT", (*repository._KEPT, "GIT_TEST"))
    found = read_repository(repo)
    assert found
    assert (found.root, found.branch, found.head) == (repo, "", "")
    assert "dubious ownership" in found.refusal


def test_a_broken_repository_is_described_as_far_as_possible(repo: Path) -> None:
    (repo / ".git" / "config").write_text("[core")
    found = read_repository(repo)
    assert found
    assert found.root == repo
    assert found.refusal


def test_git_that_hangs_is_given_up(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec tail -f /dev/null\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    assert run_git(repo, "rev-parse", "HEAD", seconds=0.1) is None


def test_another_repository_that_the_environment_names_is_not_asked(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repo, a__py="1")
    other = made(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    found = read_repository(repo)
    assert found
    assert found.root == repo
    assert found.head


def test_nothing_that_a_repository_names_is_run(repo: Path, tmp_path: Path) -> None:
    commit(repo, a__py="1")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path / 'sprung'}\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "core.askPass", "core.sshCommand"):
        git(repo, "config", key, str(trap))
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("post-checkout", "reference-transaction", "fsmonitor-watchman", "post-index-change"):
        (hooks / name).symlink_to(trap)
    git(repo, "config", "core.hooksPath", str(hooks))
    (tmp_path / "sprung").unlink(missing_ok=True)  # `git config` itself may look
    (repo / "a.py").write_text("2")
    assert read_repository(repo)
    assert run_git(repo, "status", "--porcelain", "-z") == " M a.py\0"
    assert run_git(repo, "log", "-z", "--format=%s") == "next\0"
    assert not (tmp_path / "sprung").exists()


def test_asking_writes_nothing(repo: Path) -> None:
    commit(repo, a__py="1")
    os.utime(repo / "a.py", (1, 1))  # git would like to note in its index that this is the same
    before = {path: path.stat().st_mtime_ns for path in (repo / ".git").rglob("*")}
    read_repository(repo)
    run_git(repo, "status", "--porcelain")
    assert {path: path.stat().st_mtime_ns for path in (repo / ".git").rglob("*")} == before


@given(st.binary(max_size=300))
def test_a_digest_is_gits_id_of_the_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "blob"
    path.write_bytes(data)
    said = subprocess.run(["git", "hash-object", "--stdin"], input=data, capture_output=True, check=True)
    assert digest_of(path) == said.stdout.decode().strip()


def test_a_symlink_has_the_digest_that_git_gives_it(repo: Path) -> None:
    (repo / "target").write_text("x")
    (repo / "link").symlink_to("target")
    (repo / "dangling").symlink_to("/nowhere/at/all")
    git(repo, "add", "-A")
    told = dict(line.split("\t")[::-1] for line in git(repo, "ls-files", "-s").split("\n"))
    for name in ("target", "link", "dangling"):
        assert digest_of(repo / name) == told[name].split(" ")[1]


def test_a_missing_file_has_an_empty_digest(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert digest_of(tmp_path / "gone") == ""
    assert digest_of(tmp_path / "file" / "below") == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_a_pipe_a_folder_and_a_bad_path_are_unreadable(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull), tmp_path / ("x" * 5000), tmp_path / "a\0b"):
        assert digest_of(path) == UNREADABLE, path


def test_a_huge_file_is_identified_by_size_beginning_and_end(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    seen = set()
    for size, at in ((WHOLE + 1, 0), (WHOLE + 2, 0), (WHOLE + 1, WHOLE), (1 << 34, 0)):
        with path.open("wb") as file:
            file.truncate(size)
            file.seek(at)
            file.write(b"x")
        seen.add(digest_of(path))
    assert len(seen) == 4
    assert all(one.startswith("~") and len(one) == 41 for one in seen)


@pytest.mark.parametrize("text", ["--output=x", "HEAD", "a" * 39, "A" * 40, "a" * 41, "a" * 40 + "\n", ""])
def test_an_incomplete_id_is_no_commit(text: str) -> None:
    assert not is_commit(text)
