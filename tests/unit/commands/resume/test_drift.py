"""What changed in a session's files and repository since its bookmark, in real repositories of every state."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.commands.resume import material_gathering as gathering
from crucible.commands.resume.material_gathering import find_drift
from crucible.commands.resume.resume_material import Drift, FileChange
from crucible.core.git import digest_of, read_repository
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
from tests.git_repositories import git

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

_NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)


def commit(folder: Path, subject: str) -> str:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "limiter.py").write_text("a token bucket, long enough to be known again\n" * 3)
    (folder / "README.md").write_text("Shop\n")
    git(folder, "init", "-q", "-b", "main", ".")
    commit(folder, "Begin")
    return folder


def bookmark_of(folder: Path, files: Iterable[str] = ("src/limiter.py", "README.md")) -> Bookmark:
    found = read_repository(folder)
    digests = {name: digest_of(folder / name) if (folder / name).exists() else "" for name in files}
    branch, head = (found.branch, found.head) if found else ("", "")
    return Bookmark("b", "s", _NOW, StopReason.PAUSED, files=digests, branch=branch, head=head)


def test_without_changes_there_is_no_drift(shop: Path) -> None:
    drift = find_drift(shop, bookmark_of(shop))
    assert drift == Drift(commits=0, branch_before="main", branch_now="main", unchanged=2)
    assert not drift.is_there


def test_commits_are_counted_and_named_newest_first(shop: Path) -> None:
    before = bookmark_of(shop)
    for number in range(12):
        commit(shop, f"Change {number}")
    drift = find_drift(shop, before)
    assert drift.commits == 12
    assert drift.subjects == tuple(f"Change {number}" for number in range(11, 1, -1))
    assert drift.is_there


def test_changed_deleted_added_and_moved_files_are_found_committed_or_not(shop: Path) -> None:
    before = bookmark_of(shop, ("src/limiter.py", "README.md", "new.py", "never.py"))
    (shop / "README.md").write_text("Shop, changed\n")
    (shop / "new.py").write_text("new\n")
    (shop / "lib").mkdir()
    (shop / "src" / "limiter.py").rename(shop / "lib" / "limiter.py")
    expected = (
        FileChange("src/limiter.py", "moved", "lib/limiter.py"),
        FileChange("README.md", "changed"),
        FileChange("new.py", "added"),
    )
    uncommitted = find_drift(shop, before)
    assert (uncommitted.files, uncommitted.unchanged, uncommitted.commits) == (expected, 1, 0)
    commit(shop, "All of it")
    assert find_drift(shop, before).files == expected


def test_a_moved_and_changed_file_is_moved(shop: Path) -> None:
    before = bookmark_of(shop, ("src/limiter.py",))
    git(shop, "mv", "src/limiter.py", "bucket.py")
    with (shop / "bucket.py").open("a") as file:
        file.write("one line more\n")
    assert find_drift(shop, before).files == (FileChange("src/limiter.py", "moved", "bucket.py"),)
    commit(shop, "Moved")
    assert find_drift(shop, before).files == (FileChange("src/limiter.py", "moved", "bucket.py"),)


def test_the_search_for_a_moved_file_is_limited_in_bytes(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = bookmark_of(shop)
    (shop / "a.bin").write_bytes(b"x" * 5000)
    (shop / "README.md").rename(shop / "z.md")
    assert find_drift(shop, mark).files == (FileChange("README.md", "moved", "z.md"),)
    monkeypatch.setattr(gathering, "_MOST_BYTES", 4000)
    assert find_drift(shop, mark).files == (FileChange("README.md", "deleted"),)


def test_a_copy_beside_the_original_is_no_move(shop: Path) -> None:
    shutil.copy(shop / "README.md", shop / "COPY.md")
    commit(shop, "Copy")
    before = bookmark_of(shop, ("README.md", "COPY.md"))
    (shop / "README.md").unlink()
    assert find_drift(shop, before).files == (FileChange("README.md", "deleted"),)


@pytest.mark.skipif(sys.platform != "linux", reason="names there are UTF-8")
def test_names_and_subjects_that_are_not_utf_8_are_replaced(shop: Path) -> None:
    before = bookmark_of(shop, ("src/limiter.py",))
    os.rename(shop / "src" / "limiter.py", os.fsencode(shop) + b"/l\xff.py")
    git(shop, "-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-m", "caf\udce9")
    drift = find_drift(shop, before)
    assert drift.files == (FileChange("src/limiter.py", "moved", "l?.py"),)
    assert "".join(drift.subjects).encode()


def test_another_branch_is_found(shop: Path) -> None:
    before = bookmark_of(shop)
    git(shop, "switch", "-qc", "other")
    drift = find_drift(shop, before)
    assert (drift.branch_before, drift.branch_now, drift.commits) == ("main", "other", 0)
    assert drift.is_there


def test_a_detached_head_has_no_branch_and_its_commits_count(shop: Path) -> None:
    before = bookmark_of(shop)
    commit(shop, "More")
    git(shop, "checkout", "-q", "--detach")
    drift = find_drift(shop, before)
    assert (drift.branch_now, drift.commits) == ("", 1)


def test_a_rewritten_history_says_so(shop: Path) -> None:
    commit(shop, "Second")
    before = bookmark_of(shop)
    git(shop, "commit", "-q", "--amend", "--allow-empty", "-m", "Another second")
    drift = find_drift(shop, before)
    assert drift.commits == 1
    assert "not in the history" in drift.unknown


def test_a_commit_that_is_not_here_says_so(shop: Path) -> None:
    drift = find_drift(shop, replace(bookmark_of(shop), head="0123456789" * 4))
    assert drift.commits is None
    assert "is not in this repository" in drift.unknown


def test_a_shallow_clone_that_lacks_the_commit_says_so(shop: Path, tmp_path: Path) -> None:
    before = bookmark_of(shop)
    commit(shop, "Second")
    commit(shop, "Third")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", shop.as_uri(), str(clone))
    drift = find_drift(clone, before)
    assert drift.commits is None
    assert "shallow" in drift.unknown
    assert drift.unchanged == 2


def test_a_worktree_is_compared_with_its_own_files(shop: Path, tmp_path: Path) -> None:
    before = bookmark_of(shop)
    git(shop, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    (tmp_path / "side" / "README.md").write_text("Side\n")
    drift = find_drift(tmp_path / "side", before)
    assert drift.files == (FileChange("README.md", "changed"),)
    assert drift.branch_now == "side"
    assert find_drift(shop, before).files == ()


def test_a_folder_inside_the_repository_is_the_same_as_its_root(shop: Path) -> None:
    before = bookmark_of(shop)
    (shop / "README.md").unlink()
    assert find_drift(shop / "src", before).files == (FileChange("README.md", "deleted"),)


def test_files_are_compared_outside_of_git_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("something that is long enough\n")
    (tmp_path / "b.txt").write_text("b\n")
    before = bookmark_of(tmp_path, ("a.txt", "b.txt"))
    assert find_drift(tmp_path, before) == Drift(unchanged=2)
    (tmp_path / "a.txt").rename(tmp_path / "c.txt")
    (tmp_path / "b.txt").write_text("c\n")
    drift = find_drift(tmp_path, before)
    assert drift.files == (FileChange("a.txt", "deleted"), FileChange("b.txt", "changed"))


def test_a_repository_that_is_gone_says_so(shop: Path) -> None:
    before = bookmark_of(shop)
    shutil.rmtree(shop / ".git")
    drift = find_drift(shop, before)
    assert (drift.commits, drift.unchanged) == (None, 2)
    assert "no longer a git repository" in drift.unknown


def test_a_repository_without_commits_is_recognized(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    (tmp_path / "a.txt").write_text("a\n")
    drift = find_drift(tmp_path, bookmark_of(tmp_path, ("a.txt",)))
    assert (drift.commits, drift.unchanged, drift.unknown) == (None, 1, "")


@pytest.mark.parametrize("name", ["../outside.txt", "/etc/hostname", "link/secret.txt", "a\0b", ""])
def test_a_foreign_bookmark_reads_nothing_outside_the_folder(shop: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.txt").write_text("x")
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "secret.txt").write_text("x")
    (shop / "link").symlink_to(tmp_path / "away")
    drift = find_drift(shop, replace(bookmark_of(shop), files={name: "0" * 40}))
    assert (drift.files, drift.unchanged) == ((), 0)


def test_a_foreign_bookmark_runs_nothing(shop: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    git(shop, "config", "core.fsmonitor", f"touch {proof}")
    git(shop, "config", "diff.external", f"touch {proof}")
    git(shop, "config", "filter.run.clean", f"touch {proof}; cat")
    (shop / ".gitattributes").write_text("* filter=run\n")
    (shop / "README.md").write_text("changed\n")
    for head in ("--output=x", "HEAD", "main@{upstream}", "-1"):
        drift = find_drift(shop, replace(bookmark_of(shop), head=head))
        assert drift.commits is None
    before = bookmark_of(shop)
    (shop / "README.md").rename(shop / "READ.md")
    assert find_drift(shop, before).files[0].now == "READ.md"
    assert not proof.exists()
    assert not os.path.lexists(shop / "x")


def test_a_missing_folder_has_no_files(tmp_path: Path) -> None:
    drift = find_drift(tmp_path / "gone", Bookmark("b", "s", _NOW, StopReason.PAUSED, files={"a": "0" * 40}))
    assert drift.files == ()
    assert "no longer exists" in drift.unknown


def test_a_bookmark_made_without_a_folder_has_no_branch(shop: Path) -> None:
    drift = find_drift(shop, replace(bookmark_of(shop), branch="", head=""))
    assert not drift.is_there
    assert drift.branch_before == drift.branch_now


def test_a_repository_that_git_does_not_trust_is_not_another_branch(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = bookmark_of(shop)
    monkeypatch.setenv("PATH", "")
    drift = find_drift(shop, mark)
    assert drift.branch_before == drift.branch_now
    assert drift.unknown == "git is not installed"
